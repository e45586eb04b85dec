//! Choosing among several on a terminal.

use std::io::{self, IsTerminal as _};

use crate::paint::{cut, line_width};

/// Lets the user choose one of `lines`; `None` where nobody is there to choose, or they leave.
pub(crate) fn pick(question: &str, lines: &[String]) -> Option<usize> {
    /// As many are seen at once.
    const SEEN: usize = 12;
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    // What is longer than a line would be drawn over several, and drawn wrong when it moves.
    let short = |line: &String| cut(line.trim_start(), line_width() - 4);
    let lines: Vec<String> = lines.iter().map(short).collect();
    let chosen = dialoguer::Select::new().with_prompt(question).items(&lines).default(0).max_length(SEEN);
    chosen.interact_opt().ok().flatten()
}
