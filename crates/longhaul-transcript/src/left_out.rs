//! What of a person's a summary has no room for, so that whoever goes on from it knows that there is more.

use serde::{Deserialize, Serialize};

/// How many of a person's rules and facts neither a summary nor what stands beside it shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// What they forbid and demand.
    #[serde(default, skip_serializing_if = "Missing::is_none")]
    pub rules: Missing,
    /// What they told to go by.
    #[serde(default, skip_serializing_if = "Missing::is_none")]
    pub facts: Missing,
    /// Only what was said in the messages that the summary stands for was counted, and not in those before them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_part: bool,
}

/// How many of all that are known are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// How many are missing.
    pub missing: usize,
    /// Of how many.
    pub of: usize,
}

impl Missing {
    /// Returns whether none is missing.
    pub fn is_none(&self) -> bool {
        self.missing == 0
    }

    fn with(self, unknown: usize) -> Missing {
        Missing { missing: self.missing + unknown, of: self.of + unknown }
    }

    fn words(self, what: &str) -> Option<String> {
        (!self.is_none()).then(|| format!("{} of {} {what}s", self.missing, self.of))
    }

    fn more(self, what: &str) -> Option<String> {
        let many = if self.missing == 1 { "" } else { "s" };
        (!self.is_none()).then(|| format!("{} more {what}{many}", self.missing))
    }

    fn parse(line: &str, what: &str) -> Missing {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = words.windows(3).find_map(|three| match three {
            [number, "more", kind] if kind.trim_end_matches('s') == what => number.parse().ok(),
            _ => None,
        });
        Missing::default().with(number.unwrap_or_default())
    }
}

impl LeftOut {
    /// Returns whether nothing was left out.
    pub fn is_nothing(&self) -> bool {
        self.rules.is_none() && self.facts.is_none()
    }

    /// Returns this with what another summary had left out before of which nothing else is known.
    pub fn and_before(self, before: LeftOut) -> LeftOut {
        LeftOut {
            rules: self.rules.with(before.rules.missing),
            facts: self.facts.with(before.facts.missing),
            ..self
        }
    }

    /// Returns it in words: `21 of 48 rules and 1 of 2 facts of the user`; `None` where nothing was left out.
    pub fn words(&self) -> Option<String> {
        of_the_user([self.rules.words("rule"), self.facts.words("fact")])
    }

    /// Returns the line that says it in a summary's ending; what stands in the line above says how things are looked up, where they can
    /// be.
    pub(crate) fn line(&self, can_be_looked_up: bool) -> Option<String> {
        let more = of_the_user([self.rules.more("rule"), self.facts.more("fact")])?;
        let of = if self.in_part { " in these messages" } else { "" };
        let how = if can_be_looked_up { ": look them up there by what they are about" } else { "" };
        Some(format!("{LEFT_OUT}{more}{of}{how}"))
    }

    /// Returns what a summary that stands in a history as `text` says of it.
    pub fn read_back(text: &str) -> LeftOut {
        let said = text.lines().rev().take(MOST_ENDING).find_map(|line| line.strip_prefix(LEFT_OUT));
        let said = said.unwrap_or_default();
        LeftOut { rules: Missing::parse(said, "rule"), facts: Missing::parse(said, "fact"), in_part: false }
    }
}

fn of_the_user(counts: [Option<String>; 2]) -> Option<String> {
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    (!counts.is_empty()).then(|| format!("{} of the user", counts.join(" and ")))
}

/// Returns whether a line of a summary says what was left out.
pub(crate) fn is_left_out_line(line: &str) -> bool {
    line.starts_with(LEFT_OUT)
}

/// Stands before what was left out, above the handle.
const LEFT_OUT: &str = "summary-left-out: no room here for ";

/// An ending has so many lines at most.
const MOST_ENDING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_and_read_back() {
        let missing = |missing, of| Missing { missing, of };
        let left_out = LeftOut { rules: missing(21, 48), facts: missing(1, 2), in_part: false };
        assert_eq!(left_out.words().unwrap(), "21 of 48 rules and 1 of 2 facts of the user");
        let line = left_out.line(false).unwrap();
        assert_eq!(line, "summary-left-out: no room here for 21 more rules and 1 more fact of the user");
        let text = format!("[Summary]\n\nsaid\n\n{line}\nsummary-depth:0 id:0123456789abcdef");
        let before = LeftOut { rules: missing(21, 21), facts: missing(1, 1), in_part: false };
        assert_eq!(LeftOut::read_back(&text), before);
        assert_eq!(LeftOut::read_back("21 more rules of the user"), LeftOut::default());
        let later = LeftOut { rules: missing(2, 5), facts: missing(0, 1), in_part: true };
        assert_eq!(
            later.line(true).unwrap(),
            "summary-left-out: no room here for 2 more rules of the user in these messages: look them up there by what they are about"
        );
        let both = later.and_before(before);
        assert_eq!((both.rules, both.facts), (missing(23, 26), missing(1, 2)));
        assert_eq!(LeftOut::default().line(true), None);
    }
}
