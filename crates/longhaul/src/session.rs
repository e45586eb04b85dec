//! A conversation with its context kept within a window: a synchronous state that decides everything and does no IO.

mod asked;
#[cfg(feature = "wire")]
mod beneath;
#[cfg(test)]
mod billed_tests;
mod branch;
mod by_client;
mod calibrated;
#[cfg(feature = "wire")]
mod cleared;
mod costs;
mod exchange;
mod facts;
#[cfg(feature = "wire")]
mod front_end;
#[cfg(feature = "wire")]
mod gaps;
mod instructions;
#[cfg(all(test, feature = "wire"))]
mod interleavings;
mod items;
mod job;
#[cfg(feature = "wire")]
mod known;
mod led;
mod line;
mod measure;
mod pins;
mod refused;
mod rewrite;
mod running;
#[cfg(test)]
pub(crate) use running::tests::record as running_record;
mod scope;
mod secrets;
mod settle;
mod shared;
#[cfg(feature = "wire")]
mod shortened;
mod since;
mod snapshot;
mod soft;
mod spelled;
mod status;
mod steps;
mod stored;
#[cfg(feature = "wire")]
mod sync;
#[cfg(feature = "wire")]
mod synced;
#[cfg(test)]
mod tests;
mod totals;
mod view;
mod written;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_redact::{Answers, Asked, Redactor};
use longhaul_summarize::rules::RulesOptions;
use longhaul_tokens::{Accuracy, ClassCounts, ContentClass, ContextWindow, Prices, Reported, TokenCounter};
use longhaul_transcript::{
    ContentHash, Entry, Message, MessageId, Part, Role, SessionId, Span, SummaryRecord, Tokens, ToolCall,
    Usage,
};
use serde::{Deserialize, Serialize};

pub use self::{
    asked::Within,
    branch::BranchError,
    job::{Finished, Job},
    line::Line,
    pins::{MemoryError, PinError},
    rewrite::{Rewrite, RewriteError},
    snapshot::{Snapshot, SnapshotError},
    status::{LastSummarization, Status},
    steps::{Change, CompactionStep, StepUnit, Steps},
    stored::Stored,
    view::{Shown, StablePrefix, View, ViewId},
};
#[cfg(feature = "wire")]
pub use self::{
    front_end::FrontEnd,
    known::SyncError,
    synced::{SyncReport, Synced},
};
pub(crate) use self::{
    refused::Refusal,
    running::leaves_out,
    since::Since,
    stored::{changed, forgotten, forgotten_results, is_changed, is_forgotten, is_gone},
};
pub use crate::compact::StepError;

use self::{
    by_client::ByClient,
    calibrated::{Calibrated, classes},
    costs::Costs,
    exchange::Exchange,
    facts::most_facts,
    items::{Items, Weight},
    refused::Refusals,
    rewrite::Past,
};
use crate::{
    compact::{Cut, digest, standing},
    config::Config,
    policy::{self, Decision, Measurement, PolicyState, Reason},
};

/// A conversation with its context kept within a window.
///
/// A message is counted and read when it is pushed, and again only for another model or where what was read is lost;
/// [`push`](Self::push), [`decide`](Self::decide) and [`view`](Self::view) cost the same however long the conversation is. Nothing is ever lost: the originals stay in
/// [`originals`](Self::originals), a rewrite changes the view only, and a failed one changes nothing.
///
/// ```
/// use std::sync::Arc;
/// use longhaul::{Config, SessionState};
/// use longhaul::tokens::{CharsPer4, ContextWindow};
/// use longhaul::transcript::{Message, SessionId, Tokens};
///
/// let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
/// let mut state = SessionState::new(SessionId::new("demo")?, window, Arc::new(CharsPer4), Config::default());
/// state.push(Message::user("Fix the failing test"));
/// assert_eq!(state.decide(None).to_string(), "hold: 12 tokens, 4,188 below the next threshold at 4,200");
/// assert_eq!(state.view().len(), 1);
/// # Ok::<(), longhaul::transcript::ParseSessionIdError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SessionState {
    session: SessionId,
    config: Config,
    window: ContextWindow,
    refusals: Refusals,
    fixed_overhead: Tokens,
    counter: Arc<dyn TokenCounter>,

    /// What a token costs, where it is known: a pass of the soft tier must pay for itself.
    prices: Prices,
    redactor: Option<Redactor>,
    /// What the messages to come may answer with a secret.
    asked: Asked,
    /// By ordinal, which messages did, and in which of their parts.
    answers: BTreeMap<u64, Answers>,
    /// How summaries by rule are made.
    rules: RulesOptions,
    /// What the caller adds to each compaction.
    steps: Steps,

    /// All that was said.
    originals: Line,
    /// What messages cost as they were said.
    costs: Costs,
    /// What each distinct message of late costs: one that is said again is not counted again.
    counted: HashMap<ContentHash, ClassCounts>,
    calibrated: Calibrated,
    /// The facts of all that was said; `None` where they are to be read anew. Shared with the jobs under way.
    index: Option<Arc<FactIndex>>,
    exchange: Exchange,
    /// How many messages at the start are standing instructions.
    head: u64,
    /// The compactions of the front end's own, oldest first.
    by_client: Vec<ByClient>,
    /// Ordinal of the newest request of the user.
    request: Option<u64>,
    /// Where the newest messages of the last history begin, where it left out what stood before them.
    newest_from: Option<u64>,
    /// Ordinals of what the caller pinned.
    pins: BTreeSet<u64>,
    /// Ordinals of what steps of the caller's kept from whoever wrote a summary: no facts are read from these as they were said.
    untold: BTreeSet<u64>,
    /// Named memory blocks.
    blocks: BTreeMap<Arc<str>, Arc<str>>,
    /// The standing instructions that the front end has now, where they are more or fewer than were said first, which no view shows then.
    instructions: Option<Vec<Arc<Message>>>,

    /// The view.
    items: Items,
    /// The last summary in the view.
    latest: Option<Arc<SummaryRecord>>,
    /// Ordinal of the first message that no summary in the view stands for.
    uncovered: u64,
    /// The newest request, where the view shows only part of it.
    cut: Option<Cut>,
    /// With how many elements the view begins that the last one sent began with too.
    stable: usize,
    /// What was sent last, the first so many of these elements, where the view was rewritten since.
    sent: Option<(Items, usize)>,

    policy: PolicyState,
    /// When the last request was made, in milliseconds since the Unix epoch.
    requested_at_ms: Option<i64>,
    rewrites: u64,
    /// How many summaries were made, those no longer in the view and those undone included.
    n_summaries: u64,
    /// How many messages there were at the last rewrite.
    made_at: u64,
    undo: Vec<Past>,
    redo: Vec<Past>,
    /// What was undone last cannot be done again.
    redo_is_lost: bool,
    /// Originals were deleted: of what the summaries in force stand for, they are all that is left, whatever the settings say now.
    has_deleted: bool,
}

/// What became of a usage that the provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UsageVerdict {
    /// It is taken as what the view costs up to the message it covers.
    Taken,
    /// It is about a view that is gone: the context was rewritten since.
    Stale,
    /// It cannot be about this view: it is nothing, larger than the window, or far above every count (a running total of a whole
    /// session, or another model's). What lies far above is taken from the next report on that differs from one before as the two
    /// requests do: then it is what every request costs beside its messages. What is larger than the window is so from the third
    /// such report in a row on, or where it goes on from one that was taken.
    Implausible,
    /// It is what longhaul itself expected at most ([`View::tokens`]), or little more, and not what a provider counted. Taken for
    /// that, each report would raise the next one.
    Echo,
    /// It is far less than what the request says can cost, so something was left out of it: where a provider tells cached tokens
    /// apart, most often these ([`Usage::cache_read`]). Taken, it would let the view grow past the window.
    TooLow,
}

/// A digested tool result keeps about this many tokens, so a result is worth digesting for what is above.
const DIGESTED_RESULT: Tokens = Tokens(200);

/// A reported usage this many times above the count is not of this view, and one as far below leaves something out. Estimators are
/// wrong by less than half of this on any text in `docs/benchmarks.md`; running totals are above it from the third request on.
const PLAUSIBLE_FACTOR: u64 = 4;

/// A server may put so much around the messages: what its template says of itself, the day and its standing words. Of a greeting
/// that is several times what was said.
const TEMPLATE: Tokens = Tokens(100);

/// No bill is below this share of what is said, called and answered, as it is counted: other tokenizers need at most a fifth less
/// than `o200k_base` on any text in `docs/benchmarks.md`, and an estimate may be wrong by half. What is thought may not be sent
/// again, and a picture may cost less than it is counted for.
const LEAST_BILLED: f64 = 0.7;
const LEAST_BILLED_OF_ESTIMATE: f64 = 0.5;

/// Returns whether this is an amount of money.
pub(crate) fn is_price(price: f64) -> bool {
    price.is_finite() && price >= 0.0
}

/// More messages than any exchange has: a call, and the results of calls made in parallel.
const LONGEST_EXCHANGE: u64 = 512;

/// The task is among the first messages.
const TASK_WITHIN: u64 = 64;

/// Returns where the exchange is that the message `ordinal` is part of.
pub(crate) fn exchange_around(ordinal: u64) -> Span {
    Span { start: ordinal.saturating_sub(LONGEST_EXCHANGE), end: ordinal + LONGEST_EXCHANGE }
}

/// How many distinct messages are remembered with what they cost.
const MOST_COUNTED: usize = 1_024;

impl SessionState {
    /// Returns the state of a conversation in which nothing was said yet.
    ///
    /// `config` is used as it is: see [`Config::validated`] for one of unknown origin.
    pub fn new(
        session: SessionId,
        window: ContextWindow,
        counter: Arc<dyn TokenCounter>,
        config: Config,
    ) -> SessionState {
        let mut index = FactIndex::new();
        index.set_most_facts(most_facts(window));
        SessionState {
            session,
            config,
            window,
            refusals: Refusals::default(),
            fixed_overhead: Tokens::ZERO,
            counter,
            prices: Prices::default(),
            redactor: Some(Redactor::builtin()),
            asked: Asked::default(),
            answers: BTreeMap::new(),
            rules: RulesOptions::default(),
            steps: Steps::default(),
            originals: Line::default(),
            costs: Costs::default(),
            counted: HashMap::new(),
            calibrated: Calibrated::default(),
            index: Some(Arc::new(index)),
            exchange: Exchange::default(),
            head: 0,
            by_client: Vec::new(),
            request: None,
            newest_from: None,
            pins: BTreeSet::new(),
            untold: BTreeSet::new(),
            blocks: BTreeMap::new(),
            instructions: None,
            items: Items::default(),
            latest: None,
            uncovered: 0,
            cut: None,
            stable: 0,
            sent: None,
            policy: PolicyState::new(),
            requested_at_ms: None,
            rewrites: 0,
            n_summaries: 0,
            made_at: 0,
            undo: Vec::new(),
            redo: Vec::new(),
            redo_is_lost: false,
            has_deleted: false,
        }
    }

    /// Returns a session of the same settings in which nothing was said.
    pub(crate) fn emptied(&self) -> SessionState {
        let (counter, config) = (Arc::clone(&self.counter), self.config.clone());
        let mut emptied = SessionState {
            fixed_overhead: self.fixed_overhead,
            prices: self.prices,
            redactor: self.redactor.clone(),
            rules: self.rules.clone(),
            steps: self.steps.clone(),
            by_client: self.by_client.clone(),
            untold: self.untold.clone(),
            instructions: self.instructions.clone(),
            ..SessionState::new(self.session.clone(), self.window, counter, config)
        };
        let (model, endpoint, _) = self.learned();
        emptied.set_endpoint(model, endpoint);
        if !emptied.untold.is_empty() {
            // What a step left out is not read as it is pushed.
            emptied.index = None;
        }
        emptied
    }

    /// Adds a message at the end of the conversation and of the view, and returns its id.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let message = self.led(message.into());
        let answers = self.asked.follow(&message);
        let clean = self.clean_answer(&message, &answers);
        if !answers.is_empty() {
            self.answers.insert(self.n_total(), answers);
        }
        let read = clean.as_ref().map_or(&message, |clean| &clean.message);
        let read = Arc::clone(read);
        let id = self.originals.push(Arc::clone(&message), clean);
        if self.out().contains(id.ordinal) {
            let counts = self.count(id.hash, &message);
            self.costs.push(counts.total());
            return id;
        }
        if let (Some(index), Some(entry)) = (&mut self.index, self.originals.last()) {
            Arc::make_mut(index).push(&Entry { message: read, ..entry.clone() });
        }
        let counts = self.count(id.hash, &message);
        self.costs.push(counts.total());
        self.follow(id, &message);
        self.keep_memory_of_provider(id, &message, counts.total());
        let is_instruction = standing::is_instruction(&message) && self.is_in_front(id.ordinal);
        self.show(Shown::Message { id, message, digested: false }, counts);
        // Blocks that were set before it stand behind it.
        if is_instruction && self.items.shown().any(|shown| matches!(shown, Shown::Block { .. })) {
            let shown = self.items.placed().map(rewrite::counted).collect();
            self.set_items(self.with_blocks(shown));
        }
        self.recalibrate();
        self.policy.observe(self.tokens(), &self.limits());
        id
    }

    /// Takes note of the next message: what is open, what is asked, what stands at the head.
    fn follow(&mut self, id: MessageId, message: &Message) {
        self.exchange.push(id.ordinal, message);
        if standing::is_request(message) {
            self.request = Some(id.ordinal);
        }
        if id.ordinal == self.head && standing::is_instruction(message) {
            self.head += 1;
        }
    }

    fn count(&mut self, hash: ContentHash, message: &Message) -> ClassCounts {
        if let Some(counts) = self.counted.get(&hash) {
            return *counts;
        }
        if self.counted.len() >= MOST_COUNTED {
            self.counted.clear();
        }
        let counts = classes(&*self.counter, message);
        self.counted.insert(hash, counts);
        counts
    }

    /// Sets what is added to each compaction; see [`CompactionStep`].
    pub fn set_steps(&mut self, steps: Steps) {
        self.steps = steps;
    }

    /// Returns the session as it would be if the caller's steps pinned nothing.
    pub(crate) fn without_step_pins(&self) -> SessionState {
        SessionState { steps: self.steps.without_pins(), ..self.clone() }
    }

    /// Returns the session as it would be without the caller's steps; what they kept from a summary before stays untold.
    pub(crate) fn without_steps(&self) -> SessionState {
        SessionState { steps: Steps::leaving_out(&self.untold), ..self.clone() }
    }

    /// Takes what the provider reported for a request made from a view.
    ///
    /// A report of a view that is gone, one that cannot be about this view, or one that hands back what was estimated here
    /// changes nothing: stale and cumulative figures have made other tools compact for no reason.
    pub fn report_usage(&mut self, view: ViewId, usage: &Usage) -> UsageVerdict {
        let through = match view.through {
            Some(through) if view.rewrites == self.rewrites => through,
            _ => return UsageVerdict::Stale,
        };
        let is_known = |shown: &Shown| matches!(shown, Shown::Message { id, .. } if *id == through);
        if !self.items.get(through.ordinal).is_some_and(|placed| is_known(&placed.shown)) {
            return UsageVerdict::Stale;
        }
        let reported = usage.prompt_total();
        let covered = self.items.sums_before(through.ordinal + 1).counts;
        let counted = covered.total() + self.fixed_overhead;
        let most = Tokens(counted.0.saturating_mul(PLAUSIBLE_FACTOR)) + TEMPLATE;
        // A provider that reports nothing reports 0.
        if reported == Tokens::ZERO {
            return UsageVerdict::Implausible;
        }
        if self.adds_up(reported, counted) {
            return UsageVerdict::Implausible;
        }
        let report = Reported { counted: covered, tokens: reported - self.fixed_overhead };
        let is_above_window = reported > self.known_window().window;
        if is_above_window && !self.calibrated.goes_on_for_long(report)
            || reported > most && !self.calibrated.goes_on(report)
        {
            self.calibrated.hold(report);
            return UsageVerdict::Implausible;
        }
        if reported <= self.fixed_overhead || reported.0.saturating_mul(PLAUSIBLE_FACTOR) < counted.0 {
            return UsageVerdict::TooLow;
        }
        if self.is_echo(covered, usage.prompt_total()) {
            return UsageVerdict::Echo;
        }
        if reported - self.fixed_overhead < self.least_billed(covered) {
            return UsageVerdict::TooLow;
        }
        self.learn(covered, reported - self.fixed_overhead);
        self.note_taken(reported);
        self.policy.observe(self.tokens(), &self.limits());
        UsageVerdict::Taken
    }

    /// Returns what is counted of the request that was made from a view, where that view still stands.
    pub(crate) fn counted_of(&self, view: ViewId) -> Option<Tokens> {
        let through = view.through.filter(|_| view.rewrites == self.rewrites)?;
        Some(self.items.sums_before(through.ordinal + 1).counts.total() + self.fixed_overhead)
    }

    /// Returns what a request with these counts costs at least, whoever bills it.
    fn least_billed(&self, counts: ClassCounts) -> Tokens {
        let of = [ContentClass::Text, ContentClass::Calls, ContentClass::Results];
        let counted: Tokens = of.into_iter().map(|class| counts.get(class)).sum();
        counted.scaled(match self.counter.accuracy() {
            Accuracy::Exact => LEAST_BILLED,
            Accuracy::Estimate { .. } => LEAST_BILLED_OF_ESTIMATE,
        })
    }

    /// Takes note that a request was made, so that it is known how long its prefix stays in the provider's cache.
    pub fn requested(&mut self, now_ms: i64) {
        self.requested_at_ms = Some(now_ms);
    }

    /// Returns the view for a request that is made now. What later views have in common with it is their
    /// [stable prefix](View::stable_prefix).
    pub fn send(&mut self) -> View {
        let view = self.view();
        self.stable = self.items.len();
        self.sent = None;
        self.note_sent();
        view
    }

    /// Returns what is to be done about the context now, and why. `now_ms` is the time in milliseconds since the Unix
    /// epoch where there is a clock: by it a failure is waited out, and the provider's cache is known to be
    /// [cold](Self::cache), where a pass of the soft tier costs nothing.
    pub fn decide(&self, now_ms: Option<i64>) -> Decision {
        policy::decide(&self.policy, &self.config, &self.measure(now_ms))
    }

    /// Returns what is to be done about the context where that is done while the conversation goes on: as
    /// [`decide`](Self::decide), and what the trigger calls for also where the next requests would come to the hard limit
    /// before it is done.
    pub(crate) fn decide_ahead(&self, now_ms: Option<i64>) -> Decision {
        let (m, limits) = (self.measure(now_ms), self.limits());
        // One request as they are, and one as large as the largest of late.
        let is_near = m.tokens + self.growth() + self.largest_growth() >= limits.ceiling;
        let as_if =
            if is_near { m.tokens.max(limits.trigger.min(limits.ceiling - Tokens(1))) } else { m.tokens };
        match policy::decide(&self.policy, &self.config, &Measurement { tokens: as_if, ..m }) {
            Decision::Act { action, reason: Reason::Ratio { unread, trigger, .. } } => {
                Decision::Act { action, reason: Reason::Ratio { tokens: m.tokens, unread, trigger } }
            }
            decision => decision,
        }
    }

    /// Returns what there is to send to the model. It stays as it is, whatever becomes of the conversation.
    pub fn view(&self) -> View {
        View::new(self)
    }

    /// Sets what every request costs beside the messages: tool definitions, and the system prompt where it is not a
    /// message.
    pub fn set_fixed_overhead(&mut self, tokens: Tokens) {
        self.fixed_overhead = tokens;
    }

    /// Sets what the model's tokens cost. Without this a cache read is taken to cost a tenth of what is read anew, and
    /// writing the cache a quarter more, as it is with most providers. What is no amount of money is taken as not known; a
    /// [`Session`](crate::Session) refuses it.
    pub fn set_prices(&mut self, prices: Prices) {
        let Prices { input, output, cache_read, cache_write } = prices;
        let [input, output, cache_read, cache_write] =
            [input, output, cache_read, cache_write].map(|price| price.filter(|price| is_price(*price)));
        self.prices = Prices { input, output, cache_read, cache_write };
    }

    /// Sets what a summary says of how its originals are found.
    #[cfg(feature = "wire")]
    pub(crate) fn set_lookup(&mut self, lookup: String) {
        self.config.summary_lookup = lookup;
    }

    /// Switches to another model: its window, its counter, and the settings for it (see [`Config::for_model`]).
    ///
    /// The view is counted anew; what the old model's provider reported is forgotten. A decision after this compacts at
    /// once where the view is too large for the new window.
    pub fn switch_model(&mut self, window: ContextWindow, counter: Arc<dyn TokenCounter>, config: Config) {
        if window.window > self.window.window
            && let Some(index) = &mut self.index
        {
            Arc::make_mut(index).set_most_facts(most_facts(window));
        }
        self.window = window;
        self.refusals = Refusals::default();
        self.config = config;
        self.counter = counter;
        self.counted.clear();
        let before = self.items.sums().counts.total();
        let items = std::mem::take(&mut self.items);
        self.set_items(items.shown().map(|shown| (shown.clone(), None)).collect());
        // Only what is shown is counted again; the rest is as much larger or smaller.
        if before > Tokens::ZERO {
            self.costs.scale(self.items.sums().counts.total().ratio_of(before));
        }
        self.policy.window_changed();
    }

    /// Returns what the message with this ordinal costs as it was said; nothing where it is so old that this is
    /// forgotten.
    pub fn cost(&self, ordinal: u64) -> Tokens {
        match self.items.get(ordinal) {
            Some(items::Placed { shown: Shown::Message { digested: false, .. }, counts, .. }) => {
                counts.total()
            }
            _ => self.costs.get(ordinal).unwrap_or_default(),
        }
    }

    /// Returns the calls that wait for their results: after a resume, what is to be run before the model is asked again.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let start = self.exchange.open_from().unwrap_or(self.n_total());
        let open = self.originals.originals(Span { start, end: self.n_total() });
        let calls = open.flat_map(|original| original.entry.message.calls());
        calls.filter(|call| self.exchange.waiting().contains(&call.id)).cloned().collect()
    }

    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns what counts tokens.
    pub fn counter(&self) -> &dyn TokenCounter {
        &*self.counter
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns everything that was said, verbatim, as far as it is at hand.
    pub fn originals(&self) -> &Line {
        &self.originals
    }

    /// Returns what the policy remembers.
    pub fn policy(&self) -> &PolicyState {
        &self.policy
    }

    /// Returns the latest summary in the view.
    pub fn summary(&self) -> Option<&Arc<SummaryRecord>> {
        self.latest.as_ref()
    }

    /// Adds an element to the view, but for what was destroyed, and answers to a first request that was.
    fn show(&mut self, shown: Shown, counts: ClassCounts) {
        if let Shown::Message { message, .. } = &shown
            && (is_forgotten(message) && stored::is_left_out(message) || self.answers_forgotten(message))
        {
            return;
        }
        let mut weight = Weight { counts, ..Weight::default() };
        match &shown {
            Shown::Message { id, message, digested } => {
                if !digested {
                    weight.digestible = self.digestible(message, counts.total());
                }
                weight.is_pinned = id.ordinal >= self.head && self.is_pin(id.ordinal, message);
            }
            Shown::Summary { record, .. } => {
                self.latest = Some(Arc::clone(record));
                self.uncovered = self.uncovered.max(record.covers.end);
            }
            Shown::Block { .. } | Shown::Instruction { .. } => {}
        }
        self.items.push(shown, weight);
    }

    /// Returns whether a view would begin with what answers a request that was destroyed: not every provider takes that.
    fn answers_forgotten(&self, message: &Message) -> bool {
        !standing::is_instruction(message)
            && message.role != Role::User
            && self.items.shown().all(Shown::is_instruction)
            && self.originals.get(self.head).is_some_and(|first| is_forgotten(&first.message))
    }

    /// Returns what the soft tier could free of a message that costs `tokens`, at most.
    fn digestible(&self, message: &Message, tokens: Tokens) -> Tokens {
        match &message.parts[..] {
            [Part::ToolResult(_)] => tokens - DIGESTED_RESULT,
            _ => digest::digestible(message, &*self.counter, DIGESTED_RESULT),
        }
    }

    /// Makes `shown` the view; what was not counted yet is. What the provider reported was of the old one.
    fn set_items(&mut self, shown: Vec<(Shown, Option<ClassCounts>)>) {
        let before = std::mem::take(&mut self.items);
        self.calibrated.forget_view();
        self.latest = None;
        self.uncovered = 0;
        for (shown, counts) in shown {
            let counts = counts.unwrap_or_else(|| classes(&*self.counter, shown.message()));
            self.show(shown, counts);
        }
        let stable = self.stable.min(self.items.common(&before));
        if stable < self.stable && self.sent.is_none() {
            self.sent = Some((before, self.stable));
        }
        self.stable = stable;
        self.cut = self.cut.filter(|cut| {
            let shown = self.items.get(cut.id.ordinal).map(|placed| &placed.shown);
            matches!(shown, Some(Shown::Message { digested: true, .. }))
        });
        self.recalibrate();
    }

    /// Returns the element that shows an original as it was said.
    fn whole(&self, ordinal: u64) -> Option<Shown> {
        let entry = self.originals.get(ordinal)?;
        Some(Shown::Message { id: entry.id, message: Arc::clone(&entry.message), digested: false })
    }
}
