//! Any model with a `tokenizer.json`.

use std::path::Path;

use longhaul_transcript::Tokens;

use crate::{Accuracy, TokenCounter, TokensError};

/// A counter from a `tokenizer.json`, through the `tokenizers` crate.
///
/// Text is handed over in chunks of at most 64 KiB that end behind a line break where there is one, because some
/// tokenizers take more than linear time over one text. A chunk's edge can change the count by a token or two; texts of
/// up to 64 KiB are counted whole and exactly. Special tokens are not added, and where the file knows the spelling of one
/// it is read as one, as the file's own software would.
#[derive(Debug)]
pub struct TokenizerFile {
    tokenizer: tokenizers::Tokenizer,
}

/// The longest text that is handed over whole.
const CHUNK: usize = 64 * 1024;

impl TokenizerFile {
    /// Reads the `tokenizer.json` at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is not a tokenizer.
    pub fn open(path: impl AsRef<Path>) -> Result<TokenizerFile, TokensError> {
        let path = path.as_ref();
        let failed = |reason: String| TokensError::Tokenizer { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let tokenizer =
            tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| failed(error.to_string()))?;
        Ok(TokenizerFile { tokenizer })
    }

    fn count_chunk(&self, text: &str) -> u64 {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => encoding.len() as u64,
            // A model without a token for unknown text refuses it; a byte a token is the most it can cost.
            Err(_) => text.len() as u64,
        }
    }
}

impl TokenCounter for TokenizerFile {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(chunks(text).map(|chunk| self.count_chunk(chunk)).sum())
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        let mut total = 0;
        for chunk in chunks(text) {
            total += self.count_chunk(chunk);
            if total > limit.0 {
                return None;
            }
        }
        Some(Tokens(total))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }
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
