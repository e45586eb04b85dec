//! What was done in a conversation: the files that calls changed, the commands that were run, the tools that were called.

use std::collections::HashSet;

use longhaul_extract::{CallView, Purpose, ToolFamily, runs};
use longhaul_transcript::{CallId, Entry, Part, ToolCall, ToolResult};

use super::words::{identifier_parts, is_word_char};

/// The deeds of a conversation's tool calls.
#[derive(Debug, Default)]
pub(super) struct Acts {
    /// How many calls there are.
    pub calls: usize,
    /// The files that calls changed, as the calls name them.
    changed: HashSet<String>,
    /// What the commands that were run are for.
    purposes: Vec<Purpose>,
    /// Commands that do more than look, and what other agents and version control say was done.
    done: String,
    /// The tools that were called.
    tools: HashSet<String>,
    /// Calls whose results tell what was changed.
    telling: HashSet<CallId>,
}

impl Acts {
    pub(super) fn note(&mut self, entry: &Entry) {
        for part in &entry.message.parts {
            match part {
                Part::ToolCall(call) => self.note_call(call),
                Part::ToolResult(result) if self.telling.remove(&result.call_id) => self.note_told(result),
                _ => {}
            }
        }
        let ran = runs(std::slice::from_ref(entry));
        self.purposes.extend(ran.iter().flat_map(|run| run.checks.iter().copied().chain([run.purpose])));
        let looks = |command: &str| {
            let tool = command.split_whitespace().next().unwrap_or_default();
            identifier_parts(tool).iter().any(|part| LOOKING.contains(part)) || tool == "open"
        };
        for run in ran.iter().filter(|run| run.purpose != Purpose::Look && !looks(&run.command)) {
            self.add(&run.command);
        }
    }

    fn note_call(&mut self, call: &ToolCall) {
        self.calls += 1;
        let view = CallView::new(call);
        self.tools.insert(view.name().to_owned());
        match view.family() {
            family if family.only_looks() => {}
            ToolFamily::SubAgent => {
                self.telling.insert(call.id.clone());
            }
            ToolFamily::Shell => {
                let patched = view.patched().into_iter().map(|(_, path)| path.to_owned());
                self.changed.extend(patched);
                let tells = |command: &str| TELLING.iter().any(|words| command.contains(words));
                if view.command().is_some_and(|command| tells(&command)) {
                    self.telling.insert(call.id.clone());
                }
            }
            // What is not known may change what it names.
            _ => {
                let targets = TARGETS.iter().filter_map(|key| view.key_text(key));
                self.changed.extend(view.paths().into_iter().chain(targets).map(str::to_owned));
            }
        }
    }

    /// Notes what a result tells of changes: another agent in its words, version control in lines that name a file.
    fn note_told(&mut self, result: &ToolResult) {
        for line in result.joined_text().lines() {
            let is_short =
                |state: &str| state.len() <= 2 && state.bytes().all(|state| b"MADRCU?".contains(&state));
            let is_state = line.trim_start().split_once(' ').is_some_and(|(state, _)| is_short(state));
            let is_told = is_state || CHANGED.iter().any(|mark| line.contains(mark));
            let is_prose = !line.starts_with(['+', '-', '@', ' ']);
            if is_told || is_prose {
                self.add(line);
            }
        }
    }

    fn add(&mut self, text: &str) {
        if self.done.len() + text.len() <= MAX_BYTES {
            self.done.push_str(text);
            self.done.push('\n');
        }
    }

    /// Returns whether commands were run, and none of them ran tests.
    pub(super) fn ran_no_tests(&self) -> bool {
        !self.purposes.is_empty() && !self.purposes.contains(&Purpose::Test) && !self.done.contains("test")
    }

    /// Returns whether a call changed this file, or something that was done names it: by its path, or by as much of it as
    /// either tells.
    pub(super) fn touched(&self, file: &str) -> bool {
        let own = name(file);
        let goes_on = |c: char| is_word_char(c) || c == '-';
        let is_in_path = |c: char| goes_on(c) || matches!(c, '/' | '.');
        let is_named = |at: usize| {
            let (before, behind) = (&self.done[..at], &self.done[at + own.len()..]);
            let folders = before.len() - before.trim_end_matches(is_in_path).len();
            !before.ends_with(goes_on)
                && !behind.starts_with(goes_on)
                && is_same_path(&self.done[at - folders..at + own.len()], file)
        };
        !own.is_empty()
            && (self.changed.iter().any(|path| is_same_path(path, file))
                || self.done.match_indices(own).any(|(at, _)| is_named(at))
                || self.done.split_whitespace().any(|word| is_match(word.trim_matches(['\'', '"']), file)))
    }

    /// Returns whether version control was told to do this (`merge`), by a command or by a tool that is named after it.
    pub(super) fn has(&self, verb: &str) -> bool {
        let by_command = |command: &str| {
            let mut words = command.split_whitespace().map(|word| word.trim_start_matches(['(', '$', '`']));
            words.any(|word| VERSION_CONTROL.contains(&word)) && words.any(|word| word == verb)
        };
        let is_verb = |part: &str| part.eq_ignore_ascii_case(verb);
        let does = |tool: &String| {
            let parts = identifier_parts(tool);
            let looks = parts.iter().any(|part| LOOKING.iter().any(|verb| part.eq_ignore_ascii_case(verb)));
            is_verb(tool) || !looks && parts.into_iter().any(is_verb)
        };
        self.done.split(['\n', ';', '|', '&']).any(by_command) || self.tools.iter().any(does)
    }
}

/// Returns whether two paths may mean the same file: one is the other's end, as far as both tell folders.
pub(super) fn is_same_path(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    let (one, other) = (plain(one), plain(other));
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || short.starts_with('/'))
    };
    // A folder that one of them leaves out may stand in a variable, or be where the command was run.
    ends(&one, &other) || ends(&other, &one) || name(&one) == name(&other) && shares_folder(&one, &other)
}

/// Returns whether the last folders of two paths of one name are the same, or one of them has none that can be read.
fn shares_folder(one: &str, other: &str) -> bool {
    let folder = |path: &str| path.rsplit('/').nth(1).map(str::to_owned).unwrap_or_default();
    let (one, other) = (folder(one), folder(other));
    let is_open = |folder: &str| folder.is_empty() || folder.contains(['$', '*', '{', '.', '~']);
    one == other || is_open(&one) || is_open(&other)
}

/// A path without its folders.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `docs/*.md` means `docs/usage.md`, also where that is told without its folder.
fn is_match(pattern: &str, file: &str) -> bool {
    let (folder, pattern) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let Some((start, end)) = pattern.split_once('*').filter(|sides| *sides != ("", "")) else { return false };
    let own = name(file);
    let is_there = || match file.rsplit_once('/') {
        Some((named, _)) => folder.contains('*') || named.ends_with(folder) || folder.ends_with(named),
        None => true,
    };
    own.len() >= start.len() + end.len() && own.starts_with(start) && own.ends_with(end) && is_there()
}

/// Arguments that name a file beside those that every tool has for it.
const TARGETS: [&str; 5] = ["destination", "target", "target_path", "new_path", "newPath"];
/// Commands whose output tells what was changed.
const TELLING: [&str; 5] = ["git diff", "git status", "git commit", "git stash", "jj status"];
/// What stands in lines of version control that name a changed file.
const CHANGED: [&str; 9] = [
    " | ", "+++ ", "create mode", "delete mode", "rename ", "modified:", "new file:", "deleted:", "renamed:",
];
const VERSION_CONTROL: [&str; 3] = ["git", "gh", "jj"];
/// Words of the names of tools that only look at what they name: `get_commit`.
pub(super) const LOOKING: [&str; 12] =
    ["get", "list", "search", "read", "fetch", "show", "view", "find", "calculate", "think", "check", "can"];
/// What is said of calls beyond this is not looked at.
const MAX_BYTES: usize = 8 << 20;
