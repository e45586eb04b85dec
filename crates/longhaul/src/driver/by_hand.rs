//! Compactions that somebody asks for: seen before they are applied, made anew, or forced by a provider's refusal.

use longhaul_transcript::{SummaryMode, SummaryRecord, Tokens};

use super::{Error, Session};
#[cfg(doc)]
use crate::session::SessionState;
use crate::{
    compact::CompactError,
    policy::{Action, Reason},
    session::{Finished, Refusal, Rewrite},
};

/// What a compaction that is asked for is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// The summary in force and what was said since, as the settings say.
    #[default]
    Summary,
    /// The originals alone: the summary in force is replaced by one that owes it nothing.
    Originals,
}

impl Session {
    /// Returns the compaction that [`compact`](Self::compact) would apply, to be looked at first. Nothing has changed
    /// until it is handed to [`accept`](Self::accept); dropping it calls it off.
    ///
    /// # Errors
    /// When there is nothing to compact, what must stay does not fit, or no summary could be made.
    pub async fn propose(&mut self, basis: Basis, goal: Option<&str>) -> Result<Finished, Error> {
        let config = self.state.config();
        let is_deep = self.state.measure(None).next_depth >= config.max_summary_chain_depth;
        let action = Action::Summarize { rebuild: is_deep || basis == Basis::Originals };
        self.fetch_for(action).await?;
        let job = match basis {
            Basis::Summary => self.state.plan(action, Reason::Manual, goal, self.now_ms()),
            Basis::Originals => self.state.plan_anew(goal, self.now_ms()),
        }
        .map_err(Error::Compact)?;
        if basis == Basis::Summary && !self.state.has_something_new(&job) {
            return Err(Error::Compact(CompactError::NothingNew));
        }
        let mut finished = match self.asks_model(action, &job) {
            true => self.summarize(job).await?,
            false => job.finish_by_rule().map_err(Error::Compact)?,
        };
        let says_the_same = |record: &SummaryRecord| record.text == finished.record().text;
        let is_by_rule = finished.record().mode == SummaryMode::Rules;
        if basis == Basis::Originals
            && is_by_rule
            && self.state.summary().is_some_and(|record| says_the_same(record))
        {
            return Err(Error::Compact(CompactError::SaysTheSame));
        }
        // Where it would gain nothing, `accept` says so.
        if let Ok(tokens) = self.state.check(&finished) {
            finished.costs_in_all(tokens);
        }
        Ok(finished)
    }

    /// Applies a compaction that [`propose`](Self::propose) showed. With a store the record is written first.
    ///
    /// # Errors
    /// When the context was rewritten meanwhile, or nothing would be gained. The context is then as it was.
    pub async fn accept(&mut self, finished: Finished) -> Result<Rewrite, Error> {
        self.apply(finished, None).await
    }

    /// Compacts at once, by rule, because the provider found the last request too large: `limit` is the largest prompt
    /// it takes, where it said so. Where that is less than the window, it is worked with as the window: as with any, what is
    /// kept for the answer goes off it, a quarter at most. What that teaches is said at [`SessionState::refused`]. Where another refusal is
    /// reported before the next [`prepare`](Self::prepare), it is taken to be of the same request, and what was done about
    /// that is returned again.
    ///
    /// # Errors
    /// [`Error::NothingLeft`] where nothing can be spared, and [`Error::NotTooLarge`] where the request was not refused for
    /// its size; the session then goes on as it was. Otherwise when the store fails.
    pub async fn overflowed(&mut self, limit: Option<Tokens>) -> Result<Rewrite, Error> {
        if let Some(done) = &self.relieved {
            return Ok(done.clone());
        }
        let (before, m) = (self.state.allowed(), self.state.measure(self.now_ms()));
        let tokens = m.tokens + self.state.fixed_overhead();
        let nothing_left = Error::NothingLeft { tokens, limit, floor: m.floor };
        match self.state.learn_refusal(limit) {
            Refusal::AtFloor => return Err(nothing_left),
            Refusal::OfAnotherCause => return Err(Error::NotTooLarge { tokens, limit }),
            Refusal::Shrink => {}
        }
        let done = self.relieve().await;
        match done {
            Ok(rewrite) => {
                self.relieved = Some(rewrite.clone());
                Ok(rewrite)
            }
            // What was learned would only stand in the way of what must be sent all the same.
            Err(error) => {
                self.state.set_allowed(before);
                match error {
                    // What a caller's own step does wrong is to be told as that.
                    Error::Compact(CompactError::Step(_)) => Err(error),
                    Error::Compact(_) | Error::Rewrite(_) => Err(nothing_left),
                    error => Err(error),
                }
            }
        }
    }

    async fn relieve(&mut self) -> Result<Rewrite, Error> {
        let m = self.state.measure(self.now_ms());
        let rebuild = m.next_depth >= self.state.config().max_summary_chain_depth;
        let reason = Reason::Emergency { tokens: m.tokens, budget: m.budget };
        self.act(Action::Emergency { rebuild, by_rule: true }, reason, None).await
    }
}
