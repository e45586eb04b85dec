//! `cargo xtask test`: every test but those of `longhaul-bench` and of `longhaul-python`.

use anyhow::Result;

use crate::command::{OPTIMIZED, cargo, works};

/// What the default build leaves off and the tests need: every backend of the store with the suite it must pass.
pub(crate) const FEATURES: &str =
    "longhaul-store/sqlite,longhaul-store/postgres,longhaul-store/conformance,longhaul-cli/postgres";

/// Returns what is tested, and how it is built; who tests all of it wants it `optimized`.
pub(crate) fn scope(optimized: bool) -> Vec<&'static str> {
    // What is measured with builds heavy peers (its own tests: `cargo test -p longhaul-bench`); Python's are in `cargo xtask wheel`.
    let apart = ["--exclude", "longhaul-bench", "--exclude", "longhaul-python"];
    let optimized = if optimized { OPTIMIZED } else { &[] };
    [optimized, &["--workspace"], &apart, &["--features", FEATURES]].concat()
}

/// Starts a throw-away PostgreSQL (or takes the one that is named), and runs unit and integration tests (with `cargo nextest` where it is installed), doc tests and the examples.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_whole = args.is_empty();
    let scope = scope(is_whole);
    #[cfg(unix)]
    let (envs, _servers) = crate::postgres::for_tests();
    #[cfg(not(unix))]
    let envs: Vec<(&str, String)> = Vec::new();
    let envs: Vec<(&str, &str)> = envs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    match works("cargo", &["nextest", "--version"]) {
        true => {
            // nextest builds the examples as well: the test that runs them need not.
            let envs = [&envs[..], &[("LONGHAUL_EXAMPLES_BUILT", "1")]].concat();
            cargo(&[&["nextest", "run", "--no-fail-fast"][..], &scope, &args].concat(), &envs)?;
        }
        false => {
            eprintln!("cargo-nextest is not installed: running the same tests with `cargo test`");
            cargo(
                &[&["test", "--no-fail-fast", "--lib", "--bins", "--tests"][..], &scope, &args].concat(),
                &envs,
            )?;
        }
    }
    if is_whole {
        cargo(&[&["test", "--doc"][..], &scope].concat(), &[])?;
    }
    Ok(())
}
