//! The key words of all rules, found in one pass over a text.

use std::{collections::BTreeMap, ops::Range};

/// A key word in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Which word it is.
    pub(crate) word: usize,
}

/// Words to be found in any case of ASCII letters.
///
/// Three bytes of the text are looked up at a time, in a table that says whether a word can begin with them; few do. An
/// Aho-Corasick automaton over the same words takes four times as long (measured in `docs/reliability.md`): its tables do
/// not fit the processor's nearest cache.
#[derive(Debug)]
pub(crate) struct Keywords {
    words: Vec<Vec<u8>>,
    /// JSON spells a word with an escape, so that it cannot be found in JSON as it stands.
    pub(crate) are_escaped: bool,
    /// A bit for each beginning, by its hash.
    beginnings: Box<[u64; BEGINNINGS / 64]>,
    /// For each hash of a beginning where its words stand in `by_beginning`.
    places: Vec<Range<u32>>,
    by_beginning: Vec<u16>,
}

impl Keywords {
    /// Returns the finder of `words`.
    pub(crate) fn new(words: &[String]) -> Keywords {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_ascii_lowercase()).collect();
        let mut by_hash: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        for (index, word) in (0..u16::MAX).zip(&words) {
            // What a short word leaves open may be anything.
            let at = |place: usize| word.get(place).map_or(0..=0xff, |byte| fold(*byte)..=fold(*byte));
            for (first, second) in at(0).flat_map(|first| at(1).map(move |second| (first, second))) {
                for third in at(2) {
                    let words = by_hash.entry(hash(first | second << 8 | third << 16)).or_default();
                    if words.last() != Some(&index) {
                        words.push(index);
                    }
                }
            }
        }
        let (mut beginnings, mut places) = (Box::new([0; BEGINNINGS / 64]), vec![0..0; BEGINNINGS]);
        let mut by_beginning: Vec<u16> = Vec::new();
        for (hash, words) in by_hash {
            beginnings[hash / 64] |= 1 << (hash % 64);
            let start = by_beginning.len() as u32;
            by_beginning.extend(words);
            places[hash] = start..by_beginning.len() as u32;
        }
        let is_escaped = |byte: &u8| *byte < 0x20 || b"\"\\".contains(byte);
        let are_escaped = words.iter().flatten().any(is_escaped);
        Keywords { words, are_escaped, beginnings, places, by_beginning }
    }

    /// Returns a word.
    pub(crate) fn word(&self, index: usize) -> &[u8] {
        &self.words[index]
    }

    /// Returns where the words stand in `text`, in order of their beginnings; one may begin inside another.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut look = |start: usize, beginning: [u8; 3]| {
            let [first, second, third] = beginning;
            let hash = hash(u32::from_le_bytes([first, second, third, 0]) | 0x0020_2020);
            if self.beginnings[hash / 64] >> (hash % 64) & 1 == 1 {
                self.verify(text, start, hash, &mut hits);
            }
        };
        for (start, beginning) in text.array_windows().enumerate() {
            look(start, *beginning);
        }
        // Behind the last byte stand two that are no part of any word.
        let end = text.last_chunk::<2>().map_or_else(|| text.to_vec(), |end| end.to_vec());
        for (index, byte) in end.iter().enumerate() {
            let start = text.len() - end.len() + index;
            look(start, [*byte, end.get(index + 1).copied().unwrap_or(0), 0]);
        }
        hits
    }

    #[inline(never)]
    fn verify(&self, text: &[u8], start: usize, hash: usize, hits: &mut Vec<Hit>) {
        let place = &self.places[hash];
        for index in &self.by_beginning[place.start as usize..place.end as usize] {
            let word = usize::from(*index);
            let held = &self.words[word];
            if text[start..].get(..held.len()).is_some_and(|text| text.eq_ignore_ascii_case(held)) {
                hits.push(Hit { start, word });
            }
        }
    }
}

/// Takes the case out of an ASCII letter. Other bytes may become one another, which verification sees.
fn fold(byte: u8) -> u32 {
    u32::from(byte | 0x20)
}

fn hash(beginning: u32) -> usize {
    (beginning.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// How many hashes there are.
const BEGINNINGS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;

    fn found(words: &[&str], text: &str) -> Vec<(usize, String)> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let hits = Keywords::new(&words).find(text.as_bytes());
        hits.into_iter().map(|hit| (hit.start, words[hit.word].clone())).collect()
    }

    #[test]
    fn words_are_found_in_any_case_and_inside_each_other() {
        let words = ["key", "ey", "api_key", "://"];
        let hits = found(&words, "API_KEY http://x eY");
        let hits: Vec<_> = hits.iter().map(|(start, word)| (*start, word.as_str())).collect();
        assert_eq!(hits, [(0, "api_key"), (4, "key"), (5, "ey"), (12, "://"), (17, "ey")]);
        assert!(found(&words, "").is_empty() && found(&words, "k").is_empty());
        assert_eq!(found(&["k"], "aKk").len(), 2, "a rule of the caller's may have a short word");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn agrees_with_an_automaton(
            words in prop::collection::btree_set("[a-cA_~.:/]{2,4}|é[ab]", 1..40),
            text in "[a-cA-C_~.:/\u{1}é\u{7f}]{0,200}",
        ) {
            let words: std::collections::BTreeSet<String> =
                words.into_iter().map(|word| word.to_ascii_lowercase()).collect();
            let words: Vec<String> = words.into_iter().collect();
            let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).unwrap();
            let expected = automaton.find_overlapping_iter(&text);
            let mut expected: Vec<Hit> =
                expected.map(|hit| Hit { start: hit.start(), word: hit.pattern().as_usize() }).collect();
            expected.sort_unstable();
            let mut hits = Keywords::new(&words).find(text.as_bytes());
            hits.sort_unstable();
            prop_assert_eq!(hits, expected);
        }
    }
}
