//! What stands behind a label and is no password all the same: a type, a placeholder, a word of a sentence.

use std::collections::HashSet;

/// Words that are no passwords, and beginnings and ends of such words, in lower case.
#[derive(Debug, Default)]
pub(crate) struct NoValues {
    words: HashSet<String>,
    beginnings: Vec<String>,
    ends: Vec<String>,
    labels: HashSet<String>,
    public_names: Vec<String>,
}

impl NoValues {
    /// Adds words; one that ends in `*` is a beginning, one that begins with it an end.
    pub(crate) fn extend<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for word in words.map(str::to_lowercase) {
            match (word.strip_suffix('*'), word.strip_prefix('*')) {
                (Some(beginning), _) => self.beginnings.push(beginning.to_owned()),
                (_, Some(end)) => self.ends.push(end.to_owned()),
                _ => drop(self.words.insert(word)),
            }
        }
    }

    /// Adds what a password is called in one language or another.
    pub(crate) fn extend_labels<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        self.labels.extend(words.map(str::to_lowercase));
    }

    /// Adds names, in small letters and without what is no letter, whose value everybody may know.
    pub(crate) fn extend_public<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.public_names.extend(names.map(str::to_owned));
    }

    /// Returns whether the last name in `before`, which a value follows, is one whose value everybody may know.
    pub(crate) fn is_public(&self, before: &[u8]) -> bool {
        let signs = |byte: &&u8| !byte.is_ascii_alphanumeric();
        let end = before.len() - before.iter().rev().take(LONGEST_SIGN).take_while(signs).count();
        let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let length = before[..end].iter().rev().take(LONGEST_NAME).take_while(is_of_name).count();
        let name = before[end - length..end].iter().filter(|byte| byte.is_ascii_alphanumeric());
        let name: Vec<u8> = name.map(u8::to_ascii_lowercase).collect();
        self.public_names.iter().any(|public| name.ends_with(public.as_bytes()))
    }

    /// Returns whether `value` is what a password is called, as in a file of translations.
    pub(crate) fn is_label(&self, value: &[u8]) -> bool {
        const LONGEST: usize = 40;
        let is_short = value.len() <= LONGEST;
        let value = std::str::from_utf8(value).ok().filter(|_| is_short);
        let word = |value: &str| value.trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase();
        value.is_some_and(|value| self.labels.contains(&word(value)))
    }

    /// Returns whether `value`, which stands behind `label` and what assigns it, is none. A value with digits or signs is one.
    pub(crate) fn has(&self, value: &[u8], label: &[u8]) -> bool {
        let ends = |bytes: &[u8], signs: fn(&u8) -> bool| {
            bytes.len() - bytes.iter().rev().take_while(|byte| signs(byte)).count()
        };
        let value = &value[..ends(value, u8::is_ascii_punctuation)];
        let value = &value[value.iter().take_while(|byte| byte.is_ascii_punctuation()).count()..];
        let is_word = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || b"_-".contains(byte);
        let Some(first) = value.first().filter(|_| value.iter().all(is_word)) else { return false };
        let value = String::from_utf8_lossy(value).to_lowercase();
        let label =
            String::from_utf8_lossy(&label[..ends(label, |byte| !byte.is_ascii_alphabetic())]).to_lowercase();
        self.words.contains(&value)
            || label.ends_with(&value)
            || self.beginnings.iter().any(|beginning| value.starts_with(beginning.as_str()))
            || self.ends.iter().any(|end| value.ends_with(end.as_str()))
            || LABELS.split(' ').any(|label| value.contains(label))
            || value.bytes().all(|byte| byte == first.to_ascii_lowercase())
    }
}

/// More signs do not stand between a name and its value, in bytes.
const LONGEST_SIGN: usize = 16;

/// The end of a longer name says what it is, in bytes.
const LONGEST_NAME: usize = 48;

/// What names a secret names no value.
const LABELS: &str = "\
    password passwd passphrase credential token apikey api-key api_key secret- secret_ -secret _secret";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_password_is_called_is_a_label() {
        let mut words = NoValues::default();
        words.extend_labels(["hasło", "пароль"].into_iter());
        for (value, expected) in
            [("Hasło", true), ("HASŁO:", true), ("ПАРОЛЬ", true), ("hasło1", false), ("пароля", false)]
        {
            assert_eq!(words.is_label(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn the_last_name_tells_what_everybody_may_know() {
        let mut names = NoValues::default();
        names.extend_public(["pagetoken"].into_iter());
        for (before, expected) in [
            ("\"next_page_token\": \"", true),
            ("a=1&pageToken=", true),
            ("PAGE-TOKEN: ", true),
            ("pageToken: x, token: ", false),
            ("pageTokenSecret=", false),
            ("", false),
        ] {
            assert_eq!(names.is_public(before.as_bytes()), expected, "{before}");
        }
    }

    #[test]
    fn words_placeholders_and_labels_are_no_values() {
        let mut words = NoValues::default();
        words.extend(["string", "your*", "*str"].into_iter());
        for (value, label, expected) in [
            ("String!", "password: ", true),
            ("\"{password}\"", "login me password ", true),
            ("your-own", "password: ", true),
            ("SecretStr", "password: ", true),
            ("DbPassword", "pass=", true),
            ("client_secret", "secret=", true),
            ("pass", "user_pass = '", true),
            ("xxxxxxxx", "password=", true),
            ("correcthorse", "password=", false),
            ("secret", "-p", false),
            ("string7", "password: ", false),
            ("str!ng", "password: ", false),
        ] {
            assert_eq!(words.has(value.as_bytes(), label.as_bytes()), expected, "{label}{value}");
        }
    }
}
