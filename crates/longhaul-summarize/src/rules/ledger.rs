//! The ledger: names of what the quoted lines lack, a few words to each.

use std::collections::{BTreeMap, HashMap, HashSet};

use longhaul_extract::{FactClass, Subjects};

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
    /// The heading it stands under: a directory, or a class of facts.
    pub(crate) heading: String,
    /// The name with its few words.
    pub(crate) text: String,
}

impl Ledger {
    pub(crate) fn new(subjects: &Subjects) -> Ledger {
        let root = root(subjects);
        let shared = shared_names(subjects);
        let entries = subjects
            .all()
            .iter()
            .map(|subject| {
                let fact = &subject.fact;
                match fact.class() {
                    FactClass::Path => {
                        let name = fact.name.trim_end_matches('/');
                        let path = name
                            .strip_prefix(root.as_str())
                            .map_or(name, |rest| rest.trim_start_matches('/'));
                        let (heading, base) = split(path, &shared);
                        let state = if fact.edited > 0 { " edited" } else { "" };
                        LedgerEntry { is_file: true, heading, text: format!("{base}{state}") }
                    }
                    class => LedgerEntry {
                        is_file: false,
                        heading: class.as_str().into(),
                        text: fact.name.to_string(),
                    },
                }
            })
            .collect();
        Ledger { entries, root }
    }

    /// Returns the files section and the facts section for the `picked` subjects.
    pub(crate) fn render(&self, picked: &[u32]) -> (String, String) {
        let mut groups: BTreeMap<(bool, &str), Vec<&str>> = BTreeMap::new();
        for subject in picked {
            let entry = &self.entries[*subject as usize];
            groups.entry((!entry.is_file, &entry.heading)).or_default().push(&entry.text);
        }
        let (mut files, mut facts) = (String::new(), String::new());
        for ((is_fact, heading), entries) in groups {
            let section = if is_fact { &mut facts } else { &mut files };
            if !section.is_empty() {
                section.push('\n');
            }
            if !heading.is_empty() {
                section.push_str(heading);
                section.push_str(": ");
            }
            section.push_str(&entries.join(", "));
        }
        (files, facts)
    }
}

/// Splits a path into the directory it is listed under and the name it is listed by. A name that several files share
/// keeps its parent, so that the entry alone tells which is meant.
fn split(path: &str, shared: &HashSet<&str>) -> (String, String) {
    let base_at = path.rfind('/').map_or(0, |slash| slash + 1);
    let mut at = base_at;
    if base_at > 1 && shared.contains(&path[base_at..]) {
        at = path[..base_at - 1].rfind('/').map_or(0, |slash| slash + 1);
    }
    (path[..at].to_string(), path[at..].to_string())
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

/// Returns the directory under which the most valuable paths lie, weighed by the length it saves.
fn root(subjects: &Subjects) -> String {
    let mut weight: BTreeMap<&str, f64> = BTreeMap::new();
    for subject in subjects.all() {
        let name = &*subject.fact.name;
        if subject.fact.class() != FactClass::Path || !name.starts_with(['/', '~']) {
            continue;
        }
        for (slash, _) in name.match_indices('/').skip(2) {
            *weight.entry(&name[..slash]).or_default() += subject.value * slash as f64;
        }
    }
    let best = weight.into_iter().fold(("", 0.0), |best, (dir, weight)| {
        // Among equals the longer one: it sorts later.
        if weight >= best.1 { (dir, weight) } else { best }
    });
    best.0.to_string()
}
