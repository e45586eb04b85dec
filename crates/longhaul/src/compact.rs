//! One compaction, from entries and a budget to a summary and the messages that stay.
//!
//! Three steps, so that a model can be asked in the middle while the conversation goes on:
//! [`plan`] decides what stays and how much the summary may cost, somebody writes a [`Draft`](longhaul_summarize::Draft), and
//! [`CompactionPlan::assemble`] puts both together and proves that the result fits. [`compact`] does all three by rule.

mod assemble;
mod clip;
pub(crate) mod digest;
mod needed;
mod owed;
mod plan;
pub(crate) mod ranked;
mod share;
pub(crate) mod standing;
pub(crate) mod survival;
mod tail;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use longhaul_transcript::{Message, MessageId, SummaryRecord, Tokens};

pub use self::{
    assemble::{AssembleError, compact},
    plan::{CompactError, CompactionPlan, Earlier, Source, plan},
    standing::Cut,
};
pub(crate) use self::{
    assemble::{SHORTENED, compact_by},
    clip::clip_text,
    needed::Needed,
    plan::{FLOOR_EXTRA, SUMMARY_FRAME},
};

/// What a compaction is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactSettings {
    /// The most that the whole view may cost afterwards: system prompt, summary, tail, framing, primer of the reply.
    /// Tool definitions live in the envelope and are not part of it.
    pub budget: Tokens,
    /// How many messages at the end stay in any case, digested where they must be; fewer where the budget forces it.
    /// `None` leaves the tail to what the budget is best spent on.
    pub keep_recent: Option<usize>,
    /// Nothing older than these stays: it goes into the summary, however much room there is.
    pub only_recent: bool,
    /// The last exchange has what summary and older messages can do without: the model has yet to read its results.
    pub exchange_first: bool,
    /// The last exchange stays whole where it costs at most so much and the model has yet to read its results: it takes the room of
    /// older messages, and at most as much as the summary has.
    pub exchange_whole: Tokens,
    /// Caps the summary; `None` gives it the share of the budget that serves recall best.
    pub max_summary_tokens: Option<Tokens>,
    /// What summary and view may cost beyond these so that rules and facts of the person's have room for which there was none.
    pub for_rules: Tokens,
    /// What the reader is about to do, for a summary that looks ahead.
    pub goal: Option<String>,
    /// What the summary may have before messages other than the newest request get any room: what its writer's words are
    /// worth. Nothing leaves it to the share that serves facts by rule best.
    pub summary_first: Tokens,
    /// Whether reasoning stays in the messages that are kept. An open exchange keeps it in any case.
    pub reasoning: KeepReasoning,
    /// Whether a digest keeps error messages whole, or a line of each.
    pub preserve_error_details: bool,
    /// The header over the summary; `{messages}` stands for the number of messages it covers. `None` is the default header.
    pub header: Option<String>,
    /// How what a handle in the summary stands for is looked up, in one line; empty where it cannot be. `{message}` stands for one that
    /// it covers.
    pub lookup: String,
    /// Ordinals of the messages that stay whole wherever they stand, beside instructions of system and developer, which
    /// do so in any case.
    pub pins: BTreeSet<u64>,
    /// When the record is made, in milliseconds since the Unix epoch.
    pub now_ms: i64,
}

/// Whether reasoning stays in the messages that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepReasoning {
    /// Taken out. Providers bind signed thinking to the exact prefix before it, which a compaction changes
    /// (`A-25`, `R-12`): kept, it would make the history invalid or be dropped in silence.
    #[default]
    Strip,
    /// Taken out, but for that of the turn in progress: of all that follows the newest text in the user's role. The model
    /// goes on from it, and Anthropic wants it back as it was while a tool loop runs.
    Turn,
    /// Kept as it is, for dialects that want it back (`OD-1`).
    Keep,
}

/// What a compaction gives: a summary, and the messages that follow it.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// The summary.
    pub record: SummaryRecord,
    /// Standing instructions, which come before the summary.
    pub head: Vec<Kept>,
    /// The messages after the summary, oldest first.
    pub tail: Vec<Kept>,
    /// The newest request of the user, where it had to be cut. The caller should be told.
    pub cut: Option<Cut>,
    /// What became of the messages, in numbers.
    pub outcome: Outcome,
}

/// A message that stays.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id, also where its content was digested.
    pub id: MessageId,
    /// What is to be sent.
    pub message: Arc<Message>,
    /// Its content was shortened: a tool result digested, a long argument or text clipped, reasoning taken out.
    pub digested: bool,
}

/// What became of the messages of a compaction, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Tokens of the whole view before.
    pub tokens_before: Tokens,
    /// Tokens of the whole view after.
    pub tokens_after: Tokens,
    /// Messages the summary stands for, with those that stay with shortened content: as many as its header says.
    pub summarized: usize,
    /// Messages that stay with shortened content.
    pub digested: usize,
    /// Messages that stay as they were.
    pub kept_verbatim: usize,
    /// Messages neither kept nor summarized: nothing was in them but reasoning, or a result without its call.
    pub dropped: usize,
}

/// A step of the caller's cannot be done. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the step {step:?} cannot be done: {problem}")]
pub struct StepError {
    /// The step's name.
    pub step: String,
    /// What is wrong with it, with the message it is about.
    pub problem: String,
}

impl CompactSettings {
    /// Returns settings for `budget` with everything else at its default.
    pub fn new(budget: Tokens) -> CompactSettings {
        CompactSettings {
            budget,
            keep_recent: None,
            only_recent: false,
            exchange_first: false,
            exchange_whole: Tokens::ZERO,
            max_summary_tokens: None,
            for_rules: Tokens::ZERO,
            goal: None,
            summary_first: Tokens::ZERO,
            reasoning: KeepReasoning::Strip,
            preserve_error_details: true,
            header: None,
            lookup: String::new(),
            pins: BTreeSet::new(),
            now_ms: 0,
        }
    }
}

impl Compacted {
    /// Returns the view: head, summary, tail, as messages.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        let head = self.head.iter().map(|kept| Arc::clone(&kept.message));
        let tail = self.tail.iter().map(|kept| Arc::clone(&kept.message));
        head.chain([Arc::new(self.record.to_message())]).chain(tail).collect()
    }
}
