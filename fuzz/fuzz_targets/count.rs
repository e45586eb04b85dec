//! The exact counters against two references, and against themselves: windows and cache against the definition, whole
//! against growing texts, counts against limits, there and back.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use longhaul_tokens::{AppendCounter, Bpe, Encoding, TokenCounter};
use longhaul_transcript::Tokens;
use tiktoken_rs::CoreBPE;

static GPT3: LazyLock<[CoreBPE; 2]> = LazyLock::new(|| {
    [tiktoken_rs::p50k_base(), tiktoken_rs::r50k_base()].map(|bpe| bpe.expect("it carries its vocabularies"))
});

fuzz_target!(|data: &[u8]| {
    // The first byte chooses where the growing text is cut.
    let Some((cut, bytes)) = data.split_first() else { return };
    let text = &*String::from_utf8_lossy(bytes);
    let linear = [bpe_openai::o200k_base(), bpe_openai::cl100k_base()];
    for (encoding, reference) in [Encoding::O200kBase, Encoding::Cl100kBase].into_iter().zip(linear) {
        let bpe = Bpe::new(encoding).expect("all features are on");
        let count = bpe.count(text);
        assert_eq!(count, reference.count(text), "{encoding} {text:?}");
        against_itself(bpe, text, bytes, count, *cut);
    }
    // This reference backtracks, and runs out of stack on long runs of blanks.
    if text.len() < 2_000 {
        for (encoding, reference) in [Encoding::P50kBase, Encoding::R50kBase].into_iter().zip(&*GPT3) {
            let bpe = Bpe::new(encoding).expect("all features are on");
            let count = bpe.count(text);
            assert_eq!(bpe.encode(text), reference.encode_ordinary(text), "{encoding} {text:?}");
            against_itself(bpe, text, bytes, count, *cut);
        }
    }
});

fn against_itself(bpe: Bpe, text: &str, bytes: &[u8], count: usize, cut: u8) {
    let tokens = bpe.encode(text);
    assert_eq!(tokens.len(), count, "encode, {} {text:?}", bpe.encoding());
    assert_eq!(bpe.decode(&tokens).as_deref(), Some(text.as_bytes()), "decode, {} {text:?}", bpe.encoding());
    assert_eq!(bpe.count_bytes(bytes), count, "bytes, {} {text:?}", bpe.encoding());
    let exact = Tokens(count as u64);
    assert_eq!(bpe.count_up_to(text, exact), Some(exact), "limit, {} {text:?}", bpe.encoding());
    if count > 0 {
        assert_eq!(bpe.count_up_to(text, exact - Tokens(1)), None, "limit, {} {text:?}", bpe.encoding());
    }
    let mut growing = AppendCounter::new(bpe);
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.ceil_char_boundary(usize::from(cut).clamp(1, rest.len())));
        growing.push(part);
        rest = after;
    }
    assert_eq!(growing.count(), count, "grown by {cut}, {} {text:?}", bpe.encoding());
}
