//! Who is compared: our counter and the others that count exactly.

use anyhow::{Context, Result};
use longhaul_tokens::{Bpe, Encoding};

/// A counter under its name.
pub struct Peer {
    /// The crate's name.
    pub name: &'static str,
    /// Returns the tokens of a text.
    pub count: Box<dyn Fn(&str) -> usize>,
    /// Whether a megabyte without a blank is too much for it: the reference overflows its stack.
    pub is_fragile: bool,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The names of all peers, ourselves first.
pub const NAMES: &[&str] = &[
    "longhaul",
    "toktok-rs",
    "tiktoken",
    "bpe-openai",
    "tiktoken-rs",
    #[cfg(feature = "json-peers")]
    "tokenizers",
    #[cfg(feature = "json-peers")]
    "fastokens",
];

/// Loads one counter, which takes some of them seconds.
///
/// # Errors
/// When it has no such encoding.
pub fn load(name: &'static str, encoding: Encoding) -> Result<Peer> {
    let is_o200k = encoding == Encoding::O200kBase;
    let count: Box<dyn Fn(&str) -> usize> = match name {
        "longhaul" => {
            let ours = Bpe::new(encoding).context("longhaul is built without this encoding")?;
            Box::new(move |text| ours.count(text))
        }
        "toktok-rs" => {
            let toktok =
                toktok::Tokenizer::builtin(encoding.name()).context("toktok has no such encoding")?;
            Box::new(move |text| toktok.count(text.as_bytes()))
        }
        "tiktoken" => {
            let tiktoken =
                tiktoken::get_encoding(encoding.name()).context("tiktoken has no such encoding")?;
            Box::new(move |text| tiktoken.count(text) as usize)
        }
        "bpe-openai" => {
            let bpe = if is_o200k { bpe_openai::o200k_base() } else { bpe_openai::cl100k_base() };
            Box::new(move |text| bpe.count(text))
        }
        "tiktoken-rs" => {
            let bpe = if is_o200k { tiktoken_rs::o200k_base()? } else { tiktoken_rs::cl100k_base()? };
            Box::new(move |text| bpe.encode_ordinary(text).len())
        }
        #[cfg(feature = "json-peers")]
        "tokenizers" => {
            let json = json::tokenizer(encoding)?;
            let tokenizer: tokenizers::Tokenizer =
                json.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
            Box::new(move |text| tokenizer.encode_fast(text, false).map_or(0, |encoding| encoding.len()))
        }
        #[cfg(feature = "json-peers")]
        "fastokens" => {
            let config = match is_o200k {
                true => fastokens::TiktokenConfig::o200k_base(),
                false => fastokens::TiktokenConfig::cl100k_base(),
            };
            // Ordinary text, as for all others.
            let config = fastokens::TiktokenConfig::new(config.pattern, Vec::new());
            let ranks: Vec<(Vec<u8>, u32)> = json::tokens(encoding)?.into_iter().zip(0..).collect();
            let tokenizer = fastokens::Tokenizer::from_tiktoken_ranks(&ranks, config)?;
            Box::new(move |text| tokenizer.encode(text).map_or(0, |ids| ids.len()))
        }
        _ => anyhow::bail!("no counter is called {name:?}"),
    };
    Ok(Peer { name, count, is_fragile: name == "tiktoken-rs" })
}

/// The vocabularies in the forms that the peers without their own read.
#[cfg(feature = "json-peers")]
mod json {
    use std::collections::HashMap;

    use anyhow::{Context, Result};
    use longhaul_tokens::{Bpe, Encoding};
    use serde_json::json;

    const GPT4: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]+|\s+(?!\S)|\s+";
    const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

    /// Returns the bytes of each token, by rank.
    pub(super) fn tokens(encoding: Encoding) -> Result<Vec<Vec<u8>>> {
        let bpe = Bpe::new(encoding).context("longhaul is built without this encoding")?;
        Ok((0..).map_while(|id| bpe.decode(&[id])).collect())
    }

    /// Returns the `tokenizer.json` of an encoding, with every pair that spells a token as a merge.
    pub(super) fn tokenizer(encoding: Encoding) -> Result<String> {
        let tokens = tokens(encoding)?;
        let ids: HashMap<&[u8], usize> =
            tokens.iter().enumerate().map(|(id, token)| (&token[..], id)).collect();
        let mut others = '\u{100}'..;
        let letters: Vec<char> = (0..=u8::MAX)
            .map(|byte| match byte {
                b'!'..=b'~' | 0xA1..=0xAC | 0xAE.. => char::from(byte),
                _ => others.next().unwrap_or_default(),
            })
            .collect();
        let spell = |token: &[u8]| token.iter().map(|byte| letters[usize::from(*byte)]).collect::<String>();
        let mut merges = Vec::new();
        for token in tokens.iter().skip(256) {
            let mut pairs: Vec<_> = (1..token.len())
                .filter_map(|at| Some((*ids.get(&token[..at])?, *ids.get(&token[at..])?)))
                .collect();
            pairs.sort_unstable();
            merges.extend(pairs.iter().map(|(left, right)| [spell(&tokens[*left]), spell(&tokens[*right])]));
        }
        let vocab: HashMap<String, usize> =
            tokens.iter().enumerate().map(|(id, token)| (spell(token), id)).collect();
        let pattern = if encoding == Encoding::O200kBase { GPT4O } else { GPT4 };
        let file = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
                {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
            "post_processor": null, "decoder": null,
            "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": true,
                "vocab": vocab, "merges": merges},
        });
        Ok(file.to_string())
    }
}
