//! `cargo xtask ci`: everything that must hold beside the tests.

use anyhow::{Result, bail};

use crate::{
    codegen, command,
    command::{cargo, works},
    fuzz, supply, tidy,
};

/// Checks formatting, lints, documentation, each crate without its default features and with each feature alone, what it is
/// made of, the pure crates for WebAssembly, the tidiness of the tree, that generated files are what their sources give and
/// that every published crate packs. With `LONGHAUL_NIGHTLY` set and a nightly compiler, Miri looks at what is `unsafe` and
/// every fuzz target runs for a few seconds. What cannot be had is skipped, which says so.
pub(crate) fn run() -> Result<()> {
    let scope = ["--workspace", "--exclude", "longhaul-bench"];
    cargo(&["fmt", "--all", "--check"], &[])?;
    tidy::run()?;
    supply::run()?;
    // The benchmarks are run by hand: that they still build is seen here.
    cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    codegen::run(&["--check".into()])?;
    let deny = [("RUSTDOCFLAGS", "-D warnings")];
    cargo(&[&["doc", "--locked", "--no-deps"][..], &scope].concat(), &deny)?;
    for package in published()? {
        cargo(
            &["check", "--locked", "--package", &package.name, "--no-default-features", "--all-targets"],
            &[],
        )?;
        for feature in &package.features {
            let alone = ["--no-default-features", "--features", feature];
            cargo(&[&["check", "--locked", "--package", &package.name][..], &alone].concat(), &[])?;
        }
    }
    let packed: Vec<String> =
        published()?.into_iter().flat_map(|package| ["--package".into(), package.name]).collect();
    let packed: Vec<&str> = packed.iter().map(String::as_str).collect();
    cargo(&[&["package", "--locked", "--allow-dirty", "--no-verify"][..], &packed].concat(), &[])?;
    wasm()?;
    denied()?;
    // Half an hour more on two cores.
    if std::env::var_os("LONGHAUL_NIGHTLY").is_none() {
        return skipped("Miri and fuzzing", "LONGHAUL_NIGHTLY is not set");
    }
    miri()?;
    match fuzz::can_run() {
        true => fuzz::run(&["--seconds".into(), "10".into()]),
        false => skipped("fuzzing", "there is no C++ compiler, or this is not Linux on x86-64"),
    }
}

/// Checks the crates that neither wait, print nor open anything for a machine without an operating system.
fn wasm() -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    // A check installs nothing.
    if !command::says("rustup", &["target", "list", "--installed"]).lines().any(|line| line == TARGET) {
        return skipped(
            "the check for WebAssembly",
            "its target is not there (rustup target add wasm32-unknown-unknown)",
        );
    }
    let pure = ["transcript", "wire", "redact", "tokens", "trim", "extract", "summarize"];
    let packages: Vec<String> = pure.iter().map(|name| format!("--package=longhaul-{name}")).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    cargo(&[&["check", "--locked", "--target", TARGET][..], &packages].concat(), &[])
}

/// Has `cargo deny` look at what we depend on (`deny.toml`), at last for known faults: these it takes from the network.
fn denied() -> Result<()> {
    if !works("cargo", &["deny", "--version"]) {
        return skipped("known faults of dependencies", "cargo-deny is not installed");
    }
    for checks in [&["licenses", "bans", "sources"][..], &["advisories"]] {
        cargo(&[&["deny", "--locked", "check"][..], checks].concat(), &[])?;
    }
    Ok(())
}

/// Interprets the tests of the vector code, the only one that reads through pointers: a few cases of each, since that is
/// slow.
fn miri() -> Result<()> {
    if !works("cargo", &["+nightly", "miri", "--version"]) {
        return skipped("Miri", "it is not installed");
    }
    let tests = ["any_window", "bits_are_found", "the_lowest_is_found"];
    eprintln!("$ cargo +nightly miri test --package longhaul-tokens --lib -- {}", tests.join(" "));
    let status = std::process::Command::new("cargo")
        .args(["+nightly", "miri", "test", "--locked", "--package", "longhaul-tokens", "--lib", "--"])
        .args(tests)
        // It is told which instructions there are, and does not ask the machine.
        .envs([("RUSTFLAGS", "-Ctarget-feature=+avx2"), ("PROPTEST_CASES", "1")])
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .current_dir(command::root())
        .status()?;
    if status.success() { Ok(()) } else { bail!("Miri objects ({status})") }
}

fn skipped(what: &str, why: &str) -> Result<()> {
    eprintln!("ci: {what} is skipped: {why}");
    Ok(())
}

/// A crate that is published.
struct Published {
    name: String,
    /// Its features, but for the default.
    features: Vec<String>,
}

/// Returns the crates that are published.
fn published() -> Result<Vec<Published>> {
    let packages = command::packages()?.into_iter();
    let published = packages.filter(|package| package["publish"].is_null()).filter_map(|package| {
        let features = package["features"].as_object()?.keys().filter(|name| *name != "default").cloned();
        Some(Published { name: package["name"].as_str()?.to_owned(), features: features.collect() })
    });
    Ok(published.collect())
}
