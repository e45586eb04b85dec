//! Passwords of several pieces, with the signs between them that end one in a program: `Winter$6o7wDl`, `Falcon.YC6tlR`.
//!
//! In shells, queries, logs and types the same signs stand between names: `OAuth2|SAML2`, `pw=x&user=bob`, `Config.Db2Pass`.

use crate::words::odd_pairs;

/// Returns how much of `value`, which stands behind a label, is the password; nothing where it is made of names, or of one
/// piece, which other rules judge. `is_set` says that nothing but `=` or `:` parts the two, as in shells, queries and logs, where a
/// command or a field may follow.
pub(crate) fn password(value: &[u8], is_set: bool) -> usize {
    let value = &value[..value.len() - count_back(value, b".:?")];
    if is_address(value) {
        return 0;
    }
    let end = end_of(value, is_set);
    let whole = &value[..end];
    let is_password = match whole {
        [b'$' | b'&' | b'|', rest @ ..] => is_led(rest),
        _ if whole.iter().any(is_sign) => is_joined(whole),
        _ => is_dotted(whole),
    };
    if is_password { end } else { 0 }
}

/// Returns whether `value` is one of several names, as types and choices are: `OAuth2|SAML2`, `PasswordV1 | null`. It stands behind a
/// colon or an equals sign and a blank; in the row of a table, and in a log, a sign begins the next cell.
pub(crate) fn is_choice(before: &[u8], value: &[u8], behind: &[u8]) -> bool {
    const TYPES: [&[u8]; 8] =
        [b"string", b"null", b"undefined", b"str", b"None", b"bytes", b"Buffer", b"number"];
    let label = before.trim_ascii_end();
    if label.len() == before.len() || !matches!(label.last(), Some(b':' | b'=')) || before.contains(&b'|') {
        return false;
    }
    let (blanks, rest) = behind.split_at(behind.len() - behind.trim_ascii_start().len());
    let (Some((b'|' | b'&', rest)), true) = (rest.split_first(), is_name(value)) else { return false };
    let rest = rest.strip_prefix(blanks).unwrap_or_default();
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    let ends = |byte: &u8| is_sign(byte) || byte.is_ascii_whitespace() || b",;)}]>\"'`\\".contains(byte);
    let next = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let is_same = next.iter().filter(is_letter).eq(value.iter().filter(is_letter));
    let is_name =
        !next.is_empty() && !is_field(next) && is_name(next) && blanks.is_empty() && !is_numbered(value);
    is_name || is_same || TYPES.contains(&next)
}

/// Returns where a command, a field or a cell begins behind the password in `value`, or where that ends.
fn end_of(value: &[u8], is_set: bool) -> usize {
    let count =
        |bytes: &[u8], of_signs: bool| bytes.iter().take_while(|byte| is_sign(byte) == of_signs).count();
    let mut at = count(value, true);
    loop {
        let sign = at + count(&value[at..], false);
        let piece = sign + count(&value[sign..], true);
        at = piece + count(&value[piece..], false);
        let (before, signs) = (&value[..sign], &value[sign..piece]);
        if signs.is_empty() || !goes_on(before, signs, &value[piece..at], is_set) {
            return sign;
        }
    }
}

/// Returns whether the password `before` goes on behind `signs` with `piece`.
fn goes_on(before: &[u8], signs: &[u8], piece: &[u8], is_set: bool) -> bool {
    /// What is shorter is no password by itself, in bytes.
    const SHORTEST: usize = 8;
    /// What is shorter is a name or a number, in bytes.
    const SHORTEST_PIECE: usize = 4;
    if piece.is_empty() {
        return signs == b"$" || signs == b"&" && !is_set;
    }
    if is_field(piece) && signs != b"$" {
        return false;
    }
    if signs.first() == Some(&b'$') {
        return true;
    }
    let is_short = before.len() < SHORTEST;
    let is_drawn = !is_of_names(before);
    let has_capital = piece.iter().any(u8::is_ascii_uppercase);
    // A command has no capitals, and stands behind a whole password.
    if is_short && is_drawn && has_capital {
        return true;
    }
    if !is_name(piece) {
        return signs.len() == 1 || !is_set;
    }
    let is_cut_off = is_number(piece) || is_numbered_word(piece) || is_drawn && has_digit(piece) && !is_set;
    signs.len() == 1
        && piece.len() >= SHORTEST_PIECE
        && is_cut_off
        && (!is_set || is_short && (is_number(piece) || has_capital))
}

/// Returns whether what stands behind a sign was drawn: a variable, a reference and an anchor are names.
fn is_led(rest: &[u8]) -> bool {
    const SHORTEST: usize = 7;
    rest.len() >= SHORTEST && has_digit(rest) && is_odd(rest, 3)
}

/// Returns whether pieces with signs between them are a password: some were drawn, or people made it of a word and a number.
fn is_joined(whole: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| whole.iter().any(is);
    let has_case = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    // Types and shells seldom mix them.
    let mixed = usize::from(b"$&|".iter().filter(|sign| whole.contains(sign)).count() > 1);
    let (odd, pairs) = odd_of(whole, |_| true);
    if is_of_names(whole) {
        let is_odd = odd + mixed >= 3 && 2 * odd + mixed * odd >= pairs;
        return is_made_up(whole) || has_digit(whole) && has_case && is_odd;
    }
    match has_digit(whole) {
        true if has(|byte| *byte == b'$') => odd > 0,
        true => is_odd(whole, 2 - mixed) || odd >= 3 && 3 * odd >= pairs,
        false => is_odd(whole, 4 - mixed) && has_case,
    }
}

/// Returns whether `whole` is a word, a sign and a number or a word with one, as people make passwords: `sommer&2024`,
/// `Sommer|Nacht31`. Behind `$` the word may be whatever it likes.
fn is_made_up(whole: &[u8]) -> bool {
    const SHORTEST: usize = 4;
    let mut pieces = whole.split(is_sign).filter(|piece| !piece.is_empty());
    let (Some(word), Some(second), None) = (pieces.next(), pieces.next(), pieces.next()) else {
        return false;
    };
    let is_word = word.len() >= SHORTEST && word.iter().all(u8::is_ascii_alphabetic);
    let is_second = match whole.contains(&b'$') {
        true => {
            second.len() >= SHORTEST - 1 && second.iter().all(u8::is_ascii_alphanumeric) && has_digit(second)
        }
        false => is_number(second) && second.len() >= SHORTEST || is_numbered_word(second),
    };
    is_word && is_second
}

/// Returns whether `piece` is a word in small letters behind a capital, and a number as people choose them: `Nacht31`.
fn is_numbered_word(piece: &[u8]) -> bool {
    let word = piece.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    word >= 4
        && piece[0].is_ascii_uppercase()
        && piece[1..word].iter().all(u8::is_ascii_lowercase)
        && is_numbered(piece)
}

/// Returns whether letters and a number that types and steps do not have make up `piece`: `nacht31`, but not `int32` or `step2`.
fn is_numbered(piece: &[u8]) -> bool {
    const OF_TYPES: [&[u8]; 6] = [b"16", b"32", b"64", b"128", b"256", b"512"];
    let (_, number) = piece.split_at(piece.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
    (2..=4).contains(&number.len()) && is_number(number) && !OF_TYPES.contains(&number)
}

/// Returns whether `whole` is a word, a dot and what was drawn.
fn is_dotted(whole: &[u8]) -> bool {
    let mut parts = whole.split(|byte| *byte == b'.');
    let (Some(word), Some(drawn), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    let drawn = &drawn[..drawn.len() - count_back(drawn, b"!#*")];
    (3..=20).contains(&word.len())
        && word.iter().all(u8::is_ascii_alphabetic)
        && (5..=24).contains(&drawn.len())
        && drawn.iter().all(u8::is_ascii_alphanumeric)
        && drawn.iter().any(u8::is_ascii_uppercase)
        && match (has_digit(drawn), odd_pairs(drawn)) {
            (true, (odd, pairs)) => is_odd(drawn, 2) || odd >= 3 && 2 * odd >= pairs,
            (false, (odd, pairs)) => is_odd(drawn, 2) && 2 * odd >= pairs,
        }
}

/// Returns whether in the pieces of `value` that are no names so many pairs of neighbours are none of words, and every fourth.
fn is_odd(value: &[u8], fewest: usize) -> bool {
    let (odd, pairs) = odd_of(value, |piece| !is_name(piece));
    odd >= fewest && 4 * odd >= pairs
}

/// Returns how many pairs of neighbours in the pieces of `value` that count are none of words, and how many there are.
fn odd_of(value: &[u8], counts: impl Fn(&[u8]) -> bool) -> (usize, usize) {
    let pieces = value.split(is_sign).filter(|piece| counts(piece)).map(odd_pairs);
    pieces.fold((0, 0), |(odd, pairs), (more, of)| (odd + more, pairs + of))
}

/// Returns whether all pieces of `value` are names.
fn is_of_names(value: &[u8]) -> bool {
    value.split(is_sign).all(is_name)
}

/// Returns whether `piece` is a field of its own: a name and what assigns it.
fn is_field(piece: &[u8]) -> bool {
    let name = piece.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)).count();
    name > 0 && matches!(piece.get(name), Some(b'=' | b':'))
}

/// Returns whether `piece` is one word or several with signs between them that names have: `test1.ts`, `DB2_PASS`, `./run.sh`.
fn is_name(piece: &[u8]) -> bool {
    piece.split(|byte| b"_./:-=+%*@~#?^".contains(byte)).all(is_word)
}

/// Returns whether `part` is words and numbers as names have them: `Uint8Array`, `argon2id`, `SHA512`, `R7`, `12ms`.
fn is_word(part: &[u8]) -> bool {
    /// A number beside a letter is no longer, in digits.
    const LONGEST_NUMBER: usize = 4;
    /// What begins as `HTTPServer` does, in capitals.
    const LONGEST_ACRONYM: usize = 6;
    if part.strip_prefix(b"0x").is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        || is_number(part)
    {
        return true;
    }
    let has = |is: fn(&u8) -> bool| part.iter().any(is);
    let (has_small, has_capital) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let (mut rest, mut numbers, mut small_before) = (part, 0, 2);
    while !rest.is_empty() {
        let is_first = rest.len() == part.len();
        let letters = rest;
        let mut take = |is: fn(&u8) -> bool| {
            let (taken, left) = rest.split_at(rest.iter().take_while(|byte| is(byte)).count());
            rest = left;
            taken.len()
        };
        let capitals = take(u8::is_ascii_uppercase);
        let small = take(u8::is_ascii_lowercase);
        let digits = take(u8::is_ascii_digit);
        let is_last = rest.is_empty();
        numbers += usize::from(digits > 0);
        let is_piece = match (capitals, small) {
            (0, 0) => is_first && digits > 0,
            // A letter alone has a number behind it, or is the end of one: `R7`, `2x`, `5V`.
            (0, 1) => is_last && digits == 0 && (!has_capital || part.len() <= 3) || is_first && digits > 0,
            (1, 0) if digits == 0 => is_last && !has_small,
            (1, 0) => is_first || is_last && letters[0] == b'V',
            (0, _) if !is_first => can_be_said(&letters[..small], 1),
            (1.., 1..) if part[0].is_ascii_digit() => false,
            (1, 1) => small_before > 1 && (is_last && numbers > 0 || digits > 0),
            (2.., 1) => is_last && letters.ends_with(b"s") || letters[capitals] == b'v' && digits > 0,
            (2.., 0) => capitals <= LONGEST_ACRONYM && (is_first || small_before > 2),
            (capitals, small) => capitals <= LONGEST_ACRONYM && can_be_said(&letters[..capitals + small], 3),
        };
        if !is_piece || digits > LONGEST_NUMBER {
            return false;
        }
        small_before = small;
    }
    numbers <= 2
}

/// Returns whether words have at least one of the pairs of neighbours in `letters`, where there are so many.
fn can_be_said(letters: &[u8], fewest: usize) -> bool {
    let (odd, pairs) = odd_pairs(letters);
    pairs < fewest || odd < pairs
}

/// Returns whether `value` is an address, or a path from the root or from here.
fn is_address(value: &[u8]) -> bool {
    let scheme =
        value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte)).count();
    value[scheme..].starts_with(b"://")
        || [&b"/"[..], b"./", b"../", b"~/"].iter().any(|beginning| value.starts_with(beginning))
}

fn is_number(piece: &[u8]) -> bool {
    !piece.is_empty() && piece.iter().all(u8::is_ascii_digit)
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

fn is_sign(byte: &u8) -> bool {
    b"$&|".contains(byte)
}

/// Returns how many bytes at the end of `value` are among `bytes`.
fn count_back(value: &[u8], bytes: &[u8]) -> usize {
    value.iter().rev().take_while(|byte| bytes.contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_pieces_are_told_from_names_and_from_what_follows() {
        for (value, is_set, expected) in [
            ("Winter$6o7wDl", false, "Winter$6o7wDl"),
            ("Falcon&HGV3Cq", true, "Falcon&HGV3Cq"),
            ("2yAL|8wJ7k", true, "2yAL|8wJ7k"),
            ("6vLw&&Ywa2x", false, "6vLw&&Ywa2x"),
            ("24rdwNJUw&&run2", true, ""),
            ("$QaKPJv76G", true, "$QaKPJv76G"),
            ("&pbGcpbh5x", true, "&pbGcpbh5x"),
            ("7dDe$bL2Tk&submit=1", true, "7dDe$bL2Tk"),
            ("2yAL$8wJ7|user=bob|ok=1", true, "2yAL$8wJ7"),
            ("TMc9$QZ3w|b2|", false, "TMc9$QZ3w"),
            ("JMeZ2V5ua&", false, "JMeZ2V5ua&"),
            ("lluvia$2024", false, "lluvia$2024"),
            ("Falcon.YC6tlR", false, "Falcon.YC6tlR"),
            ("Falcon.YCtlRw", true, "Falcon.YCtlRw"),
            ("fJLFQVmk2|tee", true, ""),
            ("7Yvs7emt7&remember", true, ""),
            ("LDwHeqA3D|base64", true, ""),
            ("$DB_PASSWORD1", true, ""),
            ("$db_pass", true, ""),
            ("$dbPassword2", true, ""),
            ("$1", true, ""),
            ("&config2", false, ""),
            ("OAuth2|SAML2|LDAP", false, ""),
            ("Uint8Array|string", false, ""),
            ("WPA2|WPA3", false, ""),
            ("5V|12V|24V", false, ""),
            ("flags&PASS2", true, ""),
            ("x1&0xFF", true, ""),
            ("macOS14|iOS17", false, ""),
            ("sommer|1234", false, "sommer|1234"),
            ("2xKL&Kfz7", true, "2xKL&Kfz7"),
            ("/home/bob/R&D2", true, ""),
            ("https://x.example/p?lang=de&x=1", false, ""),
            ("Config.Db2Pass", false, ""),
            ("crypto.SHA256", false, ""),
            ("Environment.DB2_PASS", false, ""),
            ("Argon2.Default", false, ""),
        ] {
            assert_eq!(&value[..password(value.as_bytes(), is_set)], expected, "{value}");
        }
    }

    #[test]
    fn names_with_signs_between_them_are_choices() {
        for (before, value, behind, expected) in [
            ("password: ", "OAuth2", "|SAML2|LDAP", true),
            ("  password?: ", "Uint8Array", " | string;", true),
            ("pass: ", "Node18", "|Node20", true),
            ("password: ", "PasswordV1", " | PasswordV2", true),
            ("password: ", "hunter2x", " | admin", false),
            ("password: ", "sommer31", "|admin", false),
            ("password: ", "sommer31", "|soleil22", false),
            ("| bob | password: ", "hunter2x", "|admin|", false),
            ("password: ", "hunter2x", "|user: bob", false),
            ("password=", "hunter2x", "|tee", false),
            ("password: ", "24rdwNJUw", "|admin", false),
        ] {
            let found = is_choice(before.as_bytes(), value.as_bytes(), behind.as_bytes());
            assert_eq!(found, expected, "{before}{value}{behind}");
        }
    }
}
