//! Following a front end that hands over its whole history each time, as a file or a request does.

use std::sync::Arc;

use longhaul_extract::speaker::{Matter, Segment, segments};
use longhaul_transcript::{ContentHash, Entry, Message, Span};
use longhaul_wire::Document;

use super::{
    BranchError, SessionState, Shown,
    by_client::ByClient,
    exchange::Exchange,
    front_end::FrontEnd,
    known::{Known, SyncError},
    rewrite::{Counted, counted},
    shortened::Begun,
    stored::is_forgotten,
    synced::{SyncReport, Synced},
};
use crate::compact::standing;

impl SessionState {
    /// Brings the session to where `document` is: what was added is pushed; where the history took another way, the session
    /// goes on from the last message they share, and what came after it is another branch's (keep a copy of the state to
    /// take it up again).
    ///
    /// Messages are those that were said here where the front end leaves their reasoning out, writes other blanks or escapes into the JSON of
    /// a call's arguments, or has other white space at the ends of lines; and where it clears an older result, or cuts it: no text, its text without its
    /// pictures, the beginning (and the end) with a mark where it was cut, or a note alone that says nothing but that something was left out
    /// (`[Old tool result content cleared]`, `Old environment output: (14 lines omitted)`). The view goes on from them as they were said. What
    /// else became of a result is an edit: another picture, another outcome, a cut that is not said, and what was taken out for what it says
    /// (`[REDACTED]`, `[omitted for security]`). What a store has without its secrets is what was said with them, and goes out as the
    /// history says it: in memory alone, never into the store, a summary or an event.
    ///
    /// The document is taken to be of this conversation. Whether it is, is for the caller to know: by an id of its own
    /// ([`sync_with`](Self::sync_with) takes its word where little was said before), or, where
    /// histories come without one, by [`locate`](crate::store::locate), which finds the stored conversation that a history
    /// belongs to.
    ///
    /// # Errors
    /// When originals are needed that are not at hand.
    pub fn sync(&mut self, document: &Document) -> Result<SyncReport, SyncError> {
        self.sync_with(document, FrontEnd::default())
    }

    /// Does so for a history of a front end of which the caller knows something.
    ///
    /// # Errors
    /// When originals are needed that are not at hand.
    pub fn sync_with(&mut self, document: &Document, front_end: FrontEnd) -> Result<SyncReport, SyncError> {
        let all = document.transcript().entries();
        let front = all.iter().take_while(|entry| standing::is_instruction(&entry.message)).count() as u64;
        // Instructions that came back without their secrets are not worded otherwise.
        self.say_again(document, (0..front).map(Some));
        let Known { entries, places, alike } = self.as_said_here(all)?;
        let place = |at: usize| places.as_ref().map_or(Some(at), |places| places[at]);
        let pinned = self.pinned_words();
        let (before, summaries) = ((self.items.clone(), self.originals.clone()), self.summary_ids());
        let spelled = |at| document.spelled(place(at)? as u64);
        let SyncReport { change, ordinals: here, left_out, .. } =
            self.go_to(&entries, alike, front_end, spelled)?;
        if change != Synced::Another {
            self.newest_from = self.newest_from(&here, left_out);
        }
        let mut ordinals = vec![None; all.len()];
        for (at, ordinal) in here.into_iter().enumerate() {
            if let Some(said) = place(at) {
                ordinals[said] = ordinal;
            }
        }
        self.say_again(document, ordinals.iter().copied());
        let unpinned = self.pin_again(&pinned, &ordinals);
        let (gone, summaries_gone) = match change.takes_away() {
            true => (self.gone_since(&before), self.summaries_gone(summaries)),
            false => (0, Vec::new()),
        };
        let not_shown = self.not_shown(&ordinals);
        Ok(SyncReport { change, ordinals, unpinned, gone, summaries_gone, left_out, not_shown })
    }

    /// Brings the session to where `said` is, of which `alike` messages behind the instructions are as they are here, whatever those
    /// are; `spelled` gives its messages as the front end spells them.
    fn go_to(
        &mut self,
        said: &[Entry],
        alike: u64,
        front_end: FrontEnd,
        spelled: impl Fn(usize) -> Option<Message>,
    ) -> Result<SyncReport, SyncError> {
        let (len, common) = (self.n_total(), self.common_with(said)?);
        let front = said.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
        // What may be new is kept as the front end spells it.
        let spelled = |(at, entry): (usize, &Entry)| match at < front || at as u64 >= common {
            true => spelled(at)
                .map_or(entry.clone(), |message| Entry { message: Arc::new(message), ..entry.clone() }),
            false => entry.clone(),
        };
        let said: &[Entry] = &said.iter().enumerate().map(spelled).collect::<Vec<_>>();
        if common == len {
            return self.go_on(said, common as usize, common, ordinals_from(0, common));
        }
        let since = self.since_by_client(said, front)?.filter(|(_, known, _)| *known as u64 >= common);
        if let Some(sync) = self.sync_with_view(said, since.as_ref().map_or(0, |(_, known, _)| *known))? {
            return Ok(sync);
        }
        if let Some((from, known, at)) = since {
            return self.sync_with_client(said, front, front_end, (from, known, at));
        }
        // A summary is no opening that thousands of conversations share.
        let shares_summary = |n: usize| said[..n].iter().any(is_client_summary);
        let is_asked_here = shares_summary(common as usize) || self.is_asked(Span { start: 0, end: common });
        let alike = if is_asked_here { 0 } else { alike.max(self.alike(&said[front..])?) };
        // One that was said here under other instructions is no new one.
        let is_new_summary = || said[front..].iter().take(2).skip(alike as usize).any(is_client_summary);
        if common as usize <= front && is_new_summary() {
            return Ok(self.compacted_by_client(said, front));
        }
        let alike = match shares_summary(front + alike as usize) {
            true => alike,
            false => self.asked_among(&said[front..], alike),
        };
        let (known, at) = match common as usize > front {
            true => (common as usize, common),
            false => (front + alike as usize, self.head + alike),
        };
        let ordinals = match common as usize > front {
            true => ordinals_from(0, at),
            false => self.ordinals_behind(front, Span { start: self.head, end: at }),
        };
        let begun = Begun { said, front, known, at, ordinals: ordinals.clone() };
        if let Some(sync) = self.sync_shortened(begun, front_end)? {
            return Ok(sync);
        }
        if alike > 0 && self.reworded(&said[..front]).is_some() {
            return self.go_on(said, known, at, ordinals);
        }
        if !is_asked_here && alike == 0 {
            return Ok(match front_end.is_known && said.len() > front {
                true => self.compacted_by_client(said, front),
                false => SyncReport::new(Synced::Another, vec![None; said.len()]),
            });
        }
        let is_answer = !self.is_asked(Span { start: common, end: len });
        self.go_back_to(common)?;
        self.instruct(&said[..front.min(common as usize)]);
        let n = said.len() as u64 - common;
        let sync = self.grown(said, common as usize, ordinals_from(0, common));
        let change = other_way(common, n, is_answer);
        Ok(SyncReport { change, ..sync })
    }

    /// Returns the ordinals of a history that begins with `front` standing instructions, be they as many as here or not, and behind them
    /// with the messages of `span`.
    pub(super) fn ordinals_behind(&self, front: usize, span: Span) -> Vec<Option<u64>> {
        let mut ordinals = ordinals_from(0, self.head.min(front as u64));
        ordinals.resize(front, None);
        ordinals.extend((span.start..span.end).map(Some));
        ordinals
    }

    /// Returns how many messages both begin with.
    pub(super) fn common_with(&self, said: &[Entry]) -> Result<u64, SyncError> {
        let end = self.n_total().min(said.len() as u64);
        self.common(end, |ordinal| (ordinal, Some(said[ordinal as usize].lineage)))
    }

    /// Returns how many messages of the history were said here, and the ordinal at which it goes on: from the first message
    /// on, since a compaction of the front end's own, or under instructions that are worded otherwise.
    pub(super) fn shared_with(&self, said: &[Entry]) -> Result<(usize, u64), SyncError> {
        let common = self.common_with(said)?;
        let front = said.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
        if common == self.n_total() || common as usize > front {
            return Ok((common as usize, common));
        }
        if let Some((_, known, at)) = self.since_by_client(said, front)? {
            return Ok((known, at));
        }
        // Its first message may be spelled otherwise.
        if let Some(last) = self.by_client.last().filter(|_| front < said.len()) {
            return Ok((front, last.from));
        }
        let alike = self.alike(&said[front..])?;
        Ok((front + alike as usize, self.head + alike))
    }

    /// Goes on from the messages before `at`, which are the first `known` of the history, with the rest of it. The front end's
    /// instructions may be others each time, as where they tell the time: what was said under them is as it was, and so are its
    /// summaries.
    pub(super) fn go_on(
        &mut self,
        said: &[Entry],
        known: usize,
        at: u64,
        ordinals: Vec<Option<u64>>,
    ) -> Result<SyncReport, SyncError> {
        let len = self.n_total();
        let is_answer = !self.is_asked(Span { start: at, end: len });
        if at < len {
            self.go_back_to(at)?;
        }
        self.show_from_before(&ordinals)?;
        let known_ones = said[..known].iter();
        let front = known_ones.take_while(|entry| standing::is_instruction(&entry.message)).count();
        self.instruct(&said[..front]);
        let sync = self.grown(said, known, ordinals);
        let n = (said.len() - known) as u64;
        let change = if at == len { sync.change } else { other_way(at, n, is_answer) };
        Ok(SyncReport { change, ..sync })
    }

    /// Returns how many messages behind the instructions are the same, whatever those are.
    fn alike(&self, said: &[Entry]) -> Result<u64, SyncError> {
        let before = self.head.checked_sub(1);
        let mut lineage = before.and_then(|last| self.originals.lineage(last));
        if let Some(last) = before.filter(|_| lineage.is_none()) {
            return Err(SyncError::NotAtHand(vec![self.originals.to_date(last)]));
        }
        let end = (said.len() as u64).min(self.n_total() - self.head);
        let lineages: Vec<ContentHash> = said[..end as usize]
            .iter()
            .map(|entry| {
                let before = lineage.as_ref().map_or(&[][..], |before| &before.0[..]);
                let here = ContentHash::of_fields([before, &entry.id.hash.0]);
                lineage = Some(here);
                here
            })
            .collect();
        self.common(end, |nth| (self.head + nth, Some(lineages[nth as usize])))
    }

    /// Returns `alike`, or 0 where no person asks for anything in so many messages: thousands of conversations begin alike.
    fn asked_among(&self, said: &[Entry], alike: u64) -> u64 {
        let is_asked = said[..alike as usize].iter().any(|entry| standing::is_request(&entry.message));
        if is_asked { alike } else { 0 }
    }

    /// Returns how many of `end` messages both begin with. `said` gives for each the ordinal that it would have here, and
    /// its lineage.
    fn common(&self, end: u64, said: impl Fn(u64) -> (u64, Option<ContentHash>)) -> Result<u64, SyncError> {
        let is_same = |nth: u64| {
            let (ordinal, lineage) = said(nth);
            match self.originals.lineage(ordinal) {
                Some(here) => Ok(lineage == Some(here)),
                None => Err(SyncError::NotAtHand(vec![self.originals.to_date(ordinal)])),
            }
        };
        // The usual case: it has grown.
        if end == 0 || is_same(end - 1)? {
            return Ok(end);
        }
        let (mut low, mut high) = (0, end - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_same(middle)? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// Returns with how many elements of the view the history begins.
    fn common_with_view(&self, said: &[Entry]) -> usize {
        let pairs = self.items.shown().zip(said);
        pairs.take_while(|(shown, entry)| shown.message().content_hash() == entry.id.hash).count()
    }

    /// Follows a front end that goes on from what it was given: the view, and perhaps more. More than the first `known` messages
    /// have to be the view's.
    fn sync_with_view(&mut self, said: &[Entry], known: usize) -> Result<Option<SyncReport>, SyncError> {
        let is_summary = |(at, shown): (usize, &Shown)| shown.record().map(|_| at + 1);
        let summaries = self.items.shown().enumerate().filter_map(is_summary).last();
        // After a compaction of its own it begins with a summary that is no record of ours.
        let front = self.items.shown().take_while(|shown| shown.is_instruction()).count();
        let first = self.items.shown().find_map(|shown| match shown {
            Shown::Message { id, .. } if id.ordinal >= self.head => Some(id.ordinal),
            _ => None,
        });
        let of_client = first.filter(|first| *first > self.head).map(|_| front + 1);
        let Some(summaries) = summaries.or(of_client) else { return Ok(None) };
        let common = self.common_with_view(said);
        if common < summaries || common <= known {
            return Ok(None);
        }
        let ordinal = |shown: &Shown| match shown {
            Shown::Message { id, .. } => Some(id.ordinal),
            _ => None,
        };
        let ordinals: Vec<Option<u64>> = self.items.shown().take(common).map(ordinal).collect();
        let next = self.items.shown().nth(common).and_then(ordinal);
        let n = (said.len() - common) as u64;
        let Some(at) = next else {
            return Ok(Some(self.grown(said, common, ordinals)));
        };
        let is_answer = !self.is_asked(Span { start: at, end: self.n_total() });
        self.go_back_to(at)?;
        let sync = self.grown(said, common, ordinals);
        let change = other_way(at, n, is_answer);
        Ok(Some(SyncReport { change, ..sync }))
    }

    /// Returns since which compaction of the front end's own the history goes on, where what it had then begins; how many messages of it
    /// were said here, and the ordinal at which it goes on.
    fn since_by_client(&self, said: &[Entry], front: usize) -> Result<Option<(u64, usize, u64)>, SyncError> {
        let mut most: Option<(u64, usize, u64)> = None;
        let mut end = self.n_total();
        for ByClient { out, from, lineage, .. } in self.by_client.iter().rev() {
            // What came back from a store without its secrets has lineages of its own, but for the last message.
            let here = from.checked_sub(1).and_then(|before| self.originals.lineage(before));
            for before in [*lineage, here.filter(|here| Some(*here) != *lineage)].into_iter().flatten() {
                let mut lineage = before;
                let mut next = |entry: &Entry| {
                    lineage = ContentHash::of_fields([&lineage.0[..], &entry.id.hash.0]);
                    Some(lineage)
                };
                let rest = said[front..].iter().take(end.saturating_sub(*from) as usize);
                let lineages: Vec<Option<ContentHash>> = rest.map(&mut next).collect();
                let common =
                    self.common(lineages.len() as u64, |nth| (from + nth, lineages[nth as usize]))?;
                let known = front + common as usize;
                if common > 0 && most.is_none_or(|(_, most, _)| most < known) {
                    most = Some((*from, known, from + common));
                }
            }
            end = out.end;
        }
        Ok(most)
    }

    /// Follows a front end that compacted by itself before and hands in what it has since: the first `known` messages are those here
    /// from `from` to `at`.
    fn sync_with_client(
        &mut self,
        said: &[Entry],
        front: usize,
        front_end: FrontEnd,
        (from, known, at): (u64, usize, u64),
    ) -> Result<SyncReport, SyncError> {
        let ordinals = self.ordinals_behind(front, Span { start: from, end: at });
        let begun = Begun { said, front, known, at, ordinals: ordinals.clone() };
        if let Some(sync) = self.sync_shortened(begun, front_end)? {
            return Ok(sync);
        }
        self.go_on(said, known, at, ordinals)
    }

    /// Returns whether a person says something in `span`, or said it where it was destroyed.
    fn is_asked(&self, span: Span) -> bool {
        let mut originals = self.originals.originals(span).map(|original| &original.entry.message);
        originals.any(|message| standing::is_request(message) || is_forgotten(message))
    }

    fn go_back_to(&mut self, len: u64) -> Result<(), SyncError> {
        *self = self.cut_to(len).map_err(|error| match error {
            BranchError::NotAtHand(spans) => SyncError::NotAtHand(spans),
            BranchError::SummariesNotAtHand(ids) => SyncError::SummariesNotAtHand(ids),
            BranchError::OnlyInSummary { messages } => SyncError::OnlyInSummary { messages },
            BranchError::Unknown(_) | BranchError::Deleted(_) => SyncError::NotAtHand(Vec::new()),
        })?;
        Ok(())
    }

    /// Pushes the messages of `said` from index `from` on.
    fn grown(&mut self, said: &[Entry], from: usize, mut ordinals: Vec<Option<u64>>) -> SyncReport {
        let new = said.get(from..).unwrap_or_default();
        ordinals.extend(new.iter().map(|entry| Some(self.push(entry.message.clone()).ordinal)));
        let change = if new.is_empty() { Synced::Unchanged } else { Synced::Grew { n: new.len() as u64 } };
        SyncReport::new(change, ordinals)
    }

    /// Shows what the front end has after a compaction of its own, and nothing else. What it took out stays among the
    /// originals.
    pub(super) fn compacted_by_client(&mut self, said: &[Entry], front: usize) -> SyncReport {
        // However many there are now, they are shown in front, and not said among the messages.
        self.instruct(&said[..front]);
        let placed = self.items.placed().take_while(|placed| placed.shown.is_instruction());
        let head: Vec<Counted> = placed.map(counted).collect();
        let mut ordinals = self.ordinals_behind(front, Span { start: self.head, end: self.head });
        let past = self.past();
        // What the provider wrote stands in what the front end has now, or the front end dropped it.
        self.unpin_memory();
        let out = Span { start: self.head, end: self.n_total() };
        // What it still has is pinned there.
        let again = |pin: &u64| {
            let pinned = self.originals.get(*pin)?.id.hash;
            let at = said[front..].iter().position(|entry| entry.id.hash == pinned)?;
            Some(out.end + at as u64).filter(|_| out.contains(*pin))
        };
        self.pins = self.pins.iter().map(|pin| again(pin).unwrap_or(*pin)).collect();
        // As it was said: what came back from a store without its secrets has another lineage.
        let last = self.n_total().checked_sub(1).and_then(|last| self.originals.lineage(last));
        let kept = self.said_twice(&said[front..]);
        self.by_client.push(ByClient { out, from: out.end, lineage: last, kept });
        let shown = self.with_pins(head);
        self.set_items(shown);
        self.lose_undone();
        self.remember(past);
        // There is nothing of ours to go back to: the front end would not follow.
        self.undo.clear();
        self.policy.replaced();
        (self.exchange, self.request) = (Exchange::default(), None);
        self.index = Some(self.read_again());
        ordinals.extend(said[front..].iter().map(|entry| Some(self.push(entry.message.clone()).ordinal)));
        self.made_at = self.made_by_client_at();
        SyncReport::new(Synced::CompactedByClient { n: (said.len() - front) as u64 }, ordinals)
    }
}

impl SessionState {
    /// Returns whether what a history came to may be owed to messages that were deleted.
    pub(crate) fn is_owed_to_deletion(&self, came: &Result<SyncReport, SyncError>) -> bool {
        let is_deleted = |at: u64| self.originals.get(at).is_some_and(|entry| is_forgotten(&entry.message));
        self.lives_on_summaries()
            && match came {
                Ok(sync) => match sync.change {
                    Synced::Unchanged | Synced::Grew { .. } => false,
                    Synced::Rewound { to: at }
                    | Synced::Regenerated { at, .. }
                    | Synced::Edited { at, .. } => is_deleted(at),
                    Synced::CompactedByClient { .. } | Synced::Another => true,
                },
                Err(error) => matches!(error, SyncError::OnlyInSummary { .. }),
            }
    }
}

/// Returns whether a message is a client's own summary, by the marks that agents' sources and recordings show, where a text begins with
/// one: a person may quote them. A summary of ours is none of the client's.
pub(super) fn is_client_summary(entry: &Entry) -> bool {
    let mut part = None;
    let begins = |piece: &Segment<'_>| part.replace(piece.part) != Some(piece.part);
    let mut first = segments(&entry.message).into_iter().filter(begins);
    !standing::begins_with_summary(&entry.message) && first.any(|piece| piece.matter == Matter::Summary)
}

/// Returns what it is that the history goes on otherwise from `at` with `n` messages, in the place of answers only or of
/// more.
fn other_way(at: u64, n: u64, is_answer: bool) -> Synced {
    match (n, is_answer) {
        (0, _) => Synced::Rewound { to: at },
        (_, true) => Synced::Regenerated { at, n },
        (_, false) => Synced::Edited { at, n },
    }
}

pub(super) fn ordinals_from(start: u64, end: u64) -> Vec<Option<u64>> {
    (start..end).map(Some).collect()
}
