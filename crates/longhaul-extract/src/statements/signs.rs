//! What a statement looks like, as bits.

use serde::{Deserialize, Serialize};

use super::split;

mod look;

/// What a statement looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Signs(u32);

impl Signs {
    /// It settles, finds or changes something.
    pub(crate) const SETTLES: Signs = Signs(1);
    /// It tells of something that failed.
    pub(crate) const FAILS: Signs = Signs(1 << 1);
    /// It names a path.
    pub(crate) const PATH: Signs = Signs(1 << 2);
    /// It has a digit.
    pub(crate) const NUMBER: Signs = Signs(1 << 3);
    /// It is an item of a list.
    pub(crate) const ITEM: Signs = Signs(1 << 4);
    /// It has words in bold.
    pub(crate) const BOLD: Signs = Signs(1 << 5);
    /// It is a heading.
    pub(crate) const HEADING: Signs = Signs(1 << 6);
    /// It ends with a colon.
    pub(crate) const COLON: Signs = Signs(1 << 7);
    /// It is the row of a table.
    pub(crate) const TABLE: Signs = Signs(1 << 8);
    /// It has a question mark.
    pub(crate) const QUESTION: Signs = Signs(1 << 9);
    /// It is a comment in code.
    pub(crate) const COMMENT: Signs = Signs(1 << 10);
    /// It imports something.
    pub(crate) const IMPORT: Signs = Signs(1 << 11);
    /// It is a record of a JSON value.
    pub(crate) const RECORD: Signs = Signs(1 << 12);
    /// It reads like prose: words and blanks.
    pub(crate) const PROSE: Signs = Signs(1 << 13);
    /// It is full of brackets and operators.
    pub(crate) const CODE: Signs = Signs(1 << 14);
    /// It was said by a person as a plan to be carried out.
    pub(crate) const PLAN: Signs = Signs(1 << 15);
    /// It gives counts of tests, errors or warnings.
    pub(crate) const COUNTS: Signs = Signs(1 << 16);

    /// It says when or whether something holds: only, never, must, because.
    pub(crate) const HOLDS: Signs = Signs(1 << 17);

    /// It stands in a fence of prose, as code does.
    pub(crate) const FENCED: Signs = Signs(1 << 18);

    /// It says by a word of deciding that something was chosen.
    pub(crate) const DECIDES: Signs = Signs(1 << 19);

    pub(crate) fn has(self, sign: Signs) -> bool {
        self.0 & sign.0 != 0
    }

    #[must_use]
    pub(crate) fn with(self, sign: Signs, is_so: bool) -> Signs {
        if is_so { Signs(self.0 | sign.0) } else { self }
    }

    /// Reads the signs off a text.
    pub(crate) fn of(text: &str) -> Signs {
        let look = look::look(text);
        look.signs
            .with(Signs::ITEM, split::is_item(text))
            .with(Signs::HEADING, text.starts_with('#'))
            .with(Signs::COLON, text.ends_with(':'))
            .with(Signs::TABLE, text.starts_with('|'))
            .with(Signs::COMMENT, opens_with(text, &COMMENTS))
            .with(Signs::IMPORT, opens_with(text, &IMPORTS))
            .with(Signs::PROSE, look.letters * 20 > look.chars * 17 && look.words > 5)
            .with(Signs::CODE, look.marks * 10 > look.chars)
    }
}

/// Whether `text` opens with one of `starts`; the first byte tells in most cases that it does not.
fn opens_with(text: &str, starts: &[&str]) -> bool {
    let first = text.as_bytes().first();
    starts.iter().any(|start| start.as_bytes().first() == first && text.starts_with(start))
}

const COMMENTS: [&str; 8] = ["//", "# ", "#!", "/*", "* ", "-- ", "<!--", "\"\"\""];

const IMPORTS: [&str; 6] = ["import ", "use ", "from ", "require(", "#include", "package "];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_read_off_the_text() {
        let signs = Signs::of("- The root cause is in src/queue.rs, 2 errors left");
        for sign in [Signs::SETTLES, Signs::PATH, Signs::NUMBER, Signs::ITEM, Signs::COUNTS] {
            assert!(signs.has(sign), "{sign:?}");
        }
        let code = Signs::of("pub fn take(&mut self) -> Option<T> { self.0.take() }");
        assert!(code.has(Signs::CODE) && !code.has(Signs::PROSE));
    }
}
