//! Opening a store by its name: a path, or a server's URL.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{MemoryStore, StoreError, SummaryStore};

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In this process, for as long as it lives.
    Memory,
    /// In a file.
    File(PathBuf),
    /// On a server, as a URL.
    Server(String),
}

/// Opens the store that `url` names: `memory:`, a server's `postgres://…`, or else the path of a file (`sqlite:` may stand
/// before it), which is made where it is missing; its folder is not. A file whose name begins as a URL does (`notes:x.db`) is
/// named with its folder, `./notes:x.db`. Look at [`Location::may_exist`] first where a mistyped name is to be no new store.
///
/// # Errors
/// Those of [`Location::open`].
pub fn open_store(url: &str) -> Result<Arc<dyn SummaryStore>, StoreError> {
    Location::of(url).open(None)
}

impl Location {
    /// Returns the location that a URL or a path names.
    pub fn of(url: &str) -> Location {
        match url {
            "memory:" => Location::Memory,
            url if SCHEMES.iter().any(|scheme| url.starts_with(scheme)) => Location::Server(url.to_owned()),
            url => {
                let path = url.strip_prefix("sqlite:").unwrap_or(url);
                Location::File(path.strip_prefix("//").filter(|_| path != url).unwrap_or(path).into())
            }
        }
    }

    /// Returns the location as somebody means it who stands in `folder`: a relative path is one from there.
    #[must_use]
    pub fn seen_from(self, folder: &Path) -> Location {
        match self {
            Location::File(path) => Location::File(folder.join(path)),
            Location::Memory | Location::Server(_) => self,
        }
    }

    /// Returns whether there may be something in it. A server is there, or says so when it is asked; so does a file that
    /// cannot be looked at, or whose name is that of no store.
    pub fn may_exist(&self) -> bool {
        match self {
            Location::Memory => false,
            Location::File(path) => not_a_path(path).is_some() || path.try_exists().unwrap_or(true),
            Location::Server(_) => true,
        }
    }

    /// Opens the store, which is kept under `key` (64 hexadecimal digits) where one is given.
    ///
    /// # Errors
    /// When it cannot be opened or made, is no store of longhaul or of a newer version, has another key, has no use for one
    /// (memory), when its name is that of no store, or when this build lacks the feature that it needs.
    pub fn open(&self, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
        match self {
            Location::Memory if key.is_some() => {
                Err(StoreError::Locked { reason: "a key was given, and a store in memory keeps nothing" })
            }
            Location::Memory => Ok(Arc::new(MemoryStore::new())),
            Location::File(path) => match not_a_path(path) {
                Some(why) => Err(StoreError::backend("opening a store", why)),
                None => file(path, key),
            },
            Location::Server(url) => server(url, key),
        }
    }

    /// Opens the store to read what is in it: also where its file or its folder is locked, and nothing can be written.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); of a file that can be opened in neither way, why it cannot be read.
    pub fn open_to_read(&self, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
        match (self.open(key), self) {
            (Err(_), Location::File(path)) if path.is_file() => file_to_read(path, key),
            (opened, _) => opened,
        }
    }
}

#[cfg(feature = "sqlite")]
fn file_to_read(path: &Path, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    use crate::SqliteStore;
    match key {
        None => Ok(Arc::new(SqliteStore::open_to_read(path)?)),
        #[cfg(feature = "encryption")]
        Some(key) => {
            let key = crate::StoreKey::parse(key)?;
            Ok(Arc::new(SqliteStore::open_sealed_to_read(path, &key)?))
        }
        #[cfg(not(feature = "encryption"))]
        Some(_) => file(path, key),
    }
}

#[cfg(not(feature = "sqlite"))]
fn file_to_read(path: &Path, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    file(path, key)
}

impl fmt::Display for Location {
    /// The password of a URL, and its parameters, which may hold one, are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Memory => f.write_str("memory:"),
            Location::File(path) => path.display().fmt(f),
            Location::Server(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
                let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
                if !rest.contains('@') && parameters.contains('@') {
                    // The question mark may belong to a password: nothing before it is known to be no secret.
                    return write!(f, "{scheme}://…");
                }
                let (user, host) = rest.rsplit_once('@').unwrap_or(("", rest));
                let user = user.split_once(':').map_or(user, |(user, _)| user);
                let at = if user.is_empty() { "" } else { "@" };
                write!(f, "{scheme}://{user}{at}{host}")
            }
        }
    }
}

/// Returns why this is no path: it is the URL of something else or half of one, or names nothing. A file of that name would be
/// nobody's intention.
fn not_a_path(path: &Path) -> Option<String> {
    let name = path.to_string_lossy();
    // One letter is a drive of Windows.
    let is_scheme =
        |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let scheme = name.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
    match scheme {
        Some((scheme, rest)) if scheme != "memory" && !rest.starts_with("//") => {
            let is_server = SCHEMES.iter().any(|server| server.trim_end_matches("://") == scheme);
            let meant = if is_server { format!("`{scheme}://…` is a server's URL") } else { known_names() };
            Some(format!("`{scheme}:…` is no place: {meant}, and a file of this name is `./{scheme}:…`"))
        }
        Some(_) => Some(known_names()),
        None => (name.trim().is_empty() || ["memory", ":memory:"].contains(&&*name)).then(known_names),
    }
}

fn known_names() -> String {
    "its name is neither `memory:`, nor a path, nor a URL that begins with `sqlite:` or `postgres://`"
        .to_owned()
}

#[cfg(feature = "sqlite")]
fn file(path: &Path, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    use crate::SqliteStore;
    let Some(key) = key else { return Ok(Arc::new(SqliteStore::open(path)?)) };
    #[cfg(feature = "encryption")]
    {
        let key = crate::StoreKey::parse(key)?;
        Ok(Arc::new(SqliteStore::open_sealed(path, crate::Synchronous::Full, &key)?))
    }
    #[cfg(not(feature = "encryption"))]
    {
        let _ = key;
        Err(StoreError::Locked { reason: "a key was given, and this build has no `encryption` feature" })
    }
}

#[cfg(not(feature = "sqlite"))]
fn file(_: &Path, _: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    Err(StoreError::backend("opening a file", "this build has no `sqlite` feature"))
}

#[cfg(feature = "postgres")]
fn server(url: &str, key: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    let key = key.map(crate::StoreKey::parse).transpose()?;
    let options = crate::PostgresOptions { key, ..Default::default() };
    Ok(Arc::new(crate::PostgresStore::connect_with(url, options)?))
}

#[cfg(not(feature = "postgres"))]
fn server(_: &str, _: Option<&str>) -> Result<Arc<dyn SummaryStore>, StoreError> {
    Err(StoreError::backend("connecting to a server", "this build has no `postgres` feature"))
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for (given, expected) in [
            ("postgres://ann:s3cret@db.local:5432/agents", "postgres://ann@db.local:5432/agents"),
            ("postgresql://ann:a@b@db/agents?password=s3cret", "postgresql://ann@db/agents"),
            ("postgres://ann:s3?cret@db/agents", "postgres://…"),
            ("postgres://ann:s3/cret@db/agents?x=a@b", "postgres://ann@db/agents"),
            ("postgres://db", "postgres://db"),
            ("folder/postgres.db", "folder/postgres.db"),
            ("memory:", "memory:"),
        ] {
            assert_eq!(Location::of(given).to_string(), expected);
        }
    }

    #[test]
    fn a_url_of_something_else_is_no_path() {
        assert_eq!(Location::of("sqlite:folder/u.db"), Location::File("folder/u.db".into()));
        assert_eq!(Location::of("sqlite:///tmp/u.db"), Location::File("/tmp/u.db".into()));
        assert_eq!(Location::of("//server/u.db"), Location::File("//server/u.db".into()));
        for url in
            ["redis://h/1", "postgress://db", "mine://x", "sqlite::memory:", "", " ", "memory", "memory:x"]
        {
            let error = open_store(url).unwrap_err();
            assert!(
                std::error::Error::source(&error).unwrap().to_string().contains("neither"),
                "{url}: {error:?}"
            );
        }
    }

    #[test]
    fn a_relative_path_is_one_from_where_somebody_stands() {
        for (given, expected) in [
            ("u.db", "/work/u.db"),
            ("sqlite:u.db", "/work/u.db"),
            ("/u.db", "/u.db"),
            ("memory:", "memory:"),
            ("postgres://db/agents", "postgres://db/agents"),
        ] {
            assert_eq!(Location::of(given).seen_from("/work".as_ref()), Location::of(expected));
        }
    }

    #[test]
    fn half_a_url_is_no_path_and_says_how_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let why = |name: &str| Location::of(name).open(None).unwrap_err().to_string();
        assert_eq!(
            why("postgres:agents"),
            "opening a store failed: `postgres:…` is no place: `postgres://…` is a server's URL, and a file of this name is \
             `./postgres:…`"
        );
        for (name, hint) in [("redb:agents.db", "./redb:…"), ("mysql:u:s3cret@h/d", "./mysql:…")] {
            let why = why(name);
            assert!(Location::of(name).may_exist(), "whoever asks it is told why not");
            assert!(why.contains(hint) && why.contains("neither") && !why.contains("s3cret"), "{why}");
        }
        for name in ["C:\\u.db", "C:u.db", "./postgres:x", "a b:c.db", "notes.db"] {
            assert_eq!(not_a_path(name.as_ref()), None, "{name}");
        }
        assert_eq!(not_a_path(&folder.path().join("postgres:x")), None);
    }

    #[test]
    fn a_store_in_memory_has_no_use_for_a_key() {
        for key in ["not a key", &"0".repeat(64)] {
            let error = Location::Memory.open(Some(key)).unwrap_err();
            assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_folder_that_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mistyped").join("u.db");
        let error = open_store(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("mistyped") && error.contains("does not exist"), "{error}");
        assert!(!folder.path().join("mistyped").exists());
    }

    #[test]
    fn what_is_in_memory_is_there_at_once() {
        assert!(format!("{:?}", open_store("memory:").unwrap()).contains("MemoryStore"));
        assert!(!Location::Memory.may_exist());
    }

    #[test]
    fn what_cannot_be_looked_at_may_be_there() {
        let here = std::env::current_exe().unwrap();
        assert!(Location::File(here.join("no-folder.db")).may_exist());
        assert!(!Location::File(here.with_file_name("nothing.db")).may_exist());
    }
}
