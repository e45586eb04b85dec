//! One at a time: whoever compacts a file, or takes that back, waits for whoever is at it.

use std::{fs::File, path::Path};

use anyhow::{Context as _, Result};

use crate::{paint, pipe};

/// Keeps others of us from the file at a path for as long as it lives. Programs that ask for no lock are not kept from it.
#[derive(Debug)]
pub(crate) struct Lock {
    /// None where there is nothing to lock, or nothing can be locked there.
    _file: Option<File>,
}

impl Lock {
    /// Waits for the file at `path`. What is replaced is another file under the same name, so that is looked at again.
    ///
    /// # Errors
    /// Where somebody else has it for a minute.
    pub(crate) fn of(path: &Path) -> Result<Lock> {
        /// So often a file may be replaced while it is waited for.
        const TRIES: usize = 100;
        for _ in 0..TRIES {
            let Some(file) = lockable(path) else { break };
            match pipe::locked(file) {
                Ok(file) if super::same::is_opened(&file, path) => return Ok(Lock { _file: Some(file) }),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                    return Err(error).with_context(|| format!("{} cannot be had", paint::path(path)));
                }
                // A file system without locks.
                Err(_) => break,
            }
        }
        Ok(Lock { _file: None })
    }
}

/// Elsewhere a lock keeps its owner from reading the file, too.
#[cfg(not(unix))]
fn lockable(_: &Path) -> Option<File> {
    None
}

#[cfg(unix)]
fn lockable(path: &Path) -> Option<File> {
    path.is_file().then(|| File::open(path).ok()).flatten()
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, sync::mpsc, thread, time::Duration};

    use super::*;

    #[test]
    fn whoever_waits_gets_the_file_that_is_there_then() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "one").unwrap();
        let first = Lock::of(&path).unwrap();
        let (tell, told) = mpsc::channel();
        let waiting = path.clone();
        let second = thread::spawn(move || {
            let lock = Lock::of(&waiting).unwrap();
            tell.send(fs::read_to_string(&waiting).unwrap()).unwrap();
            lock
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "it waits");
        fs::write(&new, "two").unwrap();
        fs::rename(&new, &path).unwrap();
        drop(first);
        assert_eq!(told.recv().unwrap(), "two");
        let second = second.join().unwrap();
        assert!(
            super::super::same::is_opened(second._file.as_ref().unwrap(), &path),
            "not the one that is gone"
        );
    }
}
