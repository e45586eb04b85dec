//! The sections that stand whatever the ranking says: the request and what was asked since, the person's rules, where the
//! work stands.

use longhaul_extract::{
    Domain, StatementKind, is_standing_rule,
    speaker::{Matter, Speakers},
};
use longhaul_transcript::{Constraint, Entry, ErrorNote, Part, Role, Summary, Tokens, parse_handle_line};

use super::{
    RulesOptions,
    account::{is_users, last_words, own_text, task},
    clip, marked, plan,
    render::fenced,
    runs::{Purpose, RunGroup},
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

/// Makes the sections one after the other; what one says the next need not say.
#[derive(Debug)]
struct Fixed<'a> {
    request: &'a SummaryRequest<'a>,
    options: &'a RulesOptions,
    sections: Vec<Section>,
    said: String,
}

/// Returns the sections, of which each has its share of the limit.
pub(crate) fn sections(
    request: &SummaryRequest<'_>,
    summary: &Summary,
    groups: &[RunGroup<'_>],
    options: &RulesOptions,
) -> Vec<Section> {
    let mut fixed = Fixed { request, options, sections: Vec::new(), said: String::new() };
    fixed.goal();
    let is_talk = request.index.domain() == Domain::Talk;
    let is_continued = fixed.earlier();
    if !is_continued {
        fixed.task(is_talk);
    }
    // Where there is little room, rules come first; elsewhere the messages that state them need no second mention.
    let is_tight = request.limit < TIGHT;
    if is_tight {
        fixed.rules(&summary.constraints, is_talk);
    }
    if !is_talk {
        fixed.asked_since(is_continued);
    }
    if !is_tight {
        fixed.rules(&summary.constraints, is_talk);
    }
    fixed.state(groups);
    fixed.failures(&summary.errors);
    fixed.sections
}

/// Returns the text of an earlier summary, where the entry is one.
fn earlier_summary(entry: &Entry) -> Option<(&Entry, &str)> {
    if entry.message.role != Role::User {
        return None;
    }
    let pieces = Speakers::builtin().segments(&entry.message);
    let part = pieces.iter().find(|piece| piece.matter == Matter::Summary)?.part;
    match entry.message.parts.get(part) {
        Some(Part::Text(text)) => Some((entry, text.trim())),
        _ => None,
    }
}

/// Returns whether a line of a summary is its header, its handle or the heading under which it quotes another.
pub(super) fn is_frame(line: &str) -> bool {
    line.starts_with("[Context Summary - ")
        || line.trim_start_matches('#').starts_with(" Earlier summary (")
        || parse_handle_line(line).is_some()
}

impl Fixed<'_> {
    fn add(&mut self, heading: String, body: String) {
        self.said.push_str(&body);
        self.said.push('\n');
        self.sections.push(Section { heading, body });
    }

    fn cost(&self, text: &str) -> Tokens {
        self.request.counter.count_text(text)
    }

    fn room(&self, share: f64) -> Tokens {
        self.request.limit.scaled(share).max(LEAST_SECTION)
    }

    /// Returns `text` whole where it fits `share` of the limit, else its start and end.
    fn clip(&self, text: &str, share: f64) -> String {
        clip::middle(text, self.room(share), self.request.counter)
    }

    fn goal(&mut self) {
        if let Some(goal) = self.request.goal.map(str::trim).filter(|goal| !goal.is_empty()) {
            let body = self.clip(goal, self.options.state_share);
            self.add("## Goal (stated by the user)".into(), body);
        }
    }

    /// A summary that the entries hold is all there is of what it stands for: it is told on, from its first line as far as
    /// there is room. Returns whether there was one.
    fn earlier(&mut self) -> bool {
        let summaries: Vec<(&Entry, &str)> =
            self.request.entries.iter().filter_map(earlier_summary).collect();
        let Some((entry, text)) = summaries.last() else { return false };
        let mut left = self.room(EARLIER_SHARE);
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !is_frame(line)) {
            // Its headings stand below this section's own.
            let line = match line.trim_start_matches('#') {
                title if title.len() < line.len() => format!("###{title}"),
                _ => line.to_owned(),
            };
            let cost = self.cost(&line) + Tokens(1);
            if cost > left {
                break;
            }
            left -= cost;
            lines.push(line);
        }
        let is_open = lines.iter().filter(|line| line.starts_with("```")).count() % 2 == 1;
        lines.extend(is_open.then(|| "```".to_owned()));
        self.add(
            format!("## Earlier summary ({}, of messages that are not at hand)", entry.id),
            lines.join("\n"),
        );
        true
    }

    fn task(&mut self, is_talk: bool) {
        let Some((entry, text)) = task(self.request.entries) else { return };
        if is_kept(self.request, entry) {
            self.add(format!("## Request ({}): the user's message below", entry.id), String::new());
        } else if !is_talk || self.has_assistant() {
            // A short request stays whole: it is what everything else is for. A meeting has none.
            let share = self.options.task_share;
            let body = self.clip(text, share);
            self.add(format!("## Request ({})", entry.id), body);
        }
    }

    fn has_assistant(&self) -> bool {
        self.request.entries.iter().any(|entry| entry.message.role == Role::Assistant)
    }

    /// What the person asked after the first request: whole messages, the newest first as long as there is room.
    fn asked_since(&mut self, is_continued: bool) {
        let first = task(self.request.entries).map(|(entry, _)| entry.id).filter(|_| !is_continued);
        let room = self.room(self.options.asked_share);
        let longest = room.scaled(0.5);
        let mut left = room;
        let mut lines = Vec::new();
        let entries = self.request.entries.iter().rev();
        for entry in entries.filter(|entry| Some(entry.id) != first && is_users(&entry.message)) {
            let Some(text) = own_text(&entry.message) else { continue };
            if is_kept(self.request, entry) || self.said.contains(text) {
                continue;
            }
            // A word or two are an answer, which stands with what it answers.
            if text.chars().count() <= SHORT {
                continue;
            }
            let line = format!("{} {}", entry.id, text.split_whitespace().collect::<Vec<_>>().join(" "));
            let cost = self.cost(&line) + Tokens(1);
            if cost > longest {
                continue;
            }
            if cost > left {
                break;
            }
            left -= cost;
            lines.push(line);
        }
        lines.reverse();
        if let Some(answer) = self.last_answer() {
            lines.push(answer);
        }
        if !lines.is_empty() {
            self.add("## Asked since".into(), lines.join("\n"));
        }
    }

    /// The person's last word or two, with what they answer: what a "yes" agreed to.
    fn last_answer(&self) -> Option<String> {
        let all = self.request.index.statements().all().iter().rev();
        let mut answers = all.filter(|statement| statement.kind == StatementKind::Person);
        let last = answers.find(|statement| statement.answers.is_some())?;
        let asked = last.answers.as_deref()?;
        let line = format!("m{} {} (to: \"{asked}\")", last.message, last.text);
        let shown = self.request.kept.iter().flat_map(|entry| entry.message.texts());
        let is_shown = shown.into_iter().any(|text| text.contains(asked));
        (!is_shown && self.cost(&line) <= self.room(self.options.asked_share)).then_some(line)
    }

    /// What the person demands and marks as worth remembering, verbatim.
    fn rules(&mut self, constraints: &[Constraint], is_talk: bool) {
        let marked = if is_talk { Vec::new() } else { marked::lines(self.request.entries) };
        let mut all: Vec<Constraint> = constraints.to_vec();
        for (message, text) in marked {
            let is_known = |known: &Constraint| known.text.contains(&text) || text.contains(&known.text);
            match all.iter_mut().find(|known| is_known(known)) {
                Some(known) if known.text.len() < text.len() => known.text = text,
                Some(_) => {}
                None => all.push(Constraint { text, message, superseded_by: None }),
            }
        }
        all.sort_by_key(|constraint| constraint.message);
        let share = self.request.limit.scaled(self.options.constraint_share);
        let few = FEW_CONSTRAINTS.min(self.request.limit.scaled(0.35));
        let body = self.rule_list(&all, share.max(few));
        if !body.is_empty() {
            self.add("## Rules and facts from the user".into(), body);
        }
    }

    /// Returns the rules that nothing before and no kept message shows, as long as there is room, listed oldest first.
    /// Rules go before wishes, what holds before what was taken back, short ones before long ones, and newer before older.
    fn rule_list(&self, rules: &[Constraint], room: Tokens) -> String {
        // A kept message may have been cut: what counts is that the words are there.
        let is_visible = |rule: &Constraint| {
            let kept = self.request.kept.iter().flat_map(|entry| entry.message.texts());
            self.said.contains(&rule.text) || kept.into_iter().any(|said| said.contains(&rule.text))
        };
        let mut lines: Vec<(usize, String, Tokens)> = Vec::new();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| !is_visible(rule)) {
            let after = rule.superseded_by.map_or(String::new(), |by| format!(" (taken back in m{by})"));
            let line = format!("- m{}: {}{after}", rule.message, rule.text);
            let cost = self.cost(&line) + Tokens(1);
            lines.push((at, line, cost));
        }
        lines.sort_by_cached_key(|(at, _, cost)| {
            let Constraint { text, superseded_by, .. } = &rules[*at];
            let holds = superseded_by.is_none();
            let is_rule = marked::is_marked(text) || is_standing_rule(text);
            (!(holds && is_rule), !holds, *cost > LONG_RULE, std::cmp::Reverse(*at))
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

    /// Where the work stands: the plan with its open items first, the last checks, the last words.
    fn state(&mut self, groups: &[RunGroup<'_>]) {
        let mut state = Vec::new();
        if let Some(plan) = plan::latest(self.request.entries) {
            state.push(self.clip(&plan, self.options.state_share * 1.6));
        }
        let checks = groups.iter().filter(|group| group.last().purpose == Purpose::Check);
        let checks: Vec<_> = checks.collect();
        for group in checks.iter().rev().take(LAST_CHECKS).rev() {
            let line = format!("$ {} → {}", first_chars(group.heart, COMMAND_CHARS), group.outcome());
            if !self.said.contains(&line) {
                state.push(line);
            }
        }
        if let Some((entry, text)) = last_words(self.request.entries)
            && last_words(self.request.kept).is_none()
        {
            state.push(format!("Last words ({}): {}", entry.id, self.clip(text, LAST_WORDS_SHARE)));
        }
        if !state.is_empty() {
            self.add("## State".into(), state.join("\n"));
        }
    }

    /// The failures that are open, and the last that were cured, each with its cure.
    fn failures(&mut self, errors: &[ErrorNote]) {
        let room = self.room(self.options.state_share);
        let (mut left, mut lines) = (room, Vec::new());
        let open = errors.iter().rev().filter(|error| error.resolution.is_empty()).take(MOST_FAILURES);
        let cured = errors.iter().rev().filter(|error| !error.resolution.is_empty()).take(1);
        for error in open.chain(cured) {
            let cure = match error.resolution.is_empty() {
                true => String::new(),
                false => format!(" ({})", error.resolution),
            };
            let line = format!("{}{cure}", error.error);
            let cost = self.cost(&line) + Tokens(1);
            if cost <= left {
                left -= cost;
                lines.push(line);
            }
        }
        lines.reverse();
        if !lines.is_empty() {
            self.add("## Failures (quoted)".into(), fenced(lines.join("\n")));
        }
    }
}

/// Returns the first characters of `text`, with an ellipsis where it is longer.
fn first_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns whether what `entry` says stays after the summary, whole.
fn is_kept(request: &SummaryRequest<'_>, entry: &Entry) -> bool {
    let same = |kept: &&Entry| kept.id == entry.id;
    request.kept.iter().find(same).is_some_and(|kept| own_text(&kept.message) == own_text(&entry.message))
}

/// An earlier summary gets this share of the room: it stands for all that was said before it.
const EARLIER_SHARE: f64 = 0.6;

/// In less room than this, rules come before what was asked since.
const TIGHT: Tokens = Tokens(1000);

/// The least that a section gets, so that it says something at all.
const LEAST_SECTION: Tokens = Tokens(30);

/// What a handful of rules takes: they get that much, however small the share, up to a third of the limit.
const FEW_CONSTRAINTS: Tokens = Tokens(150);

/// A rule of more tokens gives way to shorter ones.
const LONG_RULE: Tokens = Tokens(40);

/// A message of so few characters says nothing without what it answers.
const SHORT: usize = 12;

/// How many of the last checks are told.
const LAST_CHECKS: usize = 3;

/// How many open failures are told.
const MOST_FAILURES: usize = 3;

/// Characters of a command.
const COMMAND_CHARS: usize = 120;

/// What was said last stays whole where it is under this share of the limit.
const LAST_WORDS_SHARE: f64 = 0.25;
