//! The summarizer that the flags and settings ask for, and where it is.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use longhaul::{
    Config, StoreCache,
    redact::Redactor,
    runtime::{ClockJitter, SystemClock, TokioSleep},
    summarize::{
        ClientError, CompletionClient, Draft, Ladder, LastRequest, SummarizeError, Summarizer,
        SummaryRequest, rules::RulesSummarizer,
    },
    transcript::{SummaryMode, Tokens, Usage},
};
use longhaul_client::{Anthropic, Endpoint, OpenAi};

use crate::{
    args::SummarizerArgs,
    paint::counted,
    store::{self, Store},
};

/// The variable that holds the key of the summarizer's endpoint.
pub(crate) const KEY: &str = "LONGHAUL_API_KEY";

/// Returns the endpoint of the flags.
pub(crate) fn endpoint(args: &SummarizerArgs) -> Result<Endpoint> {
    let Some(url) = &args.base_url else {
        bail!(
            "a summary by a model needs --base-url (or LONGHAUL_BASE_URL): nothing is sent anywhere that you did not name"
        );
    };
    let mut endpoint = Endpoint::new(url)?;
    if let Some(timeout) = timeout(args) {
        endpoint.total_timeout = timeout;
        endpoint.connect_timeout = endpoint.connect_timeout.min(timeout);
    }
    Ok(with_key(endpoint))
}

/// Returns `endpoint` with the key of the environment, where there is one.
pub(crate) fn with_key(endpoint: Endpoint) -> Endpoint {
    match key() {
        Some(key) => endpoint.with_key(key),
        None => endpoint,
    }
}

/// Returns the key that is set, which whoever is asked gets to see.
pub(crate) fn key() -> Option<String> {
    std::env::var(KEY).ok().filter(|key| !key.is_empty())
}

/// Returns what helps where a provider wants a key and none was sent.
pub(crate) fn about_key(error: &anyhow::Error) -> Option<String> {
    let is_denied = matches!(error.downcast_ref(), Some(ClientError::Denied { status: 401 | 403, .. }));
    (is_denied && key().is_none())
        .then(|| format!("no key was sent: it is read from {KEY}, which is not set"))
}

fn timeout(args: &SummarizerArgs) -> Option<Duration> {
    args.summarizer_timeout.map(Duration::from_secs)
}

/// Returns the client for the endpoint of the flags.
pub(crate) fn client(args: &SummarizerArgs) -> Result<Arc<dyn CompletionClient>> {
    let endpoint = endpoint(args)?;
    Ok(match args.protocol.as_str() {
        "anthropic" => Arc::new(Anthropic::new(endpoint)?),
        _ => Arc::new(OpenAi::new(endpoint)?),
    })
}

/// Returns the names of the models to try, in order.
pub(crate) fn models(args: &SummarizerArgs, config: &Config) -> Vec<String> {
    match args.summarizer_model.is_empty() {
        true => config.summarizer_model_preference.clone(),
        false => args.summarizer_model.clone(),
    }
}

/// Returns the names of the models that the endpoint of the flags says it has. Sends the key and no text.
pub(crate) fn listed(args: &SummarizerArgs) -> Result<Result<Vec<String>, ClientError>> {
    let mut endpoint = endpoint(args)?;
    let wait = endpoint.total_timeout.min(Duration::from_secs(10));
    endpoint = endpoint.with_timeouts(wait.min(Duration::from_secs(5)), wait);
    store::block_on(async {
        Ok(match args.protocol.as_str() {
            "anthropic" => Anthropic::new(endpoint)?.models().await,
            _ => OpenAi::new(endpoint)?.models().await,
        })
    })
}

/// Returns the ladder from the models of the flags down to rules. What they wrote before is in `cache`, where given. With
/// `last_request` they are the model that the conversation is held with, and are asked in it.
pub(crate) fn ladder(
    args: &SummarizerArgs,
    config: &Config,
    mode: SummaryMode,
    cache: Option<Store>,
    last_request: Option<LastRequest>,
) -> Result<Ladder> {
    let names = models(args, config);
    if names.is_empty() {
        bail!("a summary by a model needs --summarizer-model (or the setting summarizer_model_preference)");
    }
    let config = Config {
        mode,
        abort_on_failure: config.abort_on_failure || args.abort_on_failure,
        summarizer_model_preference: names,
        ..config.clone()
    };
    let mut models = config.summarizer_models(&client(args)?, args.summarizer_window.map(Tokens));
    models.iter_mut().for_each(|model| model.last_request.clone_from(&last_request));
    let mut options = config.llm_options();
    if let Some(timeout) = timeout(args) {
        options.call_timeout = timeout;
        options.deadline = options.deadline.max(timeout.saturating_mul(2));
    }
    let ladder = Ladder::new(
        models,
        Arc::new(RulesSummarizer::default()),
        options,
        Arc::new(SystemClock),
        Arc::new(TokioSleep),
        Arc::new(ClockJitter::default()),
    );
    let redactor = Redactor::builtin();
    let ladder = ladder.with_redaction(Arc::new(move |text| redactor.redact_text(text).0.into_owned()));
    Ok(match cache {
        Some(store) => ladder.with_cache(Arc::new(StoreCache::new(store))),
        None => ladder,
    })
}

/// A ladder that says whom it may ask, and how often, before anything is sent.
#[derive(Debug)]
pub(crate) struct Announced {
    ladder: Ladder,
    host: String,
}

impl Announced {
    /// Returns `ladder` with the host that `args` name.
    pub(crate) fn new(ladder: Ladder, args: &SummarizerArgs) -> Result<Announced> {
        Ok(Announced { ladder, host: endpoint(args)?.host() })
    }
}

#[async_trait]
impl Summarizer for Announced {
    fn writes_facts(&self) -> bool {
        self.ladder.writes_facts()
    }

    fn worth(&self) -> Tokens {
        self.ladder.worth()
    }

    fn ends_by_itself(&self) -> bool {
        self.ladder.ends_by_itself()
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let plan = self.ladder.plan(&request);
        if plan.max_calls > 0 {
            // The first model with room is the one that is asked where all goes well.
            let first = plan.models.iter().find(|model| model.passes > 0);
            let parts = match first.map_or(0, |model| model.passes) {
                0 | 1 => String::new(),
                parts => format!(", in {parts} parts"),
            };
            let size = first.map_or(String::new(), |model| match model.in_conversation {
                true => {
                    format!(" in the conversation itself ({} tokens, most of them cached)", model.max_prompt)
                }
                false => format!(" (at most {} tokens a call)", model.max_prompt),
            });
            say!(
                "asking {} for a summary{parts}{size}; at most {}",
                self.host,
                counted(u64::from(plan.max_calls), "call")
            );
        }
        let draft = self.ladder.summarize(request).await?;
        if draft.mode != SummaryMode::Rules {
            for line in draft.repairs.iter().filter(|line| line.contains("taken out")) {
                say!("{line}");
            }
            match draft.cost {
                Some(cost) => say!("{} made, {}", counted(u64::from(cost.calls), "call"), spent(&cost.usage)),
                None => say!("no call made: the store has this summary of {}", draft.model),
            }
        }
        Ok(draft)
    }
}

fn spent(usage: &Usage) -> String {
    match usage.prompt_total() + usage.output {
        Tokens::ZERO => "whose cost the server did not tell".to_owned(),
        _ => {
            let cached = match usage.cache_read {
                Tokens::ZERO => String::new(),
                cached => format!(" ({}% of them cached)", cached.0 * 100 / usage.prompt_total().0.max(1)),
            };
            format!("{} tokens in{cached} and {} out", usage.prompt_total(), usage.output + usage.reasoning)
        }
    }
}

/// Returns the mode that the flag or the settings name.
pub(crate) fn mode(flag: Option<&str>, config: &Config) -> Result<SummaryMode> {
    Ok(match flag {
        None => config.mode,
        Some("rules") => SummaryMode::Rules,
        Some("llm") => SummaryMode::Llm,
        Some("hybrid") => SummaryMode::Hybrid,
        Some(other) => return Err(anyhow::anyhow!("{other:?} is no mode")).context("--mode"),
    })
}
