//! Golden cases: real outputs in `tests/data/digests`, with their summary and their digests at three allowances.
//!
//! A case is a file `<name>.in`: header lines (`tool:`, `args:` as JSON, `outcome:`, and any number of `keep:` lines that
//! name what a good digest must not lose), a line `---`, and the output as it came. `<name>.expected` beside it is written
//! by `UPDATE_EXPECT=1`.

use std::{fs, path::PathBuf};

use expect_test::expect_file;
use longhaul_extract::{Allowance, digest, summarize_tool_result};
use longhaul_transcript::{Outcome, Tokens, ToolCall, ToolResult};

const LIMITS: [u64; 3] = [60, 200, 600];

struct Case {
    name: String,
    call: ToolCall,
    outcome: Outcome,
    keep: Vec<String>,
    text: String,
}

fn meter(text: &str) -> Tokens {
    Tokens(text.chars().count().div_ceil(4) as u64)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/digests")
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the cases are there")
        .map(|entry| entry.expect("is readable").path())
        .filter(|p| p.extension().is_some_and(|e| e == "in"))
        .collect();
    paths.sort();
    paths.iter().map(read).collect()
}

fn read(path: &PathBuf) -> Case {
    let file = fs::read_to_string(path).expect("is UTF-8");
    let (head, text) = file.split_once("---\n").expect("has a head");
    let mut case = Case {
        name: path.file_stem().and_then(|stem| stem.to_str()).expect("has a plain name").to_owned(),
        call: ToolCall::function("c1", "", "{}"),
        outcome: Outcome::Unstated,
        keep: Vec::new(),
        text: text.to_owned(),
    };
    for line in head.lines() {
        let (key, value) = line.split_once(": ").expect("is `key: value`");
        match key {
            "tool" => case.call.name = value.to_owned(),
            "args" => case.call.arguments.0 = value.to_owned(),
            "outcome" if value == "failed" => case.outcome = Outcome::Failed,
            "outcome" if value == "succeeded" => case.outcome = Outcome::Succeeded,
            "outcome" => assert_eq!(value, "unstated"),
            "keep" => case.keep.push(value.to_owned()),
            other => assert!(other.is_empty(), "{}: no such header: {other}", case.name),
        }
    }
    for kept in &case.keep {
        assert!(case.text.contains(kept.as_str()), "{}: not in the text: {kept}", case.name);
    }
    case
}

fn digest_of(case: &Case, limit: u64) -> String {
    digest(Some(&case.call), &case.text, case.outcome, &Allowance::new(Tokens(limit), &meter))
}

/// Cuts as most agents do: the head and the tail, a mark between them.
fn head_and_tail(text: &str, limit: u64) -> String {
    if meter(text) <= Tokens(limit) {
        return text.to_owned();
    }
    const MARK: &str = "\n… cut …\n";
    let half = (limit as usize * 4 - MARK.chars().count()) / 2;
    let chars: Vec<char> = text.chars().collect();
    let tail: String = chars[chars.len() - half..].iter().collect();
    chars[..half].iter().collect::<String>() + MARK + &tail
}

#[test]
fn digests_of_real_outputs() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    for case in &cases {
        let result = ToolResult::text("c1", case.text.as_str(), case.outcome);
        let mut shown = format!("{}\n", summarize_tool_result(Some(&case.call), &result));
        for limit in LIMITS {
            let digest = digest_of(case, limit);
            shown += &format!("--- {limit} tokens of {}\n{digest}\n", meter(&case.text));
        }
        expect_file![folder().join(format!("{}.expected", case.name))].assert_eq(&shown);
    }
}

#[test]
fn digests_keep_to_the_allowance_and_to_the_source() {
    for case in cases() {
        for limit in LIMITS {
            let digest = digest_of(&case, limit);
            assert!(meter(&digest) <= Tokens(limit), "{} at {limit}", case.name);
            assert!(digest.len() <= case.text.len(), "{} at {limit}", case.name);
            for word in identifiers(&digest) {
                assert!(case.text.contains(word), "{} at {limit}: {word:?} is not in the source", case.name);
            }
        }
    }
}

/// Words that could be taken for a fact: with a digit, an underscore, a slash or a capital inside. Paths are judged by
/// their parts, since a digest may put the names of a directory on one line; numbers of our own marks are left out.
fn identifiers(digest: &str) -> impl Iterator<Item = &str> {
    let lines = digest.lines().filter(|line| !line.contains('…') && !line.contains(" matches in "));
    lines
        .flat_map(|line| line.split_once('→').map_or(line, |(_, body)| body).split_whitespace())
        .flat_map(|word| word.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c))))
        .filter(|word| word.len() > 3 && word.contains(|c: char| c.is_ascii_digit() || c == '_'))
}

#[test]
fn digests_keep_more_of_what_matters_than_head_and_tail() {
    let cases = cases();
    for limit in LIMITS {
        let (mut total, mut ours, mut theirs) = (0, 0, 0);
        let mut worse = Vec::new();
        for case in &cases {
            let digest = digest_of(case, limit);
            let cut = head_and_tail(&case.text, limit);
            let kept = |text: &str| case.keep.iter().filter(|keep| text.contains(keep.as_str())).count();
            total += case.keep.len();
            ours += kept(&digest);
            theirs += kept(&cut);
            if kept(&digest) < kept(&cut) {
                worse.push(format!("{} ({} < {})", case.name, kept(&digest), kept(&cut)));
            }
        }
        println!("{limit} tokens: digests keep {ours} of {total}, head and tail {theirs}; worse: {worse:?}");
        assert!(ours >= theirs, "at {limit} tokens: {ours} < {theirs} of {total}; {worse:?}");
    }
}
