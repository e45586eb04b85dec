//! Names for things: derived from content, never drawn at random.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};

/// The SHA-256 of some content. Shown and stored as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Returns the hash of `bytes`.
    pub fn of(bytes: &[u8]) -> ContentHash {
        ContentHash(Sha256::digest(bytes).into())
    }

    /// Returns the hash of several fields, each prefixed with its length, so that no two lists of fields collide.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> ContentHash {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        ContentHash(hasher.finalize().into())
    }

    /// Returns the first `digits` hexadecimal digits (at most 64).
    pub fn short(&self, digits: usize) -> String {
        let mut hex = self.to_string();
        hex.truncate(digits);
        hex
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short(12))
    }
}

impl FromStr for ContentHash {
    type Err = &'static str;

    fn from_str(hex: &str) -> Result<ContentHash, Self::Err> {
        const EXPECTED: &str = "expected 64 hexadecimal digits";
        let digits = hex.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(EXPECTED);
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| EXPECTED)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| EXPECTED)?;
        }
        Ok(ContentHash(hash))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ContentHash, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A message's place in its session and the hash of its content. Never reused, never renumbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// Position in the session, from zero, counted over everything that was ever said in it.
    pub ordinal: u64,
    /// Hash of the message's content (see [`Message::content_hash`](crate::Message::content_hash)).
    pub hash: ContentHash,
}

impl fmt::Display for MessageId {
    /// Writes the short form that people see, `m12`; ordinals are unique within a session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.ordinal)
    }
}

/// The id that ties a tool call to its result, as the provider or the agent wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Arc<str>);

impl CallId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> CallId {
        CallId(id.into())
    }
}

impl From<String> for CallId {
    fn from(id: String) -> CallId {
        CallId(id.into())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session's name: 1 to 128 characters of `A-Z a-z 0-9 _ -`, so that it is safe in paths, queries and logs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

/// A text is not a session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSessionIdError {
    /// Byte length of the rejected text.
    pub length: usize,
    /// The first character that is not allowed, with its byte offset; `None` where only the length is wrong.
    pub unexpected: Option<(usize, char)>,
}

impl SessionId {
    /// The longest session id, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// Returns `name` as a session id.
    ///
    /// # Errors
    /// When `name` is empty, longer than [`MAX_BYTES`](Self::MAX_BYTES) or holds a character other than `A-Z a-z 0-9 _ -`.
    pub fn new(name: &str) -> Result<SessionId, ParseSessionIdError> {
        let unexpected =
            name.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        if unexpected.is_some() || name.is_empty() || name.len() > Self::MAX_BYTES {
            return Err(ParseSessionIdError { length: name.len(), unexpected });
        }
        Ok(SessionId(name.into()))
    }

    /// Returns the id of a conversation that names none: a hash of all that was said, so that no two conversations share
    /// it that begin alike.
    pub fn derived(said: &[ContentHash]) -> SessionId {
        let hash = ContentHash::of_fields(said.iter().map(|hash| hash.0.as_slice()));
        SessionId(format!("s-{}", hash.short(16)).into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = ParseSessionIdError;

    fn from_str(name: &str) -> Result<SessionId, ParseSessionIdError> {
        SessionId::new(name)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SessionId, D::Error> {
        SessionId::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for ParseSessionIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = "expected 1 to 128 characters of A-Z a-z 0-9 _ -";
        match self.unexpected {
            Some((at, c)) => write!(f, "{c:?} at byte {at} cannot stand in a session id; {expected}"),
            None => write!(f, "a session id of {} bytes; {expected}", self.length),
        }
    }
}

impl std::error::Error for ParseSessionIdError {}

/// The id of a summary: the first 16 hexadecimal digits of the hash of what it was made from and of what it says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SummaryId(pub Arc<str>);

impl SummaryId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<ContentHash> for SummaryId {
    fn from(hash: ContentHash) -> SummaryId {
        SummaryId(hash.short(16).into())
    }
}

impl fmt::Display for SummaryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_round_trip_as_hex() {
        let hash = ContentHash::of(b"abc");
        assert!(hash.to_string().starts_with("ba7816bf8f01cfea"));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("zz".parse::<ContentHash>().is_err());
        assert!("é".repeat(32).parse::<ContentHash>().is_err());
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let split = |a: &'static str, b: &'static str| ContentHash::of_fields([a.as_bytes(), b.as_bytes()]);
        assert_ne!(split("ab", "c"), split("a", "bc"));
    }

    #[test]
    fn session_ids_cannot_leave_their_directory() {
        for odd in ["", "../x", "a/b", "a\0", "naïve", "a b", &"x".repeat(129), "'; drop table"] {
            assert!(SessionId::new(odd).is_err(), "{odd:?}");
        }
        assert_eq!(SessionId::new("0bb9a2d9-a51e_4").unwrap().as_str(), "0bb9a2d9-a51e_4");
    }
}
