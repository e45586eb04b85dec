//! A summary of what was said before the messages at hand: all there is of it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use longhaul_extract::{Decision, demand_kind, settles, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry, Tokens, has_summary_header, parse_summary};

use super::{
    asks::is_substantial,
    few::FewOf,
    fixed::Fixed,
    frames::is_frame,
    heading::{Heading, Leaves},
    marks,
    overruled::{Overruling, overrules},
    persons::is_lasting,
};
use crate::sentences::sentences;

/// The newest earlier summary among the entries.
#[derive(Debug)]
pub(super) struct Earlier<'e> {
    entry: &'e Entry,
    text: &'e str,
    is_ours: bool,
    lines: Vec<Line>,
}

impl<'e> Earlier<'e> {
    pub(super) fn find(few: FewOf<'e>, speakers: &Speakers) -> Option<Earlier<'e>> {
        let of = |entry: &'e Entry| speakers.summary(&entry.message);
        // One of ours stands in front of all that was said; behind that somebody only writes like us.
        let n_in_front = few.users.iter().take_while(|entry| of(entry).is_some()).count();
        let brings = |(at, entry): (usize, &'e Entry)| {
            let text = of(entry).filter(|text| at < n_in_front || parse_summary(text).is_none())?;
            Some((entry, text))
        };
        let (entry, text) = few.users.iter().enumerate().rev().find_map(brings)?;
        let is_ours = parse_summary(text).is_some();
        let mut lines = if is_ours { told_on(text) } else { lines(text) };
        if is_ours {
            lines = without_what_is_said_elsewhere(lines);
        } else {
            // What was open then may be done since.
            let open = lines.iter_mut().filter(|line| line.tells_open());
            open.for_each(|line| line.text.insert_str(0, "[as of then] "));
        }
        Some(Earlier { entry, text, is_ours, lines })
    }

    /// Returns the message with it, where it is one of ours.
    pub(super) fn of_ours(&self) -> Option<u64> {
        self.is_ours.then_some(self.entry.id.ordinal)
    }

    /// Marks the lines of one of ours in which something holds no more, by what was said since.
    pub(super) fn mark(&mut self, overruling: &Overruling) {
        let message = self.entry.id.ordinal;
        let may_tell = |line: &&mut Line| line.fence.is_none() && !line.is_title && !line.is_fence();
        for line in self.lines.iter_mut().filter(|_| self.is_ours).filter(may_tell) {
            // What only reports or demands is taken back in other words.
            let decides = |said: &str| line.under == Under::Heading(Heading::Decided) || settles(said);
            let by = |said: &str| match decides(said) {
                true => overruling.by(message, said),
                false => overruling.claims().by(message, said),
            };
            let told = marks::without(&line.text);
            let by: BTreeSet<u64> =
                sentences(&told).filter_map(|said| Some(by(said.trim())?.message)).collect();
            by.iter().for_each(|by| line.text.push_str(&format!(" (later on this: m{by})")));
        }
    }

    /// Returns what the user set out for, as one of ours tells it.
    pub(super) fn task(&self) -> Option<String> {
        let all = told_on(self.text).into_iter().filter(|line| self.is_ours && !line.is_title);
        let mut asked = all.filter_map(|line| match line.under {
            Under::Heading(Heading::AskedBefore | Heading::Request) => Some(without_handles(&line.text)),
            _ => line.text.strip_prefix("Task: ").map(str::to_owned),
        });
        asked.find(|text| is_substantial(text))
    }

    /// Returns the person's rules and decisions that one of ours tells: they hold on, as said in the message that brings it.
    pub(super) fn said(&self) -> (Vec<Constraint>, Vec<Decision>) {
        let (mut rules, mut decided) = (Vec::new(), Vec::new());
        if !self.is_ours {
            return (rules, decided);
        }
        let message = self.entry.id.ordinal;
        let mut rule = |told: &str| rules.push(Constraint::read_back(told, message));
        let all = told_on(self.text).into_iter();
        let all = all.filter(|line| line.fence.is_none() && !line.is_title);
        for Line { text, under, is_over, .. } in all {
            let said = without_handles(&text);
            let by_a_form = OF_FORMS
                .iter()
                .find_map(|begins| text.strip_prefix(begins))
                .and_then(|rest| Some(rest.split_once("): ")?.1));
            match (under, by_a_form) {
                _ if is_over || said.is_empty() => {}
                (_, Some(text)) => rule(text),
                (Under::Heading(Heading::Rules), _) if !text.contains("(the system's instructions)") => {
                    rule(&without_handles_but_of_questions(&text))
                }
                (Under::Heading(Heading::Decided) | Under::KeyDecisions, _) => {
                    decided.push(Decision { text: said, message });
                }
                (Under::Heading(Heading::AskedBefore | Heading::Request | Heading::Told), _) => {
                    let lasts = |text: &&str| demand_kind(text).is_some() && is_lasting(text);
                    sentences(&said).map(str::trim).filter(lasts).for_each(&mut rule);
                }
                _ => {}
            }
        }
        (rules, decided)
    }
}

impl Fixed<'_> {
    /// An earlier summary that the entries hold is told on as far as there is room, where it does not stay as it is.
    pub(super) fn earlier(&mut self, earlier: &Earlier<'_>) {
        let Earlier { entry, text, .. } = earlier;
        if self.request.kept.iter().any(|kept| kept.message.texts().any(|shown| shown.contains(text))) {
            return;
        }
        let lines = self.pieces(earlier.lines.clone());
        let mut body: Vec<String> = Vec::new();
        let mut end = 0;
        let chosen = match earlier.is_ours {
            true => self.chosen_of_ours(&lines),
            false => self.chosen(&lines),
        };
        for told in chosen {
            let fence = |at: usize| {
                let open = at.checked_sub(1).and_then(|before| lines[before].fence);
                open.filter(|_| !told.is_empty()).map(|ticks| "`".repeat(ticks))
            };
            if told.start > end && end > 0 && !earlier.is_ours {
                body.push(LEFT_OUT.to_owned());
            }
            body.extend(fence(told.start));
            body.extend(lines[told.clone()].iter().map(|line| line.text.clone()));
            body.extend(fence(told.end));
            end = told.end;
        }
        // Ours is made of what stands in the store; what others say of how things stand was so when they said it.
        let then = if earlier.is_ours { "" } else { ", as things stood then" };
        let about = format!(" ({}, of messages before it{then})", entry.id);
        self.add_about(Heading::Earlier, &about, body.join("\n").trim().to_owned());
    }

    /// Returns what is told of a summary of ours: what it began with, then what was asked, decided and found, the newest of each, and
    /// what it only quotes as far as there is room left. No heading is told for nothing.
    fn chosen_of_ours(&self, lines: &[Line]) -> Vec<Range<usize>> {
        let mut left = self.room(EARLIER_SHARE);
        let title = |at: usize| (0..=at).rev().find(|at| lines[*at].is_title);
        let mut order: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].is_title).collect();
        let first = order.first().copied();
        order.sort_by_key(|at| {
            let line = &lines[*at];
            let nth = if line.fence.is_some() || line.is_fence() { *at } else { usize::MAX - at };
            (Some(*at) != first, Reverse(line.leaves), nth)
        });
        let mut told = BTreeSet::new();
        for at in order {
            let with: Vec<usize> =
                title(at).into_iter().chain([at]).filter(|at| !told.contains(at)).collect();
            let cost: Tokens = with.iter().map(|at| self.line_cost(&lines[*at])).sum();
            if cost <= left {
                left -= cost;
                told.extend(with);
            } else if lines[at].fence.is_some() || lines[at].is_fence() {
                break;
            }
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for at in told {
            match ranges.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = at + 1,
                None => ranges.push(at..at + 1),
            }
        }
        ranges
    }

    /// Returns what is told of a summary of another's: from its last line, since it ends with how things stand, with the heading over the
    /// first line told, and before that what it says was asked for.
    fn chosen(&self, lines: &[Line]) -> Vec<Range<usize>> {
        let room = self.room(EARLIER_SHARE);
        if self.within(room, lines.iter().rev()) == lines.len() {
            return std::iter::once(0..lines.len()).collect();
        }
        let asked = lines.iter().position(Line::asks).map_or(0..0, |from| {
            let under = lines[from + 1..].iter().take_while(|line| !line.is_title);
            from..from + 1 + self.within(room.scaled(REQUEST_SHARE), under)
        });
        let left = room - lines[asked.clone()].iter().map(|line| self.line_cost(line)).sum();
        let from = (lines.len() - self.within(left, lines.iter().rev())).max(asked.end);
        let title = lines[asked.end..from].iter().rposition(|line| line.is_title).map(|at| asked.end + at);
        let title = title.filter(|_| lines.get(from).is_some_and(|line| !line.is_title));
        [Some(asked), title.map(|title| title..title + 1), Some(from..lines.len())]
            .into_iter()
            .flatten()
            .filter(|told| !told.is_empty())
            .collect()
    }

    /// Returns the lines, long ones sentence by sentence where not all fit.
    fn pieces(&self, lines: Vec<Line>) -> Vec<Line> {
        let room = self.room(EARLIER_SHARE);
        if self.within(room, lines.iter()) == lines.len() {
            return lines;
        }
        let is_long = |line: &Line| line.fence.is_none() && self.line_cost(line) > room.scaled(LONG_LINE);
        let pieces = lines.into_iter().flat_map(|line| match is_long(&line) {
            true => {
                let piece = |text: &str| Line { text: text.trim().to_owned(), ..line.clone() };
                sentences(&line.text).map(piece).collect()
            }
            false => vec![line],
        });
        pieces.collect()
    }

    /// Returns how many of `lines` fit into `room`, one after the other.
    fn within<'l>(&self, room: Tokens, lines: impl Iterator<Item = &'l Line>) -> usize {
        let mut left = room;
        let fits = |line: &&Line| {
            let cost = self.line_cost(line);
            let fits = cost <= left;
            left -= cost;
            fits
        };
        lines.take_while(fits).count()
    }

    fn line_cost(&self, line: &Line) -> Tokens {
        self.cost(&line.text) + Tokens(1)
    }
}

/// A line of an earlier summary.
#[derive(Clone, Debug)]
struct Line {
    /// Its words; a heading stands below the heading of the section that it is told in.
    text: String,
    /// The fence that is open behind it.
    fence: Option<usize>,
    /// Whether it stands over what follows: `## Next steps`, `7. Pending Tasks:`.
    is_title: bool,
    /// What it stands under, in one of ours.
    under: Under,
    /// It was taken back then.
    is_over: bool,
    /// How long it is needed, in one of ours.
    leaves: Leaves,
}

/// What a line of a summary of ours stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Under {
    Heading(Heading),
    /// The list that preset `session` ends with.
    KeyDecisions,
    /// Something else, or nothing.
    Other,
}

impl Line {
    /// Whether what stands under this was open, or being done, when it was written.
    fn tells_open(&self) -> bool {
        const WORDS: [&str; 12] = [
            "pending", "current work", "current state", "current status", "current task", "in progress",
            "next step", "remaining", "to do", "todo", "outstanding", "open task",
        ];
        let lower = self.text.to_lowercase();
        self.is_title && WORDS.iter().any(|word| lower.contains(word))
    }

    fn is_fence(&self) -> bool {
        self.text.len() >= 3 && self.text.bytes().all(|byte| byte == b'`')
    }

    /// Whether what was asked for stands under this.
    fn asks(&self) -> bool {
        const WORDS: [&str; 4] = ["request", "intent", "goal", "objective"];
        let lower = self.text.to_lowercase();
        self.is_title && WORDS.iter().any(|word| lower.contains(word))
    }
}

/// Returns the lines of a summary of ours, in which marks tell in words what they point to: the handles are of another history.
fn told_on(text: &str) -> Vec<Line> {
    let mut all = lines(text);
    let mut said: BTreeMap<u64, String> = BTreeMap::new();
    for line in all.iter().filter(|line| line.fence.is_none()) {
        if let Some(message) = handle(&line.text) {
            said.entry(message).or_insert_with(|| without_handles(&line.text));
        }
    }
    for line in all.iter_mut().filter(|line| line.fence.is_none()) {
        line.text = marks::in_words(&line.text, |message| said.get(&message).map(String::as_str));
    }
    all
}

/// Returns the lines of a summary without its frame.
fn lines(text: &str) -> Vec<Line> {
    let mut fence = Fence::default();
    let mut under = Under::Other;
    let line = |line: &str| {
        let is_quoted = fence.holds(line);
        let title = line.trim_start_matches('#');
        let is_heading = title.starts_with(' ') && title.len() < line.len() && !is_quoted;
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = numbered.len() < line.len() && numbered.starts_with(". ") && line.ends_with(':');
        under = match under {
            _ if is_heading => Heading::of(&format!("##{title}")).map_or(Under::Other, Under::Heading),
            _ if line == KEY_DECISIONS => Under::KeyDecisions,
            Under::KeyDecisions if !line.starts_with("- ") => Under::Other,
            under => under,
        };
        let leaves = match under {
            Under::Heading(heading) => heading.leaves(),
            Under::KeyDecisions => Leaves::Asked,
            Under::Other => Leaves::Told,
        };
        Line {
            text: if is_heading { format!("###{title}") } else { line.to_owned() },
            fence: fence.open,
            is_title: is_heading || is_numbered && !is_quoted,
            under,
            is_over: line.contains(TAKEN_BACK),
            leaves: if is_quoted { Leaves::Quoted } else { leaves },
        }
    };
    // The header is what the settings make it: it is known by its place.
    let body = match has_summary_header(text) {
        true => text.trim_start().split_once('\n').map_or("", |(_, body)| body),
        false => text,
    };
    body.lines().filter(|line| !is_frame(line)).map(line).collect()
}

/// The code fence that is open, line by line.
#[derive(Debug, Default)]
struct Fence {
    /// How many backticks opened it.
    open: Option<usize>,
}

impl Fence {
    /// Reads a line. Returns whether it is part of a quotation, its fences included.
    fn holds(&mut self, line: &str) -> bool {
        let rest = line.trim_start_matches('`');
        let ticks = line.len() - rest.len();
        match self.open {
            Some(open) if ticks >= open && rest.trim().is_empty() => self.open = None,
            Some(_) => {}
            None if ticks >= 3 && !rest.contains('`') => self.open = Some(ticks),
            None => return false,
        }
        true
    }
}

/// Returns the lines of a summary of ours without the rules and decisions that are told as such, without its newest request, which is
/// the newest no longer, and without handles, which are of another history.
fn without_what_is_said_elsewhere(lines: Vec<Line>) -> Vec<Line> {
    let said: Vec<String> = lines.iter().map(|line| without_handles(&line.text)).collect();
    let is_decided = |line: &Line| {
        matches!(line.under, Under::Heading(Heading::Told | Heading::Decisions) | Under::KeyDecisions)
    };
    let is_told = |line: &Line| {
        matches!(line.under, Under::Heading(Heading::Rules | Heading::Decided) | Under::KeyDecisions)
            || OF_FORMS.iter().any(|begins| line.text.starts_with(begins))
            || line.fence.is_none() && (line.text.starts_with("… ") || line.text.trim().is_empty())
            || OF_CALLS.iter().any(|begins| line.text.starts_with(begins))
            || is_decided(line) && said.iter().any(|said| overrules(said, &line.text))
    };
    let rules: Vec<String> = lines
        .iter()
        .filter(|line| line.under == Under::Heading(Heading::Rules) && !line.is_title)
        .map(|line| without_handles(&line.text))
        .collect();
    let mut lines: Vec<Line> = lines.into_iter().filter(|line| !is_told(line)).collect();
    lines.retain_mut(|line| line.under != Under::Heading(Heading::Said) || keeps_without(line, &rules));
    for line in &mut lines {
        line.text = match line.is_title {
            _ if line.fence.is_some() => without_handle(&line.text).to_owned(),
            true if line.under == Under::Heading(Heading::Request) => ASKED_THEN.to_owned(),
            true => line.text.split(" (m").next().unwrap_or_default().to_owned(),
            false => without_handles_but_of_questions(&line.text),
        };
    }
    // What stood in it of one before it goes under the same headings, and no heading stands over nothing.
    let mut sections: Vec<(Option<Line>, Vec<Line>)> = vec![(None, Vec::new())];
    let mut at = 0;
    for line in lines {
        if !line.is_title {
            sections[at].1.push(line);
            continue;
        }
        let is_same =
            |(title, _): &(Option<Line>, _)| title.as_ref().is_some_and(|title| title.text == line.text);
        at = sections.iter().position(is_same).unwrap_or(sections.len());
        if at == sections.len() {
            sections.push((Some(line), Vec::new()));
        }
    }
    sections.retain(|(_, lines)| lines.iter().any(|line| !line.text.trim().is_empty()));
    sections.into_iter().flat_map(|(title, lines)| title.into_iter().chain(lines)).collect()
}

/// Takes out of a line what of it is told as a rule: among what was said it would be the first to leave. Returns whether more than a word
/// is left.
fn keeps_without(line: &mut Line, rules: &[String]) -> bool {
    // "Use tabs" is no part of "Use tabs in makefiles only".
    let is_in = |rule: &&String| {
        let ends = rule.ends_with(['.', '!', '?']);
        !rule.is_empty()
            && (line.text.ends_with(rule.as_str()) || ends && line.text.contains(&format!("{rule} ")))
    };
    let told: Vec<&String> = rules.iter().filter(is_in).collect();
    if line.is_title || told.is_empty() {
        return true;
    }
    line.text = told.into_iter().fold(line.text.clone(), |text, rule| text.replacen(rule.as_str(), "", 1));
    without_handles(&line.text).split_whitespace().nth(1).is_some()
}

/// Returns a line without the handles before and behind what it tells, with the question that this answers.
fn without_handles_but_of_questions(line: &str) -> String {
    without(line, |words| *words != ASKED)
}

/// Returns a line without the handles before and behind what it tells.
fn without_handles(line: &str) -> String {
    without(line, |_| true)
}

fn without(line: &str, is_handle: impl Fn(&&str) -> bool) -> String {
    let mut text = without_handle(line.strip_prefix("- ").unwrap_or(line).trim());
    while let Some((before, last)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("))
        && POINTING.iter().filter(|words| is_handle(words)).any(|words| last.starts_with(words))
    {
        text = before.trim_end();
    }
    text.to_owned()
}

/// Returns the message whose handle a line begins with.
fn handle(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("- ").unwrap_or(line).strip_prefix('m')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_handle = rest[digits..].is_empty() || rest[digits..].starts_with([' ', ':']);
    rest[..digits].parse().ok().filter(|_| is_handle)
}

/// Returns a line without the handle that it begins with.
fn without_handle(line: &str) -> &str {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    let said = line.strip_prefix('m').filter(|rest| digits(rest) > 0);
    said.and_then(|rest| rest[digits(rest)..].trim_start_matches(':').strip_prefix(' ')).unwrap_or(line)
}

/// What lists calls in the form of preset `two-tier`: of those that were summarized then nobody asks.
const OF_CALLS: [&str; 3] = ["Tools used: ", "Files explored: ", "Commands run: "];

/// Stands over what was the newest request then.
const ASKED_THEN: &str = "### Asked then";

/// What stands before the handle that a line points to.
const POINTING: [&str; 5] =
    ["answered in m", "asked back in m", "later on this: m", "interrupted by the user in m", ASKED];

/// What stands before the question that is answered.
const ASKED: &str = "to: \"";

/// What stands behind a rule that does not hold any more.
const TAKEN_BACK: &str = " (taken back in m";

/// What a rule or a fact of the user's begins with that stands beside a model's words.
const OF_FORMS: [&str; 2] = ["The user's rule (m", "The user told (m"];

/// What stands over decisions in the form of preset `session`.
const KEY_DECISIONS: &str = "Key decisions:";

/// What stands for lines that are left out.
const LEFT_OUT: &str = "[…]";

/// An earlier summary gets this share of the room: it stands for all that was said before it.
const EARLIER_SHARE: f64 = 0.6;

/// A line that takes more of that than this is told by sentences.
const LONG_LINE: f64 = 0.2;

/// What was asked for gets this share of that.
const REQUEST_SHARE: f64 = 0.3;

#[cfg(test)]
mod tests;
