//! What names a secret, and what it names.

use std::ops::Range;

/// What a head names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Where the values are.
    pub(crate) values: Vec<Range<usize>>,
    /// How far the text was read.
    pub(crate) end: usize,
}

/// Returns whether a column is called a secret.
pub(crate) fn is_label(name: &[u8]) -> bool {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase);
    let mut letters: Vec<u8> = letters.collect();
    if SHORT_LABELS.contains(&&letters[..]) {
        return true;
    }
    letters.truncate(letters.len() - letters.iter().rev().take_while(|byte| byte.is_ascii_digit()).count());
    let name = letters.strip_suffix(b"s").unwrap_or(&letters);
    LABELS.split(' ').map(str::as_bytes).any(|label| name.ends_with(label) || letters.ends_with(label))
}

pub(crate) fn is_word(item: &[u8]) -> bool {
    item.iter().all(|byte| byte.is_ascii_graphic() && !b"()[]{}<>.$\"'`".contains(byte))
}

/// Returns the inside of the string that begins at `at` and ends in this line; a doubled or escaped quote does not end it.
pub(crate) fn quoted(text: &[u8], at: usize) -> Option<Range<usize>> {
    let quote = *text.get(at)?;
    let mut end = at + 1;
    while let Some(byte) = text.get(end).filter(|_| end - at <= LONGEST_VALUE) {
        match byte {
            b'\n' => return None,
            b'\\' => end += 1,
            _ if *byte == quote && quote == b'\'' && text.get(end + 1) == Some(&quote) => end += 1,
            _ if *byte == quote => return Some(at + 1..end),
            _ => {}
        }
        end += 1;
    }
    None
}

/// How the names of columns of secrets end, without what is no letter. A bare `token` is more often a word of a language.
const LABELS: &str = "\
    password passwd passphrase passcode passwort kennwort pwd apikey apitoken accesstoken authtoken \
    accesskey secretkey clientsecret privatekey";

/// Other names end so, too.
const SHORT_LABELS: [&[u8]; 3] = [b"pass", b"pw", b"mdp"];

/// A longer string is no password, in bytes.
pub(crate) const LONGEST_VALUE: usize = 4 << 10;
