//! What was learned of a provider's counting: it is kept beside the sessions.

use longhaul_store::{StoreError, lasting_key};
use longhaul_tokens::Calibration;
use longhaul_transcript::{ContentHash, Redacted};
use serde::{Deserialize, Serialize};

use super::Journal;
use crate::session::SessionState;

impl Journal {
    /// Reads what earlier conversations learned. A calibration that cannot be read is learned anew: a cache may lose what it holds.
    pub(in super::super) async fn load_learned(&mut self, state: &mut SessionState) {
        let (model, endpoint, _) = state.learned();
        let json = self.store.cached(&learned_key(model, endpoint)).await.ok().flatten();
        let learned = json.and_then(|json| serde_json::from_slice::<Learned>(&json).ok());
        if let Some(learned) = learned.filter(|learned| learned.version == LEARNED_VERSION) {
            self.learned = Some(learned.calibration.clone());
            state.learn_from(learned.calibration);
        }
    }

    /// What one conversation learned of a model at an endpoint holds for the next: it stands beside the sessions, where
    /// the summaries of models are cached. Numbers only. What the first requests teach is written at once, later ones with
    /// each snapshot. Returns why it could not be written, once for each time that it begins to fail.
    pub(in super::super) async fn save_learned(&mut self, state: &SessionState) -> Option<StoreError> {
        let (model, endpoint, calibration) = state.learned();
        let calibration = calibration.filter(|calibration| self.learned.as_ref() != Some(calibration))?;
        if calibration.observations() > SHARED_AT_ONCE
            && self.learned_with == self.kept
            && !self.fails_to_learn
        {
            return None;
        }
        let learned = Learned { version: LEARNED_VERSION, calibration: calibration.clone() };
        // Numbers can be written as JSON.
        let json = serde_json::to_vec(&learned).ok()?;
        let kept = self.store.cache(&learned_key(model, endpoint), &Redacted::assume(json)).await;
        let is_news = kept.is_err() && !self.fails_to_learn;
        self.fails_to_learn = kept.is_err();
        if kept.is_ok() {
            self.learned = Some(learned.calibration);
            self.learned_with.clone_from(&self.kept);
        }
        kept.err().filter(|_| is_news)
    }
}

/// What was learned of a provider's counting, as it is stored.
#[derive(Serialize, Deserialize)]
struct Learned {
    version: u32,
    calibration: Calibration,
}

/// The version of [`Learned`]. Anything else is not read.
const LEARNED_VERSION: u32 = 1;

/// So many requests teach much.
const SHARED_AT_ONCE: usize = 16;

fn learned_key(model: &str, endpoint: &str) -> ContentHash {
    lasting_key([b"calibration".as_slice(), model.as_bytes(), endpoint.as_bytes()])
}
