//! Whole outputs of commands, each in a file of its own: what a digest that the agent read names.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use longhaul::{
    redact::Redactor,
    store::Selector,
    transcript::{ContentHash, Message, Outcome, SessionId, ToolCall, ToolResult},
};

use crate::{clock, output::Target, paint, store};

/// So many outputs are kept whole; older ones go.
const KEPT: usize = 200;

/// Returns where the whole output of a command of `session` is kept: the name begins with the time and ends with the session.
pub(super) fn place(text: &str, session: &str) -> Result<PathBuf> {
    let of = SessionId::new(session).map(|session| format!("-{session}")).unwrap_or_default();
    let name = format!("{}-{}{of}.txt", clock::now_ms(), ContentHash::of(text.as_bytes()).short(8));
    Ok(folder()?.join(name))
}

/// Keeps the whole output, secrets apart, in a file of the user's alone, where the agent can read and search it. Each
/// takes the place of an older one that a digest names.
pub(super) fn keep(path: &Path, call: &ToolCall, text: &str) -> Result<()> {
    let folder = path.parent().context("an output is kept in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", paint::path(folder)))?;
    let asked = Message::assistant("").with_calls([call.clone()]);
    let answer = Message::tool(ToolResult::text(call.id.clone(), text, Outcome::Unstated));
    let clean = Redactor::builtin().redact_conversation([&asked, &answer]);
    let text: String =
        clean.iter().flat_map(|message| message.results()).map(ToolResult::joined_text).collect();
    Target::unlocked(path).put(text.as_bytes())?;
    let kept = kept(folder);
    let old = kept.len().saturating_sub(KEPT);
    kept.into_iter().take(old).for_each(|path| drop(fs::remove_file(path)));
    Ok(())
}

/// Removes what of the outputs is to be forgotten with messages of `session`, and returns how many went, and how many of the session's are
/// left, which may hold such messages: which message an output belongs to is not known.
///
/// # Errors
/// When one that is to go cannot be removed.
pub(crate) fn forget(session: &SessionId, what: &Selector) -> Result<(usize, usize)> {
    let (mut gone, mut left) = (0, 0);
    for path in kept(&folder()?) {
        let of = session_in(&path);
        let is_of_session = of.is_some_and(|of| is_of(session, of));
        let goes = match what {
            Selector::Session => is_of_session,
            Selector::OlderThan(at_ms) => is_of_session && made_at(&path).is_some_and(|made| made < *at_ms),
            Selector::Matching(words) => {
                (is_of_session || of.is_none())
                    && fs::read_to_string(&path).is_ok_and(|held| held.contains(words))
            }
            _ => false,
        };
        if goes {
            fs::remove_file(&path).with_context(|| format!("{} cannot be removed", paint::path(&path)))?;
            gone += 1;
        } else if is_of_session && matches!(what, Selector::Range(_)) {
            left += 1;
        }
    }
    Ok((gone, left))
}

fn folder() -> Result<PathBuf> {
    Ok(store::data_folder()?.join("outputs"))
}

/// Returns the outputs that are kept, the oldest first: their names begin with the time.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut kept: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).collect();
    kept.sort();
    kept
}

fn made_at(path: &Path) -> Option<i64> {
    path.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}

/// Returns the session that the name of an output ends with.
fn session_in(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.splitn(3, '-').nth(2)
}

/// Returns whether `session` is the session `of`, or branched off it.
fn is_of(session: &SessionId, of: &str) -> bool {
    session.as_str().strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}
