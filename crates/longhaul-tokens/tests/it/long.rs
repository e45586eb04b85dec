//! Hours of the same, run by hand: `cargo test --release -p longhaul-tokens --test it -- --ignored long`.
//!
//! `LONG_CASES` sets the number of made-up texts (default 10,000,000), `LONG_SEED` where their sequence begins.

use std::fs;

use longhaul_testkit::recorded;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::{
    generated::Generator,
    reference::{ENCODINGS, check, check_characters, structured},
};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[test]
#[ignore = "minutes in release, hours without"]
fn many_structured_texts() {
    let (strategy, mut runner) = (structured(), TestRunner::default());
    for _ in 0..number("LONG_CASES", 10_000_000) / 100 {
        check(&strategy.new_tree(&mut runner).unwrap().current());
    }
}

/// Random and structured texts whose pieces lie across the edges of windows, against both references.
#[test]
#[ignore = "an hour in release"]
fn many_texts_around_the_edges_of_windows() {
    let cases = number("LONG_CASES", 10_000_000);
    let mut generator = Generator::new(number("LONG_SEED", 1));
    let (mut text, mut lossy) = (String::new(), Vec::new());
    let others = [bpe_openai::o200k_base(), bpe_openai::cl100k_base()];
    for case in 0..cases {
        match case % 4 {
            // Bytes that are not always UTF-8.
            0 => {
                generator.bytes(&mut lossy);
                text = String::from_utf8_lossy(&lossy).into_owned();
                for (bpe, _) in &ENCODINGS[..2] {
                    assert_eq!(bpe.count_bytes(&lossy), bpe.count(&text), "{lossy:?}");
                }
            }
            _ => generator.text(&mut text),
        }
        for ((bpe, reference), other) in ENCODINGS.iter().zip(others) {
            let count = bpe.count(&text);
            assert_eq!(count, other.count(text.as_str()), "{} {text:?}", bpe.encoding());
            // The second reference is slow, and has the same merges: it is asked now and then.
            if case % 16 == 1 {
                assert_eq!(count, reference.encode_ordinary(&text).len(), "{} {text:?}", bpe.encoding());
            }
        }
        if case % 16 == 2 {
            for (bpe, reference) in &ENCODINGS[2..] {
                assert_eq!(
                    bpe.count(&text),
                    reference.encode_ordinary(&text).len(),
                    "{} {text:?}",
                    bpe.encoding()
                );
            }
        }
        if case % 1_000_000 == 0 {
            println!("{case} texts");
        }
    }
}

/// Every byte beside every byte, between one of each class and another, at places that move across a window's edge.
/// Bytes from 0x80 on stand once for the characters of Latin 1 and once for themselves, which is not UTF-8.
#[test]
#[ignore = "33 million texts"]
fn all_neighbours_in_all_contexts() {
    const CLASSES: [&str; 16] =
        ["", "a", "A", "7", " ", "\t", "\n", "\r", "'", "/", ".", "é", "É", "日", "\u{a0}", "\u{301}"];
    let padding = "word ".repeat(16);
    let others = [bpe_openai::o200k_base(), bpe_openai::cl100k_base()];
    let mut nth = 0;
    for first in 0..=u8::MAX {
        for second in 0..=u8::MAX {
            for (before, after) in CLASSES.iter().flat_map(|one| CLASSES.map(|other| (one, other))) {
                // The text begins where the padding's piece does, so that the neighbours move by one with each text.
                nth += 1;
                let place = &padding[padding.len() - 5 - nth % 70..];
                let latin = [char::from(first), char::from(second)].iter().collect::<String>();
                let raw = String::from_utf8_lossy(&[first, second]).into_owned();
                for pair in [latin, raw] {
                    if pair.is_ascii() && nth % 2 == 0 {
                        continue; // Both are the same.
                    }
                    let text = [place, before, &pair, after, "'ll x"].concat();
                    for ((bpe, _), other) in ENCODINGS.iter().zip(others) {
                        assert_eq!(
                            bpe.count(&text),
                            other.count(text.as_str()),
                            "{} {text:?}",
                            bpe.encoding()
                        );
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "24 MB through the reference"]
fn whole_recorded_transcripts() {
    for path in recorded("") {
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
