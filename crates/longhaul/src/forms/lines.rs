//! 001's form: `--- Summarized Context (N items) ---` over a line for each thing that was done or said.

mod chosen;
mod cured;
#[cfg(any(feature = "wire", test))]
pub(super) mod said;

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
};

use longhaul_extract::{
    Allowance, ToolFamily, ToolStatus, ToolSummary, digest, family, lifted_by_each, statement_form,
    summarize_tool_result,
};
use longhaul_summarize::{
    Draft, SummaryRequest,
    rules::{SetDown, gist, overruled_since, overrules, set_down},
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{
    Constraint, Entry, Summary, SummaryRecord, Tokens, ToolCall, ToolResult, first_chars, one_line,
};

use chosen::framed;

use super::{
    page::{FACT, Page, RULE, TASK, are_one, is_a_persons, persons_texts, with_the_person},
    words,
};

/// Ends a summary in which something that must be said did not fit.
const TRUNCATED: &str = "[Summary truncated]";

/// Stands before what is left when updates no longer fit together.
const CONDENSED: &str = "[Condensed history]";

/// A line about the task, a rule, a decision or the last request quotes this many characters at most, and so does a tool's.
const QUOTED: usize = 300;

/// A line about any other request: what it asks is mostly in its first sentence.
const QUOTED_REQUEST: usize = 120;

/// A line that may stand in the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    /// What is needed longest has the lowest.
    rank: Rank,
}

/// How long a line is needed, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Rank {
    Task,
    LastRequest,
    Rule,
    /// A decision of the person's.
    Choice,
    Decision,
    /// What failed before and went well.
    Cure,
    Error,
    Change,
    Request,
    Other,
    /// A request that only asks something: what else was said is not to be found in the answer.
    Question,
    Read,
}

impl Rank {
    /// Returns how long the line of a call that went well is needed.
    fn of(family: ToolFamily) -> Rank {
        match family {
            ToolFamily::Read | ToolFamily::List => Rank::Read,
            family if family.changes_files() => Rank::Change,
            _ => Rank::Other,
        }
    }
}

/// What the lines about what was said begin with, each with its rank.
const SAID: [(&str, Rank); 7] = [
    ("[✓ user: Task: ", Rank::Task),
    ("[✓ user: Rule: ", Rank::Rule),
    ("[✓ user: Now: ", Rank::LastRequest),
    ("[✓ user: Request: ", Rank::Request),
    ("[✓ assistant: Decision: ", Rank::Decision),
    ("[✓ user: Decision: ", Rank::Choice),
    ("[✓ user: Fact: ", Rank::Rule),
];

/// Returns the place in [`SAID`] of what a person demands, or tells to go by.
fn demanded(one: &SetDown<'_>) -> usize {
    if one.is_fact() { 6 } else { 1 }
}

/// Returns the draft in the document's lines; a model's words stay as they are, with what the user demands after them. What must be
/// said may cost up to `most`.
pub(super) fn text(
    draft: &Draft,
    request: &SummaryRequest<'_>,
    most: Tokens,
    error_details: bool,
) -> Option<String> {
    if let Some(words) = words(draft) {
        let said = of_the_person_beside(draft, request, most);
        // The first may take the room that it was asked to leave for an update: its end is worth more than one.
        let limit = if is_update(request) { request.limit } else { most };
        let text = with_the_person(words, &said, request, limit, "\n\n");
        return Some(match takes_the_place(request, most) {
            true => with_decisions(text, &said.decisions, request, limit),
            false => text,
        });
    }
    let lines = lines(draft, request, error_details);
    (!lines.is_empty()).then(|| framed("", &lines, request.counter, request.limit, most))
}

/// Returns whether what is new takes the place of what was said before, for want of room within `most`.
fn takes_the_place(request: &SummaryRequest<'_>, most: Tokens) -> bool {
    let previous = request.previous.filter(|_| is_update(request));
    previous.is_some_and(|previous| previous.tokens + request.limit > most)
}

/// Returns a model's words and behind them the newest of `decisions` that they do not tell, as far as there is room: those of the words
/// whose place they take are gone with these.
fn with_decisions(
    words: String,
    decisions: &[String],
    request: &SummaryRequest<'_>,
    limit: Tokens,
) -> String {
    let missing = decisions.iter().filter(|decision| !words.contains(decision.trim()));
    let lines = missing.filter(|decision| !is_kept(request, decision.trim())).map(|decision| {
        let entry = said_in(request.entries, decision);
        decision_line(entry.is_some_and(|entry| is_a_persons(&entry.message)), decision).text
    });
    let lines: Vec<String> = lines.collect();
    let mut page = Page::new(request.counter, limit);
    page.text = words;
    page.newest(&lines);
    page.text
}

/// Returns the line for a decision, of a person's or of the model's.
fn decision_line(is_a_persons: bool, decision: &str) -> Line {
    let (start, rank) = SAID[if is_a_persons { 5 } else { 4 }];
    Line { text: format!("{start}{}]", quoted(decision, QUOTED)), rank }
}

/// Returns the message that this was said in.
fn said_in<'e>(entries: &'e [Entry], said: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.message.texts().any(|text| text.contains(said.trim())))
}

/// Returns whether a message that stays says this.
fn is_kept(request: &SummaryRequest<'_>, text: &str) -> bool {
    request.kept.iter().any(|entry| entry.message.texts().any(|said| said.contains(text)))
}

/// Returns a summary with the task and the rules that a model's words do not stand beside yet. Where they follow what was said before,
/// the new rules; where they take its place, for want of room within `most`, all of it that is known.
fn of_the_person_beside(draft: &Draft, request: &SummaryRequest<'_>, most: Tokens) -> Summary {
    let mut said = draft.summary.clone();
    let Some(previous) = request.previous.filter(|_| is_update(request)) else { return said };
    if !takes_the_place(request, most) {
        let first = new_entries(request).first().map_or(u64::MAX, |entry| entry.id.ordinal);
        said.constraints = new_demands(&said.constraints, first);
        said.goal.clear();
        return said;
    }
    let before = &previous.summary;
    if said.goal.trim().is_empty() {
        said.goal.clone_from(&before.goal);
    }
    let is_known = |rule: &Constraint| said.constraints.iter().any(|known| known.text == rule.text);
    let older: Vec<_> = before.constraints.iter().filter(|rule| !is_known(rule)).cloned().collect();
    said.constraints.splice(0..0, older);
    said
}

/// Returns those of `rules` that were said from the message `first` on, and those before that one of them may lift.
fn new_demands(rules: &[Constraint], first: u64) -> Vec<Constraint> {
    let lifted: HashSet<usize> = rules
        .iter()
        .zip(lifted_by_each(rules))
        .filter(|(by, _)| by.message >= first)
        .flat_map(|(_, lifted)| lifted)
        .collect();
    let is_new = |(at, rule): &(usize, &Constraint)| rule.message >= first || lifted.contains(at);
    rules.iter().enumerate().filter(is_new).map(|(_, rule)| rule.clone()).collect()
}

/// Returns the running summary where the update no longer fits: the lines of both that the work needs longest, in their
/// order, under one head, within `limit`, and up to `most` where they must be said. Of an older text in another form the task and the
/// rules are told in this one. `None` where what is new is in no lines of this form.
pub(crate) fn condense(
    old: &SummaryRecord,
    new: &Draft,
    counter: &dyn TokenCounter,
    limit: Tokens,
    most: Tokens,
) -> Option<String> {
    if !new.text.starts_with(HEAD) {
        return None;
    }
    let mut lines: Vec<Line> = old.text.lines().filter_map(|line| read(line, &old.summary)).collect();
    // What was the last request is one among others now.
    for line in lines.iter_mut().filter(|line| line.rank == Rank::LastRequest) {
        line.text = line.text.replacen(SAID[2].0, SAID[3].0, 1);
        line.rank = rank_of(&line.text);
    }
    let mut lines = each_once(with_owed(lines, &old.summary));
    lines.retain(|line| line.rank == Rank::Task || !is_taken_back(&line.text, &new.summary));
    lines.extend(new.text.lines().filter_map(|line| read(line, &old.summary)));
    let is_overruled = |at: &usize| {
        let later = lines[at + 1..].iter().filter_map(|line| said_by_person(&line.text));
        matches!(lines[*at].rank, Rank::Choice | Rank::Decision)
            && later.into_iter().any(|said| overrules(said, &lines[*at].text))
    };
    // Told once more with what may have lifted it, a rule need not stand without that.
    let stands_in_newer = |at: &usize| {
        let rule = lines[*at].text.trim_end_matches(']');
        lines[*at].rank == Rank::Rule
            && lines[at + 1..]
                .iter()
                .any(|newer| newer.text.len() > lines[*at].text.len() && newer.text.starts_with(rule))
    };
    let overruled: Vec<usize> =
        (0..lines.len()).filter(|at| is_overruled(at) || stands_in_newer(at)).collect();
    let mut at = 0..lines.len();
    lines.retain(|_| !at.next().is_some_and(|at| overruled.contains(&at)));
    Some(framed(CONDENSED, &once(lines), counter, limit, most))
}

/// Returns the lines without a decision that stands as a rule as well, and requests without what of them stands as a rule, a fact or a
/// decision.
fn each_once(mut lines: Vec<Line>) -> Vec<Line> {
    let said = |line: &Line| said_by_person(&line.text).map(|said| said.trim_end_matches(']').to_owned());
    let of = |rank: Rank| lines.iter().filter(move |line| line.rank == rank).filter_map(said);
    let rules: Vec<String> = of(Rank::Rule).collect();
    let apart: Vec<String> = rules.iter().cloned().chain(of(Rank::Choice)).collect();
    let apart: Vec<&str> = apart.iter().map(String::as_str).collect();
    lines.retain_mut(|line| match (line.rank, said(line)) {
        (Rank::Choice, Some(decision)) => !rules.iter().any(|rule| are_one(rule, &decision)),
        (Rank::Request | Rank::Question, Some(asked)) => {
            let left = without(&asked, &apart);
            let is_left = !left.is_empty();
            line.text = format!("{}{left}]", SAID[3].0);
            is_left
        }
        _ => true,
    });
    lines
}

/// Returns what the line of a person's has in their words.
fn said_by_person(line: &str) -> Option<&str> {
    if line.starts_with(RULE) {
        return line.split_once("): ").map(|(_, rule)| rule);
    }
    let is_persons = |(start, rank): &&(&str, Rank)| line.starts_with(start) && *rank != Rank::Decision;
    SAID.iter().find(is_persons).map(|(start, _)| &line[start.len()..])
}

/// Returns the `lines` of a summary with those for its task and its rules that none of them has: the task first, and a rule behind the
/// one that was said before it.
fn with_owed(mut lines: Vec<Line>, said: &Summary) -> Vec<Line> {
    let line = |prefix: usize, text: &str| {
        let (start, rank) = SAID[prefix];
        Line { text: format!("{start}{}]", quoted(text, QUOTED)), rank }
    };
    if !said.goal.trim().is_empty() && !lines.iter().any(|line| line.rank == Rank::Task) {
        lines.insert(0, line(0, &said.goal));
    }
    let mut behind = lines.iter().position(|line| line.rank == Rank::Task).map_or(0, |at| at + 1);
    for one in set_down(&said.constraints) {
        let told = quoted(&one.said.text, QUOTED);
        let tells = |line: &Line| line.rank <= Rank::Rule && line.text.contains(&told);
        match lines.iter().position(tells) {
            Some(at) if lines[at].rank == Rank::Rule => behind = behind.max(at + 1),
            Some(_) => {}
            None => {
                lines.insert(behind, line(demanded(&one), &one.told()));
                behind += 1;
            }
        }
    }
    lines
}

/// Returns whether a line tells of a rule that the user took back since.
fn is_taken_back(line: &str, said: &Summary) -> bool {
    let tells = |rule: &Constraint| line.contains(&*quoted(rule.text.trim(), QUOTED));
    let (gone, holding): (Vec<&Constraint>, Vec<_>) =
        said.constraints.iter().partition(|rule| rule.superseded_by.is_some());
    said_by_person(line).is_some() && gone.into_iter().any(tells) && !holding.into_iter().any(tells)
}

/// Returns the text of a running summary without the lines for rules that the user took back since, by what is now `said`.
pub(crate) fn without_taken_back<'t>(text: &'t str, said: &Summary) -> Cow<'t, str> {
    let is_gone = |line: &str| {
        let is_rule = [SAID[1].0, SAID[6].0, RULE].iter().any(|mark| line.starts_with(mark));
        is_rule && is_taken_back(line, said)
    };
    if !text.lines().any(is_gone) {
        return Cow::Borrowed(text);
    }
    let mut left: Vec<Cow<'_, str>> = Vec::new();
    for line in text.lines() {
        if !is_gone(line) {
            left.push(Cow::Borrowed(line));
        } else if let Some(over) = left.iter_mut().rev().find(|line| line.starts_with(HEAD)) {
            let count = over[HEAD.len()..].split(' ').next().and_then(|count| count.parse::<usize>().ok());
            *over = Cow::Owned(head(count.unwrap_or(1).saturating_sub(1)));
        }
    }
    Cow::Owned(left.join("\n"))
}

/// Returns a line of the running summary of which `said` is the data. A model's words stay as they are, line by line; what stands beside
/// them of the task and the rules is told from the data.
fn read(line: &str, said: &Summary) -> Option<Line> {
    let is_frame =
        line.starts_with(HEAD) || line.starts_with("[Update ") || [CONDENSED, TRUNCATED].contains(&line);
    if line.trim().is_empty() || is_frame || is_of_the_person(line, said) {
        return None;
    }
    let is_ours = line.starts_with("[✓ ") || line.starts_with("[❌ ");
    Some(Line { text: line.to_owned(), rank: if is_ours { rank_of(line) } else { Rank::Other } })
}

/// Whether this is a line for the task or a rule that stands beside a model's words, and not one of these.
fn is_of_the_person(line: &str, said: &Summary) -> bool {
    let task = line.strip_prefix(TASK).map(|task| one_line(task.trim_end_matches(" […]")));
    let behind = [RULE, FACT].iter().find_map(|mark| line.strip_prefix(mark));
    let rule = behind.and_then(|rule| rule.split_once("): ")).map(|(_, rule)| one_line(rule));
    task.is_some_and(|task| one_line(&said.goal).starts_with(&*task))
        || rule.is_some_and(|rule| {
            said.constraints.iter().any(|known| rule.starts_with(&*one_line(&known.told())))
        })
}

const HEAD: &str = "--- Summarized Context (";

fn head(count: usize) -> String {
    format!("{HEAD}{count} items) ---")
}

/// Returns a line for each thing said or done, in the order of the conversation.
fn lines(draft: &Draft, request: &SummaryRequest<'_>, error_details: bool) -> Vec<Line> {
    let summary = &draft.summary;
    let mut placed: Vec<(u64, Line)> = Vec::new();
    let mut say = |at: u64, prefix: usize, said: &str, told: &str| {
        if !said.trim().is_empty() && !is_kept(request, said.trim()) {
            let (start, rank) = SAID[prefix];
            let most = if rank == Rank::Request { QUOTED_REQUEST } else { QUOTED };
            let text = format!("{start}{}]", quoted(told, most));
            placed.push((at, Line { rank: rank_of(&text), text }));
        }
    };
    let entries = new_entries(request);
    let asked: Vec<(&Entry, &str)> =
        entries.iter().filter_map(|entry| Some((entry, persons_texts(&entry.message).next()?))).collect();
    // An update has no task of its own: its first request is one like the others.
    let is_first = !is_update(request);
    let first = entries.first().map_or(0, |entry| entry.id.ordinal);
    let new = new_demands(&summary.constraints, first);
    let rules = set_down(&new);
    let decided = summary.decisions.iter().map(String::as_str);
    // What was overruled since is told no more.
    let overruled = overruled_since(request);
    let overruled = overruled.iter().map(|one| &*one.text);
    let gone = summary.constraints.iter().filter(|rule| rule.superseded_by.is_some()).map(|rule| &*rule.text);
    let gone: Vec<&str> = gone.chain(overruled).collect();
    let lifting = rules.iter().filter_map(|one| one.later).map(|later| &*later.text);
    let set = rules.iter().map(|one| &*one.said.text).chain(lifting);
    let apart: Vec<&str> = set.chain(decided).chain(gone.iter().copied()).collect();
    for (nth, (entry, text)) in asked.iter().enumerate() {
        let prefix = match (nth, nth + 1 == asked.len()) {
            (0, _) if is_first => 0,
            (_, true) => 2,
            _ => 3,
        };
        let told = match prefix {
            // What of it is a rule, a fact or a decision stands as that.
            3 => without(text, &apart),
            _ => {
                let of_entry =
                    rules.iter().map(|one| one.said).filter(|rule| rule.message == entry.id.ordinal);
                with_question(&without(text, &gone), of_entry)
            }
        };
        if !told.is_empty() {
            say(entry.id.ordinal, prefix, text, &told);
        }
    }
    for one in &rules {
        let rule = one.said;
        // It stands in the task or the last request; when that is one among others, it is told from the data.
        let is_asked = |line: Option<&(&Entry, &str)>| {
            line.is_some_and(|(_, text)| quoted(text, QUOTED).contains(rule.text.trim()))
        };
        let is_told = is_asked(asked.first().filter(|_| is_first)) || is_asked(asked.last());
        if !is_told || one.later.is_some() {
            say(rule.message, demanded(one), &rule.text, &one.told());
        }
    }
    let is_rule = |decision: &&String| rules.iter().any(|one| are_one(&one.said.text, decision));
    for decision in summary.decisions.iter().filter(|decision| !is_rule(decision)) {
        let (at, prefix) = match said_in(entries, decision) {
            Some(entry) => (entry.id.ordinal, if is_a_persons(&entry.message) { 5 } else { 4 }),
            // An update tells of what is new.
            None if is_first => (first, 4),
            None => continue,
        };
        say(at, prefix, decision, decision);
    }
    placed.extend(tool_lines(entries, request.counter, error_details));
    placed.sort_by_key(|(at, _)| *at);
    let mut lines = without_repetitions(once(placed.into_iter().map(|(_, line)| line).collect()));
    if let Some(previous) = request.previous.filter(|_| !is_first) {
        cured::rank_cures(&mut lines, &previous.text);
    }
    lines
}

/// Returns what was asked without what of it stands `apart`; nothing where no more than a word is left.
fn without(asked: &str, apart: &[&str]) -> String {
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

/// Returns whether the summary follows what the one before it says, and tells of what is new only.
fn is_update(request: &SummaryRequest<'_>) -> bool {
    request.previous.is_some() && request.depth > 0
}

/// Returns what the summary is to tell of.
fn new_entries<'a>(request: &SummaryRequest<'a>) -> &'a [Entry] {
    let told = request.previous.filter(|_| is_update(request)).map_or(0, |previous| previous.covers.end);
    let at = request.entries.partition_point(|entry| entry.id.ordinal < told);
    &request.entries[at..]
}

/// Returns a line for each tool result; of what failed the decisive lines, where `error_details` are wanted.
fn tool_lines(entries: &[Entry], counter: &dyn TokenCounter, error_details: bool) -> Vec<(u64, Line)> {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    let mut lines = Vec::new();
    for entry in entries {
        calls.extend(entry.message.calls().map(|call| (call.id.as_str(), call)));
        for result in entry.message.results() {
            let call = calls.get(result.call_id.as_str()).copied();
            let mut summary = summarize_tool_result(call, result);
            let is_error = summary.status == ToolStatus::Error;
            if let Some(details) =
                (is_error && error_details).then(|| details(call, result, &summary, counter)).flatten()
            {
                summary.key_facts.push(details);
            }
            let family = call.map_or(ToolFamily::Other, family);
            if family == ToolFamily::Search {
                SEARCH.clone_into(&mut summary.tool);
            }
            let rank = match (summary.status, family) {
                (ToolStatus::Error, _) => Rank::Error,
                (_, family) => Rank::of(family),
            };
            let text = summary.to_string();
            let most = if is_error && error_details { QUOTED + DETAILS_CHARS } else { QUOTED };
            lines.push((entry.id.ordinal, Line { text: bounded(&text, most), rank }));
        }
    }
    lines
}

/// Returns the lines of an error that decide it, beside what the facts say: where it is, what caused it.
fn details(
    call: Option<&ToolCall>,
    result: &ToolResult,
    summary: &ToolSummary,
    counter: &dyn TokenCounter,
) -> Option<String> {
    let count = |text: &str| counter.count_text(text);
    let digest = digest(call, &result.joined_text(), result.outcome, &Allowance::new(DETAILS, &count));
    let is_told = |line: &str| summary.key_facts.iter().any(|fact| fact.contains(line));
    let error = summary.key_facts.iter().find_map(|fact| fact.strip_prefix("Error: "));
    let is_error = |line: &str| {
        let line = line.trim();
        let is_it = |error: &str| error.contains(line) || line.contains(error.trim_end_matches("..."));
        !line.is_empty() && error.is_some_and(is_it)
    };
    let at = digest.lines().position(is_error).unwrap_or(0);
    let lines = digest.lines().enumerate().filter(|(nth, line)| *nth + NEAR >= at || leads_to_error(line));
    let lines = lines.map(|(_, line)| line.trim()).filter(|line| {
        let says_something = line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        says_something && !line.starts_with('…') && !is_told(line)
    });
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| format!("{DETAILS_MARK}{}", lines.join(" ⏎ ")))
}

/// Returns whether a line that stands before an error has to do with it, by its form: it is part of a trace, names a place, or says
/// what went wrong. What a program had printed until then does not.
fn leads_to_error(line: &str) -> bool {
    let follows = |mark: &str| {
        line.match_indices(mark)
            .any(|(at, _)| line[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let lower = line.to_lowercase();
    line.starts_with(char::is_whitespace)
        || follows(":")
        || follows("line ")
        || ["error", "exception", "fail", "expected", "panic", "caused"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Returns the forms in which a line may stand, the longest first: an error also without its details, and then with as much of it as
/// the document has; what was asked also without what is only told in it. Where it `is_tight`, an error has no details, what was asked
/// is not told otherwise, and a decision also in its first sentences.
fn forms(line: &str, is_tight: bool) -> Vec<Cow<'_, str>> {
    let asked = [SAID[0].0, SAID[2].0].into_iter().find_map(|start| Some((start, line.strip_prefix(start)?)));
    if let Some((start, asked)) = asked {
        let asked = asked.strip_suffix(']').unwrap_or(asked);
        let told = gist(asked, |told| told.chars().count() <= ASKED_IN_SHORT);
        let told = told.unwrap_or_else(|| first_sentences(asked, QUOTED_REQUEST));
        let short = Cow::Owned(format!("{start}{told}]"));
        return if is_tight { vec![short] } else { vec![Cow::Borrowed(line), short] };
    }
    let mut forms = vec![Cow::Borrowed(line)];
    let is_decision = [SAID[4].0, SAID[5].0].iter().any(|start| line.starts_with(start));
    if is_tight && is_decision {
        let short = first_sentences(line, QUOTED_REQUEST);
        if short != line {
            forms.push(Cow::Owned(format!("{short}]")));
        }
    }
    if line.starts_with("[❌ ") {
        let short = line.split_once(&format!(" | {DETAILS_MARK}")).map(|(before, _)| format!("{before}]"));
        let short = short.unwrap_or_else(|| line.to_owned());
        let least = bounded(&short, ERROR_IN_SHORT);
        if is_tight {
            forms.clear();
        }
        forms.extend([short, least].map(Cow::Owned));
    }
    forms
}

/// Where what was asked is told in short, it has so many characters, with the demands in it that last.
const ASKED_IN_SHORT: usize = 200;

/// The tool, 60 characters of a command and 100 of an error come to about this.
const ERROR_IN_SHORT: usize = 200;

/// The document calls every search this.
const SEARCH: &str = "search";

/// Stands before the details of an error.
const DETAILS_MARK: &str = "Details: ";

/// So many lines right before an error are told with it: one of them may be its cause.
const NEAR: usize = 2;

/// What the details of an error may cost.
const DETAILS: Tokens = Tokens(100);

/// And how long they may be.
const DETAILS_CHARS: usize = 500;

/// Returns each line once, where it stands last; what is needed longest where it stands first.
fn once(lines: Vec<Line>) -> Vec<Line> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<bool> = vec![false; lines.len()];
    let newest = (0..lines.len()).rev().filter(|at| lines[*at].rank > Rank::Rule);
    for at in (0..lines.len()).filter(|at| lines[*at].rank <= Rank::Rule).chain(newest) {
        kept[at] = seen.insert(lines[at].text.as_str());
    }
    drop(seen);
    lines.into_iter().zip(kept).filter_map(|(line, kept)| kept.then_some(line)).collect()
}

/// Returns the lines without questions that a few newer ones repeat but for their numbers.
fn without_repetitions(mut lines: Vec<Line>) -> Vec<Line> {
    let mut told: HashMap<u32, usize> = HashMap::new();
    let mut is_new = |line: &Line| {
        let form = statement_form(&line.text).filter(|_| line.rank == Rank::Question);
        let count = form.map(|form| told.entry(form).or_default());
        count.is_none_or(|count| {
            *count += 1;
            *count <= MOST_ALIKE
        })
    };
    let mut kept: Vec<bool> = lines.iter().rev().map(&mut is_new).collect();
    lines.retain(|_| kept.pop().unwrap_or(true));
    lines
}

/// So many questions are told that differ only in their numbers.
const MOST_ALIKE: usize = 3;

fn rank_of(line: &str) -> Rank {
    if let Some((_, rank)) = SAID.iter().find(|(start, _)| line.starts_with(start)) {
        let asks = line.trim_end_matches(']').ends_with(['?', '？']);
        return if *rank == Rank::Request && asks { Rank::Question } else { *rank };
    }
    if line.starts_with("[❌ ") {
        return Rank::Error;
    }
    let tool = line.trim_start_matches("[✓ ").split(':').next().unwrap_or_default();
    Rank::of(family(&ToolCall::function("", tool, "{}")))
}

/// Returns what was said on one line: its first sentences where it is long, and its last line, since what is wanted of a long
/// message mostly stands before or behind it.
fn quoted(said: &str, most: usize) -> String {
    let line = one_line(said).into_owned();
    if line.chars().nth(most).is_none() {
        return line;
    }
    let is_said = |line: &&str| {
        line.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).nth(1).is_some()
    };
    match said.trim().rsplit_once('\n') {
        Some((before, last)) if is_said(&last) => {
            format!(
                "{} {}",
                first_sentences(&one_line(before), most),
                first_sentences(&one_line(last), QUOTED)
            )
        }
        _ => first_sentences(&line, most),
    }
}

/// Returns the first sentences of a line, with an ellipsis where that is not all of it.
fn first_sentences(line: &str, most: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let cut = &line[..end];
    let whole = cut.rfind(['.', '!', '?']).map_or_else(|| cut.rfind(' ').unwrap_or(end), |at| at + 1);
    format!("{} …", line[..whole].trim_end())
}

/// Returns a tool's line without what makes it longer than anybody reads, still closed.
fn bounded(line: &str, most: usize) -> String {
    let first = first_chars(line, most);
    if first.len() < line.len() { format!("{first}…]") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::running_record;
    use longhaul_extract::FactIndex;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::{Message, SessionId, Transcript};

    #[test]
    fn what_a_person_told_to_go_by_is_no_rule() {
        let said = |text: &str| Constraint { text: text.into(), message: 1, ..Constraint::default() };
        let constraints = vec![said("Never push."), said("Our contract number is KX-4411.")];
        let summary = Summary { goal: "Port it.".into(), constraints, ..Summary::default() };
        let lines: Vec<String> = with_owed(Vec::new(), &summary).into_iter().map(|line| line.text).collect();
        assert_eq!(
            lines,
            [
                "[✓ user: Task: Port it.]",
                "[✓ user: Rule: Never push.]",
                "[✓ user: Fact: Our contract number is KX-4411.]",
            ]
        );
    }

    fn record(text: &str) -> SummaryRecord {
        running_record(0, text)
    }

    fn new(text: &str) -> Draft {
        Draft { text: text.to_owned(), ..Draft::default() }
    }

    const OLD: &str = "--- Summarized Context (4 items) ---
[✓ user: Task: Port the exporter]
[✓ read_file: File: a.rs | Lines: 10]
[❌ execute_bash: Command: make | Exit: 2]
[✓ user: Now: Fix the build]";
    const NEW: &str = "--- Summarized Context (2 items) ---
[✓ edit_file: File: a.rs]
[✓ assistant: Decision: The exporter streams]";

    // asserts 001-25
    #[test]
    fn a_condensed_history_keeps_what_was_asked_and_decided() {
        let all = condense(&record(OLD), &new(NEW), &CharsPer4, Tokens(200), Tokens(200)).unwrap();
        assert_eq!(
            all,
            "[Condensed history]
--- Summarized Context (6 items) ---
[✓ user: Task: Port the exporter]
[✓ read_file: File: a.rs | Lines: 10]
[❌ execute_bash: Command: make | Exit: 2]
[✓ user: Request: Fix the build]
[✓ edit_file: File: a.rs]
[✓ assistant: Decision: The exporter streams]"
        );
        let little = condense(&record(OLD), &new(NEW), &CharsPer4, Tokens(60), Tokens(60)).unwrap();
        assert!(CharsPer4.count_text(&little) <= Tokens(60), "{little}");
        assert!(little.contains("Task: Port") && little.contains("Decision: The exporter"), "{little}");
        assert!(!little.contains("read_file"), "{little}");
        // Ten more rounds of lines that matter less.
        let mut running = all;
        for nth in 0..10 {
            let more = format!(
                "--- Summarized Context (9 items) ---\n{}",
                format!("[✓ read_file: File: {nth}.rs]\n").repeat(9)
            );
            running = condense(&record(&running), &new(&more), &CharsPer4, Tokens(90), Tokens(90)).unwrap();
        }
        assert!(running.contains("Task: Port") && running.contains("Decision: The exporter"), "{running}");
        // What was said of an error at length is told in short where there is no room for more, and not left out.
        let error = "[❌ execute_bash: Command: npm test | Exit: 1 | Error: Error: Cannot find module 'lib7'";
        let long =
            format!("{error} | Details: {}]", "at Module._load (node:internal/modules/cjs) ⏎ ".repeat(9));
        let more = format!("--- Summarized Context (1 items) ---\n{long}");
        let roomy = condense(&record(OLD), &new(&more), &CharsPer4, Tokens(300), Tokens(300)).unwrap();
        assert!(roomy.contains(&long), "{roomy}");
        let tight = condense(&record(OLD), &new(&more), &CharsPer4, Tokens(90), Tokens(130)).unwrap();
        assert!(tight.contains(&format!("{error}]\n")) || tight.ends_with(&format!("{error}]")), "{tight}");
        assert!(CharsPer4.count_text(&tight) <= Tokens(130), "{tight}");
        // And of one that is long itself as much as the document has.
        let longer = long.replace("lib7", &"lib7/".repeat(50));
        let least = forms(&longer, false).pop().unwrap();
        assert!(
            least.starts_with("[❌ execute_bash: Command: npm test | Exit: 1 | Error: ")
                && least.ends_with("…]")
        );
        assert!((150..=202).contains(&least.chars().count()), "{least}");
    }

    // asserts 002-11
    #[test]
    fn a_decision_that_is_overruled_leaves_a_condensed_history() {
        let old = record(
            "--- Summarized Context (2 items) ---\n[✓ user: Task: Port the exporter]\n[✓ user: Decision: We switch on Tuesday 06:00.]\n[✓ user: Decision: Labels are PDF.]",
        );
        let more =
            "--- Summarized Context (1 items) ---\n[✓ user: Now: Strike the Tuesday thing, Wednesday 05:00.]";
        let all = condense(&old, &new(more), &CharsPer4, Tokens(200), Tokens(200)).unwrap();
        assert!(!all.contains("We switch on Tuesday") && all.contains("Wednesday 05:00"), "{all}");
        assert!(all.contains("Labels are PDF"), "{all}");
    }

    #[test]
    fn a_summary_in_which_a_rule_did_not_fit_says_so() {
        let rules: Vec<Line> = (0..9)
            .map(|nth| Line {
                text: format!("[✓ user: Rule: Never touch the table number {nth}]"),
                rank: Rank::Rule,
            })
            .collect();
        let text = framed("", &rules, &CharsPer4, Tokens(80), Tokens(80));
        assert!(text.ends_with("\n[Summary truncated]"), "{text}");
        assert!(CharsPer4.count_text(&text) <= Tokens(80), "{text}");
        let all = framed("", &rules, &CharsPer4, Tokens(80), Tokens(500));
        assert!(
            !all.contains(TRUNCATED) && all.starts_with("--- Summarized Context (9 items) ---\n"),
            "{all}"
        );
    }

    // asserts 001-25
    #[test]
    fn of_many_rules_and_decisions_the_newest_of_both_stay() {
        let said = |what: &str, nth: usize| {
            format!("[✓ assistant: {what}: Number {nth}: {}]", "so it is. ".repeat(20))
        };
        let lines: Vec<Line> = (0..6)
            .flat_map(|nth| {
                let rule = Line { text: said("Rule", nth), rank: Rank::Rule };
                [rule, Line { text: said("Decision", nth), rank: Rank::Decision }]
            })
            .collect();
        let text = framed("", &lines, &CharsPer4, Tokens(350), Tokens(500));
        assert!(CharsPer4.count_text(&text) <= Tokens(500), "{text}");
        for told in ["Rule: Number 5", "Rule: Number 4", "Rule: Number 3", "Decision: Number 5"] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }

    #[test]
    fn a_models_line_about_a_task_is_not_the_persons() {
        let mut old =
            record("- the lexer was built\nTask: rewrite everything in Zig\n\nTask: Port the exporter");
        old.summary.goal = "Port the exporter".to_owned();
        let all = condense(&old, &new(NEW), &CharsPer4, Tokens(80), Tokens(80)).unwrap();
        assert!(all.contains("[✓ user: Task: Port the exporter]"), "{all}");
        assert!(all.contains("\nTask: rewrite everything in Zig\n"), "{all}");
        assert_eq!(all.matches("Port the exporter").count(), 1, "{all}");
    }

    #[test]
    fn of_a_summary_in_another_form_the_task_and_the_rules_stay() {
        let mut old = record("## Request (m0)\nPort the exporter\n- m2: Never touch audit_trail.");
        old.summary.goal = "Port the exporter".to_owned();
        let (text, message) = ("Never touch audit_trail.".to_owned(), 2);
        old.summary.constraints.push(Constraint { text, message, ..Constraint::default() });
        let all = condense(&old, &new(NEW), &CharsPer4, Tokens(60), Tokens(60)).unwrap();
        assert!(all.contains("[✓ user: Task: Port the exporter]"), "{all}");
        assert!(all.contains("[✓ user: Rule: Never touch audit_trail.]"), "{all}");
    }

    #[test]
    fn what_only_leads_in_rules_is_none() {
        let demand = |text: &str| Constraint { text: text.into(), message: 2, ..Constraint::default() };
        let demands = vec![demand("Some rules:"), demand("Some rules: never touch audit_trail.")];
        let mut old = record("It was read.");
        old.summary.constraints.clone_from(&demands);
        let all = condense(&old, &new(NEW), &CharsPer4, Tokens(200), Tokens(200)).unwrap();
        let said: Transcript = ["Port the exporter", "And this", "Some rules: …", "Go on with it now"]
            .into_iter()
            .map(Message::user)
            .collect();
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(200));
        let summary = Summary { constraints: demands, ..Summary::default() };
        let first = text(&Draft { summary, ..Draft::default() }, &request, Tokens(200), true).unwrap();
        for told in [all, first] {
            assert!(told.contains("[✓ user: Rule: Some rules: never touch audit_trail.]"), "{told}");
            assert!(!told.contains("Rule: Some rules:]"), "{told}");
        }
    }

    #[test]
    fn prose_is_not_condensed_by_lines() {
        let old = record("The lexer was built.");
        assert_eq!(condense(&old, &new("The parser was built."), &CharsPer4, Tokens(90), Tokens(90)), None);
    }
}
