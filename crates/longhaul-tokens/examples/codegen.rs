//! Writes the data files of the exact counters: `cargo run -p longhaul-tokens --example codegen -- DIR [--check]`.
//!
//! DIR holds OpenAI's `.tiktoken` files, such as the folder `assets` of the crate `tiktoken-rs`. Each is checked against
//! the digest that OpenAI publishes (`tiktoken_ext/openai_public.py` of PyPI `tiktoken` 0.14.0).

#![allow(
    clippy::print_stdout,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a tool that stops at the first problem"
)]

use std::{collections::HashMap, fs, path::Path};

use sha2::{Digest, Sha256};

#[path = "../src/dictionary.rs"]
#[allow(dead_code, reason = "what looks words up is not needed to put them in")]
mod dictionary;

/// Name, digest of the `.tiktoken` file.
const VOCABULARIES: &[(&str, &str)] = &[
    ("o200k", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    ("cl100k", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    ("p50k", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"),
    ("r50k", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"),
];

/// The character classes of the split patterns, in the order of the bits in `src/bpe/classes.rs`.
const CLASSES: &[&str] = &[
    r"\p{L}",
    r"\p{N}",
    r"\s",
    r"[\r\n]",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{P}\p{S}]",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let source = arguments.next().expect("the folder with the .tiktoken files");
    let check = arguments.next().is_some_and(|argument| argument == "--check");
    for (name, digest) in VOCABULARIES {
        let path = Path::new(&source).join(format!("{name}_base.tiktoken"));
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, *digest, "{} is not OpenAI's file", path.display());
        let tokens = parse(&String::from_utf8(text).unwrap());
        if *name == "o200k" {
            put("words.bloom", &words(&tokens), check);
        }
        let packed = pack(&tokens);
        match *name {
            "r50k" => {
                // The counter uses the tables of p50k for both.
                let p50k = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/p50k.merges")).unwrap();
                assert!(p50k.starts_with(&packed), "r50k is no longer the beginning of p50k");
            }
            name => put(&format!("{name}.merges"), &packed, check),
        }
    }
    put("classes.bin", &classes(), check);
}

fn put(name: &str, bytes: &[u8], check: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    match check {
        true => assert!(fs::read(&path).is_ok_and(|old| old == bytes), "{} is stale", path.display()),
        false => fs::write(&path, bytes).unwrap(),
    }
    println!("{name}: {} bytes", bytes.len());
}

/// Returns the tokens by rank; an empty one where a rank is not used.
fn parse(text: &str) -> Vec<Vec<u8>> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let (token, rank) = line.split_once(' ').unwrap();
        let rank: usize = rank.parse().unwrap();
        tokens.resize(tokens.len().max(rank + 1), Vec::new());
        tokens[rank] = base64(token);
    }
    tokens
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | ALPHABET.iter().position(|letter| *letter == digit).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Returns the form that `build.rs` reads, after checking that every token is the last merge of its own bytes.
fn pack(tokens: &[Vec<u8>]) -> Vec<u8> {
    let ranks: HashMap<&[u8], usize> =
        tokens.iter().enumerate().map(|(rank, token)| (&token[..], rank)).collect();
    let mut packed: Vec<u8> =
        tokens[..256].iter().map(|token| <[u8; 1]>::try_from(&token[..]).unwrap()[0]).collect();
    for (rank, token) in tokens.iter().enumerate().skip(256) {
        let (left, right) = match token.is_empty() {
            true => (0xFF_FFFF, 0xFF_FFFF),
            false => {
                let parts = merge(token, |bytes| ranks.get(bytes).copied().filter(|other| *other < rank));
                let [left, right] = parts[..] else { panic!("token {rank} is {} parts", parts.len()) };
                (ranks[left], ranks[right])
            }
        };
        packed.extend(&(left as u32).to_le_bytes()[..3]);
        packed.extend(&(right as u32).to_le_bytes()[..3]);
    }
    packed
}

/// Merges `bytes` as the definition says: always the leftmost pair of lowest rank.
fn merge(bytes: &[u8], rank: impl Fn(&[u8]) -> Option<usize>) -> Vec<&[u8]> {
    let mut edges: Vec<usize> = (0..=bytes.len()).collect();
    loop {
        let pairs = edges.windows(3).enumerate();
        let lowest = pairs.filter_map(|(at, edge)| Some((rank(&bytes[edge[0]..edge[2]])?, at))).min();
        match lowest {
            Some((_, at)) => drop(edges.remove(at + 1)),
            None => return edges.windows(2).map(|edge| &bytes[edge[0]..edge[1]]).collect(),
        }
    }
}

/// Returns the filter of the words among the first half of `tokens`, which are the more frequent ones, with a blank or a mark
/// before them or without, and of one to three Han characters among all.
fn words(tokens: &[Vec<u8>]) -> Vec<u8> {
    let mut filter = vec![0; dictionary::BYTES];
    let mut count = 0;
    for (rank, token) in tokens.iter().enumerate() {
        let [first, rest @ ..] = &token[..] else { continue };
        let is_short = !rest.is_empty() && rest.iter().all(u8::is_ascii_alphabetic);
        let is_word = is_short && (*first == b' ' || first.is_ascii_graphic() && !first.is_ascii_digit());
        if is_word && rank < tokens.len() / 2 || is_han(token) {
            let bare = token.strip_prefix(b" ").unwrap_or(token);
            let bits = dictionary::bits(bare, bare.len() < token.len());
            bits.into_iter().flatten().for_each(|bit| filter[bit / 8] |= 1 << (bit % 8));
            count += usize::from(bits.is_some());
        }
    }
    println!("words.bloom: {count} words");
    filter
}

fn is_han(token: &[u8]) -> bool {
    let is_han = |c: char| ('\u{4E00}'..='\u{9FFF}').contains(&c);
    std::str::from_utf8(token)
        .is_ok_and(|text| (1..=3).contains(&text.chars().count()) && text.chars().all(is_han))
}

/// Returns the class bits of all characters in two stages: a page number for each 128 characters, then the pages.
fn classes() -> Vec<u8> {
    let mut bits = vec![0u8; 0x11_0000];
    for (bit, class) in CLASSES.iter().enumerate() {
        let parsed = regex_syntax::parse(class).unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = parsed.kind()
        else {
            panic!("{class} is not a class");
        };
        for range in class.ranges() {
            bits[range.start() as usize..=range.end() as usize].iter_mut().for_each(|bits| *bits |= 1 << bit);
        }
    }
    let mut pages: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for page in bits.chunks(128) {
        let number = pages.iter().position(|known| *known == page).unwrap_or_else(|| {
            pages.push(page);
            pages.len() - 1
        });
        index.push(u8::try_from(number).expect("at most 256 distinct pages"));
    }
    [index, pages.concat()].concat()
}
