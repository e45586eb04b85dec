//! A store that lives as long as its process: the default, and the double for tests.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Redacted, SessionId, Span, SummaryId};

use crate::{
    Change, Decide, Event, EventKind, JournalEntry, Object, RecordEntry, Sealed, SessionInfo, Snapshot,
    StoreError, StoredSession, SummaryStore, cache::goes_with,
};

/// Keeps everything in memory. What it acknowledged is lost with it.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: BTreeMap<SessionId, Session>,
    aliases: BTreeMap<SessionId, SessionId>,
    cache: HashMap<ContentHash, Vec<u8>>,
}

#[derive(Debug)]
struct Session {
    state: StoredSession,
    events: Vec<Event>,
    entries: Vec<JournalEntry>,
    /// The words of each original, where it is not destroyed.
    words: Vec<String>,
    records: Vec<RecordEntry>,
    contents: HashMap<ContentHash, Arc<str>>,
    snapshot: Option<Snapshot>,
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// A panic in another caller's `decide` leaves the data as it was, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn new() -> Session {
        Session {
            state: StoredSession::empty(),
            events: Vec::new(),
            entries: Vec::new(),
            words: Vec::new(),
            records: Vec::new(),
            contents: HashMap::new(),
            snapshot: None,
        }
    }

    fn write(&mut self, event: Event, objects: Vec<Option<Object>>) {
        match &event.kind {
            EventKind::Originals { start, addresses, spellings } => {
                let spellings = spellings.iter().copied().chain(std::iter::repeat(None));
                for (((ordinal, address), object), spelling) in
                    (*start..).zip(addresses).zip(&objects).zip(spellings)
                {
                    let (address, at_ms, is_forgotten) = (*address, event.at_ms, object.is_none());
                    self.entries.push(JournalEntry { ordinal, address, spelling, at_ms, is_forgotten });
                    self.words.push(object.as_ref().map(Object::words).unwrap_or_default());
                }
            }
            EventKind::Compacted { record, address, .. } => {
                let is_forgotten = objects.iter().all(Option::is_none);
                let (seq, id, address) = (event.seq, record.clone(), *address);
                self.records.push(RecordEntry { seq, id, address, is_forgotten });
            }
            EventKind::Forgotten { records, .. } => {
                self.erase(records);
                self.snapshot = None;
            }
            _ => {}
        }
        for object in objects.into_iter().flatten() {
            self.contents.insert(object.address, object.json);
        }
        self.events.push(event);
    }

    /// Drops what the state says is forgotten of the messages, and these records. One that was made again since is another.
    fn erase(&mut self, forgotten: &[SummaryId]) {
        for (entry, words) in self.entries.iter_mut().zip(&mut self.words) {
            if self.state.is_forgotten(entry.ordinal) {
                entry.is_forgotten = true;
                words.clear();
            }
        }
        for record in &mut self.records {
            record.is_forgotten |= forgotten.contains(&record.id);
        }
        let entries = self.entries.iter().filter(|entry| !entry.is_forgotten);
        let entries = entries.flat_map(|entry| [Some(entry.address), entry.spelling]).flatten();
        let records = self.records.iter().filter(|entry| !entry.is_forgotten).map(|entry| entry.address);
        let kept: HashSet<ContentHash> = entries.chain(records).collect();
        self.contents.retain(|address, _| kept.contains(address));
    }
}

#[async_trait]
impl SummaryStore for MemoryStore {
    async fn state(&self, session: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        Ok(self.lock().sessions.get(session).map(|session| session.state.clone()))
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession, StoreError> {
        let mut inner = self.lock();
        let mut state =
            inner.sessions.get(session).map_or_else(StoredSession::empty, |held| held.state.clone());
        let change = decide(&state)?;
        let held = inner.sessions.get(session).and_then(|held| held.snapshot.as_ref());
        change.check(session, held.map(Snapshot::mark))?;
        if change.is_empty() || state.events == 0 && change.steps.is_empty() {
            return Ok(state);
        }
        let sealed = Change::seal(change.steps, session, &mut state)?;
        // What is cached may quote what is forgotten, and can be made again.
        if sealed.iter().any(|sealed| matches!(sealed.event.kind, EventKind::Forgotten { .. })) {
            inner.cache.retain(|key, _| !goes_with(key, session));
        }
        let held = inner.sessions.entry(session.clone()).or_insert_with(Session::new);
        held.state = state.clone();
        for Sealed { event, objects } in sealed {
            held.write(event, objects);
        }
        if let Some(snapshot) = change.snapshot {
            let (events, bytes) = (state.events, snapshot.into_inner());
            held.snapshot = Some(Snapshot { events, bytes, since: None });
        }
        if let (Some(since), Some(snapshot)) = (change.since, &mut held.snapshot) {
            snapshot.since = Some(since.into_inner());
        }
        Ok(state)
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let inner = self.lock();
        let held = inner.sessions.get(session).map_or(&[][..], |session| &session.events);
        Ok(held.iter().skip(from as usize).take(limit).cloned().collect())
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        let inner = self.lock();
        let held = inner.sessions.get(session).map_or(&[][..], |session| &session.entries);
        Ok(held.iter().skip(span.start as usize).take(span.len() as usize).copied().collect())
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        Ok(self.lock().sessions.get(session).map(|session| session.records.clone()).unwrap_or_default())
    }

    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.lock().sessions.get(session).and_then(|session| session.snapshot.clone()))
    }

    async fn contents(
        &self,
        session: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let inner = self.lock();
        let held = inner.sessions.get(session);
        let content = |address| held?.contents.get(address).map(|json| json.as_bytes().to_vec());
        Ok(addresses.iter().map(content).collect())
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let inner = self.lock();
        let is_hit = |held: &str| {
            let held: HashSet<&str> = held.split(' ').collect();
            words.iter().all(|word| held.contains(word.as_str()))
        };
        let mut hits: Vec<(i64, &SessionId, u64)> = Vec::new();
        for (id, held) in inner.sessions.iter().filter(|(id, _)| session.is_none_or(|session| session == *id))
        {
            let found = held.entries.iter().zip(&held.words).filter(|(_, words)| is_hit(words));
            hits.extend(found.map(|(entry, _)| (entry.at_ms, id, entry.ordinal)));
        }
        hits.sort_by_key(|(at_ms, id, ordinal)| (std::cmp::Reverse((*at_ms, *ordinal)), *id));
        Ok(hits.into_iter().take(limit).map(|(_, id, ordinal)| (id.clone(), ordinal)).collect())
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let inner = self.lock();
        let infos = inner.sessions.iter().map(|(session, held)| {
            let names = inner.aliases.iter().filter(|(_, named)| *named == session);
            let aliases = names.map(|(alias, _)| alias.clone()).collect();
            SessionInfo { session: session.clone(), aliases, state: held.state.clone() }
        });
        let mut infos: Vec<SessionInfo> = infos.collect();
        infos.sort_by_key(|info| std::cmp::Reverse(info.state.changed_at_ms));
        Ok(infos)
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        self.lock().aliases.insert(alias.clone(), session.clone());
        Ok(())
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        Ok(self.lock().aliases.get(alias).cloned())
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().cache.get(key).cloned())
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        self.lock().cache.insert(*key, (**value).clone());
        Ok(())
    }
}
