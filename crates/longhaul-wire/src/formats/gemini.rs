//! Google Gemini: contents made of parts, of which each holds one kind of data.

mod rules;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
};

use longhaul_transcript::{
    ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, Tokens, ToolCall, ToolResult,
    Usage,
};

use super::{Blanks, LaterSystem, Lead, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    dialect::{
        Counts, Dialect, Outside, Own, Said, Sources, arguments_object, as_they_are, one_answer, opaque,
    },
    edit::{Edits, Emptied, Home, Leaf, Located, append, remove_field},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload, kind_of},
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "gemini",
    aliases: &[],
    provider: Some("google"),
    claims,
    is_lines: false,
    may_lack_ids: true,
    read: |bytes| whole::read(Format::Gemini, &BODY, bytes),
    segments: super::one_segment,
    validate: Some(rules::check_history),
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: true,
        lead: Lead::Outside,
        later_system: LaterSystem::Never,
        blanks: Blanks::GoWhereEmpty,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            let messages = regroup::paired_and_named(messages, losses);
            regroup::merge_roles(regroup::shown_by_the_user(messages, Shown::Results, losses), |role| role)
        },
        tool: |tool| {
            let (name, described, schema) = (tool.name, tool.described(), tool.schema);
            format!("{{\"name\":{name}{described},\"parameters\":{schema}}}")
        },
        tools: Tools::Inside(|tools| format!("[{{\"functionDeclarations\":[{}]}}]", tools.join(","))),
        takes_cache_marks: false,
        file: |mut draft, losses| {
            draft.messages = paired(joined(draft.messages));
            // G-03, G-04: a history begins with the user.
            if draft.begins_with_answer {
                losses.note("a user turn stands before the first answer: a history must begin with one");
                let start = "{\"role\":\"user\",\"parts\":[{\"text\":\"(start of the conversation)\"}]}";
                draft.messages.insert(0, start.to_owned());
            }
            let system = instructions(&draft.outside).map(|system| format!("\"systemInstruction\":{system}"));
            draft.object_or_list([system, draft.tools_field()], "contents")
        },
        session: None,
    }),
    written_as: Format::Gemini,
};

const BODY: Body = Body {
    lists: &["contents"],
    expected: "an array of contents, or an object with contents",
    outside: &["systemInstruction", "system_instruction"],
    dialect: &MESSAGE,
    takes_lines: false,
    text: None,
    session: &["session"],
    check: |_| Ok(()),
};

pub(super) static MESSAGE: Dialect = Dialect {
    format: Format::Gemini,
    read,
    fresh,
    // A response holds its words in an object, which stays: here they are spelled alone.
    result_content: super::openai::MESSAGE.result_content,
    text_element: |text| format!("{{\"text\":{}}}", quoted(text)),
    is_patched: true,
    content_key: None,
    unsign,
    settle,
    with_steps: |message, _| message.to_owned(),
    is_of_items: false,
    marks_failure: true,
    has_custom_calls: false,
    has_detail: false,
    has_file_names: false,
    says_reasoning: false,
    is_led_by_reasoning: false,
    takes_id: |_| true,
    takes_name: |_| false,
    spelling: Some(as_they_are),
    answer: |value| {
        let candidate = one_answer(value, "candidates")?;
        Ok(candidate.and_then(|candidate| candidate.get("content")).map(|content| vec![content]))
    },
    usage: Some(Counts { key: "usageMetadata", inside: &[], read: usage }),
    reaches: |_| true,
    own: Own { fields: &["parts"], blocks: &[] },
    lacks: |item| item.get("parts").is_none() && item.get("content").is_some_and(|said| !said.is_null()),
    expected: Some("parts, as Gemini spells a message"),
    outside: Some(Outside {
        dialect: &SYSTEM,
        is_one: |item| !item.is_object() || item.get("role").is_none(),
        of_message: |_| None,
    }),
};

/// The system instruction: a content without a role.
static SYSTEM: Dialect = Dialect { read: |value| read_parts(value, Role::System), outside: None, ..MESSAGE };

/// Reads what Gemini counts: what came from the cache is counted with the prompt, thoughts are apart from the answer.
fn usage(counts: Json<'_>) -> Option<Usage> {
    let number = |key| counts.get(key).and_then(Json::as_u64).map(Tokens);
    let cached = number("cachedContentTokenCount").unwrap_or_default();
    Some(Usage {
        input: number("promptTokenCount")? - cached,
        cache_read: cached,
        cache_write: Tokens::ZERO,
        output: number("candidatesTokenCount").unwrap_or_default(),
        reasoning: number("thoughtsTokenCount").unwrap_or_default(),
    })
}

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = match head.is_array() {
        // Parts of other formats say of which type they are.
        true => head.has("parts") && !head.has("parts.type"),
        false => head.has_any(&["contents", "systemInstruction", "system_instruction"]),
    };
    is_one.then_some(Claim::Shape)
}

/// G-03: joins answers that follow each other, for a turn with calls follows no turn of the model's own.
fn joined(contents: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(contents.len());
    let mut last_parts = None;
    for content in contents {
        let parts = parts_of_answer(&content);
        match (joined.last_mut(), last_parts.as_mut(), &parts) {
            (Some(last), Some(range), Some(more)) => append(last, range, &content[more.clone()]),
            _ => {
                joined.push(content);
                last_parts = parts;
            }
        }
    }
    joined
}

/// Returns where the parts of an answer stand; `None` for what is none.
fn parts_of_answer(content: &str) -> Option<Range<usize>> {
    let json = Json::check(content.as_bytes()).ok()?;
    let is_answer = json.get("role").and_then(Json::text).is_some_and(|role| role == "model");
    json.get("parts").filter(|_| is_answer).map(|parts| parts.range_in(content))
}

/// G-10: has the responses of each turn bear the ids of its calls, or none where these have none; then they stand in the order of
/// the calls.
fn paired(mut contents: Vec<String>) -> Vec<String> {
    for at in 1..contents.len() {
        if contents[at].contains("unctionResponse") || contents[at].contains("unction_response") {
            let answered = answered(&contents[at - 1], &contents[at]);
            contents[at] = answered.unwrap_or_else(|| std::mem::take(&mut contents[at]));
        }
    }
    contents
}

/// Returns `responses` so that each bears the id of its call in `calls`; `None` where it is not all of these that they answer.
fn answered(calls: &str, responses: &str) -> Option<String> {
    let calls = Json::check(calls.as_bytes()).ok()?.get("parts")?.elements();
    let calls: Vec<Object<'_>> = calls.into_iter().filter_map(call_in).collect();
    let id_of = |of: &Object<'_>| of.text("id").map(Cow::into_owned);
    let ids: HashSet<String> = calls.iter().filter_map(id_of).collect();
    let list = Json::check(responses.as_bytes()).ok()?.get("parts")?;
    let parts = list.elements();
    let mut spelled: Vec<String> = Vec::with_capacity(parts.len());
    // Those that name a call by its id, and those that have its name alone, in order.
    let (mut by_id, mut by_name): (HashMap<String, _>, HashMap<String, VecDeque<_>>) = Default::default();
    // What a tool shows stands behind its response.
    for (at, chunk) in parts.chunk_by(|_, next| response_in(*next).is_none()).enumerate() {
        let Some(response) = response_in(chunk[0]) else {
            spelled.extend(raw_of(chunk));
            continue;
        };
        let is_second = match id_of(&response).filter(|id| ids.contains(id)) {
            Some(id) => by_id.insert(id, (at, chunk)).is_some(),
            None => {
                let name = response.text("name").unwrap_or_default().into_owned();
                by_name.entry(name).or_default().push_back((at, chunk));
                false
            }
        };
        if is_second {
            return None;
        }
    }
    let mut answers = Vec::with_capacity(calls.len());
    for call in &calls {
        let named = id_of(call).and_then(|id| by_id.remove(&id));
        let (at, chunk) = match named {
            Some(response) => response,
            None => by_name.get_mut(&*call.text("name").unwrap_or_default())?.pop_front()?,
        };
        answers.push((at, with_id(chunk[0], call.some("id")), raw_of(&chunk[1..])));
    }
    if !by_id.is_empty() || by_name.values().any(|left| !left.is_empty()) {
        return None;
    }
    // By their ids they may stand in any order.
    if ids.len() == calls.len() {
        answers.sort_by_key(|(at, ..)| *at);
    }
    spelled
        .extend(answers.into_iter().flat_map(|(_, response, shown)| std::iter::once(response).chain(shown)));
    let is_same = parts.iter().map(|part| part.raw()).eq(spelled.iter().map(String::as_str));
    (!is_same).then(|| {
        let mut edits = Edits::default();
        edits.replace(list.range_in(responses), super::listed(&spelled));
        edits.apply(responses)
    })
}

fn raw_of(parts: &[Json<'_>]) -> Vec<String> {
    parts.iter().map(|part| part.raw().to_owned()).collect()
}

fn call_in(part: Json<'_>) -> Option<Object<'_>> {
    either(&part.object(), "functionCall", "function_call").map(Json::object)
}

fn response_in(part: Json<'_>) -> Option<Object<'_>> {
    either(&part.object(), "functionResponse", "function_response").map(Json::object)
}

/// Returns a part with a response so that this bears the id.
fn with_id(part: Json<'_>, id: Option<Json<'_>>) -> String {
    let Some(response) = response_in(part) else { return part.raw().to_owned() };
    let mut edits = Edits::default();
    match (response.get("id"), id) {
        (Some(own), Some(id)) => edits.replace(own.range_in(part.raw()), id.raw()),
        (None, Some(id)) => {
            let begin = response.whole().range_in(part.raw()).start + 1;
            edits.replace(begin..begin, format!("\"id\":{},", id.raw()));
        }
        (Some(_), None) => remove_field(part.raw(), &response, "id", &mut edits),
        (None, None) => {}
    }
    edits.apply(part.raw())
}

/// Returns standing instructions as the one value that they are in a request.
fn instructions(values: &[String]) -> Option<String> {
    match values {
        [] => return None,
        [one] if super::text_of(one).is_none() => return Some(one.clone()),
        _ => {}
    }
    let parts =
        values.iter().flat_map(|value| match (super::text_of(value), Json::check(value.as_bytes())) {
            (Some(text), _) => vec![format!("{{\"text\":{}}}", quoted(&text))],
            (None, Ok(content)) => {
                let parts = content.get("parts").map(Json::elements).unwrap_or_default();
                parts.iter().map(|part| part.raw().to_owned()).collect()
            }
            (None, Err(_)) => Vec::new(),
        });
    Some(format!("{{\"parts\":{}}}", super::listed(&parts.collect::<Vec<_>>())))
}

/// G-08: what stands in place of a signature where the model did not write the call: that it is not to be checked. Models before Gemini 3
/// ask for no signature, and take this.
pub(crate) const UNCHECKED: &str = "skip_thought_signature_validator";

const SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// G-07, G-08: the signature of a part vouches for what the model wrote. A call that is changed says instead that it is
/// not to be checked; a text needs no signature.
fn unsign(base: &str, located: &Located<'_>, edits: &mut Edits) {
    let Home::Element { element, .. } = located.home else { return };
    let part = element.object();
    for key in SIGNATURES {
        match (part.get(key), &located.leaf) {
            (Some(signature), Leaf::Arguments(_)) => {
                edits.replace(signature.range_in(base), quoted(UNCHECKED));
            }
            (Some(_), _) => remove_field(base, &part, key, edits),
            (None, _) => {}
        }
    }
}

/// G-06, G-08: a call without a signature that leads its step now, since those before it went, or that was changed, is not to be checked.
fn settle(base: &str, old: &[Located<'_>], new: &[Option<&Part>], edits: &mut Edits) {
    let calls = old.iter().zip(new).filter(|(located, _)| matches!(located.part, Part::ToolCall(_)));
    let first = calls.enumerate().find_map(|(nth, (located, new))| Some((nth, located, (*new)?)));
    let Some((nth, located, call)) = first else { return };
    let Home::Element { element, .. } = located.home else { return };
    let is_as_written = nth == 0 && located.part == *call;
    if !is_as_written && SIGNATURES.iter().all(|key| element.get(key).is_none()) {
        let end = element.range_in(base).end - 1;
        edits.replace(end..end, format!(",\"thoughtSignature\":{}", quoted(UNCHECKED)));
    }
}

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    let role = match value.get("role").and_then(Json::string).as_deref() {
        Some("model") => Role::Assistant,
        Some("user") | None => Role::User,
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(other) => return Err(Fault::new("role", other, "user, model or function")),
    };
    read_parts(value, role)
}

/// Reads a content whose role is known; the system instruction names none.
fn read_parts(value: Json<'_>, role: Role) -> Result<Said<'_>, Fault> {
    let mut said = Said::new(role);
    if let Some(text) = value.string() {
        said.push(Part::Text(text), Home::Whole, Leaf::Text(value));
        return Ok(said);
    }
    let Some(parts) = value.get("parts") else {
        return Err(Fault::new("", value.raw(), "a content: an object with parts"));
    };
    // Google's own clients take one part for a list of one.
    if parts.is_object() {
        let located = read_part(parts, Home::Whole, &mut said, &mut HashMap::new());
        said.parts.push(located);
        return Ok(said);
    }
    if !parts.is_array() {
        return Err(Fault::new("parts", parts.raw(), "an array of parts"));
    }
    let mut seen = HashMap::new();
    for (index, part) in parts.elements().into_iter().enumerate() {
        if !part.is_object() {
            return Err(Fault::new(format!("parts[{index}]"), part.raw(), "a part: an object"));
        }
        let home = Home::Element { array: parts, index, element: part, emptied: Emptied::Stays };
        let located = read_part(part, home, &mut said, &mut seen);
        said.parts.push(located);
    }
    Ok(said)
}

pub(super) fn read_part<'a>(
    part: Json<'a>,
    home: Home<'a>,
    said: &mut Said<'a>,
    seen: &mut HashMap<String, usize>,
) -> Located<'a> {
    let fields = part.object();
    let signature = SIGNATURES.iter().find_map(|key| fields.some(key)).and_then(Json::text);
    if let Some(text) = fields.get("text").filter(|text| text.is_string()) {
        let words = text.string().unwrap_or_default();
        // G-09: what has a signature and no text is kept.
        if fields.is_true("thought") || words.is_empty() && signature.is_some() {
            let part = Part::Reasoning(Reasoning {
                text: words,
                opaque_bytes: signature.map_or(0, |signature| signature.len() as u64),
                hash: ContentHash::of(part.raw().as_bytes()),
            });
            return Located { part, home, leaf: Leaf::Fixed };
        }
        return Located { part: Part::Text(words), home, leaf: Leaf::Text(text) };
    }
    if let Some(call) = either(&fields, "functionCall", "function_call").map(Json::object) {
        let name = call.text("name").unwrap_or_default().into_owned();
        let arguments = call.get("args");
        let call = ToolCall {
            id: id_of(&call, &name, seen).into(),
            name,
            arguments: RawJson(arguments.map_or("{}".into(), Json::compact).into_owned()),
            kind: Default::default(),
        };
        return Located {
            part: Part::ToolCall(call),
            home,
            leaf: arguments.map_or(Leaf::Fixed, Leaf::Arguments),
        };
    }
    if let Some(response) = either(&fields, "functionResponse", "function_response").map(Json::object) {
        return read_response(&response, home, said, seen);
    }
    match payload(part, &fields) {
        Some(payload) => {
            let media = payload.media();
            said.payloads.push((media.hash, payload));
            Located { part: Part::Media(media), home, leaf: Leaf::Fixed }
        }
        None => {
            let first = fields.fields().first().and_then(|(key, _)| key.string()).unwrap_or_default();
            let pair = fields.fields().iter().find_map(|(_, value)| value.get("id"));
            Located { part: opaque(&first, part, pair), home, leaf: Leaf::Fixed }
        }
    }
}

fn read_response<'a>(
    response: &Object<'a>,
    home: Home<'a>,
    message: &mut Said<'a>,
    seen: &mut HashMap<String, usize>,
) -> Located<'a> {
    let name = response.text("name").unwrap_or_default().into_owned();
    let call_id = id_of(response, &name, seen);
    let body = response.get("response");
    let said = body.map(Json::object);
    let words = said.as_ref().and_then(|said| said.some("output").or_else(|| said.some("result")));
    let failure = said.as_ref().and_then(|said| said.some("error"));
    let outcome = match (words, failure) {
        (_, Some(_)) => Outcome::Failed,
        _ => Outcome::Unstated,
    };
    // What stands beside the words is the tool's as well: then all of it is.
    let are_alone = said.as_ref().is_some_and(|said| said.fields().len() == 1);
    let inner = match (words.or(failure).filter(|words| are_alone && words.is_string()), body) {
        (Some(words), _) => {
            Some((words, Located { part: text(words), home: Home::Whole, leaf: Leaf::Text(words) }))
        }
        (None, Some(body)) => {
            let part = Part::Text(body.raw().to_owned());
            Some((body, Located { part, home: Home::Whole, leaf: Leaf::Output(body) }))
        }
        (None, None) => None,
    };
    let (content, mut inner) =
        inner.map_or((None, Vec::new()), |(content, words)| (Some(content), vec![words]));
    // What a tool shows stands beside its words.
    if let Some(array) = response.get("parts") {
        let emptied = Emptied::Field { object: response.whole(), key: "parts" };
        for (index, shown) in array.elements().into_iter().enumerate() {
            let home = Home::Element { array, index, element: shown, emptied };
            inner.push(read_part(shown, home, message, &mut HashMap::new()));
        }
    }
    let parts = inner.iter().map(|located| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: call_id.into(), content: parts, outcome });
    let leaf = content.map_or(Leaf::Fixed, |content| Leaf::Result { content, inner });
    Located { part, home, leaf }
}

fn text(json: Json<'_>) -> Part {
    Part::Text(json.string().unwrap_or_default())
}

fn either<'a>(fields: &Object<'a>, camel: &str, snake: &str) -> Option<Json<'a>> {
    fields.some(camel).or_else(|| fields.some(snake))
}

/// Returns the id of a call or response. Where the wire has none, the name and its count within the content stand in:
/// responses come in the order of their calls.
fn id_of(fields: &Object<'_>, name: &str, seen: &mut HashMap<String, usize>) -> String {
    if let Some(id) = fields.text("id") {
        return id.into_owned();
    }
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    match count {
        1 => name.to_owned(),
        nth => format!("{name}-{nth}"),
    }
}

fn payload<'a>(part: Json<'a>, fields: &Object<'a>) -> Option<Payload<'a>> {
    if let Some(inline) = either(fields, "inlineData", "inline_data").map(Json::object) {
        let media_type = either(&inline, "mimeType", "mime_type").and_then(Json::text).unwrap_or_default();
        let data = inline.text("data")?;
        return Some(Payload::new(
            Format::Gemini,
            part,
            kind_of(&media_type),
            &media_type,
            Data::Base64(data),
        ));
    }
    let file = either(fields, "fileData", "file_data")?.object();
    let media_type = either(&file, "mimeType", "mime_type").and_then(Json::text).unwrap_or_default();
    let uri = either(&file, "fileUri", "file_uri")?.text()?;
    Some(Payload::address(Format::Gemini, part, kind_of(&media_type), &media_type, uri))
}

fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let role = match message.role {
        Role::Assistant => "model",
        _ => "user",
    };
    let mut parts: Vec<String> = Vec::with_capacity(message.parts.len());
    let mut has_called = false;
    for part in &message.parts {
        match part {
            // G-06: the first call of a step is signed.
            Part::ToolCall(call) => parts.push(spell_call(call, !std::mem::replace(&mut has_called, true))),
            part => parts.extend(spell(part, sources)),
        }
    }
    match parts.is_empty() {
        true => Vec::new(),
        false => vec![format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))],
    }
}

/// Spells a call that the model did not write so.
fn spell_call(call: &ToolCall, is_first: bool) -> String {
    let signature =
        if is_first { format!(",\"thoughtSignature\":{}", quoted(UNCHECKED)) } else { String::new() };
    format!(
        "{{\"functionCall\":{{\"id\":{},\"name\":{},\"args\":{}}}{signature}}}",
        quoted(call.id.as_str()),
        quoted(&call.name),
        arguments_object(&call.arguments.0)
    )
}

/// Spells a part that is no call; a result with an image becomes a response and the image behind it.
fn spell(part: &Part, sources: &Sources<'_>) -> Vec<String> {
    match part {
        Part::Text(text) if text.is_empty() => Vec::new(),
        Part::Text(text) => vec![format!("{{\"text\":{}}}", quoted(text))],
        Part::ToolResult(result) => {
            let id = result.call_id.as_str();
            let key = if result.outcome == Outcome::Failed { "error" } else { "output" };
            let response = format!(
                "{{\"functionResponse\":{{\"id\":{},\"name\":{},\"response\":{{\"{key}\":{}}}}}}}",
                quoted(id),
                quoted(sources.name_of(id)),
                quoted(&result.joined_text())
            );
            let media = result.content.iter().filter(|part| matches!(part, Part::Media(_)));
            std::iter::once(response).chain(media.flat_map(|part| spell(part, sources))).collect()
        }
        Part::Media(media) => sources.media.get(&media.hash).and_then(media_part).into_iter().collect(),
        part => sources.block(part).into_iter().collect(),
    }
}

fn media_part(payload: &Payload<'_>) -> Option<String> {
    if payload.format == Format::Gemini {
        return Some(payload.raw.raw().to_owned());
    }
    let media_type = match &*payload.media_type {
        "" if payload.kind == MediaKind::Document => "\"application/pdf\"".to_owned(),
        "" => "\"image/png\"".to_owned(),
        known => quoted(known),
    };
    match &payload.data {
        Data::Base64(data) => {
            Some(format!("{{\"inlineData\":{{\"mimeType\":{media_type},\"data\":{}}}}}", quoted(data)))
        }
        Data::Url(url) => {
            Some(format!("{{\"fileData\":{{\"mimeType\":{media_type},\"fileUri\":{}}}}}", quoted(url)))
        }
        Data::File(_) => None,
    }
}
