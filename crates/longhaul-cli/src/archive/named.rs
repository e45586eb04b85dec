//! How messages and summaries are named on the command line.

use anyhow::{Context as _, Result};
use longhaul::transcript::{Span, SummaryId};

use crate::paint::plain;

/// Returns the messages that `m12` or `m3-m9` (both ends inside) names; `None` where `text` is something else.
pub(crate) fn span(text: &str) -> Option<Span> {
    let ordinal =
        |text: &str| text.strip_prefix('m')?.parse::<u64>().ok().filter(|ordinal| *ordinal < u64::MAX);
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (ordinal(first)?, ordinal(last)?),
        None => (ordinal(text)?, ordinal(text)?),
    };
    (first <= last).then_some(Span { start: first, end: last + 1 })
}

/// Returns the messages that `text` must name.
pub(crate) fn required_span(text: &str) -> Result<Span> {
    span(text).with_context(|| match is_backwards(text) {
        true => format!("{text} is no range: it ends before it begins"),
        false => format!("{:?} is no range; expected m12 or m3-m9", plain(text)),
    })
}

/// Returns whether `text` names messages from a later one to an earlier one.
pub(crate) fn is_backwards(text: &str) -> bool {
    text.split_once('-').is_some_and(|(first, last)| {
        span(first).zip(span(last)).is_some_and(|(first, last)| first.start > last.start)
    })
}

/// Returns the summary that `words` may name. People paste the whole handle line.
pub(crate) fn summary_id(words: &str) -> Option<SummaryId> {
    let id = words.rsplit_once("id:").map_or(words, |(_, id)| id).trim();
    (id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| SummaryId(id.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_name_both_ends() {
        assert_eq!(span("m12"), Some(Span { start: 12, end: 13 }));
        assert_eq!(span("m3-m9"), Some(Span { start: 3, end: 10 }));
        for odd in ["", "m", "12", "m9-m3", "m1-m2-m3", "m-1", "m18446744073709551615", "monkey"] {
            assert_eq!(span(odd), None, "{odd}");
        }
    }
}
