//! Deletion: what is to be destroyed, and what a tombstone says of it.

use std::sync::Arc;

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId, SummaryRecord, json_escape};

use crate::{Change, EventKind, ForgottenBy, StoreError, StoredSession, SummaryStore, kin, state::merged};

/// Destroys what `selector` chooses in the conversation `name`: of a whole one in each of its lines.
pub(crate) async fn in_conversation<S: SummaryStore + ?Sized>(
    store: &S,
    name: &SessionId,
    selector: &Selector,
    at_ms: i64,
) -> Result<Forgotten, StoreError> {
    let line = kin::followed(store, name).await?;
    if *selector != Selector::Session {
        return store.forget_in_line(&line, selector, at_ms).await;
    }
    store.require(&line).await?;
    let (mut forgotten, mut not_overwritten) = (Forgotten::default(), None);
    for other in store.lines(&line).await? {
        match store.forget_in_line(&other, selector, at_ms).await {
            Ok(gone) if other == line => {
                forgotten = Forgotten { in_other_lines: forgotten.in_other_lines, ..gone }
            }
            Ok(gone) => forgotten.in_other_lines.extend((!gone.is_empty()).then_some((other, gone))),
            // It is destroyed; so are the others to be.
            Err(error @ StoreError::NotOverwritten { .. }) => not_overwritten = Some(error),
            Err(error) => return Err(error),
        }
    }
    not_overwritten.map_or(Ok(forgotten), Err)
}

/// Destroys what `selector` chooses in this session and leaves a tombstone in the log.
pub(crate) async fn forget<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    selector: &Selector,
    at_ms: i64,
) -> Result<Forgotten, StoreError> {
    let state = store.require(session).await?;
    let chosen = choose(store, session, &state, selector).await?;
    if !chosen.is_empty() {
        let kind = chosen.clone().into_event(selector);
        let decide = move |_: &StoredSession| Ok(Change::of(at_ms, Some(kind.clone())));
        store.transact(session, Arc::new(decide)).await?;
    }
    Ok(chosen)
}

/// Returns how many of the originals that `record` stands for were destroyed, while it is still there itself: it is all that
/// is left of them, and taking it back would lose what they said. Where it was destroyed too there is nothing to lose.
///
/// # Errors
/// When the store cannot be read.
pub async fn only_in_summary<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    record: &SummaryId,
) -> Result<u64, StoreError> {
    let Some(record) = store.record(session, record).await? else { return Ok(0) };
    Ok(destroyed_of(store, session, &record).await?.len() as u64)
}

/// Returns which of the originals that `record` stands for were destroyed.
pub(crate) async fn destroyed_of<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    record: &SummaryRecord,
) -> Result<Vec<u64>, StoreError> {
    let mut destroyed = Vec::new();
    for span in Span::runs(record.covered.iter().map(|covered| covered.ordinal)) {
        let entries = store.entries(session, span).await?;
        destroyed.extend(entries.iter().filter(|entry| entry.is_forgotten).map(|entry| entry.ordinal));
    }
    Ok(destroyed)
}

/// Chooses what to destroy. A session of the facade that is open sends what it holds until its next `prepare`, which sees what was
/// destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// Every original and every record of the session; with [`SummaryStore::forget`] of the conversation, in each of its
    /// [lines](SummaryStore::lines).
    Session,
    /// The originals in a span, and every record that covers one of them: it quotes them.
    Range(Span),
    /// The originals in a span. Records that cover them stay: they are all that is left of them.
    Originals(Span),
    /// Originals and records older than a time, in milliseconds since the Unix epoch; records in force stay.
    OlderThan(i64),
    /// Originals and records that hold a text, as it is or escaped as in JSON, also several times over. The text is not
    /// written anywhere.
    Matching(String),
}

/// What was destroyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The originals.
    pub originals: Vec<Span>,
    /// The records.
    pub records: Vec<SummaryId>,
    /// What was destroyed in other lines of the conversation.
    pub in_other_lines: Vec<(SessionId, Forgotten)>,
}

impl Forgotten {
    /// Returns whether nothing was destroyed.
    pub fn is_empty(&self) -> bool {
        self.originals.is_empty() && self.records.is_empty() && self.in_other_lines.is_empty()
    }

    /// Returns how many originals were destroyed, those of other lines apart: most of them are the same.
    pub fn message_count(&self) -> u64 {
        self.originals.iter().map(Span::len).sum()
    }

    pub(crate) fn into_event(self, selector: &Selector) -> EventKind {
        let by = match selector {
            Selector::Session => ForgottenBy::Session,
            Selector::Range(_) | Selector::Originals(_) => ForgottenBy::Range,
            Selector::OlderThan(_) => ForgottenBy::Age,
            Selector::Matching(_) => ForgottenBy::Match,
        };
        EventKind::Forgotten { by, originals: self.originals, records: self.records }
    }
}

/// Returns what `selector` chooses among what is still there.
async fn choose<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    state: &StoredSession,
    selector: &Selector,
) -> Result<Forgotten, StoreError> {
    let holds = |json: &[u8]| matches!(selector, Selector::Matching(text) if holds(json, text));
    let mut chosen = Vec::new();
    let (mut at, end) = match selector {
        Selector::Range(span) | Selector::Originals(span) => (span.start, span.end.min(state.messages)),
        _ => (0, state.messages),
    };
    while at < end {
        let batch = Span { start: at, end: (at + BATCH).min(end) };
        let entries: Vec<_> =
            store.entries(session, batch).await?.into_iter().filter(|entry| !entry.is_forgotten).collect();
        let one = |ordinal: u64| Span { start: ordinal, end: ordinal + 1 };
        match selector {
            Selector::Session => chosen.extend(entries.iter().map(|entry| one(entry.ordinal))),
            Selector::Range(span) | Selector::Originals(span) => {
                let inside = entries.iter().filter(|entry| span.contains(entry.ordinal));
                chosen.extend(inside.map(|entry| one(entry.ordinal)));
            }
            Selector::OlderThan(time) => {
                let old = entries.iter().filter(|entry| entry.at_ms < *time);
                chosen.extend(old.map(|entry| one(entry.ordinal)));
            }
            Selector::Matching(_) => {
                // What is kept beside a message may hold what the message does not.
                let named = entries.iter().flat_map(|entry| {
                    [Some(entry.address), entry.spelling].map(|address| Some((entry.ordinal, address?)))
                });
                let named: Vec<(u64, ContentHash)> = named.flatten().collect();
                let addresses: Vec<_> = named.iter().map(|(_, address)| *address).collect();
                let contents = store.contents(session, &addresses).await?;
                let matching =
                    named.iter().zip(contents).filter(|(_, json)| json.as_deref().is_some_and(holds));
                chosen.extend(matching.map(|((ordinal, _), _)| one(*ordinal)));
            }
        }
        chosen = merged(chosen);
        at = batch.end;
    }
    if let Selector::Originals(_) = selector {
        return Ok(Forgotten { originals: chosen, ..Forgotten::default() });
    }
    let mut records = Vec::new();
    for entry in store.records(session).await?.into_iter().filter(|entry| !entry.is_forgotten) {
        let is_chosen = match selector {
            Selector::Session => true,
            _ => {
                let Some(json) = store.contents(session, &[entry.address]).await?.pop().flatten() else {
                    continue;
                };
                let record = crate::object::read_record(entry.address, &json)?;
                match selector {
                    Selector::Range(span) => record.covers.start < span.end && span.start < record.covers.end,
                    Selector::OlderThan(time) => {
                        record.created_at_ms < *time && !state.chain.contains(&record.id)
                    }
                    _ => holds(&json),
                }
            }
        };
        if is_chosen {
            records.push(entry.id);
        }
    }
    Ok(Forgotten { originals: chosen, records, ..Forgotten::default() })
}

/// Returns whether `json` holds `text`, however often it was escaped: the arguments of a call are JSON inside a string,
/// which stands in a string once more where a provider's own spelling is kept.
fn holds(json: &[u8], text: &str) -> bool {
    let mut said = String::from_utf8_lossy(json).into_owned();
    for _ in 0..=MOST_ESCAPED {
        if text.is_empty() || said.contains(text) {
            return !text.is_empty();
        }
        let plainer = unescaped(&said);
        if plainer.len() == said.len() {
            return false;
        }
        said = plainer;
    }
    false
}

/// Returns `text` with each escape of JSON replaced by what it stands for; what is no escape stays.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = json_escape(rest).unwrap_or(('\\', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// How often a text is looked for behind one more layer of escapes. Three occur: arguments in a message in a spelling.
const MOST_ESCAPED: usize = 6;

/// How many originals are looked at at once.
const BATCH: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_behind_escapes() {
        let text = "say \"é\" 🦀\nC:\\new/x";
        let mut said = serde_json::Value::String(text.to_owned()).to_string();
        for layer in 0..4 {
            assert!(holds(said.as_bytes(), text), "{layer}");
            assert!(!holds(said.as_bytes(), "say 'é'"), "{layer}");
            said = serde_json::json!({ "in": said }).to_string();
        }
        assert!(holds(br#"{"a":"say \"\u00e9\" \ud83e\udd80\nC:\\new\/x"}"#, text));
        assert!(!holds(b"", "") && !holds(b"x", ""));
        // Half a pair, and an escape that is cut.
        assert!(holds(br"\ud83e \u12", r"\u12") && holds(br"a\qb\", r"a\qb\"));
    }
}
