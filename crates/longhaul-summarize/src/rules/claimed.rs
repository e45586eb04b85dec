//! What persons claim in their newest messages, to find what takes the place of what was said before in plain words.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use hashbrown::HashMap;
use longhaul_extract::{Claim, Decision, sentences, speaker::Speakers};
use longhaul_transcript::{Constraint, Entry, MessageId};

/// All that persons claim in their newest messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Claims {
    all: Vec<Claimed>,
    /// The first message that was read.
    from: u64,
    /// The places of what may take the place of something, oldest first, by the keys of what that may be.
    later: OnceCell<HashMap<u64, Vec<usize>>>,
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

/// A sentence that claims something.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) said: Decision,
    pub(super) claim: Arc<Claim>,
}

impl Claims {
    /// Returns what those `rules` claim that hold, oldest first, however long ago they were said.
    pub(super) fn of_rules(rules: &[Constraint]) -> Claims {
        let holding = rules.iter().filter(|rule| rule.superseded_by.is_none());
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
        let from = users.first().map_or(u64::MAX, |first| first.id.ordinal);
        Claims { all: claims, from, ..Claims::default() }
    }

    /// The first message that was read.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// Returns for each claim in whose place another one stands the last one that does.
    pub(super) fn overtaken(&self) -> impl Iterator<Item = (&Decision, &Decision)> {
        let pairs = self.overtaken.get_or_init(|| self.compared());
        pairs.iter().map(|(was, now)| (&self.all[*was].said, &self.all[*now].said))
    }

    fn compared(&self) -> Vec<(usize, usize)> {
        let all = self.all.iter().enumerate();
        all.filter_map(|(at, was)| Some((at, self.last_over(&was.claim, was.said.message)?))).collect()
    }

    /// Returns the place of the last claim that takes the place of what was claimed in `message`. Of all of them only those are compared
    /// that say the same up to the verb, or name something of it.
    fn last_over(&self, was: &Claim, message: u64) -> Option<usize> {
        let later = self.later.get_or_init(|| self.by_keys());
        let found = was.keys().iter().filter_map(|key| later.get(key));
        let mut found: Vec<usize> =
            found.flatten().copied().filter(|at| self.all[*at].said.message > message).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().rfind(|at| was.is_overtaken_by(&self.all[*at].claim))
    }

    fn by_keys(&self) -> HashMap<u64, Vec<usize>> {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, one) in self.all.iter().enumerate().filter(|(_, one)| one.claim.may_overtake()) {
            for key in one.claim.keys_of_change() {
                places.entry(*key).or_default().push(at);
            }
        }
        places
    }

    /// Returns the last claim that takes the place of what was `decided` in `message`.
    pub(super) fn by(&self, message: u64, decided: &str) -> Option<&Decision> {
        let at = self.last_over(&*Claim::of(decided)?, message)?;
        Some(&self.all[at].said)
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

/// So many bytes of each piece of them.
const MOST_BYTES: usize = 2_000;
