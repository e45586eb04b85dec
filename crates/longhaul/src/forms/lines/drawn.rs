//! What is told of what was said and done, before it is chosen from.

use std::{borrow::Cow, collections::HashSet};

use longhaul_extract::{StatementKind, lifted_by_each};
use longhaul_summarize::{
    Draft, SummaryRequest,
    rules::{SetDown, overruled_since, set_down},
};
use longhaul_transcript::{Constraint, Entry, Summary, one_line};

use super::{
    super::page::{are_one, is_a_persons, persons_texts},
    cured, is_kept, is_update,
    line::{Class, Line},
    new_entries,
    once::{once, without_repetitions},
    said_in,
    short::{QUOTED, QUOTED_REQUEST, quoted},
    tools::tool_lines,
};

/// Returns a line for each thing said or done, in the order of the conversation.
pub(super) fn lines(draft: &Draft, request: &SummaryRequest<'_>, error_details: bool) -> Vec<Line> {
    let entries = new_entries(request);
    let first = entries.first().map_or(0, |entry| entry.id.ordinal);
    let demands = new_demands(&draft.summary.constraints, first);
    let asks = |entry: &Entry| persons_texts(&entry.message).next().is_some();
    let last = entries.last().map(|entry| entry.id);
    let mut behind = request.kept.iter().filter(|entry| Some(entry.id) > last);
    let told = Told {
        request,
        summary: &draft.summary,
        entries,
        asked: entries
            .iter()
            .filter_map(|entry| Some((entry, persons_texts(&entry.message).next()?)))
            .collect(),
        rules: set_down(&demands),
        is_first: !is_update(request),
        is_newest: !behind.any(asks),
    };
    let mut placed = [told.asked(), told.demanded(), told.decided()].concat();
    placed.extend(tool_lines(entries, request.counter, error_details));
    placed.sort_by_key(|(at, _)| *at);
    let mut lines = without_repetitions(once(placed.into_iter().map(|(_, line)| line).collect()));
    if let Some(previous) = request.previous.filter(|_| is_update(request)) {
        cured::rank_cures(&mut lines, &previous.text);
    }
    lines
}

/// A line, by the message that it tells of.
type Placed = (u64, Line);

/// What there is to tell of.
struct Told<'a> {
    request: &'a SummaryRequest<'a>,
    summary: &'a Summary,
    entries: &'a [Entry],
    /// What persons ask, with the messages that they do in.
    asked: Vec<(&'a Entry, &'a str)>,
    rules: Vec<SetDown<'a>>,
    /// An update has no task of its own: its first request is one like the others.
    is_first: bool,
    /// Whether the last that was asked is the newest: nothing that is asked behind it stays as it was said.
    is_newest: bool,
}

impl Told<'_> {
    /// Returns what was asked. What of a request is a rule, a fact or a decision stands as that.
    fn asked(&self) -> Vec<Placed> {
        // What was overruled since is told no more.
        let overruled = overruled_since(self.request);
        let overruled = overruled.iter().map(|one| &*one.text);
        let rules = &self.summary.constraints;
        let gone = rules.iter().filter(|rule| rule.superseded_by.is_some()).map(|rule| &*rule.text);
        let gone: Vec<&str> = gone.chain(overruled).collect();
        let lifting = self.rules.iter().filter_map(|one| one.later).map(|later| &*later.text);
        let set = self.rules.iter().map(|one| &*one.said.text).chain(lifting);
        let decided = self.summary.decisions.iter().map(String::as_str);
        let apart: Vec<&str> = set.chain(decided).chain(gone.iter().copied()).collect();
        let of_message = |nth: usize| {
            let (entry, text) = self.asked[nth];
            let class = match (nth, nth + 1 == self.asked.len()) {
                (0, _) if self.is_first => Class::Task,
                (_, true) if self.is_newest => Class::Now,
                _ => Class::Request,
            };
            let told = match class {
                Class::Request => without(text, &apart),
                _ => {
                    let rules = self.rules.iter().map(|one| one.said);
                    let of_entry = rules.filter(|rule| rule.message == entry.id.ordinal);
                    with_question(&without(text, &gone), of_entry)
                }
            };
            let (at, line) = self.said(entry.id.ordinal, class, text, &told).filter(|_| !told.is_empty())?;
            Some((at, self.answering(at, &told, line)))
        };
        (0..self.asked.len()).filter_map(of_message).collect()
    }

    /// Returns the line of a message with the question that this answers, where it says too little without: that may stand in the part
    /// before.
    fn answering(&self, message: u64, told: &str, line: Line) -> Line {
        let all = self.request.index.statements().all();
        let from = all.partition_point(|one| u64::from(one.message) < message);
        let of_it = all[from..].iter().take_while(|one| u64::from(one.message) == message);
        let mut asked =
            of_it.filter(|one| one.kind == StatementKind::Person && told.trim() == one.text.trim());
        match asked.find_map(|one| one.answers.as_deref()) {
            Some(asked) if !is_kept(self.request, asked) => line.answering(asked),
            _ => line,
        }
    }

    /// Returns the rules and facts, but for those that stand in the task or the last request: when that is one among others, they are told
    /// from the data.
    fn demanded(&self) -> Vec<Placed> {
        let task = self.asked.first().filter(|_| self.is_first);
        let last = self.asked.last().filter(|_| self.is_newest);
        let is_told = |one: &SetDown<'_>| {
            let mut asked = task.into_iter().chain(last);
            asked.any(|(_, text)| quoted(text, QUOTED).contains(one.said.text.trim()))
        };
        let rules = self.rules.iter().filter(|one| !is_told(one) || one.later.is_some());
        let line =
            |one: &SetDown<'_>| self.said(one.said.message, Class::of(one), &one.said.text, &one.told());
        rules.filter_map(line).collect()
    }

    /// Returns what was decided, but for what is a rule.
    fn decided(&self) -> Vec<Placed> {
        let is_rule = |decision: &str| self.rules.iter().any(|one| are_one(&one.said.text, decision));
        let first = self.entries.first().map_or(0, |entry| entry.id.ordinal);
        let line = |decision: &String| {
            let (at, class) = match said_in(self.entries, decision) {
                Some(entry) if is_a_persons(&entry.message) => (entry.id.ordinal, Class::Choice),
                Some(entry) => (entry.id.ordinal, Class::Decision),
                // An update tells of what is new.
                None if self.is_first => (first, Class::Decision),
                None => return None,
            };
            self.said(at, class, decision, decision)
        };
        self.summary.decisions.iter().filter(|decision| !is_rule(decision)).filter_map(line).collect()
    }

    /// Returns the line for what was `said` in the message `at`, in the words in which it is `told`, where no message that stays says it.
    fn said(&self, at: u64, class: Class, said: &str, told: &str) -> Option<Placed> {
        let is_shown = said.trim().is_empty() || is_kept(self.request, said.trim());
        (!is_shown).then(|| (at, Line::of(class, told)))
    }
}

/// Returns those of `rules` that were said from the message `first` on, and those before that one of them may lift.
pub(super) fn new_demands(rules: &[Constraint], first: u64) -> Vec<Constraint> {
    let lifted: HashSet<usize> = rules
        .iter()
        .zip(lifted_by_each(rules))
        .filter(|(by, _)| by.message >= first)
        .flat_map(|(_, lifted)| lifted)
        .collect();
    let is_new = |(at, rule): &(usize, &Constraint)| rule.message >= first || lifted.contains(at);
    rules.iter().enumerate().filter(is_new).map(|(_, rule)| rule.clone()).collect()
}

/// Returns what was asked without what of it stands `apart`; nothing where no more than a word is left.
pub(super) fn without(asked: &str, apart: &[&str]) -> String {
    // Of a long message the last line is told as well: it stays in lines.
    let is_long = asked.len() > QUOTED_REQUEST;
    let in_one = |text| if is_long { Cow::Borrowed(text) } else { one_line(text) };
    let asked = in_one(asked.trim());
    let mut left = asked.clone().into_owned();
    for told in apart.iter().map(|told| in_one(told.trim())).filter(|told| !told.is_empty()) {
        left = left.replacen(&*told, "", 1);
    }
    if left.len() == asked.len() {
        return left;
    }
    let lines = left.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let left = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    if left.split_whitespace().nth(1).is_some() { left } else { String::new() }
}

/// Returns what was asked, with the question that a rule in it answers.
fn with_question<'r>(asked: &str, mut rules: impl Iterator<Item = &'r Constraint>) -> String {
    let rule = rules.find(|rule| rule.answers.is_some() && asked.contains(rule.text.trim()));
    rule.map_or_else(|| asked.to_owned(), |rule| asked.trim().replacen(rule.text.trim(), &rule.told(), 1))
}
