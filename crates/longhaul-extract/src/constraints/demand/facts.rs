//! Which value a sentence says that something has: "the budget is 4711 euros", "our staging host is db-3".

use super::Words;

/// A thing and the value that it is said to have: "the port is 8080".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The words of the thing, in lower case, without an article.
    pub subject: String,
    /// The first word behind the verb that can be looked for: a number, a path, a name.
    pub value: String,
}

/// Returns which value a sentence says that something has, where it says that of one thing and that has a name.
pub fn stated(sentence: &str) -> Option<Stated> {
    if sentence.len() > super::MOST_BYTES || sentence.trim_end().ends_with(['?', '？']) {
        return None;
    }
    let words = Words::of(sentence);
    let clauses = words.text.split('|').map(|clause| clause.split_whitespace().collect::<Vec<_>>());
    let (said, at) = clauses.into_iter().find_map(|clause| {
        let at = clause.iter().position(|word| IS.contains(word))?;
        Some((clause, at))
    })?;
    let verb = said[at];
    let subject: Vec<&str> = said[..at].iter().copied().skip_while(|word| LEADING.contains(word)).collect();
    let names = subject.first().is_some_and(|first| !NAMES_NOTHING.contains(first));
    // The same words as they were written.
    let (_, behind) = sentence.split_once(&format!(" {verb} "))?;
    let value = behind.split_whitespace().find(|word| is_value(word))?;
    let value = value.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '#' | '@'));
    names.then(|| Stated { subject: subject.join(" "), value: value.to_lowercase() })
}

/// What stands before a thing and is none of its words.
const LEADING: &[&str] = &[
    "the", "a", "an", "our", "my", "your", "so", "and", "but", "ok", "okay", "now", "then", "actually", "btw",
];

/// What stands for a thing that was named before, or for none.
const NAMES_NOTHING: &[&str] =
    &["it", "that", "this", "there", "here", "which", "what", "who", "he", "she", "they", "these", "those"];

/// Returns whether a word can be looked for: a number, a path, a name.
fn is_value(word: &str) -> bool {
    let marks = |c: char| c.is_ascii_digit() || matches!(c, '/' | '@' | '#' | '_' | '`');
    word.contains(marks) || word.starts_with(char::is_uppercase)
}

/// What stands between a thing and its value.
const IS: &[&str] = &[
    "is", "are", "lives", "live", "runs", "listens", "called", "named", "starts", "start", "ends", "end",
    "begins", "leaves", "opens", "closes", "expires", "costs", "pays", "pay", "rotate", "rotates", "renews",
    "has", "have",
];

#[cfg(test)]
mod tests {
    use super::stated;

    #[test]
    fn what_is_stated_has_a_thing_and_a_value() {
        for (said, subject, value) in [
            ("The port is 8080.", "port", "8080"),
            ("Actually, the port is 9090 now.", "port", "9090"),
            ("For the record, the budget of the fair is about 3000 euros.", "budget of the fair", "3000"),
            ("our staging db lives in /srv/db, not here", "staging db", "/srv/db"),
            ("The client is Harbor Ltd.", "client", "harbor"),
        ] {
            let stated = stated(said).map(|stated| (stated.subject, stated.value));
            assert_eq!(stated, Some((subject.into(), value.into())), "{said}");
        }
        for said in ["It is 5 pm.", "Is the port 8080?", "The port is open.", "Use port 8080."] {
            assert_eq!(stated(said), None, "{said}");
        }
    }
}
