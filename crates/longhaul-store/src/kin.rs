//! Whether one session was begun with what another holds.

use std::collections::HashSet;

use longhaul_transcript::SessionId;

use crate::{StoreError, SummaryStore, event::ForkedFrom};

/// How many events are read at once.
const BATCH: u64 = 256;

/// Returns whether `session` comes from `other`, in however many steps. That a session says so is not enough: it knows the hash
/// of an event of the one that it left.
pub(crate) async fn comes_from<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    other: &SessionId,
) -> Result<bool, StoreError> {
    let (mut at, mut seen) = (session.clone(), HashSet::new());
    while seen.insert(at.clone()) {
        let Some(from) = store.state(&at).await?.and_then(|state| state.forked_from) else { break };
        if !has_event(store, &from).await? {
            break;
        }
        if from.session == *other {
            return Ok(true);
        }
        at = from.session;
    }
    Ok(false)
}

async fn has_event<S: SummaryStore + ?Sized>(store: &S, from: &ForkedFrom) -> Result<bool, StoreError> {
    let Some(state) = store.state(&from.session).await? else { return Ok(false) };
    // Who leaves a session for a branch leaves it near its end.
    let mut end = state.events;
    while end > 0 {
        let start = end.saturating_sub(BATCH);
        let events = store.events(&from.session, start, (end - start) as usize).await?;
        if events.iter().any(|event| event.hash == from.hash) {
            return Ok(true);
        }
        end = start;
    }
    Ok(false)
}
