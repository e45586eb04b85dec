//! Demands that answer a question and say little without it: "yes, always", "the second one, and never the first again".

use longhaul_transcript::{Message, clipped, one_line};

use super::{blocks, content_words, sentences_of};
use crate::statements::read::asks;

/// Returns what a message of the model's asks: its last sentence that does, in short.
pub(super) fn asked(message: &Message) -> Option<String> {
    let text = message.texts().last()?;
    let all = blocks(text);
    let sentences = all.iter().flat_map(|block| sentences_of(&block.text));
    let asking = sentences.filter(|sentence| asks(sentence)).last()?;
    Some(clipped(&one_line(asking), MOST_CHARS))
}

/// Returns whether a demand names nothing that it is of, or little behind a word that only answers.
pub(super) fn says_little(demand: &str) -> bool {
    let lower = demand.to_lowercase();
    let mut words =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let is_answer = words.next().is_some_and(|first| ANSWERS.contains(&first));
    let named = content_words(demand).into_iter().filter(|word| !POINTING.contains(&&**word)).count();
    named <= if is_answer { FEW } else { 0 }
}

/// A question of more characters is told in part.
const MOST_CHARS: usize = 160;

/// So many words that name something, behind a word that only answers, may still need the question.
const FEW: usize = 2;

/// Words that open an answer.
const ANSWERS: [&str; 26] = [
    "yes", "yeah", "yep", "yup", "no", "nope", "sure", "ok", "okay", "correct", "exactly", "agreed", "both",
    "neither", "either", "none", "ja", "nein", "genau", "oui", "non", "sí", "si", "sim", "não", "exakt",
];

/// Words that point at what was asked, and name nothing.
const POINTING: [&str; 48] = [
    "always", "never", "must", "only", "again", "first", "second", "third", "fourth", "last", "latter",
    "former", "other", "both", "neither", "either", "none", "option", "options", "variant", "choice",
    "every", "time", "times", "without", "exception", "exceptions", "ones", "these", "those", "exactly",
    "sure", "okay", "yeah", "please", "immer", "niemals", "erste", "zweite", "dritte", "letzte", "beide",
    "jedes", "siempre", "nunca", "toujours", "jamais", "sempre",
];

#[cfg(test)]
mod tests {
    use super::says_little;

    #[test]
    fn an_answer_is_known_by_what_it_does_not_name() {
        for demand in [
            "yes, always",
            "Yes, always, every time.",
            "the second one, and never the first again",
            "Always the second option.",
            "No, never that one.",
            "Yes, but only before a release.",
        ] {
            assert!(says_little(demand), "{demand}");
        }
        for demand in [
            "Never push to main.",
            "Always run the linter.",
            "Yes, and from now on never touch the orders table of the ledger.",
            "The budget is 1000 euros.",
        ] {
            assert!(!says_little(demand), "{demand}");
        }
    }
}
