//! What became of the files: every touch, folded to the final state.

use std::collections::{BTreeMap, HashMap};

use longhaul_transcript::{Entry, FileNote, FileState, Outcome, Part, ToolCall, ToolResult};

use crate::{CallView, ToolFamily};

mod shell;

use shell::shell_touches;

/// A file, what became of it, and when it was last touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHistory {
    /// The path, the longest the conversation has for it.
    pub path: String,
    /// What became of it.
    pub state: FileState,
    /// How often it was written, edited or patched.
    pub edits: u32,
    /// Where it lives now, for a renamed one; what it was called before, for one that was renamed to this.
    pub other_name: Option<String>,
    /// Ordinal of the message that last touched it.
    pub last_message: u64,
}

/// Returns the files that calls in `entries` touched, by path, each with its final state.
///
/// Calls that failed touch nothing. Shell commands count: `rm`, `mv`, `cp`, `touch`, `tee`, `sed -i`, redirects,
/// `git mv`, `git rm`, `git checkout`, `git restore`, `git reset --hard`, and patches.
pub fn file_histories(entries: &[Entry]) -> Vec<FileHistory> {
    let failed = failed_calls(entries);
    let mut touches: Vec<(u64, Touch)> = Vec::new();
    for entry in entries {
        for call in entry.message.calls().filter(|call| !failed.contains_key(call.id.as_str())) {
            touches.extend(call_touches(call).into_iter().map(|touch| (entry.id.ordinal, touch)));
        }
    }
    fold(touches)
}

impl FileHistory {
    /// Returns the history as a note of a summary.
    pub fn note(&self) -> FileNote {
        let mut words = Vec::new();
        if self.edits > 1 {
            words.push(format!("edited {} times", self.edits));
        }
        match (&self.other_name, self.state) {
            (Some(name), FileState::Renamed) => words.push(format!("now {name}")),
            (Some(name), _) => words.push(format!("was {name}")),
            (None, _) => {}
        }
        FileNote { path: self.path.clone(), state: self.state, note: words.join(", ") }
    }
}

/// One thing done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read(String),
    /// Written whole: created where it was not known before.
    Write(String),
    Create(String),
    Edit(String),
    Delete(String),
    Rename(String, String),
    /// Put back to what version control has.
    Revert(String),
    /// Everything put back.
    RevertAll,
}

/// Ids of calls whose result says that they failed.
fn failed_calls(entries: &[Entry]) -> HashMap<&str, ()> {
    let results = entries.iter().flat_map(|entry| entry.message.results());
    results.filter(|result| is_failure(result)).map(|result| (result.call_id.as_str(), ())).collect()
}

fn is_failure(result: &ToolResult) -> bool {
    let first = result.content.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.trim_start()),
        _ => None,
    });
    let says = first.is_some_and(|text| {
        [
            "<tool_use_error>",
            "Error:",
            "error:",
            "String to replace not found",
            "No such file",
            "File does not exist",
        ]
        .iter()
        .any(|start| text.starts_with(start))
    });
    result.outcome == Outcome::Failed || says
}

fn call_touches(call: &ToolCall) -> Vec<Touch> {
    let view = CallView::new(call);
    let paths = || view.paths().into_iter().map(str::to_string);
    match view.family() {
        ToolFamily::Read => paths().map(Touch::Read).collect(),
        ToolFamily::Write => paths().map(Touch::Write).collect(),
        ToolFamily::Edit => match view.key_text("command") {
            Some("view") => paths().map(Touch::Read).collect(),
            Some("create") => paths().map(Touch::Create).collect(),
            _ => paths().map(Touch::Edit).collect(),
        },
        ToolFamily::Patch => patch_touches(&view),
        ToolFamily::Shell if view.patch().is_some_and(|patch| patch.contains("*** Begin Patch")) => {
            patch_touches(&view)
        }
        ToolFamily::Shell => {
            let dir = view.working_dir().unwrap_or_default();
            view.command().map(|command| shell_touches(&command, dir)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn patch_touches(view: &CallView<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (what, path) in view.patched() {
        let path = path.to_string();
        match (what, touches.last()) {
            ('A', _) => touches.push(Touch::Create(path)),
            ('D', _) => touches.push(Touch::Delete(path)),
            ('R', Some(Touch::Edit(from))) => {
                let from = from.clone();
                touches.push(Touch::Rename(from, path));
            }
            _ => touches.push(Touch::Edit(path)),
        }
    }
    touches
}

fn fold(touches: Vec<(u64, Touch)>) -> Vec<FileHistory> {
    let longest = longest_paths(touches.iter().flat_map(|(_, touch)| touch.paths()));
    let name = |path: &str| longest.get(&clean(path)).cloned().unwrap_or_else(|| clean(path));
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    for (message, touch) in touches {
        if touch == Touch::RevertAll {
            for file in files.values_mut().filter(|file| file.state == FileState::Modified) {
                (file.state, file.last_message) = (FileState::Reverted, message);
            }
            continue;
        }
        let Some(path) = touch.paths().next().map(name) else { continue };
        let known = files.contains_key(&path);
        let file = files.entry(path.clone()).or_insert_with(|| FileHistory::new(&path));
        file.last_message = message;
        match &touch {
            Touch::Read(_) | Touch::RevertAll => {}
            Touch::Create(_) => file.write(FileState::Created),
            Touch::Write(_) if !known => file.write(FileState::Created),
            Touch::Write(_) | Touch::Edit(_) => file.write(FileState::Modified),
            Touch::Delete(_) => {
                file.state = FileState::Deleted;
                delete_inside(&mut files, &path, message);
            }
            Touch::Revert(_) if file.state == FileState::Created => {}
            Touch::Revert(_) => file.state = FileState::Reverted,
            Touch::Rename(_, to) => {
                let to = name(to);
                let (before, edits) = (file.state, file.edits);
                (file.state, file.other_name) = (FileState::Renamed, Some(to.clone()));
                let target = files.entry(to.clone()).or_insert_with(|| FileHistory::new(&to));
                target.state = if before == FileState::Created { before } else { FileState::Modified };
                (target.edits, target.other_name, target.last_message) = (edits, Some(path), message);
            }
        }
    }
    files.into_values().collect()
}

/// A directory that goes takes the files in it along.
fn delete_inside(files: &mut BTreeMap<String, FileHistory>, folder: &str, message: u64) {
    let inside = format!("{folder}/");
    let after = files.range_mut(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
    for (_, file) in after.filter(|(_, file)| file.state != FileState::Renamed) {
        (file.state, file.last_message) = (FileState::Deleted, message);
    }
}

impl FileHistory {
    fn new(path: &str) -> FileHistory {
        FileHistory { path: path.into(), state: FileState::Read, edits: 0, other_name: None, last_message: 0 }
    }

    fn write(&mut self, state: FileState) {
        self.edits += 1;
        // What was made here stays "created", however often it is edited afterwards.
        if self.state != FileState::Created {
            self.state = state;
        }
    }
}

impl Touch {
    fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, two) = match self {
            Touch::Read(path) | Touch::Write(path) | Touch::Create(path) | Touch::Edit(path) => {
                (Some(path), None)
            }
            Touch::Delete(path) | Touch::Revert(path) => (Some(path), None),
            Touch::Rename(from, to) => (Some(from), Some(to)),
            Touch::RevertAll => (None, None),
        };
        one.into_iter().chain(two).map(String::as_str)
    }
}

fn clean(path: &str) -> String {
    let mut path = path.trim().trim_end_matches('/');
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path.to_string()
}

/// For each relative path the only absolute one that ends in it.
fn longest_paths<'a>(paths: impl Iterator<Item = &'a str>) -> HashMap<String, String> {
    let all: std::collections::BTreeSet<String> = paths.map(clean).collect();
    let mut ends: HashMap<&str, Option<&str>> = HashMap::new();
    for path in all.iter().filter(|path| path.starts_with(['/', '~'])) {
        for (slash, _) in path.match_indices('/') {
            ends.entry(&path[slash + 1..]).and_modify(|only| *only = None).or_insert(Some(path));
        }
    }
    let longest = |path: &String| Some((path.clone(), (*ends.get(path.as_str())?)?.to_string()));
    all.iter().filter_map(longest).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use longhaul_testkit::transcript;

    use super::*;

    fn check(fixture: &str, expect: Expect) {
        let said = transcript(fixture);
        let lines: Vec<String> = file_histories(said.entries())
            .iter()
            .map(|file| {
                format!("{} {:?} {} m{}\n", file.path, file.state, file.note().note, file.last_message)
            })
            .collect();
        expect.assert_eq(&lines.concat());
    }

    #[test]
    fn the_final_state_is_what_counts() {
        check(
            r#"
user: go
assistant: !Read#c1 {"file_path":"/app/src/a.rs"} !Write#c2 {"file_path":"/app/src/new.rs","content":"x"}
tool#c1: fn a() {}
tool#c2: ok
assistant: !Edit#c3 {"file_path":"/app/src/a.rs","old_string":"a","new_string":"b"} !Edit#c4 {"file_path":"/app/src/new.rs","old_string":"a","new_string":"b"}
tool#c3: ok
tool#c4: ok
assistant: !Bash#c5 {"command":"cd /app && git checkout -- src/a.rs && rm -f old.rs && git mv src/new.rs src/newer.rs && echo hi > notes.txt"}
tool#c5:
assistant: !Edit#c6 {"file_path":"/app/src/never.rs","old_string":"a","new_string":"b"}
tool#c6!: String to replace not found
"#,
            expect![[r#"
                /app/notes.txt Created  m7
                /app/old.rs Deleted  m7
                /app/src/a.rs Reverted  m7
                /app/src/new.rs Renamed edited 2 times, now /app/src/newer.rs m7
                /app/src/newer.rs Created edited 2 times, was /app/src/new.rs m7
            "#]],
        );
    }

    #[test]
    fn a_directory_that_goes_takes_its_files_along() {
        check(
            r#"
user: go
assistant: !Bash#c1 {"command":"mkdir -p examples && echo x > examples/scale.rs && echo y > examples.md"}
tool#c1:
assistant: !Bash#c2 {"command":"rm -r examples"}
tool#c2:
"#,
            expect![[r#"
                examples Deleted  m3
                examples.md Created  m1
                examples/scale.rs Deleted  m3
            "#]],
        );
    }

    #[test]
    fn patches_say_what_they_do() {
        check(
            "user: go\nassistant: !apply_patch#c1 {\"input\":\"*** Begin Patch\\n*** Update File: src/a.rs\\n*** Move to: src/b.rs\\n@@\\n-x\\n+y\\n*** Add File: c.rs\\n+z\\n*** Delete File: d.rs\\n*** End Patch\"}\ntool#c1: ok",
            expect![[r#"
                c.rs Created  m1
                d.rs Deleted  m1
                src/a.rs Renamed now src/b.rs m1
                src/b.rs Modified was src/a.rs m1
            "#]],
        );
    }
}
