//! What has a word of a rule and says nothing of what the agent or the work shall do: "always a pleasure", "you must be tired of this",
//! "it has to rain eventually".

use super::{Words, begins};

/// Returns whether all that a sentence says with a word of a rule is how somebody feels, what they guess, or what was.
pub(super) fn is_chatter(words: &Words) -> bool {
    // What stands behind a mark may demand something all the same.
    fn bare(clause: &str) -> &str {
        let clause = clause.trim_start();
        ["but ", "and ", "so "].iter().find_map(|word| clause.strip_prefix(word)).unwrap_or(clause)
    }
    let mut rest = words.body().split('|').skip(1).map(bare);
    chats(words.body()) && !rest.any(|clause| super::begins_order(clause) || begins(clause, BANS))
}

fn chats(body: &str) -> bool {
    let first = body.split('|').next().unwrap_or_default();
    let greets = |word: &str| begins(word, PLEASANT);
    let always = ["always ", "never "].iter().find_map(|word| first.strip_prefix(word));
    let of_you = ["you never ", "you always ", "i never ", "i always ", "i can never "];
    let told = of_you.iter().find_map(|who| first.strip_prefix(who));
    let is_past = |rest: &str| {
        let verb = rest.split(' ').next().unwrap_or_default();
        verb.ends_with("ed") && verb.len() > 4 || PAST.contains(&verb)
    };
    let feels = |who: &&str| {
        let rest = first.strip_prefix(*who);
        rest.is_some_and(|rest| begins(rest, FEELINGS) || rest.starts_with("a ") && rest.contains(" way "))
    };
    always.is_some_and(greets)
        || told.is_some_and(is_past)
        || GUESSES.iter().any(feels)
        || begins(first, TELLING)
        || begins(first, OF_NOBODY) && LATER.iter().any(|when| first.contains(when))
}

/// What stands behind "always" or "never" where somebody is pleased, or lets something be.
const PLEASANT: &[&str] = &[
    "a pleasure", "a joy", "a delight", "a treat", "a good", "a bad", "a great", "a nice", "nice", "good",
    "great", "fun", "lovely", "happy", "glad", "a dull", "boring", "mind", "been", "was", "were", "so",
    "such", "thought", "knew", "liked", "wanted", "wondered",
];

/// What somebody did who is told of.
const PAST: &[&str] = &[
    "told", "said", "gave", "let", "got", "went", "were", "was", "did", "had", "made", "knew", "saw", "came",
];

/// How a guess of how something is begins.
const GUESSES: &[&str] = &[
    "you must be ", "he must be ", "she must be ", "they must be ", "it must be ", "that must be ",
    "there must be ",
];

/// What is guessed.
const FEELINGS: &[&str] = &[
    "tired", "bored", "exhausted", "sick", "joking", "kidding", "proud", "busy", "hungry", "glad", "happy",
    "delighted", "annoyed", "fed up", "wondering", "thinking", "dreaming", "hard", "nice", "lovely", "fun",
    "a better", "a reason", "something", "somebody", "someone", "another way", "a mistake", "a way",
    "more to",
];

/// What opens a sentence in which something is told that the other may like to know, or need not think of.
const TELLING: &[&str] = &[
    "you should see", "you should hear", "you should meet", "you should have", "don't worry", "do not worry",
    "no worries", "never mind", "nevermind",
];

/// Of whom nothing is demanded.
const OF_NOBODY: &[&str] =
    &["it has to", "it must", "it should", "that has to", "this has to", "they have to", "things have to"];

/// When what is guessed comes.
const LATER: &[&str] =
    &[" eventually ", " sooner or later ", " some day ", " someday ", " at some point ", " one day "];

/// What forbids or demands in a clause.
const BANS: &[&str] = &["don't", "do not", "never", "always", "no", "only", "you must", "please"];

#[cfg(test)]
mod tests {
    use super::super::demand_kind;

    #[test]
    fn who_chats_demands_nothing() {
        for said in [
            "Always a pleasure talking to you.",
            "Always nice to see green tests.",
            "Always good to hear from Bettina.",
            "You must be tired of these questions.",
            "You must be kidding.",
            "There must be a better word than shiny.",
            "There must be a way around that.",
            "It has to rain eventually.",
            "It must stop sooner or later.",
            "You never told me what the ferry costs.",
            "You always explained that well.",
            "You should see the queue in the canteen today.",
            "Never mind the last message.",
            "Never mind, I found the umbrella.",
            "No need to apologize.",
            "Do not worry about it.",
        ] {
            assert_eq!(demand_kind(said), None, "{said}");
        }
        for rule in [
            "Always answer in English.",
            "You must be concise.",
            "You must be careful with the production data.",
            "There must be a blank line behind each heading.",
            "It must be idempotent.",
            "It has to run on Windows.",
            "You never push to main without asking.",
            "You always run the tests first.",
            "Never mind the warnings, but never push them.",
            "Never good enough is no excuse: always run the tests.",
        ] {
            assert!(demand_kind(rule).is_some(), "{rule}");
        }
    }
}
