//! Following a front end that hands over less than was said: it leaves out what was said longer ago, or has put words of its own in its
//! place, which bear no mark.

use std::cell::LazyCell;

use longhaul_redact::Asked;
use longhaul_transcript::{CallId, Entry, Part, Span};

use super::{
    SessionState, SyncReport, cleared,
    front_end::FrontEnd,
    gaps::is_telling,
    known::{SyncError, is_reasoning, is_same},
};

impl SessionState {
    /// Follows a front end that leaves out what was said longer ago, or has put words of its own in its place, which bear no mark.
    pub(super) fn sync_shortened(
        &mut self,
        begun: Begun<'_>,
        front_end: FrontEnd,
    ) -> Result<Option<SyncReport>, SyncError> {
        let Begun { said, front, known, at, .. } = begun.clone();
        if at >= self.n_total() {
            return Ok(None);
        }
        if !front_end.is_whole
            && let Some(Cut { run, ordinals, left_out }) = self.cut_of(&begun, front_end)?
        {
            let sync = self.go_on(said, ordinals.len(), run.end(), ordinals)?;
            return Ok(Some(SyncReport { left_out, ..sync }));
        }
        if known > front {
            return Ok(None);
        }
        for own in 0..=MOST_OWN.min(said.len() - front) {
            let place = self.head + own as u64;
            match self.run_of(said, front + own, place, false)? {
                Some(run) if run.start > place => return Ok(Some(self.compacted_by_client(said, front))),
                // As many messages in the place of as many are edits.
                Some(_) if self.reworded(&said[..front]).is_some() => {
                    let ordinals = self.ordinals_behind(front, Span { start: self.head, end: self.head });
                    return self.go_on(said, front, self.head, ordinals).map(Some);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns where a history goes on that leaves out what stood behind its first messages.
    fn cut_of(&self, begun: &Begun<'_>, front_end: FrontEnd) -> Result<Option<Cut>, SyncError> {
        for (fewer, least) in begun.clone().readings(front_end) {
            let cut = self.cut_behind(&fewer, front_end)?;
            if let Some(cut) = cut.filter(|cut| cut.run.n_same >= least) {
                return Ok(Some(cut));
            }
        }
        // An edit far behind the beginning: what follows it need not be read back.
        if begun.n_kept() > front_end.keeps_first.max(MOST_KEPT) {
            return Ok(None);
        }
        if let Some(cut) = self.edited_in_window(begun, front_end)? {
            return Ok(Some(cut));
        }
        match self.far_back(begun)? {
            Some(cut) => Ok(Some(cut)),
            None => self.behind_gap(begun, front_end),
        }
    }

    /// Returns what was said here late and follows the messages that a history begins with, where it leaves out what stood between, and
    /// the ordinals of all that it has of these.
    fn cut_behind(&self, begun: &Begun<'_>, front_end: FrontEnd) -> Result<Option<Cut>, SyncError> {
        let (&Begun { said, known, at, .. }, n_kept) = (begun, begun.n_kept());
        // An edit far behind the beginning: what follows it need not be read back.
        if n_kept > front_end.keeps_first.max(MOST_KEPT) {
            return Ok(None);
        }
        let rest = &said[known..];
        // Few words that were said before are no window of who keeps many more.
        let is_far_from_full = n_kept > 0 && 2 * rest.len() < front_end.keeps_newest;
        let is_cut = |run: &Run| {
            if is_far_from_full && !rest.iter().any(is_telling) {
                return false;
            }
            n_kept <= front_end.keeps_first.max(1) || n_kept <= MOST_KEPT && run.n_same >= LEAST_RUN
        };
        let n_notes = self.notices(&said[known..], at);
        let run = self.run_of(said, known + n_notes, at + 1, front_end.is_known)?;
        Ok(run.filter(is_cut).map(|run| begun.cut(n_notes, run)))
    }

    /// Returns with how many messages `said`, of which the first was `at` here, begins that say nothing but that something was left out.
    pub(super) fn notices(&self, said: &[Entry], at: u64) -> usize {
        let is_notice = |(entry, at): &(&Entry, u64)| {
            let here =
                self.originals.get(*at).map(|here| here.message.texts().collect::<Vec<_>>().join("\n\n"));
            let is_text =
                |part: &Part| matches!(part, Part::Text(text) if cleared::is_notice(text, here.as_deref()));
            !entry.message.parts.is_empty() && entry.message.parts.iter().all(is_text)
        };
        said.iter().zip(at..).take(MOST_OWN).take_while(is_notice).count()
    }

    /// Returns what of the history from its message `nth` on was said here late, at `from` or behind it: the longest run of messages, and of
    /// these the last. Few that anybody may say ("Hello", "OK.") prove nothing: what bears the id of a call does, and where the
    /// conversation is known to be this one (`is_known`), two in a row, and what was said last.
    pub(super) fn run_of(
        &self,
        said: &[Entry],
        nth: usize,
        from: u64,
        is_known: bool,
    ) -> Result<Option<Run>, SyncError> {
        let (before, rest) = said.split_at(nth);
        // What it has may end before what was said last: a turn or two were taken back.
        let late = self.late(rest.len() + TAKEN_BACK, from)?;
        let least = if is_known { 1 } else { 2 };
        if rest.len() < least || late.len() < least as u64 {
            return Ok(None);
        }
        let runs = self.runs(late, rest, &asked_before(before)).into_iter();
        let is_last = |run: &Run| !run.ordinals.is_empty() && run.end() == self.n_total();
        // Where few words were said twice, whoever is known to keep the newest messages goes on from the last.
        let rank = |run: &Run| {
            let same = &rest[..run.n_same];
            let is_sure = is_proof(same);
            let is_likely = same.len() > 1 && same.iter().any(is_telling);
            (is_sure, is_known && is_likely, is_known && !is_sure && is_last(run), run.n_same, run.start)
        };
        let longest = runs.max_by_key(rank);
        let is_enough = |run: &Run| run.n_same > 1 || is_last(run);
        Ok(longest.filter(|run| is_known && is_enough(run) || is_proof(&rest[..run.n_same])))
    }

    /// Returns what of `rest`, which answers what was `asked`, was said in `span`, from each message on that it may begin with.
    pub(super) fn runs(&self, span: Span, rest: &[Entry], asked: &Asked) -> Vec<Run> {
        // One message is looked for among many: what it is without its secrets is found out once.
        let Some(first) = rest.iter().find(|entry| !is_reasoning(entry)) else { return Vec::new() };
        let clean = LazyCell::new(|| {
            let answers = asked.clone().follow(&first.message);
            self.clean_answer(&first.message, &answers).map(|clean| clean.hash)
        });
        let begins = |here: &Entry| {
            let is_it = here.id.hash == first.id.hash || is_same(first, here, false);
            is_it || *clean == Some(here.id.hash)
        };
        let starts = self.originals.originals(span).filter(|original| begins(&original.entry));
        let run = |start: u64| self.as_since(Run::of(start, self.run_from(start, rest, asked)));
        starts.map(|original| run(original.entry.id.ordinal)).collect()
    }

    /// Returns the ordinals of the messages that `said`, which answers what was `asked`, begins with, as they follow each other from
    /// `start` on. Reasoning that the front end leaves out, or hands in later, is no gap.
    pub(super) fn run_from(&self, start: u64, said: &[Entry], asked: &Asked) -> Vec<Option<u64>> {
        let (mut ordinals, mut next, mut asked) = (Vec::new(), start, asked.clone());
        loop {
            let rest = &said[ordinals.len()..];
            if let Some(at) = self.said_from(next, rest, &asked) {
                asked.follow(&rest[0].message);
                ordinals.push(Some(at));
                next = at + 1;
            } else if let Some(n) = self.behind_new_reasoning(next, rest, &asked) {
                ordinals.extend(std::iter::repeat_n(None, n));
            } else {
                return ordinals;
            }
        }
    }

    /// Returns what was said last, of which `n` messages may be a history's: at `from` or behind it, reasoning alone not counted.
    fn late(&self, n: usize, from: u64) -> Result<Span, SyncError> {
        let end = self.n_total();
        let (mut start, mut left) = (end, n);
        while left > 0 && start > from {
            let before = Span { start: start.saturating_sub(left as u64).max(from), end: start };
            self.at_hand(before)?;
            left -=
                self.originals.originals(before).filter(|original| !is_reasoning(&original.entry)).count();
            start = before.start;
        }
        Ok(Span { start: start.max(from), end: end.max(from) })
    }
}

/// A history whose first messages were said here.
#[derive(Clone)]
pub(super) struct Begun<'s> {
    pub(super) said: &'s [Entry],
    /// How many standing instructions it begins with.
    pub(super) front: usize,
    /// How many of its messages are those here before `at`.
    pub(super) known: usize,
    pub(super) at: u64,
    /// One for each of these.
    pub(super) ordinals: Vec<Option<u64>>,
}

impl<'s> Begun<'s> {
    /// Returns how many messages behind the instructions it begins with, reasoning not counted.
    pub(super) fn n_kept(&self) -> usize {
        self.said[self.front..self.known].iter().filter(|entry| !is_reasoning(entry)).count()
    }

    /// Returns where it goes on with `run`, behind its first messages and so many notes.
    pub(super) fn cut(&self, n_notes: usize, run: Run) -> Cut {
        let all = self.ordinals.iter().copied().chain((0..n_notes).map(|_| None));
        let ordinals = all.chain(run.ordinals.iter().copied()).collect();
        Cut { left_out: run.start - self.at, run, ordinals }
    }

    /// Returns it, and with fewer of the first messages, each with how many messages in a row have to follow then: the newest may begin as
    /// those do that stood behind the first ones, where people say the same each time ("continue").
    fn readings(self, front_end: FrontEnd) -> Vec<(Begun<'s>, usize)> {
        let known = self.known;
        let told = self.up_to(front_end.keeps_first);
        let told = told.map(|begun| (LEAST_RUN.max(known - begun.known + 1), begun));
        // What they begin with alike proves nothing where nobody told how many are kept.
        let is_near = self.n_kept() <= MOST_KEPT + LEAST_RUN;
        let untold = self.up_to(MOST_KEPT).filter(|_| is_near);
        let untold = untold.map(|begun| (LEAST_RUN + known - begun.known, begun));
        let fewer = told.into_iter().chain(untold).map(|(least, begun)| (begun, least));
        std::iter::once((self, 1)).chain(fewer).collect()
    }

    /// Returns the same with the first `n` messages alone, where it has more.
    fn up_to(&self, n: usize) -> Option<Begun<'s>> {
        let first = self.said[self.front..self.known].iter().enumerate();
        let mut first = first.filter(|(_, entry)| !is_reasoning(entry)).map(|(nth, _)| self.front + nth);
        let known = first.nth(n).filter(|_| n > 0)?;
        let ordinals = self.ordinals.get(..known)?.to_vec();
        let at = ordinals.iter().rev().flatten().next().map_or(0, |last| last + 1);
        Some(Begun { known, at, ordinals, ..*self })
    }
}

/// A history of which what stood between its first messages and those said late was left out.
pub(super) struct Cut {
    pub(super) run: Run,
    /// One for each message up to the end of the run.
    pub(super) ordinals: Vec<Option<u64>>,
    /// How many messages stood between.
    pub(super) left_out: u64,
}

/// Messages of a history that were said here in a row.
pub(super) struct Run {
    /// Where it was looked for.
    pub(super) start: u64,
    /// One for each message; none for reasoning that was left out when they were said.
    pub(super) ordinals: Vec<Option<u64>>,
    /// How many messages of the history were said, those included that were taken back since.
    pub(super) n_same: usize,
}

impl Run {
    pub(super) fn of(start: u64, ordinals: Vec<Option<u64>>) -> Run {
        Run { start, n_same: ordinals.len(), ordinals }
    }

    /// Returns the ordinal behind its last message.
    pub(super) fn end(&self) -> u64 {
        self.ordinals.iter().rev().flatten().next().map_or(self.start, |last| last + 1)
    }
}

/// Returns what is asked by these messages.
pub(super) fn asked_before(before: &[Entry]) -> Asked {
    let mut asked = Asked::default();
    before.iter().for_each(|entry| drop(asked.follow(&entry.message)));
    asked
}

/// Returns whether messages that were said here in a row show that the conversation is the same.
pub(super) fn is_proof(run: &[Entry]) -> bool {
    // Where a format has no ids the names of tools stand for them.
    let is_own =
        |id: &CallId| id.as_str().len() >= LEAST_ID && id.as_str().bytes().any(|b| b.is_ascii_digit());
    let bears_id = |entry: &Entry| {
        let mut calls = entry.message.calls();
        calls.any(|call| is_own(&call.id) && call.id.as_str() != &*call.name)
            || entry.message.results().any(|result| is_own(&result.call_id))
    };
    run.len() >= LEAST_RUN || run.len() >= 2 && run.iter().any(bears_id)
}

/// Bytes of the shortest id of a call that no other has.
const LEAST_ID: usize = 8;

/// How many messages in a row are no chance.
pub(super) const LEAST_RUN: usize = 4;

/// How many messages may have been taken back at once by who hands in the newest ones only.
const TAKEN_BACK: usize = 40;

/// How many of its first messages a front end keeps before a gap without having said so: the first request stands for the task, and some
/// keep its answer, or a few turns. OpenHands keeps up to five, Cline two.
const MOST_KEPT: usize = 6;

/// How many messages a front end puts in the place of what it leaves out: a summary, and perhaps an answer to it.
const MOST_OWN: usize = 2;
