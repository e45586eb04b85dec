//! Bounds what summaries may cost in an hour.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use longhaul_transcript::Tokens;

/// The most that models may be asked in any sixty minutes, over all conversations that share the summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpendLimit {
    /// Calls, failed ones included. Default: 60.
    pub calls_per_hour: u32,
    /// Tokens, prompts and answers together. A call counts with the most it may cost until its usage is known.
    /// Default: 1,000,000.
    pub tokens_per_hour: Tokens,
}

/// What was spent in the last hour.
#[derive(Debug)]
pub(crate) struct Spend {
    limit: SpendLimit,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    next: u64,
    calls: VecDeque<Call>,
}

#[derive(Debug)]
struct Call {
    number: u64,
    at_ms: i64,
    tokens: Tokens,
}

/// A call that was admitted; its cost is corrected once it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted(u64);

impl Default for SpendLimit {
    fn default() -> SpendLimit {
        SpendLimit { calls_per_hour: 60, tokens_per_hour: Tokens(1_000_000) }
    }
}

impl Spend {
    pub(crate) fn new(limit: SpendLimit) -> Spend {
        Spend { limit, books: Mutex::default() }
    }

    /// Takes a call of at most `tokens` into the books, or returns why there is no room for it.
    pub(crate) fn admit(&self, tokens: Tokens, now_ms: i64) -> Result<Admitted, String> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        // The books never hold more than `calls_per_hour` entries, so this is short. What lies in the future, after
        // the clock was set back, is forgotten too: it must not block for longer than an hour.
        books.calls.retain(|call| (0..HOUR_MS).contains(&now_ms.saturating_sub(call.at_ms)));
        if books.calls.len() >= self.limit.calls_per_hour as usize {
            return Err(format!("the limit of {} calls an hour is reached", self.limit.calls_per_hour));
        }
        let spent: Tokens = books.calls.iter().map(|call| call.tokens).sum();
        if spent + tokens > self.limit.tokens_per_hour {
            return Err(format!("the limit of {} tokens an hour is reached", self.limit.tokens_per_hour));
        }
        let number = books.next;
        books.next += 1;
        books.calls.push_back(Call { number, at_ms: now_ms, tokens });
        Ok(Admitted(number))
    }

    /// Replaces the estimate of an admitted call by what it cost.
    pub(crate) fn settle(&self, call: Admitted, tokens: Tokens) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = books.calls.iter_mut().rev().find(|entry| entry.number == call.0) {
            entry.tokens = tokens;
        }
    }
}

const HOUR_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_tokens_come_back_after_an_hour() {
        let spend = Spend::new(SpendLimit { calls_per_hour: 2, tokens_per_hour: Tokens(100) });
        let first = spend.admit(Tokens(90), 0).unwrap();
        assert_eq!(spend.admit(Tokens(20), 1).unwrap_err(), "the limit of 100 tokens an hour is reached");
        spend.settle(first, Tokens(10));
        spend.admit(Tokens(20), 2).unwrap();
        assert_eq!(spend.admit(Tokens(1), 3).unwrap_err(), "the limit of 2 calls an hour is reached");
        assert!(spend.admit(Tokens(1), HOUR_MS - 1).is_err());
        assert!(spend.admit(Tokens(1), HOUR_MS).is_ok());
    }

    #[test]
    fn a_clock_set_back_does_not_block_for_ever() {
        let spend = Spend::new(SpendLimit { calls_per_hour: 1, tokens_per_hour: Tokens(100) });
        spend.admit(Tokens(1), 1_000_000_000).unwrap();
        assert!(spend.admit(Tokens(1), 5).is_ok());
    }
}
