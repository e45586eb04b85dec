//! Rules that the user took back since a running summary told them.

use std::borrow::Cow;

use longhaul_transcript::{Constraint, Summary};

use super::{
    super::page::RULE,
    HEAD, head,
    line::{Class, said_by_person},
    short::{QUOTED, quoted},
};

/// Returns the text of a running summary without the lines for rules that the user took back since, by what is now `said`.
pub(crate) fn without_taken_back<'t>(text: &'t str, said: &Summary) -> Cow<'t, str> {
    let is_gone = |line: &str| {
        let is_rule =
            [Class::Rule.start(), Class::Fact.start(), RULE].iter().any(|mark| line.starts_with(mark));
        is_rule && is_taken_back(line, said)
    };
    if !text.lines().any(is_gone) {
        return Cow::Borrowed(text);
    }
    let mut left: Vec<Cow<'_, str>> = Vec::new();
    for line in text.lines() {
        if !is_gone(line) {
            left.push(Cow::Borrowed(line));
        } else if let Some(over) = left.iter_mut().rev().find(|line| line.starts_with(HEAD)) {
            let count = over[HEAD.len()..].split(' ').next().and_then(|count| count.parse::<usize>().ok());
            *over = Cow::Owned(head(count.unwrap_or(1).saturating_sub(1)));
        }
    }
    Cow::Owned(left.join("\n"))
}

/// Returns whether a line tells of a rule that the user took back since.
pub(super) fn is_taken_back(line: &str, said: &Summary) -> bool {
    let tells = |rule: &Constraint| line.contains(&*quoted(rule.text.trim(), QUOTED));
    let (gone, holding): (Vec<&Constraint>, Vec<_>) =
        said.constraints.iter().partition(|rule| rule.superseded_by.is_some());
    said_by_person(line).is_some() && gone.into_iter().any(tells) && !holding.into_iter().any(tells)
}
