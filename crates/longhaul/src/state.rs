//! A conversation with its context kept within a window: a synchronous state that decides everything and does no IO.

mod calibrated;
mod exchange;
mod job;
mod measure;
mod rewrite;
mod running;
mod scope;
mod soft;
mod status;
#[cfg(test)]
mod tests;
mod view;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use longhaul_extract::FactIndex;
use longhaul_redact::Redactor;
use longhaul_tokens::{ClassCounts, ContextWindow, Ledger, TokenCounter};
use longhaul_transcript::{
    ContentHash, Entry, Message, MessageId, Redacted, RedactionCount, SessionId, Span, SummaryRecord, Tokens,
    Transcript, Usage,
};

use serde::{Deserialize, Serialize};

pub use job::{Finished, Job};
pub use rewrite::{Rewrite, RewriteError};
pub use status::Status;
pub use view::{Sent, Shown, View};

use self::{
    calibrated::{Calibrated, classes},
    exchange::Exchange,
    rewrite::Snapshot,
};
use crate::{
    compact::standing,
    config::Config,
    policy::{self, Decision, PolicyState},
};

/// A conversation with its context kept within a window.
///
/// Every message is counted and read once in its life; [`push`](Self::push), [`decide`](Self::decide) and
/// [`view`](Self::view) cost the same however long the conversation is. Nothing is ever lost: the originals stay in
/// [`transcript`](Self::transcript), a rewrite changes the view only, and a failed one changes nothing.
///
/// ```
/// use std::sync::Arc;
/// use longhaul::{Config, ContextState};
/// use longhaul::tokens::{CharsPer4, ContextWindow};
/// use longhaul::transcript::{Message, SessionId, Tokens};
///
/// let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
/// let mut state = ContextState::new(SessionId::new("demo")?, window, Arc::new(CharsPer4), Config::default());
/// state.push(Message::user("Fix the failing test"));
/// assert_eq!(state.decide(None).to_string(), "hold: 12 tokens, 4188 below the next threshold at 4200");
/// assert_eq!(state.view().len(), 1);
/// # Ok::<(), longhaul::transcript::ParseSessionIdError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContextState {
    session: SessionId,
    config: Config,
    window: ContextWindow,
    fixed_overhead: Tokens,
    counter: Arc<dyn TokenCounter>,

    /// All that was said.
    transcript: Transcript,
    /// What each message costs as it was said.
    costs: Vec<Tokens>,
    /// The same by class of content.
    classes: Vec<ClassCounts>,
    /// What each distinct message costs: one that is said again is not counted again.
    counted: HashMap<ContentHash, ClassCounts>,
    calibrated: Calibrated,
    /// Shared with the jobs under way; a push meanwhile copies it.
    index: Arc<FactIndex>,
    exchange: Exchange,
    redactor: Option<Redactor>,
    /// Messages with secrets, as summaries and facts are made from them.
    clean: BTreeMap<u64, Clean>,

    /// The view. Its last elements are always the newest messages.
    shown: Vec<Shown>,
    /// What the message of each ordinal costs in the view; nothing where it is not in it.
    ledger: Ledger,
    /// What digesting could take from the message of each ordinal in the view, at most.
    digestible: Ledger,
    /// The last summary in the view.
    latest: Option<Arc<SummaryRecord>>,
    /// What the summaries in the view cost.
    summary_tokens: Tokens,
    /// Ordinal of the first message that no summary in the view stands for.
    uncovered: u64,
    /// Ordinals of the messages in the view that stay whole wherever they stand, those at its head apart.
    pinned: Vec<u64>,
    /// Ordinal of the newest request of the user.
    request: Option<u64>,

    policy: PolicyState,
    /// When the last request was made, in milliseconds since the Unix epoch.
    requested_at_ms: Option<i64>,
    rewrites: u64,
    undo: Vec<Snapshot>,
    redo: Vec<Snapshot>,
}

/// A message without its secrets.
#[derive(Clone, Debug)]
struct Clean {
    message: Arc<Message>,
    /// How often each rule struck.
    redactions: Vec<RedactionCount>,
}

/// What became of a usage that the provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageVerdict {
    /// It is taken as what the view costs up to the message it covers.
    Taken,
    /// It is about a view that is gone: the context was rewritten since.
    Stale,
    /// It cannot be about this view: it is larger than the window, or far from every count (a running total of a whole
    /// session, or another model's).
    Implausible,
}

/// A digested tool result keeps about this many tokens, so a result is worth digesting for what is above.
const DIGESTED_RESULT: Tokens = Tokens(200);

/// Beside the system prompt and an open exchange a view needs this many tokens (spec section 13).
const FLOOR_EXTRA: Tokens = Tokens(200);

/// A reported usage this many times above or below the count is not of this view. Estimators are wrong by less than
/// half of this on any text in `docs/benchmarks.md`; running totals are above it from the third request on.
const PLAUSIBLE_FACTOR: u64 = 4;

/// Returns how many facts are worth holding for a window: ten times what a summary, a tenth of it, could name.
fn most_facts(window: ContextWindow) -> usize {
    usize::try_from(window.window.0).unwrap_or(usize::MAX).max(LEAST_FACTS)
}

/// A bound below this would save nothing.
const LEAST_FACTS: usize = 4_096;

impl ContextState {
    /// Returns the state of a conversation in which nothing was said yet.
    ///
    /// `config` is used as it is: see [`Config::validated`] for one of unknown origin.
    pub fn new(
        session: SessionId,
        window: ContextWindow,
        counter: Arc<dyn TokenCounter>,
        config: Config,
    ) -> ContextState {
        let mut index = FactIndex::new();
        index.set_most_facts(most_facts(window));
        ContextState {
            session,
            config,
            window,
            fixed_overhead: Tokens::ZERO,
            counter,
            transcript: Transcript::new(),
            costs: Vec::new(),
            classes: Vec::new(),
            counted: HashMap::new(),
            calibrated: Calibrated::default(),
            index: Arc::new(index),
            exchange: Exchange::default(),
            redactor: Some(Redactor::builtin()),
            clean: BTreeMap::new(),
            shown: Vec::new(),
            ledger: Ledger::new(),
            digestible: Ledger::new(),
            latest: None,
            summary_tokens: Tokens::ZERO,
            uncovered: 0,
            pinned: Vec::new(),
            request: None,
            policy: PolicyState::new(),
            requested_at_ms: None,
            rewrites: 0,
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    /// Adds a message at the end of the conversation and of the view, and returns its id.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let message = message.into();
        let id = self.transcript.push(Arc::clone(&message));
        let counter = &self.counter;
        let counts = *self.counted.entry(id.hash).or_insert_with(|| classes(&**counter, &message));
        let tokens = counts.total();
        self.read(id, &message);
        self.exchange.push(id.ordinal, &message);
        if standing::is_request(&message) {
            self.request = Some(id.ordinal);
        }
        self.costs.push(tokens);
        self.classes.push(counts);
        self.note_shown(counts);
        self.show(id, message, tokens, false);
        self.recalibrate();
        self.policy.observe(self.tokens(), &self.limits());
        id
    }

    /// Replaces what finds secrets; `None` switches the search off. It concerns messages pushed from now on.
    ///
    /// Secrets are taken out of everything that is made from a message: facts, summaries, what is sent to a summarizer.
    /// The view and the transcript show the user's own text and are not altered. The built-in rules are the default.
    pub fn set_redactor(&mut self, redactor: Option<Redactor>) {
        self.redactor = redactor;
    }

    /// Takes what the provider reported for a request made from a view.
    ///
    /// A report of a view that is gone, or one that cannot be about this view, changes nothing: stale and cumulative
    /// figures have made other tools compact for no reason.
    pub fn report_usage(&mut self, sent: Sent, usage: &Usage) -> UsageVerdict {
        let known =
            self.transcript.in_span(Span { start: sent.through.ordinal, end: sent.through.ordinal + 1 });
        if sent.rewrites != self.rewrites || known.first().map(|entry| entry.id) != Some(sent.through) {
            return UsageVerdict::Stale;
        }
        let reported = usage.prompt_total();
        let counted = self.ledger.in_span(Span { start: 0, end: sent.through.ordinal + 1 })
            + self.summary_tokens
            + self.fixed_overhead;
        let is_near = reported.0 <= counted.0.saturating_mul(PLAUSIBLE_FACTOR)
            && reported.0.saturating_mul(PLAUSIBLE_FACTOR) >= counted.0;
        if reported > self.window.window || reported <= self.fixed_overhead || !is_near {
            return UsageVerdict::Implausible;
        }
        self.ledger.anchor(sent.through, reported - self.fixed_overhead);
        self.learn(sent.through.ordinal, reported - self.fixed_overhead);
        self.policy.observe(self.tokens(), &self.limits());
        UsageVerdict::Taken
    }

    /// Takes note that the provider found the view too large: `limit` is the largest prompt it takes, where it said so.
    /// The window is taken to be that, or what the view costs, whichever is smaller: counts here may be below the
    /// provider's, and what it refused once it refuses again.
    pub fn refused(&mut self, limit: Option<Tokens>) {
        let refused = self.tokens() + self.fixed_overhead;
        self.window.window = self.window.window.min(limit.unwrap_or(refused)).min(refused);
        self.policy.window_changed();
    }

    /// Takes note that a request was made, so that it is known how long its prefix stays in the provider's cache.
    pub fn requested(&mut self, now_ms: i64) {
        self.requested_at_ms = Some(now_ms);
    }

    /// Returns what is to be done about the context now, and why. `now_ms` is the time in milliseconds since the Unix
    /// epoch where there is a clock; it matters only after a failure.
    pub fn decide(&self, now_ms: Option<i64>) -> Decision {
        policy::decide(&self.policy, &self.config, &self.measure(now_ms))
    }

    /// Returns what there is to send to the model.
    pub fn view(&self) -> View<'_> {
        View { items: &self.shown, tokens: self.tokens(), budget: self.budget(), rewrites: self.rewrites }
    }

    /// Sets what every request costs beside the messages: tool definitions, and the system prompt where it is not a
    /// message.
    pub fn set_fixed_overhead(&mut self, tokens: Tokens) {
        self.fixed_overhead = tokens;
    }

    /// Switches to another model: its window, its counter, and the settings for it (see [`Config::for_model`]).
    ///
    /// The view is counted anew; what the old model's provider reported is forgotten. A decision after this compacts at
    /// once where the view is too large for the new window.
    pub fn switch_model(&mut self, window: ContextWindow, counter: Arc<dyn TokenCounter>, config: Config) {
        if window.window > self.window.window {
            Arc::make_mut(&mut self.index).set_most_facts(most_facts(window));
        }
        self.window = window;
        self.config = config;
        self.counter = counter;
        self.counted.clear();
        let entries = self.transcript.entries().iter();
        self.classes = entries.map(|entry| classes(&*self.counter, &entry.message)).collect();
        self.costs = self.classes.iter().map(ClassCounts::total).collect();
        let shown = std::mem::take(&mut self.shown);
        self.set_shown(shown);
        self.policy.window_changed();
    }

    /// Returns what the message with this ordinal costs as it was said.
    pub fn cost(&self, ordinal: u64) -> Tokens {
        self.costs.get(ordinal as usize).copied().unwrap_or_default()
    }

    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns everything that was said, verbatim.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the facts read so far.
    pub fn index(&self) -> &FactIndex {
        &self.index
    }

    /// Returns what the policy remembers, to be stored with the session.
    pub fn policy(&self) -> &PolicyState {
        &self.policy
    }

    /// Puts back what the policy remembered, after a restart.
    pub fn set_policy(&mut self, policy: PolicyState) {
        self.policy = policy;
    }

    /// Returns the latest summary in the view.
    pub fn summary(&self) -> Option<&Arc<SummaryRecord>> {
        self.latest.as_ref()
    }

    /// Reads the facts of the newest message, without its secrets.
    fn read(&mut self, id: MessageId, message: &Message) {
        if let Some(redactor) = &self.redactor {
            let (clean, redactions) = redactor.redact_message(message);
            if !redactions.is_empty() {
                let message = Arc::new(clean.into_inner());
                self.clean.insert(id.ordinal, Clean { message, redactions });
            }
        }
        if let Some(entry) = self.transcript.entries().last() {
            let entry = self.clean_entry(entry);
            Arc::make_mut(&mut self.index).push(&entry);
        }
    }

    /// Returns the messages from `start` on without their secrets, as a store takes them.
    pub(crate) fn redacted_from(&self, start: u64) -> Vec<Redacted<Message>> {
        let clean = |entry: &Entry| Redacted::assume((*self.clean_entry(entry).message).clone());
        self.entries_from(start).iter().map(clean).collect()
    }

    /// Returns `record` without secrets, which a model may have put there against all rules.
    pub(crate) fn redacted_record(&self, record: &SummaryRecord) -> Redacted<SummaryRecord> {
        match &self.redactor {
            Some(redactor) => redactor.redact_record(record).0,
            None => Redacted::assume(record.clone()),
        }
    }

    /// Returns the entry as facts and summaries are made from it.
    fn clean_entry(&self, entry: &Entry) -> Entry {
        match self.clean.get(&entry.id.ordinal) {
            Some(clean) => Entry { message: Arc::clone(&clean.message), ..entry.clone() },
            None => entry.clone(),
        }
    }

    /// Adds an element for a message to the view and notes its costs.
    fn show(&mut self, id: MessageId, message: Arc<Message>, tokens: Tokens, digested: bool) {
        let n_results = message.results().count() as u64;
        let digestible = match digested || n_results == 0 {
            true => Tokens::ZERO,
            false => tokens - Tokens(DIGESTED_RESULT.0.saturating_mul(n_results)),
        };
        self.ledger.record(id, tokens);
        self.digestible.record(id, digestible);
        if self.config.preserve_system && standing::is_instruction(&message) && id.ordinal >= self.head_len()
        {
            self.pinned.push(id.ordinal);
        }
        self.shown.push(Shown::Message { id, message, digested });
    }

    /// Makes `shown` the view. Costs the length of the old view and the new one.
    fn set_shown(&mut self, shown: Vec<Shown>) {
        for old in std::mem::take(&mut self.shown) {
            if let Shown::Message { id, .. } = old {
                self.ledger.record(id, Tokens::ZERO);
                self.digestible.record(id, Tokens::ZERO);
            }
        }
        // What the provider reported was of the old view; this drops it.
        self.ledger.replace(Span { start: 0, end: 1 }, Tokens::ZERO);
        self.forget_view();
        self.summary_tokens = Tokens::ZERO;
        self.latest = None;
        self.uncovered = 0;
        self.pinned.clear();
        for element in shown {
            let counts = self.classes_of(&element);
            let tokens = counts.total();
            self.note_shown(counts);
            match element {
                Shown::Message { id, message, digested } => self.show(id, message, tokens, digested),
                Shown::Summary { record, message } => {
                    self.summary_tokens += tokens;
                    self.latest = Some(Arc::clone(&record));
                    self.uncovered = self.uncovered.max(record.covers.end);
                    self.shown.push(Shown::Summary { record, message });
                }
            }
        }
        self.recalibrate();
    }

    /// Returns what a view of these elements would cost.
    fn cost_of(&self, shown: &[Shown]) -> Tokens {
        shown.iter().map(|element| self.element_cost(element)).sum::<Tokens>()
            + self.counter.framing().per_reply
    }

    fn element_cost(&self, element: &Shown) -> Tokens {
        match element {
            Shown::Message { id, digested: false, .. } => {
                self.costs.get(id.ordinal as usize).copied().unwrap_or_default()
            }
            Shown::Message { message, .. } | Shown::Summary { message, .. } => {
                self.counter.count_message(message)
            }
        }
    }

    /// Returns the entries of all messages from `start` on.
    fn entries_from(&self, start: u64) -> &[Entry] {
        self.transcript.in_span(Span { start, end: u64::MAX })
    }
}
