//! What became of the files: every touch, folded to the final state, and what each edit changed.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use longhaul_transcript::{Entry, FileNote, FileState, Outcome, Part, ToolResult};

use crate::{CallView, ToolFamily, Verdict, runs::run_of};

mod edit;
mod shell;

pub use edit::FileEdit;
pub(crate) use edit::edits as edits_of;
use shell::shell_touches;

/// A file, what became of it, and what was done to it.
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
    /// What its edits changed, oldest first, as far as the calls say so.
    pub trail: Vec<FileEdit>,
    /// What became of it up to the last commit, where there was one since it was changed.
    committed: Option<FileState>,
    /// Whether it was made in this conversation.
    was_made_here: bool,
}

/// Returns the files that calls in `entries` touched, by path, each with its final state.
///
/// Calls that failed touch nothing. Shell commands count: `rm`, `mv`, `cp`, `touch`, `tee`, `sed -i`, redirects,
/// `git mv`, `git rm`, `git checkout`, `git restore`, `git reset --hard`, and patches. What was committed is not put back
/// by what puts the working copy back.
pub fn file_histories(entries: &[Entry]) -> Vec<FileHistory> {
    let mut results = Results { ahead: entries, found: HashMap::new() };
    let mut touches: Vec<(u64, Touch)> = Vec::new();
    let mut edits: Vec<(String, FileEdit)> = Vec::new();
    for entry in entries {
        for call in entry.message.calls() {
            let result = results.of(call.id.as_str());
            let view = CallView::new(call);
            if result.is_some_and(|result| is_failure(&view, result)) {
                continue;
            }
            let found = call_touches(&view, result);
            if found.iter().any(|touch| !matches!(touch, Touch::Read(_))) {
                edits.extend(edit::edits(&view, entry.id.ordinal));
            }
            touches.extend(found.into_iter().map(|touch| (entry.id.ordinal, touch)));
        }
    }
    fold(touches, edits)
}

/// Returns the files that were changed, with what was done to each, in the order of their last change.
pub fn trail(entries: &[Entry]) -> Vec<FileHistory> {
    let mut files = file_histories(entries);
    files.retain(|file| file.state != FileState::Read);
    files.sort_by(|one, other| (one.last_message, &one.path).cmp(&(other.last_message, &other.path)));
    files
}

impl FileHistory {
    /// Returns the history as a note of a summary: how often it was edited, how many lines that changed, what is new in it.
    pub fn note(&self) -> FileNote {
        let mut words = Vec::new();
        if self.edits > 1 {
            words.push(format!("edited {} times", self.edits));
        }
        match (&self.other_name, self.state) {
            (Some(name), FileState::Renamed) => words.push(format!("now {}", from_beside(&self.path, name))),
            (Some(name), _) => words.push(format!("was {}", from_beside(&self.path, name))),
            (None, _) => {}
        }
        let lines = |count: fn(&FileEdit) -> u32| self.trail.iter().map(count).sum::<u32>();
        let (added, removed) = (lines(|edit| edit.added), lines(|edit| edit.removed));
        // What a file held before it was written anew is not known: such an edit has no count of changed lines.
        let anew = self.trail.iter().rev().find(|edit| edit.whole && self.state == FileState::Modified);
        match anew {
            Some(edit) => words.push(format!("written anew in m{}", edit.message)),
            None if matches!(self.state, FileState::Created | FileState::Modified) && added + removed > 0 => {
                words.push(format!("+{added} -{removed} lines"));
            }
            None => {}
        }
        FileNote { path: self.path.clone(), state: self.state, note: words.join(", ") }
    }

    /// Returns what its edits newly define, each once, the latest last.
    pub fn defines(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for one in self.trail.iter().flat_map(|edit| &edit.defines) {
            if !found.contains(&one.as_str()) {
                found.push(one);
            }
        }
        found
    }
}

/// One thing done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read(String),
    /// Written whole: created where it was not known before.
    Write(String),
    Create(String),
    /// Made where it was not there; nothing is changed in it.
    Touched(String),
    Edit(String),
    Delete(String),
    Rename(String, String),
    /// Put back to what version control has.
    Revert(String),
    /// Everything put back.
    RevertAll,
    /// What was changed so far is in version control now.
    Commit,
}

/// The results that calls wait for. They mostly follow at once, so that few are held at a time. Some clients give each call
/// the same id: its results come in the order of the calls.
struct Results<'e> {
    /// What was not looked through yet.
    ahead: &'e [Entry],
    found: HashMap<&'e str, VecDeque<&'e ToolResult>>,
}

impl<'e> Results<'e> {
    /// Returns the result of `call`, which is asked for once.
    fn of(&mut self, call: &str) -> Option<&'e ToolResult> {
        loop {
            if let Some(waiting) = self.found.get_mut(call) {
                let result = waiting.pop_front();
                if waiting.is_empty() {
                    self.found.remove(call);
                }
                return result;
            }
            let (next, ahead) = self.ahead.split_first()?;
            self.ahead = ahead;
            for result in next.message.results() {
                self.found.entry(result.call_id.as_str()).or_default().push_back(result);
            }
        }
    }
}

/// Whether the result says that the call failed.
fn is_failure(view: &CallView<'_>, result: &ToolResult) -> bool {
    if view.family() == ToolFamily::Shell && view.patch().is_none() {
        let failed = run_of(view.call(), result).is_some_and(|run| {
            // A check that fails has run; what stands before it was done.
            run.verdict == Verdict::Failed && run.checks.is_empty()
        });
        return failed || result.outcome == Outcome::Failed && was_refused(result);
    }
    let says = first_text(result).is_some_and(|text| {
        [
            "<tool_use_error>",
            "Error:",
            "error:",
            "String to replace not found",
            "No such file",
            "File does not exist",
            "apply_patch verification failed",
            "Invalid patch",
        ]
        .iter()
        .any(|start| text.starts_with(start))
    });
    let patched = view.patch().is_some()
        && first_text(result).is_some_and(|text| {
            text.lines().take(8).any(|line| {
                line.contains("Exit code: 1")
                    || line.contains("exited with code 1")
                    || line.contains("verification failed")
            })
        });
    result.outcome == Outcome::Failed || says || patched
}

fn was_refused(result: &ToolResult) -> bool {
    first_text(result).is_some_and(|text| {
        text.starts_with("The user doesn't want to") || text.starts_with("Permission to use")
    })
}

fn first_text(result: &ToolResult) -> Option<&str> {
    result.content.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.trim_start()),
        _ => None,
    })
}

fn call_touches(view: &CallView<'_>, result: Option<&ToolResult>) -> Vec<Touch> {
    let paths = || view.paths().into_iter().map(str::to_string);
    match view.family() {
        ToolFamily::Read => paths().map(Touch::Read).collect(),
        // The tool knows whether the file was there.
        ToolFamily::Write => match result.and_then(first_text) {
            Some(text) if text.contains("has been updated") => paths().map(Touch::Edit).collect(),
            Some(text) if text.starts_with("File created") => paths().map(Touch::Create).collect(),
            _ => paths().map(Touch::Write).collect(),
        },
        ToolFamily::Edit => match view.key_text("command") {
            Some("view") => paths().map(Touch::Read).collect(),
            Some("create") => paths().map(Touch::Create).collect(),
            // An editor that makes a file out of nothing is told to replace nothing.
            _ if view.key_text("old_string") == Some("") => paths().map(Touch::Write).collect(),
            _ => paths().map(Touch::Edit).collect(),
        },
        ToolFamily::Patch => patch_touches(view),
        ToolFamily::Shell if view.patch().is_some_and(|patch| patch.contains("*** Begin Patch")) => {
            patch_touches(view)
        }
        ToolFamily::Shell => {
            let dir = view.working_dir().unwrap_or_default();
            view.command().map(|command| shell_touches(&command, dir)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn patch_touches(view: &CallView<'_>) -> Vec<Touch> {
    let dir = view.working_dir().unwrap_or_default();
    let mut touches = Vec::new();
    for (what, path) in view.patched() {
        let path = shell::join(dir, path);
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

fn fold(touches: Vec<(u64, Touch)>, edits: Vec<(String, FileEdit)>) -> Vec<FileHistory> {
    let names = Names::new(
        touches
            .iter()
            .flat_map(|(_, touch)| touch.paths())
            .chain(edits.iter().map(|(path, _)| path.as_str())),
    );
    let name = |path: &str| names.of(path).to_owned();
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    let mut moved: Vec<Moved> = Vec::new();
    for (message, touch) in &touches {
        let message = *message;
        match touch {
            Touch::Read(path) => {
                // Most touches only read what is known.
                if let Some(file) = files.get_mut(names.of(path)) {
                    file.last_message = message;
                    continue;
                }
            }
            Touch::RevertAll => {
                for file in files.values_mut() {
                    file.put_back(message);
                }
                continue;
            }
            Touch::Commit => {
                for file in files.values_mut() {
                    file.committed = Some(file.state);
                }
                continue;
            }
            _ => {}
        }
        let Some(path) = touch.paths().next().map(name) else { continue };
        let known = files.contains_key(&path);
        if let Touch::Rename(from, to) = touch {
            let before = moved.len();
            moved.extend(rename_inside(&mut files, &path, &beside(&path, &clean(from), name(to)), message));
            if moved.len() > before {
                continue;
            }
        }
        let file = files.entry(path.clone()).or_insert_with(|| FileHistory::new(&path));
        match touch {
            Touch::Revert(_) => {
                file.put_back(message);
                continue;
            }
            _ => file.last_message = message,
        }
        match touch {
            Touch::Read(_) | Touch::RevertAll | Touch::Commit | Touch::Revert(_) => {}
            Touch::Create(_) => file.write(FileState::Created),
            Touch::Touched(_) if known => {}
            Touch::Touched(_) => file.write(FileState::Created),
            Touch::Write(_) if !known || file.state == FileState::Deleted => file.write(FileState::Created),
            Touch::Write(_) | Touch::Edit(_) => file.write(FileState::Modified),
            Touch::Delete(_) => {
                file.state = FileState::Deleted;
                if delete_inside(&mut files, &path, message)
                    && let Some(folder) = files.get_mut(&path)
                {
                    folder.was_made_here = true;
                }
            }
            Touch::Rename(from, to) => {
                let to = beside(&path, &clean(from), name(to));
                let before = file.clone();
                (file.state, file.other_name) = (FileState::Renamed, Some(to.clone()));
                let target = files.entry(to.clone()).or_insert_with(|| FileHistory::new(&to));
                let made_here = before.state == FileState::Created;
                target.state = if made_here { FileState::Created } else { FileState::Modified };
                target.trail = before.trail;
                (target.edits, target.other_name, target.last_message) = (before.edits, Some(path), message);
            }
        }
    }
    let renamed: Vec<String> = edits.iter().map(|(path, _)| name(path)).collect();
    drop(names);
    for (mut path, (_, edit)) in renamed.into_iter().zip(edits) {
        // What was edited under its old name is told under the new one.
        for folder in &moved {
            if folder.from == path && edit.message <= folder.message {
                path.clone_from(&folder.to);
            }
        }
        for _ in 0..8 {
            match files.get(&path) {
                Some(FileHistory { state: FileState::Renamed, other_name: Some(now), .. }) => {
                    path.clone_from(now)
                }
                _ => break,
            }
        }
        if let Some(file) = files.get_mut(&path) {
            file.trail.push(edit);
        }
    }
    // What was made and thrown away again left nothing.
    files.retain(|_, file| file.state != FileState::Deleted || !file.was_made_here);
    files.into_values().collect()
}

/// Returns `name` as it is called from `path`: by its last part alone where both are in one folder, as a conversation that
/// works in that folder says it.
fn from_beside<'n>(path: &str, name: &'n str) -> &'n str {
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    name.strip_prefix(folder).filter(|rest| !rest.contains('/')).unwrap_or(name)
}

/// Where `to` is relative to what `from` is relative to, and that is known by its whole path, so is `to`.
fn beside(whole: &str, from: &str, to: String) -> String {
    match whole.strip_suffix(from).filter(|base| base.ends_with('/')) {
        Some(base) if !to.starts_with(['/', '~', '.']) => format!("{base}{to}"),
        _ => to,
    }
}

/// A directory that goes takes the files in it along. Returns whether there were some and all were made here.
fn delete_inside(files: &mut BTreeMap<String, FileHistory>, folder: &str, message: u64) -> bool {
    let inside = format!("{folder}/");
    let after = files.range_mut(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
    let (mut known, mut made_here) = (0, 0);
    for (_, file) in after.filter(|(_, file)| file.state != FileState::Renamed) {
        (file.state, file.last_message) = (FileState::Deleted, message);
        known += 1;
        made_here += usize::from(file.was_made_here);
    }
    known > 0 && known == made_here
}

/// A file that went along with its directory.
struct Moved {
    from: String,
    to: String,
    message: u64,
}

/// A directory that is renamed takes the files in it along. Returns those that are known.
fn rename_inside(
    files: &mut BTreeMap<String, FileHistory>,
    from: &str,
    to: &str,
    message: u64,
) -> Vec<Moved> {
    let inside = format!("{from}/");
    let known: Vec<String> = files
        .range(inside.clone()..)
        .take_while(|(path, _)| path.starts_with(&inside))
        .map(|(path, _)| path.clone())
        .collect();
    let mut moved = Vec::new();
    for path in known {
        let now = format!("{to}/{}", &path[inside.len()..]);
        let Some(mut file) = files.remove(&path) else { continue };
        if !matches!(file.state, FileState::Deleted | FileState::Renamed) {
            if file.state == FileState::Read {
                file.state = FileState::Modified;
            }
            (file.other_name, file.last_message) = (Some(path.clone()), message);
            file.path.clone_from(&now);
            files.insert(now.clone(), file);
        }
        moved.push(Moved { from: path, to: now, message });
    }
    moved
}

impl FileHistory {
    fn new(path: &str) -> FileHistory {
        FileHistory {
            path: path.into(),
            state: FileState::Read,
            edits: 0,
            other_name: None,
            last_message: 0,
            trail: Vec::new(),
            committed: None,
            was_made_here: false,
        }
    }

    fn write(&mut self, state: FileState) {
        self.edits += 1;
        // What was made here stays "created", however often it is edited afterwards.
        if self.state != FileState::Created {
            self.state = state;
        }
        self.was_made_here |= self.state == FileState::Created;
    }

    /// Puts the file back to what version control has of it.
    fn put_back(&mut self, message: u64) {
        let back = match (self.committed, self.state) {
            // Version control has it as it was changed here.
            (Some(state), now) if state != now => state,
            // What version control does not know stays.
            (None, FileState::Modified | FileState::Deleted) if !self.was_made_here => FileState::Reverted,
            _ => return,
        };
        (self.state, self.last_message) = (back, message);
    }
}

impl Touch {
    fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, two) = match self {
            Touch::Read(path)
            | Touch::Write(path)
            | Touch::Create(path)
            | Touch::Edit(path)
            | Touch::Touched(path) => (Some(path), None),
            Touch::Delete(path) | Touch::Revert(path) => (Some(path), None),
            Touch::Rename(from, to) => (Some(from), Some(to)),
            Touch::RevertAll | Touch::Commit => (None, None),
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

/// Which whole paths end in a name.
#[derive(Clone, Copy)]
enum Ends<'p> {
    None,
    One(&'p str),
    Several,
}

impl<'p> Ends<'p> {
    fn add(&mut self, path: &'p str) {
        *self = match *self {
            Ends::None => Ends::One(path),
            Ends::One(known) if known == path => return,
            _ => Ends::Several,
        };
    }
}

/// What the paths of a conversation mean: each clean, and a relative one as the only absolute one that ends in it.
struct Names<'p> {
    of: HashMap<&'p str, String>,
}

impl<'p> Names<'p> {
    fn new(paths: impl Iterator<Item = &'p str>) -> Names<'p> {
        let mut of: HashMap<&str, String> = HashMap::new();
        for path in paths {
            of.entry(path).or_insert_with(|| clean(path));
        }
        let is_whole = |path: &&str| path.starts_with(['/', '~']);
        // For each name that may be the end of a whole path, that path where there is only one.
        let names = of.values().map(String::as_str);
        let mut ends: HashMap<&str, Ends<'_>> =
            names.clone().filter(|name| !is_whole(name)).map(|name| (name, Ends::None)).collect();
        if !ends.is_empty() {
            for path in names.filter(is_whole) {
                for (slash, _) in path.match_indices('/') {
                    if let Some(end) = ends.get_mut(&path[slash + 1..]) {
                        end.add(path);
                    }
                }
            }
        }
        let whole = |path: &String| match ends.get(path.as_str()) {
            Some(Ends::One(whole)) => Some((*whole).to_owned()),
            _ => None,
        };
        let longer: Vec<(&str, String)> =
            of.iter().filter_map(|(path, clean)| Some((*path, whole(clean)?))).collect();
        drop(ends);
        of.extend(longer);
        Names { of }
    }

    /// Returns what `path` means, one of those that were given.
    fn of<'n>(&'n self, path: &'n str) -> &'n str {
        self.of.get(path).map_or(path, String::as_str)
    }
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
                /app/src/new.rs Renamed edited 2 times, now newer.rs m7
                /app/src/newer.rs Created edited 2 times, was new.rs, +2 -1 lines m7
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
                examples.md Created  m1
            "#]],
        );
    }

    #[test]
    fn a_directory_that_moves_takes_its_edits_along() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"src/old/retry.rs","old_string":"once();","new_string":"thrice();"}
tool#c1: ok
assistant: !Bash#c2 {"command":"git mv src/old src/new && git mv src/new src/newest"}
tool#c2:
assistant: !Edit#c3 {"file_path":"src/newest/retry.rs","old_string":"thrice();","new_string":"often();\nwait();"}
tool#c3: ok
assistant: !Write#c4 {"file_path":"src/old/retry.rs","content":"x"}
tool#c4: File created successfully
"#,
            expect![[r#"
                src/newest/retry.rs Modified edited 2 times, was src/new/retry.rs, +3 -2 lines m5
                src/old/retry.rs Created +1 -0 lines m7
            "#]],
        );
    }

    #[test]
    fn results_of_calls_that_share_an_id_come_in_their_order() {
        check(
            r#"
user: go
assistant: !Read#x {"file_path":"src/never.rs"}
user: Stop, do not read that one.
assistant: !Edit#c {"file_path":"src/first.rs","old_string":"x","new_string":"y"}
tool#c: ok
assistant: !Edit#c {"file_path":"src/second.rs","old_string":"x","new_string":"y"}
tool#c: Error: String to replace not found
"#,
            expect![[r#"
                src/first.rs Modified +1 -1 lines m3
                src/never.rs Read  m1
            "#]],
        );
    }

    #[test]
    fn what_was_committed_is_not_taken_back() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"/w/a.rs","old_string":"a","new_string":"b"} !Edit#c2 {"file_path":"/w/b.rs","old_string":"a","new_string":"b"}
tool#c1: ok
tool#c2: ok
assistant: !Bash#c3 {"command":"git add /w/a.rs && git commit -m one"}
tool#c3: [main 1] one
assistant: !Edit#c4 {"file_path":"/w/c.rs","old_string":"a","new_string":"b"} !Edit#c5 {"file_path":"/w/a.rs","old_string":"b","new_string":"c"}
tool#c4: ok
tool#c5: ok
assistant: !Bash#c6 {"command":"git reset --hard HEAD && touch /w/c.rs"}
tool#c6: HEAD is now at 1
"#,
            expect![[r#"
                /w/a.rs Modified edited 2 times, +2 -2 lines m6
                /w/b.rs Modified +1 -1 lines m1
                /w/c.rs Reverted  m9
            "#]],
        );
    }

    #[test]
    fn the_tool_knows_what_was_there_before() {
        check(
            r#"
user: go
assistant: !Write#c1 {"file_path":"/w/a.rs","content":"x"} !Write#c2 {"file_path":"/w/b.rs","content":"x"} !Bash#c3 {"command":"sed -i '' 's/a/b/' /w/c.rs && cp /w/c.rs /w/d.rs && perl -pi -e 's/x/y/' /w/e.rs"} !Bash#c4 {"command":"rm /w/f.rs"}
tool#c1: The file /w/a.rs has been updated.
tool#c2: File created successfully at: /w/b.rs
tool#c3:
tool#c4!: Exit code 1
"#,
            expect![[r#"
                /w/a.rs Modified written anew in m1 m1
                /w/b.rs Created +1 -0 lines m1
                /w/c.rs Modified  m1
                /w/d.rs Created  m1
                /w/e.rs Modified  m1
            "#]],
        );
    }

    #[test]
    fn an_edit_is_reduced_to_what_it_changes() {
        let said = transcript(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"/w/a.rs","old_string":"fn a() {\n    one();\n}","new_string":"fn a() {\n    two();\n}\n\npub fn b() {}"}
tool#c1: ok
"#,
        );
        let files = trail(said.entries());
        assert_eq!(files[0].trail[0].lines, ["-one();", "+two();", "+pub fn b() {}"]);
        assert_eq!(files[0].defines(), ["pub fn b() {}"]);
    }

    #[test]
    fn patches_say_what_they_do() {
        check(
            "user: go\nassistant: !apply_patch#c1 {\"input\":\"*** Begin Patch\\n*** Update File: src/a.rs\\n*** Move to: src/b.rs\\n@@\\n-x\\n+y\\n*** Add File: c.rs\\n+z\\n*** Delete File: d.rs\\n*** End Patch\"}\ntool#c1: ok",
            expect![[r#"
                c.rs Created +1 -0 lines m1
                d.rs Deleted  m1
                src/a.rs Renamed now b.rs m1
                src/b.rs Modified was a.rs, +1 -1 lines m1
            "#]],
        );
    }
}
