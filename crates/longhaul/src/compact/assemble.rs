//! Putting a plan and a draft together, and proving that the result fits.

use longhaul_summarize::{
    Draft, SummaryRequest,
    rules::{OMITTED, Reading, RulesOptions, left_out, set_down},
    says_nothing,
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{LeftOut, Span, SummaryRecord, Tokens};

use super::{
    CompactError, CompactSettings, Compacted, CompactionPlan, Outcome, Source, StepError,
    needed::Needed,
    plan::{Planner, Spread, header},
    survival,
};

/// A draft does not fit its plan. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The draft says nothing, which is no summary of anything.
    #[error("the summary is empty")]
    Empty,
    /// The draft refuses in words, which is no summary either.
    #[error("the summarizer refused")]
    Refused,
    /// The view would cost more than the budget.
    #[error("the summary of {tokens:#} tokens puts the view {over:#} tokens over the budget")]
    OverBudget {
        /// What the summary's text costs.
        tokens: Tokens,
        /// How far the whole view is over.
        over: Tokens,
    },
    /// A step that the caller supplied asks for what cannot be.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Below this share of the budget, what is left over is not worth another look.
const SPARE_RATIO: f64 = 0.02;

/// What a summary says of messages that all stay, none of them whole.
pub(crate) const SHORTENED: &str =
    "Nothing was left out but parts of messages, which stand below, shortened.";

/// What joining a text with what stands around it may cost.
const JOINT: Tokens = Tokens(8);

/// What the handle of a rule and its line cost.
const OF_A_LINE: Tokens = Tokens(7);

/// Those that bind may have two fifths of a summary.
const FOR_A_RULE: f64 = 2.5;

/// How often what is left over is offered to the tail.
const ROUNDS: usize = 12;

/// Compacts `source` by rule. The same input gives the same bytes.
///
/// # Errors
/// When the budget is below the floor, or nothing can be summarized.
pub fn compact(
    source: &Source<'_>,
    settings: &CompactSettings,
    options: &RulesOptions,
) -> Result<Compacted, CompactError> {
    let reading = Reading::new(source.index, source.counter, options).of(source.entries);
    compact_by(source, settings, &|request| reading.summarize(request))
}

/// Compacts `source` with what `summarize` writes: by rule, in whatever form. Where it leaves out what the person set down, for want of
/// room, the view may cost a little more.
///
/// # Errors
/// As [`compact`].
pub(crate) fn compact_by(
    source: &Source<'_>,
    settings: &CompactSettings,
    summarize: &dyn Fn(&SummaryRequest<'_>) -> Draft,
) -> Result<Compacted, CompactError> {
    let weighed;
    let needed = match source.needed {
        Some(needed) => needed,
        None => {
            weighed = Needed::new(source.index);
            &weighed
        }
    };
    let source = &Source { needed: Some(needed), ..*source };
    let compacted = compact_within(source, settings, summarize)?;
    let missing = untold(&compacted, source.counter);
    if missing == Tokens::ZERO || settings.for_rules == Tokens::ZERO {
        return Ok(compacted);
    }
    let more = missing.scaled(FOR_A_RULE).min(settings.for_rules);
    let wider = CompactSettings {
        budget: settings.budget + more,
        max_summary_tokens: settings.max_summary_tokens.map(|cap| cap + more),
        ..settings.clone()
    };
    let fuller = compact_within(source, &wider, summarize)?;
    Ok(if untold(&fuller, source.counter) < missing { fuller } else { compacted })
}

/// Returns what the rules and facts of the person's cost that hold and that neither the summary nor a message that stays shows.
fn untold(compacted: &Compacted, counter: &dyn TokenCounter) -> Tokens {
    let kept = compacted.head.iter().chain(&compacted.tail).flat_map(|kept| kept.message.texts());
    let shown: Vec<&str> = kept.chain([&*compacted.record.text]).collect();
    let constraints = &compacted.record.summary.constraints;
    let left_out = left_out(constraints, &shown);
    if left_out.rules.missing + left_out.facts.missing == 0 {
        return Tokens::ZERO;
    }
    let is_shown = |text: &str| shown.iter().any(|said| said.contains(text));
    let missing = set_down(constraints).into_iter().filter(|one| !is_shown(one.said.text.trim()));
    missing.map(|one| counter.count_text(&one.told()) + OF_A_LINE).sum()
}

/// Compacts `source` within the settings' budget.
fn compact_within(
    source: &Source<'_>,
    settings: &CompactSettings,
    summarize: &dyn Fn(&SummaryRequest<'_>) -> Draft,
) -> Result<Compacted, CompactError> {
    let planner = Planner::new(source, settings)?;
    let mut plan = planner.plan(Spread::default());
    let mut draft = summarize(&plan.request(source, settings));
    // In less room a summary says less. What it says in all of its room is its own: only what that leaves is spare.
    let said = draft.tokens;
    let mut older_result = Spread::default().older_result;
    for _ in 0..ROUNDS {
        // A summary that has said all there is to say leaves room: the tail takes it, first with more messages, then
        // with longer tool results.
        let spare = settings.budget - plan.fixed - draft.tokens.max(said);
        if spare <= settings.budget.scaled(SPARE_RATIO) || older_result > settings.budget {
            break;
        }
        let tail = Some(plan.older + spare);
        let wider = planner.plan(Spread { tail, older_result, ..Spread::default() });
        if wider.older <= plan.older {
            older_result = older_result + older_result;
            continue;
        }
        draft = summarize(&wider.request(source, settings));
        plan = wider;
    }
    loop {
        match plan.clone().assemble(source, settings, draft) {
            Ok(compacted) => return Ok(compacted),
            Err(AssembleError::Step(error)) => return Err(error.into()),
            Err(AssembleError::OverBudget { over, .. }) => {
                plan.limit = plan.limit - over - Tokens(1);
                draft = summarize(&plan.request(source, settings));
            }
            Err(AssembleError::Empty | AssembleError::Refused) => return Err(CompactError::NoRoom),
        }
    }
}

impl CompactionPlan {
    /// Puts `draft` into its place and gives the tail what the draft leaves of the budget: first more messages, then longer
    /// tool results. The draft was written for this plan's messages; it may tell of some that now stay.
    ///
    /// # Errors
    /// As [`assemble`](Self::assemble).
    pub fn assemble_wide(
        self,
        source: &Source<'_>,
        settings: &CompactSettings,
        draft: Draft,
    ) -> Result<Compacted, AssembleError> {
        let mut widest = self.clone();
        let mut older_result = Spread::default().older_result;
        let planner = Planner::new(source, settings).ok();
        for _ in 0..ROUNDS {
            let spare = settings.budget - widest.fixed - draft.tokens;
            if spare <= settings.budget.scaled(SPARE_RATIO) || older_result > settings.budget {
                break;
            }
            let Some(planner) = &planner else { break };
            let tail = Some(widest.older + spare);
            let wider = planner.plan(Spread { tail, older_result, ..Spread::default() });
            let is_larger = wider.older > widest.older && wider.fixed + draft.tokens <= settings.budget;
            // A tail of longer results may hold fewer messages; those that the draft was not asked about stay.
            let is_told = wider.summarized.end <= self.summarized.end;
            // Where nothing but the tail were left, there would be nothing that the draft stands for.
            if is_larger && is_told && !wider.covered.is_empty() {
                widest = wider;
            } else {
                older_result = older_result + older_result;
            }
        }
        let narrow = draft.clone();
        widest.assemble(source, settings, draft).or_else(|_| self.assemble(source, settings, narrow))
    }

    /// Puts `draft` into its place and gives what it leaves of the budget to the messages that stay, so that they stay longer. Of
    /// those that the draft was asked about none comes back: a model would be paid for reading them twice.
    ///
    /// # Errors
    /// As [`assemble`](Self::assemble).
    pub(crate) fn assemble_full(
        self,
        source: &Source<'_>,
        settings: &CompactSettings,
        draft: Draft,
    ) -> Result<Compacted, AssembleError> {
        let spare = settings.budget - self.fixed - draft.tokens;
        if spare <= settings.budget.scaled(SPARE_RATIO) {
            return self.assemble(source, settings, draft);
        }
        let tail = Some(self.older + spare);
        let spread = Spread { tail, fills: true, oldest: self.tail_start, ..Spread::default() };
        let fuller = Planner::new(source, settings).map(|planner| planner.plan(spread)).ok();
        // Where nothing but the tail were left, there would be nothing that the draft stands for.
        let fuller = fuller.filter(|plan| plan.tail_start == self.tail_start && !plan.covered.is_empty());
        let done = fuller.and_then(|plan| plan.assemble(source, settings, draft.clone()).ok());
        done.map_or_else(|| self.assemble(source, settings, draft), Ok)
    }

    /// Puts `draft` into the place that this plan keeps for it.
    ///
    /// # Errors
    /// When the whole would cost more than the budget, or the draft says nothing and there is no room to say so.
    pub fn assemble(
        self,
        source: &Source<'_>,
        settings: &CompactSettings,
        mut draft: Draft,
    ) -> Result<Compacted, AssembleError> {
        if says_nothing(&draft.text) {
            draft.text = self.said_of_nothing(source).ok_or(AssembleError::Empty)?.to_owned();
        }
        let record = self.record(source, settings, draft);
        let n_summarized = self.n_summarized;
        let mut compacted = Compacted {
            record,
            head: self.head,
            tail: self.tail,
            cut: self.cut,
            outcome: Outcome::default(),
        };
        let count = |message: &longhaul_transcript::Message| source.counter.count_message(message);
        let tokens_after = compacted.messages().iter().map(|message| count(message)).sum::<Tokens>()
            + source.counter.framing().per_reply;
        if tokens_after > settings.budget {
            let over = tokens_after - settings.budget;
            return Err(AssembleError::OverBudget { tokens: compacted.record.tokens, over });
        }
        compacted.record.tokens_after = tokens_after;
        compacted.outcome = outcome(source, &compacted, n_summarized, tokens_after);
        Ok(compacted)
    }

    /// Returns what a summary says where nothing was found to say: that all it stands for is in the tail, shortened, or that
    /// it was left out; `None` where not even that fits.
    fn said_of_nothing(&self, source: &Source<'_>) -> Option<&'static str> {
        let is_kept = |ordinal: u64| self.tail.iter().any(|kept| kept.id.ordinal == ordinal);
        let all_kept =
            source.earlier.behind == 0 && self.covered.iter().all(|covered| is_kept(covered.ordinal));
        let shortened = all_kept.then_some(SHORTENED);
        let fits = |text: &&str| source.counter.count_text(text) + JOINT <= self.limit;
        shortened.into_iter().chain([OMITTED]).find(fits)
    }

    /// Returns the header over the summary where it stands for `n_more` messages than were planned.
    pub(crate) fn header(&self, settings: &CompactSettings, n_more: usize) -> String {
        header(settings, self.n_behind + n_more)
    }

    fn record(&self, source: &Source<'_>, settings: &CompactSettings, draft: Draft) -> SummaryRecord {
        let id = SummaryRecord::derive_id(
            source.session,
            self.parent.as_ref(),
            &self.covered,
            draft.mode,
            &draft.model,
            &draft.made_with,
            &draft.text,
        );
        let survival = survival::of(source.index, &draft.text, &self.visible);
        SummaryRecord {
            version: SummaryRecord::VERSION,
            id,
            parent: self.parent.clone(),
            depth: self.depth,
            covers: self.covers,
            covered: self.covered.clone(),
            kept: Span::runs(self.tail.iter().map(|kept| kept.id.ordinal)),
            emitted: None,
            header: header(settings, self.n_behind),
            lookup: super::plan::lookup(settings, &self.covered),
            left_out: LeftOut::default(),
            tokens: source.counter.count_text(&draft.text),
            summary: draft.summary,
            text: draft.text,
            mode: draft.mode,
            model: draft.model,
            made_with: draft.made_with,
            tokens_before: source.tokens_before,
            tokens_after: Tokens::ZERO,
            survival,
            redactions: Vec::new(),
            cost: draft.cost,
            created_at_ms: settings.now_ms,
            duration_ms: 0,
        }
    }
}

fn outcome(source: &Source<'_>, compacted: &Compacted, n_summarized: usize, tokens_after: Tokens) -> Outcome {
    let digested = compacted.tail.iter().filter(|kept| kept.digested).count();
    let kept_verbatim = compacted.head.len() + compacted.tail.len() - digested;
    let covered = compacted.record.covered.len();
    Outcome {
        tokens_before: source.tokens_before,
        tokens_after,
        summarized: n_summarized,
        digested,
        kept_verbatim,
        dropped: (source.entries.len() - source.earlier.quoted).saturating_sub(kept_verbatim + covered),
    }
}
