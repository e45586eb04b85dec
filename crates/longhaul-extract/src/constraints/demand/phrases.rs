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

/// What stands behind "not" where nothing is set against something else.
pub(super) const NOT_THINGS: &[&str] = &[
    "everything", "all", "every", "sure", "yet", "so", "too", "really", "even", "that", "because", "only",
    "always", "a problem", "great", "good", "bad",
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

/// What looks like duty and only guesses.
pub(super) const EPISTEMIC: &[&str] = &[
    " must have ",
    " should have been ",
    " should work ",
    " should be fine ",
    " should be ok ",
    " should be good ",
    " should be able ",
    " should be enough ",
    " that should never happen ",
    " this should never happen ",
    " that should not happen ",
    " that shouldn't happen ",
    " don't have to ",
    " doesn't have to ",
    " would have to ",
    " might need to ",
    " should never have ",
];

/// What stands before a word of duty that demands nothing of the one it is said to.
pub(super) const NO_SUBJECTS: &[&str] =
    &["i", "i'd", "i'll", "he", "she", "what", "which", "who", "don't", "doesn't", "didn't", "won't", "no"];

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
    (
        &[
            "i want", "i'd like", "i would like", "i prefer", "i'd prefer", "i would prefer", "i'd rather",
            "we prefer", "we want", "we'd like", "i need you", "it would be nice", "it would be great",
            "i expect", "i insist", "let's", "i wish", "my preference",
        ],
        DemandKind::Wish,
    ),
];

/// What opens a thought, not a wish.
pub(super) const SUPPOSES: &[&str] =
    &["let's say", "let's see", "let's look", "let's assume", "let's suppose"];

/// What makes an order one that limits how something is done.
pub(super) const QUALIFIERS: &[&str] = &[
    " only ", " instead ", " rather than ", " without ", " before ", " unless ", " until ", " every ",
    " all ", " any ", " each ", " whenever ", " when ", " if ", " always ", " never ", " no | ", " not ",
    " nothing ", " under ", " max ", " maximum ", " over ", " except ", " same ", " as is ",
];

/// Verbs that open an order that lasts.
pub(super) const STANDING_VERBS: &[&str] = &[
    "use", "keep", "prefer", "follow", "treat", "leave", "respect", "preserve", "pin", "cap", "limit",
    "restrict", "default", "support", "format", "prefix", "suffix", "stick", "stay", "name", "write", "put",
    "log", "store", "target", "assume", "answer", "reply", "quote", "round", "sort", "wrap", "call", "ask",
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

/// What begins like an order and tells or comforts.
pub(super) const TELLS: &[&str] = &[
    "never seen", "never heard", "never thought", "never had", "never happened", "never knew",
    "never noticed", "never been", "don't worry", "do not worry", "don't get me wrong", "don't know",
    "don't think", "don't see", "don't have", "you don't have", "you don't need", "you don't know",
    "you don't want", "you don't seem", "you don't look", "you don't mind", "you don't like",
    "you don't say", "you don't think",
];

/// What opens a sentence in which somebody thinks aloud: it is a wish, however it is put.
pub(super) const THINKS: &[&str] =
    &["i think", "i guess", "i suppose", "i'd say", "maybe", "perhaps", "probably"];

/// What stands behind "no" where nothing is forbidden.
pub(super) const NO_BANS: &[&str] = &[
    "problem", "worries", "idea", "need", "luck", "wonder", "rush", "clue", "doubt", "thanks", "matter",
    "big deal", "way", "comment", "such", "response", "reply", "answer", "space left", "funciona", "compila",
    "sé", "hay", "tengo", "está", "es", "puedo", "entiendo", "geral", "entanto", "momento", "that",
];

/// What begins a few words that end in "only" and limit nothing for later.
pub(super) const NOT_LIMITS: &[&str] = &[
    "this", "that", "it", "i", "we", "he", "she", "they", "just", "once", "twice", "fails", "failed",
    "broke", "breaks", "happens", "happened", "works", "worked", "on", "in", "for", "at", "from", "with",
    "read",
];

/// What a ban without a verb begins with, in other languages.
pub(super) const BANS_ABROAD: &[&str] =
    &["keine", "kein", "keinen", "bitte nicht", "pas de", "pas d'", "aucune", "aucun", "nada de"];

/// What begins like one and is none.
pub(super) const NO_BANS_ABROAD: &[&str] = &[
    "keine ahnung", "kein problem", "keine sorge", "keine frage", "kein wunder", "keine eile",
    "keine antwort", "keine fehler", "kein fehler", "kein commit", "pas de problème", "pas de souci",
    "pas de réponse", "aucun problème", "aucune idée", "aucune réponse",
];

/// What follows "nobody" where something is told.
pub(super) const NOBODY_TELLS: &[&str] = &[
    "knows", "knew", "cares", "cared", "noticed", "said", "told", "uses", "used", "answered", "came",
    "seems", "is", "was", "has", "had", "else", "would", "could", "can", "will", "likes", "wants",
    "complained", "reads", "chose", "wrote", "made", "took", "saw", "did", "went", "found", "thought",
    "gave", "really",
];

/// How a sentence begins by which nobody may do something.
pub(super) const NOBODY_MAY: &[&str] =
    &["nobody is allowed", "no one is allowed", "nobody is to", "no one is to", "nobody can", "no one can"];

/// What begins like that and tells.
pub(super) const NOBODY_CAN_TELL: &[&str] = &[
    "nobody can explain", "no one can explain", "nobody can say", "no one can say", "nobody can tell",
    "no one can tell", "nobody can see", "no one can see", "nobody can find", "no one can find",
    "nobody can reproduce", "no one can reproduce",
];

/// In which language something is to be, where a few words say it.
pub(super) const IN_LANGUAGE: &[&str] = &[
    " auf deutsch ", " auf englisch ", " en español ", " en inglés ", " en français ", " en anglais ",
    " em português ", " comments in ", " answers in english ", " reply in ",
];

/// What begins with "nothing" or "not" and tells or answers.
pub(super) const NOTHING_TELLS: &[&str] = &[
    "nothing new", "nothing else", "nothing more", "nothing yet", "nothing happened", "nothing to",
    "nothing wrong", "nothing special", "nothing came", "nothing changed", "nothing has", "nothing was",
    "nothing is wrong", "nothing works", "not a", "not me", "not bad", "not yet", "not sure", "not really",
    "not gonna", "not that", "not much", "not too", "not so", "not quite", "not at all", "not here",
    "not now", "not everyone", "not everybody", "not only", "not even", "not working", "not found",
    "not good", "not great", "not necessarily",
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

/// How many there are, or which of them.
pub(super) const HOW_MANY: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "half", "some", "a few",
    "the first", "the last", "the second", "the third", "the other", "this", "that", "these", "those",
];

/// How those are at the moment.
pub(super) const STANDS_SO: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "fail", "fails", "failed", "pass", "passes", "passed",
    "left", "remain", "remains", "work", "works", "worked", "missing", "broken", "red", "green", "seems",
];

/// What makes that a limit.
pub(super) const LIMITS_SO: &[&str] = &["allowed", "permitted", "to", "per", "time", "once", "each", "any"];
