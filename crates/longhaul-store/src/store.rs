//! The trait that every backend implements, and what all of them can do.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};

use crate::{
    Change, Commit, DamagedSummary, Decide, Event, EventKind, ForgottenBy, Hit, JournalEntry, Journaled,
    Object, Original, Query, RecordEntry, Selector, SessionInfo, Snapshot, Step, StoreError, StoredSession,
    Verification,
    change::{Spoken, originals_change},
    commit,
    event::ForkedFrom,
    forget,
    identity::begins_with,
    kin,
    proof::{self, Against},
    searching,
    state::merged,
    transfer, verify,
};

/// Keeps sessions: their originals, their summaries, and the log of what was done to them.
///
/// # For callers
/// What was acknowledged survives a crash and a power cut, unless the backend says otherwise ([`MemoryStore`]
/// keeps nothing past its own life). Several callers may use one session: a record is accepted only on top of the head it
/// names, and everything else is appended in some order, once. Futures may be dropped at any point; what they were to do
/// has then happened completely or not at all.
///
/// # Names and lines
/// A conversation that goes back and takes another way goes on in a line of its own: a session `x-b1` that was begun with what
/// `x` held, and the name `x` stands for it from then on. [`originals`](Self::originals), [`search`](Self::search),
/// [`search_some`](Self::search_some), [`export`](Self::export) and [`forget`](Self::forget) take such a name and work on what it
/// stands for now ([`named`](Self::named)). All other methods take the session of this very id, as
/// [`sessions`](Self::sessions) and [`lines`](Self::lines) list them; what `x` held itself is read with
/// [`originals_in_line`](Self::originals_in_line) and [`search_in_line`](Self::search_in_line).
///
/// Messages, records, snapshots and what is cached are taken as [`Redacted`] values only; names of sessions are not, and
/// [`import`](Self::import) takes what an export holds as it is. No error carries message text. Times come from the caller.
///
/// # For implementors
/// The required methods move events and contents and decide nothing. [`transact`](Self::transact) is the heart: it
/// hands the state of a session to a pure function and writes what that function returns, in one transaction that no
/// other writer of the session can come between. The provided methods carry the meaning, the same for every backend;
/// `longhaul_store::conformance` (feature `conformance`) checks an implementation.
///
/// [`MemoryStore`]: crate::MemoryStore
#[async_trait]
pub trait SummaryStore: fmt::Debug + Send + Sync {
    /// Returns the state of a session, or `None` where it is not in the store. Costs the same whatever its length.
    async fn state(&self, session: &SessionId) -> Result<Option<StoredSession>, StoreError>;

    /// Calls `decide` with the state of a session ([`StoredSession::empty`] for a new one), writes what it returns, and
    /// returns the state after it. `decide` may be called again where the backend has to try again.
    ///
    /// A backend, in one transaction: checks the change ([`Change::check`]), seals its steps ([`Change::seal`]), and writes what
    /// comes of that, the snapshot and `since`. `memory.rs` is this in its plainest form. Six rules go with it:
    /// - A session comes to be with its first event: a change without steps on an empty state is nothing.
    /// - A step's object that is `None` is one that was destroyed before it came here (an import has such): its entry or record is
    ///   kept, marked as forgotten, without a content and without words.
    /// - `since` without a snapshot, held or in the change, is dropped; a new snapshot drops the old one's `since`.
    /// - An [`EventKind::Forgotten`](crate::EventKind::Forgotten) destroys. The entries that the new state says are forgotten
    ///   ([`StoredSession::is_forgotten`]) and the records it names that were made before it are marked as forgotten; the words of
    ///   those entries are dropped, and each content and spelling that no other entry or record of the session names.
    /// - With it the session's snapshot goes, unless the change brings one.
    /// - With it also goes what is cached under keys that [`goes_with`](crate::goes_with) names, of every session.
    ///
    /// # Errors
    /// Those of `decide`, of [`Change::check`], and of the backend; nothing was written then.
    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession, StoreError>;

    /// Returns at most `limit` events of a session from `from` on, in order.
    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// Returns the journal's entries in `span`, in order. Destroyed originals are among them.
    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError>;

    /// Returns the records of a session in the order they were made, those not in force included.
    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError>;

    /// Returns what was last written as the session's snapshot, and what was written beside it since; `None` where there is
    /// none.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where it is not what was written.
    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError>;

    /// Returns the contents at `addresses` of a session as JSON bytes, `None` for each that is not there. The caller
    /// checks them against their addresses.
    async fn contents(
        &self,
        session: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Returns up to `limit` originals that hold all of `words` (lower case, letters and digits only), newest first;
    /// in all sessions where none is named.
    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError>;

    /// Returns the sessions with their states, the one changed last first. One that was forgotten stays, so that nothing of it comes
    /// back: [`StoredSession::is_all_forgotten`] says so.
    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError>;

    /// Returns the sessions that hold the record `id`, in force or not, the one changed last first.
    async fn sessions_with(&self, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
        let mut holders = Vec::new();
        for SessionInfo { session, .. } in self.sessions().await? {
            if self.records(&session).await?.iter().any(|entry| entry.id == *id && !entry.is_forgotten) {
                holders.push(session);
            }
        }
        Ok(holders)
    }

    /// Returns the sessions whose first messages have these addresses (see [`address_of`](crate::address_of)), destroyed ones
    /// included. This looks at every session: a backend that can hold very many asks an index.
    async fn sessions_beginning_with(&self, addresses: &[ContentHash]) -> Result<Vec<SessionId>, StoreError> {
        let mut found = Vec::new();
        for SessionInfo { session, state, .. } in self.sessions().await? {
            if state.messages >= addresses.len() as u64 && begins_with(self, &session, addresses).await? {
                found.push(session);
            }
        }
        Ok(found)
    }

    /// Returns the sessions that were forked from `session`. As above.
    async fn forks_of(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let is_fork =
            |info: &SessionInfo| info.state.forked_from.as_ref().is_some_and(|from| from.session == *session);
        Ok(self.sessions().await?.into_iter().filter(is_fork).map(|info| info.session).collect())
    }

    /// Makes `alias` a name of `session`, in place of the session it named before.
    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError>;

    /// Returns the session that `alias` names.
    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError>;

    /// Returns what was cached under `key`.
    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns what was cached under each of `keys`, in their order.
    async fn all_cached(&self, keys: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            values.push(self.cached(key).await?);
        }
        Ok(values)
    }

    /// Caches `value`, the work of a summarizer, under `key`. A cache may lose what it holds.
    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError>;

    /// Adds the originals of a conversation from ordinal `start` on, skipping those the session holds already. Handing
    /// in the whole conversation each time is right, and costs a look-up for what is there.
    ///
    /// # Errors
    /// [`StoreError::Diverged`] where a message differs from the stored one, [`StoreError::Gap`] where `start` is
    /// beyond the end.
    async fn journal(
        &self,
        session: &SessionId,
        start: u64,
        messages: &[Redacted<Message>],
        at_ms: i64,
    ) -> Result<Journaled, StoreError> {
        let given: Arc<Vec<Spoken>> = Arc::new(messages.iter().map(Spoken::of).collect());
        let end = start + given.len() as u64;
        let mut known = self.state(session).await?.map_or(0, |state| state.messages);
        let first_known = known;
        loop {
            if start > known {
                return Err(StoreError::Gap { session: session.clone(), held: known, given: start });
            }
            let overlap = Span { start, end: end.min(known) };
            let held = if overlap.is_empty() { Vec::new() } else { self.entries(session, overlap).await? };
            if let Some(ordinal) = commit::first_other(&held, start, &given) {
                return Err(StoreError::Diverged { session: session.clone(), ordinal });
            }
            if end <= known {
                let new = Span { start: first_known.clamp(start, end), end };
                return Ok(Journaled { total: known, new });
            }
            let from = known;
            let given = given.clone();
            let is_stale = Arc::new(AtomicBool::new(false));
            let found_stale = is_stale.clone();
            let decide = move |state: &StoredSession| {
                // Somebody else added originals meanwhile: look at those first.
                let is_stale = state.messages != from;
                found_stale.store(is_stale, Ordering::Relaxed);
                let new = if is_stale { &[] } else { &given[(from - start) as usize..] };
                Ok(originals_change(state, new.to_vec(), at_ms))
            };
            known = self.transact(session, Arc::new(decide)).await?.messages;
            if !is_stale.load(Ordering::Relaxed) {
                return Ok(Journaled { total: known, new: Span { start: from, end } });
            }
        }
    }

    /// Adds originals at the end of a session, wherever that is, and returns their ordinals.
    async fn extend(
        &self,
        session: &SessionId,
        messages: &[Redacted<Message>],
        at_ms: i64,
    ) -> Result<Span, StoreError> {
        let spoken: Vec<Spoken> = messages.iter().map(Spoken::of).collect();
        let length = spoken.len() as u64;
        let decide = move |state: &StoredSession| Ok(originals_change(state, spoken.clone(), at_ms));
        let state = self.transact(session, Arc::new(decide)).await?;
        Ok(Span { start: state.messages - length, end: state.messages })
    }

    /// Makes `record` the head. Appending the head again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] unless the record's parent is the head.
    async fn append(
        &self,
        session: &SessionId,
        record: &Redacted<SummaryRecord>,
    ) -> Result<StoredSession, StoreError> {
        let object = Object::of_record(record);
        let (id, parent) = (record.id.clone(), record.parent.clone());
        let (covers, at_ms, name) = (record.covers, record.created_at_ms, session.clone());
        let decide = move |state: &StoredSession| {
            if state.head() == Some(&id) {
                return Ok(Change::default());
            }
            if state.head() != parent.as_ref() {
                let (expected, found) = (parent.clone(), state.head().cloned());
                return Err(StoreError::Conflict { session: name.clone(), expected, found });
            }
            let (record, address) = (id.clone(), object.address);
            let kind = EventKind::Compacted { record, parent: parent.clone(), address, covers };
            let mut change = Change::opened(state, at_ms);
            change.steps.push(Step { at_ms, kind, objects: vec![Some(object.clone())] });
            Ok(change)
        };
        self.transact(session, Arc::new(decide)).await
    }

    /// Returns the record in force.
    async fn head(&self, session: &SessionId) -> Result<Option<SummaryRecord>, StoreError> {
        match self.state(session).await?.and_then(|state| state.head().cloned()) {
            Some(id) => self.record(session, &id).await,
            None => Ok(None),
        }
    }

    /// Returns the records in force, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where one of them is not what the log says was made.
    async fn chain(&self, session: &SessionId) -> Result<Vec<SummaryRecord>, StoreError> {
        let summaries = self.summaries(session).await?;
        summaries.into_iter().collect::<Result<_, _>>().map_err(|damaged| damaged.error)
    }

    /// Returns the records in force, oldest first; of one that is not what the log says was made, what is the matter with it.
    async fn summaries(
        &self,
        session: &SessionId,
    ) -> Result<Vec<Result<SummaryRecord, DamagedSummary>>, StoreError> {
        let Some(state) = self.state(session).await? else { return Ok(Vec::new()) };
        proof::records(self, session, &state.chain).await
    }

    /// Returns the record `id`, in force or not; `None` where there is none or it was destroyed.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where it is not what the log says was made.
    async fn record(&self, session: &SessionId, id: &SummaryId) -> Result<Option<SummaryRecord>, StoreError> {
        let entries = self.records(session).await?;
        match entries.iter().rev().find(|entry| entry.id == *id && !entry.is_forgotten) {
            Some(entry) => proof::record(self, session, entry, None).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns an original for each message of `span` that the conversation `name` has, in order. What is not what was written, not
    /// where it was written, or missing, is told ([`Original::is_changed`]) and not handed out.
    async fn originals(&self, name: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        self.originals_in_line(&kin::followed(self, name).await?, span).await
    }

    /// Returns the same of the session of this very id.
    async fn originals_in_line(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        proof::originals(self, session, span, Against::Log).await
    }

    /// Returns the same as it stands in the journal, which may not be where it was written ([`strays`](Self::strays) says so):
    /// for what looks at many and shows few.
    async fn as_journaled(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        proof::originals(self, session, span, Against::Content).await
    }

    /// Returns those of `ordinals`, in order, under which the journal does not have what the log says was written there.
    async fn strays(&self, session: &SessionId, ordinals: &[u64]) -> Result<Vec<u64>, StoreError> {
        proof::strays(self, session, ordinals).await
    }

    /// Writes all of `commit` or nothing. What the session holds of it already is not written again, so that a commit
    /// whose answer was lost may be repeated.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] where somebody else said something in the session that the writer does not know of,
    /// [`StoreError::Conflict`] where somebody else compacted it or took a compaction back, [`StoreError::Changed`] where
    /// somebody else changed something without saying anything, [`StoreError::Gap`] where messages are missing before the
    /// first.
    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<StoredSession, StoreError> {
        commit::commit(self, session, commit).await
    }

    /// Returns up to `limit` originals that hold every word of `query`, in the conversation `name`, or in all sessions: first those that hold
    /// it as it is written, then those that hold the most of what its blanks keep apart (`src/lib.rs`) as written, then those where
    /// its words stand closest together ([`Fit`](crate::Fit)); what is as good, newest first. Only letters and digits of a query
    /// are searched for ([`words`](crate::words)), so that no character has a meaning. Of more than a thousand originals that
    /// hold every word the newest are looked at.
    async fn search(
        &self,
        name: Option<&SessionId>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        match name {
            Some(name) => self.search_in_line(&kin::followed(self, name).await?, query, limit).await,
            None => searching::all(self, None, &Query::new(query), limit).await,
        }
    }

    /// Returns the same of the session of this very id.
    async fn search_in_line(
        &self,
        session: &SessionId,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        searching::all(self, Some(session), &Query::new(query), limit).await
    }

    /// Returns up to `limit` originals that hold as many words of `query` as any does, for where
    /// [`search`](Self::search) finds none that holds all; in its order.
    async fn search_some(
        &self,
        name: Option<&SessionId>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        match name {
            Some(name) => self.search_some_in_line(&kin::followed(self, name).await?, query, limit).await,
            None => searching::some(self, None, &Query::new(query), limit).await,
        }
    }

    /// Returns the same of the session of this very id.
    async fn search_some_in_line(
        &self,
        session: &SessionId,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        searching::some(self, Some(session), &Query::new(query), limit).await
    }

    /// Takes the last compaction back and returns its id; `None` where there is none to take back.
    ///
    /// # Errors
    /// Those of [`to_undo`](Self::to_undo) and [`take_back`](Self::take_back).
    async fn undo(&self, session: &SessionId, at_ms: i64) -> Result<Option<SummaryId>, StoreError> {
        let Some(record) = self.to_undo(session).await? else { return Ok(None) };
        self.take_back(session, &record, at_ms).await?;
        Ok(Some(record))
    }

    /// Returns the compaction that [`undo`](Self::undo) would take back, and writes nothing; `None` where there is none.
    ///
    /// # Errors
    /// [`OnlyInSummary`](StoreError::OnlyInSummary) where originals that it replaced were destroyed and the summary is what is
    /// left of them; and when the store cannot be read.
    async fn to_undo(&self, session: &SessionId) -> Result<Option<SummaryId>, StoreError> {
        let Some(head) = self.require(session).await?.head().cloned() else { return Ok(None) };
        match forget::only_in_summary(self, session, &head).await? {
            0 => Ok(Some(head)),
            messages => Err(StoreError::OnlyInSummary { messages }),
        }
    }

    /// Takes the compaction `record` back, which is the last, and no other. Whether originals are left only in its summary is
    /// not looked at.
    ///
    /// # Errors
    /// [`Conflict`](StoreError::Conflict) where another is the last: somebody else compacted meanwhile, or took it back; and
    /// when the store cannot be read or written.
    async fn take_back(
        &self,
        session: &SessionId,
        record: &SummaryId,
        at_ms: i64,
    ) -> Result<StoredSession, StoreError> {
        let event = EventKind::Undone { record: record.clone() };
        self.transact(session, of_head(session, record, Change::of(at_ms, Some(event)))).await
    }

    /// Takes the compaction `record` back for good, as [`take_back`](Self::take_back) does for a while: nobody got the history
    /// that it was made for, and [`redo`](Self::redo) does not bring it back.
    ///
    /// # Errors
    /// Those of [`take_back`](Self::take_back).
    async fn withdraw(
        &self,
        session: &SessionId,
        record: &SummaryId,
        at_ms: i64,
    ) -> Result<StoredSession, StoreError> {
        let event = EventKind::Withdrawn { record: record.clone() };
        self.transact(session, of_head(session, record, Change::of(at_ms, Some(event)))).await
    }

    /// Puts the compaction that was taken back last in force again and returns its id; `None` where there is none.
    async fn redo(&self, session: &SessionId, at_ms: i64) -> Result<Option<SummaryId>, StoreError> {
        self.require(session).await?;
        let chosen = Arc::new(Mutex::new(None));
        let choice = chosen.clone();
        let decide = move |state: &StoredSession| {
            let last = state.undone.last().cloned();
            *choice.lock().unwrap_or_else(PoisonError::into_inner) = last.clone();
            Ok(Change::of(at_ms, last.map(|record| EventKind::Redone { record })))
        };
        self.transact(session, Arc::new(decide)).await?;
        let chosen = chosen.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(chosen)
    }

    /// Notes that the originals in `span` were asked back into view, and returns them.
    async fn restore(
        &self,
        session: &SessionId,
        span: Span,
        at_ms: i64,
    ) -> Result<Vec<Original>, StoreError> {
        let held = self.require(session).await?.messages;
        let span = Span { start: span.start.min(held), end: span.end.min(held) };
        if span.is_empty() {
            return Ok(Vec::new());
        }
        let decide = move |_: &StoredSession| Ok(Change::of(at_ms, Some(EventKind::Restored { span })));
        self.transact(session, Arc::new(decide)).await?;
        self.originals_in_line(session, span).await
    }

    /// Begins the session `into` with the originals of `session` up to ordinal `end` (all where `None`) and the records
    /// in force that cover no more than these.
    ///
    /// # Errors
    /// [`StoreError::SessionExists`] where `into` is there already.
    async fn fork(
        &self,
        session: &SessionId,
        into: &SessionId,
        end: Option<u64>,
        at_ms: i64,
    ) -> Result<StoredSession, StoreError> {
        let source = self.require(session).await?;
        let end = end.unwrap_or(source.messages).min(source.messages);
        let chain = self.chain(session).await?.into_iter();
        let chain: Vec<_> =
            chain.take_while(|record| record.covers.end <= end).map(Redacted::assume).collect();
        self.branch(session, into, end, &chain, at_ms).await
    }

    /// Begins the session `into` with the originals of `session` up to ordinal `end`, and `chain` as the records in
    /// force, oldest first.
    ///
    /// # Errors
    /// [`StoreError::SessionExists`] where `into` is there already.
    async fn branch(
        &self,
        session: &SessionId,
        into: &SessionId,
        end: u64,
        chain: &[Redacted<SummaryRecord>],
        at_ms: i64,
    ) -> Result<StoredSession, StoreError> {
        let source = self.require(session).await?;
        let end = end.min(source.messages);
        let entries = self.entries(session, Span { start: 0, end }).await?;
        let addresses = entries.iter().map(|entry| entry.address).collect();
        let spellings = entries.iter().map(|entry| entry.spelling);
        let spellings = if entries.iter().any(|entry| entry.spelling.is_some()) {
            spellings.collect()
        } else {
            Vec::new()
        };
        let forked_from = Some(ForkedFrom { session: session.clone(), hash: source.last_hash });
        let mut steps = vec![Step { at_ms, kind: EventKind::Opened { forked_from }, objects: Vec::new() }];
        if !entries.is_empty() {
            let kind = EventKind::Originals { start: 0, addresses, spellings };
            let is_gone = entries.iter().map(|entry| entry.is_forgotten);
            let spelled = entries.iter().filter(|entry| entry.spelling.is_some());
            let is_gone: Vec<bool> = is_gone.chain(spelled.map(|entry| entry.is_forgotten)).collect();
            let named = kind.contents();
            let contents = self.contents(session, &named).await?;
            let objects = named.into_iter().zip(contents).zip(is_gone).map(|((address, json), is_gone)| {
                let Some(json) = json.filter(|_| !is_gone) else { return Ok(None) };
                let json =
                    String::from_utf8(json).ok().filter(|json| ContentHash::of(json.as_bytes()) == address);
                json.map(|json| Some(Object { address, json: json.into() }))
                    .ok_or(StoreError::DamagedContent { address })
            });
            let objects = objects.collect::<Result<_, StoreError>>()?;
            steps.push(Step { at_ms, kind, objects });
        }
        let mut parent = None;
        for record in chain {
            let object = Object::of_record(record);
            let (id, address, covers) = (record.id.clone(), object.address, record.covers);
            let kind =
                EventKind::Compacted { record: id.clone(), parent: parent.replace(id), address, covers };
            steps.push(Step { at_ms, kind, objects: vec![Some(object)] });
        }
        let gone =
            source.forgotten.iter().map(|span| Span { start: span.start.min(end), end: span.end.min(end) });
        let originals = merged(gone);
        if !originals.is_empty() {
            let kind = EventKind::Forgotten { by: ForgottenBy::Range, originals, records: Vec::new() };
            steps.push(Step { at_ms, kind, objects: Vec::new() });
        }
        let (change, name) = (Change { steps, ..Change::default() }, into.clone());
        let decide = move |state: &StoredSession| match state.events {
            0 => Ok(change.clone()),
            _ => Err(StoreError::SessionExists { session: name.clone() }),
        };
        self.transact(into, Arc::new(decide)).await
    }

    /// Destroys contents of the conversation `name` for good and leaves a tombstone in the log. With [`Selector::Session`] that is all
    /// of it: each of its [lines](Self::lines), one after the other. Any other selector destroys in what the name stands for,
    /// and what another line also holds stays there, for [`forget_in_line`](Self::forget_in_line). What another conversation holds,
    /// one that was begun under a name of its own, stays there in any case.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`] where there is none of this name, [`StoreError::NotOverwritten`] where all was destroyed that was
    /// to be and may be found in the files of the store for a while, and those of the backend. Where these come between two
    /// lines, or the future is dropped there, the same again destroys the rest.
    async fn forget(
        &self,
        name: &SessionId,
        selector: &Selector,
        at_ms: i64,
    ) -> Result<forget::Forgotten, StoreError> {
        forget::in_conversation(self, name, selector, at_ms).await
    }

    /// Destroys contents of the session of this very id, and of no other.
    ///
    /// # Errors
    /// Those of [`forget`](Self::forget).
    async fn forget_in_line(
        &self,
        session: &SessionId,
        selector: &Selector,
        at_ms: i64,
    ) -> Result<forget::Forgotten, StoreError> {
        forget::forget(self, session, selector, at_ms).await
    }

    /// Checks every hash of a session, from the first event to the last content.
    async fn verify(&self, session: &SessionId) -> Result<Verification, StoreError> {
        verify::verify(self, session, verify::Depth::Contents).await
    }

    /// Checks what [`originals`](Self::originals) does not: that no message of a session stands in the place of another. Contents,
    /// which are checked whenever they are read, are not read.
    async fn verify_log(&self, session: &SessionId) -> Result<Verification, StoreError> {
        verify::verify(self, session, verify::Depth::Log).await
    }

    /// Returns the conversation `name` as JSON lines that [`import`](Self::import) reads, in this backend or another: what the name stands
    /// for now, and behind it the lines that it comes from, by which a store that has an older export knows that the name moved.
    async fn export(&self, name: &SessionId) -> Result<String, StoreError> {
        transfer::export(self, &kin::followed(self, name).await?).await
    }

    /// Adds the sessions of an export; what is there already stays, and a name there moves only to a session that
    /// [comes from](Self::comes_from) the one it stood for. Returns the sessions that the export holds. Their words are
    /// taken to be redacted, as they were in the store that was exported: nothing looks for secrets in them.
    ///
    /// # Errors
    /// [`StoreError::NotAnExport`] where a line cannot be read or a hash is wrong, [`StoreError::SessionExists`] where a
    /// session of the same id has another history. Sessions before the faulty one were added.
    async fn import(&self, lines: &str) -> Result<Vec<SessionId>, StoreError> {
        transfer::import(self, lines).await
    }

    /// Returns the session that `name` is an alias of, or else the one whose id it is. A session's own id leads to another only
    /// where that one [comes from](Self::comes_from) it: whoever gives a conversation the id of another's does not take its place.
    async fn named(&self, name: &SessionId) -> Result<Option<SessionId>, StoreError> {
        let (alias, own) = (self.alias(name).await?, self.state(name).await?);
        match (alias, own) {
            (Some(alias), None) => Ok(Some(alias)),
            (Some(alias), Some(_)) if alias == *name || self.comes_from(&alias, name).await? => {
                Ok(Some(alias))
            }
            (_, own) => Ok(own.map(|_| name.clone())),
        }
    }

    /// Returns whether `session` was begun with what `other` holds, or with what one holds that comes from it.
    async fn comes_from(&self, session: &SessionId, other: &SessionId) -> Result<bool, StoreError> {
        kin::comes_from(self, session, other).await
    }

    /// Returns the lines of the conversation that `session` is a line of, itself included, the one it was begun with first: what was
    /// branched off under a name made for it (`x-b1` of `x`). Who begins a branch under a name of their own begins another
    /// conversation.
    async fn lines(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        kin::lines(self, session).await
    }

    /// Returns the session that `name` is the id or an alias of.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`] where there is none.
    async fn resolve(&self, name: &str) -> Result<SessionId, StoreError> {
        if let Ok(id) = SessionId::new(name)
            && let Some(session) = self.named(&id).await?
        {
            return Ok(session);
        }
        // A name that is no id at all is not repeated in full: it may be anything.
        Err(StoreError::UnknownSession { name: name.chars().take(64).filter(|c| !c.is_control()).collect() })
    }

    /// Returns the state of a session that must exist.
    ///
    /// # Errors
    /// [`StoreError::UnknownSession`] where it does not.
    async fn require(&self, session: &SessionId) -> Result<StoredSession, StoreError> {
        let state = self.state(session).await?;
        state.ok_or_else(|| StoreError::UnknownSession { name: session.to_string() })
    }
}

/// Returns that `change` is made where `record` is the head.
fn of_head(session: &SessionId, record: &SummaryId, change: Change) -> Decide {
    let (name, record) = (session.clone(), record.clone());
    Arc::new(move |state: &StoredSession| {
        if state.head() != Some(&record) {
            let (session, expected, found) = (name.clone(), Some(record.clone()), state.head().cloned());
            return Err(StoreError::Conflict { session, expected, found });
        }
        Ok(change.clone())
    })
}
