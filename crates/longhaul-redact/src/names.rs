//! Names and ids that are secrets: what stands in their place, so that a call and its results still go together.
//!
//! A call and its results are in messages of their own, each redacted without a memory of the others: what stands in a
//! name's place is made of the name alone, and different for different ones, or two calls would be one to the provider.

use std::sync::Arc;

use longhaul_transcript::ContentHash;

use crate::Redactor;

/// Returns what stands in the place of the id `id`, where that is a secret, and the rule that says so: the same for the
/// same id in every message, another for another.
///
/// Formats without ids make one of the tool's name, and of its number where a message has several calls of it; what
/// stands in its place is made the same way, so that it is read as it was.
pub(crate) fn id_in_place_of(redactor: &Redactor, id: &str) -> Option<(String, Arc<str>)> {
    // `name-2` is the second call of `name`.
    let numbered = id.rsplit_once('-').filter(|(_, nth)| nth.parse::<u32>().is_ok());
    let of_name = numbered.and_then(|(name, nth)| {
        let (other, rule) = name_in_place_of(redactor, name)?;
        Some((format!("{other}-{nth}"), rule))
    });
    of_name.or_else(|| name_in_place_of(redactor, id))
}

/// Returns what stands in the place of a name that is a secret, and the rule that says so: letters, digits and dashes, as
/// providers take. It is the same in every message, so that a result bears the name of its call.
///
/// The digits at its end are 24 bits of a hash: too few to tell a secret by, enough that two do not meet.
pub(crate) fn name_in_place_of(redactor: &Redactor, name: &str) -> Option<(String, Arc<str>)> {
    const DIGITS: usize = 6;
    let rule = redactor.find(name).into_iter().next()?.rule;
    let hash = ContentHash::of(name.as_bytes()).short(DIGITS);
    Some((format!("redacted-{rule}-{hash}"), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_of_names_stay_apart_and_are_made_as_before() {
        let (one, other) =
            ("ghp_9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i", "ghp_8bG3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6j");
        let redactor = Redactor::builtin();
        let told = |id: &str| id_in_place_of(&redactor, id).map(|(other, _)| other);
        let name = |name: &str| name_in_place_of(&redactor, name).map(|(other, _)| other).unwrap();
        assert!(name(one).starts_with("redacted-github-pat-"), "{}", name(one));
        assert_ne!(name(one), name(other));
        assert_eq!(told(one), Some(name(one)));
        assert_eq!(told(&format!("{one}-2")), Some(name(one) + "-2"));
        assert_eq!(told(&format!("{other}-2")), Some(name(other) + "-2"));
        assert_eq!(told("toolu_01A09q90qw90lq917835lq9"), None);
    }
}
