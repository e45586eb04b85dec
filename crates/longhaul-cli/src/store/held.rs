//! Where a conversation of `chat` was held, and with whom: kept in the store beside it, so that its folder finds it again.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::Result;
use longhaul::{
    Preset,
    redact::Redactor,
    store::lasting_key,
    tokens::ContextWindow,
    transcript::{ContentHash, Redacted, SessionId, Tokens},
};
use serde::{Deserialize, Serialize};

use super::Store;
use crate::{chat::With, found::Reach};

/// What is known of a conversation beside what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    folder: PathBuf,
    pub(crate) model: String,
    pub(crate) window: Tokens,
    /// What of the window is kept free for the answer.
    #[serde(default)]
    pub(crate) reserved_output: Option<Tokens>,
    /// What the definitions of tools cost in every request.
    #[serde(default)]
    pub(crate) tools: Tokens,
    /// Where the model answers; not where the address holds a secret.
    #[serde(default)]
    pub(crate) base_url: Option<String>,
    /// How it is spoken to.
    #[serde(default)]
    pub(crate) protocol: Option<String>,
    /// The preset that it was held under.
    #[serde(default)]
    pub(crate) preset: Option<String>,
}

impl Held {
    /// Returns what is to be noted of a conversation in the folder that one is in.
    pub(crate) fn here(with: &With, window: ContextWindow, tools: Tokens, preset: Option<Preset>) -> Held {
        let ContextWindow { window, reserved_output } = window;
        Held {
            folder: env::current_dir().unwrap_or_default(),
            model: with.model.clone(),
            window,
            reserved_output: Some(reserved_output),
            tools,
            base_url: without_secret(&with.base_url),
            protocol: Some(with.protocol.clone()),
            preset: preset.map(|preset| preset.to_string()),
        }
    }

    /// Notes it of `session`, and returns whether it did: the name of a folder that holds a secret is not kept.
    pub(crate) async fn keep(&self, store: &Store, session: &SessionId) -> Result<bool> {
        let json = serde_json::to_string(self)?;
        if !Redactor::builtin().redact_json(&json).1.is_empty() {
            return Ok(false);
        }
        store.cache(&key(session), &Redacted::assume(json.into_bytes())).await?;
        Ok(true)
    }

    /// Returns what is noted of `session`.
    pub(crate) async fn of(store: &Store, session: &SessionId) -> Result<Option<Held>> {
        let json = store.cached(&key(session)).await?;
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// Returns what is noted of each of `sessions`, in their order.
    pub(crate) async fn of_all(
        store: &Store,
        sessions: impl Iterator<Item = &SessionId>,
    ) -> Result<Vec<Option<Held>>> {
        let noted = store.all_cached(&sessions.map(key).collect::<Vec<_>>()).await?;
        Ok(noted.into_iter().map(|json| serde_json::from_slice(&json?).ok()).collect())
    }

    /// Returns whether it belongs to the folder `here`, as a session of an agent's does.
    pub(crate) fn is_of(&self, here: &Path, reach: Reach) -> bool {
        reach.takes(&self.folder, here)
    }
}

/// Returns an address where it holds no secret.
pub(crate) fn without_secret(url: &str) -> Option<String> {
    Redactor::builtin().find(url).is_empty().then(|| url.to_owned())
}

fn key(session: &SessionId) -> ContentHash {
    lasting_key([b"where a conversation was held".as_slice(), session.as_str().as_bytes()])
}
