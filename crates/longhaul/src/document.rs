//! Compacting a file: a document in, bytes out that are valid, within the budget and never larger.

use std::{collections::BTreeMap, sync::Arc};

use longhaul_extract::FactIndex;
use longhaul_redact::Redactor;
use longhaul_summarize::rules::RulesOptions;
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Item, Message, Redacted, RedactionCount, SessionId, Tokens};
use longhaul_wire::{self as wire, Document, Format, Profile, Violation, WireError};

use crate::{
    Breakdown,
    compact::{self, CompactError, CompactSettings, Compacted, KeepReasoning, Source},
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
        CleanDocument { entries, redactions: counts.into_iter().map(count).collect() }
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
    let entries = &clean.entries;
    let mut index = FactIndex::new();
    entries.iter().for_each(|entry| index.push(entry));
    let session = session_of(document);
    let source = Source {
        session: &session,
        entries,
        costs: &breakdown.per_message,
        tokens_before: breakdown.total,
        counter,
        index: &index,
        previous: None,
    };
    let budget = settings.budget;
    let mut settings = settings.clone();
    let mut tokens = breakdown.total;
    for _ in 0..ATTEMPTS {
        let mut compacted = compact::compact(&source, &settings, options)?;
        verbatim_again(document, &mut compacted);
        compacted.record.redactions.clone_from(&clean.redactions);
        let bytes = written(document, &compacted)?;
        tokens = recount(&bytes, format, counter)?;
        if tokens <= budget {
            let inherited = validated(document, &bytes)?;
            return Ok(CompactedDocument { bytes, compacted, tokens_after: tokens, inherited });
        }
        settings.budget = settings.budget - (tokens - budget) - Tokens(1);
    }
    Err(DocumentError::DoesNotFit { budget, tokens })
}

/// Returns the session a document belongs to: the id in the file, or one derived from its first messages.
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

/// Puts the user's own words back where a message stays verbatim.
fn verbatim_again(document: &Document, compacted: &mut Compacted) {
    let originals = document.transcript().entries();
    for kept in compacted.head.iter_mut().chain(&mut compacted.tail).filter(|kept| !kept.digested) {
        if let Some(original) = originals.get(kept.id.ordinal as usize) {
            kept.message = Arc::clone(&original.message);
        }
    }
}

fn written(document: &Document, compacted: &Compacted) -> Result<Vec<u8>, WireError> {
    fn item(kept: &compact::Kept) -> Item<'_> {
        Item::Message { id: kept.id, message: &kept.message }
    }
    let head = compacted.head.iter().map(item);
    let tail = compacted.tail.iter().map(item);
    let mut bytes = Vec::new();
    wire::write(document, head.chain([Item::Summary(&compacted.record)]).chain(tail), &mut bytes)?;
    Ok(bytes)
}

fn recount(bytes: &[u8], format: Format, counter: &dyn TokenCounter) -> Result<Tokens, WireError> {
    let again = wire::read(Some(format), bytes)?;
    Ok(Breakdown::of(again.transcript().entries(), counter).total)
}

/// Returns the violations that the source had too; any other is an error.
fn validated(document: &Document, bytes: &[u8]) -> Result<Vec<Violation>, DocumentError> {
    let profile = Profile::default();
    let after = wire::validate(bytes, document.format(), &profile)?;
    if after.is_empty() {
        return Ok(after);
    }
    let mut source = Vec::new();
    wire::write_unchanged(document, &mut source)?;
    let before = wire::validate(&source, document.format(), &profile).unwrap_or_default();
    let (inherited, violations): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|violation| before.iter().any(|earlier| earlier.rule == violation.rule));
    match violations.is_empty() {
        true => Ok(inherited),
        false => Err(DocumentError::Invalid { violations }),
    }
}
