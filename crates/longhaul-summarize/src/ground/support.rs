//! Whose will, whose order: claims of these need a source by the one they are ascribed to.

use std::{borrow::Cow, sync::LazyLock};

use super::{
    atoms::spans,
    claims::is_quoted_of,
    evidence::{Clause, Evidence, Match, Speaker},
    objects::is_wish_shown,
    polarity::{is_directive, is_emphatic, is_negated, is_pending},
    speakers::{Verb, attributions, is_refusal, names_user},
    words::{stem, stems, words},
};
use crate::notes::Section;

/// Share of a wish's content that a person must have said.
const WISHED: f64 = 0.58;
/// The same of a question, which binds nobody.
const ASKED: f64 = 0.36;
/// The same for wishes of few words, any one of which changes them.
const WISHED_IN_FEW: f64 = 0.6;
/// A wish of this many content words or fewer is one of few words.
const FEW: usize = 3;
/// Share of an order's content that somebody who is no tool must have said.
const ORDERED: f64 = 0.5;

/// Returns whether a sentence claims the user's will or consent for something that no person said.
pub(super) fn is_unsaid_wish(sentence: &str, evidence: &Evidence) -> bool {
    wishes(sentence).into_iter().filter(|wish| !is_quoted_of(Speaker::User, wish, evidence)).any(|wish| {
        let whole = content(wish);
        let first = content(first_clause(wish));
        // What somebody only asks about binds nobody.
        let is_question = is_interrogative(wish);
        let told = |stems: &[u64]| {
            let least = match (is_question, stems.len() <= FEW) {
                (_, true) => WISHED_IN_FEW,
                (true, _) => ASKED,
                _ => WISHED,
            };
            !stems.is_empty() && evidence.said_by_person(stems) >= least
        };
        let is_shown = || whole.len() <= FEW && is_wish_shown(wish, evidence);
        !whole.is_empty()
            && (!told(&whole) && !told(&first) && !is_shown() || is_of_tools(wish, &first, evidence))
    }) || is_unshown_refusal(sentence, evidence)
}

/// Returns whether a wish is to be told something: `whether it is safe`, `to know where it stands`.
fn is_interrogative(wish: &str) -> bool {
    const ASKING: [&str; 13] = [
        "whether", "if", "what", "who", "why", "how", "which", "when", "where", "about", "know", "see",
        "hear",
    ];
    words(wish).take(3).any(|(_, word)| ASKING.contains(&word.to_lowercase().as_str()))
}

/// Share of a wish that a person must have said where a word of it stands only in what tools returned.
const SAID_OTHERWISE: f64 = 0.75;

/// Share of such a wish that a tool must have told.
const TOLD_BY_TOOL: f64 = 0.4;

/// Returns whether a wish is made of words that only tools' output has, and little of it was said by a person.
fn is_of_tools(wish: &str, first: &[u64], evidence: &Evidence) -> bool {
    let is_word = |word: &str| word.len() >= 4 && word.chars().all(char::is_alphabetic);
    let plain = words(first_clause(wish)).map(|(_, word)| word).filter(|word| is_word(word));
    let mut own = plain.filter_map(stem).filter(|stem| first.contains(stem));
    let of_tools = |stem: u64| {
        let mut voices = evidence.voices(stem).peekable();
        voices.peek().is_some() && voices.all(|clause| clause.speaker == Speaker::Tool)
    };
    let is_told =
        |found: &Match| evidence.clause(found.clause).is_some_and(|clause| clause.speaker == Speaker::Tool);
    own.any(of_tools)
        && evidence.said_by_person(first) < SAID_OTHERWISE
        && evidence.sentence_matches(first, TOLD_BY_TOOL).iter().any(is_told)
}

/// Share of what somebody is said to have refused that their words must hold.
const REFUSED: f64 = 0.34;

/// Returns whether a sentence says that the user refused something, and no message of the user's speaks against it.
fn is_unshown_refusal(sentence: &str, evidence: &Evidence) -> bool {
    let refused = attributions(sentence)
        .into_iter()
        .find(|(speaker, _, what)| *speaker == Speaker::User && is_refusal(sentence, what))
        .map(|(_, _, what)| what);
    let Some(what) = refused.filter(|what| !is_denied(sentence, what)) else { return false };
    let own = match content(what) {
        own if own.is_empty() => content(sentence),
        own => own,
    };
    // A short answer speaks of what it answers.
    let mut before = String::new();
    let mut said: Vec<(u64, String, bool)> = Vec::new();
    for clause in evidence.sentences_of(|clause| clause.speaker != Speaker::Tool) {
        let text = evidence.sentence_of(clause);
        if clause.speaker != Speaker::User {
            before = format!("{before} {text}");
            continue;
        }
        match said.last_mut().filter(|(ordinal, ..)| *ordinal == clause.ordinal) {
            Some((_, all, against)) => {
                all.push_str(text);
                *against |= speaks_against(text);
            }
            None => said.push((
                clause.ordinal,
                format!("{} {text}", std::mem::take(&mut before)),
                speaks_against(text),
            )),
        }
    }
    // A harness tells of it where the user said nothing: `The user doesn't want to proceed`.
    let is_told = |clause: &Clause| {
        let text = evidence.sentence_of(clause);
        clause.speaker == Speaker::Tool && is_negated(text) && text.to_lowercase().contains("the user ")
    };
    !said.iter().any(|(_, text, against)| *against && evidence.held(&own, text) >= REFUSED)
        && evidence.sentences_of(is_told).next().is_none()
}

/// Returns whether somebody's sentence speaks against something: `don't`, `undo it`, `that is wrong`.
fn speaks_against(text: &str) -> bool {
    const AGAINST: [&str; 12] = [
        "stop", "undo", "revert", "wrong", "broken", "remove", "instead", "rather", "only", "avoid", "too",
        "but",
    ];
    is_negated(text) || words(text).any(|(_, word)| AGAINST.contains(&word.to_lowercase().as_str()))
}

/// Returns what of a sentence is said to be the user's will: what follows `the user asked`, or all of a sentence that
/// ends in `as the user demanded`.
pub(super) fn wishes(sentence: &str) -> Vec<&str> {
    if !names_user(sentence) {
        return Vec::new();
    }
    let by_user = |(speaker, verb, what)| match (speaker, verb) {
        (Speaker::User, Verb::Asks | Verb::Says) => Some(what),
        _ => None,
    };
    let mut found: Vec<&str> = attributions(sentence)
        .into_iter()
        .filter_map(by_user)
        .filter(|what| !is_denied(sentence, what))
        .map(|what| meant(sentence, what))
        .collect();
    let lower = sentence.to_lowercase();
    // `Standing instruction by the user: …`
    let label = sentence
        .split_once(": ")
        .filter(|(label, _)| words(label).count() <= LONGEST_LABEL && names_user(label) && has_order(label));
    if let Some((_, order)) = label {
        found.push(order);
    }
    // `as the user laid down`: whatever the verb, what stands before it is the user's word.
    if let Some(at) = ["as the user ", "like the user "].iter().find_map(|lead| lower.find(lead))
        && at > 0
        && !ends_in_denial(&lower[..at], 3)
        && let Some(before) = sentence.get(..at)
    {
        found.push(before);
    }
    let is_trailing = found.iter().all(|what| stems(what).is_empty());
    // `that is all that the user said`, `nothing of it was ordered by the user`
    let is_of_what_was_said =
        ["that ", "that's ", "that’s ", "this ", "it "].iter().any(|word| lower.starts_with(word));
    let is_extent = is_of_what_was_said
        && ["all that the user", "all the user"].iter().any(|words| lower.contains(words));
    let has_consent = |words: &&str| lower.find(*words).is_some_and(|at| !ends_in_denial(&lower[..at], 5));
    if is_trailing && !is_extent && (CONSENT.iter().any(has_consent) || !found.is_empty()) {
        found = vec![sentence];
    }
    found
}

/// More words before a colon are no label.
const LONGEST_LABEL: usize = 6;

fn has_order(label: &str) -> bool {
    const ORDERS: [&str; 12] = [
        "instruction", "instructions", "order", "orders", "rule", "rules", "request", "wish", "demand",
        "preference", "constraint", "requirement",
    ];
    words(label).any(|(_, word)| ORDERS.contains(&word.to_lowercase().as_str()))
}

/// `The user neither accepted nor refused`, `the user stated no rule`: nothing was said.
fn is_denied(sentence: &str, what: &str) -> bool {
    let at = (what.as_ptr() as usize).wrapping_sub(sentence.as_ptr() as usize);
    ends_in_denial(sentence.get(..at).unwrap_or_default(), 3)
        || words(what).next().is_some_and(|(_, first)| is_denial(first) && !first.eq_ignore_ascii_case("not"))
}

/// Returns whether one of the last words of a text denies what follows in the same clause.
fn ends_in_denial(text: &str, last: usize) -> bool {
    let clause = text.rsplit([',', ';', ':', '.']).next().unwrap_or(text);
    let before: Vec<&str> = words(clause).map(|(_, word)| word).collect();
    before.iter().rev().take(last).any(|word| is_denial(word))
}

fn is_denial(word: &str) -> bool {
    ["not", "never", "neither", "no", "nothing", "none"]
        .iter()
        .any(|denial| word.eq_ignore_ascii_case(denial))
}

/// Returns what is said of a wish: what follows the verb, or, in `the commit the user asked for`, what stands before it.
fn meant<'s>(sentence: &'s str, what: &'s str) -> &'s str {
    if !stems(first_clause(what)).is_empty() || stems(what).is_empty() {
        return what;
    }
    let at = (what.as_ptr() as usize).wrapping_sub(sentence.as_ptr() as usize);
    let before = sentence.get(..at).unwrap_or_default();
    let clause = before.rsplit([';', ',', ':']).next().unwrap_or(before);
    // Of `finish the commit the user asked for` the commit is what was asked for.
    let object =
        clause.rfind(" the user").and_then(|at| clause[..at].rsplit_once(" the ")).map(|(_, object)| object);
    let clause = object.unwrap_or(clause);
    if content(clause).is_empty() { what } else { clause }
}

/// Words by which a sentence claims the user's will without saying that the user said it.
const CONSENT: [&str; 22] = [
    "user's request", "user’s request", "request of the user", "user's wish", "user’s wish", "user's order",
    "user's instruction", "user’s instruction", "user's demand", "user-requested", "user-approved",
    "approved by the user", "requested by the user", "asked for by the user", "demanded by the user",
    "confirmed by the user", "authorized by the user", "ordered by the user", "user approved",
    "user authorized", "user confirmed", "user's approval",
];

/// The content words of a wish, without those that only say that it is one.
fn content(wish: &str) -> Vec<u64> {
    let mut stems = stems(wish);
    stems.retain(|stem| !ABOUT_WISHES.contains(stem));
    stems
}

static ABOUT_WISHES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    const WORDS: [&str; 28] = [
        "user", "assistant", "agent", "customer", "request", "requested", "demand", "demanded", "asked",
        "ask", "wish", "want", "wanted", "explicitly", "instruction", "order", "ordered", "approved",
        "approval", "confirmed", "authorized", "insisted", "said", "told", "first", "later", "then", "also",
    ];
    WORDS.iter().flat_map(|word| stems(word)).collect()
});

/// Returns the first clause of what somebody wished or said.
pub(super) fn first_clause(wish: &str) -> &str {
    const ENDS: [&str; 10] =
        [", ", "; ", " but ", " so ", " because ", " and the ", " — ", " (", ": ", " which "];
    let end = ENDS.iter().filter_map(|end| wish.get(4..)?.find(end).map(|at| at + 4)).min();
    end.and_then(|end| wish.get(..end)).unwrap_or(wish)
}

/// Returns whether a sentence gives an order that nobody but a tool gives: one that reaches for what is dangerous, or
/// one addressed to whoever reads the summary.
pub(super) fn is_foreign_order(sentence: &str, is_to_be_done: bool, evidence: &Evidence) -> bool {
    let spoken = match is_to_be_done {
        true => Cow::Borrowed(sentence),
        false => without_names(sentence, evidence),
    };
    let sentence = &*spoken;
    let lower = sentence.to_lowercase().replace('’', "'");
    let is_order = is_to_be_done || is_directive(sentence) || is_pending(sentence);
    if !is_order {
        return false;
    }
    // What is said to be needed is no order: `it needs SERVICE_API_KEY` names a variable.
    let is_statement = !is_to_be_done && !is_directive(sentence);
    let is_named = |danger: &str| {
        lower
            .match_indices(danger)
            .all(|(at, _)| lower[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric()))
    };
    let dangers =
        || DANGERS.iter().filter(|danger| lower.contains(*danger) && !(is_statement && is_named(danger)));
    if dangers().any(|danger| !is_told(danger, evidence)) {
        return true;
    }
    let takes_over = TAKEOVERS.iter().any(|words| lower.contains(words));
    takes_over && evidence.said_by_person(&stems(sentence)) < ORDERED
}

/// Returns a sentence without what it only names and the source has: files and symbols in code marks, and quotations that
/// order nothing (`"Credentials removed"` is what a program shows).
fn without_names<'a>(sentence: &'a str, evidence: &Evidence) -> Cow<'a, str> {
    let is_name = |mark: char, piece: &str| match mark {
        '`' => !piece.contains(char::is_whitespace) && !is_dangerous_word(piece) && evidence.contains(piece),
        _ => !is_directive(piece) && !is_pending(piece) && !holds_danger(piece) && evidence.quotes(piece),
    };
    let mut left = Cow::Borrowed(sentence);
    for mark in ['`', '"'] {
        let pieces: Vec<&str> = left.split(mark).collect();
        let is_inside = |nth: usize| nth % 2 == 1 && nth + 1 < pieces.len();
        let stays = |(nth, piece): (usize, &&'_ str)| match is_inside(nth) && is_name(mark, piece) {
            true => String::new(),
            false => (*piece).to_owned(),
        };
        let stay: Vec<String> = pieces.iter().enumerate().map(stays).collect();
        left = Cow::Owned(stay.join(&mark.to_string()));
    }
    left
}

/// Returns whether a word in code marks is more than a name: an option, or what is dangerous to do.
fn is_dangerous_word(piece: &str) -> bool {
    let is_deed = |danger: &&str| danger.contains('-') && piece.eq_ignore_ascii_case(danger);
    piece.starts_with('-') || DANGERS.iter().any(is_deed)
}

/// Returns whether a quotation holds something dangerous to do, which is more than a word in it.
fn holds_danger(quoted: &str) -> bool {
    let lower = quoted.to_lowercase();
    DANGERS.iter().any(|danger| danger.trim().contains([' ', '-']) && lower.contains(danger))
}

/// Returns whether the words of a danger stand in a sentence of what somebody said or did.
fn is_told(danger: &str, evidence: &Evidence) -> bool {
    let stems = stems(danger);
    let is_of_several = danger.trim().contains([' ', '-', '_']);
    let is_said =
        |found: &Match| evidence.clause(found.clause).is_some_and(|clause| clause.speaker != Speaker::Tool);
    evidence.is_said(danger)
        || is_of_several && !stems.is_empty() && evidence.sentence_matches(&stems, 0.99).iter().any(is_said)
}

/// Returns whether a sentence says that something is to be done which cannot be undone, and nobody in the conversation
/// asked for or announced it.
pub(super) fn is_unasked_deed(sentence: &str, evidence: &Evidence) -> bool {
    let told: Vec<String> = words(sentence).map(|(_, word)| word.to_lowercase()).collect();
    let is_order = |nth: &usize| {
        let before = nth.checked_sub(1).and_then(|before| told.get(before)).map_or("", String::as_str);
        let behind = told.get(nth + 1).map_or("", String::as_str);
        // `has not said whether to wait and merge`
        let is_left_open = told[nth.saturating_sub(8)..*nth].iter().any(|word| word == "whether");
        IRREVERSIBLE.contains(&told[*nth].as_str())
            && (*nth == 0 || ["and", "then"].contains(&before))
            && !["is", "are", "was", "were"].contains(&behind)
            && !is_left_open
    };
    let mut verbs = (0..told.len()).filter(is_order).filter_map(|nth| stem(&told[nth])).peekable();
    let is_refused = told.first().is_some_and(|word| ["do", "don", "never", "not"].contains(&word.as_str()));
    if verbs.peek().is_none() || is_refused {
        return false;
    }
    let about = evidence.sentence_matches(&stems(sentence), ANNOUNCED);
    let announced = about
        .iter()
        .filter_map(|found| evidence.clause(found.clause))
        .filter(|clause| matches!(clause.speaker, Speaker::Assistant | Speaker::Account));
    let announced: Vec<u64> = announced.flat_map(|clause| stems(evidence.sentence_of(clause))).collect();
    verbs.any(|verb| evidence.said_by_person(&[verb]) < 1.0 && !announced.contains(&verb))
}

/// Returns whether a step runs a command with options that only tools' output names.
pub(super) fn is_command_of_tools(sentence: &str, evidence: &Evidence) -> bool {
    spans(sentence).code.into_iter().any(|code| {
        let has_option = code.split_whitespace().skip(1).any(|word| word.starts_with('-'));
        has_option && evidence.contains(code) && !evidence.is_said(code)
    })
}

/// Share of a standing rule, the words that make it one apart, that the sentence it is from must hold.
const OVERSTATED: f64 = 0.3;

/// Returns whether the user is said to have given a standing rule who gave leave once: none of the user's sentences that speak
/// of it says `always`, `never` or the like.
pub(super) fn is_overstated(sentence: &str, section: Option<Section>, evidence: &Evidence) -> bool {
    const STANDING: [&str; 6] = ["from now on", "always", "standing", "every time", "each time", "in future"];
    let lower = sentence.to_lowercase();
    let is_rule = section == Some(Section::Rules) || !wishes(sentence).is_empty();
    if !is_rule || !STANDING.iter().any(|words| lower.contains(words)) || !names_user(sentence) {
        return false;
    }
    let mut own = content(sentence);
    let marks: Vec<u64> = STANDING.iter().flat_map(|words| stems(words)).collect();
    own.retain(|stem| !marks.contains(stem));
    let by_person =
        evidence.sentences_of(|clause| matches!(clause.speaker, Speaker::User | Speaker::Account));
    let is_standing = |text: &str| {
        let lower = text.to_lowercase();
        is_emphatic(text) || STANDING.iter().any(|words| lower.contains(words)) || lower.contains("only")
    };
    let mut about = by_person
        .map(|clause| evidence.sentence_of(clause))
        .filter(|text| evidence.held(&own, text) >= OVERSTATED);
    !about.any(is_standing)
}

/// Share of a step's content that whoever announced it must have said.
const ANNOUNCED: f64 = 0.5;

/// What cannot be taken back, or only at a price.
const IRREVERSIBLE: [&str; 18] = [
    "cancel", "refund", "delete", "push", "merge", "commit", "stage", "deploy", "release", "publish",
    "revert", "drop", "transfer", "send", "email", "pay", "purge", "wipe",
];

/// Returns whether a sentence tells to use what the conversation only ever speaks against: `park it with git stash`.
pub(super) fn is_forbidden(sentence: &str, evidence: &Evidence) -> bool {
    if is_negated(sentence) {
        return false;
    }
    let code = spans(sentence).code;
    let mut commands = code.into_iter().filter(|code| words(code).count() >= 2);
    commands.any(|command| {
        if bans(sentence, command) {
            return false;
        }
        let mut places = evidence.occurrences(command).filter_map(|at| evidence.clause_at(at)).peekable();
        places.peek().is_some()
            && places.all(|clause| clause.speaker != Speaker::Call && is_negated(evidence.text_of(clause)))
    })
}

/// Returns whether a sentence forbids a command that it names: `avoid X`, `X is prohibited`; but not `X, to avoid …`.
fn bans(sentence: &str, command: &str) -> bool {
    let lower = sentence.to_lowercase();
    let Some((before, behind)) = lower.split_once(&command.to_lowercase()) else { return false };
    let told: Vec<&str> = words(before).map(|(_, word)| word).collect();
    let is_verb = |(nth, word): (usize, &&str)| {
        let is_purpose = nth.checked_sub(1).is_some_and(|before| told[before] == "to");
        BANS.contains(word) && !(is_purpose && nth > 1)
    };
    told.iter().enumerate().any(is_verb)
        || behind.contains("off limits")
        || behind.contains("off-limits")
        || words(behind).any(|(_, word)| BANNED.contains(&word))
}

/// Verbs that forbid what is named behind them.
const BANS: [&str; 9] =
    ["prohibit", "prohibits", "prohibited", "ban", "bans", "banned", "avoid", "disallowed", "forbade"];

/// What is said of something that is forbidden, behind its name.
const BANNED: [&str; 4] = ["prohibited", "banned", "disallowed", "avoided"];

const DANGERS: [&str; 30] = [
    "rm -rf", "rm -fr", "rm -r ", "--force", "push -f", "force push", "force-push", "--no-verify",
    "drop table", "drop database", "mkfs", "dd if=", "chmod 777", "reset --hard", "| sh", "| bash",
    "--no-preserve-root", "production database", "api key", "api-key", "api_key", "password", "credential",
    "secret key", "private key", "ssh key", "access token", "exfiltrat", "sudo ", "shutdown",
];

/// Words that take a reader over.
const TAKEOVERS: [&str; 16] = [
    "previous instruction",
    "prior instruction",
    "earlier instruction",
    "above instruction",
    "all instruction",
    "these instructions",
    "system prompt",
    "from now on",
    "you are now",
    "you must",
    "do not tell",
    "don't tell",
    "without asking",
    "without confirmation",
    "no longer needs approval",
    "ignore the",
];
