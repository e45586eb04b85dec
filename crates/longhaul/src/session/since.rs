//! What changes in a session beside what is said while its view is not rewritten: small enough to be kept with each request.

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

use super::{
    SessionState,
    calibrated::Calibrated,
    refused::Refusals,
    snapshot::{Learned, probe},
};
use crate::policy::PolicyState;

/// What changes between two snapshots beside what is said: what the provider reported, what the policy remembers, what was
/// sent. A [`Snapshot`](super::Snapshot) holds it as well; this is all of it that a request changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Since {
    /// Version of this shape; another is left aside.
    version: u32,
    /// How many messages had been said.
    messages: u64,
    /// Of which view it is.
    rewrites: u64,
    learned: Learned,
    policy: PolicyState,
    stable: usize,
    requested_at_ms: Option<i64>,
    #[serde(default)]
    refusals: Refusals,
    window: Tokens,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest_from: Option<u64>,
    /// What the counter makes of a few texts; see [`Snapshot`](super::Snapshot).
    probe: Vec<Tokens>,
}

const VERSION: u32 = 1;

impl Since {
    /// Returns how many messages had been said.
    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns whether it says the same, however much was said since.
    pub(crate) fn is_same(&self, other: &Since) -> bool {
        Since { messages: other.messages, ..self.clone() } == *other
    }

    /// Returns whether it is of the view that `state` has, as it is counted there.
    pub(crate) fn is_of(&self, state: &SessionState) -> bool {
        let is_known = self.version == VERSION && self.rewrites == state.rewrites;
        is_known && self.window == state.window.window && self.probe == probe(&*state.counter)
    }
}

impl SessionState {
    /// Returns what the last request changed.
    pub(crate) fn since(&self) -> Since {
        Since {
            version: VERSION,
            messages: self.n_total(),
            rewrites: self.rewrites,
            learned: self.all_learned(),
            policy: self.policy.clone(),
            stable: self.stable,
            requested_at_ms: self.requested_at_ms,
            refusals: self.refusals,
            window: self.window.window,
            newest_from: self.newest_from,
            probe: probe(&*self.counter),
        }
    }

    /// Takes up what changed since the snapshot; the messages that were said by then have been pushed.
    pub(crate) fn catch_up(&mut self, since: Since) {
        self.calibrated = Calibrated::of(since.learned);
        self.policy = since.policy;
        self.stable = since.stable.min(self.items.len());
        self.requested_at_ms = since.requested_at_ms;
        self.refusals = since.refusals;
        self.newest_from = since.newest_from;
        self.recalibrate();
    }
}
