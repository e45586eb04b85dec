//! Writing: data to stdout or, whole or not at all, to a file.

mod file;
mod lock;
mod same;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

pub(crate) use self::file::{Backup, Kept, NewFile, is_kept, move_over, name_beside, why_read_only};
pub(crate) use self::lock::Lock;
pub(crate) use self::same::{are_one_place, are_same, is_stdout};
use crate::{exit::Impossible, paint, say, stdout};

/// Where data goes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file; what is there is replaced as far as `over` says. Who may read a new one is told by `new`.
    File { path: PathBuf, over: Over, new: NewFile },
}

/// Which file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// None.
    Nothing,
    /// One that its owner did not lock.
    Unlocked,
    /// Any: the user said so.
    Anything,
}

impl Target {
    /// Returns the target that `-o` and `--force` name; a file that its owner locked stays. A file that is new there is the user's alone: what a
    /// conversation says is private.
    pub(crate) fn new(path: Option<&Path>, force: bool) -> Target {
        match path {
            // Where stdout is a pipe or a socket, these names cannot always be opened.
            Some(path) if !STDOUT_NAMES.iter().any(|name| path == Path::new(name)) => {
                let over = if force { Over::Unlocked } else { Over::Nothing };
                Target::File { path: path.into(), over, new: NewFile::Private }
            }
            _ => Target::Stdout,
        }
    }

    /// Returns the target for the file at `path`, whatever is there, unless it is read-only.
    pub(crate) fn unlocked(path: &Path) -> Target {
        Target::File { path: path.into(), over: Over::Unlocked, new: NewFile::Private }
    }

    /// The same, where a file that its owner locked is replaced as well.
    pub(crate) fn locked_too(self) -> Target {
        match self {
            Target::File { path, new, .. } => Target::File { path, over: Over::Anything, new },
            Target::Stdout => Target::Stdout,
        }
    }

    /// The same, where a file that is new is made as `new` says.
    pub(crate) fn made(self, new: NewFile) -> Target {
        match self {
            Target::File { path, over, .. } => Target::File { path, over, new },
            Target::Stdout => Target::Stdout,
        }
    }

    /// Fails early where the data could not be put in the end.
    pub(crate) fn check(&self) -> Result<()> {
        let Target::File { path, over, .. } = self else {
            return match stdout::was_closed() {
                true => bail!("stdout is closed: there is nowhere to write to"),
                false => Ok(()),
            };
        };
        let Ok(found) = path.metadata() else {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            return match folder.is_none_or(Path::is_dir) {
                true => Ok(()),
                false => bail!("{} cannot be written: there is no such folder", paint::path(path)),
            };
        };
        if found.is_dir() {
            bail!("{} is a directory; expected the name of a file", paint::path(path));
        }
        // Writing to a device or a pipe overwrites nothing.
        match over {
            Over::Nothing if found.is_file() => {
                bail!("{} exists; say --force to overwrite it", paint::path(path))
            }
            Over::Unlocked if found.is_file() => match why_read_only(path) {
                Some(why) => bail!(Impossible(format!("{} stays as it is: {why}", paint::path(path)))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Returns whether putting data here would replace something.
    pub(crate) fn replaces_something(&self) -> bool {
        let Target::File { path, .. } = self else { return false };
        path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0)
    }

    /// Returns whether putting data here would replace the file `other`.
    pub(crate) fn replaces(&self, other: &Path) -> bool {
        match self {
            Target::File { path, .. } => path.is_file() && are_same(path, other),
            Target::Stdout => false,
        }
    }

    /// Keeps others of us from the file that is to be replaced.
    pub(crate) fn lock(&self) -> Result<Option<Lock>> {
        match self {
            Target::File { path, .. } => Lock::of(path).map(Some),
            Target::Stdout => Ok(None),
        }
    }

    /// Writes `data`. A file appears whole or not at all: it is written beside its place and renamed. Links are
    /// followed, mode and owner of a file stay; a device or a pipe is written to.
    pub(crate) fn put(&self, data: &[u8]) -> Result<()> {
        match self {
            Target::Stdout => {
                self.check()?;
                say::data(data).context("stdout cannot be written")
            }
            Target::File { path, over, new } => {
                self.check()?;
                file::put(path, data, *over != Over::Nothing, *new)
                    .with_context(|| format!("{} cannot be written", paint::path(path)))
            }
        }
    }

    /// Does what [`put`](Self::put) does, and keeps the file that it replaces beside it; `between` is told where before anything
    /// is replaced, so that whoever is killed then is understood later; where it fails, nothing is. Returns where.
    pub(crate) fn put_with_backup(
        &self,
        data: &[u8],
        backup: Backup,
        between: impl FnOnce(&Kept) -> Result<()>,
    ) -> Result<Option<PathBuf>> {
        let Target::File { path, .. } = self else { return self.put(data).map(|()| None) };
        self.check()?;
        let kept = file::back_up(path, backup).with_context(|| {
            format!("no copy of {} can be kept beside it; nothing is written", paint::path(path))
        })?;
        // A second name of a file that was not replaced after all is no copy of it.
        let put = between(&kept).and_then(|()| self.put(data));
        put.inspect_err(|_| kept.take_away(path))?;
        Ok(Some(kept.path))
    }

    /// Does what [`put_with_backup`](Self::put_with_backup) does where a file is replaced that says something else and is
    /// not `ours` to replace.
    pub(crate) fn put_over(
        &self,
        data: &[u8],
        ours: impl Fn(&[u8]) -> bool,
        between: impl FnOnce(&Kept) -> Result<()>,
    ) -> Result<Option<PathBuf>> {
        self.check()?;
        let is_precious = match self {
            Target::File { path, .. } if path.is_file() => {
                let there =
                    fs::read(path).with_context(|| format!("{} cannot be read", paint::path(path)))?;
                !there.is_empty() && there != data && !ours(&there)
            }
            _ => false,
        };
        match is_precious {
            true => self.put_with_backup(data, Backup::OfEach, between),
            false => self.put(data).map(|()| None),
        }
    }
}

/// What stdout is called where a file is named.
const STDOUT_NAMES: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_after_all_leaves_no_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        let copy = folder.path().join("a.bak");
        let failed = |_: &Kept| bail!("the disk is full");
        let target = Target::unlocked(&path);
        assert!(target.put_with_backup(b"one two", Backup::OfTheNewest, failed).is_err());
        assert!(!copy.exists());
        // One that was there before stays, and is no second name of what goes on.
        target.put_with_backup(b"one two", Backup::OfTheNewest, |_| Ok(())).unwrap();
        assert!(target.put_with_backup(b"one two three", Backup::OfTheNewest, failed).is_err());
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&copy).unwrap()),
            (b"one two".to_vec(), b"one".to_vec())
        );
        assert!(!folder.path().join("a.left").exists());
        let same = target.put_with_backup(b"one two", Backup::OfEach, |_| Ok(())).unwrap();
        assert_eq!(same, Some(folder.path().join("a.bak2")));
        assert!(target.put_with_backup(b"one two three", Backup::OfEach, failed).is_err());
        let copy = folder.path().join("a.bak2");
        assert!(!are_same(&path, &copy) && fs::read(&copy).unwrap() == b"one two");
    }
}
