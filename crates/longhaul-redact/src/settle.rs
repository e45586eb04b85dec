//! Finding until nothing is left: what stands beside a placeholder may be a secret now, since a rule looks at it that had
//! looked at both. What was redacted once is thus never found to hold a secret by the next reader, such as an import.

use std::ops::Range;

use crate::Finding;

/// Returns what `find` finds in `text`, and in what is left of it.
pub(crate) fn found(text: &str, find: impl Fn(&str) -> Vec<Finding>) -> Vec<Finding> {
    let mut found = find(text);
    for _ in 0..MOST_ROUNDS {
        if found.is_empty() {
            break;
        }
        let more = find(&without(text, &found));
        if more.is_empty() {
            break;
        }
        let places = places(&found);
        found.extend(more.into_iter().map(|more| Finding { span: in_text(&places, more.span), ..more }));
        join(&mut found);
    }
    found
}

/// Puts findings in order and apart.
pub(crate) fn join(found: &mut Vec<Finding>) {
    // The longest of those that begin together is first, and of two as long the one that was found first.
    found.sort_by_key(|found| (found.span.start, usize::MAX - found.span.end));
    found.dedup_by(|next, kept| {
        let is_inside = next.span.start < kept.span.end;
        kept.span.end = if is_inside { kept.span.end.max(next.span.end) } else { kept.span.end };
        is_inside
    });
}

/// A placeholder in what is left, and what it stands for in the text.
type Place = (Range<usize>, Range<usize>);

/// Returns what is left of `text`.
fn without(text: &str, found: &[Finding]) -> String {
    let (mut left, mut at) = (String::with_capacity(length_without(text, found)), 0);
    for Finding { rule, span } in found {
        left.push_str(&text[at..span.start]);
        left.extend([PLACEHOLDER.0, rule, PLACEHOLDER.1]);
        at = span.end;
    }
    left.push_str(&text[at..]);
    left
}

/// Returns how long `text` is with placeholders for what was found: a text full of secrets is not to be held twice.
pub(crate) fn length_without(text: &str, found: &[Finding]) -> usize {
    let longer = |found: &Finding| PLACEHOLDER.0.len() + found.rule.len() + PLACEHOLDER.1.len();
    let taken: usize = found.iter().map(|found| found.span.len()).sum();
    text.len() - taken + found.iter().map(longer).sum::<usize>()
}

/// Returns where the placeholders are in what is left.
fn places(found: &[Finding]) -> Vec<Place> {
    let (mut left, mut at) = (0, 0);
    let place = |Finding { rule, span }: &Finding| {
        let start = left + span.start - at;
        (left, at) = (start + PLACEHOLDER.0.len() + rule.len() + PLACEHOLDER.1.len(), span.end);
        (start..left, span.clone())
    };
    found.iter().map(place).collect()
}

/// Returns where `span` of what is left stands in the text, whole where it cuts what a placeholder stands for.
fn in_text(places: &[Place], span: Range<usize>) -> Range<usize> {
    let before = |at: usize| places[..places.partition_point(|(place, _)| place.start < at)].last();
    let start = match before(span.start + 1) {
        Some((place, was)) if span.start < place.end => was.start,
        Some((place, was)) => span.start - place.end + was.end,
        None => span.start,
    };
    let end = match before(span.end) {
        Some((place, was)) => was.end + span.end.saturating_sub(place.end),
        None => span.end,
    };
    start..end
}

/// What stands before and behind the rule in a placeholder; the number says nothing.
const PLACEHOLDER: (&str, &str) = ("[REDACTED:", ":1]");

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
            spans.into_iter().map(|span| Finding { rule: "x".into(), span }).collect()
        };
        let spans = |text: &str| found(text, find).into_iter().map(|found| found.span).collect::<Vec<_>>();
        assert_eq!(spans("-c-"), [0..0; 0]);
        assert_eq!(spans("-bc-b"), [1..2, 4..5]);
        assert_eq!(spans("caabcb"), [1..4, 5..6]);
    }
}
