//! A conversation as the store has it, taken up again.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

#[cfg(feature = "wire")]
use longhaul_redact::Asked;
use longhaul_store::StoreError;
#[cfg(feature = "wire")]
use longhaul_store::{JournalEntry, address_of};
use longhaul_transcript::{CallId, Message, Span, SummaryId, SummaryRecord};

use super::{
    super::{
        facts::FactsNote,
        since::{self, Standing},
    },
    Destroyed, Journal, Mark, Name, said,
};
use crate::session::{SessionState, Snapshot, forgotten, forgotten_results, is_forgotten, is_gone};

impl Journal {
    /// Takes up what the store holds of the conversation, where it holds anything: the last snapshot and what was said
    /// since; without one the originals and the summaries in force.
    pub(in super::super) async fn load(
        &mut self,
        state: SessionState,
        name: Name,
    ) -> Result<SessionState, StoreError> {
        if name == Name::OfConversation
            && let Some(line) = self.store.named(&self.line).await?
        {
            self.line = line;
        }
        let Some(held) = self.store.state(&self.line).await? else { return Ok(state) };
        self.written = held.messages;
        self.destroyed = Destroyed::of(&held);
        self.forgotten.clone_from(&held.forgotten);
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

    /// Returns the session to go on with where somebody destroyed messages or summaries of it meanwhile: as the store has it. What
    /// `state` holds of them would be written again.
    pub(in super::super) async fn without_destroyed(
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
    pub(in super::super) async fn said_again(
        &mut self,
        state: &SessionState,
        document: &longhaul_wire::Document,
    ) -> Result<Option<(SessionState, Vec<u64>)>, StoreError> {
        let all = Span { start: 0, end: self.written.min(document.transcript().len() as u64) };
        let entries = self.store.entries(&self.line, all).await?;
        let mut asked = Asked::default();
        let said = entries.iter().filter_map(|entry| {
            let message = document.spelled(entry.ordinal)?;
            let is_same = address_of(&state.without_secrets(&message, &mut asked)) == entry.address;
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

    /// Reads originals that `state` asks for.
    pub(in super::super) async fn put_back(
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
    pub(in super::super) async fn summary(
        &self,
        id: &SummaryId,
    ) -> Result<Option<Arc<SummaryRecord>>, StoreError> {
        Ok(self.store.record(&self.line, id).await?.map(Arc::new))
    }

    async fn read(&mut self, span: Span) -> Result<Vec<Message>, StoreError> {
        let originals = self.store.originals_in_line(&self.line, span).await?;
        for original in originals.iter().filter(|original| original.is_changed) {
            if self.changed.insert(original.ordinal) {
                self.untold.push(original.ordinal);
            }
        }
        let mut messages = originals.into_iter().map(said).collect::<Vec<_>>();
        tie(&mut messages);
        Ok(messages)
    }

    /// Returns the messages that were found changed since this was last asked.
    pub(in super::super) fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.untold)
    }
}

/// Leaves no call without a result and no result without its call where the other one was destroyed.
fn tie(messages: &mut [Message]) {
    for at in 0..messages.len() {
        if is_forgotten(&messages[at]) {
            let calls = unanswered(messages, at);
            if !calls.is_empty() {
                messages[at] = forgotten_results(calls);
            }
        } else if is_orphan(messages, at) {
            messages[at] = forgotten();
        }
    }
}

/// Returns whether the message at `at` answers calls of which the one before it, which was destroyed, made all.
fn is_orphan(messages: &[Message], at: usize) -> bool {
    let is_behind_destroyed = at > 0 && is_forgotten(&messages[at - 1]);
    if messages[at].results().next().is_none() || !is_behind_destroyed {
        return false;
    }
    // Its call stands before it in the same exchange, or nowhere.
    let calls: HashSet<&CallId> =
        exchange_before(messages, at).flat_map(|message| message.calls().map(|call| &call.id)).collect();
    !messages[at].results().any(|result| calls.contains(&result.call_id))
}

/// Returns the calls that what was destroyed at `at` answered: one, or where it was the last of its exchange all that are left.
fn unanswered(messages: &[Message], at: usize) -> Vec<CallId> {
    let mut calls: Vec<CallId> = exchange_before(messages, at)
        .flat_map(|message| message.calls().map(|call| call.id.clone()))
        .collect();
    calls.reverse();
    let behind = messages[at + 1..].iter().take_while(|message| is_tied(message) || is_forgotten(message));
    let near = messages[..at].iter().rev().take_while(|message| is_tied(message)).chain(behind);
    let answered: HashSet<&CallId> =
        near.flat_map(|message| message.results().map(|result| &result.call_id)).collect();
    calls.retain(|call| !answered.contains(call));
    let goes_on = |next: &Message| is_forgotten(next) || next.results().next().is_some();
    calls.truncate(if messages.get(at + 1).is_some_and(goes_on) { 1 } else { usize::MAX });
    calls
}

/// Returns the messages before `at` that may be of its exchange, the newest first.
fn exchange_before(messages: &[Message], at: usize) -> impl Iterator<Item = &Message> {
    messages[..at].iter().rev().take_while(|message| is_tied(message) || is_forgotten(message))
}

/// Returns whether a message calls or answers.
fn is_tied(message: &Message) -> bool {
    message.calls().next().is_some() || message.results().next().is_some()
}

/// Returns whether most originals that a summary was made of are gone: they were deleted when it was made. Who forgets something forgets a
/// message or a few.
fn had_originals_deleted(record: &SummaryRecord, gone: &[bool]) -> bool {
    let is_gone = |ordinal: u64| usize::try_from(ordinal).is_ok_and(|at| gone.get(at) == Some(&true));
    let n_gone = record.covered.iter().filter(|covered| is_gone(covered.ordinal)).count();
    2 * n_gone > record.covered.len()
}
