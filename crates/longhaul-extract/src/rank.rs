//! How likely a fact is to be needed again.

use std::fmt::Debug;

use crate::{Domain, Fact, FactClass, FactIndex};

mod subjects;

pub use subjects::{Subject, Subjects};

/// Tells how likely a fact is to be needed again.
///
/// Only the ratios matter: a summary takes the facts with the highest value per token first. Implementors are pure: the
/// same fact in the same context has the same value.
pub trait Ranker: Debug + Send + Sync {
    /// Returns the value of `fact`; zero or less keeps it out.
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
    /// A later user message holds it.
    pub user: f64,
    /// Only tool results have shown it.
    pub untouched: f64,
    /// For each e-fold of messages that mention it.
    pub messages_log: f64,
    /// For each e-fold of its age, in thousands of tokens since the last mention.
    pub age_log: f64,
    /// For each e-fold of the time since the assistant last used it.
    pub idle_log: f64,
    /// It is a path.
    pub path: f64,
    /// It is an identifier.
    pub id: f64,
    /// It is a number.
    pub number: f64,
    /// It is a flag.
    pub flag: f64,
    /// It is an address.
    pub url: f64,
    /// It is a word or a name out of a conversation without tools.
    pub word: f64,
}

impl Weights {
    /// Weights for a kind of work.
    pub fn of(domain: Domain) -> Weights {
        let coding = Weights {
            key: 0.9,
            key_log: 0.0,
            read: 0.0,
            edited: 0.5,
            prose: 0.5,
            body: 0.0,
            task: 0.6,
            user: 0.6,
            untouched: 0.0,
            messages_log: 0.35,
            age_log: -0.45,
            idle_log: -0.25,
            path: 0.6,
            id: 0.2,
            number: -0.8,
            flag: -0.6,
            url: 0.0,
            word: 0.0,
        };
        match domain {
            Domain::Coding => coding,
            Domain::Service => {
                Weights { path: 0.2, id: 1.0, number: 0.5, user: 1.0, age_log: -0.3, ..coding }
            }
            Domain::Talk => coding,
        }
    }
}

impl Ranker for DefaultRanker {
    fn value(&self, fact: &Fact, context: &RankContext) -> f64 {
        let weights = self.weights.unwrap_or_else(|| Weights::of(context.domain));
        score(fact, context.now, &weights).map_or(0.0, f64::exp)
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
        FactClass::Name | FactClass::Word => w.word,
        FactClass::Symbol => 0.0,
    };
    let idle = fact.last_assistant.map_or(NEVER_USED, thousands);
    let score = when(fact.key > 0, w.key)
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
        + w.idle_log * idle
        + class;
    Some(score)
}

/// Stands for the time since the assistant last used what it never used: e^9 thousand tokens (`recallbench`).
const NEVER_USED: f64 = 9.0;
