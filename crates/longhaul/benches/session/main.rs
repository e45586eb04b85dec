//! `cargo xtask bench session [turn | resume | memory | prefix | prices DIR | recordings DIR | locate]`: what must hold of
//! a session however long it is, measured. Without a name everything that needs no folder of recordings is run.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench may fail as a test does, and prints its figures"
)]

mod counted;
mod heap;
mod locate;
mod memory;
mod prefix;
mod prices;
mod recordings;
mod resume;
mod turn;
mod work;

use std::{path::PathBuf, time::Duration};

#[global_allocator]
static COUNTING: heap::Counting = heap::Counting;

fn main() {
    // `cargo bench` adds a flag of its own.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let name = args.next();
    let numbers = |args: &mut dyn Iterator<Item = String>| args.filter_map(|arg| arg.parse().ok()).collect();
    match name.as_deref() {
        Some("turn") => turn::run(&runtime),
        Some("resume") => runtime.block_on(resume::run()),
        Some("memory") => {
            let numbers: Vec<u64> = numbers(&mut args);
            let turns = numbers.first().copied().unwrap_or(100_000);
            let windows = numbers.get(1..).filter(|windows| !windows.is_empty()).unwrap_or(&[2_000, 16_000]);
            windows.iter().for_each(|window| runtime.block_on(memory::run(*window, turns)));
        }
        Some("prefix") => runtime.block_on(prefix::run()),
        Some("locate") => runtime.block_on(locate::run()),
        Some("prices") => prices::run(&folder(args)),
        Some("recordings") => recordings::run(&folder(args)),
        Some(other) => panic!("{other} is no measurement"),
        None => {
            turn::run(&runtime);
            runtime.block_on(async {
                resume::run().await;
                prefix::run().await;
                locate::run().await;
                memory::run(2_000, 100_000).await;
                memory::run(16_000, 100_000).await;
            });
        }
    }
}

fn folder(mut args: impl Iterator<Item = String>) -> PathBuf {
    args.next().expect("a folder of recordings").into()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Memory of this process in megabytes.
struct Resident {
    all: f64,
    /// Without the pages of the program's own file, which the system shares and takes back as it likes.
    own: f64,
}

impl Resident {
    fn now() -> Resident {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let mb = |nth: usize| {
            let pages = statm.split(' ').nth(nth).and_then(|pages| pages.parse::<f64>().ok());
            pages.unwrap_or_default() * 4096.0 / 1e6
        };
        Resident { all: mb(1), own: mb(1) - mb(2) }
    }
}

/// A folder that goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("longhaul-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
