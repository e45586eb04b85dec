//! The record of a summary of which only the text matters.

use longhaul_transcript::{SummaryId, SummaryRecord};

/// Returns a record of a summary by rule that says `text`, for a test to fill in what it is about.
pub fn record(text: &str) -> SummaryRecord {
    SummaryRecord::by_rule(SummaryId("0123456789abcdef".into()), text)
}
