//! What the programs are asked that fit weights to labelled data.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// The arguments of such a program: `[DIR] [--write FILE] [--show]`.
#[derive(Clone, Debug)]
pub struct FitArgs {
    /// Where the data are.
    pub dir: PathBuf,
    /// Where the weights of all data are to be written, instead of a table.
    pub write: Option<PathBuf>,
    /// What is taken wrongly is printed.
    pub shows: bool,
}

impl FitArgs {
    /// Reads the arguments of the process; the data are those in `data` of this crate where no folder is named.
    ///
    /// # Errors
    /// When `--write` names no file.
    pub fn read(data: &str) -> Result<FitArgs> {
        let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).join(data);
        let mut read = FitArgs { dir, write: None, shows: false };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--write" => read.write = Some(args.next().context("--write wants a file")?.into()),
                "--show" => read.shows = true,
                other => read.dir = other.into(),
            }
        }
        Ok(read)
    }

    /// Writes weights where they are to be written, below a line that says what they are.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(file: &Path, about: &str, weights: &str) -> Result<()> {
        fs::write(file, format!("# {about}\n{weights}"))
            .with_context(|| format!("writing {}", file.display()))
    }
}
