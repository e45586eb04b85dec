//! What each feature of two sentences adds.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::{
    Claim, Link, claim_features,
    words::{START, hash},
};

/// What each feature of two claims adds to that the later takes the place of the earlier: the sum is, in hundredths, the logarithm of the
/// odds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimWeights {
    /// By the hash of the feature: none of them is written out when two claims are compared.
    of: HashMap<u64, i16>,
}

/// The built-in weights.
static BUILTIN: LazyLock<ClaimWeights> = LazyLock::new(|| ClaimWeights::parse(include_str!("weights.txt")));

impl ClaimWeights {
    /// Returns the built-in weights.
    pub fn builtin() -> &'static ClaimWeights {
        &BUILTIN
    }

    /// Reads weights from lines of a feature, a tab and a whole number. Other lines are passed over.
    pub fn parse(text: &str) -> ClaimWeights {
        let read = |line: &str| {
            let (name, weight) = line.split_once('\t')?;
            Some((hash(START, name.as_bytes()), weight.parse().ok()?))
        };
        ClaimWeights { of: text.lines().filter_map(read).collect() }
    }

    /// Returns whether a claim that was made later takes the place of `was`.
    pub fn is_overtaken(&self, was: &Claim, now: &Claim, link: Link) -> bool {
        was.may_be_overtaken_by(now) && self.score(was, now, link) >= MARGIN
    }

    /// Returns the sum for a claim `was` and one that was made later.
    pub fn score(&self, was: &Claim, now: &Claim, link: Link) -> i32 {
        let mut sum = 0;
        claim_features(was, now, link, |parts| {
            let mut parts = parts.iter();
            let first = parts.next().map_or(START, |part| hash(START, part.as_bytes()));
            let name = parts.fold(first, |name, part| hash(hash(name, b" "), part.as_bytes()));
            sum += self.of.get(&name).map_or(0, |weight| i32::from(*weight));
        });
        sum
    }
}

/// So much likelier it is that a claim takes the place of another than that both hold, in hundredths of the logarithm of odds: chosen on
/// the conversations of writers whom the weights were not fitted to.
pub(super) const MARGIN: i32 = 145;
