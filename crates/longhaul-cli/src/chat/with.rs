//! Whom a conversation is held with: the flags say so, and what was noted of a conversation that goes on.

use anyhow::{Result, bail};
use longhaul::transcript::Tokens;
use longhaul_client::Endpoint;

use crate::{
    args::ChatArgs,
    store::Held,
    summarizer::{KEY, key},
};

/// Whom a conversation is held with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct With {
    pub(crate) base_url: String,
    pub(crate) protocol: String,
    pub(crate) model: String,
    /// What the model accepts, where that is said.
    pub(crate) window: Option<u64>,
    /// What of a window that was noted was kept for the answer.
    pub(crate) reserved: Option<Tokens>,
}

impl With {
    /// Returns what the flags say, and where they say nothing what was noted before. A window is that of its model.
    ///
    /// # Errors
    /// When the model or where it answers is not known.
    pub(crate) fn of(args: &ChatArgs, before: Option<&Held>) -> Result<With> {
        let noted = before.and_then(|held| held.base_url.as_ref());
        if let (None, Some(url), true) = (&args.base_url, noted, key().is_some())
            && !is_on_this_machine(url)
        {
            bail!("{KEY} is set, and goes to nobody that you did not name: say --base-url {url}, or another");
        }
        let Some(base_url) = args.base_url.as_ref().or(noted).cloned() else {
            bail!(
                "a conversation needs --base-url (or LONGHAUL_BASE_URL): nothing is sent anywhere that you did not name"
            );
        };
        let Some(model) = args.model.clone().or_else(|| Some(before?.model.clone())) else {
            bail!("a conversation needs --model (or LONGHAUL_MODEL)");
        };
        let same = before.filter(|held| held.model == model);
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let is_there = |held: &&Held| held.base_url.as_ref().is_some_and(|url| bare(url) == bare(&base_url));
        let there = before.filter(is_there);
        let protocol = args.protocol.clone().or_else(|| there?.protocol.clone());
        Ok(With {
            base_url,
            protocol: protocol.unwrap_or_else(|| OPENAI.to_owned()),
            model,
            window: args.window.or(same.map(|held| held.window.0)),
            reserved: same.filter(|_| args.window.is_none()).and_then(|held| held.reserved_output),
        })
    }
}

/// Whether what answers at an address is on this machine.
pub(super) fn is_on_this_machine(url: &str) -> bool {
    Endpoint::new(url).is_ok_and(|endpoint| endpoint.is_local())
}

/// The protocol that most endpoints speak.
pub(super) const OPENAI: &str = "openai";
