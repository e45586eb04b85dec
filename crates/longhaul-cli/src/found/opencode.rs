//! Where opencode keeps sessions: in newer versions in databases, in older ones in files.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use serde_json::Value;

use super::{Agent, Found, agents::at};
use crate::opencode;

pub(super) fn places() -> Vec<PathBuf> {
    at("XDG_DATA_HOME", ".local/share", "opencode")
}

/// Adds the sessions in `place`. One that was taken over into a database stands in its files still.
pub(super) fn look(agent: &'static Agent, place: &Path, found: &mut Vec<Found>) {
    let seen = in_databases(agent, place, found);
    for project in fs::read_dir(place.join("storage/session")).into_iter().flatten().flatten() {
        for entry in fs::read_dir(project.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.file_stem().is_none_or(|id| seen.contains(id)) || !opencode::is_session(&path) {
                continue;
            }
            let info = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            // What a sub-agent did is part of the session that sent it.
            let Some(info) = info.filter(|info| info["parentID"].is_null()) else { continue };
            let updated = info["time"]["updated"].as_u64().map(Duration::from_millis);
            let changed = updated.map(|updated| UNIX_EPOCH + updated);
            let changed = changed.or_else(|| entry.metadata().ok()?.modified().ok()).unwrap_or(UNIX_EPOCH);
            found.push(Found { agent, path, changed });
        }
    }
}

/// Adds the sessions in the databases of `place`, and returns their ids. What cannot be read is not there.
fn in_databases(agent: &'static Agent, place: &Path, found: &mut Vec<Found>) -> HashSet<OsString> {
    let mut seen = HashSet::new();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        if !(name.starts_with("opencode") && name.ends_with(".db") && opencode::is_database(&path)) {
            continue;
        }
        for (id, changed) in opencode::sessions(&path).unwrap_or_default() {
            seen.insert(OsString::from(&id));
            found.push(Found { agent, path: path.join(id), changed });
        }
    }
    seen
}
