//! What may leave in an answer.

use anyhow::anyhow;
use longhaul::{redact::Redactor, wire::WireError};

use crate::exit;

/// The longest answer, in bytes: about 8,000 tokens. Clients cut what is longer where they please, or refuse it.
pub(super) const LONGEST: usize = 32_000;

/// What the words about the rest may take.
const WORDS: usize = 100;

/// Returns `text` without secrets, and what fits of it with a word about the rest.
pub(super) fn fitting(text: &str) -> String {
    let (text, _) = Redactor::builtin().redact_text(text);
    if text.len() <= LONGEST {
        return text.into_owned();
    }
    let end = text.floor_char_boundary(LONGEST - WORDS);
    format!(
        "{}\n… {} more bytes; ask for less, or for the rest of one message with `from`",
        &text[..end],
        text.len() - end
    )
}

/// Returns what of `text` follows the first `from` bytes, as far as it fits, and where to go on; `None` beyond its end. Secrets
/// go before it is cut: of one that is cut in two, the rest would not be found.
pub(super) fn part(text: &str, from: usize) -> Option<String> {
    let (text, _) = Redactor::builtin().redact_text(text);
    if from >= text.len() {
        return None;
    }
    let start = text.floor_char_boundary(from);
    if text.len() - start <= LONGEST {
        return Some(text[start..].to_owned());
    }
    let end = text.floor_char_boundary(start + LONGEST - WORDS);
    let rest = text.len() - end;
    Some(format!("{}\n… {rest} more bytes; go on with from {end}", &text[start..end]))
}

/// Returns what went wrong in words.
pub(super) fn refusal(error: &anyhow::Error) -> String {
    // The words of a file that is no history are none of an agent's business: it may not be allowed to read it.
    let words = match error.chain().any(|cause| cause.is::<WireError>()) {
        true => {
            let about = error
                .chain()
                .take_while(|cause| !cause.is::<WireError>())
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(": ");
            exit::words(&anyhow!("{about}: no history that longhaul can read; `longhaul count` says why"))
        }
        false => exit::words(error),
    };
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
        assert!(long.len() <= LONGEST && long.contains("48100 more bytes"), "{}", &long[LONGEST - 200..]);
    }

    #[test]
    fn a_long_text_is_had_in_parts() {
        let text = "x".to_owned() + &"€".repeat(30_000);
        let (mut whole, mut from) = (String::new(), 0);
        while let Some(part) = part(&text, from) {
            assert!(part.len() <= LONGEST && fitting(&part) == part);
            let Some((said, next)) = part.rsplit_once("\n… ") else {
                whole += &part;
                break;
            };
            whole += said;
            from = next.rsplit_once("from ").unwrap().1.parse().unwrap();
        }
        assert_eq!(whole, text);
        assert_eq!(part("short", 5), None);
    }

    #[test]
    fn secrets_do_not_leave() {
        let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
        assert!(!fitting(&format!("the token is {token}")).contains(&token));
        let text = format!("the token is {token}, and that is all there is to say of it");
        for from in 0..text.len() {
            let part = part(&text, from).unwrap_or_default();
            assert!(!part.contains(&token[token.len() - 6..]), "{part}");
        }
    }
}
