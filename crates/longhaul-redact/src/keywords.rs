//! The key words of all rules, found in one pass over a text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};

/// A key word in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Which word it is.
    pub(crate) word: usize,
}

/// Words to be found in any case of ASCII letters.
#[derive(Debug)]
pub(crate) struct Keywords {
    automaton: AhoCorasick,
    /// JSON spells a word with an escape, so that it cannot be found in JSON as it stands.
    pub(crate) are_escaped: bool,
}

impl Keywords {
    /// Returns the finder of `words`.
    ///
    /// # Errors
    /// When there are more than an automaton can hold.
    pub(crate) fn new(words: &[String]) -> Result<Keywords, BuildError> {
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)?;
        let is_escaped = |byte: u8| byte < 0x20 || b"\"\\".contains(&byte);
        let are_escaped = words.iter().flat_map(|word| word.bytes()).any(is_escaped);
        Ok(Keywords { automaton, are_escaped })
    }

    /// Returns where the words stand in `text`, in order of their beginnings; one may begin inside another.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<Hit> {
        let found = self.automaton.find_overlapping_iter(text);
        let hit = |found: aho_corasick::Match| Hit {
            start: found.start(),
            end: found.end(),
            word: found.pattern().as_usize(),
        };
        let mut hits: Vec<Hit> = found.map(hit).collect();
        // The automaton gives them in order of their ends.
        hits.sort_unstable();
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_inside_each_other_by_their_beginnings() {
        let words = ["key", "ey", "api_key", "://"].map(str::to_owned);
        let hits = Keywords::new(&words).unwrap().find(b"API_KEY http://x eY");
        let hits: Vec<_> = hits.iter().map(|hit| (hit.start, words[hit.word].as_str())).collect();
        assert_eq!(hits, [(0, "api_key"), (4, "key"), (5, "ey"), (12, "://"), (17, "ey")]);
    }
}
