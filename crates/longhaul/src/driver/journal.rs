//! Keeping a conversation in a store.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_store::{
    ChainStep, Commit, Original, Selector, StoreError, StoredSession, SummaryStore, lasting_key,
    only_in_summary,
};
#[cfg(feature = "wire")]
use longhaul_store::{JournalEntry, address_of};
use longhaul_tokens::Calibration;
use longhaul_transcript::{Clock, ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};
use serde::{Deserialize, Serialize};

use super::{
    facts::FactsNote,
    since::{self, Standing},
};
use crate::session::{SessionState, Snapshot, changed, forgotten, is_gone};

/// A store, and how much of the conversation is in it.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    store: Arc<dyn SummaryStore>,
    /// The session in the store: that of the conversation, or of a branch of it.
    line: SessionId,
    /// Ordinal of the first message that is not written yet.
    written: u64,
    /// What the last snapshot was made of.
    kept: Option<Mark>,
    /// How it stands in the store beside messages and summaries.
    standing: Standing,
    /// What was deleted may still be found in the files of the store.
    is_to_overwrite: bool,
    /// What was learned, as it is stored.
    learned: Option<Calibration>,
    /// The last snapshot when that was stored.
    learned_with: Option<Mark>,
    /// What was learned could not be stored the last time.
    fails_to_learn: bool,
    /// Where the facts are that were written last.
    facts: Option<FactsNote>,
    /// Steps along the chain whose answer did not come: they may have been taken.
    in_doubt: Vec<ChainStep>,
    /// How many messages there are in the store at the most if they were, and nobody else said anything.
    in_doubt_at: u64,
    /// The session as it is if they were, where originals were deleted with them: that cannot be taken back.
    in_doubt_state: Option<Box<SessionState>>,
    /// A name whose pointing elsewhere was not answered: it may stand for a branch that nobody goes on with.
    name_in_doubt: Option<SessionId>,
    /// The session shows no summary any more, and the store does not know yet.
    cleared: Option<Cleared>,
    /// Messages that were read and are not what was written, and those of them that nobody was told of yet.
    changed: BTreeSet<u64>,
    untold: Vec<u64>,
    /// What was destroyed, as far as the session knows.
    destroyed: Destroyed,
}

/// How much of a session was destroyed in the store: it only ever grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Destroyed {
    messages: u64,
    records: usize,
}

impl Destroyed {
    fn of(held: &StoredSession) -> Destroyed {
        let messages = held.forgotten.iter().map(Span::len).sum();
        Destroyed { messages, records: held.forgotten_records.len() }
    }
}

/// What was in force when a front end put a summary of its own in the place of ours.
#[derive(Clone, Debug)]
struct Cleared {
    head: Option<SummaryId>,
}

/// What is to be written beside messages.
#[derive(Debug, Default)]
struct News {
    /// What became of the summaries.
    chain: Vec<ChainStep>,
    /// The originals that are deleted with it.
    forget: Vec<Span>,
    /// What a snapshot is of, where one is due.
    mark: Option<Mark>,
}

/// Tells whether a snapshot says anything that the messages after it do not.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    changes: u64,
    messages: u64,
}

/// A snapshot is written at the latest after so many messages: what a resume has to count and read again.
const SNAPSHOT_EVERY: u64 = 32;

/// So many requests teach much.
const SHARED_AT_ONCE: usize = 16;

/// What was learned of a provider's counting, as it is stored.
#[derive(Serialize, Deserialize)]
struct Learned {
    version: u32,
    calibration: Calibration,
}

/// The version of [`Learned`]. Anything else is not read.
const LEARNED_VERSION: u32 = 1;

/// A step along the chain of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Undo,
    Redo,
}

/// What the conversation's name stands for once there is a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// The branch: it is where the conversation goes on.
    Takes,
    /// What it stood for: somebody else goes on there.
    Leaves,
}

/// What is opened under a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Name {
    /// What the conversation of this name goes on with: the line itself, or a branch of it.
    #[default]
    OfConversation,
    /// The line of this very name.
    OfLine,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn SummaryStore>, line: SessionId) -> Journal {
        Journal {
            store,
            line,
            written: 0,
            kept: None,
            standing: Standing::default(),
            is_to_overwrite: false,
            learned: None,
            learned_with: None,
            fails_to_learn: false,
            facts: None,
            in_doubt: Vec::new(),
            in_doubt_at: 0,
            in_doubt_state: None,
            name_in_doubt: None,
            cleared: None,
            changed: BTreeSet::new(),
            untold: Vec::new(),
            destroyed: Destroyed::default(),
        }
    }

    pub(super) fn store(&self) -> &Arc<dyn SummaryStore> {
        &self.store
    }

    pub(super) fn line(&self) -> &SessionId {
        &self.line
    }

    /// Writes the messages that are not written yet, what a request changed, and a snapshot where one is due.
    /// `changes` counts what changed in the session beside messages.
    pub(super) async fn save(
        &mut self,
        state: &SessionState,
        changes: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.take_back_in_doubt(clock).await?;
        let mark = Mark { changes, messages: state.originals().len() as u64 };
        let is_due = match &self.kept {
            None => mark.messages > 0,
            Some(kept) => kept.changes != changes || mark.messages >= kept.messages + SNAPSHOT_EVERY,
        };
        let is_due = is_due || self.cleared.is_some();
        let is_news = || self.kept.is_some() && self.standing.is_news(&state.since());
        if is_due || mark.messages > self.written || is_news() {
            let new = News { mark: is_due.then_some(mark), ..News::default() };
            self.commit(state, new, clock).await?;
        }
        if is_due && self.is_to_overwrite {
            let nothing_more = Selector::Originals(Span { start: 0, end: 0 });
            self.is_to_overwrite = self.store.forget(&self.line, &nothing_more, now(clock)).await.is_err();
        }
        Ok(())
    }

    /// Writes what is new, messages among it: all of it or nothing. Returns why what was deleted with it may still be found in
    /// the files of the store, where it may.
    async fn commit(
        &mut self,
        state: &SessionState,
        News { mut chain, forget, mark }: News,
        clock: Option<&dyn Clock>,
    ) -> Result<Option<StoreError>, StoreError> {
        self.take_back_in_doubt(clock).await?;
        if let Some(cleared) = &self.cleared {
            chain.splice(0..0, self.all_taken_back(cleared).await?);
        }
        // A snapshot is numbers, ids and forms of messages, all of which can be written as JSON.
        let snapshot = || serde_json::to_vec(&state.snapshot_to_store()).ok().map(Redacted::assume);
        let (snapshot, now_since) = (mark.as_ref().and_then(|_| snapshot()), state.since());
        // A snapshot says it as well.
        let is_news = snapshot.is_none() && self.standing.is_news(&now_since);
        let commit = Commit {
            start: self.written,
            messages: state.redacted_from(self.written),
            chain,
            forget,
            snapshot,
            since: if is_news { since::to_store(&now_since) } else { None },
            on: Some(self.standing.marks()),
            at_ms: now(clock),
        };
        let beside = commit.snapshot.as_ref().or(commit.since.as_ref());
        beside.into_iter().for_each(|bytes| self.standing.tries(bytes));
        let n_messages = commit.messages.len() as u64;
        self.in_doubt.clone_from(&commit.chain);
        self.in_doubt_at = commit.start + n_messages;
        self.in_doubt_state = (!commit.forget.is_empty()).then(|| Box::new(state.clone()));
        let (held, not_overwritten) = match self.store.commit(&self.line, &commit).await {
            Err(error @ StoreError::NotOverwritten { .. }) => {
                (self.store.state(&self.line).await?, Some(error))
            }
            done => (Some(done?), None),
        };
        if !commit.forget.is_empty() {
            self.is_to_overwrite = not_overwritten.is_some();
            self.note_destroyed(held.as_ref());
        }
        self.in_doubt.clear();
        self.in_doubt_state = None;
        self.cleared = None;
        self.written += n_messages;
        self.kept = mark.or(self.kept.take());
        if beside.is_some() {
            self.standing.wrote(now_since);
        }
        Ok(not_overwritten)
    }

    /// Returns the session to go on with where the answer to a compaction did not come and it deleted originals: their words
    /// are in its summary only, so that it is not taken back.
    pub(super) async fn taken_in_doubt(&mut self) -> Result<Option<SessionState>, StoreError> {
        if self.in_doubt_state.is_none() {
            return Ok(None);
        }
        let held = self.store.state(&self.line).await?;
        let is_in_force = |id: &SummaryId| held.as_ref().is_some_and(|held| held.chain.contains(id));
        // Whatever somebody else did since: a branch without the summary would not have what it tells of.
        let is_taken =
            matches!(self.in_doubt.last(), Some(ChainStep::Append(record)) if is_in_force(&record.id));
        let state = self.in_doubt_state.take().filter(|_| is_taken);
        if state.is_some() {
            self.note_destroyed(held.as_ref());
            self.in_doubt.clear();
            self.written = self.in_doubt_at;
            // The snapshot that stands there is of this session; what was done since is not in it.
            self.kept = None;
        }
        Ok(state.map(|state| *state))
    }

    /// Returns whether the steps in doubt were taken, and nobody else went on since.
    async fn is_in_doubt_taken(&self) -> Result<bool, StoreError> {
        let Some(last) = self.in_doubt.last() else { return Ok(false) };
        let held = self.store.state(&self.line).await?;
        Ok(held.is_some_and(|held| is_taken(last, &held) && held.messages <= self.in_doubt_at))
    }

    /// Takes back what a call did to the chain whose future was dropped, or whose answer was lost: the session does not know
    /// of it, and would take it for another writer's.
    async fn take_back_in_doubt(&mut self, clock: Option<&dyn Clock>) -> Result<(), StoreError> {
        if let Some(name) = self.name_in_doubt.clone() {
            self.store.set_alias(&name, &self.line).await?;
            self.name_in_doubt = None;
        }
        if self.is_in_doubt_taken().await?
            && let Some(held) = self.store.state(&self.line).await?
        {
            let (start, chain) = (held.messages, self.in_doubt.iter().rev().map(inverse).collect());
            let commit = Commit { start, chain, at_ms: now(clock), ..Commit::default() };
            self.store.commit(&self.line, &commit).await?;
            // The snapshot that stands beside the chain is of what was taken back.
            self.kept = None;
        }
        self.in_doubt.clear();
        Ok(())
    }

    /// What one conversation learned of a model at an endpoint holds for the next: it stands beside the sessions, where
    /// the summaries of models are cached. Numbers only. What the first requests teach is written at once, later ones with
    /// each snapshot. Returns why it could not be written, once for each time that it begins to fail.
    pub(super) async fn save_learned(&mut self, state: &SessionState) -> Option<StoreError> {
        let (model, endpoint, calibration) = state.learned();
        let calibration = calibration.filter(|calibration| self.learned.as_ref() != Some(calibration))?;
        if calibration.observations() > SHARED_AT_ONCE
            && self.learned_with == self.kept
            && !self.fails_to_learn
        {
            return None;
        }
        let learned = Learned { version: LEARNED_VERSION, calibration: calibration.clone() };
        // Numbers can be written as JSON.
        let json = serde_json::to_vec(&learned).ok()?;
        let kept = self.store.cache(&learned_key(model, endpoint), &Redacted::assume(json)).await;
        let is_news = kept.is_err() && !self.fails_to_learn;
        self.fails_to_learn = kept.is_err();
        if kept.is_ok() {
            self.learned = Some(learned.calibration);
            self.learned_with.clone_from(&self.kept);
        }
        kept.err().filter(|_| is_news)
    }

    /// Reads what earlier conversations learned. A calibration that cannot be read is learned anew: a cache may lose what it holds.
    pub(super) async fn load_learned(&mut self, state: &mut SessionState) {
        let (model, endpoint, _) = state.learned();
        let json = self.store.cached(&learned_key(model, endpoint)).await.ok().flatten();
        let learned = json.and_then(|json| serde_json::from_slice::<Learned>(&json).ok());
        if let Some(learned) = learned.filter(|learned| learned.version == LEARNED_VERSION) {
            self.learned = Some(learned.calibration.clone());
            state.learn_from(learned.calibration);
        }
    }

    /// Writes the session as it is with `record` applied: messages, record, snapshot. The originals in `forget` are deleted
    /// with it; returns why they may still be found in the files of the store, where they may.
    pub(super) async fn append(
        &mut self,
        applied: &SessionState,
        record: &SummaryRecord,
        forget: Vec<Span>,
        changes: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<Option<StoreError>, StoreError> {
        let chain = vec![ChainStep::Append(Box::new(applied.redacted_record(record)))];
        let mark = Some(Mark { changes, messages: applied.originals().len() as u64 });
        self.commit(applied, News { chain, forget, mark }, clock).await
    }

    /// Takes note that no summary is in force any more, which is written with the next commit; `head` is the one that was.
    #[cfg(feature = "wire")]
    pub(super) fn clear(&mut self, head: Option<SummaryId>) {
        // What was to be cleared before stands in the store still.
        self.cleared.get_or_insert(Cleared { head });
    }

    /// Returns the steps that take back every summary in force.
    async fn all_taken_back(&self, Cleared { head }: &Cleared) -> Result<Vec<ChainStep>, StoreError> {
        let chain = self.store.state(&self.line).await?.map(|held| held.chain).unwrap_or_default();
        if chain.last() != head.as_ref() {
            let (session, expected) = (self.line.clone(), head.clone());
            return Err(StoreError::Conflict { session, expected, found: chain.last().cloned() });
        }
        Ok(chain.into_iter().rev().map(ChainStep::Undo).collect())
    }

    /// Writes the facts where enough was said since they were written. Where originals are deleted they go too: facts
    /// quote them. They can be read anew: where they cannot be written now, that is tried after the next compaction.
    pub(super) async fn save_facts(&mut self, state: &SessionState) {
        let is_outdated = |index| self.facts.as_ref().is_none_or(|note| note.is_outdated(index));
        if !state.lives_on_summaries()
            && state.facts().is_some_and(|index| is_outdated(index))
            && let Ok(written) = FactsNote::write(&*self.store, &self.line, state).await
        {
            self.facts = written;
        }
    }

    /// Returns the facts that were written last and how many messages they were read from.
    pub(super) async fn facts(&self) -> Result<Option<(FactIndex, u64)>, StoreError> {
        let Some(note) = &self.facts else { return Ok(None) };
        Ok(note.read(&*self.store).await?.map(|index| (index, note.through)))
    }

    /// Returns the steps that put the summary of `stepped`, which was taken back, in force again, and take back what was made
    /// in its place since; `None` where it was destroyed meanwhile.
    pub(super) async fn steps_to(
        &self,
        stepped: &SessionState,
    ) -> Result<Option<Vec<ChainStep>>, StoreError> {
        let held = self.store.state(&self.line).await?;
        let (chain, undone) = held.map(|held| (held.chain, held.undone)).unwrap_or_default();
        let record = stepped.summary();
        if let Some(record) = record.filter(|record| undone.last() == Some(&record.id)) {
            return Ok(Some(vec![ChainStep::Redo(record.id.clone())]));
        }
        // A compaction that was made since leaves nothing to redo in the store: the summary is written again.
        let record = record.filter(|record| !chain.contains(&record.id));
        if let Some(record) = record
            && self.store.record(&self.line, &record.id).await?.is_none()
        {
            return Ok(None);
        }
        let onto = match record {
            Some(record) => record.parent.as_ref(),
            None => stepped.summary().map(|record| &record.id),
        };
        let above = chain.into_iter().rev().take_while(|id| Some(id) != onto);
        let again = record.map(|record| ChainStep::Append(Box::new(stepped.redacted_record(record))));
        Ok(Some(above.map(ChainStep::Undo).chain(again).collect()))
    }

    /// Writes the session as it is after steps along the chain.
    pub(super) async fn step(
        &mut self,
        stepped: &SessionState,
        chain: Vec<ChainStep>,
        changes: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        let mark = Some(Mark { changes, messages: stepped.originals().len() as u64 });
        let new = News { chain, mark, ..News::default() };
        self.commit(stepped, new, clock).await.map(drop)
    }

    /// Returns how many of the originals that a summary replaced were deleted, so that they are in the summary only.
    pub(super) async fn only_in(&self, record: &SummaryId) -> Result<u64, StoreError> {
        only_in_summary(&*self.store, &self.line, record).await
    }

    /// Reads originals that `state` asks for.
    pub(super) async fn put_back(
        &mut self,
        state: &mut SessionState,
        spans: Vec<Span>,
    ) -> Result<(), StoreError> {
        for span in spans {
            let messages = self.read(span).await?;
            state.put_back(span.start, messages.into_iter().map(Arc::new).collect());
        }
        Ok(())
    }

    /// Reads a summary; `None` where it was destroyed.
    pub(super) async fn summary(&self, id: &SummaryId) -> Result<Option<Arc<SummaryRecord>>, StoreError> {
        Ok(self.store.record(&self.line, id).await?.map(Arc::new))
    }

    async fn read(&mut self, span: Span) -> Result<Vec<Message>, StoreError> {
        let originals = self.store.originals(&self.line, span).await?;
        for original in originals.iter().filter(|original| original.is_changed) {
            if self.changed.insert(original.ordinal) {
                self.untold.push(original.ordinal);
            }
        }
        Ok(originals.into_iter().map(said).collect())
    }

    /// Returns the messages that were found changed since this was last asked.
    pub(super) fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.untold)
    }

    /// Returns how many messages are written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Begins a line of its own with what `branch` begins with: its first `len` messages and the summaries in its view. An
    /// error says where somebody else went on in this line, so that the name cannot be taken.
    pub(super) async fn fork(
        &mut self,
        branch: &SessionState,
        len: u64,
        naming: Naming,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        let mut chain: Vec<SummaryRecord> = Vec::new();
        let mut next = branch.summary().map(|record| (**record).clone());
        let in_force = match next.as_ref().and_then(|record| record.parent.as_ref()) {
            Some(_) => self.store.chain(&self.line).await?,
            None => Vec::new(),
        };
        let mut in_force: HashMap<SummaryId, SummaryRecord> =
            in_force.into_iter().map(|record| (record.id.clone(), record)).collect();
        while let Some(record) = next {
            next = match &record.parent {
                Some(parent) => match in_force.remove(parent) {
                    Some(parent) => Some(parent),
                    // It was taken back since.
                    None => self.store.record(&self.line, parent).await?,
                },
                None => None,
            };
            chain.push(record);
        }
        let chain: Vec<_> = chain.iter().rev().map(|record| branch.redacted_record(record)).collect();
        if naming == Naming::Takes {
            // Where somebody else keeps the name, no branch is made that nobody goes on with.
            self.may_leave().await?;
        }
        let name = branch.session();
        let mut nth = 1u64;
        let into = loop {
            let into = branch_name(name, nth);
            match self.store.branch(&self.line, &into, len, &chain, now(clock)).await {
                Err(StoreError::SessionExists { .. }) => nth += 1,
                begun => {
                    self.destroyed = Destroyed::of(&begun?);
                    break into;
                }
            }
        };
        let facts = self.facts.clone().filter(|note| note.through <= len);
        if let Some(note) = &facts {
            // Without the note they are read anew.
            let _ = note.enter(&*self.store, &into).await;
        }
        // The last that can fail: a name never stands for a branch that nobody goes on with.
        if naming == Naming::Takes {
            self.leave(&into, clock).await?;
            self.name_in_doubt = Some(name.clone());
            self.store.set_alias(name, &into).await?;
            self.name_in_doubt = None;
        }
        (self.line, self.written, self.kept, self.facts) = (into, len, None, facts);
        self.standing = Standing::default();
        self.cleared = None;
        self.in_doubt.clear();
        self.in_doubt_state = None;
        Ok(())
    }

    /// Returns an error where somebody else went on in this line: the name of the conversation is not to be taken from there.
    async fn may_leave(&self) -> Result<(), StoreError> {
        if !self.standing.is_known() {
            return Ok(());
        }
        let nothing = Commit { start: self.written, on: Some(self.standing.marks()), ..Commit::default() };
        self.store.commit(&self.line, &nothing).await.map(drop)
    }

    /// Lets whoever else goes on in this line know that the conversation's name stands for `into` from now on.
    async fn leave(&mut self, into: &SessionId, clock: Option<&dyn Clock>) -> Result<(), StoreError> {
        let Some(since) = self.standing.left_for(into) else { return Ok(()) };
        let on = Some(self.standing.marks());
        self.standing.tries(&since);
        let (start, since) = (self.written, Some(since));
        let commit = Commit { start, since, on, at_ms: now(clock), ..Commit::default() };
        self.store.commit(&self.line, &commit).await.map(drop)
    }

    /// Takes up what the store holds of the conversation, where it holds anything: the last snapshot and what was said
    /// since; without one the originals and the summaries in force.
    pub(super) async fn load(&mut self, state: SessionState, name: Name) -> Result<SessionState, StoreError> {
        if name == Name::OfConversation
            && let Some(line) = self.store.named(&self.line).await?
        {
            self.line = line;
        }
        let Some(held) = self.store.state(&self.line).await? else { return Ok(state) };
        self.written = held.messages;
        self.destroyed = Destroyed::of(&held);
        let Some(kept) = self.store.snapshot(&self.line).await? else {
            return self.adopted(state, held.messages).await;
        };
        self.standing = Standing::on(kept.mark());
        let snapshot = serde_json::from_slice::<Snapshot>(&kept.bytes).ok();
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.messages() <= held.messages)
            && let Some(mut resumed) = self.resumed(&state, snapshot.clone()).await?
            && resumed.summary().map(|record| &record.id) == held.head()
        {
            let said_since = Span { start: snapshot.messages(), end: held.messages };
            let said_since = self.read(said_since).await?;
            since::go_on(&mut resumed, said_since, kept.since.as_deref());
            self.standing.goes_on(resumed.since());
            let (model, endpoint, known) = state.learned();
            if !(model.is_empty() && endpoint.is_empty()) {
                resumed.set_endpoint(model, endpoint);
            }
            known.into_iter().for_each(|known| resumed.learn_from(known.clone()));
            self.kept = Some(Mark { changes: 0, messages: snapshot.messages() });
            let note = FactsNote::find(&*self.store, &self.line, held.messages).await;
            self.facts = note.filter(|note| note.is_read_as(&resumed));
            return Ok(resumed);
        }
        // It cannot be taken up, or somebody else went on with the summaries and left none.
        self.adopted(state, held.messages).await
    }

    async fn resumed(
        &mut self,
        state: &SessionState,
        mut snapshot: Snapshot,
    ) -> Result<Option<SessionState>, StoreError> {
        for id in snapshot.summaries_wanted() {
            let Some(record) = self.summary(&id).await? else { return Ok(None) };
            snapshot.put_back_summary(&record);
        }
        let mut originals: HashMap<u64, Vec<Arc<Message>>> = HashMap::new();
        for span in snapshot.wants() {
            let messages = self.read(span).await?;
            originals.insert(span.start, messages.into_iter().map(Arc::new).collect());
        }
        let at_hand = |span: Span| originals.remove(&span.start).unwrap_or_default();
        // A branch may be opened by its own name.
        let snapshot = snapshot.of_session(state.session().clone());
        // One that cannot be taken up, of a newer version or damaged, is as good as none.
        Ok(state.clone().resume(snapshot, at_hand).ok())
    }

    /// Takes note of what is destroyed of the session as it is `held`.
    fn note_destroyed(&mut self, held: Option<&StoredSession>) {
        self.destroyed = held.map_or(self.destroyed, Destroyed::of);
    }

    /// Returns the session to go on with where somebody destroyed messages or summaries of it meanwhile: as the store has it. What
    /// `state` holds of them would be written again.
    pub(super) async fn without_destroyed(
        &mut self,
        state: &SessionState,
    ) -> Result<Option<SessionState>, StoreError> {
        let held = self.store.state(&self.line).await?;
        let Some(destroyed) = held.as_ref().map(Destroyed::of).filter(|now| *now != self.destroyed) else {
            return Ok(None);
        };
        let mut adopted = self.adopted(state.emptied(), self.written).await?;
        adopted.follow_on(state);
        // Known only now: where something could not be read, it is to be read again.
        (self.destroyed, self.kept, self.facts) = (destroyed, None, None);
        Ok(Some(adopted))
    }

    /// Returns the session with the messages that were deleted as `document` says them again, and the ordinals of these; `None` where
    /// it says none of them again. That it is what was said is known by its address, which the store keeps.
    #[cfg(feature = "wire")]
    pub(super) async fn said_again(
        &mut self,
        state: &SessionState,
        document: &longhaul_wire::Document,
    ) -> Result<Option<(SessionState, Vec<u64>)>, StoreError> {
        let all = Span { start: 0, end: self.written.min(document.transcript().len() as u64) };
        let entries = self.store.entries(&self.line, all).await?;
        let said = entries.iter().filter_map(|entry| {
            let message = document.spelled(entry.ordinal)?;
            let is_same = address_of(&state.without_secrets(&message)) == entry.address;
            is_same.then_some((entry.ordinal, message))
        });
        let said: HashMap<u64, Message> = said.collect();
        let is_again = |entry: &&JournalEntry| entry.is_forgotten && said.contains_key(&entry.ordinal);
        let again: Vec<u64> = entries.iter().filter(is_again).map(|entry| entry.ordinal).collect();
        if again.is_empty() {
            return Ok(None);
        }
        let mut adopted = self.adopted_as(state.emptied(), self.written, said).await?;
        adopted.follow_on(state);
        Ok(Some((adopted, again)))
    }

    async fn adopted(&mut self, state: SessionState, messages: u64) -> Result<SessionState, StoreError> {
        self.adopted_as(state, messages, HashMap::new()).await
    }

    /// Takes up messages and the summaries in force, the messages as `said` has them where it has them.
    async fn adopted_as(
        &mut self,
        mut state: SessionState,
        messages: u64,
        mut said: HashMap<u64, Message>,
    ) -> Result<SessionState, StoreError> {
        let originals = self.read(Span { start: 0, end: messages }).await?;
        let gone: Vec<bool> = originals.iter().map(is_gone).collect();
        for (ordinal, original) in (0..).zip(originals) {
            state.push(said.remove(&ordinal).unwrap_or(original));
        }
        let mut chain = self.store.chain(&self.line).await?;
        // Somebody else may have gone on.
        chain.retain(|record| record.covers.end <= messages);
        let is_deleted = chain.iter().any(|record| had_originals_deleted(record, &gone));
        state.adopt(chain);
        if is_deleted {
            state.note_deletion();
        }
        if gone.contains(&true) {
            state.read_summaries();
        }
        Ok(state)
    }

    /// Lets go of what the store holds and the next compaction will hardly read.
    pub(super) fn let_go(&self, state: &mut SessionState) {
        let ordinal = state.at_hand_from().min(self.written);
        state.let_go(ordinal);
    }
}

/// Returns whether most originals that a summary was made of are gone: they were deleted when it was made. Who forgets something forgets a
/// message or a few.
fn had_originals_deleted(record: &SummaryRecord, gone: &[bool]) -> bool {
    let is_gone = |ordinal: u64| usize::try_from(ordinal).is_ok_and(|at| gone.get(at) == Some(&true));
    let n_gone = record.covered.iter().filter(|covered| is_gone(covered.ordinal)).count();
    2 * n_gone > record.covered.len()
}

/// Returns what a session has of an original.
pub(super) fn said(original: Original) -> Message {
    original.message.unwrap_or_else(if original.is_changed { changed } else { forgotten })
}

/// Returns whether `step` was the last that was taken.
fn is_taken(step: &ChainStep, held: &longhaul_store::StoredSession) -> bool {
    match step {
        ChainStep::Append(record) => held.head() == Some(&record.id),
        ChainStep::Redo(id) => held.head() == Some(id),
        ChainStep::Undo(id) => held.undone.last() == Some(id),
    }
}

fn inverse(step: &ChainStep) -> ChainStep {
    match step {
        ChainStep::Append(record) => ChainStep::Undo(record.id.clone()),
        ChainStep::Redo(id) => ChainStep::Undo(id.clone()),
        ChainStep::Undo(id) => ChainStep::Redo(id.clone()),
    }
}

/// Returns the name of the nth branch of a session.
fn branch_name(name: &SessionId, nth: u64) -> SessionId {
    let stem: String = name.as_str().chars().take(SessionId::MAX_BYTES - BRANCH_SUFFIX).collect();
    let derived = || {
        SessionId::derived(&[ContentHash::of(name.as_str().as_bytes()), ContentHash::of(&nth.to_le_bytes())])
    };
    SessionId::new(&format!("{stem}-b{nth}")).unwrap_or_else(|_| derived())
}

/// A hyphen, a letter and a number.
const BRANCH_SUFFIX: usize = 22;

fn learned_key(model: &str, endpoint: &str) -> ContentHash {
    lasting_key([b"calibration".as_slice(), model.as_bytes(), endpoint.as_bytes()])
}

/// Without a clock everything happens at the epoch.
fn now(clock: Option<&dyn Clock>) -> i64 {
    clock.map_or(0, Clock::now_ms)
}
