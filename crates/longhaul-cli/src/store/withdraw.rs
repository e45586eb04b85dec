//! Taking a record back that nobody got the history of.

use anyhow::{Result, bail};
use longhaul::{
    store::{StoreError, StoredSession},
    transcript::{Redacted, SessionId, Span, SummaryId},
};

use super::Store;

/// A record that was put in force, and what was in force before.
#[derive(Clone, Debug)]
pub(crate) struct Withdrawal {
    pub(crate) session: SessionId,
    pub(crate) record: SummaryId,
    /// The records in force before it, oldest first: those whose place it took are put back there.
    pub(crate) before: Vec<SummaryId>,
    /// The originals that were destroyed by then.
    pub(crate) forgotten: Vec<Span>,
}

impl Withdrawal {
    /// Takes the record back, and no other; what it took the place of is in force again. Where somebody else has put theirs
    /// in its place meanwhile, there is nothing to take back.
    ///
    /// # Errors
    /// Where originals were destroyed since: the record may be all that is left of them.
    pub(crate) async fn make(&self, store: &Store, at_ms: i64) -> Result<()> {
        if store.require(&self.session).await?.forgotten != self.forgotten {
            bail!("originals were deleted meanwhile, and it may be what is left of them");
        }
        let mut state = match store.withdraw(&self.session, &self.record, at_ms).await {
            Err(StoreError::Conflict { .. }) => return Ok(()),
            state => state?,
        };
        while let Some(next) = self.next_to_put_back(&state) {
            let Some(record) = store.record(&self.session, next).await? else { break };
            state = match store.append(&self.session, &Redacted::assume(record)).await {
                // Somebody else compacted: theirs is the newer one.
                Err(StoreError::Conflict { .. }) => break,
                state => state?,
            };
        }
        Ok(())
    }

    fn next_to_put_back(&self, state: &StoredSession) -> Option<&SummaryId> {
        self.before.strip_prefix(&*state.chain)?.first()
    }
}
