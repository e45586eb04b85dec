//! The kinds of value that settings take.

use std::{fmt, str::FromStr};

use longhaul_transcript::Tokens;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, IntoDeserializer as _},
};

use super::{Config, Threshold};

/// What the soft tier does. None of these asks a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SoftAction {
    /// Puts facts in the place of old tool results.
    #[default]
    Digest,
    /// Drops by priority.
    Trim,
    /// Summarizes by rule.
    SummarizeRules,
    /// Nothing: there is no soft tier.
    Off,
}

/// What the ratios are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RatioBase {
    /// The window less reserved output and fixed overhead.
    #[default]
    Budget,
    /// The whole window.
    Window,
}

/// What happens when the chain of summaries is as deep as it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnMaxDepth {
    /// A new chain is started.
    #[default]
    Rebuild,
    /// Nothing is compacted any more, short of an emergency.
    Halt,
}

/// How a summary relates to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chaining {
    /// The new summary takes the old one in.
    #[default]
    Fold,
    /// Each summary covers a range of its own.
    Append,
    /// One summary, to which each compaction appends an update about the new messages, until it is condensed (001).
    Running,
}

/// What happens to a span that is too large for the summarizing model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Oversize {
    /// It is summarized in bounded passes.
    #[default]
    MapReduce,
    /// It is summarized by rule.
    Rules,
    /// Its newest part is shown, whole, in one call; what is older is left to the summary before and to the rules (004).
    Newest,
}

/// The role of the summary's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SummaryRole {
    /// Data, fenced.
    #[default]
    User,
    /// The system's authority. Only where a preset or the user asks for it.
    System,
}

/// A text names no value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseValueError(String);

/// Reads a value by the name that it has in a file of settings.
macro_rules! read_by_name {
    ($($of:ty),*) => {$(
        impl FromStr for $of {
            type Err = ParseValueError;

            fn from_str(name: &str) -> Result<Self, ParseValueError> {
                let read = Self::deserialize(name.into_deserializer());
                read.map_err(|error: de::value::Error| ParseValueError(error.to_string()))
            }
        }
    )*};
}

read_by_name!(SoftAction, RatioBase, OnMaxDepth, Chaining, Oversize, SummaryRole);

/// The most that a summary may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryLimit {
    /// The share of the target that serves recall best; where nobody said how large the view may be, at most 10 % of the
    /// window.
    #[default]
    Auto,
    /// This many tokens.
    Tokens(Tokens),
}

/// Settings for one model or provider. What is absent stays as it is: `Overrides { trigger_ratio: .., ..Default::default() }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// See [`Config::enabled`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// See [`Config::trigger_ratio`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_ratio: Option<Threshold>,
    /// See [`Config::reset_ratio`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_ratio: Option<Threshold>,
    /// See [`Config::soft_ratio`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_ratio: Option<Threshold>,
    /// See [`Config::target_ratio`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ratio: Option<Threshold>,
    /// See [`Config::ratio_base`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_base: Option<RatioBase>,
    /// See [`Config::max_context_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_context_tokens: Option<Tokens>,
    /// See [`Config::reserved_output_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_output_tokens: Option<Tokens>,
    /// See [`Config::max_summary_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_summary_tokens: Option<SummaryLimit>,
}

impl Overrides {
    /// Returns whether there is something here, and `config` has all of it already.
    pub(crate) fn is_in_force(&self, config: &Config) -> bool {
        let mut changed = config.clone();
        self.apply_to(&mut changed);
        changed == *config && *self != Overrides::default()
    }

    /// Writes what is present here into `config`.
    pub(super) fn apply_to(&self, config: &mut Config) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                *field = value.clone();
            }
        }
        set(&mut config.enabled, &self.enabled);
        set(&mut config.trigger_ratio, &self.trigger_ratio);
        set(&mut config.reset_ratio, &self.reset_ratio);
        set(&mut config.soft_ratio, &self.soft_ratio);
        set(&mut config.target_ratio, &self.target_ratio);
        set(&mut config.ratio_base, &self.ratio_base);
        set(&mut config.max_summary_tokens, &self.max_summary_tokens);
        config.max_context_tokens = self.max_context_tokens.or(config.max_context_tokens);
        config.reserved_output_tokens = self.reserved_output_tokens.or(config.reserved_output_tokens);
    }
}

impl Serialize for SummaryLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        or_auto::serialize(&self.tokens(), serializer)
    }
}

impl<'de> Deserialize<'de> for SummaryLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SummaryLimit, D::Error> {
        or_auto::deserialize(deserializer)
            .map(|tokens| tokens.map_or(SummaryLimit::Auto, SummaryLimit::Tokens))
    }
}

impl SummaryLimit {
    /// Returns the number of tokens, where one is given.
    pub fn tokens(self) -> Option<Tokens> {
        match self {
            SummaryLimit::Auto => None,
            SummaryLimit::Tokens(tokens) => Some(tokens),
        }
    }
}

/// Reads and writes an `Option` whose `None` is a word, since TOML has no null.
macro_rules! option_with_a_word {
    ($module:ident, $word:literal) => {
        pub(super) mod $module {
            use super::*;

            pub(crate) fn serialize<T: Serialize, S: Serializer>(
                value: &Option<T>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => value.serialize(serializer),
                    None => serializer.serialize_str($word),
                }
            }

            pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<T>, D::Error> {
                deserializer.deserialize_any(WordOr { word: $word, value: std::marker::PhantomData })
            }
        }
    };
}

option_with_a_word!(or_off, "off");
option_with_a_word!(or_auto, "auto");

struct WordOr<T> {
    word: &'static str,
    value: std::marker::PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for WordOr<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value or \"{}\"", self.word)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.word {
            return Ok(None);
        }
        let value = T::deserialize(de::value::StrDeserializer::<E>::new(text));
        value.map(Some).map_err(|error| E::custom(format_args!("{error}, or `{}`", self.word)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<T>, E> {
        T::deserialize(de::value::U64Deserializer::<E>::new(number)).map(Some)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<T>, E> {
        T::deserialize(de::value::I64Deserializer::<E>::new(number)).map(Some)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<T>, E> {
        T::deserialize(de::value::F64Deserializer::<E>::new(number)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_switches_a_setting_off() {
        let config: Config = toml::from_str("trigger_messages = 50\nmax_summary_tokens = 500").unwrap();
        assert_eq!(config.trigger_messages, Some(50));
        assert_eq!(config.max_summary_tokens, SummaryLimit::Tokens(Tokens(500)));
        let config: Config =
            toml::from_str("trigger_messages = \"off\"\nmax_summary_tokens = \"auto\"").unwrap();
        assert_eq!((config.trigger_messages, config.max_summary_tokens), (None, SummaryLimit::Auto));
        for odd in ["trigger_messages = \"never\"", "trigger_messages = -1", "max_context_tokens = \"off\""] {
            assert!(toml::from_str::<Config>(odd).is_err(), "{odd}");
        }
    }
}
