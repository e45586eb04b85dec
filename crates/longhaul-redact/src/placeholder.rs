//! What stands in the place of a secret, so that a text is not redacted twice.

use std::ops::Range;

use memchr::memmem;

/// Returns `text[secret]`, and what stands before it of the placeholder in which it begins.
pub(crate) fn with_placeholder<'a>(text: &'a [u8], secret: &Range<usize>) -> &'a [u8] {
    const LONGEST_RULE: usize = 64;
    let from = secret.start.saturating_sub(PLACEHOLDER.len() + LONGEST_RULE);
    let before = &text[from..secret.start];
    // It may begin inside of `[REDACTED:`, where an expression takes the bracket for its own.
    let head = &text[from..(secret.start + PLACEHOLDER.len() - 1).min(secret.end)];
    let open = memmem::rfind(head, PLACEHOLDER).filter(|open| !before[*open..].contains(&b']'));
    &text[open.map_or(secret.start, |open| from + open)..secret.end]
}

/// Returns whether `value` is placeholders with next to nothing around them. A block that has one somewhere in it may
/// still be a secret: whoever writes a placeholder into a key must not hide it thereby.
pub(crate) fn is_replaced(value: &[u8]) -> bool {
    let Some(mut at) = memmem::find(value, PLACEHOLDER) else { return false };
    let (mut rest, mut left) = (value, 0);
    loop {
        left += at;
        rest = &rest[at + PLACEHOLDER.len()..];
        // A rule and a number stand in it; where it is cut off, the value ends with it.
        let inside = rest.iter().take_while(|byte| is_of_placeholder(byte)).count();
        rest = rest.get(inside + 1..).unwrap_or_default();
        if left == 0 && ends_with_quote(rest) {
            // What an expression that knows no quotes took along is the JSON around the value.
            return true;
        }
        match memmem::find(rest, PLACEHOLDER) {
            Some(next) => at = next,
            None => return left + rest.len() < SHORTEST_VALUE,
        }
    }
}

/// Returns whether `byte` may stand in a placeholder, behind how it begins: in the id of a rule, and in a number.
pub(crate) fn is_of_placeholder(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_:".contains(byte)
}

/// Returns whether `rest`, which follows a placeholder, begins with the quote that ends a value: punctuation follows it, of
/// JSON or of a program. A quote may stand in a password as well, and what follows that one is the rest of it.
fn ends_with_quote(rest: &[u8]) -> bool {
    let escapes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let is_quote = rest.get(escapes).is_some_and(|byte| b"\"'`".contains(byte));
    let behind = rest.get(escapes + 1);
    is_quote && behind.is_none_or(|byte| byte.is_ascii_whitespace() || b",:;.}])>\"'`\\".contains(byte))
}

/// How every placeholder begins.
pub(crate) const PLACEHOLDER: &[u8] = crate::vault::PLACEHOLDER.as_bytes();

/// What is left of a value beside placeholders says nothing where it is shorter, in bytes; gitleaks' shortest generic value
/// has 10.
const SHORTEST_VALUE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_alone_is_no_secret_and_hides_none() {
        for (value, expected) in [
            ("[REDACTED:x:1]", true),
            ("user=[REDACTED:x-y_z:12]", true),
            ("[REDACTED:x:1][REDACTED:y:2],", true),
            ("[REDACTED:generic", true),
            (r#"[REDACTED:x:1]\"}"}}]},{"role":"tool"}"#, true),
            (r#"0123456789[REDACTED:x:1]\"}"}}]},{"role":"tool"}"#, false),
            ("[REDACTED:]0123456789abcdef", false),
            ("[REDACTED:x:1]'", true),
            ("[REDACTED:x:1]\\\"", true),
            ("[REDACTED:x:1]`Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]'Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]\\\"Zk39dkLmQ02xWp81sVb7", false),
            ("[REDACTED:x:1]\\Zk39dkLmQ02xWp81sVb7", false),
            ("0123456789[REDACTED:x:1]", false),
            ("0123456789", false),
        ] {
            assert_eq!(is_replaced(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn a_value_that_begins_in_a_placeholder_is_one() {
        for (text, value, expected) in [
            ("key=[REDACTED:jwt:1]", "REDACTED:jwt:1", "[REDACTED:jwt:1"),
            ("key=[REDACTED:jwt:1]", "jwt:1", "[REDACTED:jwt:1"),
            ("[REDACTED:jwt:1] abc", "abc", "abc"),
            ("key=[abc]", "abc", "abc"),
        ] {
            let start = text.find(value).unwrap();
            let found = with_placeholder(text.as_bytes(), &(start..start + value.len()));
            assert_eq!(found, expected.as_bytes(), "{text}");
        }
    }
}
