//! Messages as a provider or an agent spelled them, each with its spelling kept beside it.

use std::{ops::Range, sync::Arc};

use longhaul_transcript::{Message, Part, Raw, Role};

use crate::{
    Document, Format, WireError,
    dialect::{Dialect, Said, Sources},
    document::Fragment,
    edit::{Located, patch},
    error::Fault,
    json::Json,
    whole::syntax_error,
};

/// Returns the messages that `json` holds, each with its spelling, so that [`render`](fn@crate::render) sends it as it came
/// in. `json` is one message or item, a list of them, or the answer of a provider around them, as an HTTP body has it. A
/// message of the role `system` in Anthropic's format goes out as the request's `system` where it stands in front, and
/// elsewhere under its role where a request may have it: behind the user or a tool, and before an answer. An empty list holds no message, and an answer without content holds one without parts.
///
/// # Errors
/// When it is no JSON, when a message does not have the shape of the format, when it is the body of a request (push its
/// messages one by one), an answer that failed, or one with several `choices` or `candidates` (push the message of the one that the
/// conversation goes on with), and for formats that can only be imported.
pub fn messages_from_json(format: Format, json: &str) -> Result<Vec<Message>, WireError> {
    let dialect = format.writing()?.dialect;
    let value = Json::check(json.as_bytes()).map_err(|flaw| syntax_error(&flaw, 0))?;
    if is_request(value) {
        let expected = "one message or a list of them; of the body of a request push its list of messages, and \
                        before it what stands outside of that as a message of the role system";
        return Err(Fault::new("", value.raw(), expected).at("the JSON"));
    }
    let mut messages: Vec<Message> = Vec::new();
    let items = match value.is_array() {
        true => value.elements(),
        false => {
            let answer = (dialect.answer)(value).map_err(|fault| fault.at("the answer"))?;
            answer.unwrap_or_else(|| vec![value])
        }
    };
    for (at, item) in items.into_iter().enumerate() {
        let place = |fault: Fault| fault.at(&format!("message {at}"));
        if let Some(expected) = dialect.expected_for(item) {
            return Err(place(Fault::new("", item.raw(), expected)));
        }
        let said = (dialect.read)(item).map_err(place)?;
        for step in said.of_steps() {
            let json = match said.steps.is_empty() {
                true => spelling(dialect, &[item]),
                false => Some(step_of(dialect, item, &said, &step)),
            };
            let mut message =
                Said { parts: said.parts[step].to_vec(), speaker: None, ..said.clone() }.into_message();
            message.raw = json.map(|json| {
                let after_reasoning = is_led(messages.iter().rev());
                Arc::new(Raw { after_reasoning, ..Raw::new(dialect.format.name(), json) })
            });
            messages.push(message);
        }
    }
    Ok(messages)
}

impl Document {
    /// Returns the message at `ordinal` with its spelling beside it, as a session and a store keep it: what is sent of it later goes
    /// out in the bytes it came in, pictures, signed thinking and fields that longhaul does not know included.
    pub fn spelled(&self, ordinal: u64) -> Option<Message> {
        let entry = self.transcript.entries().get(usize::try_from(ordinal).ok()?)?;
        Some(Message { raw: self.raw_of(ordinal).map(Arc::new), ..(*entry.message).clone() })
    }

    /// Returns how the message at `ordinal` is spelled in the document; `None` where it has no spelling of a provider's.
    pub fn raw_of(&self, ordinal: u64) -> Option<Raw> {
        let at = usize::try_from(ordinal).ok()?;
        let fragments = &self.slots.get(at)?.fragments;
        let dialect = fragments.first()?.dialect;
        if let [Fragment { step: Some(step), .. }] = &fragments[..] {
            let (json, said) = self.fragment(&fragments[0])?;
            return Some(Raw::new(dialect.format.name(), step_of(dialect, json, &said, step)));
        }
        let items: Vec<Json<'_>> = fragments
            .iter()
            .map(|fragment| Json::check(self.bytes.get(fragment.range.clone())?).ok())
            .collect::<Option<_>>()?;
        let before = self.transcript.entries().get(..at)?.iter().rev();
        // an agent sends no ids of items, and its file may have them without the reasoning that a server asks for.
        let may_be_led = || self.format.is_session_file() || is_led(before.map(|entry| &*entry.message));
        let after_reasoning = dialect.is_of_items && may_be_led();
        Some(Raw { after_reasoning, ..Raw::new(dialect.format.name(), spelling(dialect, &items)?) })
    }
}

/// Returns the items of a spelling.
pub(crate) fn items_of(spelling: &str) -> Option<Vec<Json<'_>>> {
    if let Ok(json) = Json::check(spelling.as_bytes()) {
        return Some(vec![json]);
    }
    spelling.lines().map(|line| Json::check(line.as_bytes()).ok()).collect()
}

/// Returns the dialect that one item of a spelling is in: what stands outside the list of messages has one of its own.
pub(crate) fn dialect_of_item(raw: &Raw, item: Json<'_>) -> Option<&'static Dialect> {
    let format = raw.format.parse::<Format>().ok()?;
    Some(format.writing().ok()?.dialect.of_item(item))
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

/// Returns an answer of several steps with one of them alone.
fn step_of(dialect: &Dialect, json: Json<'_>, said: &Said<'_>, step: &Range<usize>) -> String {
    let is_kept =
        |(at, located): (usize, &'_ Located<'_>)| step.contains(&at).then_some(located.part.clone());
    let kept: Vec<Option<Part>> = said.parts.iter().enumerate().map(is_kept).collect();
    let pairs: Vec<Option<&Part>> = kept.iter().map(Option::as_ref).collect();
    let alone = patch(dialect, json, &said.parts, &pairs, &Sources::default());
    (dialect.with_steps)(&alone.unwrap_or_default(), 0)
}

/// Returns whether this is the body of a request, with its list of messages and what stands beside it.
fn is_request(value: Json<'_>) -> bool {
    let fields = value.object();
    let is_list = |key: &&str| fields.get(key).is_some_and(Json::is_array);
    let is_one = ["role", "type", "parts", "content"].iter().any(|key| fields.get(key).is_some());
    value.is_object() && !is_one && ["messages", "contents", "input"].iter().any(is_list)
}

/// Returns how a message is spelled in a request, from the `items` that it was read from; `None` for a dialect that no
/// provider takes.
fn spelling(dialect: &Dialect, items: &[Json<'_>]) -> Option<String> {
    dialect.spelling.filter(|_| !items.is_empty()).and_then(|spelling| spelling(items))
}
