//! Words of demand and of taking back, by language.
//!
//! The English ones are those of the constraint measure in `docs/recall.md` and its like; the others are their usual
//! counterparts. A marker of a script with blanks matches whole words.

use std::{cell::LazyCell, sync::LazyLock};

use hashbrown::HashMap;

mod words;

use words::{
    BEGINNINGS, CORRECTIONS, DEMANDS, FORBIDDING, FUNCTION_WORDS, LETTING_GO, LIFTING, PERMITTING, RULES,
    WIDE_BEGINNINGS, WIDE_CORRECTIONS, WIDE_DEMANDS, WIDE_FORBIDDING, WIDE_LETTING_GO, WIDE_PERMITTING,
    WIDE_RULES,
};

/// Returns whether `sentence` holds a word of demand.
pub(super) fn is_demand(sentence: &str) -> bool {
    holds(sentence, &DEMANDS_BY_FIRST_WORD, WIDE_DEMANDS)
}

/// Returns whether `sentence` holds a word of a rule that stands until it is taken back.
pub(super) fn is_rule(sentence: &str) -> bool {
    !sentence.ends_with(['?', '？']) && holds(sentence, &RULES_BY_FIRST_WORD, WIDE_RULES)
}

/// How a sentence takes something back, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revocation {
    /// It lets something go: forget, no longer.
    LetsGo,
    /// It puts something else in its place: actually, instead.
    Corrects,
    /// It says since when something holds: from now on.
    SetsAnew,
}

/// Returns how `sentence` takes something back or replaces it, where it does. That it asks not to forget something does neither.
pub(super) fn revocation(sentence: &str) -> Option<Revocation> {
    let kinds = [
        (Revocation::LetsGo, &LETTING_GO_BY_FIRST_WORD, WIDE_LETTING_GO),
        (Revocation::Corrects, &CORRECTIONS_BY_FIRST_WORD, WIDE_CORRECTIONS),
        (Revocation::SetsAnew, &BEGINNINGS_BY_FIRST_WORD, WIDE_BEGINNINGS),
    ];
    let bare = LazyCell::new(|| without_reminders(sentence));
    let is_one = |(_, markers, wide): &(Revocation, &LazyLock<Markers>, &[&str])| {
        holds(sentence, markers, wide) && holds(&bare, markers, wide)
    };
    kinds.iter().find(|kind| is_one(kind)).map(|(kind, ..)| *kind)
}

/// Returns whether `sentence` forbids something. That somebody does not mind something forbids nothing.
pub(super) fn forbids(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let bare = ["i don't", "i do not", "they don't", "they do not", "we don't"]
        .iter()
        .fold(lower, |text, words| text.replace(words, " "));
    let is_elided =
        |word: &str| word.strip_prefix("n'").is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    holds(&bare, &FORBIDDING_BY_FIRST_WORD, WIDE_FORBIDDING) || bare.split_whitespace().any(is_elided)
}

/// Returns whether `sentence` allows something.
pub(super) fn permits(sentence: &str) -> bool {
    holds(sentence, &PERMITTING_BY_FIRST_WORD, WIDE_PERMITTING)
}

/// Returns whether `sentence` lifts something that it may call by another name than what forbade it.
pub(super) fn lifts(sentence: &str) -> bool {
    holds(sentence, &LIFTING_BY_FIRST_WORD, &[])
}

fn without_reminders(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'");
    REMINDS.iter().fold(lower, |text, words| text.replace(words, " "))
}

/// How somebody asks not to forget something, or not to leave it aside.
const REMINDS: [&str; 15] = [
    "n't forget", "dont forget", "not forget", "not to forget", "never forget", "n't ignore", "not ignore",
    "never ignore", "vergiss nicht", "vergiss bitte nicht", "nicht vergessen", "n'oublie", "não esqueça",
    "не забудь", "别忘了",
];

/// Returns whether `word` says nothing about what a sentence is about.
pub(super) fn is_function_word(word: &str) -> bool {
    let word = word.to_lowercase();
    FUNCTION_WORDS.contains(&word.as_str()) || DEMANDS.iter().any(|markers| markers.contains(&word.as_str()))
}

fn holds(sentence: &str, markers: &Markers, wide: &[&str]) -> bool {
    if !sentence.is_ascii() && wide.iter().any(|marker| sentence.contains(marker)) {
        return true;
    }
    // One blank between words and one at the end: a marker is then a piece of text that begins with a word and ends
    // before a blank.
    let mut words = String::with_capacity(sentence.len() + 2);
    words.push(' ');
    for c in sentence.chars() {
        match c {
            '\'' | '’' => words.push('\''),
            c if c.is_ascii() => match c.is_ascii_alphanumeric() {
                true => words.push(c.to_ascii_lowercase()),
                false if words.ends_with(' ') => {}
                false => words.push(' '),
            },
            c if c.is_alphanumeric() => words.extend(c.to_lowercase()),
            _ if !words.ends_with(' ') => words.push(' '),
            _ => {}
        }
    }
    words.push(' ');
    words.match_indices([' ', '\'']).any(|(at, _)| {
        let rest = &words[at + 1..];
        // No marker has a longer word: what has none is not read to its end at each place where one may begin.
        let first =
            rest.bytes().take(LONGEST_WORD).position(|byte| byte == b' ').map_or("", |end| &rest[..end]);
        let begun = markers.get(first).map_or(&[][..], Vec::as_slice);
        begun.iter().any(|marker| rest.strip_prefix(marker).is_some_and(|after| after.starts_with(' ')))
    })
}

/// Bytes of the longest word of a marker, and a blank.
const LONGEST_WORD: usize = 32;

/// Markers by their first words.
type Markers = HashMap<&'static str, Vec<&'static str>>;

fn by_first_word(markers: &[&[&'static str]]) -> Markers {
    let mut by_first: Markers = HashMap::new();
    for marker in markers.iter().copied().flatten() {
        by_first.entry(marker.split(' ').next().unwrap_or_default()).or_default().push(marker);
    }
    by_first
}

static DEMANDS_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(DEMANDS));

static RULES_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(RULES));

static LETTING_GO_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(LETTING_GO));
static CORRECTIONS_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(CORRECTIONS));
static BEGINNINGS_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(BEGINNINGS));
static FORBIDDING_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(FORBIDDING));

static PERMITTING_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(PERMITTING));

static LIFTING_BY_FIRST_WORD: LazyLock<Markers> = LazyLock::new(|| by_first_word(LIFTING));
