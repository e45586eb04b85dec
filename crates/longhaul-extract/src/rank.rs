//! How likely a fact is to be needed again.

use std::fmt::Debug;

use crate::{AtomKind, Domain, Fact, FactClass, FactIndex};

mod common;
mod subjects;

pub use subjects::{Subject, Subjects};

/// Tells how likely a fact is to be needed again.
///
/// Only the ratios matter: a summary takes the facts with the highest value per token first. Implementors are pure: the
/// same fact in the same context has the same value.
pub trait Ranker: Debug + Send + Sync {
    /// Returns the value of `fact`, best a probability from 0.0 to 1.0; zero or less keeps it out.
    fn value(&self, fact: &Fact, context: &RankContext) -> f64;
}

/// What a ranker knows beside the fact itself.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RankContext {
    /// What kind of work the conversation is.
    pub domain: Domain,
    /// How far it has come, in tokens (bytes / 4).
    pub now: u32,
}

impl RankContext {
    /// Returns the context that `index` gives.
    pub fn of(index: &FactIndex) -> RankContext {
        RankContext { domain: index.domain(), now: index.tokens_read() }
    }
}

/// The ranker used where none is given: a log-linear score by who touched a fact, how widely it is spread and how long
/// ago it was seen, with weights for each [`Domain`]. The derivation of the weights is in `docs/ranking.md`.
#[derive(Clone, Debug, Default)]
pub struct DefaultRanker {
    /// Weights to use instead of the domain's own.
    pub weights: Option<Weights>,
}

/// Log-odds for each property of a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Weights {
    /// Where the scale begins: the log-odds of a fact without any of the properties below.
    pub base: f64,
    /// A key field of a call names it.
    pub key: f64,
    /// For each e-fold of key uses.
    pub key_log: f64,
    /// A call reads it.
    pub read: f64,
    /// A call writes or edits it.
    pub edited: f64,
    /// The assistant's prose names it.
    pub prose: f64,
    /// Text being written holds it.
    pub body: f64,
    /// The first user message holds it.
    pub task: f64,
    /// A later user message holds it, and the first does not.
    pub user: f64,
    /// Only tool results have shown it.
    pub untouched: f64,
    /// The assistant never used it.
    pub unused: f64,
    /// For each e-fold of messages that mention it.
    pub messages_log: f64,
    /// For each e-fold of its age, in thousands of tokens since the last mention.
    pub age_log: f64,
    /// For each e-fold of the time since the assistant last used it.
    pub idle_log: f64,
    /// It is a path.
    pub path: f64,
    /// It is a path without an extension: mostly a directory.
    pub directory: f64,
    /// It is an identifier.
    pub id: f64,
    /// It is a number.
    pub number: f64,
    /// It is a flag.
    pub flag: f64,
    /// It is an address.
    pub url: f64,
    /// It is a dotted or a snake-case name.
    pub compound: f64,
    /// Everyone knows it: it stands in many public projects.
    pub common: f64,
}

impl Weights {
    /// Weights for a kind of work.
    pub fn of(domain: Domain) -> Weights {
        match domain {
            Domain::Coding => CODING,
            Domain::Service => SERVICE,
            Domain::Talk => TALK,
        }
    }
}

/// Fitted by logistic regression on the recorded coding sessions, each project left out in turn, and rounded
/// (`docs/ranking.md`). A later user message is kept at zero where the fit says -0.6: in the recordings such messages
/// are mostly pasted output.
const CODING: Weights = Weights {
    base: -3.0,
    key: 0.85,
    key_log: 0.15,
    read: 0.2,
    edited: 0.8,
    prose: 0.9,
    body: -0.6,
    task: 0.95,
    user: 0.0,
    untouched: -0.6,
    unused: -0.95,
    messages_log: 0.35,
    age_log: -0.2,
    idle_log: -0.12,
    path: 0.6,
    directory: -0.1,
    id: 0.3,
    number: -0.5,
    flag: 0.0,
    url: -1.0,
    compound: 0.2,
    common: -1.8,
};

/// Fitted on the recorded customer-service sessions in the same way: what was looked up comes back.
const SERVICE: Weights = Weights {
    base: -3.0,
    key: 0.6,
    key_log: 1.0,
    read: 0.0,
    edited: -0.5,
    prose: 1.2,
    body: 0.0,
    task: 0.5,
    user: 1.4,
    untouched: 0.0,
    unused: 0.0,
    messages_log: 0.2,
    age_log: -0.35,
    idle_log: -0.5,
    path: 0.0,
    directory: 0.0,
    id: 1.4,
    number: 0.5,
    flag: 0.0,
    url: -2.0,
    compound: 0.0,
    common: -2.0,
};

/// Spread and recency, and no tools to learn from.
const TALK: Weights = Weights {
    base: -3.0,
    key: 0.0,
    key_log: 0.0,
    read: 0.0,
    edited: 0.0,
    prose: 0.0,
    body: 0.0,
    task: 0.0,
    user: 0.0,
    untouched: 0.0,
    unused: 0.0,
    messages_log: 0.6,
    age_log: -0.4,
    idle_log: 0.0,
    path: 0.3,
    directory: 0.0,
    id: 0.2,
    number: 0.0,
    flag: 0.0,
    url: 0.0,
    compound: 0.0,
    common: -3.0,
};

impl Ranker for DefaultRanker {
    fn value(&self, fact: &Fact, context: &RankContext) -> f64 {
        if context.domain != Domain::Talk && matches!(fact.class(), FactClass::Name | FactClass::Word) {
            return 0.0;
        }
        let weights = self.weights.unwrap_or_else(|| Weights::of(context.domain));
        score(fact, context.now, &weights).map_or(0.0, |score| 1.0 / (1.0 + (-score).exp()))
    }
}

fn score(fact: &Fact, now: u32, w: &Weights) -> Option<f64> {
    if fact.standing || fact.mentions == 0 {
        return None;
    }
    let thousands = |at: u32| (f64::from(now.saturating_sub(at)) / 1000.0).ln_1p();
    let when = |test: bool, weight: f64| if test { weight } else { 0.0 };
    let class = match fact.class() {
        FactClass::Path => w.path,
        FactClass::Id => w.id,
        FactClass::Number => w.number,
        FactClass::Flag => w.flag,
        FactClass::Url => w.url,
        _ => 0.0,
    };
    let is_directory = fact.kind == AtomKind::Path && !last_name(&fact.name).contains('.');
    let score = w.base
        + when(fact.key > 0, w.key)
        + w.key_log * f64::from(fact.key).ln_1p()
        + when(fact.read > 0, w.read)
        + when(fact.edited > 0, w.edited)
        + when(fact.prose > 0, w.prose)
        + when(fact.body > 0, w.body)
        + when(fact.in_task, w.task)
        + when(fact.user > 0 && !fact.in_task, w.user)
        + when(fact.is_untouched(), w.untouched)
        + w.messages_log * f64::from(fact.messages).ln_1p()
        + w.age_log * thousands(fact.last)
        + fact.last_assistant.map_or(w.unused, |used| w.idle_log * thousands(used))
        + when(is_directory, w.directory)
        + when(matches!(fact.kind, AtomKind::Dotted | AtomKind::Snake), w.compound)
        + when(common::is_common(&fact.name), w.common)
        + class;
    Some(score)
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
