//! What is said in words of one's own, and whether it asks for something.

use longhaul_extract::speaker::Speakers;
use longhaul_transcript::{Entry, Message, Role};

/// Whether a message says what is wanted: two words or more beside those of greeting and agreeing, or ten letters of a
/// script without blanks.
pub(crate) fn is_substantial(text: &str) -> bool {
    telling_words(text).nth(1).is_some() || wide_letters(text) >= 10
}

/// Whether a message asks for something, in however few words: one beside those of greeting and agreeing.
pub(crate) fn asks_something(text: &str) -> bool {
    telling_words(text).next().is_some()
}

fn telling_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !PHATIC.contains(&word.as_str()))
}

fn wide_letters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()).count()
}

/// Words that say no more than hello, yes, thanks or go on.
const PHATIC: [&str; 44] = [
    "hi", "hello", "hey", "there", "good", "morning", "yes", "yeah", "yep", "ok", "okay", "sure", "right",
    "alright", "great", "perfect", "nice", "cool", "fine", "thanks", "thank", "you", "please", "go", "ahead",
    "on", "continue", "proceed", "do", "it", "that", "this", "so", "and", "now", "the", "a", "i", "lgtm",
    "sounds", "looks", "let's", "no", "well",
];

/// Returns the last thing the assistant said in words.
pub(crate) fn last_words<'e>(entries: &'e [Entry], speakers: &Speakers) -> Option<(&'e Entry, &'e str)> {
    let said = entries.iter().rev().filter(|entry| entry.message.role == Role::Assistant);
    said.into_iter().find_map(|entry| Some((entry, own_text(&entry.message, speakers)?)))
}

/// Returns the first text of `message` that a person or the model wrote.
pub(crate) fn own_text<'m>(message: &'m Message, speakers: &Speakers) -> Option<&'m str> {
    match message.role {
        Role::User => speakers.sent(message),
        _ => message.texts().map(str::trim).find(|text| !text.is_empty()),
    }
}

/// Returns the last line of `text` that says something.
pub(super) fn last_line(text: &str) -> Option<&str> {
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| asks_something(line) && line.chars().any(char::is_alphabetic))
}
