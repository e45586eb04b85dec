//! Paths: how far one reaches, and which of the things that look like one are.

use std::borrow::Cow;

use super::{AtomKind, is_known_extension, word_char};

/// Returns the end of a path that starts at `start`, or `None` where none does.
///
/// A path is at least two components with a separator between them; a drive, `~`, dots and up to two slashes may lead.
pub(super) fn path_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let has_drive = bytes[start].is_ascii_alphabetic() && bytes.get(start + 1) == Some(&b':');
    has_drive.then(|| rooted_end(text, start + 2)).flatten().or_else(|| rooted_end(text, start))
}

/// Returns the end of the run of component characters at `start`, and whether a separator and another one follow.
pub(super) fn component(text: &str, start: usize) -> (usize, bool) {
    let end = component_end(text, start);
    (end, end > start && next_component(text, end).is_some())
}

/// Returns `raw` as it is known, and as what: `None` where it only looks like a path (a ratio, a date, an escape).
pub(super) fn classify(raw: &str) -> Option<(Cow<'_, str>, AtomKind)> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_some()
        && (raw.as_bytes().get(1) != Some(&b':'))
        && !is_windows(raw)
    {
        return None;
    }
    let path = normalize(raw);
    let last = memchr::memrchr(b'/', path.as_bytes()).map_or(&*path, |slash| &path[slash + 1..]);
    let dot = || memchr::memrchr(b'.', last.as_bytes());
    let has_extension = || dot().is_some_and(|dot| is_known_extension(&last[dot + 1..]));
    if last.len() == path.len() {
        return has_extension().then_some((path, AtomKind::File));
    }
    let is_good = path.starts_with(['/', '~'])
        || path.starts_with("../")
        || has_extension()
        || path.bytes().filter(|byte| *byte == b'/').count() >= 2
        || path.bytes().any(|byte| matches!(byte, b'_' | b'.' | b'0'..=b'9'));
    let is_numeric = path.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'/' | b'.' | b'-'));
    (is_good && !is_numeric).then_some((path, AtomKind::Path))
}

/// Backslashes without a drive are mostly escape sequences: only whole names with a known extension pass, and no slash
/// beside them (`START\nsrc/main.rs` is two lines).
fn is_windows(raw: &str) -> bool {
    if raw.contains('/') {
        return false;
    }
    let mut names = raw.split('\\').filter(|name| !name.is_empty());
    let long = names.clone().count() >= 2 && names.clone().all(|name| name.chars().nth(2).is_some());
    long && names
        .next_back()
        .and_then(|last| last.rsplit_once('.'))
        .is_some_and(|(_, ext)| is_known_extension(ext))
}

fn normalize(raw: &str) -> Cow<'_, str> {
    let trim = |path: &str| -> (usize, usize) {
        let mut start = 0;
        let end = path.trim_end_matches(['/', '.', ',', ':']).len();
        while path[start..end].starts_with("./") {
            start += 2;
        }
        (start, end)
    };
    if memchr::memchr(b'\\', raw.as_bytes()).is_some() {
        let path = raw.replace("\\\\", "/").replace('\\', "/");
        let (start, end) = trim(&path);
        Cow::Owned(path[start..end].to_string())
    } else {
        let (start, end) = trim(raw);
        Cow::Borrowed(&raw[start..end])
    }
}

fn rooted_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let after_slashes = |mut at: usize| {
        let limit = at + 2;
        while at < limit && matches!(bytes.get(at), Some(b'/' | b'\\')) {
            at += 1;
        }
        at
    };
    match bytes.get(start)? {
        b'~' => chain_end(text, after_slashes(start + 1)),
        b'.' => {
            let dots = 1 + usize::from(bytes.get(start + 1) == Some(&b'.'));
            chain_end(text, after_slashes(start + dots)).or_else(|| chain_end(text, start))
        }
        b'/' | b'\\' => {
            let after = after_slashes(start);
            chain_end(text, after)
        }
        _ => chain_end(text, start),
    }
}

/// Returns the end of two or more components from `start`, with the slash that may end them.
fn chain_end(text: &str, start: usize) -> Option<usize> {
    let mut end = component_end(text, start);
    if end == start {
        return None;
    }
    end = next_component(text, end)?;
    while let Some(next) = next_component(text, end) {
        end = next;
    }
    Some(end + usize::from(text.as_bytes().get(end) == Some(&b'/')))
}

/// Returns the end of the component after the separator at `at`.
fn next_component(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = match bytes.get(at)? {
        b'/' => at + 1,
        b'\\' if bytes.get(at + 1) == Some(&b'\\') => at + 2,
        b'\\' => at + 1,
        _ => return None,
    };
    let end = component_end(text, start);
    (end > start).then_some(end)
}

fn component_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if IN_COMPONENT[usize::from(byte)] {
            at += 1;
        } else if byte >= 0x80 {
            match word_char(text, at) {
                Some(length) => at += length,
                None => break,
            }
        } else {
            break;
        }
    }
    at
}

/// Which bytes of ASCII stand in a component.
const IN_COMPONENT: [bool; 256] = {
    let mut inside = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let one = byte as u8;
        inside[byte] = one.is_ascii_alphanumeric() || matches!(one, b'_' | b'.' | b'@' | b'+' | b'-');
        byte += 1;
    }
    inside
};
