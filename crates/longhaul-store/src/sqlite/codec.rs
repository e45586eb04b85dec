//! How contents and words stand in the file: compressed, and sealed where the store has a key.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension};

use crate::{
    StoreError,
    pack::{compress, compress_block, pack, unpack},
};
#[cfg(feature = "encryption")]
use crate::{StoreKey, seal::Sealer};

/// Turns contents into what is kept of them, and back.
#[derive(Clone, Debug, Default)]
pub(super) struct Codec {
    #[cfg(feature = "encryption")]
    sealer: Option<Sealer>,
}

impl Codec {
    /// Returns the codec of a store without a key.
    ///
    /// # Errors
    /// Where the store is kept under one.
    pub(super) fn open(connection: &Connection) -> Result<Codec, StoreError> {
        match check_of(connection)? {
            None => Ok(Codec::default()),
            Some(_) => Err(StoreError::Locked { reason: "it is kept under a key, and none was given" }),
        }
    }

    /// Returns the codec of a store under `key`; the first who opens a new store decides.
    ///
    /// # Errors
    /// Where the store is kept under another key, or was begun without one.
    #[cfg(feature = "encryption")]
    pub(super) fn unlock(connection: &Connection, key: &StoreKey) -> Result<Codec, StoreError> {
        let failed = |error| StoreError::backend("opening the database", error);
        let sealer = Sealer::new(key);
        match check_of(connection)? {
            Some(check) if sealer.open(CHECK, &check).is_some() => {}
            Some(_) => {
                return Err(StoreError::Locked { reason: "the key is not the one it is kept under" });
            }
            None => {
                // In one statement, so that of two processes that make a store one decides.
                let insert = "INSERT INTO meta (name, value) SELECT 'check', ?1
                              WHERE NOT EXISTS (SELECT 1 FROM sessions) AND NOT EXISTS (SELECT 1 FROM cache)
                              ON CONFLICT DO NOTHING";
                let check = sealer.seal(CHECK, b"longhaul");
                super::patience::patiently(|| connection.execute(insert, [&check])).map_err(failed)?;
                return match check_of(connection)? {
                    Some(held) if held == check => Ok(Codec { sealer: Some(sealer) }),
                    Some(_) => Err(StoreError::Locked { reason: "the key is not the one it is kept under" }),
                    None => Err(StoreError::Locked {
                        reason: "it was begun without a key; export it and import it into a new one",
                    }),
                };
            }
        }
        Ok(Codec { sealer: Some(sealer) })
    }

    /// Returns a content as it is kept, and whether it is compressed.
    pub(super) fn encode(&self, plain: &[u8]) -> (bool, Vec<u8>) {
        let (is_packed, body) = pack(plain);
        (is_packed, self.seal(CONTENT, body))
    }

    /// Returns a content as it waits for a block: not compressed.
    pub(super) fn encode_loose(&self, plain: &[u8]) -> Vec<u8> {
        self.seal(CONTENT, plain.to_vec())
    }

    /// Returns a block as it is kept; it is read as a compressed content.
    pub(super) fn encode_block(&self, plain: &[u8], stays: bool) -> Vec<u8> {
        self.seal(CONTENT, compress_block(plain, stays))
    }

    /// Returns the content; `None` where it is not what was kept.
    pub(super) fn decode(&self, is_packed: bool, body: Vec<u8>) -> Option<Vec<u8>> {
        let body = self.unseal(CONTENT, body)?;
        if is_packed { unpack(&body) } else { Some(body) }
    }

    /// Returns a content that waits for a block as it was before it was sealed; `None` where it is not what was kept.
    pub(super) fn plain<'a>(&self, body: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        #[cfg(feature = "encryption")]
        if self.sealer.is_some() {
            return self.unseal(CONTENT, body.to_vec()).map(Cow::Owned);
        }
        Some(Cow::Borrowed(body))
    }

    /// Returns a cached value as it is kept.
    pub(super) fn encode_cached(&self, plain: &[u8]) -> Vec<u8> {
        self.seal(CACHED, compress(plain))
    }

    /// Returns a cached value that is compressed as it is kept.
    pub(super) fn seal_cached(&self, packed: &[u8]) -> Vec<u8> {
        self.seal(CACHED, packed.to_vec())
    }

    /// Returns the cached value; `None` where it is not what was kept.
    pub(super) fn decode_cached(&self, body: Vec<u8>) -> Option<Vec<u8>> {
        unpack(&self.unseal(CACHED, body)?)
    }

    /// Returns words, separated by spaces, as they stand in the search index: under a key each is a keyed hash, so that
    /// they are found as before and cannot be read.
    pub(super) fn words<'a>(&self, words: &'a str) -> Cow<'a, str> {
        #[cfg(feature = "encryption")]
        if let Some(sealer) = &self.sealer {
            use std::fmt::Write as _;
            let mut out = String::new();
            for word in words.split(' ').filter(|word| !word.is_empty()) {
                let space = if out.is_empty() { "" } else { " " };
                write!(out, "{space}{:016x}", sealer.token(word)).expect("a string takes everything");
            }
            return Cow::Owned(out);
        }
        Cow::Borrowed(words)
    }

    #[cfg(feature = "encryption")]
    fn seal(&self, place: &[u8], plain: Vec<u8>) -> Vec<u8> {
        match &self.sealer {
            Some(sealer) => sealer.seal(place, &plain),
            None => plain,
        }
    }

    #[cfg(feature = "encryption")]
    fn unseal(&self, place: &[u8], body: Vec<u8>) -> Option<Vec<u8>> {
        match &self.sealer {
            Some(sealer) => sealer.open(place, &body),
            None => Some(body),
        }
    }

    #[cfg(not(feature = "encryption"))]
    fn seal(&self, _: &[u8], plain: Vec<u8>) -> Vec<u8> {
        plain
    }

    #[cfg(not(feature = "encryption"))]
    fn unseal(&self, _: &[u8], body: Vec<u8>) -> Option<Vec<u8>> {
        Some(body)
    }
}

/// Returns what a key is checked against; `None` where the store has no key.
fn check_of(connection: &Connection) -> Result<Option<Vec<u8>>, StoreError> {
    let query = "SELECT value FROM meta WHERE name = 'check'";
    let read = super::patience::patiently(|| connection.query_row(query, [], |row| row.get(0)).optional());
    read.map_err(|error| StoreError::backend("opening the database", error))
}

/// The places of what is sealed: a value moved from one to another does not open.
#[cfg(feature = "encryption")]
const CHECK: &[u8] = b"check";
const CONTENT: &[u8] = b"content";
const CACHED: &[u8] = b"cached";
