//! What an edit does, reduced to what differs: the lines it adds and takes away, and what it newly defines.

use hashbrown::HashMap;
use longhaul_transcript::first_chars;
use serde::{Deserialize, Serialize};

use crate::{CallView, ToolFamily, outline};

/// One edit of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    /// Ordinal of the message with the call.
    pub message: u64,
    /// Whether the file was written whole: what it held before is not known, and all of its lines count as added.
    #[serde(default)]
    pub whole: bool,
    /// Whether it replaced every place that reads so, or lines that it only named by their numbers: what it took away is not known,
    /// and the lines of one place are counted.
    #[serde(default)]
    pub everywhere: bool,
    /// Lines added, as version control counts them: blank ones and those that were only indented count.
    pub added: u32,
    /// Lines taken away, counted in the same way.
    pub removed: u32,
    /// What it changes: `+line` and `-line`, trimmed, in order, the first [`FileEdit::MOST_LINES`].
    pub lines: Vec<String>,
    /// The names that it newly defines, each with its line.
    pub defines: Vec<String>,
}

impl FileEdit {
    /// Changed lines that are kept of one edit.
    pub const MOST_LINES: usize = 40;

    /// Returns an edit without contents.
    pub(super) fn new(message: u64) -> FileEdit {
        FileEdit { message, ..FileEdit::default() }
    }

    /// Returns whether it may change this `line`, or the one that this is a piece of: of a long edit, and of a long line, only the
    /// beginning is known.
    pub fn may_change(&self, sign: char, line: &str) -> bool {
        let has = |known: &String| {
            let known = known.strip_prefix(sign);
            known.is_some_and(|known| known.contains(line) || known.chars().nth(LINE_CHARS - 1).is_some())
        };
        self.lines.len() == FileEdit::MOST_LINES || self.lines.iter().any(has)
    }

    /// Adds what replacing `old` by `new` in the file at `path` changes; lines that both have are left out.
    pub(super) fn replace(&mut self, path: &str, old: &str, new: &str) {
        let (removed, added) = changed_lines(old, new);
        self.removed += removed;
        self.added += added;
        let mut counts: HashMap<&str, i64> = HashMap::new();
        old.lines().for_each(|line| *counts.entry(line.trim()).or_default() += 1);
        let mut taken = counts.clone();
        for line in new.lines() {
            *taken.entry(line.trim()).or_default() -= 1;
        }
        for line in old.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(count) = taken.get_mut(line).filter(|count| **count > 0) {
                *count -= 1;
                self.take('-', line);
            }
        }
        for line in new.lines().map(str::trim) {
            match counts.get_mut(line).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None if line.is_empty() => {}
                None => self.take('+', line),
            }
        }
        let before: Vec<String> = outline(path, old).definitions.into_iter().map(|one| one.name).collect();
        for one in outline(path, new).definitions {
            if !before.contains(&one.name) && self.defines.len() < MOST_DEFINED {
                self.defines.push(one.text);
            }
        }
    }

    /// Adds one line of a patch: `+` and `-` count.
    fn patch_line(&mut self, line: &str) {
        let mut chars = line.chars();
        let Some(sign @ ('+' | '-')) = chars.next() else { return };
        match sign {
            '+' => self.added += 1,
            _ => self.removed += 1,
        }
        let line = chars.as_str().trim();
        if !line.is_empty() {
            self.take(sign, line);
        }
    }

    fn take(&mut self, sign: char, line: &str) {
        if self.lines.len() < FileEdit::MOST_LINES {
            self.lines.push(format!("{sign}{}", first_chars(line, LINE_CHARS)));
        }
    }
}

/// Returns how many lines of `old` are taken away and how many of `new` are added, where as many as can be stay: what version control
/// counts.
fn changed_lines(old: &str, new: &str) -> (u32, u32) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let front = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    let stay = if old.len() * new.len() <= MOST_PAIRS { in_order(old, new) } else { in_any_order(old, new) };
    ((old.len() - stay) as u32, (new.len() - stay) as u32)
}

/// Returns the length of the longest run of lines that both have in the same order.
fn in_order(old: &[&str], new: &[&str]) -> usize {
    // For each place in `new` the longest run up to there.
    let mut runs = vec![0; new.len() + 1];
    for line in old {
        let mut before = 0;
        for (at, other) in new.iter().enumerate() {
            let above = runs[at + 1];
            runs[at + 1] = if line == other { before + 1 } else { above.max(runs[at]) };
            before = above;
        }
    }
    runs[new.len()]
}

/// Returns how many lines both have, wherever they stand.
fn in_any_order(old: &[&str], new: &[&str]) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    old.iter().for_each(|line| *left.entry(line).or_default() += 1);
    let stays = |line: &&&str| match left.get_mut(**line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    new.iter().filter(stays).count()
}

/// Pairs of lines up to which edits are compared in order; of what is larger the lines are only counted.
const MOST_PAIRS: usize = 1 << 20;

/// Returns what the call edits, file by file.
pub(crate) fn edits(view: &CallView<'_>, message: u64) -> Vec<(String, FileEdit)> {
    if view.patch().is_some() {
        return of_patch(view, message);
    }
    if !view.family().changes_files() {
        return Vec::new();
    }
    let Some(path) = view.path() else { return Vec::new() };
    let whole = view.family() == ToolFamily::Write && !view.appends();
    let everywhere = view.replaces_unseen();
    let mut edit = FileEdit { whole, everywhere, ..FileEdit::new(message) };
    view.replacements().iter().for_each(|(old, new)| edit.replace(path, old, new));
    vec![(path.to_owned(), edit)]
}

fn of_patch(view: &CallView<'_>, message: u64) -> Vec<(String, FileEdit)> {
    let mut found: Vec<(String, FileEdit)> = Vec::new();
    let Some(patch) = view.patch() else { return found };
    let heads = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "+++ b/"];
    let mut blocks: Vec<(String, String, String)> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = heads.iter().find_map(|head| line.strip_prefix(head)) {
            found.push((path.trim().to_owned(), FileEdit::new(message)));
            blocks.push((path.trim().to_owned(), String::new(), String::new()));
            continue;
        }
        let is_head = ["--- ", "*** ", "@@", "+++ "].iter().any(|head| line.starts_with(head));
        let (Some((_, edit)), Some((_, old, new))) = (found.last_mut(), blocks.last_mut()) else { continue };
        if is_head {
            continue;
        }
        edit.patch_line(line);
        match line.split_at_checked(1) {
            Some(("+", rest)) => new.extend([rest, "\n"]),
            Some(("-", rest)) => old.extend([rest, "\n"]),
            _ => {}
        }
    }
    for ((path, edit), (_, old, new)) in found.iter_mut().zip(&blocks) {
        let before: Vec<String> = outline(path, old).definitions.into_iter().map(|one| one.name).collect();
        let after = outline(path, new).definitions.into_iter().filter(|one| !before.contains(&one.name));
        edit.defines.extend(after.take(MOST_DEFINED).map(|one| one.text));
    }
    found
}

const LINE_CHARS: usize = 200;

/// Definitions that are kept of one edit.
const MOST_DEFINED: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_version_control_counts_them() {
        let three = "fn a() {\n    one();\n}";
        for (old, new, counts) in [
            ("", "a\n\nb\n\n\nc\n", (0, 6)),
            (three, "fn a() {\n    one();\n\n    two();\n}", (0, 2)),
            // What is only indented is another line.
            (three, "mod m {\n    fn a() {\n        one();\n    }\n}", (2, 4)),
            ("a\nb\nc", "c\na\nb", (1, 1)),
            ("a", "a", (0, 0)),
        ] {
            assert_eq!(changed_lines(old, new), counts, "{old:?} {new:?}");
        }
        let mut edit = FileEdit::new(1);
        "+fn b() {\n+\n+}\n-\n same".lines().for_each(|line| edit.patch_line(line));
        assert_eq!((edit.added, edit.removed), (3, 1));
        assert_eq!(edit.lines, ["+fn b() {", "+}"]);
    }
}
