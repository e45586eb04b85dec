//! Other ways the conversation might go on: each is a line of its own that knows nothing of the others.

use longhaul_redact::Asked;
use longhaul_transcript::{MessageId, Span, SummaryId};

use super::{
    LONGEST_EXCHANGE, SessionState, Shown,
    exchange::Exchange,
    exchange_around,
    rewrite::{Counted, Past, counted},
    snapshot::stored_in,
    stored::is_forgotten,
};
use crate::{compact::standing, policy::PolicyState};

/// A branch could not be begun. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// The message is none of this conversation's, or of another branch of it.
    #[error("m{} is no message of this conversation", .0.ordinal)]
    Unknown(MessageId),
    /// The message was deleted.
    #[error("m{} was deleted", .0.ordinal)]
    Deleted(MessageId),
    /// The branch would begin before a compaction that deleted what it took the place of.
    #[error(
        "{messages} of the messages that it would begin with were deleted: they are in a summary that was made later"
    )]
    OnlyInSummary {
        /// How many were deleted.
        messages: u64,
    },
    /// What the branch begins with is in the store only and has to be [put back](SessionState::put_back) first, as
    /// [`Session::branch`](crate::Session::branch) does.
    #[error("{} spans of originals are not at hand: Session::branch reads them from the store", .0.len())]
    NotAtHand(Vec<Span>),
    /// Summaries that the branch begins with are in the store only and have to be
    /// [put back](SessionState::put_back_summary) first, as [`Session::branch`](crate::Session::branch) does.
    #[error("{} summaries are not at hand: Session::branch reads them from the store", .0.len())]
    SummariesNotAtHand(Vec<SummaryId>),
}

impl SessionState {
    /// Returns a branch that ends with the message `id`: the conversation as it was then, which goes on by itself. What was
    /// said later is not known there: neither its facts nor a summary that has read it. Both share what they have in
    /// common. A branch that would end within an exchange ends before it: half an exchange is no history that a provider
    /// takes.
    ///
    /// # Errors
    /// When there is no such message, or what is needed is not at hand: of a session with a store, ask
    /// [`Session::branch`](crate::Session::branch).
    pub fn branch(&self, id: MessageId) -> Result<SessionState, BranchError> {
        if id.ordinal >= self.n_total() {
            return Err(BranchError::Unknown(id));
        }
        let known = self.originals.get(id.ordinal);
        let around = || self.originals.missing([exchange_around(id.ordinal)]);
        let entry = known.ok_or_else(|| BranchError::NotAtHand(around()))?;
        if entry.id != id {
            return Err(if is_forgotten(&entry.message) {
                BranchError::Deleted(id)
            } else {
                BranchError::Unknown(id)
            });
        }
        let unit = self.unit_of(id.ordinal);
        self.cut_to(if unit.end == id.ordinal + 1 { unit.end } else { unit.start })
    }

    /// Goes back to the message `id` and goes on from there; see [`branch`](Self::branch). Keep a copy of the state before
    /// to be able to take up what was said later.
    ///
    /// # Errors
    /// Those of `branch`.
    pub fn rewind(&mut self, id: MessageId) -> Result<(), BranchError> {
        *self = self.branch(id)?;
        Ok(())
    }

    /// Forgets what was undone: on a branch of its own a store does not know of it.
    pub(crate) fn forget_undone(&mut self) {
        self.redo.clear();
        self.redo_is_lost = false;
        self.undo.iter_mut().for_each(|past| past.instead_of = 0);
    }

    /// Returns the conversation as it was when it had `len` messages.
    pub(super) fn cut_to(&self, len: u64) -> Result<SessionState, BranchError> {
        if len >= self.n_total() {
            return Ok(self.clone());
        }
        let mut branch = self.clone();
        let newest_view = self.undo.iter().rposition(|past| past.made_at <= len);
        let shapes = newest_view.map(|at| &self.undo[at]).filter(|_| self.made_at > len);
        let spans = match (self.made_at <= len, shapes) {
            (true, _) => Vec::new(),
            (false, Some(past)) => past.wants(len),
            (false, None) => vec![Span { start: 0, end: len }],
        };
        // With nothing left of what the front end has since, what it took out stands again.
        branch.by_client.retain(|by_client| by_client.out.end < len);
        let recent = Span { start: len.saturating_sub(LONGEST_EXCHANGE).max(branch.out().end), end: len };
        let mut missing = self.originals.missing(spans.into_iter().chain([recent]));
        if let Some(last) = len.checked_sub(1).filter(|last| self.originals.lineage(*last).is_none()) {
            missing.push(self.originals.to_date(last));
        }
        if !missing.is_empty() {
            return Err(BranchError::NotAtHand(missing));
        }
        let stored = shapes.map(|past| stored_in(&past.shapes)).unwrap_or_default();
        if !stored.is_empty() {
            return Err(BranchError::SummariesNotAtHand(stored));
        }

        branch.originals.truncate(len);
        branch.costs.truncate(len);
        branch.index = None;
        branch.head = self.head.min(len);
        // With nothing said under them, those in force are those that were said.
        branch.instructions = branch.instructions.filter(|_| len > self.head);
        branch.pins.retain(|pin| *pin < len);
        branch.untold.retain(|ordinal| *ordinal < len);
        branch.exchange = Exchange::default();
        branch.asked = Asked::default();
        branch.answers.retain(|ordinal, _| *ordinal < len);
        branch.forget_undone();
        branch.undo.iter_mut().for_each(|past| past.truncate(len));
        for original in branch.originals.originals(recent) {
            branch.exchange.push(original.entry.id.ordinal, &original.entry.message);
            branch.asked.follow(&original.entry.message);
        }
        let requests =
            branch.standing_originals().filter(|original| standing::is_request(&original.entry.message));
        branch.request = requests.last().map(|original| original.entry.id.ordinal);
        let is_before =
            |(shown, _): &Counted| !matches!(shown, Shown::Message { id, .. } if id.ordinal >= len);
        let shown: Vec<Counted> = match (self.made_at <= len, shapes) {
            (true, _) => self.items.placed().take(self.items.before(len)).map(counted).collect(),
            (false, past) => {
                branch.undo.truncate(newest_view.unwrap_or(0));
                branch.policy = PolicyState::new();
                let (shapes, n_total, made_at) = past
                    .map_or((&[][..], 0, branch.made_by_client_at()), |past: &Past| {
                        (&past.shapes[..], past.n_total, past.made_at)
                    });
                branch.made_at = made_at;
                branch.cut = past.and_then(|past| past.cut);
                let mut shown = branch.shown_of(shapes);
                shown.retain(is_before);
                let since = (n_total..len).filter(|ordinal| !branch.out().contains(*ordinal));
                shown.extend(since.filter_map(|ordinal| Some((branch.whole(ordinal)?, None))));
                shown
            }
        };
        if self.made_at > len && self.lives_on_summaries() {
            let messages = shown.iter().filter(|(shown, _)| is_forgotten(shown.message())).count() as u64;
            if messages > 0 {
                return Err(BranchError::OnlyInSummary { messages });
            }
        }
        let shown = match self.instructions.is_some() && branch.instructions.is_none() {
            true => (0..len).filter_map(|ordinal| Some((branch.whole(ordinal)?, None))).collect(),
            false => shown,
        };
        // What the newest took the place of, held or too large for it, is the newest again. What somebody let go of stays so.
        let took_the_place = |(newest, cost): (u64, _)| {
            newest >= len && (self.pins.contains(&newest) || self.is_too_large(cost))
        };
        if self.newest_memory().is_some_and(took_the_place) {
            branch.pin_newest_memory();
        }
        let shown = branch.with_pins(shown);
        branch.set_items(shown);
        branch.rewrites += 1;
        branch.policy.observe(branch.tokens(), &branch.limits());
        Ok(branch)
    }
}
