//! A compaction as the agents themselves write it: behind everything that the session file holds, so that nothing in it is lost.

pub(crate) mod claude_code;
pub(crate) mod codex;
mod stamp;

pub use stamp::timestamp;

use longhaul_transcript::{ContentHash, SessionId, Tokens};

use super::claude_code_write;
use crate::{
    Document, Format, WireError,
    edit::Edits,
    formats::SessionFile,
    json::{Json, quoted},
};

/// Session files carry times; a converted one has none of its own.
pub(crate) const EPOCH: &str = "1970-01-01T00:00:00.000Z";

/// When, and to what size, a session was compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The time, in milliseconds since 1970. Lines that are older in the file stay older.
    pub at_ms: i64,
    /// What the history costs now, where the file tells such things.
    pub tokens: Tokens,
}

/// Returns the bytes of the session file `doc` with the compaction behind them that `compacted`, written from it by
/// [`write`](fn@crate::write), made. A reader of the whole, the agent among them, meets the history of `compacted` and nothing of
/// what stood before.
///
/// What is kept is written once more: lines with new ids that hang on the summary (Claude Code), or as the history that takes the
/// place of the old one (Codex). What was billed for them is taken out, so that the agent does not take its window for full.
///
/// # Errors
/// When the format is no session file of Claude Code or Codex, or one of the two cannot be read.
pub fn append(doc: &Document, compacted: &[u8], appended: Appended) -> Result<Vec<u8>, WireError> {
    let compacted = crate::read(Some(doc.format), compacted)?;
    let newest = stamp::newest(&doc.bytes);
    let at = timestamp(appended.at_ms.max(newest.map_or(i64::MIN, |newest| newest + 1)));
    let lines = (file_of(doc.format)?.append)(doc, &compacted, &at, appended.tokens);
    let mut bytes = doc.bytes.clone();
    for line in lines {
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
    }
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Returns the session file `bytes` under another id, for a session of its own.
///
/// # Errors
/// When the format is no session file of Claude Code or Codex, or the bytes are none of that format.
pub fn with_session_id(bytes: &[u8], format: Format, id: &SessionId) -> Result<Vec<u8>, WireError> {
    let doc = crate::read(Some(format), bytes)?;
    let ids = file_of(format)?.ids;
    let text = String::from_utf8_lossy(&doc.bytes);
    let renamed = text.split_inclusive('\n').map(|line| {
        let Ok(json) = Json::check(line.trim_start_matches('\u{feff}').trim_end().as_bytes()) else {
            return line.to_owned();
        };
        let mut edits = Edits::default();
        for named in ids(json).into_iter().filter(|named| named.is_string()) {
            edits.replace(named.range_in(line), quoted(id.as_str()));
        }
        edits.apply(line)
    });
    Ok(renamed.collect::<String>().into_bytes())
}

fn file_of(format: Format) -> Result<SessionFile, WireError> {
    let session = format.spec().writing.as_ref().and_then(|writing| writing.session);
    session.ok_or(WireError::NoSessionFile { format })
}

/// Returns an id for a session of its own, in the form that the agents give theirs, made from a hash.
pub fn session_id_from(hash: &ContentHash) -> SessionId {
    let id = claude_code_write::uuid_from(hash);
    // Hexadecimal digits and dashes are what an id may have.
    SessionId::new(&id).unwrap_or_else(|_| SessionId::derived(std::slice::from_ref(hash)))
}
