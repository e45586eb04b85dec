//! Where agents keep their sessions.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use longhaul::wire::Format;

use super::Found;

/// An agent whose sessions can be read here.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name for people.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    /// The variable that moves its folder, and where that is otherwise, below the user's home.
    home: (&'static str, &'static str),
    /// Where in it the sessions are.
    below: &'static str,
    /// How many folders deep below that.
    depth: usize,
    /// How their names begin.
    prefix: &'static str,
    /// Its ids begin with a time, so that their ends tell them apart.
    pub(crate) ids_begin_alike: bool,
}

/// The agents whose sessions can be read here.
const AGENTS: [Agent; 3] = [
    Agent {
        name: "Claude Code",
        format: Format::ClaudeCode,
        home: ("CLAUDE_CONFIG_DIR", ".claude"),
        below: "projects",
        depth: 1,
        prefix: "",
        ids_begin_alike: false,
    },
    Agent {
        name: "Codex",
        format: Format::Codex,
        home: ("CODEX_HOME", ".codex"),
        below: "sessions",
        depth: 3,
        prefix: "rollout-",
        ids_begin_alike: true,
    },
    Agent {
        name: "pi",
        format: Format::Pi,
        home: ("PI_CODING_AGENT_DIR", ".pi/agent"),
        below: "sessions",
        depth: 1,
        prefix: "",
        ids_begin_alike: true,
    },
];

/// Returns the folders that are looked in.
pub(crate) fn places() -> Vec<PathBuf> {
    AGENTS.iter().filter_map(Agent::place).collect()
}

/// Returns whether sessions of an agent are kept in this format.
pub(super) fn is_kept_in(format: Format) -> bool {
    AGENTS.iter().any(|agent| agent.format == format)
}

/// Returns every session on this machine, the newest first.
pub(crate) fn all() -> Vec<Found> {
    let mut found = Vec::new();
    for agent in &AGENTS {
        if let Some(place) = agent.place() {
            agent.look(&place, agent.depth, &mut found);
        }
    }
    // Of two that were written at once the names decide, so that the order is always the same.
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    found
}

impl Agent {
    fn place(&self) -> Option<PathBuf> {
        let (variable, usual) = self.home;
        let moved = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let home = || Some(PathBuf::from(env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?));
        Some(moved.or_else(|| Some(home()?.join(usual)))?.join(self.below))
    }

    /// Adds the sessions in `folder`, and `depth` folders below it. What cannot be read is not there.
    fn look(&'static self, folder: &Path, depth: usize, found: &mut Vec<Found>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            if metadata.is_dir() {
                if depth > 0 {
                    self.look(&path, depth - 1, found);
                }
                continue;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // What a sub-agent did is part of the session that sent it, and what we put beside a session is none.
            let is_session = name.ends_with(".jsonl")
                && name.starts_with(self.prefix)
                && !name.starts_with("agent-")
                && !name.contains(".compacted");
            if is_session && metadata.len() > 0 {
                let changed = metadata.modified().unwrap_or(std::time::UNIX_EPOCH);
                found.push(Found { agent: self, path, changed });
            }
        }
    }
}
