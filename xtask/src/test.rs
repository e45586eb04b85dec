//! `cargo xtask test`: every test there is.

use anyhow::Result;

use crate::command::{cargo, works};

/// What the default build leaves off and the tests need: every backend of the store with the suite it must pass.
const FEATURES: &str = "longhaul-store/sqlite,longhaul-store/conformance";

/// Runs unit and integration tests (with `cargo nextest` where it is installed), doc tests and the examples.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let scope = ["--workspace", "--exclude", "longhaul-bench", "--features", FEATURES];
    match works("cargo", &["nextest", "--version"]) {
        true => cargo(&[&["nextest", "run", "--no-fail-fast"][..], &scope, &args].concat(), &[])?,
        false => {
            eprintln!("cargo-nextest is not installed: running the same tests with `cargo test`");
            cargo(
                &[&["test", "--no-fail-fast", "--lib", "--bins", "--tests"][..], &scope, &args].concat(),
                &[],
            )?;
        }
    }
    if args.is_empty() {
        cargo(&[&["test", "--doc"][..], &scope].concat(), &[])?;
    }
    Ok(())
}
