//! The tools that were called, and what for.

use longhaul_extract::{CallView, each_act};
use longhaul_transcript::{Entry, ToolUse};

/// The tools that are called, one call after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    found: Vec<ToolUse>,
}

impl Tools {
    pub(super) fn take(&mut self, call: &CallView<'_>) {
        let said = call_text(call, USE_CHARS * 8);
        let said = clipped(said.trim().lines().next().unwrap_or_default(), USE_CHARS);
        self.add(call.name(), 1, [said].into_iter().filter(|said| !said.is_empty()));
    }

    fn add(&mut self, name: &str, count: u32, uses: impl Iterator<Item = String>) {
        let at = self.found.iter().position(|tool| tool.tool == name).unwrap_or_else(|| {
            self.found.push(ToolUse { tool: name.to_owned(), count: 0, notable_uses: Vec::new() });
            self.found.len() - 1
        });
        let tool = &mut self.found[at];
        tool.count = tool.count.saturating_add(count);
        for said in uses {
            if tool.notable_uses.contains(&said) {
                continue;
            }
            // The first use and the last two tell most about what a tool was for.
            if tool.notable_uses.len() == 3 {
                tool.notable_uses.remove(1);
            }
            tool.notable_uses.push(said);
        }
    }

    /// Returns the tools, the most used first.
    pub(super) fn used(mut self) -> Vec<ToolUse> {
        self.found.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.tool.cmp(&other.tool)));
        self.found
    }
}

/// Returns the tools that were called according to `before`, which is what summaries counted, and those that `entries` call, the most
/// used first.
pub fn tools_used(before: &[ToolUse], entries: &[Entry]) -> Vec<ToolUse> {
    let mut tools = Tools::default();
    for tool in before {
        tools.add(&tool.tool, tool.count, tool.notable_uses.iter().cloned());
    }
    each_act(entries, |act| tools.take(&act.call));
    tools.used()
}

/// Returns the arguments of a call as people read them: `command: cargo test`; what goes beyond their first line or `most` bytes
/// may be missing.
fn call_text(call: &CallView<'_>, most: usize) -> String {
    let mut text = String::with_capacity(USE_CHARS);
    for field in call.whole_fields() {
        if text.len() > most || text.trim_end().contains('\n') {
            break;
        }
        if !field.key.is_empty() {
            text.push(' ');
            text.push_str(&field.key);
            text.push(':');
        }
        text.push(' ');
        text.push_str(&field.text[..field.text.floor_char_boundary(most)]);
    }
    text
}

/// Returns at most `most` characters of `text`, cut at a blank, with an ellipsis where something was cut.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let text = text.trim();
    // What has no more bytes has no more characters, and need not be counted.
    let end = if text.len() > most { text.char_indices().nth(most) } else { None };
    match end {
        None => text.to_string(),
        Some((end, _)) => {
            let cut = &text[..end];
            let cut = cut.rfind(char::is_whitespace).map_or(cut, |blank| &cut[..blank]);
            format!("{} […]", cut.trim_end())
        }
    }
}

const USE_CHARS: usize = 120;
