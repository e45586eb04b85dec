//! Hooks of Claude Code: what it is about to forget is kept, what it forgot it is given in short, and long output of commands is
//! digested before it is read.
//!
//! A hook that fails must cost the agent nothing: it says nothing then, and all is as it would be without it.

mod compaction;
mod filter;
mod json;
mod notes;
mod outputs;
mod savings;
mod settings;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::args::StoreArgs;

pub(crate) use self::{
    outputs::forget as forget_outputs,
    savings::{Savings, read as savings},
    settings::{
        command, file as settings_file, installed, installed_with_folder, made_folder, program, removed,
    },
};

/// What Claude Code tells of an event, as far as it is needed here.
#[derive(Debug, Deserialize)]
struct Event {
    hook_event_name: String,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    transcript_path: String,
    /// The folder that the agent is in.
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    tool_response: Value,
}

/// Returns what is answered to the event in `json`; `None` where there is nothing to say.
pub(crate) fn answer(store: &StoreArgs, json: &[u8]) -> Result<Option<Value>> {
    const EXPECTED: &str =
        "stdin holds no event of Claude Code's: expected a JSON object with `hook_event_name`";
    let event: Value = serde_json::from_slice(json).context(EXPECTED)?;
    ensure!(event.is_object(), EXPECTED);
    let event: Event = serde_json::from_value(event).context(EXPECTED)?;
    let store = &placed(store, &event.cwd);
    match event.hook_event_name.as_str() {
        "PreCompact" => compaction::before(store, &event).map(Some),
        "SessionStart" if event.source == "compact" => compaction::after(store, &event),
        "PostToolUse" if event.tool_name == "Bash" => filter::shortened(&event),
        _ => Ok(None),
    }
}

/// Returns where the store is, relative places as they are meant in the folder that the agent is in: a hook may be run in another.
fn placed(store: &StoreArgs, cwd: &str) -> StoreArgs {
    StoreArgs {
        store: store.store.clone(),
        store_key_file: store.store_key_file.as_ref().map(|path| Path::new(cwd).join(path)),
        folder: Some(cwd.into()).filter(|_| !cwd.is_empty()),
    }
}
