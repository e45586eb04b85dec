//! Where the store is, and what opens it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Context, Result, bail};
use longhaul::{
    store::{Location, StoreError, lasting_key},
    transcript::Redacted,
};

use super::Store;
use crate::{args::StoreArgs, exit::Impossible, output::are_one_place, paint, pipe};

/// The variable that holds the store's key.
pub(crate) const KEY: &str = "LONGHAUL_STORE_KEY";

/// Returns where the store is: the flag's, `LONGHAUL_STORE`, or `longhaul/store.db` in the user's data directory.
///
/// # Errors
/// Also where it is to be kept under a key that this build has no use for: what is written there would be readable.
pub(crate) fn place(args: &StoreArgs) -> Result<Location> {
    must_take_key(args)?;
    place_of(args)
}

fn place_of(args: &StoreArgs) -> Result<Location> {
    let Some(path) = &args.store else { return Ok(Location::File(data_folder()?.join("store.db"))) };
    let place = match &args.folder {
        Some(folder) => named(path).seen_from(folder),
        None => named(path),
    };
    if place == Location::Memory {
        let said = "a store in memory is gone when the command ends; name a file or a database, or keep nothing (--no-store)";
        bail!(Impossible(said.to_owned()));
    }
    Ok(place)
}

/// Returns the location that a path or a URL names.
fn named(place: &Path) -> Location {
    place.to_str().map_or_else(|| Location::File(place.to_owned()), Location::of)
}

/// What stands behind a command of ours that is to find the store that this process opened.
static FLAGS: OnceLock<String> = OnceLock::new();

/// Returns what is to stand behind a command that is printed to be typed, with a blank before it, so that it finds the store that
/// this process opened; nothing where the command finds it by itself.
pub(crate) fn flags() -> &'static str {
    FLAGS.get().map_or("", String::as_str)
}

/// Returns the flags for a person's shell: where they are typed nobody knows, and a variable says the same everywhere only of a path from
/// the root. What is secret in a server's address is not in them.
fn flags_to_type(args: &StoreArgs) -> Result<String> {
    let mut flags = String::new();
    if args.store.is_some() {
        let place = place(args)?;
        let is_told = env::var_os("LONGHAUL_STORE").is_some_and(|told| named(told.as_ref()) == place);
        let is_anywhere = place.clone().seen_from("/".as_ref()) == place;
        if !(is_usual(&place) || is_anywhere && is_told) {
            let named = match place {
                Location::File(path) => whole(&path),
                server => server.to_string(),
            };
            flags.push_str(&format!(" --store {}", paint::for_shell(&named)));
        }
    }
    let told = env::var_os("LONGHAUL_STORE_KEY_FILE");
    let is_told = |path: &Path| path.is_absolute() && told.as_ref().is_some_and(|told| told == path);
    if let Some(path) = args.store_key_file.as_ref().filter(|path| !is_told(path)) {
        flags.push_str(&format!(" --store-key-file {}", paint::for_shell(&whole(path))));
    }
    Ok(flags)
}

/// Returns the path from the root, as far as there is text for it.
fn whole(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// Returns the flags with which a command finds the store from anywhere, and where no variable says more: an agent that reads of it
/// may stand in another folder. `None` where nothing that may be written down leads there.
pub(crate) fn flags_from_anywhere(args: &StoreArgs) -> Option<String> {
    let whole = |path: &Path| Some(paint::for_shell(std::path::absolute(path).ok()?.to_str()?));
    let mut flags = match place(args).ok()? {
        place if is_usual(&place) => String::new(),
        Location::File(path) => format!(" --store {}", whole(&path)?),
        server => {
            let named = server.to_string();
            // Not even its host is known to be no secret.
            let is_known = !named.ends_with('…');
            is_known.then(|| format!(" --store {}", paint::for_shell(&named)))?
        }
    };
    if let Some(path) = &args.store_key_file {
        flags.push_str(&format!(" --store-key-file {}", whole(path)?));
    }
    Some(flags)
}

/// Returns whether this is where the store is where nobody says it.
fn is_usual(place: &Location) -> bool {
    let usual = place_of(&StoreArgs::default()).ok();
    matches!((place, &usual), (Location::File(one), Some(Location::File(other))) if are_one_place(one, other))
}

/// Fails where a key is given and this build cannot encrypt.
pub(crate) fn must_take_key(args: &StoreArgs) -> Result<()> {
    let from = match (&args.store_key_file, env::var_os(KEY)) {
        (Some(_), _) => "--store-key-file (LONGHAUL_STORE_KEY_FILE)",
        (None, Some(key)) if !key.is_empty() => KEY,
        _ => return Ok(()),
    };
    match cfg!(feature = "encryption") {
        true => Ok(()),
        false => bail!(Impossible(format!(
            "{from} names a key for the store, and this build cannot encrypt: install longhaul-cli with --features encryption, or \
             do without the key"
        ))),
    }
}

/// Returns where what is kept for the user is: `longhaul` in the user's data directory.
pub(crate) fn data_folder() -> Result<PathBuf> {
    let configured = env::var_os("XDG_DATA_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local").join("share"));
    let Some(folder) = configured.or_else(home) else {
        bail!("there is no data directory: neither XDG_DATA_HOME nor HOME is set; name one with --store");
    };
    Ok(folder.join("longhaul"))
}

/// Makes the folder of the user's own store where it is missing, for the user alone.
fn make_data_folder() -> Result<()> {
    let folder = data_folder()?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).with_context(|| format!("{} cannot be made", paint::path(&folder)))
}

/// Fails where the file that `flag` names would be put in the place of the store, or of what belongs to it.
pub(crate) fn spare(args: &StoreArgs, flag: &str, path: Option<&Path>) -> Result<()> {
    let (Some(path), Ok(Location::File(store))) = (path, place_of(args)) else { return Ok(()) };
    let beside = |ending: &str| {
        let mut name = store.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        store.with_file_name(name)
    };
    // The log of a database is as good as the database.
    match ["", "-wal", "-shm", "-journal"].iter().any(|ending| are_one_place(path, &beside(ending))) {
        true => bail!(Impossible(format!("{flag} {} would replace the store itself", paint::path(path)))),
        false => Ok(()),
    }
}

/// Fails where there is no room for a transcript of so many bytes beside what a store in a file holds, or no place for one. Nothing
/// is left there.
pub(crate) fn try_place(args: &StoreArgs, bytes: usize) -> Result<()> {
    /// What it is kept in is no smaller than it, with an index of its words and a log of what is written.
    const TIMES: u64 = 3;
    /// What an empty store takes.
    const EMPTY: u64 = 256 << 10;
    let Location::File(path) = place(args)? else { return Ok(()) };
    // As far as the folders are there; the others are made.
    let folder = std::path::absolute(&path)?;
    let folder = folder.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let mut file = tempfile::tempfile_in(folder)?;
    let room = EMPTY + TIMES * bytes as u64;
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), room), &mut file)?;
    Ok(())
}

/// Fails where nothing can be written to the store.
pub(crate) async fn try_to_write(store: &Store) -> Result<()> {
    let key = lasting_key([b"whether anything can be written".as_slice()]);
    Ok(store.cache(&key, &Redacted::assume(Vec::new())).await?)
}

/// Opens the store that `args` name, or the user's own.
pub(crate) fn open(args: &StoreArgs) -> Result<Store> {
    open_by(args, Location::open)
}

/// Does what [`open`] does, also where nothing can be written there.
pub(crate) fn open_to_read(args: &StoreArgs) -> Result<Store> {
    open_by(args, Location::open_to_read)
}

fn open_by(
    args: &StoreArgs,
    open: fn(&Location, Option<&str>) -> Result<Store, StoreError>,
) -> Result<Store> {
    let (place, key) = (place(args)?, key_text(args)?);
    // A pipe, to look into it, would be waited for.
    if let Location::File(path) = &place
        && path.metadata().is_ok_and(|found| !found.is_file())
    {
        bail!("the store {} cannot be opened: it is no file", paint::path(path));
    }
    if args.store.is_none() {
        make_data_folder()?;
    }
    // One that is opened is the one that is spoken of.
    let _ = FLAGS.set(flags_to_type(args)?);
    open(&place, key.as_deref()).with_context(|| format!("the store {place} cannot be opened"))
}

/// Returns the text of the key that the flags or the environment give.
fn key_text(args: &StoreArgs) -> Result<Option<String>> {
    if let Some(path) = &args.store_key_file {
        let text = pipe::small_text(path);
        return text.map(Some).with_context(|| {
            format!("the file with the store's key, {}, cannot be read", paint::path(path))
        });
    }
    match env::var(KEY) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => bail!("{KEY} is no text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_in_the_address_of_a_store_is_not_written_down() {
        let args = |store: &str| StoreArgs { store: Some(store.into()), ..StoreArgs::default() };
        let server = args("postgres://mara:hunter2@db.example:5432/agents?sslmode=require");
        let flags = " --store postgres://mara@db.example:5432/agents";
        assert_eq!(flags_from_anywhere(&server).as_deref(), Some(flags));
        assert_eq!(flags_to_type(&server).unwrap(), flags);
        // Nothing of it is known to be no secret.
        assert_eq!(flags_from_anywhere(&args("postgres://ma?ra:p@db.example/agents")), None);
        assert_eq!(flags_from_anywhere(&args("/srv/a b.db")).unwrap(), " --store '/srv/a b.db'");
        assert_eq!(flags_from_anywhere(&StoreArgs::default()).unwrap(), "");
    }
}
