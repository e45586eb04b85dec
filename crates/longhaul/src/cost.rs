//! What a rewrite of the context costs in money, and when it has paid for itself.

use longhaul_tokens::Prices;
use longhaul_transcript::{Tokens, Usage};
use serde::{Deserialize, Serialize};

use crate::{
    config::{Adjustment, Limits},
    policy::{Decision, Forecast},
};

/// Whether the provider still has the prompt's prefix in its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// The next request would read its prefix from the cache; a rewrite gives that up.
    Warm,
    /// The cache has run out, or there is none: a rewrite gives up nothing.
    Cold,
}

/// What a rewrite costs and saves, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewriteCost {
    /// What the next request costs more because its prefix is no longer in the cache, plus the summary itself. Negative
    /// where the smaller context makes up for it at once.
    pub once: f64,
    /// What each request after it costs less.
    pub saved_per_request: f64,
    /// After how many requests the rewrite has paid for itself; 0 at once, `None` never.
    pub pays_back_after: Option<u64>,
}

/// A context before and after a rewrite, as far as money is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// What the context costs before.
    pub before: Tokens,
    /// What it costs after.
    pub after: Tokens,
    /// How much of its start is the same bytes before and after: standing instructions, tool definitions.
    pub unchanged_prefix: Tokens,
}

/// When the next compaction comes, and what is done now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outlook {
    /// The thresholds in tokens.
    pub limits: Limits,
    /// What will act next, messages that call for a compaction included.
    pub forecast: Forecast,
    /// Thresholds that do not fit the budget as they are set.
    pub adjustments: Vec<Adjustment>,
    /// What the prices of a compaction are figured with: down to the target, or to what must stay where that is more. What one would come
    /// to is known only when it was made: [`SessionState::plan`](crate::SessionState::plan),
    /// [`Job::finish_by_rule`](crate::Job::finish_by_rule) and [`SessionState::check`](crate::SessionState::check) make one and throw it
    /// away, as `/context` does.
    pub sizes: Sizes,
    /// Whether the provider still has the last request's prefix.
    pub cache: Cache,
    /// What would be done now, and why.
    pub decision: Decision,
}

impl Outlook {
    /// Returns what a compaction now would cost and save at these prices, `summarizer` dollars for the summary included.
    /// `None` where the price of input is not known.
    pub fn cost(&self, prices: &Prices, summarizer: f64) -> Option<RewriteCost> {
        rewrite_cost(prices, self.sizes, self.cache, summarizer)
    }
}

/// Returns what a rewrite from `sizes.before` to `sizes.after` tokens costs at these prices, `summarizer` dollars for the
/// summary included. `None` where the price of input is not known.
///
/// The model is the one providers publish (Anthropic, OpenAI and Google, 2025): a request reads the prefix it shares with
/// the one before it at the cache-read price and writes the rest at the cache-write price, or at the input price where
/// the provider has no cache or does not charge for writing.
fn rewrite_cost(prices: &Prices, sizes: Sizes, cache: Cache, summarizer: f64) -> Option<RewriteCost> {
    let input = prices.input?;
    let read = prices.cache_read.unwrap_or(input);
    let write = prices.cache_write.unwrap_or(input);
    let dollars = |tokens: Tokens, per_million: f64| tokens.0 as f64 * per_million / 1e6;

    let left_alone = match cache {
        Cache::Warm => dollars(sizes.before, read),
        Cache::Cold => dollars(sizes.before, write),
    };
    let unchanged = sizes.unchanged_prefix.min(sizes.after);
    let rewritten = match cache {
        Cache::Warm => dollars(unchanged, read) + dollars(sizes.after - unchanged, write),
        Cache::Cold => dollars(sizes.after, write),
    };
    let once = rewritten + summarizer - left_alone;
    let saved_per_request = dollars(sizes.before, read) - dollars(sizes.after, read);
    let pays_back_after = match (once <= 0.0, saved_per_request > 0.0) {
        (true, _) => Some(0),
        (false, true) => Some((once / saved_per_request).ceil() as u64),
        (false, false) => None,
    };
    Some(RewriteCost { once, saved_per_request, pays_back_after })
}

/// Returns what a request cost in US dollars, or `None` where the price of input or output is not known.
pub fn usage_cost(prices: &Prices, usage: &Usage) -> Option<f64> {
    let (input, output) = (prices.input?, prices.output?);
    let dollars = |tokens: Tokens, per_million: f64| tokens.0 as f64 * per_million / 1e6;
    Some(
        dollars(usage.input, input)
            + dollars(usage.cache_read, prices.cache_read.unwrap_or(input))
            + dollars(usage.cache_write, prices.cache_write.unwrap_or(input))
            + dollars(usage.output + usage.reasoning, output),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claude Sonnet's prices: cache reads at a tenth, cache writes at a quarter more.
    const PRICES: Prices =
        Prices { input: Some(3.0), output: Some(15.0), cache_read: Some(0.3), cache_write: Some(3.75) };
    const SIZES: Sizes =
        Sizes { before: Tokens(100_000), after: Tokens(40_000), unchanged_prefix: Tokens(5_000) };

    #[test]
    fn a_warm_cache_makes_a_rewrite_an_investment() {
        let cost = rewrite_cost(&PRICES, SIZES, Cache::Warm, 0.0).unwrap();
        // 35,000 written anew and 5,000 read, instead of 100,000 read.
        assert!((cost.once - (0.13125 + 0.0015 - 0.03)).abs() < 1e-9, "{cost:?}");
        assert!((cost.saved_per_request - 0.018).abs() < 1e-9, "{cost:?}");
        assert_eq!(cost.pays_back_after, Some(6));
    }

    #[test]
    fn a_cold_cache_makes_it_a_saving_at_once() {
        let cost = rewrite_cost(&PRICES, SIZES, Cache::Cold, 0.01).unwrap();
        assert!(cost.once < 0.0);
        assert_eq!(cost.pays_back_after, Some(0));
    }

    #[test]
    fn a_rewrite_that_frees_nothing_never_pays() {
        let sizes = Sizes { after: SIZES.before, ..SIZES };
        assert_eq!(rewrite_cost(&PRICES, sizes, Cache::Warm, 0.02).unwrap().pays_back_after, None);
    }

    #[test]
    fn unknown_prices_give_no_figure() {
        assert_eq!(rewrite_cost(&Prices::default(), SIZES, Cache::Warm, 0.0), None);
        assert_eq!(usage_cost(&Prices::default(), &Usage::default()), None);
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage {
            input: Tokens(1_000_000),
            cache_read: Tokens(1_000_000),
            cache_write: Tokens(1_000_000),
            output: Tokens(500_000),
            reasoning: Tokens(500_000),
        };
        assert!((usage_cost(&PRICES, &usage).unwrap() - (3.0 + 0.3 + 3.75 + 15.0)).abs() < 1e-9);
    }
}
