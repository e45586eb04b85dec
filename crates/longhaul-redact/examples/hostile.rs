//! Prints what hostile texts cost, in time and memory: `cargo run --release -p longhaul-redact --example hostile -- 64` takes
//! 64 MB of each, and with another word only those shapes whose name has it. Fails where one costs more than a second a megabyte, or more memory than four times its size, 64 MB, and 400 bytes for each
//! secret, which is remembered.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::{env, fs, process::ExitCode};

use longhaul_redact::{Redactor, Vault};
use longhaul_transcript::Raw;

#[path = "../tests/it/shapes.rs"]
mod shapes;

fn main() -> ExitCode {
    let megabytes: usize = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4);
    let word = env::args().nth(2).unwrap_or_default();
    let redactor = Redactor::builtin();
    // Expressions are compiled when they are first needed: that is paid here.
    shapes::all(64 << 10).for_each(|(_, text)| drop(redactor.redact_json(&text)));
    let mut is_kept = true;
    for (name, text) in shapes::all(megabytes << 20).filter(|(name, _)| name.contains(&word)) {
        let size = text.len() as f64 / 1e6;
        let mut cost = |redact: &dyn Fn() -> usize| {
            // The peak is counted from here on.
            let _ = fs::write("/proc/self/clear_refs", "5");
            let started = processor_seconds();
            let found = redact();
            let (time, memory) = ((processor_seconds() - started) / size, most_memory());
            is_kept &= time <= 1.0 && memory <= 4.0 * size + 64.0 + found as f64 * MOST_OF_A_SECRET;
            format!("{time:6.3} s/MB, {memory:5.0} MB ({found} found)")
        };
        let plain = cost(&|| redactor.redact_text(&text).1.len());
        let json = cost(&|| redactor.redact_json(&text).1.len());
        let raw = Raw::new("anthropic", text);
        let spelled = cost(&|| {
            let counts = redactor.redact_raw_into(&raw, &mut Vault::new()).1;
            counts.values().sum::<u64>() as usize
        });
        println!("{name:28} as text {plain}; as JSON {json}; as a message {spelled}");
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a secret takes that no other is the same as, in megabytes: itself, what stands in its place, and where both are.
const MOST_OF_A_SECRET: f64 = 400e-6;

/// Returns the processor time of this thread, which others on the machine do not add to; where Linux does not tell, nothing.
fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

/// Returns the most memory that this program has had since it was last asked, in megabytes; zero where Linux does not tell.
fn most_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1024.0 / 1e6
}
