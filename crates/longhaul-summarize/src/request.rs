//! What is asked of a summarizer, and what comes back.

use std::{
    fmt::{self, Debug},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use longhaul_extract::FactIndex;
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{
    Cost, Entry, SessionId, Summary, SummaryMode, SummaryRecord, Tokens, is_invisible,
};
use serde::{Deserialize, Serialize};

/// What is to be summarized, into how much.
#[derive(Clone, Copy, Debug)]
pub struct SummaryRequest<'a> {
    /// The session, for caches and records.
    pub session: &'a SessionId,
    /// The messages the summary will stand for, oldest first; those that `previous` already covers are among them
    /// only where the originals are at hand.
    pub entries: &'a [Entry],
    /// The messages that stay verbatim after the summary. What they say need not be said again.
    pub kept: &'a [Entry],
    /// The same messages as they were, one for each of `kept`, some of which may stay only in part; or none. A model is shown
    /// them, since what comes last says how things stand.
    pub tail: &'a [Entry],
    /// The summary that this one folds in.
    pub previous: Option<&'a SummaryRecord>,
    /// The summaries of what came before `entries` that stay beside this one. What they say need not be said again.
    pub beside: &'a [Arc<SummaryRecord>],
    /// Every fact read so far, with its provenance; it has read `entries` and `kept`.
    pub index: &'a FactIndex,
    /// Counts what the summary costs.
    pub counter: &'a dyn TokenCounter,
    /// The most that the text may cost. Never exceeded.
    pub limit: Tokens,
    /// What the reader of the summary is about to do, where the user said so.
    pub goal: Option<&'a str>,
    /// Depth of the new summary in its chain.
    pub depth: u32,
    /// The summary is made anew from `entries`: of `previous` a model is told only where it is not shown all that it stands for.
    pub is_rebuilt: bool,
    /// The summary stays as it is when what is `kept` is summarized: the next one stands behind it. It tells nothing by where it stands now.
    pub stays: bool,
    /// Beside a model's words rules list so many things of a kind at most: of what was said, found, quoted and asked. The user's rules are
    /// told whatever their number. `None` leaves it to the room that there is.
    pub most_listed: Option<usize>,
}

impl<'a> SummaryRequest<'a> {
    /// Returns the request for a first summary of `entries` in at most `limit` tokens, behind which nothing stays. The other
    /// fields can be set on it.
    pub fn new(
        session: &'a SessionId,
        entries: &'a [Entry],
        index: &'a FactIndex,
        counter: &'a dyn TokenCounter,
        limit: Tokens,
    ) -> SummaryRequest<'a> {
        let (kept, tail): (&[Entry], &[Entry]) = (&[], &[]);
        SummaryRequest {
            session,
            entries,
            kept,
            tail,
            previous: None,
            beside: &[],
            index,
            counter,
            limit,
            goal: None,
            depth: 0,
            is_rebuilt: false,
            stays: false,
            most_listed: None,
        }
    }

    /// Returns the messages that stay only in part, as they were, each with what stays of it.
    pub(crate) fn clipped(&self) -> impl Iterator<Item = (&'a Entry, &'a Entry)> {
        let pairs = self.tail.iter().zip(self.kept).filter(|(was, stays)| was.id == stays.id);
        pairs.filter(|(was, stays)| was.message != stays.message)
    }

    /// Returns the messages to read that are not summarized: where all stays in part, what stays is what is summarized.
    pub(crate) fn tail_beside_entries(&self) -> &'a [Entry] {
        let last = self.entries.last().map(|entry| entry.id);
        let at = self.tail.partition_point(|entry| Some(entry.id) <= last);
        &self.tail[at..]
    }

    /// Returns the tokens that the summary stands for; it must be smaller.
    pub(crate) fn replaced(&self) -> Tokens {
        let cost = |entry: &Entry| self.counter.count_message(&entry.message);
        let beside = self.tail_beside_entries().first().map(|entry| entry.id);
        let is_beside = |entry: &Entry| beside.is_some_and(|first| entry.id >= first);
        let read: Tokens = self.entries.iter().map(cost).sum();
        let clipped = self.clipped().map(|(was, _)| was).filter(|was| is_beside(was));
        let stays: Tokens = self.clipped().map(|(_, stays)| cost(stays)).sum();
        read + clipped.map(cost).sum() - stays
    }
}

/// A summary before it becomes a record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// What it says, as data.
    pub summary: Summary,
    /// What it says, as it will stand in the history: without header and handle line, which the facade adds.
    pub text: String,
    /// Tokens of `text`.
    pub tokens: Tokens,
    /// How it was made in the end.
    pub mode: SummaryMode,
    /// The model that wrote it; empty in `rules` mode.
    pub model: String,
    /// Version of the prompt or of the rules.
    pub made_with: String,
    /// What was tried on the way, oldest first; failures are data, not logs.
    pub attempts: Vec<Attempt>,
    /// What it cost, where a model was asked.
    pub cost: Option<Cost>,
    /// What was struck or put back by the checks against the source, in words without message text.
    pub repairs: Vec<String>,
}

/// One step of the ladder that did not give the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The model asked, or `rules`.
    pub summarizer: String,
    /// Why its answer was not used, without a word of it; of a request that was refused, what the provider said, which may quote it.
    pub reason: String,
    /// How a rejected answer begins: at most 200 characters, escaped. It may hold message text, so it is for
    /// the user's own log and for nobody else's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

impl fmt::Display for Attempt {
    /// Says whose answer was not used, and why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not used: {}", self.summarizer, self.reason)
    }
}

/// The calls that a summary may take, known before any is made. None where nobody is asked over a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallPlan {
    /// For each model, in the order in which they are asked, what asking it would take.
    pub models: Vec<ModelPlan>,
    /// The most calls that will be made, whatever happens.
    pub max_calls: u32,
}

/// What asking one model would take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelPlan {
    /// The model's name.
    pub model: String,
    /// The parts the conversation is shown in; 0 where the model's window is too small to ask it.
    pub passes: usize,
    /// The most that a prompt of its will cost.
    pub max_prompt: Tokens,
    /// How many of the oldest units it will not be shown.
    pub units_left_out: usize,
    /// Whether it is asked in the conversation itself, most of which its provider's cache then serves.
    pub in_conversation: bool,
}

/// A summary could not be made. No message is lost: the conversation is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummarizeError {
    /// There is nothing to summarize.
    #[error("there is nothing to summarize")]
    NothingToDo,
    /// Whoever was shown the summary does not want it.
    #[error("the summary was turned down")]
    Refused,
    /// It was not there in the time that a summary may take.
    #[error("the summarizer gave nothing within {} s", after.as_secs_f64())]
    TimedOut {
        /// That time.
        after: Duration,
    },
    /// It panicked. With what it does not say: that may quote the conversation, and the panic hook was told.
    #[error("the summarizer panicked")]
    Panicked,
    /// It failed, for a reason of its own: a summarizer that is not a ladder says so by this.
    #[error("the summarizer failed: {reason}")]
    Failed {
        /// What went wrong.
        reason: String,
    },
    /// Every step of the ladder failed and the settings forbid the fall back to rules.
    #[error("no summarizer gave a usable summary after {} attempt{}; the last said: {}", attempts.len(), if attempts.len() == 1 { "" } else { "s" }, attempts.last().map_or("nothing", |a| a.reason.as_str()))]
    Exhausted {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
}

/// Makes summaries.
///
/// An implementor keeps within [`SummaryRequest::limit`], says nothing that is not in the source, and may be dropped
/// at any await. Callers may ask from several tasks at once. A draft without a word is no summary: a session then lets rules
/// write, tells its observers, and with `abort_on_failure` fails.
///
/// A session waits for it, and makes no request ready meanwhile: for five minutes, where the setting `summary_deadline_ms` does not
/// say otherwise. Then it drops the future, and rules write. One that blocks its thread cannot be dropped: its work belongs on a
/// thread of its own.
///
/// What goes wrong it says as [`SummarizeError::Failed`]: rules write, and observers are told the reason. A session takes one whose
/// [`summarize`](Self::summarize) panics for one that failed ([`SummarizeError::Panicked`]), and asks it again the next time; where
/// panics abort, the program ends.
///
/// ```
/// use async_trait::async_trait;
/// use longhaul_summarize::{Draft, SummarizeError, Summarizer, SummaryRequest};
/// use longhaul_transcript::{SummaryMode, Tokens};
///
/// /// Says what was asked last. In earnest it would send `request.entries` to a model of yours.
/// #[derive(Debug)]
/// struct LastQuestion;
///
/// #[async_trait]
/// impl Summarizer for LastQuestion {
///     async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
///         let asked = request.entries.iter().rev().find_map(|entry| entry.message.texts().next());
///         let text = asked.map(|asked| format!("The user asked: {asked}")).unwrap_or_default();
///         let tokens: Tokens = request.counter.count_text(&text);
///         Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "mine".into(), ..Draft::default() })
///     }
/// }
/// ```
#[async_trait]
pub trait Summarizer: Debug + Send + Sync {
    /// Returns the calls that [`summarize`](Self::summarize) may make for `request`, and makes none. One that asks
    /// nobody keeps the default.
    fn plan(&self, _request: &SummaryRequest<'_>) -> CallPlan {
        CallPlan::default()
    }

    /// Returns how much room the summary is worth before messages stay that it tells of, where a budget is small: what a
    /// reader learns from so many tokens of it is more than from the same tokens verbatim. Nothing for facts by rule.
    fn worth(&self) -> Tokens {
        Tokens::ZERO
    }

    /// Returns whether what it writes holds the facts by rule that belong in it, as a [`Ladder`](crate::Ladder)'s does. Where
    /// it does not, a session in the mode `hybrid` asks it for [half](crate::WORDS_SHARE) of the room and puts the facts
    /// [beside](crate::with_facts) its words, unless a person [edited](Draft::is_edited) them.
    fn writes_facts(&self) -> bool {
        false
    }

    /// Returns whether it ends in its own time, so that nobody has to bound it: a [`Ladder`](crate::Ladder) minds its
    /// [`deadline`](crate::LlmOptions::deadline), and a person who is [shown](crate::Reviewed) a summary takes the time that it takes.
    fn ends_by_itself(&self) -> bool {
        false
    }

    /// Returns itself where it has a summary written by one and [shown](crate::Reviewed::review) to another, a person: who waits for it
    /// bounds the [one](crate::Reviewed::writer), and not the other.
    fn as_reviewed(&self) -> Option<&crate::Reviewed> {
        None
    }

    /// Returns a summary of the request's entries.
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError>;
}

/// Returns whether a text is a refusal in words, and no summary: a short paragraph in English that begins as models begin one, and is
/// about what they were asked. One that says what could not be done in the work is a summary.
pub fn is_refusal(text: &str) -> bool {
    let text = text.trim().trim_matches(['*', '_', '"']);
    let lower = text[..text.floor_char_boundary(LONGEST_REFUSAL)].to_lowercase().replace('’', "'");
    text.len() <= LONGEST_REFUSAL
        && !text.contains('\n')
        && REFUSALS.iter().any(|begin| lower.starts_with(begin))
        && ASKED.iter().any(|asked| lower.contains(asked))
}

/// Bytes of the longest refusal: who says more than that says something.
const LONGEST_REFUSAL: usize = 400;

/// How a refusal begins.
const REFUSALS: [&str; 16] = [
    "i'm sorry", "i am sorry", "sorry", "i apologize", "apologies", "i can't ", "i cannot ", "i'm unable",
    "i am unable", "i'm not able", "i am not able", "i won't ", "i must decline", "i'm afraid i can't",
    "as an ai", "unfortunately, i can",
];

/// How it goes on.
const ASKED: [&str; 12] = [
    "help with", "help you", "assist", "comply", "fulfill", "this request", "that request", "your request",
    "summarize th", "provide a summary", "provide that", "i can't discuss",
];

/// Returns whether nobody sees anything in `text`: it is empty, blank, or made of signs that show nothing.
///
/// ```
/// use longhaul_summarize::says_nothing;
///
/// assert!(["", " \n", "\u{200b}\u{feff}", "\0", "\u{202e}"].into_iter().all(says_nothing));
/// assert!(!says_nothing("\u{feff}No."));
/// ```
pub fn says_nothing(text: &str) -> bool {
    // A selector of variants has nothing before it to vary.
    let shows = |c: char| !c.is_whitespace() && !is_invisible(c) && !matches!(c, '\u{fe00}'..='\u{fe0f}');
    !text.contains(shows)
}
