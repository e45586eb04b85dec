//! Putting a file in its place: whole or not at all, through links, with the mode and owner that it had.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use super::are_same;
use crate::pipe;

/// Who may read a file that is new. One that was there before keeps its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// Its owner alone.
    Private,
    /// Whoever may read a file of this mode; on Unix, else as usual.
    Mode(u32),
    /// Whoever the system lets read a new file.
    AsUsual,
}

impl NewFile {
    /// Returns that a new file is to be read by those who may read the file at `path`; by its owner alone where that is
    /// no regular file.
    #[cfg(unix)]
    pub(crate) fn like(path: &Path) -> NewFile {
        use std::os::unix::fs::MetadataExt as _;
        match path.metadata() {
            Ok(found) if found.is_file() => NewFile::Mode(found.mode() & 0o666 | 0o600),
            _ => NewFile::Private,
        }
    }

    /// There are no modes to take over.
    #[cfg(not(unix))]
    pub(crate) fn like(_: &Path) -> NewFile {
        NewFile::AsUsual
    }
}

/// Which copies are kept beside a file that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backup {
    /// One of each text that it held.
    OfEach,
    /// The newest, in the place of an earlier one that it begins with: a file that only grows holds what it was.
    OfTheNewest,
}

/// How many links may follow each other, as on Linux.
const MAX_LINKS: usize = 40;

/// How many names are tried for a file beside another.
const MAX_NAMES: usize = 1_000;

/// Puts `data` where `path` leads. What is neither file nor directory there is written to and never replaced.
pub(super) fn put(path: &Path, data: &[u8], force: bool, new: NewFile) -> io::Result<()> {
    match fs::metadata(path) {
        // A store of any name holds what is nowhere else; no history is worth it.
        Ok(found) if found.is_file() && is_database(path)? => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a SQLite database, which is not replaced",
        )),
        Ok(found) if found.is_file() => match force {
            true => replace(&followed(path)?, data, Some(&found), new),
            false => Err(io::ErrorKind::AlreadyExists.into()),
        },
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => {
            // Opened by the name that was given: the link `/dev/fd/3` leads to a pipe that has no name of its own.
            let mut device = pipe::opened_to_write(path)?;
            device.write_all(data).and_then(|()| device.flush())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&followed(path)?, data, None, new),
        Err(error) => Err(error),
    }
}

/// Returns whether the file at `path` begins as SQLite's files do.
fn is_database(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(SQLITE.len() as u64).read_to_end(&mut start)?;
    Ok(start == SQLITE)
}

/// What each SQLite database begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Returns why the file at `path` is not to be replaced: its owner, or that of its folder, locked it. Who has every right could replace
/// it all the same.
pub(crate) fn why_read_only(path: &Path) -> Option<&'static str> {
    let place = followed(path).ok()?;
    if fs::metadata(&place).ok()?.permissions().readonly() {
        return Some("it is read-only");
    }
    // Nothing is written. What a file says of itself is not all that decides.
    if OpenOptions::new().write(true).open(&place).is_err() {
        return Some("it may not be written to");
    }
    let is_locked = |folder: Metadata| cfg!(unix) && folder.permissions().readonly();
    fs::metadata(folder_of(&place)).is_ok_and(is_locked).then_some("its folder is read-only")
}

/// A copy of a file that is to be replaced.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    /// The name that an earlier copy has now, in whose place this one is: an agent may have that file open.
    pub(crate) left: Option<PathBuf>,
    /// There was no such file before.
    is_new: bool,
}

impl Kept {
    /// Takes the copy away again, where it was made for nothing: what is not replaced goes on being written to, and its second name
    /// would be no copy. An earlier copy has its name again; where it has none any more, there is no copy.
    pub(super) fn take_away(&self, file: &Path) {
        let _ = match &self.left {
            Some(left) => fs::rename(left, &self.path),
            None if self.is_new => fs::remove_file(&self.path),
            None if are_same(&self.path, file) => {
                copied(file, &self.path).or_else(|_| fs::remove_file(&self.path))
            }
            None => Ok(()),
        };
    }
}

/// Keeps the file that `path` leads to under a name of its own beside it: `session.jsonl.bak`, `.bak2` and so on. Returns
/// that name; one of these, where it holds the same bytes already.
pub(super) fn back_up(path: &Path, backup: Backup) -> io::Result<Kept> {
    let place = followed(path)?;
    let new = |path| Kept { path, left: None, is_new: true };
    let renewed = |path: PathBuf, renew: &dyn Fn(&Path) -> io::Result<()>| {
        let may_be_open = backup == Backup::OfTheNewest && !are_same(&path, &place);
        let left = may_be_open.then(|| name_beside(&place, ".left", &path, |_| false).ok()).flatten();
        renew(&path).map(|()| Kept { path, left, is_new: false })
    };
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let named = |number: u32| backup_of(&place, number);
    let numbers = backups(&place, name);
    for number in numbers.iter().rev() {
        if has_same_bytes(&named(*number), &place).unwrap_or(false) {
            // What an agent writes that has the file open goes where that file is.
            return renewed(named(*number), &|kept: &Path| {
                let _ = link_over(&place, kept);
                Ok(())
            });
        }
    }
    let copy_to = |kept: &Path| link_over(&place, kept).or_else(|_| copied(&place, kept));
    let mut number = numbers.last().copied().unwrap_or_default();
    let holds = |earlier: &Path| Ok::<_, io::Error>(fs::read(&place)?.starts_with(&fs::read(earlier)?));
    if backup == Backup::OfTheNewest && number > 0 && holds(&named(number)).unwrap_or(false) {
        return renewed(named(number), &copy_to);
    }
    loop {
        number += 1;
        // A second name for the same bytes costs nothing and cannot be half written.
        match fs::hard_link(&place, named(number)) {
            Ok(()) => return Ok(new(named(number))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // A file system without links.
            Err(_) => return copy_to(&named(number)).map(|()| new(named(number))),
        }
    }
}

/// Puts what the file at `place` holds into a file of its own, `kept`.
fn copied(place: &Path, kept: &Path) -> io::Result<()> {
    replace(kept, &fs::read(place)?, Some(&fs::metadata(place)?), NewFile::Private)
}

/// Gives `file` a second name beside `path`, which ends in `ending`, or `ending` and a number: one that nothing has, or something
/// that `is_spent`. Returns it.
///
/// # Errors
/// Also where the file system has no second names.
pub(crate) fn name_beside(
    path: &Path,
    ending: &str,
    file: &Path,
    is_spent: impl Fn(&Path) -> bool,
) -> io::Result<PathBuf> {
    let place = followed(path)?;
    for number in 1..=MAX_NAMES as u32 {
        let named = numbered(&place, ending, number);
        match fs::hard_link(file, &named) {
            Ok(()) => return Ok(named),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if is_spent(&named) {
            return link_over(file, &named).map(|()| named);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes `kept` a second name of the file at `place`, in one step. Whoever has the file open goes on writing into it when
/// another takes its place: what is written then is to have a name.
pub(crate) fn link_over(place: &Path, kept: &Path) -> io::Result<()> {
    let (hidden, file) = beside(kept, NewFile::Private)?;
    drop(file);
    fs::remove_file(&hidden)?;
    fs::hard_link(place, &hidden)?;
    let renamed = fs::rename(&hidden, kept);
    // Two names of one file are not renamed.
    let _ = fs::remove_file(&hidden);
    renamed.inspect(|()| sync_folder(kept))
}

/// Puts the file `kept` where `path` leads, in one step, and leaves nothing under its own name.
pub(crate) fn move_over(kept: &Path, path: &Path) -> io::Result<()> {
    let place = followed(path)?;
    match are_same(kept, &place) {
        // Two names of one file are not renamed.
        true => fs::remove_file(kept)?,
        false => fs::rename(kept, &place)?,
    }
    sync_folder(&place);
    Ok(())
}

/// Returns whether one of the backups of the file that `path` leads to holds these bytes.
pub(crate) fn is_kept(path: &Path, bytes: &[u8]) -> bool {
    let Ok(place) = followed(path) else { return false };
    let numbers = place.file_name().map_or_else(Vec::new, |name| backups(&place, name));
    numbers.into_iter().any(|number| fs::read(backup_of(&place, number)).is_ok_and(|kept| kept == bytes))
}

fn backup_of(place: &Path, number: u32) -> PathBuf {
    numbered(place, ".bak", number)
}

/// Returns the name of `place` with this ending, from the second on with a number.
fn numbered(place: &Path, ending: &str, number: u32) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(if number == 1 { ending.to_owned() } else { format!("{ending}{number}") });
    place.with_file_name(name)
}

/// Returns the numbers of the backups of `place`, whose name is `name`, in order.
fn backups(place: &Path, name: &std::ffi::OsStr) -> Vec<u32> {
    let prefix = format!("{}.bak", name.to_string_lossy());
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name();
        entry.file_type().ok().filter(fs::FileType::is_file)?;
        match name.to_string_lossy().strip_prefix(&prefix)? {
            "" => Some(1),
            number => number.parse().ok().filter(|number| *number > 1),
        }
    };
    let entries = fs::read_dir(folder_of(place)).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries.filter_map(number).filter(|number| *number < u32::MAX).collect();
    numbers.sort_unstable();
    numbers
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(fs::metadata(one)?.len() == fs::metadata(other)?.len() && fs::read(one)? == fs::read(other)?)
}

/// Returns where `path` leads, also where nothing is there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            // No link, or nothing.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("links lead in a circle"))
}

/// Writes `data` beside `place` and renames it there. `old` is what is replaced.
fn replace(place: &Path, data: &[u8], old: Option<&Metadata>, new: NewFile) -> io::Result<()> {
    let (beside, mut file) = beside(place, if old.is_some() { NewFile::Private } else { new })?;
    let mut write = || {
        file.write_all(data)?;
        if let Some(old) = old {
            keep_owner(&file, old);
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        match old {
            Some(_) => fs::rename(&beside, place),
            None => appear(&beside, place),
        }
    };
    let written = write();
    match &written {
        Ok(()) => sync_folder(place),
        Err(_) => drop(fs::remove_file(&beside)),
    }
    written
}

/// Gives the file at `beside` the name `place`, unless somebody else took it in between.
fn appear(beside: &Path, place: &Path) -> io::Result<()> {
    match fs::hard_link(beside, place) {
        Ok(()) => fs::remove_file(beside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links: the name is taken by an empty file, and that is replaced.
        Err(_) => {
            File::create_new(place)?;
            fs::rename(beside, place).inspect_err(|_| drop(fs::remove_file(place)))
        }
    }
}

/// Opens a new file beside `place`, hidden.
fn beside(place: &Path, new: NewFile) -> io::Result<(PathBuf, File)> {
    /// So that the name with its additions is no longer than file systems take.
    const LONGEST: usize = 200;
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let name = if name.len() <= LONGEST { name } else { OsStr::new("long") };
    sweep(place, name);
    for n in 0..MAX_NAMES {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".longhaul-{}-{n}", std::process::id()));
        let beside = place.with_file_name(hidden);
        match open_new(&beside, new) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (beside, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes what a run that was killed left beside `place`.
fn sweep(place: &Path, name: &OsStr) {
    /// Nobody writes for so long.
    const OLD: Duration = Duration::from_secs(3_600);
    let hidden = format!(".{}.longhaul-", name.to_string_lossy());
    for entry in fs::read_dir(folder_of(place)).into_iter().flatten().flatten() {
        let is_left =
            entry.file_name().to_str().and_then(|name| name.strip_prefix(&hidden)).is_some_and(is_numbered);
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_left && age().is_some_and(|age| age > OLD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns whether this is what stands behind our mark in a name: a process and a number. A file of the user's may be called
/// much like that.
fn is_numbered(end: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    end.split_once('-').is_some_and(|(process, n)| is_number(process) && is_number(n))
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn open_new(path: &Path, new: NewFile) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mode = match new {
        NewFile::Private => 0o600,
        NewFile::Mode(mode) => mode,
        NewFile::AsUsual => 0o666,
    };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn open_new(path: &Path, _: NewFile) -> io::Result<File> {
    File::create_new(path)
}

/// Gives `file` the owner and group of `old`, as far as the user may.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let is_other = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) != (old.uid(), old.gid()));
    // The owner only root may give away; the group everybody who is in it.
    if is_other && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = fchown(file, None, Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Makes the new name last: a power cut could take it back otherwise. Where folders cannot be synced, this does nothing.
fn sync_folder(place: &Path) {
    let _ = File::open(folder_of(place)).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        put(&path, b"one", false, NewFile::Private).unwrap();
        assert!(put(&path, b"two", false, NewFile::Private).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        put(&path, b"three", true, NewFile::Private).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(names(folder.path()), ["out.json"], "nothing is left beside it");
    }

    #[test]
    fn backups_do_not_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for text in ["one", "two"] {
            put(&path, text.as_bytes(), true, NewFile::Private).unwrap();
            back_up(&path, Backup::OfEach).unwrap();
        }
        put(&path, b"three", true, NewFile::Private).unwrap();
        let said = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(names(folder.path()), ["a", "a.bak", "a.bak2"]);
        assert_eq!(["a", "a.bak", "a.bak2"].map(said), ["three", "one", "two"]);
    }

    #[test]
    fn the_newest_backup_takes_the_place_of_one_that_it_begins_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let kept = |text: &str| {
            put(&path, text.as_bytes(), true, NewFile::Private).unwrap();
            back_up(&path, Backup::OfTheNewest).unwrap().path.file_name().unwrap().to_owned()
        };
        assert_eq!(
            ["one", "one two", "one two three", "one two"].map(kept),
            ["a.bak", "a.bak", "a.bak", "a.bak2"]
        );
        let said = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(["a.bak", "a.bak2"].map(said), ["one two three", "one two"]);
        assert_eq!(kept("one two three"), "a.bak", "what is kept already is not kept twice");
    }

    #[test]
    fn what_a_killed_run_left_goes_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".a.longhaul-7-0", ".a.longhaul-8-0", ".ab.longhaul-7-0"] {
            fs::write(at(name), "half").unwrap();
        }
        let old = std::time::SystemTime::now() - Duration::from_secs(4_000);
        for name in [".a.longhaul-7-0", ".ab.longhaul-7-0"] {
            File::options().write(true).open(at(name)).unwrap().set_modified(old).unwrap();
        }
        put(&at("a"), b"whole", false, NewFile::Private).unwrap();
        assert_eq!(names(folder.path()), [".a.longhaul-8-0", ".ab.longhaul-7-0", "a"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/real"), "old").unwrap();
        symlink("deep/real", at("link")).unwrap();
        symlink("link", at("second")).unwrap();
        symlink("deep/unborn", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        put(&at("second"), b"new", true, NewFile::Private).unwrap();
        put(&at("dangling"), b"born", false, NewFile::Private).unwrap();
        assert!(put(&at("circle"), b"x", true, NewFile::Private).is_err());
        assert_eq!(fs::read(at("deep/real")).unwrap(), b"new");
        assert_eq!(fs::read(at("deep/unborn")).unwrap(), b"born");
        for link in ["link", "second", "dangling"] {
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        }
        assert_eq!(names(&at("deep")), ["real", "unborn"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_stay_and_new_files_are_as_private_as_asked() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let old = folder.path().join("old");
        for wanted in [0o600, 0o640, 0o755] {
            fs::write(&old, "x").unwrap();
            fs::set_permissions(&old, fs::Permissions::from_mode(wanted)).unwrap();
            put(&old, b"y", true, NewFile::AsUsual).unwrap();
            assert_eq!(mode(&old), wanted);
        }
        let new = folder.path().join("new");
        put(&new, b"y", false, NewFile::Private).unwrap();
        assert_eq!(mode(&new), 0o600);
        fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
        let like = folder.path().join("like");
        put(&like, b"y", false, NewFile::like(&old)).unwrap();
        assert_eq!(mode(&like), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_stays_one() {
        use std::os::unix::fs::FileTypeExt as _;
        put(Path::new("/dev/null"), b"gone", true, NewFile::Private).unwrap();
        put(Path::new("/dev/null"), b"gone", false, NewFile::Private).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
