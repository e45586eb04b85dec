//! What a model wrote, and how far it had read: what it wrote stays when rules take over (a tier that asks nobody, a model
//! that does not answer), and what only rules told of is read by the next model.

use longhaul_transcript::{SummaryMode, SummaryRecord};

use crate::notes::Notes;

/// Stands over the words of a model in a summary by rule, before the first message that the model had not read.
pub const HEADING: &str = "## As a model summarized what came before";

/// Returns what a model wrote in a summary: all of it, or the part that a summary by rule kept.
pub fn words(record: &SummaryRecord) -> Option<&str> {
    let words = match record.mode {
        SummaryMode::Rules => marked(&record.text)?.split_once('\n')?.1,
        _ => record.text.as_str(),
    };
    Some(words.trim()).filter(|words| !words.is_empty())
}

/// Returns the text of a summary by a model without what rules added to it.
pub fn without_rules(text: &str) -> &str {
    Notes::by_model(text).trim_end()
}

/// Returns what stands behind the heading: an earlier summary that is quoted may hold one too, but not as a line of this one's.
fn marked(text: &str) -> Option<&str> {
    let begins_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let at = text.rmatch_indices(HEADING).map(|(at, _)| at).find(begins_line)?;
    Some(&text[at + HEADING.len()..])
}

/// Returns the ordinal of the first message that no model has read for this summary; all that lie behind it were told of by
/// rule at best, or stayed as they were said.
pub fn read_until(record: &SummaryRecord) -> u64 {
    if record.mode == SummaryMode::Rules {
        let mark = marked(&record.text).and_then(|rest| rest.trim_start().strip_prefix('m'));
        let digits = mark.map(|mark| mark.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        return digits.and_then(|digits| digits.parse().ok()).unwrap_or(record.covers.start);
    }
    // A message that stays in part is covered, and not summarized.
    let stays = |ordinal: u64| record.kept.iter().any(|kept| kept.contains(ordinal));
    let last = record.covered.iter().rev().find(|covered| !stays(covered.ordinal));
    last.map_or(record.covers.end, |last| record.covers.end.min(last.ordinal + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_that_an_earlier_summary_quotes_is_no_mark() {
        let quoted = format!("## Earlier\n### {}\nold words\n", &HEADING[3..]);
        assert_eq!(marked(&quoted), None);
        assert_eq!(
            marked(&format!("{quoted}#{HEADING} m40\nolder\n\n{HEADING} m7\nnew words")),
            Some(" m7\nnew words")
        );
    }

    #[test]
    fn what_rules_added_is_not_a_models() {
        assert_eq!(
            without_rules("## State\n- half is done\n\n## By rule\n- Never push."),
            "## State\n- half is done"
        );
        assert_eq!(without_rules("A paragraph."), "A paragraph.");
    }
}
