//! Names and telling words: what conversations without tools are about.

use std::borrow::Cow;

use super::{
    Atom, AtomKind,
    scan::{unblanked, word_before},
    word_char,
};

/// Calls `each` with the capitalised names and the long lower-case words of `text`: names first, then words.
///
/// A name stands inside a sentence: after a lower-case letter or a comma, semicolon or colon and one blank.
pub fn scan_words<'t>(text: &'t str, mut each: impl FnMut(Atom<'t>)) {
    for (offset, piece) in unblanked(text) {
        names(piece, |start, end| {
            each(Atom { text: Cow::Borrowed(&piece[start..end]), kind: AtomKind::Name, at: offset + start });
        });
    }
    for (offset, piece) in unblanked(text) {
        words(piece, |start, end| {
            each(Atom { text: Cow::Borrowed(&piece[start..end]), kind: AtomKind::Word, at: offset + start });
        });
    }
}

fn names(text: &str, mut each: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 2;
    while at < bytes.len() {
        let leads = bytes[at].is_ascii_uppercase()
            && bytes[at - 1] == b' '
            && matches!(bytes[at - 2], b'a'..=b'z' | b',' | b';' | b':');
        let Some(mut end) = leads.then(|| capitalised(text, at, 3)).flatten() else {
            at += 1;
            continue;
        };
        while bytes.get(end) == Some(&b' ') {
            match capitalised(text, end + 1, 2) {
                Some(next) => end = next,
                None => break,
            }
        }
        each(at, end);
        at = end;
    }
}

/// Returns the end of a capitalised ASCII word of at least `least` letters that is a whole word.
fn capitalised(text: &str, start: usize, least: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let capital = bytes.get(start)?.is_ascii_uppercase();
    let mut end = start + 1;
    while bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
        end += 1;
    }
    (capital && end - start >= least && word_char(text, end).is_none()).then_some(end)
}

fn words(text: &str, mut each: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_lowercase() {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        if at - start >= 6 && !word_before(text, start) && word_char(text, at).is_none() {
            each(start, at);
        }
    }
}
