//! What somebody did beneath a window: edited one of the first messages that it shows, or went back further than it reaches.

use longhaul_transcript::{Entry, Span};

use super::{
    SessionState,
    by_client::SaidTwice,
    front_end::FrontEnd,
    gaps::is_telling,
    known::SyncError,
    shortened::{Begun, Cut, LEAST_RUN, Run, asked_before, is_proof},
};
use crate::compact::standing;

impl SessionState {
    /// Returns where a history goes on that leaves out what was said longer ago and begins, behind its first messages, with some of
    /// which one was edited. What stands before them was not handed in, and nobody took it back.
    pub(super) fn edited_in_window(
        &self,
        begun: &Begun<'_>,
        front_end: FrontEnd,
    ) -> Result<Option<Cut>, SyncError> {
        let &Begun { said, known, at, .. } = begun;
        let is_told = begun.is_told_window(front_end);
        for nth in 1..=MOST_BEFORE.min(said.len() - known) {
            let Some(run) = self.run_of(said, known + nth, at + nth as u64, is_told)? else { continue };
            let start = run.start.saturating_sub(nth as u64);
            let behind = &said[known + nth..][..run.n_same];
            let is_all = run.n_same > 1 && known + nth + run.n_same == said.len();
            let is_newest = || run.end() == self.n_total() && (is_all || behind.iter().any(is_telling));
            let is_window = run.n_same >= LEAST_RUN + 2 || is_told && is_newest();
            if start <= at || !is_window {
                continue;
            }
            let asked = asked_before(&said[..known]);
            // Where it stands as well where nothing is left out, nothing is.
            let in_place = self.run_from(at + nth as u64, &said[known + nth..], &asked);
            let same = self.run_from(start, &said[known..], &asked);
            if in_place.len() >= run.n_same || same.len() >= nth || is_told && same.len() + 1 < nth {
                continue;
            }
            let n_new = said.len() - known - nth - run.n_same;
            let may_begin = match front_end.keeps_newest {
                0 => begun.n_kept() >= front_end.keeps_first && self.may_begin_at(start, n_new),
                _ => is_told,
            };
            if same.is_empty() && !may_begin {
                continue;
            }
            let (there, here) = (&said[known + same.len()], self.originals.get(start + same.len() as u64));
            let is_reworded = |here: &Entry| here.message.role == there.message.role;
            if here.is_some_and(is_reworded) && !standing::is_instruction(&there.message) {
                return Ok(Some(begun.cut(0, Run::of(start, same))));
            }
        }
        Ok(None)
    }

    /// Returns whether the newest messages of a front end of which nothing is told may begin with the one at `start`, of which it changed
    /// the words: it left out before what was said earlier, and no more of it now than its new messages account for. Otherwise it may be
    /// a summary that bears no mark.
    fn may_begin_at(&self, start: u64, n_new: usize) -> bool {
        let slid = |from: u64| {
            let most = n_new as u64 + 1 + (self.n_total() - from.min(self.n_total())) / 2;
            (from..=from + most).contains(&start)
        };
        self.newest_from.is_some_and(slid)
    }

    /// Returns where a history goes on that leaves out what was said longer ago and was taken back further than the newest messages
    /// reach: to a stretch of the line that it says word for word, that stands there once, and that is half of it at least.
    pub(super) fn far_back(&self, begun: &Begun<'_>) -> Result<Option<Cut>, SyncError> {
        let &Begun { said, known, at, .. } = begun;
        let n_notes = self.notices(&said[known..], at);
        let (before, rest) = said.split_at(known + n_notes);
        if rest.len() < LEAST_RUN {
            return Ok(None);
        }
        let all = Span { start: at + 1, end: self.n_total() };
        self.at_hand(all)?;
        let runs = self.runs(all, rest, &asked_before(before));
        let Some(longest) = runs.iter().map(|run| run.n_same).max() else { return Ok(None) };
        let mut longest_runs = runs.into_iter().filter(|run| run.n_same == longest);
        let (Some(run), None) = (longest_runs.next(), longest_runs.next()) else { return Ok(None) };
        let is_sure = longest >= LEAST_RUN && 2 * longest >= rest.len() && is_proof(&rest[..longest]);
        Ok(is_sure.then(|| begun.cut(n_notes, run)))
    }

    /// Returns a run where it is since the front end compacted by itself, where it kept all of it then: what it took out does not come
    /// back. Of what was taken back since, only the rest is there.
    pub(super) fn as_since(&self, run: Run) -> Run {
        let is_in_a_row = (run.start..).zip(&run.ordinals).all(|(at, ordinal)| *ordinal == Some(at));
        let since = self.since_then(Span { start: run.start, end: run.end() });
        let Some(start) = since.filter(|start| is_in_a_row && *start <= self.n_total()) else { return run };
        let end = (start + run.ordinals.len() as u64).min(self.n_total());
        Run { start, ordinals: (start..end).map(Some).collect(), n_same: run.n_same }
    }

    /// Returns what a front end that compacts by itself hands in of what was said here last, where `said` is said next.
    pub(super) fn said_twice(&self, said: &[Entry]) -> Option<SaidTwice> {
        let len = self.n_total();
        let last = Span { start: len.saturating_sub(said.len() as u64), end: len };
        let kept = |nth: usize| {
            let runs = self.runs(last, &said[nth..], &asked_before(&said[..nth]));
            let run = runs.into_iter().max_by_key(|run| (run.ordinals.len(), run.start))?;
            let before = Span { start: run.start, end: run.end() };
            (before.end == len || run.ordinals.len() >= LEAST_RUN)
                .then_some(SaidTwice { before, since: len + nth as u64 })
        };
        (0..said.len().min(MOST_BEFORE)).find_map(kept)
    }

    /// Returns where the newest messages of a history begin of which `left_out` messages are missing before them.
    pub(super) fn newest_from(&self, ordinals: &[Option<u64>], left_out: u64) -> Option<u64> {
        let mut next = self.head;
        for ordinal in ordinals.iter().flatten().filter(|ordinal| **ordinal >= self.head) {
            if left_out > 0 && *ordinal == next + left_out {
                return Some(*ordinal);
            }
            next = ordinal + 1;
        }
        None
    }
}

/// How many of the first messages of a window may be looked at for an edit: behind four that are as they were the window is known.
const MOST_BEFORE: usize = 4;
