//! Expressions that read a text byte by byte.
//!
//! With Unicode classes each `\w`, `\b` and `.` of an expression is compiled into the bytes of 140,000 letters: what takes
//! milliseconds to compile is compiled once in every process, and most of these end within a few. Here a word is one of ASCII
//! letters, and `\w` has the bytes of all others beside them.

use std::ops::Range;

use regex_automata::{meta::Regex, util::syntax};

/// An expression in whose place no text is cut inside a character.
#[derive(Debug)]
pub(crate) struct Bytewise(Regex);

impl Bytewise {
    /// Returns the expression; `None` where it is not one. The bytes that a match begins with are not looked for first: these begin
    /// with too many.
    pub(crate) fn new(pattern: &str) -> Option<Bytewise> {
        let pattern = pattern.replace(r"\w", r"[\w\x80-\xff]");
        let (bytes, plain) = (syntax::Config::new().unicode(false).utf8(false), Regex::config());
        let plain = plain.utf8_empty(false).auto_prefilter(false);
        Regex::builder().syntax(bytes).configure(plain).build(&pattern).ok().map(Bytewise)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text.as_bytes())
    }

    /// Returns where the first match is.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let found = self.0.find(text.as_bytes())?.range();
        text.get(found.clone()).map(|_| found)
    }

    /// Returns the groups of the first match, without the whole.
    pub(crate) fn groups<'a>(&self, text: &'a str) -> Option<Vec<Option<&'a str>>> {
        let mut found = self.0.create_captures();
        self.0.captures(text.as_bytes(), &mut found);
        found.is_match().then(|| found.iter().skip(1).map(|group| text.get(group?.range())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_of_any_script_is_one_of_a_word_and_no_character_is_cut() {
        let named = Bytewise::new(r"^def (\w+)|^let ([\w$]+) = (.)").unwrap();
        assert_eq!(named.groups("def größe():").unwrap(), [Some("größe"), None, None]);
        assert_eq!(named.groups("let $ß = ß").unwrap(), [None, Some("$ß"), None]);
        assert_eq!(named.find("let $ß = ß"), None);
        assert_eq!(named.find("let x = 1"), Some(0..9));
        assert!(!named.is_match("größe"));
        assert!(Bytewise::new("(").is_none());
    }
}
