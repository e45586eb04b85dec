//! What can go wrong with a session.

use longhaul_store::StoreError;
use longhaul_summarize::SummarizeError;
use longhaul_transcript::Tokens;

use super::branches::is_by_another;
#[cfg(doc)]
use crate::config::Config;
use crate::{
    compact::{AssembleError, CompactError},
    policy::Hold,
    session::{BranchError, MemoryError, PinError, RewriteError},
};

/// The context could not be made ready. Each says its cause in its own words; who prints the chain of causes says it twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What must stay is larger than the budget, or longhaul is switched off and the conversation has outgrown it.
    #[error(
        "the context costs {tokens:#} tokens, {over:#} over the budget of {budget:#}; at least {floor:#} must stay{} ({hold})",
        of_pins(*pinned)
    )]
    OverBudget {
        /// What the context costs.
        tokens: Tokens,
        /// What it may cost.
        budget: Tokens,
        /// By how much it is over.
        over: Tokens,
        /// What the deepest compaction would leave.
        floor: Tokens,
        /// What of that stays in every view: pinned messages with their exchanges, a summary of the provider's own, and memory
        /// blocks.
        pinned: Tokens,
        /// Why nothing more is done.
        hold: Hold,
    },
    /// The provider refused the context as too large, and nothing in it can be spared. The context, and what there is to
    /// spend, are as they were: the session can be used on, with a shorter request or another model.
    #[error(
        "the provider refused a request of {tokens:#} tokens as counted here{}, and nothing is left to give: at least \
         {floor:#} must stay",
        told(*limit)
    )]
    NothingLeft {
        /// What the request costs as it is counted here.
        tokens: Tokens,
        /// The largest prompt that the provider takes, where it said so.
        limit: Option<Tokens>,
        /// What the deepest compaction would leave of the messages.
        floor: Tokens,
    },
    /// The provider is said to have refused the context as too large, and it is far too small for that. Nothing was
    /// changed.
    #[error(
        "the provider refused a request of {tokens:#} tokens as counted here{}: that is too small to be refused for its \
         size",
        told(*limit)
    )]
    NotTooLarge {
        /// What the request costs as it is counted here.
        tokens: Tokens,
        /// The largest prompt that the provider takes, where it said so.
        limit: Option<Tokens>,
    },
    /// No model gave a summary and `abort_on_failure` is set. The context is as it was.
    #[error("no summary could be made: {0}")]
    Summarize(#[source] SummarizeError),
    /// A compaction that was asked for is impossible, or there is no use in it.
    #[error("the context cannot be compacted: {0}")]
    Compact(CompactError),
    /// A summary is empty, or larger than it was allowed to be and could not be shortened, and `abort_on_failure` is set or it was made
    /// in the background. The context is as it was. Words that are too many are left out, and it is told how much.
    #[error("the summary cannot be used: {0}")]
    Draft(#[source] AssembleError),
    /// The store could not be read or written, or somebody else went on with the session and this one is to
    /// [stop](crate::Overtaken::Stop) then. The context is as it was.
    #[error("{}", store_failed(.0))]
    Store(#[source] StoreError),
    /// The compaction cannot be undone: messages that its summary replaces were deleted ([`Config::delete_originals`], or
    /// by hand), and the summary is what is left of them. The context is as it was.
    #[error(
        "the compaction cannot be undone: {messages} of the messages that its summary replaces were deleted"
    )]
    OnlyInSummary {
        /// How many were deleted.
        messages: u64,
    },
    /// What was undone cannot be done again: more was said and the context was compacted since, or it was compacted by hand. The
    /// context is as it was.
    #[error("what was undone cannot be done again: the context was compacted anew since")]
    RedoLost,
    /// The history that was handed in last is another conversation's (`Synced::Another`): the view of this one would be sent in its place. Open a session for it, or go on with this one by a push or its own history.
    #[error(
        "the history handed in last is another conversation's: open a session for it, or go on here with this one's"
    )]
    Strayed,
    /// A compaction was made and could not be applied.
    #[error("the compaction could not be applied: {0}")]
    Rewrite(#[source] RewriteError),
    /// A message could not be pinned.
    #[error(transparent)]
    Pin(PinError),
    /// A memory block could not be set.
    #[error(transparent)]
    Memory(MemoryError),
    /// A branch could not be begun.
    #[error(transparent)]
    Branch(BranchError),
    /// What was pushed is no message of its format.
    #[cfg(feature = "wire")]
    #[error("the message cannot be read: {0}")]
    Wire(longhaul_wire::WireError),
    /// A history could not be followed.
    #[cfg(feature = "wire")]
    #[error(transparent)]
    Sync(crate::session::SyncError),
}

/// Returns what happened: that somebody else went on is no failure of the store, and who asked to stop then must read it.
fn store_failed(error: &StoreError) -> String {
    match is_by_another(error) {
        true => error.to_string(),
        false => format!("the store failed: {error}"),
    }
}

fn of_pins(pinned: Tokens) -> String {
    match pinned {
        Tokens::ZERO => String::new(),
        pinned => format!(", {pinned:#} of them pinned or in memory blocks"),
    }
}

fn told(limit: Option<Tokens>) -> String {
    limit.map(|limit| format!(" (it takes {limit:#})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn each_says_its_cause_and_says_it_once() {
        let disk = || StoreError::backend("writing", "the disk is full");
        let session = || longhaul_transcript::SessionId::new("s").unwrap();
        let errors = [
            Error::Store(disk()),
            Error::Store(StoreError::NotOverwritten { source: "the disk is full".into() }),
            Error::Store(StoreError::Unanswered { source: "the disk is full".into() }),
            Error::Store(StoreError::Overtaken { session: session(), ordinal: 4 }),
            Error::Store(StoreError::Changed { session: session() }),
            Error::Summarize(SummarizeError::Refused),
            Error::Draft(AssembleError::Empty),
            Error::Rewrite(RewriteError::Stale),
        ];
        for error in errors {
            let (said, cause) = (error.to_string(), error.source().unwrap());
            let root = cause.source().map_or_else(|| cause.to_string(), ToString::to_string);
            assert_eq!(said.matches(&root).count(), 1, "{said}");
            assert!(said.ends_with(&cause.to_string()), "{said}");
        }
        assert_eq!(Error::Store(disk()).to_string(), "the store failed: writing failed: the disk is full");
    }
}
