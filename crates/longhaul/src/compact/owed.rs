//! What a summary is owed before anything that was only pasted: room for the person's rules.

use std::collections::HashSet;

use longhaul_extract::constraints;
use longhaul_summarize::rules::is_lasting;
use longhaul_transcript::{Constraint, Entry, Role, Tokens};

use super::{
    CompactSettings,
    plan::{SUMMARY_FRAME, Source},
    standing,
    tail::Place,
};

/// Returns the room, of `most`, that a summary needs in which the rules stand that were said outside of `place`. An earlier summary among
/// the entries may be full of them.
pub(super) fn to_rules(
    source: &Source<'_>,
    settings: &CompactSettings,
    place: &Place<'_>,
    most: Tokens,
) -> Tokens {
    let outside = |entry: &&Entry| place.unit.entries.iter().all(|own| own.id != entry.id);
    let others = || source.entries.iter().filter(outside);
    let said: Vec<Entry> = others().filter(|entry| entry.message.role == Role::User).cloned().collect();
    let said = constraints(&said, source.index.speakers());
    let before = source.earlier.summary.map_or(&[][..], |record| &record.summary.constraints);
    let holds = |rule: &&Constraint| rule.superseded_by.is_none() && is_lasting(&rule.text);
    let rules: HashSet<&str> = said.iter().chain(before).filter(holds).map(|rule| rule.text.trim()).collect();
    let count = |rule: &&str| source.counter.count_text(rule) + OF_A_LINE;
    let rules: Tokens = rules.iter().map(count).sum();
    let told = others().filter(|entry| standing::begins_with_summary(&entry.message));
    let told: Tokens = told.map(|entry| source.cost(entry.id.ordinal)).sum();
    let needed =
        ((rules + told).scaled(FOR_A_RULE) + SUMMARY_FRAME).max(most.scaled(LEAST)).min(most.scaled(MOST));
    settings
        .max_summary_tokens
        .map_or(needed, |cap| needed.min(cap.scaled(1.0 / SUMMARY_SHARE) + SUMMARY_FRAME))
}

/// What the handle of a rule and its line cost.
const OF_A_LINE: Tokens = Tokens(7);

/// What a summary has at least of the room that it shares with older messages.
const SUMMARY_SHARE: f64 = 0.7;

/// A handful of rules may have a third of it, and those that bind two fifths.
const FOR_A_RULE: f64 = 3.0 / SUMMARY_SHARE;

/// With the fewest rules a summary is owed this share of the room, and with many no more than that.
const LEAST: f64 = 0.15;
const MOST: f64 = 0.6;
