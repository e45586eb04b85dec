//! A limit that is a share of something or a number of tokens, and is never mistaken for the other.

use std::{fmt, str::FromStr};

use longhaul_transcript::Tokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Config, RatioBase, SoftAction};
use crate::Preset;

/// A limit: a ratio of [`Config::ratio_base`], or a number of tokens.
///
/// Written as `0.8`, `"80%"`, `120000`, `"120000 tokens"` or `"120k tokens"`. What could be either is refused: a whole
/// number from 1 to 100 may be meant as percent, and a fraction above 1 is neither.
///
/// ```
/// use longhaul::config::Threshold;
/// use longhaul::transcript::Tokens;
///
/// assert_eq!("80%".parse(), Ok(Threshold::Ratio(0.8)));
/// assert_eq!("120k tokens".parse(), Ok(Threshold::Tokens(Tokens(120_000))));
/// assert!("80".parse::<Threshold>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A share of the base, above 0.0 and up to 1.0.
    Ratio(f64),
    /// A number of tokens.
    Tokens(Tokens),
}

/// A text or number is not a threshold, or could be read as either kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} {reason}; expected a ratio (0.8, \"80%\") or tokens (120000, \"120k tokens\")")]
pub struct ParseThresholdError {
    value: String,
    reason: &'static str,
}

/// The thresholds of a [`Config`] for one budget, in tokens: `target < soft < reset < trigger <= ceiling`. Without a soft
/// tier `soft` is `reset`. What does not fit the budget is brought down until it does; where that gives no order, the defaults
/// stand in for all four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// What a rewrite goes down to.
    pub target: Tokens,
    /// Where the soft tier starts.
    pub soft: Tokens,
    /// Below this the hard tier is armed again.
    pub reset: Tokens,
    /// Where the hard tier starts.
    pub trigger: Tokens,
    /// The hard limit: the budget. At or above it there is an emergency.
    pub ceiling: Tokens,
    /// The least a soft pass must free.
    pub min_gain: Tokens,
    /// The most the verbatim tail may cost; where it has no limit of its own, what it may where the view goes down to its target.
    pub tail: Tokens,
    /// Some did not fit this budget as they are set (absolute thresholds for a larger window, a large reserve); see
    /// [`Config::adjustments`].
    pub adjusted: bool,
}

impl Threshold {
    /// Returns the threshold in tokens, rounded down, for ratios of `base`.
    pub fn tokens(self, base: Tokens) -> Tokens {
        match self {
            Threshold::Ratio(ratio) => base.scaled(ratio),
            Threshold::Tokens(tokens) => tokens,
        }
    }

    /// Returns whether this is in range on its own: a ratio above 0.0 and up to 1.0, or more than no tokens.
    pub fn is_in_range(self) -> bool {
        match self {
            Threshold::Ratio(ratio) => ratio > 0.0 && ratio <= 1.0,
            Threshold::Tokens(tokens) => tokens > Tokens::ZERO,
        }
    }

    /// Returns `share` of this.
    fn scaled(self, share: f64) -> Threshold {
        match self {
            // Three places are enough for people to read.
            Threshold::Ratio(ratio) if ratio >= 0.1 => {
                Threshold::Ratio((ratio * share * 1e3 + 1e-6).floor() / 1e3)
            }
            Threshold::Ratio(ratio) => Threshold::Ratio(ratio * share),
            Threshold::Tokens(tokens) => Threshold::Tokens(tokens.scaled(share)),
        }
    }

    /// Returns what lies between this and `high`, or between this and the most of its kind where there is no such.
    fn between(self, high: Option<Threshold>) -> Threshold {
        match (self, high) {
            (Threshold::Ratio(low), Some(Threshold::Ratio(high))) => Threshold::Ratio((low + high) / 2.0),
            (Threshold::Tokens(low), Some(Threshold::Tokens(high))) => {
                Threshold::Tokens(Tokens(low.0.midpoint(high.0)))
            }
            (Threshold::Ratio(low), _) => Threshold::Ratio((low + 1.0) / 2.0),
            (Threshold::Tokens(low), _) => Threshold::Tokens(low.scaled(1.0 / HIGHEST_RESET)),
        }
    }

    /// Returns whether this is below `other`; `None` where one is a ratio and the other tokens, which only a budget
    /// can compare.
    pub fn is_below(self, other: Threshold) -> Option<bool> {
        match (self, other) {
            (Threshold::Ratio(a), Threshold::Ratio(b)) => Some(a < b),
            (Threshold::Tokens(a), Threshold::Tokens(b)) => Some(a < b),
            _ => None,
        }
    }

    fn from_number(number: f64, is_whole: bool) -> Result<Threshold, ParseThresholdError> {
        let refused = |reason| Err(ParseThresholdError { value: number.to_string(), reason });
        match number {
            _ if !number.is_finite() || number <= 0.0 => refused("is not above zero"),
            _ if !is_whole && number <= 1.0 => Ok(Threshold::Ratio(number)),
            _ if !is_whole => refused("is neither a ratio up to 1.0 nor a whole number of tokens"),
            _ if number <= 100.0 => refused("could be a ratio, percent or tokens"),
            _ => Ok(Threshold::Tokens(Tokens(number as u64))),
        }
    }
}

impl FromStr for Threshold {
    type Err = ParseThresholdError;

    fn from_str(text: &str) -> Result<Threshold, ParseThresholdError> {
        let refused = |reason| ParseThresholdError { value: format!("{text:?}"), reason };
        let number = |digits: &str| {
            let digits = digits.trim().replace(['_', ','], "");
            digits.parse::<f64>().map(|number| (number, !digits.contains(['.', 'e', 'E'])))
        };
        let trimmed = text.trim();
        if let Some(percent) = trimmed.strip_suffix('%') {
            let (percent, _) = number(percent).map_err(|_| refused("is not a percentage"))?;
            let threshold = Threshold::Ratio(percent / 100.0);
            return if threshold.is_in_range() {
                Ok(threshold)
            } else {
                Err(refused("is not within 0 % and 100 %"))
            };
        }
        let lower = trimmed.to_ascii_lowercase();
        let (body, is_named) = match lower.strip_suffix("tokens").or_else(|| lower.strip_suffix("token")) {
            Some(body) => (body.trim_end(), true),
            None => (lower.as_str(), false),
        };
        let (digits, factor) = match body.strip_suffix(['k', 'm']) {
            Some(digits) => (digits, if body.ends_with('k') { 1e3 } else { 1e6 }),
            None => (body, 1.0),
        };
        let (value, is_whole) = number(digits).map_err(|_| refused("is not a number"))?;
        if !is_named && factor == 1.0 {
            return Threshold::from_number(value, is_whole)
                .map_err(|error| ParseThresholdError { value: format!("{text:?}"), ..error });
        }
        let tokens = value * factor;
        match tokens.is_finite() && tokens >= 1.0 && tokens.fract() == 0.0 {
            true => Ok(Threshold::Tokens(Tokens(tokens as u64))),
            false => Err(refused("is not a whole number of tokens")),
        }
    }
}

impl fmt::Display for Threshold {
    /// Writes the threshold so that it reads back as the same: `0.8`, `120000 tokens`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Ratio(ratio) => write!(f, "{ratio:?}"),
            Threshold::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Threshold::Ratio(ratio) => serializer.serialize_f64(*ratio),
            Threshold::Tokens(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threshold, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Threshold;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a ratio (0.8, \"80%\") or tokens (120000, \"120k tokens\")")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Threshold, E> {
                Threshold::from_number(number, false).map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Threshold, E> {
                Threshold::from_number(number as f64, true).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Threshold, E> {
                Threshold::from_number(number as f64, true).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Threshold, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// A threshold that does not fit a budget, and what takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustment {
    /// The setting.
    pub setting: Setting,
    /// What it asks for.
    pub wanted: Tokens,
    /// What is used.
    pub used: Tokens,
    /// The budget it did not fit.
    pub budget: Tokens,
    /// The threshold that it must be below, as that is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<(Setting, Tokens)>,
}

/// The thresholds of [`Config`], lowest first, and which of them somebody set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thresholds {
    pub(super) wanted: [Threshold; 4],
    pub(super) is_set: [bool; 4],
    pub(super) has_soft_tier: bool,
}

/// A setting that is a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Setting {
    /// [`Config::target_ratio`].
    Target,
    /// [`Config::soft_ratio`].
    SoftRatio,
    /// [`Config::reset_ratio`].
    ResetRatio,
    /// [`Config::trigger_ratio`].
    TriggerRatio,
    /// [`Config::target_context_tokens`], in the place of [`Config::target_ratio`].
    TargetContextTokens,
    /// [`Config::preserve_recent_tokens`].
    PreserveRecentTokens,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Setting::Target => "target_ratio",
            Setting::SoftRatio => "soft_ratio",
            Setting::ResetRatio => "reset_ratio",
            Setting::TriggerRatio => "trigger_ratio",
            Setting::TargetContextTokens => "target_context_tokens",
            Setting::PreserveRecentTokens => "preserve_recent_tokens",
        })
    }
}

impl Adjustment {
    /// Returns why the setting is not used as it is set, and what is used.
    pub fn why(&self) -> String {
        let Adjustment { wanted, used, budget, below, .. } = self;
        let why = match below {
            _ if wanted > budget => format!("do not fit a budget of {budget:#}"),
            Some((above, at)) if wanted >= at => {
                format!("are not below {above} ({at:#}) in a budget of {budget:#}")
            }
            _ => format!("do not go with the other thresholds and a budget of {budget:#}"),
        };
        format!("{wanted:#} tokens {why}; {used:#} are used")
    }
}

impl fmt::Display for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.why())
    }
}

/// A trigger that is given in tokens, or as a share of the window, lies at this share of the budget at most, so that a
/// summary is made before the hard limit is reached.
const HIGHEST_TRIGGER: f64 = 0.9;

impl Thresholds {
    /// Returns these with those that nobody set in their order with those that somebody did: no higher than the one above allows, and
    /// else between the two that are set. Kinds that only a budget can compare stay as they are.
    pub(super) fn followed(mut self) -> Thresholds {
        if self.are_in_order() {
            return self;
        }
        let is_below = |low: Threshold, high: Threshold| low.is_below(high) != Some(false);
        let places = self.places();
        for (nth, at) in places.iter().copied().enumerate().rev().filter(|(_, at)| !self.is_set[*at]) {
            let high = places.get(nth + 1).map(|at| self.wanted[*at]);
            let low = places[..nth].iter().rev().find(|at| self.is_set[**at]).map(|at| self.wanted[*at]);
            let highest = high.map(|high| high.scaled(HIGHEST[at]));
            let mut follows = self.wanted[at];
            if let Some(highest) = highest.filter(|highest| highest.is_below(follows) == Some(true)) {
                follows = highest;
            }
            if let Some(low) = low.filter(|low| !is_below(*low, follows)) {
                follows = low.between(high);
            }
            self.wanted[at] = follows;
        }
        self
    }

    /// Returns the pairs, lower first, that are in no order: of those that are set, or where that is not it, of all.
    pub(super) fn contradictions(&self) -> Vec<(usize, usize)> {
        let of = |places: &[usize]| -> Vec<(usize, usize)> {
            let pairs = places.windows(2).map(|pair| (pair[0], pair[1]));
            pairs
                .filter(|(low, high)| self.wanted[*low].is_below(self.wanted[*high]) == Some(false))
                .collect()
        };
        let places = self.places();
        let set: Vec<usize> = places.iter().copied().filter(|at| self.is_set[*at]).collect();
        let of_set = of(&set);
        if of_set.is_empty() { of(&places) } else { of_set }
    }

    fn are_in_order(&self) -> bool {
        let [target, soft, reset, trigger] = self.wanted;
        let is_below = |low: Threshold, high: Threshold| low.is_below(high) != Some(false);
        let is_below_reset = match self.has_soft_tier {
            true => is_below(target, soft) && is_below(soft, reset),
            false => is_below(target, reset),
        };
        is_below_reset && is_below(reset, trigger)
    }

    /// Returns the places of those that stand for something.
    fn places(&self) -> Vec<usize> {
        (0..4).filter(|at| *at != SOFT || self.has_soft_tier).collect()
    }
}

/// The place of the soft tier's threshold.
const SOFT: usize = 1;

/// Where the thresholds below the trigger lie at most when they have to be adjusted: the share of the one above. The
/// smaller of this and what the setting asks for is used, so that what fits stays as it was set.
const HIGHEST_RESET: f64 = 0.9;
const HIGHEST_SOFT: f64 = 0.89;
const HIGHEST_TARGET: f64 = 0.75;
/// The same by place; nothing is above the trigger.
const HIGHEST: [f64; 4] = [HIGHEST_TARGET, HIGHEST_SOFT, HIGHEST_RESET, 1.0];

impl Config {
    /// Returns the thresholds in tokens for a model with this `window` and this `budget` (window less reserved output
    /// and fixed overhead).
    ///
    /// The order of [`Limits`] always holds in the result as far as whole tokens can tell. Thresholds are brought down one after
    /// the other, from the trigger on. [`Limits::adjusted`] says that some were, [`Config::adjustments`] which. A higher trigger
    /// never gives a lower one.
    pub fn limits(&self, window: Tokens, budget: Tokens) -> Limits {
        let base = self.base(window, budget);
        let wanted = self.wanted(base);
        let used = self.fitting(wanted, budget);
        let [target, soft, reset, trigger] = used;
        Limits {
            target,
            soft,
            reset,
            trigger,
            ceiling: budget,
            min_gain: base.min(budget).scaled(self.min_gain_ratio),
            tail: self.preserve_recent_tokens.map_or(target, |tail| tail.tokens(base).min(target)),
            adjusted: used != wanted,
        }
    }

    /// Returns the settings that do not fit this budget as they are set, and what takes their place.
    pub fn adjustments(&self, window: Tokens, budget: Tokens) -> Vec<Adjustment> {
        let base = self.base(window, budget);
        let wanted = self.wanted(base);
        let target = match self.target_context_tokens {
            Some(_) => Setting::TargetContextTokens,
            None => Setting::Target,
        };
        let settings = [target, Setting::SoftRatio, Setting::ResetRatio, Setting::TriggerRatio];
        let used = self.fitting(wanted, budget);
        let (mut all, mut below) = (Vec::new(), None);
        for (setting, (wanted, used)) in settings.into_iter().zip(wanted.into_iter().zip(used)).rev() {
            // Without a soft tier its threshold stands for nothing.
            if setting == Setting::SoftRatio && self.soft_action == SoftAction::Off {
                continue;
            }
            if wanted != used {
                all.push(Adjustment { setting, wanted, used, budget, below });
            }
            below = Some((setting, used));
        }
        all.reverse();
        if let (Some(tail), Some((_, used))) = (self.preserve_recent_tokens, below)
            && tail.tokens(base) > used
        {
            let (setting, wanted) = (Setting::PreserveRecentTokens, tail.tokens(base));
            all.push(Adjustment { setting, wanted, used, budget, below });
        }
        all
    }

    /// Returns those of the [`adjustments`](Self::adjustments) that are of a number of tokens, or of a share of the window that
    /// somebody set: a share of the budget that gives way to another threshold does so in any window.
    pub(crate) fn not_used(&self, window: Tokens, budget: Tokens) -> Vec<Adjustment> {
        let is_set = self.thresholds().is_set;
        let is_of_window = |at: usize| self.ratio_base == RatioBase::Window && is_set[at];
        let is_told = |adjustment: &Adjustment| {
            let (threshold, at) = match adjustment.setting {
                Setting::TargetContextTokens => return true,
                Setting::Target => (self.target_ratio, 0),
                Setting::SoftRatio => (self.soft_ratio, SOFT),
                Setting::ResetRatio => (self.reset_ratio, 2),
                Setting::TriggerRatio => (self.trigger_ratio, 3),
                // It follows none of the others.
                Setting::PreserveRecentTokens => {
                    return self.preserve_recent_tokens != self.usual().preserve_recent_tokens;
                }
            };
            matches!(threshold, Threshold::Tokens(_)) || is_of_window(at)
        };
        let mut all = self.adjustments(window, budget);
        all.retain(is_told);
        all
    }

    /// Returns why `max_summary_tokens` has no effect, where it is above what a view is to keep to.
    pub(crate) fn summary_limit_unused(&self, window: Tokens, budget: Tokens) -> Option<String> {
        let (most, target) = (self.max_summary_tokens.tokens()?, self.limits(window, budget).target);
        let setting = match self.target_context_tokens {
            Some(_) => Setting::TargetContextTokens,
            None => Setting::Target,
        };
        // What a preset sets it sets for any window.
        let is_presets = || self.max_summary_tokens == self.usual().max_summary_tokens;
        (most > target && !is_presets()).then(|| {
            format!(
                "{most:#} tokens are above {setting} ({target:#}) in a budget of {budget:#}, and a view is to keep to that with \
                 its summary"
            )
        })
    }

    /// Returns the settings that these began with: those of the preset, or the defaults.
    fn usual(&self) -> Config {
        let of = |preset: Preset| serde_json::from_value(preset.settings().into());
        self.preset.and_then(|preset| of(preset).ok()).unwrap_or_default()
    }

    /// Returns the thresholds as they are set; what is as it usually is nobody set.
    pub(super) fn thresholds(&self) -> Thresholds {
        let usual = self.usual().wanted_thresholds();
        let wanted = self.wanted_thresholds();
        let is_set = [0, 1, 2, 3].map(|at| wanted[at] != usual[at]);
        Thresholds { wanted, is_set, has_soft_tier: self.soft_action != SoftAction::Off }
    }

    /// Returns the thresholds in their order, as far as that can be. What nobody set is asked for only where there is none yet: this is
    /// looked at with every message.
    fn ordered_thresholds(&self) -> [Threshold; 4] {
        let has_soft_tier = self.soft_action != SoftAction::Off;
        let as_set = Thresholds { wanted: self.wanted_thresholds(), is_set: [true; 4], has_soft_tier };
        if as_set.are_in_order() { as_set.wanted } else { self.thresholds().followed().wanted }
    }

    fn wanted_thresholds(&self) -> [Threshold; 4] {
        let target = self.target_context_tokens.map_or(self.target_ratio, Threshold::Tokens);
        [target, self.soft_ratio, self.reset_ratio, self.trigger_ratio]
    }

    /// Returns what the ratios are of.
    pub(crate) fn base(&self, window: Tokens, budget: Tokens) -> Tokens {
        match self.ratio_base {
            RatioBase::Budget => budget,
            RatioBase::Window => window,
        }
    }

    /// Returns target, soft, reset and trigger as they are set, or follow those that are.
    fn wanted(&self, base: Tokens) -> [Tokens; 4] {
        let [target, soft, reset, trigger] = self.ordered_thresholds().map(|limit| limit.tokens(base));
        // Without a soft tier its threshold orders nothing; it lies where it does no harm.
        [target, if self.soft_action == SoftAction::Off { reset } else { soft }, reset, trigger]
    }

    /// Returns the thresholds as they fit `budget`: as they are where they do.
    fn fitting(&self, wanted: [Tokens; 4], budget: Tokens) -> [Tokens; 4] {
        let is_of_budget =
            self.ratio_base == RatioBase::Budget && matches!(self.trigger_ratio, Threshold::Ratio(_));
        let highest = if is_of_budget { budget } else { budget.scaled(HIGHEST_TRIGGER) };
        let trigger = wanted[3].min(highest);
        let has_soft_tier = self.soft_action != SoftAction::Off;
        let is_ordered = |[target, soft, reset, trigger]: [Tokens; 4]| {
            target < soft && soft <= reset && reset < trigger && (soft < reset || !has_soft_tier)
        };
        let fits = [wanted[0], wanted[1], wanted[2], trigger];
        if is_ordered(fits) {
            return fits;
        }
        let reset = wanted[2].min(trigger.scaled(HIGHEST_RESET));
        let soft = if has_soft_tier { wanted[1].min(reset.scaled(HIGHEST_SOFT)) } else { reset };
        let adjusted = [wanted[0].min(soft.scaled(HIGHEST_TARGET)), soft, reset, trigger];
        if is_ordered(adjusted) {
            return adjusted;
        }
        // No budget gives these an order.
        let default = Config::default();
        [default.target_ratio, default.soft_ratio, default.reset_ratio, default.trigger_ratio]
            .map(|threshold| threshold.tokens(budget))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ratios_and_tokens_are_told_apart() {
        let cases = [
            ("0.8", Some(Threshold::Ratio(0.8))),
            ("1.0", Some(Threshold::Ratio(1.0))),
            ("80%", Some(Threshold::Ratio(0.8))),
            ("80 %", Some(Threshold::Ratio(0.8))),
            ("100%", Some(Threshold::Ratio(1.0))),
            ("120000", Some(Threshold::Tokens(Tokens(120_000)))),
            ("120_000 tokens", Some(Threshold::Tokens(Tokens(120_000)))),
            ("120k", Some(Threshold::Tokens(Tokens(120_000)))),
            ("1.5k tokens", Some(Threshold::Tokens(Tokens(1_500)))),
            ("50 tokens", Some(Threshold::Tokens(Tokens(50)))),
            ("1m", Some(Threshold::Tokens(Tokens(1_000_000)))),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    #[test]
    fn what_could_be_either_is_refused() {
        let refused =
            ["1", "80", "100", "80.0", "1.5", "0", "-0.8", "0%", "101%", "nan", "inf", "", "x", "0.5 tokens"];
        for text in refused {
            assert!(text.parse::<Threshold>().is_err(), "{text:?}");
        }
        let error = "80".parse::<Threshold>().unwrap_err().to_string();
        assert_eq!(
            error,
            "\"80\" could be a ratio, percent or tokens; expected a ratio (0.8, \"80%\") or tokens (120000, \"120k tokens\")"
        );
    }

    #[test]
    fn a_toml_number_is_read_by_its_spelling() {
        let trigger = |value: &str| toml::from_str::<Config>(&format!("trigger_ratio = {value}"));
        assert_eq!(trigger("1.0").unwrap().trigger_ratio, Threshold::Ratio(1.0));
        assert_eq!(trigger("120_000").unwrap().trigger_ratio, Threshold::Tokens(Tokens(120_000)));
        for odd in ["1", "80", "80.0", "-1", "true", "[0.8]"] {
            assert!(trigger(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn absolute_thresholds_give_way_to_a_small_window() {
        let two_tier = Config {
            soft_ratio: Threshold::Tokens(Tokens(80_000)),
            reset_ratio: Threshold::Tokens(Tokens(100_000)),
            trigger_ratio: Threshold::Tokens(Tokens(120_000)),
            ..Config::default()
        };
        let large = two_tier.limits(Tokens(200_000), Tokens(180_000));
        assert_eq!((large.trigger, large.soft, large.adjusted), (Tokens(120_000), Tokens(80_000), false));
        let small = two_tier.limits(Tokens(16_000), Tokens(15_000));
        assert_eq!((small.trigger, small.soft, small.adjusted), (Tokens(13_500), Tokens(10_813), true));
        let told: Vec<_> =
            two_tier.adjustments(Tokens(16_000), Tokens(15_000)).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "soft_ratio: 80,000 tokens do not fit a budget of 15,000; 10,813 are used",
                "reset_ratio: 100,000 tokens do not fit a budget of 15,000; 12,150 are used",
                "trigger_ratio: 120,000 tokens do not fit a budget of 15,000; 13,500 are used",
            ]
        );
    }

    // asserts 003-02
    #[test]
    fn what_fits_a_smaller_window_stays_as_it_is_set() {
        // gpt-4o: 128,000 tokens, 16,384 of them for the answer. The first tier's 80,000 fit.
        let (config, budget) = (crate::Preset::TwoTier.config(), Tokens(128_000 - 16_384));
        let limits = config.limits(Tokens(128_000), budget);
        assert_eq!((limits.soft, limits.target), (Tokens(80_000), Tokens(60_000)));
        assert_eq!(limits.trigger, budget.scaled(0.9));
        let told = config.adjustments(Tokens(128_000), budget);
        let settings: Vec<Setting> = told.iter().map(|adjustment| adjustment.setting).collect();
        assert_eq!(settings, [Setting::ResetRatio, Setting::TriggerRatio]);
    }

    // asserts 000-08, 004-02
    #[test]
    fn a_higher_trigger_is_never_a_lower_one() {
        // A quarter of the window is kept for the answer; ratios are of the window.
        let (window, budget) = (Tokens(200_000), Tokens(150_000));
        let mut last = Limits { adjusted: false, ..Config::default().limits(Tokens::ZERO, Tokens::ZERO) };
        for percent in 71..=100 {
            let config = Config {
                ratio_base: RatioBase::Window,
                trigger_ratio: Threshold::Ratio(f64::from(percent) / 100.0),
                ..Config::default()
            };
            let limits = config.limits(window, budget);
            assert!(limits.trigger >= last.trigger && limits.reset >= last.reset, "{percent} %: {limits:?}");
            assert!(
                limits.adjusted || !last.adjusted,
                "{percent} %: what does not fit at less does not fit at more"
            );
            last = limits;
        }
        assert_eq!(last.trigger, Tokens(135_000));
    }

    proptest! {
        #[test]
        fn thresholds_survive_being_written(tokens in 1u64..10_000_000, ratio in 0.0001f64..=1.0) {
            for threshold in [Threshold::Tokens(Tokens(tokens)), Threshold::Ratio(ratio)] {
                prop_assert_eq!(threshold.to_string().parse(), Ok(threshold));
                let toml = format!("trigger_ratio = {}", toml::Value::try_from(threshold).unwrap());
                prop_assert_eq!(toml::from_str::<Config>(&toml).unwrap().trigger_ratio, threshold);
            }
        }

        #[test]
        fn limits_are_in_order_for_every_budget(
            kinds in proptest::collection::vec((any::<bool>(), 0.0f64..1.2, 0u64..300_000), 4),
            window in 0u64..2_000_000, share in 0.0f64..=1.0, off in any::<bool>(),
        ) {
            let any = |nth: usize| match kinds[nth] {
                (true, ratio, _) => Threshold::Ratio(ratio),
                (false, _, tokens) => Threshold::Tokens(Tokens(tokens)),
            };
            let config = Config {
                target_ratio: any(0), soft_ratio: any(1), reset_ratio: any(2), trigger_ratio: any(3),
                soft_action: if off { SoftAction::Off } else { SoftAction::Digest },
                ..Config::default()
            };
            let budget = Tokens(window).scaled(share);
            let limits = config.limits(Tokens(window), budget);
            prop_assert!(limits.target <= limits.soft && limits.soft <= limits.reset);
            prop_assert!(limits.reset <= limits.trigger && limits.trigger <= budget);
            if budget >= Tokens(100) {
                prop_assert!(limits.target < limits.soft && limits.reset < limits.trigger);
            }
            prop_assert!(limits.tail <= limits.target);
            let unlimited = Config { preserve_recent_tokens: None, ..config }.limits(Tokens(window), budget);
            prop_assert_eq!(unlimited.tail, limits.target);
        }
    }
}
