//! What a person set down and holds on, as every form tells it: with what may have lifted it since.

use std::borrow::Cow;

use longhaul_extract::lifted_by_each;
use longhaul_transcript::Constraint;

use super::persons::{is_fact, is_lasting};

/// A rule or a fact that holds, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetDown<'r> {
    /// What was said.
    pub said: &'r Constraint,
    /// The newest that may have lifted it: told alone, either would mislead.
    pub later: Option<&'r Constraint>,
}

impl<'r> SetDown<'r> {
    /// Returns what was said, with what it answers and what may have lifted it:
    /// `Never push. (later on this: "You may push the docs.")`.
    pub fn told(&self) -> Cow<'r, str> {
        match self.later {
            Some(later) => Cow::Owned(format!("{}{LATER}{}\")", self.said.told(), later.text.trim())),
            None => self.said.told(),
        }
    }

    /// Returns whether it is no wish of the moment.
    pub fn lasts(&self) -> bool {
        is_lasting(&self.said.text)
    }

    /// Returns whether it is a fact to go by.
    pub fn is_fact(&self) -> bool {
        is_fact(&self.said.text)
    }
}

/// Stands between what was said and what may have lifted it.
const LATER: &str = " (later on this: \"";

/// Returns those of `rules` that hold on and were not taken back, oldest first, as they are told where not all of them are.
pub fn set_down(rules: &[Constraint]) -> Vec<SetDown<'_>> {
    let mut standing = standing(rules);
    standing.retain(SetDown::lasts);
    standing
}

/// Returns those of `rules` that were not taken back, oldest first, wishes of the moment among them. What only lifts one of them stands
/// behind that.
pub(crate) fn standing(rules: &[Constraint]) -> Vec<SetDown<'_>> {
    let lifted = lifted_by_each(rules);
    let all = rules.iter().enumerate().filter(|(_, rule)| rule.superseded_by.is_none());
    let by = |at: usize| lifted.iter().rposition(|lifted| lifted.contains(&at));
    let all: Vec<(usize, &Constraint, Option<usize>)> = all.map(|(at, said)| (at, said, by(at))).collect();
    let only_lifts = |at: usize| all.iter().any(|(_, _, by)| *by == Some(at));
    let told = all.iter().map(|(at, said, by)| (*at, SetDown { said, later: by.map(|by| &rules[by]) }));
    told.filter(|(at, one)| one.lasts() || !only_lifts(*at)).map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_stands_with_what_may_have_lifted_it() {
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let rules = [
            said(1, "Never use external crates."),
            Constraint { superseded_by: Some(7), ..said(3, "Our port is 8080.") },
            said(5, "OK, external crates are allowed now."),
            said(7, "Our port is 9090 now."),
        ];
        let told = set_down(&rules);
        let told: Vec<(Cow<'_, str>, bool)> = told.iter().map(|one| (one.told(), one.is_fact())).collect();
        let lifted = "Never use external crates. (later on this: \"OK, external crates are allowed now.\")";
        assert_eq!(told, [(lifted.into(), false), ("Our port is 9090 now.".into(), true)]);
    }
}
