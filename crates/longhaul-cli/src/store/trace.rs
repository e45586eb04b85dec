//! What a compaction did to files: kept in the store beside its record, so that it can be taken back there too. It quotes
//! nothing that was said, and stays when something is forgotten in another session.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use longhaul::{
    redact::Redactor,
    store::lasting_key,
    transcript::{ContentHash, Redacted, SessionId, SummaryId},
    wire::Format,
};
use serde::{Deserialize, Serialize};

use super::Store;
use crate::{
    output::{Over, Target},
    paint, say,
};

/// What a compaction read, and what it replaced.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// The name of the format that the history is in.
    format: String,
    /// The files that were replaced; the same compaction may have been made more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<Replaced>,
    /// The files that were not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<PathBuf>,
}

/// A transcript in whose place its compacted history was put.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replaced {
    pub(crate) path: PathBuf,
    /// Where the transcript as it was is kept, or where something begins with it.
    pub(crate) backup: PathBuf,
    before: ContentHash,
    /// How long the transcript was: a session file only grows, and what it holds now begins with what it was.
    #[serde(default)]
    before_bytes: Option<u64>,
    after: ContentHash,
    #[serde(default)]
    after_bytes: Option<u64>,
    /// The session that was compacted; a branch of it begins with the same records, and has nothing to do with the file.
    #[serde(default)]
    session: Option<SessionId>,
    /// It is the transcript itself that was replaced, and no other file.
    #[serde(default = "yes")]
    pub(crate) is_transcript: bool,
}

fn yes() -> bool {
    true
}

/// What a file is, next to what a compaction made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As it was before, byte for byte.
    AsBefore,
    /// As the compaction left it.
    Compacted,
    /// As it was before, or before an earlier compaction, also with what somebody wrote behind that: the compaction is not in
    /// it.
    WithoutIt,
    /// Somebody wrote to it since.
    Changed,
    /// It is not there any more.
    Gone,
}

impl Trace {
    pub(crate) fn new(format: Format, file: Option<Replaced>, made: Option<&Path>) -> Trace {
        let made = made.and_then(|path| path.canonicalize().ok()).filter(|path| path.to_str().is_some());
        Trace {
            format: format.name().to_owned(),
            files: file.into_iter().collect(),
            made: made.into_iter().filter(|path| path.is_file()).collect(),
        }
    }

    /// Returns the format that the history is in.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.parse().ok()
    }

    /// Keeps it beside the record `id`, with what is kept there of other files. A name of a file that holds a secret is not
    /// kept. Returns whether the file that was replaced is.
    pub(crate) async fn keep(
        mut self,
        store: &Store,
        id: &SummaryId,
        redactor: Option<&Redactor>,
    ) -> Result<bool> {
        let json = serde_json::to_string(&self)?;
        if redactor.is_some_and(|redactor| !redactor.redact_json(&json).1.is_empty()) {
            self.files.clear();
            self.made.clear();
        }
        let is_kept = !self.files.is_empty();
        if let Some(before) = Trace::of(store, id).await? {
            let is_same = |file: &Replaced, known: &Replaced| {
                (&file.path, &file.session) == (&known.path, &known.session)
            };
            let is_other = |known: &Replaced| self.files.iter().all(|file| !is_same(file, known));
            self.files.splice(0..0, before.files.into_iter().filter(is_other).collect::<Vec<_>>());
            let is_other = |known: &PathBuf| !self.made.contains(known);
            self.made.splice(0..0, before.made.into_iter().filter(is_other).collect::<Vec<_>>());
        }
        self.put(store, id).await?;
        Ok(is_kept)
    }

    /// Lets go of the files that the compaction replaced: its record was forgotten. What format the session came in stays.
    pub(crate) async fn forget_files(mut self, store: &Store, id: &SummaryId) -> Result<()> {
        self.files.clear();
        self.made.clear();
        self.put(store, id).await
    }

    async fn put(&self, store: &Store, id: &SummaryId) -> Result<()> {
        let json = Redacted::assume(serde_json::to_vec(self)?);
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
        let (before_bytes, after_bytes) = (Some(before.len() as u64), Some(after.len() as u64));
        let (before, after) = (ContentHash::of(before), ContentHash::of(after));
        let (session, is_transcript) = (None, true);
        Some(Replaced {
            path: path?,
            backup: backup?,
            before,
            before_bytes,
            after,
            after_bytes,
            session,
            is_transcript,
        })
    }

    /// The same, of the session `id`.
    pub(crate) fn of(self, id: &SessionId, is_transcript: bool) -> Replaced {
        Replaced { session: Some(id.clone()), is_transcript, ..self }
    }

    /// Returns whether it was replaced by a compaction of `session`, as far as that is known.
    pub(crate) fn is_of(&self, session: &SessionId) -> bool {
        self.session.as_ref().is_none_or(|of| of == session)
    }

    /// Returns what the file is now. `earlier` are files that were replaced before it; this one may be back at what it was then.
    ///
    /// # Errors
    /// Where it is there and cannot be read.
    pub(crate) fn standing(&self, earlier: &[Replaced]) -> Result<Standing> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Standing::Gone),
            now => now.with_context(|| format!("{} cannot be read", paint::path(&self.path)))?,
        };
        let begins = |length: Option<u64>, hash: ContentHash| {
            let length = length.and_then(|length| usize::try_from(length).ok());
            length.and_then(|length| now.get(..length)).is_some_and(|start| ContentHash::of(start) == hash)
        };
        let is_back = |file: &Replaced| file.path == self.path && begins(file.before_bytes, file.before);
        Ok(match ContentHash::of(&now) {
            hash if hash == self.before => Standing::AsBefore,
            hash if hash == self.after => Standing::Compacted,
            _ if self.after_bytes.is_none() || begins(self.after_bytes, self.after) => Standing::Changed,
            _ if begins(self.before_bytes, self.before) || earlier.iter().any(is_back) => Standing::WithoutIt,
            _ => Standing::Changed,
        })
    }

    /// Returns whether the file is as the compaction left it.
    ///
    /// # Errors
    /// Where it may be and cannot be read.
    pub(crate) fn is_compacted(&self) -> Result<bool> {
        let length = fs::metadata(&self.path).map(|found| found.len());
        // Most files are told apart without reading them.
        let may_be = length.is_ok_and(|length| self.after_bytes.is_none_or(|after| after == length));
        Ok(may_be && self.standing(&[])? == Standing::Compacted)
    }

    /// Puts the file back as it was, `over` what stands there as the compaction left it.
    ///
    /// # Errors
    /// Where it cannot be written, or what it was is nowhere.
    pub(crate) fn put_back(&self, over: Over) -> Result<()> {
        let Some((before, _)) = self.was() else {
            let backup = paint::path(&self.backup);
            bail!("what it was, {backup}, is not there any more, or was changed")
        };
        let unlocked = Target::unlocked(&self.path);
        match over {
            Over::Anything => unlocked.locked_too(),
            _ => unlocked,
        }
        .put(&before)?;
        // What is kept beside it is what it is now, and not what was made of it here.
        if fs::read(&self.backup).is_ok_and(|kept| ContentHash::of(&kept) == self.after) {
            Target::unlocked(&self.backup).locked_too().put(&before)?;
        }
        Ok(())
    }

    /// Returns the transcript as it was, and in words where that is; `None` where it is nowhere.
    fn was(&self) -> Option<(Vec<u8>, String)> {
        [&self.backup, &self.path].into_iter().find_map(|file| {
            let (mut bytes, name) = (fs::read(file).ok()?, paint::path(file));
            if ContentHash::of(&bytes) == self.before {
                return Some((bytes, name));
            }
            let length = usize::try_from(self.before_bytes?).ok().filter(|length| *length < bytes.len())?;
            bytes.truncate(length);
            let words = format!("the first {length} bytes of {name}");
            (ContentHash::of(&bytes) == self.before).then_some((bytes, words))
        })
    }

    /// Returns how many bytes stand behind the transcript in its copy that are nowhere else: an agent that had it open when it was
    /// replaced goes on writing into what is the copy now.
    pub(crate) fn left_behind(&self) -> Option<u64> {
        let before = self.before_bytes?;
        // Most copies are told apart without reading them.
        fs::metadata(&self.backup).ok().filter(|found| found.len() > before)?;
        let kept = fs::read(&self.backup).ok()?;
        let begins = |length: Option<u64>, hash: ContentHash| {
            let start = usize::try_from(length?).ok().and_then(|length| kept.get(..length))?;
            (ContentHash::of(start) == hash).then_some(())
        };
        // A copy that a later compaction renewed holds what this one left.
        let is_of_this = begins(self.before_bytes, self.before).is_some();
        let is_renewed = begins(self.after_bytes, self.after).is_some();
        let is_elsewhere = || fs::read(&self.path).is_ok_and(|now| now.starts_with(&kept));
        (is_of_this && !is_renewed && !is_elsewhere()).then(|| kept.len() as u64 - before)
    }

    /// Says what an agent wrote into the copy alone, and how to get at it.
    pub(crate) fn tell_left_behind(&self) {
        let Some(bytes) = self.left_behind() else { return };
        let (kept, from) = (paint::path(&self.backup), self.before_bytes.unwrap_or_default() + 1);
        let bytes = paint::counted(bytes, "byte");
        say!("{kept} holds {bytes} more than the session had: an agent had it open");
        let copy = paint::for_shell(&self.backup.to_string_lossy());
        let into = paint::for_shell(&self.path.to_string_lossy());
        say::with_whole("  shows them:", &format!("tail -c +{from} {copy}"));
        let undone = match (self.standing(&[]), &self.session) {
            (Ok(Standing::AsBefore), _) | (_, None) => String::new(),
            (_, Some(session)) => format!("longhaul undo {session}{} && ", super::flags()),
        };
        let words = "  gives them back to the session, once the agent is left:";
        say::with_whole(words, &format!("{undone}cp {copy} {into}"));
    }

    /// Returns in words where the transcript as it was is; `None` where it is nowhere.
    pub(crate) fn where_it_was(&self) -> Option<String> {
        self.was().map(|(_, place)| place)
    }
}

/// Notes that these bytes are a history that was compacted here and recorded, with the record `id`.
pub(crate) async fn note_output(store: &Store, history: &[u8], id: &SummaryId) -> Result<()> {
    Ok(store.cache(&output_key(history), &Redacted::assume(id.0.as_bytes().to_vec())).await?)
}

/// Returns whether these bytes are a history that was compacted here and recorded: it can be made again, since the store has
/// what it was made from. The note itself outlives what is forgotten.
pub(crate) async fn is_output(store: &Store, bytes: &[u8]) -> Result<bool> {
    let Some(id) = store.cached(&output_key(bytes)).await?.and_then(|id| String::from_utf8(id).ok()) else {
        return Ok(false);
    };
    for session in store.sessions_with(&SummaryId(id.into())).await? {
        if store.state(&session).await?.is_some_and(|state| state.forgotten.is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn key(id: &SummaryId) -> ContentHash {
    lasting_key([b"trace of a compaction".as_slice(), id.0.as_bytes()])
}

fn output_key(history: &[u8]) -> ContentHash {
    lasting_key([b"history of a compaction".as_slice(), &ContentHash::of(history).0])
}
