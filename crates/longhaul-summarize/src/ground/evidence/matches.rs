//! How much of a claim the source holds: in a clause, in a message, in what a person said.

use std::collections::{BTreeSet, HashMap};

use super::{Clause, Evidence, Speaker};
use crate::ground::{siblings::stems_of, words::stems};

/// A clause that a claim resembles.
#[derive(Clone, Copy, Debug)]
pub(in crate::ground) struct Match {
    pub clause: usize,
    /// Share of the claim's content that the clause holds, rare words weighing more.
    pub score: f64,
}

impl Evidence {
    /// Returns the largest share of a claim's content that a person said or replied to in one message, or, of a claim
    /// that is about several of them, in all.
    pub(in crate::ground) fn said_by_person(&self, claim: &[u64]) -> f64 {
        let replied = self.replies.iter().map(|said| self.share(claim, |stem| said.contains(stem)));
        replied.fold(self.said_in_own_words(claim), f64::max)
    }

    /// Returns the same for a person's own words alone.
    pub(in crate::ground) fn said_in_own_words(&self, claim: &[u64]) -> f64 {
        let best = self.said.iter().map(|said| self.share(claim, |stem| said.contains(stem)));
        let best = best.fold(0.0, f64::max);
        if claim.len() < MANY_STEMS {
            return best;
        }
        best.max(ACROSS * self.share(claim, |stem| self.said.iter().any(|said| said.contains(stem))))
    }

    /// Returns the largest share of a claim's content that stands in one message with a clause that `is_meant`.
    pub(in crate::ground) fn told_with(
        &self,
        stems: &[u64],
        claim: &[u64],
        is_meant: impl Fn(&Clause) -> bool,
    ) -> f64 {
        let postings = stems.iter().filter_map(|stem| self.postings.get(stem)).flatten();
        let clauses = postings.filter_map(|index| self.clauses.get(*index as usize));
        let ordinals: BTreeSet<u64> =
            clauses.filter(|clause| is_meant(clause)).map(|clause| clause.ordinal).collect();
        let around =
            |at: u64| (at.saturating_sub(1)..=at.saturating_add(1)).filter_map(|at| self.messages.get(&at));
        let shares = ordinals
            .into_iter()
            .map(|at| self.share(claim, |stem| around(at).any(|message| message.contains(stem))));
        shares.fold(0.0, f64::max)
    }

    /// Returns whose message was the first to hold this share of a claim's content, tools' apart.
    pub(in crate::ground) fn first_to_say(&self, claim: &[u64], least: f64) -> Option<Speaker> {
        let said = self.messages.iter().filter_map(|(at, message)| Some((self.voices.get(at)?, message)));
        let mut said = said.filter(|(voice, _)| **voice != Speaker::Tool);
        said.find(|(_, message)| self.share(claim, |stem| message.contains(stem)) >= least)
            .map(|(voice, _)| *voice)
    }

    /// Returns whether a message, or the one before it, has one of these words.
    pub(in crate::ground) fn told_in(&self, ordinal: u64, stems: &[u64]) -> bool {
        let near = (ordinal.saturating_sub(1)..=ordinal).filter_map(|at| self.messages.get(&at));
        near.flatten().any(|stem| stems.contains(stem))
    }

    /// Returns whether a clause's sentence has one of these words.
    pub(in crate::ground) fn held_in(&self, wanted: &[u64], clause: &Clause) -> bool {
        stems_of(self.sentence_of(clause)).iter().any(|stem| wanted.contains(stem))
    }

    /// Returns whether the user spoke right behind a message.
    pub(in crate::ground) fn is_replied_to(&self, ordinal: u64) -> bool {
        self.voices.get(&ordinal.saturating_add(1)) == Some(&Speaker::User)
    }

    /// Returns the largest share of a claim's content that stands in one message.
    pub(in crate::ground) fn told_at_once(&self, claim: &[u64]) -> f64 {
        let shares = self.messages.values().map(|message| self.share(claim, |stem| message.contains(stem)));
        shares.fold(0.0, f64::max)
    }

    /// Returns the share of a claim's content that a text holds.
    pub(in crate::ground) fn held(&self, claim: &[u64], text: &str) -> f64 {
        let own = stems(text);
        self.share(claim, |stem| own.contains(stem))
    }

    /// Returns how much of a claim's content `holds`, rare words weighing more, as far as one word may.
    fn share(&self, claim: &[u64], holds: impl Fn(&u64) -> bool) -> f64 {
        let all = self.clauses.len().max(1) as f64;
        let weight = |stem: &u64| {
            let count = self.postings.get(stem).map_or(0, Vec::len);
            (1.0 + all / (1.0 + count as f64)).ln().min(MOST_WEIGHT)
        };
        let whole: f64 = claim.iter().map(weight).sum();
        let held: f64 = claim.iter().filter(|stem| holds(stem)).map(weight).sum();
        held / whole.max(f64::MIN_POSITIVE)
    }

    /// Returns the clauses that hold at least `least` of the content of a claim, best first.
    pub(in crate::ground) fn matches(&self, claim: &[u64], least: f64) -> Vec<Match> {
        self.scored(claim, least, |index, _| index)
    }

    /// Returns the sentences that do, each by its first clause.
    pub(in crate::ground) fn sentence_matches(&self, claim: &[u64], least: f64) -> Vec<Match> {
        self.scored(claim, least, |_, clause| clause.first)
    }

    fn scored(&self, claim: &[u64], least: f64, group: fn(u32, &Clause) -> u32) -> Vec<Match> {
        let all = self.clauses.len().max(1) as f64;
        let weight = |count: usize| (1.0 + all / (1.0 + count as f64)).ln();
        let mut scores: HashMap<u32, f64> = HashMap::new();
        let mut whole = 0.0;
        for stem in claim {
            let posting = self.postings.get(stem).map_or(&[][..], Vec::as_slice);
            whole += weight(posting.len());
            if posting.len() > MAX_POSTINGS {
                continue;
            }
            let mut before = None;
            for index in posting {
                let group = group(*index, &self.clauses[*index as usize]);
                if before.replace(group) != Some(group) {
                    *scores.entry(group).or_default() += weight(posting.len());
                }
            }
        }
        let whole = f64::max(whole, f64::MIN_POSITIVE);
        let scores =
            scores.into_iter().map(|(clause, score)| Match { clause: clause as usize, score: score / whole });
        let mut matches: Vec<Match> = scores.filter(|found| found.score >= least).collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.clause.cmp(&b.clause)));
        matches
    }
}

/// A word in more clauses than this tells nothing about which is meant.
const MAX_POSTINGS: usize = 4_000;

/// A claim of fewer content words is about one message.
const MANY_STEMS: usize = 8;

/// What it counts that a claim's words stand in several messages.
const ACROSS: f64 = 0.8;

/// The most that one word weighs: a word that nobody said is often another word for one that somebody did.
const MOST_WEIGHT: f64 = 4.0;
