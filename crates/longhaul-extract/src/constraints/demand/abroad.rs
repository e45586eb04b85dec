//! How German, French, Spanish and Portuguese forbid something: mostly by the form of the sentence, as no list of verbs is long enough.

use super::{Words, begins};

/// Returns whether `words` tell somebody not to do something, or to leave something alone.
pub(super) fn forbids(words: &Words) -> bool {
    let is_spanish = is_spanish(&words.text) || has(&words.text, &["a"]) && !is_english(&words.text);
    let mut first = words.clauses().take(1).chain(words.after_opener()).map(first_part);
    words.clauses().map(first_part).any(|clause| {
        in_french(clause)
            || is_spanish && in_spanish(clause)
            || in_portuguese(clause)
            || begins(clause, OPENS)
    }) || first.any(in_german)
        || ANYWHERE.iter().any(|phrase| words.has(phrase))
}

/// Returns a clause up to the next mark.
fn first_part(clause: &str) -> &str {
    clause.split('|').next().unwrap_or_default()
}

/// Returns whether a text is Spanish and not English: "no" says something else there.
pub(super) fn is_spanish(text: &str) -> bool {
    has(text, SPANISH_WORDS) && !is_english(text)
}

fn is_english(text: &str) -> bool {
    has(text, ENGLISH_WORDS)
}

/// "Fass die Abrechnung nicht an", "Löschen Sie keine Dateien", "Lass das Schema in Ruhe".
fn in_german(clause: &str) -> bool {
    let mut words = clause.split(' ');
    let is_polite = words.next().is_some_and(|verb| verb.ends_with("en")) && words.next() == Some("sie");
    (is_polite || begins(clause, GERMAN_ORDERS)) && has(clause, GERMAN_NOT)
        || begins(clause, &["lass", "lasst"]) && clause.contains(" in ruhe ")
}

/// "Ne parle pas du procès", "n'ajoute rien": without a subject it is an order. "On ne déploie pas le vendredi" is one as well.
fn in_french(clause: &str) -> bool {
    let clause = clause.strip_prefix("on ").unwrap_or(clause);
    if begins(clause, &["laisse", "laissez"]) && clause.contains(" tranquille ") {
        return true;
    }
    let rest = clause.strip_prefix("ne ").or_else(|| clause.strip_prefix("n'"));
    rest.is_some_and(|rest| {
        !begins(rest, FRENCH_TELLS) && rest.split(' ').take(4).any(|word| FRENCH_NOT.contains(&word))
    })
}

/// "No menciones el juicio": the form of the verb in which orders stand.
fn in_spanish(clause: &str) -> bool {
    let Some(mut rest) = clause.strip_prefix("no ") else { return false };
    // "No se lo digas a nadie".
    while let Some(after) = PRONOUNS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    let verb = rest.split(' ').next().unwrap_or_default();
    let is_order = ["es", "as", "éis", "áis"].iter().any(|end| verb.ends_with(end)) && !verb.ends_with("ías");
    is_order && verb.len() > 4 && !SPANISH_TELLS.contains(&verb)
}

/// "Não mexas na base de dados".
fn in_portuguese(clause: &str) -> bool {
    let verb = clause.strip_prefix("não ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    verb.len() > 3
        && ["es", "as"].iter().any(|end| verb.ends_with(end))
        && !["precisas", "sabes", "podes", "tens", "deves"].contains(&verb)
}

fn has(text: &str, words: &[&str]) -> bool {
    text.split(' ').any(|word| words.contains(&word))
}

const PRONOUNS: [&str; 10] = ["se ", "le ", "les ", "lo ", "la ", "los ", "las ", "me ", "nos ", "te "];

/// What stands behind "ne" where something is told.
const FRENCH_TELLS: &[&str] = &[
    "hésite", "hésitez", "t'inquiète", "vous inquiétez", "importe", "empêche", "est", "sait", "voit",
    "comprend", "trouve", "peut", "a", "ai", "as", "avons", "marche", "fonctionne",
];

const FRENCH_NOT: &[&str] = &["pas", "jamais", "rien", "plus", "aucun", "aucune", "que"];

/// Words by which a sentence is known to be Spanish: an English plural behind "no" looks like an order.
const SPANISH_WORDS: &[&str] = &[
    "el", "la", "los", "las", "al", "del", "de", "en", "lo", "que", "por", "para", "nada", "nadie", "ni",
    "espera",
];

/// Words by which it is known to be English.
const ENGLISH_WORDS: &[&str] = &[
    "the", "is", "are", "was", "were", "for", "in", "to", "and", "of", "on", "at", "this", "there", "that",
    "my", "your", "with", "an", "it", "yet", "without", "than", "over", "before", "from", "or", "any", "be",
    "not", "until", "after", "under", "unless", "please", "new",
];

/// Verbs that end like an order and tell something.
const SPANISH_TELLS: &[&str] = &[
    "puedes", "tienes", "sabes", "crees", "estas", "quieres", "debes", "haces", "vienes", "entiendes",
    "preocupes", "necesitas", "todas", "algunas", "muchas", "todos", "antes", "después", "veces", "además",
];

/// Verbs with which German orders begin.
const GERMAN_ORDERS: &[&str] = &[
    "fass", "lass", "nimm", "gib", "mach", "mache", "rühr", "rühre", "sprich", "schreib", "schreibe", "füge",
    "füg", "stell", "stelle", "leg", "lege", "erwähne", "erwähn", "verwende", "benutze", "benutz", "nutze",
    "nutz", "ändere", "änder", "lösche", "lösch", "push", "pushe", "deploy", "deploye", "committe",
    "commite", "merge", "starte", "führe", "führ", "setz", "setze", "sag", "sage", "zeig", "zeige", "schick",
    "schicke", "sende", "ruf", "rufe", "geh", "gehe", "frag", "frage", "verrate", "nenne", "nenn",
    "entferne", "ersetze", "bau", "baue", "öffne", "kürz", "kürze", "fangt", "fang", "verändere",
    "überschreib", "überschreibe", "speicher", "speichere", "logge", "log", "installier", "installiere",
    "lad", "lade", "kopier", "kopiere", "verschieb", "verschiebe", "antworte", "erkläre", "erklär", "berühr",
    "berühre", "vergiss",
];

const GERMAN_NOT: &[&str] =
    &["nicht", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals", "nirgends"];

/// What opens a clause that forbids.
const OPENS: &[&str] = &[
    "no puedes", "no podéis", "no pueden", "no se puede", "no se debe", "no se toca", "no se permite",
    "no se borra", "no se cambia", "no se modifica", "no se despliega", "no está permitido", "finger weg",
    "hände weg", "verzichte auf", "verzichtet auf", "ich möchte nicht", "ich will nicht", "wir wollen nicht",
    "ich möchte keine", "ich möchte kein", "ich möchte keinen", "ich will keine", "ich will kein",
    "ich will keinen", "je ne veux pas", "je ne voudrais pas", "on ne veut pas", "nous ne voulons pas",
    "lecture seule", "solo lectura", "no quiero que", "no queremos que", "não quero que", "manos fuera",
    "nur lesen", "bas les pattes", "plus rien ne", "interdiction de", "prohibido",
];

/// What forbids wherever it stands.
const ANYWHERE: &[&str] = &[
    " tabu ",
    " mit keinem wort ",
    " bleibt wie es ist ",
    " bleibt | wie es ist ",
    " bleiben wie sie sind ",
    " reste tel quel ",
    " restent tels quels ",
    " se queda como está ",
    " se quedan como están ",
    " fica como está ",
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
            "Löschen Sie keine Dateien.",
            "On ne déploie pas le vendredi.",
            "No se lo digas a nadie.",
            "No puedes tocar la base de datos.",
            "No olvides correr las pruebas antes de subir a main.",
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
            "No tests ran.",
            "Der Build wird nicht fertig.",
            "Ich weiß nicht, warum.",
            "Ça ne marche pas.",
            "On ne sait pas encore.",
            "N'hésite pas à modifier le schéma.",
            "Ne t'inquiète pas pour le schéma.",
            "Não existem testes para isso.",
            "No todas las pruebas pasan.",
            "No sabías lo de la reunión.",
            "Sag mir, warum das nicht geht.",
            "Mach weiter, das ist kein Problem.",
            "Mach in Ruhe weiter.",
            "Sois tranquille, tout passe.",
            "Super, plus aucune erreur.",
            "Die Laufzeit bleibt unverändert bei 3 s.",
            "Das klappt nie beim ersten Mal.",
        ] {
            assert!(!forbids(&Words::of(tells)), "{tells}");
        }
    }
}
