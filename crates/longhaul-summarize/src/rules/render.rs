//! The summary as text.

use longhaul_transcript::Entry;

use super::{RulesOptions, clip, ledger::Ledger, pick::Pick, source::Line};
use crate::SummaryRequest;

/// A part of the summary under its heading.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    heading: String,
    pub(crate) body: String,
}

impl Section {
    pub(crate) fn text(&self) -> String {
        format!("{}\n{}\n", self.heading, self.body)
    }
}

/// Returns the sections that stand whatever the ranking says: the task.
pub(crate) fn fixed(request: &SummaryRequest<'_>, options: &RulesOptions) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some((entry, text)) = first_user_text(request.entries) {
        let share = request.limit.scaled(options.task_share).max(longhaul_transcript::Tokens(30));
        let body = clip::middle(text.trim(), share, request.counter);
        sections.push(Section { heading: format!("## Task ({})", entry.id), body });
    }
    sections
}

/// Returns the whole summary with these picks.
pub(crate) fn text(fixed: &[Section], source: &[Line], ledger: &Ledger, picks: &[Pick]) -> String {
    let mut lines: Vec<usize> = Vec::new();
    let mut names: Vec<u32> = Vec::new();
    for pick in picks {
        match pick {
            Pick::Line(at) => lines.push(*at),
            Pick::Name(subject) => names.push(*subject),
        }
    }
    lines.sort_unstable();
    let (files, facts) = ledger.render(&names);
    let mut sections = fixed.to_vec();
    let mut add = |heading: String, body: String| {
        if !body.is_empty() {
            sections.push(Section { heading, body });
        }
    };
    let under = if ledger.root.is_empty() { String::new() } else { format!(" (under {})", ledger.root) };
    add(format!("## Files{under}"), files);
    add("## Key lines".into(), quote(source, &lines));
    add("## Facts".into(), facts);
    let texts: Vec<String> = sections.iter().map(Section::text).collect();
    texts.join("").trim_end().to_string()
}

/// Returns the lines in order, each message's first with its handle.
fn quote(source: &[Line], lines: &[usize]) -> String {
    let mut text = String::new();
    let mut message = None;
    for at in lines {
        let line = &source[*at];
        if !text.is_empty() {
            text.push('\n');
        }
        if message != Some(line.message) {
            text.push_str(&format!("m{} ", line.message));
            message = Some(line.message);
        }
        text.push_str(&line.text);
    }
    text
}

fn first_user_text(entries: &[Entry]) -> Option<(&Entry, &str)> {
    entries.iter().filter(|entry| entry.message.is_user_text()).find_map(|entry| {
        entry.message.texts().find(|text| !text.trim().is_empty()).map(|text| (entry, text))
    })
}
