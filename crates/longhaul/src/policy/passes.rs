//! What follows a compaction that did not get far enough.

use longhaul_transcript::Tokens;

use crate::config::{Config, Limits};

/// What follows one pass of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPass {
    /// Nothing: the context is below the trigger.
    Done,
    /// A pass over what the first one left, one deeper.
    Deeper {
        /// Depth of the new summary.
        depth: u32,
    },
    /// The same again with a smaller tail.
    SmallerTail {
        /// Messages to keep verbatim; never below [`Config::MIN_TAIL`].
        preserve_recent: u64,
    },
    /// Nothing helps; the caller is told.
    GiveUp {
        /// By how much the context is over the trigger.
        over: Tokens,
    },
}

/// Returns what follows the pass number `n_passes` (from 1), which ended at `tokens` with a summary of `depth` and a
/// tail of `tail` messages.
///
/// At most three passes are made: the first, one deeper where the chain allows it, one with a smaller tail where the
/// tail can shrink (seed 004, "Depth Strategy").
pub fn next_pass(
    config: &Config,
    limits: &Limits,
    tokens: Tokens,
    depth: u32,
    tail: u64,
    n_passes: u32,
) -> NextPass {
    if tokens < limits.trigger {
        return NextPass::Done;
    }
    let may_go_deeper = n_passes == 1 && depth + 1 < config.max_summary_chain_depth;
    let smaller = (tail / 2).max(Config::MIN_TAIL);
    match n_passes {
        1 if may_go_deeper => NextPass::Deeper { depth: depth + 1 },
        1 | 2 if smaller < tail => NextPass::SmallerTail { preserve_recent: smaller },
        _ => NextPass::GiveUp { over: tokens - limits.trigger },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_pass_then_a_smaller_tail_then_the_caller_is_told() {
        let config = Config::default();
        let limits = config.limits(Tokens(1_000), Tokens(1_000));
        let next =
            |tokens, depth, tail, passes| next_pass(&config, &limits, Tokens(tokens), depth, tail, passes);
        assert_eq!(next(799, 0, 6, 1), NextPass::Done);
        assert_eq!(next(900, 0, 6, 1), NextPass::Deeper { depth: 1 });
        assert_eq!(next(900, 1, 6, 2), NextPass::SmallerTail { preserve_recent: 3 });
        assert_eq!(next(900, 1, 3, 3), NextPass::GiveUp { over: Tokens(100) });
    }

    #[test]
    fn the_depth_cap_goes_straight_to_a_smaller_tail_and_never_below_two() {
        let config = Config::default();
        let limits = config.limits(Tokens(1_000), Tokens(1_000));
        let next = |tail| next_pass(&config, &limits, Tokens(900), 2, tail, 1);
        assert_eq!(next(3), NextPass::SmallerTail { preserve_recent: 2 });
        assert_eq!(next(2), NextPass::GiveUp { over: Tokens(100) });
    }
}
