//! What persons claim in their newest messages, to find what takes the place of what was said before in plain words.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use longhaul_extract::{Claim, Decision, sentences, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry, MessageId};

/// All that persons claim in their newest messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Claims {
    all: Vec<Claimed>,
    /// The first message whose claims are compared with each other.
    from: u64,
    /// The places of claims in whose place another one stands, and of the last one that does: each is compared with all behind it, once.
    overtaken: OnceCell<Vec<(usize, usize)>>,
}

/// What was read last, and in which messages: the drafts of one summary read the same.
#[derive(Debug, Default)]
pub(super) struct LastRead(RefCell<Option<(Vec<MessageId>, Rc<Claims>)>>);

impl LastRead {
    /// Reads the newest of the messages of `users`, which are the oldest first, where they are others than the last time.
    pub(super) fn claims(&self, users: &[&Entry], speakers: &Speakers) -> Rc<Claims> {
        let newest = &users[users.len().saturating_sub(MOST_READ)..];
        let ids: Vec<MessageId> = newest.iter().map(|entry| entry.id).collect();
        let mut last = self.0.borrow_mut();
        match &*last {
            Some((of, claims)) if *of == ids => Rc::clone(claims),
            _ => {
                let claims = Rc::new(Claims::of(newest, speakers));
                *last = Some((ids, Rc::clone(&claims)));
                claims
            }
        }
    }
}

/// A sentence that claims something.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) said: Decision,
    pub(super) claim: Arc<Claim>,
}

impl Claims {
    /// Returns what the newest of those `rules` claim that hold, oldest first, however long ago they were said.
    pub(super) fn of_rules(rules: &[Constraint]) -> Claims {
        let newest = &rules[rules.len().saturating_sub(MOST_COMPARED)..];
        let holding = newest.iter().filter(|rule| rule.superseded_by.is_none());
        let claimed = |rule: &Constraint| {
            let said = Decision { text: rule.text.clone(), message: rule.message };
            Some(Claimed { claim: Claim::of(&rule.text)?, said })
        };
        Claims { all: holding.filter_map(claimed).collect(), ..Claims::default() }
    }

    /// Reads these messages of persons, the oldest first.
    fn of(users: &[&Entry], speakers: &Speakers) -> Claims {
        let mut claims = Vec::new();
        for entry in users {
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
        let compared = &users[users.len().saturating_sub(MOST_COMPARED)..];
        let from = compared.first().map_or(u64::MAX, |first| first.id.ordinal);
        Claims { all: claims, from, ..Claims::default() }
    }

    /// The first message whose claims are compared with each other.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// Returns for each claim in whose place another one stands the last one that does.
    pub(super) fn overtaken(&self) -> impl Iterator<Item = (&Decision, &Decision)> {
        let pairs = self.overtaken.get_or_init(|| self.compared());
        pairs.iter().map(|(was, now)| (&self.all[*was].said, &self.all[*now].said))
    }

    fn compared(&self) -> Vec<(usize, usize)> {
        let newest = self.all.iter().enumerate().filter(|(_, one)| one.said.message >= self.from);
        let later: Vec<(usize, &Claimed)> =
            newest.clone().filter(|(_, one)| one.claim.may_overtake()).collect();
        let overtaken = |(at, was): (usize, &Claimed)| {
            let mut after = later.iter().rev().take_while(|(_, now)| now.said.message > was.said.message);
            Some((at, after.find(|(_, now)| was.claim.is_overtaken_by(&now.claim))?.0))
        };
        newest.filter_map(overtaken).collect()
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
        self.all.iter().rev().take_while(move |one| one.said.message > message)
    }
}

/// So many of the newest messages are read.
const MOST_READ: usize = 120;

/// All claims of so many of the newest messages, and of the newest rules and facts, are compared with each other; decisions with those
/// that are read.
const MOST_COMPARED: usize = 60;

/// So many bytes of each piece of them.
const MOST_BYTES: usize = 2_000;
