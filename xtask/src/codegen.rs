//! `cargo xtask codegen [DIR] [--check]`: the files that are made and not written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::{cargo, dependency};

/// Makes the counters' tables from the vocabulary files in DIR, whose digests are pinned, or with `--check` sees that the
/// committed ones are what those files give. Without DIR the files are those that the crate `tiktoken-rs` carries.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (flags, folders): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| arg.starts_with("--"));
    let folder = match folders.first() {
        Some(folder) => PathBuf::from(folder),
        None => {
            let manifest = dependency("tiktoken-rs")?;
            manifest.parent().map(|folder| folder.join("assets")).context("a manifest lies in a folder")?
        }
    };
    let folder: &Path = &folder;
    let folder = folder.to_str().with_context(|| format!("{} is no UTF-8", folder.display()))?;
    let flags: Vec<&str> = flags.iter().map(|flag| flag.as_str()).collect();
    let program = ["run", "--quiet", "--package", "longhaul-tokens", "--example", "codegen", "--", folder];
    cargo(&[&program[..], &flags].concat(), &[])
}
