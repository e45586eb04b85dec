//! The agent's own request, byte for byte, with one instruction behind it: the provider's prompt cache serves what it has.

use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use longhaul_transcript::Tokens;
use serde::de::IgnoredAny;

/// The protocol in which a request is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// OpenAI's Chat Completions.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// What an agent last sent to its model, and what was said since.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Conversation {
    /// How it is spelled.
    pub protocol: Protocol,
    /// The body of the last request, as it was sent: system prompt, tools, messages, cache marks.
    pub body: Arc<str>,
    /// The messages since, each as the protocol spells an element of its list: the answer, results of tools.
    pub since: Vec<Box<str>>,
    /// What all of it costs, as far as known.
    pub tokens: Tokens,
}

impl Conversation {
    /// Returns a conversation of the last request alone, which costs `tokens`.
    pub fn new(protocol: Protocol, body: impl Into<Arc<str>>, tokens: Tokens) -> Conversation {
        Conversation { protocol, body: body.into(), since: Vec::new(), tokens }
    }

    /// Returns the body of a request that goes on with `instruction` as the user's next message: the same bytes as the
    /// last request up to the end of its messages, what was said since, the instruction. Everything else stays as it
    /// was, `tool_choice` as well; only streaming is switched off, which no cache looks at. `None` where the body is no
    /// request of this protocol.
    pub fn asking(&self, instruction: &str) -> Option<String> {
        let body = &*self.body;
        let members = members(body)?;
        let list = match self.protocol {
            Protocol::Responses => "input",
            Protocol::ChatCompletions | Protocol::Messages => "messages",
        };
        let value = |name: &str| members.iter().find(|member| member.name == name);
        let messages = value(list)?;
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let text = serde_json::Value::from(instruction).to_string();
        let asked = match self.protocol {
            Protocol::ChatCompletions => format!(r#"{{"role":"user","content":{text}}}"#),
            Protocol::Responses => format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}"#
            ),
            Protocol::Messages => {
                format!(r#"{{"role":"user","content":[{{"type":"text","text":{text}}}]}}"#)
            }
        };
        let items = self.since.iter().map(|item| item.to_string()).chain([asked]);
        let items = items.collect::<Vec<String>>().join(",");
        let said = body.get(messages.value.clone())?;
        match said.as_bytes() {
            [b'[', inside @ .., b']'] => {
                let end = messages.value.end - 1;
                let comma = if inside.iter().all(u8::is_ascii_whitespace) { "" } else { "," };
                edits.push((end..end, format!("{comma}{items}")));
            }
            // Responses takes a text in place of a list of one message.
            [b'"', ..] if self.protocol == Protocol::Responses => {
                let first = format!("[{{\"role\":\"user\",\"content\":{said}}},{items}]");
                edits.push((messages.value.clone(), first));
            }
            _ => return None,
        }
        if let Some(stream) = value("stream").filter(|stream| &body[stream.value.clone()] == "true") {
            edits.push((stream.value.clone(), "false".to_owned()));
        }
        if let Some(options) = value("stream_options") {
            edits.push((options.value.clone(), "null".to_owned()));
        }
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut out = body.to_owned();
        for (range, text) in edits {
            out.replace_range(range, &text);
        }
        Some(out)
    }
}

/// Where an agent leaves its last request for the summarizer that is its own model. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LastRequest(Arc<Mutex<Option<Arc<Conversation>>>>);

impl LastRequest {
    /// Notes what was sent last.
    pub fn set(&self, conversation: Conversation) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(conversation));
    }

    /// Forgets it: the conversation was rewritten, so that the next request will not begin with the last one.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns what was sent last.
    pub fn get(&self) -> Option<Arc<Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Member {
    name: String,
    value: Range<usize>,
}

/// Returns the members of a JSON object with where their values stand.
fn members(body: &str) -> Option<Vec<Member>> {
    let mut at = skip(body, 0, '{')?;
    let mut members = Vec::new();
    loop {
        at = blank(body, at);
        if body[at..].starts_with('}') {
            return Some(members);
        }
        let (start, end) = value(body, at)?;
        let name = serde_json::from_str::<String>(&body[start..end]).ok()?;
        let (start, end) = value(body, skip(body, end, ':')?)?;
        members.push(Member { name, value: start..end });
        at = blank(body, end);
        match body[at..].chars().next()? {
            ',' => at += 1,
            '}' => return Some(members),
            _ => return None,
        }
    }
}

/// Returns where the JSON value at or behind `at` begins and ends.
fn value(body: &str, at: usize) -> Option<(usize, usize)> {
    let start = blank(body, at);
    let mut values = serde_json::Deserializer::from_str(&body[start..]).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some((start, start + values.byte_offset()))
}

fn skip(body: &str, at: usize, mark: char) -> Option<usize> {
    let at = blank(body, at);
    body[at..].starts_with(mark).then_some(at + mark.len_utf8())
}

fn blank(body: &str, at: usize) -> usize {
    at + body[at..].bytes().take_while(u8::is_ascii_whitespace).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(protocol: Protocol, body: &str, since: &[&str]) -> Option<String> {
        let since = since.iter().map(|item| (*item).into()).collect();
        Conversation { since, ..Conversation::new(protocol, body, Tokens(1)) }.asking("Sum \"up\".")
    }

    #[test]
    fn all_before_the_end_of_the_messages_stays_byte_for_byte() {
        let body = r#"{ "model":"m","system":[{"type":"text","text":"é \u00e9 ]}","cache_control":{"type":"ephemeral"}}],
  "messages" : [ {"role":"user","content":"a"} ],"tool_choice":{"type":"auto"},"stream":true}"#;
        let asked = asking(Protocol::Messages, body, &[r#"{"role":"assistant","content":"b"}"#]).unwrap();
        let end = body.find(" ],\"tool_choice").unwrap() + 1;
        assert_eq!(asked[..end], body[..end]);
        assert_eq!(
            &asked[end..],
            concat!(
                r#",{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"Sum \"up\"."}]}"#,
                r#"],"tool_choice":{"type":"auto"},"stream":false}"#
            )
        );
        assert!(serde_json::from_str::<serde_json::Value>(&asked).is_ok());
    }

    #[test]
    fn the_two_protocols_of_openai() {
        let asked = asking(
            Protocol::ChatCompletions,
            r#"{"messages":[],"stream_options":{"include_usage":true}}"#,
            &[],
        );
        assert_eq!(
            asked.unwrap(),
            r#"{"messages":[{"role":"user","content":"Sum \"up\"."}],"stream_options":null}"#
        );
        let asked = asking(Protocol::Responses, r#"{"input":"Hi","store":false}"#, &[]).unwrap();
        assert!(
            asked.starts_with(r#"{"input":[{"role":"user","content":"Hi"},{"type":"message""#),
            "{asked}"
        );
    }

    #[test]
    fn what_is_no_request_is_not_sent() {
        for body in [
            "", "{", "[]", "{}", r#"{"messages":"x"}"#, r#"{"messages":[}"#, r#"{"messages":[] x}"#,
            "{\"a\":1,",
        ] {
            assert_eq!(asking(Protocol::Messages, body, &[]), None, "{body}");
        }
    }
}
