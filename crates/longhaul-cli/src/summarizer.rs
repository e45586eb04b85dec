//! The summarizer that the flags and settings ask for, and where it is.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use longhaul::{
    Config, StoreCache,
    redact::Redactor,
    summarize::{
        ClientError, CompletionClient, Draft, Ladder, LastRequest, SummarizeError, Summarizer,
        SummarizerModel, SummaryRequest, rules::RulesSummarizer,
    },
    tokens::ModelTable,
    transcript::{Clock, Jitter, Sleep, SummaryMode, Tokens, Usage},
};
use longhaul_client::{Anthropic, Endpoint, OpenAi};

use crate::{
    args::SummarizerArgs,
    clock,
    store::{self, Store},
};

/// The variable that holds the key of the summarizer's endpoint.
pub(crate) const KEY: &str = "LONGHAUL_API_KEY";

/// The window of a summarizer that nobody knows: what small local models have.
const DEFAULT_WINDOW: Tokens = Tokens(8_192);

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
    match std::env::var(KEY) {
        Ok(key) if !key.is_empty() => endpoint.with_key(key),
        _ => endpoint,
    }
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
    let client = client(args)?;
    let table = ModelTable::builtin();
    let model = |name: &String| {
        let known = table.get(name);
        let known_window = known.map(|model| model.window);
        let window = args.summarizer_window.map(Tokens).or(known_window).unwrap_or(DEFAULT_WINDOW);
        let mut model = SummarizerModel::new(name.clone(), window, Arc::clone(&client));
        if let Some(known) = known {
            model.max_output = known.max_output.min(window);
            model.counter = Some(known.counter());
        }
        model.last_request.clone_from(&last_request);
        model
    };
    let mut options = config.llm_options();
    options.mode = mode;
    options.abort_on_failure |= args.abort_on_failure;
    if let Some(timeout) = timeout(args) {
        options.call_timeout = timeout;
        options.deadline = options.deadline.max(timeout * 2);
    }
    let ladder = Ladder::new(
        names.iter().map(model).collect(),
        Arc::new(RulesSummarizer::default()),
        options,
        Arc::new(SystemClock),
        Arc::new(Timer),
        Arc::new(Spread::default()),
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
    fn worth(&self) -> Tokens {
        self.ladder.worth()
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
            say!("asking {} for a summary{parts}{size}; at most {} calls", self.host, plan.max_calls);
        }
        let draft = self.ladder.summarize(request).await?;
        if draft.mode != SummaryMode::Rules {
            for line in draft.repairs.iter().filter(|line| line.contains("taken out")) {
                say!("{line}");
            }
            match draft.cost {
                Some(cost) => say!("{} calls made, {}", cost.calls, spent(&cost.usage)),
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

#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        clock::now_ms()
    }
}

#[derive(Debug)]
struct Timer;

impl Sleep for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Spreads retries by the low digits of the clock: enough to part clients that failed at the same moment.
#[derive(Debug, Default)]
struct Spread(AtomicU64);

impl Jitter for Spread {
    fn next(&self) -> f64 {
        let turn = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (turn ^ clock::now_ms() as u64 ^ u64::from(std::process::id()))
            .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_share() {
        let spread = Spread::default();
        assert!((0..1000).map(|_| spread.next()).all(|share| (0.0..1.0).contains(&share)));
    }
}
