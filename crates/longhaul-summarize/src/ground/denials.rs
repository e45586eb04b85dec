//! Claims that deny what was done: `was not cancelled`, `nothing was refunded`, and a next step that was taken already.

use super::{
    evidence::{Evidence, Speaker},
    objects::{class_of, steps},
    polarity::is_question,
    words::{stem, stems, words},
};

/// Returns whether a sentence says that something was not done which the calls did.
pub(super) fn is_done_though_denied(sentence: &str, evidence: &Evidence) -> bool {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    (0..told.len()).filter_map(|nth| denial(sentence, &told, nth)).any(|denied| {
        let did_to = |object: &[u64]| !object.is_empty() && evidence.calls.did_to(&denied.verbs, object);
        match denied.of {
            Of::Nothing => evidence.calls.did_anything(&denied.verbs),
            Of::This(object) => did_to(&object),
            // What never happened did not happen to anything like it.
            Of::Ever(object, before) => did_to(&object) || evidence.calls.did(denied.verbs[0], &before),
        }
    })
}

/// Returns whether a next step was taken already: a call did it, or the last that the model says of it is that it is done, and
/// nobody asked for it since.
pub(super) fn is_step_done(sentence: &str, evidence: &Evidence) -> bool {
    // `To do: remove the lamp`
    let is_label = |lead: &str| words(lead).count() <= LONGEST_LABEL;
    let step =
        sentence.split_once(": ").filter(|(lead, _)| is_label(lead)).map_or(sentence, |(_, rest)| rest);
    let acts = steps(step);
    let [act] = acts.as_slice() else { return false };
    let mut object = stems(step);
    object.retain(|stem| !act.verbs.contains(stem));
    if object.is_empty() {
        return false;
    }
    let mut about: Vec<_> = act.verbs.iter().flat_map(|verb| evidence.voices(*verb)).collect();
    about.sort_unstable_by_key(|clause| clause.ordinal);
    about.retain(|clause| {
        let said = stems(evidence.sentence_of(clause));
        clause.speaker != Speaker::Tool && object.iter().all(|stem| said.contains(stem))
    });
    about.last().is_some_and(|clause| match clause.speaker {
        Speaker::User => false,
        _ if evidence.calls.did_to(&act.verbs, &object) => true,
        speaker => speaker == Speaker::Assistant && tells_as_done(evidence.sentence_of(clause), &act.verbs),
    })
}

/// Returns whether a sentence says in the past tense that this was done: `I removed …`, `… has been removed`.
fn tells_as_done(sentence: &str, verbs: &[u64]) -> bool {
    let told: Vec<String> = words(sentence).map(|(_, word)| word.to_lowercase()).collect();
    let is_done = |nth: usize| {
        let before = &told[nth.saturating_sub(3)..nth];
        let has = |list: &[&str]| before.iter().any(|word| list.contains(&word.as_str()));
        told[nth].ends_with("ed")
            && stem(&told[nth]).is_some_and(|stem| verbs.contains(&stem))
            && has(&["i", "was", "were", "been", "have", "has", "successfully"])
            && !has(&["not", "t", "be", "if", "once", "when", "after", "until", "never", "could", "can"])
    };
    !is_question(sentence) && (0..told.len()).any(is_done)
}

/// What a clause says was not done.
struct Denied {
    /// The stems of all verbs that mean as much, the one that is told first.
    verbs: Vec<u64>,
    of: Of,
}

/// What it was not done to.
enum Of {
    /// To nothing at all.
    Nothing,
    /// To the subject of the clause.
    This(Vec<u64>),
    /// Never to the subject; with the words of all that stands before.
    Ever(Vec<u64>, Vec<u64>),
}

/// Returns what is denied by the verb at `nth`: `was not cancelled`, `wasn't cancelled`, `has never been cancelled`, `nothing was
/// cancelled`.
fn denial(sentence: &str, told: &[(usize, &str)], nth: usize) -> Option<Denied> {
    let word = |back: usize| nth.checked_sub(back).map_or(String::new(), |nth| told[nth].1.to_lowercase());
    let verb = told[nth].1;
    if !verb.ends_with("ed") && !["sent", "paid"].contains(&verb.to_lowercase().as_str()) {
        return None;
    }
    let own = stem(verb)?;
    let alike = class_of(verb).into_iter().flatten().copied().filter(|stem| *stem != own);
    let verbs: Vec<u64> = std::iter::once(own).chain(alike).collect();
    let is_in = |list: &[&str], word: &str| list.contains(&word);
    // The words between the subject and the verb.
    let between = if word(1) == "been" { 3 } else { 2 };
    let (auxiliary, no) = (word(between), word(between - 1));
    let is_denied = is_in(&["not", "never"], &no) && is_in(AUXILIARIES, &auxiliary)
        || no == "t" && is_in(CONTRACTED, &auxiliary);
    let begin = |at: usize| {
        let ends = [", ", "; ", ": ", ". ", " and ", " but "];
        ends.iter().filter_map(|end| sentence[..at].rfind(end).map(|at| at + end.len())).max().unwrap_or(0)
    };
    if is_denied {
        let at = told[nth - between].0;
        let without_verb = |text: &str| -> Vec<u64> {
            stems(text).into_iter().filter(|stem| !verbs.contains(stem)).collect()
        };
        let (object, before) = (without_verb(&sentence[begin(at)..at]), without_verb(&sentence[..at]));
        let of = if no == "never" { Of::Ever(object, before) } else { Of::This(object) };
        return Some(Denied { verbs, of });
    }
    let at = told[nth].0;
    let subject: Vec<&str> = words(&sentence[begin(at)..at]).map(|(_, word)| word).collect();
    let behind = sentence[at + verb.len()..].trim_start();
    let ends = behind.is_empty() || behind.starts_with(['.', ',', ';', '!']) || behind.starts_with("and ");
    let is_aux = |word: &&str| is_in(AUXILIARIES, word) || *word == "been";
    let is_nothing = subject
        .iter()
        .rev()
        .find(|word| !is_aux(word))
        .is_some_and(|word| word.eq_ignore_ascii_case("nothing"));
    (is_nothing && ends).then_some(Denied { verbs, of: Of::Nothing })
}

const AUXILIARIES: &[&str] = &["was", "were", "is", "are", "has", "have"];
const CONTRACTED: &[&str] = &["wasn", "weren", "isn", "aren", "hasn", "haven"];

/// More words before a colon are no label.
const LONGEST_LABEL: usize = 3;
