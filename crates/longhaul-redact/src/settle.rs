//! Finding until nothing is left: what stands beside a placeholder may be a secret now, since a rule looks at it that had
//! looked at both. What was redacted once is thus never found to hold a secret by the next reader, such as an import.

use std::{ops::Range, slice::Iter};

use crate::struck::Struck;

/// Returns what `find` finds in `text`, and in what is left of it. `rule` names what struck.
pub(crate) fn found<'r>(
    text: &str,
    rule: impl Fn(Struck) -> &'r str,
    find: impl Fn(&str) -> Vec<Struck>,
) -> Vec<Struck> {
    let mut found = find(text);
    found.shrink_to_fit();
    for _ in 0..MOST_ROUNDS {
        if found.is_empty() {
            break;
        }
        let more = find(&without(text, &found, &rule));
        if more.is_empty() {
            break;
        }
        let mut walk = Walk { rest: found.iter(), rule: &rule, last: (0..0, 0..0) };
        let moved = more.into_iter().flat_map(|more| more.moved(walk.in_text(more.start..more.end())));
        let moved: Vec<Struck> = moved.collect();
        found.extend(moved);
        join(&mut found);
    }
    found
}

/// Puts what was struck in order and apart.
pub(crate) fn join(found: &mut Vec<Struck>) {
    // The longest of those that begin together is first, and of two as long the one that was found first.
    found.sort_by_key(|found| (found.start, usize::MAX - found.end()));
    found.dedup_by(|next, kept| next.start < kept.end() && kept.take_in(*next));
}

/// Returns what is left of `text`.
fn without<'r>(text: &str, found: &[Struck], rule: impl Fn(Struck) -> &'r str) -> String {
    let spans = || found.iter().map(|found| (rule(*found), found.start..found.end()));
    let (mut left, mut at) = (String::with_capacity(length_without(text, spans())), 0);
    for (rule, span) in spans() {
        left.push_str(&text[at..span.start]);
        left.extend([PLACEHOLDER.0, rule, PLACEHOLDER.1]);
        at = span.end;
    }
    left.push_str(&text[at..]);
    left
}

/// Returns how long `text` is with placeholders for what was found: a text full of secrets is not to be held twice.
pub(crate) fn length_without<'r>(text: &str, found: impl Iterator<Item = (&'r str, Range<usize>)>) -> usize {
    found.fold(text.len(), |length, (rule, span)| length + length_of(rule) - span.len())
}

fn length_of(rule: &str) -> usize {
    PLACEHOLDER.0.len() + rule.len() + PLACEHOLDER.1.len()
}

/// Walks over what was found, once, from places in what is left to places in the text.
struct Walk<'a, F> {
    rest: Iter<'a, Struck>,
    rule: F,
    /// The last placeholder that was passed, and what it stands for in the text.
    last: (Range<usize>, Range<usize>),
}

impl<'r, F: Fn(Struck) -> &'r str> Walk<'_, F> {
    /// Returns where `span` of what is left stands in the text, whole where it cuts what a placeholder stands for. Spans come in
    /// order and apart.
    fn in_text(&mut self, span: Range<usize>) -> Range<usize> {
        self.pass(span.start + 1);
        let (place, was) = &self.last;
        let start = if span.start < place.end { was.start } else { span.start - place.end + was.end };
        self.pass(span.end);
        let (place, was) = &self.last;
        start..was.end + span.end.saturating_sub(place.end)
    }

    /// Passes the placeholders that begin before `at`.
    fn pass(&mut self, at: usize) {
        while let [next, ..] = self.rest.as_slice() {
            let (place, was) = &self.last;
            let start = place.end + next.start - was.end;
            if start >= at {
                break;
            }
            self.last = (start..start + length_of((self.rule)(*next)), next.start..next.end());
            self.rest.next();
        }
    }
}

/// What stands before and behind the rule in a placeholder; the number says nothing.
const PLACEHOLDER: (&str, &str) = (crate::vault::PLACEHOLDER, ":1]");

/// How often what is left is searched. Twice has been enough for whatever was drawn.
const MOST_ROUNDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_placeholder_uncovers_is_found() {
        // `b` is a secret, and so is whatever holds a placeholder and is longer than it.
        let find = |text: &str| {
            let found = text.match_indices('b').map(|(at, _)| at..at + 1);
            let longer = text.find("a[").map(|at| at..text.find(']').unwrap() + 1);
            let spans = longer.map_or_else(|| found.collect::<Vec<_>>(), |longer| vec![longer]);
            spans.into_iter().flat_map(|span| Struck::by(0).moved(span)).collect()
        };
        let spans = |text: &str| {
            let found = found(text, |_| "x", find).into_iter();
            found.map(|found| found.start..found.end()).collect::<Vec<_>>()
        };
        assert_eq!(spans("-c-"), [0..0; 0]);
        assert_eq!(spans("-bc-b"), [1..2, 4..5]);
        assert_eq!(spans("caabcb"), [1..4, 5..6]);
    }
}
