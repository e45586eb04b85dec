//! `cargo xtask bench tokens [--write] [--rounds N] [--starts N] [--bytes N]`: our counter beside its peers, on the same text in the same run.
//!
//! The corpora are what the machine has; what it has not is named. Candidates take turns; the first pass over a text is
//! given apart, because counters that remember pieces flatter themselves on the second. Trust the ratios of one line,
//! not the figures of two runs. With `--write` the tables go into `docs/benchmarks.md` and the plots into `docs/images`.
#![allow(clippy::print_stdout, reason = "a report")]

use std::{fs, path::Path};

use anyhow::{Context, Result};
use longhaul_bench::tokens::{
    report::{self, Options},
    start,
};

fn main() -> Result<()> {
    let mut options = Options { rounds: 6, starts: 20, corpus_bytes: 3_000_000, hostile_bytes: 1_000_000 };
    let mut is_written = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match &*arg {
            "--start" => {
                println!("{}", start::child(&args.next().unwrap_or_default())?);
                return Ok(());
            }
            "--write" => is_written = true,
            "--rounds" => options.rounds = number(args.next())?,
            "--starts" => options.starts = number(args.next())?,
            "--bytes" => options.corpus_bytes = number(args.next())?,
            _ => anyhow::bail!("{arg:?} is unknown; expected --write, --rounds N, --starts N or --bytes N"),
        }
    }
    let report = report::run(options)?;
    println!("{}", report.markdown);
    if is_written {
        report::put_between_markers(Path::new("docs/benchmarks.md"), "tokens", &report.markdown)?;
        for (name, svg) in &report.plots {
            fs::write(Path::new("docs/images").join(name), svg)?;
        }
    }
    Ok(())
}

fn number(text: Option<String>) -> Result<usize> {
    let text = text.context("the option needs a number")?;
    text.parse().with_context(|| format!("{text:?} is no number"))
}
