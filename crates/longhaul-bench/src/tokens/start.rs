//! What a process pays before its first count: time and memory, measured in processes of their own.

use std::{process::Command, time::Instant};

use anyhow::{Context, Result};
use longhaul_tokens::Encoding;

use super::{measure::median, peers};

/// The start of one counter.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Milliseconds more than a process that counts nothing, from its start to its end, the least of all runs.
    pub extra_ms: f64,
    /// The same, the middle of all runs.
    pub median_ms: f64,
    /// Most megabytes ever resident.
    pub resident_mb: f64,
}

/// The text a child counts.
const TEXT: &str = "Fix the failing test in src/lib.rs, please.";

/// What a child process does: counts a small text by the counter of this name, or nothing for `none`, and prints how
/// much memory that took.
///
/// # Errors
/// When there is no such counter.
pub fn child(name: &str) -> Result<String> {
    if let Some(name) = peers::NAMES.iter().find(|known| **known == name) {
        let peer = peers::load(name, Encoding::O200kBase)?;
        anyhow::ensure!((peer.count)(TEXT) > 5, "{name} counted too little");
    }
    Ok(crate::process_kilobytes("VmHWM:").unwrap_or_default().to_string())
}

/// Measures the start of the counter `name` in `runs` processes, in turn with as many that count nothing.
///
/// # Errors
/// When a child cannot be started, or fails.
pub fn of(name: &str, runs: usize) -> Result<Start> {
    let program = std::env::current_exe().context("this program has no path")?;
    let run = |name: &str| -> Result<(f64, f64)> {
        let start = Instant::now();
        let out =
            Command::new(&program).args(["--start", name]).output().context("a child does not start")?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        anyhow::ensure!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        let kilobytes: f64 = String::from_utf8_lossy(&out.stdout).trim().parse().unwrap_or(0.0);
        Ok((ms, kilobytes / 1e3))
    };
    let (mut with, mut without, mut resident_mb) = (Vec::new(), Vec::new(), 0.0f64);
    for _ in 0..runs {
        without.push(run("none")?.0);
        let (ms, mb) = run(name)?;
        with.push(ms);
        resident_mb = resident_mb.max(mb);
    }
    let least = |times: &[f64]| times.iter().copied().fold(f64::MAX, f64::min);
    Ok(Start {
        extra_ms: least(&with) - least(&without),
        median_ms: median(&with) - median(&without),
        resident_mb,
    })
}
