//! What the checks write.

use std::collections::BTreeMap;

use longhaul_transcript::{
    LeftOut, Message, Redacted, SessionId, Span, Summary, SummaryId, SummaryMode, SummaryRecord, Tokens,
};

/// Returns a user's message that says `text`.
pub fn said(text: &str) -> Redacted<Message> {
    Redacted::assume(Message::user(text))
}

/// Returns the session id `name`.
///
/// # Panics
/// When `name` is none.
pub fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a valid session id")
}

/// Returns a record on top of `parent` that stands for the first `end` messages and says `text`, made at the time `end`.
pub fn record(
    session: &SessionId,
    parent: Option<&SummaryRecord>,
    end: u64,
    text: &str,
) -> Redacted<SummaryRecord> {
    let parent_id = parent.map(|parent| parent.id.clone());
    let id: SummaryId =
        SummaryRecord::derive_id(session, parent_id.as_ref(), &[], SummaryMode::Rules, "", "test", text);
    Redacted::assume(SummaryRecord {
        version: SummaryRecord::VERSION,
        id,
        parent: parent_id,
        depth: parent.map_or(0, |parent| parent.depth + 1),
        covers: Span { start: 0, end },
        covered: Vec::new(),
        kept: Vec::new(),
        emitted: None,
        summary: Summary { narrative: text.to_owned(), ..Summary::default() },
        header: "[Context Summary]".to_owned(),
        lookup: String::new(),
        left_out: LeftOut::default(),
        text: text.to_owned(),
        mode: SummaryMode::Rules,
        model: String::new(),
        made_with: "test".to_owned(),
        tokens: Tokens(1),
        tokens_before: Tokens(10),
        tokens_after: Tokens(2),
        survival: BTreeMap::new(),
        redactions: Vec::new(),
        cost: None,
        created_at_ms: end as i64,
        duration_ms: 0,
    })
}
