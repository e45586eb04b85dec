//! Who did or wants what done to which thing: a verb and its object, which belong together in the source as they do in a claim.

use std::sync::LazyLock;

use super::{
    evidence::{Clause, Evidence, Speaker},
    polarity::is_negated,
    speakers::is_refusal,
    support::wishes,
    words::{stem, stems, words},
};

/// Returns whether the user is said to want something done to one thing who wants it done to others only: `to cancel the
/// order`, where the speaker was to be cancelled from the order.
pub(super) fn is_wish_for_other(sentence: &str, evidence: &Evidence) -> bool {
    // What was refused nobody wanted done to anything.
    let wanted = wishes(sentence).into_iter().filter(|wish| !is_refusal(sentence, wish));
    wanted.filter_map(wished).any(|act| {
        let is_meant = |clause: &Clause| {
            clause.speaker == Speaker::User
                || clause.speaker == Speaker::Account
                || clause.speaker == Speaker::Assistant && evidence.is_replied_to(clause.ordinal)
        };
        is_done_to_others(&act, evidence, is_meant)
    })
}

/// Returns whether a person spoke of doing to its object what a wish is for, in whatever form of the verb: `the cancellation
/// of the lamp`.
pub(super) fn is_wish_shown(wish: &str, evidence: &Evidence) -> bool {
    wished(wish).is_some_and(|act| {
        let places = act.verbs.iter().flat_map(|verb| evidence.voices(*verb));
        let mut by_person = places.filter(|clause| clause.speaker == Speaker::User);
        by_person.any(|clause| {
            let objects = objects_of(evidence.sentence_of(clause), &act.verbs);
            objects.iter().any(|object| object.stems.iter().any(|stem| act.object.contains(stem)))
        })
    })
}

/// Returns whether a next step, which begins with its verb, does to one thing what was only ever spoken of for others.
pub(super) fn is_step_for_other(sentence: &str, evidence: &Evidence) -> bool {
    let is_meant = |clause: &Clause| clause.speaker != Speaker::Tool;
    steps(sentence).iter().any(|act| is_done_to_others(act, evidence, is_meant) || !is_shared(act, evidence))
}

/// Returns what a step does: with its first verb, and with those behind `then` and `and`.
pub(super) fn steps(sentence: &str) -> Vec<Act> {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let begins = |nth: &usize| {
        nth.checked_sub(1).is_none_or(|nth| ["then", "and"].contains(&told[nth].1.to_lowercase().as_str()))
    };
    // `Running the tests and committing are open`: what is spoken of is no step.
    let is_step = |nth: &usize| begins(nth) && !told[*nth].1.ends_with("ing");
    (0..told.len()).filter(is_step).filter_map(|nth| act_at(sentence, nth)).collect()
}

/// Returns whether somebody but a tool speaks of doing this, or something like it, to the thing: or of the thing at all, where
/// the source has another word for the verb.
fn is_shared(act: &Act, evidence: &Evidence) -> bool {
    let speaks = |clause: &Clause| {
        let text = evidence.sentence_of(clause);
        clause.speaker != Speaker::Tool && !is_negated(text) && evidence.held_in(&act.object, clause)
    };
    act.verbs.iter().flat_map(|verb| evidence.voices(*verb)).any(speaks)
}

/// A verb with what it is done to.
#[derive(Debug)]
pub(super) struct Act {
    /// The stems of all verbs that mean as much.
    pub(super) verbs: Vec<u64>,
    /// The content words of its object.
    object: Vec<u64>,
}

/// Returns what a wish is for: ` to cancel the order`, ` the removal of the earbuds`, ` the settings left unchanged`.
fn wished(wish: &str) -> Option<Act> {
    let told: Vec<(usize, &str)> = words(wish).collect();
    let is_verb = |(_, word): &(usize, &str)| class_of(word).is_some();
    let skipped = |word: &str| {
        [
            "to", "that", "for", "the", "a", "an", "also", "it", "be", "have", "please", "first", "then",
            "again",
        ]
        .contains(&word.to_lowercase().as_str())
    };
    let first = told.iter().position(|(_, word)| !skipped(word))?;
    is_verb(&told[first]).then(|| act_at(wish, first)).flatten()
}

fn act_at(text: &str, nth: usize) -> Option<Act> {
    let told: Vec<(usize, &str)> = words(text).collect();
    let (at, word) = *told.get(nth)?;
    let verbs = class_of(word)?.clone();
    let object = direct_object(&text[at + word.len()..]);
    let object: Vec<u64> = object.stems.into_iter().filter(|stem| !verbs.contains(stem)).collect();
    (!object.is_empty()).then_some(Act { verbs, object })
}

fn is_done_to_others(act: &Act, evidence: &Evidence, is_meant: impl Fn(&Clause) -> bool) -> bool {
    // What nobody ever names may be another word for what somebody does.
    if act.object.iter().all(|stem| evidence.voices(*stem).next().is_none()) {
        return false;
    }
    let mut is_spoken_of = false;
    for verb in &act.verbs {
        for clause in evidence.voices(*verb).filter(|clause| is_meant(clause)) {
            if clause.speaker == Speaker::Call {
                is_spoken_of = true;
                if evidence.told_in(clause.ordinal, &act.object) {
                    return false;
                }
                continue;
            }
            for object in objects_of(evidence.sentence_of(clause), &act.verbs) {
                is_spoken_of = true;
                let is_shared = object.stems.iter().any(|stem| act.object.contains(stem));
                if is_shared || object.is_open && evidence.told_in(clause.ordinal, &act.object) {
                    return false;
                }
            }
        }
    }
    is_spoken_of
}

/// What a verb is done to.
#[derive(Debug, Default)]
struct Object {
    stems: Vec<u64>,
    /// `it`, `these`: what is meant stands elsewhere.
    is_open: bool,
}

/// Returns the objects of the verbs in a sentence: what stands behind each, or before it where something is said to be done.
fn objects_of(sentence: &str, verbs: &[u64]) -> Vec<Object> {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let is_verb = |nth: &usize| stem(told[*nth].1).is_some_and(|stem| verbs.contains(&stem));
    let object = |nth: usize| {
        let (at, word) = told[nth];
        let mut object = direct_object(&sentence[at + word.len()..]);
        let is_passive = told[nth.saturating_sub(3)..nth].iter().any(|(_, word)| {
            ["be", "been", "being", "is", "are", "was", "were", "get", "gets", "got", "have", "has"]
                .contains(&word.to_lowercase().as_str())
        });
        if is_passive || object.stems.is_empty() {
            let from = nth.saturating_sub(BEFORE);
            let before = &sentence[told[from].0..at];
            object.stems.extend(stems(before));
        }
        object
    };
    (0..told.len()).filter(is_verb).map(object).collect()
}

/// Returns what stands behind a verb up to a preposition.
fn direct_object(behind: &str) -> Object {
    let mut object = Object::default();
    let mut from = 0;
    for (nth, (at, word)) in words(behind).enumerate() {
        let lower = word.to_lowercase();
        let between = &behind[from..at];
        let ends = between.contains(['.', ';', '?', '!', ':', '—']) && nth > 0;
        // `the removal of the earbuds`
        let is_end = PREPOSITIONS.contains(&lower.as_str()) && !(nth == 0 && lower == "of");
        if ends || nth > LONGEST || is_end && nth > 0 {
            break;
        }
        object.is_open |= PRONOUNS.contains(&lower.as_str());
        object.stems.extend(stem(word).filter(|_| !["one", "ones", "just"].contains(&lower.as_str())));
        from = at + word.len();
    }
    object.is_open &= object.stems.is_empty();
    object
}

/// Words before a verb among which its object stands where something is said to be done to it.
const BEFORE: usize = 8;
/// More words behind a verb are about something else.
const LONGEST: usize = 12;

const PREPOSITIONS: [&str; 23] = [
    "without", "of", "on", "with", "in", "for", "from", "to", "at", "by", "into", "so", "because", "if",
    "when", "since", "while", "instead", "rather", "but", "before", "after", "until",
];
const PRONOUNS: [&str; 8] = ["it", "them", "that", "this", "these", "those", "both", "everything"];

/// Returns the stems of all verbs that mean as much as a word does, where it is a verb of these.
pub(super) fn class_of(word: &str) -> Option<&'static Vec<u64>> {
    let own = stem(word)?;
    CLASSES.iter().find(|class| class.contains(&own))
}

static CLASSES: LazyLock<Vec<Vec<u64>>> =
    LazyLock::new(|| VERBS.iter().map(|class| class.split(' ').filter_map(stem).collect()).collect());

/// Verbs that mean as much as each other, and the nouns of them.
const VERBS: [&str; 25] = [
    "cancel cancellation cancelling cancelled",
    "remove removal delete deletion drop strip erase purge wipe clean cleanup unlink",
    "add addition include append insert attach",
    "change modify modification update edit switch exchange replace replacement swap convert rewrite adjust",
    "upgrade",
    "downgrade",
    "refund reimburse reimbursement repay",
    "return",
    "book reserve rebook",
    "charge bill pay payment paid",
    "send email mail forward",
    "merge",
    "push",
    "commit",
    "deploy release publish ship rollout",
    "install",
    "revert undo rollback restore",
    "rename",
    "disable",
    "enable activate",
    "reset",
    "migrate",
    "transfer escalate",
    "close",
    "submit hand",
];
