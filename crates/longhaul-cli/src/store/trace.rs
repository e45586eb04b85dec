//! What a compaction did to a file: kept in the store beside its record, so that it can be taken back there too.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use longhaul::{
    redact::Redactor,
    transcript::{ContentHash, Redacted, SummaryId},
    wire::Format,
};
use serde::{Deserialize, Serialize};

use super::Store;
use crate::output::{NewFile, Target};

/// What a compaction read, and what it replaced.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// The name of the format that the history is in.
    format: String,
    /// The file that was replaced, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<Replaced>,
}

/// A transcript in whose place its compacted history was put.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replaced {
    pub(crate) path: PathBuf,
    /// Where the transcript as it was is kept.
    pub(crate) backup: PathBuf,
    before: ContentHash,
    after: ContentHash,
}

/// What became of a file when a compaction was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Back {
    /// It is as it was, byte for byte.
    Restored,
    /// Somebody wrote to it since, and it stays as it is.
    Changed,
    /// It stays as it is: what it was is not beside it any more.
    NoBackup,
    /// It is not there any more.
    Gone,
}

impl Trace {
    pub(crate) fn new(format: Format, file: Option<Replaced>) -> Trace {
        Trace { format: format.name().to_owned(), file }
    }

    /// Returns the format that the history is in.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// Keeps it beside the record `id`. A name of a file that holds a secret is not kept.
    pub(crate) async fn keep(
        mut self,
        store: &Store,
        id: &SummaryId,
        redactor: Option<&Redactor>,
    ) -> Result<()> {
        let json = serde_json::to_string(&self)?;
        if redactor.is_some_and(|redactor| !redactor.redact_json(&json).1.is_empty()) {
            self.file = None;
        }
        let json = Redacted::assume(serde_json::to_vec(&self)?);
        Ok(store.cache(&key(id), &json).await?)
    }

    /// Returns what is kept beside the record `id`.
    pub(crate) async fn of(store: &Store, id: &SummaryId) -> Result<Option<Trace>> {
        let json = store.cached(&key(id)).await?;
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }
}

impl Replaced {
    /// Returns what became of the file at `path`: `before` is kept as `backup`, and `after` stands there now. `None` where a
    /// name cannot be told.
    pub(crate) fn new(path: &Path, backup: &Path, before: &[u8], after: &[u8]) -> Option<Replaced> {
        let [path, backup] =
            [path, backup].map(|path| path.canonicalize().ok().filter(|path| path.to_str().is_some()));
        let (before, after) = (ContentHash::of(before), ContentHash::of(after));
        Some(Replaced { path: path?, backup: backup?, before, after })
    }

    /// Puts the file back as it was, where nobody wrote to it since.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub(crate) fn put_back(&self) -> Result<Back> {
        let Ok(now) = fs::read(&self.path) else { return Ok(Back::Gone) };
        if ContentHash::of(&now) != self.after {
            return Ok(Back::Changed);
        }
        match fs::read(&self.backup) {
            Ok(before) if ContentHash::of(&before) == self.before => {
                let target = Target::new(Some(&self.path), true).made(NewFile::Private);
                target.put(&before).map(|()| Back::Restored)
            }
            _ => Ok(Back::NoBackup),
        }
    }

    /// Returns whether the file is as it was before the compaction.
    pub(crate) fn is_as_before(&self) -> bool {
        fs::read(&self.path).is_ok_and(|now| ContentHash::of(&now) == self.before)
    }
}

fn key(id: &SummaryId) -> ContentHash {
    ContentHash::of_fields([b"trace of a compaction".as_slice(), id.0.as_bytes()])
}
