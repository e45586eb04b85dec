//! A session in a database of SQLite: the tables `session`, `message` and `part`, of which the last two keep JSON. It is only read.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};

use super::{Export, object};
use crate::{exit::Impossible, paint};

/// Returns the database and the id that a path like `opencode.db/ID` names.
pub(super) fn named(path: &Path) -> Option<(PathBuf, &str)> {
    let (file, id) = (path.parent()?, path.file_name()?.to_str()?);
    is_database(file).then(|| (file.to_path_buf(), id))
}

/// Returns whether a file is a database of SQLite.
pub(crate) fn is_database(path: &Path) -> bool {
    const HEAD: &[u8] = b"SQLite format 3\0";
    let mut head = [0; HEAD.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == HEAD
}

/// Returns the sessions in a database and when each was changed last. What a sub-agent did is part of the one that sent it.
pub(crate) fn sessions(path: &Path) -> Result<Vec<(String, SystemTime)>> {
    let database = open(path)?;
    let mut rows = database.prepare("SELECT id, time_updated FROM session WHERE parent_id IS NULL")?;
    let of = |row: &Row<'_>| {
        let changed = Duration::from_millis(row.get::<_, i64>(1)?.max(0) as u64);
        Ok((row.get(0)?, UNIX_EPOCH + changed))
    };
    let found = rows.query_map([], of)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn exported(path: &Path, id: &str, most: Option<usize>) -> Result<Vec<u8>> {
    read(path, id, most)
        .with_context(|| format!("{} cannot be read as a database of opencode", paint::path(path)))
}

fn read(path: &Path, id: &str, most: Option<usize>) -> Result<Vec<u8>> {
    let database = open(path)?;
    let session = "SELECT directory, title, revert FROM session WHERE id = ?1";
    let of = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let info: Option<(String, String, Option<String>)> = database.query_row(session, [id], of).optional()?;
    let Some((directory, title, revert)) = info else {
        bail!(Impossible(format!("there is no session {} in it", paint::name(id))));
    };
    let revert = revert.map(|revert| object(revert, || format!("session {id}, revert"))).transpose()?;
    let mut info = serde_json::json!({"id": id, "directory": directory, "title": title}).to_string();
    if let Some(revert) = revert {
        info.insert_str(1, &format!("\"revert\":{revert},"));
    }
    let mut export = Export { info, messages: Vec::new() };
    let mut messages = database
        .prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id LIMIT ?2")?;
    let mut parts = database.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let most = most.map_or(-1, |most| most as i64);
    let pair = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    for message in messages.query_map((id, most), pair)? {
        let (message, data) = message?;
        let of_it = parts.query_map([&message], pair)?.map(|part| with_id("part", part?));
        let of_it = of_it.collect::<Result<_>>()?;
        export.messages.push((with_id("message", (message, data))?, of_it));
    }
    Ok(export.into_bytes())
}

/// Returns what a row keeps with its id in it, as the agent reads it.
fn with_id(table: &str, (id, data): (String, String)) -> Result<String> {
    let mut data = object(data, || format!("{table} {id}"))?;
    let open = data.find('{').context("an object begins with a brace")? + 1;
    let comma = if data[open..].trim_start().starts_with('}') { "" } else { "," };
    data.insert_str(open, &format!("\"id\":{}{comma}", serde_json::Value::from(id)));
    Ok(data)
}

/// Opens a database so that nothing is written beside it: where the agent left no log of what is not yet in it, nobody writes.
fn open(path: &Path) -> Result<Connection> {
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let is_quiet = fs::metadata(log).map_or(true, |log| log.len() == 0);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let name = path.to_str().filter(|_| is_quiet).map(|path| {
        format!("file:{}?immutable=1", path.replace('%', "%25").replace('?', "%3f").replace('#', "%23"))
    });
    let database = match name {
        Some(name) => Connection::open_with_flags(name, flags)?,
        None => Connection::open_with_flags(path, flags)?,
    };
    database.busy_timeout(Duration::from_secs(2))?;
    Ok(database)
}
