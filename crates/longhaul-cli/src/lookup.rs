//! What is looked up in the store: by id, or by words, the best first.

mod snippet;

use anyhow::{Result, bail};
use longhaul::{
    store::{Hit, Original, Query, readable_text},
    transcript::{SessionId, Span},
};

pub(crate) use self::snippet::{Marks, snippets};
use crate::{
    archive::{Archive, is_backwards, required_span, span, summary_id, tell_changed},
    paint::counted,
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
    let mut by = By::Words;
    let mut hits = archive.wait(archive.store.search(session, query, limit))?;
    if hits.is_empty() {
        by = By::SomeWords;
        hits = archive.wait(archive.store.search_some(session, query, limit))?;
        let wanted = Query::new(query);
        // One word of many says little.
        hits.retain(|hit| {
            let missing = |message| wanted.fit(&readable_text(message)).missing;
            hit.message.as_ref().is_none_or(|message| 2 * missing(message) <= wanted.words().len())
        });
    }
    let found: Vec<(SessionId, Original)> =
        hits.into_iter().map(|hit| (hit.session.clone(), found(hit))).collect();
    for (session, original) in &found {
        tell_changed(session, [original]);
    }
    Ok(Answer { found, by })
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
