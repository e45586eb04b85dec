//! What a person marks as worth remembering, in whatever words: `Rule: …`, `Important: …`, `Remember: …`.

use longhaul_extract::{
    demand_kind, settles,
    speaker::{Segment, Speakers},
};
use longhaul_transcript::{Entry, Role};

/// Returns the lines that persons mark so, oldest first, each with the ordinal of its message.
pub(crate) fn lines(entries: &[Entry], speakers: &Speakers) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| entry.message.role == Role::User) {
        // In a plan labels are headings; only what a person says in words of their own is marked by them.
        let of_persons = |piece: &&Segment<'_>| piece.is_persons() && piece.inner.is_none();
        for piece in speakers.segments(&entry.message).iter().filter(of_persons) {
            let lines: Vec<&str> =
                piece.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let is_note = |line: &str| is_marked(line) && !labels_a_choice(line);
            let marked: Vec<usize> = (0..lines.len()).filter(|at| is_note(lines[*at])).collect();
            let n_headings = lines.iter().filter(|line| line.starts_with('#')).count();
            // In a page of notes every line has a label: what a person marks stands before it or behind it.
            let is_page = n_headings > MOST_HEADINGS || marked.len() > MOST_MARKED;
            let is_edge = |at: &usize| *at < EDGE || *at + EDGE >= lines.len();
            let marked = marked.into_iter().filter(|at| !is_page || is_edge(at));
            found.extend(marked.map(|at| (entry.id.ordinal, lines[at].to_owned())));
        }
    }
    found
}

/// With more headings than these a text is a page.
const MOST_HEADINGS: usize = 2;

/// With more marked lines than these too.
const MOST_MARKED: usize = 12;

/// Lines at the beginning and at the end of a page that may be said of it.
const EDGE: usize = 2;

/// Returns whether `line` begins with a label of one to three words and a colon, and says something after it.
pub(crate) fn is_marked(line: &str) -> bool {
    let line = line.trim_start_matches(['-', '*', '•', '#', ' ']);
    let Some((label, rest)) = line.split_once([':', '：']) else { return false };
    let label = label.trim_end_matches('*');
    let words = label.split_whitespace().count();
    let is_label = (1..=3).contains(&words)
        && label.chars().count() <= LONGEST_LABEL
        && label.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '\'' | '-'))
        && label.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
    let said = rest.trim_start_matches('*').trim();
    let describes = DESCRIBES.contains(&label.trim().to_lowercase().as_str());
    is_label && !describes && said.chars().count() >= 4 && line.len() <= LONGEST && !rest.starts_with("//")
}

/// Returns whether the label of a line says that something is chosen ("Change of plan: …"): that is a decision, and told as one.
fn labels_a_choice(line: &str) -> bool {
    let label = line.split([':', '：']).next().unwrap_or_default();
    settles(label.trim_matches(|c: char| !c.is_alphanumeric())) && demand_kind(line).is_none()
}

/// Labels under which a text says what it is about, not what holds.
const DESCRIBES: [&str; 30] = [
    "file", "files", "path", "paths", "location", "line", "lines", "add", "remove", "change", "changes",
    "update", "type", "types", "function", "component", "class", "module", "title", "name", "severity",
    "description", "summary", "example", "examples", "output", "code", "before", "after", "imports",
];

/// Characters of the longest label.
const LONGEST_LABEL: usize = 28;

/// Bytes of the longest line that is a note; longer ones are paragraphs.
const LONGEST: usize = 600;

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn of_a_page_of_notes_only_the_edges_mark_anything() {
        let notes: String = (0..40).map(|nth| format!("Entry: the relay waited {nth} seconds\n")).collect();
        let chapters: String =
            (0..4).map(|nth| format!("# Chapter {nth}\n\nHost: relay-{nth}\n\n")).collect();
        for page in [notes, chapters] {
            let text = format!("Deadline: the fourth of May\n\n{page}\nTarget: all twelve tests pass");
            let said: Transcript = [Message::user(text)].into_iter().collect();
            let found = lines(said.entries(), Speakers::builtin());
            let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts.first(), Some(&"Deadline: the fourth of May"));
            assert_eq!(texts.last(), Some(&"Target: all twelve tests pass"));
            assert!(texts.len() <= 2 * EDGE, "{texts:?}");
        }
    }

    #[test]
    fn who_says_what_is_chosen_marks_nothing() {
        let said = |text: &str| -> Transcript { [Message::user(text)].into_iter().collect() };
        let n_marked = |text: &str| lines(said(text).entries(), Speakers::builtin()).len();
        assert_eq!(n_marked("Change of plan: the lathe instead of the mill for the door."), 0);
        assert_eq!(n_marked("Change of plan: never push to the old remote."), 1);
        assert_eq!(n_marked("Deadline: the fourth of May"), 1);
    }

    #[test]
    fn labels_are_told_from_other_colons() {
        for line in [
            "Rule: never push on Fridays",
            "Important: the demo is on May 3",
            "**Remember**: the port is 5433",
            "- Goal state: all 12 tests pass",
            "Wichtig: keine neuen Abhängigkeiten",
            "規則：公開しないこと",
        ] {
            assert!(is_marked(line), "{line}");
        }
        for line in [
            "https://example.org/x",
            "I looked at it and found this: it is broken",
            "src/main.rs:12: error",
            "Next:",
            "then: go on with it",
            "**File**: `src/relay/queue.rs`",
            "**Add**: `phase: idle | busy`, two of them",
        ] {
            assert!(!is_marked(line), "{line}");
        }
    }
}
