//! Whom a conversation is held with: the flags say so, and what was noted of a conversation that goes on.

use anyhow::{Result, bail};
use longhaul::transcript::Tokens;

use crate::{args::ChatArgs, store::Held};

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
        let Some(base_url) = args.base_url.clone().or_else(|| before?.base_url.clone()) else {
            bail!(
                "a conversation needs --base-url (or LONGHAUL_BASE_URL): nothing is sent anywhere that you did not name"
            );
        };
        let Some(model) = args.model.clone().or_else(|| Some(before?.model.clone())) else {
            bail!("a conversation needs --model (or LONGHAUL_MODEL)");
        };
        let same = before.filter(|_| args.model.is_none());
        Ok(With {
            base_url,
            protocol: args
                .protocol
                .clone()
                .or_else(|| before?.protocol.clone())
                .unwrap_or_else(|| OPENAI.to_owned()),
            model,
            window: args.window.or(same.map(|held| held.window.0)),
            reserved: same.filter(|_| args.window.is_none()).and_then(|held| held.reserved_output),
        })
    }
}

/// The protocol that most endpoints speak.
const OPENAI: &str = "openai";
