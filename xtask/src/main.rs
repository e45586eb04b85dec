//! Chores of the workspace: `cargo xtask <chore>`.

mod bench;
mod ci;
mod command;
mod e2e;
#[cfg(unix)]
mod postgres;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test [ARGS...]   run every test: unit, integration, doc tests, examples
  ci               everything else that must hold: fmt, clippy, docs, features, tidy, packaging
  tidy             check the crate map, the READMEs and the invariants that a search can see
  bench NAME       measure, in a release build of longhaul-bench: transcripts, recall, tokens, scale, soak
  e2e [--medium]   the model clients against a real model (135M; --medium: 0.5B too) and against injected faults
  postgres CMD...  run a command that finds a throw-away PostgreSQL server in its environment";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let chore = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let done = match chore.as_str() {
        "test" => test::run(&rest),
        "ci" => ci::run(),
        "tidy" => tidy::run(),
        "bench" => bench::run(&rest),
        "e2e" => e2e::run(&rest),
        #[cfg(unix)]
        "postgres" => postgres::run(&rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
