//! Which sessions were begun with what others hold: where a name leads, and the lines of a conversation.

use longhaul_transcript::SessionId;

use crate::{StoreError, SummaryStore, event::ForkedFrom, identity::is_derived};

/// How many events are read at once.
const BATCH: u64 = 256;

/// Returns the session that `name` stands for; `name` itself where there is none.
pub(crate) async fn followed<S: SummaryStore + ?Sized>(
    store: &S,
    name: &SessionId,
) -> Result<SessionId, StoreError> {
    // Nothing is asked of a session that its own id stands for: it may be damaged, and what is left of it is read.
    let named = match store.alias(name).await? {
        Some(_) => store.named(name).await?,
        None => None,
    };
    Ok(named.unwrap_or_else(|| name.clone()))
}

/// Returns whether `session` comes from `other`, in however many steps.
pub(crate) async fn comes_from<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    other: &SessionId,
) -> Result<bool, StoreError> {
    Ok(origins(store, session).await?.contains(other))
}

/// Returns the sessions that `session` comes from, the nearest first. That a session says so is not enough: it knows the hash
/// of an event of the one that it left.
pub(crate) async fn origins<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
) -> Result<Vec<SessionId>, StoreError> {
    let (mut state, mut origins) = (store.state(session).await?, Vec::new());
    while let Some(from) = state.and_then(|state| state.forked_from)
        && from.session != *session
        && !origins.contains(&from.session)
        && let Some(left) = store.state(&from.session).await?
        && has_event(store, &from, left.events).await?
    {
        origins.push(from.session);
        state = Some(left);
    }
    Ok(origins)
}

/// Returns the lines of the conversation that `session` is a line of, the one it was begun with first.
pub(crate) async fn lines<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
) -> Result<Vec<SessionId>, StoreError> {
    let mut path = vec![session.clone()];
    path.extend(origins(store, session).await?);
    let mut first = 0;
    while path[first + 1..].iter().any(|origin| is_made_of(&path[first], origin)) {
        first += 1;
    }
    let mut lines = vec![path.swap_remove(first)];
    let mut at = 0;
    while at < lines.len() {
        for fork in store.forks_of(&lines[at]).await? {
            if !lines.contains(&fork) && lines.iter().any(|line| is_made_of(&fork, line)) {
                lines.push(fork);
            }
        }
        at += 1;
    }
    Ok(lines)
}

/// Returns whether `branch` is a name that was made for a branch of `session`, and not one that somebody chose: the name of that, or as
/// much of it as there is room for, with `-b2` behind it or a hash as [`locate`](crate::locate) gives it.
fn is_made_of(branch: &SessionId, session: &SessionId) -> bool {
    /// The longest that is put behind a name: a hyphen, a letter and a number.
    const SUFFIX: usize = 22;
    let is_stem = |stem: &str| {
        stem == session.as_str()
            || session.as_str().starts_with(stem) && stem.len() + SUFFIX >= SessionId::MAX_BYTES
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let behind = |name: &str| {
        let (stem, suffix) = name.rsplit_once('-')?;
        let is_made = is_hash(suffix) || suffix.strip_prefix('b').is_some_and(is_number);
        Some(is_made && is_stem(stem))
    };
    // Where two branches would have the same hash behind them, there is a number behind one.
    let unnumbered = branch.as_str().rsplit_once('-').filter(|(_, number)| is_number(number));
    is_derived(branch)
        || behind(branch.as_str()) == Some(true)
        || unnumbered.is_some_and(|(name, _)| behind(name) == Some(true))
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
