//! What persons claim in their newest messages, to find what takes the place of what was said before in plain words.

use longhaul_extract::{Claim, Decision, sentences, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry};

/// All that persons claim in their newest messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Claims(Vec<Claimed>);

/// A sentence that claims something.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) said: Decision,
    pub(super) claim: Claim,
}

impl Claims {
    /// Returns what those of `rules` claim that hold, oldest first, however long ago they were said.
    pub(super) fn of_rules(rules: &[Constraint]) -> Claims {
        let holding = rules.iter().filter(|rule| rule.superseded_by.is_none());
        let claimed = |rule: &Constraint| {
            let said = Decision { text: rule.text.clone(), message: rule.message };
            Some(Claimed { claim: Claim::of(&rule.text)?, said })
        };
        Claims(holding.filter_map(claimed).collect())
    }

    /// Reads the newest of the messages of `users`, which are the oldest first.
    pub(super) fn of(users: &[&Entry], speakers: &Speakers) -> Claims {
        let mut claims = Vec::new();
        for entry in &users[users.len().saturating_sub(MOST_READ)..] {
            let said = speakers.segments(&entry.message);
            for piece in said.iter().filter(|piece| piece.is_persons() && piece.inner.is_none()) {
                let start = &piece.text[..piece.text.floor_char_boundary(MOST_BYTES)];
                let claimed = |text: String| {
                    let claim = Claim::of(&text)?;
                    Some(Claimed { claim, said: Decision { text, message: entry.id.ordinal } })
                };
                claims.extend(sentences(start).filter_map(claimed));
            }
        }
        Claims(claims)
    }

    /// Returns for each claim in whose place another one stands the last one that does.
    pub(super) fn overtaken(&self) -> impl Iterator<Item = (&Decision, &Decision)> {
        let later: Vec<&Claimed> = self.0.iter().rev().filter(|one| one.claim.may_overtake()).collect();
        self.0.iter().filter_map(move |was| {
            let mut after = later.iter().take_while(|now| now.said.message > was.said.message);
            let now = after.find(|now| was.claim.is_overtaken_by(&now.claim))?;
            Some((&was.said, &now.said))
        })
    }

    /// Returns the last claim that takes the place of what was `decided` in `message`.
    pub(super) fn by(&self, message: u64, decided: &str) -> Option<&Decision> {
        let was = Claim::of(decided)?;
        let is_over = |one: &&Claimed| one.claim.may_overtake() && was.is_overtaken_by(&one.claim);
        self.after(message).find(is_over).map(|one| &one.said)
    }

    /// Returns whether a person names later what was `decided` in `message`: it may hold no more.
    pub(super) fn name(&self, message: u64, decided: &str) -> bool {
        let was = Claim::of(decided);
        was.is_some_and(|was| self.after(message).any(|one| was.is_named_by(&one.claim)))
    }

    fn after(&self, message: u64) -> impl Iterator<Item = &Claimed> {
        self.0.iter().rev().take_while(move |one| one.said.message > message)
    }
}

/// So many of the newest messages are read.
const MOST_READ: usize = 400;

/// So many bytes of each piece of them.
const MOST_BYTES: usize = 2_000;
