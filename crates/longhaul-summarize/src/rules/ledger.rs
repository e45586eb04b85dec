//! The ledger: names of what the quoted lines lack, a few words to each.

use std::collections::{BTreeMap, HashMap, HashSet};

use longhaul_extract::{Domain, FactClass, FactIndex, Subjects, scan};
use longhaul_transcript::{FileNote, FileState};

/// How each subject is written in the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// For each subject: heading and entry.
    pub(crate) entries: Vec<LedgerEntry>,
    /// The directory that the paths are relative to; empty where there is none.
    pub(crate) root: String,
}

/// One name in the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LedgerEntry {
    /// Whether it stands among the files.
    pub(crate) is_file: bool,
    /// What became of it, for files: the most telling first.
    pub(crate) state: State,
    /// The heading it stands under: a directory, or a class of facts.
    pub(crate) heading: String,
    /// The name.
    pub(crate) text: String,
    /// How many names share the heading.
    pub(crate) siblings: u32,
    /// What it is worth to say what became of it, beside naming it.
    pub(crate) worth: f64,
    /// A number of which only tools spoke: without its line it says little to who reads it.
    pub(crate) is_bare: bool,
}

/// What became of a file, in the order in which files are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum State {
    Created,
    Edited,
    Renamed,
    Deleted,
    Reverted,
    Read,
    /// Only named.
    #[default]
    Seen,
}

impl State {
    fn of(state: FileState) -> State {
        match state {
            FileState::Created => State::Created,
            FileState::Modified => State::Edited,
            FileState::Renamed => State::Renamed,
            FileState::Deleted => State::Deleted,
            FileState::Reverted => State::Reverted,
            _ => State::Read,
        }
    }

    fn word(self) -> &'static str {
        match self {
            State::Created => "created ",
            State::Edited => "edited ",
            State::Renamed => "renamed ",
            State::Deleted => "deleted ",
            State::Reverted => "reverted ",
            State::Read => "read ",
            State::Seen => "seen ",
        }
    }

    /// What it is worth to say it.
    fn worth(self) -> f64 {
        if self < State::Read { CHANGED } else { 0.0 }
    }
}

impl Ledger {
    /// Prepares the entries; `files` says what became of the files.
    pub(crate) fn new(subjects: &Subjects, index: &FactIndex, files: &[FileNote]) -> Ledger {
        let mut states: HashMap<usize, &FileNote> = HashMap::new();
        for file in files {
            if let Some(subject) = subjects.named(index, &file.path) {
                states.insert(subject, file);
            }
        }
        let root = root(subjects);
        let shared = shared_names(subjects);
        let entries = subjects
            .all()
            .iter()
            .enumerate()
            .map(|(at, subject)| {
                let fact = &subject.fact;
                match fact.class() {
                    FactClass::Path => {
                        let (heading, text) = split(fact.name.trim_end_matches('/'), &root, &shared);
                        let state = states.get(&at).map_or(State::Seen, |file| State::of(file.state));
                        LedgerEntry {
                            is_file: true,
                            state,
                            heading,
                            text,
                            siblings: 0,
                            worth: state.worth(),
                            is_bare: false,
                        }
                    }
                    class => LedgerEntry {
                        is_file: false,
                        state: State::Seen,
                        heading: class.as_str().into(),
                        text: fact.name.to_string(),
                        siblings: 0,
                        worth: 0.0,
                        is_bare: class == FactClass::Number
                            && fact.is_untouched()
                            && index.domain() == Domain::Coding,
                    },
                }
            })
            .collect();
        let mut ledger = Ledger { entries, root };
        ledger.count_siblings();
        ledger
    }

    fn count_siblings(&mut self) {
        let mut counts: HashMap<(State, String), u32> = HashMap::new();
        for entry in &self.entries {
            *counts.entry((entry.state, entry.heading.clone())).or_default() += 1;
        }
        for entry in &mut self.entries {
            entry.siblings = counts.get(&(entry.state, entry.heading.clone())).copied().unwrap_or(1);
        }
    }

    /// Returns the files section and the facts section for the `picked` subjects.
    pub(crate) fn render(&self, picked: &[u32]) -> (String, String) {
        let mut groups: BTreeMap<(bool, State, &str), Vec<&str>> = BTreeMap::new();
        for subject in picked {
            let entry = &self.entries[*subject as usize];
            if entry.text.is_empty() {
                // The root itself, which the heading states.
                continue;
            }
            groups.entry((!entry.is_file, entry.state, &entry.heading)).or_default().push(&entry.text);
        }
        let (mut files, mut facts) = (String::new(), String::new());
        for ((is_fact, state, heading), entries) in groups {
            let section = if is_fact { &mut facts } else { &mut files };
            if !section.is_empty() {
                section.push('\n');
            }
            if !is_fact {
                section.push_str(state.word());
            }
            section.push_str(heading);
            // A single file stands with its directory as one path.
            if (is_fact || entries.len() > 1) && !heading.is_empty() {
                section.push_str(": ");
            }
            section.push_str(&entries.join(separator(heading)));
        }
        (files, facts)
    }
}

/// What it is worth to say that a file was changed, in certain facts.
const CHANGED: f64 = 0.12;

/// A blank is free in most tokenizers, a mark is not. It must stay where names hold blanks, and between numbers: a day
/// and a time after it would read as one moment, and a comma as a part of an amount.
fn separator(heading: &str) -> &'static str {
    let spaced = [FactClass::Number, FactClass::Name].iter().any(|class| class.as_str() == heading);
    if spaced { "; " } else { " " }
}

/// Splits a path into the directory it is listed under and the name it is listed by, both relative to `root`.
///
/// The name alone tells which file is meant, and that it is one: it keeps its parent where several files share its last
/// part, and as many of them as it takes where it would not be read as a path (`strategy`). Where
/// nothing below the root does, the whole path stands alone.
fn split(path: &str, root: &str, shared: &HashSet<&str>) -> (String, String) {
    let below = path.strip_prefix(root).map_or(path, |rest| rest.trim_start_matches('/'));
    if below.is_empty() {
        // The root itself, which the heading states.
        return (String::new(), String::new());
    }
    let tells = |name: &str| {
        let mut is_path = false;
        scan(name, |atom| is_path = atom.kind.is_path() && atom.at == 0 && atom.text == name);
        is_path && (name.contains('/') || !shared.contains(name))
    };
    let parents = below.rmatch_indices('/').map(|(slash, _)| slash + 1).chain([0]);
    match parents.into_iter().find(|at| tells(&below[*at..])) {
        Some(at) => (below[..at].to_string(), below[at..].to_string()),
        None => (String::new(), path.to_string()),
    }
}

/// Returns the last names that stand for more than one file.
fn shared_names(subjects: &Subjects) -> HashSet<&str> {
    let mut parents: HashMap<&str, &str> = HashMap::new();
    let mut shared = HashSet::new();
    for subject in subjects.all().iter().filter(|subject| subject.fact.class() == FactClass::Path) {
        let mut parts = subject.fact.name.trim_matches('/').rsplit('/');
        if let (Some(base), Some(parent)) = (parts.next(), parts.next())
            && *parents.entry(base).or_insert(parent) != parent
        {
            shared.insert(base);
        }
    }
    shared
}

/// Returns the deepest directory that holds most of the value of the absolute paths.
fn root(subjects: &Subjects) -> String {
    let mut weight: BTreeMap<&str, f64> = BTreeMap::new();
    let mut all = 0.0;
    for subject in subjects.all() {
        let name = &*subject.fact.name;
        if subject.fact.class() != FactClass::Path || !name.starts_with(['/', '~']) {
            continue;
        }
        all += subject.value;
        for (slash, _) in name.match_indices('/').skip(2) {
            *weight.entry(&name[..slash]).or_default() += subject.value;
        }
    }
    let deep_enough = weight.into_iter().filter(|(_, weight)| *weight > all * ROOT_SHARE);
    deep_enough.map(|(dir, _)| dir).max_by_key(|dir| dir.len()).unwrap_or_default().to_string()
}

/// The share of the value of all absolute paths that lies under the stated root.
const ROOT_SHARE: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_listed_so_that_it_alone_tells_which_path_is_meant() {
        let shared = HashSet::from(["mod.rs"]);
        let split = |path| split(path, "/w/relay", &shared);
        let of = |heading: &str, text: &str| (heading.to_string(), text.to_string());
        assert_eq!(split("/w/relay/src/queue/retry.rs"), of("src/queue/", "retry.rs"));
        assert_eq!(split("/w/relay/src/queue/mod.rs"), of("src/", "queue/mod.rs"));
        assert_eq!(split("/w/relay/src/net/queue/policy"), of("src/", "net/queue/policy"));
        assert_eq!(split("/w/relay/docs/plan.md"), of("docs/", "plan.md"));
        assert_eq!(split("/w/relay/scripts"), of("", "/w/relay/scripts"));
        assert_eq!(split("/w/relay"), of("", ""));
    }
}
