//! Whether a value is drawn, as keys and generated passwords are, or made of words, as names and placeholders are.

/// Returns whether `value` was drawn. What is counted are pairs of neighbours that words do not have: letters that seldom
/// stand together, a letter behind a digit, a capital that begins no word. Of drawn letters and digits every second pair is
/// one, of names one in ten; how often each letter comes says less about so short a value.
pub(crate) fn is_drawn(value: &[u8]) -> bool {
    const SHORTEST: usize = 8;
    let has = |of: fn(&u8) -> bool| value.iter().any(of);
    let is_of_digits = has(u8::is_ascii_digit);
    if value.len() < SHORTEST || !has(u8::is_ascii_alphabetic) {
        return false;
    }
    if is_hexadecimal(value) || is_of_digits && has(|byte| b"!$^&".contains(byte)) {
        return true;
    }
    let (odd, pairs) = odd_pairs(value);
    let is_mixed = is_of_digits || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let fewest = if is_of_digits { 2 } else { 3 };
    is_mixed && odd >= fewest && 5 * odd >= pairs
}

/// Returns how many pairs of neighbours in `value` are none that words have, and how many say something.
pub(crate) fn odd_pairs(value: &[u8]) -> (usize, usize) {
    let said = (0..value.len()).filter_map(|at| is_odd(&value[at..]));
    said.fold((0, 0), |(odd, pairs), is_odd| (odd + usize::from(is_odd), pairs + 1))
}

/// Returns whether letters and digits, or capitals and small letters, take turns in `value` as they do in drawn keys and in no
/// name: what words stand in it is chance. Names are of one piece or have separators; a capital begins a word there. Asks for more
/// than [`is_drawn`]: that one says what is taken for a secret, this one what no word in it makes none.
pub(crate) fn takes_turns(value: &[u8]) -> bool {
    const SHORTEST: usize = 16;
    const SHORTEST_OF_LETTERS: usize = 20;
    /// In names one character in four, of keys in base 62 nearly every second.
    const TURNS: f64 = 0.3;
    /// Of drawn letters every third is a capital that begins no word, in names hardly any.
    const ODD_CAPITALS: f64 = 0.16;
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let is_turn =
        |pair: &&[u8]| class(pair[0]) != class(pair[1]) && (class(pair[0]), class(pair[1])) != (1, 0);
    let share = |count: usize| count as f64 / (value.len() - 1) as f64;
    if value.len() < SHORTEST || !value.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    if value.iter().any(u8::is_ascii_digit) {
        return share(value.windows(2).filter(is_turn).count()) >= TURNS;
    }
    let classes = || value.windows(3).map(|three| [class(three[0]), class(three[1]), class(three[2])]);
    // A capital without two small letters behind it, and a small letter alone between capitals.
    let odd = classes().filter(|three| three[0] == 1 && three[1..] != [0, 0]).count();
    value.len() >= SHORTEST_OF_LETTERS
        && share(odd) >= ODD_CAPITALS
        && classes().any(|three| three == [1, 0, 1])
}

/// Returns whether the pair at the beginning of `rest` is one that words do not have; `None` where it says nothing.
fn is_odd(rest: &[u8]) -> Option<bool> {
    let [first, second, behind @ ..] = rest else { return None };
    if first.eq_ignore_ascii_case(second) {
        return None;
    }
    if SIGNS.contains(first) || SIGNS.contains(second) {
        return Some(first.is_ascii_alphanumeric() || second.is_ascii_alphanumeric());
    }
    // Two small letters behind a capital make it the beginning of a word.
    let begins_word =
        second.is_ascii_uppercase() && behind.len() > 1 && behind[..2].iter().all(u8::is_ascii_lowercase);
    if !first.is_ascii_alphanumeric() || !second.is_ascii_alphanumeric() {
        return None;
    }
    if first.is_ascii_digit() {
        return Some(second.is_ascii_alphabetic());
    }
    if begins_word {
        return None;
    }
    if first.is_ascii_lowercase() && second.is_ascii_uppercase() {
        return Some(true);
    }
    let next = FOLLOWED_BY.get(usize::from(first.to_ascii_lowercase() - b'a'))?;
    Some(second.is_ascii_alphabetic() && !next.contains(&second.to_ascii_lowercase()))
}

/// Returns whether `value` is so many hexadecimal digits that they are no number: half a UUID and more.
fn is_hexadecimal(value: &[u8]) -> bool {
    const FEWEST: usize = 16;
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    digits.len() >= FEWEST
        && digits.iter().all(u8::is_ascii_hexdigit)
        && digits.iter().any(u8::is_ascii_digit)
        && digits.iter().any(u8::is_ascii_alphabetic)
}

/// Signs that generated passwords have, and no name.
const SIGNS: &[u8] = b"!#$%^&+~@";

/// For each letter those that follow it in words: of the 10,000 that are in the recordings, in this source and its
/// documents, these pairs are 95 of 100; 270 pairs of the 676 that there are.
const FOLLOWED_BY: [&[u8]; 26] = [
    b"abcdfgiklmnprstuvy", b"abcefilorsu", b"acehiklorstu", b"adeilorsu", b"abcdefgilmnopqrstvwxy",
    b"aefilortu", b"aeghilnorsu", b"aeiortu", b"abcdefglmnoprstvxz", b"aeosu", b"eis", b"adeilostuy",
    b"abeimopsu", b"acdefgiklmnoprstuv", b"abcdfgiklmnoprstuvw", b"aehiloprstu", b"u",
    b"acdefgiklmnoprstuvy", b"acehiklmopstuwy", b"acdefhilmoprstuy", b"abcdegilmnprst", b"aeio", b"aehinor",
    b"eipt", b"ps", b"e",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_take_turns_and_names_do_not() {
        for (value, expected) in [
            ("xR1zHU33RWhvPNzrTy7c8s9k0uucL2sQ", true),
            ("k8zr2vqt5nxw9lby3mhc7jdf4sgp6aer", true),
            ("getOAuth2ClientForHttp2Requests", false),
            ("AKIAIOSFODNN7EXAMPLE", false),
            ("IhQAFtrOCaReaFVjghcmYDqDAmMavSlB", true),
            ("getAccessTokenSilentlyAndRetry", false),
            ("XMLHttpRequestForTheURLParser", false),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef", false),
            ("sha256_of_the_http2_header", false),
        ] {
            assert_eq!(takes_turns(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn drawn_values_are_told_from_words() {
        for (value, expected) in [
            ("KmYN35MQqdNv", true),
            ("VyfjMTpFJi", true),
            ("FUjwwexBuoWp", true),
            ("h7Rk2m9QzL", true),
            ("aEqRhTiWsXmPoKdj", true),
            ("4f955851df36943f2abf2f507b90bedc", true),
            ("Summer2024!", true),
            ("getOAuth2ClientConfig", false),
            ("userAccessToken2", false),
            ("s3-backup-bucket-2", false),
            ("DB_PASSWORD_2", false),
            ("correcthorsebattery", false),
            ("XMLHttpRequest", false),
            ("xxxxxxxxxxxx12", false),
            ("abc123def456", false),
            ("2026-11-26T12:00", false),
            ("SHA-256", false),
            ("v1.2.3-beta4", false),
        ] {
            assert_eq!(is_drawn(value.as_bytes()), expected, "{value}");
        }
    }
}
