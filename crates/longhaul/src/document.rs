//! Compacting a file: a session that follows the document, in; bytes that are valid, within the budget and never larger,
//! out.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use longhaul_redact::Redactor;
use longhaul_summarize::{Attempt, SummarizeError, Summarizer};
use longhaul_tokens::{ContextWindow, TokenCounter};
use longhaul_transcript::{
    Covered, Entry, LeftOut, Message, Part, Redacted, SessionId, Span, SummaryRecord, Tokens, parse_summary,
};
use longhaul_wire::{self as wire, Document, Format, Profile, Violation, WireError};

use crate::{
    Breakdown,
    compact::{CompactError, Cut, KeepReasoning, Outcome, standing},
    config::{Chaining, Config, SummaryRole},
    forms,
    policy::Action,
    session::{Finished, Job, RewriteError, SessionState, Stored, SyncError, Within},
};

/// A file's conversation as a session, to be compacted once.
#[derive(Clone, Debug)]
pub struct DocumentSession<'a> {
    document: &'a Document,
    /// A state in which nothing was said.
    empty: SessionState,
    state: SessionState,
    /// The summary is made anew from the originals where the chain is as deep as it may be.
    may_rebuild: bool,
    /// What a store has was taken up.
    has_originals: bool,
    /// What the conversation calls each message, where that is something else than the state does.
    ordinals: Option<Vec<Option<u64>>>,
}

/// A compacted document, proved by reading it back.
#[derive(Clone, Debug)]
pub struct CompactedDocument {
    /// The history in the document's format.
    pub bytes: Vec<u8>,
    /// The summary that it begins with.
    pub record: SummaryRecord,
    /// What became of the messages.
    pub outcome: Outcome,
    /// The newest request of the user, where it had to be cut.
    pub cut: Option<Cut>,
    /// How many messages the history has.
    pub messages: usize,
    /// What the written history costs, counted by reading it back.
    pub tokens_after: Tokens,
    /// What the newest summary that the provider itself wrote costs, where the history does not have it: it took more than a quarter of
    /// the budget, or stood beside a call. No summary by rule can hold what is sealed, so that whoever reads the result is to be told.
    pub left_out: Option<Tokens>,
    /// Rules that the history breaks because its source broke them already.
    pub inherited: Vec<Violation>,
}

/// A document could not be compacted. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The format can be read but not written; convert it first.
    #[error("{} histories can be read only; convert to another format to compact", format.name())]
    ImportOnly {
        /// The format.
        format: Format,
    },
    /// The history cannot be followed.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The budget is below the floor, or nothing can be compacted.
    #[error(transparent)]
    Compact(#[from] CompactError),
    /// The compacted view is no gain.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The document could not be written or read back.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The compacted history would break rules that its source keeps.
    #[error("the compacted history would not be valid: {}", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// The rules, and where.
        violations: Vec<Violation>,
    },
    /// The summarizer gave no summary and is not to be replaced by rules.
    #[error(transparent)]
    Summarize(#[from] SummarizeError),
    /// What the format adds around the messages does not fit.
    #[error("the history does not fit {budget:#} tokens once written: {tokens:#}")]
    DoesNotFit {
        /// The budget.
        budget: Tokens,
        /// What the written history costs.
        tokens: Tokens,
    },
}

/// How often the budget is tightened by what the format adds around the messages.
const ATTEMPTS: usize = 5;

/// Share of the budget that is left free for what a format adds when a model writes the summary: it is not asked twice.
const FORMAT_SLACK: f64 = 0.01;

impl<'a> DocumentSession<'a> {
    /// Returns the session of `document`. Facts and summaries are made from messages without what `redactor` finds; a
    /// message that stays verbatim is the user's own and stays as it is.
    ///
    /// Of the settings two have no place in a file: it begins with one summary (none stand beside one another, `chaining`), which
    /// speaks as the user (`summary_role`), so that nothing in it has the system's authority.
    ///
    /// # Errors
    /// When the format can only be imported.
    pub fn new(
        document: &'a Document,
        window: ContextWindow,
        counter: Arc<dyn TokenCounter>,
        config: Config,
        redactor: Option<Redactor>,
    ) -> Result<DocumentSession<'a>, DocumentError> {
        let format = document.format();
        if format.is_import_only() {
            return Err(DocumentError::ImportOnly { format });
        }
        let chaining = match config.chaining {
            Chaining::Append => Chaining::Fold,
            chaining => chaining,
        };
        let config = Config { chaining, summary_role: SummaryRole::User, ..config };
        let mut empty = SessionState::new(session_of(document), window, counter, config);
        empty.set_redactor(redactor);
        let history = document.transcript().entries();
        let read_back =
            (chaining == Chaining::Running).then(|| read_back(history, empty.counter())).flatten();
        let taken_up = read_back.and_then(|stored| empty.clone().take_up(history, stored));
        let may_rebuild = taken_up.is_none();
        let state = match taken_up {
            Some(state) => state,
            None => {
                let mut state = empty.clone();
                state.sync(document)?;
                state
            }
        };
        Ok(DocumentSession { document, empty, state, may_rebuild, has_originals: false, ordinals: None })
    }

    /// Sets what a summary says of how its originals are found, once that is known: the setting
    /// [`summary_lookup`](Config::summary_lookup).
    #[must_use]
    pub fn with_lookup(mut self, lookup: String) -> DocumentSession<'a> {
        self.empty.set_lookup(lookup.clone());
        self.state.set_lookup(lookup);
        self
    }

    /// Takes up what a store has of the conversation behind the summary that the document begins with: the next summary is
    /// made from the originals instead of that summary's text, and names them as the store does. Where the two do not go
    /// together it is made from that text; [`has_originals`](Self::has_originals) tells.
    #[must_use]
    pub fn with_stored(self, stored: Stored) -> DocumentSession<'a> {
        let ordinals = stored.ordinals.clone();
        let may_rebuild = stored.originals.iter().all(Option::is_some);
        match self.empty.clone().take_up(self.document.transcript().entries(), stored) {
            Some(state) => DocumentSession { state, may_rebuild, has_originals: true, ..self },
            None => DocumentSession { ordinals: Some(ordinals), ..self },
        }
    }

    /// Lets go of what the provider itself wrote to go on from (a `compaction` item of the Responses API, say), which stays whole
    /// otherwise, where it takes more than a quarter of `budget`. [`CompactedDocument::left_out`] tells whether it went.
    pub fn let_go_of_memory(&mut self, budget: Tokens) {
        self.state.let_go_of_memory(budget);
    }

    /// Returns whether what a store has of the conversation was taken up.
    pub fn has_originals(&self) -> bool {
        self.has_originals
    }

    /// Returns the state.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Compacts by rule so that the written history costs at most `within.budget`. It is written, read back, counted and
    /// validated before it is returned. The session stays as it is.
    ///
    /// # Errors
    /// When the budget is below the floor, or the result would not be valid or would not fit.
    pub fn compact(&self, within: &Within) -> Result<CompactedDocument, DocumentError> {
        let budget = within.budget;
        let mut narrowed = within.clone();
        // What the format writes beside the messages.
        let (mut tokens, mut beside) = (self.state.tokens(), Tokens::ZERO);
        for _ in 0..ATTEMPTS {
            let job = self.plan(&narrowed).map_err(|error| self.told_least(error, beside, within))?;
            let finished = job.finish_by_rule()?;
            let planned = finished.outcome().tokens_after;
            let done = self.written(finished)?;
            tokens = done.tokens_after;
            if tokens <= budget {
                return self.validated(done);
            }
            beside = (tokens - planned) + Tokens(1);
            narrowed.budget = narrowed.budget - (tokens - budget) - Tokens(1);
        }
        Err(DocumentError::DoesNotFit { budget, tokens })
    }

    /// Returns a refusal with what the format writes beside the messages in its floor: where nothing was written yet, as much as is
    /// written at the floor.
    fn told_least(&self, error: CompactError, beside: Tokens, within: &Within) -> CompactError {
        let at_floor = |floor: Tokens| {
            let job = self.plan(&Within { budget: floor, ..within.clone() }).ok()?;
            let finished = job.finish_by_rule().ok()?;
            let planned = finished.outcome().tokens_after;
            Some(self.written(finished).ok()?.tokens_after - planned + Tokens(1))
        };
        let beside = match &error {
            CompactError::Floor { floor, .. } if beside == Tokens::ZERO => {
                at_floor(*floor).unwrap_or_default()
            }
            _ => beside,
        };
        error.beside(beside, within.budget)
    }

    /// Returns what is to be summarized and the most a model may be shown, where the first is more and the settings leave it
    /// to the rules then: [`compact`](Self::compact) instead of asking a model, and tell the user.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub fn too_large_for_model(&self, within: &Within) -> Result<Option<(Tokens, Tokens)>, CompactError> {
        let job = self.plan(within).map_err(|error| self.told_least(error, Tokens::ZERO, within))?;
        Ok(job.too_large_for_model(self.state.config()))
    }

    /// Compacts with a summary by `summarizer`, which is asked once. What it writes is fitted, read back, counted and
    /// validated as in [`compact`](Self::compact); a summary that does not fit is made by rule instead.
    ///
    /// # Errors
    /// Those of `compact`, and [`DocumentError::Summarize`] where the summarizer gives none and is not to be replaced by
    /// rules.
    pub async fn compact_with(
        &self,
        within: &Within,
        summarizer: &dyn Summarizer,
    ) -> Result<(CompactedDocument, Vec<Attempt>), DocumentError> {
        let summary_first = within.summary_first.max(summarizer.worth());
        let within = &Within { summary_first, ..within.clone() };
        let narrowed = Within { budget: within.budget.scaled(1.0 - FORMAT_SLACK), ..within.clone() };
        let job = self.plan(&narrowed).or_else(|_| self.plan(within));
        let job = job.map_err(|error| self.told_least(error, Tokens::ZERO, within))?;
        let job = job.asked_of(summarizer);
        let draft = summarizer.summarize(job.request()).await?;
        let attempts = draft.attempts.clone();
        let wide = job.clone().finish_wide(draft.clone());
        for finished in [wide, job.finish(draft)].into_iter().flatten() {
            // What the model said was paid for: where one form of it cannot be used, another may.
            if let Ok(done) = self.written(finished)
                && done.tokens_after <= within.budget
                && let Ok(done) = self.validated(done)
            {
                return Ok((done, attempts));
            }
        }
        let by_rule = Within { summary_first: Tokens::ZERO, ..within.clone() };
        Ok((self.compact(&by_rule)?, attempts))
    }

    /// Returns the compaction into `within`, not yet made.
    ///
    /// # Errors
    /// When the budget is below the floor, or nothing can be summarized.
    pub fn plan(&self, within: &Within) -> Result<Job, CompactError> {
        let is_deepest = self.state.measure(None).next_depth >= self.state.config().max_summary_chain_depth;
        let action = Action::Summarize { rebuild: is_deepest && self.may_rebuild };
        self.state.plan_within(action, within)
    }

    /// Writes the view that a compaction leaves, and counts it by reading it back.
    fn written(&self, finished: Finished) -> Result<CompactedDocument, DocumentError> {
        let mut after = self.state.clone();
        let mut record = finished.record().clone();
        let rewrite = after.apply(finished)?;
        let view = after.view();
        let mut bytes = Vec::new();
        wire::write(self.document, view.items(), &mut bytes)?;
        let again = wire::read(Some(self.document.format()), &*bytes)?;
        let tokens_after = Breakdown::of(again.transcript().entries(), after.counter()).total;
        record.tokens_after = tokens_after;
        if let Some(ordinals) = &self.ordinals {
            renumber(&mut record, ordinals);
        }
        let newest = self.state.newest_that(standing::has_memory_of_provider);
        let left_out = newest.filter(|_| newest_memory(&again) != newest_memory(self.document));
        let left_out = left_out.map(|(_, cost)| cost);
        Ok(CompactedDocument {
            bytes,
            record,
            outcome: rewrite.outcome,
            cut: rewrite.cut,
            messages: view.len(),
            tokens_after,
            left_out,
            inherited: Vec::new(),
        })
    }

    /// Returns `done` with the violations that its source had too; any other is an error.
    fn validated(&self, mut done: CompactedDocument) -> Result<CompactedDocument, DocumentError> {
        let profile = Profile::of_model(self.document.model().unwrap_or_default());
        let after = wire::validate(&done.bytes, self.document.format(), &profile)?;
        if after.is_empty() {
            return Ok(done);
        }
        let mut source = Vec::new();
        wire::write_unchanged(self.document, &mut source)?;
        let before = wire::validate(&source, self.document.format(), &profile).unwrap_or_default();
        let (inherited, violations): (Vec<_>, Vec<_>) = after
            .into_iter()
            .partition(|violation| before.iter().any(|earlier| earlier.rule == violation.rule));
        done.inherited = inherited;
        match violations.is_empty() {
            true => Ok(done),
            false => Err(DocumentError::Invalid { violations }),
        }
    }
}

/// Returns what a history says by itself of the running summary that it begins with, in the form of that: it stands for the message
/// that it is in. `None` where it begins with none.
fn read_back(history: &[Entry], counter: &dyn TokenCounter) -> Option<Stored> {
    let front = history.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
    let entry = history.get(front)?;
    let message = entry.message.texts().find(|text| parse_summary(text).is_some())?;
    let (depth, id) = parse_summary(message)?;
    let (header, _) = message.trim_start().split_once('\n')?;
    let (text, said) = forms::read_back(message, entry.id.ordinal)?;
    let ordinal = entry.id.ordinal;
    let summary = SummaryRecord {
        depth,
        covers: Span { start: ordinal, end: ordinal + 1 },
        covered: vec![Covered::from(entry)],
        summary: said,
        header: header.to_owned(),
        tokens: counter.count_text(&text),
        left_out: LeftOut::read_back(message),
        ..SummaryRecord::by_rule(id, text)
    };
    let originals = history[..=front].iter().map(|entry| Some((*entry.message).clone())).collect();
    let ordinals = history.iter().map(|entry| (entry.id.ordinal != ordinal).then_some(entry.id.ordinal));
    Some(Stored { originals, ordinals: ordinals.collect(), summary })
}

/// Returns the session a document belongs to: the id in the file, or one derived from its messages.
pub fn session_of(document: &Document) -> SessionId {
    document.session_id().unwrap_or_else(|| document.transcript().derived_session())
}

/// Returns whether reasoning may stay in the messages that a compaction of `format` keeps. Chat dialects of thinking
/// models want it back (`OD-1`); elsewhere it is bound to a prefix that the compaction changes.
pub fn keep_reasoning(format: Format) -> KeepReasoning {
    match format.keeps_reasoning() {
        true => KeepReasoning::Keep,
        false => KeepReasoning::Strip,
    }
}

/// Returns the messages of `document` with placeholders in place of secrets, for a store; with no redactor, takes the
/// caller's word that there is none.
pub fn redacted_messages(document: &Document, redactor: Option<&Redactor>) -> Vec<Redacted<Message>> {
    let messages = document.transcript().entries().iter().map(|entry| &*entry.message);
    match redactor {
        Some(redactor) => redactor.redact_conversation(messages),
        None => messages.map(|message| Redacted::assume(message.clone())).collect(),
    }
}

/// Returns what the provider itself wrote last to go on from, as it is spelled.
fn newest_memory(document: &Document) -> Option<Vec<&str>> {
    let mut entries = document.transcript().entries().iter();
    let newest = entries.rfind(|entry| standing::has_memory_of_provider(&entry.message))?;
    let raw = newest.message.parts.iter().filter_map(|part| match part {
        Part::Opaque(opaque) => Some(&*opaque.raw.0),
        _ => None,
    });
    Some(raw.collect())
}

/// Puts what the conversation calls its messages in the place of what the document does.
fn renumber(record: &mut SummaryRecord, ordinals: &[Option<u64>]) {
    let place = |ordinal: u64| ordinals.get(ordinal as usize).copied().flatten();
    let covered = |covered: &Covered| Some(Covered { ordinal: place(covered.ordinal)?, ..*covered });
    record.covered = record.covered.iter().filter_map(covered).collect();
    record.kept = Span::runs(record.kept.iter().flat_map(|span| span.start..span.end).filter_map(place));
    record.covers = Span {
        start: record.covered.first().map_or(0, |covered| covered.ordinal),
        end: record.covered.last().map_or(0, |covered| covered.ordinal + 1),
    };
}
