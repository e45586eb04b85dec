//! What persons claim in their newest messages, to find what takes the place of what was said before in plain words.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use longhaul_extract::{Claim, Decision, sentences, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry, MessageId};

/// All that persons claim in their newest messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Claims {
    said: Vec<Decision>,
    claims: longhaul_extract::Claims,
    /// The first message that was read.
    from: u64,
    /// The places of claims in whose place another one stands, and of the last one that does.
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

impl Claims {
    /// Returns what those `rules` claim that hold, oldest first, however long ago they were said.
    pub(super) fn of_rules(rules: &[Constraint]) -> Claims {
        let holding = rules.iter().filter(|rule| rule.superseded_by.is_none());
        Claims::new(
            holding.map(|rule| Decision { text: rule.text.clone(), message: rule.message }),
            u64::default(),
        )
    }

    /// Reads these messages of persons, the oldest first.
    fn of(users: &[&Entry], speakers: &Speakers) -> Claims {
        let said = users.iter().flat_map(|entry| {
            let pieces = speakers.segments(&entry.message);
            let persons = pieces.iter().filter(|piece| piece.is_persons() && piece.inner.is_none());
            let texts = persons.flat_map(|piece| {
                let start = &piece.text[..piece.text.floor_char_boundary(MOST_BYTES)];
                sentences(start).map(|text| Decision { text, message: entry.id.ordinal })
            });
            texts.collect::<Vec<_>>()
        });
        Claims::new(said, users.first().map_or(u64::MAX, |first| first.id.ordinal))
    }

    fn new(said: impl Iterator<Item = Decision>, from: u64) -> Claims {
        let (claims, said) = said.filter_map(|said| Some((Claim::of(&said.text)?, said))).unzip();
        Claims { claims: longhaul_extract::Claims::new(claims), said, from, overtaken: OnceCell::new() }
    }

    /// The first message that was read.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// Returns for each claim in whose place another one stands the last one that does.
    pub(super) fn overtaken(&self) -> impl Iterator<Item = (&Decision, &Decision)> {
        let pairs = self.overtaken.get_or_init(|| self.compared());
        pairs.iter().map(|(was, now)| (&self.said[*was], &self.said[*now]))
    }

    fn compared(&self) -> Vec<(usize, usize)> {
        let all = self.claims.all().iter().enumerate();
        all.filter_map(|(at, was)| Some((at, self.last_over(was, self.said[at].message)?))).collect()
    }

    /// Returns the place of the last claim that takes the place of what was claimed in `message`.
    fn last_over(&self, was: &Claim, message: u64) -> Option<usize> {
        self.claims.last_over(was, self.said.partition_point(|said| said.message <= message))
    }

    /// Returns the last claim that takes the place of what was `decided` in `message`.
    pub(super) fn by(&self, message: u64, decided: &str) -> Option<&Decision> {
        Some(&self.said[self.last_over(&*Claim::of(decided)?, message)?])
    }

    /// Returns whether a person names later what was `decided` in `message`: it may hold no more.
    pub(super) fn name(&self, message: u64, decided: &str) -> bool {
        let after = self.said.partition_point(|said| said.message <= message);
        let was = Claim::of(decided);
        was.is_some_and(|was| self.claims.all()[after..].iter().any(|now| was.is_named_by(now)))
    }
}

/// So many of the newest messages are read.
const MOST_READ: usize = 120;

/// So many bytes of each piece of them.
const MOST_BYTES: usize = 2_000;
