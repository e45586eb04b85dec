//! Secrets are taken out of everything that is made from a message.

#[cfg(feature = "wire")]
use std::collections::BTreeSet;
use std::sync::Arc;

#[cfg(feature = "wire")]
use longhaul_redact::Asked;
use longhaul_redact::{Answers, Redactor};
#[cfg(feature = "wire")]
use longhaul_transcript::Part;
use longhaul_transcript::{Entry, Message, Redacted, Span, SummaryRecord};

use super::{
    SessionState,
    line::{Clean, Original},
};
#[cfg(feature = "wire")]
use super::{
    Shown,
    items::Placed,
    rewrite::{Counted, counted},
};

impl SessionState {
    /// Replaces what finds secrets; `None` switches the search off. It concerns messages pushed from now on.
    ///
    /// Secrets are taken out of everything that is made from a message: facts, summaries, what is sent to a summarizer, what is
    /// stored. The view and the originals show the user's own text and are not altered; where a session is taken up from a
    /// store they show placeholders, since the store has nothing else, until a history says them again ([`sync`](Self::sync)). What is
    /// shown in a shorter form is without secrets. The built-in rules are the default.
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

    /// Puts what the front end says again in the place of what came back from a store without its secrets, so that it goes out in the
    /// words of this very request: in memory alone. `ordinals` are those of the first messages of `document`.
    #[cfg(feature = "wire")]
    pub(super) fn say_again(
        &mut self,
        document: &longhaul_wire::Document,
        ordinals: impl IntoIterator<Item = Option<u64>>,
    ) {
        let mut again: BTreeSet<u64> = BTreeSet::new();
        for (said, ordinal) in document.transcript().entries().iter().zip(ordinals) {
            let Some(ordinal) = ordinal else { continue };
            let is_clean = |here: &&Entry| here.id.hash != said.id.hash && has_placeholder(&here.message);
            let Some(here) = self.originals.get(ordinal).filter(is_clean) else { continue };
            let message = document.spelled(said.id.ordinal).map_or_else(|| said.message.clone(), Arc::new);
            let answers = self.answers.get(&ordinal).cloned().unwrap_or_default();
            let clean = self.clean_answer(&message, &answers).filter(|clean| clean.hash == here.id.hash);
            if let Some(clean) = clean {
                self.originals.say_again(ordinal, &message, clean);
                // What was said since the last snapshot was counted as the store has it.
                let counts = self.count(message.content_hash(), &message);
                self.costs.set(ordinal, counts.total());
                again.insert(ordinal);
            }
        }
        if !again.is_empty() {
            self.show_again(&again);
        }
    }

    /// Shows these originals in the words that they have now, where they are shown whole. They cost what they did when they were said,
    /// and what was sent before begins with them.
    #[cfg(feature = "wire")]
    fn show_again(&mut self, again: &BTreeSet<u64>) {
        let in_words = |shown: &Shown| match shown {
            Shown::Message { id, digested: false, .. } if again.contains(&id.ordinal) => {
                self.whole(id.ordinal)
            }
            _ => None,
        };
        let of_now = |placed: &Placed| match in_words(&placed.shown) {
            Some(whole) => (whole, None),
            None => counted(placed),
        };
        let shown: Vec<Counted> = self.items.placed().map(of_now).collect();
        let sent = self.sent.as_ref().map(|(items, len)| (items.with(in_words), *len));
        let (anchor, stable, cut) = (self.calibrated.anchor(), self.stable, self.cut);
        self.set_items(shown);
        self.calibrated.set_anchor(anchor);
        (self.stable, self.cut, self.sent) = (stable, cut, sent);
        self.recalibrate();
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

/// Returns whether a placeholder stands in the place of a secret.
#[cfg(feature = "wire")]
fn has_placeholder(message: &Message) -> bool {
    let is_in = |text: &str| longhaul_redact::placeholders(text) > 0;
    message.parts.iter().any(|part| match part {
        Part::Text(text) => is_in(text),
        Part::ToolCall(call) => is_in(&call.arguments.0),
        Part::ToolResult(result) => is_in(&result.joined_text()),
        _ => false,
    })
}
