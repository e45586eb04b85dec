//! What a statement looks like, as bits.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::split;

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

    pub(crate) fn has(self, sign: Signs) -> bool {
        self.0 & sign.0 != 0
    }

    #[must_use]
    pub(crate) fn with(self, sign: Signs, is_so: bool) -> Signs {
        if is_so { Signs(self.0 | sign.0) } else { self }
    }

    /// Reads the signs off a text.
    pub(crate) fn of(text: &str) -> Signs {
        let chars = text.chars().count().max(1);
        let letters = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
        let marks = text.bytes().filter(|byte| b"{}[]();=<>".contains(byte)).count();
        let words = text.split_whitespace().take(6).count();
        let is_match = |pattern: &LazyLock<Option<Regex>>| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
        };
        Signs::default()
            .with(Signs::SETTLES, is_match(&SETTLES))
            .with(Signs::FAILS, is_match(&FAILS))
            .with(Signs::PATH, is_match(&PATH))
            .with(Signs::NUMBER, text.bytes().any(|byte| byte.is_ascii_digit()))
            .with(Signs::ITEM, split::is_item(text))
            .with(Signs::BOLD, text.contains("**"))
            .with(Signs::HEADING, text.starts_with('#'))
            .with(Signs::COLON, text.ends_with(':'))
            .with(Signs::TABLE, text.starts_with('|'))
            .with(Signs::QUESTION, text.contains(['?', '？']))
            .with(Signs::COMMENT, COMMENTS.iter().any(|start| text.starts_with(start)))
            .with(Signs::IMPORT, IMPORTS.iter().any(|start| text.starts_with(start)))
            .with(Signs::PROSE, letters * 20 > chars * 17 && words > 5)
            .with(Signs::CODE, marks * 10 > chars)
            .with(Signs::COUNTS, is_match(&COUNTS))
    }
}

fn pattern(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

static SETTLES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(decid|chose|choose|instead|rather than|because|so that|root cause|the (bug|problem|issue|fix|reason)|turns out|actually|found|confirmed|already|not needed|must|should|need to|won't|cannot|can't|doesn't|isn't|never|always|only|unless|remaining|next|todo|done|complete|passed|failed|fixed|added|removed|replaced|renamed|updated|changed|verified|skip|keep|leave|revert|reject|agree|wants?\b|promis)",
    )
});

static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(error|fail|failed|failure|exception|panic|panicked|fatal|warning|not found|denied|cannot|unexpected|undefined|expected|aborted|broken)\b",
    )
});

static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"[\w./\\-]+\.(rs|go|tsx?|js|py|md|json|toml|ya?ml|sh|css|html|java|rb|php|c|h|cpp)\b|/[\w.-]+/[\w./-]+",
    )
});

static COUNTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b\d+ (pass|passed|passing|fail|failed|failing|tests?|errors?|issues|warnings|problems)\b|\bexit code\b|^ok\s",
    )
});

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
