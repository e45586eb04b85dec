//! Colour where it is wanted, and text that cannot harm a terminal.

use std::{fmt::Write as _, io::IsTerminal as _};

/// A colour, by its 256-colour index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) u8);

pub(crate) const GREEN: Colour = Colour(35);
pub(crate) const YELLOW: Colour = Colour(178);
pub(crate) const RED: Colour = Colour(167);
pub(crate) const GREY: Colour = Colour(245);

/// Writes colour, or leaves it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    colour: bool,
}

impl Painter {
    /// Paints when stdout is a terminal and the user has not said no (`NO_COLOR`, `TERM=dumb`).
    pub(crate) fn stdout() -> Painter {
        Painter { colour: std::io::stdout().is_terminal() && wanted() }
    }

    /// The same for stderr.
    pub(crate) fn stderr() -> Painter {
        Painter { colour: std::io::stderr().is_terminal() && wanted() }
    }

    /// Returns `text` in `colour`.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[38;5;{}m{text}\x1b[0m", colour.0),
            false => text.to_owned(),
        }
    }

    /// Returns `text` in bold.
    pub(crate) fn bold(self, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[1m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns `text` with control characters and bidirectional overrides shown instead of obeyed: what a transcript says
/// must not steer the terminal of the one who reads about it.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns `number` with thin groups of three: `181,575`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_cannot_steer_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c\nd");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([grouped(7), grouped(181_575), grouped(1_000_000)], ["7", "181,575", "1,000,000"]);
    }
}
