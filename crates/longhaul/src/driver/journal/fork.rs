//! A branch begins a line of its own, and may take the name.

use std::collections::HashMap;
#[cfg(feature = "wire")]
use std::sync::Arc;

#[cfg(feature = "wire")]
use longhaul_redact::Asked;
use longhaul_store::{Commit, StoreError};
#[cfg(feature = "wire")]
use longhaul_store::{EventKind, JournalEntry, address_of};
#[cfg(feature = "wire")]
use longhaul_transcript::Span;
use longhaul_transcript::{ContentHash, SessionId, SummaryId, SummaryRecord};

#[cfg(feature = "wire")]
use super::Name;
use super::{super::since::Standing, Destroyed, Journal, Naming};
use crate::session::SessionState;

/// So many events may tell what a line begins with: that it does, its messages, its summaries.
#[cfg(feature = "wire")]
const MOST_OF_FORK: u64 = 40;

impl Journal {
    /// Begins a line of its own with what `branch` begins with: its first `len` messages and the summaries in its view. An
    /// error says where somebody else went on in this line, so that the name cannot be taken.
    pub(in super::super) async fn fork(
        &mut self,
        branch: &SessionState,
        len: u64,
        naming: Naming,
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
            match self.store.branch(&self.line, &into, len, &chain, self.now()).await {
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
            self.leave(&into).await?;
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

    /// Returns how many messages this line has of the one that it left; `None` where it left none, or has gone on since.
    #[cfg(feature = "wire")]
    pub(in super::super) async fn forked_at(&self) -> Result<Option<u64>, StoreError> {
        let state = self.store.state(&self.line).await?;
        let is_new = state.is_some_and(|state| state.forked_from.is_some() && state.events <= MOST_OF_FORK);
        if !is_new {
            return Ok(None);
        }
        let begun = self.store.events(&self.line, 1, 1).await?.pop();
        Ok(begun.and_then(|event| match event.kind {
            EventKind::Originals { addresses, .. } => Some(addresses.len() as u64),
            _ => None,
        }))
    }

    /// Returns the longest of the other lines of this conversation that `document` begins with all of, where that is more than its first
    /// `shared` messages.
    #[cfg(feature = "wire")]
    pub(in super::super) async fn line_of(
        &self,
        state: &SessionState,
        document: &longhaul_wire::Document,
        shared: u64,
    ) -> Result<Option<SessionId>, StoreError> {
        let said = document.transcript().len() as u64;
        let mut asked = Asked::default();
        let mut address = |ordinal| {
            let message = document.spelled(ordinal)?;
            Some(address_of(&state.without_secrets(&message, &mut asked)))
        };
        let said: Vec<Option<ContentHash>> = (0..said).map(&mut address).collect();
        let mut longest: Option<(u64, SessionId)> = None;
        for line in self.store.lines(&self.line).await? {
            let held = self.store.state(&line).await?.map_or(0, |held| held.messages);
            let most = longest.as_ref().map_or(shared, |(most, _)| *most);
            if line == self.line || held <= most || held > said.len() as u64 {
                continue;
            }
            let entries = self.store.entries(&line, Span { start: 0, end: held }).await?;
            let is_said = |(entry, said): (&JournalEntry, &Option<ContentHash>)| {
                !entry.is_forgotten && Some(entry.address) == *said
            };
            if entries.len() as u64 == held && entries.iter().zip(&said).all(is_said) {
                longest = Some((held, line));
            }
        }
        Ok(longest.map(|(_, line)| line))
    }

    /// Returns what goes on with `line`, which the conversation's name stands for from now on, and the session as it was left there. An
    /// error says where somebody else went on in this line.
    #[cfg(feature = "wire")]
    pub(in super::super) async fn turned_to(
        &mut self,
        line: &SessionId,
        state: &SessionState,
    ) -> Result<(Journal, SessionState), StoreError> {
        self.may_leave().await?;
        let mut turned = Journal::new(Arc::clone(&self.store), line.clone(), self.clock.clone());
        turned.learned.clone_from(&self.learned);
        let mut taken_up = turned.load(state.emptied(), Name::OfLine).await?;
        taken_up.set_calibrations(state.calibrations().clone());
        self.leave(line).await?;
        self.store.set_alias(state.session(), line).await?;
        Ok((turned, taken_up))
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
    async fn leave(&mut self, into: &SessionId) -> Result<(), StoreError> {
        let Some(since) = self.standing.left_for(into) else { return Ok(()) };
        let on = Some(self.standing.marks());
        self.standing.tries(&since);
        let (start, since) = (self.written, Some(since));
        let commit = Commit { start, since, on, at_ms: self.now(), ..Commit::default() };
        self.store.commit(&self.line, &commit).await.map(drop)
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
