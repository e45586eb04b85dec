//! `cargo xtask ci`: everything that must hold beside the tests.

use anyhow::Result;

use crate::{codegen, command, command::cargo, tidy};

/// Checks formatting, lints, documentation, each crate without its default features, the tidiness of the tree,
/// that generated files are what their sources give and that every published crate packs.
pub(crate) fn run() -> Result<()> {
    let scope = ["--workspace", "--exclude", "longhaul-bench"];
    cargo(&["fmt", "--all", "--check"], &[])?;
    tidy::run()?;
    cargo(&[&["clippy", "--locked", "--all-targets"][..], &scope, &["--", "-D", "warnings"]].concat(), &[])?;
    codegen::run(&["--check".into()])?;
    let deny = [("RUSTDOCFLAGS", "-D warnings")];
    cargo(&[&["doc", "--no-deps"][..], &scope].concat(), &deny)?;
    for package in published()? {
        cargo(&["check", "--package", &package, "--no-default-features", "--all-targets"], &[])?;
    }
    let packed: Vec<String> = published()?.into_iter().flat_map(|name| ["--package".into(), name]).collect();
    let packed: Vec<&str> = packed.iter().map(String::as_str).collect();
    cargo(&[&["package", "--allow-dirty", "--no-verify"][..], &packed].concat(), &[])
}

/// Returns the names of the crates that are published.
fn published() -> Result<Vec<String>> {
    let packages = command::packages()?.into_iter();
    let published = packages.filter(|package| package["publish"].is_null());
    Ok(published.filter_map(|package| package["name"].as_str().map(String::from)).collect())
}
