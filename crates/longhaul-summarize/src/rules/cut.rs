//! A summary by rule in less room than it takes.

use std::{cmp::Reverse, collections::HashSet};

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use super::{
    asked::MORE,
    heading::{Heading, Leaves},
};

/// A line of a summary, and the section that it stands in.
struct Line<'t> {
    text: &'t str,
    section: usize,
    is_heading: bool,
    is_fence: bool,
    /// Where in its section it leaves, the first first.
    turn: (usize, Reverse<usize>),
    leaves: Leaves,
}

/// Returns as many whole lines of a summary by rule as fit `limit`: what it only quotes leaves first; how checks went and what was asked
/// for leave last. No heading and no fence stays without what it is for.
pub fn cut(text: &str, counter: &dyn TokenCounter, limit: Tokens) -> String {
    let fits = |text: &str| counter.count_up_to(text, limit).is_some();
    if fits(text) {
        return text.to_owned();
    }
    let lines = lines(text);
    let mut leaving: Vec<usize> =
        (0..lines.len()).filter(|at| !lines[*at].is_heading && !lines[*at].is_fence).collect();
    leaving.sort_by_key(|at| {
        let line = &lines[*at];
        (line.leaves, Reverse(line.section), line.turn)
    });
    // A heading without lines of its own says something by itself: these go in the end.
    leaving.extend((0..lines.len()).rev().filter(|at| lines[*at].is_heading));
    // The more leave, the less is left, so the fewest that must are found by halving.
    let (mut low, mut high) = (1, leaving.len());
    while low < high {
        let middle = low.midpoint(high);
        if fits(&left(&lines, &leaving[..middle])) { high = middle } else { low = middle + 1 }
    }
    left(&lines, &leaving[..high.min(leaving.len())])
}

/// Returns a summary by rule without the lines that `goes` names. No heading and no fence stays without what it is for.
pub(crate) fn without_lines(text: &str, goes: impl Fn(&str) -> bool) -> String {
    let lines = lines(text);
    let is_told = |at: &usize| !lines[*at].is_heading && !lines[*at].is_fence;
    let gone: Vec<usize> = (0..lines.len()).filter(is_told).filter(|at| goes(lines[*at].text)).collect();
    left(&lines, &gone)
}

fn lines(text: &str) -> Vec<Line<'_>> {
    /// Lines of the section on checks that stay nearly as long as what was asked for.
    const LAST_CHECKS: usize = 6;
    let mut place = Place::default();
    let (mut section, mut n_told) = (0, 0);
    let newer: HashSet<u64> = text.lines().flat_map(newer).collect();
    let mut fence: Option<&str> = None;
    let line = |(at, text)| {
        let is_fence = fence.map_or_else(|| opened(text).is_some(), |open| closes(text, open));
        let is_heading = fence.is_none() && text.starts_with("## ");
        if is_fence {
            fence = if fence.is_none() { opened(text) } else { None };
        }
        if is_heading {
            (place, n_told) = (Place::under(Heading::of(text)), 0);
            section += 1;
        }
        n_told += usize::from(!is_fence && !is_heading);
        let under = place.heading.map_or(place.leaves, Heading::leaves);
        let leaves = match under {
            Leaves::Checks if n_told <= LAST_CHECKS => Leaves::LastChecks,
            // What all of the work began with.
            Leaves::Before if n_told == 1 => Leaves::Asked,
            leaves => leaves,
        };
        let leaves = match place.is_of_persons() && message(text).is_some_and(|at| newer.contains(&at)) {
            true => Leaves::Asked,
            false => leaves,
        };
        Line { text, section, is_heading, is_fence, turn: place.turn(at, text), leaves }
    };
    text.lines().enumerate().map(line).collect()
}

/// Where the lines of a summary stand.
#[derive(Clone, Copy, Debug)]
struct Place {
    heading: Option<Heading>,
    /// How long lines are needed that stand under none of our headings.
    leaves: Leaves,
    /// The line that what is told of a message begins with.
    begun: usize,
}

impl Default for Place {
    fn default() -> Place {
        Place { heading: None, leaves: Leaves::Asked, begun: 0 }
    }
}

impl Place {
    fn under(heading: Option<Heading>) -> Place {
        Place { heading, leaves: Leaves::Told, begun: 0 }
    }

    fn is_of_persons(&self) -> bool {
        self.heading.is_some_and(Heading::is_of_persons)
    }

    /// Returns where in its section the line `at` this place leaves: of what persons said, and of their rules, the oldest message leaves
    /// first, of it the last line; of everything else the last line. What counts those that are not told leaves with the first of them.
    fn turn(&mut self, at: usize, text: &str) -> (usize, Reverse<usize>) {
        let is_rules = self.heading == Some(Heading::Rules);
        let counts = self.heading == Some(Heading::AskedBefore) && text.starts_with(MORE);
        if counts || !is_rules && !self.is_of_persons() {
            return (0, Reverse(at));
        }
        if is_rules || message(text).is_some() {
            self.begun = at;
        }
        (self.begun, Reverse(at))
    }
}

/// Returns the messages that a line names because they took the place of what it tells.
fn newer(line: &str) -> impl Iterator<Item = u64> {
    let marks = ["(later on this: m", "(taken back in m"];
    marks.into_iter().flat_map(|mark| line.split(mark).skip(1)).filter_map(ordinal)
}

/// Returns the message that a line with its handle tells of.
fn message(line: &str) -> Option<u64> {
    line.strip_prefix('m').and_then(ordinal)
}

/// Returns the number that a text begins with.
fn ordinal(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the fence that a line opens: a model's words name a language behind it.
fn opened(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (fence, language) = line.split_at(line.bytes().take_while(|byte| *byte == b'`').count());
    (fence.len() >= 3 && !language.contains('`')).then_some(fence)
}

/// Returns whether a line closes the `open` fence.
fn closes(line: &str, open: &str) -> bool {
    let line = line.trim();
    line.len() >= open.len() && line.bytes().all(|byte| byte == b'`')
}

/// Returns `text`, the beginning of a text, with the fence closed that it leaves open; one that nothing stands behind is not there.
pub(crate) fn closed(text: &str) -> String {
    let (mut open, mut from) = (None, 0);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match open {
            Some(fence) if closes(line, fence) => open = None,
            Some(_) => {}
            None => (open, from) = (opened(line.trim_end()), at),
        }
        at += line.len();
    }
    match open {
        None => text.to_owned(),
        Some(_) if text[from..].trim_end().lines().nth(1).is_none() => text[..from].trim_end().to_owned(),
        Some(fence) => format!("{}\n{fence}", text.trim_end()),
    }
}

/// Returns the lines that are left without those at `gone`.
fn left(lines: &[Line<'_>], gone: &[usize]) -> String {
    let mut stays = vec![true; lines.len()];
    gone.iter().for_each(|at| stays[*at] = false);
    let kept: Vec<(&Line<'_>, bool)> = lines.iter().zip(stays).collect();
    let mut told: Vec<&str> = Vec::new();
    for section in kept.chunk_by(|(one, _), (next, _)| one.section == next.section) {
        let stays = section.iter().filter(|(_, stays)| *stays).map(|(line, _)| *line);
        let stays = without_empty_fences(stays);
        let says_itself = section.len() == 1;
        if says_itself || stays.iter().any(|line| !line.is_heading && !line.text.is_empty()) {
            told.extend(stays.iter().map(|line| line.text));
        }
    }
    told.join("\n").trim_end().to_owned()
}

fn without_empty_fences<'l, 't>(kept: impl Iterator<Item = &'l Line<'t>>) -> Vec<&'l Line<'t>> {
    let (mut told, mut is_open): (Vec<&Line<'_>>, bool) = (Vec::new(), false);
    for line in kept {
        let is_empty = line.is_fence && is_open && told.last().is_some_and(|last| last.is_fence);
        is_open ^= line.is_fence;
        if is_empty {
            told.pop();
        } else {
            told.push(line);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::CharsPer4;

    use super::*;

    const SUMMARY: &str = "## Request (m9): the user's message below
## Asked before
m0 Mend the relay.
## Decisions
m2 I decided to keep the lease.
m4 I decided to drop the lock.
## Changed files
relay.rs: +3 -1 lines
```
m3 + let lease = take();
m3 + give(lease);
```
## From tool results (quoted)
```
m1 bash cargo test:
test one ... ok
## no heading
```
## Checks and failures (quoted)
```
cargo test: failed (m8): two panicked
cargo fmt: passed (m6)
```";

    #[test]
    fn how_checks_went_stays_and_nothing_is_left_open() {
        let all = CharsPer4.count_text(SUMMARY);
        assert_eq!(cut(SUMMARY, &CharsPer4, all), SUMMARY);
        let less = cut(SUMMARY, &CharsPer4, all.scaled(0.8));
        assert!(!less.contains("tool results") && less.contains("two panicked"), "{less}");
        for limit in 0..all.0 {
            let cut = cut(SUMMARY, &CharsPer4, Tokens(limit));
            assert!(CharsPer4.count_text(&cut) <= Tokens(limit), "{limit}: {cut}");
            assert_eq!(cut.lines().filter(|line| opened(line).is_some()).count() % 2, 0, "{limit}: {cut}");
            assert!(!cut.contains("```\n```") && !cut.ends_with("(quoted)"), "{limit}: {cut}");
            assert!(
                !cut.contains("## Decisions\n##") && !cut.contains("## Asked before\n##"),
                "{limit}: {cut}"
            );
        }
        let least = cut(SUMMARY, &CharsPer4, Tokens(25));
        assert!(least.contains("Mend the relay."), "{least}");
    }

    #[test]
    fn of_what_persons_said_the_newest_stays_and_what_took_the_place_of_something() {
        let said = "## Asked before
m0 Mend the relay.
m2 How is it tested?
m4 Which table has the leases?
… 3 more between m5 and m9
## Rules and facts from the user
- m11: The port is 8080. (later on this: m13)
## Asked and told by the user
m13 The port is 9090 now.
m15 The relay opens two connections.
It has done so since March.
m17 The lease table is leases_2.
m19 Every second lease is stale.";
        let told = |limit| cut(said, &CharsPer4, Tokens(limit));
        let in_turn =
            ["It has done so", "m15 ", "m17 ", "m19 ", "… 3 more", "m2 ", "m4 ", "m13 ", "m11: ", "m0 "];
        let all = CharsPer4.count_text(said).0;
        for limit in 0..all {
            let told = told(limit);
            let mut left = in_turn.iter().skip_while(|line| !told.contains(**line));
            assert!(left.all(|line| told.contains(line)), "{limit}: {told}");
        }
        assert!((20..all).any(|limit| told(limit).contains("m19 ") && !told(limit).contains("m17 ")));
    }

    #[test]
    fn a_fence_with_a_language_is_one_and_its_code_no_heading() {
        let text = "## As a model summarized\nRun it:\n```sh\n# all\n## no heading\ncargo test\n```\nThen go on.\n## Decisions\nm2 Keep it.";
        let all = CharsPer4.count_text(text);
        for limit in 0..all.0 {
            let cut = cut(text, &CharsPer4, Tokens(limit));
            assert_eq!(cut.matches("```").count() % 2, 0, "{limit}: {cut}");
            assert!(!cut.starts_with("## no heading"), "{limit}: {cut}");
        }
    }

    #[test]
    fn what_is_left_open_is_closed_and_an_empty_fence_is_none() {
        for (text, is) in [
            ("a\n```\nb", "a\n```\nb\n```"),
            ("a\n````sh\nb\n```\n", "a\n````sh\nb\n```\n````"),
            ("a\n```\n", "a"),
            ("a\n```sh\n\n", "a"),
            ("a\n```\nb\n```\nc", "a\n```\nb\n```\nc"),
            ("a ``` b", "a ``` b"),
        ] {
            assert_eq!(closed(text), is, "{text}");
        }
    }
}
