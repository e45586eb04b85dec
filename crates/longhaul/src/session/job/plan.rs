//! What a compaction is to be: read from the session, cut into what stays and what is summarized.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_transcript::{
    ContentHash, Covered, Entry, Message, RedactionCount, Role, Span, Speaker, SummaryRecord, Tokens,
};

use super::{
    super::{
        SessionState,
        asked::{Unread, Within},
        scope::{Scope, quotation},
        steps::Read,
        stored, written,
    },
    Job,
};
use crate::{
    compact::{self, CompactError, CompactSettings, Earlier, Needed, Source},
    config::Chaining,
    policy::{Action, Measurement, Reason},
};

impl SessionState {
    /// Returns the compaction that `action` asks for. `goal` is what the reader of the summary is about to do, where
    /// the user said so; `now_ms` is the time that the record will bear.
    ///
    /// # Errors
    /// When what must stay is larger than the budget, or nothing can be summarized.
    pub fn plan(
        &self,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
        now_ms: Option<i64>,
    ) -> Result<Job, CompactError> {
        self.plan_below(Tokens::ZERO, action, reason, goal, now_ms)
    }

    /// Returns the compaction that `action` asks for, into so much less than the budget.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub(crate) fn plan_below(
        &self,
        less: Tokens,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
        now_ms: Option<i64>,
    ) -> Result<Job, CompactError> {
        self.plan_by((less, false), (action, reason), goal, now_ms)
    }

    /// Returns the compaction as somebody asks for it who wants nothing of the summary in force: it is made from the originals, as large
    /// as if they were summarized for the first time, and a model reads all of them again. It need not be smaller than the one in force.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub(crate) fn plan_anew(&self, goal: Option<&str>, now_ms: Option<i64>) -> Result<Job, CompactError> {
        let action = Action::Summarize { rebuild: true };
        let job = self.plan_by((Tokens::ZERO, true), (action, Reason::Manual), goal, now_ms)?;
        Ok(Job { owes_nothing: true, ..job })
    }

    fn plan_by(
        &self,
        (less, is_anew): (Tokens, bool),
        (action, reason): (Action, Reason),
        goal: Option<&str>,
        now_ms: Option<i64>,
    ) -> Result<Job, CompactError> {
        let before = self.measure(now_ms);
        let below = Measurement { budget: before.budget - less, ..before };
        let index = self.index();
        let planned = |unread| {
            let scope = self.scope(action, &index);
            let mut room = self.room(&scope);
            if is_anew {
                room.said = self.cost_as_said(scope.start);
            }
            let settings = self.settings(&below, reason, room, goal, now_ms, unread);
            let most = self.scale().countable(below.budget) - scope.carried;
            self.planned((action, reason), before, Arc::clone(&index), scope, settings, most)
        };
        match self.unread() {
            // Whole wherever that fits.
            Some(unread) => planned(Unread::Whole(unread)).or_else(|error| match error {
                CompactError::Floor { .. } => planned(Unread::Cut),
                error => Err(error),
            }),
            None => planned(Unread::None),
        }
    }

    /// Returns the compaction into a size that somebody asks for, whatever the settings say of how deep to go. Everything
    /// else is as they say.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub fn plan_within(&self, action: Action, within: &Within) -> Result<Job, CompactError> {
        let before = self.measure(Some(within.now_ms));
        let index = self.index();
        let scope = self.scope(action, &index);
        let settings = self.settings_within(&before, within, self.room(&scope));
        let most = settings.budget;
        self.planned((action, Reason::Manual), before, index, scope, settings, most)
    }

    /// Plans with `settings`; into `most` where what steps of the caller's pin takes more.
    fn planned(
        &self,
        (action, reason): (Action, Reason),
        before: Measurement,
        index: Arc<FactIndex>,
        scope: Scope,
        mut settings: CompactSettings,
        most: Tokens,
    ) -> Result<Job, CompactError> {
        let (start, n_behind) = (scope.start, self.n_behind(&scope));
        let mut said = scope.quoted;
        said.extend(self.entries_from(start));
        said.retain(|entry| !stored::is_left_out(&entry.message) && self.stands(entry.id.ordinal));
        let through = said.last().map(|entry| entry.id).ok_or(CompactError::NothingToCompact)?;
        if scope.reads_new_only && !self.steps.before.is_empty() {
            // Nobody reads these again, but they are asked about: the facts are those of all that was said.
            said.splice(0..0, self.shown_before(start));
        }
        let open = self.exchange.open_from().unwrap_or(u64::MAX);
        let unread = self.unread();
        let fixed = |entry: &&Entry| {
            let ordinal = entry.id.ordinal;
            let is_unread = unread.is_some_and(|unread| unread.contains(ordinal));
            ordinal >= open
                || is_unread
                || self.request == Some(ordinal)
                || self.is_pin(ordinal, &entry.message)
        };
        let fixed: BTreeSet<u64> = said.iter().filter(fixed).map(|entry| entry.id.ordinal).collect();
        let stays = |entry: &Entry| fixed.contains(&entry.id.ordinal);
        let mut read = Read {
            costs: said.iter().map(|entry| self.known_cost(entry)).collect(),
            entries: said,
            quoted_until: if scope.reads_new_only { 0 } else { start },
        };
        let (changed, index) =
            self.steps.before(&mut read, start, index, &mut settings, &*self.counter, &stays)?;
        let previous = scope.previous.map(|previous| changed.left_of(previous));
        let (mut entries, mut costs, mut n_quoted) = (Vec::new(), Vec::new(), 0);
        for (entry, cost) in read.entries.into_iter().zip(read.costs) {
            let is_quoted = entry.id.ordinal < start;
            if is_quoted && scope.reads_new_only {
                continue;
            }
            let Some(entry) = (if is_quoted { quotation(entry) } else { Some(entry) }) else { continue };
            n_quoted += usize::from(is_quoted);
            entries.push(entry);
            costs.push(cost);
        }
        if !self.config.preserve_system {
            entries.iter_mut().filter(|entry| entry.message.is_system()).for_each(as_ordinary);
        }
        let needed = Arc::new(Needed::new(&index));
        let stays = |record: &&Arc<SummaryRecord>| scope.reads_new_only && record.covers.end <= start;
        let beside: Vec<_> = self.summaries().filter(stays).cloned().collect();
        let source = Source {
            session: &self.session,
            entries: &entries,
            costs: &costs,
            tokens_before: before.tokens,
            counter: &*self.counter,
            index: &index,
            earlier: Earlier {
                summary: previous.as_deref(),
                beside: &beside,
                quoted: n_quoted,
                behind: n_behind,
                is_rebuilt: scope.is_rebuilt,
                stays: self.config.chaining == Chaining::Append,
                is_behind_head: start > 0,
            },
            needed: Some(&needed),
        };
        let plan = match compact::plan(&source, &settings) {
            Err(CompactError::Floor { floor, .. }) if changed.pins() && floor > most => {
                return Err(changed.pins_too_much(floor, most).into());
            }
            // Half of what is above what must stay is left free, as where the caller's own pins are above the target.
            Err(CompactError::Floor { floor, .. }) if changed.pins() => {
                settings.budget = floor + (most - floor).scaled(0.5);
                compact::plan(&source, &settings)?
            }
            plan => plan?,
        };
        Ok(Job {
            action,
            reason,
            before,
            rewrites: self.rewrites,
            lineage: self.originals.lineage(through.ordinal),
            through,
            start,
            session: self.session.clone(),
            index,
            needed,
            counter: Arc::clone(&self.counter),
            redactions: self.redactions_from(start),
            redactor: self.redactor.clone(),
            clean: self.clean_hashes(start, &scope.let_go),
            reads_new_only: scope.reads_new_only,
            told_until: self.told_until(),
            taken_out: self.taken_out(),
            has_own_range: self.config.chaining != Chaining::Fold,
            preset: self.config.preset,
            starts_running: previous.is_none() && self.config.chaining == Chaining::Running,
            is_running: scope.reads_new_only && self.config.chaining == Chaining::Running,
            head: self.summary().map(|record| record.id.clone()),
            entries,
            costs,
            n_quoted,
            n_behind,
            is_rebuilt: scope.is_rebuilt,
            replaces_from: scope.replaces_from,
            let_go: scope.let_go,
            counted: scope.counted,
            words: self.words(previous.as_deref()),
            mode: self.config.mode,
            writes_facts: true,
            owes_nothing: false,
            previous,
            beside,
            settings,
            rules: self.rules.clone(),
            steps: self.steps.clone(),
            changed,
            fixed,
            plan,
        })
    }

    /// Returns what models wrote in the summaries that one behind `previous` takes the place of.
    fn words(&self, previous: Option<&SummaryRecord>) -> Option<String> {
        match self.config.chaining {
            Chaining::Append if previous.is_some() => {
                written::words(self.summaries().map(|record| &**record))
            }
            _ => written::words(previous.into_iter()),
        }
    }

    /// Returns how often each rule struck in the messages from `start` on.
    fn redactions_from(&self, start: u64) -> Vec<RedactionCount> {
        let mut by_rule: BTreeMap<&str, u64> = BTreeMap::new();
        let redactor = self.redactor.as_ref();
        let originals = self.originals.originals(Span { start, end: u64::MAX });
        let standing = originals.filter(|original| self.stands(original.entry.id.ordinal));
        let clean = standing.filter_map(|original| original.clean(redactor));
        for redaction in clean.flat_map(|clean| &clean.redactions) {
            *by_rule.entry(&redaction.rule).or_default() += redaction.count;
        }
        by_rule.into_iter().map(|(rule, count)| RedactionCount { rule: rule.to_owned(), count }).collect()
    }

    /// Returns the hashes without their secrets of the messages that have any: of those from `start` on, and of `let_go`.
    fn clean_hashes(&self, start: u64, let_go: &[Covered]) -> BTreeMap<u64, ContentHash> {
        let redactor = self.redactor.as_ref();
        let hash = |ordinal| Some((ordinal, self.originals.clean_hash(ordinal, redactor)?));
        let before = let_go.iter().map(|covered| covered.ordinal);
        before.chain(start..self.n_total()).filter_map(hash).collect()
    }

    /// Returns what the originals from `start` on cost that summaries stand for.
    fn cost_as_said(&self, start: u64) -> Tokens {
        let end = self.summaries().map(|record| record.covers.end).max().unwrap_or_default();
        let covered = self.entries_from(start).into_iter().take_while(|entry| entry.id.ordinal < end);
        covered.map(|entry| self.known_cost(&entry)).sum()
    }

    /// Returns what a message costs without its secrets taken out, which the engine plans with.
    fn known_cost(&self, entry: &Entry) -> Tokens {
        if self.is_replaced_instruction(entry.id.ordinal) {
            return Tokens::ZERO;
        }
        // Instructions stay as they are worded now.
        if let Some(placed) = self.items.get(entry.id.ordinal).filter(|_| entry.id.ordinal < self.head) {
            return placed.counts.total();
        }
        match self.costs.get(entry.id.ordinal).filter(|_| !self.costs.is_scaled) {
            Some(cost) => cost,
            None => self.counter.count_message(&entry.message),
        }
    }
}

/// Takes the standing of an instruction from an entry, so that it can be summarized (`preserve_system = false`).
fn as_ordinary(entry: &mut Entry) {
    let speaker = Some(Speaker::System);
    entry.message = Arc::new(Message { role: Role::User, speaker, ..(*entry.message).clone() });
}
