//! The keys of what is cached beside the sessions. They say what becomes of it when something is forgotten: what may quote
//! that goes with it, and nothing else does.

use longhaul_transcript::{ContentHash, SessionId};

/// Returns a key for what quotes nothing that was said, numbers say: it outlives whatever is forgotten.
pub fn lasting_key<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> ContentHash {
    tagged(LASTING, [0; PART], fields)
}

/// Returns a key for what was made from the messages of `session` alone: it goes when something is forgotten there, and
/// stays when that happens elsewhere. Under any other key a value goes whenever something is forgotten.
pub fn session_key<'a>(session: &SessionId, fields: impl IntoIterator<Item = &'a [u8]>) -> ContentHash {
    tagged(OF_SESSION, part_of(session), fields)
}

/// Begins the key of what lasts.
pub(crate) const LASTING: [u8; PART] = *b"lasting ";

/// Begins the key of what one session holds; which one follows.
pub(crate) const OF_SESSION: [u8; PART] = *b"session ";

/// The bytes of a key that a tag takes, and as many that say which session: a hash is long enough to spare them.
const PART: usize = 8;

/// Returns what tells `session` in a key.
pub(crate) fn part_of(session: &SessionId) -> [u8; PART] {
    let hash = ContentHash::of(session.as_str().as_bytes()).0;
    std::array::from_fn(|at| hash[at])
}

/// Returns whether what is cached under `key` goes when something is forgotten in `session`.
pub fn goes_with(key: &ContentHash, session: &SessionId) -> bool {
    let (tag, rest) = key.0.split_at(PART);
    tag != LASTING && (tag != OF_SESSION || rest.starts_with(&part_of(session)))
}

fn tagged<'a>(tag: [u8; PART], part: [u8; PART], fields: impl IntoIterator<Item = &'a [u8]>) -> ContentHash {
    let mut key = ContentHash::of_fields(fields);
    key.0[..PART].copy_from_slice(&tag);
    key.0[PART..2 * PART].copy_from_slice(&part);
    key
}
