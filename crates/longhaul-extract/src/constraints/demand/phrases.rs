//! The English words by which a sentence demands something.

use super::DemandKind;

pub(super) const POLITE: &[&str] =
    &["can you", "could you", "would you", "will you", "please", "can we", "could we"];

/// Words after which a clause begins.
pub(super) const OPENERS: &[&str] = &[
    " and ", " but ", " so ", " then ", " please ", " pls ", " plz ", " also ", " just ", " ok ", " okay ",
    " yeah ", " yes ", " now ", " alright ", " well ", " otherwise ", " or ", " hey ", " that ", " because ",
    " to ", " again ", " further ", " therefore ", " here on ", " now on ", " for now ", " until then ",
    " till then ", " the meantime ", " the moment ", " time being ", " today ", " this week ", " meanwhile ",
    " und ", " aber ", " bitte ", " et ", " mais ", " pero ",
];

/// What people cry out before they say what they want.
pub(super) const INTERJECTIONS: &[&str] = &[
    " omg ", " omfg ", " oh ", " ah ", " ugh ", " argh ", " wtf ", " ffs ", " damn ", " jeez ", " dude ",
    " man ", " bro ", " my dude ", " hm ", " hmm ", " hmmm ", " no | ", " nope ", " sorry ", " look ",
    " listen ", " fucking hell ", " for fuck's sake ", " for the love of god ", " guys ", " folks ",
];

/// What opens a clause that gives an order to be kept.
pub(super) const ORDERS_OPEN: &[&str] = &[
    "never", "always", "don't", "dont", "don't ever", "do not", "avoid", "make sure", "ensure", "be sure",
    "make certain", "only", "under no circumstances", "at no point", "not a single", "stick to",
    "stick with", "no more", "we never", "we always", "we only", "you never", "you always", "you only",
    "you don't", "we don't want", "we do not want", "we don't use", "we don't need", "we do not need",
    "we do not use", "i don't want you to", "i do not want you to", "i don't want to see",
    "i do not want to see", "i don't want any", "i do not want any", "i never want", "i want no",
    "we want no", "we don't want you to", "you can't", "you cannot", "you can only", "you may not",
    "you may only", "we can't", "we cannot", "let's not", "let's never", "let's always", "let's only",
    "refrain from", "keep your hands off", "everything must",
];

/// Words of duty, wherever they stand.
pub(super) const MODALS: &[&str] = &[
    "must", "mustn't", "should", "shouldn't", "shall", "have to", "has to", "needs to", "need to", "may not",
    "may only", "ought to", "supposed to", "is required", "are required", "is mandatory", "are mandatory",
    "is forbidden", "are forbidden", "is prohibited", "are prohibited", "not allowed", "is banned",
    "are banned", "can't be", "cannot be", "is not to be", "are not to be", "is to be", "are to be",
];

/// What sets a rule in the middle of a sentence.
pub(super) const STANDING: &[&str] = &[
    " is always ",
    " are always ",
    " is never ",
    " are never ",
    " is only ",
    " are only ",
    " stays ",
    " stay on ",
    " off limits ",
    " off-limits ",
    " out of bounds ",
    " hands off ",
    " read-only ",
    " from now on ",
    " from here on ",
    " from this point on ",
    " from today on ",
    " always in ",
    " always with ",
    " always as ",
    " read only ",
    " going forward ",
    " as a rule ",
    " under any circumstances ",
    " under no circumstances ",
    " without asking ",
    " without my ",
    " without approval ",
    " without permission ",
    " at most ",
    " at least ",
    " no more than ",
    " no less than ",
    " no later than ",
    " no longer than ",
    " not more than ",
    " at all times ",
    " must never ",
    " never ever ",
    " let's do ",
    " non-negotiable ",
    " go in ",
    " goes in ",
    " belong in ",
    " belongs in ",
    " go through ",
    " goes through ",
    " go to ",
    " goes to ",
    " go behind ",
    " goes behind ",
    " can only ",
    " needs approval ",
    " need approval ",
    " only if ",
    " only when ",
    " only after ",
    " only with ",
    " only in ",
    " only on ",
    " only from ",
    " unless ",
];

/// Phrases that open a clause and say what it is.
pub(super) const PHRASES: &[(&[&str], DemandKind)] = &[
    (
        &[
            "remember that", "remember to", "remember |", "remember", "note that", "keep in mind",
            "bear in mind", "for the record", "don't forget", "do not forget", "fyi", "be aware", "heads up",
            "just so you know", "for your information",
        ],
        DemandKind::Fact,
    ),
    (
        &[
            "from now on", "going forward", "as a rule", "the rule is", "rule of thumb", "in this project",
            "in this repo", "our convention", "our policy", "the convention", "the policy",
        ],
        DemandKind::Rule,
    ),
    (
        &[
            "the goal", "my goal", "our goal", "the aim", "the objective", "the end goal", "what we want",
            "what i want",
        ],
        DemandKind::Goal,
    ),
];

/// Verbs that open an order.
pub(super) const VERBS: &[&str] = &[
    "use", "keep", "prefer", "follow", "treat", "leave", "respect", "preserve", "pin", "cap", "limit",
    "restrict", "default", "support", "format", "prefix", "suffix", "stick", "stay", "name", "write", "put",
    "log", "store", "target", "assume", "answer", "reply", "quote", "round", "sort", "wrap", "call", "ask",
    "add", "remove", "delete", "rename", "update", "create", "commit", "push", "test", "check", "verify",
    "tell", "stop", "start", "wait", "give", "show", "fix", "change", "set", "move", "copy", "open", "read",
    "print", "return", "run", "save", "send", "generate", "make", "mark", "report", "include", "exclude",
    "skip", "ignore", "drop", "merge", "rebase", "squash", "sign", "build", "deploy", "release", "document",
    "explain", "do", "let", "take", "pass", "throw", "raise", "catch", "handle", "validate", "escape",
    "cache", "retry", "hold", "bump",
];

/// What stands behind "no" where nothing is forbidden.
pub(super) const NO_BANS: &[&str] = &[
    "problem", "worries", "idea", "need", "luck", "wonder", "rush", "clue", "doubt", "thanks", "matter",
    "big deal", "way", "comment", "such", "response", "reply", "answer", "space left", "funciona", "compila",
    "sé", "hay", "tengo", "está", "es", "puedo", "entiendo", "geral", "entanto", "momento", "that",
];

/// How somebody goes back on what they said.
pub(super) const GOES_BACK: &[&str] = &[
    "back to", "go back to", "let's go back to", "wait |", "hold on |", "hold off", "stop |", "revert to",
    "espera |", "volvemos a", "vuelve a", "attends |", "attendez |", "retour à", "retour au", "retour aux",
    "on revient à", "on revient au", "zurück zu", "zurück zum", "zurück zur", "stopp |", "halt |", "warte |",
    "espere |", "voltamos a", "annule", "cancel that",
];

/// Verbs by which "no" something is told, not ordered.
pub(super) const HAPPENED: &[&str] = &[
    "came", "was", "were", "had", "has", "did", "got", "went", "arrived", "happened", "showed", "broke",
    "failed", "appeared", "worked", "complained", "answered",
];

/// How a sentence begins that forbids something to everybody, or all of something.
pub(super) const NOBODY: &[&str] = &["nobody", "no one", "nothing", "none of", "stop"];

/// What opens a sentence in which somebody thinks aloud: it is a wish, however it is put.
pub(super) const THINKS: &[&str] =
    &["i think", "i guess", "i suppose", "i'd say", "maybe", "perhaps", "probably"];

/// What stands behind "never" or "always" where nothing is forbidden and nothing demanded.
pub(super) const PLEASANT: &[&str] = &[
    "mind", "seen", "heard", "again", "in", "on", "to", "at", "an", "my", "of", "so", "is", "it", "up", "as",
    "been", "was", "were", "thought", "knew", "understood", "got", "had", "the", "same", "nice", "good",
    "great", "fun", "lovely", "happy", "glad", "something", "around", "though", "such", "boring", "wondered",
    "before", "felt", "took", "came", "went", "saw", "did", "will", "would", "could", "can",
];
