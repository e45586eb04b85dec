//! Reading back from the store what is needed and not at hand.

use longhaul_transcript::{Span, SummaryId};

use super::{Error, EventKind, Session, journal::Journal, recall};
use crate::policy::Action;

impl Session {
    /// Reads what a compaction needs and is not at hand, and lets go of what somebody destroyed.
    pub(super) async fn fetch_for(&mut self, action: Action) -> Result<(), Error> {
        self.heed_destruction().await?;
        self.fetch_facts().await?;
        loop {
            let wanted = self.state.wanted_by(action);
            if wanted.is_empty() || self.journal.is_none() {
                return Ok(());
            }
            self.fetch(wanted).await?;
        }
    }

    /// Takes up the facts that were read before the session was resumed or took another way, and reads what was said
    /// since.
    async fn fetch_facts(&mut self) -> Result<(), Error> {
        let Some(journal) = self.journal.as_ref().filter(|_| self.state.facts().is_none()) else {
            return Ok(());
        };
        let facts = journal.facts().await.map_err(Error::Store)?;
        let facts = facts.filter(|(_, through)| self.state.are_of_standing(*through));
        let Some((facts, through)) = facts else { return Ok(()) };
        let since = Span { start: through, end: self.state.originals().len() as u64 };
        self.fetch(self.state.originals().missing([since])).await?;
        self.state.take_facts(facts, through);
        Ok(())
    }

    pub(super) async fn fetch(&mut self, spans: Vec<Span>) -> Result<(), Error> {
        if let Some(journal) = &mut self.journal {
            journal.put_back(&mut self.state, spans).await.map_err(Error::Store)?;
            self.tell_changed();
        }
        Ok(())
    }

    /// Tells of the messages that were read and are not what was written.
    pub(super) fn tell_changed(&mut self) {
        let changed = self.journal.as_mut().map(Journal::take_changed).unwrap_or_default();
        for message in changed {
            self.tell(EventKind::ChangedInStore { message });
        }
    }

    /// Tells where secrets stood in what a store gave back.
    pub(super) fn tell_secrets_missing(&self) {
        let places = recall::placeholders(&self.state);
        if places > 0 {
            self.tell(EventKind::SecretsMissing { places });
        }
    }

    /// Tells which messages were forgotten in the store that this was opened from, but for those that a summary in the view covers.
    pub(super) fn tell_forgotten(&self) {
        let forgotten = self.journal.as_ref().map(Journal::forgotten).unwrap_or_default();
        let view = self.state.view();
        let is_covered = |at: &u64| view.summaries().any(|record| record.covers.contains(*at));
        let left_out = forgotten.iter().flat_map(|span| span.start..span.end).filter(|at| !is_covered(at));
        let spans = Span::runs(left_out);
        let messages = spans.iter().map(Span::len).sum();
        if messages > 0 {
            self.tell(EventKind::ForgottenLeftOut { messages, spans });
        }
    }

    /// Reads summaries that can be shown again. Returns whether all of them are there.
    pub(super) async fn fetch_summaries(&mut self, ids: &[SummaryId]) -> Result<bool, Error> {
        let Some(journal) = &self.journal else { return Ok(false) };
        for id in ids {
            let Some(record) = journal.summary(id).await.map_err(Error::Store)? else { return Ok(false) };
            self.state.put_back_summary(&record);
        }
        Ok(true)
    }
}
