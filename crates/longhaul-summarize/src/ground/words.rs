//! Words, and what makes two of them the same.

use super::lexicon::STOP_WORDS;

/// Returns the words of `text` with their byte offsets. A word is a run of letters, digits and `_`; in scripts that
/// do not put blanks between words each character is one.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let start = at + rest.find(is_word_char)?;
        let mut chars = text[start..].char_indices();
        let (_, first) = chars.next()?;
        let end = match is_wide(first) {
            true => start + first.len_utf8(),
            false => chars
                .find(|(_, c)| !is_word_char(*c) || is_wide(*c))
                .map_or(text.len(), |(offset, _)| start + offset),
        };
        at = end;
        Some((start, &text[start..end]))
    })
}

pub(super) fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Chinese, kana, Hangul, Thai: scripts without blanks between words, or with blanks between phrases only.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

/// Returns the content words of `text` as hashes of their stems, without repetitions, in order. Two neighbours in a
/// script without blanks make one.
pub(super) fn stems(text: &str) -> Vec<u64> {
    let mut out = Vec::new();
    let mut add = |hash: u64| {
        if !out.contains(&hash) {
            out.push(hash);
        }
    };
    let mut before: Option<&str> = None;
    for (_, word) in words(text).take(MAX_WORDS) {
        if word.chars().all(is_wide) {
            if let Some(before) = before {
                add(hash(&format!("{before}{word}")));
            }
            before = Some(word);
            continue;
        }
        before = None;
        if let Some(hash) = stem(word) {
            add(hash);
        }
    }
    out
}

/// A sentence of more words than this is not prose; its front is enough to recognise it by.
const MAX_WORDS: usize = 200;

/// Returns the hash of a word's stem, or `None` for a word that says nothing by itself.
pub(super) fn stem(word: &str) -> Option<u64> {
    let lower = word.to_lowercase();
    let has_digit = lower.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit && (lower.chars().count() < 3 || STOP_WORDS.contains(&lower.as_str())) {
        return None;
    }
    Some(match participle(&lower) {
        Some(verb) => hash(root(&verb)),
        None => hash(root(&lower)),
    })
}

/// Returns the words of an identifier of several: `total_baggages`, `cacheSize`.
pub(super) fn identifier_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut before) = (0, ' ');
    for (at, c) in word.char_indices() {
        if c == '_' || before.is_lowercase() && c.is_uppercase() {
            parts.push(&word[from..at]);
            from = at + usize::from(c == '_');
        }
        before = c;
    }
    if from > 0 {
        parts.push(&word[from..]);
    }
    parts
}

/// Returns the verb of a German participle without its ending: `angelegt` is of `anlegen`, `gelöscht` of `löschen`,
/// `vergrößert` of `vergrößern`.
pub(super) fn participle(lower: &str) -> Option<String> {
    const INSEPARABLE: [&str; 6] = ["ver", "be", "er", "ent", "zer", "über"];
    if lower.len() >= 8
        && (lower.ends_with("iert") || INSEPARABLE.iter().any(|prefix| lower.starts_with(prefix)))
        && let Some(verb) = lower.strip_suffix('t')
    {
        return Some(verb.to_owned());
    }
    const PREFIXES: [&str; 18] = [
        "ab", "an", "auf", "aus", "ein", "um", "vor", "zu", "nach", "hin", "her", "weg", "mit", "fest",
        "frei", "durch", "zurück", "",
    ];
    PREFIXES.iter().find_map(|prefix| {
        let rest = lower.strip_prefix(prefix)?.strip_prefix("ge")?;
        let verb = match rest.strip_suffix('t') {
            Some(verb) => verb,
            // `geben` is no participle, `aufgegeben` is.
            None if !prefix.is_empty() => rest.strip_suffix("en")?,
            None => return None,
        };
        (verb.chars().count() >= 3).then(|| format!("{prefix}{verb}"))
    })
}

/// Takes common endings off: those of English, of German verbs, and of Spanish and Portuguese ones in `-ar`. Other
/// languages lose nothing by it that matters for comparing.
pub(super) fn root(lower: &str) -> &str {
    if let Some((_, verb)) = IRREGULAR.iter().find(|(form, _)| *form == lower) {
        return root(verb);
    }
    const ROMANCE: [&str; 5] = ["ados", "adas", "ado", "ada", "ar"];
    if lower.len() >= 6
        && lower.chars().all(char::is_alphabetic)
        // German `lesbar` goes with `lesbare`.
        && !lower.ends_with("bar")
        && let Some(stem) = ROMANCE.iter().find_map(|ending| lower.strip_suffix(ending))
        && stem.len() >= 4
    {
        return stem;
    }
    if lower.len() >= 8 && lower.ends_with("ern") {
        return &lower[..lower.len() - 1];
    }
    if lower.len() >= 6
        && lower.chars().all(char::is_alphabetic)
        && let Some(stem) = lower.strip_suffix("en")
    {
        return stem;
    }
    if !lower.is_ascii() && lower.len() >= 6 && lower.ends_with('e') {
        return &lower[..lower.len() - 1];
    }
    if !lower.is_ascii() || lower.bytes().any(|byte| byte == b'_' || byte.is_ascii_digit()) {
        return lower;
    }
    let long_enough = |stem: &&str| stem.len() >= 3;
    // `verify`, `verifies` and `verified` are one verb.
    if let Some(stem) = ["ied", "ies", "y"].iter().find_map(|ending| lower.strip_suffix(ending))
        && stem.len() >= 4
    {
        return stem;
    }
    let mut stem = ["ing", "ed", "es", "s"]
        .iter()
        .find_map(|ending| lower.strip_suffix(ending).filter(long_enough))
        .unwrap_or(lower);
    if stem.len() > 3 && stem != lower {
        // `stopped`, `running`: the doubled consonant goes with the ending.
        let bytes = stem.as_bytes();
        let (last, before) = (bytes[bytes.len() - 1], bytes[bytes.len() - 2]);
        if last == before && !matches!(last, b's' | b'l') {
            stem = &stem[..stem.len() - 1];
        }
    }
    stem.strip_suffix('e').filter(long_enough).unwrap_or(stem)
}

/// Forms of English verbs that no ending tells.
const IRREGULAR: [(&str, &str); 44] = [
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("came", "come"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drew", "draw"),
    ("fell", "fall"),
    ("forbade", "forbid"),
    ("forgot", "forget"),
    ("found", "find"),
    ("froze", "freeze"),
    ("gave", "give"),
    ("given", "give"),
    ("grew", "grow"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("paid", "pay"),
    ("ran", "run"),
    ("rewrote", "rewrite"),
    ("rewritten", "rewrite"),
    ("said", "say"),
    ("sent", "send"),
    ("showed", "show"),
    ("shown", "show"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("taken", "take"),
    ("thought", "think"),
    ("told", "tell"),
    ("took", "take"),
    ("written", "write"),
    ("wrote", "write"),
];

/// FNV-1a: stable from run to run, and quick on short words.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Returns the sentences of `text`: they end at a line break, or at a full stop, question or exclamation mark before
/// a blank, and not inside a name with a dot in it. None is longer than a few hundred bytes.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| split_after(line, ends_sentence))
        .flat_map(|long| split_after(long, too_long))
}

/// Returns the clauses of a sentence, for deciding what a `not` belongs to.
pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    split_after(sentence, |before, c, rest| {
        matches!(c, ';' | '，' | '；' | '、' | '(' | ')' | '—')
            // Chinese is often typed with the narrow comma, and without a blank behind it.
            || (matches!(c, ',' | ':') && rest.starts_with(|next| next == ' ' || is_wide(next)))
            || (c == ' ' && !before.is_empty() && CONNECTIVES.iter().any(|word| rest.starts_with(word)))
    })
}

const CONNECTIVES: [&str; 14] = [
    "and ", "but ", "because ", "instead ", "rather ", "so ", "since ", "while ", "und ", "aber ", "y ",
    "pero ", "et ", "mais ",
];

fn ends_sentence(before: &str, c: char, rest: &str) -> bool {
    let at_end = rest.is_empty() || rest.starts_with(' ');
    match c {
        '。' | '！' | '？' => true,
        '.' => at_end && !is_day(before, rest),
        '!' | '?' => at_end,
        // The mark that closes a quotation belongs to the sentence.
        '"' | '”' | ')' => at_end && before.ends_with(['.', '!', '?']),
        _ => false,
    }
}

/// `28. November`: the full stop of an ordinal number, as German writes days.
fn is_day(before: &str, rest: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
        "november", "dezember",
    ];
    let next = || words(rest).next().map(|(_, word)| word.to_lowercase()).unwrap_or_default();
    before.ends_with(|c: char| c.is_ascii_digit()) && MONTHS.contains(&next().as_str())
}

fn too_long(before: &str, c: char, _: &str) -> bool {
    before.len() > 400 && c == ' ' || before.len() > 2_000
}

/// Splits after each character that `ends` says yes to; it is told the piece before the character, the character, and
/// what follows.
fn split_after(text: &str, ends: fn(&str, char, &str) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| {
            let next = at + c.len_utf8();
            ends(&rest[..at], c, &rest[next..]).then_some(next)
        });
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(piece)
    })
    .filter(|piece| !piece.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_mixed_scripts() {
        let found: Vec<_> = words("pg_locks 在src/a.rs中").map(|(_, word)| word).collect();
        assert_eq!(found, ["pg_locks", "在", "src", "a", "rs", "中"]);
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for (one, other) in [
            ("fix", "fixed"),
            ("verify", "verified"),
            ("entry", "entries"),
            ("stop", "stopped"),
            ("running", "run"),
            ("left", "leave"),
            ("written", "writes"),
            ("decide", "decided"),
            ("file", "files"),
            ("test", "Tests"),
            ("umstellen", "umgestellt"),
            ("ganze", "ganzen"),
            ("Beträge", "Beträgen"),
            ("anlegen", "angelegt"),
            ("vergrößern", "vergrößert"),
            ("cambiar", "cambiado"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_eq!(stem("the"), None);
    }

    #[test]
    fn sentences_do_not_end_inside_names() {
        let found: Vec<_> =
            sentences("Edit src/lib.rs at v4.2.1. Then stop! ok?\nnext").map(str::trim).collect();
        assert_eq!(found, ["Edit src/lib.rs at v4.2.1.", "Then stop!", "ok?", "next"]);
        assert_eq!(sentences(&"x".repeat(10_000)).count(), 5);
    }

    #[test]
    fn clauses_end_where_a_negation_does() {
        let found: Vec<_> = clauses("Set WORKERS=1, and do not roll back").map(str::trim).collect();
        assert_eq!(found, ["Set WORKERS=1,", "and do not roll back"]);
    }
}
