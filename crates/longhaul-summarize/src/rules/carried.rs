//! What the summary before knows of demands and decisions, and what is said after it may take back.

use std::sync::Arc;

use longhaul_extract::{Decision, constraints, speaker::Speakers};
use longhaul_transcript::{Constraint, ContentHash, Entry, Message, MessageId};

use super::marks;
use crate::SummaryRequest;

/// Returns the `older` demands, those marked that a person takes back in `entries`, which come after them, and those of `entries` that are
/// demands only beside these: "you may push now".
pub(super) fn marked(
    mut older: Vec<Constraint>,
    entries: &[Entry],
    speakers: &Speakers,
) -> (Vec<Constraint>, Vec<Constraint>) {
    let standing = older.iter().filter(|rule| rule.superseded_by.is_none());
    let mut read: Vec<Entry> = standing.map(said).collect();
    if read.is_empty() {
        return (older, Vec::new());
    }
    read.extend_from_slice(entries);
    let known = constraints(&read, speakers);
    for rule in older.iter_mut().filter(|rule| rule.superseded_by.is_none()) {
        let same = known.iter().find(|known| is_same(known, rule));
        rule.superseded_by = same.and_then(|known| known.superseded_by);
    }
    let last = older.iter().map(|rule| rule.message).max().unwrap_or_default();
    let is_new = |rule: &Constraint| rule.message > last;
    let newer = known.into_iter().filter(|rule| is_new(rule) && !older.iter().any(|old| is_same(old, rule)));
    let newer = newer.collect();
    (older, newer)
}

/// Adds to `rules` those of `newer` that are not among them.
pub(super) fn add(rules: &mut Vec<Constraint>, newer: Vec<Constraint>) {
    for rule in newer {
        if !rules.iter().any(|known| is_same(known, &rule)) {
            rules.push(rule);
        }
    }
    rules.sort_by_key(|rule| rule.message);
}

fn is_same(one: &Constraint, other: &Constraint) -> bool {
    one.message == other.message && marks::without(&one.text) == marks::without(&other.text)
}

/// Returns what the summary before tells as decided, as said in the last message that it covers, where not all originals are at hand.
pub(super) fn decisions(request: &SummaryRequest<'_>) -> Vec<Decision> {
    let Some(before) = request.previous.filter(|_| !is_whole(request.entries)) else { return Vec::new() };
    let message = before.covers.end.saturating_sub(1);
    before.summary.decisions.iter().map(|text| Decision { text: text.clone(), message }).collect()
}

/// Returns whether these are all messages of a conversation.
pub(super) fn is_whole(entries: &[Entry]) -> bool {
    let ordinal = |entry: &Entry| entry.id.ordinal;
    let (first, last) = (entries.first().map_or(0, ordinal), entries.last().map_or(0, ordinal));
    first == 0 && last < entries.len() as u64
}

/// Returns the message in which a demand was said, as far as it is known.
fn said(rule: &Constraint) -> Entry {
    let message = Message::user(marks::without(&rule.text));
    let id = MessageId { ordinal: rule.message, hash: message.content_hash() };
    Entry { id, lineage: ContentHash([0; 32]), message: Arc::new(message) }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_a_person_takes_back_later_is_marked_in_what_was_known() {
        let rule =
            |message: u64, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let older = vec![
            rule(0, "Never touch the orders folder."),
            rule(1, "Never push to main."),
            Constraint { superseded_by: Some(1), ..rule(0, "Always use tabs.") },
        ];
        let said = transcript(
            "user: Go on.\nassistant: I do.\nuser: Forget the rule about the orders folder, you may touch it now.",
        );
        let marks = |older: &[Constraint], entries: &[Entry]| {
            let (marked, _) = marked(older.to_vec(), entries, Speakers::builtin());
            marked.iter().map(|rule| rule.superseded_by).collect::<Vec<_>>()
        };
        assert_eq!(marks(&older, said.entries()), [Some(2), None, Some(1)]);
        assert_eq!(marks(&older, &said.entries()[..1]), [None, None, Some(1)]);
        assert!(marks(&[], said.entries()).is_empty());
    }

    #[test]
    fn what_only_lifts_what_was_known_is_a_demand_beside_it() {
        let rule = Constraint { text: "Never push to main.".into(), message: 0, ..Constraint::default() };
        let said = transcript("user: Go on.\nassistant: I do.\nuser: OK, you may push to main now.");
        let (_, newer) = marked(vec![rule], said.entries(), Speakers::builtin());
        let newer: Vec<(u64, &str)> = newer.iter().map(|rule| (rule.message, &*rule.text)).collect();
        assert_eq!(newer, [(2, "OK, you may push to main now.")]);
    }
}
