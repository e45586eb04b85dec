//! `cargo xtask fuzz`: the targets of `fuzz/`, built as `cargo fuzz` builds them, seeded and run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::command::{root, works};

/// Every target but `count`, which takes long to build (see `fuzz/README.md`), with the bytes that come before a history in
/// its input; `None` where its input is no history.
const TARGETS: &[(&str, Option<usize>)] = &[
    ("redact", Some(0)),
    ("read", Some(1)),
    ("edit", Some(9)),
    ("validate", Some(0)),
    ("extract", Some(3)),
    ("import", None),
    ("search", None),
    ("sse", None),
    ("store", None),
];

/// What tells the compiler to say which ways were taken: the flags of `cargo fuzz`, without a sanitizer, and so without a
/// nightly compiler.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Cdebug-assertions";

/// Where the formats stand in their order: the first byte of an input tells which of them it is in.
const FORMATS: &str = include_str!("../../crates/longhaul-wire/src/formats/mod.rs");

/// Runs the targets that `args` name, or all, one after the other. `--seconds N` is for each; `--runs N` instead makes the same N
/// inputs every time.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut names, mut rest) = (Vec::new(), args.iter());
    let mut until = vec!["-max_total_time=600".to_owned()];
    while let Some(arg) = rest.next() {
        let mut number = || -> Result<u64> {
            rest.next().and_then(|n| n.parse().ok()).with_context(|| format!("{arg} needs a number"))
        };
        match arg.as_str() {
            "--seconds" => until = vec![format!("-max_total_time={}", number()?)],
            "--runs" => until = vec![format!("-runs={}", number()?), "-seed=1".to_owned()],
            name => names.push(name),
        }
    }
    if let Some(name) = names.iter().find(|name| !TARGETS.iter().any(|(known, _)| known == *name)) {
        bail!(
            "no target {name}; expected one of {:?}",
            TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>()
        );
    }
    if !can_run() {
        bail!("fuzzing needs Linux on x86-64 and a C++ compiler");
    }
    build()?;
    for (name, before) in TARGETS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let corpus = seeded(name, *before)?;
        eprintln!("fuzz: {name} {}", until.join(" "));
        let status = Command::new(folder().join("target").join(HOST).join("release").join(name))
            .arg(corpus)
            .args(&until)
            .arg(format!("-artifact_prefix=artifacts/{name}-"))
            .args([
                "-max_len=8000", "-timeout=120", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0",
            ])
            .current_dir(folder())
            .status()?;
        if !status.success() {
            bail!("the target {name} failed ({status}); what it failed on is in fuzz/artifacts");
        }
    }
    Ok(())
}

/// Returns whether there is what fuzzing needs.
pub(crate) fn can_run() -> bool {
    cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) && works("c++", &["--version"])
}

fn folder() -> PathBuf {
    root().join("fuzz")
}

fn build() -> Result<()> {
    eprintln!("$ cargo build --release (in fuzz)");
    let status = Command::new("cargo")
        .args(["build", "--release", "--target", HOST])
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(folder())
        .status()?;
    if status.success() { Ok(()) } else { bail!("the targets are not built ({status})") }
}

/// Puts seeds into the corpus of a target and returns its folder: what lies in `fuzz/seeds`, the histories that the wire
/// formats are tested with, and pieces of the recordings in the folder that `LONGHAUL_FUZZ_SEEDS` names.
fn seeded(name: &str, before: Option<usize>) -> Result<PathBuf> {
    let corpus = folder().join("corpus").join(name);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(folder().join("artifacts"))?;
    let own = folder().join("seeds").join(name);
    for file in files(&own) {
        fs::copy(&file, corpus.join(file.file_name().unwrap_or_default()))?;
    }
    let Some(before) = before else { return Ok(corpus) };
    let recorded = std::env::var_os("LONGHAUL_FUZZ_SEEDS").map(PathBuf::from);
    let data = files(&root().join("crates/longhaul-testkit/src/samples/data")).into_iter();
    let (_, formats) = FORMATS.split_once("\nformats! {").unwrap_or_default();
    let modules: Vec<&str> = formats
        .lines()
        .filter_map(|line| line.strip_suffix(',')?.split_once(" = "))
        .map(|(_, module)| module)
        .collect();
    let place = |name: &str| modules.iter().position(|module| module.replace('_', "-") == name);
    for (nth, file) in data.chain(recorded.iter().flat_map(|folder| files(folder))).enumerate() {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let is_lines = file.extension().is_some_and(|extension| extension == "jsonl");
        let format = place(&stem).or_else(|| place("claude-code").filter(|_| is_lines)).unwrap_or_default();
        let text = fs::read(&file)?;
        for (piece, bytes) in text.chunks(PIECE).take(PIECES).enumerate() {
            let mut seed = vec![0; before];
            if let Some(first) = seed.first_mut() {
                *first = u8::try_from(format)?;
            }
            // A piece begins at a line, where the file has lines.
            let start = if piece == 0 {
                0
            } else {
                bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
            };
            seed.extend_from_slice(&bytes[start..]);
            fs::write(corpus.join(format!("seed-{nth}-{piece}")), seed)?;
        }
    }
    Ok(corpus)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// How long a seed is, in bytes, and how many a file gives.
const PIECE: usize = 6_000;
const PIECES: usize = 4;

/// Named, so that build scripts and macros are built without the flags.
const HOST: &str = "x86_64-unknown-linux-gnu";
