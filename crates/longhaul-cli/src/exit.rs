//! Exit codes, and how a failure is told.

use std::{borrow::Cow, fmt, io, process::ExitCode};

use longhaul::redact::Redactor;

/// Something was asked for that cannot be: exit code 4.
#[derive(Debug)]
pub(crate) struct Impossible(pub(crate) String);

/// There was nothing to do, and the caller wants to know: exit code 3.
pub(crate) const NOTHING_TO_DO: u8 = 3;

pub(crate) const FAILURE: u8 = 1;

/// A program that was ended by Ctrl-C, by convention 128 and the signal's number.
pub(crate) const INTERRUPTED: i32 = 130;

const IMPOSSIBLE: u8 = 4;

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Impossible {}

/// Returns `error` and its causes in one line. A cause that only repeats what is said already is left out: libraries below
/// put theirs into their own words as well.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        let is_repeated = said.iter().any(|said| said.contains(&cause))
            || said.last().and_then(|said| said.rsplit(": ").next()).is_some_and(|end| cause.ends_with(end));
        if !is_repeated {
            said.push(cause);
        }
    }
    crate::paint::plain(&without_secrets(&said.join(": ")))
}

/// Returns `words`, which may quote what they are about, without secrets. Reading the rules takes longer than most failures:
/// only where a word has both letters and digits, as every secret has that stands without its name, or where something is
/// named.
pub(crate) fn without_secrets(words: &str) -> Cow<'_, str> {
    const SHORTEST: usize = 8;
    let is_like_one = |word: &str| {
        let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
        word.len() >= SHORTEST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    let names_something = words.contains([':', '=', '"']);
    match names_something || words.split_ascii_whitespace().any(is_like_one) {
        true => Redactor::builtin().redact_text(words).0,
        false => Cow::Borrowed(words),
    }
}

/// Tells `error` on stderr and returns the exit code it stands for.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        // The reader has seen enough (`| head`): not a failure, and nobody is left to read about it.
        return ExitCode::SUCCESS;
    }
    say!("{}", words(error));
    match error.downcast_ref::<Impossible>() {
        Some(_) => ExitCode::from(IMPOSSIBLE),
        None => ExitCode::from(FAILURE),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
