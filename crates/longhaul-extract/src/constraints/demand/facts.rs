//! Plain facts that a person tells once and that hold for all of the work: "The budget is 4711 euros", "Our staging host is db-3".

use super::{Words, begins, built::OF_TROUBLE};

/// Returns whether a sentence tells a fact to go by: whose or of what, and a value. What is said of the moment tells none.
pub(super) fn states(sentence: &str, words: &Words) -> bool {
    let said: Vec<&str> = words.text.split_whitespace().filter(|word| *word != "|").collect();
    let (Some(first), true) = (said.first(), (3..=MOST_WORDS).contains(&said.len())) else { return false };
    if said.iter().any(|word| OF_TROUBLE.contains(word) || OF_THE_MOMENT.contains(word)) {
        return false;
    }
    if words.begins(OF_THEMSELVES) {
        return true;
    }
    if words.begins(OF_THEIRS) {
        return sentence.split_whitespace().skip(2).any(is_value);
    }
    let Some(at) = said.iter().take(6).position(|word| IS.contains(word)) else { return false };
    let subject = &said[..at];
    let is_known = subject.iter().any(|word| SUBJECTS.contains(&word.trim_end_matches("'s")));
    let is_ours = ["my", "our"].contains(first) && subject.len() > 1;
    let is_all = *first == "all" && begins(&said[at + 1..].join(" "), &["in", "at", "under", "from", "on"]);
    (is_ours || is_known) && at > 0 && has_value(sentence, said[at]) || is_all && subject.len() <= 4
}

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

/// Returns whether something that can be looked for stands behind the verb.
fn has_value(sentence: &str, verb: &str) -> bool {
    let lower = sentence.to_lowercase();
    let Some(behind) = lower.find(&format!(" {verb} ")).and_then(|at| sentence.get(at + verb.len() + 2..))
    else {
        return false;
    };
    behind.split_whitespace().any(is_value)
}

/// Words of the longest such sentence.
const MOST_WORDS: usize = 16;

/// How a person tells of themselves.
const OF_THEMSELVES: &[&str] = &[
    "my name is", "call me", "i am allergic", "i'm allergic", "i am vegetarian", "i'm vegetarian",
    "i am vegan", "i'm vegan", "i live in", "i work for", "i work at", "i work from", "i'm based in",
    "i am based in", "we are based in", "we're based in", "we are a team of", "we're a team of",
    "i am left-handed", "i'm left-handed", "we bill by", "we charge by",
];

/// How a person tells of themselves what has a value.
const OF_THEIRS: &[&str] = &[
    "i speak", "i use", "i moved", "we speak", "we use", "we moved", "we support", "we don't support",
    "we do not support", "we deploy to", "we deploy from",
];

/// What stands between a thing and its value.
const IS: &[&str] = &[
    "is", "are", "lives", "live", "runs", "listens", "called", "named", "starts", "start", "ends", "end",
    "begins", "leaves", "opens", "closes", "expires", "costs", "pays", "pay", "rotate", "rotates", "renews",
    "has", "have",
];

/// What people tell the value of.
const SUBJECTS: &[&str] = &[
    "account", "address", "amounts", "app", "branch", "budget", "client", "cluster", "contact", "contract",
    "credentials", "currency", "customer", "database", "db", "deadline", "domain", "email", "endpoint",
    "go-live", "host", "id", "launch", "license", "limit", "manager", "meeting", "mascot", "party",
    "passwords", "port", "prices", "prod", "production", "project", "rate", "registry", "release", "repo",
    "repository", "schema", "server", "sprint", "staging", "subscription", "table", "ticket", "timezone",
    "vat", "wedding",
];

/// What holds only now.
const OF_THE_MOMENT: &[&str] = &[
    "now", "again", "still", "already", "today", "yesterday", "than", "down", "up", "red", "green", "ready",
    "done", "empty", "not", "isn't", "aren't", "no", "open", "closed", "running", "here", "there", "this",
    "that", "too",
];

#[cfg(test)]
mod tests {
    use super::{
        super::{DemandKind, demand_kind, is_passing},
        stated,
    };

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

    #[test]
    fn plain_facts_are_told_from_what_is_said_of_the_moment() {
        for fact in [
            "The budget is 4711 euros.",
            "My name is Alice Zweig.",
            "The staging host is 10.3.7.22.",
            "The customer's deadline is 14 March.",
            "The credentials are under kv/team7.",
            "I am allergic to peanuts.",
            "All amounts are in cents.",
            "our staging db is called harbor_stage",
            "My order number is #W2378156.",
            "the client is in Tokyo, so UTC+9",
            "Our fiscal year starts in October.",
            "Our release train leaves every second Tuesday.",
            "The contract ends on 31 January.",
            "Passwords rotate every 60 days.",
            "The customer pays in Swiss francs.",
            "I speak Portuguese and Danish.",
            "We are a team of five.",
            "I moved to Madrid last week.",
            "The cluster has 12 nodes.",
        ] {
            assert_eq!(demand_kind(fact), Some(DemandKind::Fact), "{fact}");
            assert!(!is_passing(fact), "{fact}");
        }
        for said in [
            "The build is 3 times slower than yesterday.",
            "The test in tests/a.rs is red.",
            "It is 5 pm here.",
            "The log is 300 lines long.",
            "The release is broken since 2.1.",
            "The server is down again, 3rd time.",
            "our meeting was at 10",
            "The loop ends after 3 rounds with an error.",
            "The function starts at line 40.",
            "The release starts with a crash on Windows.",
            "We support it.",
            "I use a lot of these.",
            "We have 3 options.",
            "The function is called twice.",
            "Is the budget 4711 euros?",
        ] {
            assert_eq!(demand_kind(said), None, "{said}");
        }
    }
}
