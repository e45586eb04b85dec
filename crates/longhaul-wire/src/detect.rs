//! Telling a format from the first bytes.

use std::collections::BTreeSet;

use crate::{Format, json::Json};

/// Returns the format of a history that begins with `head`: the first few kilobytes will do.
///
/// Formats that share a shape are told apart by what they say: an array of `role` and `content` is Anthropic's where
/// it has blocks of Anthropic's kinds, else OpenAI's.
pub fn detect(head: &[u8]) -> Option<Format> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    match head.iter().find(|byte| !byte.is_ascii_whitespace())? {
        // The first line of a session file may be of a kind that says nothing.
        b'{' => surest(&Head::new(head)).or_else(|| later_lines(head)),
        b'[' => surest(&Head::new(head)),
        _ => None,
    }
}

/// How surely a history is of a format that claims it. The surest has it; of those that are equally sure, the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Nothing speaks against it.
    Left,
    /// It has what formats of this family have.
    Alike,
    /// It has what only histories of this shape have.
    Shape,
    /// It says so itself.
    Own,
}

/// The beginning of a history: an object, or an array of such.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    bytes: &'a [u8],
    is_array: bool,
    keys: BTreeSet<String>,
}

impl<'a> Head<'a> {
    fn new(bytes: &'a [u8]) -> Head<'a> {
        let is_array = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        Head { bytes, is_array, keys: keys(bytes) }
    }

    /// Returns whether it is an array, whose elements are spoken of as one.
    pub(crate) fn is_array(&self) -> bool {
        self.is_array
    }

    /// Returns whether it is an array without elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(b"[]")
    }

    /// Returns whether the object has this key, at this path: keys with dots between them, arrays left out.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.keys.contains(path)
    }

    /// Returns whether it has one of these keys.
    pub(crate) fn has_any(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.has(path))
    }

    /// Returns whether a key stands anywhere, at any depth.
    pub(crate) fn mentions(&self, key: &str) -> bool {
        self.values_of(key).next().is_some()
    }

    /// Returns whether an object of one of these types stands anywhere. Inside a string the quotes would be escaped.
    pub(crate) fn has_type(&self, kinds: &[&str]) -> bool {
        kinds.iter().any(|kind| self.has_value("type", kind))
    }

    /// Returns whether a field with this value stands anywhere.
    pub(crate) fn has_value(&self, key: &str, value: &str) -> bool {
        let value = format!("\"{value}\"");
        self.values_of(key).any(|text| text.starts_with(value.as_bytes()))
    }

    /// Returns the first line, where it is a JSON value with more behind it.
    pub(crate) fn first_line(&self) -> Option<Head<'a>> {
        let first = self.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_line = first.len() < self.bytes.len() && Json::check(first).is_ok();
        is_line.then(|| Head::new(first))
    }

    /// Returns what stands behind a key and its colon wherever it stands, with what follows; writers differ in the white space there.
    fn values_of(&self, key: &str) -> impl Iterator<Item = &'a [u8]> {
        let key = memchr::memmem::Finder::new(&format!("\"{key}\"")).into_owned();
        let mut rest = self.bytes;
        let next = move || {
            rest = &rest[key.find(rest)? + key.needle().len()..];
            Some(rest)
        };
        std::iter::from_fn(next)
            .filter_map(|behind| Some(behind.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start()))
    }
}

fn surest(head: &Head<'_>) -> Option<Format> {
    let mut surest: Option<(Claim, Format)> = None;
    for format in Format::ALL {
        let claim = (format.spec().claims)(head).map(|claim| (claim, format));
        surest = match (surest, claim) {
            (Some((best, _)), Some((claim, _))) if claim <= best => surest,
            (_, None) => surest,
            (_, claim) => claim,
        };
    }
    surest.map(|(_, format)| format)
}

fn later_lines(bytes: &[u8]) -> Option<Format> {
    const LINES: usize = 50;
    let mut lines = bytes.split(|byte| *byte == b'\n').take(LINES);
    let is_line = lines.next().is_some_and(|first| Json::check(first).is_ok());
    let heads = lines.filter(|_| is_line).map(Head::new).filter(|head| !head.is_array());
    heads.filter_map(|head| surest(&head)).next()
}

/// Returns the keys of the first value and of what stands directly inside it, as far as the text goes, as paths: keys with
/// dots between them, arrays left out.
fn keys(bytes: &[u8]) -> BTreeSet<String> {
    /// A list, its messages and their parts.
    const DEPTH: usize = 3;
    let mut keys = BTreeSet::new();
    // What is open: an object with the key that was read last, or an array.
    let mut open: Vec<Option<&[u8]>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = start;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                let after = bytes.get(at + 1..).unwrap_or_default();
                let is_key = after.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                if let (true, Some(Some(key))) = (is_key, open.last_mut()) {
                    *key = &bytes[start..at];
                    let path: Vec<_> = open.iter().flatten().take(DEPTH + 1).collect();
                    if path.len() <= DEPTH {
                        let path: Vec<_> = path.iter().map(|key| String::from_utf8_lossy(key)).collect();
                        keys.insert(path.join("."));
                    }
                }
            }
            b'{' => open.push(Some(b"")),
            b'[' => open.push(None),
            b'}' | b']' => {
                open.pop();
                if open.is_empty() {
                    break;
                }
            }
            _ => {}
        }
        at += 1;
    }
    keys
}
