//! How German, French, Spanish and Portuguese forbid something: by the form of the sentence, as no list of verbs is long enough.

use super::{Words, begins};

/// Returns whether `words` tell somebody not to do something, or to leave something alone.
pub(super) fn forbids(words: &Words) -> bool {
    let is_spanish = is_spanish(&words.text);
    let mut first = words.clauses().take(1).chain(words.after_opener());
    words
        .clauses()
        .any(|clause| in_french(clause) || is_spanish && in_spanish(clause) || in_portuguese(clause))
        || first.any(|clause| begins(clause, GERMAN_ORDERS) && has(clause, GERMAN_NOT))
        || words.clauses().any(|clause| begins(clause, OPENS))
        || ANYWHERE.iter().any(|phrase| words.has(phrase))
}

/// Returns whether a text is Spanish and not English: "no" says something else there.
pub(super) fn is_spanish(text: &str) -> bool {
    has(text, SPANISH_WORDS) && !has(text, ENGLISH_WORDS)
}

/// "Ne parle pas du procès", "n'ajoute rien": without a subject it is an order.
fn in_french(clause: &str) -> bool {
    let rest = clause.strip_prefix("ne ").or_else(|| clause.strip_prefix("n'"));
    rest.is_some_and(|rest| has(rest, FRENCH_NOT))
}

/// "No menciones el juicio": the form of the verb in which orders stand.
fn in_spanish(clause: &str) -> bool {
    let Some(rest) = clause.strip_prefix("no ") else { return false };
    // "No le devuelvas nada".
    let rest = ["le ", "les ", "lo ", "la ", "los ", "las ", "me ", "nos ", "te "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
        .unwrap_or(rest);
    let verb = rest.split(' ').next().unwrap_or_default();
    let is_order = ["es", "as", "éis", "áis"].iter().any(|end| verb.ends_with(end));
    is_order && verb.len() > 4 && !SPANISH_TELLS.contains(&verb)
}

/// "Não mexas na base de dados".
fn in_portuguese(clause: &str) -> bool {
    let verb = clause.strip_prefix("não ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    verb.len() > 3 && ["es", "as", "em", "am"].iter().any(|end| verb.ends_with(end))
}

fn has(text: &str, words: &[&str]) -> bool {
    text.split(' ').any(|word| words.contains(&word))
}

const FRENCH_NOT: &[&str] = &["pas", "jamais", "rien", "plus", "aucun", "aucune", "que"];

/// Words by which a sentence is known to be Spanish: an English plural behind "no" looks like an order.
const SPANISH_WORDS: &[&str] = &[
    "el", "la", "los", "las", "al", "del", "de", "en", "lo", "le", "que", "con", "por", "para", "nada", "a",
    "ni", "me", "espera",
];

/// Words by which it is known to be English.
const ENGLISH_WORDS: &[&str] = &[
    "the", "is", "are", "was", "were", "for", "in", "to", "and", "of", "on", "at", "this", "there", "that",
    "my", "your", "with", "an", "it", "yet",
];

/// Verbs that end like an order and tell something.
const SPANISH_TELLS: &[&str] = &[
    "puedes",
    "tienes",
    "sabes",
    "crees",
    "estas",
    "quieres",
    "debes",
    "haces",
    "vienes",
    "entiendes",
    "preocupes",
    "olvides",
];

/// Verbs with which German orders begin.
const GERMAN_ORDERS: &[&str] = &[
    "fass",
    "lass",
    "nimm",
    "gib",
    "mach",
    "mache",
    "rühr",
    "rühre",
    "sprich",
    "schreib",
    "schreibe",
    "füge",
    "füg",
    "stell",
    "stelle",
    "leg",
    "lege",
    "erwähne",
    "erwähn",
    "verwende",
    "benutze",
    "benutz",
    "nutze",
    "nutz",
    "ändere",
    "änder",
    "lösche",
    "lösch",
    "push",
    "pushe",
    "deploy",
    "deploye",
    "committe",
    "commite",
    "merge",
    "starte",
    "führe",
    "führ",
    "setz",
    "setze",
    "sag",
    "sage",
    "zeig",
    "zeige",
    "schick",
    "schicke",
    "sende",
    "ruf",
    "rufe",
    "geh",
    "gehe",
    "frag",
    "frage",
    "verrate",
    "nenne",
    "nenn",
    "entferne",
    "ersetze",
    "bau",
    "baue",
    "öffne",
    "kürz",
    "kürze",
    "fangt",
    "fang",
    "verändere",
    "überschreib",
    "überschreibe",
    "speicher",
    "speichere",
    "logge",
    "log",
    "installier",
    "installiere",
    "lad",
    "lade",
    "kopier",
    "kopiere",
    "verschieb",
    "verschiebe",
    "antworte",
    "erkläre",
    "erklär",
    "berühr",
    "berühre",
    "vergiss",
];

const GERMAN_NOT: &[&str] =
    &["nicht", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals", "nirgends", "ruhe"];

/// What opens a clause that forbids.
const OPENS: &[&str] = &[
    "finger weg",
    "hände weg",
    "verzichte auf",
    "verzichtet auf",
    "ich möchte nicht | dass",
    "ich will nicht | dass",
    "wir wollen nicht | dass",
    "ich möchte keine",
    "ich möchte kein",
    "ich möchte keinen",
    "ich will keine",
    "ich will kein",
    "ich will keinen",
    "je ne veux pas",
    "je ne voudrais pas",
    "on ne veut pas",
    "nous ne voulons pas",
    "lecture seule",
    "solo lectura",
    "no quiero que",
    "no queremos que",
    "não quero que",
    "manos fuera",
    "nur lesen",
    "bas les pattes",
    "plus rien ne",
    "plus aucun",
    "plus aucune",
    "interdiction de",
    "prohibido",
];

/// What forbids wherever it stands.
const ANYWHERE: &[&str] = &[
    " tabu ",
    " mit keinem wort ",
    " bleibt wie es ist ",
    " bleibt | wie es ist ",
    " bleiben wie sie sind ",
    " bleibt unverändert ",
    " bleiben unverändert ",
    " reste tel quel ",
    " restent tels quels ",
    " se queda como está ",
    " se quedan como están ",
    " fica como está ",
    " tranquille ",
    " bitte nur lesen ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_sentence_forbids_in_other_languages() {
        for order in [
            "Ne parle pas du procès.",
            "N'ajoute rien au schéma.",
            "No menciones el juicio.",
            "Por favor, no le devuelvas nada.",
            "No subas a main.",
            "Espera, no subas a main, me precipité.",
            "Não mexas na base de dados.",
            "Erwähne den Rechtsstreit mit keinem Wort.",
            "Lass das Schema in Ruhe.",
            "Finger weg von der Produktionsdatenbank!",
            "Fass die Abrechnung bitte nicht an.",
            "Die Datenbank bleibt tabu, auch am Wochenende.",
            "Ich möchte nicht, dass du Dateien löschst.",
            "Je ne veux pas que tu supprimes de fichiers.",
            "Lecture seule sur la préproduction.",
            "Kapitel drei bleibt, wie es ist.",
        ] {
            assert!(forbids(&Words::of(order)), "{order}");
        }
        for tells in [
            "No messages arrived today.",
            "No changes since Monday.",
            "No, that is wrong.",
            "No test files here.",
            "No ideas yet, and no cameras.",
            "No changes for me in a month.",
            "No classes were found.",
            "No puedes imaginar lo lento que es.",
            "No tests ran.",
            "Der Build wird nicht fertig.",
            "Ich weiß nicht, warum.",
            "Ça ne marche pas.",
            "On ne sait pas encore.",
            "Das klappt nie beim ersten Mal.",
        ] {
            assert!(!forbids(&Words::of(tells)), "{tells}");
        }
    }
}
