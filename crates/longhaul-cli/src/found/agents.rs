//! Where agents keep their sessions.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use longhaul::{transcript::SessionId, wire::Format};

use super::{Found, cline, gemini_cli, opencode};

/// An agent whose sessions can be read here.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its name for people.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    /// Returns the folders that its sessions may be in.
    places: fn() -> Vec<PathBuf>,
    /// How they are found there.
    kept: Kept,
    /// How its files are named.
    pub(super) named: Named,
}

/// How the sessions of an agent are kept.
#[derive(Clone, Copy, Debug)]
enum Kept {
    /// In a file each, so many folders deep. The function says whether a file is one, by its name where that tells.
    InFiles(usize, fn(&Path, &str) -> bool),
    /// Otherwise: the function adds those in a folder.
    Otherwise(fn(&'static Agent, &Path, &mut Vec<Found>)),
}

/// How the files of an agent are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By the id, or all alike in a folder that bears it.
    Id,
    /// By a time and the id, so that the ends of names tell them apart.
    TimeAndId,
    /// By a time and the first digits of an id that the file tells whole.
    TimeAndDigits,
}

/// The agents whose sessions can be read here.
const AGENTS: [Agent; 9] = [
    Agent {
        name: "Claude Code",
        format: Format::ClaudeCode,
        places: || at("CLAUDE_CONFIG_DIR", ".claude", "projects"),
        kept: Kept::InFiles(1, |_, name| is_lines(name)),
        named: Named::Id,
    },
    Agent {
        name: "Codex",
        format: Format::Codex,
        places: || at("CODEX_HOME", ".codex", "sessions"),
        kept: Kept::InFiles(3, |_, name| is_lines(name) && name.starts_with("rollout-")),
        named: Named::TimeAndId,
    },
    Agent {
        name: "pi",
        format: Format::Pi,
        places: || at("PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
        kept: Kept::InFiles(1, |_, name| is_lines(name)),
        named: Named::TimeAndId,
    },
    Agent {
        name: "Gemini CLI",
        format: Format::GeminiCli,
        places: || at("GEMINI_CLI_HOME", "", ".gemini/tmp"),
        kept: Kept::InFiles(2, gemini_cli::is_session),
        named: Named::TimeAndDigits,
    },
    Agent {
        name: "Cline",
        format: Format::Cline,
        places: cline::places,
        kept: Kept::InFiles(1, cline::is_session),
        named: Named::Id,
    },
    Agent {
        name: "Roo Code",
        format: Format::Cline,
        places: || cline::of_extension("rooveterinaryinc.roo-cline"),
        kept: Kept::InFiles(1, cline::is_session),
        named: Named::Id,
    },
    Agent {
        name: "Kilo Code",
        format: Format::Cline,
        places: || cline::of_extension("kilocode.kilo-code"),
        kept: Kept::InFiles(1, cline::is_session),
        named: Named::Id,
    },
    Agent {
        name: "Copilot CLI",
        format: Format::Copilot,
        places: || at("COPILOT_HOME", ".copilot", "session-state"),
        kept: Kept::InFiles(1, copilot_events),
        named: Named::Id,
    },
    Agent {
        name: "opencode",
        format: Format::Opencode,
        places: opencode::places,
        kept: Kept::Otherwise(opencode::look),
        named: Named::TimeAndId,
    },
];

/// The names of files that are all alike, each in a folder that bears the id of its session.
const ALIKE: [&str; 2] = [cline::FILE, EVENTS];
const EVENTS: &str = "events.jsonl";

/// Returns whether a file is a session of Copilot CLI: `ID/events.jsonl`, beside which the agent puts other things, and in older
/// versions `ID.jsonl`.
fn copilot_events(path: &Path, name: &str) -> bool {
    let is_older = || path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "session-state");
    name == EVENTS || name.ends_with(".jsonl") && is_older()
}

/// Returns the name that bears the id of a session, without its ending.
pub(super) fn name_of(path: &Path) -> &OsStr {
    let is_alike = path.file_name().is_some_and(|name| ALIKE.iter().any(|alike| name == *alike));
    let folder = path.parent().and_then(Path::file_name).filter(|_| is_alike);
    folder.or_else(|| path.file_stem()).unwrap_or_default()
}

/// Returns the folder `below` that which the variable names, or that which is there otherwise below the user's home.
pub(super) fn at(variable: &str, usual: &str, below: &str) -> Vec<PathBuf> {
    let home = || env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
    let moved = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let place = moved.or_else(|| Some(home()?.join(usual))).map(|place| place.join(below));
    place.into_iter().collect()
}

/// Returns whether this is the name of a file of lines that is an agent's own: what a sub-agent did is part of the session that
/// sent it.
fn is_lines(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}

/// Returns the folders that are looked in; of an agent that has none of its, the first.
pub(crate) fn places() -> Vec<PathBuf> {
    let of = |agent: &Agent| {
        let places: Vec<PathBuf> = (agent.places)();
        let there: Vec<PathBuf> = places.iter().filter(|place| place.is_dir()).cloned().collect();
        if there.is_empty() { places.into_iter().take(1).collect() } else { there }
    };
    AGENTS.iter().flat_map(of).collect()
}

/// Returns whether `path` lies where an agent keeps its sessions.
pub(crate) fn is_kept_by_an_agent(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let mut places = AGENTS.iter().flat_map(|agent| (agent.places)());
    places.any(|place| place.canonicalize().is_ok_and(|place| path.starts_with(place)))
}

/// Returns whether sessions of an agent are kept in this format.
pub(crate) fn is_kept_in(format: Format) -> bool {
    AGENTS.iter().any(|agent| agent.format == format)
}

/// Returns the format of a session that is told by the name of its file: what stands in it may be another's as well.
pub(crate) fn format_at(path: &Path) -> Option<Format> {
    let is_task = path.file_name().is_some_and(|name| name == cline::FILE);
    is_task.then_some(Format::Cline)
}

/// Returns the id that the folder of a session bears, where its file tells none.
pub(crate) fn id_at(path: &Path) -> Option<SessionId> {
    format_at(path).and_then(|_| SessionId::new(&name_of(path).to_string_lossy()).ok())
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
        for place in (agent.places)() {
            match agent.kept {
                Kept::InFiles(depth, is_session) => agent.look(&place, (depth, is_session), &mut found),
                Kept::Otherwise(look) => look(agent, &place, &mut found),
            }
        }
    }
    // Of two that were written at once the names decide, so that the order is always the same.
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    found
}

impl Agent {
    /// Adds the sessions in `folder`, and `depth` folders below it. What cannot be read is not there.
    fn look(
        &'static self,
        folder: &Path,
        (depth, is_session): (usize, fn(&Path, &str) -> bool),
        found: &mut Vec<Found>,
    ) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            if metadata.is_dir() {
                if depth > 0 {
                    self.look(&path, (depth - 1, is_session), found);
                }
                continue;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // What we put beside a session is none.
            let is_ours = name.contains(".compacted");
            if !is_ours && metadata.len() > 0 && is_session(&path, &name) {
                let changed = metadata.modified().unwrap_or(std::time::UNIX_EPOCH);
                found.push(Found { agent: self, path, changed });
            }
        }
    }
}
