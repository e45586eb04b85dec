//! Equality with `tiktoken-rs`, which has the reference's patterns and merges.

use std::{fs, path::Path, sync::LazyLock};

use longhaul_tokens::{Bpe, Encoding, TokenCounter};
use longhaul_transcript::Tokens;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

/// Each encoding with the reference's counter of it.
pub(crate) static ENCODINGS: LazyLock<Vec<(Bpe, CoreBPE)>> = LazyLock::new(|| {
    vec![
        (Bpe::new(Encoding::O200kBase), tiktoken_rs::o200k_base().expect("it carries its vocabularies")),
        (Bpe::new(Encoding::Cl100kBase), tiktoken_rs::cl100k_base().expect("it carries its vocabularies")),
        (Bpe::new(Encoding::P50kBase), tiktoken_rs::p50k_base().expect("it carries its vocabularies")),
        (Bpe::new(Encoding::R50kBase), tiktoken_rs::r50k_base().expect("it carries its vocabularies")),
    ]
});

/// Checks tokens, counts, limits and the way back.
pub(crate) fn check(text: &str) {
    for (bpe, reference) in ENCODINGS.iter() {
        let expected = reference.encode_ordinary(text);
        let tokens = bpe.encode(text);
        assert_eq!(tokens, expected, "{} {text:?}", bpe.encoding());
        assert_eq!(bpe.count(text), expected.len(), "{} {text:?}", bpe.encoding());
        assert_eq!(bpe.count_bytes(text.as_bytes()), expected.len());
        assert_eq!(bpe.decode(&tokens).as_deref(), Some(text.as_bytes()));
        let exact = Tokens(expected.len() as u64);
        assert_eq!(bpe.count_up_to(text, exact), Some(exact));
        if exact > Tokens::ZERO {
            assert_eq!(bpe.count_up_to(text, exact - Tokens(1)), None, "{text:?}");
        }
    }
}

/// Texts of what the patterns tell apart, of up to a few windows.
pub(crate) fn structured() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        8 => "[a-zA-Z]{1,9}",
        4 => " {1,3}",
        3 => "[ \t\n\r\u{b}\u{c}\u{85}\u{a0}\u{2028}\u{3000}]{1,5}",
        3 => "[0-9]{1,7}",
        4 => "[!-/:-@\\[-`{-~]{1,4}",
        3 => "['’](s|t|re|ve|m|ll|d|S|LL|Ve|lL|x|ſ|K)",
        1 => "[/\n\r.]{1,5}",
        2 => "[\u{0}-\u{ff}]{1,3}",
        2 => "[éßÉДяжΩ日本語ーかな한글٣\u{301}\u{fe0f}€🦀👩‍💻ǅʰ½ⅷ\u{94d}नक]{1,4}",
        1 => "<\\|(endoftext|im_start|fim_prefix)\\|>",
        1 => any::<String>(),
        1 => "(ab|ha|=|-|A| ){20,60}",
    ];
    prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn structured_texts(text in structured()) {
        check(&text);
    }

    #[test]
    fn any_texts(text in any::<String>()) {
        check(&text);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_read_with_replacement_characters() {
    let bpe = Bpe::new(Encoding::O200kBase);
    assert_eq!(bpe.count_bytes(b"caf\xe9 \xff\xfe ok"), bpe.count("caf\u{fffd} \u{fffd}\u{fffd} ok"));
}

#[test]
fn special_tokens_in_text_are_text() {
    let bpe = Bpe::new(Encoding::O200kHarmony);
    assert_eq!(bpe.count("<|endoftext|>"), Bpe::new(Encoding::O200kBase).count("<|endoftext|>"));
    assert!(bpe.count("<|endoftext|>") > 1);
    assert_eq!(bpe.decode(&[199_999]), None);
    assert_eq!(bpe.decode(&[u32::MAX]), None);
}

#[test]
fn hostile_texts() {
    for unit in [
        "a",
        " ",
        "\n",
        "\r\n",
        "=",
        "ab",
        "'s",
        "a's",
        " \n",
        "é",
        "日",
        "👩‍💻",
        "e\u{301}",
        "0",
        ".\n/",
        "\u{0}",
    ] {
        // The reference overflows its stack on much longer runs of blanks.
        check(&unit.repeat(1500));
    }
    let letters: String = (0..6000u32).map(|i| char::from(b'a' + (i * i % 23 + i % 7) as u8 % 26)).collect();
    check(&letters);
}

#[test]
fn characters_of_all_blocks_in_a_word_and_alone() {
    // All of the first blocks, where case and combination live, and some of each later one; all in `long`.
    check_characters(('\0'..=char::MAX).filter(|c| *c < '\u{2000}' || (*c as u32).is_multiple_of(61)));
}

/// Checks each character within a word and behind a blank and an apostrophe.
pub(crate) fn check_characters(characters: impl Iterator<Item = char>) {
    let mut text = String::new();
    for (at, c) in characters.enumerate() {
        text.push_str(if at % 2 == 0 { "aB" } else { " '" });
        text.push(c);
        if at % 64 == 63 {
            check_counts(&text);
            text.clear();
        }
    }
}

/// Checks counts only, of the two encodings in use.
fn check_counts(text: &str) {
    for (bpe, reference) in &ENCODINGS[..2] {
        assert_eq!(bpe.count(text), reference.encode_ordinary(text).len(), "{} {text:?}", bpe.encoding());
    }
}

#[test]
fn recorded_transcripts() {
    let files = transcripts();
    if files.is_empty() {
        println!("SKIP recorded_transcripts: ../shared/transcripts is not there");
    }
    for path in files {
        // A part of each; all of them in `long::whole_transcripts`.
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let end = text.floor_char_boundary(20_000);
        check_counts(&text[..end]);
    }
}

/// Returns the recorded transcripts, where there are any.
pub(crate) fn transcripts() -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let files =
        folders.filter_map(|path| fs::read_dir(path).ok()).flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files
}
