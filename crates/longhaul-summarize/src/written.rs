//! What a model wrote, and how far it had read: what it wrote stays when rules take over (a tier that asks nobody, a model
//! that does not answer), and what only rules told of is read by the next model.

use longhaul_transcript::{SummaryMode, SummaryRecord};

/// Stands over the words of a model in a summary by rule, before the first message that the model had not read.
pub const HEADING: &str = "## As a model summarized what came before";

/// Returns what a model wrote in a summary: all of it, or the part that a summary by rule kept.
pub fn words(record: &SummaryRecord) -> Option<&str> {
    let words = match record.mode {
        SummaryMode::Rules => record.text.split_once(HEADING)?.1.split_once('\n')?.1,
        _ => record.text.as_str(),
    };
    Some(words.trim()).filter(|words| !words.is_empty())
}

/// Returns the ordinal of the first message that no model has read for this summary; all that lie behind it were told of by
/// rule at best, or stayed as they were said.
pub fn read_until(record: &SummaryRecord) -> u64 {
    if record.mode == SummaryMode::Rules {
        let mark = record.text.split_once(HEADING).and_then(|(_, rest)| rest.trim_start().strip_prefix('m'));
        let digits = mark.map(|mark| mark.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        return digits.and_then(|digits| digits.parse().ok()).unwrap_or(record.covers.start);
    }
    // A message that stays in part is covered, and not summarized.
    let stays = |ordinal: u64| record.kept.iter().any(|kept| kept.contains(ordinal));
    let last = record.covered.iter().rev().find(|covered| !stays(covered.ordinal));
    last.map_or(record.covers.end, |last| record.covers.end.min(last.ordinal + 1))
}
