//! All that was said, oldest first.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{ContentHash, Message, MessageId, SessionId, Units};

/// All that was said, oldest first. Messages are only ever added at the end.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: Vec<Entry>,
}

/// A message with its id and the hash of everything up to it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The message's ordinal and content hash.
    pub id: MessageId,
    /// Hash over this message's content hash and the lineage before it: two transcripts that agree here agree in
    /// every message up to here.
    pub lineage: ContentHash,
    /// What was said.
    pub message: Arc<Message>,
}

/// A run of messages by ordinal, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first ordinal.
    pub start: u64,
    /// One past the last ordinal.
    pub end: u64,
}

impl Transcript {
    /// Returns an empty transcript.
    pub fn new() -> Transcript {
        Transcript::default()
    }

    /// Adds a message at the end and returns its id. Costs one hash of the message, whatever came before.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let message = message.into();
        let id = MessageId { ordinal: self.entries.len() as u64, hash: message.content_hash() };
        let before = self.entries.last().map(|entry| entry.lineage.0);
        let lineage = ContentHash::of_fields([before.as_ref().map_or(&[][..], |hash| &hash[..]), &id.hash.0]);
        self.entries.push(Entry { id, lineage, message });
        id
    }

    /// Returns the messages with their ids, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the entries of `span`, as far as they exist.
    pub fn in_span(&self, span: Span) -> &[Entry] {
        let end = (span.end as usize).min(self.entries.len());
        self.entries.get(span.start as usize..end).unwrap_or_default()
    }

    /// Returns the units: what is kept or dropped whole.
    pub fn units(&self) -> Units<'_> {
        Units::new(&self.entries)
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the span of all messages.
    pub fn span(&self) -> Span {
        Span { start: 0, end: self.entries.len() as u64 }
    }

    /// Returns the session id of a transcript that names none (see [`SessionId::derived`]).
    pub fn derived_session(&self) -> SessionId {
        SessionId::derived(&self.entries.iter().map(|entry| entry.id.hash).collect::<Vec<_>>())
    }
}

impl<M: Into<Arc<Message>>> FromIterator<M> for Transcript {
    fn from_iter<I: IntoIterator<Item = M>>(messages: I) -> Transcript {
        let mut transcript = Transcript::new();
        for message in messages {
            transcript.push(message);
        }
        transcript
    }
}

impl Span {
    /// Returns the runs that ascending `ordinals` make.
    pub fn runs(ordinals: impl IntoIterator<Item = u64>) -> Vec<Span> {
        let mut runs: Vec<Span> = Vec::new();
        for ordinal in ordinals {
            match runs.last_mut() {
                Some(run) if run.end == ordinal => run.end += 1,
                _ => runs.push(Span { start: ordinal, end: ordinal + 1 }),
            }
        }
        runs
    }

    /// Returns the number of ordinals in the span.
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns whether the span holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether `ordinal` lies in the span.
    pub fn contains(&self, ordinal: u64) -> bool {
        (self.start..self.end).contains(&ordinal)
    }
}

impl fmt::Display for Span {
    /// Writes the span as people count: first and last, `m0-m41`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_empty() {
            true => f.write_str("nothing"),
            false => write!(f, "m{}-m{}", self.start, self.end - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lineage_tells_how_far_two_transcripts_agree() {
        let of = |texts: &[&str]| texts.iter().map(|text| Message::user(*text)).collect::<Transcript>();
        let (short, long, other) = (of(&["a", "b"]), of(&["a", "b", "c"]), of(&["x", "b", "c"]));
        assert_eq!(short.entries()[1].lineage, long.entries()[1].lineage);
        assert_ne!(other.entries()[2].lineage, long.entries()[2].lineage);
        assert_eq!(other.entries()[2].id, long.entries()[2].id);
    }

    #[test]
    fn ordinals_are_gathered_into_runs() {
        let span = |start, end| Span { start, end };
        assert_eq!(Span::runs([3, 4, 5, 9, 11, 12]), [span(3, 6), span(9, 10), span(11, 13)]);
        assert_eq!(Span::runs([]), []);
    }

    #[test]
    fn spans_outside_the_transcript_are_empty() {
        let transcript: Transcript = [Message::user("a")].into_iter().collect();
        assert!(transcript.in_span(Span { start: 5, end: 9 }).is_empty());
        assert_eq!(transcript.in_span(Span { start: 0, end: 9 }).len(), 1);
    }
}
