//! Reading a `tokenizer.json` whose tokenizer our own counter can do: byte-level BPE behind a known split pattern.

use std::{collections::HashMap, fmt};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::bpe::{FileBpe, Grammar, Merge};

/// What our own counter needs of a `tokenizer.json`.
#[derive(Debug)]
pub(crate) struct OwnTokenizer {
    pub(crate) bpe: FileBpe,
    /// Whether text is brought to Unicode's form NFC first.
    pub(crate) is_nfc: bool,
    /// The spellings that are read as one token wherever they occur: those that are looked for first, and those after.
    pub(crate) added: [Option<AhoCorasick>; 2],
}

/// Which split patterns are which grammar. The files are those of the models' authors.
const PATTERNS: &[(Grammar, &[&str])] = &[
    (
        Grammar::Llama3,
        &[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
    ),
    (
        Grammar::Qwen,
        &[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
    ),
    (
        Grammar::Gpt4o,
        &[
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
    ),
    (
        Grammar::DeepSeek,
        &[
            r"\p{N}{1,3}",
            "[一-龥぀-ゟ゠-ヿ]+",
            // The breaks in it are breaks, as in the file.
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
        ],
    ),
];

impl OwnTokenizer {
    /// Reads `json`, or returns `None` where it is not of a family that our own counter knows to the last detail.
    pub(crate) fn read(json: &[u8]) -> Option<OwnTokenizer> {
        let file: File = serde_json::from_slice(json).ok()?;
        if file.truncation.is_some() || file.padding.is_some() {
            return None;
        }
        let is_nfc = match file.normalizer {
            None => false,
            Some(normalizer) if normalizer["type"] == "NFC" => true,
            Some(normalizer) if normalizer["type"] == "Sequence" => {
                if !normalizer["normalizers"].as_array()?.is_empty() {
                    return None;
                }
                false
            }
            Some(_) => return None,
        };
        let added = added(&file.added_tokens, is_nfc)?;
        let bpe = file.model.counter(grammar(&file.pre_tokenizer?)?)?;
        Some(OwnTokenizer { bpe, is_nfc, added })
    }
}

#[derive(Deserialize)]
struct File {
    truncation: Option<Value>,
    padding: Option<Value>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    #[serde(default)]
    added_tokens: Vec<Added>,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Deserialize)]
struct Model {
    r#type: String,
    dropout: Option<f32>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    vocab: HashMap<String, u32>,
    merges: Vec<Pair>,
}

/// A merge as it is written: `"a b"` or `["a", "b"]`.
struct Pair(String, String);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pair, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Pair;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two tokens, in a list or with a blank between them")
            }
            fn visit_str<E: de::Error>(self, both: &str) -> Result<Pair, E> {
                let (left, right) = both.split_once(' ').ok_or_else(|| E::custom("no blank"))?;
                Ok(Pair(left.into(), right.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut both: A) -> Result<Pair, A::Error> {
                let mut next =
                    || both.next_element()?.ok_or_else(|| de::Error::custom("fewer than two tokens"));
                Ok(Pair(next()?, next()?))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Model {
    fn counter(&self, grammar: Grammar) -> Option<FileBpe> {
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        let is_plain = self.r#type == "BPE"
            && self.dropout.is_none_or(|share| share == 0.0)
            && is_empty(&self.continuing_subword_prefix)
            && is_empty(&self.end_of_word_suffix)
            && !self.byte_fallback;
        if !is_plain {
            return None;
        }
        let letters = byte_letters();
        let mut bytes = [0; 256];
        for (id, letter) in bytes.iter_mut().zip(letters) {
            *id = *self.vocab.get(letter.encode_utf8(&mut [0; 4]) as &str)?;
        }
        let byte_of: HashMap<char, u8> = letters.into_iter().zip(0..=u8::MAX).collect();
        let mut spelled = HashMap::with_capacity(self.vocab.len());
        for (token, id) in &self.vocab {
            // A token in other letters is no token of bytes, and no bytes merge into it.
            if let Some(spelling) =
                token.chars().map(|c| byte_of.get(&c).copied()).collect::<Option<Vec<u8>>>()
                && spelled.insert(*id, spelling).is_some()
            {
                return None;
            }
        }
        let merges: Option<Vec<Merge>> = self.merges.iter().map(|pair| self.merge(pair)).collect();
        FileBpe::new(grammar, &bytes, &merges?, &spelled, self.ignore_merges)
    }

    fn merge(&self, Pair(left, right): &Pair) -> Option<Merge> {
        let id = |token: &str| self.vocab.get(token).copied();
        Some(Merge { left: id(left)?, right: id(right)?, into: id(&[&left[..], right].concat())? })
    }
}

/// Returns the letter that stands for each byte in byte-level vocabularies: itself where it is printable, else one of those
/// from U+0100 on in turn, as GPT-2's `bytes_to_unicode` has it.
pub(crate) fn byte_letters() -> [char; 256] {
    let mut others = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        byte @ (b'!'..=b'~' | 0xA1..=0xAC | 0xAE..) => char::from(byte),
        _ => others.next().unwrap_or_default(),
    })
}

/// Returns the grammar of a pre-tokenizer.
fn grammar(pre_tokenizer: &Value) -> Option<Grammar> {
    let is_byte_level = |step: &Value, use_regex: bool| {
        step["type"] == "ByteLevel"
            && step["add_prefix_space"] == false
            // Where the field is missing it is true.
            && step["use_regex"].as_bool().unwrap_or(true) == use_regex
    };
    if is_byte_level(pre_tokenizer, true) {
        return Some(Grammar::Gpt3);
    }
    let (last, splits) = pre_tokenizer["pretokenizers"].as_array()?.split_last()?;
    if pre_tokenizer["type"] != "Sequence" || !is_byte_level(last, false) {
        return None;
    }
    let pattern = |step: &Value| {
        let is_plain = step["type"] == "Split" && step["behavior"] == "Isolated" && step["invert"] == false;
        step["pattern"]["Regex"].as_str().filter(|_| is_plain).map(str::to_owned)
    };
    let patterns: Vec<String> = splits.iter().map(pattern).collect::<Option<_>>()?;
    PATTERNS.iter().find(|(_, known)| patterns == *known).map(|(grammar, _)| *grammar)
}

/// Returns what finds the added tokens: those that are looked for before the text is normalized, and those after.
fn added(tokens: &[Added], is_nfc: bool) -> Option<[Option<AhoCorasick>; 2]> {
    if tokens
        .iter()
        .any(|token| token.single_word || token.lstrip || token.rstrip || is_nfc && token.normalized)
    {
        return None;
    }
    let finder = |normalized: bool| {
        let spellings =
            tokens.iter().filter(|token| token.normalized == normalized).map(|token| &token.content);
        let spellings: Vec<&String> = spellings.filter(|spelling| !spelling.is_empty()).collect();
        if spellings.is_empty() {
            return Some(None);
        }
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(spellings).ok().map(Some)
    };
    Some([finder(false)?, finder(true)?])
}
