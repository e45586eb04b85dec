//! Any model with a `tokenizer.json`.

use std::{borrow::Cow, path::Path};

use aho_corasick::AhoCorasick;
use longhaul_transcript::Tokens;
use tokenizers::{NormalizedString, Normalizer as _, Tokenizer, normalizers::NFC};

use crate::{Accuracy, TokenCounter, TokensError, tokenizer_json::OwnTokenizer};

/// A counter from a `tokenizer.json`.
///
/// The byte-level vocabularies of the families of GPT-2, Llama 3, Qwen 2 and 3, gpt-oss and DeepSeek V3 are recognised by
/// their split patterns and counted by our own counter, in linear time and exactly at any length. All others go through
/// the `tokenizers` crate: there, text is handed over in chunks of at most 64 KiB that end behind a line break where there
/// is one, because some tokenizers take more than linear time over one text. A chunk's edge can change the count by a
/// token or two; texts of up to 64 KiB are counted whole and exactly.
///
/// Special tokens are not added, and where the file knows the spelling of one it is read as one, as the file's own
/// software would.
#[derive(Debug)]
pub struct TokenizerFile(Kind);

#[derive(Debug)]
enum Kind {
    Own(Box<OwnTokenizer>),
    Foreign(Box<Tokenizer>),
}

/// The longest text that is handed over to `tokenizers` whole.
const CHUNK: usize = 64 * 1024;

impl TokenizerFile {
    /// Reads the `tokenizer.json` at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a tokenizer.
    pub fn open(path: impl AsRef<Path>) -> Result<TokenizerFile, TokensError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|error| TokensError::Tokenizer { path: path.to_owned(), reason: error.to_string() })?;
        TokenizerFile::from_bytes(bytes, path)
    }

    /// Reads a `tokenizer.json` that holds `bytes`; errors call it `path`.
    ///
    /// # Errors
    /// When it is not a tokenizer.
    pub fn from_bytes(bytes: Vec<u8>, path: impl AsRef<Path>) -> Result<TokenizerFile, TokensError> {
        let failed = |reason: String| TokensError::Tokenizer { path: path.as_ref().to_owned(), reason };
        if let Some(own) = OwnTokenizer::read(&bytes) {
            return Ok(TokenizerFile(Kind::Own(Box::new(own))));
        }
        let foreign = Tokenizer::from_bytes(bytes).map_err(|error| failed(error.to_string()))?;
        Ok(TokenizerFile(Kind::Foreign(Box::new(foreign))))
    }

    /// Whether our own counter counts it, and not the `tokenizers` crate.
    pub fn is_own(&self) -> bool {
        matches!(self.0, Kind::Own(_))
    }

    /// Returns the number of tokens in `text`, or some number above `limit` as soon as that is clear.
    fn count_while(&self, text: &str, limit: usize) -> usize {
        let tokenizer = match &self.0 {
            Kind::Own(own) => return own.count_while(text, limit),
            Kind::Foreign(tokenizer) => tokenizer,
        };
        let mut total = 0;
        for chunk in chunks(text) {
            total += match tokenizer.encode_fast(chunk, false) {
                Ok(encoding) => encoding.len(),
                // A model without a token for unknown text refuses it; a byte a token is the most it can cost.
                Err(_) => chunk.len(),
            };
            if total > limit {
                break;
            }
        }
        total
    }
}

impl TokenCounter for TokenizerFile {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(self.count_while(text, usize::MAX) as u64)
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        let count = self.count_while(text, usize::try_from(limit.0).unwrap_or(usize::MAX));
        Some(Tokens(count as u64)).filter(|count| *count <= limit)
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }
}

impl OwnTokenizer {
    fn count_while(&self, text: &str, limit: usize) -> usize {
        let [first, second] = &self.added;
        between(first, text, limit, |text, limit| {
            let text = match self.is_nfc {
                true => nfc(text),
                false => Cow::Borrowed(text),
            };
            between(second, &text, limit, |text, limit| self.bpe.count_while(text, limit))
        })
    }
}

/// Counts a token for each match of `added` in `text` and what `count` gives for the text between them, until it is above
/// `limit`.
fn between(
    added: &Option<AhoCorasick>,
    text: &str,
    limit: usize,
    count: impl Fn(&str, usize) -> usize,
) -> usize {
    let Some(added) = added else { return count(text, limit) };
    let (mut total, mut from) = (0, 0);
    for found in added.find_iter(text) {
        total += count(&text[from..found.start()], limit - total) + 1;
        from = found.end();
        if total > limit {
            return total;
        }
    }
    total + count(&text[from..], limit - total)
}

/// Returns `text` in Unicode's form NFC, in which nearly all text is.
fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(is_surely_nfc) {
        return Cow::Borrowed(text);
    }
    let mut normalized = NormalizedString::from(text);
    match NFC.normalize(&mut normalized) {
        Ok(()) => Cow::Owned(normalized.get().to_owned()),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Whether a character is in the form NFC by itself and changes nothing before it: not all that are, but nearly all that
/// occur.
fn is_surely_nfc(c: char) -> bool {
    matches!(u32::from(c),
        0..0x300 | 0x391..=0x3CE | 0x400..=0x482 | 0x48A..=0x52F | 0x5D0..=0x5EA | 0x620..=0x64A | 0x660..=0x669
        | 0x200B..=0x2027 | 0x2030..=0x205E | 0x20A0..=0x20BF | 0x2190..=0x2328 | 0x232B..=0x2ADB
        | 0x3000..=0x3029 | 0x3030..=0x3098 | 0x309B..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7A3 | 0xFE0F | 0xFF01..=0xFFEE | 0x1F300..=0x1FAFF)
}

/// Cuts `text` into chunks of at most [`CHUNK`] bytes: behind the last line break in reach, else before the last blank,
/// else at a character.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if end > CHUNK {
            let reach = &rest.as_bytes()[..CHUNK];
            let line = reach.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
            let blank = || reach.iter().rposition(|b| *b == b' ').filter(|at| *at > 0);
            end = line.or_else(blank).unwrap_or(CHUNK);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
        }
        let (chunk, after) = rest.split_at(end);
        rest = after;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte-level tokenizer with the merges `a b` and `ab c`.
    const TINY: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"decoder":null,
        "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,
        "end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,
        "vocab":{"a":0,"b":1,"c":2,"ab":3,"abc":4},"merges":["a b","ab c"]}}"#;

    #[test]
    fn a_file_counts_as_its_merges_say() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tokenizer.json");
        std::fs::write(&path, TINY).unwrap();
        let counter = TokenizerFile::open(&path).unwrap();
        assert_eq!(counter.count_text("abc ab ba"), Tokens(1 + 1 + 2));
        assert_eq!(counter.count_up_to("abc ab ba", Tokens(3)), None);
        let long = "abc\n".repeat(40_000);
        assert_eq!(counter.count_text(&long), Tokens(40_000));
    }

    #[test]
    fn an_unknown_kind_of_tokenizer_is_not_taken_for_our_own() {
        assert!(OwnTokenizer::read(TINY.as_bytes()).is_none());
    }

    #[test]
    fn what_is_surely_normal_is() {
        let is_many = |c: &char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac10}'..='\u{d7a3}');
        for c in ('\0'..=char::MAX).filter(|c| is_surely_nfc(*c) && !is_many(c)) {
            // Behind a letter, a syllable and a vowel, with which it would combine if it could.
            let text = format!("e{c}가{c}ᄀ{c}");
            let mut normalized = NormalizedString::from(&text[..]);
            NFC.normalize(&mut normalized).unwrap();
            assert_eq!(normalized.get(), text, "U+{:04X}", u32::from(c));
        }
        assert_eq!(nfc("e\u{301}"), "é");
    }

    #[test]
    fn what_is_no_tokenizer_is_named() {
        let error = TokenizerFile::open("/nonexistent/tokenizer.json").unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/tokenizer.json is not a readable tokenizer: "), "{error}");
    }

    #[test]
    fn chunks_are_short_and_together_the_text() {
        for text in
            ["x".repeat(200_000), "日本".repeat(60_000), "word ".repeat(50_000), "line\n".repeat(50_000)]
        {
            assert!(chunks(&text).all(|chunk| chunk.len() <= CHUNK));
            assert_eq!(chunks(&text).collect::<String>(), text);
        }
    }
}
