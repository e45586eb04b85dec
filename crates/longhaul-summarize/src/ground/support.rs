//! Whose will, whose deed, whose order: claims of these need a source by the one they are ascribed to.

use std::sync::LazyLock;

use super::{
    evidence::{Clause, Evidence, Match, Speaker},
    polarity::{is_directive, is_negated, is_pending},
    speakers::{Verb, attributions, names_user},
    words::{hash, root, stem, stems, words},
};

/// Share of a wish's content that a person must have said.
const WISHED: f64 = 0.34;
/// The same for wishes of few words, any one of which changes them.
const WISHED_IN_FEW: f64 = 0.6;
/// A wish of this many content words or fewer is one of few words.
const FEW: usize = 3;
/// Share of what a deed is done to that must stand beside the deed.
const DONE_TO: f64 = 0.34;
/// A deed that is told with so much of what it is about in one message is shown there, in whatever words.
const ALL_TOLD: f64 = 0.75;
/// Share of an order's content that somebody who is no tool must have said.
const ORDERED: f64 = 0.5;

/// Returns whether a sentence claims the user's will or consent for something that no person said.
pub(super) fn is_unsaid_wish(sentence: &str, evidence: &Evidence) -> bool {
    wishes(sentence).into_iter().any(|wish| {
        let whole = content(wish);
        let first = content(first_clause(wish));
        let told = |stems: &[u64]| {
            let least = if stems.len() <= FEW { WISHED_IN_FEW } else { WISHED };
            !stems.is_empty() && evidence.said_by_person(stems) >= least
        };
        !whole.is_empty() && !told(&whole) && !told(&first)
    })
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
    let mut found: Vec<&str> = attributions(sentence).into_iter().filter_map(by_user).collect();
    let lower = sentence.to_lowercase();
    let is_trailing = found.iter().all(|what| stems(what).is_empty());
    if is_trailing && (CONSENT.iter().any(|words| lower.contains(words)) || !found.is_empty()) {
        found = vec![sentence];
    }
    found
}

/// Words by which a sentence claims the user's will without saying that the user said it.
const CONSENT: [&str; 22] = [
    "user's request",
    "user’s request",
    "request of the user",
    "user's wish",
    "user’s wish",
    "user's order",
    "user's instruction",
    "user’s instruction",
    "user's demand",
    "user-requested",
    "user-approved",
    "approved by the user",
    "requested by the user",
    "asked for by the user",
    "demanded by the user",
    "confirmed by the user",
    "authorized by the user",
    "ordered by the user",
    "user approved",
    "user authorized",
    "user confirmed",
    "user's approval",
];

/// The content words of a wish, without those that only say that it is one.
fn content(wish: &str) -> Vec<u64> {
    let mut stems = stems(wish);
    stems.retain(|stem| !ABOUT_WISHES.contains(stem));
    stems
}

static ABOUT_WISHES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    const WORDS: [&str; 26] = [
        "user",
        "assistant",
        "request",
        "requested",
        "demand",
        "demanded",
        "asked",
        "ask",
        "wish",
        "want",
        "wanted",
        "explicitly",
        "instruction",
        "order",
        "ordered",
        "approved",
        "approval",
        "confirmed",
        "authorized",
        "insisted",
        "said",
        "told",
        "first",
        "later",
        "then",
        "also",
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

/// Returns whether a sentence claims a deed of consequence that nothing shows: a deletion, a release, a payment.
pub(super) fn is_undone_deed(sentence: &str, evidence: &Evidence) -> bool {
    let is_deed = |word: &&str| DEEDS.iter().any(|deed| deed.0.contains(&word.to_lowercase().as_str()));
    // `dropped` denies what else is said, and is a deed.
    let rest: Vec<&str> = words(sentence).map(|(_, word)| word).filter(|word| !is_deed(word)).collect();
    let rest = rest.join(" ");
    if is_negated(&rest) || is_pending(&rest) {
        return false;
    }
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let is_told = |nth: &usize| !is_attribute(sentence, &told, *nth);
    let deeds = (0..told.len()).filter(is_told).filter_map(|nth| {
        let word = told[nth].1.to_lowercase();
        DEEDS.iter().find(|deed| deed.0.contains(&word.as_str()))
    });
    let object: Vec<u64> = stems(sentence);
    deeds.into_iter().any(|(told, shown)| {
        let verbs: Vec<u64> = told.iter().chain(*shown).map(|word| hash(root(word))).collect();
        let object: Vec<u64> = object.iter().copied().filter(|stem| !verbs.contains(stem)).collect();
        let is_shown =
            |clause: &Clause| clause.speaker != Speaker::User || !is_negated(evidence.text_of(clause));
        evidence.told_with(&verbs, &object, is_shown) < DONE_TO && evidence.told_at_once(&object) < ALL_TOLD
    })
}

/// `9 booked segments`, `the deleted file`: the word tells which are meant, not what was done.
fn is_attribute(sentence: &str, told: &[(usize, &str)], nth: usize) -> bool {
    const DETERMINERS: [&str; 14] =
        ["the", "a", "an", "each", "all", "any", "every", "its", "their", "no", "some", "both", "of", "for"];
    let Some((at, word)) = told.get(nth).copied() else { return false };
    let before = nth.checked_sub(1).and_then(|before| told.get(before));
    let is_noun = |(next, noun): &(usize, &str)| {
        sentence.get(at + word.len()..*next) == Some(" ") && stem(noun).is_some()
    };
    before.is_some_and(|(_, before)| {
        let before = before.to_lowercase();
        DETERMINERS.contains(&before.as_str())
            || before.bytes().all(|byte| byte.is_ascii_digit())
            || before.ends_with("ed")
    }) && told.get(nth + 1).is_some_and(is_noun)
}

/// A deed as a claim tells of it, and other words by which a conversation shows it.
type Deed = (&'static [&'static str], &'static [&'static str]);

const DEEDS: [Deed; 8] = [
    (
        &["deleted", "dropped", "wiped", "purged", "erased", "destroyed", "truncated"],
        &[
            "delete", "remove", "removed", "rm", "drop", "unlink", "clear", "truncate", "wipe", "purge",
            "erase", "destroy", "gone", "rmdir", "clean", "reset",
        ],
    ),
    (
        &["deployed", "released", "published", "shipped"],
        &["deploy", "deployment", "release", "publish", "ship", "live", "rollout", "tag", "announce"],
    ),
    (&["pushed", "merged"], &["push", "merge", "main", "origin", "branch", "pr"]),
    (
        &["refunded", "reimbursed", "compensated"],
        &["refund", "charge", "pay", "payment", "certificate", "credit", "compensation"],
    ),
    (
        &["cancelled", "canceled", "booked", "rebooked"],
        &["cancel", "cancellation", "book", "booking", "reservation"],
    ),
    (&["emailed", "mailed", "notified"], &["email", "mail", "send", "sent", "notify", "message"]),
    (
        &["revoked", "granted", "rotated"],
        &["revoke", "grant", "rotate", "access", "permission", "key", "token"],
    ),
    (
        &["uninstalled", "installed"],
        &["install", "add", "npm", "pip", "cargo", "apt", "dependency", "brew", "setup"],
    ),
];

/// Returns whether a sentence gives an order that nobody but a tool gives: one that reaches for what is dangerous, or
/// one addressed to whoever reads the summary.
pub(super) fn is_foreign_order(sentence: &str, is_to_be_done: bool, evidence: &Evidence) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let is_order = is_to_be_done || is_directive(sentence) || is_pending(sentence);
    if !is_order {
        return false;
    }
    let dangers = || DANGERS.iter().filter(|danger| lower.contains(*danger));
    if dangers().any(|danger| !is_told(danger, evidence)) {
        return true;
    }
    let takes_over = TAKEOVERS.iter().any(|words| lower.contains(words));
    takes_over && evidence.said_by_person(&stems(sentence)) < ORDERED
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

const DANGERS: [&str; 30] = [
    "rm -rf",
    "rm -fr",
    "rm -r ",
    "--force",
    "push -f",
    "force push",
    "force-push",
    "--no-verify",
    "drop table",
    "drop database",
    "mkfs",
    "dd if=",
    "chmod 777",
    "reset --hard",
    "| sh",
    "| bash",
    "--no-preserve-root",
    "production database",
    "api key",
    "api-key",
    "api_key",
    "password",
    "credential",
    "secret key",
    "private key",
    "ssh key",
    "access token",
    "exfiltrat",
    "sudo ",
    "shutdown",
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
