//! A summary by rule in less room than it takes.

use std::cmp::Reverse;

use longhaul_summarize::rules::{Heading, Leaves};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

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
pub(super) fn cut(text: &str, counter: &dyn TokenCounter, limit: Tokens) -> String {
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

fn lines(text: &str) -> Vec<Line<'_>> {
    /// Lines of the section on checks that stay nearly as long as what was asked for.
    const LAST_CHECKS: usize = 6;
    let (mut section, mut under, mut n_told, mut of_rules) = (0, Leaves::Asked, 0, false);
    let mut fence: Option<&str> = None;
    let line = |text| {
        let is_fence = is_fence(text) && fence.is_none_or(|open| open == text);
        let is_heading = fence.is_none() && text.starts_with("## ");
        if is_fence {
            fence = fence.is_none().then_some(text);
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

fn is_fence(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|byte| byte == b'`')
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
            assert_eq!(cut.lines().filter(|line| is_fence(line)).count() % 2, 0, "{limit}: {cut}");
            assert!(!cut.contains("```\n```") && !cut.ends_with("(quoted)"), "{limit}: {cut}");
            assert!(
                !cut.contains("## Decisions\n##") && !cut.contains("## Asked before\n##"),
                "{limit}: {cut}"
            );
        }
        let least = cut(SUMMARY, &CharsPer4, Tokens(25));
        assert!(least.contains("Mend the relay."), "{least}");
    }
}
