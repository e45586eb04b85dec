//! Handles of messages: `(m12)`, `m67–m80`. They tell where a claim can be looked up and are no part of what it says.

use super::words::words;

/// More messages than this are not cited, but spoken of.
const MOST_CITED: u64 = 40;

/// Returns the messages that a claim cites, ranges filled.
pub(super) fn cited(claim: &str) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    let mut before: Option<(usize, u64)> = None;
    for (at, word) in words(claim) {
        let Some(ordinal) = handle(word) else {
            before = None;
            continue;
        };
        match before {
            Some((end, first))
                if is_range(&claim[end..at])
                    && (first..first.saturating_add(MOST_CITED)).contains(&ordinal) =>
            {
                found.extend(first + 1..=ordinal);
            }
            _ => found.push(ordinal),
        }
        before = Some((at + word.len(), ordinal));
    }
    found
}

/// Returns a claim without its handles.
pub(super) fn without_handles(claim: &str) -> String {
    let (mut out, mut from) = (String::with_capacity(claim.len()), 0);
    for (at, word) in words(claim).filter(|(_, word)| handle(word).is_some()) {
        out.push_str(&claim[from..at]);
        from = at + word.len();
    }
    out.push_str(&claim[from..]);
    out
}

fn handle(word: &str) -> Option<u64> {
    word.strip_prefix('m').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

fn is_range(between: &str) -> bool {
    matches!(between.trim(), "-" | "–" | "—" | "to" | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_read_and_left_out() {
        let claim = "Prices of MCO (m13, m27–m29) and memory m4x";
        assert_eq!(cited(claim), [13, 27, 28, 29]);
        assert_eq!(without_handles(claim), "Prices of MCO (, –) and memory m4x");
        assert!(cited("none").is_empty());
    }
}
