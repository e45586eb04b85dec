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
}

impl Keywords {
    /// Returns the finder of `words`.
    ///
    /// # Errors
    /// When there are more than an automaton can hold.
    pub(crate) fn new(words: &[String]) -> Result<Keywords, BuildError> {
        // An automaton with all its steps takes longer to build than it saves in a few megabytes of text.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words)?;
        Ok(Keywords { automaton })
    }

    /// Returns where the words stand in `text`, in order of their ends; one may begin inside another.
    pub(crate) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        self.automaton.find_overlapping_iter(text).map(|found| Hit {
            start: found.start(),
            end: found.end(),
            word: found.pattern().as_usize(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_inside_each_other() {
        let words = ["key", "ey", "api_key", "://"].map(str::to_owned);
        let keywords = Keywords::new(&words).unwrap();
        let hits = keywords.find(b"API_KEY http://x eY");
        let mut hits: Vec<_> = hits.map(|hit| (hit.start, words[hit.word].as_str())).collect();
        hits.sort_unstable();
        assert_eq!(hits, [(0, "api_key"), (4, "key"), (5, "ey"), (12, "://"), (17, "ey")]);
    }
}
