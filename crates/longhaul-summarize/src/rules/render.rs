//! The summary as text.

use std::collections::BTreeMap;

use longhaul_extract::is_standing_rule;
use longhaul_transcript::{Constraint, Entry, Summary, Tokens};

use super::{
    RulesOptions,
    account::{last_user_text, last_words, own_text, task},
    clip,
    ledger::Ledger,
    pick::Pick,
    plan,
    source::{Line, LineRole},
};
use crate::SummaryRequest;

/// A part of the summary under its heading.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    heading: String,
    pub(crate) body: String,
}

impl Section {
    pub(crate) fn text(&self) -> String {
        match self.body.is_empty() {
            true => format!("{}\n", self.heading),
            false => format!("{}\n{}\n", self.heading, self.body),
        }
    }
}

/// Returns the sections that stand whatever the ranking says: the task, the user's constraints, where the work stands.
pub(crate) fn fixed(request: &SummaryRequest<'_>, summary: &Summary, options: &RulesOptions) -> Vec<Section> {
    let mut sections = Vec::new();
    let clip = |text: &str, share: f64| {
        clip::middle(text, request.limit.scaled(share).max(LEAST_SECTION), request.counter)
    };
    if let Some(goal) = request.goal.map(str::trim).filter(|goal| !goal.is_empty()) {
        let body = clip(goal, options.state_share);
        sections.push(Section { heading: "## Goal (stated by the user)".into(), body });
    }
    let task = task(request.entries);
    if let Some((entry, _)) = task.filter(|(entry, _)| is_kept(request, entry)) {
        let heading = format!("## Task ({}): the user's message below", entry.id);
        sections.push(Section { heading, body: String::new() });
    } else if let Some((entry, text)) = task {
        sections.push(Section {
            heading: format!("## Task ({})", entry.id),
            body: clip(text, options.task_share),
        });
    }
    let shown: String = sections.iter().map(|section| section.body.as_str()).collect();
    let body = constraint_list(
        request,
        &summary.constraints,
        &shown,
        request.limit.scaled(options.constraint_share).max(FEW_CONSTRAINTS.min(request.limit.scaled(0.33))),
    );
    if !body.is_empty() {
        sections.push(Section { heading: "## Constraints".into(), body });
    }
    let mut state = Vec::new();
    if let Some(plan) = plan::latest(request.entries) {
        state.push(clip(&plan, options.state_share));
    }
    let last_user = last_user_text(request.entries)
        .filter(|(entry, _)| task.is_none_or(|(first, _)| first.id != entry.id));
    if let Some((entry, text)) = last_user
        && !request.kept.iter().any(|kept| kept.message.is_user_text())
    {
        state.push(format!("Last request ({}): {}", entry.id, clip(text, options.state_share)));
    }
    if let Some((entry, text)) = last_words(request.entries)
        && last_words(request.kept).is_none()
    {
        state.push(format!("Last words ({}): {}", entry.id, clip(text, options.state_share)));
    }
    if !state.is_empty() {
        sections.push(Section { heading: "## State".into(), body: state.join("\n") });
    }
    sections
}

/// Returns whether what `entry` says stays after the summary, whole.
fn is_kept(request: &SummaryRequest<'_>, entry: &Entry) -> bool {
    let same = |kept: &&Entry| kept.id == entry.id;
    request.kept.iter().find(same).is_some_and(|kept| own_text(&kept.message) == own_text(&entry.message))
}

/// Returns the constraints that neither `shown` nor the kept messages show, as long as there is room, listed oldest
/// first. Rules go before wishes, what holds before what was taken back, short ones before long ones, which are mostly
/// pasted text, and newer before older.
fn constraint_list(
    request: &SummaryRequest<'_>,
    constraints: &[Constraint],
    shown: &str,
    room: Tokens,
) -> String {
    // A kept message may have been cut: what counts is that the words are there.
    let visible = |constraint: &Constraint| {
        shown.contains(&constraint.text)
            || request
                .kept
                .iter()
                .any(|entry| entry.message.texts().any(|said| said.contains(&constraint.text)))
    };
    let mut lines: Vec<(usize, String, Tokens)> = Vec::new();
    for (at, constraint) in constraints.iter().enumerate().filter(|(_, constraint)| !visible(constraint)) {
        let after = constraint.superseded_by.map_or(String::new(), |by| format!(" (taken back in m{by})"));
        let line = format!("- m{}: {}{after}", constraint.message, constraint.text);
        let cost = request.counter.count_text(&line) + Tokens(1);
        lines.push((at, line, cost));
    }
    lines.sort_by_cached_key(|(at, _, cost)| {
        let Constraint { text, superseded_by, .. } = &constraints[*at];
        let holds = superseded_by.is_none();
        (!(holds && is_standing_rule(text)), !holds, *cost > LONG_CONSTRAINT, std::cmp::Reverse(*at))
    });
    let mut left = room;
    lines.retain(|(_, _, cost)| {
        let fits = *cost <= left;
        if fits {
            left -= *cost;
        }
        fits
    });
    lines.sort_by_key(|(at, ..)| *at);
    lines.into_iter().map(|(_, line, _)| line).collect::<Vec<_>>().join("\n")
}

/// What a handful of constraints takes: they get that much, however small the share, up to a third of the limit.
const FEW_CONSTRAINTS: Tokens = Tokens(100);

/// A constraint of more tokens gives way to shorter ones.
const LONG_CONSTRAINT: Tokens = Tokens(40);

/// Returns the whole summary with these picks.
pub(crate) fn text(fixed: &[Section], source: &[Line], ledger: &Ledger, picks: &[Pick]) -> String {
    let mut lines: BTreeMap<LineRole, Vec<usize>> = BTreeMap::new();
    let mut names: Vec<u32> = Vec::new();
    for pick in picks {
        match pick {
            Pick::Line(at) => lines.entry(source[*at].role).or_default().push(*at),
            Pick::Name(subject) => names.push(*subject),
        }
    }
    let (files, facts) = ledger.render(&names);
    let mut sections = fixed.to_vec();
    let mut add = |heading: String, body: String| {
        if !body.is_empty() {
            sections.push(Section { heading, body });
        }
    };
    let quoted = |role: LineRole| {
        let mut lines = lines.get(&role).cloned().unwrap_or_default();
        lines.sort_unstable();
        quote(source, &lines)
    };
    let under = if ledger.root.is_empty() { String::new() } else { format!(" (under {})", ledger.root) };
    add("## Asked since".into(), quoted(LineRole::Request));
    add(format!("## Files{under}"), files);
    add("## Commands".into(), list(source, lines.get(&LineRole::Command)));
    add("## Decisions".into(), quoted(LineRole::Decision));
    add("## Errors (quoted)".into(), fenced(quoted(LineRole::Error)));
    add("## Progress".into(), quoted(LineRole::Progress));
    add("## Key lines (quoted)".into(), fenced(quoted(LineRole::Quote)));
    add("## Facts".into(), facts);
    let texts: Vec<String> = sections.iter().map(Section::text).collect();
    texts.join("").trim_end().to_string()
}

/// Returns `lines` between fences that no run of backticks inside can close: what a tool said stands in the summary as
/// a quotation, never as a line of the summary's own.
fn fenced(lines: String) -> String {
    if lines.is_empty() {
        return lines;
    }
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{lines}\n{fence}")
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
        if !line.after.is_empty() {
            text.push(' ');
            text.push_str(&line.after);
        }
    }
    text
}

/// Returns the commands, in the order of their last runs, each with how it went.
fn list(source: &[Line], lines: Option<&Vec<usize>>) -> String {
    let mut lines = lines.cloned().unwrap_or_default();
    lines.sort_unstable();
    let item = |at: &usize| format!("$ {} → {}", source[*at].text, source[*at].after);
    lines.iter().map(item).collect::<Vec<_>>().join("\n")
}

/// The least that a fixed section gets, so that it says something at all.
const LEAST_SECTION: Tokens = Tokens(30);
