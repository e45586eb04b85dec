//! Where agents keep their sessions.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use longhaul::wire::Format;

use super::{Found, gemini_cli};

/// An agent whose sessions can be read here.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name for people.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    /// The variable that moves its folder, and where that is otherwise, below the user's home; several where it may be in several.
    homes: &'static [(&'static str, &'static str)],
    /// Where in it the sessions are.
    below: &'static str,
    /// How many folders deep below that.
    depth: usize,
    /// Whether a file is a session, by its name where that tells.
    is_session: fn(&Path, &str) -> bool,
    /// How its files are named.
    pub(super) named: Named,
}

/// How the files of an agent are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By the id.
    Id,
    /// By a time and the id, so that the ends of names tell them apart.
    TimeAndId,
    /// By a time and the first digits of an id that the file tells whole.
    TimeAndDigits,
}

/// The agents whose sessions can be read here.
const AGENTS: [Agent; 4] = [
    Agent {
        name: "Claude Code",
        format: Format::ClaudeCode,
        homes: &[("CLAUDE_CONFIG_DIR", ".claude")],
        below: "projects",
        depth: 1,
        is_session: |_, name| is_lines(name),
        named: Named::Id,
    },
    Agent {
        name: "Codex",
        format: Format::Codex,
        homes: &[("CODEX_HOME", ".codex")],
        below: "sessions",
        depth: 3,
        is_session: |_, name| is_lines(name) && name.starts_with("rollout-"),
        named: Named::TimeAndId,
    },
    Agent {
        name: "pi",
        format: Format::Pi,
        homes: &[("PI_CODING_AGENT_DIR", ".pi/agent")],
        below: "sessions",
        depth: 1,
        is_session: |_, name| is_lines(name),
        named: Named::TimeAndId,
    },
    Agent {
        name: "Gemini CLI",
        format: Format::GeminiCli,
        homes: &[("GEMINI_CLI_HOME", "")],
        below: ".gemini/tmp",
        depth: 2,
        is_session: gemini_cli::is_session,
        named: Named::TimeAndDigits,
    },
];

/// Returns whether this is the name of a file of lines that is an agent's own: what a sub-agent did is part of the session that
/// sent it.
fn is_lines(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}

/// Returns the folders that are looked in; of an agent that has none of its, the first.
pub(crate) fn places() -> Vec<PathBuf> {
    let of = |agent: &Agent| {
        let places: Vec<PathBuf> = agent.places().collect();
        let there: Vec<PathBuf> = places.iter().filter(|place| place.is_dir()).cloned().collect();
        if there.is_empty() { places.into_iter().take(1).collect() } else { there }
    };
    AGENTS.iter().flat_map(of).collect()
}

/// Returns whether sessions of an agent are kept in this format.
pub(super) fn is_kept_in(format: Format) -> bool {
    AGENTS.iter().any(|agent| agent.format == format)
}

/// Returns the folder that the session at `path` was held in, where the agent notes it beside the session.
pub(super) fn folder(path: &Path, format: Format) -> Option<PathBuf> {
    match format {
        Format::GeminiCli => gemini_cli::folder(path),
        _ => None,
    }
}

/// Returns every session on this machine, the newest first.
pub(crate) fn all() -> Vec<Found> {
    let mut found = Vec::new();
    for agent in &AGENTS {
        agent.places().for_each(|place| agent.look(&place, agent.depth, &mut found));
    }
    // Of two that were written at once the names decide, so that the order is always the same.
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    found
}

impl Agent {
    fn places(&self) -> impl Iterator<Item = PathBuf> {
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
        self.homes.iter().filter_map(move |(variable, usual)| {
            let moved = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
            Some(moved.or_else(|| Some(home.as_ref()?.join(usual)))?.join(self.below))
        })
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
            // What we put beside a session is none.
            let is_ours = name.contains(".compacted");
            if !is_ours && metadata.len() > 0 && (self.is_session)(&path, &name) {
                let changed = metadata.modified().unwrap_or(std::time::UNIX_EPOCH);
                found.push(Found { agent: self, path, changed });
            }
        }
    }
}
