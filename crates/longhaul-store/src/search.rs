//! Words: how originals are found again.

use std::collections::HashSet;

use longhaul_transcript::Message;

use crate::{Query, readable::readable};

/// Returns the words of `text` in lower case, in order, repetitions included. A word is a run of letters and digits, of a
/// longer one the first 64 bytes; a character of a script without spaces is a word of its own. Nothing else of a query has a
/// meaning.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(split_run)
}

/// Returns the words of a message, each once, separated by spaces.
pub(crate) fn words_of(message: &Message) -> String {
    let mut seen = HashSet::new();
    let mut out = String::new();
    for text in readable(message) {
        each_word(text, |word| {
            if !seen.contains(word) {
                seen.insert(word.to_owned());
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(word);
            }
            true
        });
    }
    out
}

/// Hands over the words of `text`, as [`words`] makes them, until `take` returns false. Most are plain ASCII, and need no
/// memory of their own.
pub(crate) fn each_word(text: &str, mut take: impl FnMut(&str) -> bool) {
    each_word_at(text, |_, _, word| take(word));
}

/// The same with where each stands and how long it is there, in bytes.
pub(crate) fn each_word_at(text: &str, mut take: impl FnMut(usize, usize, &str) -> bool) {
    let base = text.as_ptr() as usize;
    let mut word = String::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let at = run.as_ptr() as usize - base;
        let goes_on = if run.is_ascii() {
            word.clear();
            word.push_str(&run[..run.len().min(LONGEST_WORD)]);
            word.make_ascii_lowercase();
            take(at, run.len(), &word)
        } else {
            let words = split_run_at(run);
            let ends = words.iter().skip(1).map(|(next, _)| *next).chain([run.len()]);
            words.iter().zip(ends).all(|((from, word), end)| take(at + from, end - from, word))
        };
        if !goes_on {
            return;
        }
    }
}

/// Returns whether each of `words` is a word of the message.
#[cfg(feature = "sqlite")]
pub(crate) fn holds(message: &Message, words: &[String]) -> bool {
    use crate::readable_text;
    let mut missing: Vec<&String> = words.iter().collect();
    each_word(&readable_text(message), |word| {
        missing.retain(|missing| *missing != word);
        !missing.is_empty()
    });
    missing.is_empty()
}

/// Returns whether a message with each of `words` may be in `json`: never false where it is, often where it is not.
#[cfg(feature = "sqlite")]
pub(crate) fn may_hold(json: &[u8], words: &[String]) -> bool {
    let Ok(text) = std::str::from_utf8(json) else { return false };
    let lower = lower(text);
    words.iter().all(|word| lower.contains(word.as_str()))
}

/// Returns `text` in lower case, letter by letter as words are made: `str::to_lowercase` looks at a letter's neighbours.
pub(crate) fn lower(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.chars().flat_map(char::to_lowercase).collect(),
    }
}

/// Returns a line of `text` around the place that answers `query` best.
pub(crate) fn snippet(text: &str, query: &Query) -> String {
    let at = query.place_in(text).unwrap_or_default();
    let start = text.floor_char_boundary(at.saturating_sub(SNIPPET_BEFORE));
    let end = text.ceil_char_boundary((at + SNIPPET_AFTER).min(text.len()));
    let line: String =
        text[start..end].chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c }).collect();
    line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn split_run(run: &str) -> impl Iterator<Item = String> {
    split_run_at(run).into_iter().map(|(_, word)| word)
}

/// Returns the words of a run of letters and digits, each with where it begins.
fn split_run_at(run: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (at, c) in run.char_indices() {
        let is_own = is_without_spaces(c);
        match words.last_mut() {
            Some((_, word)) if is_open && !is_own && word.len() < LONGEST_WORD => {
                word.extend(c.to_lowercase())
            }
            // The rest of an endless run (base64, a minified file) says nothing a person would search for.
            Some((_, word)) if is_open && !is_own && word.len() >= LONGEST_WORD => break,
            _ => words.push((at, c.to_lowercase().collect())),
        }
        is_open = !is_own;
    }
    words
}

/// Scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan.
pub(crate) fn is_without_spaces(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// The longest word that is kept whole, in bytes. A SHA-256 has 64 digits.
const LONGEST_WORD: usize = 64;

/// What a snippet shows before and after the place, in bytes.
const SNIPPET_BEFORE: usize = 60;
const SNIPPET_AFTER: usize = 140;

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::Message;

    fn of(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(of("Fix src/lib.rs:42, E0277!"), ["fix", "src", "lib", "rs", "42", "e0277"]);
        assert_eq!(of("読む file"), ["読", "む", "file"]);
        assert_eq!(of("ÄÖ straße"), ["äö", "straße"]);
        assert!(of("\"*^-:() \0").is_empty());
        assert_eq!(of(&"a".repeat(1000)), ["a".repeat(64)]);
    }

    proptest::proptest! {
        #[test]
        fn each_word_is_one_of_the_words(text in "([a-zA-Z0-9]{0,70}|[ \\n.-]|[äΣßİK漢ไ]){0,20}") {
            let mut each = Vec::new();
            each_word(&text, |word| { each.push(word.to_owned()); true });
            proptest::prop_assert_eq!(each, of(&text));
        }
    }

    #[test]
    fn each_word_of_a_message_counts_once() {
        assert_eq!(words_of(&Message::user("a b A c-b")), "a b c");
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_message_holds_words_and_not_parts_of_words() {
        let message = Message::user("\"Straße\"\tfünf\nΣΟΦΟΣ src/lib.rs 読む");
        let json = serde_json::to_vec(&message).unwrap();
        let query = |text: &str| words(text).collect::<Vec<String>>();
        for held in ["STRASSE".replace("SS", "ß").as_str(), "fünf σοφοσ", "rs lib src", "読", ""] {
            assert!(may_hold(&json, &query(held)), "{held}");
            assert!(held.is_empty() || holds(&message, &query(held)), "{held}");
        }
        for part in ["tfünf", "stra", "src libs", "fünf sechs"] {
            assert!(!holds(&message, &query(part)), "{part}");
        }
        assert!(!may_hold(&json, &query("nowhere")));
    }

    #[test]
    fn a_snippet_is_one_line_around_the_place() {
        let text = format!("{} the panic\nis \u{1b}[31mhere {}", "x ".repeat(200), "y ".repeat(200));
        let line = snippet(&text, &Query::new("PANIC is"));
        assert!(line.contains("the panic is [31mhere"), "{line}");
        assert!(line.len() <= SNIPPET_BEFORE + SNIPPET_AFTER);
        assert_eq!(snippet("é漢", &Query::new("nothing")), "é漢");
    }
}
