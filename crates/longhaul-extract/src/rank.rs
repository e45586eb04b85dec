//! How likely a fact is to be needed again.

use std::fmt::Debug;

use crate::{AtomKind, Domain, Fact, FactClass, FactIndex, Said};

mod common;
mod subjects;

pub use subjects::{Subject, Subjects};

/// Tells how likely a fact is to be needed again.
///
/// A summary by rule is made of statements, which are weighed by what they say. What a ranker values comes on top: a statement gains by
/// the facts that it names first, and so does a message that is quoted again. Implementors are pure: the same fact in the same context has
/// the same value. They must not panic: nobody catches it.
pub trait Ranker: Debug + Send + Sync {
    /// Returns the value of `fact`: best a probability from 0.0 to 1.0, of which a statement gains a little. Above 1.0, up to 20.0, a fact
    /// must stay: a statement that names it comes before what is chosen by its weight. Zero, less or NaN adds nothing, and takes no
    /// statement out.
    fn value(&self, fact: &Fact, context: &RankContext) -> f64;
}

/// What a ranker knows beside the fact itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RankContext {
    /// What kind of work the conversation is.
    pub domain: Domain,
    /// How far it has come, in tokens (bytes / 4).
    pub now: u32,
    /// The words of what was said last.
    pub said: Said,
}

impl RankContext {
    /// Returns the context that `index` gives.
    pub fn of(index: &FactIndex) -> RankContext {
        RankContext { domain: index.domain(), now: index.tokens_read(), said: index.said() }
    }
}

/// The ranker used where none is given: a log-linear score by who touched a fact, how widely it is spread and how long
/// ago it was seen, with weights for each [`Domain`]. The derivation of the weights is in `docs/ranking.md`.
#[derive(Clone, Debug, Default)]
pub struct DefaultRanker {
    /// Weights to use instead of the domain's own.
    pub weights: Option<Weights>,
}

/// Declares [`Weights`] with its names and its form as an array, in one order.
macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Log-odds for each property of a fact.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct Weights {
            $($(#[doc = $doc])+ pub $name: f64,)+
        }

        impl Weights {
            /// The names of the properties, in the order of [`features`].
            pub const NAMES: [&str; COUNT] = [$(stringify!($name)),+];

            /// Returns weights out of an array in the order of [`NAMES`](Self::NAMES).
            pub const fn from_array([$($name),+]: [f64; COUNT]) -> Weights {
                Weights { $($name),+ }
            }

            /// Returns the weights in the order of [`NAMES`](Self::NAMES).
            pub const fn to_array(&self) -> [f64; COUNT] {
                [$(self.$name),+]
            }
        }

        /// How many properties of a fact are weighed.
        const COUNT: usize = [$(stringify!($name)),+].len();
    };
}

weights! {
    /// Where the scale begins: the log-odds of a fact without any of the properties below.
    base,
    /// A key field of a call names it.
    key,
    /// For each e-fold of key uses.
    key_log,
    /// A call reads it.
    read,
    /// A call writes or edits it.
    edited,
    /// The assistant's prose names it.
    prose,
    /// Text being written holds it.
    body,
    /// The first user message holds it.
    task,
    /// A later user message holds it, and the first does not.
    user,
    /// Only tool results have shown it.
    untouched,
    /// The assistant never used it.
    unused,
    /// For each e-fold of messages that mention it.
    messages_log,
    /// For each e-fold of its age, in thousands of tokens since the last mention.
    age_log,
    /// For each e-fold of the time since the assistant last used it.
    idle_log,
    /// It is a path.
    path,
    /// It is a path without an extension: mostly a directory.
    directory,
    /// It is an identifier.
    id,
    /// It is a number.
    number,
    /// It is a flag.
    flag,
    /// It is an address.
    url,
    /// It is a dotted or a snake-case name.
    compound,
    /// Everyone knows it: it stands in many public projects.
    common,
    /// It is a path outside of the work: devices, system libraries, fetched dependencies.
    foreign,
    /// It may be two words with a slash between: `and/or`.
    wordy,
    /// For each e-fold of the facts that stand in the smallest message that mentions it.
    crowd_log,
    /// For the share of the words in its name that were said recently.
    recent,
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

/// Halfway between two fits by logistic regression on the recorded coding sessions, without and with the crowd, rounded
/// (`docs/ranking.md`). A later user message is kept at zero where the fit says -0.2: in the recordings such messages are
/// mostly pasted output. Foreign and wordy paths are set by hand: there are too few to be fitted.
const CODING: Weights = Weights {
    base: -2.3,
    key: 0.6,
    key_log: 0.25,
    read: 0.45,
    edited: 0.65,
    prose: 0.8,
    body: -0.6,
    task: 0.95,
    user: 0.0,
    untouched: -0.55,
    unused: -0.75,
    messages_log: 0.28,
    age_log: -0.23,
    idle_log: -0.12,
    path: 0.5,
    directory: -0.1,
    id: 0.25,
    number: -0.5,
    flag: 0.0,
    url: -0.7,
    compound: 0.0,
    common: -1.9,
    foreign: -1.5,
    wordy: -1.0,
    crowd_log: -0.25,
    recent: 1.5,
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
    foreign: 0.0,
    wordy: 0.0,
    crowd_log: 0.0,
    recent: 0.0,
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
    foreign: 0.0,
    wordy: 0.0,
    crowd_log: 0.0,
    recent: 0.0,
};

impl Ranker for DefaultRanker {
    fn value(&self, fact: &Fact, context: &RankContext) -> f64 {
        if context.domain != Domain::Talk && matches!(fact.class(), FactClass::Name | FactClass::Word) {
            return 0.0;
        }
        let weights = self.weights.unwrap_or_else(|| Weights::of(context.domain));
        score(fact, context, &weights).map_or(0.0, |score| 1.0 / (1.0 + (-score).exp()))
    }
}

/// Returns the properties of `fact`, as the numbers that [`Weights`] weigh; `None` for what needs no keeping.
pub fn features(fact: &Fact, context: &RankContext) -> Option<[f64; COUNT]> {
    if fact.standing || fact.mentions == 0 {
        return None;
    }
    let thousands = |at: u32| (f64::from(context.now.saturating_sub(at)) / 1000.0).ln_1p();
    let is = |test: bool| f64::from(u8::from(test));
    let class = fact.class();
    let is_directory = fact.kind == AtomKind::Path && !last_name(&fact.name).contains('.');
    let properties = Weights {
        base: 1.0,
        key: is(fact.key > 0),
        key_log: f64::from(fact.key).ln_1p(),
        read: is(fact.read > 0),
        edited: is(fact.edited > 0),
        prose: is(fact.prose > 0),
        body: is(fact.body > 0),
        task: is(fact.in_task),
        user: is(fact.user > 0 && !fact.in_task),
        untouched: is(fact.is_untouched()),
        unused: is(fact.last_assistant.is_none()),
        messages_log: f64::from(fact.messages).ln_1p(),
        age_log: thousands(fact.last),
        idle_log: fact.last_assistant.map_or(0.0, thousands),
        path: is(class == FactClass::Path),
        directory: is(is_directory),
        id: is(class == FactClass::Id),
        number: is(class == FactClass::Number),
        flag: is(class == FactClass::Flag),
        url: is(class == FactClass::Url),
        compound: is(matches!(fact.kind, AtomKind::Dotted | AtomKind::Snake)),
        common: is(common::is_common(&fact.name)),
        foreign: is(class == FactClass::Path && is_foreign(&fact.name)),
        wordy: is(class == FactClass::Path && fact.key == 0 && is_wordy(&fact.name)),
        crowd_log: f64::from(fact.crowd).ln_1p(),
        recent: context.said.share(&fact.name),
    };
    Some(properties.to_array())
}

fn score(fact: &Fact, context: &RankContext, weights: &Weights) -> Option<f64> {
    let features = features(fact, context)?;
    Some(features.iter().zip(weights.to_array()).map(|(feature, weight)| feature * weight).sum())
}

fn last_name(path: &str) -> &str {
    memchr::memrchr(b'/', path.as_bytes()).map_or(path, |slash| &path[slash + 1..])
}

/// Whether a path lies outside of any project: a device, the system's or a toolchain's own files, fetched dependencies.
fn is_foreign(path: &str) -> bool {
    const ROOTS: [&str; 6] = ["/dev/", "/proc/", "/rustc/", "/usr/", "/lib/", "/sys/"];
    const PARTS: [&str; 4] = ["node_modules/", "site-packages/", ".cargo/registry/", ".rustup/"];
    ROOTS.iter().any(|root| path.starts_with(root)) || PARTS.iter().any(|part| path.contains(part))
}

/// Whether a path may as well be two or three words with slashes between.
fn is_wordy(path: &str) -> bool {
    let parts = || path.split('/');
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    (2..=3).contains(&parts().count()) && parts().all(plain)
}
