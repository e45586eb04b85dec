//! A transcript that nothing is recorded of: what was said in it can be looked up as well.

use std::path::{Path, PathBuf};

use anyhow::Result;
use longhaul::{
    redact::Redactor, redacted_messages, session_of, store::SummaryStore as _, transcript::SessionId,
    wire::Document,
};

use super::{Archive, summary_id};
use crate::{
    found::{self, Reach},
    input, paint,
};

/// One, in a store that is gone with the process.
pub(crate) struct Unrecorded {
    pub(crate) archive: Archive,
    pub(crate) session: SessionId,
    /// What of the query is looked for in it.
    pub(crate) words: String,
    /// What it was named by, where it was named.
    pub(crate) typed: Option<String>,
}

impl Unrecorded {
    /// Returns the transcript that a query for `recorded` begins with the name of, or this folder's newest session where nothing of the
    /// folder is recorded, and says which it is; `None` where what is recorded is meant, or nothing is there.
    pub(crate) fn meant(recorded: Option<&Archive>, query: &[String]) -> Result<Option<Unrecorded>> {
        let Some((path, typed, words)) = file_meant(recorded, query)? else { return Ok(None) };
        let Ok(document) = input::document(&path, None) else { return Ok(None) };
        if let Some(recorded) = recorded
            && recorded.recorded_of(&path, &document)?.is_some()
        {
            return Ok(None);
        }
        say!("nothing is recorded of {}: looked for in the file itself", paint::path(&path));
        let (archive, session) = taken_in(&path, &document)?;
        Ok(Some(Unrecorded { archive, session, words, typed }))
    }
}

/// Returns the file, how it was named, and what is looked for in it.
fn file_meant(
    recorded: Option<&Archive>,
    query: &[String],
) -> Result<Option<(PathBuf, Option<String>, String)>> {
    let Some((first, rest)) = query.split_first() else { return Ok(None) };
    if !rest.is_empty() {
        let is_known = |archive: &Archive| archive.names_a_session(first);
        if first == "all" || recorded.map_or(Ok(false), is_known)? {
            return Ok(None);
        }
        if let Some(path) = file_named(first) {
            return Ok(Some((path, Some(first.clone()), rest.join(" "))));
        }
    }
    let words = query.join(" ");
    let of_here = recorded.map_or(Ok(None), |archive| archive.newest(Reach::Around))?;
    if summary_id(&words).is_some() || of_here.is_some() {
        return Ok(None);
    }
    Ok(found::newest().map(|found| (found.path, None, words)))
}

/// Returns the file of this name, or of the one session whose id it is a part of.
fn file_named(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_file() {
        return Some(path.to_owned());
    }
    let mut meant = found::all().into_iter().filter(|found| found::is_part(name, &found.id()));
    meant.next().filter(|_| meant.next().is_none()).map(|found| found.path)
}

fn taken_in(path: &Path, document: &Document) -> Result<(Archive, SessionId)> {
    let archive = Archive::in_memory()?;
    let session =
        document.session_id().or_else(|| found::id_at(path)).unwrap_or_else(|| session_of(document));
    let said = redacted_messages(document, Some(&Redactor::builtin()));
    archive.wait(archive.store.extend(&session, &said, 0))?;
    Ok((archive, session))
}
