//! The soft tier: old tool results digested, or units dropped by priority, without a summary.

use std::sync::Arc;

use longhaul_transcript::{Entry, Message, Span, Tokens, Unit, Units};
use longhaul_trim::{Candidate, Fate, Priority};

use super::{
    DIGESTED_RESULT, Rewrite, RewriteError, SessionState, Shown,
    items::Placed,
    rewrite::{Counted, counted, of_kept},
};
use crate::{
    compact::{
        KeepReasoning, Kept, Outcome,
        digest::{Caps, Shortener},
        ranked::Ranked,
        standing,
    },
    config::Config,
    policy::{Action, Reason},
};

/// A unit of the view with what it could become.
struct Part<'a> {
    unit: Unit<'a>,
    /// Index of its first message among the view's messages.
    at: usize,
    tokens: Tokens,
    digest: Option<(Vec<Kept>, Tokens)>,
    priority: Priority,
}

impl SessionState {
    /// Rewrites the view without a summary, down to the target: [`Action::SoftDigest`] puts facts in the place of tool
    /// results, [`Action::SoftTrim`] drops whole units as well. The tail, an open exchange, the first request and
    /// standing instructions stay as they are.
    ///
    /// # Errors
    /// When that frees nothing. The state is then as it was.
    pub fn soften(
        &mut self,
        action: Action,
        reason: Reason,
        now_ms: Option<i64>,
    ) -> Result<Rewrite, RewriteError> {
        let before = self.measure(now_ms);
        let is_front =
            |placed: &&Placed| matches!(placed.shown, Shown::Block { .. }) || placed.shown.is_instruction();
        let front = self.items.placed().take_while(is_front).count();
        let is_summary = |(at, placed): (usize, &Placed)| placed.shown.record().map(|_| at + 1);
        let fixed = self.items.placed().enumerate().filter_map(is_summary).last().unwrap_or(front);
        let entries = self.view_entries(fixed);
        let parts = self.parts(&entries);
        let loose: Tokens = parts.iter().map(|part| part.tokens).sum();
        let target = self.scale().countable(self.limits().target);
        let budget = target - (self.counted() - loose);
        let fates = match action {
            Action::SoftTrim => trim(&parts, budget),
            _ => digest(&parts, budget),
        };

        let mut outcome = Outcome { kept_verbatim: fixed, ..Outcome::default() };
        let mut shown: Vec<Counted> = self.items.placed().take(fixed).map(counted).collect();
        for (part, fate) in parts.into_iter().zip(fates) {
            let (at, len) = (fixed + part.at, part.unit.entries.len());
            match (fate, part.digest) {
                (Fate::Keep, _) | (Fate::Digest, None) => {
                    outcome.kept_verbatim += len;
                    shown.extend(self.items.placed().skip(at).take(len).map(counted));
                }
                (Fate::Digest, Some((kept, _))) => {
                    let digested = kept.iter().filter(|kept| kept.digested).count();
                    outcome.digested += digested;
                    outcome.kept_verbatim += len - digested;
                    let as_it_is = self.items.placed().skip(at).take(len).map(counted);
                    shown.extend(kept.into_iter().zip(as_it_is).map(|(kept, was)| match kept.digested {
                        true => (of_kept(kept), None),
                        false => was,
                    }));
                }
                (Fate::Drop, _) => outcome.dropped += len,
            }
        }
        let (tokens_before, tokens_after) = self.replace_view(shown, (action, reason), &before, false)?;
        let outcome = Outcome { tokens_before, tokens_after, ..outcome };
        Ok(Rewrite { action, reason, record: None, cut: None, outcome })
    }

    /// Returns the messages of the view from element `fixed` on, as entries with the content that is shown, without secrets: a shorter
    /// form is stored, and is to be the same when it comes back.
    fn view_entries(&self, fixed: usize) -> Vec<Entry> {
        let redactor = self.redactor.as_ref();
        let clean = |ordinal| self.originals.original(ordinal)?.clean(redactor);
        let entry = |shown: &Shown| match shown {
            Shown::Message { id, message, digested } => {
                let clean = clean(id.ordinal).filter(|_| !digested).map(|clean| &clean.message);
                Some(Entry { id: *id, lineage: id.hash, message: Arc::clone(clean.unwrap_or(message)) })
            }
            _ => None,
        };
        self.items.shown().skip(fixed).filter_map(entry).collect()
    }

    fn parts<'a>(&self, entries: &'a [Entry]) -> Vec<Part<'a>> {
        let first = self.originals.originals(self.firsts());
        let task = first.map(|original| &original.entry).find(|entry| standing::is_request(&entry.message));
        let mut ranked = Ranked::new(entries, task.map(|entry| entry.id.ordinal));
        let tail = self.config.preserve_recent.max(Config::MIN_TAIL);
        let tail_from = self.n_total().saturating_sub(tail);
        let mut at = 0;
        let part = |unit: Unit<'a>| {
            let last = unit.entries.last().map(|entry| entry.id.ordinal);
            let is_recent = last.is_some_and(|last| last >= tail_from);
            let priority = ranked.next(unit, |entry| {
                let ordinal = entry.id.ordinal;
                is_recent || self.is_pin(ordinal, &entry.message) || self.request == Some(ordinal)
            });
            let start = at;
            at += unit.entries.len();
            Part {
                unit,
                at: start,
                tokens: self.cost_in_view(unit),
                digest: self.digested(unit, priority),
                priority,
            }
        };
        Units::new(entries).map(part).collect()
    }

    fn cost_in_view(&self, unit: Unit<'_>) -> Tokens {
        let cost = |entry: &Entry| self.items.get(entry.id.ordinal).map(|placed| placed.counts.total());
        unit.entries.iter().filter_map(cost).sum()
    }

    /// Returns the unit with its tool results digested and what that costs, where it may be and where it helps.
    fn digested(&self, unit: Unit<'_>, priority: Priority) -> Option<(Vec<Kept>, Tokens)> {
        if priority == Priority::Pinned || !unit.messages().any(|message| message.results().next().is_some())
        {
            return None;
        }
        let details = self.config.preserve_error_details;
        let shortener = Shortener::new(unit.entries, &*self.counter, KeepReasoning::Keep, details);
        let kept = shortener.shorten_all(unit.entries, Caps::results(DIGESTED_RESULT.0));
        let cost = |message: &Message| self.counter.count_message(message);
        let tokens: Tokens = kept.iter().map(|kept| cost(&kept.message)).sum();
        let is_whole = kept.len() == unit.entries.len();
        (is_whole && tokens < self.cost_in_view(unit)).then_some((kept, tokens))
    }
}

/// Digests first, then drops, within `budget`.
fn trim(parts: &[Part<'_>], budget: Tokens) -> Vec<Fate> {
    let candidates: Vec<Candidate> = parts
        .iter()
        .map(|part| {
            let candidate = Candidate::new(span(part), part.priority, part.tokens);
            part.digest.as_ref().map_or(candidate, |(_, tokens)| candidate.with_digest(*tokens))
        })
        .collect();
    longhaul_trim::plan(&candidates, budget).actions
}

/// Digests within `budget` and drops nothing: to the planner, what a digest frees is all there is of a unit.
fn digest(parts: &[Part<'_>], budget: Tokens) -> Vec<Fate> {
    let least = |part: &Part<'_>| part.digest.as_ref().map_or(part.tokens, |(_, tokens)| *tokens);
    let candidates: Vec<Candidate> = parts
        .iter()
        .map(|part| Candidate::new(span(part), part.priority, part.tokens - least(part)))
        .collect();
    let rest = budget - parts.iter().map(least).sum();
    let fate = |fate: Fate| if fate == Fate::Drop { Fate::Digest } else { fate };
    longhaul_trim::plan(&candidates, rest).actions.into_iter().map(fate).collect()
}

fn span(part: &Part<'_>) -> Span {
    part.unit.span()
}
