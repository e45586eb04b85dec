//! What a model sent, before it is read as anything: whether there is an answer in it at all.

use longhaul_transcript::is_invisible;

use crate::{Completion, Finish, fence::is_hidden, says_nothing};

/// A model's answer is not a summary. Never retried: the same prompt fails the same way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnswer {
    /// It ran into its limit: what it says is cut off.
    #[error("the answer was cut off at its limit (finish reason length)")]
    CutOff,
    /// The model refused, or a filter stopped it.
    #[error("the model refused")]
    Refused,
    /// The model calls a tool instead of answering.
    #[error("the model calls a tool instead of answering")]
    ToolCall,
    /// There is nothing in it.
    #[error("the answer is empty")]
    Empty,
    /// It has words, and no section and no statement.
    #[error("the answer states nothing")]
    NoStatement,
    /// It holds reasoning and no answer.
    #[error("the answer holds reasoning only")]
    ReasoningOnly,
    /// It is not JSON, even after repair.
    #[error("the answer is not JSON")]
    NotJson {
        /// How it begins; see [`ClientError::excerpt`](crate::ClientError::excerpt).
        excerpt: String,
    },
    /// It is JSON of another shape.
    #[error("the answer does not follow the schema: {reason}")]
    WrongShape {
        /// What does not fit.
        reason: String,
        /// How it begins; see [`ClientError::excerpt`](crate::ClientError::excerpt).
        excerpt: String,
    },
    /// It is larger than what it summarizes.
    #[error("the answer ({answer} tokens) is not smaller than its source ({source_tokens} tokens)")]
    TooLarge {
        /// Tokens of the answer.
        answer: longhaul_transcript::Tokens,
        /// Tokens of what it summarizes.
        source_tokens: longhaul_transcript::Tokens,
    },
    /// It is in another language than the conversation.
    #[error("the answer is in {got}, the conversation in {expected}")]
    WrongLanguage {
        /// The conversation's language.
        expected: &'static str,
        /// The answer's.
        got: &'static str,
    },
    /// Nothing of it stands in the source.
    #[error("nothing in the answer is supported by the conversation")]
    Unsupported,
}

impl InvalidAnswer {
    /// Returns how the rejected answer begins, escaped; empty where that says nothing.
    pub fn excerpt(&self) -> &str {
        match self {
            InvalidAnswer::NotJson { excerpt } | InvalidAnswer::WrongShape { excerpt, .. } => excerpt,
            _ => "",
        }
    }
}

/// Returns the part of a completion that is the answer.
pub(crate) fn body(completion: &Completion) -> Result<&str, InvalidAnswer> {
    match completion.finish {
        Finish::Length => return Err(InvalidAnswer::CutOff),
        Finish::Refusal => return Err(InvalidAnswer::Refused),
        Finish::ToolCall => return Err(InvalidAnswer::ToolCall),
        // Some servers give no reason, or one of their own; what they sent is then judged by what it says.
        Finish::Stop | Finish::Other => {}
    }
    let whole = completion.text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c));
    if says_nothing(whole) {
        return Err(InvalidAnswer::Empty);
    }
    let text = strip_reasoning(whole).trim();
    if says_nothing(text) {
        return Err(InvalidAnswer::ReasoningOnly);
    }
    let start: String = text.chars().take(400).collect();
    if TOOL_CALL_MARKS.iter().any(|mark| start.contains(mark)) {
        return Err(InvalidAnswer::ToolCall);
    }
    Ok(text)
}

/// Returns whether a text states anything: a sentence has more than a word or two, a section has something under it.
pub(crate) fn states_something(text: &str) -> bool {
    let is_blankless = |c: char| c >= FIRST_WITHOUT_BLANKS && c.is_alphabetic();
    let in_words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    in_words + text.chars().filter(|c| is_blankless(*c)).count() / 2 >= LEAST_STATED
}

/// Words of the shortest account of a conversation.
const LEAST_STATED: usize = 4;

/// The first letter of the scripts of the Far East, which set no blanks.
const FIRST_WITHOUT_BLANKS: char = '\u{2e80}';

/// Marks that open a tool call in the text of models whose server does not parse their calls: Hermes and Qwen, Llama,
/// Mistral, Anthropic's XML form, Gemma, DeepSeek.
const TOOL_CALL_MARKS: [&str; 8] = [
    "<tool_call>",
    "<function_calls>",
    "<invoke name=",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "```tool_code",
    "<function=",
    "<|tool_calls_section_begin|>",
];

/// Takes `<think>…</think>` blocks off the front. A block that never closes takes everything with it.
fn strip_reasoning(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(close) =
            REASONING_MARKS.iter().find_map(|(open, close)| text.starts_with(open).then_some(*close))
        else {
            // Some templates put the opening mark into the prompt, so that only the closing one arrives.
            return match text.find("</think>") {
                Some(at) if !text[..at].contains('{') => &text[at + "</think>".len()..],
                _ => text,
            };
        };
        text = text.find(close).map_or("", |at| &text[at + close.len()..]);
    }
}

const REASONING_MARKS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<|channel|>analysis", "<|end|>"),
];

/// Takes a Markdown fence off a text that is one.
pub(crate) fn strip_fence(text: &str) -> &str {
    let Some(rest) = text.trim().strip_prefix("```") else { return text };
    let Some((info, rest)) = rest.split_once('\n') else { return text };
    if info.contains('{') {
        return text;
    }
    rest.trim_end().strip_suffix("```").unwrap_or(rest)
}

/// Takes out what no summary says: characters that nobody sees, and lines that look like our own marks in a history.
pub(crate) fn clean(text: &mut String) {
    let is_mark = |line: &str| {
        let line = line.trim_start().to_lowercase();
        line.starts_with("summary-depth:")
            || line.starts_with("summary-lookup:")
            || line.starts_with("summary-left-out:")
            || line.starts_with("[context summary")
    };
    if text.contains(is_hidden) {
        text.retain(|c| !is_hidden(c));
    }
    if text.lines().any(is_mark) {
        *text = text.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n");
    }
}
