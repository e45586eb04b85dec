//! Where Cline and its kin keep tasks: `tasks/ID/api_conversation_history.json`, in the storage that an editor gives its extensions, and
//! in a folder of Cline's own.
//!
//! Source: [cline/cline](https://github.com/cline/cline), `src/core/storage/disk.ts` and `cli`.

use std::path::{Path, PathBuf};

use super::agents::at;

/// The file of a task that holds what was said.
pub(super) const FILE: &str = "api_conversation_history.json";

pub(super) fn is_session(_: &Path, name: &str) -> bool {
    name == FILE
}

/// Returns the folders that tasks of Cline may be in.
pub(super) fn places() -> Vec<PathBuf> {
    let mut places = at("CLINE_DATA_DIR", ".cline/data", "tasks");
    let moved = at("CLINE_DIR", ".cline", "data/tasks");
    places.extend(moved.into_iter().filter(|place| !places.contains(place)).collect::<Vec<_>>());
    places.extend(of_extension("saoudrizwan.claude-dev"));
    places
}

/// Returns the folders that tasks of an extension may be in: those of each editor that it runs in.
pub(super) fn of_extension(id: &str) -> Vec<PathBuf> {
    const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
    let folders =
        [("XDG_CONFIG_HOME", ".config"), ("", "Library/Application Support"), ("APPDATA", "AppData/Roaming")];
    let of_editor = |editor: &str| {
        let below = format!("{editor}/User/globalStorage/{id}/tasks");
        folders.map(|(variable, usual)| at(variable, usual, &below))
    };
    let remote = at("VSCODE_AGENT_FOLDER", ".vscode-server", &format!("data/User/globalStorage/{id}/tasks"));
    EDITORS.into_iter().flat_map(of_editor).flatten().chain(remote).collect()
}
