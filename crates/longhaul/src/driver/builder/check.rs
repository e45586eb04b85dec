//! What can be said of a session's parts before it is there: what cannot be meant, and which settings have no effect.

use longhaul_summarize::{Summarizer, rules::RulesOptions};
use longhaul_tokens::{Accuracy, ContextWindow, Prices, TokenCounter};
use longhaul_transcript::{SummaryMode, Tokens};

use super::BuildError;
use crate::{
    Preset,
    compact::FLOOR_EXTRA,
    config::{Chaining, Config, Oversize, SoftAction, provider_name},
    session::is_price,
};

/// Checks that a model has a name.
pub(in crate::driver) fn name(model: &str) -> Result<(), BuildError> {
    match model.trim().is_empty() {
        true => Err(BuildError::NoModelName),
        false => Ok(()),
    }
}

/// Checks that the provider of a model has a name.
pub(in crate::driver) fn provider(provider: &str, model: &str) -> Result<(), BuildError> {
    match provider.trim().is_empty() {
        true => Err(BuildError::NoProviderName { model: model.to_owned() }),
        false => Ok(()),
    }
}

/// Checks that a model and where it is asked have names.
pub(in crate::driver) fn endpoint(model: &str, endpoint: &str) -> Result<(), BuildError> {
    name(model)?;
    match endpoint.trim().is_empty() {
        true => Err(BuildError::NoEndpoint { model: model.to_owned() }),
        false => Ok(()),
    }
}

/// Checks that prices are amounts of money.
pub(in crate::driver) fn prices(prices: Prices) -> Result<(), BuildError> {
    let Prices { input, output, cache_read, cache_write } = prices;
    let named =
        [("input", input), ("output", output), ("cache reads", cache_read), ("cache writes", cache_write)];
    match named.into_iter().find_map(|(what, price)| Some((what, price.filter(|price| !is_price(*price))?))) {
        Some((what, price)) => Err(BuildError::NoPrice { what, price }),
        None => Ok(()),
    }
}

/// Returns why prices change nothing in a session like this.
pub(in crate::driver) fn are_unused(prices: Prices, config: &Config) -> Option<&'static str> {
    let says_nothing = [prices.input, prices.cache_read, prices.cache_write].iter().all(Option::is_none);
    match config.soft_action {
        SoftAction::Off => Some(NO_SOFT_TIER),
        _ => says_nothing
            .then_some("they say nothing of what is sent, and an answer costs the same after any request"),
    }
}

/// Checks that the shares of a summary by rule are such, and that they leave each other room.
pub(in crate::driver) fn shares(rules: &RulesOptions) -> Result<(), BuildError> {
    let named = rules.shares();
    if let Some((what, share)) = named.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
        return Err(BuildError::NoShare { what, share });
    }
    // A sum of fractions is a little more or less than it should be.
    let total = (named.iter().map(|(_, share)| share).sum::<f64>() * 1e6).round() / 1e6;
    let names = || named.map(|(name, _)| name).join(" + ");
    if total > 1.0 { Err(BuildError::TooManyShares { names: names(), total }) } else { Ok(()) }
}

/// Returns whether settings are for a provider whose name is a maker's but for a slip.
pub(super) fn is_misspelled(config: &Config) -> bool {
    config.providers.keys().any(|name| {
        let name = provider_name(name).to_ascii_lowercase();
        MAKERS.iter().all(|(maker, _)| *maker != name) && is_maker(&name)
    })
}

/// Returns the tables of settings for models that have no effect, with the reason: where no provider and model were `named`, those of
/// one that is `talked_to` may be in force already.
pub(super) fn of_models(
    config: &Config,
    named: Option<(&str, &str)>,
    talked_to: Option<&str>,
) -> Vec<(&'static str, String)> {
    let mut overrides = config.models.values().chain(config.providers.values()).peekable();
    if overrides.peek().is_none() {
        return Vec::new();
    }
    let (is_taken, why) = match (named, talked_to) {
        (Some((provider, model)), _) => return of_others(config, provider, model),
        (None, Some(model)) => (
            config.of_model(model).is_none_or(|overrides| overrides.is_in_force(config)),
            "they are taken for a model that Builder::model names",
        ),
        (None, None) => (
            overrides.any(|overrides| overrides.is_in_force(config)),
            "none of these settings is for a model that was named",
        ),
    };
    if is_taken { Vec::new() } else { vec![("models and providers", why.to_owned())] }
}

/// Returns the tables of settings that are for others than this provider or model alone.
fn of_others(config: &Config, provider: &str, model: &str) -> Vec<(&'static str, String)> {
    let of_model = config.of_model(model).is_some();
    let of_provider = config.of_provider(provider).next().is_some();
    [
        ("models", model, config.models.keys().collect::<Vec<_>>(), of_model),
        ("providers", provider, config.providers.keys().collect(), of_provider),
    ]
    .into_iter()
    .filter(|(.., others, is_taken)| !others.is_empty() && !is_taken)
    .map(|(table, name, others, _)| {
        let others = others.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        (table, format!("none of these settings is for {name}: they are for {others}"))
    })
    .collect()
}

/// Checks that a counter counts: nothing would ever be due by one that says 0 of everything. Its margin of error is what a request may
/// be larger than it says: by one that is no number no request would ever be known to fit.
pub(in crate::driver) fn counter(counter: &dyn TokenCounter) -> Result<(), BuildError> {
    match counter.accuracy() {
        Accuracy::Estimate { margin } if !margin.is_finite() || margin < 0.0 => {
            Err(BuildError::NoMargin { margin })
        }
        _ if counter.count_text(WORDS) == Tokens::ZERO => Err(BuildError::CountsNothing),
        _ => Ok(()),
    }
}

/// Checks that a window leaves room for messages, and that compactions can come below the trigger in it.
pub(in crate::driver) fn room(
    config: &Config,
    window: ContextWindow,
    overhead: Tokens,
) -> Result<(), BuildError> {
    let window = config.window(window);
    let (budget, reserved) = (window.budget(overhead), window.reserved_output);
    let window = window.window;
    if reserved + overhead >= window {
        return Err(BuildError::NoRoom { window, reserved, overhead });
    }
    if budget <= FLOOR_EXTRA {
        return Err(BuildError::BelowFloor { window, budget, least: FLOOR_EXTRA });
    }
    let trigger = config.limits(window, budget).trigger;
    match trigger > FLOOR_EXTRA {
        true => Ok(()),
        false => Err(BuildError::TriggerBelowFloor {
            trigger_ratio: config.trigger_ratio,
            trigger,
            budget,
            least: FLOOR_EXTRA,
        }),
    }
}

/// Returns the settings that have no effect on a session like this, each with the reason. They are no errors: a file of
/// settings may be shared by sessions that differ. Of a summarizer that writes no facts it is known that it is no
/// [`Ladder`](longhaul_summarize::Ladder), whose options they are.
pub(in crate::driver) fn unused(
    config: &Config,
    summarizer: Option<&dyn Summarizer>,
    has_store: bool,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    // What a preset sets it sets for any mode.
    let usual = config.preset.map(Preset::config).unwrap_or_default();
    let asks_models = summarizer.is_some_and(Summarizer::writes_facts);
    let (has_preference, has_prompt) =
        (!config.summarizer_model_preference.is_empty(), !config.summary_prompt.is_empty());
    let is_by_rule = config.mode == SummaryMode::Rules;
    let no_calls = is_by_rule || !asks_models;
    let is_in_calls = !is_by_rule && !asks_models && config.oversize != Oversize::Rules;
    let is_appended = config.chaining == Chaining::Append;
    let why_no_calls =
        if is_by_rule { ASKS_NO_MODEL } else { "no client or models were given that calls are made to" };
    [
        (
            config.mode == SummaryMode::Hybrid && summarizer.is_none(),
            "mode",
            "it is hybrid, and nobody was given to write summaries: rules write them",
        ),
        (
            has_preference && !asks_models,
            "summarizer_model_preference",
            "no client or models were given to choose from",
        ),
        (has_prompt && is_by_rule, "summary_prompt", ASKS_NO_MODEL),
        (
            has_prompt && !is_by_rule && !asks_models,
            "summary_prompt",
            "no client or models were given to put it to",
        ),
        (
            no_calls && config.max_calls_per_hour != usual.max_calls_per_hour,
            "max_calls_per_hour",
            why_no_calls,
        ),
        (no_calls && config.transport_retries != usual.transport_retries, "transport_retries", why_no_calls),
        (
            is_by_rule && config.summary_deadline_ms != usual.summary_deadline_ms,
            "summary_deadline_ms",
            ASKS_NO_MODEL,
        ),
        // How far back is read goes by it, and what is left to the rules, whoever summarizes.
        (
            is_by_rule && config.transcript_cap_tokens != usual.transcript_cap_tokens,
            "transcript_cap_tokens",
            ASKS_NO_MODEL,
        ),
        (is_by_rule && config.oversize != usual.oversize, "oversize", ASKS_NO_MODEL),
        // What is too large for a model is left to the rules whoever that is; in how many calls it is shown a client decides.
        (
            is_in_calls && config.transcript_cap_tokens != usual.transcript_cap_tokens,
            "transcript_cap_tokens",
            why_no_calls,
        ),
        (is_in_calls && config.oversize != usual.oversize, "oversize", why_no_calls),
        (is_appended && config.on_max_depth != usual.on_max_depth, "on_max_depth", NO_DEPTH),
        (
            is_appended && config.max_summary_chain_depth != usual.max_summary_chain_depth,
            "max_summary_chain_depth",
            NO_DEPTH,
        ),
        (
            config.target_context_tokens.is_some() && config.target_ratio != usual.target_ratio,
            "target_ratio",
            "target_context_tokens takes its place",
        ),
        (!config.enabled && config.trigger_ratio != usual.trigger_ratio, "trigger_ratio", NEVER),
        (!config.enabled && config.trigger_messages != usual.trigger_messages, "trigger_messages", NEVER),
        (
            !config.enabled && config.force_refresh_after_messages != usual.force_refresh_after_messages,
            "force_refresh_after_messages",
            NEVER,
        ),
        (
            config.soft_action == SoftAction::Off && config.soft_ratio != usual.soft_ratio,
            "soft_ratio",
            NO_SOFT_TIER,
        ),
        (
            config.soft_action == SoftAction::Off && config.cache_ttl_ms != usual.cache_ttl_ms,
            "cache_ttl_ms",
            NO_SOFT_TIER,
        ),
        (
            config.soft_action == SoftAction::Off && config.min_gain_ratio != usual.min_gain_ratio,
            "min_gain_ratio",
            NO_SOFT_TIER,
        ),
        (is_by_rule && config.abort_on_failure != usual.abort_on_failure, "abort_on_failure", ASKS_NO_MODEL),
        (is_by_rule && config.rules_on_failure != usual.rules_on_failure, "rules_on_failure", ASKS_NO_MODEL),
        (no_calls && config.summary_form != usual.summary_form, "summary_form", why_no_calls),
        (
            config.delete_originals && !has_store,
            "delete_originals",
            "no store was given, which could hold any",
        ),
    ]
    .into_iter()
    .filter_map(|(is_unused, setting, why)| is_unused.then_some((setting, why)))
}

/// Returns who makes `model`, where its name says so.
pub(super) fn maker(model: &str) -> Option<&'static str> {
    let is_of = |(_, starts): &&(_, &[&str])| starts.iter().any(|start| model.starts_with(start));
    MAKERS.iter().find(is_of).map(|(maker, _)| *maker)
}

/// Returns whether this is one of the makers, or what a slip of the finger made of its name.
pub(super) fn is_maker(provider: &str) -> bool {
    MAKERS.iter().any(|(maker, _)| *maker == provider || is_slip(maker, provider))
}

/// Returns whether one letter is all that is missing, added or another.
fn is_slip(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let front = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[front..], &other[front..]);
    let back = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    one.len().max(other.len()) == back + 1
}

/// What any counter finds more than nothing in.
const WORDS: &str = "Why does src/lib.rs panic?";

/// Why what concerns models has no effect.
const ASKS_NO_MODEL: &str = "mode is rules, which asks no model";

/// Why what concerns summaries of summaries has none.
const NO_DEPTH: &str =
    "chaining is append: each summary tells of messages of its own, and none of another summary";

/// Why what concerns the soft tier has none.
const NO_SOFT_TIER: &str = "soft_action is off, and it is of passes of the soft tier alone";

/// Why what calls for a compaction has none.
const NEVER: &str = "enabled is false: nothing is compacted but by hand";

/// Who makes the models of the largest families, and how their names begin.
const MAKERS: [(&str, &[&str]); 3] =
    [("anthropic", &["claude"]), ("google", &["gemini"]), ("openai", &["gpt", "o1", "o3", "o4"])];
