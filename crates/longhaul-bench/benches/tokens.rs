//! `cargo bench -p longhaul-bench`: our counter beside its peers, the tables of `docs/benchmarks.md` on the terminal.
//! `cargo xtask bench tokens` does the same with the heavy peers and writes the page.

#![allow(clippy::print_stdout, reason = "a report")]

use longhaul_bench::tokens::{report, start};

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &args[..]
        && flag == "--start"
    {
        println!("{}", start::child(name)?);
        return Ok(());
    }
    let options =
        report::Options { rounds: 4, starts: 10, corpus_bytes: 1_000_000, hostile_bytes: 1_000_000 };
    report::run(options).map(drop)
}
