//! Whether what stands in the journal, or as a summary, is what the log says was put there: of a few, without reading all of
//! the log.

use std::collections::{HashMap, HashSet};

use longhaul_transcript::{SessionId, Span, SummaryId, SummaryRecord};

use crate::{
    Event, EventKind, JournalEntry, Original, Problem, RecordEntry, StoreError, StoredSession, SummaryStore,
    object,
};

/// Entries of a journal on their way through the log of their session: it says which events are to be read and takes them.
/// Originals were added in order, so that the event of one is found by halving.
pub(crate) struct Proof<'a> {
    session: &'a SessionId,
    /// What is not compared yet, in order.
    entries: &'a [JournalEntry],
    /// How many events there are.
    events: u64,
    /// The event of the next entry is one of these.
    low: u64,
    high: u64,
    /// Where looking began in there, and where it goes on: not every event adds originals.
    begun: u64,
    at: u64,
    /// Where no more than so many events are left, they are read at once.
    few: u64,
    /// An event that cannot be read.
    unreadable: Option<u64>,
    /// Where the event that was read last ends, as an ordinal.
    through: u64,
    strays: Vec<u64>,
}

impl<'a> Proof<'a> {
    /// Begins with `entries`, in order, of a session with so many events, of which `few` cost little more to read than one: 1 where
    /// they are at hand, [`AT_ONCE`] where each question is a way to a server.
    pub(crate) fn of(
        session: &'a SessionId,
        entries: &'a [JournalEntry],
        events: u64,
        few: usize,
    ) -> Proof<'a> {
        let (low, begun, at, through) = (0, 0, 0, 0);
        let (few, unreadable, strays) = (few as u64, None, Vec::new());
        let mut proof = Proof {
            session,
            entries,
            events,
            low,
            high: events,
            begun,
            at,
            few,
            unreadable,
            through,
            strays,
        };
        proof.aim();
        proof
    }

    /// Returns from where on how many events are to be read; `None` where all entries are compared.
    pub(crate) fn wants(&self) -> Option<(u64, usize)> {
        let next = self.entries.first()?;
        let left = self.high.saturating_sub(self.at);
        let limit = match next.ordinal == self.through {
            true => self.entries.len().min(AT_ONCE),
            false if left <= self.few => left.max(1) as usize,
            false => 1,
        };
        let before = self.unreadable.and_then(|seq| seq.checked_sub(self.at)).filter(|n| *n > 0);
        Some((self.at, before.map_or(limit, |n| limit.min(n as usize))))
    }

    /// Takes the events that were read.
    pub(crate) fn take(&mut self, read: &[Event]) {
        for event in read {
            self.at = event.seq + 1;
            let EventKind::Originals { start, addresses, spellings } = &event.kind else { continue };
            // What was changed in the log proves nothing, nor where to look.
            if event.computed_hash(self.session) != event.hash {
                continue;
            }
            let added = Span { start: *start, end: start.saturating_add(addresses.len() as u64) };
            if self.entries.first().is_some_and(|next| next.ordinal < added.start) {
                self.high = self.begun;
                return self.aim();
            }
            let n_added = self.entries.iter().take_while(|entry| added.contains(entry.ordinal)).count();
            let (here, rest) = self.entries.split_at(n_added);
            let is_said = |entry: &JournalEntry| {
                let nth = (entry.ordinal - added.start) as usize;
                addresses.get(nth) == Some(&entry.address)
                    && spellings.get(nth).copied().flatten() == entry.spelling
            };
            let strays = here.iter().filter(|entry| !is_said(entry));
            self.strays.extend(strays.map(|entry| entry.ordinal));
            (self.entries, self.low, self.through) = (rest, event.seq + 1, added.end);
            if n_added > 0 {
                self.high = self.events;
            }
            if self.entries.first().is_none_or(|next| next.ordinal != added.end) {
                self.aim();
                if self.at != event.seq + 1 {
                    return;
                }
            }
        }
        if read.is_empty() || self.at >= self.high {
            self.high = self.begun.min(self.high);
            self.aim();
        }
    }

    /// Goes on behind an event that cannot be read.
    fn skip(&mut self, seq: u64) {
        self.at = seq + 1;
        if self.at >= self.high {
            self.high = self.begun;
            self.aim();
        }
    }

    /// The same for an answer of a store.
    ///
    /// # Errors
    /// What it fails with, but for an event that cannot be read.
    pub(crate) fn take_answer(&mut self, read: Result<Vec<Event>, StoreError>) -> Result<(), StoreError> {
        match read {
            Ok(events) => self.take(&events),
            Err(StoreError::Damaged { problem: Problem::ChangedEvent { seq }, .. }) if seq >= self.at => {
                self.unreadable = Some(seq);
                if seq == self.at {
                    self.skip(seq);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Chooses where to look for the event of the next entry. What no event added is a stray.
    fn aim(&mut self) {
        while self.low >= self.high {
            let Some((next, rest)) = self.entries.split_first() else { return };
            self.strays.push(next.ordinal);
            (self.entries, self.high) = (rest, self.events);
            if self.low >= self.events {
                self.strays.extend(self.entries.iter().map(|entry| entry.ordinal));
                self.entries = &[];
                return;
            }
        }
        let follows = self.entries.first().is_some_and(|next| next.ordinal == self.through);
        let left = self.high - self.low;
        self.begun = if follows || left <= self.few { self.low } else { self.low + left / 2 };
        self.at = self.begun;
    }

    /// Returns the ordinals of those that are not what the log says.
    pub(crate) fn strays(self) -> Vec<u64> {
        self.strays
    }
}

/// Returns those of `ordinals`, in order, that are not what the log says.
pub(crate) async fn strays<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    ordinals: &[u64],
) -> Result<Vec<u64>, StoreError> {
    let mut entries = Vec::with_capacity(ordinals.len());
    for run in Span::runs(ordinals.iter().copied()) {
        entries.extend(store.entries(session, run).await?);
    }
    let events = store.state(session).await?.map_or(0, |state| state.events);
    strays_of(store, session, &entries, events).await
}

/// Returns the ordinals of those of `entries` that are not what the log of so many events says.
async fn strays_of<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    entries: &[JournalEntry],
    events: u64,
) -> Result<Vec<u64>, StoreError> {
    let mut proof = Proof::of(session, entries, events, AT_ONCE);
    while let Some((from, limit)) = proof.wants() {
        proof.take_answer(store.events(session, from, limit).await)?;
    }
    Ok(proof.strays())
}

/// What a message is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// The address of its content.
    Content,
    /// And the log, which says what that address was.
    Log,
}

/// Returns an original for each message in `span`; what is not what was written is told in its place.
pub(crate) async fn originals<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    span: Span,
    against: Against,
) -> Result<Vec<Original>, StoreError> {
    // The state comes first: what is said meanwhile is more than it says, and not less.
    let Some(mut held) = store.state(session).await? else { return Ok(Vec::new()) };
    let entries = store.entries(session, span).await?;
    let mut read = contents(store, session, &entries).await?;
    if against == Against::Log {
        let strays = strays_of(store, session, &said(&entries, &read), held.events).await?;
        mark(&mut read, strays);
    }
    if read.iter().any(|original| is_unexplained(&held, original)) {
        // It may have been forgotten meanwhile.
        held.forgotten = store.require(session).await?.forgotten;
    }
    Ok(told(&held, span, read))
}

/// Returns an original for each of `entries`; a content that is damaged keeps no other from being read.
async fn contents<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    entries: &[JournalEntry],
) -> Result<Vec<Original>, StoreError> {
    let mut read = Vec::with_capacity(entries.len());
    let mut pending = vec![entries];
    while let Some(entries) = pending.pop() {
        let contents = store.contents(session, &object::addresses_of(entries)).await;
        match contents.and_then(|contents| object::read_originals(entries, contents)) {
            Ok(originals) => read.extend(originals),
            Err(StoreError::DamagedContent { .. }) => divide(entries, &mut pending, &mut read),
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Leaves halves of `entries`, one of which is damaged, to be read; a single one is `read`: as changed.
pub(crate) fn divide<'e>(
    entries: &'e [JournalEntry],
    pending: &mut Vec<&'e [JournalEntry]>,
    read: &mut Vec<Original>,
) {
    match entries {
        [entry] => read.push(Original::changed(entry.ordinal, entry.at_ms)),
        _ => {
            let (front, back) = entries.split_at(entries.len() / 2);
            pending.extend([back, front]);
        }
    }
}

/// Returns those of `entries` of which something was `read`.
pub(crate) fn said(entries: &[JournalEntry], read: &[Original]) -> Vec<JournalEntry> {
    let both = entries.iter().zip(read);
    both.filter(|(_, original)| original.message.is_some()).map(|(entry, _)| *entry).collect()
}

/// Marks those of `originals` that are `strays`.
pub(crate) fn mark(originals: &mut [Original], strays: Vec<u64>) {
    let strays: HashSet<u64> = strays.into_iter().collect();
    for original in originals.iter_mut().filter(|original| strays.contains(&original.ordinal)) {
        *original = Original::changed(original.ordinal, original.at_ms);
    }
}

/// Returns what there is to tell of each message of `span` that `held` has, with what was `read` of them, in order: what is
/// missing, or destroyed without a word in the log, is changed.
pub(crate) fn told(held: &StoredSession, span: Span, read: Vec<Original>) -> Vec<Original> {
    let explained = |original: Original| match is_unexplained(held, &original) {
        true => Original::changed(original.ordinal, original.at_ms),
        false => original,
    };
    let mut read = read.into_iter().map(explained).peekable();
    let mut told = Vec::with_capacity(read.len());
    for ordinal in span.start..span.end.min(held.messages) {
        while read.next_if(|original| original.ordinal < ordinal).is_some() {}
        let found = read.next_if(|original| original.ordinal == ordinal);
        told.push(found.unwrap_or_else(|| Original::changed(ordinal, held.changed_at_ms)));
    }
    // What was said since the state was read.
    told.extend(read);
    told
}

/// Returns whether nothing is there of an original, and nobody destroyed it.
fn is_unexplained(held: &StoredSession, original: &Original) -> bool {
    original.message.is_none() && !original.is_changed && !held.is_forgotten(original.ordinal)
}

/// A summary in force that is not handed out: what is stored of it is not what was written.
#[derive(Debug)]
pub struct DamagedSummary {
    /// Its id.
    pub id: SummaryId,
    /// What is the matter with it.
    pub error: StoreError,
}

/// Returns the records `ids`, each as the log says it was made, or what is the matter with it.
pub(crate) async fn records<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    ids: &[SummaryId],
) -> Result<Vec<Result<SummaryRecord, DamagedSummary>>, StoreError> {
    let entries = store.records(session).await?;
    // One that was made again stands there twice; the newest is the one in force.
    let entry = |id: &SummaryId| entries.iter().rev().find(|entry| entry.id == *id);
    let addresses: Vec<_> = ids.iter().filter_map(|id| Some(entry(id)?.address)).collect();
    let mut contents = match store.contents(session, &addresses).await {
        Ok(contents) => addresses.into_iter().zip(contents).collect(),
        // One is damaged: they are asked for one by one.
        Err(StoreError::DamagedContent { .. }) => HashMap::new(),
        Err(error) => return Err(error),
    };
    let mut records = Vec::with_capacity(ids.len());
    for id in ids {
        let read = match entry(id) {
            Some(entry) => record(store, session, entry, contents.remove(&entry.address)).await,
            None => {
                let (session, record) = (session.clone(), id.clone());
                Err(StoreError::Damaged { session, problem: Problem::MissingRecord { record } })
            }
        };
        records.push(match read {
            Ok(record) => Ok(record),
            Err(error @ (StoreError::Damaged { .. } | StoreError::DamagedContent { .. })) => {
                Err(DamagedSummary { id: id.clone(), error })
            }
            Err(error) => return Err(error),
        });
    }
    Ok(records)
}

/// Returns the record of `entry`, as the log says it was made, from its content where that was read already.
pub(crate) async fn record<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    entry: &RecordEntry,
    content: Option<Option<Vec<u8>>>,
) -> Result<SummaryRecord, StoreError> {
    made(session, entry, store.events(session, entry.seq, 1).await?.first())?;
    let json = match content {
        Some(json) => json,
        None => store.contents(session, &[entry.address]).await?.pop().flatten(),
    };
    object::read_record(entry.address, &json.ok_or(StoreError::DamagedContent { address: entry.address })?)
}

/// Checks that a record is what `event`, where the log says it was made, says was made.
pub(crate) fn made(
    session: &SessionId,
    entry: &RecordEntry,
    event: Option<&Event>,
) -> Result<(), StoreError> {
    let is_its = event.is_some_and(|event| match &event.kind {
        EventKind::Compacted { record, address, .. } => {
            (record, address) == (&entry.id, &entry.address) && event.computed_hash(session) == event.hash
        }
        _ => false,
    });
    if is_its {
        return Ok(());
    }
    let (session, record) = (session.clone(), entry.id.clone());
    Err(StoreError::Damaged { session, problem: Problem::ChangedRecord { record } })
}

/// How many events of a run are read at once.
pub(crate) const AT_ONCE: usize = 64;

#[cfg(test)]
mod tests {
    use longhaul_transcript::ContentHash;
    use proptest::prelude::*;

    use super::*;
    use crate::StoredSession;

    fn session() -> SessionId {
        SessionId::new("s").unwrap()
    }

    fn address(ordinal: u64) -> ContentHash {
        ContentHash::of(&ordinal.to_le_bytes())
    }

    /// Returns a log in which each number adds so many originals, and 0 something else.
    fn log(adds: &[u64]) -> Vec<Event> {
        let mut state = StoredSession::empty();
        let mut events = Vec::new();
        let mut add = |kind| {
            let event = state.next_event(&session(), 1, kind);
            state.apply(&session(), &event).unwrap();
            events.push(event);
        };
        add(EventKind::Opened { forked_from: None });
        let mut start = 0;
        for n in adds {
            let end = start + n;
            match n {
                0 if end > 0 => add(EventKind::Restored { span: Span { start: 0, end: 1 } }),
                0 => {}
                _ => add(EventKind::Originals {
                    start,
                    addresses: (start..end).map(address).collect(),
                    spellings: Vec::new(),
                }),
            }
            start = end;
        }
        events
    }

    fn entry(ordinal: u64, address: ContentHash) -> JournalEntry {
        JournalEntry { ordinal, address, spelling: None, at_ms: 1, is_forgotten: false }
    }

    proptest! {
        #[test]
        fn what_the_log_did_not_put_there_is_found_and_nothing_else(
            adds in prop::collection::vec(0_u64..9, 1..60),
            asked in prop::collection::btree_set(0_u64..300, 0..60),
            changed in prop::collection::btree_set(0_u64..300, 0..9),
            unreadable in prop::option::of(0_usize..60),
            forged in prop::option::of((0_usize..60, 0_u64..400)),
            few in prop::sample::select(vec![1, 7, AT_ONCE]),
        ) {
            let mut events = log(&adds);
            let span_of = |event: &Event| match &event.kind {
                EventKind::Originals { start, addresses, .. } => *start..*start + addresses.len() as u64,
                _ => 0..0,
            };
            let in_forged = forged.and_then(|(nth, _)| events.get(nth)).map(span_of).unwrap_or_default();
            // What cannot be read may be forged as well: what it had said counts.
            let in_lost = unreadable.and_then(|nth| events.get(nth)).map(span_of).unwrap_or_default();
            if let Some((nth, to)) = forged
                && let Some(EventKind::Originals { start, .. }) = events.get_mut(nth).map(|event| &mut event.kind)
            {
                *start = if *start == to { to + 1 } else { to };
            }
            let total: u64 = adds.iter().sum();
            let entries: Vec<JournalEntry> = asked.iter().map(|at| {
                entry(*at, if changed.contains(at) { address(999) } else { address(*at) })
            }).collect();
            let lost = unreadable.and_then(|nth| events.get(nth));
            let name = session();
            let mut proof = Proof::of(&name, &entries, events.len() as u64, few);
            let mut n_read = 0;
            while let Some((from, limit)) = proof.wants() {
                let read: Vec<Event> = events.iter().skip(from as usize).take(limit).cloned().collect();
                n_read += 1;
                prop_assert!(n_read < 3_000);
                let damaged = read.iter().find(|event| lost.is_some_and(|lost| lost.seq == event.seq));
                let answer = match damaged {
                    Some(event) => Err(StoreError::Damaged {
                        session: session(),
                        problem: Problem::ChangedEvent { seq: event.seq },
                    }),
                    None => Ok(read),
                };
                proof.take_answer(answer).unwrap();
            }
            let is_stray =
                |at: &u64| *at >= total || changed.contains(at) || in_lost.contains(at) || in_forged.contains(at);
            let expected: Vec<u64> = asked.iter().copied().filter(is_stray).collect();
            let mut strays = proof.strays();
            strays.sort_unstable();
            prop_assert_eq!(strays, expected);
        }
    }

    #[test]
    fn an_event_that_was_changed_proves_nothing() {
        let mut events = log(&[2, 2]);
        if let EventKind::Originals { addresses, .. } = &mut events[1].kind {
            addresses[1] = address(7);
        }
        let (entries, name) = ([entry(1, address(7)), entry(2, address(2))], session());
        let mut proof = Proof::of(&name, &entries, 3, 1);
        while let Some((from, limit)) = proof.wants() {
            let read: Vec<Event> = events.iter().skip(from as usize).take(limit).cloned().collect();
            proof.take(&read);
        }
        assert_eq!(proof.strays(), [1]);
    }

    #[test]
    fn one_message_of_many_is_found_in_a_few_steps() {
        let events = log(&[1; 10_000]);
        let (entries, name) = ([entry(7_321, address(7_321))], session());
        let cost = |few: usize| {
            let mut proof = Proof::of(&name, &entries, events.len() as u64, few);
            let (mut n_asked, mut n_read) = (0, 0);
            while let Some((from, limit)) = proof.wants() {
                (n_asked, n_read) = (n_asked + 1, n_read + limit);
                proof.take(&events[from as usize..from as usize + limit]);
            }
            assert!(proof.strays().is_empty());
            (n_asked, n_read)
        };
        let (here, there) = (cost(1), cost(AT_ONCE));
        assert!(here.1 < 20, "{here:?}");
        assert!(there.0 < 10 && there.1 < 90, "{there:?}");
    }
}
