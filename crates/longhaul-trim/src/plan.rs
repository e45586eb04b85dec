//! Fitting candidates into a budget.

use longhaul_transcript::{Span, Tokens};

use crate::Priority;

/// A unit, seen as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The messages it stands for.
    pub span: Span,
    /// How much it matters.
    pub priority: Priority,
    /// What it costs as it is.
    pub tokens: Tokens,
    /// What it costs digested; `None` where there is nothing to digest.
    pub digest_tokens: Option<Tokens>,
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Left out.
    Drop,
    /// Its tool results are replaced by their digests.
    Digest,
    /// Kept as it is.
    Keep,
}

/// What becomes of all candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrimPlan {
    /// One action for each candidate, in their order.
    pub actions: Vec<Fate>,
    /// What is left costs this much.
    pub tokens: Tokens,
    /// How far that is over the budget: above zero only where the pinned candidates alone are.
    pub over_budget: Tokens,
}

impl Candidate {
    /// Returns a candidate without a digest.
    pub fn new(span: Span, priority: Priority, tokens: Tokens) -> Candidate {
        Candidate { span, priority, tokens, digest_tokens: None }
    }

    /// Returns this candidate with a digest of `tokens`.
    pub fn with_digest(self, tokens: Tokens) -> Candidate {
        Candidate { digest_tokens: Some(tokens), ..self }
    }

    /// Returns what the candidate costs under `action`.
    pub fn cost(&self, action: Fate) -> Tokens {
        match action {
            Fate::Keep => self.tokens,
            Fate::Digest => self.digest_tokens.unwrap_or(self.tokens).min(self.tokens),
            Fate::Drop => Tokens::ZERO,
        }
    }
}

/// Returns what to keep, digest and drop so that the rest fits `budget`.
///
/// Gives up the least important first, and the oldest first within a priority: digests before it drops. What the last
/// step freed beyond need is given back, the most important and newest first. Pinned candidates are never touched.
/// Linear in the number of candidates.
pub fn plan(candidates: &[Candidate], budget: Tokens) -> TrimPlan {
    let mut actions = vec![Fate::Keep; candidates.len()];
    let mut tokens: Tokens = candidates.iter().map(|candidate| candidate.tokens).sum();
    let order = by_priority(candidates);
    'given_up: for level in &order {
        for action in [Fate::Digest, Fate::Drop] {
            for &index in level {
                if tokens <= budget {
                    break 'given_up;
                }
                change(&candidates[index], &mut actions[index], action, &mut tokens);
            }
        }
    }
    for &index in order.iter().rev().flat_map(|level| level.iter().rev()) {
        give_back(&candidates[index], &mut actions[index], &mut tokens, budget);
    }
    TrimPlan { actions, tokens, over_budget: tokens - budget }
}

/// Returns the indices of the candidates that may be given up, by ascending priority, oldest first.
fn by_priority(candidates: &[Candidate]) -> [Vec<usize>; Priority::Pinned as usize] {
    let mut levels: [Vec<usize>; Priority::Pinned as usize] = Default::default();
    for (index, candidate) in candidates.iter().enumerate() {
        if let Some(level) = levels.get_mut(candidate.priority as usize) {
            level.push(index);
        }
    }
    levels
}

fn change(candidate: &Candidate, current: &mut Fate, to: Fate, tokens: &mut Tokens) {
    if candidate.cost(to) < candidate.cost(*current) {
        *tokens = *tokens - candidate.cost(*current) + candidate.cost(to);
        *current = to;
    }
}

fn give_back(candidate: &Candidate, current: &mut Fate, tokens: &mut Tokens, budget: Tokens) {
    for better in [Fate::Keep, Fate::Digest] {
        let grown = *tokens - candidate.cost(*current) + candidate.cost(better);
        if better > *current && grown <= budget {
            *tokens = grown;
            *current = better;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    const PRIORITIES: [Priority; 7] = [
        Priority::Disposable,
        Priority::Low,
        Priority::Normal,
        Priority::Raised,
        Priority::High,
        Priority::Highest,
        Priority::Pinned,
    ];

    fn candidates(rows: &[(Priority, u64, u64)]) -> Vec<Candidate> {
        let rows = rows.iter().enumerate();
        rows.map(|(index, &(priority, tokens, digest))| {
            let span = Span { start: index as u64, end: index as u64 + 1 };
            let candidate = Candidate::new(span, priority, Tokens(tokens));
            if digest > 0 { candidate.with_digest(Tokens(digest)) } else { candidate }
        })
        .collect()
    }

    fn letters(plan: &TrimPlan) -> String {
        let letter = |action: &Fate| match action {
            Fate::Keep => 'k',
            Fate::Digest => 'd',
            Fate::Drop => '-',
        };
        plan.actions.iter().map(letter).collect()
    }

    #[test]
    fn everything_stays_when_it_fits() {
        let plan = plan(&candidates(&[(Priority::Disposable, 10, 1), (Priority::Low, 10, 0)]), Tokens(20));
        assert_eq!(letters(&plan), "kk");
    }

    #[test]
    fn the_least_important_and_oldest_goes_first() {
        let rows = [
            (Priority::High, 100, 0),
            (Priority::Low, 100, 10),
            (Priority::Low, 100, 10),
            (Priority::Normal, 100, 0),
        ];
        assert_eq!(letters(&plan(&candidates(&rows), Tokens(310))), "kdkk");
        assert_eq!(letters(&plan(&candidates(&rows), Tokens(220))), "kddk");
        assert_eq!(letters(&plan(&candidates(&rows), Tokens(210))), "k-dk");
        assert_eq!(letters(&plan(&candidates(&rows), Tokens(100))), "k---");
    }

    #[test]
    fn what_was_freed_beyond_need_is_given_back() {
        let rows = [(Priority::Low, 20, 0), (Priority::Low, 500, 0), (Priority::Normal, 100, 0)];
        assert_eq!(letters(&plan(&candidates(&rows), Tokens(130))), "k-k");
    }

    #[test]
    fn pinned_candidates_may_exceed_the_budget_and_the_plan_says_by_how_much() {
        let plan = plan(&candidates(&[(Priority::Pinned, 100, 10), (Priority::High, 5, 0)]), Tokens(60));
        assert_eq!(letters(&plan), "k-");
        assert_eq!(plan.over_budget, Tokens(40));
    }

    proptest! {
        #[test]
        fn a_plan_fits_or_says_that_it_does_not(
            rows in vec((0usize..7, 0u64..1000, 0u64..100), 0..40),
            budget in 0u64..20_000,
        ) {
            let rows: Vec<_> = rows.into_iter().map(|(p, t, d)| (PRIORITIES[p], t, d)).collect();
            let candidates = candidates(&rows);
            let plan = plan(&candidates, Tokens(budget));
            let spent: Tokens = candidates.iter().zip(&plan.actions).map(|(c, a)| c.cost(*a)).sum();
            let pinned: Tokens =
                candidates.iter().filter(|c| c.priority == Priority::Pinned).map(|c| c.tokens).sum();
            prop_assert_eq!(spent, plan.tokens);
            prop_assert_eq!(plan.over_budget, pinned - Tokens(budget));
            for (candidate, action) in candidates.iter().zip(&plan.actions) {
                prop_assert!(candidate.priority != Priority::Pinned || *action == Fate::Keep);
            }
        }
    }
}
