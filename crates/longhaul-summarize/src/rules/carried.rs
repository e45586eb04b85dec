//! Demands that the summary before knows, and what is said after it may take back.

use std::sync::Arc;

use longhaul_extract::{constraints, speaker::Speakers};
use longhaul_transcript::{Constraint, ContentHash, Entry, Message, MessageId};

/// Returns the `older` demands, those marked that a person takes back in `entries`, which come after them.
pub(super) fn marked(mut older: Vec<Constraint>, entries: &[Entry], speakers: &Speakers) -> Vec<Constraint> {
    let standing = older.iter().filter(|rule| rule.superseded_by.is_none());
    let mut read: Vec<Entry> = standing.map(said).collect();
    if read.is_empty() {
        return older;
    }
    read.extend_from_slice(entries);
    let known = constraints(&read, speakers);
    for rule in older.iter_mut().filter(|rule| rule.superseded_by.is_none()) {
        let same = known.iter().find(|known| known.message == rule.message && known.text == rule.text);
        rule.superseded_by = same.and_then(|known| known.superseded_by);
    }
    older
}

/// Returns the message in which a demand was said, as far as it is known.
fn said(rule: &Constraint) -> Entry {
    let message = Message::user(rule.text.clone());
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
            let marked = marked(older.to_vec(), entries, Speakers::builtin());
            marked.iter().map(|rule| rule.superseded_by).collect::<Vec<_>>()
        };
        assert_eq!(marks(&older, said.entries()), [Some(2), None, Some(1)]);
        assert_eq!(marks(&older, &said.entries()[..1]), [None, None, Some(1)]);
        assert!(marks(&[], said.entries()).is_empty());
    }
}
