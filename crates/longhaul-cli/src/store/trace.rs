//! What a compaction did to files: kept in the store beside its record, so that it can be taken back there too. It quotes
//! nothing that was said, and stays when something is forgotten in another session.

use std::{
    env, fs, io,
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

use super::{Left, Store, left::begins};
use crate::{
    found::{self, Reach},
    output::{self, NewFile, Over, Target, are_same},
    paint,
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
    /// The folder that the transcript lay in, where it is nothing that an agent keeps: then it is of that folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
}

/// A transcript in whose place its compacted history was put.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replaced {
    pub(crate) path: PathBuf,
    /// Where the transcript as it was is kept, or where something begins with it.
    pub(crate) backup: PathBuf,
    pub(super) before: ContentHash,
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
    /// Files that stood there once beside the one that was replaced last: copies from when the same compaction was made before, and
    /// what it made, where that was taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<Left>,
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
            folder: None,
        }
    }

    /// The same, of the transcript at `path`, or of one that came through a pipe.
    pub(crate) fn from(self, path: &Path) -> Trace {
        let folder = match path.is_file() {
            true if found::is_kept_by_an_agent(path) => None,
            true => path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)),
            false => env::current_dir().ok(),
        };
        Trace { folder: folder.filter(|folder| folder.to_str().is_some()), ..self }
    }

    /// Returns whether the transcript is of the folder `here`, as a session of an agent's may be. Who only looks finds there what was
    /// written there, too.
    pub(crate) fn is_of(&self, here: &Path, reach: Reach) -> bool {
        let written = || self.made.iter().chain(self.files.iter().map(|file| &file.path));
        let is_made_here = || written().any(|file| file.parent() == Some(here));
        self.folder.as_ref().is_some_and(|folder| reach.takes(folder, here))
            || reach == Reach::Around && is_made_here()
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
            self.folder = None;
        }
        let is_kept = !self.files.is_empty();
        if let Some(before) = Trace::of(store, id).await? {
            let is_same = |file: &Replaced, known: &Replaced| {
                (&file.path, &file.session) == (&known.path, &known.session)
            };
            for file in &mut self.files {
                let known = before.files.iter().filter(|known| is_same(file, known));
                let left: Vec<Left> = known.flat_map(Replaced::left).collect();
                left.into_iter().for_each(|left| file.add_left(left));
            }
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
        self.folder = None;
        self.put(store, id).await
    }

    /// Notes beside the record `id` what stood where `file` was put back.
    pub(crate) async fn note_left(
        store: &Store,
        id: &SummaryId,
        file: &Replaced,
        left: &[Left],
    ) -> Result<()> {
        let Some(mut trace) = Trace::of(store, id).await? else { return Ok(()) };
        let is_same = |known: &&mut Replaced| (&known.path, &known.session) == (&file.path, &file.session);
        for known in trace.files.iter_mut().filter(is_same) {
            left.iter().for_each(|left| known.add_left(left.clone()));
        }
        trace.put(store, id).await
    }

    async fn put(&self, store: &Store, id: &SummaryId) -> Result<()> {
        let json = Redacted::assume(serde_json::to_vec(self)?);
        Ok(store.cache(&key(id), &json).await?)
    }

    /// Returns what is kept beside each of these records, in their order.
    pub(crate) async fn of_all(store: &Store, ids: &[&SummaryId]) -> Result<Vec<Option<Trace>>> {
        let noted = store.all_cached(&ids.iter().map(|id| key(id)).collect::<Vec<_>>()).await?;
        Ok(noted.into_iter().map(|json| serde_json::from_slice(&json?).ok()).collect())
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
            left: Vec::new(),
        })
    }

    pub(super) fn session(&self) -> Option<&SessionId> {
        self.session.as_ref()
    }

    /// Returns whether the compaction made what has this hash.
    pub(super) fn made(&self, hash: ContentHash) -> bool {
        self.after == hash
    }

    /// Returns whether `bytes` begin with the transcript as it was.
    pub(super) fn is_begun_by(&self, bytes: &[u8]) -> bool {
        begins(bytes, self.before_bytes, self.before)
    }

    /// Returns the files that somebody may still have open that stood there, each once.
    pub(crate) fn left(&self) -> Vec<Left> {
        let copy = |bytes| Left { path: self.backup.clone(), held: self.before, bytes };
        let mut left: Vec<Left> = self.before_bytes.map(copy).into_iter().collect();
        left.extend(self.left.iter().filter(|left| left.path != self.backup).cloned());
        left
    }

    pub(crate) fn add_left(&mut self, left: Left) {
        self.left.retain(|known| known.path != left.path);
        if left.path != self.backup {
            self.left.push(left);
        }
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
        let is_back = |file: &Replaced| file.path == self.path && file.is_begun_by(&now);
        Ok(match ContentHash::of(&now) {
            hash if hash == self.before => Standing::AsBefore,
            hash if hash == self.after => Standing::Compacted,
            _ if self.after_bytes.is_none() || begins(&now, self.after_bytes, self.after) => {
                Standing::Changed
            }
            _ if self.is_begun_by(&now) || earlier.iter().any(is_back) => Standing::WithoutIt,
            _ => Standing::Changed,
        })
    }

    /// Returns how many bytes the compaction made of `now`, where that begins with what it made: of several the one that made the
    /// most is the newest.
    pub(crate) fn made_of(&self, now: &[u8]) -> Option<u64> {
        self.after_bytes.filter(|_| begins(now, self.after_bytes, self.after))
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

    /// Keeps names for what is to be replaced when the file is put back, where an agent may have it open: nobody would find
    /// otherwise what it writes then. A file system without links has no second names.
    pub(crate) fn keep_names(&self) -> Vec<Left> {
        let Some(bytes) = self.after_bytes.filter(|_| self.is_appended_to()) else { return Vec::new() };
        let mut kept: Vec<Left> = Vec::new();
        for file in [Some(&self.path), self.copy_of_what_was_made()].into_iter().flatten() {
            let is_spent = |path: &Path| {
                let is_known = |left: &Left| left.path == path && left.is_untouched();
                are_same(path, file)
                    || self.left.iter().any(is_known) && kept.iter().all(|one| one.path != path)
            };
            if let Ok(path) = output::name_beside(&self.path, ".undone", file, is_spent) {
                kept.push(Left { path, held: self.after, bytes });
            }
        }
        kept
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
        let target = match over {
            Over::Anything => unlocked.locked_too(),
            _ => unlocked,
        };
        // Where it is gone.
        let target = target.made(NewFile::like(&self.backup));
        target.check()?;
        // The file itself, where nothing was written to it: an agent that has it open since then writes into the session again. It
        // has no second name then, under which that would be written, too.
        let is_whole = || fs::read(&self.backup).is_ok_and(|kept| kept == before);
        let is_itself =
            self.is_appended_to() && is_whole() && output::move_over(&self.backup, &self.path).is_ok();
        if !is_itself {
            target.put(&before)?;
        }
        // What is kept beside it is what it was, and not what was made of it here. One that stays is no reason to say that it failed.
        if let Some(copy) = self.copy_of_what_was_made() {
            let _ = fs::remove_file(copy);
        }
        if !self.backup.exists() {
            self.bring_back_the_copy_before(&before);
        }
        Ok(())
    }

    /// Gives the copy that the compaction renewed its name again: an earlier compaction goes by it. It is made anew of `before`, which
    /// begins with it, where something was written to it since, or it is gone. Where that fails there is none, and the session has it.
    fn bring_back_the_copy_before(&self, before: &[u8]) {
        let was_copy =
            |left: &&Left| left.bytes < before.len() as u64 && begins(before, Some(left.bytes), left.held);
        let Some(left) = self.left.iter().filter(was_copy).max_by_key(|left| left.bytes) else { return };
        if left.is_untouched() && output::move_over(&left.path, &self.backup).is_ok() {
            return;
        }
        let target = Target::unlocked(&self.backup).made(NewFile::like(&self.path));
        let _ = target.put(&before[..left.bytes as usize]);
    }

    /// Returns whether the compaction went behind what the session held: then it is a file that only grows.
    fn is_appended_to(&self) -> bool {
        self.is_transcript && fs::read(&self.path).is_ok_and(|now| self.is_begun_by(&now))
    }

    /// Returns the copy, where it holds what the compaction made: a later one renewed it.
    fn copy_of_what_was_made(&self) -> Option<&PathBuf> {
        let holds = fs::read(&self.backup).is_ok_and(|kept| ContentHash::of(&kept) == self.after);
        Some(&self.backup).filter(|_| holds)
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
