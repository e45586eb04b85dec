//! The sessions that agents keep on this machine: where they are, and which one is meant.

mod about;
mod agents;
mod cline;
mod gemini_cli;
mod ids;
mod list;
mod opencode;
mod pick;
mod whole;

use std::{
    env,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Result, bail};

use self::agents::Named;
pub(crate) use self::{
    about::{About, Reach, asked_in},
    agents::{Agent, all, format_at, id_at, is_kept_by_an_agent, is_kept_in, places},
    ids::Ids,
    list::{json_lines, table},
    pick::{forget_what_was_typed, pick},
};
use crate::{
    exit::Impossible,
    near::near,
    paint::{self, Painter, plain},
};

/// A session file of an agent's.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) agent: &'static Agent,
    pub(crate) path: PathBuf,
    pub(crate) changed: SystemTime,
}

/// What words of a session's first request are worth in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByWords {
    /// They stand for it.
    Taken,
    /// They stand for it where somebody says so on a terminal: for what changes something.
    Asked,
}

/// Puts the session that is meant in the place of `file`, where it names none: on a terminal the newest of this project
/// stands for nothing, and anywhere the beginning or the end of an id or words of a title stand for a session that has them. One word alone
/// may be a name that somebody misspelt: where nobody is there to see what is taken, it stands for no title.
///
/// # Errors
/// When nothing is found, or more than one may be meant.
pub(crate) fn settle(file: &mut PathBuf, by_words: ByWords) -> Result<()> {
    if file == Path::new("-") {
        if io::stdin().is_terminal() {
            *file = newest_here()?;
        }
        return Ok(());
    }
    if let Some(path) = file.to_str().map(paint::as_named).map(PathBuf::from)
        && !file.exists()
        && path.exists()
    {
        *file = path;
    }
    let words = match file.to_str() {
        // A path that is not there is a mistake in a path.
        Some(words) if !file.exists() && !words.contains(['/', '\\']) && !words.contains('.') => words,
        _ => return Ok(()),
    };
    match named(words, by_words)? {
        Some(path) => *file = path,
        None => {
            say!("{}", unknown(words));
        }
    }
    Ok(())
}

/// Returns that `words` stand for no session.
pub(crate) fn unknown(words: &str) -> String {
    let words = paint::name(&paint::cut(words, 200));
    format!("no session's id begins or ends with {words:?}, and no first request holds it")
}

/// Returns the newest session of the folder that one is in.
pub(crate) fn newest() -> Option<Found> {
    all_here(Reach::Around).next()
}

/// Returns the sessions of the folder that one is in, the newest first.
pub(crate) fn all_here(reach: Reach) -> impl Iterator<Item = Found> {
    let here = env::current_dir().unwrap_or_default();
    all().into_iter().filter(move |found| About::quick(found).is_of(&here, reach))
}

/// Returns the file of the newest session of the folder that one is in, and says which it is.
pub(crate) fn newest_here() -> Result<PathBuf> {
    let Some(found) = newest() else {
        bail!(Impossible(format!(
            "which transcript? name a FILE, or `-` with a pipe; no session of an agent's was found for this folder \
             (looked in {})",
            places().iter().map(|place| paint::path(place)).collect::<Vec<_>>().join(", ")
        )));
    };
    told(&found);
    Ok(found.path)
}

/// Returns how a session is named where nothing is typed and nothing comes from a pipe.
pub(crate) fn how_named() -> String {
    match newest() {
        Some(newest) => format!(
            "name a FILE or a session: {} is the newest of this folder (`longhaul sessions` lists them)",
            newest.typed(&Ids::of(&all()))
        ),
        None => "name a FILE, or a session by its id (`longhaul sessions` lists them)".to_owned(),
    }
}

/// Returns the session whose id begins or ends with `words`, or whose title holds them; `None` where there is none.
fn named(words: &str, by_words: ByWords) -> Result<Option<PathBuf>> {
    let found = all();
    let by_id: Vec<&Found> = found.iter().filter(|found| found.has_id(words)).collect();
    let by_id_is_meant = !by_id.is_empty();
    let meant = match by_id.is_empty() {
        false => by_id,
        true => found.iter().filter(|found| About::quick(found).is_about(words)).collect(),
    };
    let is_seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    let may_be_a_file =
        words.split_whitespace().count() == 1 && !(is_seen && near(Path::new(words)).is_empty());
    if !by_id_is_meant && may_be_a_file && !meant.is_empty() {
        let near = near(Path::new(words)).into_iter().map(|path| format!("  {}", paint::path(&path)));
        let lines: Vec<String> = near.chain(meant.iter().map(|found| found.line())).take(SHOWN).collect();
        bail!(Impossible(format!(
            "{:?} is no file here and no part of a session's id; near it are\n{}",
            paint::name(words),
            lines.join("\n")
        )));
    }
    match meant[..] {
        [] => Ok(None),
        [one] if by_id_is_meant || by_words == ByWords::Taken => {
            told(one);
            Ok(Some(one.path.clone()))
        }
        _ => {
            let lines: Vec<String> = meant.iter().map(|found| found.line()).collect();
            let question = format!("{:?} may be any of these", plain(words));
            if let Some(chosen) = pick(&question, &lines) {
                return Ok(Some(meant[chosen].path.clone()));
            }
            if !by_id_is_meant && by_words == ByWords::Asked {
                bail!(Impossible(format!(
                    "{:?} is no session's id, and what changes something takes no words for one; they stand in\n{}",
                    plain(words),
                    lines[..lines.len().min(SHOWN)].join("\n")
                )));
            }
            // An id that several have tells none of them apart.
            let is_shared =
                |one: &Found| meant.iter().filter(|found| found.id() == one.id()).nth(1).is_some();
            let line = |(one, line): (&&Found, String)| match is_shared(one) {
                true => format!("{line}\n    {}", paint::path(&one.path)),
                false => line,
            };
            let shown: Vec<String> = meant.iter().zip(lines).take(SHOWN).map(line).collect();
            bail!(Impossible(format!(
                "{:?} may be any of {} sessions; the newest of them are\n{}",
                plain(words),
                meant.len(),
                shown.join("\n")
            )))
        }
    }
}

/// How many sessions are shown of those that may be meant.
const SHOWN: usize = 5;

fn told(found: &Found) {
    say!("{}", found.line().trim_start());
}

impl Found {
    /// Returns the id that the file's name bears, in short.
    pub(crate) fn short_id(&self) -> String {
        let id = self.id();
        // Ids that begin with a time are told apart by their end, and so are those that are one.
        let begins_alike =
            self.agent.named == Named::TimeAndId || id.bytes().all(|byte| byte.is_ascii_digit());
        let digits = id.chars().filter(char::is_ascii_hexdigit).count();
        match id.get(..SHORT_ID) {
            Some(short) if digits >= SHORT_ID && !begins_alike => short.to_owned(),
            _ => id.chars().rev().take(SHORT_ID).collect::<Vec<_>>().into_iter().rev().collect(),
        }
    }

    /// Returns what a person types to name this session and no other of `all`: the id in short or in full, or the path of the
    /// file where no part of its name is taken for an id.
    pub(crate) fn typed(&self, all: &Ids) -> String {
        let (short, id) = (self.short_id(), self.id());
        let means_this = |part: &str| {
            let is_plain =
                part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            is_plain && !part.starts_with('-') && all.has_one(part)
        };
        // What begins like a flag is taken for one.
        match [short.trim_start_matches('-'), &id].into_iter().find(|part| means_this(part)) {
            Some(part) => part.to_owned(),
            None => paint::path(&self.path),
        }
    }

    /// Returns the id in the file's name: all of it, or what stands behind a time.
    pub(crate) fn id(&self) -> String {
        let stem = agents::name_of(&self.path).to_string_lossy();
        // `session-2026-01-02T10-11-019eef3d`.
        if self.agent.named == Named::TimeAndDigits {
            return stem.rsplit('-').next().unwrap_or_default().to_owned();
        }
        // `rollout-2026-06-22T12-10-56-019eef3d-abd1-72e1-ab99-dcdb259027c5`, `2025-11-20T23-33-50-805Z_d703a1a9-…`.
        match stem.len().checked_sub(UUID).and_then(|at| stem.get(at..)) {
            Some(uuid) if uuid.chars().all(|c| c.is_ascii_hexdigit() || c == '-') => uuid.to_owned(),
            _ => stem.into_owned(),
        }
    }

    fn has_id(&self, words: &str) -> bool {
        let id = self.id();
        let is_more = || self.agent.named == Named::TimeAndDigits && words.len() >= UUID;
        is_part(words, &id) || is_more() && words.to_lowercase().starts_with(&id.to_lowercase())
    }

    /// Returns a line about the session: short id, agent, how long ago, title.
    pub(crate) fn line(&self) -> String {
        let about = About::quick(self);
        let title = about.title.as_deref().unwrap_or("(no request)");
        let whole = format!(
            "  {}  {}, {}: {}",
            paint::name(&self.short_id()),
            self.agent.name,
            ago(self.changed),
            paint::name(title)
        );
        Painter::stderr().cut(&whole, "longhaul:".len())
    }
}

/// Returns what of the id of a recorded session tells it from others: the end of a long one.
pub(crate) fn end_of(id: &str) -> &str {
    let end = id.len().checked_sub(SHORT_ID).filter(|_| id.len() >= UUID).and_then(|at| id.get(at..));
    end.filter(|end| end.bytes().all(|b| b.is_ascii_hexdigit())).unwrap_or(id)
}

/// Returns whether `words` may name a session by a part of its id.
pub(crate) fn may_name(words: &str) -> bool {
    words.len() >= LEAST_ID
}

/// Returns whether `words` are the beginning or the end of the id of a session, or of another name: lists show the end where all
/// begin alike.
pub(crate) fn is_part(words: &str, id: &str) -> bool {
    let (words, id) = (words.to_lowercase(), id.to_lowercase());
    // What lists show of it may be shortened in turn.
    let is_in_end = || {
        id.len().checked_sub(SHORT_ID).and_then(|at| id.get(at..)).is_some_and(|end| end.starts_with(&words))
    };
    may_name(&words) && (id.starts_with(&words) || id.ends_with(&words) || is_in_end())
}

/// Returns whether a session on this machine has an id that `words` are a part of.
pub(crate) fn has(words: &str) -> bool {
    may_name(words) && all().iter().any(|found| found.has_id(words))
}

/// As many digits of an id tell sessions apart.
const SHORT_ID: usize = 8;
/// As many are needed to mean one.
const LEAST_ID: usize = 4;
/// The length of an id of the usual kind.
const UUID: usize = 36;

/// Returns how long ago something was, as people say it.
pub(crate) fn ago(then: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(then).unwrap_or_default().as_secs();
    match seconds {
        0..90 => "just now".to_owned(),
        90..5_400 => format!("{} min ago", seconds / 60),
        5_400..129_600 => format!("{} h ago", (seconds + 1_800) / 3_600),
        _ => format!("{} days ago", (seconds + 43_200) / 86_400),
    }
}
