//! Names: paths, identifiers, flags, pieces of code, and the spellings in which a source may have them.

use std::ops::RangeInclusive;

use longhaul_extract::is_known_extension;

use super::{
    evidence::Evidence,
    handles::{cited, without_handles},
    numbers::numbered,
    words::{is_word_char, stem, stems, words},
};

/// Returns whether a piece of code stands in the source: as it is, or name for name with other blanks and brackets
/// between.
pub(super) fn knows_code(code: &str, evidence: &Evidence) -> bool {
    let code = code.trim();
    let is_known = |piece: &str| {
        // In code a hyphen belongs to the name.
        let is_compound = !piece.starts_with('-')
            && piece.contains('-')
            && !piece.contains('/')
            && with_lines(piece).is_none();
        !is_compound && knows_name(piece, evidence) || (!is_name(piece) && evidence.quotes(piece))
    };
    // `usage.md:20-21, 57`
    let places = code.replace(", ", ",");
    let mut pieces = code.split_whitespace().map(trimmed).filter(|piece| !is_placeholder(piece)).peekable();
    code.is_empty()
        || evidence.contains(code)
        || knows_expression(code, evidence)
        || with_lines(&places).is_some() && knows_name(&places, evidence)
        || pieces.peek().is_some() && pieces.all(|piece| piece.is_empty() || is_known(piece))
}

/// `n/m`, `N`, `(x)`, `Ns`: letters that stand for anything, with a unit.
pub(super) fn is_placeholder(piece: &str) -> bool {
    let mut parts = piece.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).peekable();
    let stands_for_any = |part: &str| match part.len() {
        1 => !["a", "A", "i", "I"].contains(&part),
        2 => part.starts_with(['N', 'X', 'Y']) && part.ends_with(['s', 'm', 'h', 'x']),
        _ => false,
    };
    // A short flag says what a command does.
    !piece.starts_with('-')
        && parts.peek().is_some()
        && piece.contains(char::is_alphabetic)
        && parts.all(|part| stands_for_any(part) && part.contains(char::is_alphabetic))
}

/// `CleanupItem{Type, ID}`, `read(...).Metadata.Strategy`, `-f/--force`: the names that code is made of, where one message
/// has them all. What a call is given may be called anything: `errorResponse(message, CODE)`.
fn knows_expression(code: &str, evidence: &Evidence) -> bool {
    let is_joint = |c: char| c.is_whitespace() || "(){}[]<>,;&*!=|+…\"'`".contains(c);
    let is_made_up =
        code.contains(['(', '{', '[', '<', '|', '=', '…', '*', '.', ':', '#']) || code.contains("/-");
    if !is_made_up {
        return false;
    }
    let spread = code.replace("...", " ").replace("->", " ").replace("/-", " -");
    let pieces = spread.split(is_joint).map(|piece| piece.trim_matches(['.', ':', '?', '/']));
    let pieces = pieces.filter(|piece| piece.contains(char::is_alphanumeric));
    let is_call = code.contains('(') && !code.contains('{');
    let is_any = |piece: &&str| {
        let is_plain = |case: fn(&u8) -> bool| piece.bytes().all(|byte| case(&byte));
        is_call
            && piece.len() <= LONGEST_ANY
            && (is_plain(u8::is_ascii_lowercase) || is_plain(u8::is_ascii_uppercase))
    };
    let (any, named): (Vec<&str>, Vec<&str>) = pieces.partition(is_any);
    let mut names: Vec<&str> = Vec::new();
    for piece in if named.is_empty() { any } else { named } {
        match evidence.contains(piece) {
            true => names.push(piece),
            false => names.extend(members(piece)),
        }
    }
    !names.is_empty() && evidence.are_together(&names)
}

/// A longer word is the name of something.
const LONGEST_ANY: usize = 8;

/// `Writer.flush`, `Writer::flush`, `Writer#flush`: a type and what belongs to it, which a source may have side by side.
/// `config.toml` is one name.
fn members(piece: &str) -> Vec<&str> {
    let is_file = |piece: &str| {
        piece.rsplit_once('.').is_some_and(|(_, extension)| is_known_extension(extension))
            && is_file_name(piece)
    };
    if piece.contains(['/', '-']) || is_file(piece) {
        return vec![piece];
    }
    piece.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect()
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

/// Returns a word of prose without the marks around it.
pub(super) fn trimmed(token: &str) -> &str {
    let token = token.trim_start_matches(['(', '[', '{', '<', '\'', '"', '“', '‘', '*', '«', '=']);
    let is_mark = |c: char| {
        matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | ']' | '}' | '\'' | '"' | '”' | '’' | '*' | '»' | '…')
            || matches!(c, '。' | '，' | '、')
    };
    let mut token = token.trim_end_matches(is_mark);
    // A bracket that was opened in the name closes it.
    while let Some(shorter) = [(')', '('), ('>', '<')].iter().find_map(|(close, open)| {
        let is_over = token.matches(*close).count() > token.matches(*open).count();
        token.strip_suffix(*close).filter(|_| is_over)
    }) {
        token = shorter.trim_end_matches(is_mark);
    }
    token.trim_end_matches("'s").trim_end_matches("’s")
}
/// Returns whether a word of prose is a name that the source must spell the same way.
pub(super) fn is_name(token: &str) -> bool {
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

/// Returns whether a word is a file's name, with its path or without.
pub(super) fn is_file(token: &str) -> bool {
    let name = token.rsplit('/').next().unwrap_or(token);
    is_file_name(name) && !is_measure(name) && !token.contains("://")
}

fn is_path(token: &str) -> bool {
    let slashes = token.matches('/').count();
    let plain = |part: &str| {
        !part.is_empty()
            && (part.trim_matches(['+', '-', '\'', '"']).chars().all(char::is_alphabetic)
                || part.bytes().all(|byte| byte.is_ascii_digit())
                || is_measure(part))
    };
    match slashes {
        0 => token.contains('\\') && token.len() > 3,
        // `and/or`, `read/write`, `4th/5th` are prose.
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
/// with the line in a file, by its beginning or end.
pub(super) fn knows_name(token: &str, evidence: &Evidence) -> bool {
    if evidence.contains(token) || is_said_loudly(token, evidence) || knows_template(token, evidence) {
        return true;
    }
    let token = token.trim_end_matches("()").trim_start_matches("./").trim_end_matches('/');
    if token.is_empty() || evidence.contains(token) {
        return true;
    }
    let named = cited(token);
    if !named.is_empty() && !without_handles(token).contains(char::is_alphanumeric) {
        return named.iter().all(|ordinal| evidence.has_message(*ordinal));
    }
    if with_small_initial(token).is_some_and(|name| evidence.contains(&name)) {
        return true;
    }
    if let Some((path, lines)) = with_lines(token) {
        return knows_name(path, evidence) && lines.iter().all(|line| evidence.has_number(line));
    }
    // `KEY=value`: both sides, and beside each other where the source has them so.
    if let Some((name, value)) = token.rsplit_once([':', '=']).filter(|(name, _)| !name.ends_with([':', '/']))
    {
        let pairs = numbered(token);
        if pairs.iter().any(|(word, number)| evidence.is_pair(*word, *number) == Some(false)) {
            return false;
        }
        return knows_name(name, evidence) && (value.is_empty() || evidence.contains(value));
    }
    is_choice(token, 2..=2, evidence)
        || is_part(token, evidence)
        || is_compound(token, evidence)
        || is_beside_its_folder(token, evidence)
        || is_implied(token, evidence)
        || token.strip_suffix('s').is_some_and(|one| is_name(one) && evidence.contains(one))
}

/// `(MODIFIED)`: a word in capitals that is no name.
fn is_said_loudly(token: &str, evidence: &Evidence) -> bool {
    const LOUD: [&str; 10] = [
        "MODIFIED", "CREATED", "DELETED", "UPDATED", "RENAMED", "REMOVED", "PENDING", "COMPLETED",
        "CRITICAL", "IMPORTANT",
    ];
    token.bytes().all(|byte| byte.is_ascii_uppercase()) && (LOUD.contains(&token) || evidence.quotes(token))
}

/// `.agentv/results/<experiment>/<run-dir>`: all but what stands for anything is in the source.
fn knows_template(token: &str, evidence: &Evidence) -> bool {
    let (mut fixed, mut rest) = (Vec::new(), token);
    while let Some((before, behind)) = rest.split_once('<') {
        let Some((_, after)) = behind.split_once('>') else { return false };
        fixed.push(before);
        rest = after;
    }
    fixed.push(rest);
    let mut fixed = fixed
        .into_iter()
        .filter(|piece| piece.chars().filter(|c| c.is_alphanumeric()).count() >= 3)
        .peekable();
    token.contains('<')
        && fixed.peek().is_some()
        && fixed.all(|piece| evidence.has_piece(piece.trim_matches('/')))
}

/// Returns the name of a person or a place in a text that the source does not have: two words with capitals in a row, neither of
/// which stands there, or a word behind `by`.
pub(super) fn unknown_person<'p>(prose: &'p str, evidence: &Evidence) -> Option<&'p str> {
    let told: Vec<(usize, &str)> = words(prose).collect();
    let is_capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.clone().count() >= 2
            && chars.all(char::is_lowercase)
    };
    let begins = |nth: usize| {
        nth == 0 || prose[..told[nth].0].trim_end().ends_with(['.', ':', '!', '?', '*', '-', '(', '|', ';'])
    };
    let is_unknown = |word: &str| is_capital(word) && !evidence.quotes(word);
    told.windows(2).enumerate().find_map(|(nth, pair)| {
        let ((first_at, first), (at, second)) = (pair[0], pair[1]);
        let is_pair = prose.get(first_at + first.len()..at) == Some(" ");
        (is_pair && !begins(nth) && is_unknown(first) && is_unknown(second))
            .then(|| &prose[first_at..at + second.len()])
    })
}

/// Returns a name of one word with a capital behind a word that a name follows, where the source has no such word: `in Haskell`.
pub(super) fn unknown_term<'p>(prose: &'p str, evidence: &Evidence) -> Option<&'p str> {
    const LEADS: [&str; 10] = ["to", "by", "with", "from", "use", "using", "via", "of", "for", "in"];
    const ENGLISH: [&str; 12] =
        ["the", "of", "to", "and", "is", "it", "now", "with", "for", "this", "that", "are"];
    let told: Vec<(usize, &str)> = words(prose).collect();
    // In German all nouns have a capital, and `in` stands before them, too.
    let is_english = told.iter().any(|(_, word)| {
        let word = word.to_lowercase();
        ENGLISH.contains(&&*word) || word.len() >= 6 && word.ends_with("ing")
    });
    told.windows(2).find_map(|pair| {
        let ((lead_at, lead), (at, word)) = (pair[0], pair[1]);
        let mut chars = word.chars();
        let is_term = chars.next().is_some_and(char::is_uppercase)
            && chars.clone().count() >= 4
            && chars.all(char::is_lowercase);
        let is_led = LEADS.contains(&lead.to_lowercase().as_str())
            && (is_english || !lead.eq_ignore_ascii_case("in"))
            && prose.get(lead_at + lead.len()..at) == Some(" ");
        let is_known = || {
            evidence.quotes(word)
                || is_implied(word, evidence)
                || EVERYBODYS.contains(&word)
                || stem(word).is_some_and(|stem| evidence.voices(stem).next().is_some())
        };
        (is_term && is_led && !is_known()).then_some(word)
    })
}

/// Names that need no source.
const EVERYBODYS: [&str; 22] = [
    "English", "German", "French", "Spanish", "Unicode", "Monday", "Tuesday", "Wednesday", "Thursday",
    "Friday", "Saturday", "Sunday", "January", "February", "March", "April", "August", "September",
    "October", "November", "December", "Internet",
];

/// `docs/evals/one.yaml`, where `docs/evals` and `one.yaml` are spoken of together and no other folder stands before it.
fn is_beside_its_folder(token: &str, evidence: &Evidence) -> bool {
    token.match_indices('/').any(|(slash, _)| {
        let (folder, rest) = (&token[..slash], &token[slash + 1..]);
        folder.contains('/') && (rest.contains('/') || is_file_name(rest)) && evidence.joins(folder, rest)
    })
}

/// What endings and places of files say without the word.
fn is_implied(token: &str, evidence: &Evidence) -> bool {
    const SIGNS: [(&str, &[&str]); 11] = [
        ("TypeScript", &[".ts", "tsc"]),
        ("JavaScript", &[".js", ".mjs"]),
        ("macOS", &["/Users/", "Darwin"]),
        ("GitHub", &["github.com"]),
        ("Python", &[".py", "pip "]),
        ("Postgres", &["postgres", "psql"]),
        ("Markdown", &[".md"]),
        ("Docker", &["docker"]),
        ("Linux", &["/home/", "linux"]),
        ("Rust", &["cargo", ".rs"]),
        ("Windows", &["win32", "C:\\"]),
    ];
    let signs = SIGNS.iter().find(|(name, _)| *name == token);
    signs.is_some_and(|(_, signs)| signs.iter().any(|sign| evidence.has_piece(sign)))
}

/// `fmt/lint/tests`, `thinkingOff/Low/High`: so many words, not a path, that are spoken of together.
pub(super) fn is_choice(token: &str, many: RangeInclusive<usize>, evidence: &Evidence) -> bool {
    let is_plain =
        |word: &&str| !word.is_empty() && word.split('-').all(|part| part.chars().all(char::is_alphabetic));
    let choices: Vec<&str> = token.split('/').collect();
    if !many.contains(&choices.len()) || !choices.iter().all(is_plain) {
        return false;
    }
    let (whole, parts): (Vec<&str>, Vec<&str>) =
        choices.into_iter().partition(|word| evidence.contains(word));
    let is_compound_of_known =
        |part: &str| part.contains('-') && part.split('-').all(|word| evidence.contains(word));
    (whole.is_empty() || evidence.are_together(&whole))
        && parts.iter().all(|part| {
            is_compound_of_known(part) || !whole.is_empty() && part.len() >= 3 && evidence.contains_part(part)
        })
}

/// `_NoItems` behind `TestRun_PartialFailure`, `ModifiedFile` for `TestOverlap_ModifiedFile`, `TestRun_*`: a piece of a
/// name that begins and ends where one of its words does.
fn is_part(token: &str, evidence: &Evidence) -> bool {
    let token = token.trim_matches('*');
    let is_identifier =
        token.chars().all(is_word_char) && token.chars().any(|c| c.is_uppercase() || c == '_');
    token.len() >= LEAST_PART && is_identifier && evidence.contains_part(token)
}

/// A shorter piece of a name may be anything.
const LEAST_PART: usize = 6;

/// Compounds of prose: `tenant-id-sorted`, `pre-4.2.1`.
fn is_compound(token: &str, evidence: &Evidence) -> bool {
    let parts: Vec<&str> = token.split('-').collect();
    parts.len() > 1
        && parts.iter().all(|part| !part.is_empty())
        && !token.contains(['/', '_', '.'])
        && parts.iter().all(|part| {
            !is_name(part) && !part.bytes().any(|byte| byte.is_ascii_digit()) || evidence.contains(part)
        })
}

/// Splits `src/lib.rs:12`, `lib.rs:432:44`, `lib.rs:21-22` into the file and its lines.
fn with_lines(token: &str) -> Option<(&str, Vec<&str>)> {
    let (path, lines) = token.split_once(':')?;
    let lines: Vec<&str> = lines.split([':', '-', '–', ',', '/']).collect();
    let is_number = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_place = is_file_name(path.rsplit('/').next()?) || is_path(path);
    (is_place && lines.iter().all(is_number)).then_some((path, lines))
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
            "src/lib.rs", "lib.rs", "pg_locks", "Writer::flush", "flush()", "--release", "KEY=1", "flushAll",
            "E0308", "https://a.b/c", "ECONNRESET", "v4.2.1", "@scope/pkg",
        ] {
            assert!(is_name(name), "{name}");
        }
        for word in ["and/or", "read/write", "word", "API", "30s", "1st", "4x", "e.g", "well-known", "Ann's"]
        {
            assert!(!is_name(trimmed(word)), "{word}");
        }
        assert_eq!(trimmed("(PostgreSQL's)"), "PostgreSQL");
    }

    /// Qwen2.5-Coder-0.5B did so on 2026-11-22 with a function of a Go program.
    #[test]
    fn a_name_that_was_given_a_capital_gets_the_sources_spelling() {
        let said = longhaul_testkit::transcript(
            "user: func padLeft(s string) calls titleCase; ParseHeader is public",
        );
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence =
            Evidence::new(&SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(100)));
        let respelled = |text| respelled(text, &evidence);
        assert_eq!(respelled("PadLeft calls `TitleCase`.").as_deref(), Some("padLeft calls `titleCase`."));
        assert_eq!(respelled("ParseHeader calls padLeft. Public it is."), None);
    }
}
