//! What is found: for the caller a finding, while it is searched for a strike.

use std::{ops::Range, sync::Arc};

use crate::rules::RuleSet;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule that found it.
    pub rule: Arc<str>,
    /// Where it is, in bytes of the text.
    pub span: Range<usize>,
}

/// A secret as it is searched for: the rule's index, and where it is. Small, since a text full of secrets has millions of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) start: usize,
    length: u32,
    rule: u32,
}

impl Struck {
    /// Returns a strike of the rule with this index, nowhere yet.
    pub(crate) fn by(rule: usize) -> Struck {
        Struck { start: 0, length: 0, rule: u32::try_from(rule).unwrap_or(u32::MAX) }
    }

    /// Returns the index of its rule.
    pub(crate) fn rule(self) -> usize {
        self.rule as usize
    }

    pub(crate) fn end(self) -> usize {
        self.start + self.length as usize
    }

    /// Returns the same in the place `span`; what is longer than 4 GB in pieces.
    pub(crate) fn moved(self, span: Range<usize>) -> impl Iterator<Item = Struck> {
        let end = span.end;
        span.step_by(u32::MAX as usize).map(move |start| {
            let length = u32::try_from(end - start).unwrap_or(u32::MAX);
            Struck { start, length, ..self }
        })
    }

    /// Takes in `next`, which begins inside of this one; returns whether there was room for it.
    pub(crate) fn take_in(&mut self, next: Struck) -> bool {
        let length = u32::try_from(self.end().max(next.end()) - self.start);
        length.map(|length| self.length = length).is_ok()
    }
}

/// Returns what was struck as it is told.
pub(crate) fn told(set: &RuleSet, struck: &[Struck]) -> Vec<Finding> {
    let finding = |struck: &Struck| Finding {
        rule: set.rules[struck.rule()].id.clone(),
        span: struck.start..struck.end(),
    };
    struck.iter().map(finding).collect()
}

/// Puts what was struck in order and apart.
pub(crate) fn join(set: &RuleSet, struck: &mut Vec<Struck>) {
    let is_generic = |rule: u32| set.rules[rule as usize].is_generic;
    // The more telling rule comes first among those that begin at the same byte, and names the finding.
    struck.sort_unstable_by_key(|struck| {
        (struck.start, is_generic(struck.rule), usize::MAX - struck.end(), struck.rule)
    });
    struck.dedup_by(|next, before| {
        if next.start >= before.end() || !before.take_in(*next) {
            return false;
        }
        if is_generic(before.rule) && !is_generic(next.rule) {
            before.rule = next.rule;
        }
        true
    });
}
