//! Pages name the tests that show what they say: for every requirement of the design documents, and for every failure
//! seen elsewhere. They must exist.

use std::{collections::BTreeSet, fs, path::Path};

/// The names of all functions in the workspace's Rust files.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in
        fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("so can its entries"))
    {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a Rust file is UTF-8");
            let after_fn = source.split("fn ").skip(1);
            names.extend(after_fn.map(|rest| {
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
            }));
        }
    }
}

#[test]
fn every_test_that_the_map_names_exists() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    functions(&workspace.join("crates"), &mut names);
    for (page, at_least) in [("seeds.md", 100), ("failure-modes.md", 80)] {
        let map = fs::read_to_string(workspace.join("docs").join(page)).expect("the map is there");
        let mut named = 0;
        for row in map.lines().filter(|line| line.starts_with("| ")) {
            let Some(tests) = row.trim_end_matches(" |").rsplit(" | ").next() else { continue };
            for name in tests.split('`').skip(1).step_by(2) {
                assert!(
                    names.contains(name),
                    "docs/{page} names {name}, which is no function of the workspace"
                );
                named += 1;
            }
        }
        assert!(named > at_least, "docs/{page} names only {named} tests");
    }
}
