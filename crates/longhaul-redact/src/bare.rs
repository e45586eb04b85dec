//! What is a secret in an answer that may tell one: a word that stands in a line of its own.

use std::ops::Range;

use crate::{
    asked::Ask,
    asking::{TABLE, Table},
    json::{Places, is_of_objects, string_values, unescaped},
    vault::PLACEHOLDER,
    words::{is_drawn, takes_turns},
};

/// Returns where the secrets of an answer are, in order and apart.
pub(crate) fn bare_secrets(text: &str, ask: Ask) -> Vec<Range<usize>> {
    let table = &*TABLE;
    if !is_of_objects(text) {
        return in_lines(table, text, ask);
    }
    let mut found = Vec::new();
    for (key, value) in string_values(text) {
        if !table.answer_fields.contains(key) {
            continue;
        }
        let raw = &text[value.clone()];
        let mut places = Places::of(raw);
        found.extend(in_lines(table, &unescaped(raw), ask).into_iter().map(|span| {
            let start = places.place(span.start);
            value.start + start..value.start + places.place(span.end)
        }));
    }
    found
}

fn in_lines(table: &Table, text: &str, ask: Ask) -> Vec<Range<usize>> {
    let place = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        start..start + part.len()
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !table.around.is_match(line.trim()))
        .map(within)
        .filter(|line| !line.is_empty() && !table.around.is_match(line))
        .collect();
    let lines: Vec<&str> = lines.into_iter().map(|line| behind_label(table, line)).collect();
    let is_alone = lines.len() == 1;
    // Of an entry of a password store the first line is the password.
    let has_fields = lines.len() > 1 && lines[1..].iter().all(|line| named(line).is_some());
    let is_list = ask == Ask::Printed
        && lines.iter().all(|line| is_word(line) && named(line).is_none() && !is_harmless(table, line));
    let is_chosen = |word: &str, is_first: bool| match ask {
        Ask::Decoded => is_alone && word.len() >= SHORTEST_DECODED && is_mixed(word),
        Ask::Printed => is_alone || is_list || has_fields && is_first,
        Ask::PrintedAmong | Ask::Question => is_alone,
    };
    let is_secret = |word: &str, is_first| !is_harmless(table, word) && is_chosen(word, is_first);
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.contains(PLACEHOLDER) {
            continue;
        }
        if ask == Ask::Question {
            let told = table.answered.captures_iter(line).filter_map(|told| told.get(1));
            found.extend(told.map(|told| told.as_str()).filter(|told| !is_harmless(table, told)).map(place));
        }
        let (name, value) = named(line).unwrap_or(("", line));
        if is_word(value) {
            let is_told = is_word(line) && is_secret(value, at == 0 && name.is_empty());
            let is_drawn = || !table.plain.is_match(name) && looks_drawn(table, value);
            found.extend((is_told || is_drawn()).then(|| place(value)));
        } else if ask == Ask::Printed && is_row(value) {
            found.extend(value.split_whitespace().map(place));
        }
    }
    found.sort_by_key(|span| (span.start, usize::MAX - span.end));
    found.dedup_by(|next, before| next.start < before.end);
    found
}

/// Returns whether a word is none. Base64 may have the form of a path.
fn is_harmless(table: &Table, word: &str) -> bool {
    table.harmless.is_match(word) && !is_base64(word)
}

/// Returns whether a word of the letters of base64 has a stroke and is drawn all the same.
fn is_base64(word: &str) -> bool {
    let has = |of: fn(u8) -> bool| word.bytes().any(of);
    let is_of_base64 =
        word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    let is_mixed = has(|byte| byte.is_ascii_uppercase()) && has(|byte| byte.is_ascii_lowercase());
    let drawn = |part: &str| part.len() >= SHORTEST_DECODED && is_drawn(part.as_bytes());
    let is_long = word.len() >= SHORTEST_DRAWN && word.len().is_multiple_of(4);
    is_long && is_of_base64 && is_mixed && word.contains('/') && word.split('/').any(drawn)
}

/// Returns the name and the value of a line that has both. Base64 ends in signs, too.
fn named(line: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 40;
    let (name, value) = line.split_once([':', '='])?;
    let is_name = name.len() <= LONGEST
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _.-()".contains(&byte));
    let value = within(value.trim_start());
    (is_name && !value.trim_matches('=').is_empty()).then_some((name, value))
}

/// Returns whether a line is several drawn words side by side, as a generator of passwords prints.
fn is_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_even = words.iter().all(|word| word.len() == words[0].len() && is_mixed(word));
    words.len() > 1 && words[0].len() >= SHORTEST_DECODED && is_even
}

/// Returns whether a word has letters and digits or signs.
fn is_mixed(word: &str) -> bool {
    let has = |of: fn(&u8) -> bool| word.bytes().any(|byte| of(&byte));
    has(u8::is_ascii_alphabetic) && (has(u8::is_ascii_digit) || has(|byte| b"!#$%^&*+@".contains(byte)))
}

/// Returns a line without what tools put before it, and without tags and quotes around it.
fn within(line: &str) -> &str {
    let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < line.trim_start().len();
    let numbered = digits.strip_prefix(['→', '\t']).filter(|_| is_numbered);
    let mut line = numbered.unwrap_or(line).trim();
    loop {
        let tag = |inside: &str| {
            !inside.is_empty()
                && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte))
        };
        let opened =
            line.strip_prefix('<').and_then(|rest| rest.split_once('>')).filter(|(name, _)| tag(name));
        if let Some((_, rest)) = opened {
            line = rest.trim();
            continue;
        }
        let ended =
            line.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")).filter(|(_, name)| tag(name));
        if let Some((rest, _)) = ended {
            line = rest.trim();
            continue;
        }
        let inside = ['"', '\'', '`'].into_iter().find_map(|quote| {
            let bare = line.strip_prefix('b').filter(|rest| rest.starts_with(['\'', '"'])).unwrap_or(line);
            bare.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.contains(quote))
        });
        match inside {
            Some(inside) => line = inside,
            None => return line,
        }
    }
}

fn behind_label<'a>(table: &Table, line: &'a str) -> &'a str {
    let label = table.before.find(line).map_or(0, |found| found.end());
    match &line[label..] {
        rest if is_word(rest) => rest,
        _ => line,
    }
}

fn is_word(line: &str) -> bool {
    !line.is_empty() && !line.contains(char::is_whitespace)
}

/// Returns whether a word is one that nobody would choose, and no id.
fn looks_drawn(table: &Table, word: &str) -> bool {
    let looks_like_path =
        word.starts_with(['/', '~', '.']) || word.matches('/').count() > 2 && !word.contains(['+', '=']);
    let is_path = looks_like_path && !is_base64(word);
    let is_uuid = word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let is_drawn = || is_drawn(word.as_bytes()) || takes_turns(word.as_bytes());
    word.len() >= SHORTEST_DRAWN && !is_path && !is_uuid && !is_harmless(table, word) && is_drawn()
}

/// A shorter word is drawn by chance, in bytes.
const SHORTEST_DRAWN: usize = 12;

/// A shorter word that was decoded, or stands in a row, may be anything, in bytes.
const SHORTEST_DECODED: usize = 8;
