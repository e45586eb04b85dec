//! What everything in the lock file is made of: under which licences, and from where.

use std::{collections::BTreeSet, process::Command};

use anyhow::{Context, Result, bail};

use crate::command::{cargo_name, root};

/// The licences that may be in a build: those that ask for no more than to be named.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "OpenSSL",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks each crate in the lock file: its licence is allowed, and it comes from crates.io or from here.
pub(crate) fn run() -> Result<()> {
    let out = Command::new(cargo_name())
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(root())
        .output()
        .context("cargo metadata does not start")?;
    if !out.status.success() {
        bail!("cargo metadata --locked: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&out.stdout).context("cargo metadata is not JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut findings = BTreeSet::new();
    for package in packages {
        let name = format!("{} {}", package["name"], package["version"]).replace('"', "");
        match package["source"].as_str() {
            None | Some("registry+https://github.com/rust-lang/crates.io-index") => {}
            Some(source) => drop(findings.insert(format!("{name} comes from {source}"))),
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence) {
            findings.insert(format!("{name} is under {licence:?}"));
        }
    }
    if !findings.is_empty() {
        bail!("not allowed: {}", findings.into_iter().collect::<Vec<_>>().join("; "));
    }
    eprintln!(
        "supply: {} crates, all from crates.io or here, under licences that may be used",
        packages.len()
    );
    Ok(())
}

/// Returns whether one may choose an allowed licence in each part of the expression `licence`.
fn is_allowed(licence: &str) -> bool {
    let licence = licence.replace('/', " OR ");
    let choice =
        |text: &str| text.split(" OR ").any(|one| ALLOWED.contains(&one.trim_matches(['(', ')', ' '])));
    !licence.is_empty() && licence.split(" AND ").all(choice)
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, is_allowed};

    /// `cargo deny` is told the same.
    #[test]
    fn both_lists_of_licences_are_one() {
        let deny = include_str!("../../deny.toml");
        let (_, list) = deny.split_once("\nallow = [\n").unwrap();
        let list: Vec<&str> = list
            .lines()
            .take_while(|line| *line != "]")
            .map(|line| line.trim_matches([' ', '"', ',']))
            .collect();
        assert_eq!(list, ALLOWED);
    }

    #[test]
    fn a_licence_may_be_chosen_and_all_of_several_are_needed() {
        for allowed in ["MIT", "MIT OR GPL-3.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND LGPL-2.1"] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }
}
