//! Every setting of longhaul, with its meaning, range and default. `docs/configuration.md` is written from this file.

mod check;
mod explain;
mod layers;
mod llm;
mod threshold;
mod values;

pub use check::{ConfigError, Problem};
pub use explain::{DOCUMENT_NAMES, DocumentName, Explanation};
pub use layers::{Layer, Layered, Source};
pub use threshold::{Adjustment, Limits, ParseThresholdError, Setting, Threshold};
pub use values::{
    Chaining, OnMaxDepth, Overrides, Oversize, ParseValueError, RatioBase, SoftAction, SummaryLimit,
    SummaryRole,
};

use std::collections::BTreeMap;

pub use longhaul_summarize::SummaryForm;
use longhaul_tokens::ContextWindow;
use longhaul_transcript::{SummaryMode, SummaryRecord, Tokens};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value};

use self::values::{or_auto, or_off};
use crate::Preset;

/// Every setting of longhaul.
///
/// The defaults are meant to be used as they are. Values come from defaults, a preset, a file, the environment and
/// flags, in this order of precedence (see [`Layered`]); [`Config::validate`] reports every problem at once.
///
/// New settings may come with any version; write `Config { enabled: false, ..Config::default() }`. Where a file names a preset, what it
/// does not say is as the preset has it; in Rust begin with [`Preset::config`].
///
/// ```
/// use longhaul::Config;
///
/// let config: Config = toml::from_str("trigger_ratio = \"120000 tokens\"\nreset_ratio = 100_000")?;
/// let problems = config.validate();
/// assert!(problems.is_empty(), "{problems:?}");
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, remote = "Self")]
pub struct Config {
    /// Version of this shape. A newer one is refused.
    ///
    /// Unit: none. Range: 1.
    pub version: u32,

    /// The preset the other settings start from: `context-manager`, `rolling`, `session`, `two-tier`, `chain` or `off`.
    ///
    /// Unit: none. A preset only supplies values; every one of them can be set again in a later layer.
    #[serde(with = "or_off")]
    pub preset: Option<Preset>,

    /// Whether longhaul acts on its own. While false nothing is compacted unless asked for by hand.
    ///
    /// Unit: none. Range: true or false. With false `prepare` refuses a conversation that outgrows its budget.
    pub enabled: bool,

    /// How summaries are made: `rules` (offline, no cost), `llm` (by a model), `hybrid` (facts by rule, narrative by a model).
    ///
    /// Unit: none. `llm` and `hybrid` cost one model call a compaction and need a summarizer: without one `llm` is refused, and in
    /// `hybrid` rules write all of it, which a session says. In `hybrid` a `Summarizer` of your
    /// own that returns prose gets half of the room, and facts by rule fill the rest; under `rolling` and `two-tier` it gets all
    /// of it. In `llm` the rules of the user that neither its words nor the messages that stay show are added behind them. The rules get the
    /// room that the words leave; where that is less than about a third of the limit, the words are shortened until the rules have that
    /// third. Of more rules than fit the newest stay; in `rules` what binds goes before wishes, short before long, and newer before
    /// older. How many were left out is in the record (`checks`) and the event `left_out`.
    ///
    /// A model that is asked by a schema (`summary_form`, and preset `chain`) is asked for everything in `llm`, and in `hybrid` for the
    /// narrative and decisions alone; in both facts by rule that it does not tell take the room that its words leave. `longhaul compact`
    /// without a model has rules write in `hybrid`, and in the mode that a preset has.
    pub mode: SummaryMode,

    /// How full the context is when the hard tier starts a compaction.
    ///
    /// Unit: a ratio of `ratio_base`, or tokens. Range: above `reset_ratio`, up to 1.0, and above the 200 tokens that any
    /// compaction leaves. A higher value compacts later: more is kept verbatim and in the provider's cache, and there is less room for one large tool result, and for what is
    /// said while a summary is made in the background. What is given in tokens, or of the whole window, lies at
    /// nine tenths of the budget at most. Of this and the three below it, those that nobody set follow those that somebody did.
    pub trigger_ratio: Threshold,

    /// After a compaction the hard tier fires again once the context was below this, or has grown by as much as lies between
    /// this and `trigger_ratio`.
    ///
    /// Unit: a ratio of `ratio_base`, or tokens. Range: between `soft_ratio` (where there is a soft tier) and `trigger_ratio`; a
    /// ratio beside a number of tokens is brought into this order for each budget. A higher value re-arms
    /// sooner and so allows more compactions. Where a compaction could not come below it, none is made before the hard limit.
    pub reset_ratio: Threshold,

    /// How full the context is when the soft tier may act.
    ///
    /// Unit: a ratio of `ratio_base`, or tokens. Range: between `target_ratio` and `reset_ratio`; with `soft_action = "off"` it
    /// stands for nothing. A higher value keeps tool results verbatim for longer and leaves less to gain.
    pub soft_ratio: Threshold,

    /// What the soft tier does: `digest` (facts in place of old tool results), `trim` (drop by priority),
    /// `summarize_rules` (a summary by rule) or `off`. Of what `trim` drops nothing is told, be it a rule of the user's, and while that
    /// makes room enough no summary is written.
    ///
    /// Unit: none. None of them asks a model.
    pub soft_action: SoftAction,

    /// How deep either tier goes. Rare and deep rewrites keep a provider's prompt cache warm. Where more than that must stay
    /// (instructions, pins, the newest request, some 200 tokens for the rest), half of the room above what must stay is filled.
    ///
    /// Unit: a ratio of `ratio_base`, or tokens. Range: above 0, below `soft_ratio`. A higher value keeps more verbatim
    /// and rewrites more often.
    pub target_ratio: Threshold,

    /// Takes the place of `target_ratio` where the size of the context after a compaction is known in tokens.
    ///
    /// Unit: tokens, or `auto`. Range: above 200. A higher value keeps more verbatim and rewrites more often, but for one that is below
    /// what must stay (see `target_ratio`).
    #[serde(with = "or_auto")]
    pub target_context_tokens: Option<Tokens>,

    /// The window to work with, where it is to be smaller than the model's own.
    ///
    /// Unit: tokens, or `auto` for the model's window. Range: 1,000 and up. A higher value than the model's is cut to it.
    #[serde(with = "or_auto")]
    pub max_context_tokens: Option<Tokens>,

    /// Room kept free for the model's answer.
    ///
    /// Unit: tokens, or `auto` for the model's largest answer. Range: below the window. A higher value leaves a smaller budget for the history.
    #[serde(with = "or_auto")]
    pub reserved_output_tokens: Option<Tokens>,

    /// What the ratios are of: `budget` (window less reserved output and fixed overhead) or the whole `window`.
    ///
    /// Unit: none. The budget is the hard limit either way.
    pub ratio_base: RatioBase,

    /// What a pass of the soft tier must free to be worth a rewrite of the prompt's cached prefix. While that is warm a pass must
    /// also be paid back before the hard tier acts: at the model's prices, or, where none are known, with what is read from the
    /// cache at a tenth of the price and what is written at one and a quarter. Small requests that fill a window fast seldom pay that
    /// back: then only the hard tier acts, whatever is set here.
    ///
    /// Unit: a ratio of `ratio_base`, of the budget at most. Range: 0.0 to 0.5. A higher value waits longer and rewrites less often.
    pub min_gain_ratio: f64,

    /// How long the provider keeps a prompt's prefix in its cache. A pass of the soft tier that comes later than this after
    /// the last request costs no cache, and need not free `min_gain_ratio`. The last request is that of the last
    /// `report_usage`: a session that is told of none takes the cache for warm.
    ///
    /// Unit: milliseconds, or `off`. Anthropic keeps it for five minutes, OpenAI for five to ten (their pages, 2025). A
    /// higher value waits longer before it takes the cache for cold.
    #[serde(with = "or_off")]
    pub cache_ttl_ms: Option<u64>,

    /// Compacts when the view holds more messages than this, whatever they cost; summaries are not counted.
    ///
    /// Unit: messages, or `off`. Range: above `min_messages` and `preserve_recent`, up to 1,000,000. A higher value compacts later.
    #[serde(with = "or_off")]
    pub trigger_messages: Option<u64>,

    /// Below this many messages in the view nothing is compacted, short of an emergency; a summary counts as one.
    ///
    /// Unit: messages. Range: 0 to 1,000,000. A higher value protects short conversations with large messages.
    pub min_messages: u64,

    /// How many of the newest messages stay verbatim in any case. Reduced to no less than 2 where the budget demands it, or
    /// `preserve_recent_tokens`; where this is set higher than usual and that is not set, that is `off` in a session. Room
    /// that the summary leaves below the target is filled with more of them.
    ///
    /// Unit: messages. Range: 2 to 1,000,000. A higher value leaves less to compact.
    pub preserve_recent: u64,

    /// The most that the messages of `preserve_recent` may cost; past it fewer of them are sure to stay, no less than 2. `off`
    /// lets them cost more than the target, as long as two more turns fit below the trigger. How large the view is after a
    /// compaction is not set here but by `target_ratio`.
    ///
    /// Unit: a ratio of `ratio_base`, or tokens, or `off`. Range: above 0; never more than the target. A higher value
    /// leaves less room for the summary, and `off` compacts more often where messages are large.
    #[serde(with = "or_off")]
    pub preserve_recent_tokens: Option<Threshold>,

    /// How many summaries may be built one on the other.
    ///
    /// Unit: summaries. Range: 1 to 100. A higher value trusts summaries of summaries for longer.
    pub max_summary_chain_depth: u32,

    /// What happens at that depth: `rebuild` starts a new chain, `halt` stops compacting (short of an emergency).
    ///
    /// Unit: none. By rule, `rebuild` takes no earlier summary in: it reads the newest eight windows of originals, and a window of
    /// quotations from before them, as every compaction does. A model goes on from its last summary and reads what is new, since
    /// reading everything again costs more each time. `/resummarize` has it read everything.
    pub on_max_depth: OnMaxDepth,

    /// Whether one summary is made anew each time (`fold`), each covers its own range (`append`), or updates are appended
    /// to one text (`running`).
    ///
    /// Unit: none. `append` costs more tokens with every compaction.
    pub chaining: Chaining,

    /// What happens to a span that is larger than `transcript_cap_tokens`: bounded passes (`map_reduce`), a summary
    /// by rule (`rules`), or one call that shows its newest part whole (`newest`; `/resummarize` shows all).
    ///
    /// Unit: none. `map_reduce` costs one model call a pass.
    pub oversize: Oversize,

    /// The role of the summary's message in a session's view: `user` (data) or `system`. `longhaul compact` writes `user` alone.
    ///
    /// Unit: none. A summary with the system's authority can carry an injected instruction; `user` cannot. Behind a summary of the
    /// system's the model's own message may come first: Anthropic's API takes that, Claude on Bedrock refuses it
    /// (anthropic-sdk-typescript, issue 622).
    pub summary_role: SummaryRole,

    /// The first line of the summary's message; `{messages}` stands for the number of messages summarized.
    ///
    /// Unit: text. It is followed by the handle line `summary-depth:<n> id:<id>`.
    pub summary_header: String,

    /// How a reader of the summary gets back what a handle in it (`m12`) stands for: `the tool recall shows {message} whole`;
    /// `{message}` stands for the handle of a message that the summary covers; words without it (`ask Mara`) are said as they stand.
    ///
    /// Unit: text, one line. Default: none; without a preset `longhaul chat --tools` names its recall tool, and `longhaul compact`
    /// its command where it records. It stands above the handle line, behind `summary-lookup: `, and costs its tokens in every
    /// request. Set it where the reader has such a means, as a model has that is given the recall tool.
    pub summary_lookup: String,

    /// At least this many new messages between two rewrites of the view (compactions, and passes of the soft tier), short of an
    /// emergency, of a model with another window, and of a second pass right after a first that freed too little.
    ///
    /// Unit: messages. Range: 0 to 1,000,000. A higher value compacts less often.
    pub cooldown_messages: u64,

    /// After a failed compaction the next one waits this long, and for `cooldown_messages` (at least one message), short of an
    /// emergency. Doubles with each further failure, up to sixteen times.
    ///
    /// Unit: milliseconds. Range: 0 to 86,400,000. A higher value asks a broken summarizer less often.
    pub failure_cooldown_ms: u64,

    /// Compacts anew after this many messages since the last compaction, whatever the ratio. What the soft tier digests or trims is
    /// no compaction.
    ///
    /// Unit: messages, or `off`. Range: at least `cooldown_messages` and 1, up to 1,000,000. A higher value refreshes less often.
    #[serde(with = "or_off")]
    pub force_refresh_after_messages: Option<u64>,

    /// How large a summary may be relative to what it replaces. The smallest of all caps wins.
    ///
    /// Unit: a ratio of the covered tokens, or `off`. Range: above 0, below 1. A higher value allows longer summaries.
    #[serde(with = "or_off")]
    pub target_compression: Option<f64>,

    /// The most that a summary may cost.
    ///
    /// Unit: tokens, or `auto` (the share of the target that serves recall best, at most 10 % of the window where nobody
    /// said how large the view may be, by rule more where rules and facts of the user's have no room). Range: 50 and up.
    /// A higher value keeps more facts and leaves less room for what follows.
    /// With `chaining = "append"` a summary that takes the place of several may have two fifths of what they said, if that is more.
    pub max_summary_tokens: SummaryLimit,

    /// The most that a summary may cost relative to the budget that the kept messages leave free.
    ///
    /// Unit: a ratio of the remaining budget, or `off`. Range: above 0, up to 1. The smallest of all caps wins.
    #[serde(with = "or_off")]
    pub max_summary_share: Option<f64>,

    /// Whether error messages are kept whole in digests and summaries.
    ///
    /// Unit: none. Costs the tokens of the error messages.
    pub preserve_error_details: bool,

    /// Whether the system prompt is kept as it is.
    ///
    /// Unit: none. With false it is summarized like any other message.
    pub preserve_system: bool,

    /// Whether a failed summary is an error (true) or falls back to rules (false).
    ///
    /// Unit: none. No message is lost either way. At the hard limit, where a request would be refused, the rules write it all the same.
    pub abort_on_failure: bool,

    /// Whether rules write at once what models were asked for and did not give (true), or the messages stay as they are until the next
    /// attempt (false).
    ///
    /// Unit: none. A failure is no error either way. With false the next attempt waits for `cooldown_messages` and `failure_cooldown_ms`;
    /// a summary that is asked for by hand, and one at the hard limit, rules write all the same.
    pub rules_on_failure: bool,

    /// The most of the conversation that is sent to a summarizing model in one pass.
    ///
    /// Unit: tokens, or `auto` (what the summarizer's window leaves beside its answer). Range: 500 and up. A lower value
    /// costs less a call, and the model sees less of what it summarizes.
    #[serde(with = "or_auto")]
    pub transcript_cap_tokens: Option<Tokens>,

    /// The form in which a model writes a summary: sections of Markdown (`markdown`), a record by a strict schema (`json`), or
    /// Markdown from models that are known to have a window of 100,000 tokens and more (`auto`).
    ///
    /// Unit: none. Strong models say more in Markdown; small ones keep to a schema more easily. A prompt of your own or of a
    /// preset decides by itself.
    pub summary_form: SummaryForm,

    /// Models to ask for summaries, first choice first; others are not asked. Empty: those that were handed over, as they were.
    ///
    /// Unit: model ids. Each is checked for window before use. A session that was given nobody to ask says that this has no effect.
    pub summarizer_model_preference: Vec<String>,

    /// A prompt of your own for `llm` and `hybrid`. Empty: the preset's, or the built-in one.
    ///
    /// Unit: text. The built-in rules on data and invention stand in front of it. Filled in are `{context}` (the conversation),
    /// `{previous}` (the summary before), `{maxTokens}` and `{words}` (the size asked for), `{goal}` and `{language}`; `{messages}` and
    /// `{tokens}` (of what is summarized) and `{depth}`; `{kept}` (what stays as it is), `{sections}` and `{statements}` (the parts of the
    /// built-in prompt); `{fence}` (the mark around the conversation) and `{schema}` (the form of an answer in JSON). A session in the mode
    /// `rules` says that it has no effect.
    pub summary_prompt: String,

    /// How often a failed call to a model is tried again. Only transport failures are.
    ///
    /// Unit: attempts. Range: 0 to 5. A higher value waits longer for a provider that is down; however high it is, one summary takes at
    /// most twelve calls, all parts and models together, and `summary_deadline_ms`.
    pub transport_retries: u32,

    /// The most that one summary by a model or a summarizer of your own may take, all calls and waits together; past it rules write.
    /// What a person is shown waits for that person.
    ///
    /// Unit: milliseconds. Range: 1,000 to 3,600,000. A higher value keeps a request waiting longer for a model that does not answer.
    pub summary_deadline_ms: u64,

    /// The most calls to a model for summaries within an hour; past it rules do the work.
    ///
    /// Unit: calls, or `off`. Range: 1 and up. A higher value can cost more; whatever it is, no more than 1,000,000 tokens an hour
    /// go to models and come back.
    #[serde(with = "or_off")]
    pub max_calls_per_hour: Option<u32>,

    /// Whether originals are deleted from the store once a summary covers them (by sessions with a store, `longhaul chat` and `longhaul compact`).
    ///
    /// Unit: none. With true nothing can be restored or rebuilt: the next summary is made from the last one and what is new. What was
    /// deleted is not at hand in the open session either: it cannot be looked up, pinned, or gone back to, save by a front end that
    /// hands it in again.
    /// A session without a store says that it has no effect.
    pub delete_originals: bool,

    /// Settings for single models; `*` at the end of a name matches any rest. They win over `providers`.
    ///
    /// Unit: table of tables, such as `[models."gpt-5*"]`. The longest name that matches wins. A table may hold `enabled`,
    /// `trigger_ratio`, `reset_ratio`, `soft_ratio`, `target_ratio`, `ratio_base`, `max_context_tokens`,
    /// `reserved_output_tokens` and `max_summary_tokens`.
    pub models: BTreeMap<String, Overrides>,

    /// Settings for all models of a provider: `anthropic`, `google` (or `gemini`), `openai`, or any name that a session is told
    /// with its model.
    ///
    /// Unit: table of tables, such as `[providers.openai]`, with the settings that `models` may hold. A file's format says whose
    /// it is; `longhaul chat` goes by `--protocol`.
    pub providers: BTreeMap<String, Overrides>,
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Config::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Config, D::Error> {
        let given = Map::<String, Value>::deserialize(deserializer)?;
        let preset = given.get("preset").and_then(|name| name.as_str()?.parse::<Preset>().ok());
        let mut settings = preset.map(Preset::settings).unwrap_or_default();
        settings.extend(given);
        Config::deserialize(Value::Object(settings)).map_err(D::Error::custom)
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            version: Config::VERSION,
            preset: None,
            enabled: true,
            mode: SummaryMode::Rules,
            trigger_ratio: Threshold::Ratio(0.92),
            reset_ratio: Threshold::Ratio(0.70),
            soft_ratio: Threshold::Ratio(0.60),
            soft_action: SoftAction::Digest,
            target_ratio: Threshold::Ratio(0.40),
            target_context_tokens: None,
            max_context_tokens: None,
            reserved_output_tokens: None,
            ratio_base: RatioBase::Budget,
            min_gain_ratio: 0.05,
            cache_ttl_ms: Some(300_000),
            trigger_messages: None,
            min_messages: 12,
            preserve_recent: 6,
            preserve_recent_tokens: Some(Threshold::Ratio(0.25)),
            max_summary_chain_depth: 3,
            on_max_depth: OnMaxDepth::Rebuild,
            chaining: Chaining::Fold,
            oversize: Oversize::MapReduce,
            summary_role: SummaryRole::User,
            summary_header: SummaryRecord::HEADER.to_owned(),
            summary_lookup: String::new(),
            cooldown_messages: 4,
            failure_cooldown_ms: 60_000,
            force_refresh_after_messages: None,
            target_compression: None,
            max_summary_tokens: SummaryLimit::Auto,
            max_summary_share: None,
            preserve_error_details: true,
            preserve_system: true,
            abort_on_failure: false,
            rules_on_failure: true,
            transcript_cap_tokens: None,
            summary_form: SummaryForm::Auto,
            summarizer_model_preference: Vec::new(),
            summary_prompt: String::new(),
            transport_retries: 1,
            summary_deadline_ms: 300_000,
            max_calls_per_hour: Some(60),
            delete_originals: false,
            models: BTreeMap::new(),
            providers: BTreeMap::new(),
        }
    }
}

impl Config {
    /// The version of the configuration that this code reads and writes.
    pub const VERSION: u32 = 1;

    /// The smallest verbatim tail, in messages: a request and its answer.
    pub const MIN_TAIL: u64 = 2;

    /// Returns the first line of a summary that stands for `n_messages` messages.
    pub fn header(&self, n_messages: u64) -> String {
        self.summary_header.replace("{messages}", &n_messages.to_string())
    }

    /// Returns the window to work with where a model has `window`: no larger than `max_context_tokens`, with
    /// `reserved_output_tokens` kept free where that is set. Where it is not, what is kept free for the answer is at most
    /// a quarter of a window that is made smaller.
    pub fn window(&self, window: ContextWindow) -> ContextWindow {
        let most = self.max_context_tokens.unwrap_or(window.window);
        let reserved = match self.reserved_output_tokens {
            Some(reserved) => reserved,
            None if most < window.window => window.reserved_output.min(most.scaled(0.25)),
            None => window.reserved_output,
        };
        ContextWindow::new(window.window.min(most), reserved)
    }

    /// Returns these settings with the overrides for `model` of `provider` applied: the provider's first, the model's
    /// over them. Of several model names that match, the longest wins. `gemini` is another name of the provider `google`.
    pub fn for_model(&self, provider: &str, model: &str) -> Config {
        let mut config = self.clone();
        self.of_provider(provider).for_each(|overrides| overrides.apply_to(&mut config));
        if let Some(overrides) = self.of_model(model) {
            overrides.apply_to(&mut config);
        }
        config
    }

    /// Returns the settings for this provider, whichever of its names they go by.
    pub(crate) fn of_provider(&self, provider: &str) -> impl Iterator<Item = &Overrides> {
        let is_of =
            |(name, _): &(&String, _)| provider_name(name).eq_ignore_ascii_case(provider_name(provider));
        self.providers.iter().filter(is_of).map(|(_, overrides)| overrides)
    }

    /// Returns the settings for this model: those of the longest name that matches.
    pub(crate) fn of_model(&self, model: &str) -> Option<&Overrides> {
        let matching = self.models.iter().filter(|(name, _)| match name.strip_suffix('*') {
            Some(prefix) => model.starts_with(prefix),
            None => model == name.as_str(),
        });
        // An exact name is never shorter than a pattern that matches the same model, save for the star.
        let longest =
            matching.max_by_key(|(name, _)| (name.trim_end_matches('*').len(), !name.ends_with('*')));
        longest.map(|(_, overrides)| overrides)
    }
}

/// Returns the one name of a provider that goes by two: the maker of its models, not the format of its messages.
pub(crate) fn provider_name(provider: &str) -> &str {
    if provider.eq_ignore_ascii_case("gemini") { "google" } else { provider }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn googles_models_are_of_one_provider_by_either_name() {
        for (table, asked) in [("gemini", "google"), ("google", "gemini"), ("google", "google")] {
            let text = format!("[providers.{table}]\ntrigger_ratio = 0.85");
            let config: Config = toml::from_str(&text).unwrap();
            assert_eq!(
                config.for_model(asked, "x").trigger_ratio,
                Threshold::Ratio(0.85),
                "{table}, {asked}"
            );
        }
    }

    #[test]
    fn the_defaults_are_valid_and_survive_toml() {
        let config = Config::default();
        assert_eq!(config.validate(), []);
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
    }

    #[test]
    fn unknown_settings_are_refused() {
        let error = toml::from_str::<Config>("triger_ratio = 0.8").unwrap_err();
        assert!(error.message().contains("unknown field `triger_ratio`"), "{error}");
    }

    // asserts 004-56
    #[test]
    fn the_most_specific_override_wins() {
        let text = r#"
            trigger_ratio = 0.8
            [providers.openai]
            trigger_ratio = 0.85
            reset_ratio = 0.75
            [models."gpt-5*"]
            trigger_ratio = 0.9
            [models."gpt-5-mini"]
            trigger_ratio = 0.5
        "#;
        let config: Config = toml::from_str(text).unwrap();
        let trigger = |provider, model| config.for_model(provider, model).trigger_ratio;
        assert_eq!(trigger("openai", "gpt-5-mini"), Threshold::Ratio(0.5));
        assert_eq!(trigger("openai", "gpt-5-pro"), Threshold::Ratio(0.9));
        assert_eq!(trigger("openai", "o9"), Threshold::Ratio(0.85));
        assert_eq!(trigger("else", "o9"), Threshold::Ratio(0.8));
        assert_eq!(config.for_model("openai", "gpt-5-pro").reset_ratio, Threshold::Ratio(0.75));
    }
}
