//! The words behind a mark: one that names a message of which nothing is told says nothing.

use std::collections::BTreeMap;

use longhaul_transcript::{Constraint, Entry, one_line};

use super::overtaken::Overtaken;

/// What persons say in the messages that marks may name, where no message that stays shows it.
#[derive(Debug, Default)]
pub(crate) struct Marks(BTreeMap<u64, String>);

impl Marks {
    /// Reads what took the place of something, the `rules`, and the short messages of `persons`.
    pub(super) fn new(
        overtaken: &Overtaken,
        rules: &[Constraint],
        persons: &[(u64, &str)],
        kept: &[Entry],
    ) -> Marks {
        let newer = overtaken.newer().map(|by| (by.message, &*by.text));
        let rules = rules.iter().map(|rule| (rule.message, &*rule.text));
        let mut words: BTreeMap<u64, String> = BTreeMap::new();
        for (message, text) in newer.chain(rules).chain(persons.iter().copied()) {
            let text = text.trim();
            if text.len() <= LONGEST {
                words.entry(message).or_insert_with(|| one_line(text).into_owned());
            }
        }
        kept.iter().for_each(|entry| drop(words.remove(&entry.id.ordinal)));
        Marks(words)
    }

    /// Returns `text` with the words of what its marks name, each where the first names it and nothing else tells it.
    pub(crate) fn with_words(&self, mut text: String) -> String {
        let mut from = 0;
        while let Some((start, end)) = next_mark(&text, from) {
            from = end;
            let words = text[start..end].parse().ok().and_then(|message| self.0.get(&message));
            let Some(words) = words.filter(|words| !text.contains(&***words)) else { continue };
            let words = format!(" \"{words}\"");
            text.insert_str(end, &words);
            from = end + words.len();
        }
        text
    }
}

/// Returns `text` in which marks tell the words of what they name, and no handle: those that they have, or those of `said`.
pub(super) fn in_words<'s>(text: &str, said: impl Fn(u64) -> Option<&'s str>) -> String {
    let mut text = text.to_owned();
    let mut from = 0;
    while let Some((start, end)) = next_mark(&text, from) {
        from = end;
        let has_words = text[end..].starts_with(" \"");
        let words = text[start..end].parse().ok().and_then(&said).map(|said| format!("{LATER}\"{said}\""));
        let words = if has_words { Some(format!("{LATER}\"")) } else { words };
        let Some(words) = words else { continue };
        let begins = MARKS.iter().find_map(|mark| text[..start].strip_suffix(mark).map(str::len));
        let begins = begins.unwrap_or(start);
        let bracket = if text[begins..].starts_with(MARKS[0]) { " (" } else { "" };
        let behind = if has_words { end + " \"".len() } else { end };
        text.replace_range(begins..behind, &format!("{bracket}{words}"));
        from = begins + bracket.len() + words.len();
    }
    text
}

/// Returns `text` without the marks at its end.
pub(super) fn without(text: &str) -> String {
    let mut left = text;
    while let Some(at) = MARKS_AT_END.iter().filter_map(|mark| left.rfind(mark)).max() {
        let mark = &left[at..];
        // Behind one inside of a text that goes on, something else ends in a bracket.
        let is_at_end = mark.find(')').is_some_and(|end| end + 1 == mark.len()) || mark.ends_with("\")");
        if !is_at_end {
            break;
        }
        left = &left[..at];
    }
    left.to_owned()
}

/// Returns where the number of the next message stands that a mark names.
fn next_mark(text: &str, from: usize) -> Option<(usize, usize)> {
    let found = MARKS.iter().filter_map(|mark| Some(text[from..].find(mark)? + from + mark.len()));
    let start = found.min()?;
    let n_digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    Some((start, start + n_digits))
}

/// How a mark begins that names what holds in the place of what it stands behind.
const MARKS: [&str; 2] = [" (taken back in m", "later on this: m"];

/// What a mark begins with that stands at the end of a line.
const MARKS_AT_END: [&str; 2] = [" (taken back in m", " (later on this: "];

/// What a mark tells by.
const LATER: &str = "later on this: ";

/// Bytes of the longest words that are told behind a mark.
const LONGEST: usize = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_the_words_of_a_message_that_nothing_else_tells() {
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let rules = [said(7, "Our port is 9090 now."), said(9, "You may push the docs.")];
        let marks = Marks::new(&Overtaken::default(), &rules, &[(11, "It is mauve now.")], &[]);
        let told = "m3 Our port is 8080. (later on this: m7)\nm4 Never push. (taken back in m9)\n- m9: You may push the docs.\nm5 It is teal. (taken back in m2; later on this: m11)\nm6 The port! (later on this: m7)";
        let with = "m3 Our port is 8080. (later on this: m7 \"Our port is 9090 now.\")\nm4 Never push. (taken back in m9)\n- m9: You may push the docs.\nm5 It is teal. (taken back in m2; later on this: m11 \"It is mauve now.\")\nm6 The port! (later on this: m7)";
        assert_eq!(marks.with_words(told.into()), with);
    }

    #[test]
    fn what_marks_name_is_told_in_words_where_handles_are_of_another_history() {
        let said = |message| (message == 7).then_some("Our port is 9090 now.");
        for (told, in_words) in [
            (
                "m3 Our port is 8080. (later on this: m7)",
                "m3 Our port is 8080. (later on this: \"Our port is 9090 now.\")",
            ),
            (
                "m3 It is teal. (taken back in m7)",
                "m3 It is teal. (later on this: \"Our port is 9090 now.\")",
            ),
            (
                "m3 It is teal. (later on this: m9 \"It is mauve.\")",
                "m3 It is teal. (later on this: \"It is mauve.\")",
            ),
            ("m3 It is teal. (later on this: m9)", "m3 It is teal. (later on this: m9)"),
            (
                "m3 It is teal. (later on this: \"x\") (later on this: m9)",
                "m3 It is teal. (later on this: \"x\") (later on this: m9)",
            ),
        ] {
            assert_eq!(super::in_words(told, said), in_words);
            assert_eq!(without(in_words), told.split(" (").next().unwrap());
        }
        let goes_on = "Do it (taken back in m3), then call foo()";
        assert_eq!(without(goes_on), goes_on);
    }
}
