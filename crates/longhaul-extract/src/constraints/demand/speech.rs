//! What a person does by a sentence: sets something down for good, tells a fact to go by, settles something, asks for something now, or only
//! talks.
//!
//! Rules and requests begin with the same verbs, facts and remarks have the same frames, and no list of words tells them apart in the words
//! of somebody who was not thought of. So it is weighed: each feature of a sentence adds to each of the five, in whole numbers that were
//! fitted to sentences that people labelled (`weights.txt`, by `cargo xtask bench speech`).

use std::sync::LazyLock;

use hashbrown::HashMap;

mod features;

pub use features::features;

/// What a person does by a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SpeechAct {
    /// It holds from then on, for many later acts or for what is being made.
    Rule,
    /// It tells a fact to go by.
    Fact,
    /// It settles something: chooses, agrees, drops, postpones.
    Decision,
    /// It asks for something that is over once done.
    Request,
    /// It does none of these: remarks, guesses, thanks.
    Talk,
}

impl SpeechAct {
    /// All of them, in the order of the weights.
    pub const ALL: [SpeechAct; 5] =
        [SpeechAct::Rule, SpeechAct::Fact, SpeechAct::Decision, SpeechAct::Request, SpeechAct::Talk];

    /// Returns its name, as sentences are labelled with it.
    pub const fn name(self) -> &'static str {
        match self {
            SpeechAct::Rule => "rule",
            SpeechAct::Fact => "fact",
            SpeechAct::Decision => "decision",
            SpeechAct::Request => "request",
            SpeechAct::Talk => "talk",
        }
    }
}

/// What each feature of a sentence adds to each speech act. The difference of two sums is, in hundredths, the logarithm of how much likelier
/// one is than the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeechWeights<'t> {
    of: HashMap<&'t str, [i16; 5]>,
}

/// The built-in weights.
static BUILTIN: LazyLock<SpeechWeights<'static>> =
    LazyLock::new(|| SpeechWeights::parse(include_str!("speech/weights.txt")));

impl<'t> SpeechWeights<'t> {
    /// Returns the built-in weights.
    pub fn builtin() -> &'static SpeechWeights<'static> {
        &BUILTIN
    }

    /// Reads weights from lines of a feature and five whole numbers, parted by tabs. Other lines are passed over.
    pub fn parse(text: &'t str) -> SpeechWeights<'t> {
        let read = |line: &'t str| {
            let mut parts = line.split('\t');
            let name = parts.next()?;
            let mut weights = [0; 5];
            for weight in &mut weights {
                *weight = parts.next()?.parse().ok()?;
            }
            Some((name, weights))
        };
        SpeechWeights { of: text.lines().filter_map(read).collect() }
    }

    /// Returns the weights of each speech act for a sentence, in the order of [`SpeechAct::ALL`].
    pub fn score(&self, sentence: &str) -> [i32; 5] {
        self.weigh(sentence).0
    }

    /// Returns the same, and whether a word of the sentence forbids or obliges.
    fn weigh(&self, sentence: &str) -> ([i32; 5], bool) {
        let (mut score, mut binds) = ([0; 5], false);
        features(sentence, |feature| {
            binds |= feature == features::BINDS;
            if let Some(weights) = self.of.get(feature) {
                score.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(*weight));
            }
        });
        (score, binds)
    }

    /// Returns what a person most likely does by a sentence: that it tells a fact or sets something down is clearly likelier than all else,
    /// or nearly as likely where a word forbids or obliges.
    pub fn act(&self, sentence: &str) -> SpeechAct {
        if features::is_a_path(sentence) {
            return SpeechAct::Talk;
        }
        let (score, binds) = self.weigh(sentence);
        let likelier = |one: SpeechAct, other: SpeechAct| {
            if score[one as usize] >= score[other as usize] { one } else { other }
        };
        let lasting = likelier(SpeechAct::Rule, SpeechAct::Fact);
        let passing = likelier(likelier(SpeechAct::Talk, SpeechAct::Request), SpeechAct::Decision);
        let margin = match lasting {
            SpeechAct::Fact => FACT_MARGIN,
            _ if binds => BOUND_MARGIN,
            _ => RULE_MARGIN,
        };
        if score[lasting as usize] >= score[passing as usize] + margin { lasting } else { passing }
    }

    /// Returns whether a sentence is far likelier to ask for something now than to set something down.
    pub fn is_request(&self, sentence: &str) -> bool {
        let [rule, _, decision, request, talk] = self.score(sentence);
        request > talk.max(decision).max(rule + REQUEST_MARGIN)
    }
}

// The margins were chosen on the sentences of writers whom the weights were not fitted to (`cargo xtask bench speech`): what a rule more
// costs in requests and talk that are taken for one.

/// So much likelier a rule without a word of duty is than what passes (a request, a decision, talk), in hundredths of the logarithm of odds.
const RULE_MARGIN: i32 = 20;

/// A rule that has one may be a little less likely: many ways of forbidding were not among what was labelled.
const BOUND_MARGIN: i32 = -40;

/// So much likelier a fact is.
const FACT_MARGIN: i32 = 40;

/// So much likelier a request is than a rule where it is to be known that it is no rule.
const REQUEST_MARGIN: i32 = 250;
