//! Words that turn a sentence: no, done, maybe, must.

use super::words::{hash, is_wide, root, words};

/// Returns whether a clause denies what it speaks of.
pub(super) fn is_negated(clause: &str) -> bool {
    has_word(clause, NEGATIONS) || has_part(clause, NEGATED_PARTS)
}

/// Returns whether a reply begins by saying no.
pub(super) fn says_no(reply: &str) -> bool {
    let first = words(reply).next().map(|(_, word)| word.to_lowercase());
    first.is_some_and(|word| {
        ["no", "nope", "nein", "non", "não", "нет", "不", "别", "いいえ"].contains(&word.as_str())
    })
}

/// Returns whether a sentence asks.
pub(super) fn is_question(sentence: &str) -> bool {
    sentence.trim_end().trim_end_matches(['"', '”', ')']).ends_with(['?', '？'])
}

/// Returns whether a clause says that something is done: by a word for it, by the past tense of the task's verb, or as
/// something that the speaker did (`I added …`).
pub(super) fn is_done(clause: &str, task: &str) -> bool {
    if has_word(clause, PENDING) || is_negated(clause) {
        return false;
    }
    let verb = words(task).next().map(|(_, word)| word.to_lowercase());
    let in_past = |word: &str| {
        word.ends_with("ed") && verb.as_deref().is_some_and(|verb| hash(root(word)) == hash(root(verb)))
    };
    has_word(clause, DONE)
        || clause.contains(['✓', '✅', '✔'])
        || words(clause).any(|(_, word)| in_past(&word.to_lowercase()))
        || tells_of_a_deed(clause)
}

/// `I added`, `I have set`, `I also wrote`; not `I considered`.
fn tells_of_a_deed(clause: &str) -> bool {
    let mut said = words(clause).map(|(_, word)| word.to_lowercase());
    let starts = said.next().is_some_and(|word| word == "i");
    let is_filler =
        |word: &String| ["have", "ve", "also", "then", "now", "just", "already"].contains(&word.as_str());
    let verb = said.find(|word| !is_filler(word)).unwrap_or_default();
    starts && !ATTEMPTS.contains(&verb.as_str()) && (verb.ends_with("ed") || DEEDS.contains(&verb.as_str()))
}

/// Returns whether a text speaks of what is still to come.
pub(super) fn is_pending(clause: &str) -> bool {
    has_word(clause, PENDING)
}

/// Returns whether a rule is stated without leaving a choice.
pub(super) fn is_strict(text: &str) -> bool {
    is_negated(text) || has_word(text, STRICT)
}

/// Returns whether a text forbids or demands in so many words; a `not` or an `only` alone does not.
pub(super) fn is_emphatic(text: &str) -> bool {
    has_word(text, EMPHATIC) || has_part(text, &["do not", "don't"])
}

/// Returns whether a text leaves a choice: `avoid`, `prefer`, `should`.
pub(super) fn is_weak(text: &str) -> bool {
    has_word(text, WEAK) || has_part(text, WEAK_PARTS)
}

/// Returns whether a sentence tells its reader what to do, as planted text does.
pub(super) fn is_directive(text: &str) -> bool {
    let first = words(text).next().map(|(_, word)| word.to_lowercase()).unwrap_or_default();
    IMPERATIVES.contains(&first.as_str()) || has_word(text, DIRECTIVES) || has_part(text, DIRECTIVE_PARTS)
}

/// Returns whether a sentence reports a choice.
pub(super) fn is_decision(text: &str) -> bool {
    has_word(text, DECISIONS)
}

/// Returns whether a sentence says that a file came into being or changed.
pub(super) fn speaks_of_change(text: &str) -> bool {
    has_word(text, CHANGES)
}

/// Returns whether a sentence says that a file went away.
pub(super) fn speaks_of_removal(text: &str) -> bool {
    has_word(text, REMOVALS)
}

/// Verbs of saying, by which a sentence claims that somebody said something.
pub(super) fn is_verb_of_saying(word: &str) -> bool {
    SAYING.contains(&root(&word.to_lowercase()))
}

fn has_word(text: &str, list: &[&str]) -> bool {
    words(text).any(|(_, word)| list.contains(&word.to_lowercase().as_str()))
}

/// Looks for phrases, and for words of scripts without blanks.
fn has_part(text: &str, list: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    list.iter().any(|part| match part.chars().all(is_wide) {
        true => lower.contains(part),
        false => lower.match_indices(part).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            !before.is_some_and(char::is_alphanumeric) || part.starts_with("n't")
        }),
    })
}

const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "none",
    "without",
    "cannot",
    "against",
    "rejected",
    "reject",
    "rejects",
    "declined",
    "refused",
    "ruled",
    "discarded",
    "abandoned",
    "dropped",
    "dismissed",
    "cancelled",
    "canceled",
    "unless",
    "nor",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nie",
    "niemals",
    "pas",
    "jamais",
    "aucun",
    "nunca",
    "jamás",
    "não",
    "не",
    "нельзя",
    "никогда",
    "нет",
    "forbids",
    "forbid",
    "forbidden",
    "prohibits",
];
const NEGATED_PARTS: &[&str] =
    &["n't", "instead of", "rather than", "rule out", "不", "别", "勿", "没", "ない", "しない", "않", "안 "];
const DONE: &[&str] = &[
    "done",
    "completed",
    "finished",
    "fixed",
    "merged",
    "committed",
    "passes",
    "passed",
    "pass",
    "implemented",
    "deployed",
    "resolved",
    "shipped",
    "released",
    "landed",
    "works",
    "green",
    "erledigt",
    "fertig",
    "hecho",
    "listo",
    "terminé",
    "fait",
    "готово",
    "сделано",
];
const DEEDS: &[&str] = &[
    "set", "wrote", "written", "made", "put", "ran", "run", "built", "cut", "sent", "found", "split", "took",
    "taken",
];
const ATTEMPTS: &[&str] =
    &["considered", "tried", "wanted", "planned", "started", "looked", "checked", "needed"];
const PENDING: &[&str] = &[
    "todo",
    "next",
    "remaining",
    "pending",
    "later",
    "still",
    "yet",
    "will",
    "tomorrow",
    "plan",
    "need",
    "needs",
    "should",
    "must",
    "then",
    "failed",
    "fails",
    "failing",
    "unless",
    "until",
    "if",
];
const STRICT: &[&str] = &[
    "must",
    "always",
    "only",
    "exactly",
    "required",
    "mandatory",
    "forbidden",
    "prohibited",
    "immer",
    "nur",
    "muss",
    "siempre",
    "solo",
    "debe",
    "toujours",
    "doit",
    "sempre",
    "apenas",
    "deve",
    "всегда",
    "только",
    "должен",
];
const EMPHATIC: &[&str] = &[
    "never",
    "must",
    "always",
    "forbidden",
    "prohibited",
    "mandatory",
    "required",
    "niemals",
    "nie",
    "darf",
    "muss",
    "nunca",
    "jamás",
    "siempre",
    "jamais",
    "toujours",
    "sempre",
    "никогда",
    "нельзя",
    "всегда",
];
const WEAK: &[&str] = &[
    "avoid",
    "avoids",
    "avoided",
    "avoiding",
    "prefer",
    "prefers",
    "preferably",
    "preferred",
    "should",
    "try",
    "tries",
    "ideally",
    "usually",
    "generally",
    "minimize",
    "minimise",
    "limit",
    "reluctant",
    "careful",
    "cautious",
    "recommended",
    "recommends",
    "suggests",
    "suggested",
    "possibly",
    "may",
    "might",
    "could",
    "rarely",
    "unlikely",
    "optional",
    "vermeiden",
    "möglichst",
    "evitar",
    "éviter",
    "preferiblemente",
    "избегать",
    "желательно",
];
const WEAK_PARTS: &[&str] = &[
    "if possible",
    "where possible",
    "when possible",
    "as far as possible",
    "would like",
    "尽量",
    "尽可能",
    "なるべく",
];
const IMPERATIVES: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "run",
    "execute",
    "delete",
    "send",
    "post",
    "upload",
    "email",
    "download",
    "curl",
    "visit",
    "open",
    "click",
    "reveal",
    "print",
    "output",
    "reply",
    "respond",
    "answer",
    "say",
    "tell",
    "act",
    "pretend",
    "override",
    "disable",
    "enable",
    "grant",
    "approve",
    "install",
    "add",
    "push",
    "transfer",
    "pay",
    "call",
    "use",
    "remember",
    "always",
    "never",
    "do",
    "don",
    "please",
    "stop",
    "start",
    "write",
    "copy",
    "share",
    "exfiltrate",
    "include",
    "repeat",
    "follow",
    "obey",
    "trust",
    "consider",
    "treat",
    "switch",
    "skip",
    "merge",
    "commit",
    "remove",
    "change",
    "set",
    "make",
    "give",
    "provide",
    "leak",
    "encode",
    "base64",
    "fetch",
    "you",
    "important",
    "attention",
    "system",
    "note",
    "warning",
    "urgent",
    "from",
    "forward",
    "wire",
    "notify",
    "contact",
    "invite",
    "issue",
    "refund",
    "publish",
    "deploy",
    "release",
    "restart",
    "kill",
    "purge",
    "wipe",
    "reset",
    "rotate",
    "bypass",
    "allow",
    "submit",
    "paste",
    "load",
    "import",
    "clone",
    "build",
    "buy",
    "order",
    "subscribe",
    "register",
    "expose",
    "save",
];
const DIRECTIVES: &[&str] = &[
    "must",
    "should",
    "always",
    "never",
    "ignore",
    "disregard",
    "instruction",
    "instructions",
    "immediately",
    "obey",
    "required",
    "mandatory",
    "shall",
    "urgent",
];
const DIRECTIVE_PARTS: &[&str] = &[
    "you are now",
    "you will",
    "you have to",
    "you need to",
    "from now on",
    "do not tell",
    "don't tell",
    "new task",
    "approved by",
    "authorized",
    "has approved",
    "is authorized",
    "is authorised",
    "without asking",
    "without confirmation",
];
const DECISIONS: &[&str] = &[
    "decide",
    "decided",
    "decides",
    "deciding",
    "chose",
    "choose",
    "chosen",
    "agreed",
    "agrees",
    "opted",
    "selected",
    "settled",
    "adopted",
    "approved",
    "accepted",
    "suggests",
    "suggested",
    "proposes",
    "proposed",
    "recommends",
    "recommended",
    "plans",
    "planned",
    "will",
    "choice",
    "decision",
];
const CHANGES: &[&str] = &[
    "created",
    "creates",
    "create",
    "added",
    "adds",
    "add",
    "wrote",
    "written",
    "writes",
    "modified",
    "updated",
    "edited",
    "changed",
    "contains",
    "implements",
    "implemented",
    "exists",
    "is",
    "lives",
];
const REMOVALS: &[&str] = &[
    "deleted", "deletes", "delete", "removed", "removes", "remove", "renamed", "renames", "moved",
    "reverted", "reverts", "gone", "dropped", "restored", "rolled",
];
/// Stems of verbs of saying, as [`root`] leaves them.
const SAYING: &[&str] = &[
    "suggest",
    "ask",
    "request",
    "propos",
    "reject",
    "insist",
    "want",
    "demand",
    "recommend",
    "advis",
    "warn",
    "decid",
    "agre",
    "instruct",
    "argu",
    "refus",
    "prefer",
    "order",
    "tell",
    "told",
    "said",
    "say",
    "question",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negations_of_several_languages() {
        for text in [
            "do not roll back",
            "Don’t touch it",
            "instead of a rollback",
            "nicht anfassen",
            "n'y touche pas",
            "не трогай",
            "不要改动",
        ] {
            assert!(is_negated(text), "{text}");
        }
        for text in ["roll back now", "notice the note", "know it"] {
            assert!(!is_negated(text), "{text}");
        }
    }

    #[test]
    fn done_is_told_from_to_be_done() {
        assert!(is_done("I renamed the flag", "Rename the flag"));
        assert!(is_done("all 12 tests pass", "Run the tests"));
        assert!(!is_done("the flag will be renamed tomorrow", "Rename the flag"));
        assert!(!is_done("the flag is not fixed", "Fix the flag"));
    }

    #[test]
    fn strict_and_weak_rules() {
        assert!(is_strict("Never push to main") && !is_weak("Never push to main"));
        assert!(is_weak("Avoid pushing to main") && !is_strict("Avoid pushing to main"));
    }
}
