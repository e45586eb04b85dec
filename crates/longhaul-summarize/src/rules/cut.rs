//! A summary by rule in less room than it takes.

use std::cmp::Reverse;

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use super::heading::{Heading, Leaves};

/// A line of a summary, and the section that it stands in.
struct Line<'t> {
    text: &'t str,
    section: usize,
    is_heading: bool,
    is_fence: bool,
    is_rule: bool,
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
    // Of a section the last lines leave first, and of the rules the oldest.
    leaving.sort_by_key(|at| {
        let line = &lines[*at];
        let from_end = if line.is_rule { *at } else { usize::MAX - *at };
        (line.leaves, Reverse(line.section), from_end)
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
    let (mut section, mut under, mut n_told, mut of_rules) = (0, Leaves::Asked, 0, false);
    let mut fence: Option<&str> = None;
    let line = |text| {
        let is_fence = fence.map_or_else(|| opened(text).is_some(), |open| closes(text, open));
        let is_heading = fence.is_none() && text.starts_with("## ");
        if is_fence {
            fence = if fence.is_none() { opened(text) } else { None };
        }
        if is_heading {
            let heading = Heading::of(text);
            of_rules = heading == Some(Heading::Rules);
            let leaves = heading.map_or(Leaves::Told, Heading::leaves);
            (section, under, n_told) = (section + 1, leaves, 0);
        }
        n_told += usize::from(!is_fence && !is_heading);
        let leaves = match under {
            Leaves::Checks if n_told <= LAST_CHECKS => Leaves::LastChecks,
            leaves => leaves,
        };
        Line { text, section, is_heading, is_fence, is_rule: of_rules && !is_heading, leaves }
    };
    text.lines().map(line).collect()
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
