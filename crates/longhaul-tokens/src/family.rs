//! Which tokenizer a model uses, as far as that is public.

use std::sync::Arc;

use crate::{Encoding, ScriptEstimator, TokenCounter, TokensError};

/// The tokenizer of a model: an encoding that is counted exactly, or a family that is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tokenizer {
    /// A public encoding.
    Exact(Encoding),
    /// A family without a public tokenizer, or one that longhaul does not ship.
    Family(Family),
}

/// Models that share a tokenizer which longhaul estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Family {
    /// OpenAI since GPT-4o, for builds without the exact counters (feature `bpe`).
    OpenAi,
    /// Claude 3 to Claude Opus 4.6.
    Claude,
    /// Claude Opus 4.7 and after, whose tokenizer makes more tokens of the same text.
    Claude47,
    /// Gemini and Gemma.
    Gemini,
    /// DeepSeek V3 and after.
    DeepSeek,
    /// Qwen 2 and after.
    Qwen,
    /// Llama 3 and after.
    Llama,
    /// Mistral (Tekken).
    Mistral,
    /// GLM.
    Glm,
    /// Kimi and Moonshot.
    Kimi,
    /// Grok.
    Grok,
    /// None of these: estimated as high as the highest of them.
    #[default]
    Unknown,
}

/// Names in the model table, and the beginnings of model names that give a family away.
const FAMILIES: &[(Family, &str, &[&str])] = &[
    (Family::OpenAi, "openai", &["gpt", "o1", "o3", "o4"]),
    (Family::Claude, "claude", &["claude-3", "claude-2"]),
    (Family::Claude47, "claude-4.7", &["claude"]),
    (Family::Gemini, "gemini", &["gemini", "gemma"]),
    (Family::DeepSeek, "deepseek", &["deepseek"]),
    (Family::Qwen, "qwen", &["qwen", "qwq"]),
    (Family::Llama, "llama", &["llama", "meta-llama"]),
    (Family::Mistral, "mistral", &["mistral", "ministral", "codestral", "devstral", "magistral", "pixtral"]),
    (Family::Glm, "glm", &["glm", "chatglm"]),
    (Family::Kimi, "kimi", &["kimi", "moonshot"]),
    (Family::Grok, "grok", &["grok"]),
    (Family::Unknown, "unknown", &[]),
];

impl Family {
    /// All families.
    pub fn all() -> impl Iterator<Item = Family> {
        FAMILIES.iter().map(|(family, ..)| *family)
    }

    /// Returns the name used in the model table, such as `claude-4.7`.
    pub fn name(self) -> &'static str {
        FAMILIES.iter().find(|(family, ..)| *family == self).map_or("unknown", |(_, name, _)| name)
    }

    /// Returns the family that `model` belongs to by the beginning of its name, for a model that no table lists. A
    /// Claude whose version is not known is taken for a new one, since new ones cost more.
    pub fn of_model(model: &str) -> Family {
        let begins = |beginnings: &[&str]| beginnings.iter().any(|start| model.starts_with(start));
        let found = FAMILIES.iter().find(|(_, _, beginnings)| begins(beginnings));
        found.map_or(Family::Unknown, |(family, ..)| *family)
    }
}

impl Tokenizer {
    /// Returns the counter of this tokenizer. In a build without the feature `bpe` an encoding is estimated, and the
    /// counter's [`accuracy`](TokenCounter::accuracy) says so.
    pub fn counter(self) -> Arc<dyn TokenCounter> {
        match self {
            #[cfg(feature = "bpe")]
            Tokenizer::Exact(encoding) => crate::counter(encoding),
            #[cfg(not(feature = "bpe"))]
            Tokenizer::Exact(_) => Arc::new(ScriptEstimator::new(Family::OpenAi)),
            Tokenizer::Family(family) => Arc::new(ScriptEstimator::new(family)),
        }
    }
}

impl std::str::FromStr for Tokenizer {
    type Err = TokensError;

    fn from_str(name: &str) -> Result<Tokenizer, TokensError> {
        match FAMILIES.iter().find(|(_, known, _)| *known == name) {
            Some((family, ..)) => Ok(Tokenizer::Family(*family)),
            None => name.parse().map(Tokenizer::Exact),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlisted_models_find_their_family() {
        assert_eq!(Family::of_model("claude-3-opus-20240229"), Family::Claude);
        assert_eq!(Family::of_model("claude-saga-9"), Family::Claude47);
        assert_eq!(Family::of_model("qwen9-max"), Family::Qwen);
        assert_eq!(Family::of_model("my-own-model"), Family::Unknown);
    }

    #[test]
    fn names_come_back_as_what_they_name() {
        for family in Family::all() {
            assert_eq!(family.name().parse::<Tokenizer>().unwrap(), Tokenizer::Family(family));
        }
        assert_eq!("cl100k_base".parse::<Tokenizer>().unwrap(), Tokenizer::Exact(Encoding::Cl100kBase));
        assert!("nothing".parse::<Tokenizer>().is_err());
    }
}
