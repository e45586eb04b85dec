//! Writing: data to stdout or, whole or not at all, to a file.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// Where data goes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file; an existing one is replaced only where the flag says so.
    File { path: PathBuf, force: bool },
}

impl Target {
    /// Returns the target that `-o` and `--force` name.
    pub(crate) fn new(path: Option<&Path>, force: bool) -> Target {
        match path {
            Some(path) if path != Path::new("-") => Target::File { path: path.into(), force },
            _ => Target::Stdout,
        }
    }

    /// Fails early where the data could not be put in the end.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Target::File { path, force: false } if path.exists() => {
                bail!("{} exists; say --force to overwrite it", path.display())
            }
            Target::File { path, .. } if path.is_dir() => {
                bail!("{} is a directory; expected the name of a file", path.display())
            }
            _ => Ok(()),
        }
    }

    /// Writes `data`. A file appears whole or not at all: it is written beside its place and renamed.
    pub(crate) fn put(&self, data: &[u8]) -> Result<()> {
        match self {
            Target::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(data).and_then(|()| out.flush()).context("stdout cannot be written")
            }
            Target::File { path, force } => {
                self.check()?;
                replace(path, data, *force).with_context(|| format!("{} cannot be written", path.display()))
            }
        }
    }
}

fn replace(path: &Path, data: &[u8], force: bool) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(format!(".{}.longhaul-{}", name.to_string_lossy(), std::process::id()));
    let written = fs::File::create_new(&beside).and_then(|mut file| {
        file.write_all(data)?;
        file.sync_all()?;
        match force {
            true => fs::rename(&beside, path),
            // Linking fails where the name is taken, also by somebody who came in between.
            false => fs::hard_link(&beside, path).and_then(|()| fs::remove_file(&beside)),
        }
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        Target::new(Some(&path), false).put(b"one").unwrap();
        assert!(Target::new(Some(&path), false).put(b"two").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        Target::new(Some(&path), true).put(b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
