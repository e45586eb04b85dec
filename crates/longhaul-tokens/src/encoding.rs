//! The encodings that are counted exactly.

use std::{fmt, str::FromStr};

use crate::TokensError;

/// A public byte-pair encoding of OpenAI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// GPT-4o and everything after it.
    O200kBase,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
    /// The later GPT-3 models, among them Codex.
    P50kBase,
    /// GPT-2 and the first GPT-3 models.
    R50kBase,
    /// gpt-oss. Ordinary text costs what it costs in [`O200kBase`](Self::O200kBase); only the special tokens differ, and
    /// those are never read in text.
    O200kHarmony,
}

impl Encoding {
    /// All encodings, the default first.
    pub const ALL: &'static [Encoding] = &[
        Encoding::O200kBase,
        Encoding::Cl100kBase,
        Encoding::P50kBase,
        Encoding::R50kBase,
        Encoding::O200kHarmony,
    ];

    /// Returns OpenAI's name of the encoding, such as `o200k_base`.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::P50kBase => "p50k_base",
            Encoding::R50kBase => "r50k_base",
            Encoding::O200kHarmony => "o200k_harmony",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = TokensError;

    fn from_str(name: &str) -> Result<Encoding, TokensError> {
        let found = Encoding::ALL.iter().find(|encoding| encoding.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = Encoding::ALL.iter().map(|encoding| encoding.name()).collect();
            TokensError::UnknownEncoding { name: name.to_owned(), expected: names.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_what_they_name() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.name().parse::<Encoding>().unwrap(), *encoding);
        }
        let error = "o200k".parse::<Encoding>().unwrap_err().to_string();
        assert!(error.contains("\"o200k\"") && error.contains("o200k_base, cl100k_base"), "{error}");
    }
}
