//! Where the store is, what opens it, and how it is named to people.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use std::sync::Arc;
use std::{env, fmt, fs, path::PathBuf};

use anyhow::{Context, Result, bail};

use super::Store;
use crate::args::StoreArgs;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a file.
    File(PathBuf),
    /// On a server, as a URL.
    Server(String),
}

impl Place {
    /// Returns whether there may be something in it. A server is there, or says so when it is asked.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Place::File(path) => path.exists(),
            Place::Server(_) => true,
        }
    }
}

impl fmt::Display for Place {
    /// The password of a URL, and its parameters, which may hold one, are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Server(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
                let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
                let (user, host) = rest.rsplit_once('@').unwrap_or(("", rest));
                let user = user.split_once(':').map_or(user, |(user, _)| user);
                let at = if user.is_empty() { "" } else { "@" };
                write!(f, "{scheme}://{user}{at}{host}")
            }
        }
    }
}

/// Returns where the store is: the flag's, `LONGHAUL_STORE`, or `longhaul/store.db` in the user's data directory.
pub(crate) fn place(args: &StoreArgs) -> Result<Place> {
    if let Some(path) = &args.store {
        let url = path.to_str().filter(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)));
        return Ok(url.map_or_else(|| Place::File(path.clone()), |url| Place::Server(url.to_owned())));
    }
    let configured = env::var_os("XDG_DATA_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local").join("share"));
    let Some(folder) = configured.or_else(home) else {
        bail!("there is no data directory: neither XDG_DATA_HOME nor HOME is set; name one with --store");
    };
    Ok(Place::File(folder.join("longhaul").join("store.db")))
}

/// Opens the store that `args` name, or the user's own.
pub(crate) fn open(args: &StoreArgs) -> Result<Store> {
    let (place, key) = (place(args)?, key_text(args)?);
    let opened = match &place {
        Place::File(path) => file(path, key.as_deref()),
        Place::Server(url) => server(url, key.as_deref()),
    };
    opened.with_context(|| format!("the store {place} cannot be opened"))
}

#[cfg(feature = "sqlite")]
fn file(path: &std::path::Path, key: Option<&str>) -> Result<Store> {
    use longhaul::store::SqliteStore;
    let Some(key) = key else { return Ok(Arc::new(SqliteStore::open(path)?)) };
    #[cfg(feature = "encryption")]
    {
        use longhaul::store::{Durability, StoreKey};
        Ok(Arc::new(SqliteStore::open_sealed(path, Durability::Full, &StoreKey::parse(key)?)?))
    }
    #[cfg(not(feature = "encryption"))]
    {
        let _ = key;
        bail!("a key was given, and this build has no `encryption` feature")
    }
}

/// A build without SQLite has no files to keep anything in.
#[cfg(not(feature = "sqlite"))]
fn file(_: &std::path::Path, _: Option<&str>) -> Result<Store> {
    bail!("this build has no `sqlite` feature")
}

#[cfg(feature = "postgres")]
fn server(url: &str, key: Option<&str>) -> Result<Store> {
    use longhaul::store::{PostgresOptions, PostgresStore, StoreKey};
    let mut options = PostgresOptions::default();
    options.key = key.map(StoreKey::parse).transpose()?;
    Ok(Arc::new(PostgresStore::connect_with(url, options)?))
}

#[cfg(not(feature = "postgres"))]
fn server(_: &str, _: Option<&str>) -> Result<Store> {
    bail!("this build has no `postgres` feature")
}

/// Returns the text of the key that the flags or the environment give.
fn key_text(args: &StoreArgs) -> Result<Option<String>> {
    if let Some(path) = &args.store_key_file {
        let text = fs::read_to_string(path);
        return text
            .map(Some)
            .with_context(|| format!("the file with the store's key, {}, cannot be read", path.display()));
    }
    match env::var("LONGHAUL_STORE_KEY") {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => bail!("LONGHAUL_STORE_KEY is no text"),
    }
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(store: &str) -> String {
        let args = StoreArgs { store: Some(store.into()), ..StoreArgs::default() };
        place(&args).unwrap().to_string()
    }

    #[test]
    fn a_password_is_not_shown() {
        for (given, expected) in [
            ("postgres://ann:s3cret@db.local:5432/agents", "postgres://ann@db.local:5432/agents"),
            ("postgresql://ann:a@b@db/agents?password=s3cret", "postgresql://ann@db/agents"),
            ("postgres://db", "postgres://db"),
            ("folder/postgres.db", "folder/postgres.db"),
        ] {
            assert_eq!(shown(given), expected);
        }
    }
}
