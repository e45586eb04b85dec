//! Whether what an expression found is a secret.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::{
    pieces,
    placeholder::{is_replaced, with_placeholder},
    rules::{Candidate, Rule, RuleSet},
    words::{is_drawn, takes_turns},
};

pub(crate) fn is_secret(
    set: &RuleSet,
    rule: &Rule,
    text: &[u8],
    secret: Range<usize>,
    whole: Range<usize>,
) -> bool {
    let value = &text[secret.clone()];
    let label = &text[whole.start..secret.start.max(whole.start)];
    let is_id = rule.is_generic && is_id(value);
    let least = if is_id { rule.entropy.min(HEX_ENTROPY) } else { rule.entropy };
    if value.is_empty() || is_replaced(with_placeholder(text, &secret)) {
        return false;
    }
    if !rule.is_token && is_file_of_users(&text[..secret.start]) {
        return false;
    }
    if least > 0.0 && entropy(value) < least || rule.is_of_drawn && !is_drawn(value) {
        return false;
    }
    if is_id && !has_telling_name(label) {
        return false;
    }
    if !rule.is_token && (set.no_values.is_label(value) || set.no_values.is_public(&text[..secret.start])) {
        return false;
    }
    if rule.is_labelled && set.no_values.has(value, label) || rule.is_token && reads_as_name(value) {
        return false;
    }
    // A text may have next to nothing but candidates, all in one line.
    let before = whole.start.saturating_sub(LINE_REACH);
    let behind = (whole.end + LINE_REACH).min(text.len());
    let line = memrchr(b'\n', &text[before..whole.start]).map_or(before, |at| before + at + 1)
        ..memchr(b'\n', &text[whole.end..behind]).map_or(behind, |at| whole.end + at);
    let before = text.get(line.start..whole.start + 1).unwrap_or_default();
    let behind = text.get(secret.end..line.end).unwrap_or_default();
    let phrase = line.start + memrchr(b'"', before).map_or(0, |at| at + 1)
        ..line.end - behind.len() + memchr(b'"', behind).unwrap_or(behind.len());
    let (before, behind) =
        (&text[line.start..secret.start.max(line.start)], &text[secret.end..line.end.max(secret.end)]);
    if !rule.is_token && pieces::is_choice(before, value, behind) {
        return false;
    }
    let is_random = takes_turns(value);
    let (whole, line, phrase) = (&text[whole], &text[line], text.get(phrase).unwrap_or_default());
    let candidate = Candidate { secret: value, whole, line, phrase, is_random };
    !set.allow.allows(candidate) && !rule.allow.iter().any(|list| list.allows(candidate))
}

/// Returns whether what names the value that stands behind `before` is the file that lists the users of a system: `/etc/passwd`.
fn is_file_of_users(before: &[u8]) -> bool {
    /// More signs and blanks do not stand between a name and its value, in bytes.
    const LONGEST_GAP: usize = 16;
    let gap = before.iter().rev().take(LONGEST_GAP).take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    before[..before.len() - gap].ends_with(b"/etc/passwd")
}

/// Returns whether what has the form of a token is all small letters, as names of programs are: `sk_test_connection_string`.
/// Its end alone says nothing: people put `_in_production` behind a key, and an address goes on behind a token.
fn reads_as_name(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_lowercase() || b"_-.".contains(byte))
}

/// Returns Shannon's entropy of `bytes`, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    let information = |byte: &u8| match std::mem::take(&mut counts[usize::from(*byte)]) {
        0 => 0.0,
        count => f64::from(count) / total * (f64::from(count) / total).log2(),
    };
    -bytes.iter().map(information).sum::<f64>()
}

/// Returns whether `value` is a hash, a UUID or another run of hexadecimal digits: more often an id than a secret.
fn is_id(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn has_telling_name(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING_NAMES.split(' ').any(|word| memmem::find(&name, word.as_bytes()).is_some())
}

/// Names that make a run of hexadecimal digits a secret.
const TELLING_NAMES: &str = "\
    secret passw token api_key apikey api-key access_key access-key accesskey auth_key private_key \
    private-key credential";

/// Least entropy of hexadecimal digits behind a telling name, in bits a byte: of 32 drawn ones, one in 7,000 has less, and
/// one in five less than the 3.5 that gitleaks asks of a value of any letters.
const HEX_ENTROPY: f64 = 3.0;

/// How much of a line an allowlist is shown on either side of a match, in bytes.
const LINE_REACH: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_a_byte() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abcd"), 2.0);
    }
}
