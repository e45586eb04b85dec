//! Chores of the workspace: `cargo xtask <chore>`.

mod bench;
mod ci;
mod codegen;
mod command;
mod e2e;
mod fuzz;
#[cfg(unix)]
mod postgres;
mod supply;
mod test;
mod tidy;
mod wheel;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  test [ARGS...]   run the tests: unit, integration, doc tests, examples; those of longhaul-bench (`cargo test -p`) and
                   of Python (`wheel`) apart
  ci               everything else that must hold: fmt, clippy, docs, features, licences, WebAssembly, tidy, packaging,
                   and with LONGHAUL_NIGHTLY set Miri and ten seconds of each fuzz target
  tidy             check the crate map, the READMEs and the invariants that a search can see
  codegen [DIR] [--check]
                   make the counters' tables from OpenAI's vocabulary files, or see that they are what those give
  bench NAME       measure, in a release build: transcripts, recall, rank, index, tokens, estimates, scale, soak, documents,
                   reader CASES (what readers find in our contexts), fit CASES (weights of statements), speech (weights by
                   which rules, facts, requests and talk are told apart), claims (weights by which is told what takes the place of
                   what), answers CASES (what the checks make of a model's answers),
                   session WHAT (turn, resume, memory, prefix, locate, prices DIR, recordings DIR),
                   truth WHAT (what is told of the recordings, to be read),
                   summaries OUT (what they are compacted to, to be compared before and after a change);
                   and the store: store appends, store sustained N, store first-search N, store size FOLDER,
                   store search N, store open GB
  e2e [--medium] [--faults]   the model clients against a real model (135M; --medium: 0.5B too; --faults: none) and
                   against injected faults; what cannot be fetched is skipped, with the reason
  fuzz [TARGET...] [--seconds N]
                   run the targets of fuzz/, ten minutes each, with seeds (`--runs N`: the same N inputs every time)
  wheel [ARGS...]  build the Python wheel, with the command in it, and run its tests in an environment of its own
  pictures         draw the pictures of docs/terminal.md anew, from what the command shows on a terminal
  postgres CMD...  run a command that finds a throw-away PostgreSQL server in its environment";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let chore = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let done = match chore.as_str() {
        "test" => test::run(&rest),
        "ci" => ci::run(),
        "tidy" => tidy::run(),
        "codegen" => codegen::run(&rest),
        "bench" => bench::run(&rest),
        "e2e" => e2e::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "wheel" => wheel::run(&rest),
        "pictures" => command::cargo(
            &["test", "--package", "longhaul-cli", "--test", "it", "pictures::"],
            &[("UPDATE_EXPECT", "1")],
        ),
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
