//! What is looked up in the store: by id, or by words, the best first.

mod snippet;

use anyhow::{Result, bail};
use longhaul::{
    store::{Hit, Original, Query, StoreError, readable_text},
    transcript::{SessionId, Span},
};

pub(crate) use self::snippet::{Marks, snippets};
use crate::{
    archive::{Archive, is_backwards, required_span, span, summary_id, tell_changed},
    near::near_words,
    paint::{counted, plain},
    store::{self, Store},
};

/// What was found.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) found: Vec<(SessionId, Original)>,
    pub(crate) by: By,
}

/// How it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// An id names it.
    Id,
    /// It holds every word.
    Words,
    /// Nothing holds every word; this holds most of them.
    SomeWords,
}

/// Looks `query` up in `session`, or in every session where none is named.
///
/// # Errors
/// When the store cannot be read, or `query` names messages beyond the end of the session.
pub(crate) fn look_up(
    archive: &Archive,
    session: Option<&SessionId>,
    query: &str,
    limit: usize,
) -> Result<Answer> {
    if let Some(session) = session
        && let Some(originals) = by_id(archive, session, query.trim())?
    {
        let found = originals.into_iter().map(|original| (session.clone(), original)).collect();
        return Ok(Answer { found, by: By::Id });
    }
    let (hits, by) = match session {
        Some(session) => archive.wait(by_words_in_all_of(archive, session, query, limit))?,
        None => archive.wait(by_words(&archive.store, None, query, limit))?,
    };
    let found: Vec<(SessionId, Original)> =
        hits.into_iter().map(|hit| (hit.session.clone(), found(hit))).collect();
    for (session, original) in &found {
        tell_changed(session, [original]);
    }
    Ok(Answer { found, by })
}

/// Returns the messages that hold all words of `query`, or where none does, those that hold most of them.
pub(crate) async fn by_words(
    store: &Store,
    session: Option<&SessionId>,
    query: &str,
    limit: usize,
) -> Result<(Vec<Hit>, By), StoreError> {
    let hits = match session {
        Some(session) => store.search_in_line(session, query, limit).await?,
        None => store.search(None, query, limit).await?,
    };
    if !hits.is_empty() {
        return Ok((hits, By::Words));
    }
    let mut hits = match session {
        Some(session) => store.search_some_in_line(session, query, limit).await?,
        None => store.search_some(None, query, limit).await?,
    };
    let wanted = Query::new(query);
    // One word of many says little.
    hits.retain(|hit| {
        let missing = |message| wanted.fit(&readable_text(message)).missing;
        hit.message.as_ref().is_none_or(|message| 2 * missing(message) <= wanted.words().len())
    });
    Ok((hits, By::SomeWords))
}

/// Does the same for all of a conversation: what the session holds comes first, then what only its branches hold, each message once. What
/// was said before its agent compacted is in one of them, also where the agent's own summary has the words.
async fn by_words_in_all_of(
    archive: &Archive,
    session: &SessionId,
    query: &str,
    limit: usize,
) -> Result<(Vec<Hit>, By), StoreError> {
    let mut hits = archive.store.search_in_line(session, query, limit).await?;
    for relative in archive.relatives_of(session).await? {
        if hits.len() >= limit {
            break;
        }
        // So many of them may be known.
        let more = archive.store.search_in_line(&relative, query, limit + hits.len()).await?;
        for hit in more {
            let is_known = |known: &Hit| hit.message.is_some() && known.message == hit.message;
            if hits.len() < limit && !hits.iter().any(is_known) {
                hits.push(hit);
            }
        }
    }
    match hits.is_empty() {
        true => by_words(&archive.store, Some(session), query, limit).await,
        false => Ok((hits, By::Words)),
    }
}

/// Says what may be meant where nothing was found in `session`: words that were nearly typed, and other sessions. Each is a line.
pub(crate) async fn hints(
    store: &Store,
    session: &SessionId,
    query: &str,
) -> Result<Vec<String>, StoreError> {
    /// So many of the last messages are read for their words.
    const READ: u64 = 2_000;
    let mut hints = Vec::new();
    let end = store.state(session).await?.map_or(0, |state| state.messages);
    let said = store.originals_in_line(session, Span { start: end.saturating_sub(READ), end }).await?;
    let texts: Vec<String> = said.iter().filter_map(|one| one.message.as_ref().map(readable_text)).collect();
    let near = near_words(Query::new(query).words(), &texts);
    if !near.is_empty() {
        hints.push(format!("near to it stand: {}", plain(&near.join(", "))));
    }
    let elsewhere = store.search(None, query, 1).await?;
    if let Some(hit) = elsewhere.first() {
        hints.push(format!(
            "another session holds them: longhaul recall {} WORDS{}",
            hit.session,
            store::flags()
        ));
    }
    Ok(hints)
}

/// Returns what a search found, without the time at which it was said.
pub(crate) fn found(hit: Hit) -> Original {
    let is_changed = hit.message.is_none();
    Original { ordinal: hit.id.ordinal, at_ms: 0, message: hit.message, is_changed }
}

/// Returns the originals that `id` names, where it is an id.
fn by_id(archive: &Archive, session: &SessionId, id: &str) -> Result<Option<Vec<Original>>> {
    if let Some(span) = span(id) {
        let originals = archive.originals(session, span)?;
        if originals.is_empty() {
            let held = archive.wait(archive.store.require(session))?.messages;
            bail!("{id} is beyond the end: session {session} has {}, from m0", counted(held, "message"));
        }
        return Ok(Some(originals));
    }
    if is_backwards(id) {
        required_span(id)?;
    }
    let Some(id) = summary_id(id) else { return Ok(None) };
    let Some(record) = archive.wait(archive.store.record(session, &id))? else { return Ok(None) };
    let mut originals = archive.originals(session, record.covers)?;
    let covered: Vec<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
    if !covered.is_empty() {
        let span = Span { start: covered[0], end: covered[covered.len() - 1] + 1 };
        originals = archive.originals(session, span)?;
        originals.retain(|original| covered.binary_search(&original.ordinal).is_ok());
    }
    Ok(Some(originals))
}
