//! Commands, what they are for, and how they went.

use longhaul_extract::Verdict;

/// A command and how it went.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Ordinal of the message with the call.
    pub(crate) message: u64,
    /// Its first line.
    pub(crate) command: String,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// The exit code, where one is stated.
    pub(crate) exit_code: Option<i64>,
    /// Whether it failed, as far as the source settles it.
    pub(crate) failed: bool,
    /// Whether it went well, as far as the source settles it.
    pub(crate) passed: bool,
    /// The line that says best what went wrong.
    pub(crate) error: Option<String>,
}

/// Returns what the account says of these commands, in their order.
pub(crate) fn runs(all: &[longhaul_extract::Run]) -> Vec<Run> {
    all.iter()
        .cloned()
        .filter_map(|run| {
            let first = run.command.lines().map(str::trim).find(|line| !line.is_empty())?;
            Some(Run {
                message: run.message,
                command: first.to_string(),
                purpose: match run.purpose {
                    purpose if purpose.is_check() => Purpose::Check,
                    longhaul_extract::Purpose::Act => Purpose::Act,
                    _ => Purpose::Look,
                },
                exit_code: run.exit_code,
                failed: run.verdict == Verdict::Failed,
                passed: run.verdict == Verdict::Passed,
                error: run.error,
            })
        })
        .collect()
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It tests, builds or checks: how it went says where the work stands.
    Check,
    /// It only looks: listing, reading, searching.
    Look,
    /// It changes something.
    Act,
}
