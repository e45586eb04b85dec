//! Whether two names are one file.

use std::{
    fs::{File, Metadata},
    path::Path,
};

/// Returns whether `one` and `other` are the same file, links followed. What is not there is the same as nothing.
pub(crate) fn are_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => is_same(&a, &b, || one.canonicalize().ok() == other.canonicalize().ok()),
        _ => false,
    }
}

/// Returns whether `file` is what stands at `path` now.
pub(crate) fn is_opened(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(a), Ok(b)) => is_same(&a, &b, || true),
        _ => false,
    }
}

/// Returns whether both names lead to one place, whether something is there yet or not.
pub(crate) fn are_one_place(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    one == other || are_same(one, other) || place(one).is_some_and(|one| Some(one) == place(other))
}

/// Returns whether stdout is the regular file at `path`: `longhaul … FILE >> FILE`.
#[cfg(unix)]
pub(crate) fn is_stdout(path: &Path) -> bool {
    use std::os::fd::AsFd as _;
    let opened = std::io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    match (opened.and_then(|stdout| stdout.metadata()), path.metadata()) {
        (Ok(stdout), Ok(file)) => file.is_file() && is_same(&stdout, &file, || false),
        _ => false,
    }
}

/// Only Unix tells which file stdout is.
#[cfg(not(unix))]
pub(crate) fn is_stdout(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata, _: impl FnOnce() -> bool) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata, by_name: impl FnOnce() -> bool) -> bool {
    by_name()
}
