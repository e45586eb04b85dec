//! Which lines tell of a command that failed, and went well later.

use std::collections::{HashMap, HashSet};

use super::line::{Line, Rank};

/// Stands before a command in a tool's line.
const COMMAND: &str = ": Command: ";

/// Returns what a line tells of running, without what only picks lines of the output: `cargo test 2>&1 | tail` runs `cargo test`.
pub(super) fn command(line: &str) -> Option<&str> {
    let is_tools = line.starts_with("[✓ ") || line.starts_with("[❌ ");
    let (tool, facts) = line.split_once(COMMAND).filter(|_| is_tools)?;
    // What somebody said may tell of a command as well.
    let is_name = tool.split_whitespace().count() == 2 && !tool.contains(": ");
    let told = facts.split(" | ").next().unwrap_or(facts).trim_end_matches(']');
    let told = told.strip_suffix("2>&1").unwrap_or(told).trim();
    (is_name && !told.is_empty()).then_some(told)
}

/// Returns for each line of a command that failed the place of the next that tells that it went well.
pub(super) fn cures(lines: &[Line]) -> HashMap<usize, usize> {
    let mut passed: HashMap<&str, usize> = HashMap::new();
    let mut cures = HashMap::new();
    for (at, line) in lines.iter().enumerate().rev() {
        let Some(command) = command(&line.text) else { continue };
        match has_failed(&line.text) {
            true => cures.extend(passed.get(command).map(|cure| (at, *cure))),
            false => drop(passed.insert(command, at)),
        }
    }
    cures
}

/// Gives the lines their rank that tell that something went well which failed when `before` was written.
pub(super) fn rank_cures(lines: &mut [Line], before: &str) {
    let mut open: HashSet<&str> = HashSet::new();
    for (line, command) in before.lines().filter_map(|line| Some((line, command(line)?))) {
        match has_failed(line) {
            true => open.insert(command),
            false => open.remove(command),
        };
    }
    for line in lines.iter_mut().rev() {
        if command(&line.text).is_some_and(|command| open.remove(command)) && !has_failed(&line.text) {
            line.rank = Rank::Cure;
        }
    }
}

fn has_failed(line: &str) -> bool {
    line.starts_with("[❌ ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_without_what_picks_lines_of_its_output() {
        for (line, told) in [
            ("[✓ execute_bash: Command: make check | Exit: 0]", Some("make check")),
            ("[❌ Bash: Command: make check 2>&1 | tail -5 | Exit: 1]", Some("make check")),
            ("[✓ Bash: Command: make check]", Some("make check")),
            ("[✓ user: Request: Type Command: make check]", None),
            ("[✓ read_file: File: a.rs | Lines: 10]", None),
            ("Bash: Command: make check", None),
        ] {
            assert_eq!(command(line), told, "{line}");
        }
    }
}
