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
    /// How much they have in common, in parts of a word that only these two have: 24 for such a one.
    pub weight: u32,
}

/// What a word that only two claims have weighs.
const WORD: u32 = 24;

impl Link {
    /// Returns it as far as it is weighed: in few steps, so that what was weighed once is known again where the conversation went on.
    pub(super) fn steps(self) -> [u8; 3] {
        let rarest = RAREST.iter().filter(|most| self.rarest > **most).count();
        [rarest, self.rank.min(MOST_CLOSEST), (self.weight / PART) as usize].map(|step| step.min(9) as u8)
    }

    /// Returns what links two claims where there are no others; `None` where they have nothing in common.
    pub fn between(was: &Claim, now: &Claim) -> Option<Link> {
        let shared = was.keys().iter().filter(|key| now.has(**key)).count();
        let weight = WORD * u32::try_from(shared).unwrap_or(u32::MAX / WORD);
        (shared > 0).then_some(Link { rarest: 2, rank: 0, weight })
    }
}

/// How many claims may have a word, by steps.
const RAREST: [usize; 4] = [2, 3, 5, 9];

/// What two claims have in common is told apart in such parts.
const PART: u32 = 8;

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

    /// Returns the claims from the `from`th on that have most in common with `was`, in their order, each with what links the two. Words
    /// that many have link none.
    pub fn linked(&self, was: &Claim, from: usize) -> Vec<(usize, Link)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for places in was.keys().iter().filter_map(|key| self.places.get(key)) {
            let n_claims = places.len().max(2);
            if weight(n_claims) > 0 {
                let after = &places[places.partition_point(|at| *at < from)..];
                found.extend(after.iter().map(|at| (*at, n_claims)));
            }
        }
        found.sort_unstable();
        let mut all: Vec<(u32, usize, usize)> = found
            .chunk_by(|one, next| one.0 == next.0)
            .map(|shared| {
                let weight = shared.iter().map(|(_, n_claims)| weight(*n_claims)).sum();
                (weight, shared[0].0, shared.iter().map(|(_, n_claims)| *n_claims).min().unwrap_or_default())
            })
            .collect();
        all.sort_unstable_by(|one, other| other.cmp(one));
        all.truncate(MOST_LINKED);
        all.sort_unstable_by_key(|(_, at, _)| *at);
        let linked = all.into_iter().map(|(weight, at, rarest)| {
            let rank = self.closest(at).iter().take_while(|other| **other > weight).count();
            (at, Link { rarest, rank, weight })
        });
        linked.collect()
    }

    /// Returns the place of the last claim from the `from`th on that takes the place of `was`: of all that do, the last one that does about
    /// as surely as the surest.
    pub fn last_over(&self, was: &Claim, from: usize) -> Option<usize> {
        let score = |(at, link): (usize, Link)| Some((at, was.overtaken_by(&self.all[at], link)?));
        let over: Vec<(usize, i32)> = self.linked(was, from).into_iter().filter_map(score).collect();
        let surest = over.iter().map(|(_, score)| *score).max()?;
        over.iter().rfind(|(_, score)| *score + AS_SURE >= surest).map(|(at, _)| *at)
    }

    fn closest(&self, at: usize) -> &[u32] {
        self.closest[at].get_or_init(|| {
            let mut weights: HashMap<usize, u32> = HashMap::new();
            let shared = self.all[at].keys().iter().filter_map(|key| self.places.get(key));
            for places in shared.filter(|places| weight(places.len()) > 0) {
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

/// Two are about as sure that are no further apart, in hundredths of the logarithm of odds.
const AS_SURE: i32 = 250;

/// So many of those that have something in common with a claim are looked at.
const MOST_LINKED: usize = 16;

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

    #[test]
    fn what_took_the_place_last_counts_where_it_does_so_as_surely() {
        for (said, over) in [
            (
                [
                    "rate limit is 100 requests per minute per key",
                    "i was wrong about the rate limit: it's 60 per minute per key, not 100",
                    "moved the rate limit tests into their own folder",
                ],
                1,
            ),
            (["Our port is 8080.", "Our port is 9090 now.", "Our port is 7070 now."], 2),
        ] {
            let claims = Claims::new(said.iter().map(|said| Claim::of(said).unwrap()).collect());
            assert_eq!(claims.last_over(&claims.all()[0], 1), Some(over), "{said:?}");
        }
    }
}
