//! What is looked up in the store: by id, or by words, the best first.

mod snippet;

use anyhow::{Result, bail};
use longhaul::{
    store::{Hit, Original, readable_text, words},
    transcript::{SessionId, Span, SummaryId},
};

pub(crate) use self::snippet::{Marks, snippets};
use crate::archive::{Archive, is_backwards, required_span, span};

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

/// So many different words of a query tell where the best places are; the longest do.
const WORDS: usize = 32;
/// How many messages that hold the words are looked at for the best of them; the newest are.
const POOL: usize = 200;
/// How many are looked at for each word where none holds them all.
const POOL_OF_A_WORD: usize = 50;

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
    let pool = archive.wait(archive.store.search(session, query, limit.max(POOL)))?;
    let (mut hits, by) = match pool.is_empty() {
        false => (pool, By::Words),
        true => (near(archive, session, query)?, By::SomeWords),
    };
    rank(&mut hits, query);
    let found = hits.into_iter().take(limit).map(|hit| {
        let original = Original { ordinal: hit.id.ordinal, at_ms: 0, message: Some(hit.message) };
        (hit.session, original)
    });
    Ok(Answer { found: found.collect(), by })
}

/// Returns the different words of `query`, as far as they are looked at one by one.
fn wanted(query: &str) -> Vec<String> {
    let mut wanted: Vec<String> = words(query).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.sort_by_key(|word| std::cmp::Reverse(word.len()));
    wanted.truncate(WORDS);
    wanted
}

/// Returns the originals that `id` names, where it is an id.
fn by_id(archive: &Archive, session: &SessionId, id: &str) -> Result<Option<Vec<Original>>> {
    if let Some(span) = span(id) {
        let originals = archive.wait(archive.store.originals(session, span))?;
        if originals.is_empty() {
            let held = archive.wait(archive.store.require(session))?.messages;
            bail!("{id} is beyond the end: session {session} has {held} messages, from m0");
        }
        return Ok(Some(originals));
    }
    if is_backwards(id) {
        required_span(id)?;
    }
    let Some(id) = summary_id(id) else { return Ok(None) };
    let Some(record) = archive.wait(archive.store.record(session, &id))? else { return Ok(None) };
    let mut originals = archive.wait(archive.store.originals(session, record.covers))?;
    let covered: Vec<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
    if !covered.is_empty() {
        let span = Span { start: covered[0], end: covered[covered.len() - 1] + 1 };
        originals = archive.wait(archive.store.originals(session, span))?;
        originals.retain(|original| covered.binary_search(&original.ordinal).is_ok());
    }
    Ok(Some(originals))
}

/// Returns the summary that `words` may name. People paste the whole handle line.
pub(crate) fn summary_id(words: &str) -> Option<SummaryId> {
    let id = words.rsplit_once("id:").map_or(words, |(_, id)| id).trim();
    (id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| SummaryId(id.into()))
}

/// Returns messages that hold some of the words, where none holds all; only those with most of them.
fn near(archive: &Archive, session: Option<&SessionId>, query: &str) -> Result<Vec<Hit>> {
    let wanted = wanted(query);
    let mut held: Vec<(usize, Hit)> = Vec::new();
    for word in wanted.iter().filter(|_| wanted.len() > 1) {
        for hit in archive.wait(archive.store.search(session, word, POOL_OF_A_WORD))? {
            match held.iter_mut().find(|(_, other)| (&other.session, other.id) == (&hit.session, hit.id)) {
                Some((n, _)) => *n += 1,
                None => held.push((1, hit)),
            }
        }
    }
    // One word of many says little.
    let most = held.iter().map(|(n, _)| *n).max().unwrap_or_default();
    let is_near = |n: usize| n == most && 2 * n >= wanted.len();
    Ok(held.into_iter().filter(|(n, _)| is_near(*n)).map(|(_, hit)| hit).collect())
}

/// Puts those first that hold the words as they were typed, then those that hold them closest together; what is as good is
/// in the order in which it came, the newest first.
fn rank(hits: &mut Vec<Hit>, query: &str) {
    let phrase = query.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let wanted = wanted(query);
    let score = |hit: &Hit| {
        let text = readable_text(&hit.message).to_lowercase();
        let is_phrase = wanted.len() > 1 && snippet::holds_phrase(&text, &phrase);
        (!is_phrase, snippet::spread(&text, &wanted))
    };
    let mut scored: Vec<_> = hits.drain(..).map(|hit| (score(&hit), hit)).collect();
    scored.sort_by_key(|(score, _)| *score);
    hits.extend(scored.into_iter().map(|(_, hit)| hit));
}
