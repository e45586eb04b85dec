//! What happened, for whoever wants to see it. No event holds a message of the conversation; why a model failed may repeat
//! what its provider answered, without secrets, and a provider may quote what it was sent.

mod notice;

use std::{collections::BTreeMap, fmt, sync::Arc};

use longhaul_summarize::LastRequest;
use longhaul_transcript::{Cost, SessionId, Span, SummaryId, SummaryMode, Survival, Tokens, counted};
use serde::{Deserialize, Serialize};

pub(crate) use notice::whole_words;
pub use notice::{notice, summary_box};

use crate::{
    policy::{Action, Hold, Reason},
    session::UsageVerdict,
};

/// Something that happened to a context: names, numbers and reasons, never content.
///
/// `docs/events.md` shows each as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Version of this shape.
    pub version: u32,
    /// The session.
    pub session: SessionId,
    /// What the context costs now.
    pub tokens: Tokens,
    /// What it costs as a share of the budget.
    pub ratio: f64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A message was added and counted.
    Counted {
        /// Its ordinal in the session.
        message: u64,
        /// What it costs.
        message_tokens: Tokens,
    },
    /// The provider reported what a request cost.
    UsageReported {
        /// What became of the report.
        verdict: UsageVerdict,
        /// The prompt's size as reported.
        reported: Tokens,
    },
    /// A report was far less than what the request can cost ([`UsageVerdict::TooLow`]), and was not taken. Sent once.
    UsageTooLow {
        /// The prompt's size as reported.
        reported: Tokens,
    },
    /// A report was several times what is counted, or more than the window ([`UsageVerdict::Implausible`]), and was not taken. Sent
    /// once.
    UsageImplausible {
        /// The prompt's size as reported.
        reported: Tokens,
        /// What was counted of it.
        counted: Tokens,
    },
    /// The last reports are running totals: each is the one before and what its own request costs. What was learned from them is
    /// forgotten, and none is taken while they go on so. Sent once.
    UsageAddsUp {
        /// The prompt's size as reported.
        reported: Tokens,
        /// What was counted of it.
        counted: Tokens,
    },
    /// By what was reported nothing could be sent any more, though by count what must stay fits well: what was learned is forgotten,
    /// and the view goes by count. Where what is reported then says the same, it is believed.
    UsageDistrusted {
        /// What the view would cost by what was reported.
        billed: Tokens,
        /// What it is counted as.
        counted: Tokens,
    },
    /// Nothing is done although a threshold is reached. Sent once for each new reason, not for each look.
    Skipped {
        /// Why.
        hold: Hold,
    },
    /// A compaction begins.
    Started {
        /// What is done.
        action: Action,
        /// Why.
        reason: Reason,
        /// Depth of the summary to come.
        depth: u32,
        /// Messages that the summary to come stands for.
        compressed_messages: u64,
    },
    /// Models are about to be asked for a summary. Sent before the first call, so that who pays can see what may come.
    Asking {
        /// The models that may be asked, first choice first; the next one only where those before it give nothing.
        models: Vec<String>,
        /// In how many parts the conversation is shown: one call each, and one more to merge them.
        parts: u64,
        /// The most calls that will be made, whatever happens.
        max_calls: u32,
    },
    /// No model is asked, since the conversation to summarize is larger than the settings let one read
    /// (`oversize = "rules"`): the rules summarize it, and the user should be told.
    TooLargeForModel {
        /// What is to be summarized costs.
        tokens_to_summarize: Tokens,
        /// What a model may be shown (`transcript_cap_tokens`).
        limit: Tokens,
    },
    /// A summarizer was asked and gave nothing that could be used.
    SummarizerFailed {
        /// The model, or `rules`.
        summarizer: String,
        /// Why its answer was not used, without a word of it; of a request that was refused, what the provider said, which may quote
        /// it.
        error: String,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    },
    /// A compaction was applied: the user should be told.
    Finished(Box<Finish>),
    /// The view was trimmed or digested without a summary: the user should be told.
    Trimmed {
        /// What was done.
        action: Action,
        /// Why.
        reason: Reason,
        /// What the context cost before.
        tokens_before: Tokens,
        /// What it costs now, by the same measure.
        tokens_after: Tokens,
        /// Messages whose tool results were digested.
        digested: u64,
        /// Messages dropped from the view.
        dropped: u64,
    },
    /// A summary that was applied lacks something that its summarizer wrote, the facts by rule beside it, or rules of the user that no
    /// message that stays shows either: there was no room for all of it.
    /// The user should be told. The record says so too ([`Summary::checks`](longhaul_transcript::Summary::checks)).
    LeftOut {
        /// What, and how much of it, without a word of it.
        what: String,
    },
    /// The newest request of the user does not fit with what else must stay, and was cut in the view: the user should be
    /// told.
    RequestCut {
        /// Its ordinal in the session.
        message: u64,
        /// What it costs whole.
        message_tokens: Tokens,
        /// What is left of it costs.
        left: Tokens,
    },
    /// A compaction came to nothing. The context is as it was.
    Failed {
        /// Why it was tried.
        reason: Reason,
        /// Why it failed.
        error: String,
        /// Failures in a row.
        failures: u32,
    },
    /// What stays in every view was changed, and the view with it: a pin, a memory block, a branch.
    Rewritten,
    /// A rewrite was undone by hand.
    Undone,
    /// An undone rewrite was applied again by hand.
    Redone,
    /// A message that was to be safe before [`push`](crate::Session::push) returned could not be written: the user should
    /// be told. It is written with the next push, or with [`prepare`](crate::Session::prepare), which fails where it
    /// cannot be.
    NotSaved {
        /// Its ordinal in the session; of several that were pushed together, that of the first.
        message: u64,
        /// Why.
        error: String,
    },
    /// What was learned of how the provider counts could not be kept for other conversations. This one does without it; it is
    /// told once, and tried again.
    CalibrationNotKept {
        /// Why.
        error: String,
    },
    /// Messages that a summary replaces and that are to be deleted ([`Config::delete_originals`](crate::Config)) are not
    /// deleted for good yet. It is tried again.
    NotDeleted {
        /// How many.
        messages: u64,
        /// Why.
        error: String,
    },
    /// Somebody else went on with the session meanwhile, so that this conversation goes on under a name of its own: the
    /// user should be told.
    Branched {
        /// The name that the other one goes on with.
        from: SessionId,
        /// The name of this conversation from now on.
        line: SessionId,
        /// How many messages both have in common.
        at: u64,
    },
    /// Another model, with another window.
    ModelSwitched {
        /// The new window.
        window: Tokens,
        /// The new budget.
        budget: Tokens,
    },
    /// No table lists the model: its window is the one that was given, and the user should be told.
    UnknownModel {
        /// The model's name.
        model: String,
        /// Its tokens are estimated: the counter that was given, if any, is not exact.
        is_estimated: bool,
        /// The window that was given.
        window: Tokens,
    },
    /// The model is another provider's than the one that was named: the user should be told.
    ModelOfAnother {
        /// The model's name.
        model: String,
        /// The provider that was named.
        provider: String,
        /// The provider whose model it is.
        maker: String,
    },
    /// A setting has no effect on this session, which was put together without what it is about: the user should be told.
    SettingUnused {
        /// The setting's name.
        setting: String,
        /// Why.
        why: String,
    },
    /// A session was taken up from a store, which keeps no secrets: where they stood, placeholders stand, and are sent, unless a
    /// history that is handed in says them again. The user should be told.
    SecretsMissing {
        /// How many placeholders stand in what will be sent.
        places: u64,
    },
    /// A session was opened from a store in which messages of it were forgotten that no summary in the view tells of: they are left
    /// out of what is sent. Sent once for each time it is opened. The user should be told.
    ForgottenLeftOut {
        /// How many.
        messages: u64,
        /// Which.
        spans: Vec<Span>,
    },
    /// What the store has in the place of a message is not what was written: it was damaged, or put there by somebody else. It
    /// is not shown; a mark stands in its place. The user should be told.
    ChangedInStore {
        /// Its ordinal in the session.
        message: u64,
    },
}

/// What a compaction came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finish {
    /// The summary's id.
    pub summary: SummaryId,
    /// What was done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// Depth of the summary.
    pub depth: u32,
    /// The messages it stands for.
    pub covers: Span,
    /// How it was made.
    pub mode: SummaryMode,
    /// The model that wrote it; empty in `rules` mode.
    pub model: String,
    /// What the context cost before.
    pub tokens_before: Tokens,
    /// What it costs now.
    pub tokens_after: Tokens,
    /// What it cost before as a share of what the ratios are of ([`Config::ratio_base`](crate::Config::ratio_base)): where the
    /// trigger called for it, that or a little more.
    pub ratio_before: f64,
    /// What it costs now as the same share.
    pub ratio_after: f64,
    /// What the summary costs.
    pub summary_tokens: Tokens,
    /// Messages the summary stands for, with those of `digested`: as many as its header says.
    pub compressed_messages: u64,
    /// Messages kept with shortened content.
    pub digested: u64,
    /// Messages kept as they are.
    pub kept_verbatim: u64,
    /// How long it took, in milliseconds; 0 where there is no clock.
    pub duration_ms: u64,
    /// What it cost, where a model was asked.
    pub cost: Option<Cost>,
    /// Which share of the facts is still visible, by class.
    pub survival: BTreeMap<String, Survival>,
}

/// Is told what happens.
///
/// Called in the course of the work: it must not block, and what it does must not fail.
pub trait Observer: Send + Sync {
    /// Is told of one event.
    fn on_event(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> Observer for F {
    fn on_event(&self, event: &Event) {
        self(event);
    }
}

/// What was sent last is forgotten where the next request will not begin with it.
impl Observer for LastRequest {
    fn on_event(&self, event: &Event) {
        match event.kind {
            EventKind::Finished(_)
            | EventKind::Trimmed { .. }
            | EventKind::Rewritten
            | EventKind::Undone
            | EventKind::Redone
            | EventKind::ModelSwitched { .. } => self.clear(),
            _ => {}
        }
    }
}

/// The observers of one context, in the order they were added.
#[derive(Clone, Default)]
pub(crate) struct Observers(pub(crate) Vec<Arc<dyn Observer>>);

impl Observers {
    pub(crate) fn tell(&self, event: &Event) {
        self.0.iter().for_each(|observer| observer.on_event(event));
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observer(s)", self.0.len())
    }
}

impl Event {
    /// The version this code writes.
    pub const VERSION: u32 = 1;

    /// Returns what happened to a context that costs `tokens`, which are `ratio` of its budget: for tests of an observer.
    pub fn new(session: SessionId, tokens: Tokens, ratio: f64, kind: EventKind) -> Event {
        Event { version: Event::VERSION, session, tokens, ratio, kind }
    }

    /// Returns whether the user should be told: something was rewritten, or something needs attention.
    pub fn is_notice(&self) -> bool {
        !matches!(
            self.kind,
            EventKind::Counted { .. }
                | EventKind::UsageReported { .. }
                | EventKind::Started { .. }
                | EventKind::Asking { .. }
                | EventKind::Skipped { .. }
                | EventKind::ModelSwitched { .. }
                | EventKind::Rewritten
        )
    }
}

impl EventKind {
    /// Returns the words of somebody else's in it.
    pub(crate) fn error_mut(&mut self) -> Option<&mut String> {
        match self {
            EventKind::SummarizerFailed { error, .. }
            | EventKind::Failed { error, .. }
            | EventKind::NotSaved { error, .. }
            | EventKind::CalibrationNotKept { error }
            | EventKind::NotDeleted { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    /// Writes the event as one line for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EventKind::Counted { message, message_tokens } => {
                write!(f, "m{message} costs {message_tokens:#} tokens; {:#} in all", self.tokens)
            }
            EventKind::UsageReported { verdict: UsageVerdict::Taken, reported } => {
                write!(f, "the provider counts {reported:#} tokens")
            }
            EventKind::UsageReported { verdict, reported } => {
                let why = match verdict {
                    UsageVerdict::Stale => "is about a view that is gone",
                    UsageVerdict::Echo => "is longhaul's own estimate handed back",
                    UsageVerdict::TooLow => "is too low for this request",
                    _ => "is not plausible",
                };
                write!(f, "a report of {reported:#} tokens {why} and is ignored")
            }
            EventKind::UsageTooLow { reported: Tokens::ZERO } => {
                f.write_str(
                    "a usage of 0 tokens was reported: was usage asked for, where the answer is a stream? such reports are \
                     ignored, and requests go by count",
                )
            }
            EventKind::UsageTooLow { reported } => write!(
                f,
                "a usage of {} was reported for a request that costs more: are cached tokens left out \
                 (cache_read)? such reports are ignored",
                counted(reported.0, "token")
            ),
            EventKind::UsageImplausible { reported, counted: own } => write!(
                f,
                "a usage of {} was reported for a request that is counted as {own:#}: is it a running total, or \
                 is something sent that is not told of (fixed_overhead)? it is ignored, unless the next one lies as far above its count",
                counted(reported.0, "token")
            ),
            EventKind::UsageAddsUp { reported, counted: own } => write!(
                f,
                "a usage of {} was reported for a request that is counted as {own:#}: the last reports are running totals of all \
                 requests; what was learned from them is forgotten, and requests go by count until the usage of each is reported",
                counted(reported.0, "token")
            ),
            EventKind::UsageDistrusted { billed, counted } => write!(
                f,
                "by the usage that was reported the context would cost {billed:#} tokens, and nothing could be sent; it is \
                 counted as {counted:#}: what was learned is forgotten, and requests go by count until new usage is reported"
            ),
            EventKind::Skipped { hold } => write!(f, "not compacted: {hold}"),
            EventKind::Started { action, reason, compressed_messages, .. } => {
                write!(f, "{action}, {}: {reason}", counted(*compressed_messages, "message"))
            }
            EventKind::Asking { models, parts, max_calls } => {
                let parts = if *parts > 1 { format!(", in {parts} parts") } else { String::new() };
                let calls = counted(u64::from(*max_calls), "call");
                write!(f, "asking {} for a summary{parts}: at most {calls}", models.join(", then "))
            }
            EventKind::TooLargeForModel { tokens_to_summarize, limit } => {
                write!(
                    f,
                    "too large for a model: {tokens_to_summarize:#} tokens of at most {limit:#}; summarized by rule"
                )
            }
            EventKind::SummarizerFailed { summarizer, error, .. } => {
                write!(f, "{summarizer} gave no summary: {error}")
            }
            EventKind::Finished(finish) => {
                match finish.compressed_messages {
                    n if n <= finish.digested => {
                        write!(f, "{} shortened, none left out: ", counted(finish.digested, "message"))?
                    }
                    n => write!(f, "{} summarized: ", counted(n, "message"))?,
                }
                let Finish { tokens_before, tokens_after, summary_tokens, depth, .. } = &**finish;
                write!(
                    f,
                    "{tokens_before:#} → {tokens_after:#} tokens (summary {summary_tokens:#}, depth {depth})"
                )
            }
            EventKind::Trimmed { tokens_before, tokens_after, digested, dropped, .. } => {
                write!(
                    f,
                    "{} digested, {dropped} dropped: {tokens_before:#} → {tokens_after:#} tokens",
                    counted(*digested, "message"),
                )
            }
            EventKind::LeftOut { what } => f.write_str(what),
            EventKind::RequestCut { message, message_tokens, left } => {
                write!(
                    f,
                    "m{message} is too large: {left:#} of its {message_tokens:#} tokens are in the window"
                )
            }
            EventKind::Failed { error, .. } => write!(f, "compaction failed, nothing was changed: {error}"),
            EventKind::Rewritten => write!(f, "the context was changed: {:#} tokens", self.tokens),
            EventKind::Undone => write!(f, "compaction undone: {:#} tokens", self.tokens),
            EventKind::Redone => write!(f, "compaction applied again: {:#} tokens", self.tokens),
            EventKind::NotSaved { message, error } => {
                write!(f, "m{message} is not in the store yet: {error}")
            }
            EventKind::CalibrationNotKept { error } => {
                write!(f, "what was learned of the provider's counting is not kept yet: {error}")
            }
            EventKind::NotDeleted { messages, error } => {
                let are = if *messages == 1 { "is" } else { "are" };
                let messages = counted(*messages, "message");
                write!(f, "{messages} that a summary replaces {are} not deleted for good yet: {error}")
            }
            EventKind::Branched { from, line, at: 0 } => {
                write!(
                    f,
                    "the store has a session {from} that this conversation does not go on from; it is kept as {line}"
                )
            }
            EventKind::Branched { from, line, at } => {
                write!(
                    f,
                    "somebody else went on with {from} after {}; this conversation goes on as {line}",
                    counted(*at, "message")
                )
            }
            EventKind::ModelSwitched { window, budget } => {
                write!(f, "the window is now {window:#} tokens, {budget:#} of them for the history")
            }
            EventKind::UnknownModel { model, is_estimated, window } => {
                let counts = if *is_estimated { "tokens are estimated, for" } else { "it is taken to have" };
                write!(f, "{model} is in no table: {counts} the window of {window:#} that was given")
            }
            EventKind::ModelOfAnother { model, provider, maker } => write!(
                f,
                "{model} is a model of {maker}'s: its window, counter and prices go with the settings for {provider}"
            ),
            EventKind::SettingUnused { setting, why } => write!(f, "{setting} has no effect: {why}"),
            EventKind::SecretsMissing { places } => {
                let (places, stand) = match places {
                    1 => ("1 place".to_owned(), "stands"),
                    places => (format!("{places} places"), "stand"),
                };
                write!(f, "{places} of this session {stand} as placeholders: secrets are not stored")
            }
            EventKind::ForgottenLeftOut { messages, spans } => {
                let named = |span: &Span| match span.len() {
                    1 => format!("m{}", span.start),
                    _ => span.to_string(),
                };
                let were = if *messages == 1 {
                    "was forgotten in the store and is"
                } else {
                    "were forgotten in the store and are"
                };
                let named = spans.iter().map(named).collect::<Vec<_>>().join(", ");
                write!(f, "{} {were} left out of what is sent: {named}", counted(*messages, "message"))
            }
            EventKind::ChangedInStore { message } => {
                write!(f, "m{message} was changed in the store: it is not what was said, and not shown")
            }
        }
    }
}
