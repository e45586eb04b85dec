//! Where a conversation that is read again continues one that is stored.

use longhaul_transcript::ContentHash;

/// Returns the ordinal that the first of `given` has in a journal of `held`, where the two overlap in at least one
/// message: `given` is the end of the conversation, grown, or a part of it. The longest overlap wins, and of equal ones
/// the latest. Linear in both.
///
/// A history that was compacted begins with a summary; hand in the messages after it.
pub fn align(held: &[ContentHash], given: &[ContentHash]) -> Option<u64> {
    let at = |index: usize| given.get(index).or_else(|| held.get(index.checked_sub(given.len())?));
    let total = given.len() + held.len();
    // Z function: how many messages from `index` on agree with the beginning of `given`.
    let mut agree = vec![0; total];
    let (mut left, mut right) = (0, 0);
    let mut best: Option<(usize, usize)> = None;
    for index in 1..total {
        let mut length = if index < right { agree[index - left].min(right - index) } else { 0 };
        while length < given.len() && index + length < total && at(length) == at(index + length) {
            length += 1;
        }
        agree[index] = length;
        if index + length > right {
            (left, right) = (index, index + length);
        }
        let Some(ordinal) = index.checked_sub(given.len()) else { continue };
        let is_overlap = length > 0 && length == given.len().min(held.len() - ordinal);
        if is_overlap && best.is_none_or(|(longest, _)| length >= longest) {
            best = Some((length, ordinal));
        }
    }
    best.map(|(_, ordinal)| ordinal as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hashes(text: &str) -> Vec<ContentHash> {
        text.bytes().map(|byte| ContentHash::of(&[byte])).collect()
    }

    fn aligned(held: &str, given: &str) -> Option<u64> {
        align(&hashes(held), &hashes(given))
    }

    #[test]
    fn the_tail_of_a_conversation_is_found_grown_or_not() {
        assert_eq!(aligned("abcdef", "abcdefgh"), Some(0));
        assert_eq!(aligned("abcdef", "efgh"), Some(4));
        assert_eq!(aligned("abcdef", "cd"), Some(2));
        assert_eq!(aligned("abcdef", "cx"), None);
        assert_eq!(aligned("abcdef", "xyz"), None);
        assert_eq!(aligned("abab", "ab"), Some(2));
        assert_eq!(aligned("aba", "abac"), Some(0));
        assert_eq!(aligned("", "a"), None);
        assert_eq!(aligned("a", ""), None);
    }

    proptest! {
        #[test]
        fn agrees_with_looking_everywhere(held in "[ab]{0,12}", given in "[ab]{0,6}") {
            let overlap = |at: usize| given.len().min(held.len() - at);
            let slow = (0..held.len())
                .filter(|at| overlap(*at) > 0 && held[*at..][..overlap(*at)] == given[..overlap(*at)])
                .max_by_key(|at| (overlap(*at), *at));
            prop_assert_eq!(aligned(&held, &given), slow.map(|at| at as u64));
        }
    }
}
