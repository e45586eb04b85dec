//! Edits reduced to what they change: lines added, lines removed.

use hashbrown::HashMap;

/// One line that an edit adds or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change<'t> {
    /// The line, trimmed.
    pub(crate) line: &'t str,
    /// Whether it is added rather than removed.
    pub(crate) is_added: bool,
    /// The file, where a patch names it.
    pub(crate) path: Option<&'t str>,
}

/// Returns the lines that replacing `old` by `new` adds and removes; lines that both have are left out.
pub(crate) fn between<'t>(old: &'t str, new: &'t str) -> Vec<Change<'t>> {
    let only_in = |one: &'t str, other: &'t str, is_added: bool| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        other.lines().for_each(|line| *counts.entry(line.trim()).or_default() += 1);
        let mut only = Vec::new();
        for line in one.lines().map(str::trim).filter(|line| line.len() > 2) {
            match counts.get_mut(line).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => only.push(Change { line, is_added, path: None }),
            }
        }
        only
    };
    let mut changes = only_in(new, old, true);
    changes.extend(only_in(old, new, false));
    changes
}

/// Returns the lines that a patch adds and removes, each with its file.
pub(crate) fn of_patch(patch: &str) -> Vec<Change<'_>> {
    let (mut path, mut changes) = (None, Vec::new());
    for line in patch.lines() {
        const HEADS: [&str; 5] =
            ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ "];
        if let Some(named) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            path = Some(named.trim().trim_start_matches("b/"));
            continue;
        }
        let is_head = line.starts_with("--- ") || line.starts_with("*** ") || line.starts_with("@@");
        let change = line.strip_prefix('+').map(|line| (line, true));
        let change = change.or_else(|| line.strip_prefix('-').map(|line| (line, false)));
        if let Some((line, is_added)) = change.filter(|_| !is_head) {
            let line = line.trim();
            if line.len() > 2 {
                changes.push(Change { line, is_added, path });
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(changes: &[Change<'_>]) -> Vec<String> {
        let mark = |change: &Change<'_>| if change.is_added { '+' } else { '-' };
        changes.iter().map(|change| format!("{} {}", mark(change), change.line)).collect()
    }

    #[test]
    fn an_edit_is_what_it_changes() {
        let changes = between("fn a() {\n    one();\n    two();\n}", "fn a() {\n    one();\n    three();\n}");
        assert_eq!(shown(&changes), ["+ three();", "- two();"]);
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a\n one();\n-two();\n+three();\n*** Add File: b.md\n+# Title\n*** End Patch";
        let changes = of_patch(patch);
        assert_eq!(shown(&changes), ["- two();", "+ three();", "+ # Title"]);
        assert_eq!(changes[0].path, Some("src/a.rs"));
        assert_eq!(changes[2].path, Some("b.md"));
    }
}
