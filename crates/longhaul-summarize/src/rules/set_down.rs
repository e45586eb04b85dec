//! What a person set down and holds on, as every form tells it: with what may have lifted it since.

use std::borrow::Cow;

use longhaul_extract::{Claim, lifted_by_each, stated};
use longhaul_transcript::Constraint;

use super::persons::{is_fact, is_lasting};

/// A rule or a fact that holds, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetDown<'r> {
    /// What was said.
    pub said: &'r Constraint,
    /// The newest that may have lifted it: told alone, either would mislead.
    pub later: Option<&'r Constraint>,
    /// It is a fact to go by, or stands in the place of one.
    is_fact: bool,
    /// It stands in the place of something that would hold on.
    replaces: bool,
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

    /// Returns whether it holds on, or stands in the place of what was none.
    pub fn lasts(&self) -> bool {
        self.replaces || is_lasting(&self.said.text)
    }

    /// Returns whether it is a fact to go by: what stands in the place of one is, and what stands in the place of a rule is none.
    pub fn is_fact(&self) -> bool {
        self.is_fact
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

/// Returns those of `rules` that were not taken back, oldest first, also those that hold no longer than the moment. What only lifts one of them stands
/// behind that.
pub(crate) fn standing(rules: &[Constraint]) -> Vec<SetDown<'_>> {
    let lifted = lifted_by_each(rules);
    let places = places(rules, &lifted);
    let all = rules.iter().enumerate().filter(|(_, rule)| rule.superseded_by.is_none());
    let by = |at: usize| lifted.iter().rposition(|lifted| lifted.contains(&at));
    let all: Vec<(usize, &Constraint, Option<usize>)> = all.map(|(at, said)| (at, said, by(at))).collect();
    let only_lifts = |at: usize| all.iter().any(|(_, _, by)| *by == Some(at));
    let told = all.iter().map(|(at, said, by)| {
        let Place { is_fact, replaces } = places[*at];
        (*at, SetDown { said, later: by.map(|by| &rules[by]), is_fact, replaces })
    });
    told.filter(|(at, one)| one.lasts() || !only_lifts(*at)).map(|(_, one)| one).collect()
}

/// What a rule stands in the place of.
#[derive(Clone, Copy)]
struct Place {
    is_fact: bool,
    replaces: bool,
}

/// Returns for each of `rules` whether it is a fact or stands in the place of one, and whether it takes the place of something that would
/// hold on.
fn places(rules: &[Constraint], lifted: &[Vec<usize>]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (rule, lifted) in rules.iter().zip(lifted) {
        let is_over = |at: &&usize| {
            let was = &rules[**at];
            was.superseded_by == Some(rule.message) && says_anew(&rule.text, &was.text)
        };
        let was = lifted.iter().rev().find(is_over);
        places.push(Place {
            is_fact: was.map_or_else(|| is_fact(&rule.text), |at| places[*at].is_fact),
            replaces: was.is_some_and(|at| places[*at].replaces || is_lasting(&rules[*at].text)),
        });
    }
    places
}

/// Returns whether `later` says of the same thing what it is now: what only takes something back stands in no place.
fn says_anew(later: &str, earlier: &str) -> bool {
    let claims = Claim::of(earlier).zip(Claim::of(later));
    let values = || stated(earlier).zip(stated(later)).is_some_and(|(was, now)| was.subject == now.subject);
    claims.is_some_and(|(was, now)| was.is_overtaken_alone(&now)) || values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_the_place_of_something_is_told_as_that() {
        let over = |message, text: &str, by| Constraint {
            text: text.into(),
            message,
            superseded_by: Some(by),
            ..Constraint::default()
        };
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let rules = [
            over(1, "The deadline is 12 June.", 5),
            over(3, "Keep functions under 40 lines.", 7),
            said(5, "They pushed the deadline back to 19 June."),
            said(7, "Functions may have up to 60 lines from now on."),
        ];
        let told: Vec<(u64, bool)> =
            set_down(&rules).iter().map(|one| (one.said.message, one.is_fact())).collect();
        assert_eq!(told, [(5, true), (7, false)]);
    }

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
