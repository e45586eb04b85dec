//! What was decided, in data and in words.

use std::fmt;

use longhaul_transcript::{Span, Tokens, counted};
use serde::{Deserialize, Serialize};

use super::PolicyState;
use crate::config::Config;

/// What is to be done about the context, and why or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Nothing is to be done.
    Hold(Hold),
    /// Something is to be done.
    Act {
        /// What.
        action: Action,
        /// Why.
        reason: Reason,
    },
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Drop by priority.
    SoftTrim,
    /// Put facts in the place of old tool results.
    SoftDigest,
    /// Summarize by rule, whatever the mode is.
    SummarizeRules {
        /// In a new chain, since the one there is is as deep as it may be.
        rebuild: bool,
    },
    /// Summarize in the configured mode.
    Summarize {
        /// In a new chain, since the one there is is as deep as it may be.
        rebuild: bool,
    },
    /// Bring the context below the hard limit now: in the configured mode, and by rule if that fails.
    Emergency {
        /// In a new chain, since the one there is is as deep as it may be.
        rebuild: bool,
        /// By rule at once: the last attempts failed, and a model is not asked again for each message.
        by_rule: bool,
    },
}

/// Why something is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The hard tier's threshold is reached; in the background also where it soon will be.
    Ratio {
        /// Tokens of the view.
        tokens: Tokens,
        /// What a first tier that summarizes by rule took out of it since the hard tier acted: no model has read it, and it
        /// counts.
        #[serde(default, skip_serializing_if = "is_zero")]
        unread: Tokens,
        /// The threshold.
        trigger: Tokens,
    },
    /// The threshold is reached because the model, and with it the window, is another one.
    ModelSwitch {
        /// Tokens of the view.
        tokens: Tokens,
        /// The threshold.
        trigger: Tokens,
    },
    /// The last compaction left the view at the threshold or above: what it kept was large, or much was said while it was
    /// made. Done once.
    SecondPass {
        /// Tokens of the view.
        tokens: Tokens,
        /// The threshold.
        trigger: Tokens,
    },
    /// The soft tier's threshold is reached.
    Soft {
        /// Tokens of the view.
        tokens: Tokens,
        /// The threshold.
        soft: Tokens,
    },
    /// The view holds more messages than it may.
    Messages {
        /// Messages in the view.
        n_messages: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The last compaction is old.
    Refresh {
        /// Messages since.
        since_last: u64,
        /// How many there may be.
        after: u64,
    },
    /// The hard limit is reached.
    Emergency {
        /// Tokens of the view.
        tokens: Tokens,
        /// The hard limit.
        budget: Tokens,
    },
    /// Somebody asked for it.
    Manual,
}

/// Why nothing is to be done; where a number must change to end it, with that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hold", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hold {
    /// `enabled` is false.
    Disabled,
    /// There is room.
    BelowTrigger {
        /// Tokens of the view.
        tokens: Tokens,
        /// The next threshold above them.
        next: Tokens,
        /// How much is left until there.
        left: Tokens,
    },
    /// The conversation is too short.
    BelowMinMessages {
        /// Messages in the view.
        n_messages: u64,
        /// How many there must be.
        min_messages: u64,
    },
    /// The last compaction is too recent.
    Cooldown {
        /// How many messages are left to wait for.
        messages_left: u64,
    },
    /// The hard tier fired and the context has not been below the reset threshold since.
    Hysteresis {
        /// Tokens of the view.
        tokens: Tokens,
        /// Below this it is armed again.
        reset: Tokens,
        /// At this it fires all the same: the context has then grown by the whole band.
        or_at: Tokens,
    },
    /// The chain of summaries is as deep as it may be, and `on_max_depth` is `halt`.
    Depth {
        /// Depth that the next summary would have.
        depth: u32,
        /// The first depth that is refused.
        max: u32,
    },
    /// Everything is pinned, part of the tail, or compacted already.
    NothingToCompact,
    /// What cannot be compacted is so large that compacting the rest would not re-arm the trigger.
    FixedOverhead {
        /// What would be left after the deepest compaction.
        floor: Tokens,
        /// What it would have to be below.
        reset: Tokens,
    },
    /// The soft tier would free too little to be worth a rewrite.
    SmallGain {
        /// What it would free.
        gain: Tokens,
        /// What it must free.
        needed: Tokens,
    },
    /// There is room, and what could be summarized is too little to say anything about.
    SmallRange {
        /// What the messages outside the tail cost.
        tokens: Tokens,
        /// What they must cost.
        needed: Tokens,
    },
    /// A compaction was just undone by hand.
    JustUndone {
        /// How many messages are left to wait for.
        messages_left: u64,
    },
    /// The last compaction failed.
    FailedRecently {
        /// How many failed in a row.
        failures: u32,
        /// How many messages are left to wait for.
        messages_left: u64,
        /// How many milliseconds are left to wait for.
        ms_left: u64,
    },
    /// This very range was compacted for this very reason. New messages change the range.
    SameRange {
        /// The range.
        range: Span,
    },
    /// An exchange is open or an answer is under way; what is not urgent waits for the end of the turn.
    WithinTurn,
    /// The context is at its hard limit and the one attempt on it did not bring it below. A new message, a larger
    /// window or a smaller system prompt ends this.
    Exhausted {
        /// What was left after the deepest compaction.
        floor: Tokens,
        /// By how much the context is over the budget.
        over: Tokens,
    },
}

impl Decision {
    /// Returns whether something is to be done.
    pub fn is_act(&self) -> bool {
        matches!(self, Decision::Act { .. })
    }

    /// Returns the decision as it is told of whole requests: each has `others` beside the messages, such as the definitions of tools.
    pub fn beside(self, others: Tokens) -> Decision {
        match self {
            Decision::Hold(hold) => Decision::Hold(hold.beside(others)),
            Decision::Act { action, reason } => Decision::Act { action, reason: reason.beside(others) },
        }
    }
}

impl Action {
    /// Returns whether a summary comes out of this.
    pub fn makes_summary(self) -> bool {
        !matches!(self, Action::SoftTrim | Action::SoftDigest)
    }

    /// Returns whether the new summary begins a chain: nothing lies under it.
    pub fn is_rebuild(self) -> bool {
        match self {
            Action::SummarizeRules { rebuild }
            | Action::Summarize { rebuild }
            | Action::Emergency { rebuild, .. } => rebuild,
            Action::SoftTrim | Action::SoftDigest => false,
        }
    }
}

impl Reason {
    /// The name of [`Reason::Messages`].
    pub(super) const MESSAGES: &str = "messages";

    /// Returns the name that events and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Ratio { .. } => "ratio",
            Reason::ModelSwitch { .. } => "model_switch",
            Reason::SecondPass { .. } => "second_pass",
            Reason::Soft { .. } => "soft",
            Reason::Messages { .. } => Reason::MESSAGES,
            Reason::Refresh { .. } => "refresh",
            Reason::Emergency { .. } => "emergency",
            Reason::Manual => "manual",
        }
    }

    /// Returns what the view was judged to cost at most, where that is the reason.
    pub fn tokens(self) -> Option<Tokens> {
        match self {
            Reason::Ratio { tokens, .. } | Reason::ModelSwitch { tokens, .. } => Some(tokens),
            Reason::SecondPass { tokens, .. } | Reason::Soft { tokens, .. } => Some(tokens),
            Reason::Emergency { tokens, .. } => Some(tokens),
            Reason::Messages { .. } | Reason::Refresh { .. } | Reason::Manual => None,
        }
    }

    /// Returns the reason as it is told of whole requests, each with `others` beside the messages.
    pub fn beside(mut self, others: Tokens) -> Reason {
        match &mut self {
            Reason::Ratio { tokens, trigger: at, .. }
            | Reason::ModelSwitch { tokens, trigger: at }
            | Reason::SecondPass { tokens, trigger: at }
            | Reason::Soft { tokens, soft: at }
            | Reason::Emergency { tokens, budget: at } => [tokens, at].into_iter().for_each(|n| *n += others),
            Reason::Messages { .. } | Reason::Refresh { .. } | Reason::Manual => {}
        }
        self
    }

    /// Returns whether acting can wait for the end of the turn: it saves money or keeps order, but nothing breaks
    /// without it.
    pub fn is_economic(self) -> bool {
        match self {
            Reason::Soft { .. } | Reason::Messages { .. } | Reason::Refresh { .. } => true,
            Reason::Ratio { .. } | Reason::ModelSwitch { .. } | Reason::SecondPass { .. } => false,
            Reason::Emergency { .. } | Reason::Manual => false,
        }
    }

    /// Returns whether it calls for room: no more is summarized than that takes. The others want all that is old summarized.
    pub(crate) fn is_for_room(self) -> bool {
        match self {
            Reason::Ratio { .. } | Reason::ModelSwitch { .. } | Reason::SecondPass { .. } => true,
            Reason::Soft { .. } | Reason::Emergency { .. } => true,
            Reason::Messages { .. } | Reason::Refresh { .. } | Reason::Manual => false,
        }
    }

    /// Returns whether a second pass may follow where the view is at the trigger still.
    pub(super) fn is_first_pass(self) -> bool {
        match self {
            Reason::Ratio { .. } | Reason::ModelSwitch { .. } | Reason::Emergency { .. } => true,
            Reason::SecondPass { .. } | Reason::Soft { .. } => false,
            Reason::Messages { .. } | Reason::Refresh { .. } | Reason::Manual => false,
        }
    }

    /// Returns how many messages must have been said since the last rewrite before it is acted on.
    pub(super) fn wait(self, state: &PolicyState, config: &Config) -> u64 {
        match self {
            Reason::ModelSwitch { .. } | Reason::SecondPass { .. } => 0,
            Reason::Messages { .. } => state.message_wait(config),
            Reason::Ratio { .. } | Reason::Soft { .. } | Reason::Refresh { .. } => config.cooldown_messages,
            Reason::Emergency { .. } | Reason::Manual => config.cooldown_messages,
        }
    }
}

impl Hold {
    /// Returns the name that events and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Hold::Disabled => "disabled",
            Hold::BelowTrigger { .. } => "below_trigger",
            Hold::BelowMinMessages { .. } => "below_min_messages",
            Hold::Cooldown { .. } => "cooldown",
            Hold::Hysteresis { .. } => "hysteresis",
            Hold::Depth { .. } => "depth",
            Hold::NothingToCompact => "nothing_to_compact",
            Hold::FixedOverhead { .. } => "fixed_overhead",
            Hold::SmallGain { .. } => "small_gain",
            Hold::SmallRange { .. } => "small_range",
            Hold::JustUndone { .. } => "just_undone",
            Hold::FailedRecently { .. } => "failed_recently",
            Hold::SameRange { .. } => "same_range",
            Hold::WithinTurn => "within_turn",
            Hold::Exhausted { .. } => "exhausted",
        }
    }

    /// Returns why nothing is done as it is told of whole requests, each with `others` beside the messages.
    pub fn beside(mut self, others: Tokens) -> Hold {
        let whole: [Option<&mut Tokens>; 3] = match &mut self {
            Hold::BelowTrigger { tokens, next, left: _ } => [Some(tokens), Some(next), None],
            Hold::FixedOverhead { floor, reset } => [Some(floor), Some(reset), None],
            Hold::Hysteresis { tokens, reset, or_at } => [Some(tokens), Some(reset), Some(or_at)],
            Hold::Exhausted { floor, over: _ } => [Some(floor), None, None],
            // What would be freed, and what a part costs, is of the messages alone.
            Hold::SmallGain { .. } | Hold::SmallRange { .. } => [None, None, None],
            Hold::Disabled | Hold::BelowMinMessages { .. } | Hold::Cooldown { .. } => [None, None, None],
            Hold::Depth { .. } | Hold::NothingToCompact | Hold::JustUndone { .. } => [None, None, None],
            Hold::FailedRecently { .. } | Hold::SameRange { .. } | Hold::WithinTurn => [None, None, None],
        };
        whole.into_iter().flatten().for_each(|tokens| *tokens += others);
        self
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Hold(hold) => write!(f, "hold: {hold}"),
            Decision::Act { action, reason } => write!(f, "{action}: {reason}"),
        }
    }
}

fn is_zero(tokens: &Tokens) -> bool {
    *tokens == Tokens::ZERO
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::SoftTrim => "trim by priority",
            Action::SoftDigest => "digest old tool results",
            Action::SummarizeRules { .. } => "summarize by rule",
            Action::Summarize { .. } => "summarize",
            Action::Emergency { .. } => "summarize at once",
        })?;
        f.write_str(if self.is_rebuild() { " in a new chain" } else { "" })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Ratio { tokens, unread, trigger } if *tokens + *unread < *trigger => {
                write!(f, "{tokens:#} tokens come near the trigger at {trigger:#}")
            }
            Reason::Ratio { tokens, unread: Tokens::ZERO, trigger } => {
                write!(f, "{tokens:#} tokens reach the trigger at {trigger:#}")
            }
            Reason::Ratio { tokens, unread, trigger } => write!(
                f,
                "{tokens:#} tokens, with the {unread:#} that were summarized by rule alone, reach the trigger at {trigger:#}"
            ),
            Reason::ModelSwitch { tokens, trigger } => {
                write!(f, "{tokens:#} tokens reach the trigger of the new model's window at {trigger:#}")
            }
            Reason::SecondPass { tokens, trigger } => {
                write!(
                    f,
                    "{tokens:#} tokens are still at the trigger of {trigger:#} or above after a compaction"
                )
            }
            Reason::Soft { tokens, soft } => {
                write!(f, "{tokens:#} tokens reach the soft threshold at {soft:#}")
            }
            Reason::Messages { n_messages, limit } => {
                write!(f, "{} are more than {limit}", counted(*n_messages, "message"))
            }
            Reason::Refresh { since_last, after } => {
                let since_last = counted(*since_last, "message");
                write!(f, "{since_last} since the last compaction, which is refreshed after {after}")
            }
            Reason::Emergency { tokens, budget } => {
                write!(f, "{tokens:#} tokens reach the hard limit of {budget:#}")
            }
            Reason::Manual => f.write_str("asked for"),
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Disabled => f.write_str("switched off (enabled = false)"),
            Hold::BelowTrigger { tokens, next, left } => {
                write!(f, "{tokens:#} tokens, {left:#} below the next threshold at {next:#}")
            }
            Hold::BelowMinMessages { n_messages, min_messages } => {
                write!(f, "{}; fewer than {min_messages} are left alone", counted(*n_messages, "message"))
            }
            Hold::Cooldown { messages_left } => {
                write!(f, "compacted a moment ago; {} first", counted(*messages_left, "more message"))
            }
            Hold::Hysteresis { tokens, reset, or_at } => {
                write!(f, "{tokens:#} tokens; armed again below {reset:#}, or at {or_at:#}")
            }
            Hold::Depth { depth, max } => {
                let depth = counted(u64::from(*depth), "summary");
                write!(f, "the chain has {depth} and may have {max} (on_max_depth = \"halt\")")
            }
            Hold::NothingToCompact => f.write_str("everything is pinned, recent or compacted already"),
            Hold::FixedOverhead { floor, reset } => {
                write!(
                    f,
                    "{floor:#} tokens cannot be compacted, which is not below the reset threshold of {reset:#}"
                )
            }
            Hold::SmallGain { gain, needed } => {
                write!(f, "the soft tier would free {gain:#} tokens; {needed:#} make it worth it")
            }
            Hold::SmallRange { tokens, needed } => {
                write!(
                    f,
                    "the messages before the recent ones cost {tokens:#} tokens; a summary is made of {needed:#} or more"
                )
            }
            Hold::JustUndone { messages_left } => {
                write!(f, "a compaction was just undone; {} first", counted(*messages_left, "more message"))
            }
            Hold::FailedRecently { failures, messages_left, ms_left } => {
                write!(
                    f,
                    "failed {} in a row; waits for {} and {ms_left} ms",
                    counted(u64::from(*failures), "time"),
                    counted(*messages_left, "message")
                )
            }
            Hold::SameRange { range } => write!(f, "{range} were compacted for this reason already"),
            Hold::WithinTurn => f.write_str("not urgent; waits for the end of the turn"),
            Hold::Exhausted { floor, over } => {
                write!(f, "{over:#} tokens over the hard limit, and the attempt could not go below {floor:#}")
            }
        }
    }
}
