//! What a person's next words turn down: what the model had said stands with them, or it would be told as how things are.

use hashbrown::HashMap;
use longhaul_extract::{Statement, StatementKind, Statements};

use longhaul_transcript::clipped;

/// The messages of the model's that the person's next words turn down.
#[derive(Debug, Default)]
pub(crate) struct Rejected {
    /// The message with those words and how they begin, by the message that they turn down.
    by: HashMap<u32, (u32, String)>,
}

impl Rejected {
    pub(crate) fn new(pool: &Statements) -> Rejected {
        let mut rejected = Rejected::default();
        let mut said = None;
        for one in pool.all() {
            match one.kind {
                StatementKind::Answer | StatementKind::Prose => said = Some(one.message),
                StatementKind::Person => {
                    if let Some(said) = said.take().filter(|_| turns_down(one)) {
                        rejected.by.insert(said, (one.message, clipped(&one.text, MOST_CHARS)));
                    }
                }
                _ => {}
            }
        }
        rejected
    }

    /// Returns what a summary says behind what is told of `message`, where the person turned it down.
    pub(crate) fn told(&self, message: u32) -> Option<String> {
        let (by, words) = self.by.get(&message)?;
        Some(format!(" (the user's next words, m{by}: \"{words}\")"))
    }
}

/// Whether a person begins with words of refusal. What answers a question of the model's settles that question.
fn turns_down(one: &Statement) -> bool {
    let lower = one.text.to_lowercase().replace('’', "'");
    let text = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let opens = |words: &str| {
        text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    one.answers.is_none()
        && OPENS.iter().any(|words| opens(words))
        && !GOES_ON.iter().any(|words| text.starts_with(words))
}

/// Characters of what is told of a person's words.
const MOST_CHARS: usize = 100;

/// How somebody begins who turns down what was said or done.
const OPENS: [&str; 41] = [
    "no", "nope", "nah", "not", "don't", "dont", "do not", "stop", "wrong", "instead", "that's wrong",
    "that is wrong", "that's not", "that is not", "thats not", "that isn't", "this is wrong", "this is not",
    "this isn't", "it's not", "it is not", "it isn't", "i didn't ask", "i did not ask", "i said",
    "i told you", "i asked for", "i don't want", "why did you", "you should not", "you shouldn't",
    "still not", "still wrong", "nein", "nicht", "falsch", "non", "нет", "不对", "不是", "違う",
];

/// What begins like that and turns nothing down.
const GOES_ON: [&str; 7] =
    ["no problem", "no worries", "not sure", "no idea", "not bad", "no need to apologize", "not yet"];

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_the_next_words_turn_down_is_known() {
        let said = transcript(
            r#"
user: A broken theme must not crash it.
assistant: It logs the error now and falls back.
user: no console logs! return the error.
assistant: The error is returned. Should I commit it?
user: no
assistant: Then it stays as it is.
user: Not sure whether the docs say so.
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let rejected = Rejected::new(index.statements());
        let told: Vec<_> = [1, 3, 5].map(|message| rejected.told(message)).into_iter().flatten().collect();
        assert_eq!(told, [" (the user's next words, m2: \"no console logs! return the error.\")"]);
    }
}
