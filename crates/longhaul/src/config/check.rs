//! Whether the settings make sense together. All problems are found at once.

use std::fmt;

use longhaul_transcript::Tokens;
use serde::Serialize;

use super::{Config, SoftAction, SummaryLimit, Threshold, threshold::Thresholds};
use crate::{Preset, compact::FLOOR_EXTRA};

/// Bytes of a line that stands in every summary.
const LONGEST_LINE: usize = 400;

/// Nobody waits for so many messages.
const MOST_MESSAGES: u64 = 1_000_000;

/// A setting that cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The setting's name, with its table for an override: `models.gpt-5.trigger_ratio`.
    pub field: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// Where the value comes from, where it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Settings that cannot be used, with every reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the configuration has {} problem{}:{}", problems.len(), if problems.len() == 1 { "" } else { "s" }, problems.iter().map(|p| format!("\n  {p}")).collect::<String>())]
pub struct ConfigError {
    /// Every problem, in the order of the settings.
    pub problems: Vec<Problem>,
}

impl Problem {
    pub(super) fn new(field: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { field: field.into(), message: message.into(), source: String::new() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        match self.source.is_empty() {
            true => Ok(()),
            false => write!(f, " (from {})", self.source),
        }
    }
}

impl Config {
    /// Returns every problem of these settings, and of the settings of each model and provider with an override.
    ///
    /// The order `target < soft < reset < trigger <= 1` is checked where both sides are of one kind; a ratio and a
    /// number of tokens can only be compared for a given budget (see [`Config::limits`]). Without a soft tier `soft` orders
    /// nothing. A threshold that has the value of the defaults, or of the preset, follows those that have another.
    pub fn validate(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.check_base(&mut problems);
        let overrides = self.providers.iter().map(|entry| ("providers", entry));
        for (table, (name, overrides)) in overrides.chain(self.models.iter().map(|entry| ("models", entry))) {
            let (stem, expected) = match table {
                "models" => (name.trim_end_matches('*'), "expected a name, with `*` only at its end"),
                _ => (name.as_str(), "expected the name of one provider, without `*`"),
            };
            if name.is_empty() || stem.contains('*') {
                problems.push(Problem::new(format!("{table}.{name}"), expected));
            }
            let mut effective = self.clone();
            overrides.apply_to(&mut effective);
            let mut own = Vec::new();
            effective.check_base(&mut own);
            // What is wrong without the override was said above.
            own.retain(|problem| !problems.contains(problem));
            let prefix =
                |problem: Problem| Problem::new(format!("{table}.{name}.{}", problem.field), problem.message);
            problems.extend(own.into_iter().map(prefix));
        }
        problems
    }

    /// Returns these settings if they can be used.
    ///
    /// # Errors
    /// When [`Config::validate`] finds a problem; the error holds them all.
    pub fn validated(self) -> Result<Config, ConfigError> {
        let problems = self.validate();
        if problems.is_empty() { Ok(self) } else { Err(ConfigError { problems }) }
    }

    fn check_base(&self, problems: &mut Vec<Problem>) {
        let mut check = |is_fine: bool, field: &str, message: String| {
            if !is_fine {
                problems.push(Problem::new(field, message));
            }
        };
        check(
            self.version == Config::VERSION,
            "version",
            format!("{} is not a version this longhaul reads; expected {}", self.version, Config::VERSION),
        );
        if let Some(preset) = self.preset {
            check(
                self.is_from(preset),
                "preset",
                format!(
                    "most of what {preset} sets is as it is without it; begin with Preset::{preset:?}.config()"
                ),
            );
        }
        self.check_thresholds(&mut check);
        if let (Some(reserved), Some(window)) = (self.reserved_output_tokens, self.max_context_tokens) {
            check(
                reserved < window,
                "reserved_output_tokens",
                format!("{reserved} is not below max_context_tokens ({window})"),
            );
        }
        let ratio_above_zero = |ratio: f64| ratio > 0.0 && ratio <= 1.0;
        check(
            (0.0..=0.5).contains(&self.min_gain_ratio),
            "min_gain_ratio",
            format!("{} is not within 0.0 and 0.5", self.min_gain_ratio),
        );
        if let Some(ratio) = self.target_compression {
            check(
                ratio > 0.0 && ratio < 1.0,
                "target_compression",
                format!("{ratio} is not above 0.0 and below 1.0"),
            );
        }
        if let Some(ratio) = self.max_summary_share {
            check(
                ratio_above_zero(ratio),
                "max_summary_share",
                format!("{ratio} is not above 0.0 and up to 1.0"),
            );
        }
        check(
            self.preserve_recent >= Config::MIN_TAIL,
            "preserve_recent",
            format!("{} is too small; expected at least {}", self.preserve_recent, Config::MIN_TAIL),
        );
        for (field, messages) in [
            ("min_messages", self.min_messages),
            ("cooldown_messages", self.cooldown_messages),
            ("preserve_recent", self.preserve_recent),
            ("trigger_messages", self.trigger_messages.unwrap_or_default()),
            ("force_refresh_after_messages", self.force_refresh_after_messages.unwrap_or_default()),
        ] {
            check(
                messages <= MOST_MESSAGES,
                field,
                format!("{messages} are more than a conversation has; expected at most {MOST_MESSAGES}"),
            );
        }
        if let Some(messages) = self.trigger_messages {
            let least = self.min_messages.max(self.preserve_recent);
            check(
                messages > least,
                "trigger_messages",
                format!("{messages} is not above min_messages and preserve_recent ({least})"),
            );
        }
        if let Some(messages) = self.force_refresh_after_messages {
            check(
                messages >= self.cooldown_messages.max(1),
                "force_refresh_after_messages",
                format!("{messages} is below cooldown_messages ({}) or 1", self.cooldown_messages),
            );
        }
        check(
            (1..=100).contains(&self.max_summary_chain_depth),
            "max_summary_chain_depth",
            format!("{} is not within 1 and 100", self.max_summary_chain_depth),
        );
        check(
            self.failure_cooldown_ms <= 86_400_000,
            "failure_cooldown_ms",
            format!("{} is more than a day (86400000)", self.failure_cooldown_ms),
        );
        check(
            self.transport_retries <= 5,
            "transport_retries",
            format!("{} is not within 0 and 5", self.transport_retries),
        );
        check(
            (1_000..=3_600_000).contains(&self.summary_deadline_ms),
            "summary_deadline_ms",
            format!("{} is not within 1000 and 3600000", self.summary_deadline_ms),
        );
        check(
            self.max_calls_per_hour != Some(0),
            "max_calls_per_hour",
            "0 allows no call; write \"off\" for no limit, or mode = \"rules\"".into(),
        );
        check(
            self.transcript_cap_tokens.is_none_or(|cap| cap >= Tokens(500)),
            "transcript_cap_tokens",
            format!("{} is too small; expected at least 500", self.transcript_cap_tokens.unwrap_or_default()),
        );
        if let SummaryLimit::Tokens(tokens) = self.max_summary_tokens {
            check(
                tokens >= Tokens(50),
                "max_summary_tokens",
                format!("{tokens} is too small; expected at least 50"),
            );
        }
        if let Some(tokens) = self.max_context_tokens {
            check(
                tokens >= Tokens(1_000),
                "max_context_tokens",
                format!("{tokens} is too small; expected at least 1000"),
            );
        }
        let models = &self.summarizer_model_preference;
        check(
            models.iter().all(|model| !model.trim().is_empty()),
            "summarizer_model_preference",
            "expected the ids of models, none of them blank".into(),
        );
        let twice = models.iter().enumerate().find(|(at, model)| models[..*at].contains(model));
        if let Some((_, model)) = twice.filter(|(_, model)| !model.trim().is_empty()) {
            let message = format!("{model} is named twice; expected each model once");
            check(false, "summarizer_model_preference", message);
        }
        let is_line = |text: &str| !text.contains('\n') && text.len() <= LONGEST_LINE;
        check(
            !self.summary_header.trim().is_empty() && is_line(&self.summary_header),
            "summary_header",
            format!("expected one line of at most {LONGEST_LINE} bytes that is not blank"),
        );
        check(
            is_line(&self.summary_lookup),
            "summary_lookup",
            format!("expected one line of at most {LONGEST_LINE} bytes"),
        );
    }

    /// Returns whether half of what `preset` changes, or more, is not as it is by default.
    fn is_from(&self, preset: Preset) -> bool {
        let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
        let (own, usual) = (json(self), json(&Config::default()));
        let settings = preset.settings().into_iter().filter(|(field, _)| field != "preset");
        let changed: Vec<String> =
            settings.filter(|(field, value)| usual[field] != *value).map(|(field, _)| field).collect();
        let as_usual = changed.iter().filter(|field| own[*field] == usual[*field]).count();
        as_usual * 2 <= changed.len()
    }

    fn check_thresholds(&self, check: &mut impl FnMut(bool, &str, String)) {
        let target = match self.target_context_tokens {
            Some(tokens) => ("target_context_tokens", Threshold::Tokens(tokens)),
            None => ("target_ratio", self.target_ratio),
        };
        let soft = (self.soft_action != SoftAction::Off).then_some(("soft_ratio", self.soft_ratio));
        let tiers: Vec<(&str, Threshold)> = [Some(target), soft]
            .into_iter()
            .flatten()
            .chain([("reset_ratio", self.reset_ratio), ("trigger_ratio", self.trigger_ratio)])
            .collect();
        let tail = self.preserve_recent_tokens.map(|tail| ("preserve_recent_tokens", tail));
        for (field, threshold) in tiers.iter().copied().chain(tail) {
            check(
                threshold.is_in_range(),
                field,
                format!("{threshold} is not a ratio above 0.0 and up to 1.0, or tokens above zero"),
            );
        }
        for (field, threshold) in &tiers {
            let is_out_of_reach =
                matches!(threshold, Threshold::Tokens(tokens) if (Tokens(1)..=FLOOR_EXTRA).contains(tokens));
            check(
                !is_out_of_reach,
                field,
                format!("{threshold} are less than any compaction leaves; expected more than {FLOOR_EXTRA}"),
            );
        }
        if let (Some(Threshold::Tokens(tail)), Threshold::Tokens(trigger)) =
            (self.preserve_recent_tokens, self.trigger_ratio)
        {
            check(
                tail <= trigger,
                "preserve_recent_tokens",
                format!("{tail} tokens are above trigger_ratio ({trigger} tokens)"),
            );
        }
        for problem in self.contradictions(self.thresholds()) {
            check(false, &problem.field, problem.message);
        }
    }

    /// Returns what is in no order of `thresholds` once those that nobody set follow the others.
    pub(super) fn contradictions(&self, thresholds: Thresholds) -> Vec<Problem> {
        let followed = thresholds.followed();
        let target =
            if self.target_context_tokens.is_some() { "target_context_tokens" } else { "target_ratio" };
        let names = [target, "soft_ratio", "reset_ratio", "trigger_ratio"];
        let problem = |(low, high): (usize, usize)| {
            let (below, above) = (followed.wanted[low], followed.wanted[high]);
            let high = names[high];
            let expected = "expected target < soft < reset < trigger";
            Problem::new(names[low], format!("{below} is not below {high} ({above}); {expected}"))
        };
        followed.contradictions().into_iter().map(problem).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn problems(text: &str) -> String {
        let config: Config = toml::from_str(text).unwrap();
        config.validate().iter().map(|problem| format!("{problem}\n")).collect()
    }

    // asserts 004-11
    #[test]
    fn all_problems_are_reported_at_once() {
        let text = r#"
            version = 2
            trigger_ratio = 0.7
            reset_ratio = 0.8
            soft_ratio = 0.3
            min_gain_ratio = 0.9
            preserve_recent = 1
            trigger_messages = 5
            max_summary_tokens = 10
            max_summary_chain_depth = 0
        "#;
        expect![[r#"
            version: 2 is not a version this longhaul reads; expected 1
            reset_ratio: 0.8 is not below trigger_ratio (0.7); expected target < soft < reset < trigger
            min_gain_ratio: 0.9 is not within 0.0 and 0.5
            preserve_recent: 1 is too small; expected at least 2
            trigger_messages: 5 is not above min_messages and preserve_recent (12)
            max_summary_chain_depth: 0 is not within 1 and 100
            max_summary_tokens: 10 is too small; expected at least 50
        "#]]
        .assert_eq(&problems(text));
    }

    #[test]
    fn an_override_is_checked_with_what_it_overrides() {
        expect![[r#"
            models.tiny.reset_ratio: 0.68 is not below trigger_ratio (0.65); expected target < soft < reset < trigger
            models.a*b: expected a name, with `*` only at its end
            providers.open*: expected the name of one provider, without `*`
        "#]]
        .assert_eq(&problems("reset_ratio = 0.68\n[models.tiny]\ntrigger_ratio = 0.65\n[models.\"a*b\"]\n[models.\"gpt-*\"]\n[providers.'open*']\n").lines().rev().map(|l| format!("{l}\n")).collect::<String>());
    }

    #[test]
    fn without_a_soft_tier_its_ratio_orders_nothing() {
        assert_eq!(problems("target_ratio = 0.3\nsoft_ratio = 0.1\nsoft_action = \"off\""), "");
        assert_ne!(problems("target_ratio = 0.3\nsoft_ratio = 0.1"), "");
    }

    #[test]
    fn a_target_below_the_tail_shortens_the_tail() {
        assert_eq!(problems("target_ratio = 0.1"), "");
        let config: Config = toml::from_str("target_ratio = 0.1").unwrap();
        let limits = config.limits(Tokens(100_000), Tokens(100_000));
        assert_eq!((limits.target, limits.tail), (Tokens(10_000), Tokens(10_000)));
    }

    #[test]
    fn one_threshold_set_alone_has_the_others_follow() {
        let limits = |text: &str| {
            assert_eq!(problems(text), "", "{text}");
            let config: Config = toml::from_str(text).unwrap();
            let limits = config.limits(Tokens(100_000), Tokens(100_000));
            assert!(!limits.adjusted, "{text}");
            [limits.target, limits.soft, limits.reset, limits.trigger].map(|tokens| tokens.0)
        };
        for (text, expected) in [
            ("", [40_000, 60_000, 70_000, 92_000]),
            ("trigger_ratio = 0.5", [30_000, 40_000, 45_000, 50_000]),
            ("trigger_ratio = 0.95", [40_000, 60_000, 70_000, 95_000]),
            ("trigger_ratio = 0.01", [600, 801, 900, 1_000]),
            ("reset_ratio = 0.5", [33_300, 44_500, 50_000, 92_000]),
            ("reset_ratio = 0.96", [40_000, 60_000, 96_000, 98_000]),
            ("soft_ratio = 0.3", [22_500, 30_000, 70_000, 92_000]),
            ("soft_ratio = 0.8", [40_000, 80_000, 86_000, 92_000]),
            ("target_ratio = 0.65", [65_000, 67_500, 70_000, 92_000]),
            ("target_ratio = 0.3\ntrigger_ratio = 0.5", [30_000, 40_000, 45_000, 50_000]),
            ("soft_ratio = 0.45\ntrigger_ratio = 0.5", [33_700, 45_000, 47_500, 50_000]),
            ("soft_action = \"off\"\ntrigger_ratio = 0.5", [33_700, 45_000, 45_000, 50_000]),
        ] {
            assert_eq!(limits(text), expected, "{text}");
        }
        for text in [
            "reset_ratio = 0.6\ntrigger_ratio = 0.5",
            "target_ratio = 0.5\ntrigger_ratio = 0.5",
            "soft_ratio = 0.55\ntrigger_ratio = 0.5",
            "reset_ratio = 1.0",
        ] {
            let low = text.split(' ').next().unwrap();
            let told = problems(text);
            assert!(told.starts_with(low) && told.lines().count() == 1, "{text}: {told}");
        }
    }

    #[test]
    fn mixed_kinds_wait_for_a_budget() {
        assert_eq!(problems("trigger_ratio = 120_000"), "");
        assert_ne!(problems("trigger_ratio = 50_000\nreset_ratio = 60_000"), "");
    }

    #[test]
    fn numbers_of_tokens_that_nothing_can_keep_to_are_problems() {
        for field in ["target_ratio", "target_context_tokens", "soft_ratio", "reset_ratio", "trigger_ratio"] {
            let value = if field == "target_context_tokens" { "5" } else { "\"5 tokens\"" };
            assert_eq!(
                problems(&format!("{field} = {value}")),
                format!("{field}: 5 tokens are less than any compaction leaves; expected more than 200\n")
            );
        }
        expect![[r#"
            preserve_recent_tokens: 300000 tokens are above trigger_ratio (120000 tokens)
            reserved_output_tokens: 9000 is not below max_context_tokens (8000)
        "#]]
        .assert_eq(&problems(
            r#"
            trigger_ratio = "120k tokens"
            preserve_recent_tokens = "300k tokens"
            max_context_tokens = 8000
            reserved_output_tokens = 9000
        "#,
        ));
    }

    #[test]
    fn settings_that_nobody_can_mean_are_problems() {
        let config = Config {
            min_messages: u64::MAX,
            cooldown_messages: u64::MAX,
            summarizer_model_preference: ["small", " ", "small"].map(str::to_owned).to_vec(),
            ..Config::default()
        };
        let told: Vec<String> = config.validate().iter().map(ToString::to_string).collect();
        let most = "18446744073709551615 are more than a conversation has; expected at most 1000000";
        assert_eq!(
            told,
            [
                &*format!("min_messages: {most}"),
                &format!("cooldown_messages: {most}"),
                "summarizer_model_preference: expected the ids of models, none of them blank",
                "summarizer_model_preference: small is named twice; expected each model once",
            ]
        );
    }

    #[test]
    fn not_a_number_is_a_problem_too() {
        let config = Config {
            trigger_ratio: Threshold::Ratio(f64::NAN),
            min_gain_ratio: f64::NAN,
            ..Config::default()
        };
        let fields: Vec<_> = config.validate().into_iter().map(|problem| problem.field).collect();
        assert_eq!(fields, ["trigger_ratio", "reset_ratio", "min_gain_ratio"]);
    }
}
