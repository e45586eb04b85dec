//! `cargo xtask bench fit CASES [--write FILE] [--dump FILE]`: fits the weights of statements to the evidence of the
//! reader cases in CASES and prints them, or writes them where the crate reads them from
//! (`crates/longhaul-extract/src/statements/weights.txt`).
//!
//! `--dump` writes the statements with their features as JSON, to try other models on.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use longhaul_bench::reader::{
    case::Case,
    fit::{Examples, examples, fit},
};
use longhaul_extract::{FEATURES, FactIndex};
use serde_json::json;

#[allow(clippy::print_stdout, reason = "a program that prints weights")]
fn main() -> Result<()> {
    let mut root = PathBuf::from("../shared/reader/cases");
    let (mut write, mut dump) = (None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--write" => write = Some(args.next().context("--write wants a file")?),
            "--dump" => dump = Some(args.next().context("--dump wants a file")?),
            dir => root = dir.into(),
        }
    }
    let cases = Case::all(&root)?;
    if let Some(file) = dump {
        let all: Vec<_> = cases.iter().map(dumped).collect();
        fs::write(&file, serde_json::to_string(&json!({"features": &FEATURES[..], "cases": all}))?)?;
        return Ok(());
    }
    let all: Vec<Examples> = cases.iter().map(examples).collect();
    let held: usize = all.iter().map(|case| case.rows.iter().filter(|(_, holds)| *holds).count()).sum();
    let count: usize = all.iter().map(|case| case.rows.len()).sum();
    let text = format!(
        "# Fitted by `cargo xtask bench fit` to {} cases: {held} of {count} statements hold evidence.\n{}",
        all.len(),
        fit(all.iter()).to_text()
    );
    match write {
        Some(file) => fs::write(&file, text).with_context(|| format!("writing {file}"))?,
        None => print!("{text}"),
    }
    Ok(())
}

fn dumped(case: &Case) -> serde_json::Value {
    let mut index = FactIndex::new();
    case.entries.iter().for_each(|entry| index.push(entry));
    let pool = index.statements();
    let rows: Vec<_> = pool
        .all()
        .iter()
        .zip(pool.features())
        .map(|(s, x)| {
            let label = pool.source(s).map(|source| source.label.to_string());
            json!({"m": s.message, "kind": s.kind, "text": &*s.text, "label": label, "x": &x[..], "w": s.words()})
        })
        .collect();
    json!({"name": case.name, "rows": rows})
}
