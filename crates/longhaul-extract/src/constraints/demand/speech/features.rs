//! What a sentence is weighed by: its words, pairs of them, how it begins and ends, and whether it names something that can be looked for.

use std::fmt::Write as _;

use super::super::{Words, binds, phrases::INTERJECTIONS};
use crate::constraints::markers;

/// A word of a sentence as it is weighed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// In lower case.
    Plain(String),
    /// It has a digit in it.
    Number,
    /// A path, an address, a name with marks inside.
    Name,
    /// Something in backticks.
    Code,
    Mark(char),
}

impl Word {
    fn write(&self, to: &mut String) {
        match self {
            Word::Plain(word) => to.push_str(word),
            Word::Number => to.push('#'),
            Word::Name => to.push('@'),
            Word::Code => to.push('`'),
            Word::Mark(mark) => to.push(*mark),
        }
    }
}

/// Returns whether a text is a path and no more, maybe with a date in it: the name of a picture.
pub(super) fn is_a_path(text: &str) -> bool {
    let first = text.trim_start_matches(['\'', '"', '`']).split(' ').next().unwrap_or_default();
    let is_path = || first.matches('/').count() > 1;
    is_path() && words(text).0.iter().filter(|word| matches!(word, Word::Plain(_))).count() < 2
}

/// Calls `each` with every feature of a sentence.
pub fn features(sentence: &str, mut each: impl FnMut(&str)) {
    let (words, n_names) = words(without_speaker(sentence));
    let mut feature = String::new();
    let mut tell = |kind: &str, words: &[Word]| {
        feature.clear();
        feature.push_str(kind);
        for (nth, word) in words.iter().enumerate() {
            if nth > 0 {
                feature.push(' ');
            }
            word.write(&mut feature);
        }
        each(&feature);
    };
    tell("all", &[]);
    words.chunks(1).for_each(|word| tell("has ", word));
    words.windows(2).for_each(|pair| tell("has ", pair));
    let body = body(&words);
    for n in 1..=MOST_FIRST.min(body.len()) {
        tell("begins ", &body[..n]);
    }
    if let Some(last) = words.last() {
        tell("ends ", std::slice::from_ref(last));
    }
    if binds(sentence, &Words::of(sentence)) {
        tell(BINDS, &[]);
    }
    if markers::permits(sentence) {
        tell("permits", &[]);
    }
    let mut size = String::new();
    let _ = write!(size, "length {}", LENGTHS.iter().take_while(|most| words.len() > **most).count());
    tell(&size, &[]);
    size.clear();
    let _ = write!(size, "names {}", n_names.min(2));
    tell(&size, &[]);
}

/// The feature of a sentence in which a word forbids or obliges.
pub(super) const BINDS: &str = "binds";

/// So many words at its front are looked at together.
const MOST_FIRST: usize = 3;

/// Lengths of sentences that are told apart, in words.
const LENGTHS: [usize; 6] = [1, 2, 4, 7, 11, 17];

/// Returns what somebody says in the transcript of a talk: "Anna: we ship on Friday".
fn without_speaker(sentence: &str) -> &str {
    let is_name = |name: &str| {
        name.starts_with(char::is_uppercase)
            && name.split(' ').count() <= 2
            && name.chars().all(|c| c.is_alphabetic() || c == ' ')
    };
    match sentence.split_once(": ") {
        Some((name, said)) if is_name(name) && !said.is_empty() => said,
        _ => sentence,
    }
}

/// Returns the words behind those that only open a sentence.
fn body(words: &[Word]) -> &[Word] {
    let opens = |word: &Word| match word {
        Word::Plain(word) => OPENERS.iter().chain(INTERJECTIONS).any(|opener| opener.trim() == word),
        Word::Mark(_) => true,
        _ => false,
    };
    let n_opening = words.iter().take_while(|word| opens(word)).count();
    if n_opening < words.len() { &words[n_opening..] } else { words }
}

/// Words that only open a sentence.
const OPENERS: [&str; 24] = [
    "ok", "okay", "and", "but", "so", "also", "please", "pls", "plz", "btw", "now", "well", "yes", "yeah",
    "then", "just", "hey", "alright", "right", "hi", "again", "bitte", "und", "et",
];

/// Returns the words of a sentence, and how many of them name something.
fn words(sentence: &str) -> (Vec<Word>, usize) {
    let mut words = Vec::new();
    let mut n_names = 0;
    let mut rest = sentence;
    while let Some(first) = rest.chars().next() {
        if first == '`' {
            let inside = rest[1..].find('`').map_or(rest.len(), |end| end + 2);
            words.push(Word::Code);
            n_names += 1;
            rest = &rest[inside..];
        } else if is_of_word(first) {
            let ends = |c: char| is_alone(c) || !is_of_word(c) && !is_inside(c);
            let end = if is_alone(first) { first.len_utf8() } else { rest.find(ends).unwrap_or(rest.len()) };
            let word = rest[..end].trim_end_matches(|c: char| is_inside(c) && c != '+');
            let read = read(word);
            let is_name = match read {
                Word::Plain(_) => {
                    !words.is_empty() && first.is_uppercase() && word != "I" && !word.starts_with("I'")
                }
                _ => true,
            };
            n_names += usize::from(is_name);
            words.push(read);
            rest = &rest[word.len()..];
        } else {
            if MARKS.contains(first) {
                words.push(Word::Mark(first));
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    (words, n_names)
}

fn read(word: &str) -> Word {
    if word.contains(|c: char| c.is_ascii_digit()) {
        Word::Number
    } else if word.contains(['/', '_', '@', '.', ':', '#']) {
        Word::Name
    } else {
        Word::Plain(word.to_lowercase().replace('’', "'"))
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '#' || c == '@' || c == '/'
}

/// Stands inside of words, and not behind them.
fn is_inside(c: char) -> bool {
    matches!(c, '\'' | '’' | '-' | '.' | ':' | '%' | '+')
}

/// A sign of a script without blanks between words.
fn is_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Marks that tell something of a sentence.
const MARKS: &str = "?!,:;(？";

#[cfg(test)]
mod tests {
    use super::{features, is_a_path};

    #[test]
    fn words_of_a_script_without_blanks_stand_each_for_itself() {
        let mut all = Vec::new();
        features("8月にPythonで", |feature| all.push(feature.to_owned()));
        for known in ["has #", "has 月", "has に python", "has で", "begins # 月"] {
            assert!(all.iter().any(|feature| feature == known), "{known}: {all:?}");
        }
    }

    #[test]
    fn a_path_or_a_picture_tells_nothing_by_itself() {
        for path in ["'/tmp/shots/Screenshot 2025-03-04 at 10.11.12.png'", "/srv/app/a.rs:12"] {
            assert!(is_a_path(path), "{path}");
        }
        for tells in [
            "port 8080",
            "ports: 8080, 8443",
            "deadline 2025-03-04 17:00",
            "/srv/www/app is the root",
            "prefer `a` / `b`",
        ] {
            assert!(!is_a_path(tells), "{tells}");
        }
    }

    #[test]
    fn a_sentence_is_weighed_by_its_words_and_how_it_begins() {
        let mut all = Vec::new();
        features("ok, store `ids` in src/a.rs at 10!", |feature| all.push(feature.to_owned()));
        assert_eq!(
            all,
            [
                "all", "has ok", "has ,", "has store", "has `", "has in", "has @", "has at", "has #",
                "has !", "has ok ,", "has , store", "has store `", "has ` in", "has in @", "has @ at",
                "has at #", "has # !", "begins store", "begins store `", "begins store ` in", "ends !",
                "length 4", "names 2",
            ]
        );
    }
}
