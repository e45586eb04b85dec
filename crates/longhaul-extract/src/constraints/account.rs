//! What has the words of a demand and tells of something: what others said, what was so, what nobody knows.

use super::markers;

/// Returns whether `sentence` only tells of what somebody said, or how something was, though it has a word of demand. It may be a
/// demand all the same ("my boss said: never push"), so that it is not left out: whatever else is demanded goes before it.
pub fn only_tells(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let begins = |openings: &[&str]| openings.iter().any(|opening| starts_with_word(&lower, opening));
    let padded = format!(" {} ", lower.replace([',', '.', ';', '!', ':'], " "));
    let is_said = || SAID.iter().filter_map(|said| padded.find(said)).any(|at| says_first(&padded[..at]));
    let is_somebodys =
        begins(SOMEBODY) || begins(WHERE) && ANYBODY.iter().any(|somebody| padded.contains(somebody));
    begins(NOBODY_KNOWS) || is_somebodys && is_said() || begins(WAS) && !demands_behind(&padded)
}

/// Returns whether nothing is demanded before it is told who said something.
fn says_first(before: &str) -> bool {
    before.split_whitespace().count() <= 6 && !markers::is_rule(before)
}

/// "We had to restore it, so never run it without a backup".
fn demands_behind(padded: &str) -> bool {
    const LEADS: [&str; 8] = [" so ", " that ", " also ", " told ", " and ", " donc ", " así que ", " dass "];
    let behind = LEADS.iter().filter_map(|lead| padded.split_once(lead));
    behind.into_iter().any(|(_, behind)| markers::is_rule(behind)) || padded.contains(" nie wieder ")
}

fn starts_with_word(text: &str, opening: &str) -> bool {
    text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

const NOBODY_KNOWS: &[&str] = &[
    "nobody knows",
    "no one knows",
    "nobody noticed",
    "nobody understands",
    "niemand weiß",
    "keiner weiß",
    "personne ne sait",
    "nadie sabe",
    "ninguém sabe",
    "никто не знает",
];

/// Where something is said by somebody.
const WHERE: &[&str] =
    &["in the meeting", "in der sitzung", "in der besprechung", "en réunion", "en la reunión", "na reunião"];

const ANYBODY: &[&str] = &[" someone ", " somebody ", " jemand ", " quelqu'un ", " alguien ", " alguém "];

/// Who is told of. Whoever gives orders ("the client said") is not among them.
const SOMEBODY: &[&str] = &[
    "someone", "somebody", "my colleague", "a colleague", "my neighbour", "my neighbor", "a friend",
    "my friend", "jemand", "mein kollege", "meine kollegin", "ein kollege", "eine kollegin", "quelqu'un",
    "mon collègue", "ma collègue", "un collègue", "alguien", "mi colega", "un colega", "alguém",
    "meu colega",
];

/// That they said something.
const SAID: &[&str] = &[
    " said ", " says ", " wrote ", " claimed ", " joked ", " suggested ", " asked ", " meinte ", " sagte ",
    " schrieb ", " fragte ", " hat gesagt ", " hat geschrieben ", " a dit ", " a écrit ", " a demandé ",
    " dijo ", " escribió ", " preguntó ", " disse ", " escreveu ",
];

/// How something was, or had to be.
const WAS: &[&str] = &[
    "they were", "they weren't", "they couldn't", "they could not", "they had to", "they didn't", "he was",
    "she was", "it was", "it wasn't", "it didn't", "it did not", "it had to", "i could only", "i could not",
    "i couldn't", "i had to", "i was", "we had to", "we were", "we couldn't", "ich konnte", "ich musste",
    "ich durfte", "wir konnten", "wir mussten", "wir durften", "sie durften", "sie mussten", "es musste",
    "je n'ai pu", "j'ai dû", "ils n'avaient", "ce n'était", "il n'était", "solo pude", "sólo pude",
    "no pude", "tuve que", "no tenía", "no podían", "no tuve", "não pude", "tive que",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_said_and_how_it_was_is_told_apart_from_demands() {
        for tells in [
            "They were not allowed to park there, so they arrived late.",
            "Nobody knows why the Lisbon office never answers the phone.",
            "In the meeting someone said we should always use the blue logo, but nothing was decided.",
            "Mein Kollege schrieb: „Dem Cache darf man nie trauen.“ Das fand ich lustig.",
            "Personne ne sait pourquoi Lisbonne ne répond jamais au téléphone.",
            "No tenía que ser tan difícil.",
            "It didn't have to be so hard.",
        ] {
            assert!(only_tells(tells), "{tells}");
        }
        for demands in [
            "The client said: never call before nine.",
            "Nobody touches the schema.",
            "My boss wrote that we must never push on Fridays.",
            "It must never be empty.",
            "They must never see the draft.",
            "Someone must always review it.",
            "Someone must always be asked before you deploy.",
            "My neighbour must never hear what I said about the fence.",
            "We had to restore the DB last week, so never run migrations without a backup.",
            "I was told never to touch prod.",
            "It was decided that we must never push to main.",
            "Ich musste alles zurückrollen, also nie wieder freitags deployen.",
            "In der Besprechung sagte der Kunde: nie vor neun anrufen.",
        ] {
            assert!(!only_tells(demands), "{demands}");
        }
    }
}
