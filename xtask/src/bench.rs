//! `cargo xtask bench`: what is measured, by `longhaul-bench` in a release build.

use anyhow::Result;

use crate::command::cargo;

/// Runs `longhaul-bench` with `args`: the name of a measurement and its options.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    cargo(&[&["run", "--release", "--package", "longhaul-bench", "--"][..], &args].concat(), &[])
}
