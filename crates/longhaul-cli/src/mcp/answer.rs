//! What may leave in an answer.

use longhaul::redact::Redactor;

use crate::exit;

/// The longest answer, in bytes: about 8,000 tokens. Clients cut what is longer where they please, or refuse it.
pub(super) const LONGEST: usize = 32_000;

/// Returns `text` without secrets, and what fits of it with a word about the rest.
pub(super) fn fitting(text: &str) -> String {
    let (text, _) = Redactor::builtin().redact_text(text);
    if text.len() <= LONGEST {
        return text.into_owned();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!(
        "{}\n… {} more bytes; ask for less, or for the rest of one message with `from`",
        &text[..end],
        text.len() - end
    )
}

/// Returns what went wrong in words.
pub(super) fn refusal(error: &anyhow::Error) -> String {
    let words = exit::words(error);
    let end = words.floor_char_boundary(LONGEST.min(words.len()));
    words[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_cut_and_say_so() {
        assert_eq!(fitting("short"), "short");
        let long = fitting(&"é".repeat(40_000));
        assert!(long.len() < LONGEST + 200 && long.contains("48000 more bytes"), "{}", &long[LONGEST - 10..]);
    }

    #[test]
    fn secrets_do_not_leave() {
        let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
        assert!(!fitting(&format!("the token is {token}")).contains(&token));
    }
}
