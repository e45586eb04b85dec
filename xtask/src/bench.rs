//! `cargo xtask bench`: what is measured, by the programs of `longhaul-bench` in the build that would be shipped.

use anyhow::Result;

use crate::command::cargo;

/// Runs the measurement that `args` names, with the rest of `args` as its options.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut args = args.iter().map(String::as_str);
    let name = args.next().unwrap_or("transcripts");
    let rest: Vec<&str> = args.collect();
    // The store is measured where it is: what it is compared with is SQLite itself, which only that crate may name.
    if name == "store" {
        let example = ["--features", "sqlite,conformance", "--example", "store_figures", "--"];
        let run = ["run", "--release", "--package", "longhaul-store"];
        return cargo(&[&run[..], &example, &rest].concat(), &[]);
    }
    // The five documents' long runs: the same code as a test of the facade's, over a thousand turns.
    if name == "documents" {
        return cargo(
            &[&["bench", "--package", "longhaul", "--bench", "documents", "--"][..], &rest].concat(),
            &[],
        );
    }
    // What must hold of a session however long it is: the facade's own, so that it is measured as it ships.
    if name == "session" {
        let bench =
            ["bench", "--package", "longhaul", "--features", "sqlite,wire", "--bench", "session", "--"];
        return cargo(&[&bench[..], &rest].concat(), &[]);
    }
    let program = ["--release", "--package", "longhaul-bench", "--bin", name];
    // Two of the counters to compare are heavy, and one needs a C compiler: without them there is still a table.
    let mut features = &[][..];
    if name == "tokens" {
        features = &["--features", "json-peers"];
        if let Err(error) = cargo(&[&["build"][..], &program, features].concat(), &[]) {
            eprintln!("SKIP tokenizers and fastokens: {error}");
            features = &[];
        }
    }
    cargo(&[&["run"][..], &program, features, &["--"], &rest].concat(), &[])
}
