//! Sessions of opencode, which stand in many files or in a database: put together as `opencode export` writes them.
//!
//! Source: [anomalyco/opencode](https://github.com/anomalyco/opencode), `packages/opencode/src`: `storage/json-migration.ts` (the
//! files), `session/session.sql.ts` and `storage/db.ts` (the database), `cli/cmd/export.ts`.

#[cfg(feature = "sqlite")]
mod database;
#[cfg(not(feature = "sqlite"))]
#[path = "opencode/no_database.rs"]
mod database;
mod files;

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::de::IgnoredAny;

pub(crate) use database::{is_database, sessions};
pub(crate) use files::is_session;

/// Returns the session that `path` names, as one text, or its first `most` messages; `None` where it names no session of
/// opencode's. One in a database is named as if it stood in a folder: `opencode.db/ID`.
pub(crate) fn exported(path: &Path, most: Option<usize>) -> Option<Result<Vec<u8>>> {
    if let Some((file, id)) = database::named(path) {
        return Some(database::exported(&file, id, most));
    }
    files::is_session(path).then(|| files::exported(path, most))
}

/// Returns whether `path` names a session in a database.
pub(crate) fn is_in_database(path: &Path) -> bool {
    database::named(path).is_some()
}

/// A session before it is put together: each piece is the text of a JSON object.
#[derive(Debug, Default)]
struct Export {
    info: String,
    /// What each message is, with its parts.
    messages: Vec<(String, Vec<String>)>,
}

impl Export {
    fn into_bytes(self) -> Vec<u8> {
        let message = |(info, parts): &(String, Vec<String>)| {
            format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(","))
        };
        let messages: Vec<String> = self.messages.iter().map(message).collect();
        format!("{{\"info\":{},\"messages\":[{}]}}", self.info, messages.join(",")).into_bytes()
    }
}

/// Returns `text` where it is one JSON object: a piece that is none would spoil the whole, and nobody would know where.
fn object(text: String, place: impl FnOnce() -> String) -> Result<String> {
    let checked = serde_json::from_str::<std::collections::BTreeMap<String, IgnoredAny>>(&text);
    checked.map(|_| text).with_context(|| format!("{}: expected one JSON object", place()))
}
