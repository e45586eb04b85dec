//! Files in whose place others were put. An agent that has one of them open goes on writing into it, and what it writes then is
//! nowhere else.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use longhaul::transcript::{ContentHash, SessionId};
use serde::{Deserialize, Serialize};

use super::{Replaced, Store, Trace};
use crate::{paint, say};

/// A file that another took the place of, under the name that it has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub(crate) path: PathBuf,
    /// What it held then, and how many bytes that was.
    pub(crate) held: ContentHash,
    pub(crate) bytes: u64,
}

impl Left {
    /// Returns what is at `path`, as it is now; `None` where that cannot be told.
    pub(crate) fn at(path: &Path) -> Option<Left> {
        let (path, bytes) = (path.canonicalize().ok()?, fs::read(path).ok()?);
        path.to_str()?;
        Some(Left { path, held: ContentHash::of(&bytes), bytes: bytes.len() as u64 })
    }

    /// Returns whether nothing was written to it since.
    pub(crate) fn is_untouched(&self) -> bool {
        fs::read(&self.path).is_ok_and(|now| ContentHash::of(&now) == self.held)
    }

    /// Returns what is in it, where that is more than it held.
    fn with_more(&self) -> Option<Vec<u8>> {
        // Most are told apart without reading them.
        fs::metadata(&self.path).ok().filter(|found| found.len() > self.bytes)?;
        fs::read(&self.path).ok().filter(|now| begins(now, Some(self.bytes), self.held))
    }
}

/// Returns whether `bytes` begin with so many that have this hash.
pub(super) fn begins(bytes: &[u8], length: Option<u64>, hash: ContentHash) -> bool {
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.and_then(|length| bytes.get(..length)).is_some_and(|start| ContentHash::of(start) == hash)
}

/// Returns the files that compactions of the session replaced at `place`, the newest first.
pub(crate) async fn replaced_at(store: &Store, session: &SessionId, place: &Path) -> Result<Vec<Replaced>> {
    let mut files: Vec<Replaced> = Vec::new();
    for record in store.records(session).await? {
        let trace = Trace::of(store, &record.id).await?;
        files.extend(trace.map_or_else(Vec::new, |trace| trace.files));
    }
    files.retain(|file| file.path == place);
    files.reverse();
    Ok(files)
}

/// Says what an agent wrote since into one of the files alone whose place another took, and how to get at it. `files` are those that
/// were replaced in one place, the newest first.
pub(crate) fn tell_left_behind(files: &[Replaced]) {
    let Some(place) = files.first().map(|file| &file.path) else { return };
    let mut left: Vec<(&Replaced, Left)> = Vec::new();
    for (file, one) in files.iter().flat_map(|file| file.left().into_iter().map(move |one| (file, one))) {
        match left.iter_mut().find(|(_, known)| known.path == one.path) {
            // A copy that was renewed held what it held before, and more.
            Some((_, known)) if known.bytes >= one.bytes => {}
            Some(known) => *known = (file, one),
            None => left.push((file, one)),
        }
    }
    // What was left first is what others begin with.
    left.sort_by_key(|(_, left)| left.bytes);
    let now = fs::read(place).ok();
    for (file, left) in left {
        let Some(more) = left.with_more() else { continue };
        if now.as_ref().is_some_and(|now| now.starts_with(&more)) {
            continue;
        }
        let (kept, n) = (paint::path(&left.path), paint::counted(more.len() as u64 - left.bytes, "byte"));
        say!("{kept} holds {n} more than the session had: an agent had it open");
        let copy = paint::for_shell(&left.path.to_string_lossy());
        say::with_whole("  shows them:", &format!("tail -c +{} {copy}", left.bytes + 1));
        match way_back(files, file.session(), now.as_deref(), &more) {
            Some(undone) => {
                let words = "  gives them back to the session, once the agent is left:";
                let into = paint::for_shell(&place.to_string_lossy());
                say::with_whole(words, &format!("{undone}cp {copy} {into}"));
            }
            None => {
                let place = paint::path(place);
                say!(
                    "  {place} has lines that the copy lacks, so that neither may take the other's place: leave the agent, and tell it \
                     there what the copy holds"
                );
            }
        }
    }
}

/// Returns the commands behind which a copy that holds `more` may take the place of the session that is `now` there, so that nothing
/// is lost that is in it: none, or as many steps back as lead to what the copy begins with. `None` where none do.
fn way_back(
    files: &[Replaced],
    session: Option<&SessionId>,
    now: Option<&[u8]>,
    more: &[u8],
) -> Option<String> {
    let Some(now) = now else { return Some(String::new()) };
    if more.starts_with(now) {
        return Some(String::new());
    }
    let (mut hash, mut undone, mut rest) = (ContentHash::of(now), String::new(), files);
    // What was made of what was made of it.
    while let Some(at) = rest.iter().position(|file| file.made(hash)) {
        undone.push_str(&format!("longhaul undo {}{} && ", session?, super::flags()));
        if rest[at].is_begun_by(more) {
            return Some(undone);
        }
        hash = rest[at].before;
        rest = &rest[at + 1..];
    }
    None
}
