//! The policies of the five design documents, as data.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{Config, Layer, Layered};

/// A named set of values for the settings. Each reproduces the policy of one design document; `docs/seeds.md` says
/// where one differs from its document, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// 000: one ratio of the whole window, ten recent messages, a summary of up to 2,000 tokens.
    ContextManager,
    /// 001: rules by default, a running summary of at most 500 tokens and 10 % of what is left.
    Rolling,
    /// 002: acts on the number of messages and keeps one summary a range.
    Session,
    /// 003: a fast summary by rule at 80,000 tokens, one by a model at 120,000.
    TwoTier,
    /// 004: trigger and reset ratio, cooldown, a chain of at most three summaries.
    Chain,
}

/// A text names no preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a preset; expected context-manager, rolling, session, two-tier or chain")]
pub struct ParsePresetError(pub String);

impl Preset {
    /// Every preset, in the order of the documents.
    pub const ALL: [Preset; 5] =
        [Preset::ContextManager, Preset::Rolling, Preset::Session, Preset::TwoTier, Preset::Chain];

    /// Returns the name that settings use.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::ContextManager => "context-manager",
            Preset::Rolling => "rolling",
            Preset::Session => "session",
            Preset::TwoTier => "two-tier",
            Preset::Chain => "chain",
        }
    }

    /// Returns the preset as a TOML file: the settings in which it differs from the defaults, with the reasons.
    pub fn toml(self) -> &'static str {
        match self {
            Preset::ContextManager => include_str!("../presets/context-manager.toml"),
            Preset::Rolling => include_str!("../presets/rolling.toml"),
            Preset::Session => include_str!("../presets/session.toml"),
            Preset::TwoTier => include_str!("../presets/two-tier.toml"),
            Preset::Chain => include_str!("../presets/chain.toml"),
        }
    }

    /// Returns the defaults with this preset's values over them.
    pub fn config(self) -> Config {
        let layer = Layer::flag("--preset", "preset", self.as_str());
        Layered::from_layers(vec![layer]).expect("the presets are valid, as a test shows").config
    }

    /// Returns the settings this preset gives, in the order of its file.
    pub(crate) fn settings(self) -> Map<String, Value> {
        toml::from_str(self.toml()).expect("the presets are TOML, as a test shows")
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = ParsePresetError;

    fn from_str(name: &str) -> Result<Preset, ParsePresetError> {
        Preset::ALL
            .into_iter()
            .find(|preset| preset.as_str() == name)
            .ok_or_else(|| ParsePresetError(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_enabled_and_known_by_name() {
        for preset in Preset::ALL {
            let config = preset.config();
            assert_eq!(config.validate(), [], "{preset}");
            assert!(config.enabled, "{preset}");
            assert_eq!(config.preset, Some(preset));
            assert_eq!(preset.as_str().parse(), Ok(preset));
            assert_eq!(serde_json::to_value(preset).unwrap(), preset.as_str());
        }
        assert!("best".parse::<Preset>().is_err());
    }

    #[test]
    fn a_preset_names_only_what_it_changes() {
        let default = serde_json::to_value(Config::default()).unwrap();
        for preset in Preset::ALL {
            for (field, value) in preset.settings() {
                assert!(field == "enabled" || default[&field] != value, "{preset}: {field} is the default");
            }
        }
    }

    #[test]
    fn what_names_a_preset_begins_with_it() {
        for preset in Preset::ALL {
            let named: Config =
                toml::from_str(&format!("preset = \"{preset}\"\npreserve_recent = 11")).unwrap();
            assert_eq!(named, Config { preserve_recent: 11, ..preset.config() }, "{preset}");
            let again: Config = serde_json::from_value(serde_json::to_value(&named).unwrap()).unwrap();
            assert_eq!(again, named, "{preset}");
            // In Rust a name alone is none of its values, be one of them set beside it.
            let mode = preset.config().mode;
            let beside = Config { preset: Some(preset), mode, ..Config::default() };
            let problems = beside.validate();
            assert!(problems.iter().any(|problem| problem.field == "preset"), "{preset}: {problems:?}");
        }
        let misspelled = toml::from_str::<Config>("preset = \"chains\"").unwrap_err().to_string();
        assert!(misspelled.contains("unknown variant `chains`"), "{misspelled}");
    }

    #[test]
    fn no_preset_needs_its_thresholds_adjusted_at_its_own_window() {
        for preset in Preset::ALL {
            let window = longhaul_transcript::Tokens(200_000);
            let limits = preset.config().limits(window, longhaul_transcript::Tokens(180_000));
            assert!(!limits.adjusted, "{preset}: {limits:?}");
        }
    }
}
