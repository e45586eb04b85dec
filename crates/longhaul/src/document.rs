//! Compacting a file: a document in, bytes out that are valid, within the budget and never larger.

use std::{collections::BTreeMap, sync::Arc};

use longhaul_extract::FactIndex;
use longhaul_redact::Redactor;
use longhaul_summarize::{Attempt, SummarizeError, Summarizer, rules::RulesOptions};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Item, Message, Redacted, RedactionCount, SessionId, Tokens};
use longhaul_wire::{self as wire, Document, Format, Profile, Violation, WireError};

use crate::{
    Breakdown,
    compact::{self, CompactError, CompactSettings, Compacted, KeepReasoning, Originals, Source},
};

/// A compacted document, proved by reading it back.
#[derive(Clone, Debug)]
pub struct CompactedDocument {
    /// The history in the document's format.
    pub bytes: Vec<u8>,
    /// What became of the messages.
    pub compacted: Compacted,
    /// What the written history costs, counted by reading it back.
    pub tokens_after: Tokens,
    /// Rules that the history breaks because its source broke them already.
    pub inherited: Vec<Violation>,
}

/// A document as a summarizer and a store may see it: with placeholders in place of secrets.
#[derive(Clone, Debug)]
pub struct CleanDocument {
    entries: Vec<Entry>,
    /// How many secrets of each kind were replaced.
    pub redactions: Vec<RedactionCount>,
    behind: Option<Originals>,
}

impl CleanDocument {
    /// Looks for secrets in every message of `document`; with no redactor, takes the caller's word that there is none.
    pub fn new(document: &Document, redactor: Option<&Redactor>) -> CleanDocument {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let mut clean = |entry: &Entry| {
            let Some(redactor) = redactor else { return entry.clone() };
            let (message, redactions) = redactor.redact_message(&entry.message);
            if redactions.is_empty() {
                return entry.clone();
            }
            for redaction in redactions {
                *counts.entry(redaction.rule).or_default() += redaction.count;
            }
            Entry { message: Arc::new(message.into_inner()), ..entry.clone() }
        };
        let entries = document.transcript().entries().iter().map(&mut clean).collect();
        let count = |(rule, count)| RedactionCount { rule, count };
        CleanDocument { entries, redactions: counts.into_iter().map(count).collect(), behind: None }
    }

    /// Says what stands behind the summary that the document begins with. Its place in a session is known to a store only.
    #[must_use]
    pub fn behind(self, originals: Originals) -> CleanDocument {
        CleanDocument { behind: Some(originals), ..self }
    }

    /// Returns the facts of all messages.
    fn index(&self) -> FactIndex {
        let mut index = FactIndex::new();
        self.entries.iter().for_each(|entry| index.push(entry));
        index
    }

    fn source<'a>(
        &'a self,
        session: &'a SessionId,
        index: &'a FactIndex,
        breakdown: &'a Breakdown,
        counter: &'a dyn TokenCounter,
    ) -> Source<'a> {
        Source {
            session,
            entries: &self.entries,
            costs: &breakdown.per_message,
            tokens_before: breakdown.total,
            counter,
            index,
            previous: None,
            quoted: 0,
            is_rebuilt: false,
            behind: self.behind.as_ref(),
        }
    }

    /// Returns the messages.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the messages, for a store.
    pub fn messages(&self) -> Vec<Redacted<Message>> {
        self.entries.iter().map(|entry| Redacted::assume((*entry.message).clone())).collect()
    }
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
    /// The budget is below the floor, or nothing can be compacted.
    #[error(transparent)]
    Compact(#[from] CompactError),
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
    #[error("the history does not fit {budget} tokens once written: {tokens}")]
    DoesNotFit {
        /// The budget.
        budget: Tokens,
        /// What the written history costs.
        tokens: Tokens,
    },
}

/// How often the budget is tightened by what the format adds around the messages.
const ATTEMPTS: usize = 5;

/// Compacts `document` by rule so that the written history costs at most `settings.budget`.
///
/// The summary and the digests are made from `clean`, so that no secret gets into them; a message that stays verbatim
/// is the user's own and stays as it is. The history is written, read back, counted and validated before it is
/// returned.
///
/// # Errors
/// When the format is import-only, the budget is below the floor, or the result would not be valid or would not fit.
pub fn compact_document(
    document: &Document,
    clean: &CleanDocument,
    breakdown: &Breakdown,
    counter: &dyn TokenCounter,
    settings: &CompactSettings,
    options: &RulesOptions,
) -> Result<CompactedDocument, DocumentError> {
    let format = document.format();
    if format.is_import_only() {
        return Err(DocumentError::ImportOnly { format });
    }
    let index = clean.index();
    let session = session_of(document);
    let source = clean.source(&session, &index, breakdown, counter);
    let budget = settings.budget;
    let mut settings = settings.clone();
    let mut tokens = breakdown.total;
    for _ in 0..ATTEMPTS {
        let compacted = compact::compact(&source, &settings, options)?;
        let written = written(document, clean, compacted, counter)?;
        tokens = written.tokens_after;
        if tokens <= budget {
            return validated(document, written);
        }
        settings.budget = settings.budget - (tokens - budget) - Tokens(1);
    }
    Err(DocumentError::DoesNotFit { budget, tokens })
}

/// Compacts `document` with a summary by `summarizer`, which is asked once. What it writes is fitted, read back,
/// counted and validated as in [`compact_document`]; a summary that does not fit is made by rule instead.
///
/// # Errors
/// Those of [`compact_document`], and [`DocumentError::Summarize`] where the summarizer gives none and is not to be
/// replaced by rules. No message is lost then: nothing was written.
pub async fn compact_document_with(
    document: &Document,
    clean: &CleanDocument,
    breakdown: &Breakdown,
    counter: &dyn TokenCounter,
    settings: &CompactSettings,
    options: &RulesOptions,
    summarizer: &dyn Summarizer,
) -> Result<(CompactedDocument, Vec<Attempt>), DocumentError> {
    let format = document.format();
    if format.is_import_only() {
        return Err(DocumentError::ImportOnly { format });
    }
    let index = clean.index();
    let session = session_of(document);
    let source = clean.source(&session, &index, breakdown, counter);
    // What the format adds around the messages is known only once they are written; a model is not asked twice for it.
    let narrowed = CompactSettings { budget: settings.budget.scaled(1.0 - FORMAT_SLACK), ..settings.clone() };
    let plan = compact::plan(&source, &narrowed).or_else(|_| compact::plan(&source, settings))?;
    let draft = summarizer.summarize(plan.request(&source, settings)).await?;
    let attempts = draft.attempts.clone();
    if let Ok(compacted) = plan.assemble_wide(&source, settings, draft)
        && let Some(done) = proved(document, clean, compacted, counter, settings.budget)?
    {
        return Ok((done, attempts));
    }
    Ok((compact_document(document, clean, breakdown, counter, settings, options)?, attempts))
}

/// Share of the budget that is left free for what a format adds when a model writes the summary.
const FORMAT_SLACK: f64 = 0.01;

/// Returns the session a document belongs to: the id in the file, or one derived from its messages.
pub fn session_of(document: &Document) -> SessionId {
    document.session_id().unwrap_or_else(|| document.transcript().derived_session())
}

/// Returns whether reasoning may stay in the messages that a compaction of `format` keeps. Chat dialects of thinking
/// models want it back (`OD-1`); elsewhere it is bound to a prefix that the compaction changes.
pub fn keep_reasoning(format: Format) -> KeepReasoning {
    match format {
        Format::OpenAi | Format::Gemini | Format::Chat | Format::Longhaul => KeepReasoning::Keep,
        _ => KeepReasoning::Strip,
    }
}

/// Returns the compacted document where it fits `budget` once it is written.
fn proved(
    document: &Document,
    clean: &CleanDocument,
    compacted: Compacted,
    counter: &dyn TokenCounter,
    budget: Tokens,
) -> Result<Option<CompactedDocument>, DocumentError> {
    let written = written(document, clean, compacted, counter)?;
    match written.tokens_after <= budget {
        true => validated(document, written).map(Some),
        false => Ok(None),
    }
}

/// Writes the history and counts it by reading it back.
fn written(
    document: &Document,
    clean: &CleanDocument,
    mut compacted: Compacted,
    counter: &dyn TokenCounter,
) -> Result<CompactedDocument, WireError> {
    verbatim_again(document, &mut compacted);
    compacted.record.redactions.clone_from(&clean.redactions);
    fn item(kept: &compact::Kept) -> Item<'_> {
        Item::Message { id: kept.id, message: &kept.message }
    }
    let (head, tail) = (compacted.head.iter().map(item), compacted.tail.iter().map(item));
    let mut bytes = Vec::new();
    wire::write(document, head.chain([Item::Summary(&compacted.record)]).chain(tail), &mut bytes)?;
    let again = wire::read(Some(document.format()), &*bytes)?;
    let tokens_after = Breakdown::of(again.transcript().entries(), counter).total;
    compacted.record.tokens_after = tokens_after;
    Ok(CompactedDocument { bytes, compacted, tokens_after, inherited: Vec::new() })
}

/// Puts the user's own words back where a message stays verbatim.
fn verbatim_again(document: &Document, compacted: &mut Compacted) {
    let originals = document.transcript().entries();
    for kept in compacted.head.iter_mut().chain(&mut compacted.tail).filter(|kept| !kept.digested) {
        if let Some(original) = originals.get(kept.id.ordinal as usize) {
            kept.message = Arc::clone(&original.message);
        }
    }
}

/// Returns `done` with the violations that its source had too; any other is an error.
fn validated(document: &Document, mut done: CompactedDocument) -> Result<CompactedDocument, DocumentError> {
    let profile = Profile::default();
    let after = wire::validate(&done.bytes, document.format(), &profile)?;
    if after.is_empty() {
        return Ok(done);
    }
    let mut source = Vec::new();
    wire::write_unchanged(document, &mut source)?;
    let before = wire::validate(&source, document.format(), &profile).unwrap_or_default();
    let (inherited, violations): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|violation| before.iter().any(|earlier| earlier.rule == violation.rule));
    done.inherited = inherited;
    match violations.is_empty() {
        true => Ok(done),
        false => Err(DocumentError::Invalid { violations }),
    }
}
