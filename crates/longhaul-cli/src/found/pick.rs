//! Choosing among several on a terminal.

use std::{
    io::{self, IsTerminal as _},
    process,
};

use console::{Key, Term};

use crate::{
    exit::INTERRUPTED,
    paint::{cut, harmless, line_width},
};

/// Lets the user choose one of `lines`; `None` where nobody is there to choose, or they leave.
pub(crate) fn pick(question: &str, lines: &[String]) -> Option<usize> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    let term = Term::stderr();
    forget_what_was_typed();
    // What is longer than a line would be drawn over several, and drawn wrong when it moves.
    let short = |line: &String| harmless(&cut(line.trim_start(), line_width() - 4)).into_owned();
    let lines: Vec<String> = lines.iter().map(short).collect();
    let question = format!("{question}: ↑ ↓ and Enter, Esc leaves");
    let question = harmless(&cut(&question, line_width())).into_owned();
    let _ = term.hide_cursor();
    let chosen = chosen(&term, &question, &lines).ok();
    let _ = term.show_cursor();
    match chosen? {
        Choice::One(at) => Some(at),
        Choice::None => None,
        Choice::Interrupted => process::exit(INTERRUPTED),
    }
}

/// Forgets what was typed before a question is shown. A script may answer ahead: what comes from no terminal stays.
pub(crate) fn forget_what_was_typed() {
    #[cfg(unix)]
    if io::stdin().is_terminal() {
        // That it cannot be forgotten is no reason not to ask.
        let _ = nix::sys::termios::tcflush(io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH);
    }
}

/// What came of it.
enum Choice {
    One(usize),
    None,
    Interrupted,
}

/// Draws the lines anew with each key until one of them is chosen.
fn chosen(term: &Term, question: &str, lines: &[String]) -> io::Result<Choice> {
    /// As many are seen at once.
    const SEEN: usize = 12;
    let (mut at, mut top): (usize, usize) = (0, 0);
    loop {
        top = top.min(at).max((at + 1).saturating_sub(SEEN));
        let seen = lines.iter().enumerate().skip(top).take(SEEN);
        term.write_line(question)?;
        for (nth, line) in seen.clone() {
            term.write_line(&format!("{} {line}", if nth == at { ">" } else { " " }))?;
        }
        let key = term.read_key_raw();
        term.clear_last_lines(1 + seen.count())?;
        match key? {
            Key::ArrowDown | Key::Tab | Key::Char('j') => at = (at + 1) % lines.len(),
            Key::ArrowUp | Key::BackTab | Key::Char('k') => at = at.checked_sub(1).unwrap_or(lines.len() - 1),
            Key::Home => at = 0,
            Key::End => at = lines.len() - 1,
            Key::Enter | Key::Char(' ') => {
                term.write_line(&format!("> {}", lines[at]))?;
                return Ok(Choice::One(at));
            }
            // Ctrl-D ends what is typed elsewhere, too; where a line was waited for, it comes as a zero.
            Key::Escape | Key::Char('q' | 'n' | '\u{4}' | '\0') => return Ok(Choice::None),
            Key::CtrlC | Key::Char('\u{3}') => return Ok(Choice::Interrupted),
            _ => {}
        }
    }
}
