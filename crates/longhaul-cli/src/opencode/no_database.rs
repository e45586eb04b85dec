//! Without SQLite no session is found in a database.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Result, bail};

pub(super) fn named(_: &Path) -> Option<(PathBuf, &str)> {
    None
}

pub(crate) fn is_database(_: &Path) -> bool {
    false
}

pub(crate) fn sessions(_: &Path) -> Result<Vec<(String, SystemTime)>> {
    Ok(Vec::new())
}

pub(super) fn exported(_: &Path, _: &str, _: Option<usize>) -> Result<Vec<u8>> {
    bail!("this build has no SQLite")
}
