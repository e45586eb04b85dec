//! `cargo xtask bench documents [TURNS] [WINDOW]... [PRESET]...`: a thousand turns under each preset and the defaults, with
//! tools and without, by rule and with a model, in windows of 16, 128 and 200 thousand tokens.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints a table")]

#[path = "../tests/long/conversation.rs"]
mod conversation;
#[path = "../tests/long/run.rs"]
mod run;

use run::{HEADER, Row, plans};

fn main() {
    // Cargo adds an argument of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (numbers, presets): (Vec<_>, Vec<_>) =
        args.iter().map(|arg| arg.parse::<u64>().map_err(|_| arg)).partition(Result::is_ok);
    let numbers: Vec<u64> = numbers.into_iter().flatten().collect();
    let presets: Vec<&String> = presets.into_iter().filter_map(Result::err).collect();
    let turns = numbers.first().map_or(1_000, |turns| *turns as usize);
    let windows = if numbers.len() > 1 { numbers[1..].to_vec() } else { vec![16_000, 128_000, 200_000] };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    println!("{HEADER}");
    let mut out_of_bounds = 0;
    for window in windows {
        for plan in plans(window, turns) {
            if !presets.is_empty() && !presets.iter().any(|name| *name == plan.name()) {
                continue;
            }
            let started = std::time::Instant::now();
            let done = runtime.block_on(run::run(plan));
            println!("{}", Row(&plan, &done));
            eprintln!("    {:.1} s", started.elapsed().as_secs_f64());
            for fault in done.faults.iter().chain(&done.lost) {
                eprintln!("    {fault}");
            }
            out_of_bounds += done.faults.len() + done.lost.len();
        }
    }
    std::process::exit(i32::from(out_of_bounds > 0));
}
