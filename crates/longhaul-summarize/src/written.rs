//! What a model wrote, and how far it had read: what it wrote stays when rules take over (a tier that asks nobody, a model
//! that does not answer), and what only rules told of is read by the next model.

use std::collections::HashSet;

use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Entry, Summary, SummaryMode, SummaryRecord, Tokens, one_line};

use crate::{
    joined::{render, told_error},
    notes::{EXACTLY, Notes},
    review::EDITED,
};

/// Stands over the words of a model in a summary by rule, before the first message that the model had not read.
pub const HEADING: &str = "## As a model summarized what came before";

/// More messages that a model left untold are not named: it is taken to have read up to the first of them.
const MOST_UNTOLD: usize = 8;

/// Returns what a model wrote in a summary, without what rules added to it, or the part that a summary by rule kept.
pub fn words(record: &SummaryRecord) -> Option<String> {
    let words = match record.mode {
        SummaryMode::Rules => marked(&record.text)?.split_once('\n')?.1.to_owned(),
        mode if is_data(record) => render(mode, &own_data(record), &BytesPer4, Tokens(u64::MAX)),
        _ => without_rules(&record.text),
    };
    Some(words.trim().to_owned()).filter(|words| !words.is_empty())
}

/// Returns whether the record's data say what its model did, without what rules added to the text. Sections of statements
/// say more than the data of them, and a person's edit stands in the text alone.
pub(crate) fn is_data(record: &SummaryRecord) -> bool {
    !Notes::are_in(&record.text)
        && record.made_with.starts_with("prompt-")
        && !record.made_with.ends_with(EDITED)
        && !record.summary.narrative.is_empty()
}

/// Returns the data of a record as its model gave them. Rules add errors, what is open and decisions of their own, which its text
/// tells otherwise: told as the model's, they would outlive what becomes of them.
pub(crate) fn own_data(record: &SummaryRecord) -> Summary {
    let items: HashSet<&str> =
        record.text.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    let is_told = |item: &str| items.contains(&*one_line(item));
    let mut own = record.summary.clone();
    own.decisions.retain(|decision| is_told(decision));
    own.unresolved.retain(|open| is_told(open));
    own.errors.retain(|error| is_told(&told_error(error)));
    own
}

/// Returns the text of a summary by a model without what rules added to it.
fn without_rules(text: &str) -> String {
    Notes::by_model(text).trim_end().to_owned()
}

/// Returns what rules wrote in a summary by rule.
fn by_rule(record: &SummaryRecord) -> Option<&str> {
    let words = marked(&record.text).map_or(0, |words| words.len() + HEADING.len());
    let text = record.text[..record.text.len() - words].trim();
    Some(text).filter(|text| record.mode == SummaryMode::Rules && !text.is_empty())
}

/// Returns the text of summaries side by side as that of one: what models wrote, and apart from it what rules did.
pub fn joined<'a>(records: impl Iterator<Item = &'a SummaryRecord> + Clone) -> String {
    let said: Vec<String> = records.clone().filter_map(words).collect();
    let told: Vec<&str> = records.clone().filter_map(by_rule).collect();
    let (said, told) = (said.join("\n\n"), told.join("\n\n"));
    let until = records.clone().map(read_until).min().unwrap_or_default();
    let is_by_model = records.clone().any(|record| record.mode != SummaryMode::Rules);
    match (is_by_model, told.is_empty()) {
        (true, true) => said,
        (true, false) => {
            let told: Vec<String> = told
                .lines()
                .map(|line| line.replacen("## ", "### ", usize::from(line.starts_with("## "))))
                .collect();
            format!("{said}\n\n## {EXACTLY}\n{}", told.join("\n"))
        }
        (false, _) if said.is_empty() => told,
        (false, _) => format!("{told}\n\n{HEADING} m{until}\n{said}"),
    }
}

/// Returns the heading over a model's words in a summary by rule behind `previous`: up to where the model had read, and
/// what before that it left untold. A model that had left out some of it from the first message on told of it in part.
pub fn heading(previous: Option<&SummaryRecord>) -> String {
    let until = previous.map_or(0, read_until);
    let untold = previous.map_or_else(Vec::new, |previous| untold(previous, until));
    let told_before = untold.first().filter(|_| untold.len() > MOST_UNTOLD).copied().unwrap_or(until);
    let covered = previous.map_or(&[][..], |previous| &previous.covered);
    if !covered.is_empty() && covered.iter().all(|covered| covered.ordinal >= told_before) {
        return format!("{HEADING}, in part");
    }
    match untold.first() {
        None => format!("{HEADING} m{until}"),
        Some(first) if untold.len() > MOST_UNTOLD => format!("{HEADING} m{first}"),
        Some(_) => {
            let names: Vec<String> = untold.iter().map(|ordinal| format!("m{ordinal}")).collect();
            format!("{HEADING} m{until}, but for {}", names.join(", "))
        }
    }
}

/// Returns the messages before `until` of which the record's model was told that they need not be said again: they stayed
/// whole beside it, or a summary by rule names them.
pub fn untold(record: &SummaryRecord, until: u64) -> Vec<u64> {
    let line = marked(&record.text).and_then(|marked| marked.lines().next());
    let line = line.filter(|_| record.mode == SummaryMode::Rules).unwrap_or_default();
    let named = line.split([' ', ',']).filter_map(|name| name.strip_prefix('m')?.parse().ok()).skip(1);
    let is_covered = |ordinal: &u64| record.covered.iter().any(|covered| covered.ordinal == *ordinal);
    let stays = record.kept.iter().flat_map(|span| span.start..span.end.min(until));
    let mut untold: Vec<u64> = named.chain(stays.filter(|ordinal| !is_covered(ordinal))).collect();
    untold.sort_unstable();
    untold.dedup();
    untold
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
    summarized_until(record)
}

/// Returns the ordinal of the first message behind those that this summary tells of.
pub fn summarized_until(record: &SummaryRecord) -> u64 {
    // A message that stays in part is covered, and not summarized.
    let stays = |ordinal: u64| record.kept.iter().any(|kept| kept.contains(ordinal));
    let last = record.covered.iter().rev().find(|covered| !stays(covered.ordinal));
    last.map_or(record.covers.end, |last| record.covers.end.min(last.ordinal + 1))
}

/// Returns the messages that no model has read for `previous`: those from `until` on, and those before that stayed whole
/// beside it, of which its model was told that they need not be said again.
pub(crate) fn new_to(previous: &SummaryRecord, entries: &[Entry], until: u64) -> Vec<Entry> {
    let untold = untold(previous, until);
    let is_new = |entry: &&Entry| entry.id.ordinal >= until || untold.contains(&entry.id.ordinal);
    entries.iter().filter(is_new).cloned().collect()
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
    fn nothing_comes_before_the_first_message() {
        let covered = |ordinal| longhaul_transcript::Covered {
            ordinal,
            sha256: longhaul_transcript::ContentHash([0; 32]),
        };
        let span = |start, end| longhaul_transcript::Span { start, end };
        // Of forty messages a model read two that stay in part, and all others stay whole.
        let record = SummaryRecord {
            mode: SummaryMode::Llm,
            covered: vec![covered(9), covered(30)],
            covers: span(9, 31),
            kept: vec![span(1, 40)],
            ..longhaul_testkit::record("The port is 4711.")
        };
        let in_part = format!("{HEADING}, in part");
        assert_eq!(heading(Some(&record)), in_part);
        // What rules say then does not tell how far the model had read.
        let by_rule = SummaryRecord {
            mode: SummaryMode::Rules,
            text: format!("## Changed files\na.rs\n\n{in_part}\nThe port is 4711."),
            covered: (1..40).map(covered).collect(),
            covers: span(1, 40),
            kept: Vec::new(),
            ..record
        };
        assert_eq!(words(&by_rule).unwrap(), "The port is 4711.");
        assert_eq!((read_until(&by_rule), heading(Some(&by_rule))), (1, in_part));
    }

    #[test]
    fn what_rules_added_is_not_a_models() {
        assert_eq!(
            without_rules("## State\n- half is done\n\n## By rule\n- Never push."),
            "## State\n- half is done"
        );
        assert_eq!(without_rules("A paragraph."), "A paragraph.");
        // Another's words may follow.
        assert_eq!(
            without_rules("## State\n- one\n\n## By rule\n- Never push.\n\n## State\n- two"),
            "## State\n- one\n\n## State\n- two"
        );
    }
}
