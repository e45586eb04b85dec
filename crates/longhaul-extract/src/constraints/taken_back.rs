//! What somebody takes back without saying it again: "forget what I said about the colours", "never mind that, use tabs".
//!
//! A demand is marked only where it is certain that it is meant; else both stand, the newer beside the older. Words that are alike are
//! never certain enough to lose what somebody said: what takes something back, or may, is a demand itself and told as such.

use std::sync::Arc;

use hashbrown::HashSet;
use longhaul_transcript::Constraint;

use crate::claims::{Claim, Claims};

use super::{
    Demand, Found, content_words,
    markers::{Revocation, lifts, revocation},
    telling::{Lifting, Telling},
};

/// What was said before a message in which something is taken back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Ordinal of the last message in which a person said something.
    pub(super) said: Option<u64>,
    /// Whether the model asked something since: what is meant may be its question.
    pub(super) was_asked: bool,
}

/// Marks the demands of earlier messages that the sentence `by` takes back by saying something else of the same thing: it has half of
/// their telling words, two at least where they have as many.
/// Returns whether there is one.
pub(super) fn by_its_words(by: &str, message: u64, found: &mut [Found]) -> bool {
    let Some(how) = revocation(by).filter(|how| is_told(*how, by)) else { return false };
    let by = (by, Telling::of(by));
    let mut takes = false;
    for Found { demand, telling } in found.iter_mut().filter(|found| stands(&found.demand, message)) {
        if takes_back(how, (by.0, &by.1), (&demand.text, telling)) {
            demand.superseded_by = Some(message);
            takes = true;
        }
    }
    takes
}

fn stands(demand: &Demand, message: u64) -> bool {
    demand.message < message && demand.superseded_by.is_none()
}

/// Returns whether `sentence` allows or changes what a rule that stands may be of: "you may push", or "the freeze is over" of whatever
/// it was called. Nothing is taken back by that: both are told.
pub(super) fn may_lift_any(sentence: &str, message: u64, found: &[Found]) -> bool {
    let mut standing = found.iter().filter(|found| stands(&found.demand, message)).peekable();
    if standing.peek().is_none() {
        return false;
    }
    let (by, lifts) = (Lifting::by(sentence), lifts(sentence));
    standing.any(|found| {
        by.as_ref().as_ref().is_some_and(|by| found.telling.may_be_lifted(by))
            || found.telling.forbids && lifts
    })
}

/// Returns for each of `rules` the places of those before it that it takes back, or may: it binds as much as they do.
pub fn lifted_by_each(rules: &[Constraint]) -> Vec<Vec<usize>> {
    let telling: Vec<Arc<Telling>> = rules.iter().map(|rule| Telling::of(&rule.text)).collect();
    let over = overtaken(&telling);
    let of = |(place, by): (usize, &Constraint)| {
        let lifting = Lifting::by(&by.text);
        let may = |(at, rule): (usize, &Constraint)| {
            let is_before = rule.message < by.message && rule.superseded_by.is_none();
            let lifts = |lifting: &Lifting| {
                over.contains(&(at, place)) && telling[at].is_of_the_same(lifting)
                    || telling[at].may_be_allowed(lifting)
            };
            is_before && lifting.as_ref().as_ref().is_some_and(lifts)
        };
        let is_one = |at: usize, rule: &Constraint| rule.superseded_by == Some(by.message) || may((at, rule));
        rules.iter().enumerate().filter(|(at, rule)| is_one(*at, rule)).map(|(at, _)| at).collect()
    };
    rules.iter().enumerate().map(of).collect()
}

/// Returns the places of claims in whose place a later one stands, with that of the later.
fn overtaken(telling: &[Arc<Telling>]) -> HashSet<(usize, usize)> {
    let claimed = telling.iter().enumerate().filter_map(|(at, one)| Some((at, one.claim.clone()?)));
    let (places, claims): (Vec<usize>, Vec<Arc<Claim>>) = claimed.unzip();
    let claims = Claims::new(claims);
    let all = claims.all().iter().enumerate();
    let over = all.flat_map(|(at, was)| {
        let later = claims.linked(was, at + 1).into_iter();
        let over = later.filter(|(by, link)| was.is_overtaken_by(&claims.all()[*by], *link));
        over.map(|(by, _)| (places[at], places[by])).collect::<Vec<_>>()
    });
    over.collect()
}

/// Returns `sentence` with what follows where it says too little by itself ("Scratch that." "Use spaces."), or is limited or turned
/// round by that ("Except for deploy/.").
pub(super) fn with_what_follows(sentence: &str, next: Option<&str>) -> String {
    let says_little = sentence.chars().count() < LITTLE;
    let limits = |next: &&str| {
        let lower = next.to_lowercase().replace('’', "'");
        LIMITS
            .iter()
            .any(|word| lower.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    };
    match next.filter(|next| (says_little || limits(next)) && next.chars().count() < FOLLOWS) {
        Some(next) => format!("{sentence} {next}"),
        None => sentence.to_owned(),
    }
}

/// A sentence of fewer characters is told with the next.
const LITTLE: usize = 30;

/// One of more characters is not told with the one before.
const FOLLOWS: usize = 200;

/// How a sentence begins that limits or turns round the one before.
const LIMITS: [&str; 16] = [
    "except", "but", "and", "only", "not", "unless", "though", "however", "it's", "it is", "that's", "no",
    "aber", "außer", "pero", "mais",
];

/// Two rules may be alike and both hold: "from now on never touch the table of orders" leaves that of users alone. What is wrongly
/// told as taken back is lost; what stands beside what takes it back is not: in doubt both stand.
fn takes_back(how: Revocation, by: (&str, &Telling), earlier: (&str, &Telling)) -> bool {
    let ((by, now), (earlier, was)) = (by, earlier);
    let shared = was.words.intersection(&now.words).count();
    if shared * 2 < was.words.len() || shared < was.words.len().clamp(1, 2) {
        return false;
    }
    if was.naming.is_of_another(&now.naming)
        || was.lets_go && now.lets_go && !was.permits && shared < was.words.len()
    {
        return false;
    }
    match (was.forbids, now.forbids) {
        // What is forbidden beside something else that is forbidden takes the place of nothing.
        (true, true) => false,
        // A ban is lifted of all that it named, or it stands.
        (true, false) if shared < was.words.len() => false,
        (was_forbidden, is_forbidden) => match how {
            Revocation::LetsGo => true,
            Revocation::Corrects => !adds(by) && (was_forbidden != is_forbidden || !says_again(by, earlier)),
            Revocation::SetsAnew => was_forbidden != is_forbidden && says_nothing_else(by, earlier),
        },
    }
}

/// Returns whether a sentence tells somebody what holds from now on: no question, no account of what was done, and what takes back
/// stands where such a sentence begins.
fn is_told(how: Revocation, by: &str) -> bool {
    let lower = by.to_lowercase().replace('’', "'");
    let is_account = words(&lower).any(|word| ["did", "why", "du", "hast"].contains(&&*word));
    if is_account || lower.trim_end().ends_with(['?', '？']) || lower.contains("instead of") {
        return false;
    }
    // What is to be ignored is named by its subject (see [`about`]), or is something else that the words are of as well.
    let ignores = ["ignore", "disregard", "drop the"].iter().any(|word| lower.contains(word));
    let inside = |word: &&str| lower.find(*word).is_some_and(|at| !begins(&lower[..at]));
    match how {
        Revocation::LetsGo => {
            !ignores && !["forget", "never mind", "nevermind", "scratch that"].iter().any(inside)
        }
        Revocation::Corrects => !["actually", "doch"].iter().any(inside),
        Revocation::SetsAnew => true,
    }
}

/// Returns whether a clause begins behind `before`.
pub(super) fn begins(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with([',', ';', ':', '-', '–', '.'])
        || LEADS
            .iter()
            .any(|lead| before.strip_suffix(lead).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)))
}

/// Returns whether a sentence demands something beside what was demanded before.
fn adds(by: &str) -> bool {
    let lower = by.to_lowercase();
    let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    [" too", " as well", " either"].iter().any(|word| end.ends_with(word))
        || words(by).any(|word| word == "also")
}

/// Returns whether `by` names what `earlier` does, in the same order: "actually, keep the Oxford comma".
fn says_again(by: &str, earlier: &str) -> bool {
    const KEEPS: [&str; 6] = ["keep", "stay", "stick", "leave", "actually", "instead"];
    let named = |text: &str| -> Vec<String> {
        let telling = content_words(text);
        words(text).filter(|word| telling.contains(word) && !KEEPS.contains(&&**word)).collect()
    };
    named(by) == named(earlier)
}

/// Returns whether `by` has no word that `earlier` lacks but those by which something is allowed, demanded or forbidden.
fn says_nothing_else(by: &str, earlier: &str) -> bool {
    const OF_DEMAND: [&str; 33] = [
        "from", "now", "on", "you", "can", "may", "please", "always", "never", "don't", "do", "not", "the",
        "a", "an", "to", "is", "it", "it's", "are", "fine", "ok", "okay", "again", "i", "we", "want",
        "should", "must", "and", "just", "allowed", "in",
    ];
    let was: Vec<String> = words(earlier).collect();
    words(by).all(|word| OF_DEMAND.contains(&&*word) || was.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
    words.filter(|word| !word.is_empty()).map(|word| word.to_lowercase().replace('’', "'"))
}

/// Returns the places in `found` of the demands that are about what `sentence` takes back by its subject.
pub(super) fn about(sentence: &str, found: &[Found]) -> Vec<usize> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let Some(subject) = subject(&lower) else { return Vec::new() };
    let named = content_words(subject);
    let is_about = |telling: &Telling| {
        named.iter().all(|name| telling.words.iter().any(|word| singular(word) == singular(name)))
    };
    let standing = found.iter().enumerate().filter(|(_, found)| found.demand.superseded_by.is_none());
    standing.filter(|(_, found)| !named.is_empty() && is_about(&found.telling)).map(|(at, _)| at).collect()
}

/// Returns the place in `found` of the demand that a person takes back by putting another in its place: the only one of the message
/// before that tells to do the same with something else. `next` is the sentence behind this one.
pub(super) fn replaced(sentence: &str, next: Option<&str>, found: &[Found], before: Before) -> Option<usize> {
    let said = before.said.filter(|_| !before.was_asked)?;
    let lower = sentence.to_lowercase().replace('’', "'");
    let rest = THAT.iter().find_map(|words| lower.split_once(words).map(|(_, rest)| rest))?;
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let next = next.unwrap_or_default().to_lowercase();
    let verb = first_word(if rest.is_empty() { &next } else { rest });
    let tells = |demand: &Demand| {
        let text = demand.text.to_lowercase();
        let is_lasting = LASTING.iter().any(|words| text.contains(words));
        let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        !is_lasting && words.find(|word| !["please", "just", "only"].contains(word)) == Some(verb)
    };
    let of_message = |demand: &Demand| demand.message == said && demand.superseded_by.is_none();
    let is_one = |found: &Found| of_message(&found.demand) && tells(&found.demand);
    let same = found.iter().enumerate().filter(|(_, found)| is_one(found));
    let mut same = same.map(|(at, _)| at);
    let one = same.next().filter(|_| VERBS.contains(&verb))?;
    same.next().is_none().then_some(one)
}

/// Returns what a sentence says is to be forgotten: up to the end of the clause.
fn subject(lower: &str) -> Option<&str> {
    let is_told = |at: usize| lower.get(..at).is_some_and(begins);
    let asks = lower.trim_end().ends_with('?') && !lower.contains("can you") && !lower.contains("could you");
    if asks {
        return None;
    }
    let told = FORGET.iter().flat_map(|words| lower.match_indices(words));
    let mut behind =
        told.filter(|(at, _)| is_told(*at)).filter_map(|(at, words)| lower.get(at + words.len()..));
    let rest = behind.find_map(|rest| {
        let rest = bare(rest);
        SAID.iter().find_map(|words| rest.strip_prefix(words)).or_else(|| named_rule(rest))
    })?;
    let end = rest.find(['.', ',', ';', ':', '!', '?', '(', '\n']).unwrap_or(rest.len());
    let clause = &rest[..end];
    let end = [" and ", " but ", " gesagt", " und ", " y ", " et "]
        .iter()
        .filter_map(|word| clause.find(word))
        .min();
    Some(&clause[..end.unwrap_or(clause.len())])
}

/// Returns what a rule is called by: "that Friday rule".
fn named_rule(rest: &str) -> Option<&str> {
    let rest = ["that ", "the ", "my ", "our "].iter().find_map(|word| rest.strip_prefix(word))?;
    let (name, behind) = rest.split_once(" rule")?;
    let is_end = !behind.starts_with(|c: char| c.is_alphanumeric());
    (is_end && name.split_whitespace().count() <= 3 && !name.contains([',', ';', '.', ':'])).then_some(name)
}

/// Returns `rest` without what may stand before what was said: `forget about what I said on …`, `oublie tout ce que …`.
fn bare(rest: &str) -> &str {
    const BETWEEN: [&str; 4] = ["about ", "all ", "bitte ", "tout "];
    let rest = rest.trim_start();
    BETWEEN.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest)
}

fn first_word(text: &str) -> &str {
    let skipped = text.strip_prefix("please ").or_else(|| text.strip_prefix("just ")).unwrap_or(text);
    skipped.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

/// How somebody takes something back.
pub(super) const FORGET: [&str; 10] = [
    "forget ", "ignore ", "disregard ", "drop ", "scrap ", "never mind", "nevermind", "vergiss ", "olvida ",
    "oublie ",
];

/// What may stand before that: "did you forget what I said about …" and "you ignore the rule on …" take nothing back.
const LEADS: [&str; 13] = [
    "ok", "okay", "yes", "no", "please", "let's", "lets", "you can", "can you", "could you", "want you to",
    "but", "bitte",
];

/// What stands before the subject of what was said.
const SAID: [&str; 20] = [
    "what i said about ",
    "what i said on ",
    "what i told you about ",
    "what i wrote about ",
    "everything i said about ",
    "what was said about ",
    "my rule about ",
    "the rule about ",
    "my rule on ",
    "the rule on ",
    "the thing about ",
    "the bit about ",
    "the part about ",
    "my point about ",
    "was ich über ",
    "was ich zu ",
    "lo que dije sobre ",
    "lo que dije de ",
    "ce que j'ai dit sur ",
    "ce que j'ai dit de ",
];

/// How somebody takes back what they said just now.
const THAT: [&str; 7] = [
    "never mind that", "nevermind that", "never mind, ", "nevermind, ", "scratch that", "forget that",
    "strike that",
];

/// What makes a demand one that something else of the moment takes nothing of.
const LASTING: [&str; 5] = ["never", "always", "make sure", "keep in mind", "every "];

/// What is done with one thing or with another.
const VERBS: [&str; 14] = [
    "use", "make", "call", "name", "put", "write", "keep", "set", "store", "return", "start", "run", "send",
    "sort",
];
