//! Words that turn a sentence: no, done, maybe, must.

use super::lexicon::{
    ATTEMPTS, CHANGES, DECISIONS, DEEDS, DIRECTIVE_PARTS, DIRECTIVES, DONE, DONE_PARTS, EMPHATIC,
    IMPERATIVES, MODAL, NEGATED_PARTS, NEGATIONS, PAST_ENDINGS, PENDING, PENDING_PARTS, REFERENCES, REMOVALS,
    STRICT, WEAK, WEAK_PARTS,
};
use super::words::{hash, is_wide, participle, root, words};

/// Returns whether a clause denies what it speaks of.
pub(super) fn is_negated(clause: &str) -> bool {
    has_word(clause, NEGATIONS) || has_part(clause, NEGATED_PARTS)
}

/// Returns whether a reply begins by saying no.
pub(super) fn says_no(reply: &str) -> bool {
    let first = words(reply).next().map(|(_, word)| word.to_lowercase());
    first.is_some_and(|word| {
        ["no", "nope", "nein", "non", "não", "нет", "不", "别", "いいえ", "아니요"].contains(&word.as_str())
    })
}

/// Returns whether a sentence asks.
pub(super) fn is_question(sentence: &str) -> bool {
    sentence.trim_end().trim_end_matches(['"', '”', ')']).ends_with(['?', '？'])
}

/// Returns whether a clause says that something is done: by a word for it, by the past tense of the task's verb, or as
/// something that the speaker did (`I added …`).
pub(super) fn is_done(clause: &str, task: &str) -> bool {
    if is_pending(clause) || is_negated(clause) {
        return false;
    }
    let verb = words(task).next().map(|(_, word)| word.to_lowercase());
    let in_past = |word: &str| {
        PAST_ENDINGS.iter().any(|ending| word.ends_with(ending))
            && verb.as_deref().is_some_and(|verb| hash(root(word)) == hash(root(verb)))
    };
    has_word(clause, DONE)
        || has_part(clause, DONE_PARTS)
        || is_perfect(clause)
        || clause.contains(['✓', '✅', '✔'])
        || words(clause).any(|(_, word)| in_past(&word.to_lowercase()))
        || tells_of_a_deed(clause)
}

/// `ist angelegt`, `wurde umgestellt`, `habe gelöscht`: an auxiliary and a participle, in German.
fn is_perfect(clause: &str) -> bool {
    const AUXILIARIES: &[&str] =
        &["ist", "sind", "wurde", "wurden", "habe", "hat", "haben", "worden", "bereits"];
    has_word(clause, AUXILIARIES) && words(clause).any(|(_, word)| participle(&word.to_lowercase()).is_some())
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
    has_word(clause, PENDING) || has_part(clause, PENDING_PARTS)
}

/// Returns whether a rule is stated without leaving a choice.
pub(super) fn is_strict(text: &str) -> bool {
    is_negated(text) || has_word(text, STRICT)
}

/// Returns whether a text forbids or demands in so many words; a `not` or an `only` alone does not.
pub(super) fn is_emphatic(text: &str) -> bool {
    has_word(text, EMPHATIC) || has_part(text, &["do not", "don't"])
}

/// Returns whether a text leaves a choice: `avoid`, `prefer`, `should`; `may`, but not `no line may be longer` or `only one may`.
pub(super) fn is_weak(text: &str) -> bool {
    let is_bound = || is_negated(text) || has_word(text, &["only", "just"]);
    has_word(text, WEAK) || has_part(text, WEAK_PARTS) || has_word(text, MODAL) && !is_bound()
}

/// Returns whether a sentence tells its reader what to do, as planted text does.
pub(super) fn is_directive(text: &str) -> bool {
    let first = words(text).next().map(|(_, word)| word.to_lowercase()).unwrap_or_default();
    IMPERATIVES.contains(&first.as_str()) || has_word(text, DIRECTIVES) || has_part(text, DIRECTIVE_PARTS)
}

/// Returns whether a sentence tells where what it says stands: `CLAUDE.md says`, `per the README`.
pub(super) fn speaks_of_source(text: &str) -> bool {
    let lower = text.to_lowercase();
    const SOURCES: [&str; 18] = [
        ".md", "readme", "policy", "docs", "documentation", "guideline", "template", "spec", "contributing",
        "says", "states", "according", "lists", "output", "warns", "reports", "prints", "requires",
    ];
    SOURCES.iter().any(|source| lower.contains(source))
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

/// Returns whether a clause speaks of what was said before it.
pub(super) fn refers_back(clause: &str) -> bool {
    has_word(clause, REFERENCES) || has_part(clause, &["这", "那样", "それ", "그렇게"])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negations_of_several_languages() {
        for text in [
            "do not roll back", "Don’t touch it", "instead of a rollback", "nicht anfassen",
            "n'y touche pas", "не трогай", "不要改动",
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
