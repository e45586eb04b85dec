//! Which stored conversation a history belongs to that is read again, grown, edited or compacted.
//!
//! A file that names its session belongs to it, or to a branch of it. A history without an id belongs to a stored
//! conversation only where all of that conversation, as it was said or as a compaction last wrote it, is its beginning,
//! and where that says something: thousands of conversations open with the same instructions and the same "hello". In
//! doubt it is a conversation of its own. An original kept twice is cheap; a word told in the wrong conversation is not.

mod line;
mod place;

use longhaul_transcript::{ContentHash, Message, Redacted, SessionId, SummaryId, parse_handle_line};

use crate::{StoreError, SummaryStore, address_of};
use line::{Fit, Line};

pub(crate) use line::begins_with;
pub use place::{Kin, Place};

/// A history, for finding the conversation it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// The session that the file itself names.
    pub id: Option<&'a SessionId>,
    /// The session that the user says it is, for a file that names none. A conversation under a name of somebody's choice is found by
    /// that name only: who keeps histories without ids enters them under the name that [`Place::session`] has.
    pub named: Option<&'a SessionId>,
    /// What was said, as it may be stored.
    pub said: &'a [Redacted<Message>],
}

/// Finds the place of a history among what `store` holds. Nothing is written; see [`Place::enter`].
///
/// What is found never depends on other conversations but for the name of a new session: one that is taken already gets
/// a number.
pub async fn locate<S: SummaryStore + ?Sized>(store: &S, history: &History<'_>) -> Result<Place, StoreError> {
    let given: Vec<ContentHash> = history.said.iter().map(address_of).collect();
    let own = own_family(store, history).await?;
    let fits = match summary_in(history.said) {
        Some((at, text, id)) => {
            let mut fits = Vec::new();
            for session in holders(store, &own, &id).await? {
                if let Some(line) = Line::after_summary(store, &session, &id, text).await? {
                    fits.push(line.fit(store, at + 1, history.said, &given).await?);
                }
            }
            fits
        }
        None => Vec::new(),
    };
    if fits.is_empty() {
        return plain(store, history, &own, &given).await;
    }
    let is_own = |fit: &&Fit| own.contains(&fit.line.session);
    let whole = || fits.iter().filter(|fit| fit.is_whole);
    let longest_own = whole().filter(is_own).max_by_key(|fit| fit.line.end);
    // One whose name was derived has no other writer: a history without an id goes on there, where there is but one.
    let mut derived = whole().filter(|fit| history.id.is_none() && is_derived(&fit.line.session));
    let only_derived = derived.next().filter(|_| derived.next().is_none());
    let rewound = fits.iter().find(|fit| fit.is_rewound && is_own(fit));
    if let Some(fit) = longest_own.or(only_derived).or(rewound) {
        return Ok(fit.clone().known());
    }
    // All that share the most are the same up to there: which of them it is makes no difference.
    let Some(fit) = fits.into_iter().rev().max_by_key(|fit| fit.common) else {
        return plain(store, history, &own, &given).await;
    };
    let name = branch_name(store, history, &own, &given).await?;
    Ok(fit.branch(name))
}

/// Finds the place of a history that does not begin with a summary of ours.
async fn plain<S: SummaryStore + ?Sized>(
    store: &S,
    history: &History<'_>,
    own: &[SessionId],
    given: &[ContentHash],
) -> Result<Place, StoreError> {
    let mut fits = Vec::new();
    for session in own {
        let end = store.require(session).await?.messages;
        let line = Line { session: session.clone(), end, chain: Vec::new() };
        fits.push(line.fit(store, 0, history.said, given).await?);
    }
    let whole = fits.iter().filter(|fit| fit.is_whole).max_by_key(|fit| fit.line.end);
    if let Some(fit) = whole.or_else(|| fits.iter().find(|fit| fit.is_rewound && history.id.is_some())) {
        return Ok(fit.clone().known());
    }
    let Some(id) = history.id else {
        return match alone(store, history, given).await? {
            Some(fit) => Ok(fit.known()),
            None => Ok(Place::new(unused(store, SessionId::derived(given)).await?, given.len())),
        };
    };
    match fits.into_iter().rev().max_by_key(|fit| fit.common) {
        Some(fit) => Ok(fit.branch(branch_name(store, history, own, given).await?)),
        None => Ok(Place::new(id.clone(), given.len())),
    }
}

/// Finds the one conversation without an id that a history without an id can only be: all of it is the history's
/// beginning, something is said in it beyond the opening, and no other begins with all of it.
async fn alone<S: SummaryStore + ?Sized>(
    store: &S,
    history: &History<'_>,
    given: &[ContentHash],
) -> Result<Option<Fit>, StoreError> {
    // Only a conversation that goes on like this can be it, and those are few.
    let Some(beyond) = beyond_the_opening(history.said) else { return Ok(None) };
    let mut lines: Vec<(SessionId, u64)> = Vec::new();
    for session in store.sessions_beginning_with(&given[..=beyond]).await? {
        if is_derived(&session) {
            let messages = store.require(&session).await?.messages;
            lines.push((session, messages));
        }
    }
    lines.sort_by_key(|(_, messages)| std::cmp::Reverse(*messages));
    let mut longer = Vec::new();
    let mut found: Option<Fit> = None;
    for (session, messages) in lines {
        let (is_shorter, matched) = (messages <= given.len() as u64, found.as_ref().map(|fit| fit.line.end));
        if !is_shorter || matched == Some(messages) {
            longer.push(session);
            continue;
        }
        if matched.is_some() {
            break;
        }
        // The last message first: of many that begin alike it tells most apart.
        let at = messages as usize - 1;
        if line::is_there(store, &session, at as u64, given[at]).await? {
            let line = Line { session: session.clone(), end: messages, chain: Vec::new() };
            let fit = line.fit(store, 0, history.said, given).await?;
            if fit.is_whole {
                found = Some(fit);
                continue;
            }
        }
        longer.push(session);
    }
    let Some(fit) = found else { return Ok(None) };
    let end = fit.line.end as usize;
    for session in longer {
        if line::is_there(store, &session, end as u64 - 1, given[end - 1]).await?
            && line::begins_with(store, &session, &given[..end]).await?
        {
            return Ok(None);
        }
    }
    Ok(Some(fit))
}

/// Returns where a history says what no other does by chance: where a person speaks again, or the model has worked on the first request
/// for a while.
fn beyond_the_opening(said: &[Redacted<Message>]) -> Option<usize> {
    /// An agent's answer and the results of its calls may be the same in two runs, so many of them are not.
    const WORKED: usize = 8;
    let mut persons = said.iter().enumerate().filter(|(_, message)| is_person(message)).map(|(at, _)| at);
    let worked = persons.next().map(|first| first + WORKED).filter(|at| *at < said.len());
    persons.next().into_iter().chain(worked).min()
}

/// Returns the sessions that may hold the summary `id` for this history: the file's own family, else any.
async fn holders<S: SummaryStore + ?Sized>(
    store: &S,
    own: &[SessionId],
    id: &SummaryId,
) -> Result<Vec<SessionId>, StoreError> {
    let all = store.sessions_with(id).await?;
    let held: Vec<SessionId> = all.iter().filter(|session| own.contains(session)).cloned().collect();
    Ok(if held.is_empty() { all } else { held })
}

/// Returns the session that the file or the user names, where it is there, and its branches, generation by generation.
async fn own_family<S: SummaryStore + ?Sized>(
    store: &S,
    history: &History<'_>,
) -> Result<Vec<SessionId>, StoreError> {
    let Some(root) = history.id.or(history.named) else { return Ok(Vec::new()) };
    if store.state(root).await?.is_none() {
        return Ok(Vec::new());
    }
    let mut family = vec![root.clone()];
    let mut at = 0;
    while at < family.len() {
        for fork in store.forks_of(&family[at]).await? {
            if !family.contains(&fork) {
                family.push(fork);
            }
        }
        at += 1;
    }
    Ok(family)
}

/// Returns a name for a branch: of the session it leaves where the file names one, else as of any history without one.
async fn branch_name<S: SummaryStore + ?Sized>(
    store: &S,
    history: &History<'_>,
    own: &[SessionId],
    given: &[ContentHash],
) -> Result<SessionId, StoreError> {
    let derived = SessionId::derived(given);
    match history.id {
        // Its summary is known from elsewhere, its name is not: a copy of a file under a new name.
        Some(id) if own.is_empty() => Ok(id.clone()),
        Some(id) => unused(store, numbered(id, &derived.as_str()[2..10])).await,
        None => unused(store, derived).await,
    }
}

/// Returns `name`, with a number behind it where a session has it already.
async fn unused<S: SummaryStore + ?Sized>(store: &S, name: SessionId) -> Result<SessionId, StoreError> {
    let mut free = name.clone();
    let mut number = 2u64;
    while store.state(&free).await?.is_some() {
        free = numbered(&name, &number.to_string());
        number += 1;
    }
    Ok(free)
}

fn numbered(name: &SessionId, suffix: &str) -> SessionId {
    let room = SessionId::MAX_BYTES - suffix.len() - 1;
    let stem = &name.as_str()[..name.as_str().len().min(room)];
    SessionId::new(&format!("{stem}-{suffix}")).unwrap_or_else(|_| name.clone())
}

/// Returns whether a session's name was derived from what was said in it: nobody chose it, and nobody writes to it but
/// who finds it here.
pub(crate) fn is_derived(session: &SessionId) -> bool {
    session.as_str().strip_prefix("s-").is_some_and(|rest| {
        let (hash, number) = rest.split_once('-').unwrap_or((rest, "2"));
        hash.len() == 16
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns whether a person speaks, as far as the message itself says.
fn is_person(message: &Message) -> bool {
    use longhaul_transcript::Speaker;
    message.speaker.map_or_else(|| message.is_user_text(), |speaker| speaker == Speaker::Person)
}

/// Returns the index of the summary that `said` begins with, its text, and the id in its handle line.
fn summary_in(said: &[Redacted<Message>]) -> Option<(usize, &str, SummaryId)> {
    let at = said.iter().take_while(|message| message.is_system()).count();
    said.get(at)?.texts().find_map(|text| Some((at, text, parse_handle_line(text)?.1)))
}
