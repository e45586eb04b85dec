//! Claims among each other: a word that many of them have links two of them less than one that only they have.

use std::{cell::OnceCell, sync::Arc};

use hashbrown::HashMap;

use super::Claim;

/// What two claims have in common, among all that was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// How many claims have the rarest of the words that both have.
    pub rarest: usize,
    /// How many of the claims before the later one have more in common with it.
    pub rank: usize,
    /// How much they have in common, in parts of a word that only these two have: [`WORD`] for such a one.
    pub weight: u32,
}

/// What a word that only two claims have weighs.
const WORD: u32 = 24;

impl Link {
    /// Returns what links two claims where there are no others; `None` where they have nothing in common.
    pub fn between(was: &Claim, now: &Claim) -> Option<Link> {
        let shared = was.keys().iter().filter(|key| now.has(**key)).count();
        let weight = WORD * u32::try_from(shared).unwrap_or(u32::MAX / WORD);
        (shared > 0).then_some(Link { rarest: 2, rank: 0, weight })
    }
}

/// All claims of a conversation, in the order in which they were made.
#[derive(Debug, Default)]
pub struct Claims {
    all: Vec<Arc<Claim>>,
    /// The places of the claims that have a word, in their order.
    places: HashMap<u64, Vec<usize>>,
    /// For each claim what links it with those of the earlier ones that have most in common with it, the most first.
    closest: Vec<OnceCell<Vec<u32>>>,
}

impl Claims {
    /// Keeps claims that were made in this order.
    pub fn new(all: Vec<Arc<Claim>>) -> Claims {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, claim) in all.iter().enumerate() {
            claim.keys().iter().for_each(|key| places.entry(*key).or_default().push(at));
        }
        let closest = all.iter().map(|_| OnceCell::new()).collect();
        Claims { all, places, closest }
    }

    /// The claims, in their order.
    pub fn all(&self) -> &[Arc<Claim>] {
        &self.all
    }

    /// Returns the claims from the `from`th on that have something in common with `was`, in their order, each with what links the two.
    pub fn linked(&self, was: &Claim, from: usize) -> Vec<(usize, Link)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for key in was.keys() {
            let places = self.places.get(key).map_or(&[][..], Vec::as_slice);
            let is_mine = || places.iter().any(|at| self.all[*at].text == was.text);
            let n_claims = places.len() + usize::from(places.len() < 2 && !is_mine());
            let after = &places[places.partition_point(|at| *at < from)..];
            found.extend(after.iter().map(|at| (*at, n_claims)));
        }
        found.sort_unstable();
        let of_one = found.chunk_by(|one, next| one.0 == next.0).map(|shared| {
            let weight = shared.iter().map(|(_, n_claims)| weight(*n_claims)).sum();
            let rarest = shared.iter().map(|(_, n_claims)| *n_claims).min().unwrap_or_default();
            let rank = self.closest(shared[0].0).iter().take_while(|other| **other > weight).count();
            (shared[0].0, Link { rarest, rank, weight })
        });
        of_one.collect()
    }

    /// Returns the place of the last claim from the `from`th on that takes the place of `was`.
    pub fn last_over(&self, was: &Claim, from: usize) -> Option<usize> {
        let linked = self.linked(was, from).into_iter();
        linked.rev().find(|(at, link)| was.is_overtaken_by(&self.all[*at], *link)).map(|(at, _)| at)
    }

    fn closest(&self, at: usize) -> &[u32] {
        self.closest[at].get_or_init(|| {
            let mut weights: HashMap<usize, u32> = HashMap::new();
            for key in self.all[at].keys() {
                let places = self.places.get(key).map_or(&[][..], Vec::as_slice);
                let before = places.iter().take_while(|place| **place < at);
                before.for_each(|place| *weights.entry(*place).or_default() += weight(places.len()));
            }
            let mut closest: Vec<u32> = weights.into_values().collect();
            closest.sort_unstable_by(|one, other| other.cmp(one));
            closest.truncate(MOST_CLOSEST);
            closest
        })
    }
}

/// Returns what a word weighs that so many claims have.
fn weight(n_claims: usize) -> u32 {
    WORD / u32::try_from(n_claims.saturating_sub(1).max(1)).unwrap_or(u32::MAX)
}

/// With so many that have more in common no claim is one of the closest.
const MOST_CLOSEST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_many_have_links_less() {
        let said = [
            "Petra owns payroll.",
            "Petra is on leave.",
            "Mail Petra.",
            "Payroll closes on the 20th.",
            "Ulla took over payroll from Petra.",
        ];
        let claims = Claims::new(said.iter().map(|said| Claim::of(said).unwrap()).collect());
        let was = Claim::of(said[0]).unwrap();
        let last = *claims.linked(&was, 1).last().unwrap();
        assert_eq!(last, (4, Link { rarest: 3, rank: 0, weight: 24 / 3 + 24 / 2 }));
        let (_, other) = claims.linked(&Claim::of(said[1]).unwrap(), 4)[0];
        assert_eq!(other, Link { rarest: 4, rank: 2, weight: 24 / 3 });
    }
}
