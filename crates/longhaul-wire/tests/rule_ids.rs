//! Every rule that the code cites by its id is written down in `docs/wire-rules.md`, each of those is cited where it is kept, and each
//! that the validator reports has a test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Returns the ids of rules in `text`: the letters of one of the `sections`, a dash and a number.
fn ids<'t>(text: &'t str, sections: &BTreeSet<&str>) -> BTreeSet<&'t str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    words.filter(|word| section(word).is_some_and(|section| sections.contains(section))).collect()
}

/// Returns the letters of what is spelled as the id of a rule.
fn section(word: &str) -> Option<&str> {
    let (section, number) = word.split_once('-')?;
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && section.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(section)
}

/// Returns the ids that `text` has as strings: those that a validator reports, and those that a test expects.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('"').filter(|word| section(word).is_some()).collect()
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
fn every_rule_that_is_cited_is_written_down_and_each_that_is_reported_is_tested() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let written = fs::read_to_string(root.join("docs/wire-rules.md")).unwrap();
    let rows: Vec<&str> =
        written.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let mut paths = Vec::new();
    sources(&root.join("crates"), &mut paths);
    let files: Vec<(PathBuf, String)> =
        paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    let of_wire = |part: &str| {
        let folder = root.join("crates/longhaul-wire").join(part);
        files.iter().filter(move |(path, _)| path.starts_with(&folder)).map(|(_, text)| &**text)
    };
    let halves = || of_wire("src").map(|text| text.split_once("mod tests {").unwrap_or((text, "")));
    let reported: BTreeSet<&str> = halves().flat_map(|(code, _)| quoted(code)).collect();
    let tested: BTreeSet<&str> =
        halves().map(|(_, tests)| tests).chain(of_wire("tests")).flat_map(quoted).collect();
    let untested: Vec<_> = reported.difference(&tested).collect();
    assert!(
        untested.is_empty(),
        "{untested:?} have no test: tests/rules_*.rs, or `mod tests` beside the rule"
    );

    let sections = rows.iter().chain(&reported).filter_map(|id| section(id)).collect();
    let mut missing: BTreeMap<&str, &Path> = BTreeMap::new();
    let mut unkept: BTreeSet<&str> = rows.iter().flat_map(|row| ids(row, &sections)).collect();
    let mut n_cited = 0;
    for (file, text) in &files {
        for id in ids(text, &sections) {
            n_cited += 1;
            unkept.remove(id);
            if !rows.contains(&id) {
                missing.insert(id, file);
            }
        }
    }
    assert!(n_cited > 100, "the sources were not found: {n_cited} citations");
    assert!(missing.is_empty(), "docs/wire-rules.md lacks {missing:?}");
    assert!(unkept.is_empty(), "nobody finds where {unkept:?} are kept");
    let twice: BTreeSet<_> =
        rows.iter().filter(|row| rows.iter().filter(|other| other == row).count() > 1).collect();
    assert!(twice.iter().all(|row| ids(row, &sections).is_empty()), "{twice:?} stand twice");
}

#[test]
fn an_id_is_told_from_other_words() {
    let sections = ["A", "OD", "R", "U"].into();
    assert_eq!(
        ids("A-05: `OD-1`, GPT-4, x-01, A-123, U-1x, R-04", &sections).into_iter().collect::<Vec<_>>(),
        ["A-05", "OD-1", "R-04"]
    );
}
