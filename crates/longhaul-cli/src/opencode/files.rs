//! A session in files: `session/PROJECT/ID.json`, its messages in `message/ID/`, the parts of each in `part/MESSAGE/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::{Export, object};
use crate::paint;

/// Returns whether `path` is the file of a session, beside whose folder its messages stand.
pub(crate) fn is_session(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    is_json
        && storage(path).is_some_and(|storage| {
            storage.join("message").join(path.file_stem().unwrap_or_default()).is_dir()
        })
}

/// Returns the folder that holds `session`, `message` and `part`.
fn storage(path: &Path) -> Option<&Path> {
    let sessions = path.parent()?.parent()?;
    sessions.parent().filter(|_| sessions.file_name().is_some_and(|name| name == "session"))
}

pub(super) fn exported(path: &Path, most: Option<usize>) -> Result<Vec<u8>> {
    let storage = storage(path).context("a session's file stands two folders below its storage")?;
    let mut export = Export { info: text(path)?, messages: Vec::new() };
    let messages = inside(&storage.join("message").join(path.file_stem().unwrap_or_default()));
    for message in messages.into_iter().take(most.unwrap_or(usize::MAX)) {
        let parts = inside(&storage.join("part").join(message.file_stem().unwrap_or_default()));
        let parts = parts.iter().map(|part| text(part)).collect::<Result<_>>()?;
        export.messages.push((text(&message)?, parts));
    }
    Ok(export.into_bytes())
}

/// Returns the files in a folder, by their names: ids begin with the time.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    files
}

fn text(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", paint::path(path)))?;
    object(text, || paint::path(path))
}
