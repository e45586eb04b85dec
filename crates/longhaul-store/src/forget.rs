//! Deletion: what is to be destroyed, and what a tombstone says of it.

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};

use crate::{EventKind, ForgottenBy, SessionState, StoreError, SummaryStore, state::merged};

/// Chooses what to destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// Every original and every record of the session.
    Session,
    /// The originals in a span, and every record that covers one of them: it quotes them.
    Range(Span),
    /// The originals in a span. Records that cover them stay: they are all that is left of them.
    Originals(Span),
    /// Originals and records older than a time, in milliseconds since the Unix epoch; records in force stay.
    OlderThan(i64),
    /// Originals and records that hold a text, as it is or escaped as in JSON. The text is not written anywhere.
    Matching(String),
}

/// What was destroyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The originals.
    pub originals: Vec<Span>,
    /// The records.
    pub records: Vec<SummaryId>,
}

impl Forgotten {
    /// Returns whether nothing was destroyed.
    pub fn is_empty(&self) -> bool {
        self.originals.is_empty() && self.records.is_empty()
    }

    /// Returns how many originals were destroyed.
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
pub(crate) async fn choose<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    state: &SessionState,
    selector: &Selector,
) -> Result<Forgotten, StoreError> {
    // A text and its JSON spelling, as it stands inside the stored JSON.
    let needles: Vec<String> = match selector {
        Selector::Matching(text) => {
            let quoted = serde_json::Value::String(text.clone()).to_string();
            vec![text.clone(), quoted.trim_matches('"').to_owned()]
        }
        _ => Vec::new(),
    };
    let holds = |json: &[u8]| {
        let json = String::from_utf8_lossy(json);
        needles.iter().any(|needle| !needle.is_empty() && json.contains(needle.as_str()))
    };
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
    let mut records = Vec::new();
    if let Selector::Originals(_) = selector {
        return Ok(Forgotten { originals: chosen, records });
    }
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
    Ok(Forgotten { originals: chosen, records })
}

/// How many originals are looked at at once.
const BATCH: u64 = 256;
