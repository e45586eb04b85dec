//! The one place where words leave for a terminal. Whatever they quote, they cannot steer it, and a terminal that went
//! away is no reason to fail.

use std::{
    fmt,
    io::{self, IsTerminal as _, Write},
};

use crate::{
    paint::{self, harmless, wrapped},
    progress,
};

/// Says a line on stderr, behind the name of the program. Takes what `format!` takes.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Says `words` on stderr, behind the name of the program and before a line end; on a terminal in lines that fit it.
pub(crate) fn line(words: fmt::Arguments<'_>) {
    let words = format!("longhaul: {words}");
    let is_terminal = io::stderr().is_terminal();
    for (nth, line) in words.lines().enumerate() {
        // What is quoted may have several lines, and none of them may look like another of ours.
        let margin = if nth > 0 && !line.starts_with("  ") { "  " } else { "" };
        match is_terminal {
            true => progress::aside(|| write(&wrapped("", &format!("{margin}{line}"), "  "))),
            false => write(&format!("{margin}{line}\n")),
        }
    }
}

/// Says `words` and behind them what is to be copied, a path or a command: whole, and on a terminal on a line of its own where it is
/// long.
pub(crate) fn with_whole(words: &str, whole: &str) {
    let words = format!("longhaul: {words}");
    match io::stderr().is_terminal() {
        true => err(&paint::with_whole("", &words, whole)),
        false => err(&format!("{words} {whole}\n")),
    }
}

/// Writes `text` to stderr. Colours of ours are kept, everything else that would steer a terminal is spelled out.
pub(crate) fn err(text: &str) {
    progress::done();
    write(text);
}

fn write(text: &str) {
    let mut err = io::stderr().lock();
    // Nobody is left to be told that stderr is closed, and what is under way is worth more than words about it.
    let _ = err.write_all(harmless(text).as_bytes()).and_then(|()| err.flush());
}

/// Writes `text` for a person to stdout; that it cannot be written is noticed when the terminal is read from.
pub(crate) fn out(text: &str) {
    progress::done();
    let mut out = io::stdout().lock();
    let _ = out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush());
}

/// Writes `data` to stdout: as it is, but for a terminal, which is shown it so that it does no harm.
///
/// # Errors
/// When stdout cannot be written to.
pub(crate) fn data(data: &[u8]) -> io::Result<()> {
    progress::done();
    let mut out = io::stdout().lock();
    match out.is_terminal() {
        true => out.write_all(harmless(&String::from_utf8_lossy(data)).as_bytes()),
        false => out.write_all(data),
    }?;
    out.flush()
}
