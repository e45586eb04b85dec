//! Keeping a conversation in a store.

mod fork;
mod learned;
mod load;

use std::{collections::BTreeSet, sync::Arc};

use longhaul_extract::FactIndex;
use longhaul_store::{
    ChainStep, Commit, Original, Selector, StoreError, StoredSession, SummaryStore, only_in_summary,
};
use longhaul_tokens::Calibration;
use longhaul_transcript::{Clock, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};

use super::{
    facts::FactsNote,
    since::{self, Standing},
};
use crate::session::{SessionState, changed, forgotten};

/// A store, and how much of the conversation is in it.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    store: Arc<dyn SummaryStore>,
    /// The session in the store: that of the conversation, or of a branch of it.
    line: SessionId,
    /// Without one everything happens at the epoch.
    clock: Option<Arc<dyn Clock>>,
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
    /// The messages that were destroyed when the session was opened.
    forgotten: Vec<Span>,
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
    pub(super) fn new(
        store: Arc<dyn SummaryStore>,
        line: SessionId,
        clock: Option<Arc<dyn Clock>>,
    ) -> Journal {
        Journal {
            store,
            line,
            clock,
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
            forgotten: Vec::new(),
        }
    }

    pub(super) fn store(&self) -> &Arc<dyn SummaryStore> {
        &self.store
    }

    fn now(&self) -> i64 {
        self.clock.as_ref().map_or(0, |clock| clock.now_ms())
    }

    /// Returns the messages that were destroyed when the session was opened.
    pub(super) fn forgotten(&self) -> &[Span] {
        &self.forgotten
    }

    pub(super) fn line(&self) -> &SessionId {
        &self.line
    }

    /// Writes the messages that are not written yet, what a request changed, and a snapshot where one is due.
    /// `changes` counts what changed in the session beside messages.
    pub(super) async fn save(&mut self, state: &SessionState, changes: u64) -> Result<(), StoreError> {
        self.take_back_in_doubt().await?;
        let mark = Mark { changes, messages: state.originals().len() as u64 };
        let is_due = match &self.kept {
            None => mark.messages > 0,
            Some(kept) => kept.changes != changes || mark.messages >= kept.messages + SNAPSHOT_EVERY,
        };
        let is_due = is_due || self.cleared.is_some();
        let is_news = || self.kept.is_some() && self.standing.is_news(&state.since());
        if is_due || mark.messages > self.written || is_news() {
            let new = News { mark: is_due.then_some(mark), ..News::default() };
            self.commit(state, new).await?;
        }
        if is_due && self.is_to_overwrite {
            let nothing_more = Selector::Originals(Span { start: 0, end: 0 });
            self.is_to_overwrite =
                self.store.forget_in_line(&self.line, &nothing_more, self.now()).await.is_err();
        }
        Ok(())
    }

    /// Writes what is new, messages among it: all of it or nothing. Returns why what was deleted with it may still be found in
    /// the files of the store, where it may.
    async fn commit(
        &mut self,
        state: &SessionState,
        News { mut chain, forget, mark }: News,
    ) -> Result<Option<StoreError>, StoreError> {
        self.take_back_in_doubt().await?;
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
            at_ms: self.now(),
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
    async fn take_back_in_doubt(&mut self) -> Result<(), StoreError> {
        if let Some(name) = self.name_in_doubt.clone() {
            self.store.set_alias(&name, &self.line).await?;
            self.name_in_doubt = None;
        }
        if self.is_in_doubt_taken().await?
            && let Some(held) = self.store.state(&self.line).await?
        {
            let (start, chain) = (held.messages, self.in_doubt.iter().rev().map(inverse).collect());
            let commit = Commit { start, chain, at_ms: self.now(), ..Commit::default() };
            self.store.commit(&self.line, &commit).await?;
            // The snapshot that stands beside the chain is of what was taken back.
            self.kept = None;
        }
        self.in_doubt.clear();
        Ok(())
    }

    /// Writes the session as it is with `record` applied: messages, record, snapshot. The originals in `forget` are deleted
    /// with it; returns why they may still be found in the files of the store, where they may.
    pub(super) async fn append(
        &mut self,
        applied: &SessionState,
        record: &SummaryRecord,
        forget: Vec<Span>,
        changes: u64,
    ) -> Result<Option<StoreError>, StoreError> {
        let chain = vec![ChainStep::Append(Box::new(applied.redacted_record(record)))];
        let mark = Some(Mark { changes, messages: applied.originals().len() as u64 });
        self.commit(applied, News { chain, forget, mark }).await
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
    ) -> Result<(), StoreError> {
        let mark = Some(Mark { changes, messages: stepped.originals().len() as u64 });
        let new = News { chain, mark, ..News::default() };
        self.commit(stepped, new).await.map(drop)
    }

    /// Returns how many of the originals that a summary replaced were deleted, so that they are in the summary only.
    pub(super) async fn only_in(&self, record: &SummaryId) -> Result<u64, StoreError> {
        only_in_summary(&*self.store, &self.line, record).await
    }

    /// Returns how many messages are written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Takes note of what is destroyed of the session as it is `held`.
    fn note_destroyed(&mut self, held: Option<&StoredSession>) {
        self.destroyed = held.map_or(self.destroyed, Destroyed::of);
    }

    /// Lets go of what the store holds and the next compaction will hardly read.
    pub(super) fn let_go(&self, state: &mut SessionState) {
        let ordinal = state.at_hand_from().min(self.written);
        state.let_go(ordinal);
    }
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
