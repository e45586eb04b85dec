//! The user's store: where it is, and how a compaction gets into it.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use longhaul::{
    Stored,
    redact::{Asked, Redactor},
    store::{History, Kin, Place, StoreError, SummaryStore, address_of, locate},
    transcript::{Message, Redacted, SessionId, Span, SummaryRecord},
    wire::Document,
};
use serde::Serialize;

use crate::{archive::tell_changed, exit::Impossible, paint::plain};

mod held;
mod left;
mod place;
mod trace;
mod withdraw;

pub(crate) use held::{Held, without_secret};
pub(crate) use left::{Left, replaced_at, tell_left_behind};
pub(crate) use place::{
    KEY, data_folder, flags, flags_from_anywhere, must_take_key, open, open_to_read, place, spare, try_place,
    try_to_write,
};
pub(crate) use trace::{Replaced, Standing, Trace, is_output, note_output};
pub(crate) use withdraw::Withdrawal;

/// A store of any kind.
pub(crate) type Store = Arc<dyn SummaryStore>;

/// Where a compaction was recorded.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recorded {
    pub(crate) session: String,
    pub(crate) store: String,
    /// How many originals were deleted after that.
    pub(crate) deleted: u64,
    /// The sessions that have what was said before the agent's own compactions, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<SessionId>,
    /// The originals that are to be deleted once the history is written.
    #[serde(skip)]
    pub(crate) to_delete: Vec<Span>,
    /// What it is a branch of, where one was begun for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch_of: Option<BranchOf>,
    /// The session's id, whatever name it goes by.
    #[serde(skip)]
    pub(crate) id: SessionId,
    /// How it is taken back, should nobody get the history; none where it was in force before.
    #[serde(skip)]
    pub(crate) withdrawal: Option<Withdrawal>,
    /// What of the session in the store is not as it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damaged: Option<longhaul::store::Problem>,
}

/// Where a history leaves a stored conversation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BranchOf {
    pub(crate) session: SessionId,
    /// The ordinal of the first message that differs.
    pub(crate) at: u64,
}

impl BranchOf {
    /// Returns what a history's place is a branch of, and says so.
    pub(crate) fn told(place: &Place) -> Option<BranchOf> {
        let Kin::Branch { of, at } = &place.kin else { return None };
        say!("{}", parting(of, *at, &place.session));
        Some(BranchOf { session: of.clone(), at: *at })
    }
}

/// Says that a history is kept as `place`, since it leaves `of` at the message `at`.
fn parting(of: &SessionId, at: u64, place: &SessionId) -> String {
    match at {
        0 => format!("this is another conversation than the stored {of}: kept apart from it, as {place}"),
        at => format!(
            "from m{at} on this is another conversation than the stored {of}: kept apart from it, as {place}"
        ),
    }
}

/// Runs `future` to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the async runtime does not start")?.block_on(future)
}

/// What becomes of originals once a summary covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterSummary {
    Kept,
    Deleted,
}

/// A document's history, for the store.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) id: Option<SessionId>,
    /// The name that the user gives the session.
    pub(crate) name: Option<&'a str>,
    /// The session that this process has recorded it as.
    pub(crate) held: Option<SessionId>,
    pub(crate) messages: Vec<Redacted<Message>>,
}

impl Said<'_> {
    pub(crate) fn new<'a>(
        id: Option<SessionId>,
        messages: Vec<Redacted<Message>>,
        name: Option<&'a str>,
    ) -> Said<'a> {
        Said { id, name, held: None, messages }
    }

    /// Puts beside each message how it is spelled in the document, for a store.
    pub(crate) fn with_spellings(mut self, document: &Document, redactor: Option<&Redactor>) -> Self {
        let mut asked = Asked::default();
        for (message, entry) in self.messages.iter_mut().zip(document.transcript().entries()) {
            let answers = asked.follow(&entry.message);
            let spelled = document.spelled(entry.id.ordinal);
            if let Some(spelled) = spelled.filter(|spelled| spelled.raw.is_some()) {
                *message = match redactor {
                    Some(redactor) => redactor.redact_answer(&spelled, &answers).0,
                    None => Redacted::assume(spelled),
                };
            }
        }
        self
    }

    /// Returns the name of the history where nothing is recorded yet.
    pub(crate) fn own_name(&self) -> SessionId {
        let addresses = || self.messages.iter().map(address_of).collect::<Vec<_>>();
        self.id.clone().unwrap_or_else(|| SessionId::derived(&addresses()))
    }

    /// Finds the conversation that the history belongs to.
    pub(crate) async fn locate(&self, store: &Store) -> Result<Place> {
        let named = match self.name {
            Some(name) => store.resolve(name).await.ok(),
            None => self.held.clone(),
        };
        let history = History { id: self.id.as_ref(), named: named.as_ref(), said: &self.messages };
        Ok(locate(store, &history).await?)
    }
}

/// Keeps the originals of a history that the store lacks, and the summary that was `made` of it as the one in force; beside
/// that stands the compacted history, as it will be read again. All of it is of the time `now`.
pub(crate) async fn keep(
    store: &Store,
    said: &Said<'_>,
    made: Option<(SummaryRecord, Vec<Redacted<Message>>)>,
    originals: AfterSummary,
    now: i64,
) -> Result<Kept> {
    let mut tries = TRIES;
    let place = loop {
        let place = said.locate(store).await?;
        if let Some(name) = said.name {
            refuse_the_id_of_another(store, name, &place).await?;
        }
        if made.is_some() && originals == AfterSummary::Kept {
            refuse_what_was_forgotten(store, &place).await?;
        }
        tries -= 1;
        match place.enter(store, &said.messages, now).await {
            // Another process wrote there in between.
            Err(StoreError::SessionExists { .. } | StoreError::Diverged { .. }) if tries > 0 => {}
            entered => {
                entered?;
                break place;
            }
        }
    };
    let (mut withdrawal, mut to_delete) = (None, Vec::new());
    if let Some((record, emitted)) = made {
        let head = emitted.iter().take_while(|message| message.is_system()).count();
        let after: Vec<_> = emitted.iter().skip(head + 1).map(address_of).collect();
        let state = store.require(&place.session).await?;
        let (before, forgotten) = (state.chain, state.forgotten);
        let record = place.record(store, &said.messages, &record, &after, now).await?;
        if before.last() != Some(&record.id) {
            let (session, record) = (place.session.clone(), record.id.clone());
            withdrawal = Some(Withdrawal { session, record, before, forgotten });
        }
        if originals == AfterSummary::Deleted {
            to_delete = Span::runs(record.covered.iter().map(|covered| covered.ordinal));
        }
    }
    if let Some(name) = said.name {
        store.set_alias(&SessionId::new(name)?, &place.session).await?;
    }
    Ok(Kept { place, to_delete, withdrawal })
}

/// What became of a record.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) place: Place,
    /// The originals that are to be deleted once the history is written: until then the record may be taken back.
    pub(crate) to_delete: Vec<Span>,
    /// How it is taken back; none where it was in force before.
    pub(crate) withdrawal: Option<Withdrawal>,
}

/// Fails where `name` is the id of a session that has nothing to do with the history: what is asked for under that name is to be
/// that session.
async fn refuse_the_id_of_another(store: &Store, name: &str, place: &Place) -> Result<()> {
    let id = SessionId::new(name)?;
    if id == place.session || store.state(&id).await?.is_none() {
        return Ok(());
    }
    let from = place.holder();
    match *from == id || store.comes_from(from, &id).await? || store.comes_from(&id, from).await? {
        true => Ok(()),
        false => bail!(Impossible(format!(
            "{} is the id of another conversation; name this one otherwise",
            plain(name)
        ))),
    }
}

/// Fails where the history still says what was forgotten: its summary would bring that back into the store.
async fn refuse_what_was_forgotten(store: &Store, place: &Place) -> Result<()> {
    let Some(state) = store.state(place.holder()).await? else { return Ok(()) };
    let said_again = place.ordinals.iter().flatten().filter(|ordinal| state.is_forgotten(**ordinal)).count();
    if said_again > 0 {
        bail!(
            "the transcript still says {said_again} messages of {} that were forgotten, and its summary would keep them",
            place.holder()
        );
    }
    Ok(())
}

/// Returns what stands behind the summary that a history begins with; `None` where the store does not hold that summary.
pub(crate) async fn stored(store: &Store, said: &Said<'_>) -> Result<Option<Stored>> {
    let place = said.locate(store).await?;
    let Some(summary) = place.summary().cloned() else { return Ok(None) };
    // From there on the history has all of them, as they were said.
    let new = place.ordinals.get(place.new).copied().flatten().unwrap_or(u64::MAX);
    let span = Span { start: 0, end: summary.through().min(new) };
    let originals = store.originals(place.holder(), span).await?;
    tell_changed(place.holder(), &originals);
    let originals = originals.into_iter().map(|original| original.message).collect();
    Ok(Some(Stored { originals, ordinals: place.ordinals, summary }))
}

/// How often a place is looked for that somebody else takes meanwhile.
const TRIES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_in_common_parts_at_no_message() {
        let [of, place] = ["talk", "talk-b1"].map(|name| SessionId::new(name).unwrap());
        assert!(parting(&of, 0, &place).starts_with("this is another conversation than the stored talk:"));
        assert!(parting(&of, 7, &place).starts_with("from m7 on this is another conversation than"));
    }
}
