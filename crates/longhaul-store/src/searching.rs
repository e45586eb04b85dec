//! Finding originals by words, the same in every backend: an index says where words stand, and what is read there is put in order.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use longhaul_transcript::{ContentHash, Message, MessageId, SessionId, Span};

use crate::{Fit, Hit, Original, Query, StoreError, SummaryStore, readable_text, search};

/// How many originals that hold the words are looked at for the best of them.
const POOL: usize = 1_000;

/// How many of them are read at once.
const AT_ONCE: usize = 64;

/// Originals that are no further apart are read in one go, with what stands between them.
const GAP: u64 = 4;

/// Where an original stands.
type Place = (SessionId, u64);

/// Returns the best of the originals that hold all words of `query`.
pub(crate) async fn all<S: SummaryStore + ?Sized>(
    store: &S,
    session: Option<&SessionId>,
    query: &Query,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    if query.words().is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let places = store.find_words(session, query.words(), limit.max(POOL)).await?;
    best(store, &places, query, limit).await
}

/// Returns the best of the originals that hold the most words of `query`.
pub(crate) async fn some<S: SummaryStore + ?Sized>(
    store: &S,
    session: Option<&SessionId>,
    query: &Query,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let mut held: HashMap<Place, usize> = HashMap::new();
    let mut sessions: Vec<SessionId> = Vec::new();
    for word in query.telling() {
        for place in store.find_words(session, std::slice::from_ref(word), POOL).await? {
            if !sessions.contains(&place.0) {
                sessions.push(place.0.clone());
            }
            *held.entry(place).or_default() += 1;
        }
    }
    let most = held.values().copied().max().unwrap_or_default();
    let mut places: Vec<Place> =
        held.into_iter().filter(|(_, held)| *held == most).map(|(place, _)| place).collect();
    let rank = |session: &SessionId| sessions.iter().position(|other| other == session);
    places.sort_by_key(|(session, ordinal)| (rank(session), Reverse(*ordinal)));
    places.truncate(limit.max(AT_ONCE));
    best(store, &places, query, limit).await
}

/// Returns the best of what stands at `places`, which come newest first.
async fn best<S: SummaryStore + ?Sized>(
    store: &S,
    places: &[Place],
    query: &Query,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let mut best: Vec<(Fit, &Place, Option<Message>)> = Vec::new();
    let (newest, older) = places.split_at(limit.min(places.len()));
    for places in std::iter::once(newest).chain(older.chunks(AT_ONCE)) {
        let messages = read(store, places).await?;
        best.extend(messages.into_iter().map(|(place, message)| {
            let fit = query.fit(&message.as_ref().map(readable_text).unwrap_or_default());
            (fit, place, message)
        }));
        best.sort_by_key(|(fit, ..)| *fit);
        best.truncate(limit);
        // What follows is older, and none of it is better.
        if best.len() == limit && best.iter().all(|(fit, ..)| !fit.is_reworded) {
            break;
        }
    }
    let mut shown: BTreeMap<&SessionId, Vec<u64>> = BTreeMap::new();
    best.iter().for_each(|(_, (session, ordinal), _)| shown.entry(session).or_default().push(*ordinal));
    let mut strays: HashSet<(&SessionId, u64)> = HashSet::new();
    for (session, mut ordinals) in shown {
        ordinals.sort_unstable();
        strays.extend(store.strays(session, &ordinals).await?.into_iter().map(|stray| (session, stray)));
    }
    let hit = |(_, (session, ordinal), message): (Fit, &Place, Option<Message>)| {
        let message = message.filter(|_| !strays.contains(&(session, *ordinal)));
        let hash = message.as_ref().map_or(ContentHash([0; 32]), Message::content_hash);
        let text = message.as_ref().map(readable_text).unwrap_or_default();
        Hit {
            session: session.clone(),
            id: MessageId { ordinal: *ordinal, hash },
            snippet: search::snippet(&text, query),
            message,
        }
    };
    Ok(best.into_iter().map(hit).collect())
}

/// Returns the messages at `places`, in their order; what was destroyed is not among them, and what cannot be read is none.
async fn read<'a, S: SummaryStore + ?Sized>(
    store: &S,
    places: &'a [Place],
) -> Result<Vec<(&'a Place, Option<Message>)>, StoreError> {
    let mut wanted: BTreeMap<&SessionId, Vec<u64>> = BTreeMap::new();
    places.iter().for_each(|(session, ordinal)| wanted.entry(session).or_default().push(*ordinal));
    let mut held: HashMap<(&SessionId, u64), Option<Message>> = HashMap::new();
    for (session, mut ordinals) in wanted {
        ordinals.sort_unstable();
        for run in ordinals.chunk_by(|one, next| next - one <= GAP) {
            let span = Span { start: run[0], end: run[run.len() - 1] + 1 };
            for Original { ordinal, message, is_changed, .. } in store.as_journaled(session, span).await? {
                if run.binary_search(&ordinal).is_ok() && (is_changed || message.is_some()) {
                    held.insert((session, ordinal), message);
                }
            }
        }
    }
    let found = |place: &'a Place| Some((place, held.remove(&(&place.0, place.1))?));
    Ok(places.iter().filter_map(found).collect())
}
