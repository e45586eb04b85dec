//! Making the new history.

use std::sync::Arc;

use anyhow::{Result, bail};
use longhaul::{
    CompactedDocument, DocumentError, DocumentSession, Stored, Within,
    compact::CompactError,
    config::OnMaxDepth,
    keep_reasoning,
    summarize::{Reviewed, Summarizer, rules::RulesSummarizer},
    transcript::{Part, SummaryMode, Tokens, parse_summary},
    wire::{self, Format},
};

use super::{Plan, keeper::keep_originals, plan::Recent};
use crate::{
    clock,
    exit::{self, Impossible},
    paint::{self, counted},
    review::AtTerminal,
    store::{self, Said},
    summarizer,
};

/// A history that was made.
pub(super) struct Made<'a> {
    /// What it was made of, for the store.
    pub(super) said: Said<'a>,
    pub(super) done: CompactedDocument,
    /// It began with a summary whose originals are not in the store.
    pub(super) is_elsewhere: bool,
    /// Its summary says how originals are looked up in the store.
    pub(super) promises_lookup: bool,
}

impl<'a> Made<'a> {
    /// Compacts the transcript, and says what there is to say of how. What a summary promises is in the store then: where nothing
    /// can be kept there, it promises nothing.
    pub(super) fn by(plan: &Plan<'a>) -> Result<Made<'a>> {
        let asks_a_model = plan.mode != SummaryMode::Rules;
        // Who asks a model opens the store for what it says in any case, and is not to ask twice.
        let may_be_kept = !asks_a_model || plan.is_dry || plan.keeper.store().is_ok();
        let mut made = Made::with(plan, may_be_kept)?;
        // Where nothing may be written that is not recorded, nothing is promised in vain.
        if !made.promises_lookup || plan.is_dry || plan.must_be_recorded() {
            return Ok(made);
        }
        match keep_originals(plan, &mut made.said) {
            Ok(()) => Ok(made),
            // That nothing is recorded is told where that is tried.
            Err(_) => Made::with(plan, false),
        }
    }

    fn with(plan: &Plan<'a>, may_be_kept: bool) -> Result<Made<'a>> {
        if plan.redactor.is_none() {
            say!("--no-redact: secrets are summarized and recorded as they are");
        }
        if plan.must_be_recorded() {
            // Before a model is asked.
            plan.keeper.store().map_err(|error| plan.unrecorded(error))?;
        }
        let (document, counter) = (&plan.document, plan.counter.counter.clone());
        let (config, redactor) = (plan.config.clone(), plan.redactor.clone());
        let session = DocumentSession::new(document, plan.window, counter, config, redactor);
        let session = session.map_err(told_apart)?;
        let within = Within {
            keep_recent: match plan.recent {
                Recent::Count(count) => Some(count),
                Recent::AsSet => Some(session.state().recent()),
                Recent::AsServesBest => None,
            },
            reasoning: keep_reasoning(document.format()),
            goal: plan.goal.map(str::to_owned),
            now_ms: clock::now_ms(),
            ..Within::new(plan.budget)
        };
        let said = Said::new(plan.session_id.clone(), session.state().redacted(), plan.name);
        let lookup = plan.lookup(&said).filter(|_| may_be_kept);
        let promises_lookup = lookup.is_some();
        let session = match lookup {
            Some(lookup) => session.with_lookup(lookup),
            None => session,
        };
        let (stored, words) = stored(plan, &said)?;
        let is_elsewhere = stored.is_none() && depth_of_summary(&said).is_some();
        let mut session = match stored {
            Some(stored) => session.with_stored(stored),
            None => session,
        };
        session.let_go_of_memory(plan.budget);
        let is_unfit = !is_elsewhere && !session.has_originals();
        if let Some(depth) = depth_of_summary(&said) {
            tell_of_summary(depth, if is_unfit { UNFIT } else { &words });
        }
        let done = compacted(plan, &session, &within)?;
        warn_of_bound_thinking(document.format(), &done);
        if let Some(tokens) = done.left_out {
            say!(
                "left out: the provider's own summary of what came before ({tokens:#} tokens; it takes more than a quarter of the \
                 budget, or stands beside a call), and ours does not tell what it says"
            );
        }
        tell_of_little(&done, plan.budget);
        let said = said.with_spellings(document, plan.redactor.as_ref());
        Ok(Made { said, done, is_elsewhere, promises_lookup })
    }
}

/// Compacts; what the caller asked for and cannot be is told apart from what went wrong.
fn compacted(plan: &Plan<'_>, session: &DocumentSession<'_>, within: &Within) -> Result<CompactedDocument> {
    let mut mode = plan.mode;
    if mode != SummaryMode::Rules {
        let too_large = session.too_large_for_model(within).map_err(|error| told_apart(error.into()))?;
        if let Some((tokens, limit)) = too_large {
            say!("too large for a model: {tokens} tokens of at most {limit}; summarized by rule");
            mode = SummaryMode::Rules;
        }
    }
    if mode == SummaryMode::Rules && !plan.is_reviewed {
        return session.compact(within).map_err(told_apart);
    }
    let mut summarizer: Arc<dyn Summarizer> = match mode {
        SummaryMode::Rules => Arc::new(RulesSummarizer::default()),
        mode => {
            // What a model wrote may be kept where the record of it may be.
            let may_be_kept = plan.keeper.is_used && !plan.is_dry;
            let cache = may_be_kept.then(|| plan.keeper.store().ok().cloned()).flatten();
            let ladder = summarizer::ladder(plan.summarizer, &plan.config, mode, cache, None)?;
            Arc::new(summarizer::Announced::new(ladder, plan.summarizer)?)
        }
    };
    if plan.is_reviewed {
        summarizer = Arc::new(Reviewed::new(summarizer, Arc::new(AtTerminal)));
    }
    let asked = store::block_on(async { Ok(session.compact_with(within, &*summarizer).await) })?;
    let (done, attempts) = asked.map_err(told_apart)?;
    for attempt in attempts {
        // A provider's words, which may quote what it was asked.
        say!("{}", paint::plain(&exit::without_secrets(&attempt.to_string())));
    }
    Ok(done)
}

/// Says where what must stay leaves next to nothing for the summary.
fn tell_of_little(done: &CompactedDocument, budget: Tokens) {
    /// A summary of fewer tokens for each message says nothing of most.
    const FEW: u64 = 8;
    let (n, tokens) = (done.outcome.summarized as u64, done.record.tokens);
    let is_full = done.tokens_after >= budget.scaled(0.9);
    if is_full && tokens.0 < n * FEW && tokens < THIN {
        let rest = done.tokens_after - tokens;
        say!(
            "the summary of {} has only {tokens:#} of {budget:#} tokens, for what must stay takes {rest:#}: a larger budget leaves more, \
             and so does --set preserve_system=false where it is instructions",
            counted(n, "message")
        );
    }
}

/// A summary of more says something of any conversation.
const THIN: Tokens = Tokens(150);

fn told_apart(error: DocumentError) -> anyhow::Error {
    match error {
        DocumentError::ImportOnly { format } => anyhow::Error::new(Impossible(format!(
            "{} histories can only be read; say --to openai",
            format.name()
        ))),
        // What is pinned of a file are instructions.
        DocumentError::Compact(CompactError::Floor { system, pins, .. }) if system + pins > Tokens::ZERO => {
            let way_out = "--set preserve_system=false lets instructions go into the summary";
            anyhow::Error::new(Impossible(format!("{error}; {way_out}")))
        }
        DocumentError::Compact(_) | DocumentError::DoesNotFit { .. } => {
            anyhow::Error::new(Impossible(error.to_string()))
        }
        error => error.into(),
    }
}

/// Returns what the store has of the conversation behind the summary that the document begins with. Where the chain of
/// summaries is as deep as it may get, and no original is missing, it begins anew. Also returns what to say of it.
fn stored(plan: &Plan<'_>, said: &Said<'_>) -> Result<(Option<Stored>, String)> {
    let config = &plan.config;
    let Some(depth) = depth_of_summary(said) else { return Ok((None, String::new())) };
    let found = plan.keeper.existing().and_then(|store| match store {
        Some(store) => store::block_on(store::stored(store, said)),
        None => Ok(None),
    });
    let is_deepest = depth.saturating_add(1) >= config.max_summary_chain_depth;
    if is_deepest && config.on_max_depth == OnMaxDepth::Halt {
        let max = config.max_summary_chain_depth;
        bail!(Impossible(format!(
            "the chain may have {max} summaries and has them (on_max_depth = \"halt\")"
        )));
    }
    let words = match &found {
        Err(error) => format!("its originals cannot be read: {}", exit::words(error)),
        _ if !is_deepest => String::new(),
        Ok(Some(stored)) if stored.originals.iter().all(Option::is_some) => {
            format!("summarized anew from {} stored originals", stored.originals.len())
        }
        Ok(Some(_)) => "some of its originals were forgotten: the chain goes on".to_owned(),
        Ok(None) => "its originals are not in the store: summarized from the summary itself".to_owned(),
    };
    Ok((found.ok().flatten(), words))
}

/// Says what becomes of the summary that a history begins with, where there is something to say.
fn tell_of_summary(depth: u32, words: &str) {
    if !words.is_empty() {
        say!("the history begins with a summary of depth {depth}; {words}");
    }
}

/// What is said where the store has the originals of a history that begins with more instructions than they do.
const UNFIT: &str =
    "it has other instructions than its originals in the store: summarized from the summary itself";

/// Says that what stays of a round in progress was signed together with what stood before it. Without its thinking, older
/// models refuse the round; with it, models with preserved thinking do, unless they are told to drop it.
fn warn_of_bound_thinking(format: Format, done: &CompactedDocument) {
    let is_signed = |part: &Part| matches!(part, Part::Reasoning(reasoning) if reasoning.opaque_bytes > 0);
    if format.request() != Some(Format::Anthropic) {
        return;
    }
    let Ok(history) = wire::read(Some(format), &*done.bytes) else { return };
    if history.transcript().entries().iter().any(|entry| entry.message.parts.iter().any(is_signed)) {
        say!(
            "the tool round in progress keeps its signed thinking: a model with preserved thinking takes it only with \
             thinking.block_binding.prefix_mismatch_behavior = \"drop_block\"; at the end of a turn there is no such choice"
        );
    }
}

/// Returns the depth of the summary that a history begins with.
fn depth_of_summary(said: &Said<'_>) -> Option<u32> {
    let first = said.messages.iter().find(|message| !message.is_system())?;
    first.texts().find_map(parse_summary).map(|(depth, _)| depth)
}
