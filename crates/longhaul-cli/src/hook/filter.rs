//! Long output of commands, digested before the agent reads it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use longhaul::{
    extract::{Allowance, digest},
    redact::Redactor,
    transcript::{ContentHash, Outcome, Tokens, ToolCall},
};
use serde_json::{Value, json};

use super::{Event, savings};
use crate::{
    args::CounterArgs,
    clock, counter,
    output::Target,
    paint::{self, grouped},
    store,
};

/// Output of more bytes than this is digested: about 2,000 tokens.
const LONG: usize = 8_000;
/// The most that a digest may cost.
const DIGEST: Tokens = Tokens(1_000);
/// A digest that is not this much smaller is not worth what it leaves out.
const WORTH: f64 = 0.6;
/// So many outputs are kept whole; older ones go.
const KEPT: usize = 200;

/// Returns the answer that puts a digest in the place of a command's long output; `None` where it stays as it is.
pub(super) fn shortened(event: &Event) -> Result<Option<Value>> {
    let Some(text) = event.tool_response["stdout"].as_str().filter(|text| text.len() > LONG) else {
        return Ok(None);
    };
    if event.tool_response["isImage"] == true || event.tool_response["interrupted"] == true {
        return Ok(None);
    }
    // Claude Code put the whole into a file of its own, and shows where: this is only the beginning of it.
    if event.tool_response["persistedOutputPath"].is_string() {
        return Ok(None);
    }
    let command = event.tool_input["command"].as_str().unwrap_or_default();
    let counter = counter::choose(&CounterArgs::default())?.counter;
    let count = |text: &str| counter.count_text(text);
    let call = ToolCall::function("hook", "bash", json!({ "command": command }).to_string());
    let digested = digest(Some(&call), text, Outcome::Succeeded, &Allowance::new(DIGEST, &count));
    let path = whole_path(text)?;
    let lines = grouped(text.lines().count() as u64);
    let shown = format!(
        "{}\n[shortened by longhaul: {lines} lines in all; the whole output is in {}]\n",
        digested.trim_end(),
        path.display()
    );
    let (before, after) = (count(text), count(&shown));
    if after.ratio_of(before) > WORTH {
        return Ok(None);
    }
    keep_whole(&path, text)?;
    savings::note(command, before, after)?;
    // The answer must have the shape of what the tool answered, or it is not taken.
    let mut response = event.tool_response.clone();
    let fields = response.as_object_mut().context("the tool's answer is no object")?;
    fields.insert("stdout".to_owned(), shown.into());
    Ok(Some(
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedToolOutput": response } }),
    ))
}

/// Returns where the whole output is kept.
fn whole_path(text: &str) -> Result<PathBuf> {
    let name = format!("{}-{}.txt", clock::now_ms(), ContentHash::of(text.as_bytes()).short(8));
    Ok(store::data_folder()?.join("outputs").join(name))
}

/// Keeps the whole output, secrets apart, in a file of the user's alone, where the agent can read and search it. Each
/// takes the place of an older one that a digest names.
fn keep_whole(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("an output is kept in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", paint::path(folder)))?;
    let (text, _) = Redactor::builtin().redact_text(text);
    Target::unlocked(path).put(text.as_bytes())?;
    forget_old(folder);
    Ok(())
}

/// Removes the oldest outputs: their names begin with the time.
fn forget_old(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    kept.sort();
    let old = kept.len().saturating_sub(KEPT);
    kept.into_iter().take(old).for_each(|path| drop(fs::remove_file(path)));
}
