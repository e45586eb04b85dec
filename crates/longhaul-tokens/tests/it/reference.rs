//! Equality with `tiktoken-rs`, which has the reference's patterns and merges.

use std::{fs, sync::LazyLock};

use longhaul_testkit::recorded;
use longhaul_tokens::{Bpe, Encoding, TokenCounter};
use longhaul_transcript::Tokens;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use crate::generated::Generator;

/// Each encoding that is in this build with the reference's counter of it, `o200k_base` and `cl100k_base` first.
pub(crate) static ENCODINGS: LazyLock<Vec<(Bpe, CoreBPE)>> = LazyLock::new(|| {
    let references = [
        (Encoding::O200kBase, tiktoken_rs::o200k_base as fn() -> _),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base),
        (Encoding::P50kBase, tiktoken_rs::p50k_base),
        (Encoding::R50kBase, tiktoken_rs::r50k_base),
    ];
    let here =
        references.into_iter().filter_map(|(encoding, reference)| Some((Bpe::new(encoding)?, reference)));
    here.map(|(bpe, reference)| (bpe, reference().expect("it carries its vocabularies"))).collect()
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
fn made_up_texts() {
    let (mut generator, mut text) = (Generator::new(0), String::new());
    for _ in 0..2_000 {
        generator.text(&mut text);
        check(&text);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_read_with_replacement_characters() {
    let bpe = Bpe::new(Encoding::O200kBase).unwrap();
    assert_eq!(bpe.count_bytes(b"caf\xe9 \xff\xfe ok"), bpe.count("caf\u{fffd} \u{fffd}\u{fffd} ok"));
}

#[test]
fn every_token_stands_for_the_bytes_that_the_reference_has() {
    for (bpe, reference) in ENCODINGS.iter() {
        let mut tokens = 0;
        for id in 0..200_100 {
            let Some(bytes) = bpe.decode(&[id]) else { continue };
            tokens += 1;
            assert_eq!(reference.decode_bytes(&[id]).unwrap(), bytes, "{} {id}", bpe.encoding());
        }
        // As many as OpenAI's files have lines.
        let expected = match bpe.encoding() {
            Encoding::O200kBase => 199_998,
            Encoding::Cl100kBase => 100_256,
            Encoding::P50kBase => 50_280,
            _ => 50_256,
        };
        assert_eq!(tokens, expected, "{}", bpe.encoding());
    }
}

#[test]
fn special_tokens_in_text_are_text() {
    let bpe = Bpe::new(Encoding::O200kHarmony).unwrap();
    assert_eq!(bpe.count("<|endoftext|>"), Bpe::new(Encoding::O200kBase).unwrap().count("<|endoftext|>"));
    assert!(bpe.count("<|endoftext|>") > 1);
    assert_eq!(bpe.decode(&[199_999]), None);
    assert_eq!(bpe.decode(&[u32::MAX]), None);
}

#[test]
fn hostile_texts() {
    for unit in [
        "a", " ", "\n", "\r\n", "=", "ab", "'s", "a's", " \n", "é", "日", "👩‍💻", "e\u{301}", "0", ".\n/",
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
    for path in recorded("") {
        // A part of each; all of them in `long::whole_recorded_transcripts`.
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let end = text.floor_char_boundary(20_000);
        check_counts(&text[..end]);
    }
}
