//! What a front end said while nobody listened: its newest messages share nothing with what was said here, or reach back to before a
//! place where they did not.

use longhaul_transcript::{Entry, Span};

use super::{
    SessionState, Shown,
    by_client::ByClient,
    front_end::FrontEnd,
    known::{SyncError, is_reasoning},
    rewrite::{Counted, counted},
    shortened::{Begun, Cut, LEAST_RUN, Run, asked_before},
    sync::is_client_summary,
};

impl SessionState {
    /// Returns where a history goes on of a front end that is told to keep its newest messages, of which none were said here, or the last
    /// alone. As many as it keeps were said since, or it has none before and changed the first of them. In both cases what stood before
    /// them was not taken back.
    pub(super) fn behind_gap(
        &self,
        begun: &Begun<'_>,
        front_end: FrontEnd,
    ) -> Result<Option<Cut>, SyncError> {
        let Some(begun) = begun.clone().with_first(front_end.keeps_first) else { return Ok(None) };
        let n_notes = self.notices(&begun.said[begun.known..], begun.at);
        let (before, rest) = begun.said.split_at(begun.known + n_notes);
        let is_window = front_end.is_known && front_end.keeps_newest > 0;
        if !is_window || rest.is_empty() || rest.iter().take(2).any(is_client_summary) {
            return Ok(None);
        }
        let all = Span { start: begun.at, end: self.n_total() };
        self.at_hand(all)?;
        let is_full = begun.is_told_window(front_end);
        if let Some((nth, start)) = self.first_said(all, before, rest) {
            // As many in the place of as many are edits of what the history begins with.
            let is_in_place =
                start == begun.at + nth as u64 && nth > 0 && self.are_reworded(start, &rest[..nth]);
            let is_window = is_full && !is_in_place;
            let run = match nth {
                0 => Run::of(start, self.run_from(start, rest, &asked_before(before))),
                _ => self.up_to(start, before, &rest[..nth]),
            };
            return Ok(is_window.then(|| begun.cut(n_notes, run)));
        }
        let start = match is_full {
            true => Some(self.n_total()),
            false => self.newest_from.filter(|from| front_end.keeps_first == 0 && *from > begun.at),
        };
        Ok(start.map(|start| begun.cut(n_notes, Run::of(start, Vec::new()))))
    }

    /// Returns which is the first message of `rest` that was said in `span`, in words that are not said again and again, and where.
    fn first_said(&self, span: Span, before: &[Entry], rest: &[Entry]) -> Option<(usize, u64)> {
        let mut asked = asked_before(before);
        rest.iter().enumerate().find_map(|(nth, entry)| {
            let runs = self.runs(span, &rest[nth..], &asked).into_iter();
            asked.follow(&entry.message);
            let is_sure =
                |run: &Run| run.n_same >= LEAST_RUN || rest[nth..][..run.n_same].iter().any(is_telling);
            let longest = runs.filter(is_sure).max_by_key(|run| (run.n_same, run.start))?;
            Some((nth, longest.start))
        })
    }

    /// Returns whether messages stand in the place of as many others of the same roles, which end before `end`.
    fn are_reworded(&self, end: u64, said: &[Entry]) -> bool {
        let start = end.saturating_sub(said.len() as u64);
        let mut here = said.iter().zip(start..).map(|(said, at)| (said, self.originals.get(at)));
        here.all(|(said, here)| here.is_some_and(|here| here.message.role == said.message.role))
    }

    /// Returns what stands here before `end` of the messages that a history has before it: the first of them, for the others were said
    /// while nobody listened.
    fn up_to(&self, end: u64, before: &[Entry], said: &[Entry]) -> Run {
        let asked = asked_before(before);
        let ends = (1..=said.len()).rev().filter_map(|n| {
            let start = end.checked_sub(n as u64)?;
            let ordinals = self.run_from(start, &said[..n], &asked);
            (ordinals.len() == n).then(|| Run::of(start, ordinals))
        });
        ends.into_iter().next().unwrap_or(Run::of(end, Vec::new()))
    }

    /// Shows what a history has of before a place where nothing of it had been said, and of what was said since: what stands between the
    /// two was taken for a compaction of the front end's own, and it has it still.
    pub(super) fn show_from_before(&mut self, ordinals: &[Option<u64>]) -> Result<(), SyncError> {
        let out = self.out();
        let has = ordinals.iter().flatten().filter(|at| **at >= self.head && out.contains(**at));
        let Some(first) = has.min().copied() else { return Ok(()) };
        self.at_hand(Span { start: first.saturating_sub(1), end: out.end })?;
        self.by_client.retain(|by_client| by_client.out.end <= first);
        if self.out().end < first && first > self.head {
            let lineage = first.checked_sub(1).and_then(|last| self.originals.lineage(last));
            let out = Span { start: self.head, end: first };
            self.by_client.push(ByClient { out, from: first, lineage, kept: None });
        }
        let again = Span { start: first, end: out.end };
        let is_again =
            |shown: &Shown| matches!(shown, Shown::Message { id, .. } if again.contains(id.ordinal));
        let mut shown: Vec<Counted> =
            self.items.placed().filter(|placed| !is_again(&placed.shown)).map(counted).collect();
        let is_later = |(shown, _): &Counted| match shown {
            Shown::Message { id, .. } => id.ordinal >= first,
            shown => shown.record().is_some(),
        };
        let at = shown.iter().position(is_later).unwrap_or(shown.len());
        let said = (again.start..again.end).filter_map(|ordinal| Some((self.whole(ordinal)?, None)));
        shown.splice(at..at, said.collect::<Vec<_>>());
        let shown = self.with_pins(shown);
        self.set_items(shown);
        self.lose_undone();
        self.undo.clear();
        self.rewrites += 1;
        self.index = Some(self.read_again());
        Ok(())
    }
}

impl Begun<'_> {
    /// Returns it with so many first messages, where what else it begins with alike are words that are said again and again. Whose first
    /// messages are not there has put something in their place.
    fn with_first(self, n: usize) -> Option<Self> {
        if self.n_kept() <= n {
            return (self.n_kept() == n).then_some(self);
        }
        let first = self.said[self.front..self.known].iter().enumerate();
        let (nth, _) = first.filter(|(_, entry)| !is_reasoning(entry)).nth(n)?;
        let known = self.front + nth;
        let at = (*self.ordinals.get(known)?)?;
        let is_chance = !self.said[known..self.known].iter().any(is_telling);
        let ordinals = self.ordinals.get(..known)?.to_vec();
        is_chance.then_some(Begun { known, at, ordinals, ..self })
    }

    /// Returns whether it goes on with as many messages as its front end is told to keep of its newest.
    pub(super) fn is_told_window(&self, front_end: FrontEnd) -> bool {
        let n_newest = self.said[self.known..].iter().filter(|entry| !is_reasoning(entry)).count();
        front_end.keeps_newest > 0
            && n_newest >= front_end.keeps_newest
            && self.n_kept() >= front_end.keeps_first
    }
}

/// Returns whether a message says more than many others do: "continue" and "ok" are said again and again.
pub(super) fn is_telling(entry: &Entry) -> bool {
    let n_bytes: usize = entry.message.texts().map(str::len).sum();
    n_bytes >= LEAST_TELLING
        || entry.message.calls().next().is_some()
        || entry.message.results().next().is_some()
}

/// Bytes of the shortest text that is not taken to be said twice by chance.
const LEAST_TELLING: usize = 24;
