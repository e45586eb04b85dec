//! What a session says of itself whose file is read as a history: those of agents whose sessions are only read.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use longhaul::wire::{self, Document, Format};

use super::about::{HEAD, title_of, whole_lines};
use crate::opencode;

/// So many messages of a session are read where they stand apart.
const FIRST: usize = 4;

/// Reads the history at `path`.
pub(super) fn read(path: &Path, format: Format) -> io::Result<Document> {
    read_at_most(path, format, None)
}

/// Reads the beginning of the history at `path`: as much of it as its first request stands in, which is seldom much.
pub(super) fn read_beginning(path: &Path, format: Format) -> io::Result<Document> {
    match read_at_most(path, format, Some(HEAD / 16)) {
        Ok(document) if title_of(&document).is_some() => Ok(document),
        _ => read_at_most(path, format, Some(HEAD)),
    }
}

fn read_at_most(path: &Path, format: Format, most: Option<u64>) -> io::Result<Document> {
    // The first request stands among the first messages.
    if let Some(session) = opencode::exported(path, most.map(|_| FIRST)) {
        let session = session.map_err(io::Error::other)?;
        return wire::read(Some(format), &session[..]).map_err(io::Error::other);
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path)?;
    let most = most.filter(|most| file.metadata().is_ok_and(|metadata| metadata.len() > *most));
    match most {
        Some(most) => file.take(most).read_to_end(&mut bytes)?,
        None => file.read_to_end(&mut bytes)?,
    };
    if most.is_some() {
        bytes = closed(&bytes).unwrap_or_else(|| whole_lines(&bytes, false).to_vec());
    }
    wire::read(Some(format), &bytes[..]).map_err(io::Error::other)
}

/// Returns the beginning of one JSON value as a value of its own: up to the last whole element of its list of messages, with what
/// is open closed. `None` where it has no such list.
fn closed(head: &[u8]) -> Option<Vec<u8>> {
    /// A list, or an object with a list in it.
    const DEPTH: usize = 2;
    let (mut open, mut at, mut end) = (Vec::new(), 0, None);
    while let Some(byte) = head.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = head.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
                // More behind it: a value a line.
                if open.is_empty() {
                    return None;
                }
            }
            b',' if open.last() == Some(&b']') && open.len() <= DEPTH => end = Some((at, open.clone())),
            _ => {}
        }
        at += 1;
    }
    let (end, open) = end?;
    Some(head[..end].iter().copied().chain(open.into_iter().rev()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_becomes_a_value_of_its_own() {
        let closed = |head: &str| closed(head.as_bytes()).map(|value| String::from_utf8(value).unwrap());
        assert_eq!(
            closed(r#"[{"a":[1,2]},{"b":"]},"},{"c":"#).as_deref(),
            Some(r#"[{"a":[1,2]},{"b":"]},"}]"#)
        );
        assert_eq!(
            closed(r#"{"x":"\"","m":[{"a":1},{"b":[1,"#).as_deref(),
            Some(r#"{"x":"\"","m":[{"a":1}]}"#)
        );
        assert_eq!(closed("{\"a\":[1,2]}\n{\"b\":[1,"), None);
        assert_eq!(closed(r#"[{"a":[1,2"#), None);
    }
}
