//! What the model proposed or asked, told from what it found and did.

use longhaul_extract::{Domain, Statement, StatementKind, Statements};

use super::{answers::bare, lists::Lists};

/// Whether what the model says here is what could be done, not what is.
pub(crate) fn proposes(text: &str) -> bool {
    // What could not be done was tried.
    let lower = bare(text).replace("could not ", "").replace("couldn't ", "");
    OPENS.iter().any(|open| lower.starts_with(open))
        || HAS.iter().any(|words| lower.contains(words))
        || is_offer(&lower)
}

/// The questions with which the model ended a turn, by their places in the pool, that a person has said something after: what
/// became of them is told by what was done.
pub(crate) fn settled_offers(pool: &Statements) -> Vec<usize> {
    let all = pool.all();
    let last = all.iter().rev().find(|one| one.kind == StatementKind::Person).map(|one| one.message);
    let is_settled = |one: &Statement| last.is_some_and(|last| one.message < last);
    let is_models = |one: &Statement| matches!(one.kind, StatementKind::Answer | StatementKind::Prose);
    let offers = all.iter().enumerate().filter(|(_, one)| is_models(one) && is_settled(one));
    // What the model asks at the very end of its turn is asked of the person.
    let asks = |one: &Statement| {
        one.kind == StatementKind::Answer && one.closes() && one.text.ends_with(['?', '？'])
    };
    // A long one says more than it asks.
    let is_short = |one: &Statement| one.text.len() <= LONGEST;
    let offers = offers.filter(|(_, one)| is_short(one));
    let settled = offers.filter(|(_, one)| asks(one) || is_offer(&bare(&one.text)) || shows_a_command(one));
    settled.map(|(at, _)| at).collect()
}

/// Returns the lists of questions that the model put to a person who has said something since, and in the service of customers of what
/// they were to do, items and what leads them in, by their places in the pool: what was answered tells more than what was asked.
pub(crate) fn settled_lists(pool: &Statements, lists: &Lists, domain: Domain) -> Vec<usize> {
    let all = pool.all();
    let last = all.iter().rfind(|one| one.kind == StatementKind::Person).map(|one| one.message);
    let is_settled = |one: &Statement| last.is_some_and(|last| one.message < last);
    let leads = |one: &Statement| {
        let is_models = matches!(one.kind, StatementKind::Answer | StatementKind::Prose);
        is_models && is_settled(one) && one.text.ends_with([':', '：'])
    };
    let mut settled = Vec::new();
    for (at, lead) in all.iter().enumerate().filter(|(_, one)| leads(one)) {
        let lower = lead.text.to_lowercase().replace('’', "'");
        let has = |words: &[&str]| words.iter().any(|words| lower.contains(words));
        let items: Vec<usize> = lists.items(at).collect();
        let asks = || has(&ASKS_THE_PERSON) && items.iter().all(|at| all[*at].text.ends_with(['?', '？']));
        let instructs = || domain == Domain::Service && has(&INSTRUCTS_THE_PERSON);
        if !items.is_empty() && (asks() || instructs()) {
            settled.push(at);
            settled.extend(items);
        }
    }
    settled
}

/// What stands before steps that a customer is to take.
const INSTRUCTS_THE_PERSON: [&str; 4] =
    ["you need to do", "follow these steps", "here's how", "here are the steps"];

/// What stands before questions that a person is to answer.
const ASKS_THE_PERSON: [&str; 6] =
    ["let me know", "could you", "can you", "tell me", "please confirm", "please answer"];

/// Whether the model shows a command that somebody could give: that it was given is told by what came of it.
fn shows_a_command(one: &Statement) -> bool {
    const PROGRAMS: [&str; 24] = [
        "git", "gh", "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "python", "python3", "pip", "uv",
        "pytest", "make", "docker", "kubectl", "curl", "cd", "export", "sudo", "brew", "node", "code",
    ];
    let line = one.text.trim_start_matches(['$', ' ']);
    let mut words = line.split(' ');
    one.is_fenced() && words.next().is_some_and(|word| PROGRAMS.contains(&word)) && words.next().is_some()
}

/// Whether a sentence asks the person what to do next.
fn is_offer(lower: &str) -> bool {
    OFFERS.iter().any(|open| lower.starts_with(open))
}

/// Bytes of the longest question that is nothing but one.
const LONGEST: usize = 180;

/// How a model asks what to do next.
const OFFERS: [&str; 25] = [
    "please confirm", "want me to", "do you want me", "do you want to", "would you like", "would you prefer",
    "would you rather", "shall i", "shall we", "should i ", "should we ", "or do you want", "or would you",
    "or should i", "let me know", "please let me know", "what would you like", "how would you like",
    "which would you", "which one would you", "is there anything else", "anything else", "ready to proceed",
    "does that sound", "sounds good?",
];

/// How a proposal opens.
const OPENS: [&str; 18] = [
    "i could ",
    "we could ",
    "you could ",
    "we can either",
    "one option",
    "option 1",
    "option a",
    "options:",
    "options**",
    "possible approaches",
    "possible solutions",
    "proposed ",
    "proposal",
    "i'd suggest",
    "i suggest",
    "i'd recommend",
    "i would suggest",
    "an alternative would be",
];

/// What a proposal has somewhere.
const HAS: [&str; 6] =
    [" we could ", " could also ", " could be added", " i could ", " would be to ", " you could "];

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn what_could_be_done_is_told_from_what_is() {
        for text in
            ["We could git tag it.", "**Options:**", "But I could also wait.", "- Want me to rename it?"]
        {
            assert!(proposes(text), "{text}");
        }
        for text in [
            "The lock could not be taken.",
            "I tagged it.",
            "It can wait.",
            "Optional fields are kept.",
            "So we could not reproduce it.",
        ] {
            assert!(!proposes(text), "{text}");
        }
    }

    #[test]
    fn questions_and_steps_in_a_list_are_settled_once_somebody_spoke() {
        let asks = "Sure. Could you please let me know:\n\n1. Does the relay hum?\n2. Which rack is it in?\n";
        let said: Transcript = [
            Message::user("My relay is silent."),
            Message::assistant(format!("{asks}\n**To resolve later:**\n- Who owns it?\n")),
            Message::user("It hums, and it is in rack 7."),
            Message::assistant("Here’s what you need to do:\n\n1. Open the rack.\n2. Press the knob.\n"),
            Message::user("I did."),
            Message::assistant(asks),
        ]
        .into_iter()
        .collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let settled = |domain| {
            let settled = settled_lists(pool, &Lists::new(pool), domain).into_iter();
            settled.map(|at| (pool.all()[at].message, pool.all()[at].text.to_string())).collect::<Vec<_>>()
        };
        let questions = [
            (1, "Sure. Could you please let me know:"),
            (1, "1. Does the relay hum?"),
            (1, "2. Which rack is it in?"),
        ]
        .map(|(message, text)| (message, text.to_owned()));
        let steps = [(3, "Here’s what you need to do:"), (3, "1. Open the rack."), (3, "2. Press the knob.")]
            .map(|(message, text)| (message, text.to_owned()));
        assert_eq!(settled(Domain::Coding), questions);
        assert_eq!(settled(Domain::Service), [questions, steps].concat());
    }

    #[test]
    fn an_offer_is_settled_once_somebody_spoke() {
        let said: Transcript = [
            Message::user("Look at the relay."),
            Message::assistant("It waits too long.\n\nShould I shorten it?"),
            Message::user("Shorten it to two seconds, and tell Mara."),
            Message::assistant("Done.\n\nWould you like a test?"),
        ]
        .into_iter()
        .collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let settled: Vec<&str> = settled_offers(pool).into_iter().map(|at| &*pool.all()[at].text).collect();
        assert_eq!(settled, ["Should I shorten it?"]);
    }
}
