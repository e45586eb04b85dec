//! The store beside a compaction: what is looked up there, recorded, and taken back.

use std::cell::OnceCell;

use anyhow::{Context as _, Result};
use longhaul::{
    CompactedDocument, redacted_messages,
    store::Selector,
    transcript::{SessionId, Span},
    wire,
};

use super::{Destination, Made, NotKept, Plan, Report};
use crate::{
    args::StoreArgs,
    clock, exit,
    output::{Kept, Target, are_same},
    store::{self, AfterSummary, BranchOf, Left, Recorded, Replaced, Said, Store, Trace},
};

/// The store that the flags name, opened once and when it is first needed.
pub(super) struct Keeper<'a> {
    args: &'a StoreArgs,
    /// Something is to be kept.
    pub(super) is_used: bool,
    opened: OnceCell<Store>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(args: &'a StoreArgs, is_used: bool) -> Keeper<'a> {
        Keeper { args, is_used, opened: OnceCell::new() }
    }

    /// Returns the store; it is made where there is none.
    pub(super) fn store(&self) -> Result<&Store> {
        match self.opened.get() {
            Some(store) => Ok(store),
            None => {
                let store = store::open(self.args)?;
                Ok(self.opened.get_or_init(|| store))
            }
        }
    }

    /// Returns the store where there is one, and something is to be kept.
    pub(super) fn existing(&self) -> Result<Option<&Store>> {
        match self.is_used && store::place(self.args)?.may_exist() {
            true => self.store().map(Some),
            false => Ok(None),
        }
    }

    /// Returns the flags with which an agent's command finds the store; `None` where it could not.
    pub(super) fn flags_from_anywhere(&self) -> Option<String> {
        store::flags_from_anywhere(self.args)
    }

    /// Returns the session that a history is, or will be, recorded as.
    pub(super) fn holder(&self, said: &Said<'_>) -> SessionId {
        let known = || match self.existing()? {
            Some(store) => store::block_on(said.locate(store)).map(|place| Some(place.session)),
            None => Ok(None),
        };
        // A store that cannot be read says so where something is recorded.
        known().ok().flatten().unwrap_or_else(|| said.own_name())
    }

    /// Returns whether these bytes are a history that was compacted here, word for word: what it was made from is in the store.
    pub(super) fn knows(&self, bytes: &[u8]) -> bool {
        let known = || match self.existing()? {
            Some(store) => store::block_on(store::is_output(store, bytes)),
            None => Ok(false),
        };
        known().unwrap_or(false)
    }
}

/// Records what was `made`, as far as it is to be, and notes in the report where.
///
/// # Errors
/// Where nothing may be written without it.
pub(super) fn record(plan: &Plan<'_>, made: Option<Made<'_>>, report: &mut Report) -> Result<()> {
    let (said, done, is_elsewhere) = match made {
        _ if !plan.keeper.is_used => return Ok(()),
        Some(Made { said, done, is_elsewhere, .. }) => (said, Some(done), is_elsewhere),
        // Whoever wants it kept wants that also of what is short.
        None if *plan.destination == Destination::Nowhere && plan.breakdown.messages > 0 => {
            let messages = redacted_messages(&plan.document, plan.redactor.as_ref());
            let said = Said::new(plan.session_id.clone(), messages, plan.name);
            (said.with_spellings(&plan.document, plan.redactor.as_ref()), None, false)
        }
        None => return Ok(()),
    };
    let must_be_recorded = plan.must_be_recorded();
    match recorded(plan, &said, done.as_ref()) {
        Ok((recorded, forgotten)) => {
            report.recorded = Some(recorded);
            report.not_kept = NotKept {
                converted: plan.came.as_ref().map_or(0, |came| came.n_losses),
                ..NotKept::of(&plan.document, &said.messages, forgotten, is_elsewhere)
            };
        }
        Err(error) if must_be_recorded => return Err(plan.unrecorded(error)),
        // Originals may have been written before what failed.
        Err(error) => report.not_recorded = Some(exit::words(&error)),
    }
    Ok(())
}

/// Keeps the originals alone, before anybody reads in a history that they are there. Where it goes to stdout nobody may get it, and
/// nothing is recorded before that: then it is only tried whether the store takes anything.
pub(super) fn keep_originals(plan: &Plan<'_>, said: &mut Said<'_>) -> Result<()> {
    if matches!(plan.target, Target::File { .. }) {
        let store = plan.keeper.store()?;
        let kept = store::block_on(store::keep(store, said, None, AfterSummary::Kept, clock::now_ms()))?;
        said.held = Some(kept.place.session);
        return Ok(());
    }
    store::try_place(plan.keeper.args, plan.document.as_bytes().len())?;
    match plan.keeper.existing()? {
        Some(store) => store::block_on(store::try_to_write(store)),
        None => Ok(()),
    }
}

/// Records the originals and the summary, where there is one, and returns where, and how many messages of it were forgotten.
fn recorded(plan: &Plan<'_>, said: &Said<'_>, done: Option<&CompactedDocument>) -> Result<(Recorded, u64)> {
    let store = plan.keeper.store()?;
    let emitted = |done: &CompactedDocument| -> Result<_> {
        let read = wire::read(Some(plan.document.format()), &*done.bytes);
        let read = read.context("the history cannot be read again")?;
        Ok((done.record.clone(), redacted_messages(&read, plan.redactor.as_ref())))
    };
    let made = done.map(emitted).transpose()?;
    let originals = if plan.config.delete_originals { AfterSummary::Deleted } else { AfterSummary::Kept };
    let kept = store::block_on(store::keep(store, said, made, originals, clock::now_ms()))?;
    let store::Kept { place, to_delete, withdrawal } = kept;
    let state = store::block_on(async { Ok(store.state(&place.session).await?) })?;
    let forgotten = state.as_ref().map_or(0, |state| state.forgotten.iter().map(Span::len).sum());
    // What was there before may have been damaged since.
    let damaged = store::block_on(async { Ok(store.verify(&place.session).await?) })?.problem;
    let branch_of = BranchOf::told(&place);
    let session = said.name.map_or_else(|| place.session.to_string(), str::to_owned);
    let store = store::place(plan.keeper.args)?.to_string();
    let id = place.session;
    // The one of a session and its branches that changed last is the session as it is now.
    let before = state.map_or_else(clock::now_ms, |state| state.changed_at_ms) - 1;
    let mut earlier = earlier(plan, before);
    // Before a compaction of ours it is the same session.
    earlier.retain(|earlier| *earlier != id);
    let deleted = 0;
    let recorded =
        Recorded { session, store, deleted, earlier, to_delete, branch_of, id, withdrawal, damaged };
    Ok((recorded, forgotten))
}

/// Keeps what was said before the agent's own compactions, as the agent saw it before each, and returns the sessions that have it,
/// oldest first. It counts as said at `at_ms`. The file has it all the same: where it cannot be kept, the rest is.
fn earlier(plan: &Plan<'_>, at_ms: i64) -> Vec<SessionId> {
    if plan.config.delete_originals {
        return Vec::new();
    }
    let document = plan.came.as_ref().map_or(&plan.document, |came| &came.document);
    let kept = document.before_compactions().map(|document| -> Result<SessionId> {
        let messages = redacted_messages(&document, plan.redactor.as_ref());
        let said = Said::new(document.session_id().or_else(|| plan.session_id.clone()), messages, None);
        let said = said.with_spellings(&document, plan.redactor.as_ref());
        let store = plan.keeper.store()?;
        Ok(store::block_on(store::keep(store, &said, None, AfterSummary::Kept, at_ms))?.place.session)
    });
    let kept: Result<Vec<SessionId>> = kept.collect();
    kept.unwrap_or_else(|error| {
        say!("what was said before the agent compacted is not kept: {}", exit::words(&error));
        Vec::new()
    })
}

/// Deletes the originals that the summary replaces, where the settings say so. The new history is written, and stays.
pub(super) fn delete_originals(plan: &Plan<'_>, report: &mut Report) -> Result<()> {
    let Some(recorded) = &mut report.recorded else { return Ok(()) };
    let (store, now) = (plan.keeper.store()?, clock::now_ms());
    for span in std::mem::take(&mut recorded.to_delete) {
        let forgotten = store::block_on(async {
            Ok(store.forget_in_line(&recorded.id, &Selector::Originals(span), now).await?)
        });
        let forgotten =
            forgotten.context("the new history is recorded, but not all originals are deleted")?;
        recorded.deleted += forgotten.message_count();
    }
    Ok(())
}

/// Takes the record of a history back that nobody got.
pub(super) fn take_back(plan: &Plan<'_>, report: &Report) {
    let Some(withdrawal) = report.recorded.as_ref().and_then(|recorded| recorded.withdrawal.as_ref()) else {
        return;
    };
    let store = plan.keeper.store();
    let done = store.and_then(|store| store::block_on(withdrawal.make(store, clock::now_ms())));
    if let Err(error) = done {
        say!("the store has it as in force all the same: {}", exit::words(&error));
    }
}

/// Says of the files that stood where the session is whether an agent has written to them since: nobody else would.
pub(super) fn tell_left_behind(plan: &Plan<'_>, report: &Report) {
    let Some(recorded) = &report.recorded else { return };
    let Ok(place) = plan.file.canonicalize() else { return };
    let replaced = |store: &Store| store::block_on(store::replaced_at(store, &recorded.id, &place));
    // What cannot be looked up is no reason to say that the compaction failed.
    store::tell_left_behind(&plan.keeper.store().and_then(replaced).unwrap_or_default());
}

/// Keeps beside the record what the compaction does to the file, so that `undo` can take that back too, and returns whether it
/// can. `backup` is where the file is kept that is replaced.
pub(super) fn keep_trace(
    plan: &Plan<'_>,
    report: &Report,
    history: &[u8],
    backup: Option<&Kept>,
) -> Result<bool> {
    let (Some(recorded), Some(record)) = (&report.recorded, &report.summary) else { return Ok(false) };
    // What was replaced may be another transcript than the one that was read.
    let before = |backup: &Kept| {
        let (before, path) = (std::fs::read(&backup.path).ok()?, plan.output?);
        let is_transcript = are_same(path, plan.file);
        let mut file = Replaced::new(path, &backup.path, &before, history)?.of(&recorded.id, is_transcript);
        backup.left.iter().filter_map(|left| Left::at(left)).for_each(|left| file.add_left(left));
        Some(file)
    };
    let made = plan.output.filter(|_| backup.is_none());
    let trace = Trace::new(plan.document.format(), backup.and_then(before), made).from(plan.file);
    let keep = async |store: &Store| {
        let is_kept = trace.keep(store, &record.id, plan.redactor.as_ref()).await?;
        if plan.output.is_some() {
            store::note_output(store, history, &record.id).await?;
        }
        Ok(is_kept)
    };
    let store = plan.keeper.store();
    store
        .and_then(|store| store::block_on(keep(store)))
        .context("what becomes of the file cannot be noted, so undo would not put it back")
}
