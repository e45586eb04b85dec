//! Claims that turn what was said: one choice told as the other, what went told as kept, what is open told as done.

use super::{
    atoms::spans,
    evidence::{Clause, Evidence, Speaker},
    polarity::{is_decision, is_negated, is_pending, is_question, speaks_of_removal},
    speakers::names_user,
    words::{stem, stems, words},
};

/// Share of one side of a choice that a clause must hold to speak of it.
const NAMED: f64 = 0.5;
/// How much more of one side than of the other a clause must hold to speak for it.
const AHEAD: f64 = 0.3;
/// Share of a claim that a clause must hold to be about the same thing.
const ALIKE: f64 = 0.6;

/// Returns whether a sentence says `this over that` where the last that a person said of either speaks for that.
pub(super) fn is_turned_choice(sentence: &str, evidence: &Evidence) -> bool {
    let Some((taken, left)) = sides(sentence) else { return false };
    if !is_choice(sentence) || is_negated(&taken_words(taken)) {
        return false;
    }
    let (taken, left) = (stems(taken), stems(left));
    let only = |one: &[u64], other: &[u64]| -> Vec<u64> {
        one.iter().copied().filter(|stem| !other.contains(stem)).collect()
    };
    let (for_taken, for_left) = (only(&taken, &left), only(&left, &taken));
    if for_taken.is_empty() || for_left.is_empty() {
        return false;
    }
    let last = |speaks: fn(Speaker) -> bool| {
        let mut last = None;
        for clause in evidence.sentences_of(|clause| speaks(clause.speaker)) {
            let text = evidence.sentence_of(clause);
            let (taken, left) = (evidence.held(&for_taken, text), evidence.held(&for_left, text));
            if is_negated(text) {
                continue;
            }
            if left >= NAMED && left >= taken + AHEAD {
                last = Some(false);
            } else if taken >= NAMED && taken >= left + AHEAD {
                last = Some(true);
            }
        }
        last
    };
    // What a person says of it decides, else what was done in the end.
    let by_person = last(|speaker| speaker == Speaker::User);
    let by_model = || last(|speaker| matches!(speaker, Speaker::Assistant | Speaker::Call));
    by_person.or_else(by_model) == Some(false)
}

fn taken_words(taken: &str) -> String {
    words(taken).map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

fn is_choice(sentence: &str) -> bool {
    const CHOICES: [&str; 10] =
        ["keep", "kept", "prefer", "preferred", "prefers", "stay", "stays", "wants", "wanted", "picked"];
    is_decision(sentence) || words(sentence).any(|(_, word)| CHOICES.contains(&word.to_lowercase().as_str()))
}

/// Returns what a sentence says was taken, and what was left: `A was chosen over B`, `to do A instead of B`.
fn sides(sentence: &str) -> Option<(&str, &str)> {
    const OVER: [&str; 4] = [" instead of ", " rather than ", " in place of ", " over "];
    let (taken, left) =
        OVER.iter().find_map(|over| sentence.split_once(over)).or_else(|| preferred(sentence))?;
    let end = [", ", "; ", " because ", " since ", " for ", " in ", " when ", ". "]
        .iter()
        .filter_map(|end| left.find(end))
        .min();
    let left = &left[..end.unwrap_or(left.len())];
    // `The user chose A`, `A was chosen`, `decided to do A`.
    let verb = words(taken).filter(|(_, word)| is_choice(word)).last();
    let (before, behind) = verb.map_or((taken, ""), |(at, word)| (&taken[..at], &taken[at + word.len()..]));
    let taken = if stems(behind).is_empty() { before } else { behind };
    Some((taken, left))
}

/// `preferred A to B`: the last `to` behind the verb parts them.
fn preferred(sentence: &str) -> Option<(&str, &str)> {
    let (before, behind) = sentence.split_once("prefer")?;
    let at = behind.rfind(" to ")?;
    let left = before.len() + "prefer".len() + at;
    (words(&behind[..at]).count() > 1).then(|| (&sentence[..left], &sentence[left + " to ".len()..]))
}

/// Returns whether a sentence says that something stays which the conversation last says was taken out.
pub(super) fn is_kept_though_gone(sentence: &str, evidence: &Evidence) -> bool {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let is_verb = |nth: usize| {
        let before = nth.checked_sub(1).map_or("", |nth| told[nth].1);
        KEPT.contains(&told[nth].1.to_lowercase().as_str())
            && ["is", "are", "was", "were"].contains(&before.to_lowercase().as_str())
    };
    let Some(nth) = (0..told.len()).find(|nth| is_verb(*nth)) else { return false };
    let object = stems(&sentence[..told[nth].0]);
    if object.is_empty() || is_negated(sentence) || speaks_of_removal(sentence) {
        return false;
    }
    let mut about: Vec<usize> =
        evidence.sentence_matches(&object, NAMED).iter().map(|found| found.clause).collect();
    about.sort_unstable();
    let acts = |clause: &&Clause| matches!(clause.speaker, Speaker::User | Speaker::Assistant);
    let last = about.iter().rev().filter_map(|at| evidence.clause(*at)).find(acts);
    last.is_some_and(|clause| {
        let said = evidence.sentence_of(clause);
        speaks_of_removal(said) && !is_negated(said) && !is_question(said)
    })
}

const KEPT: [&str; 4] = ["kept", "retained", "preserved", "left"];

/// Returns whether a sentence says that something is done which the conversation last says is to come: an open item of a
/// list, or what somebody announces.
pub(super) fn is_done_too_early(sentence: &str, evidence: &Evidence) -> bool {
    let prose = spans(sentence).prose;
    const OPEN: [&str; 6] = ["open", "progress", "remaining", "pending", "next", "todo"];
    let is_open = words(&prose).any(|(_, word)| OPEN.contains(&word.to_lowercase().as_str()));
    if is_open || !tells_of_end(&prose) {
        return false;
    }
    if is_still_complained_of(&prose, evidence) {
        return true;
    }
    let own = stems(sentence);
    let mut about: Vec<usize> =
        evidence.sentence_matches(&own, ALIKE).iter().map(|found| found.clause).collect();
    about.sort_unstable();
    let Some(clause) = about.last().and_then(|at| evidence.clause(*at)) else { return false };
    let said = evidence.sentence_of(clause).trim_start();
    let is_open_item = ["- [ ]", "* [ ]", "[ ]", "☐"].iter().any(|mark| said.starts_with(mark));
    is_open_item || clause.speaker == Speaker::Assistant && is_announced(said)
}

/// `The problem with MMS is solved`, where the last that a person says of it is that it still does not work.
fn is_still_complained_of(prose: &str, evidence: &Evidence) -> bool {
    const SOLVED: [&str; 3] = ["solved", "resolved", "fixed"];
    const TROUBLE: [&str; 10] =
        ["problem", "issue", "bug", "error", "trouble", "solved", "resolved", "fixed", "now", "finally"];
    let is_in = |list: &[&str], word: &str| list.contains(&word.to_lowercase().as_str());
    let told: Vec<&str> = words(prose).map(|(_, word)| word).collect();
    let is_told =
        |nth: &usize| ["is", "was", "are", "were", "been"].contains(&told[nth - 1].to_lowercase().as_str());
    if !(1..told.len()).filter(|nth| is_in(&SOLVED, told[*nth])).any(|nth| is_told(&nth)) {
        return false;
    }
    let about: Vec<u64> =
        told.iter().filter(|word| !is_in(&TROUBLE, word)).filter_map(|word| stem(word)).collect();
    if about.is_empty() {
        return false;
    }
    let by_person = evidence.sentences_of(|clause| clause.speaker == Speaker::User);
    let last = by_person.filter(|clause| evidence.held(&about, evidence.sentence_of(clause)) >= NAMED).last();
    last.is_some_and(|clause| {
        let said = evidence.sentence_of(clause).to_lowercase();
        said.contains("still") && (is_negated(&said) || said.contains("unable") || said.contains("fail"))
    })
}

fn is_announced(said: &str) -> bool {
    let lower = said.to_lowercase().replace('’', "'");
    lower.contains(" will be ") || lower.contains("'ll be ") || lower.contains(" is going to ")
}

/// Returns whether a text says that something came to its end, and does not deny it: `was not verified`.
fn tells_of_end(prose: &str) -> bool {
    const ENDS: [&str; 14] = [
        "verified", "arrived", "done", "finished", "completed", "solved", "resolved", "fixed", "sent",
        "tested", "confirmed", "refunded", "deployed", "checked",
    ];
    let told: Vec<&str> = words(prose).map(|(_, word)| word).collect();
    (0..told.len()).filter(|nth| ENDS.contains(&told[*nth].to_lowercase().as_str())).any(|nth| {
        let before = told[nth.saturating_sub(BEFORE)..nth].join(" ");
        // `The user confirmed the refund`: what was agreed to is not done by that.
        let is_consent = told[nth].eq_ignore_ascii_case("confirmed")
            && nth.checked_sub(1).is_some_and(|nth| names_user(told[nth]));
        !is_consent
            && !is_negated(&before)
            && !is_pending(&before)
            && !before.to_lowercase().ends_with("to be")
    })
}

/// Words before a verb among which its `not` stands.
const BEFORE: usize = 4;

/// Share of a deed that a sentence must hold to speak of it.
const SAME_DEED: f64 = 0.8;

/// Returns whether a sentence says that something was done of which the last that was said is that it cannot be, or was not.
pub(super) fn is_denied_deed(sentence: &str, evidence: &Evidence) -> bool {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let passive = (2..told.len()).find(|nth| {
        ["was", "were"].contains(&told[nth - 1].1.to_lowercase().as_str()) && told[*nth].1.ends_with("ed")
    });
    let Some(nth) = passive else { return false };
    let (subject, verb) = (&sentence[..told[nth - 1].0], told[nth].1);
    if is_negated(subject) || is_pending(sentence) || words(subject).count() > LONGEST_SUBJECT {
        return false;
    }
    let mut own = stems(subject);
    let Some(verb) = stem(verb) else { return false };
    own.push(verb);
    if own.len() < 3 {
        return false;
    }
    let mut about: Vec<usize> =
        evidence.sentence_matches(&own, SAME_DEED).iter().map(|found| found.clause).collect();
    about.sort_unstable();
    let last = about.iter().rev().filter_map(|at| evidence.clause(*at)).find(|clause| {
        matches!(clause.speaker, Speaker::Assistant | Speaker::Tool | Speaker::Account)
            && !is_question(evidence.sentence_of(clause))
    });
    last.is_some_and(|clause| {
        let is_denied = |clause: &Clause| is_denied_in(evidence.text_of(clause), verb);
        clause.speaker == Speaker::Assistant && evidence.clauses_with(clause, &[verb]).any(is_denied)
    })
}

/// Returns whether a clause denies its verb: `has not been cancelled`. What stands behind it denies another thing: `was cancelled for
/// the reason "no longer needed"`.
fn is_denied_in(clause: &str, verb: u64) -> bool {
    let told: Vec<(usize, &str)> = words(clause).collect();
    let verbs = (0..told.len()).filter(|nth| stem(told[*nth].1) == Some(verb));
    verbs.into_iter().any(|nth| is_negated(&clause[told[nth.saturating_sub(BEFORE)].0..told[nth].0]))
}

/// A longer subject tells of more than one thing.
const LONGEST_SUBJECT: usize = 8;
