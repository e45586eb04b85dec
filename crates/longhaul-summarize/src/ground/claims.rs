//! What a claim says happened, against what happened: who said it, whether it was rejected, whether it is done.

use super::{
    atoms::spans,
    evidence::{Clause, Evidence, Match, Speaker},
    polarity::{
        is_directive, is_done, is_emphatic, is_negated, is_pending, is_question, is_strict, is_weak,
        refers_back, says_no,
    },
    speakers::{Verb, attributions, is_refusal, verb_before},
    support::{first_clause, wishes},
    words::{clauses, stems, words},
};
use crate::{notes::split_lead, sentences::sentences};

/// Share of a claim's content that a clause must hold to be about the same thing. Measured by `figures.rs` on 372 claims:
/// from 0.3 to 0.6 the same 209 of 215 false ones are found, at 0.7 two less, at 0.8 seven less, and no true one is
/// harmed at any. The highest of those that find most strikes least elsewhere.
const ALIKE: f64 = 0.6;
/// What somebody must have said of a claim, so that it may be theirs.
const MOSTLY: f64 = 0.5;
/// A speaker who says less of a claim than this share of what the other one says did not say it.
const OUTSPOKEN: f64 = 0.6;
/// A speaker who says less of a claim than this did not say it.
const UNLIKE: f64 = 0.4;
/// What a reply must name of a proposal to be about it.
const REPLIES: f64 = 0.3;
/// Clauses after a proposal within which the user's reply begins; behind more than that it is about something else.
const REPLY_WITHIN: usize = 40;

/// Returns whether the conversation ends up against what `decision` says was decided.
///
/// Of the clauses that are about the same thing the last one decides: a proposal, then "no, do not". Questions do not
/// count, but an answer right after one does.
pub(super) fn is_rejected(decision: &str, evidence: &Evidence) -> bool {
    if is_negated(decision) {
        return false;
    }
    let stems = stems(decision);
    let matches = evidence.matches(&stems, ALIKE);
    let Some(best) = matches.first() else { return false };
    let near_best = matches.iter().take_while(|found| found.score >= best.score - 0.2);
    let mut about: Vec<usize> = near_best.map(|found| found.clause).collect();
    about.sort_unstable();
    let mut verdicts = about.iter().filter_map(|at| {
        let clause = evidence.clause(*at).filter(|clause| says(clause))?;
        match evidence.is_question(clause) {
            true => answer_to(*at, clause, evidence),
            false => Some(
                is_negated(evidence.text_of(clause))
                    || is_led_by_no(*at, clause, evidence)
                    || is_followed_by_no(*at, clause, evidence),
            ),
        }
    });
    verdicts.next_back() == Some(true) || is_turned_down(&about, &stems, evidence)
}

/// Returns whether the last to speak of something was the assistant, proposing it, and the user's reply says no to it in
/// a few words of its own: `Ten workers are too many, we won't do that.`
fn is_turned_down(about: &[usize], stems: &[u64], evidence: &Evidence) -> bool {
    let said = |at: &usize| Some((*at, evidence.clause(*at).filter(|clause| says(clause))?));
    let Some((at, proposal)) = about.iter().rev().find_map(said) else { return false };
    if proposal.speaker != Speaker::Assistant {
        return false;
    }
    let reply = (at + 1..at + REPLY_WITHIN)
        .filter_map(|next| evidence.clause(next))
        .find(|next| next.speaker == Speaker::User);
    let Some(reply) = reply.map(|clause| clause.ordinal) else { return false };
    evidence.matches(stems, REPLIES).iter().any(|found| {
        evidence.clause(found.clause).is_some_and(|clause| {
            clause.speaker == Speaker::User
                && clause.ordinal == reply
                && (is_negated(evidence.text_of(clause)) || is_followed_by_no(found.clause, clause, evidence))
        })
    })
}

/// Returns whether the reply to a question says no, where it says either.
fn answer_to(at: usize, question: &Clause, evidence: &Evidence) -> Option<bool> {
    let reply = (at + 1..at + 6)
        .filter_map(|next| evidence.clause(next))
        .find(|next| next.ordinal != question.ordinal && says(next))?;
    says_no(evidence.text_of(reply)).then_some(true)
}

/// `Rejected: roll back`, `We will not do this: roll back`: the clause before a colon denies the one after it.
fn is_led_by_no(at: usize, clause: &Clause, evidence: &Evidence) -> bool {
    let before = at.checked_sub(1).and_then(|before| evidence.clause(before));
    before.is_some_and(|before| {
        let text = evidence.text_of(before).trim_end();
        before.ordinal == clause.ordinal && text.ends_with(':') && is_negated(text) && !refers_back(text)
    })
}

/// `She asked for credit, but the policy forbids it`: the next clause of the sentence denies this one.
fn is_followed_by_no(at: usize, clause: &Clause, evidence: &Evidence) -> bool {
    evidence.clause(at + 1).is_some_and(|next| {
        let text = evidence.text_of(next);
        next.is_in_sentence_of(clause) && refers_back(text) && is_negated(text)
    })
}

/// Returns whether a clause is somebody's word in the conversation, not a tool's output nor a call.
fn says(clause: &Clause) -> bool {
    matches!(clause.speaker, Speaker::User | Speaker::Assistant | Speaker::Account)
}

/// Returns whether what `task` says is still to be done was said to be done.
pub(super) fn is_finished(task: &str, evidence: &Evidence) -> bool {
    let task = without_lead(task);
    let mut about: Vec<Match> = evidence.matches(&stems(task), ALIKE);
    about.sort_by_key(|found| found.clause);
    let last =
        about.iter().rev().find_map(|found| evidence.clause(found.clause).filter(|clause| says(clause)));
    last.is_some_and(|clause| {
        clause.speaker == Speaker::Assistant
            && is_done(evidence.text_of(clause), task)
            && !is_pending(evidence.sentence_of(clause))
    })
}

/// `Next: write the entry` is about the entry.
fn without_lead(task: &str) -> &str {
    match task.split_once(": ") {
        Some((lead, rest)) if words(lead).count() <= 2 && is_pending(lead) => rest,
        _ => task,
    }
}

/// Returns whether a claim puts words into the wrong mouth: it says that the user (or the assistant) suggested, asked
/// or decided something that only the other one spoke of, or that the named one spoke against.
pub(super) fn has_wrong_speaker(claim: &str, evidence: &Evidence) -> bool {
    attributions(claim).into_iter().any(|(speaker, verb, what)| {
        // What follows the first clause may be about something else: `asked whether …, and answered "yes"`.
        !is_quoted_of(speaker, what, evidence)
            && (is_first_said_by_other(claim, speaker, what, evidence)
                || is_request_of_user(speaker, verb, what, evidence)
                || is_of_other(claim, speaker, verb, what, evidence)
                    && is_of_other(claim, speaker, verb, first_clause(what), evidence))
    })
}

/// Returns whether what somebody is said to have said is quoted, and stands in this one's words.
pub(super) fn is_quoted_of(speaker: Speaker, what: &str, evidence: &Evidence) -> bool {
    let quoted = spans(what).quoted;
    let mut speech = quoted.iter().filter(|span| words(span).count() >= 3).peekable();
    speech.peek().is_some()
        && speech.all(|span| evidence.is_quoted(span, |voice| voice == speaker || voice == Speaker::Account))
}

fn is_of_other(claim: &str, speaker: Speaker, verb: Verb, what: &str, evidence: &Evidence) -> bool {
    let stems = stems(what);
    // `to fix the bug`: two words are anybody's.
    if stems.len() < LEAST_SAID {
        return false;
    }
    let matches = evidence.sentence_matches(&stems, UNLIKE);
    let of = |wanted: Speaker| {
        matches.iter().filter(move |found| {
            evidence.clause(found.clause).is_some_and(|clause| match clause.speaker {
                Speaker::Call => wanted == Speaker::Assistant,
                Speaker::Account => true,
                speaker => speaker == wanted,
            })
        })
    };
    let other = if speaker == Speaker::User { Speaker::Assistant } else { Speaker::User };
    let best = |wanted: Speaker| of(wanted).next().map_or(0.0, |found| found.score);
    // `In the client` says what the question before it asked.
    let is_chosen = speaker == Speaker::User
        && (is_choice(claim) && evidence.said_by_person(&stems) >= ALIKE
            || evidence.said_in_own_words(&stems) >= MOSTLY);
    if best(other) >= MOSTLY && best(speaker) < best(other) * OUTSPOKEN && !is_chosen {
        return true;
    }
    let alike = |wanted: Speaker| {
        of(wanted).filter(|found| found.score >= ALIKE).filter_map(|found| evidence.clause(found.clause))
    };
    let asks = |wanted: Speaker| alike(wanted).any(|clause| is_question(evidence.sentence_of(clause)));
    // `asked to add tests` tells of a request, which is no question.
    let is_request = words(what).take(2).any(|(_, word)| ["to", "for", "that"].contains(&word));
    if verb == Verb::Asks && !is_request && asks(other) && !asks(speaker) {
        return true;
    }
    // Who only ever spoke against it did not suggest it.
    let is_against = |clause: &Clause| {
        let mut own = evidence.clauses_with(clause, &stems).peekable();
        match own.peek() {
            Some(_) => own.any(|clause| is_negated(evidence.text_of(clause))),
            None => is_negated(evidence.sentence_of(clause)),
        }
    };
    let mut against = alike(speaker).map(is_against).peekable();
    !is_negated(what)
        && !is_refusal(claim, what)
        && against.peek().is_some()
        && against.all(|against| against)
}

/// Fewer content words do not tell who said them.
const LEAST_SAID: usize = 3;

/// Returns whether a claim says that one brought up what the other had said before.
fn is_first_said_by_other(claim: &str, speaker: Speaker, what: &str, evidence: &Evidence) -> bool {
    const RAISING: [&str; 7] =
        ["proposed", "suggested", "pointed", "raised", "recommended", "listed", "offered"];
    let is_by_other = |said: &str| {
        let stems = stems(said);
        stems.len() >= RAISED
            && evidence.first_to_say(&stems, BROUGHT_UP).is_some_and(|first| first != speaker)
    };
    // `proposed the card, and the user agreed`: the reply is no part of the proposal.
    let end = ["and the user ", "; the user "].iter().filter_map(|reply| what.find(reply)).min();
    verb_before(claim, what).is_some_and(|verb| RAISING.contains(&verb.as_str()))
        && is_by_other(what)
        && end.is_none_or(|end| is_by_other(&what[..end]))
}

/// `The assistant asked to use the smallest gift card`: it is said to have asked for what the user had asked for in these words.
fn is_request_of_user(speaker: Speaker, verb: Verb, what: &str, evidence: &Evidence) -> bool {
    let is_request = words(what).next().is_some_and(|(_, word)| ["to", "for"].contains(&word));
    let stems = stems(first_clause(what));
    (speaker, verb) == (Speaker::Assistant, Verb::Asks)
        && is_request
        && stems.len() >= LEAST_SAID
        && evidence.first_to_say(&stems, ASKED_FOR) == Some(Speaker::User)
}

/// What the user must have said of a request that is told as the assistant's.
const ASKED_FOR: f64 = 0.8;

/// What the first to bring something up must have said of it.
const BROUGHT_UP: f64 = 0.6;

/// Fewer content words are too common to tell who brought them up.
const RAISED: usize = 3;

/// Returns whether a claim tells of a choice among what somebody else put forward.
fn is_choice(claim: &str) -> bool {
    const CHOOSING: [&str; 10] =
        ["decid", "chose", "choos", "agre", "approv", "accept", "confirm", "pick", "select", "opt"];
    words(claim).any(|(_, word)| {
        let lower = word.to_lowercase();
        CHOOSING.iter().any(|choosing| lower.starts_with(choosing))
    })
}

/// Returns whether a claim stands in what tools said and nowhere else.
pub(super) fn is_from_tools_only(claim: &str, evidence: &Evidence) -> bool {
    let matches = evidence.sentence_matches(&stems(claim), UNLIKE);
    let speaker = |found: &Match| evidence.clause(found.clause).map(|clause| clause.speaker);
    let by_tool = matches.iter().any(|found| found.score >= ALIKE && speaker(found) == Some(Speaker::Tool));
    by_tool && !matches.iter().any(|found| speaker(found).is_some_and(|speaker| speaker != Speaker::Tool))
}

/// Returns whether a sentence hands on an order that only a tool's output gives, or a wish of the user's that only a
/// tool's output tells of. What a tool's output states is no order, and may be told.
pub(super) fn is_planted(claim: &str, is_to_be_done: bool, evidence: &Evidence) -> bool {
    let is_wish = !wishes(claim).is_empty();
    let is_order = || is_to_be_done || is_directive(without_label(&spans(claim).prose));
    if !is_wish && !is_order() || !is_from_tools_only(claim, evidence) {
        return false;
    }
    let about = evidence.sentence_matches(&stems(claim), ALIKE);
    is_wish
        || about.iter().filter_map(|found| evidence.clause(found.clause)).any(|clause| {
            clauses(evidence.sentence_of(clause)).any(|clause| {
                words(clause).count() >= LEAST_ORDER && (is_directive(clause) || is_pending(clause))
            })
        })
}

/// `Open: …`, `Note: …`: what stands before the colon says what kind of statement follows.
fn without_label(claim: &str) -> &str {
    claim.split_once(": ").filter(|(label, _)| words(label).count() == 1).map_or(claim, |(_, rest)| rest)
}

/// Fewer words are no order, but a value or a heading.
const LEAST_ORDER: usize = 3;

/// Returns whether a sentence states one of the user's rules as less than a rule.
pub(super) fn weakens(sentence: &str, rule: &str) -> bool {
    if !is_strict(rule) || is_weak(rule) || sentence.contains(rule.trim()) || reports_question(sentence) {
        return false;
    }
    let said = stems(sentence);
    // A rule may forbid several things, and a sentence speak of one of them.
    let restated = [rule].into_iter().chain(clauses(rule).filter(|clause| is_strict(clause))).any(|part| {
        let wanted = stems(part);
        let shared = wanted.iter().filter(|stem| said.contains(stem)).count();
        wanted.len() >= 2 && shared * 2 >= wanted.len()
    });
    restated && is_weak(&spans(sentence).prose) && !is_emphatic(sentence)
}

/// `The chair asked who should do it` states no rule; `asked to avoid it if possible` does.
fn reports_question(sentence: &str) -> bool {
    let said: Vec<String> = words(sentence).map(|(_, word)| word.to_lowercase()).collect();
    let is_within = |from: usize, list: &[&str]| {
        said[from..].iter().take(ASKED_WITHIN).any(|word| list.contains(&word.as_str()))
    };
    let asks = |at: &usize| ["asked", "asks", "wondered"].contains(&said[*at].as_str());
    (0..said.len()).filter(asks).any(|at| {
        let is_wish = said.get(at + 1).is_some_and(|next| ["to", "for", "that"].contains(&next.as_str()));
        !is_wish
            && is_within(at + 1, &["what", "who", "whom", "whether", "if", "why", "how", "which", "when"])
    })
}

/// Words behind `asked` within which the question begins: `asked the chair of the committee whether`.
const ASKED_WITHIN: usize = 7;

/// Returns the sentence of the user's that `rule` restates, verbatim, where there is one that is near enough.
pub(super) fn words_of_user<'a>(rule: &str, evidence: &'a Evidence) -> Option<(&'a str, u64)> {
    let by_user =
        |found: &&Match| evidence.clause(found.clause).is_some_and(|clause| clause.speaker == Speaker::User);
    let found = evidence.sentence_matches(&stems(rule), UNLIKE);
    let clause = evidence.clause(found.iter().find(by_user)?.clause)?;
    let sentence = evidence.sentence_of(clause).trim();
    (is_strict(sentence) || is_weak(sentence)).then_some((sentence, clause.ordinal))
}

/// Returns whether a date or a deadline was said of this task: in a sentence about it, or right beside one.
pub(super) fn is_due_of(due: &str, task: &str, evidence: &Evidence) -> bool {
    let about = evidence.sentence_matches(&stems(task), UNLIKE);
    let due = due.to_lowercase();
    about.iter().take(20).any(|found| {
        evidence
            .clause(found.clause)
            .is_some_and(|clause| evidence.sentence_of(clause).to_lowercase().contains(due.trim()))
    })
}

/// Returns whether two entries of a list say the same.
pub(super) fn is_same(one: &[u64], other: &[u64]) -> bool {
    let shared = one.iter().filter(|stem| other.contains(stem)).count();
    let all = one.len() + other.len() - shared;
    all > 0 && shared * 5 >= all * 4
}

/// Returns `text` with each sentence replaced by what `judge` makes of it: itself, other words, or nothing.
pub(super) fn rewrite(text: &str, mut judge: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (lead, said) = split_lead(line);
        if !lead.trim().is_empty() {
            // A list item is one statement.
            if let Some(kept) = judge(said.trim()) {
                out.push_str(if out.is_empty() { "" } else { "\n" });
                out.push_str(lead);
                out.push_str(&kept);
            }
            continue;
        }
        let kept: Vec<String> = sentences(line).filter_map(|sentence| judge(sentence.trim())).collect();
        if kept.is_empty() && !line.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&kept.join(" "));
    }
    out.trim().to_owned()
}
