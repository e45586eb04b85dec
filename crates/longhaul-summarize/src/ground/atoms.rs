//! The names and numbers of a claim: what can be looked up letter by letter.

use super::{
    evidence::{Evidence, digits_of, label, numbered},
    words::{hash, is_word_char, stems, words},
};

/// What of a claim does not stand in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A path, identifier, URL, flag or piece of code.
    Name,
    /// A number, version, date or amount.
    Number,
    /// Words between quotation marks.
    Quote,
}

/// Returns what of `claim` does not stand in the source, where anything does not.
pub(super) fn unknown(claim: &str, evidence: &Evidence) -> Option<Unknown> {
    let (code, quoted, prose) = spans(claim);
    if code.iter().any(|span| !knows_code(span, evidence)) {
        return Some(Unknown::Name);
    }
    // Of one or two words are names and terms; three and more are somebody's words.
    let is_speech = |span: &&&str| words(span).count() >= 3;
    if quoted.iter().filter(is_speech).any(|span| !evidence.quotes(span)) {
        return Some(Unknown::Quote);
    }
    let names = quoted.iter().copied().filter(|span| !span.contains(' ')).chain(prose.split_whitespace());
    for token in names {
        let token = trimmed(token);
        if is_name(token) && !knows_name(token, evidence) {
            return Some(Unknown::Name);
        }
    }
    (!knows_numbers(&prose, claim, evidence)).then_some(Unknown::Number)
}

/// Returns whether a piece of code stands in the source: as it is, or word for word with other blanks between.
pub(super) fn knows_code(code: &str, evidence: &Evidence) -> bool {
    let code = code.trim();
    evidence.contains(code)
        || code.split_whitespace().map(trimmed).all(|piece| {
            // In code a hyphen belongs to the name.
            let is_compound = !piece.starts_with('-') && piece.contains('-') && !piece.contains('/');
            piece.is_empty()
                || !is_compound && knows_name(piece, evidence)
                || (!is_name(piece) && evidence.quotes(piece))
        })
}

/// Returns whether a command line stands in the source: as it is, or all of it in one sentence.
pub(super) fn knows_command(command: &str, evidence: &Evidence) -> bool {
    let command = command.trim();
    evidence.contains(command)
        || evidence.sentence_matches(&stems(command), 0.8).iter().take(20).any(|found| {
            evidence.clause(found.clause).is_some_and(|clause| {
                let sentence = evidence.sentence_of(clause);
                command.split_whitespace().all(|piece| sentence.contains(piece))
            })
        })
}

/// Splits a claim into its code spans, its quotations, and the rest.
fn spans(claim: &str) -> (Vec<&str>, Vec<&str>, String) {
    let (mut code, mut quoted, mut prose) = (Vec::new(), Vec::new(), String::new());
    let mut rest = claim;
    while let Some(at) = rest.find(['`', '"', '“', '«']) {
        let opening = rest[at..].chars().next().unwrap_or('`');
        let closing = match opening {
            '“' => '”',
            '«' => '»',
            same => same,
        };
        let inside = &rest[at + opening.len_utf8()..];
        let Some(length) = inside.find(closing) else { break };
        prose.push_str(&rest[..at]);
        prose.push(' ');
        match opening {
            '`' => code.push(&inside[..length]),
            _ => quoted.push(&inside[..length]),
        }
        rest = &inside[length + closing.len_utf8()..];
    }
    prose.push_str(rest);
    (code, quoted, prose)
}

fn trimmed(token: &str) -> &str {
    let token = token.trim_start_matches(['(', '[', '{', '<', '\'', '"', '“', '‘', '*', '«', '=']);
    let token = token.trim_end_matches([
        ',', ';', ':', '.', '!', '?', ']', '}', '>', '\'', '"', '”', '’', '*', '»', '…', '。', '，', '、',
    ]);
    match token.contains('(') {
        true => token,
        false => token.trim_end_matches(')'),
    }
    .trim_end_matches("'s")
    .trim_end_matches("’s")
}

/// Returns whether a word of prose is a name that the source must spell the same way.
fn is_name(token: &str) -> bool {
    if token.len() < 2 || !token.chars().any(char::is_alphabetic) || is_measure(token) {
        return false;
    }
    let chars: Vec<char> = token.chars().collect();
    let has = |mark: &str| token.contains(mark);
    has("://")
        || is_path(token)
        || has("::")
        || has("()")
        || has("->")
        || (has("_") && token.trim_matches('_').contains('_'))
        || token.starts_with("--")
        || token.starts_with('$')
        || (has("@") && token.len() > 2)
        || (has("=") && token.split('=').all(|side| !side.is_empty()))
        || is_file_name(token)
        || chars.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
        || mixes_letters_and_digits(token)
        || (token.len() >= 6 && token.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

fn is_path(token: &str) -> bool {
    let slashes = token.matches('/').count();
    let plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    match slashes {
        0 => token.contains('\\') && token.len() > 3,
        // `and/or`, `read/write` are prose.
        1 => token.len() > 2 && !token.split('/').all(plain),
        _ => !(slashes == 2 && token.split('/').all(|part| plain(part) && part.len() <= 3)),
    }
}

fn is_file_name(token: &str) -> bool {
    let Some((name, extension)) = token.rsplit_once('.') else { return false };
    !extension.is_empty()
        && extension.len() <= 5
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.len() + extension.len() > 3
        && extension.bytes().any(|byte| byte.is_ascii_lowercase())
        // `e.g`, `i.e`, `a.m`
        && !(name.len() == 1 && extension.len() == 1)
        && name.chars().all(|c| is_word_char(c) || matches!(c, '-' | '.'))
}

/// `4x`, `30s`, `10MB`, `1st`, `2nd`: a number with something on it, looked up as a number.
fn is_measure(token: &str) -> bool {
    let digits =
        token.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
    digits > 0
        && token.len() - digits <= 3
        && token[digits..].bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'%')
}

fn mixes_letters_and_digits(token: &str) -> bool {
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    let digits = token.chars().filter(char::is_ascii_digit).count();
    letters > 0
        && digits > 0
        && token.len() >= 3
        && token.chars().all(|c| is_word_char(c) || matches!(c, '-' | '.' | '#' | '@' | ':' | '+'))
}

/// Looks a name up in the spellings that are the same name: at the start of a sentence, with `./` in front, as a call,
/// with the line in a file.
fn knows_name(token: &str, evidence: &Evidence) -> bool {
    if evidence.contains(token) {
        return true;
    }
    let token = token.trim_end_matches("()").trim_start_matches("./").trim_end_matches('/');
    if token.is_empty() || evidence.contains(token) {
        return true;
    }
    // Our own handles for messages.
    if let Some(ordinal) = token.strip_prefix('m').and_then(|digits| digits.parse().ok()) {
        return evidence.has_message(ordinal);
    }
    if with_small_initial(token).is_some_and(|name| evidence.contains(&name)) {
        return true;
    }
    // `src/lib.rs:12`, `KEY=value`: both sides, and beside each other where the source has them so.
    if let Some((name, value)) = token.rsplit_once([':', '=']).filter(|(name, _)| !name.ends_with([':', '/']))
    {
        let pairs = numbered(token);
        if pairs.iter().any(|(word, number)| evidence.is_pair(*word, *number) == Some(false)) {
            return false;
        }
        return knows_name(name, evidence) && (value.is_empty() || evidence.contains(value));
    }
    // Compounds of prose: `tenant-id-sorted`, `pre-4.2.1`.
    let parts: Vec<&str> = token.split('-').collect();
    parts.len() > 1
        && parts.iter().all(|part| !part.is_empty())
        && !token.contains(['/', '_', '.'])
        && parts.iter().all(|part| {
            !is_name(part) && !part.bytes().any(|byte| byte.is_ascii_digit()) || evidence.contains(part)
        })
}

/// Returns `text` with the source's spelling of the names that it begins with a capital, where there are any: in some
/// languages `parseHeader` and `ParseHeader` are two things.
pub(super) fn respelled(text: &str, evidence: &Evidence) -> Option<String> {
    let mut out: Option<String> = None;
    for token in text.split_whitespace().map(|token| trimmed(token).trim_matches('`')) {
        if is_name(token)
            && !evidence.contains(token)
            && let Some(name) = with_small_initial(token).filter(|name| evidence.contains(name))
        {
            let text = out.get_or_insert_with(|| text.to_owned());
            *text = text.replace(token, &name);
        }
    }
    out
}

fn with_small_initial(name: &str) -> Option<String> {
    let mut chars = name.chars();
    let first = chars.next().filter(|c| c.is_uppercase())?;
    Some(format!("{}{}", first.to_lowercase(), chars.as_str()))
}

/// Looks the numbers of a claim up: each must stand in the source, beside the word it stands beside here where the
/// source counts that thing at all.
fn knows_numbers(prose: &str, claim: &str, evidence: &Evidence) -> bool {
    let pairs = numbered(prose);
    let near = stems(claim);
    let labels: Vec<u64> = words(prose).filter_map(|(_, word)| label(word)).collect();
    numbers(prose).all(|(number, token)| {
        let plain = digits_of(number);
        let hashed = hash(&plain);
        let spellings = [number, token, &plain, &grouped(&plain)];
        let stands = spellings.iter().any(|spelling| evidence.contains(spelling));
        let beside = pairs.iter().filter(|(_, other)| *other == hashed);
        let told: Vec<bool> = beside.filter_map(|(word, _)| evidence.is_pair(*word, hashed)).collect();
        // Beside this word here, beside another word of the claim in the source: `1 test failed`, `1 failed`.
        if told.contains(&true) || labels.iter().any(|word| evidence.is_pair(*word, hashed) == Some(true)) {
            return true;
        }
        let is_small = plain.len() == 1;
        let is_telling = plain.len() >= 3 || plain.contains('.');
        match (stands, told.is_empty()) {
            // The source counts this very thing otherwise. A telling number may still be meant where its other
            // words are near; `3` for `4` may not.
            (true, false) => is_telling && evidence.stands_near(number, &without(&near, hashed)),
            (true, true) => true,
            // One to nine of something that the source never counts is a count of what it lists.
            (false, told_nothing) => is_small && told_nothing || is_computed(&plain, prose),
        }
    })
}

/// Returns whether a number is the sum of others in the same claim, their difference, or a multiple: what a reader works
/// out for whoever reads the summary.
fn is_computed(number: &str, prose: &str) -> bool {
    let hundredths = |number: &str| {
        let value: f64 = digits_of(number).parse().ok()?;
        (value.abs() < 1e12).then_some((value * 100.0).round() as i64)
    };
    let Some(wanted) = hundredths(number) else { return false };
    let others: Vec<i64> = numbers(prose)
        .filter_map(|(other, _)| hundredths(other))
        .filter(|other| *other != wanted)
        .take(MOST_ADDENDS)
        .collect();
    let is_sum = (0u32..1 << others.len()).any(|chosen| {
        let addends = others.iter().enumerate().filter(|(nth, _)| chosen >> nth & 1 == 1);
        chosen.count_ones() >= 2 && addends.map(|(_, value)| value).sum::<i64>() == wanted
    });
    let mut pairs = others.iter().flat_map(|one| others.iter().map(move |other| (*one, *other)));
    is_sum
        || pairs.any(|(one, other)| one - other == wanted || one * other == wanted * 100)
        || others.iter().any(|one| (2..=5).any(|times| one * times == wanted))
}

/// More numbers than this in one claim are not tried as addends.
const MOST_ADDENDS: usize = 14;

fn without(stems: &[u64], number: u64) -> Vec<u64> {
    stems.iter().copied().filter(|stem| *stem != number).collect()
}

/// Returns the numbers of a text that are words of their own or begin one, with what is written onto them (`30`, `30s`).
fn numbers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(|c: char| c.is_ascii_digit())?;
            let run = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '/');
            let end = text[start..].find(|c| !run(c)).map_or(text.len(), |length| start + length);
            let begins_word = !text[..start].chars().next_back().is_some_and(|c| is_word_char(c) || c == '.');
            let number = text[start..end].trim_end_matches(|c: char| !c.is_ascii_digit());
            at = end + text[end..].find(|c| !is_word_char(c)).unwrap_or(text.len() - end);
            // Inside a name the name is what was looked up.
            if begins_word && text[end..at].chars().count() <= 3 {
                let token = if start + number.len() == end { &text[start..at] } else { number };
                return Some((number, token));
            }
        }
    })
}

/// Writes thousands separators into a whole number of four and more digits.
fn grouped(number: &str) -> String {
    if number.len() < 4 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut out = String::new();
    for (at, digit) in number.chars().enumerate() {
        if at > 0 && (number.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::{SessionId, Tokens};

    use super::*;
    use crate::SummaryRequest;

    #[test]
    fn names_are_told_from_prose() {
        for name in [
            "src/lib.rs",
            "lib.rs",
            "pg_locks",
            "Writer::flush",
            "flush()",
            "--release",
            "KEY=1",
            "flushAll",
            "E0308",
            "https://a.b/c",
            "ECONNRESET",
            "v4.2.1",
            "@scope/pkg",
        ] {
            assert!(is_name(name), "{name}");
        }
        for word in
            ["and/or", "read/write", "word", "API", "30s", "1st", "4x", "e.g", "well-known", "PostgreSQL's"]
        {
            assert!(!is_name(trimmed(word)) || word.starts_with("Postgre"), "{word}");
        }
    }

    #[test]
    fn numbers_of_a_text() {
        let found: Vec<_> = numbers("In 2026-11-09, 30s for v4.2.1 and 1,200 rows (50%), E0308, x86_64.")
            .map(|(number, _)| number)
            .collect();
        assert_eq!(found, ["2026-11-09", "30", "1,200", "50"]);
    }

    #[test]
    fn thousands() {
        assert_eq!(grouped("1234567"), "1,234,567");
        assert_eq!(digits_of("1,200"), "1200");
        for claim in ["140 and 101 make 241", "1166.98 less 481.5 leaves 685.48", "twice 241 is 482"] {
            let last = claim.rsplit(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            assert!(is_computed(last.unwrap(), claim), "{claim}");
        }
        assert!(!is_computed("43", "40 passed and 1 failed, 43 pass"));
    }

    /// Qwen2.5-Coder-0.5B did so on 2026-11-22 with a function of a Go program.
    #[test]
    fn a_name_that_was_given_a_capital_gets_the_sources_spelling() {
        let said = longhaul_testkit::transcript(
            "user: func padLeft(s string) calls titleCase; ParseHeader is public",
        );
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence = Evidence::new(&SummaryRequest {
            session: &session,
            entries: said.entries(),
            kept: &[],
            previous: None,
            index: &index,
            counter: &BytesPer4,
            limit: Tokens(100),
            goal: None,
            depth: 0,
        });
        let respelled = |text| respelled(text, &evidence);
        assert_eq!(respelled("PadLeft calls `TitleCase`.").as_deref(), Some("padLeft calls `titleCase`."));
        assert_eq!(respelled("ParseHeader calls padLeft. Public it is."), None);
    }
}
