//! Steps of a compaction that the caller supplies, before the built-in ones and after them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Constraint, Covered, Entry, Message, Span, SummaryRecord, Tokens, Unit, Units};

use crate::compact::{CompactSettings, Kept, StepError};

/// A step of a compaction that the caller supplies: it looks at units and says what is to become of some of them.
///
/// Before the built-in steps it sees all that a compaction works on, messages far back that are only quoted once more
/// among them; after them the messages that would stay behind the summary. It is pure: the same units get the same answer.
/// What comes of it is checked as everything else is: an exchange stays or goes as a whole, the view stays within its
/// budget, and what must stay cannot be touched. A step that asks for what cannot be fails the compaction: observers are
/// told ([`EventKind::Failed`](crate::EventKind::Failed)), and the context stays as it was; at the hard limit it is then
/// compacted without what steps pin, or, where something else is wrong with one, without any step. So what one both pins and drops
/// is dropped there: it may be a secret. One that panics has asked for what cannot be, and is asked again the next time; where panics
/// abort, the program ends.
pub trait CompactionStep: fmt::Debug + Send + Sync {
    /// Returns a short name; the record of a summary bears it where the step changed something.
    fn name(&self) -> &str;

    /// Returns what is to be changed among `units`, oldest first.
    fn changes(&self, units: &[StepUnit<'_>]) -> Vec<Change>;
}

/// A unit as a step sees it.
#[derive(Clone, Debug)]
pub struct StepUnit<'a> {
    /// An exchange, or a message. Secrets are taken out.
    pub unit: Unit<'a>,
    /// What it costs.
    pub tokens: Tokens,
    /// It stays as it is: an instruction, a pin, the newest request, an exchange that is open or whose results the model has yet to read.
    /// A change of it is an error.
    pub stays: bool,
    /// It lies so far back that it is only quoted: it cannot be pinned.
    pub is_quoted: bool,
}

/// What a step changes. Messages are named by their ordinals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The message stays whole this time. Only before the built-in steps, and not where it is only
    /// [quoted](StepUnit::is_quoted).
    Pin(u64),
    /// The unit that the message is part of is not shown. Before the built-in steps this also keeps it from whoever writes
    /// the summary, a model or rules, and from then on the facts in it are forgotten. The original stays: [`recall`](crate::Session::recall) and
    /// the store find it, until [`forget`](longhaul_store::SummaryStore::forget) takes it away.
    Drop(u64),
    /// The message is shown like this, with the same role, calls and results; whoever writes the summary reads this, and
    /// not what was said, where the step comes before the built-in ones. The original is kept, but for `delete_originals`.
    Replace(u64, Message),
}

/// The steps that a caller adds to each compaction, in order.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Before the built-in ones.
    pub before: Vec<Arc<dyn CompactionStep>>,
    /// After them.
    pub after: Vec<Arc<dyn CompactionStep>>,
}

/// What the steps of a compaction changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Their names.
    names: Vec<String>,
    /// What is not shown as it was said.
    covered: BTreeMap<u64, Covered>,
    /// What is shown like something else.
    replaced: BTreeSet<u64>,
    /// What is kept from whoever writes the summary, as it was said.
    untold: BTreeSet<u64>,
    /// These messages, where this compaction reads them.
    as_said: Vec<Arc<Message>>,
    /// The names of those that pin.
    pinning: Vec<String>,
}

impl Changed {
    /// Returns whether a message is shown like something else.
    pub(super) fn is_replaced(&self, ordinal: u64) -> bool {
        self.replaced.contains(&ordinal)
    }

    /// Returns the messages that are kept from whoever writes the summary, as they were said.
    pub(super) fn untold(&self) -> &BTreeSet<u64> {
        &self.untold
    }

    /// Returns `index` without the facts of what the steps took out or replaced, and with those of what stands in its place
    /// among `entries`.
    fn read(&mut self, mut index: Arc<FactIndex>, entries: &[Entry]) -> Arc<FactIndex> {
        // What a result is quoted under is said by its call: they are read together.
        let is_replaced =
            |unit: &Unit<'_>| unit.entries.iter().any(|entry| self.is_replaced(entry.id.ordinal));
        let instead: Vec<Entry> =
            Units::new(entries).filter(is_replaced).flat_map(|unit| unit.entries.to_vec()).collect();
        self.untold.extend(instead.iter().map(|entry| entry.id.ordinal));
        if !self.untold.is_empty() {
            Arc::make_mut(&mut index).read_instead(|message| self.untold.contains(&message), &instead);
        }
        index
    }

    /// Returns what is left of the summary before: what it demands and its goal were said where nothing could be taken out yet, as
    /// in the newest request.
    pub(super) fn left_of(&self, mut previous: Arc<SummaryRecord>) -> Arc<SummaryRecord> {
        let is_untold = |constraint: &Constraint| self.untold.contains(&constraint.message);
        if previous.summary.constraints.iter().any(is_untold) {
            Arc::make_mut(&mut previous).summary.constraints.retain(|constraint| !is_untold(constraint));
        }
        // A goal is cut at its end.
        let begins: String = previous.summary.goal.trim().chars().take(KNOWN_BY).collect();
        let says_it = |message: &Arc<Message>| message.texts().any(|text| text.contains(&begins));
        if !begins.is_empty() && self.as_said.iter().any(says_it) {
            Arc::make_mut(&mut previous).summary.goal.clear();
        }
        previous
    }

    /// Returns whether one of the messages that `is_meant` names goes out of the view.
    pub(super) fn takes_out(&self, is_meant: impl Fn(u64) -> bool) -> bool {
        self.covered.keys().any(|ordinal| is_meant(*ordinal) && !self.is_replaced(*ordinal))
    }

    /// Returns the error of steps that made the view too large.
    pub(super) fn too_large(&self, tokens: Tokens, budget: Tokens) -> StepError {
        let step = self.names.join(", ");
        StepError {
            step,
            problem: format!("the view would cost {tokens:#} tokens, more than its {budget:#}"),
        }
    }

    /// Returns whether a step pins.
    pub(super) fn pins(&self) -> bool {
        !self.pinning.is_empty()
    }

    /// Returns the error of steps whose pins leave no room.
    pub(super) fn pins_too_much(&self, floor: Tokens, most: Tokens) -> StepError {
        let problem =
            format!("with what it pins the view needs {floor:#} tokens, more than the {most:#} it may cost");
        StepError { step: self.pinning.join(", "), problem }
    }

    /// Returns how many messages are changed that are not among `covered`.
    pub(super) fn beside(&self, covered: &[Covered]) -> usize {
        let is_among =
            |ordinal: &u64| covered.binary_search_by_key(ordinal, |covered| covered.ordinal).is_ok();
        self.covered.keys().filter(|ordinal| !is_among(ordinal)).count()
    }

    /// Writes into `record` what was changed; its id is to be derived again.
    pub(super) fn note(&self, record: &mut SummaryRecord) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let mut covered: BTreeMap<u64, Covered> = self.covered.clone();
        covered.extend(record.covered.iter().map(|covered| (covered.ordinal, *covered)));
        // What is changed behind the messages that were summarized was not summarized: `covers` stays as it is.
        record.covered = covered.into_values().collect();
        for name in &self.names {
            record.made_with.push('+');
            record.made_with.push_str(name);
        }
        true
    }
}

/// A step that changes what another does, and pins nothing.
#[derive(Debug)]
struct WithoutPins(Arc<dyn CompactionStep>);

impl CompactionStep for WithoutPins {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn changes(&self, units: &[StepUnit<'_>]) -> Vec<Change> {
        let mut changes = self.0.changes(units);
        changes.retain(|change| !matches!(change, Change::Pin(_)));
        changes
    }
}

/// Leaves out what steps of the caller's left out or replaced before, where they cannot be asked.
#[derive(Debug)]
struct LeavesOut(BTreeSet<u64>);

impl CompactionStep for LeavesOut {
    fn name(&self) -> &str {
        "untold"
    }

    fn changes(&self, units: &[StepUnit<'_>]) -> Vec<Change> {
        let is_untold = |entry: &Entry| self.0.contains(&entry.id.ordinal);
        let untold = units.iter().filter(|unit| !unit.stays && unit.unit.entries.iter().any(is_untold));
        untold.map(|unit| Change::Drop(unit.unit.span().start)).collect()
    }
}

impl Steps {
    /// Returns what stands in the place of the caller's steps, which left out `untold` before.
    pub(super) fn leaving_out(untold: &BTreeSet<u64>) -> Steps {
        let step = (!untold.is_empty()).then(|| Arc::new(LeavesOut(untold.clone())) as _);
        Steps { before: step.into_iter().collect(), after: Vec::new() }
    }

    /// Returns the same without what they pin.
    pub(super) fn without_pins(&self) -> Steps {
        let plain = |steps: &[Arc<dyn CompactionStep>]| -> Vec<Arc<dyn CompactionStep>> {
            steps.iter().map(|step| Arc::new(WithoutPins(Arc::clone(step))) as _).collect()
        };
        Steps { before: plain(&self.before), after: plain(&self.after) }
    }

    /// Does the steps that come before the built-in ones, on what a compaction works on. Messages before `start` are not
    /// summarized anew. Returns the facts that are left of `index` as well.
    pub(super) fn before(
        &self,
        read: &mut Read,
        start: u64,
        index: Arc<FactIndex>,
        settings: &mut CompactSettings,
        counter: &dyn TokenCounter,
        stays: &dyn Fn(&Entry) -> bool,
    ) -> Result<(Changed, Arc<FactIndex>), StepError> {
        let mut changed = Changed::default();
        for step in &self.before {
            let mut dropped: Vec<Span> = Vec::new();
            for change in asked(&**step, read, stays)? {
                changed.note_name(step.name());
                match change {
                    Checked::Pin(ordinal) if ordinal < read.quoted_until => {
                        return Err(problem(&**step, ordinal, "is only quoted: it cannot be pinned"));
                    }
                    Checked::Pin(ordinal) => {
                        changed.note_pin(step.name());
                        settings.pins.insert(ordinal);
                    }
                    Checked::Drop(span) => dropped.push(span),
                    Checked::Replace(ordinal, message) => {
                        if let Some(at) = position(&read.entries, ordinal) {
                            changed.cover(&read.entries[at], start);
                            changed.replaced.insert(ordinal);
                            changed.as_said.push(Arc::clone(&read.entries[at].message));
                            read.costs[at] = counter.count_message(&message);
                            read.entries[at].message = Arc::new(message);
                        }
                    }
                }
            }
            let is_pinned = |span: &Span| settings.pins.range(span.start..span.end).next().copied();
            if let Some(ordinal) = dropped.iter().find_map(is_pinned) {
                return Err(problem(&**step, ordinal, "is pinned, and is to be dropped"));
            }
            for entry in read.leave_out(dropped) {
                changed.cover(&entry, start);
                changed.replaced.remove(&entry.id.ordinal);
                changed.untold.insert(entry.id.ordinal);
                changed.as_said.push(entry.message);
            }
        }
        let index = changed.read(index, &read.entries);
        Ok((changed, index))
    }

    /// Does the steps that come after the built-in ones, on the messages that would stay.
    pub(super) fn after(
        &self,
        tail: &mut Vec<Kept>,
        changed: &mut Changed,
        counter: &dyn TokenCounter,
        stays: &dyn Fn(&Entry) -> bool,
    ) -> Result<(), StepError> {
        for step in &self.after {
            let entries: Vec<Entry> = tail.iter().map(entry_of).collect();
            let costs = entries.iter().map(|entry| counter.count_message(&entry.message)).collect();
            for change in asked(&**step, &Read { entries, costs, quoted_until: 0 }, stays)? {
                changed.note_name(step.name());
                match change {
                    Checked::Pin(ordinal) => {
                        return Err(problem(
                            &**step,
                            ordinal,
                            "is in the view already: it cannot be pinned here",
                        ));
                    }
                    Checked::Drop(span) => {
                        let goes = |kept: &Kept| span.contains(kept.id.ordinal);
                        tail.iter().filter(|kept| goes(kept)).for_each(|kept| changed.cover_kept(kept));
                        tail.retain(|kept| !goes(kept));
                    }
                    Checked::Replace(ordinal, message) => {
                        if let Some(kept) = tail.iter_mut().find(|kept| kept.id.ordinal == ordinal) {
                            changed.cover_kept(kept);
                            kept.message = Arc::new(message);
                            kept.digested = true;
                        }
                    }
                }
            }
        }
        // What was replaced before is not what was said.
        tail.iter_mut().filter(|kept| changed.is_replaced(kept.id.ordinal)).for_each(|kept| {
            kept.digested = true;
        });
        Ok(())
    }
}

impl Changed {
    fn note_name(&mut self, name: &str) {
        note(&mut self.names, name);
    }

    fn note_pin(&mut self, name: &str) {
        note(&mut self.pinning, name);
    }

    /// What lies before `start` is covered already.
    fn cover(&mut self, entry: &Entry, start: u64) {
        if entry.id.ordinal >= start {
            self.covered.insert(entry.id.ordinal, Covered::from(entry));
        }
    }

    fn cover_kept(&mut self, kept: &Kept) {
        self.covered.insert(kept.id.ordinal, Covered { ordinal: kept.id.ordinal, sha256: kept.id.hash });
    }
}

/// A goal is known again by so many characters.
const KNOWN_BY: usize = 80;

fn note(names: &mut Vec<String>, name: &str) {
    if names.last().is_none_or(|last| last != name) {
        names.push(name.to_owned());
    }
}

/// What a compaction works on, in order, and what each message costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    pub(super) entries: Vec<Entry>,
    pub(super) costs: Vec<Tokens>,
    /// Messages before this ordinal are only quoted.
    pub(super) quoted_until: u64,
}

impl Read {
    /// Takes the messages in `spans` out and returns them.
    fn leave_out(&mut self, mut spans: Vec<Span>) -> Vec<Entry> {
        spans.sort_unstable_by_key(|span| span.start);
        let goes = |entry: &Entry| {
            let next = spans.partition_point(|span| span.end <= entry.id.ordinal);
            spans.get(next).is_some_and(|span| span.contains(entry.id.ordinal))
        };
        if spans.is_empty() {
            return Vec::new();
        }
        let read = std::mem::take(&mut self.entries).into_iter().zip(std::mem::take(&mut self.costs));
        let (left_out, stays): (Vec<_>, Vec<_>) = read.partition(|(entry, _)| goes(entry));
        (self.entries, self.costs) = stays.into_iter().unzip();
        left_out.into_iter().map(|(entry, _)| entry).collect()
    }
}

fn position(entries: &[Entry], ordinal: u64) -> Option<usize> {
    entries.binary_search_by_key(&ordinal, |entry| entry.id.ordinal).ok()
}

/// A change that can be made.
enum Checked {
    Pin(u64),
    Drop(Span),
    Replace(u64, Message),
}

/// Returns the changes that `step` asks for among what is read.
fn asked(
    step: &dyn CompactionStep,
    Read { entries, costs, quoted_until }: &Read,
    stays: &dyn Fn(&Entry) -> bool,
) -> Result<Vec<Checked>, StepError> {
    let mut costs = costs.iter().copied();
    let units = Units::new(entries).map(|unit| StepUnit {
        tokens: costs.by_ref().take(unit.entries.len()).sum(),
        stays: unit.entries.iter().any(stays),
        is_quoted: unit.entries.iter().any(|entry| entry.id.ordinal < *quoted_until),
        unit,
    });
    let units: Vec<StepUnit<'_>> = units.collect();
    let is_before = |unit: &StepUnit<'_>, ordinal: u64| {
        unit.unit.entries.last().is_none_or(|last| last.id.ordinal < ordinal)
    };
    let checked = |change: Change| {
        let ordinal = match &change {
            Change::Pin(ordinal) | Change::Drop(ordinal) | Change::Replace(ordinal, _) => *ordinal,
        };
        let unit = units.get(units.partition_point(|unit| is_before(unit, ordinal)));
        let found = unit.zip(position(entries, ordinal).map(|at| &entries[at]));
        let Some((unit, entry)) = found else {
            return Err(problem(step, ordinal, "is none of the messages it was shown"));
        };
        match change {
            Change::Pin(_) => Ok(Checked::Pin(ordinal)),
            _ if unit.stays => Err(problem(step, ordinal, "must stay as it is")),
            Change::Drop(_) => Ok(Checked::Drop(unit.unit.span())),
            Change::Replace(_, message) if message.parts.is_empty() => {
                Err(problem(step, ordinal, "must not be replaced by a message without parts; drop it"))
            }
            Change::Replace(_, message) if is_in_place_of(&message, &entry.message) => {
                Ok(Checked::Replace(ordinal, message.with_origin(entry.message.origin)))
            }
            Change::Replace(..) => {
                Err(problem(step, ordinal, "must keep its role and the ids of its calls and results"))
            }
        }
    };
    // It is handed what is not changed before it has answered.
    let changes = catch_unwind(AssertUnwindSafe(|| step.changes(&units)));
    let panicked = |_| StepError { step: step.name().to_owned(), problem: "it panicked".to_owned() };
    changes.map_err(panicked)?.into_iter().map(checked).collect()
}

/// Returns whether `new` may stand where `old` does: who speaks, what is called and what is answered are the same.
fn is_in_place_of(new: &Message, old: &Message) -> bool {
    new.role == old.role
        && new.calls().map(|call| &call.id).eq(old.calls().map(|call| &call.id))
        && new.results().map(|result| &result.call_id).eq(old.results().map(|result| &result.call_id))
}

fn problem(step: &dyn CompactionStep, ordinal: u64, words: &str) -> StepError {
    StepError { step: step.name().to_owned(), problem: format!("m{ordinal} {words}") }
}

fn entry_of(kept: &Kept) -> Entry {
    Entry { id: kept.id, lineage: kept.id.hash, message: Arc::clone(&kept.message) }
}
