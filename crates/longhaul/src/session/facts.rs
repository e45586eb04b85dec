//! The facts of all that was said and that the front end did not take out.

use std::sync::Arc;

use longhaul_extract::{FactIndex, speaker::Speakers};
use longhaul_summarize::rules::RulesOptions;
use longhaul_tokens::ContextWindow;

use super::{SessionState, stored};

impl SessionState {
    /// Sets how summaries by rule are made, which facts are worth keeping (their [`Ranker`](longhaul_extract::Ranker)), and who
    /// speaks in what is said from now on (their `speakers`).
    pub fn set_rules(&mut self, rules: RulesOptions) {
        self.rules = rules;
        if let Some(index) = &mut self.index {
            let speakers = self.rules.speakers.clone();
            Arc::make_mut(index)
                .set_speakers(speakers.unwrap_or_else(|| Arc::new(Speakers::builtin().clone())));
        }
    }

    /// Returns the facts read so far.
    pub fn index(&self) -> Arc<FactIndex> {
        self.index.clone().unwrap_or_else(|| self.read_again())
    }

    /// Returns `index` with the bound of this session, and told who speaks.
    pub(super) fn bounded(&self, mut index: FactIndex) -> FactIndex {
        index.set_most_facts(most_facts(self.window));
        if let Some(speakers) = &self.rules.speakers {
            index.set_speakers(Arc::clone(speakers));
        }
        index
    }

    /// Reads the facts of all originals at hand that stand; before them what the summaries quote of those that are gone, of which
    /// nothing else is left.
    pub(super) fn read_again(&self) -> Arc<FactIndex> {
        let mut index = self.bounded(FactIndex::new());
        let is_gone = |ordinal| self.originals.get(ordinal).is_none_or(|one| stored::is_gone(&one.message));
        if self.lives_on_summaries()
            || self.standing_originals().any(|original| stored::is_gone(&original.entry.message))
        {
            for record in self.summaries() {
                index.push_summary(&record.text, record.covers.end.saturating_sub(1), is_gone);
            }
        }
        let told =
            self.standing_originals().filter(|original| !self.untold.contains(&original.entry.id.ordinal));
        told.for_each(|original| index.push(&original.clean_entry(self.redactor.as_ref())));
        Arc::new(index)
    }
}

/// Returns how many facts are worth holding for a window: ten times what a summary, a tenth of it, could name.
pub(super) fn most_facts(window: ContextWindow) -> usize {
    usize::try_from(window.window.0).unwrap_or(usize::MAX).max(LEAST_FACTS)
}

/// A bound below this would save nothing.
const LEAST_FACTS: usize = 4_096;
