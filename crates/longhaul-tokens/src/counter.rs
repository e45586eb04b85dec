//! The one trait of this crate: something that counts.

use std::{fmt::Debug, sync::Arc};

use longhaul_transcript::{Media, Message, Opaque, Part, Reasoning, Tokens};

use crate::MediaFormula;

/// Counts the tokens of texts and messages.
///
/// Implementors give [`count_text`](Self::count_text) and [`accuracy`](Self::accuracy); counting never fails and the
/// same text always costs the same. Callers may count from several threads at once. They must not panic: nobody catches it.
pub trait TokenCounter: Debug + Send + Sync {
    /// Returns the tokens of `text`, taken as ordinary text: the spelling of a special token is not one.
    fn count_text(&self, text: &str) -> Tokens;

    /// Returns how far a count may be off.
    fn accuracy(&self) -> Accuracy;

    /// Returns what a message costs beside its texts. The default is OpenAI's chat framing.
    fn framing(&self) -> Framing {
        Framing::OPENAI
    }

    /// Returns the tokens of `text`, or `None` as soon as it is clear that there are more than `limit`.
    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        Some(self.count_text(text)).filter(|tokens| *tokens <= limit)
    }

    /// Returns the formula for images and documents. The default is the one that errs upwards.
    fn media_formula(&self) -> MediaFormula {
        MediaFormula::Unknown
    }

    /// Returns the tokens of `media`, by the [`media_formula`](Self::media_formula).
    fn count_media(&self, media: &Media) -> Tokens {
        self.media_formula().count(media)
    }

    /// Returns the tokens of reasoning: of its text, or an estimate from the size of an encrypted payload.
    fn count_reasoning(&self, reasoning: &Reasoning) -> Tokens {
        self.count_text(&reasoning.text) + Tokens(reasoning.opaque_bytes * 3 / 16)
    }

    /// Returns the tokens of a block that is carried but not read: of its text where it is one, else an estimate from its size.
    fn count_opaque(&self, opaque: &Opaque) -> Tokens {
        let raw = &*opaque.raw.0;
        match is_readable(raw) {
            true => self.count_text(raw),
            false => Tokens(raw.len() as u64 / 4),
        }
    }

    /// Returns the tokens of a whole message: its parts and its frame.
    fn count_message(&self, message: &Message) -> Tokens {
        let framing = self.framing();
        let name = message.name.as_deref();
        framing.per_message
            + self.count_text(message.role.as_str())
            + name.map_or(Tokens::ZERO, |name| self.count_text(name) + framing.per_name)
            + message.parts.iter().map(|part| self.count_part(part)).sum()
    }

    /// Returns the tokens of one part, without the message's frame.
    fn count_part(&self, part: &Part) -> Tokens {
        match part {
            Part::Text(text) => self.count_text(text),
            Part::Media(media) => self.count_media(media),
            Part::ToolCall(call) => {
                self.framing().per_call + self.count_text(&call.name) + self.count_text(&call.arguments.0)
            }
            Part::ToolResult(result) => result.content.iter().map(|part| self.count_part(part)).sum(),
            Part::Reasoning(reasoning) => self.count_reasoning(reasoning),
            Part::Opaque(opaque) => self.count_opaque(opaque),
            _ => Tokens::ZERO,
        }
    }
}

/// Returns whether JSON holds words, and not a sealed payload or a file: these have no blanks between them.
fn is_readable(json: &str) -> bool {
    /// Prose and code have a blank in ten bytes; half as many are left where fields stand around them.
    const BYTES_FOR_A_BLANK: usize = 24;
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
    let blanks = json.as_bytes().iter().filter(is_blank).count() + json.matches("\\n").count();
    !json.is_ascii() || blanks * BYTES_FOR_A_BLANK > json.len()
}

/// How far a count may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Token for token what the model's own tokenizer gives.
    Exact,
    /// An estimate.
    Estimate {
        /// Relative error that 95 % of texts of 2 kB and more stay under, measured; 0.1 is 10 %.
        margin: f64,
    },
}

/// What a message costs beside its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// For each message.
    pub per_message: Tokens,
    /// For a message that carries a name, beside the name itself.
    pub per_name: Tokens,
    /// For each tool call, beside its name and arguments.
    pub per_call: Tokens,
    /// Once for a request: the primer of the reply.
    pub per_reply: Tokens,
}

impl Framing {
    /// OpenAI's chat framing: 3 a message, 1 more with a name, 3 for the reply (OpenAI cookbook, "How to count tokens
    /// with tiktoken", 2024). Ids are free.
    pub const OPENAI: Framing =
        Framing { per_message: Tokens(3), per_name: Tokens(1), per_call: Tokens(0), per_reply: Tokens(3) };
}

impl<C: TokenCounter + ?Sized> TokenCounter for Arc<C> {
    fn count_text(&self, text: &str) -> Tokens {
        (**self).count_text(text)
    }

    fn accuracy(&self) -> Accuracy {
        (**self).accuracy()
    }

    fn framing(&self) -> Framing {
        (**self).framing()
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        (**self).count_up_to(text, limit)
    }

    fn media_formula(&self) -> MediaFormula {
        (**self).media_formula()
    }

    fn count_media(&self, media: &Media) -> Tokens {
        (**self).count_media(media)
    }

    fn count_reasoning(&self, reasoning: &Reasoning) -> Tokens {
        (**self).count_reasoning(reasoning)
    }

    fn count_opaque(&self, opaque: &Opaque) -> Tokens {
        (**self).count_opaque(opaque)
    }

    fn count_message(&self, message: &Message) -> Tokens {
        (**self).count_message(message)
    }

    fn count_part(&self, part: &Part) -> Tokens {
        (**self).count_part(part)
    }
}

/// A counter with another media formula: the same text counts for a model that sees images differently.
#[derive(Debug)]
pub(crate) struct Profiled {
    pub(crate) inner: Arc<dyn TokenCounter>,
    pub(crate) media: MediaFormula,
}

impl TokenCounter for Profiled {
    fn count_text(&self, text: &str) -> Tokens {
        self.inner.count_text(text)
    }

    fn accuracy(&self) -> Accuracy {
        self.inner.accuracy()
    }

    fn framing(&self) -> Framing {
        self.inner.framing()
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        self.inner.count_up_to(text, limit)
    }

    fn media_formula(&self) -> MediaFormula {
        self.media
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::RawJson;

    use super::*;

    /// Counts characters, so that expectations can be read off.
    #[derive(Debug)]
    struct Characters;

    impl TokenCounter for Characters {
        fn count_text(&self, text: &str) -> Tokens {
            Tokens(text.chars().count() as u64)
        }

        fn accuracy(&self) -> Accuracy {
            Accuracy::Exact
        }
    }

    #[test]
    fn a_message_costs_its_role_its_parts_and_its_frame() {
        let messages = transcript("user: hello\nassistant: Look. !read#c1 {\"a\":1}\ntool#c1: found");
        let costs: Vec<_> =
            messages.entries().iter().map(|entry| Characters.count_message(&entry.message).0).collect();
        let call = "read".len() + "{\"a\":1}".len();
        let expected = [
            3 + "user".len() + 5,
            3 + "assistant".len() + "Look.".len() + call,
            3 + "tool".len() + "found".len(),
        ];
        assert_eq!(costs, expected.map(|cost| cost as u64)); // the call's id is free
    }

    #[test]
    fn a_name_costs_itself_and_one() {
        let mut message = Message::user("hi");
        let plain = Characters.count_message(&message);
        message.name = Some("ann".into());
        assert_eq!(Characters.count_message(&message), plain + Tokens(3 + 1));
    }

    #[test]
    fn a_limit_is_inclusive() {
        assert_eq!(Characters.count_up_to("four", Tokens(4)), Some(Tokens(4)));
        assert_eq!(Characters.count_up_to("four", Tokens(3)), None);
    }

    #[test]
    fn counters_are_shared_as_objects() {
        fn assert_shareable<T: Send + Sync + 'static>() {}
        assert_shareable::<Arc<dyn TokenCounter>>();
    }

    #[derive(Debug)]
    struct Words;

    impl TokenCounter for Words {
        fn count_text(&self, text: &str) -> Tokens {
            Tokens(text.split(' ').count() as u64)
        }

        fn accuracy(&self) -> Accuracy {
            Accuracy::Exact
        }
    }

    #[test]
    fn a_block_that_nobody_reads_costs_what_its_text_does_and_a_sealed_one_its_size() {
        let cost = |raw: &str| {
            let raw = RawJson(raw.into());
            Words.count_opaque(&Opaque { kind: "block".into(), raw, pair_id: None }).0
        };
        let told = "the relay waits for the lock ".repeat(40);
        assert_eq!(cost(&format!(r#"{{"type":"search_result","content":"{told}"}}"#)), 241);
        assert_eq!(cost(r#"{"text":"继电器等待锁"}"#), 1);
        let sealed = format!(r#"{{"type":"compaction","encrypted_content":"{}"}}"#, "Z0FBQUE=".repeat(50));
        assert_eq!(cost(&sealed), sealed.len() as u64 / 4);
    }
}
