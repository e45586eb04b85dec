//! Prints what hostile texts cost: `cargo run --release -p longhaul-redact --example hostile -- 64` takes 64 MB of each.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::{env, time::Instant};

use longhaul_redact::Redactor;

#[path = "../tests/it/shapes.rs"]
mod shapes;

fn main() {
    let megabytes: usize = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4);
    let redactor = Redactor::builtin();
    // Expressions are compiled when they are first needed: that is paid here.
    shapes::all(64 << 10).for_each(|(_, text)| drop(redactor.redact_json(&text)));
    for (name, text) in shapes::all(megabytes << 20) {
        let started = Instant::now();
        let found = redactor.redact_text(&text).1.len();
        let plain = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let found_in_json = redactor.redact_json(&text).1.len();
        let json = started.elapsed().as_secs_f64();
        let size = text.len() as f64 / 1e6;
        println!(
            "{name:28} {:6.3} s/MB as text ({found}), {:6.3} s/MB as JSON ({found_in_json}); {} MB at most",
            plain / size,
            json / size,
            most_memory() >> 20,
        );
    }
}

/// Returns the most memory that this program has had, in bytes; zero where Linux does not tell.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default() << 10
}
