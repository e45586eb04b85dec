//! The record of a summary of which only the text matters.

use longhaul_transcript::{Span, Summary, SummaryId, SummaryMode, SummaryRecord, Tokens};

/// Returns a record of a summary by rule that says `text`, for a test to fill in what it is about.
pub fn record(text: &str) -> SummaryRecord {
    SummaryRecord {
        version: SummaryRecord::VERSION,
        id: SummaryId("0123456789abcdef".into()),
        parent: None,
        depth: 0,
        covers: Span::default(),
        covered: Vec::new(),
        kept: Vec::new(),
        emitted: None,
        summary: Summary::default(),
        header: String::new(),
        lookup: String::new(),
        text: text.to_owned(),
        mode: SummaryMode::Rules,
        model: String::new(),
        made_with: String::new(),
        tokens: Tokens::ZERO,
        tokens_before: Tokens::ZERO,
        tokens_after: Tokens::ZERO,
        survival: Default::default(),
        redactions: Vec::new(),
        cost: None,
        created_at_ms: 0,
        duration_ms: 0,
    }
}
