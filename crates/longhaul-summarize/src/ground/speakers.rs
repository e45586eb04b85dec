//! Who is said to have said what, in the languages that conversations are held in.

use super::{
    evidence::Speaker,
    words::{is_wide, root, words},
};

/// What somebody is said to have done by saying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Asks,
    Says,
}

/// Returns who is said to have said what: `the user suggests …, but the assistant asks …`.
pub(super) fn attributions(claim: &str) -> Vec<(Speaker, Verb, &str)> {
    let mut found = between_blanks(claim);
    found.extend(without_blanks(claim));
    found.sort_unstable_by_key(|attribution| attribution.from);
    let ends: Vec<usize> = found.iter().skip(1).map(|next| next.speaker_at).chain([claim.len()]).collect();
    let text = |(attribution, end): (Attribution, usize)| {
        (attribution.speaker, attribution.verb, claim.get(attribution.from..end).unwrap_or_default())
    };
    found.into_iter().zip(ends).map(text).collect()
}

/// Returns the verb by which somebody is said to have said `what`, a piece of `claim` from [`attributions`].
pub(super) fn verb_before(claim: &str, what: &str) -> Option<String> {
    let at = (what.as_ptr() as usize).wrapping_sub(claim.as_ptr() as usize);
    words(claim.get(..at)?).last().map(|(_, word)| word.to_lowercase())
}

/// Returns whether who is said to have said `what` refused or forbade it.
pub(super) fn is_refusal(claim: &str, what: &str) -> bool {
    const REFUSALS: [&str; 11] = [
        "refused", "refuses", "rejected", "rejects", "declined", "declines", "objected", "opposed",
        "forbade", "forbids", "forbid",
    ];
    verb_before(claim, what).is_some_and(|verb| REFUSALS.contains(&verb.as_str()))
}

/// Returns whether a sentence speaks of the user.
pub(super) fn names_user(claim: &str) -> bool {
    words(claim).any(|(_, word)| USERS.contains(&word.to_lowercase().as_str()))
        || WIDE_USERS.iter().any(|name| claim.contains(name))
}

struct Attribution {
    speaker: Speaker,
    speaker_at: usize,
    verb: Verb,
    /// Where that begins which was said.
    from: usize,
}

/// Finds them in scripts that put blanks between words.
fn between_blanks(claim: &str) -> Vec<Attribution> {
    let found: Vec<(usize, &str)> = words(claim).collect();
    let mut out = Vec::new();
    for (index, (at, word)) in found.iter().enumerate() {
        let lower = word.to_lowercase();
        let speaker = match lower.as_str() {
            word if USERS.contains(&word) => Speaker::User,
            word if ASSISTANTS.contains(&word) => Speaker::Assistant,
            _ => continue,
        };
        // An adverb may stand between: `the user first asked`.
        let verb = found[index + 1..]
            .iter()
            .take(2)
            .find_map(|(at, word)| Some((at + word.len(), verb(&word.to_lowercase())?)));
        // `unless the user asks`: nothing is said to have been asked.
        let is_supposed = found[..index]
            .iter()
            .rev()
            .take(2)
            .any(|(_, word)| SUPPOSING.contains(&word.to_lowercase().as_str()));
        // `waits for the user to say`: it is not said yet.
        let is_to_come = found.get(index + 1).is_some_and(|(_, word)| word.eq_ignore_ascii_case("to"));
        let follows = !is_supposed && !is_to_come && claim[at + word.len()..].starts_with(' ');
        // `told to the user (and confirmed)`: another clause.
        let is_one_clause = |from: usize| !claim[at + word.len()..from].contains(['(', ',', ';', ':', '.']);
        if let (Some((from, verb)), true) = (verb.filter(|(from, _)| is_one_clause(*from)), follows) {
            out.push(Attribution { speaker, speaker_at: *at, verb, from });
        }
    }
    out
}

const SUPPOSING: [&str; 8] = ["unless", "if", "whether", "until", "once", "before", "ob", "falls"];

fn verb(lower: &str) -> Option<Verb> {
    let listed = |list: &[&str]| list.contains(&lower) || list.contains(&root(lower));
    match (listed(ASKING), listed(SAYING)) {
        (true, _) => Some(Verb::Asks),
        (_, true) => Some(Verb::Says),
        _ => None,
    }
}

/// Finds them in scripts that do not: the verb stands right behind the speaker, or one or two characters later.
fn without_blanks(claim: &str) -> Vec<Attribution> {
    let mut out = Vec::new();
    let speakers = WIDE_USERS
        .iter()
        .map(|name| (Speaker::User, *name))
        .chain(WIDE_ASSISTANTS.iter().map(|name| (Speaker::Assistant, *name)));
    for (speaker, name) in speakers {
        for (at, _) in claim.match_indices(name) {
            let behind = at + name.len();
            let starts = claim[behind..].char_indices().take(3).take_while(|(_, c)| is_wide(*c));
            let verb = starts
                .flat_map(|(skip, _)| WIDE_VERBS.iter().map(move |verb| (behind + skip, verb)))
                .find(|(from, (_, verb))| claim[*from..].starts_with(verb));
            if let Some((from, (kind, verb))) = verb {
                out.push(Attribution { speaker, speaker_at: at, verb: *kind, from: from + verb.len() });
            }
        }
    }
    out
}

const USERS: &[&str] = &[
    "user",
    "benutzer",
    "nutzer",
    "anwender",
    "benutzerin",
    "usuario",
    "usuária",
    "usuário",
    "utilisateur",
    "пользователь",
];
const ASSISTANTS: &[&str] =
    &["assistant", "agent", "model", "assistent", "asistente", "assistente", "ассистент"];
const WIDE_USERS: &[&str] = &["用户", "使用者", "ユーザー", "사용자"];
const WIDE_ASSISTANTS: &[&str] = &["助手", "助理", "アシスタント", "어시스턴트"];

/// English verbs as stems, as [`root`] leaves them; others as they are written.
const ASKING: &[&str] =
    &["ask", "fragt", "fragte", "preguntó", "pregunta", "perguntou", "demande", "спросил"];
const SAYING: &[&str] = &[
    "approv", "confirm", "accept", "report", "point", "clear", "authoriz", "permit", "suggest", "request",
    "propos", "reject", "insist", "want", "demand", "recommend", "advis", "warn", "decid", "agre",
    "instruct", "argu", "refus", "prefer", "order", "tell", "told", "said", "say", "question", "requir",
    "forbid", "forbade", "declin", "oppos", "chose", "choos", "listed", "mentioned", "objected", "offered",
    "raised", "schlug", "schlägt", "bat", "bittet", "verlangt", "verlangte", "fordert", "forderte", "wollte",
    "wünschte", "empfahl", "empfiehlt", "riet", "warnte", "entschied", "beschloss", "lehnte", "bestand",
    "sagte", "sagt", "propuso", "pidió", "quiso", "sugirió", "decidió", "rechazó", "proposa", "demanda",
    "voulait", "refusa", "propôs", "pediu", "предложил", "попросил", "решил", "отказался", "сказал",
];
const WIDE_VERBS: &[(Verb, &str)] = &[
    (Verb::Asks, "询问"),
    (Verb::Asks, "问"),
    (Verb::Says, "建议"),
    (Verb::Says, "要求"),
    (Verb::Says, "提议"),
    (Verb::Says, "提出"),
    (Verb::Says, "决定"),
    (Verb::Says, "拒绝"),
    (Verb::Says, "推荐"),
    (Verb::Says, "警告"),
    (Verb::Says, "坚持"),
    (Verb::Says, "同意"),
    (Verb::Says, "希望"),
    (Verb::Says, "说"),
    (Verb::Says, "が提案"),
    (Verb::Says, "は提案"),
    (Verb::Says, "が要求"),
    (Verb::Says, "は要求"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_said_what_in_several_languages() {
        let check = |claim: &str, expected: &[(Speaker, Verb, &str)]| {
            assert_eq!(attributions(claim), expected, "{claim}");
        };
        use {Speaker::*, Verb::*};
        check(
            "The user first asked for a rollback, but the assistant suggests a patch",
            &[(User, Asks, " for a rollback, but the "), (Assistant, Says, " a patch")],
        );
        check("Der Benutzer schlug vor, zu warten", &[(User, Says, " vor, zu warten")]);
        check("用户先问了原因,助手建议回滚", &[(User, Asks, "了原因,"), (Assistant, Says, "回滚")]);
        check("The user-facing model is slow", &[]);
        check("用户", &[]);
    }
}
