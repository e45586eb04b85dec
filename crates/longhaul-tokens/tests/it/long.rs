//! Hours of the same, run by hand: `cargo test --release -p longhaul-tokens --test it -- --ignored long`.
//!
//! `LONG_CASES` sets the number of random texts (default 1,000,000).

use std::fs;

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::reference::{ENCODINGS, check, check_characters, structured, transcripts};

#[test]
#[ignore = "minutes in release, hours without"]
fn many_structured_texts() {
    let cases: u64 =
        std::env::var("LONG_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000_000);
    let (strategy, mut runner) = (structured(), TestRunner::default());
    for _ in 0..cases {
        check(&strategy.new_tree(&mut runner).unwrap().current());
    }
}

#[test]
#[ignore = "a million texts"]
fn all_neighbours_in_all_contexts() {
    let contexts =
        [("", ""), ("a", "b"), (" ", "a"), ("1", " "), ("\n", "\n"), (".", "x"), ("A'", "l"), ("x\n", "/")];
    for first in '\0'..='\u{ff}' {
        for second in '\0'..='\u{ff}' {
            for (before, after) in contexts {
                let text = [before, &first.to_string(), &second.to_string(), after].concat();
                for (bpe, reference) in &ENCODINGS[..2] {
                    assert_eq!(bpe.count(&text), reference.encode_ordinary(&text).len(), "{text:?}");
                }
            }
        }
    }
}

#[test]
#[ignore = "24 MB through the reference"]
fn whole_transcripts() {
    for path in transcripts() {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        for (bpe, reference) in &ENCODINGS[..2] {
            assert_eq!(bpe.count(&text), reference.encode_ordinary(&text).len(), "{}", path.display());
        }
    }
}

#[test]
#[ignore = "a million characters, twice"]
fn all_characters() {
    check_characters('\0'..=char::MAX);
    check_characters('\u{1}'..=char::MAX); // each in the other of the two contexts
}
