//! Secrets are taken out of everything that is made from a message.

use std::sync::Arc;

#[cfg(feature = "wire")]
use longhaul_redact::Asked;
use longhaul_redact::{Answers, Redactor};
use longhaul_transcript::{Entry, Message, Redacted, Span, SummaryRecord};

use super::{
    SessionState,
    line::{Clean, Original},
};

impl SessionState {
    /// Replaces what finds secrets; `None` switches the search off. It concerns messages pushed from now on.
    ///
    /// Secrets are taken out of everything that is made from a message: facts, summaries, what is sent to a summarizer, what is
    /// stored. The view and the originals show the user's own text and are not altered; where a session is taken up from a
    /// store they show placeholders, since the store has nothing else. The built-in rules are the default.
    pub fn set_redactor(&mut self, redactor: Option<Redactor>) {
        self.redactor = redactor;
    }

    /// Returns what finds secrets.
    pub(crate) fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// Returns what the next message would be without its secrets; `None` where it has none.
    pub(super) fn cleaned(&self, message: &Message) -> Option<Arc<Clean>> {
        self.clean_answer(message, &self.asked.clone().follow(message))
    }

    /// Returns the message without its secrets, of which it is known what it answers; `None` where it has none.
    pub(super) fn clean_answer(&self, message: &Message, answers: &Answers) -> Option<Arc<Clean>> {
        Clean::of(message, answers, self.redactor.as_ref())
    }

    /// Returns what was said, as far as it is at hand, without secrets, as a store takes it.
    pub fn redacted(&self) -> Vec<Redacted<Message>> {
        self.redacted_from(0)
    }

    /// Returns the messages from `start` on without their secrets, as a store takes them.
    pub(crate) fn redacted_from(&self, start: u64) -> Vec<Redacted<Message>> {
        let clean = |entry: Entry| Redacted::assume((*entry.message).clone());
        self.entries_from(start).into_iter().map(clean).collect()
    }

    /// Returns the next message of a conversation that `asked` followed without its secrets, as a store takes it.
    #[cfg(feature = "wire")]
    pub(crate) fn without_secrets(&self, message: &Message, asked: &mut Asked) -> Redacted<Message> {
        match &self.redactor {
            Some(redactor) => redactor.redact_next(message, asked).0,
            None => Redacted::assume(message.clone()),
        }
    }

    /// Returns `record` without secrets, which a model may have put there against all rules.
    pub(crate) fn redacted_record(&self, record: &SummaryRecord) -> Redacted<SummaryRecord> {
        match &self.redactor {
            Some(redactor) => redactor.redact_record(record).0,
            None => Redacted::assume(record.clone()),
        }
    }

    /// Returns the originals in `span` that are at hand, without their secrets.
    pub(crate) fn clean_in(&self, span: Span) -> Vec<Entry> {
        let clean = |original: &Original| original.clean_entry(self.redactor.as_ref());
        self.originals.originals(span).map(clean).collect()
    }

    /// Returns the originals from `start` on without their secrets, as facts and summaries are made from them.
    pub(super) fn entries_from(&self, start: u64) -> Vec<Entry> {
        self.clean_in(Span { start, end: u64::MAX })
    }
}
