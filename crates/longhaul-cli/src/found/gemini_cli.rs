//! Where Gemini CLI keeps sessions: `tmp/PROJECT/chats/session-TIME-ID.jsonl`, and `.json` in older versions.
//!
//! Source: [google-gemini/gemini-cli](https://github.com/google-gemini/gemini-cli), `packages/core/src`:
//! `services/chatRecordingService.ts`, `config/storage.ts` and `config/projectRegistry.ts`.

use std::{
    env,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use longhaul::transcript::ContentHash;

/// Returns whether a file is a session: what a sub-agent did is part of the one that sent it, and a session that an older version
/// wrote is copied to a file of lines when it is taken up again.
pub(super) fn is_session(path: &Path, name: &str) -> bool {
    let is_named = name.starts_with("session-") && (name.ends_with(".jsonl") || name.ends_with(".json"));
    is_named && !(name.ends_with(".json") && path.with_extension("jsonl").exists()) && !is_of_sub_agent(path)
}

fn is_of_sub_agent(path: &Path) -> bool {
    /// What a session says of itself stands in its first bytes.
    const HEAD: u64 = 1 << 10;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && (head.contains(r#""kind":"subagent""#) || head.contains(r#""kind": "subagent""#))
}

/// Returns the folder that the session at `path` was held in. Newer versions note it beside the sessions; older ones name the
/// project by the hash of its folder, which tells it to whoever is in it.
pub(super) fn folder(path: &Path) -> Option<PathBuf> {
    let project = path.parent()?.parent()?;
    let noted = fs::read_to_string(project.join(".project_root")).ok();
    let noted = noted.map(|noted| PathBuf::from(noted.trim())).filter(|noted| noted.is_absolute());
    noted.or_else(|| {
        let name = project.file_name()?.to_str()?;
        let here = env::current_dir().ok()?;
        let is_it = |folder: &Path| {
            folder.to_str().is_some_and(|folder| ContentHash::of(folder.as_bytes()).to_string() == name)
        };
        here.ancestors().find(|folder| is_it(folder)).map(Path::to_path_buf)
    })
}
