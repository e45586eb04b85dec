//! Contents: messages and records as bytes, named by their hash.

use std::sync::Arc;

use longhaul_transcript::{ContentHash, Message, Origin, Raw, Redacted, Speaker, SummaryRecord};
use serde::{Deserialize, Serialize};

use crate::{JournalEntry, Original, StoreError, readable::readable, search};

/// A content on its way into a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    // Made of what is redacted, or of what a store or an export holds already, and nothing else.
    pub(crate) address: ContentHash,
    pub(crate) json: Arc<str>,
}

/// What is kept beside a message, which says the same however it is spelled; a spelling may be large, and is lent to be written.
#[derive(Debug, Serialize, Deserialize)]
struct Spelling<R> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<Speaker>,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    raw: Option<R>,
}

/// Returns the address of a message: the SHA-256 of its canonical JSON. Where a message comes from, who is seen to speak
/// and how it was spelled do not count, so that the same words have the same address in whichever file they stand.
pub fn address_of(message: &Redacted<Message>) -> ContentHash {
    ContentHash::of(canonical_json(message).as_bytes())
}

impl Object {
    /// Returns the content of a message.
    pub fn of_message(message: &Redacted<Message>) -> Object {
        let json = canonical_json(message);
        Object { address: ContentHash::of(json.as_bytes()), json: json.into() }
    }

    /// Returns what is to be kept beside a message; `None` where there is nothing.
    pub(crate) fn of_spelling(message: &Redacted<Message>) -> Option<Object> {
        let spelling = Spelling { speaker: message.speaker, raw: message.raw.as_deref() };
        if spelling.speaker.is_none() && spelling.raw.is_none() {
            return None;
        }
        let json = json_of(&spelling, spelling.raw.map_or(0, |raw| raw.json.len()));
        Some(Object { address: ContentHash::of(json.as_bytes()), json: json.into() })
    }

    /// Returns the content of a record.
    pub fn of_record(record: &Redacted<SummaryRecord>) -> Object {
        let json = json_of(&**record, record.text.len());
        Object { address: ContentHash::of(json.as_bytes()), json: json.into() }
    }

    /// Returns the SHA-256 of its JSON.
    pub fn address(&self) -> ContentHash {
        self.address
    }

    /// Returns the message, its spelling or the record as JSON text. It may be large: whoever wants to write it holds it until
    /// it is written.
    pub fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// Returns the words to find a message by, separated by spaces, in order of first occurrence; none for a record.
    pub fn words(&self) -> String {
        words_of_json(self.json.as_bytes())
    }
}

/// Returns the words of the message that `json` is; none where it is no message.
pub(crate) fn words_of_json(json: &[u8]) -> String {
    message_in(json).map(|message| search::words_of(&message)).unwrap_or_default()
}

/// Returns the message that `json` is, unchecked; `None` where it is none.
pub(crate) fn message_in(json: &[u8]) -> Option<Message> {
    serde_json::from_slice(json).ok()
}

/// Returns a value as JSON that has string keys only and holds about so many bytes of text: a large one is not moved as it grows.
fn json_of(value: &impl Serialize, bytes: usize) -> String {
    let mut json = Vec::with_capacity(bytes + bytes / 16 + 128);
    serde_json::to_writer(&mut json, value).expect("it has string keys only");
    String::from_utf8(json).expect("JSON is UTF-8")
}

/// Returns the message that `json` is, checked against its address.
pub(crate) fn read_message(address: ContentHash, json: &[u8]) -> Result<Message, StoreError> {
    read(address, json)
}

/// Returns the addresses of what stands at `entries`: of each its content, and what is kept beside that where it is not
/// destroyed.
pub(crate) fn addresses_of(entries: &[JournalEntry]) -> Vec<ContentHash> {
    entries.iter().flat_map(|entry| [Some(entry.address), spelling_of(entry)]).flatten().collect()
}

/// Returns the originals that stand at `entries`, with their `contents` checked against their [addresses](addresses_of).
pub(crate) fn read_originals(
    entries: &[JournalEntry],
    contents: Vec<Option<Vec<u8>>>,
) -> Result<Vec<Original>, StoreError> {
    let mut contents = contents.into_iter();
    let originals = entries.iter().map(|entry| {
        let json = contents.next().flatten();
        let spelling = spelling_of(entry).and_then(|_| contents.next().flatten());
        read_original(*entry, json, spelling)
    });
    originals.collect()
}

fn spelling_of(entry: &JournalEntry) -> Option<ContentHash> {
    entry.spelling.filter(|_| !entry.is_forgotten)
}

/// Returns the original that stands at an entry of the journal, with its content checked against its address.
pub(crate) fn read_original(
    entry: JournalEntry,
    json: Option<Vec<u8>>,
    spelling: Option<Vec<u8>>,
) -> Result<Original, StoreError> {
    let mut message = match (entry.is_forgotten, json) {
        (true, _) => None,
        (false, Some(json)) => Some(read_message(entry.address, &json)?),
        (false, None) => return Err(StoreError::DamagedContent { address: entry.address }),
    };
    if let (Some(message), Some(address)) = (&mut message, entry.spelling) {
        let json = spelling.ok_or(StoreError::DamagedContent { address })?;
        let spelling: Spelling<Raw> = read(address, &json)?;
        message.speaker = spelling.speaker;
        message.raw = spelling.raw.map(Arc::new);
    }
    Ok(Original { ordinal: entry.ordinal, at_ms: entry.at_ms, message, is_changed: false })
}

/// Returns whether `json` is what was kept beside a message, at its address.
pub(crate) fn is_spelling(address: ContentHash, json: &[u8]) -> bool {
    read::<Spelling<Raw>>(address, json).is_ok()
}

/// Returns the record that `json` is, checked against its address and version.
pub(crate) fn read_record(address: ContentHash, json: &[u8]) -> Result<SummaryRecord, StoreError> {
    let record: SummaryRecord = read(address, json)?;
    if record.version > SummaryRecord::VERSION {
        let (found, known) = (record.version, SummaryRecord::VERSION);
        return Err(StoreError::NewerVersion { what: "the record", found, known });
    }
    Ok(record)
}

fn read<T: serde::de::DeserializeOwned>(address: ContentHash, json: &[u8]) -> Result<T, StoreError> {
    if ContentHash::of(json) != address {
        return Err(StoreError::DamagedContent { address });
    }
    serde_json::from_slice(json).map_err(|_| StoreError::DamagedContent { address })
}

fn canonical_json(message: &Message) -> String {
    let json = |message: &Message| json_of(message, readable(message).iter().map(|text| text.len()).sum());
    match (message.origin, message.speaker) {
        (Origin::Caller, None) => json(message),
        _ => json(&Message { origin: Origin::Caller, speaker: None, ..message.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_of_the_content_wherever_it_stands() {
        let said = Message::user("hello");
        let here = Redacted::assume(said.clone());
        let there = Redacted::assume(said.with_origin(Origin::Document(7)));
        assert_eq!(address_of(&here), address_of(&there));
        let object = Object::of_message(&there);
        assert_eq!(&*object.json, r#"{"role":"user","parts":[{"text":"hello"}]}"#);
        assert_eq!(read_message(object.address, object.json.as_bytes()).unwrap(), *here);
    }

    #[test]
    fn a_changed_content_is_not_read() {
        let object = Object::of_message(&Redacted::assume(Message::user("hello")));
        let changed = object.json.replace("hello", "hallo");
        let error = read_message(object.address, changed.as_bytes()).unwrap_err();
        assert!(matches!(error, StoreError::DamagedContent { .. }), "{error}");
        assert!(!error.to_string().contains("hallo"));
    }
}
