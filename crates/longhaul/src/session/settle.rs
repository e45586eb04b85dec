//! A session by itself: what the policy asks for is done at once, and summaries are made by rule.

use super::SessionState;
use crate::policy::{Action, Decision, Reason};

/// How often a decision is carried out; the policy holds after fewer.
const MAX_ROUNDS: usize = 8;

impl SessionState {
    /// Does what the policy asks for, with summaries by rule, until it asks for nothing more, and returns why. Of what
    /// fails on the way, a step of the caller's say, only the wait before the next try is told: [`plan`](Self::plan) says
    /// what is the matter. Call it
    /// before each request where there is neither a store nor a model to write summaries; where there is,
    /// [`Session::prepare`](crate::Session::prepare) does the same with them.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use longhaul::{Config, SessionState, tokens::{CharsPer4, ContextWindow}, transcript::{Message, SessionId, Tokens}};
    ///
    /// let window = ContextWindow::new(Tokens(2_000), Tokens(200));
    /// let mut state = SessionState::new(SessionId::new("demo")?, window, Arc::new(CharsPer4), Config::default());
    /// for nth in 0..200 {
    ///     state.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
    ///     state.settle(None);
    ///     assert!(state.view().tokens() <= Tokens(1_800)); // what to send
    ///     state.push(Message::assistant(format!("It computes the value number {nth}, and nothing else.")));
    /// }
    /// assert!(state.summary().is_some());
    /// # Ok::<(), longhaul::transcript::ParseSessionIdError>(())
    /// ```
    pub fn settle(&mut self, now_ms: Option<i64>) -> Decision {
        for _ in 0..MAX_ROUNDS {
            let decision = self.decide(now_ms);
            let Decision::Act { action, reason } = decision else { return decision };
            if !self.carry_out(action, reason, now_ms) {
                self.failed(reason, now_ms);
            }
        }
        self.decide(now_ms)
    }

    /// Returns whether something came of it.
    fn carry_out(&mut self, action: Action, reason: Reason, now_ms: Option<i64>) -> bool {
        match action {
            Action::SoftDigest | Action::SoftTrim => self.soften(action, reason, now_ms).is_ok(),
            _ => {
                let job = self.plan(action, reason, None, now_ms);
                let finished = job.and_then(|job| job.finish_by_rule());
                finished.is_ok_and(|finished| self.apply(finished).is_ok())
            }
        }
    }
}
