//! Pages name the tests that show what they say: for every requirement of the design documents, and for every failure
//! seen elsewhere. They must exist, and a test that is named for a requirement must say that it asserts it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// How many requirements each document has, as they were counted when the map was made, and how many are tested under every
/// preset.
const REQUIREMENTS: [(&str, usize); 6] =
    [("000", 28), ("001", 35), ("002", 39), ("003", 19), ("004", 58), ("all", 11)];

/// What the workspace's Rust files say of their functions.
#[derive(Debug, Default)]
struct Functions {
    names: BTreeSet<String>,
    /// The requirements that a function's comment `asserts 004-12` names.
    asserts: BTreeSet<(String, String)>,
}

impl Functions {
    fn of_the_workspace() -> Functions {
        let mut functions = Functions::default();
        functions.read_folder(&workspace().join("crates"));
        functions
    }

    fn read_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder)
            .expect("the folder can be read")
            .map(|entry| entry.expect("so can its entries"))
        {
            let path = entry.path();
            if path.is_dir() {
                self.read_folder(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.read(&fs::read_to_string(&path).expect("a Rust file is UTF-8"));
            }
        }
    }

    fn read(&mut self, source: &str) {
        let mut asserted = Vec::new();
        for line in source.lines().map(str::trim) {
            if let Some(ids) = line.strip_prefix("// asserts ") {
                asserted.extend(ids.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()));
            } else if let Some(name) = function(line) {
                self.asserts.extend(asserted.drain(..).map(|id| (id, name.clone())));
                self.names.insert(name);
            }
        }
    }
}

/// Returns the name of the function that `line` begins.
fn function(line: &str) -> Option<String> {
    let (before, rest) = line.split_once("fn ")?;
    let is_code = before
        .split_whitespace()
        .all(|word| matches!(word, "pub" | "pub(crate)" | "pub(super)" | "async" | "const" | "unsafe"));
    is_code.then(|| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

fn workspace() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of a page's tables, each with its first cell and the names in its last.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let map = fs::read_to_string(workspace().join("docs").join(page)).expect("the map is there");
    let cells = |line: &str| {
        let line = line.trim_end_matches(" |").strip_prefix("| ")?.to_owned();
        let (first, _) = line.split_once(" | ")?;
        let (_, last) = line.rsplit_once(" | ")?;
        Some((first.to_owned(), last.split('`').skip(1).step_by(2).map(str::to_owned).collect()))
    };
    map.lines().filter_map(cells).collect()
}

#[test]
fn every_test_that_the_map_names_exists() {
    let functions = Functions::of_the_workspace();
    for (page, at_least) in [("seeds.md", 100), ("failure-modes.md", 80)] {
        let named: Vec<String> = rows(page).into_iter().flat_map(|(_, names)| names).collect();
        for name in &named {
            assert!(
                functions.names.contains(name),
                "docs/{page} names {name}, which is no function of the workspace"
            );
        }
        assert!(named.len() > at_least, "docs/{page} names only {} tests", named.len());
    }
}

#[test]
fn the_map_and_the_tests_name_each_other() {
    let functions = Functions::of_the_workspace();
    let is_id = |id: &str| REQUIREMENTS.iter().any(|(document, _)| id.starts_with(&format!("{document}-")));
    let named: BTreeSet<(String, String)> = rows("seeds.md")
        .into_iter()
        .filter(|(id, _)| is_id(id))
        .flat_map(|(id, names)| names.into_iter().map(move |name| (id.clone(), name)))
        .collect();
    let only_in_the_map: Vec<_> = named.difference(&functions.asserts).collect();
    let only_in_the_tests: Vec<_> = functions.asserts.difference(&named).collect();
    assert!(
        only_in_the_map.is_empty(),
        "named in docs/seeds.md, with no comment of their own: {only_in_the_map:?}"
    );
    assert!(
        only_in_the_tests.is_empty(),
        "assert what docs/seeds.md does not name them for: {only_in_the_tests:?}"
    );
}

#[test]
fn the_map_has_every_requirement_once_and_in_order() {
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, names) in rows("seeds.md") {
        let is_known = |document: &str| REQUIREMENTS.iter().any(|(known, _)| *known == document);
        if let Some((document, _)) = id.split_once('-').filter(|(document, _)| is_known(document)) {
            ids.entry(document.to_owned()).or_default().push(id.clone());
            let open = names.is_empty();
            assert!(!open || row_is_open(&id), "{id} names no test and is not open");
        }
    }
    for (document, count) in REQUIREMENTS {
        let expected: Vec<String> = (1..=count).map(|nth| format!("{document}-{nth:02}")).collect();
        assert_eq!(ids.get(document), Some(&expected), "document {document}");
    }
}

fn row_is_open(id: &str) -> bool {
    let map = fs::read_to_string(workspace().join("docs/seeds.md")).expect("the map is there");
    map.lines().any(|line| line.starts_with(&format!("| {id} |")) && line.ends_with("| open |"))
}
