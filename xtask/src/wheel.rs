//! `cargo xtask wheel`: the Python wheel with the command in it, built, and tried in an environment of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, bail};

use crate::command::{cargo, root};

/// What builds the wheel, and what its tests drive it with: the official SDKs.
const TOOLS: &[&str] = &["maturin>=1.9,<2", "pytest", "openai", "anthropic", "openai-agents"];

/// Builds the wheel into `target/wheel` and runs `crates/longhaul-python/tests` on it; `args` go to pytest.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (folder, package) = (root().join("target/wheel"), root().join("crates/longhaul-python"));
    fs::create_dir_all(&folder).context("target/wheel cannot be made")?;
    cargo(&["build", "--release", "--package", "longhaul-cli"], &[])?;
    let scripts = package.join("longhaul.data/scripts");
    fs::create_dir_all(&scripts)?;
    let command = format!("longhaul{}", std::env::consts::EXE_SUFFIX);
    fs::copy(root().join("target/release").join(&command), scripts.join(&command))?;

    let venv = folder.join("venv");
    run_in(&root(), "python3", &["-m".as_ref(), "venv".as_ref(), venv.as_os_str()])?;
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = bin.join("python");
    let python = python.to_str().context("the path of target/ is no text")?;
    pip(python, &[&["--quiet"][..], TOOLS].concat())?;
    let out = folder.join("dist");
    // Only what is built now is to be found there.
    let _ = fs::remove_dir_all(&out);
    let out_name = out.to_str().context("the path of target/ is no text")?;
    let maturin = bin.join("maturin");
    let maturin = maturin.to_str().context("the path of target/ is no text")?;
    run_in(&package, maturin, &["build", "--release", "--out", out_name].map(AsRef::as_ref))?;

    let wheel = wheel_in(&out)?;
    let began = Instant::now();
    pip(python, &["--quiet", "--force-reinstall", "--no-deps", wheel.to_str().unwrap_or_default()])?;
    let first = "import longhaul; print(longhaul.count(text='Hello, world!'), 'tokens')";
    run_in(&folder, python, &["-c", first].map(AsRef::as_ref))?;
    eprintln!("installed, and a first result, in {:.1} s", began.elapsed().as_secs_f64());
    // Not from the folder of the sources, where `longhaul` would be found without the wheel.
    let tests = package.join("tests");
    let pytest = [
        &["-m", "pytest", "-q", tests.to_str().unwrap_or_default()][..],
        &args.iter().map(String::as_str).collect::<Vec<_>>(),
    ]
    .concat();
    let pytest: Vec<_> = pytest.iter().map(AsRef::as_ref).collect();
    run_in(&folder, python, &pytest)?;
    let size = fs::metadata(&wheel)?.len() as f64 / 1e6;
    eprintln!("{} ({size:.1} MB)", wheel.display());
    Ok(())
}

fn pip(python: &str, args: &[&str]) -> Result<()> {
    let args = [&["-m", "pip", "install"][..], args].concat();
    let args: Vec<_> = args.iter().map(AsRef::as_ref).collect();
    run_in(&root(), python, &args)
}

fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = files.find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheel.context("maturin built no wheel")
}

fn run_in(folder: &Path, program: &str, args: &[&std::ffi::OsStr]) -> Result<()> {
    let status = Command::new(program).args(args).current_dir(folder).status();
    let status = status.with_context(|| format!("{program} does not start"))?;
    if !status.success() {
        bail!("{program} failed ({status})");
    }
    Ok(())
}
