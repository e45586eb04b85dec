//! A store that is only read: with all that was written, and where nothing can be.

use std::{
    fs,
    os::unix::{
        ffi::OsStringExt as _,
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
};

use longhaul_store::{
    Location, SqliteStore, StoreError, SummaryStore,
    conformance::{block_on, said, session},
};

use crate::process::{part, play, tell, texts, told};

fn say(store: &SqliteStore, text: &str) {
    block_on(store.extend(&session("s"), &[said(text)], 1)).unwrap();
}

fn read(path: impl AsRef<Path>) -> Vec<String> {
    texts(&SqliteStore::open_to_read(path).unwrap())
}

#[test]
fn through_a_link_the_log_is_read_as_well() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, link) = (folder.path().join("history.db"), elsewhere.path().join("link.db"));
    symlink(&path, &link).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    say(&store, "it is in the log still");
    assert_eq!(read(&link), ["it is in the log still"]);
}

#[test]
fn beside_a_writer_that_has_just_cleared_the_log_what_it_writes_next_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let store = SqliteStore::open(&path).unwrap();
    say(&store, "it is in the file");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(other);
    assert_eq!(fs::metadata(folder.path().join("history.db-wal")).unwrap().len(), 0);
    let reader = SqliteStore::open_to_read(&path).unwrap();
    let held = |store: &SqliteStore| block_on(store.require(&session("s"))).unwrap().messages;
    assert_eq!(held(&reader), 1);
    say(&store, "hello");
    assert_eq!(held(&reader), 2);
}

#[test]
fn a_path_is_read_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let odd = PathBuf::from(std::ffi::OsString::from_vec(b"50% #\xff?x.db".to_vec()));
    let doubled = PathBuf::from(format!("/{}/plain.db", folder.path().display()));
    for path in [folder.path().join(odd), doubled] {
        say(&SqliteStore::open(&path).unwrap(), "hello");
        assert_eq!(read(&path), ["hello"], "{}", path.display());
    }
}

#[test]
fn child_reads_what_it_may_not_write() {
    let Some((path, _)) = part() else { return };
    for at in ["present.db", "left.db", "earlier.db", "closed.db"] {
        let location = Location::File(path.join(at));
        tell(&match location.open_to_read(None) {
            Ok(store) => texts(&*store).concat(),
            Err(error) => error.to_string(),
        });
    }
    tell("done");
}

#[test]
fn in_a_locked_folder_it_is_read_or_what_keeps_it_from_being_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let lock = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let stores = [("present.db", 0o444), ("left.db", 0o444), ("earlier.db", 0o444), ("closed.db", 0o000)];
    for (name, mode) in stores {
        let path = folder.path().join(name);
        say(&SqliteStore::open(&path).unwrap(), "hello");
        if name == "earlier.db" {
            rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();
        }
        lock(&path, mode);
    }
    // Who was killed while it closed the store has taken the log away, and not this.
    let left = folder.path().join("left.db-shm");
    fs::write(&left, b"").unwrap();
    lock(&left, 0o444);
    lock(folder.path(), 0o555);
    let mut child = play("reading::child_reads_what_it_may_not_write", folder.path(), 0);
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        // Nothing is locked for root.
        child.uid(NOBODY);
    }
    let lines = child.spawn().map(|mut child| told(&mut child, 5));
    lock(folder.path(), 0o755);
    let Ok(lines) = lines else { return eprintln!("skipped: nobody may not run this binary") };
    let earlier = "opening the database for reading failed: an earlier version made it; open it once where it may be \
                   written to";
    let closed = "opening the database for reading failed: Permission denied (os error 13)";
    assert_eq!(lines, ["hello", "hello", earlier, closed, "done"]);
}

#[test]
fn nothing_is_made_where_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open_to_read(folder.path().join("none.db")).unwrap_err();
    assert!(matches!(error, StoreError::Backend { .. }), "{error:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The user of Linux and BSD who owns nothing.
const NOBODY: u32 = 65_534;
