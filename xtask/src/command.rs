//! Running other programs, and saying so.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Returns the cargo that runs us.
pub(crate) fn cargo_name() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Builds the layers that read text with optimization: a minute and a half more to build, and a quarter of the time in their tests. For
/// whoever runs all of them; who changes a layer builds it faster without.
pub(crate) const OPTIMIZED: &[&str] = &[
    "--config=profile.dev.package.longhaul-transcript.opt-level=1",
    "--config=profile.dev.package.longhaul-wire.opt-level=1",
    "--config=profile.dev.package.longhaul-trim.opt-level=1",
    "--config=profile.dev.package.longhaul-extract.opt-level=1",
    "--config=profile.dev.package.longhaul-summarize.opt-level=1",
    "--config=profile.dev.package.longhaul.opt-level=1",
];

/// Runs `cargo` with `args` in the workspace's folder, with `envs` set.
pub(crate) fn cargo(args: &[&str], envs: &[(&str, &str)]) -> Result<()> {
    let cargo = cargo_name();
    eprintln!("$ cargo {}", args.join(" "));
    let mut command = Command::new(cargo);
    // What cargo told us about this very crate. `ring`'s build script looks at it, so that it, and all that is built on
    // it, would be built anew whenever `cargo` and `cargo xtask` take turns.
    for (name, _) in std::env::vars_os() {
        let is_ours = |prefix: &str| name.to_string_lossy().starts_with(prefix);
        if is_ours("CARGO_PKG_") || is_ours("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command
        .args(args)
        .envs(envs.iter().copied())
        .current_dir(root())
        .status()
        .context("cargo does not start")?;
    if !status.success() {
        bail!("`cargo {}` failed ({status})", args.join(" "));
    }
    Ok(())
}

/// Returns whether `program` starts and succeeds with `args`.
pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).current_dir(root()).output().is_ok_and(|out| out.status.success())
}

/// Returns what `program` says on stdout; nothing where it does not start.
pub(crate) fn says(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).current_dir(root()).output();
    out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default()
}

/// The crates of the workspace, with what `cargo metadata` says of each.
pub(crate) fn packages() -> Result<Vec<serde_json::Value>> {
    let cargo = cargo_name();
    let out = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--no-deps"])
        .current_dir(root())
        .output()
        .context("cargo metadata does not start")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&out.stdout).context("cargo metadata is not JSON")?;
    metadata["packages"].as_array().cloned().context("cargo metadata lists no packages")
}

/// Returns the manifest of a crate that some crate of the workspace depends on, where cargo has put its source.
pub(crate) fn dependency(name: &str) -> Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let out = Command::new(cargo)
        .args(["metadata", "--format-version=1"])
        .current_dir(root())
        .output()
        .context("cargo metadata does not start")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&out.stdout).context("cargo metadata is not JSON")?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .find(|package| package["name"] == name)
        .and_then(|package| package["manifest_path"].as_str());
    found.map(PathBuf::from).with_context(|| format!("nothing here depends on {name}"))
}
