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
    let (mut state, mut seen) = (store.state(session).await?, HashSet::from([session.clone()]));
    while let Some(from) = state.and_then(|state| state.forked_from)
        && seen.insert(from.session.clone())
        && let Some(left) = store.state(&from.session).await?
        && has_event(store, &from, left.events).await?
    {
        if from.session == *other {
            return Ok(true);
        }
        state = Some(left);
    }
    Ok(false)
}

async fn has_event<S: SummaryStore + ?Sized>(
    store: &S,
    from: &ForkedFrom,
    mut end: u64,
) -> Result<bool, StoreError> {
    // Who leaves a session for a branch leaves it near its end.
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
