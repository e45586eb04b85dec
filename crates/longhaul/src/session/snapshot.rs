//! All of a session that cannot be had from its originals, so that it goes on as if it had never been interrupted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_redact::{Answers, Asked, Redactor};
use longhaul_tokens::{Calibrations, ClassCounts, Reported, TokenCounter};
use longhaul_transcript::{
    ContentHash, Message, MessageId, Role, SessionId, Span, SummaryId, SummaryRecord, Tokens,
};
use serde::{Deserialize, Serialize};

use super::{
    SessionState, Shown,
    by_client::ByClient,
    calibrated::Calibrated,
    costs::Costs,
    exchange::Exchange,
    items::Items,
    line::{CHUNK, Clean, Line},
    refused::Refusals,
    rewrite::{Counted, Past},
    totals::Totals,
};
use crate::{compact::Cut, config::SummaryRole, policy::PolicyState};

/// All of a session that cannot be had from its originals: the view and the ones before it, pins, sums, what the policy
/// remembers, what was learned of the provider's counting. What a store keeps with each change, without the summaries,
/// which it has. The facts read go with it in memory; where it is written and read back they are left out, and are read
/// anew once they are needed.
///
/// `resume(snapshot(x))` is `x`: no view is made by other rules than those that made it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of this shape; a newer one is refused.
    pub version: u32,
    session: SessionId,
    window: Tokens,
    /// What the counter makes of a few texts: another counter's counts are not taken over.
    probe: Vec<Tokens>,
    len: u64,
    lineage: Option<ContentHash>,
    chunk_lineage: Option<ContentHash>,
    costs: Costs,
    learned: Learned,
    exchange: Exchange,
    #[serde(default, skip_serializing_if = "Asked::is_empty")]
    asked: Asked,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    answers: BTreeMap<u64, Answers>,
    head: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    by_client: Vec<ByClient>,
    request: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest_from: Option<u64>,
    pins: BTreeSet<u64>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    untold: BTreeSet<u64>,
    blocks: BTreeMap<Arc<str>, Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<Vec<Instruction>>,
    view: Vec<Shape>,
    cut: Option<Cut>,
    stable: usize,
    policy: PolicyState,
    requested_at_ms: Option<i64>,
    #[serde(default)]
    refusals: Refusals,
    rewrites: u64,
    #[serde(default)]
    n_summaries: u64,
    made_at: u64,
    undo: Vec<Past>,
    redo: Vec<Past>,
    #[serde(default)]
    redo_is_lost: bool,
    #[serde(default)]
    has_deleted: bool,
    /// The facts; where there are none they are read anew, once they are needed.
    #[serde(skip)]
    index: Option<Arc<FactIndex>>,
}

/// What was learned of a provider's counting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Learned {
    pub(super) known: Calibrations,
    pub(super) model: String,
    pub(super) endpoint: String,
    pub(super) anchor: Option<Reported>,
    /// See [`Calibrated`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rewritten: Option<Reported>,
    /// See [`Calibrated`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<Reported>,
    /// See [`Calibrated`].
    #[serde(default, skip_serializing_if = "is_none")]
    pub(super) n_held: u32,
    /// See [`Calibrated`].
    #[serde(default, skip_serializing_if = "Totals::is_default")]
    pub(super) totals: Totals,
    /// See [`Calibrated`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_distrusted: bool,
}

fn is_none(reports: &u32) -> bool {
    *reports == 0
}

/// Elements of a view as they are kept: originals by their number, everything else as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    /// Originals as they were said, one after the other from `first` on, and what each costs.
    Whole { first: u64, costs: Vec<ClassCounts> },
    /// The same in a view that was: what each costs is counted again where it is shown again.
    Run { first: u64, len: u64 },
    /// A message in a smaller form.
    Shortened {
        id: MessageId,
        #[serde(with = "super::spelled")]
        message: Arc<Message>,
        cost: ClassCounts,
    },
    /// A summary, as the record says or in the role of the system.
    Summary { record: Arc<SummaryRecord>, message: Arc<Message>, cost: ClassCounts },
    /// A summary that a store has: it is read from there when it is to be shown again.
    Stored { summary: SummaryId, role: SummaryRole, cost: ClassCounts },
    /// A memory block, with the text it has when it is shown.
    Block { name: Arc<str> },
}

/// An instruction in the place of those that were said first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Instruction(#[serde(with = "super::spelled")] Arc<Message>);

/// A snapshot could not be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A newer version wrote it.
    #[error("the snapshot is of version {found}; this one reads up to {expected}")]
    Newer {
        /// The version.
        found: u32,
        /// The latest this code reads.
        expected: u32,
    },
    /// It is of another session.
    #[error("the snapshot is of the session {found}")]
    OtherSession {
        /// The session.
        found: SessionId,
    },
    /// Originals that it needs are not there.
    #[error("the originals {span} are not there")]
    Missing {
        /// Which.
        span: Span,
    },
}

/// Texts that tell counters apart: words, code, digits, another script, blanks.
const PROBES: [&str; 5] = [
    "The quick brown fox jumps over the lazy dog, and nobody minds.",
    "fn main() { let x: Vec<u8> = vec![0; 1024]; println!(\"{x:?}\"); }",
    "8423-99-17 3.14159265 0xdeadbeef",
    "契約は来月更新されます。Größe und Maße.",
    "    \n\n\t\t--------",
];

impl Snapshot {
    /// The version this code writes.
    pub const VERSION: u32 = 2;

    /// Returns the spans of originals that are needed to go on from it; others are asked for when they are needed.
    pub fn wants(&self) -> Vec<Span> {
        let whole = |shape: &Shape| match shape {
            Shape::Whole { first, costs } => Some(Span { start: *first, end: first + costs.len() as u64 }),
            _ => None,
        };
        let ends = [Span { start: 0, end: 1 }, Span { start: self.len / CHUNK * CHUNK, end: self.len }];
        let mut chunks: Vec<u64> = Vec::new();
        for span in self.view.iter().filter_map(whole).chain(ends).filter(|span| !span.is_empty()) {
            chunks.extend(span.start / CHUNK..=(span.end - 1) / CHUNK);
        }
        chunks.sort_unstable();
        chunks.dedup();
        let span = |run: Span| Span { start: run.start * CHUNK, end: (run.end * CHUNK).min(self.len) };
        Span::runs(chunks).into_iter().map(span).filter(|span| !span.is_empty()).collect()
    }

    /// Returns how many messages had been said.
    pub fn messages(&self) -> u64 {
        self.len
    }

    /// Returns the same for another name of the session.
    pub(crate) fn of_session(self, session: SessionId) -> Snapshot {
        Snapshot { session, ..self }
    }

    /// Returns the same without what can be had again: summaries, which a store has, and what messages cost in views that
    /// were. With sixteen views that can be undone this is most of it.
    pub(crate) fn shortened(mut self) -> Snapshot {
        self.undo.iter_mut().chain(&mut self.redo).for_each(Past::shorten);
        self.view.iter_mut().for_each(Shape::store_summary);
        self
    }

    /// Returns the summaries in the view that are to be [put back](Self::put_back_summary) before it is taken up.
    pub(crate) fn summaries_wanted(&self) -> Vec<SummaryId> {
        stored_in(&self.view)
    }

    /// Takes back a summary of the view.
    pub(crate) fn put_back_summary(&mut self, record: &Arc<SummaryRecord>) {
        self.view.iter_mut().for_each(|shape| shape.put_back(record));
    }

    /// Takes secrets out of everything in it that was said: forms of messages, memory blocks.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Snapshot {
        let answers = std::mem::take(&mut self.answers);
        let clean = |message: &mut Arc<Message>, answers: Option<&Answers>| {
            let (clean, redactions) = redactor.redact_answer(message, answers.unwrap_or(&Answers::default()));
            if !redactions.is_empty() {
                *message = Arc::new(clean.into_inner());
            }
        };
        let past = self.undo.iter_mut().chain(&mut self.redo).flat_map(|past| &mut past.shapes);
        for shape in past.chain(&mut self.view) {
            match shape {
                Shape::Shortened { message, id, .. } => clean(message, answers.get(&id.ordinal)),
                Shape::Summary { message, .. } => clean(message, None),
                _ => {}
            }
            if let Shape::Summary { record, .. } = shape {
                *record = Arc::new(redactor.redact_record(record).0.into_inner());
            }
        }
        for Instruction(message) in self.instructions.iter_mut().flatten() {
            clean(message, None);
        }
        for text in self.blocks.values_mut() {
            *text = redactor.redact_text(text).0.into_owned().into();
        }
        self.answers = answers;
        self
    }
}

impl SessionState {
    /// Returns all of the session that cannot be had from its originals.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            version: Snapshot::VERSION,
            session: self.session.clone(),
            window: self.window.window,
            probe: probe(&*self.counter),
            len: self.n_total(),
            lineage: self.n_total().checked_sub(1).and_then(|last| self.originals.lineage(last)),
            chunk_lineage: self.originals.chunk_lineage(),
            costs: self.costs.clone(),
            learned: self.all_learned(),
            exchange: self.exchange.clone(),
            asked: self.asked.clone(),
            answers: self.answers.clone(),
            head: self.head,
            by_client: self.by_client.clone(),
            request: self.request,
            newest_from: self.newest_from,
            pins: self.pins.clone(),
            untold: self.untold.clone(),
            blocks: self.blocks.clone(),
            instructions: self.instructions.clone().map(|now| now.into_iter().map(Instruction).collect()),
            view: shapes(&self.items),
            cut: self.cut,
            stable: self.stable,
            policy: self.policy.clone(),
            requested_at_ms: self.requested_at_ms,
            refusals: self.refusals,
            rewrites: self.rewrites,
            n_summaries: self.n_summaries,
            made_at: self.made_at,
            undo: self.undo.clone(),
            redo: self.redo.clone(),
            redo_is_lost: self.redo_is_lost,
            has_deleted: self.has_deleted,
            index: self.index.clone(),
        }
    }

    /// Returns what was learned of providers' counting, and the last report.
    pub(super) fn all_learned(&self) -> Learned {
        self.calibrated.learned()
    }

    /// Returns the same without secrets, as a store takes it.
    pub(crate) fn snapshot_to_store(&self) -> Snapshot {
        let snapshot = self.snapshot().shortened();
        match &self.redactor {
            Some(redactor) => self.without_hints(snapshot).redacted(redactor),
            None => snapshot,
        }
    }

    /// Returns the same with the ids that messages have in a store: a hash of a secret is a hint to it.
    fn without_hints(&self, mut snapshot: Snapshot) -> Snapshot {
        let clean = |id: &mut MessageId| {
            if let Some(hash) = self.originals.clean_hash(id.ordinal, self.redactor.as_ref()) {
                id.hash = hash;
            }
        };
        snapshot.cut.iter_mut().for_each(|cut| clean(&mut cut.id));
        let shortened = |shape: &mut Shape| {
            if let Shape::Shortened { id, .. } = shape {
                clean(id);
            }
        };
        snapshot.view.iter_mut().for_each(shortened);
        for past in snapshot.undo.iter_mut().chain(&mut snapshot.redo) {
            past.cut.iter_mut().for_each(|cut| clean(&mut cut.id));
            past.shapes.iter_mut().for_each(shortened);
        }
        snapshot
    }

    /// Goes on from a snapshot. This state gives the session, the window, the counter and the settings; nothing may have
    /// been said in it yet. `originals` is asked for each of the spans that the snapshot [wants](Snapshot::wants).
    ///
    /// Nothing is counted or read again where the counter is the same.
    ///
    /// # Errors
    /// When a newer version wrote the snapshot, it is of another session, or originals are missing.
    pub fn resume(
        mut self,
        snapshot: Snapshot,
        mut originals: impl FnMut(Span) -> Vec<Arc<Message>>,
    ) -> Result<SessionState, SnapshotError> {
        if snapshot.version > Snapshot::VERSION {
            return Err(SnapshotError::Newer { found: snapshot.version, expected: Snapshot::VERSION });
        }
        if snapshot.session != self.session {
            return Err(SnapshotError::OtherSession { found: snapshot.session });
        }
        let wants = snapshot.wants();
        let Snapshot { window, probe: probed, learned, view, .. } = snapshot;
        (self.asked, self.answers) = (snapshot.asked, snapshot.answers);
        self.originals = Line::away(snapshot.len, snapshot.chunk_lineage, snapshot.lineage);
        for span in wants {
            let messages = originals(span);
            if messages.len() as u64 != span.len() {
                return Err(SnapshotError::Missing { span });
            }
            self.put_back(span.start, messages);
        }
        self.costs = snapshot.costs;
        let anchor = learned.anchor;
        self.calibrated = Calibrated::of(learned);
        self.exchange = snapshot.exchange;
        self.head = snapshot.head;
        self.by_client = snapshot.by_client;
        self.request = snapshot.request;
        self.newest_from = snapshot.newest_from;
        self.pins = snapshot.pins;
        self.untold = snapshot.untold;
        self.blocks = snapshot.blocks;
        self.instructions = snapshot.instructions.map(|now| now.into_iter().map(|one| one.0).collect());
        self.policy = snapshot.policy;
        self.requested_at_ms = snapshot.requested_at_ms;
        self.rewrites = snapshot.rewrites;
        self.n_summaries = snapshot.n_summaries;
        self.made_at = snapshot.made_at;
        self.undo = snapshot.undo;
        self.redo = snapshot.redo;
        self.redo_is_lost = snapshot.redo_is_lost;
        self.has_deleted = snapshot.has_deleted;
        self.index = snapshot.index;
        let is_same_counter = probed == probe(&*self.counter);
        let mut shown = self.shown_of(&view);
        if !is_same_counter {
            shown.iter_mut().for_each(|(_, counts)| *counts = None);
        }
        self.set_items(shown);
        self.cut = snapshot.cut;
        self.stable = snapshot.stable;
        match is_same_counter {
            true => self.calibrated.set_anchor(anchor),
            false => {
                let before: Tokens = view.iter().map(Shape::cost).sum();
                self.costs.scale(self.items.sums().counts.total().ratio_of(before.max(Tokens(1))));
            }
        }
        match window == self.window.window {
            true if is_same_counter => self.refusals = snapshot.refusals,
            true => self.refusals = snapshot.refusals.by_another_counter(),
            // Of another model, refusals taught nothing.
            false => self.policy.window_changed(),
        }
        self.recalibrate();
        Ok(self)
    }

    /// Takes back originals that were asked for, from the first of a span that was named on.
    pub fn put_back(&mut self, start: u64, messages: Vec<Arc<Message>>) {
        let (answers, redactor) = (&self.answers, self.redactor.as_ref());
        let clean = |ordinal: u64, message: &Message| {
            answers.get(&ordinal).map(|answers| Clean::of(message, answers, redactor))
        };
        self.originals.put_back(start, messages, clean);
    }

    /// Returns the facts read so far; `None` where they are to be read anew.
    pub(crate) fn facts(&self) -> Option<&Arc<FactIndex>> {
        self.index.as_ref()
    }

    /// Returns whether facts that were read from the first `through` messages are of what stands now.
    pub(crate) fn are_of_standing(&self, through: u64) -> bool {
        self.by_client.last().is_none_or(|last| last.out.end < through)
    }

    /// Takes up facts that were read from the first `through` messages, and reads those after them, which must be at
    /// hand.
    pub(crate) fn take_facts(&mut self, facts: FactIndex, through: u64) {
        let mut facts = self.bounded(facts);
        self.entries_from(through).iter().for_each(|entry| facts.push(entry));
        if !self.untold.is_empty() {
            facts.read_instead(|message| self.untold.contains(&message), &[]);
        }
        self.index = Some(Arc::new(facts));
    }

    /// Lets go of what a store holds of the session: the originals before `ordinal`, and the summaries of views that can be
    /// shown again. What the view shows stays; what a compaction or an undo needs is asked for, with
    /// [`wanted_by`](Self::wanted_by) and [`summaries_wanted_by_undo`](Self::summaries_wanted_by_undo).
    pub fn let_go(&mut self, ordinal: u64) {
        self.originals.let_go(ordinal);
        self.undo.iter_mut().chain(&mut self.redo).for_each(Past::shorten);
    }

    /// Returns the originals that the next undo shows and that are not at hand.
    pub fn wanted_by_undo(&self) -> Vec<Span> {
        let wants = |past: &Past| past.wants(self.n_total());
        self.originals.missing(self.undo.last().map(wants).unwrap_or_default())
    }

    /// Returns the originals that the next redo shows and that are not at hand.
    pub fn wanted_by_redo(&self) -> Vec<Span> {
        let wants = |past: &Past| past.wants(self.n_total());
        self.originals.missing(self.redo.last().map(wants).unwrap_or_default())
    }

    /// Returns the summaries that the next undo shows and that are in the store only.
    pub fn summaries_wanted_by_undo(&self) -> Vec<SummaryId> {
        self.undo.last().map(|past| stored_in(&past.shapes)).unwrap_or_default()
    }

    /// Returns the summaries that the next redo shows and that are in the store only.
    pub fn summaries_wanted_by_redo(&self) -> Vec<SummaryId> {
        self.redo.last().map(|past| stored_in(&past.shapes)).unwrap_or_default()
    }

    /// Takes back a summary that was in the store only.
    pub fn put_back_summary(&mut self, record: &Arc<SummaryRecord>) {
        let past = self.undo.iter_mut().chain(&mut self.redo).flat_map(|past| &mut past.shapes);
        past.for_each(|shape| shape.put_back(record));
    }

    /// Returns the elements that these shapes stand for; what is not at hand is left out.
    pub(super) fn shown_of(&self, shapes: &[Shape]) -> Vec<Counted> {
        let mut shown: Vec<Counted> = Vec::new();
        for shape in shapes {
            match shape {
                Shape::Whole { first, costs } => {
                    let originals = (*first..).zip(costs);
                    shown.extend(originals.filter_map(|(at, cost)| Some((self.whole(at)?, Some(*cost)))));
                }
                Shape::Run { first, len } => {
                    let originals = *first..first + len;
                    shown.extend(originals.filter_map(|at| Some((self.whole(at)?, self.known_counts(at)))));
                }
                Shape::Shortened { id, message, cost } => {
                    let message = Arc::clone(message);
                    shown.push((Shown::Message { id: *id, message, digested: true }, Some(*cost)));
                }
                Shape::Summary { record, message, cost } => {
                    let (record, message) = (Arc::clone(record), Arc::clone(message));
                    shown.push((Shown::Summary { record, message }, Some(*cost)));
                }
                Shape::Stored { .. } | Shape::Block { .. } => {}
            }
        }
        self.with_blocks(shown)
    }
}

impl Shape {
    fn cost(&self) -> Tokens {
        match self {
            Shape::Whole { costs, .. } => costs.iter().map(ClassCounts::total).sum(),
            Shape::Shortened { cost, .. } | Shape::Summary { cost, .. } | Shape::Stored { cost, .. } => {
                cost.total()
            }
            Shape::Run { .. } | Shape::Block { .. } => Tokens::ZERO,
        }
    }

    /// Takes out the messages from `len` on, and returns whether anything is left.
    fn truncate(&mut self, len: u64) -> bool {
        match self {
            Shape::Whole { first, costs } => {
                costs.truncate(usize::try_from(len.saturating_sub(*first)).unwrap_or(usize::MAX));
                !costs.is_empty()
            }
            Shape::Run { first, len: n } => {
                *n = (*n).min(len.saturating_sub(*first));
                *n > 0
            }
            Shape::Shortened { id, .. } => id.ordinal < len,
            Shape::Summary { .. } | Shape::Stored { .. } | Shape::Block { .. } => true,
        }
    }

    /// Keeps of a view that was what cannot be had again.
    fn shorten(&mut self) {
        self.store_summary();
        if let Shape::Whole { first, costs } = self {
            *self = Shape::Run { first: *first, len: costs.len() as u64 };
        }
    }

    /// Keeps of a summary only which one it is.
    fn store_summary(&mut self) {
        if let Shape::Summary { record, message, cost } = self {
            let role = if message.role == Role::System { SummaryRole::System } else { SummaryRole::User };
            *self = Shape::Stored { summary: record.id.clone(), role, cost: *cost };
        }
    }

    /// Takes back the summary, where it is this one.
    fn put_back(&mut self, record: &Arc<SummaryRecord>) {
        if let Shape::Stored { summary, role, cost } = self
            && *summary == record.id
        {
            let message = Arc::clone(Shown::summary(Arc::clone(record), *role).message());
            *self = Shape::Summary { record: Arc::clone(record), message, cost: *cost };
        }
    }
}

/// Returns the summaries among these that are in a store only.
pub(super) fn stored_in(shapes: &[Shape]) -> Vec<SummaryId> {
    let stored = shapes.iter().filter_map(|shape| match shape {
        Shape::Stored { summary, .. } => Some(summary.clone()),
        _ => None,
    });
    stored.collect()
}

impl Past {
    /// Returns whether all summaries that it shows are here, and not in a store only.
    pub(super) fn is_at_hand(&self) -> bool {
        stored_in(&self.shapes).is_empty()
    }

    /// Keeps of it what cannot be had again.
    fn shorten(&mut self) {
        self.shapes.iter_mut().for_each(Shape::shorten);
    }

    /// Returns the originals that it shows, and those after it up to `len`.
    pub(super) fn wants(&self, len: u64) -> Vec<Span> {
        let whole = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Whole { first, costs } => Some(Span { start: *first, end: first + costs.len() as u64 }),
            Shape::Run { first, len } => Some(Span { start: *first, end: first + len }),
            _ => None,
        });
        whole.chain([Span { start: self.n_total.min(len), end: len }]).collect()
    }

    /// Ends the conversation before `len`: a message said there later is another one.
    pub(super) fn truncate(&mut self, len: u64) {
        self.n_total = self.n_total.min(len);
        self.shapes.retain_mut(|shape| shape.truncate(len));
        self.cut = self.cut.filter(|cut| cut.id.ordinal < len);
    }
}

impl PartialEq for Snapshot {
    /// The facts are left out: they follow from the originals.
    fn eq(&self, other: &Snapshot) -> bool {
        let json = |snapshot: &Snapshot| serde_json::to_value(snapshot).ok();
        json(self) == json(other)
    }
}

/// Returns the elements of a view as they are kept.
pub(super) fn shapes(items: &Items) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for placed in items.placed() {
        let cost = placed.counts;
        match &placed.shown {
            Shown::Message { id, digested: false, .. } => match shapes.last_mut() {
                Some(Shape::Whole { first, costs }) if *first + costs.len() as u64 == id.ordinal => {
                    costs.push(cost)
                }
                _ => shapes.push(Shape::Whole { first: id.ordinal, costs: vec![cost] }),
            },
            Shown::Message { id, message, .. } => {
                shapes.push(Shape::Shortened { id: *id, message: Arc::clone(message), cost });
            }
            Shown::Summary { record, message } => {
                let (record, message) = (Arc::clone(record), Arc::clone(message));
                shapes.push(Shape::Summary { record, message, cost });
            }
            Shown::Block { name, .. } => shapes.push(Shape::Block { name: Arc::clone(name) }),
            // They stand in front of any view.
            Shown::Instruction { .. } => {}
        }
    }
    shapes
}

pub(super) fn probe(counter: &dyn TokenCounter) -> Vec<Tokens> {
    PROBES.iter().map(|text| counter.count_text(text)).collect()
}
