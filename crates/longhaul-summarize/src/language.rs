//! Which language a text is in, as far as that is plain.

use longhaul_transcript::first_chars;

/// Returns the English name of the language that `text` is written in, or `None` where it is too short or too mixed
/// to tell. Scripts decide where they can; Latin text is told apart by its most common small words.
pub(crate) fn language<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let mut letters = [0usize; SCRIPTS.len()];
    let mut latin = 0;
    let mut votes = [0usize; SMALL_WORDS.len()];
    let mut seen = [0u32; SMALL_WORDS.len()];
    let mut left = MAX_CHARS;
    for text in texts {
        let text = first_chars(text, left);
        left -= text.chars().count();
        for c in text.chars() {
            match SCRIPTS.iter().position(|(_, is)| is(c)) {
                Some(script) => letters[script] += 1,
                None => latin += usize::from(c.is_alphabetic()),
            }
        }
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            for (nth, (_, words)) in SMALL_WORDS.iter().enumerate() {
                if let Some(at) = words.iter().position(|small| *small == word) {
                    votes[nth] += 1;
                    seen[nth] |= 1 << at;
                }
            }
        }
    }
    script(&letters, latin).or_else(|| small_words(&votes, &seen))
}

fn script(letters: &[usize; SCRIPTS.len()], latin: usize) -> Option<&'static str> {
    let foreign: usize = letters.iter().sum();
    // Talk about code carries Latin names in any language; a fifth of the letters is far beyond names.
    if foreign < 12 || foreign * 4 < latin {
        return None;
    }
    // Japanese mixes kana with Chinese characters; Chinese has no kana at all.
    if letters[KANA] * 8 > letters[HAN] && letters[KANA] > 4 {
        return Some(SCRIPTS[KANA].0);
    }
    let (at, count) = letters.iter().enumerate().max_by_key(|(_, count)| **count)?;
    (count * 2 > foreign).then_some(SCRIPTS[at].0)
}

fn small_words(votes: &[usize; SMALL_WORDS.len()], seen: &[u32; SMALL_WORDS.len()]) -> Option<&'static str> {
    let (at, most) = votes.iter().enumerate().max_by_key(|(_, votes)| **votes)?;
    let second = votes.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, votes)| *votes).max()?;
    // One word said often, `do` or the `com` of addresses, is no language.
    let is_plain = seen[at].count_ones() >= LEAST_WORDS && *most >= 4 && *most >= 2 * second;
    is_plain.then_some(SMALL_WORDS[at].0)
}

/// Fewer different words tell nothing.
const LEAST_WORDS: u32 = 3;

/// Enough to tell, and little enough to cost nothing.
const MAX_CHARS: usize = 20_000;

type Script = (&'static str, fn(char) -> bool);

const KANA: usize = 0;
const HAN: usize = 1;
const SCRIPTS: [Script; 9] = [
    ("Japanese", |c| matches!(c, '\u{3040}'..='\u{30ff}')),
    ("Chinese", |c| matches!(c, '\u{3400}'..='\u{9fff}')),
    ("Korean", |c| matches!(c, '\u{ac00}'..='\u{d7a3}')),
    ("Russian", |c| matches!(c, '\u{400}'..='\u{4ff}')),
    ("Arabic", |c| matches!(c, '\u{600}'..='\u{6ff}')),
    ("Hebrew", |c| matches!(c, '\u{590}'..='\u{5ff}')),
    ("Hindi", |c| matches!(c, '\u{900}'..='\u{97f}')),
    ("Greek", |c| matches!(c, '\u{370}'..='\u{3ff}')),
    ("Thai", |c| matches!(c, '\u{e00}'..='\u{e7f}')),
];

/// Words that are frequent in one of these languages and rare in the others.
const SMALL_WORDS: [(&str, &[&str]); 6] = [
    (
        "English",
        &[
            "the", "and", "is", "of", "that", "with", "was", "for", "not", "it", "this", "were", "has",
            "should", "you", "what", "can",
        ],
    ),
    (
        "Spanish",
        &["el", "los", "las", "una", "por", "con", "pero", "está", "como", "más", "fue", "y", "del", "hay"],
    ),
    (
        "French",
        &[
            "le", "les", "des", "et", "est", "une", "dans", "pour", "pas", "avec", "sur", "qui", "sont",
            "cette",
        ],
    ),
    (
        "German",
        &[
            "der", "die", "das", "und", "ist", "nicht", "mit", "ein", "eine", "auf", "für", "wird", "wurde",
            "sich",
        ],
    ),
    (
        "Portuguese",
        &["os", "uma", "não", "com", "foi", "são", "mas", "pelo", "pela", "também", "está", "ao", "em", "do"],
    ),
    (
        "Italian",
        &[
            "il", "gli", "della", "che", "non", "sono", "una", "nel", "anche", "più", "è", "di", "questo",
            "stato",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (text, expected) in [
            (
                "The tests of the parser were fixed, and it is not clear that the cache has been cleared for this run.",
                "English",
            ),
            (
                "Los tests del módulo están en verde, pero el servidor no responde y hay que mirar los registros con calma por la tarde, como ayer.",
                "Spanish",
            ),
            (
                "Les tests sont dans le dossier et le serveur est lancé avec les droits qui ne sont pas corrects pour cette étape.",
                "French",
            ),
            (
                "Die Tests sind grün, und der Server wird mit der neuen Version gestartet, das ist nicht für die Produktion.",
                "German",
            ),
            ("请修复 src/lib.rs 里的测试，不要改动锁文件，并且先运行 cargo test。", "Chinese"),
            ("src/lib.rs のテストを直してください。ロックファイルは変更しないでください。", "Japanese"),
            ("Исправь тест в src/lib.rs и не трогай Cargo.lock без разрешения.", "Russian"),
        ] {
            assert_eq!(language([text]), Some(expected), "{text}");
        }
    }

    #[test]
    fn code_and_short_texts_are_no_language() {
        for text in [
            "Now do step 1. Now do step 2. Now do 3. Now do 4. Then do 5.",
            "com com com com os os",
            // Polish.
            "To nie działa. Zrób to do końca, a potem to sprawdź, bo to ma być do piątku: 'file not found' to błąd.",
            "",
            "ok",
            "fn main() { println!(\"hi\"); }",
            "cargo test -p longhaul",
        ] {
            assert_eq!(language([text]), None, "{text}");
        }
    }
}
