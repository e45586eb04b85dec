//! What became of the files: every touch, folded to the final state, and what each edit changed.

use hashbrown::HashMap;
use longhaul_transcript::{Entry, FileNote, FileState};

use crate::{Act, each_act};

mod call;
mod edit;
mod fold;
mod names;
mod scripts;
mod shell;
mod touch;

pub use call::call_failed;
use call::call_touches;
pub use edit::FileEdit;
pub(crate) use edit::edits as edits_of;
use fold::fold;
use touch::Touch;

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
    committed: Option<Committed>,
    /// Whether it was made in this conversation.
    was_made_here: bool,
    /// Whether a command wrote it: what that changed is not in the trail.
    has_unseen_edits: bool,
    /// The edits that failed.
    failures: Vec<Failed>,
    /// The touches that put it back to what version control has, each behind that of the commit it went back to: what was edited
    /// between the two is gone.
    gone: Vec<(Option<usize>, usize)>,
    /// The messages with edits that are gone.
    undone: Vec<u64>,
}

/// Edits of a file that failed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failed {
    /// How many edits had been made.
    edits: u32,
    times: u32,
    /// The answer to the last of them, and what its tool said.
    message: u64,
    why: String,
}

/// A file as version control has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Committed {
    state: FileState,
    edits: u32,
    has_unseen_edits: bool,
    nth: usize,
}

/// Returns the files that calls in `entries` touched, by path, each with its final state.
///
/// Calls that failed touch nothing. Shell commands count: `rm`, `mv`, `cp`, `touch`, `tee`, `sed -i`, redirects,
/// `git mv`, `git rm`, `git checkout`, `git restore`, `git reset --hard`, and patches. What was committed is not put back
/// by what puts the working copy back.
pub(crate) fn file_histories(entries: &[Entry]) -> Vec<FileHistory> {
    let mut touches = Touches::default();
    each_act(entries, |act| touches.take(act));
    touches.histories()
}

/// Takes in what calls do to files, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    touches: Vec<(u64, Touch)>,
    /// The places of those that read a file since something else happened: of these only the last counts.
    reads: HashMap<Box<str>, usize>,
    /// Each behind how many touches came before it.
    edits: Vec<(usize, String, FileEdit)>,
}

impl Touches {
    /// Takes in what one call does.
    pub fn take(&mut self, act: &Act<'_>) {
        // What nobody answered was done by nobody.
        let Some((answered, result)) = act.result else { return };
        if call_failed(&act.call, result) {
            let failed = call::failed_touches(&act.call, result);
            self.touches.extend(failed.into_iter().map(|touch| (answered, touch)));
            return;
        }
        let mut found = call_touches(&act.call, result);
        // Where no harness says so, git does; what other commands of the line complain of says nothing of it.
        let puts_back = |touch: &Touch| matches!(touch, Touch::Revert(_) | Touch::RevertAll);
        if found.iter().any(puts_back) {
            let said = result.joined_text();
            if ["error: pathspec ", "fatal: "].iter().any(|start| said.trim_start().starts_with(start)) {
                found.retain(|touch| !puts_back(touch));
            }
        }
        let mut edits = Vec::new();
        if found.iter().any(|touch| !matches!(touch, Touch::Read(_))) {
            edits = edit::edits(&act.call, act.message);
        }
        let is_seen = !edits.is_empty();
        let before = self.touches.len();
        self.edits.extend(edits.into_iter().map(|(path, edit)| (before, path, edit)));
        for touch in found {
            if let Touch::Read(path) = &touch {
                match self.reads.get(path.as_str()) {
                    Some(at) => {
                        self.touches[*at].0 = act.message;
                        continue;
                    }
                    None => drop(self.reads.insert(path.as_str().into(), self.touches.len())),
                }
            } else {
                self.reads.clear();
            }
            let unseen = touch.written().filter(|_| !is_seen).map(|path| Touch::Unseen(path.to_owned()));
            self.touches.push((act.message, touch));
            self.touches.extend(unseen.map(|unseen| (act.message, unseen)));
        }
    }

    /// Returns what became of the files, by path, each with its final state.
    pub fn histories(self) -> Vec<FileHistory> {
        fold(self.touches, self.edits)
    }
}

/// Returns the files that were changed, with what was done to each, in the order of their last change.
pub fn trail(entries: &[Entry]) -> Vec<FileHistory> {
    let mut files = file_histories(entries);
    files.retain(|file| file.state != FileState::Read);
    files.sort_by(|one, other| (one.last_message, &one.path).cmp(&(other.last_message, &other.path)));
    files
}

impl FileHistory {
    /// Returns whether `path` names this file: by its whole path or by an end of it, as far as the two are known.
    pub fn is_called(&self, path: &str) -> bool {
        let is_end = |whole: &str, end: &str| {
            whole.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        is_end(&self.path, path) || is_end(path, &self.path)
    }

    /// Returns whether edits of it are gone since it was put back to what version control has.
    pub fn was_put_back(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Returns whether what the message `edit` changed in it is gone, since the file was put back to what version control has.
    pub fn is_gone(&self, edit: u64) -> bool {
        self.undone.contains(&edit) && self.trail.iter().all(|stands| stands.message != edit)
    }

    /// Returns the history as a note of a summary: how often it was edited, how many lines that changed, what is new in it.
    pub fn note(&self) -> FileNote {
        let beside = |path, name| FileNote::spelled(from_beside(path, name));
        let mut words = Vec::new();
        if self.edits > 1 {
            words.push(format!("edited {} times", self.edits));
        }
        match (&self.other_name, self.state) {
            (Some(name), FileState::Renamed) => words.push(format!("now {}", beside(&self.path, name))),
            (Some(name), _) => words.push(format!("was {}", beside(&self.path, name))),
            (None, _) => {}
        }
        // Of a file that was made here and written whole again, what it held before is gone.
        let made_here = self.state == FileState::Created;
        let from = self.trail.iter().rposition(|edit| edit.whole && made_here).unwrap_or_default();
        let counted = &self.trail[from..];
        let lines = |count: fn(&FileEdit) -> u32| counted.iter().map(count).sum::<u32>();
        let (added, removed) = (lines(|edit| edit.added), lines(|edit| edit.removed));
        // What a file held before it was written anew is not known: such an edit has no count of changed lines.
        let anew = self.trail.iter().rev().find(|edit| edit.whole && self.state == FileState::Modified);
        let is_known_in_part = self.has_unseen_edits && !self.trail.is_empty();
        match anew {
            _ if is_known_in_part => words.push("by commands as well".into()),
            Some(edit) => words.push(format!("written anew in m{}", edit.message)),
            None if counted.iter().any(|edit| edit.everywhere) => {}
            None if matches!(self.state, FileState::Created | FileState::Modified) && added + removed > 0 => {
                words.push(format!("+{added} -{removed} lines"));
            }
            None => {}
        }
        // What did not work once was mended; what did not work twice may not work again.
        if let Some(failed) = self.failures.iter().rfind(|failed| failed.times > 1) {
            words.push(format!(
                "failed {} times, the last in m{}: {}",
                failed.times, failed.message, failed.why
            ));
        }
        FileNote { path: FileNote::spelled(&self.path), state: self.state, note: words.join(", ") }
    }

    /// Returns how often edits of it failed one after the other, and why the last did. What did not work once was mended; what did not work
    /// twice may not work again.
    pub fn failed(&self) -> Option<String> {
        let failed = self.failures.iter().rfind(|failed| failed.times > 1)?;
        Some(format!("failed {} times, the last in m{}: {}", failed.times, failed.message, failed.why))
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

/// Returns `name` as it is called from `path`: by its last part alone where both are in one folder, as a conversation that
/// works in that folder says it.
fn from_beside<'n>(path: &str, name: &'n str) -> &'n str {
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    name.strip_prefix(folder).filter(|rest| !rest.contains('/')).unwrap_or(name)
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
    fn an_edit_that_its_tool_did_not_make_touches_nothing() {
        for said in [
            "String to replace not found in file.",
            "Found 2 matches of the string to replace, but replace_all is false.",
            "No replacement was performed, old_str `a` did not appear verbatim in /w/a.rs.",
            "No replacement was performed. Multiple occurrences of old_str `a` in lines: [1, 2].",
            "Failed to edit, 0 occurrences found for old_string in a.rs.",
            "Failed to edit, Expected 1 occurrence but found 2.",
            "oldString not found in content",
            "Found multiple matches for oldString. Provide more surrounding lines.",
            "Could not find the exact text in a.rs. The old text must match exactly.",
            "Could not find exact match for edit:",
            "No sufficiently similar match found at line: 3",
            "The SEARCH block: does not match anything in the file.",
            "Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry your edit commmand.",
            "Your changes have NOT been applied.",
        ] {
            let edit = r#"!Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"}"#;
            check(&format!("user: go\nassistant: {edit}\ntool#c1: {said}\n"), expect![""]);
        }
    }

    #[test]
    fn what_failed_twice_in_a_row_is_told() {
        let read = r#"!Read#r1 {"file_path":"/w/a.rs"}"#;
        let edit =
            |id: &str| format!(r#"!Edit#{id} {{"file_path":"/w/a.rs","old_string":"a","new_string":"b"}}"#);
        let (vain, first) = (
            "<tool_use_error>String to replace not found in file.",
            "File has not been read yet. Read it first",
        );
        let (one, two, three, four) = (edit("c1"), edit("c2"), edit("c3"), edit("c4"));
        let said = |answers: [&str; 3]| {
            let [a, b, c] = answers;
            format!(
                "user: go\nassistant: {read}\ntool#r1: a\nassistant: {one}\ntool#c1: {a}\nassistant: {two}\ntool#c2: {b}\n\
                 assistant: {three}\ntool#c3: {c}\nassistant: {four}\ntool#c4: ok\n"
            )
        };
        check(
            &said([vain, vain, vain]),
            expect![[r#"
                /w/a.rs Modified +1 -1 lines, failed 3 times, the last in m8: String to replace not found in file m9
            "#]],
        );
        for once in [
            [vain, "ok", vain],
            [first, first, vain],
            ["The user doesn't want to proceed", "The user doesn't want to", vain],
        ] {
            let told = trail(transcript(&said(once)).entries())[0].note().note;
            assert!(!told.contains("failed"), "{told}");
        }
    }

    #[test]
    fn an_edit_of_lines_by_their_numbers_has_no_count() {
        check(
            r#"
user: go
assistant: !edit#c1 {"path":"a.rs","start_line":2,"end_line":3,"replacement_text":"a\nb\nc"}
tool#c1: [File: /w/a.rs (9 lines total)]
"#,
            expect![[r#"
                a.rs Modified  m1
            "#]],
        );
    }

    #[test]
    fn lines_are_counted_only_where_no_command_wrote_the_file_as_well() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"} !Edit#c2 {"file_path":"b.rs","old_string":"a","new_string":"b"} !Edit#c3 {"file_path":"c.rs","old_string":"a","new_string":"b"}
tool#c1: ok
tool#c2: ok
tool#c3: ok
assistant: !Bash#c4 {"command":"sed -i 's/b/c/' a.rs"} !Bash#c5 {"command":"python3 - <<'EOF'\npath = 'b.rs'\ntext = open(path).read()\nopen(path, 'w').write(text.replace('b', 'c'))\nEOF"} !Bash#c6 {"command":"python3 -c \"print(open('c.rs').read())\""}
tool#c4:
tool#c5:
tool#c6: b
"#,
            expect![[r#"
                a.rs Modified edited 2 times, by commands as well m5
                b.rs Modified edited 2 times, by commands as well m5
                c.rs Modified +1 -1 lines m1
            "#]],
        );
    }

    #[test]
    fn what_was_put_back_counts_no_more() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"} !Edit#c2 {"file_path":"b.rs","old_string":"a","new_string":"b\nc"}
tool#c1: ok
tool#c2: ok
assistant: !Bash#c3 {"command":"sed -i 's/b/c/' a.rs"}
tool#c3:
assistant: !Bash#c4 {"command":"git checkout a.rs"}
tool#c4: Updated 1 path from the index
assistant: !Edit#c5 {"file_path":"a.rs","old_string":"a","new_string":"d\n\ne"}
tool#c5: ok
"#,
            expect![[r#"
                a.rs Modified +3 -1 lines m8
                b.rs Modified +2 -1 lines m1
            "#]],
        );
    }

    #[test]
    fn of_what_one_message_did_the_order_counts() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"} !Edit#c2 {"file_path":"b.rs","old_string":"a","new_string":"b"} !Bash#c3 {"command":"git checkout a.rs b.rs"} !Edit#c4 {"file_path":"b.rs","old_string":"a","new_string":"c\nd"}
tool#c1: ok
tool#c2: ok
tool#c3: Updated 2 paths from the index
tool#c4: ok
"#,
            expect![[r#"
                a.rs Reverted  m1
                b.rs Modified +2 -1 lines m1
            "#]],
        );
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"} !Bash#c2 {"command":"git commit -am one"} !Bash#c3 {"command":"sed -i 's/b/c/' a.rs"} !Edit#c4 {"file_path":"a.rs","old_string":"d","new_string":"e"} !Bash#c5 {"command":"git checkout a.rs"}
tool#c1: ok
tool#c2: [main 1] one
tool#c3:
tool#c4: ok
tool#c5: Updated 1 path from the index
"#,
            expect![[r#"
                a.rs Modified +1 -1 lines m1
            "#]],
        );
    }

    #[test]
    fn lines_are_counted_where_they_are_known() {
        check(
            r#"
user: go
assistant: !replace_in_file#c1 {"path":"a.rs","diff":"------- SEARCH\na\n=======\nb\nc\n+++++++ REPLACE\n<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE\n"} !Edit#c2 {"file_path":"b.rs","old_string":"a","new_string":"b","replace_all":true} !Write#c3 {"file_path":"c.rs","content":"a\nb\nc"} !apply_diff#c4 {"path":"d.rs","diff":"<<<<<<< SEARCH\n:start_line:3\n-------\na\n=======\nb\n>>>>>>> REPLACE"}
tool#c1: ok
tool#c2: ok
tool#c3: ok
tool#c4: ok
assistant: !Write#c5 {"file_path":"c.rs","content":"a\nd"} !MultiEdit#c6 {"file_path":"e.rs","edits":[{"old_string":"a","new_string":"b","replace_all":true},{"old_string":"c","new_string":"d"}]} !Edit#c7 {"file_path":"f.rs","old_string":"a","new_string":"b","replace_all":false}
tool#c5: ok
tool#c6: ok
tool#c7: ok
assistant: !write_file#c8 {"path":"g.md","content":"a\nb","mode":"rewrite"} !write_file#c9 {"path":"g.md","content":"c","mode":"append"} !Edit#c10 {"file_path":"h.md","old_string":"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nend","new_string":"<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE\nend"}
tool#c8: ok
tool#c9: ok
tool#c10: ok
"#,
            expect![[r#"
                a.rs Modified +2 -2 lines m1
                b.rs Modified  m1
                c.rs Created edited 2 times, +2 -0 lines m6
                d.rs Modified +1 -1 lines m1
                e.rs Modified  m6
                f.rs Modified +1 -1 lines m6
                g.md Created edited 2 times, +3 -0 lines m10
                h.md Modified +1 -1 lines m10
            "#]],
        );
    }

    #[test]
    fn what_was_committed_before_it_was_put_back_still_counts() {
        check(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"a.rs","old_string":"a","new_string":"b"}
tool#c1: ok
assistant: !Bash#c2 {"command":"git commit -am one"}
tool#c2: [main 1] one
assistant: !Edit#c3 {"file_path":"a.rs","old_string":"b","new_string":"d\ne\nf\ng"}
tool#c3: ok
assistant: !Bash#c4 {"command":"git checkout a.rs"} !Edit#c5 {"file_path":"a.rs","old_string":"b","new_string":"c"}
tool#c4: Updated 1 path from the index
tool#c5: ok
"#,
            expect![[r#"
                a.rs Modified edited 2 times, +2 -2 lines m7
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
    fn an_edit_of_a_file_that_was_renamed_before_its_folder_moved_is_told() {
        let said = transcript(
            r#"
user: go
assistant: !Edit#c1 {"file_path":"/w/old/a.rs","old_string":"a","new_string":"b"}
tool#c1: ok
assistant: !Bash#c2 {"command":"cd /w && mv old/a.rs old/b.rs"}
tool#c2:
assistant: !Bash#c3 {"command":"cd /w && mv old new"}
tool#c3:
"#,
        );
        let files = file_histories(said.entries());
        let moved = files.iter().find(|file| file.path == "/w/new/b.rs").unwrap();
        assert_eq!(moved.trail.iter().map(|edit| edit.message).collect::<Vec<_>>(), [1]);
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
            "#]],
        );
    }

    #[test]
    fn a_file_that_is_read_again_and_again_was_read_last_where_it_was() {
        let mut said = String::from("user: go\n");
        for nth in 0..40 {
            let path = ["/w/src/a.rs", "src/a.rs", "/w/src/b.rs"][nth % 3];
            said += &format!(
                "assistant: !Read#c{nth} {{\"file_path\":\"{path}\"}}\ntool#c{nth}: fn main() {{}}\n"
            );
        }
        said += "assistant: !Edit#e {\"file_path\":\"/w/src/b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"}\ntool#e: ok\n";
        said += "assistant: !Read#r {\"file_path\":\"src/a.rs\"}\ntool#r: fn main() {}";
        let said = transcript(&said);
        let files = file_histories(said.entries());
        let told: Vec<_> = files.iter().map(|file| (&*file.path, file.state, file.last_message)).collect();
        assert_eq!(told, [("/w/src/a.rs", FileState::Read, 83), ("/w/src/b.rs", FileState::Modified, 81)]);
        let before = &said.entries()[..81];
        assert_eq!(file_histories(before)[0].last_message, 79);
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
                /w/a.rs Modified +1 -1 lines m9
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
