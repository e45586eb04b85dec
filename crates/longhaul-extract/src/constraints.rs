//! What the user demanded: sentences with words of demand, verbatim, in eight languages.

use std::collections::BTreeSet;

use longhaul_transcript::{Constraint, Entry, Role};

mod markers;
mod sentences;

pub use sentences::sentences;

use markers::{is_demand, is_revocation};

/// Returns the user's constraints in `entries`, oldest first: each sentence that says must, never, always, only,
/// instead, at most and the like, in English, Spanish, French, German, Portuguese, Chinese, Japanese or Russian.
///
/// A constraint that a later user message takes back or replaces stays in the list and names that message in
/// `superseded_by`. A sentence said again is listed once, where it was said last.
pub fn constraints(entries: &[Entry]) -> Vec<Constraint> {
    let mut found: Vec<(Constraint, BTreeSet<String>)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.message.role == Role::User) {
        for sentence in entry.message.texts().flat_map(sentences) {
            let (demands, revokes) = (is_demand(sentence), is_revocation(sentence));
            if !demands && !revokes {
                continue;
            }
            let words = content_words(sentence);
            if revokes {
                supersede(&mut found, &words, entry.id.ordinal);
            }
            if demands && found.len() < MOST {
                found.retain(|(earlier, _)| earlier.text != sentence);
                let constraint =
                    Constraint { text: sentence.to_string(), message: entry.id.ordinal, superseded_by: None };
                found.push((constraint, words));
            }
        }
    }
    found.into_iter().map(|(constraint, _)| constraint).collect()
}

/// Returns whether `sentence` demands something of the one it is said to.
pub fn is_constraint(sentence: &str) -> bool {
    is_demand(sentence)
}

/// Returns whether `sentence` is a rule that stands until it is taken back: never, always, must. Where there is not room for
/// all constraints, these go first.
pub fn is_standing_rule(sentence: &str) -> bool {
    markers::is_rule(sentence)
}

/// Marks the earlier constraints that are about the same thing: those that share half of their telling words.
fn supersede(found: &mut [(Constraint, BTreeSet<String>)], words: &BTreeSet<String>, by: u64) {
    for (constraint, earlier) in found.iter_mut() {
        let shared = earlier.intersection(words).count();
        let is_other = constraint.message < by && constraint.superseded_by.is_none();
        if is_other && shared >= 1 && shared * 2 >= earlier.len().min(words.len()) {
            constraint.superseded_by = Some(by);
        }
    }
}

/// The words that tell what a sentence is about: of four letters or more and no words of demand; pairs of characters
/// in scripts without blanks.
fn content_words(sentence: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in sentence.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.chars().any(is_ideograph) {
            let chars: Vec<char> = word.chars().collect();
            words.extend(
                chars.windows(2).map(|pair| pair.iter().collect::<String>()).filter(|pair| !is_demand(pair)),
            );
        } else if word.chars().nth(3).is_some() && !markers::is_function_word(word) {
            words.insert(word.to_lowercase());
        }
    }
    words
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// More constraints than this are not collected from one conversation.
const MOST: usize = 400;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    fn found(fixture: &str) -> Vec<(String, u64, Option<u64>)> {
        let said = transcript(fixture);
        let found = constraints(said.entries());
        found.into_iter().map(|c| (c.text, c.message, c.superseded_by)).collect()
    }

    #[test]
    fn demands_are_found_verbatim_in_eight_languages() {
        let said = [
            "Never touch the vendored files in third_party/.",
            "Nunca modifiques los archivos de configuración.",
            "Ne supprime jamais les anciennes migrations.",
            "Bitte ändere nicht die öffentliche Schnittstelle.",
            "Não altere o esquema da base de dados.",
            "不要修改公共接口。",
            "テストファイルは変更しないでください。",
            "Никогда не меняй публичный интерфейс.",
        ];
        for sentence in said {
            assert!(is_constraint(sentence), "{sentence}");
            let all = found(&format!("user: Hello there. {sentence} Thanks a lot."));
            assert!(all.iter().any(|(text, ..)| text == sentence), "{sentence}: {all:?}");
        }
    }

    #[test]
    fn rules_are_told_from_wishes_and_questions() {
        let rules = ["You must not push.", "Nie auf main pushen!", "Никогда не меняй это.", "必须运行测试。"];
        assert!(rules.into_iter().all(|sentence| is_constraint(sentence) && is_standing_rule(sentence)));
        let others = ["I don't think that works.", "Must it be so?", "Use tabs instead."];
        assert!(others.into_iter().all(|sentence| is_constraint(sentence) && !is_standing_rule(sentence)));
    }

    #[test]
    fn plain_statements_are_no_demands() {
        for sentence in [
            "The build is green.",
            "What does this function return?",
            "Gracias por la ayuda.",
            "Das ist der Fehler.",
            "今天天气很好。",
            "Спасибо за помощь.",
        ] {
            assert!(!is_constraint(sentence), "{sentence}");
        }
    }

    #[test]
    fn what_is_taken_back_is_marked_and_stays() {
        let all = found(
            "user: Never use tabs for indentation.\nassistant: ok\nuser: Actually, use tabs for indentation now.",
        );
        assert_eq!(all[0], ("Never use tabs for indentation.".into(), 0, Some(2)));
    }

    #[test]
    fn only_the_user_demands() {
        assert!(found("user: hi\nassistant: You must never do that.\ntool#x: you must never").is_empty());
    }
}
