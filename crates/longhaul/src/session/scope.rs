//! What a compaction reads: what is new, some windows of what came before, and quotations of what lies further back.
//!
//! However long a conversation is, a compaction costs about the same. What lies beyond its reach lives on in three ways:
//! the fact index has read it, so that its names still compete for the summary; the record of the last summary states
//! constraints, goal and files; and the messages behind the best of these facts are quoted from the originals, not from a
//! summary's prose.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use longhaul_extract::{FactIndex, RankContext};
use longhaul_summarize::{
    rules,
    written::{joined, read_until, summarized_until, untold},
};
use longhaul_transcript::{
    Covered, Entry, FileNote, Message, MessageId, Part, Role, Span, SummaryMode, SummaryRecord, Tokens,
    ToolUse, Units,
};

use super::{LONGEST_EXCHANGE, SessionState, Shown, exchange_around, running, stored::forgotten};
use crate::{config::Chaining, policy::Action};

/// What a compaction reads, and what stays in front of it.
pub(super) struct Scope {
    /// From this ordinal on all messages are read.
    pub(super) start: u64,
    /// Messages before it that are quoted once more (see [`quotation`]), oldest first.
    pub(super) quoted: Vec<Entry>,
    /// What stands before it in the new view and is not the engine's to plan.
    pub(super) carried: Tokens,
    /// The summary covers what no summary before it did.
    pub(super) reads_new_only: bool,
    /// The summary that the new one folds in or continues.
    pub(super) previous: Option<Arc<SummaryRecord>>,
    /// The summary is made anew from originals, as far as they are read.
    pub(super) is_rebuilt: bool,
    /// Where the summaries begin that the new one replaces.
    pub(super) replaces_from: Option<u64>,
    /// Messages before `start` that the view shows and the new one does not.
    pub(super) let_go: Vec<Covered>,
    /// What summaries counted of messages that are not read again.
    pub(super) counted: Option<Counted>,
}

/// The uses of tools that summaries tell of.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) tools: Vec<ToolUse>,
    /// The first message that they do not tell of.
    pub(super) until: u64,
}

/// Which originals a compaction reads: all from `start` on, and those it quotes of what came before.
struct Reads {
    start: u64,
    quoted: Vec<u64>,
}

/// How many windows of messages are read again where a summary covers them. Eight are what a window holds several times
/// over: each compaction of eight in a row still reads every message from the original.
const REREAD_WINDOWS: f64 = 8.0;

/// How many windows of older messages are quoted; a summary is at most a tenth of a window.
const QUOTED_WINDOWS: f64 = 1.0;

/// A model may be shown so many transcripts' caps; it is given twice as much to choose from.
const MODEL_PASSES: f64 = 8.0;

impl SessionState {
    /// Returns the originals that a compaction reads and that are not at hand, to be read from the store and
    /// [put back](Self::put_back) before it is [planned](Self::plan). What is put back may show that more is needed: ask
    /// again until there is nothing.
    pub fn wanted_by(&self, action: Action) -> Vec<Span> {
        if self.index.is_none() {
            return self.originals.missing(self.standing());
        }
        let reads = self.reads(action);
        let quoted = reads.quoted.iter().map(|ordinal| Span { start: *ordinal, end: ordinal + 1 });
        // The exchange that it begins with may begin earlier.
        let start = reads.start.saturating_sub(LONGEST_EXCHANGE);
        self.originals.missing(quoted.chain([self.firsts(), Span { start, end: u64::MAX }]))
    }

    /// Returns what a compaction reads, and what stays in front of it.
    pub(super) fn scope(&self, action: Action, index: &FactIndex) -> Scope {
        let previous = self.summary().cloned();
        let is_apart = self.config.chaining != Chaining::Fold;
        let blocks = self.items.sums().blocks;
        if is_apart
            && previous.is_some()
            && !action.is_rebuild()
            && !self.leaves_out()
            && let Some(scope) = self.scope_of_new()
        {
            return scope;
        }
        let Reads { start, quoted } = self.reads_of(index);
        if self.is_whole(start) {
            // All originals are at hand: a rebuilt summary needs no earlier one, nor does one that replaces several. A model
            // may not be shown all of them, and goes on from what the summary before says of the rest.
            let asks_model = self.config.mode != SummaryMode::Rules;
            let previous = match self.config.chaining {
                Chaining::Fold => previous.filter(|_| !action.is_rebuild() || asks_model),
                Chaining::Append => self.all_before().filter(|_| asks_model),
                Chaining::Running => None,
            };
            let is_rebuilt = action.is_rebuild() || (is_apart && previous.is_some());
            return Scope { previous, is_rebuilt, carried: blocks, ..Scope::of_all() };
        }
        let previous = if is_apart { self.all_before() } else { previous };
        let request = self.request_tokens(start);
        // What is gone cannot be quoted.
        let quoted = if self.lives_on_summaries() { Vec::new() } else { self.to_quote(quoted) };
        Scope {
            start,
            quoted,
            carried: self.front_tokens() + self.items.pinned_before(start) + request,
            is_rebuilt: action.is_rebuild() || is_apart,
            replaces_from: self.summaries().map(|record| record.covers.start).min(),
            let_go: self.shown_messages_before(start).collect(),
            counted: self.tools_counted(),
            previous,
            ..Scope::of_all()
        }
    }

    /// Returns for how many of the messages before those that a compaction reads its summary stands: all that the new view
    /// does not show.
    pub(super) fn n_behind(&self, scope: &Scope) -> usize {
        if scope.reads_new_only && scope.previous.is_none() {
            return 0;
        }
        let is_before = |shown: &&Shown| matches!(shown, Shown::Message { id, digested: false, .. } if id.ordinal < scope.start);
        let before = self.items.shown().filter(is_before);
        let n_shown = before.filter(|shown| scope.reads_new_only || self.stays(shown)).count();
        let n_standing = scope.start - self.out().len().min(scope.start);
        usize::try_from(n_standing).unwrap_or(usize::MAX).saturating_sub(n_shown)
    }

    fn reads(&self, action: Action) -> Reads {
        let index = self.index();
        let is_apart = self.config.chaining != Chaining::Fold && !action.is_rebuild();
        if is_apart && self.latest.is_some() && !self.leaves_out() {
            let start = self.unit_start(self.uncovered);
            if let Some(reads) = self.reads_of_new(start) {
                return reads;
            }
        }
        self.reads_of(&index)
    }

    /// Returns which originals a compaction reads, for a summary that stands for all before it.
    fn reads_of(&self, index: &FactIndex) -> Reads {
        let start = if self.latest.is_some() { self.reach() } else { 0 };
        if self.is_whole(start) {
            return Reads { start: 0, quoted: Vec::new() };
        }
        Reads { start, quoted: self.quoted(start, &self.telling_before(start, index)) }
    }

    fn is_whole(&self, start: u64) -> bool {
        start <= self.head.max(self.out().end) && !(self.lives_on_summaries() && self.latest.is_some())
    }

    /// Takes note that the store deletes what the summaries stand for.
    pub(crate) fn note_deletion(&mut self) {
        self.has_deleted = true;
    }

    /// Forgets the originals that the last summary takes the place of, as the store has forgotten them.
    pub(crate) fn forget_covered(&mut self) {
        let Some(record) = self.latest.clone() else { return };
        self.forget(record.covered.iter().map(|covered| covered.ordinal));
    }

    /// Forgets originals that the store has forgotten.
    pub(crate) fn forget(&mut self, ordinals: impl IntoIterator<Item = u64>) {
        self.originals.forget(ordinals, &Arc::new(forgotten()));
    }

    /// Returns whether what summaries stand for can be had from them alone.
    pub(crate) fn lives_on_summaries(&self) -> bool {
        self.config.delete_originals || self.has_deleted
    }

    /// Returns whether the last summary leaves out, for want of room, what it stands for: the next tells of that as well.
    fn leaves_out(&self) -> bool {
        self.latest.as_deref().is_some_and(running::leaves_out)
    }

    /// Returns the summaries side by side in the view as one: the task is that of the first, and what each says stands.
    fn all_before(&self) -> Option<Arc<SummaryRecord>> {
        let records: Vec<&Arc<SummaryRecord>> = self.summaries().collect();
        let (first, last) = (records.first()?, records.last()?);
        if records.len() == 1 {
            return Some(Arc::clone(last));
        }
        let mut all = SummaryRecord::clone(last);
        all.summary.goal.clone_from(&first.summary.goal);
        all.covers.start = first.covers.start;
        for record in &records[..records.len() - 1] {
            let said = &record.summary;
            all.summary.constraints.extend(said.constraints.iter().cloned());
            let is_new = |file: &&FileNote| all.summary.files.iter().all(|known| known.path != file.path);
            let files: Vec<FileNote> = said.files.iter().filter(is_new).cloned().collect();
            all.summary.files.splice(0..0, files);
        }
        all.summary.unconfirmed =
            records.iter().flat_map(|record| record.summary.unconfirmed.clone()).collect();
        all.covered = records.iter().flat_map(|record| record.covered.iter().copied()).collect();
        // What stayed beside one of them, and that one's model left untold, is in none.
        let untold = records.iter().flat_map(|record| untold(record, read_until(record)));
        let is_covered = |ordinal: &u64| all.covered.iter().any(|covered| covered.ordinal == *ordinal);
        let untold: BTreeSet<u64> = untold.filter(|ordinal| !is_covered(ordinal)).collect();
        all.kept.extend(Span::runs(untold));
        all.summary.constraints.sort_by_key(|constraint| constraint.message);
        // What a model wrote of a part is not taken for the rules' because they wrote the last.
        let by_model = records.iter().map(|record| record.mode).find(|mode| *mode != SummaryMode::Rules);
        all.mode = by_model.unwrap_or(all.mode);
        // What only rules told of, of any part, is still to be read by a model.
        let by_rule = records.iter().filter(|record| record.mode == SummaryMode::Rules);
        if let (Some(_), Some(unread)) = (by_model, by_rule.map(|record| read_until(record)).min()) {
            all.covers.end = all.covers.end.min(unread).max(all.covers.start);
            all.covered.retain(|covered| covered.ordinal < all.covers.end);
        }
        all.text = joined(records.iter().map(|record| &***record));
        // The words of all of them stand in the text alone.
        all.summary.narrative.clear();
        all.tokens = records.iter().map(|record| record.tokens).sum();
        Some(Arc::new(all))
    }

    /// Returns the uses of tools that the summaries in the view tell of: each counted those of messages of its own.
    fn tools_counted(&self) -> Option<Counted> {
        let until = self.summaries().map(|record| summarized_until(record)).max()?;
        let tools: Vec<ToolUse> =
            self.summaries().flat_map(|record| record.summary.tools_used.iter().cloned()).collect();
        Some(Counted { tools, until })
    }

    /// Returns the ordinal from which on no summary tells of what was said.
    pub(super) fn told_until(&self) -> u64 {
        let left_out = self.latest.as_deref().filter(|record| running::leaves_out(record));
        left_out.map_or(self.uncovered, |record| record.covers.start.min(self.uncovered))
    }

    /// Returns the messages that no summary tells of, and that steps of the caller's took out of the view: a summary stands for
    /// them all the same.
    pub(super) fn taken_out(&self) -> BTreeSet<u64> {
        let is_behind = |ordinal: &u64| *ordinal >= self.uncovered && self.items.get(*ordinal).is_none();
        let covered = self.summaries().flat_map(|record| &record.covered);
        covered.map(|covered| covered.ordinal).filter(is_behind).collect()
    }

    pub(super) fn summaries(&self) -> impl Iterator<Item = &Arc<SummaryRecord>> {
        self.items.shown().filter_map(Shown::record)
    }

    /// Returns the scope of a summary of its own for what no summary covers; `None` where those before it take too much
    /// room: summaries side by side add up, and once they take half of the target they are replaced by one; a quarter, where
    /// else the newest messages could not all stay.
    fn scope_of_new(&self) -> Option<Scope> {
        let is_running = self.config.chaining == Chaining::Running;
        let start = self.unit_start(self.uncovered);
        let Reads { quoted, .. } = self.reads_of_new(start)?;
        // Under another chaining there may have been several.
        let previous = is_running.then(|| self.all_before()).flatten();
        let replaces_from = previous.as_ref().map(|record| record.covers.start);
        let counted = previous.as_ref().and_then(|_| self.tools_counted());
        Some(Scope {
            counted,
            start,
            quoted: self.to_quote(quoted),
            carried: self.carried_before(start),
            reads_new_only: true,
            previous,
            replaces_from,
            ..Scope::of_all()
        })
    }

    fn reads_of_new(&self, start: u64) -> Option<Reads> {
        // A running summary goes on from its last version, which has told of the rest.
        let half = self.scale().countable(self.limits().target).scaled(0.5);
        let most = self.beside_newest().map_or(half, |room| half.min(room).max(half.scaled(0.5)));
        (self.carried_before(start) <= most).then_some(Reads { start, quoted: Vec::new() })
    }

    /// Returns what stands before the message `start` and stays there.
    fn carried_before(&self, start: u64) -> Tokens {
        let before = self.items.sums_before(start).counts.total() + self.counter.framing().per_reply;
        match self.config.chaining == Chaining::Running {
            true => before - self.summary_tokens(),
            false => before,
        }
    }

    fn summary_tokens(&self) -> Tokens {
        let sums = self.items.sums();
        sums.counts.total() - sums.messages - sums.blocks
    }

    /// Returns the ordinal from which on a compaction reads all messages: those that no summary covers, and the newest of
    /// the others.
    fn reach(&self) -> u64 {
        self.unit_start(self.window_reach())
    }

    /// Returns the same without regard to exchanges.
    fn window_reach(&self) -> u64 {
        let by_window = self.window().scaled(REREAD_WINDOWS);
        let most = match self.config.mode {
            SummaryMode::Rules => by_window,
            _ => {
                let cap = self.config.transcript_cap_tokens.unwrap_or_default();
                by_window.max(cap.scaled(MODEL_PASSES))
            }
        };
        if self.lives_on_summaries() {
            // Those that a summary leaves out are still there.
            return self.told_until();
        }
        let mut read = Tokens::ZERO;
        let newest = self.costs.newest_first().take_while(|cost| {
            read += *cost;
            read <= most
        });
        let start = self.n_total() - newest.count() as u64;
        start.min(self.uncovered)
    }

    /// Forgets what messages cost that no compaction will read again.
    pub(super) fn forget_costs(&mut self) {
        let start = self.window_reach().saturating_sub(LONGEST_EXCHANGE);
        let Some(index) = &self.index else { return };
        let firsts = self.firsts();
        let spoken_of = index.facts().iter().map(|fact| u64::from(fact.last_message));
        let constraints = self.summaries().flat_map(|record| &record.summary.constraints);
        let constraints = constraints.map(|constraint| constraint.message);
        let kept =
            spoken_of.chain(constraints).chain(firsts.start..firsts.end).filter(|at| *at < start).collect();
        self.costs.forget_before(start, &kept);
    }

    /// Returns from which ordinal on originals should stay at hand for the next compaction; what lies before it may be
    /// [let go](Self::let_go) where a store holds it.
    pub fn at_hand_from(&self) -> u64 {
        self.window_reach().saturating_sub(LONGEST_EXCHANGE)
    }

    /// Returns the first ordinal of the unit that the message with this ordinal is part of: no exchange is cut in two,
    /// even one that was open when a summary was made.
    fn unit_start(&self, ordinal: u64) -> u64 {
        self.unit_of(ordinal).start
    }

    /// Returns the span of the unit that the message with this ordinal is part of, as far as it is at hand.
    pub(super) fn unit_of(&self, ordinal: u64) -> Span {
        let near = self.originals.in_span(exchange_around(ordinal));
        // What is at hand in one piece around it.
        let gap =
            |pair: &[Entry]| pair[0].id.ordinal + 1 != pair[1].id.ordinal && pair[1].id.ordinal <= ordinal;
        let near = &near[near.windows(2).rposition(gap).map_or(0, |at| at + 1)..];
        let inside = Units::new(near).map(|unit| unit.span()).find(|span| span.contains(ordinal));
        inside.unwrap_or(Span { start: ordinal, end: ordinal + 1 })
    }

    /// Returns which messages before `start` are worth quoting: the task, what the view shows, where constraints were
    /// stated, and then the `telling` ones, as far as there is room.
    fn quoted(&self, start: u64, telling: &[u64]) -> Vec<u64> {
        let mut left = self.window().scaled(QUOTED_WINDOWS);
        let mut chosen = BTreeSet::new();
        let firsts = self.firsts();
        let firsts = self.clean_in(Span { end: firsts.end.min(start), ..firsts });
        let task = rules::task(&firsts).map(|(entry, _)| entry.id.ordinal);
        let shown = self.shown_messages_before(start).map(|covered| covered.ordinal);
        let constraints = self.summaries().flat_map(|record| &record.summary.constraints);
        let constraints = constraints.map(|constraint| constraint.message).filter(|at| *at < start);
        for ordinal in task.into_iter().chain(shown).chain(constraints).chain(telling.iter().copied()) {
            let Some(cost) = self.costs.get(ordinal) else { continue };
            if cost <= left && chosen.insert(ordinal) {
                left -= cost;
            }
        }
        chosen.into_iter().collect()
    }

    fn to_quote(&self, ordinals: Vec<u64>) -> Vec<Entry> {
        let redactor = self.redactor.as_ref();
        let entry = |ordinal: u64| Some(self.originals.original(ordinal)?.clean_entry(redactor));
        ordinals.into_iter().filter_map(entry).collect()
    }

    /// Reads the facts anew, those of the summaries in the view first, for a conversation some of whose originals are gone.
    pub(crate) fn read_summaries(&mut self) {
        self.index = Some(self.read_again());
    }

    /// Returns the messages before `start` that facts stand in which nothing later mentions, by the value of these facts
    /// for each token.
    fn telling_before(&self, start: u64, index: &FactIndex) -> Vec<u64> {
        let (ranker, context) = (&self.rules.ranker, RankContext::of(index));
        let mut values: BTreeMap<u64, f64> = BTreeMap::new();
        for fact in index.facts().iter().filter(|fact| u64::from(fact.last_message) < start) {
            let value = ranker.value(fact, &context);
            if value > 0.0 {
                *values.entry(u64::from(fact.last_message)).or_default() += value;
            }
        }
        let for_each_token =
            |(ordinal, value): (u64, f64)| Some((value / self.costs.get(ordinal)?.0.max(1) as f64, ordinal));
        let mut best: Vec<(f64, u64)> = values.into_iter().filter_map(for_each_token).collect();
        best.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        best.into_iter().map(|(_, ordinal)| ordinal).collect()
    }

    /// Returns the messages before `start` that the view shows, pins apart.
    fn shown_messages_before(&self, start: u64) -> impl Iterator<Item = Covered> + '_ {
        self.messages_before(start).map(|(id, _)| Covered { ordinal: id.ordinal, sha256: id.hash })
    }

    fn messages_before(&self, start: u64) -> impl Iterator<Item = (MessageId, &Arc<Message>)> {
        self.items.shown().filter(|shown| !self.stays(shown)).filter_map(move |shown| match shown {
            Shown::Message { id, message, .. } if id.ordinal < start => Some((*id, message)),
            _ => None,
        })
    }

    /// Returns the messages before `start` as the view shows them, pins apart, without their secrets.
    pub(super) fn shown_before(&self, start: u64) -> Vec<Entry> {
        let entry = |(id, message): (MessageId, &Arc<Message>)| {
            let clean = self.cleaned(message).map(|clean| Arc::clone(&clean.message));
            Entry { id, lineage: id.hash, message: clean.unwrap_or_else(|| Arc::clone(message)) }
        };
        self.messages_before(start).map(entry).collect()
    }
}

impl Scope {
    /// Returns the scope of a summary of everything.
    fn of_all() -> Scope {
        Scope {
            start: 0,
            quoted: Vec::new(),
            carried: Tokens::ZERO,
            reads_new_only: false,
            previous: None,
            is_rebuilt: false,
            replaces_from: None,
            let_go: Vec::new(),
            counted: None,
        }
    }
}

/// Returns the texts of `entry`, of tool results as well; `None` where it has none. Calls are left out: a quotation says
/// what was said, not what state the work is in, which later messages changed.
pub(super) fn quotation(entry: Entry) -> Option<Entry> {
    let message = &entry.message;
    let mut parts: Vec<Part> = Vec::new();
    let mut role = message.role;
    for part in &message.parts {
        match part {
            Part::Text(_) => parts.push(part.clone()),
            Part::ToolResult(result) => {
                role = Role::Tool;
                parts.extend(result.content.iter().filter(|part| matches!(part, Part::Text(_))).cloned());
            }
            _ => {}
        }
    }
    let message = Message { role, parts, raw: None, ..(**message).clone() };
    (!message.parts.is_empty() && !message.is_system()).then(|| Entry { message: Arc::new(message), ..entry })
}
