//! A compaction under way: everything it needs, apart from the conversation, so that that can go on.

mod plan;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use longhaul_extract::{Domain, FactIndex, for_each_text};
use longhaul_redact::Redactor;
use longhaul_summarize::{
    Doubt, Draft, Summarizer, SummaryRequest, WORDS_SHARE, is_edited, is_refusal,
    rules::{self, RulesOptions, Since},
    says_nothing, with_facts, with_facts_in_data, with_facts_in_free_room, with_rules, with_rules_in_data,
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{
    ContentHash, Covered, Entry, LeftOut, MessageId, RedactionCount, Role, SessionId, Span, SummaryId,
    SummaryMode, SummaryRecord, Tokens, ToolUse, parse_summary,
};

use super::{StepError, Steps, running, scope::Counted, steps::Changed, written};
use crate::{
    Preset,
    compact::{
        self, AssembleError, CompactError, CompactSettings, Compacted, CompactionPlan, Earlier, Kept, Needed,
        Outcome, Source,
    },
    config::{Config, Oversize},
    forms,
    policy::{Action, Measurement, Reason},
};

/// A compaction under way. It owns what it works on, so that a summary can be made elsewhere while messages are pushed;
/// [`SessionState::apply`](super::SessionState::apply) takes the result only if what it covers is unchanged.
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) action: Action,
    pub(super) reason: Reason,
    /// What was decided on.
    pub(super) before: Measurement,
    pub(super) rewrites: u64,
    pub(super) through: MessageId,
    /// Lineage of that message: another branch may have been rewritten as often.
    pub(super) lineage: Option<ContentHash>,
    /// From this ordinal on all messages were read.
    pub(super) start: u64,
    session: SessionId,
    /// Quotations of what came before, then all messages from `start` on.
    entries: Vec<Entry>,
    n_quoted: usize,
    /// How many messages before `start` the summary stands for.
    n_behind: usize,
    is_rebuilt: bool,
    /// Where the summaries begin that this one replaces.
    replaces_from: Option<u64>,
    /// Messages before `start` that go out of the view.
    let_go: Vec<Covered>,
    /// What the summaries before counted of messages that are not read again.
    counted: Option<Counted>,
    costs: Vec<Tokens>,
    pub(super) index: Arc<FactIndex>,
    /// What the facts say of how much each line of an output is needed.
    needed: Arc<Needed>,
    counter: Arc<dyn TokenCounter>,
    previous: Option<Arc<SummaryRecord>>,
    /// What models wrote in the summaries that the new one takes the place of.
    words: Option<String>,
    /// The summaries that stay beside the new one.
    beside: Vec<Arc<SummaryRecord>>,
    /// The latest summary in the view, also where the new one does not build on it.
    head: Option<SummaryId>,
    settings: CompactSettings,
    rules: RulesOptions,
    steps: Steps,
    pub(super) changed: Changed,
    /// Messages that no step may touch.
    fixed: BTreeSet<u64>,
    /// The hashes of messages without their secrets, where they have any.
    clean: BTreeMap<u64, ContentHash>,
    plan: CompactionPlan,
    redactions: Vec<RedactionCount>,
    redactor: Option<Redactor>,
    mode: SummaryMode,
    /// Whoever is asked for the summary writes the facts by rule that belong in it.
    writes_facts: bool,
    /// Somebody asked for a summary that owes nothing to the one in force.
    pub(super) owes_nothing: bool,
    /// The preset whose document's form the summary takes.
    preset: Option<Preset>,
    /// The summary is an update to the previous one.
    is_running: bool,
    /// The summary is the first of those that updates follow.
    starts_running: bool,
    /// The summary covers what no summary before it did.
    pub(super) reads_new_only: bool,
    /// From this ordinal on no summary tells of what was said.
    told_until: u64,
    /// What lies behind it and steps of the caller's took out of the view before.
    taken_out: BTreeSet<u64>,
    /// What the summary covers is what was read for it, and not what it took out of the view as well.
    has_own_range: bool,
}

/// A compaction that is done and waits to be applied.
#[derive(Clone, Debug)]
pub struct Finished {
    pub(super) job: Job,
    pub(super) compacted: Compacted,
    /// What was left out of the summary so that the facts by rule have room in it, as the record says it.
    left_out: Vec<String>,
}

/// In less room more may be left out, whose number takes a little more.
const MORE_TO_SAY: Tokens = Tokens(2);

/// Bytes that a model is shown of a message where not all that is to be summarized fits.
const SHOWN_OF_MESSAGE: usize = 1_000;

impl Job {
    /// Returns the compaction as this summarizer is asked for it: in the mode `hybrid` the words of one that does not write the facts
    /// by rule itself leave room for them, and [`finish`](Self::finish) puts them beside.
    #[must_use]
    pub fn asked_of(self, summarizer: &dyn Summarizer) -> Job {
        Job { writes_facts: summarizer.writes_facts(), ..self }
    }

    /// Returns what is to be asked of the [`Summarizer`] that [`asked_of`](Self::asked_of) was told of; of one that writes the facts
    /// itself, where it was told of none.
    pub fn request(&self) -> SummaryRequest<'_> {
        let request = self.whole_request(self.mode != SummaryMode::Rules);
        match self.gets_facts() && !forms::shows_words_alone(self.preset) {
            true => SummaryRequest { limit: request.limit.scaled(WORDS_SHARE), ..request },
            false => request,
        }
    }

    /// Returns whether facts by rule are put beside what a summarizer writes.
    fn gets_facts(&self) -> bool {
        self.mode == SummaryMode::Hybrid && !self.writes_facts
    }

    /// Returns what there is to summarize, and all the room that there is for it: a model's words get more of it than lines by rule.
    fn whole_request(&self, by_model: bool) -> SummaryRequest<'_> {
        let mut request = self.plan.request(&self.source(), &self.settings);
        request.is_rebuilt = self.owes_nothing;
        request.most_listed = forms::most_listed(self.preset).filter(|_| by_model);
        if self.is_running || self.starts_running {
            request.limit = running::room(self.runs_on(), request.limit, by_model);
        }
        request
    }

    /// Puts a summarizer's draft into its place; in the mode `hybrid` with facts by rule beside it, in `llm` with the user's rules, where
    /// the summarizer writes none and no person edited it. What the draft leaves of its room goes to the messages that stay.
    ///
    /// # Errors
    /// When the draft says nothing, or is larger than [`SummaryRequest::limit`] allowed.
    pub fn finish(self, draft: Draft) -> Result<Finished, AssembleError> {
        let (draft, mut left_out) = self.usable(draft)?;
        let finished = self.put(draft)?;
        left_out.extend_from_slice(&finished.left_out);
        Ok(Finished { left_out, ..finished })
    }

    /// Returns a draft that says something, with the facts or rules that belong in it, and what was left out for these.
    fn usable(&self, draft: Draft) -> Result<(Draft, Vec<String>), AssembleError> {
        // Where rules find nothing to say, there is nothing.
        let is_by_rule = draft.made_with == rules::MADE_WITH;
        if says_nothing(&draft.text) && !is_by_rule {
            return Err(AssembleError::Empty);
        }
        if is_refusal(&draft.text) && !is_by_rule && !draft.is_edited() {
            return Err(AssembleError::Refused);
        }
        if self.writes_facts || self.mode == SummaryMode::Rules || is_by_rule || draft.is_edited() {
            return Ok((draft, Vec::new()));
        }
        let (reading, request) = (self.reading(), self.whole_request(true));
        let rules = || reading.summarize(&request).summary.constraints;
        let n_repairs = draft.repairs.len();
        let mut draft = match (self.mode, forms::shows_words_alone(self.preset)) {
            (SummaryMode::Llm, true) => with_rules_in_data(draft, &rules()),
            (SummaryMode::Llm, false) => with_rules(draft, &request, &rules()),
            (_, true) => with_facts_in_data(draft, reading.summarize(&request)),
            (_, false) => with_facts(draft, &request, |request| reading.summarize(request)),
        };
        let left_out = draft.repairs[n_repairs..].to_vec();
        draft.summary.checks.extend_from_slice(&left_out);
        Ok((draft, left_out))
    }

    fn put(self, draft: Draft) -> Result<Finished, AssembleError> {
        let draft = match draft.mode {
            // No model answered. What a summarizer of the caller's or a person wrote stays as it is.
            SummaryMode::Rules
                if self.words.is_some()
                    && draft.made_with == rules::MADE_WITH
                    && !self.is_running
                    && !self.starts_running =>
            {
                let Draft { attempts, cost, .. } = draft;
                Draft { attempts, cost, ..self.by_rule(&self.reading(), &self.whole_request(false)) }
            }
            mode => self.shaped(draft, &self.whole_request(mode != SummaryMode::Rules)),
        };
        let mut draft = self.updated(draft);
        let left_out = self.note_left_out(&mut draft);
        let draft = self.clean(draft);
        let assembled = |settings: &CompactSettings| {
            self.plan.clone().assemble_full(&self.source(), settings, draft.clone())
        };
        let compacted = self.with_room_to_say(assembled)?;
        Ok(self.finished_without(left_out, compacted)?)
    }

    /// Puts a summarizer's draft into its place, and gives the tail what the draft leaves of the room.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    #[cfg(feature = "wire")]
    pub(crate) fn finish_wide(self, draft: Draft) -> Result<Finished, AssembleError> {
        let (draft, mut left_out) = self.usable(draft)?;
        let request = self.whole_request(draft.mode != SummaryMode::Rules);
        let mut draft = self.updated(self.shaped(draft, &request));
        left_out.extend(self.note_left_out(&mut draft));
        let draft = self.clean(draft);
        let assembled = |settings: &CompactSettings| {
            self.plan.clone().assemble_wide(&self.source(), settings, draft.clone())
        };
        let compacted = self.with_room_to_say(assembled)?;
        Ok(self.finished_without(left_out, compacted)?)
    }

    /// Returns a draft behind the running summary that it is an update to.
    fn updated(&self, draft: Draft) -> Draft {
        match self.runs_on() {
            Some(previous) => {
                let since = Since::summary_before(&self.whole_request(false));
                running::update(previous, draft, since.as_ref(), self.plan.limit, &*self.counter)
            }
            None => draft,
        }
    }

    /// Summarizes by rule.
    ///
    /// # Errors
    /// When what must stay is larger than the budget.
    pub fn finish_by_rule(self) -> Result<Finished, CompactError> {
        if self.is_running || self.starts_running {
            let draft = rules::summarize(&self.whole_request(false), &self.rules);
            // An update keeps to the plan's limit, for which there is room.
            return match self.clone().put(draft) {
                Err(AssembleError::Step(error)) => Err(error.into()),
                Err(_) => self.put(Draft::default()).map_err(|_| CompactError::NoRoom),
                Ok(finished) => Ok(finished),
            };
        }
        let compacted = {
            let reading = self.reading();
            let draft = |request: &SummaryRequest<'_>| self.clean(self.by_rule(&reading, request));
            self.with_room_to_say(|settings| compact::compact_by(&self.source(), settings, &draft))?
        };
        Ok(self.finished(compacted)?)
    }

    /// Returns what rules write in the place of a summarizer.
    pub(crate) fn draft_by_rule(&self) -> Draft {
        rules::summarize(&SummaryRequest { most_listed: None, ..self.request() }, &self.rules)
    }

    /// Returns `draft` as it is recorded and judged again by whoever imports it.
    fn clean(&self, mut draft: Draft) -> Draft {
        if let Some(redactor) = &self.redactor {
            redactor.redact_summary(&mut draft.text, &mut draft.summary);
        }
        draft
    }

    fn shaped(&self, mut draft: Draft, request: &SummaryRequest<'_>) -> Draft {
        if self.counted.is_some() || !request.kept.is_empty() {
            draft.summary.tools_used = self.tools_used(request);
        }
        let runs = self.is_running || self.starts_running;
        let most = if runs { self.plan.limit } else { request.limit };
        let has_facts = draft.made_with.ends_with(rules::MADE_WITH) || self.mode == SummaryMode::Hybrid;
        let shaped = forms::shaped(self.preset, draft, request, most, self.settings.preserve_error_details);
        // What a running summary leaves free is its next update's.
        if !has_facts || runs || !forms::shows_words(self.preset, &shaped) {
            return shaped;
        }
        let reading = self.reading();
        with_facts_in_free_room(shaped, request, |request| reading.summarize(request))
    }

    /// Returns the uses of tools that summaries counted before, and those in the messages that leave the view now: what stays is counted
    /// once it leaves. Where all of it stays in part, its uses are.
    fn tools_used(&self, request: &SummaryRequest<'_>) -> Vec<ToolUse> {
        let (before, until) = match &self.counted {
            Some(counted) => (&counted.tools[..], counted.until),
            None => (&[][..], 0),
        };
        let at = request.entries.partition_point(|entry| entry.id.ordinal < until);
        let kept: HashSet<u64> = request.kept.iter().map(|entry| entry.id.ordinal).collect();
        let leave = request.entries[at..].iter().filter(|entry| !kept.contains(&entry.id.ordinal));
        let leave: Vec<Entry> = leave.cloned().collect();
        rules::tools_used(before, if leave.is_empty() { &request.entries[at..] } else { &leave })
    }

    /// Notes in the draft how much of a model's words its text leaves out, and returns the same.
    fn note_left_out(&self, draft: &mut Draft) -> Vec<String> {
        let is_a_persons = draft.is_edited();
        let left_out =
            forms::left_out(self.preset, draft, &draft.text, &*self.counter).filter(|_| !is_a_persons);
        draft.summary.checks.extend(left_out.clone());
        left_out.into_iter().collect()
    }

    fn reading(&self) -> rules::Reading<'_> {
        rules::Reading::new(&self.index, &*self.counter, &self.rules).of(self.source().entries)
    }

    /// Returns a draft by rule that keeps what models wrote before.
    fn by_rule(&self, reading: &rules::Reading<'_>, request: &SummaryRequest<'_>) -> Draft {
        let by_rule = |request: &SummaryRequest<'_>| self.shaped(reading.summarize(request), request);
        written::beside(self.words.as_deref(), request, by_rule)
    }

    /// Returns why this compaction is made.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Returns what is being done.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Returns the numbers it was decided on.
    pub fn before(&self) -> &Measurement {
        &self.before
    }

    /// Returns the depth of the summary that will come of it.
    pub fn depth(&self) -> u32 {
        self.request().depth
    }

    /// Returns what the messages to summarize cost.
    #[cfg(test)]
    pub(crate) fn span_tokens(&self) -> Tokens {
        self.summarized().map(|(_, cost)| cost).sum()
    }

    /// Returns the messages to summarize, each with what it costs.
    fn summarized(&self) -> impl Iterator<Item = (&Entry, Tokens)> {
        // What is summarized begins with what is read, standing instructions apart.
        let summarized = self.request().entries;
        let first = summarized.first().map(|entry| entry.id);
        let at = self.entries.iter().position(|entry| Some(entry.id) == first).unwrap_or(0);
        let costs = self.costs.get(at..).unwrap_or_default().iter().copied();
        summarized.iter().zip(costs)
    }

    /// Returns what is to be summarized, of a long message its beginning as a model would be shown it, and the most that it may be
    /// shown, where the first is more and the settings leave it to the rules then ([`Oversize::Rules`]). The user should be told.
    pub fn too_large_for_model(&self, config: &Config) -> Option<(Tokens, Tokens)> {
        let cap = config.transcript_cap_tokens.filter(|_| config.oversize == Oversize::Rules)?;
        let shown = self.summarized().map(|(entry, cost)| cost.min(self.cost_of_beginning(entry)));
        let tokens = shown.sum();
        (tokens > cap).then_some((tokens, cap))
    }

    /// Returns what as much of a message costs as a model is shown of it where not all fits.
    fn cost_of_beginning(&self, entry: &Entry) -> Tokens {
        let mut text = String::new();
        for_each_text(&entry.message, |piece| {
            let room = SHOWN_OF_MESSAGE.saturating_sub(text.len());
            text.push_str(&piece[..piece.floor_char_boundary(room)]);
        });
        self.counter.count_text(&text)
    }

    /// Returns whether anything goes into the summary that is in none yet.
    pub(crate) fn is_of_something_new(&self) -> bool {
        let is_new = |ordinal: u64| ordinal >= self.told_until && !self.taken_out.contains(&ordinal);
        // What is wrong with a step is told by whoever finishes this.
        let by_steps_after = || self.changed_in_all().map_or(true, |changed| changed.takes_out(is_new));
        self.plan.takes_out(is_new) || self.changed.takes_out(is_new) || by_steps_after()
    }

    /// Returns what the steps change, with those that come after the built-in ones.
    fn changed_in_all(&self) -> Result<Changed, StepError> {
        let (mut tail, mut changed) = (self.plan.tail().to_vec(), self.changed.clone());
        self.after(&mut tail, &mut changed)?;
        Ok(changed)
    }

    /// Returns the number of messages that the summary stands for, those included that steps of the caller's take out.
    pub fn covered(&self) -> usize {
        // What is wrong with a step is told by whoever finishes this.
        let changed = self.changed_in_all().unwrap_or_else(|_| self.changed.clone());
        self.plan.covered() + changed.beside(self.plan.covered_messages())
    }

    /// Returns the summary to which this one is an update.
    fn runs_on(&self) -> Option<&SummaryRecord> {
        self.previous.as_deref().filter(|_| self.is_running)
    }

    /// Does the steps of the caller's that come after the built-in ones.
    fn after(&self, tail: &mut Vec<Kept>, changed: &mut Changed) -> Result<(), StepError> {
        let stays = |entry: &Entry| self.fixed.contains(&entry.id.ordinal);
        self.steps.after(tail, changed, &*self.counter, &stays)
    }

    fn finished(self, mut compacted: Compacted) -> Result<Finished, StepError> {
        // Rules may have summarized more than was planned, where the tail took longer results and fewer messages.
        let tail_from = compacted.tail.first().map_or(u64::MAX, |kept| kept.id.ordinal);
        let mut changed = self.changed.clone();
        self.after(&mut compacted.tail, &mut changed)?;
        let read = self.request().entries;
        let record = &mut compacted.record;
        record.redactions.clone_from(&self.redactions);
        if let (true, Some(first), Some(last)) = (self.has_own_range, read.first(), read.last()) {
            // Ranges are disjoint: what was only shortened in the tail belongs to the next one.
            let told =
                record.covered.iter().map(|covered| covered.ordinal).filter(|at| *at < tail_from).max();
            let end = told.unwrap_or_default().max(last.id.ordinal) + 1;
            record.covers = Span { start: first.id.ordinal, end };
        }
        if let Some(from) = self.replaces_from {
            // Only the newest messages were read again; the summary stands for what those before it stood for as well.
            record.covers.start = record.covers.start.min(from);
        }
        let n_before = record.covered.len();
        let is_changed = changed.note(record);
        if is_changed {
            // It stands for what the steps took out as well.
            let n_more = record.covered.len() - n_before;
            record.header = self.plan.header(&self.settings, n_more);
            compacted.outcome.summarized += n_more;
            self.settle(&mut compacted, &changed)?;
        }
        let record = &mut compacted.record;
        record.covered.splice(0..0, self.let_go.iter().copied());
        let mut is_clean = true;
        for covered in &mut record.covered {
            // Of what a store is given, not of what was said: a hash of a secret is a hint to it.
            if let Some(hash) = self.clean.get(&covered.ordinal) {
                is_clean = false;
                covered.sha256 = *hash;
            }
        }
        if record.parent != self.head || !self.let_go.is_empty() || is_changed || !is_clean {
            // A rebuilt or appended summary does not build on the one before it, but it comes after it in the chain.
            record.parent.clone_from(&self.head);
            record.id = self.id_of(record);
        }
        let left_out = self.rules_left_out(&compacted);
        self.say_left_out(&mut compacted, left_out);
        let left_out = left_out.words().map(|words| format!("{words} left out: no room"));
        compacted.record.summary.checks.extend(left_out.clone());
        Ok(Finished { job: self, compacted, left_out: left_out.into_iter().collect() })
    }

    fn finished_without(
        self,
        mut left_out: Vec<String>,
        compacted: Compacted,
    ) -> Result<Finished, StepError> {
        let finished = self.finished(compacted)?;
        left_out.extend_from_slice(&finished.left_out);
        Ok(Finished { left_out, ..finished })
    }

    /// Returns how many of the user's rules and facts neither the summary nor a message that stays shows; none where a person or a
    /// summarizer that writes the facts itself chose what to say, and where only people talk, whose demands are no rules.
    fn rules_left_out(&self, compacted: &Compacted) -> LeftOut {
        let Compacted { record, head, tail, .. } = compacted;
        let is_by_us = !self.writes_facts || record.made_with.ends_with(rules::MADE_WITH);
        let is_assistants = |entry: &Entry| entry.message.role == Role::Assistant;
        let is_meeting = self.index.domain() == Domain::Talk && !self.entries.iter().any(is_assistants);
        if !is_by_us || is_edited(&record.made_with) || is_meeting {
            return LeftOut::default();
        }
        let messages = head.iter().chain(tail).flat_map(|kept| kept.message.texts());
        let shown: Vec<&str> = messages.chain([&*record.text]).collect();
        // Summaries that stand beside this one told of their own.
        let first = if self.has_own_range { record.covers.start } else { 0 };
        let rules = record.summary.constraints.iter().filter(|rule| rule.message >= first).cloned();
        let left_out = rules::left_out(&rules.collect::<Vec<_>>(), &shown);
        LeftOut { in_part: first > 0, ..left_out.and_before(self.left_out_before()) }
    }

    /// Returns what a summary left out that is itself among what is summarized: of these rules nothing is known but their number.
    fn left_out_before(&self) -> LeftOut {
        let front = self.entries.iter().find(|entry| !entry.message.is_system());
        let is_summary = |text: &&str| parse_summary(text).is_some();
        let message = front.and_then(|entry| entry.message.texts().find(is_summary));
        // One that was read back from a history was made by nobody here.
        let previous = self.previous.as_deref().filter(|previous| previous.made_with.is_empty());
        match (message, previous) {
            (Some(message), _) => LeftOut::read_back(message),
            (None, previous) => previous.map(|previous| previous.left_out).unwrap_or_default(),
        }
    }

    /// Returns what `make` makes of settings with a budget that leaves room for the line that says what was left out; where it makes
    /// nothing of these, what it makes of the settings as they are.
    fn with_room_to_say<E>(
        &self,
        make: impl Fn(&CompactSettings) -> Result<Compacted, E>,
    ) -> Result<Compacted, E> {
        let mut compacted = make(&self.settings)?;
        let left_out = self.rules_left_out(&compacted);
        if left_out.is_nothing() {
            return Ok(compacted);
        }
        let tokens = self.tokens_saying(&mut compacted, left_out);
        if tokens <= self.settings.budget {
            return Ok(compacted);
        }
        let over = tokens - self.settings.budget + MORE_TO_SAY;
        let less = CompactSettings { budget: self.settings.budget - over, ..self.settings.clone() };
        Ok(make(&less).unwrap_or(compacted))
    }

    /// Puts into the record what was left out, where the line that says it has room.
    fn say_left_out(&self, compacted: &mut Compacted, left_out: LeftOut) {
        if left_out.is_nothing() {
            return;
        }
        let tokens = self.tokens_saying(compacted, left_out);
        if tokens <= self.settings.budget {
            compacted.record.left_out = left_out;
            compacted.record.tokens_after = tokens;
            compacted.outcome.tokens_after = tokens;
        }
    }

    /// Returns what the view would cost if its summary said that so much was left out.
    fn tokens_saying(&self, compacted: &mut Compacted, left_out: LeftOut) -> Tokens {
        let count = |record: &SummaryRecord| self.counter.count_message(&record.to_message());
        let before = count(&compacted.record);
        compacted.record.left_out = left_out;
        let after = count(&compacted.record);
        compacted.record.left_out = LeftOut::default();
        compacted.record.tokens_after - before + after
    }

    fn id_of(&self, record: &SummaryRecord) -> SummaryId {
        SummaryRecord::derive_id(
            &self.session,
            record.parent.as_ref(),
            &record.covered,
            record.mode,
            &record.model,
            &record.made_with,
            &record.text,
        )
    }

    /// Takes stock of a view that steps of the caller's changed.
    fn settle(&self, compacted: &mut Compacted, changed: &Changed) -> Result<(), StepError> {
        let messages = compacted.messages();
        let tokens = messages.iter().map(|message| self.counter.count_message(message)).sum::<Tokens>()
            + self.counter.framing().per_reply;
        if tokens > self.settings.budget {
            return Err(changed.too_large(tokens, self.settings.budget));
        }
        let digested = compacted.tail.iter().filter(|kept| kept.digested).count();
        let kept_verbatim = compacted.head.len() + compacted.tail.len() - digested;
        compacted.record.kept = Span::runs(compacted.tail.iter().map(|kept| kept.id.ordinal));
        compacted.record.tokens_after = tokens;
        compacted.outcome = Outcome { tokens_after: tokens, digested, kept_verbatim, ..compacted.outcome };
        Ok(())
    }

    fn source(&self) -> Source<'_> {
        Source {
            session: &self.session,
            entries: &self.entries,
            costs: &self.costs,
            tokens_before: self.before.tokens,
            counter: &*self.counter,
            index: &self.index,
            earlier: Earlier {
                summary: self.previous.as_deref(),
                beside: &self.beside,
                quoted: self.n_quoted,
                behind: self.n_behind,
                is_rebuilt: self.is_rebuilt,
                stays: self.has_own_range && !self.is_running && !self.starts_running,
                is_behind_head: self.start > 0,
            },
            needed: Some(&self.needed),
        }
    }
}

impl Finished {
    /// Returns the record as it will be applied; a store is told of it before the view changes.
    pub fn record(&self) -> &SummaryRecord {
        &self.compacted.record
    }

    /// Returns why the compaction was made.
    pub fn reason(&self) -> Reason {
        self.job.reason
    }

    /// Returns what a summarizer's draft lost for want of room beside the facts by rule, in words without message text.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns what would become of the messages. Of a compaction that a session [proposes](crate::Session::propose)
    /// `tokens_after` is the whole view's; of one that was planned by hand it leaves out what stands beside the new summary,
    /// which [`SessionState::check`](super::SessionState::check) counts.
    pub fn outcome(&self) -> Outcome {
        self.compacted.outcome
    }

    /// Returns this compaction with `text`, a person's, in the place of what its summary says. Everything else stays.
    /// Where they have seen the doubts and insist, what nothing shows stands as their word.
    ///
    /// # Errors
    /// What is the matter with `text`: see [`Draft::edited`].
    pub fn edited(&self, text: &str, do_they_insist: bool) -> Result<Finished, Vec<Doubt>> {
        let job = &self.job;
        let record = self.record();
        let counted = |compacted: &Compacted| {
            let messages = compacted.messages();
            let tokens = messages.iter().map(|message| job.counter.count_message(message));
            tokens.sum::<Tokens>() + job.counter.framing().per_reply
        };
        let limit = record.tokens + (job.settings.budget - counted(&self.compacted));
        let draft = Draft {
            summary: record.summary.clone(),
            text: record.text.clone(),
            made_with: record.made_with.clone(),
            ..Draft::default()
        };
        let draft =
            job.clean(draft.edited(text, do_they_insist, &SummaryRequest { limit, ..job.request() })?);
        let mut compacted = self.compacted.clone();
        let record = &mut compacted.record;
        record.summary = draft.summary;
        // A person chose what to say.
        record.left_out = LeftOut::default();
        record.summary.checks.extend(draft.repairs);
        record.text = draft.text;
        record.made_with = draft.made_with;
        record.tokens = job.counter.count_text(&record.text);
        record.id = job.id_of(record);
        let tokens = counted(&compacted);
        if tokens > job.settings.budget {
            // The frame around the words may cost a token more than around those before.
            let tokens = compacted.record.tokens;
            return Err(vec![Doubt::TooLong { tokens, limit }]);
        }
        let beside = self.outcome().tokens_after - counted(&self.compacted);
        let mut edited = Finished { compacted, ..self.clone() };
        edited.costs_in_all(tokens + beside);
        Ok(edited)
    }

    /// Takes down what the whole view will cost, which only the session knows.
    pub(crate) fn costs_in_all(&mut self, tokens: Tokens) {
        self.compacted.record.tokens_after = tokens;
        self.compacted.outcome.tokens_after = tokens;
    }

    /// Returns the record for changes that do not touch what it says: the time it took, what was redacted.
    pub fn record_mut(&mut self) -> &mut SummaryRecord {
        &mut self.compacted.record
    }
}
