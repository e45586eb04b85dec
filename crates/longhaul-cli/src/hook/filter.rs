//! Long output of commands, digested before the agent reads it.

use anyhow::{Context as _, Result};
use longhaul::{
    extract::{Allowance, digest},
    transcript::{Outcome, Tokens, ToolCall},
};
use serde_json::{Value, json};

use super::{Event, outputs, savings};
use crate::{args::CounterArgs, counter, paint::grouped};

/// What a command writes to, as the tool's answer names it. What compilers say stands in the second.
const STREAMS: [&str; 2] = ["stdout", "stderr"];
/// Output of more bytes than this is digested, that of both taken together: about 2,000 tokens.
const LONG: usize = 8_000;
/// The most that a digest may cost.
const DIGEST: Tokens = Tokens(1_000);
/// A digest that is not this much smaller is not worth what it leaves out.
const WORTH: f64 = 0.6;

/// Returns the answer that puts a digest in the place of a command's long output; `None` where it stays as it is.
pub(super) fn shortened(event: &Event) -> Result<Option<Value>> {
    let streams = STREAMS.map(|name| event.tool_response[name].as_str().unwrap_or_default());
    if streams.iter().map(|text| text.len()).sum::<usize>() <= LONG {
        return Ok(None);
    }
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
    let costs = streams.map(count);
    // The answer must have the shape of what the tool answered, or it is not taken.
    let mut response = event.tool_response.clone();
    let fields = response.as_object_mut().context("the tool's answer is no object")?;
    let (mut after, mut to_keep) = (Tokens::ZERO, Vec::new());
    for (((name, text), room), cost) in STREAMS.into_iter().zip(streams).zip(rooms(costs)).zip(costs) {
        if cost <= room {
            after += cost;
            continue;
        }
        let digested = digest(Some(&call), text, Outcome::Succeeded, &Allowance::new(room, &count));
        let path = outputs::place(text, &event.session_id)?;
        let (lines, digested) = (grouped(text.lines().count() as u64), digested.trim_end());
        let what = if name == STREAMS[0] { "output" } else { "error output" };
        let shown = format!(
            "{digested}\n[shortened by longhaul: {lines} lines in all; the whole {what} is in {}]\n",
            path.display()
        );
        after += count(&shown);
        fields.insert(name.to_owned(), shown.into());
        to_keep.push((path, text));
    }
    let before = costs.into_iter().sum::<Tokens>();
    if to_keep.is_empty() || after.ratio_of(before) > WORTH {
        return Ok(None);
    }
    for (path, text) in to_keep {
        outputs::keep(&path, &call, text)?;
    }
    savings::note(command, before, after)?;
    Ok(Some(
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedToolOutput": response } }),
    ))
}

/// Returns what each stream may cost of what their digests may together: one that needs less than half of it leaves the rest to
/// the other.
fn rooms(costs: [Tokens; 2]) -> [Tokens; 2] {
    let half = Tokens(DIGEST.0 / 2);
    let [out, err] = costs.map(|cost| cost.min(half));
    [if costs[1] <= half { DIGEST - err } else { half }, if costs[0] <= half { DIGEST - out } else { half }]
}
