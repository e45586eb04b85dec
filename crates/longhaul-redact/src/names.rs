//! Names and ids that are secrets: what stands in their place, so that a call and its results still go together.

use std::{collections::BTreeMap, sync::Arc};

use crate::Redactor;

/// The names and ids of one message that were secrets. Formats without ids make one of the tool's name, and of its number
/// where a message has several calls of it; what stands in its place is made the same way, so that it is read as it was.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: BTreeMap<String, String>,
    /// How many ids have this beginning.
    taken: BTreeMap<String, usize>,
}

impl Names {
    /// Returns what stands in the place of the id `id`, where that is a secret, and the rule that says so: the same for the
    /// same id, another for another.
    pub(crate) fn id(&mut self, redactor: &Redactor, id: &str) -> Option<(String, Arc<str>)> {
        // `name-2` is the second call of `name`.
        let name =
            id.rsplit_once('-').filter(|(_, nth)| nth.parse::<u32>().is_ok()).map_or(id, |(name, _)| name);
        let (first, rule) = name_in_place_of(redactor, name).or_else(|| name_in_place_of(redactor, id))?;
        if let Some(known) = self.ids.get(id) {
            return Some((known.clone(), rule));
        }
        let nth = self.taken.entry(first.clone()).or_default();
        *nth += 1;
        let other = if *nth == 1 { first } else { format!("{first}-{nth}") };
        self.ids.insert(id.to_owned(), other.clone());
        Some((other, rule))
    }
}

/// Returns what stands in the place of a name that is a secret, and the rule that says so: letters, digits and dashes, as
/// providers take. It is the same in every message, so that a result bears the name of its call.
pub(crate) fn name_in_place_of(redactor: &Redactor, name: &str) -> Option<(String, Arc<str>)> {
    let rule = redactor.find(name).into_iter().next()?.rule;
    Some((format!("redacted-{rule}"), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_of_names_stay_apart_and_are_made_as_before() {
        let (one, other) =
            ("ghp_9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i", "ghp_8bG3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6j");
        let redactor = Redactor::builtin();
        let mut names = Names::default();
        let mut told = |id: &str| names.id(&redactor, id).map(|(other, _)| other);
        for (id, expected) in [
            (one.to_owned(), "redacted-github-pat"),
            (format!("{one}-2"), "redacted-github-pat-2"),
            (other.to_owned(), "redacted-github-pat-3"),
            (one.to_owned(), "redacted-github-pat"),
        ] {
            assert_eq!(told(&id).as_deref(), Some(expected));
        }
        assert_eq!(told("toolu_01A09q90qw90lq917835lq9"), None);
    }
}
