//! Messages as a provider or an agent spelled them, each with its spelling kept beside it.

use std::sync::Arc;

use longhaul_transcript::{Message, Part, Raw, Role};

use crate::{
    Document, Format, WireError,
    dialect::{Dialect, Said},
    document::dialect_of,
    error::Fault,
    json::{Json, quoted},
    whole::syntax_error,
};

/// Returns the messages that `json` holds, each with its spelling, so that [`render`](fn@crate::render) sends it as it came
/// in. `json` is one message or item, a list of them, or the answer of a provider around them, as an HTTP body has it. A
/// message of the role `system` in Anthropic's format goes out as the request's `system` where it stands in front, and
/// elsewhere under its role where a request may have it: behind the user or a tool, and before an answer. An empty list holds no message, and an answer without content holds one without parts.
///
/// # Errors
/// When it is no JSON, when a message does not have the shape of the format, when it is the body of a request (push its
/// messages one by one), and for formats that can only be imported.
pub fn messages_from_json(format: Format, json: &str) -> Result<Vec<Message>, WireError> {
    if format.is_import_only() {
        return Err(WireError::ImportOnly { format });
    }
    let value = Json::check(json.as_bytes()).map_err(|flaw| syntax_error(&flaw, 0))?;
    let dialect = dialect_of(format);
    if is_request(value) {
        let expected = "one message or a list of them; of the body of a request push its list of messages, and \
                        before it what stands outside of that as a message of the role system";
        return Err(Fault::new("", value.raw(), expected).at("the JSON"));
    }
    let mut messages: Vec<Message> = Vec::new();
    for (at, item) in items(dialect, value).into_iter().enumerate() {
        let place = |fault: Fault| fault.at(&format!("message {at}"));
        of_its_own(dialect, item).map_err(place)?;
        let said = dialect.read(item).map_err(place)?;
        let mut message = message(said);
        message.raw = spelling(dialect, &[item]).map(|json| {
            let after_reasoning = is_led(messages.iter().rev());
            Arc::new(Raw { after_reasoning, ..Raw::new(name_of(dialect), json) })
        });
        messages.push(message);
    }
    Ok(messages)
}

impl Document {
    /// Returns how the message at `ordinal` is spelled in the document; `None` where it has no spelling of a provider's.
    pub fn raw_of(&self, ordinal: u64) -> Option<Raw> {
        let at = usize::try_from(ordinal).ok()?;
        let fragments = &self.slots.get(at)?.fragments;
        let dialect = fragments.first()?.dialect;
        let items: Vec<Json<'_>> = fragments
            .iter()
            .map(|fragment| Json::check(self.bytes.get(fragment.range.clone())?).ok())
            .collect::<Option<_>>()?;
        let before = self.transcript.entries().get(..at)?.iter().rev();
        let after_reasoning = dialect.is_of_items() && is_led(before.map(|entry| &*entry.message));
        Some(Raw { after_reasoning, ..Raw::new(name_of(dialect), spelling(dialect, &items)?) })
    }
}

/// Returns the items of a spelling.
pub(crate) fn items_of(raw: &Raw) -> Option<Vec<Json<'_>>> {
    if let Ok(json) = Json::check(raw.json.as_bytes()) {
        return Some(vec![json]);
    }
    raw.json.lines().map(|line| Json::check(line.as_bytes()).ok()).collect()
}

/// Returns the dialect that one item of a spelling is in: what stands outside the list of messages has one of its own.
pub(crate) fn dialect_of_item(raw: &Raw, item: Json<'_>) -> Option<Dialect> {
    let has_role = item.is_object() && item.get("role").is_some();
    let format = raw.format.parse::<Format>().ok()?;
    Some(match dialect_of(format) {
        Dialect::Anthropic if !item.is_object() => Dialect::AnthropicSystem,
        Dialect::Gemini if !has_role && !item.is_string() => Dialect::GeminiSystem,
        Dialect::Responses if item.is_string() => Dialect::Instructions,
        dialect => dialect,
    })
}

/// Returns whether what comes behind `before`, the nearest first, came with reasoning: it is in the same answer, which may
/// hold words and other calls too.
fn is_led<'a>(before: impl Iterator<Item = &'a Message>) -> bool {
    before.take_while(|message| message.role == Role::Assistant).any(is_reasoning)
}

/// Returns whether a message is reasoning and nothing else.
pub(crate) fn is_reasoning(message: &Message) -> bool {
    !message.parts.is_empty() && message.parts.iter().all(|part| matches!(part, Part::Reasoning(_)))
}

fn message(said: Said<'_>) -> Message {
    let parts = said.parts.into_iter().map(|located| located.part).collect();
    Message { name: said.name, ..Message::new(said.role, parts) }
}

/// Returns whether this is the body of a request, with its list of messages and what stands beside it.
fn is_request(value: Json<'_>) -> bool {
    let fields = value.object();
    let is_list = |key: &&str| fields.get(key).is_some_and(Json::is_array);
    let is_one = ["role", "type", "parts", "content"].iter().any(|key| fields.get(key).is_some());
    value.is_object() && !is_one && ["messages", "contents", "input"].iter().any(is_list)
}

/// Fails for a message in the shape of another provider's: read leniently it would lose its calls, or all that it says.
fn of_its_own(dialect: Dialect, item: Json<'_>) -> Result<(), Fault> {
    let fields = |keys: &[&str]| keys.iter().any(|key| item.get(key).is_some_and(|value| !value.is_null()));
    let content = item.get("content").filter(|content| !content.is_null());
    let is_blocks = |kinds: &[&str]| {
        let blocks = content.map(Json::elements).unwrap_or_default();
        let kinds_of = blocks.iter().filter_map(|block| block.get("type").and_then(Json::string));
        kinds_of.into_iter().any(|kind| kinds.contains(&&*kind))
    };
    /// What stands beside the content in one format, and nowhere in others.
    const BESIDE: [&str; 3] = ["tool_calls", "function_call", "parts"];
    const OF_BLOCKS: [&str; 4] = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
    const OF_ITEMS: [&str; 2] = ["input_text", "output_text"];
    let expected = match dialect {
        Dialect::Anthropic
            if item.is_object() && (fields(&BESIDE) || content.is_none() || is_blocks(&OF_ITEMS)) =>
        {
            "content that is a string or blocks, calls among them, as Anthropic spells a message"
        }
        Dialect::OpenAi if fields(&["parts"]) || is_blocks(&OF_BLOCKS) || is_blocks(&OF_ITEMS) => {
            "calls in tool_calls and results under the role tool, as OpenAI spells a message"
        }
        Dialect::Responses if fields(&BESIDE) || is_blocks(&OF_BLOCKS) => {
            "calls and results as items of their own, as the Responses API spells a message"
        }
        Dialect::Gemini if item.get("parts").is_none() && content.is_some() => {
            "parts, as Gemini spells a message"
        }
        _ => return Ok(()),
    };
    Err(Fault::new("", item.raw(), expected))
}

/// Returns the messages inside an answer, a list or themselves.
fn items(dialect: Dialect, value: Json<'_>) -> Vec<Json<'_>> {
    if value.is_array() {
        return value.elements();
    }
    let first = |list: &str, key: &str| {
        let first = value.get(list).map(Json::elements).and_then(|list| list.into_iter().next());
        first.and_then(|first| first.get(key))
    };
    let inner = match dialect {
        Dialect::Gemini => first("candidates", "content").map(|content| vec![content]),
        // An item that answers a call has an `output` too.
        Dialect::Responses if value.get("type").is_none() && value.get("role").is_none() => {
            value.get("output").filter(|output| output.is_array()).map(Json::elements)
        }
        Dialect::OpenAi => first("choices", "message").map(|message| vec![message]),
        _ => None,
    };
    inner.unwrap_or_else(|| vec![value])
}

/// Returns how a message is spelled in a request, from the `items` that it was read from; `None` for a dialect that no
/// provider takes.
fn spelling(dialect: Dialect, items: &[Json<'_>]) -> Option<String> {
    match (dialect, items) {
        (Dialect::Canonical | Dialect::Chat | Dialect::UserText, _) | (_, []) => None,
        (Dialect::Anthropic, items) if items.len() > 1 || is_answer(items[0]) => request_message(items),
        (_, items) => Some(items.iter().map(|item| item.raw()).collect::<Vec<_>>().join("\n")),
    }
}

/// Returns whether an Anthropic message is an answer: with an id, its model and what it cost, which a request may not have.
fn is_answer(item: Json<'_>) -> bool {
    ["usage", "stop_reason", "model"].iter().any(|key| item.get(key).is_some())
}

/// Returns the content of an answer, or of the lines that it is spread over, as the message of a request.
fn request_message(items: &[Json<'_>]) -> Option<String> {
    let role = items.first()?.get("role")?.raw();
    if let [item] = items {
        return Some(format!("{{\"role\":{role},\"content\":{}}}", item.get("content")?.raw()));
    }
    let mut blocks: Vec<String> = Vec::new();
    for item in items {
        let content = item.get("content")?;
        match content.string() {
            Some(text) => blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text))),
            None => blocks.extend(content.elements().iter().map(|block| block.raw().to_owned())),
        }
    }
    Some(format!("{{\"role\":{role},\"content\":[{}]}}", blocks.join(",")))
}

/// Returns the name of the format whose requests a dialect is spelled in.
fn name_of(dialect: Dialect) -> &'static str {
    let format = match dialect {
        Dialect::Anthropic | Dialect::AnthropicSystem => Format::Anthropic,
        Dialect::Gemini | Dialect::GeminiSystem => Format::Gemini,
        Dialect::Responses | Dialect::Codex | Dialect::Instructions | Dialect::UserText => Format::Responses,
        Dialect::Canonical => Format::Longhaul,
        Dialect::Chat => Format::Chat,
        Dialect::OpenAi => Format::OpenAi,
    };
    format.name()
}

impl Dialect {
    /// Returns whether one answer is several items.
    fn is_of_items(self) -> bool {
        matches!(self, Dialect::Responses | Dialect::Codex)
    }
}
