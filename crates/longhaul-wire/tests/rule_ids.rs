//! Every rule that the code cites by its id is written down in `docs/wire-rules.md`, and each of those is cited where it is kept.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// What the ids of rules begin with, a section each.
const SECTIONS: [&str; 9] = ["U", "A", "O", "OD", "R", "G", "V", "C", "X"];

/// Returns the ids of rules in `text`: a section's letters, a dash and a number.
fn ids(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(section, number)| {
            let is_number =
                (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
            SECTIONS.contains(&section) && is_number
        })
    };
    words.filter(is_id).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => {
                found.extend(Some(path).filter(|path| path.extension().is_some_and(|kind| kind == "rs")))
            }
        }
    }
}

#[test]
fn every_rule_that_is_cited_is_written_down() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let written = fs::read_to_string(root.join("docs/wire-rules.md")).unwrap();
    let rows: Vec<&str> =
        written.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let mut missing: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut unkept: BTreeSet<&str> = rows.iter().flat_map(|row| ids(row)).collect();
    let mut n_cited = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for id in ids(&text) {
            n_cited += 1;
            unkept.remove(id);
            if !rows.contains(&id) {
                missing.insert(id.to_owned(), file.clone());
            }
        }
    }
    assert!(n_cited > 100, "the sources were not found: {n_cited} citations");
    assert!(missing.is_empty(), "docs/wire-rules.md lacks {missing:?}");
    assert!(unkept.is_empty(), "nobody finds where {unkept:?} are kept");
    let twice: BTreeSet<_> =
        rows.iter().filter(|row| rows.iter().filter(|other| other == row).count() > 1).collect();
    assert!(twice.iter().all(|row| ids(row).is_empty()), "{twice:?} stand twice");
}

#[test]
fn an_id_is_told_from_other_words() {
    assert_eq!(
        ids("A-05: `OD-1`, GPT-4, x-01, A-123, U-1x, R-04").into_iter().collect::<Vec<_>>(),
        ["A-05", "OD-1", "R-04"]
    );
}
