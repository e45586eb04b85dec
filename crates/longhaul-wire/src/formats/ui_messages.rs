//! UI messages of Vercel's AI SDK 5 and later: what `useChat` shows, stores and sends. A tool part holds a call and its
//! result, and an answer may go on over many steps in one message; each step is read as a message of its own, so that an
//! answer can be cut between them, and what is left of it is written as one.
//!
//! Source: <https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message> (read 2026-11-23); what reaches a model of them:
//! <https://ai-sdk.dev/docs/reference/ai-sdk-ui/convert-to-model-messages>.

mod rules;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use longhaul_transcript::{
    CallId, CallKind, ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, ToolCall,
    ToolResult,
};

use super::{Blanks, Draft, LaterSystem, Lead, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    dialect::{Dialect, Own, Said, Sources, arguments_object, as_they_are, media_or_opaque, typed_text},
    edit::{Edits, Emptied, Home, Leaf, Located, delete, remove_field},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload, kind_of},
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "ui-messages",
    aliases: &["ai-sdk", "vercel"],
    provider: None,
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::UiMessages, &BODY, bytes),
    segments: super::one_segment,
    validate: Some(rules::check_history),
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: false,
        lead: Lead::Inside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Go,
        most_calls: usize::MAX,
        reads_as_one: false,
        regroup: |messages, losses| {
            let messages = regroup::paired(messages, losses);
            results_with_calls(regroup::shown_by_the_user(messages, Shown::Results, losses))
        },
        tool: |tool| {
            let (name, described, schema) = (tool.name, tool.described(), tool.schema);
            format!("{{\"type\":\"function\",\"name\":{name}{described},\"inputSchema\":{schema}}}")
        },
        tools: Tools::Nowhere,
        takes_cache_marks: false,
        file: |draft, _| file(draft),
        session: None,
    }),
    written_as: Format::UiMessages,
};

const BODY: Body = Body {
    lists: &["messages"],
    expected: "an array of UI messages, or an object with messages",
    outside: &[],
    dialect: &MESSAGE,
    takes_lines: false,
    text: None,
    // What `useChat` posts names the chat.
    session: &["id"],
    check: |_| Ok(()),
};

static MESSAGE: Dialect = Dialect {
    format: Format::UiMessages,
    read,
    fresh,
    result_content: super::OPENAI.result_content,
    text_element: typed_text,
    is_patched: true,
    content_key: Some("parts"),
    unsign,
    settle,
    with_steps,
    is_of_items: false,
    marks_failure: true,
    has_custom_calls: false,
    has_detail: false,
    has_file_names: true,
    says_reasoning: true,
    is_led_by_reasoning: false,
    takes_id: |_| true,
    takes_name: |_| false,
    spelling: Some(as_they_are),
    answer: |_| Ok(None),
    usage: None,
    reaches: |_| true,
    own: Own { fields: &["parts"], blocks: &[] },
    lacks: |item| {
        let parts = item.get("parts").filter(|parts| parts.is_array());
        !parts.is_some_and(|parts| parts.elements().iter().all(|part| part.get("type").is_some()))
    },
    expected: Some("parts that name their type, as the AI SDK spells a UI message"),
    outside: None,
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    let has_all = |paths: &[&str]| paths.iter().all(|path| head.has(path));
    // A part of Gemini's names no type, and its contents have no id.
    let is_one = match head.is_array() {
        true => has_all(&["id", "role", "parts.type"]),
        false => has_all(&["messages.id", "messages.role", "messages.parts.type"]),
    };
    is_one.then_some(Claim::Shape)
}

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    const MESSAGE: &str = "a UI message: an object with id, role and parts";
    let message = value.object();
    let role = match message.text("role").as_deref() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some(other) => return Err(Fault::new("role", other, "system, user or assistant")),
        None => return Err(Fault::new("", value.raw(), MESSAGE)),
    };
    let Some(parts) = message.get("parts").filter(|parts| parts.is_array()) else {
        return Err(Fault::new("", value.raw(), MESSAGE));
    };
    let mut said = Said::new(role);
    // Calls of one step were made together: their results stand behind all of them.
    let mut results = Vec::new();
    for (index, part) in parts.elements().into_iter().enumerate() {
        let fields = part.object();
        let Some(kind) = fields.text("type") else {
            return Err(Fault::new(format!("parts[{index}]"), part.raw(), "a part: an object with a type"));
        };
        let home = Home::Element { array: parts, index, element: part, emptied: Emptied::Stays };
        match &*kind {
            "step-start" => {
                said.parts.append(&mut results);
                let last = said.steps.last().copied().unwrap_or_default();
                if said.parts.len() > last {
                    said.steps.push(said.parts.len());
                }
            }
            "text" if fields.get("text").is_some_and(Json::is_string) => {
                let text = fields.get("text").unwrap_or(part);
                said.push(Part::Text(text.string().unwrap_or_default()), home, Leaf::Text(text));
            }
            "reasoning" => said.push(reasoning(part, &fields), home, Leaf::Fixed),
            _ => match (tool_name(&fields, &kind), payload(part, &fields, &kind)) {
                (Some(name), _) => {
                    let (call, leaf) = call(&fields, name);
                    results.extend(result(&fields, &call, home));
                    said.push(Part::ToolCall(call), home, leaf);
                }
                (None, payload) => {
                    let shown = media_or_opaque(payload, &kind, part, &mut said.payloads);
                    said.push(shown, home, Leaf::Fixed);
                }
            },
        }
    }
    said.parts.append(&mut results);
    said.steps.retain(|start| *start < said.parts.len());
    Ok(said)
}

/// Returns the tool that a part calls; `None` where it calls none. What the provider ran itself is the provider's own.
fn tool_name(part: &Object<'_>, kind: &str) -> Option<String> {
    part.text("toolCallId").filter(|_| !part.is_true("providerExecuted"))?;
    match kind {
        "dynamic-tool" => part.text("toolName").map(|name| name.into_owned()),
        _ => kind.strip_prefix("tool-").map(str::to_owned),
    }
}

fn call<'a>(part: &Object<'a>, name: String) -> (ToolCall, Leaf<'a>) {
    // Input that does not fit the tool's schema is kept apart.
    let input = part.some("input").or_else(|| part.some("rawInput"));
    let call = ToolCall {
        id: (&*part.text("toolCallId").unwrap_or_default()).into(),
        name,
        arguments: RawJson(input.map_or("{}".into(), Json::compact).into_owned()),
        kind: CallKind::Function,
    };
    (call, input.map_or(Leaf::Fixed, Leaf::Arguments))
}

fn result<'a>(part: &Object<'a>, call: &ToolCall, home: Home<'a>) -> Option<Located<'a>> {
    let (content, outcome) = match &*part.text("state")? {
        // The tool answered; whether what it ran went well, its answer says.
        "output-available" => (part.get("output"), Outcome::Unstated),
        "output-error" => (part.get("errorText"), Outcome::Failed),
        "output-denied" => {
            (part.get("approval").and_then(|approval| approval.get("reason")), Outcome::Failed)
        }
        _ => return None,
    };
    let words = |content: Json<'_>| content.string().unwrap_or_else(|| content.raw().to_owned());
    let inner = content.map(|content| Located {
        part: Part::Text(words(content)),
        home: Home::Whole,
        leaf: Leaf::Text(content),
    });
    let text = inner.iter().map(|located| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: call.id.clone(), content: text, outcome });
    let leaf = match (content, inner) {
        (Some(content), Some(inner)) => Leaf::Result { content, inner: vec![inner] },
        _ => Leaf::Fixed,
    };
    Some(Located { part, home, leaf })
}

fn reasoning(part: Json<'_>, fields: &Object<'_>) -> Part {
    /// What providers put beside reasoning for themselves.
    const SEALED: [&str; 4] = ["signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature"];
    let providers = fields.get("providerMetadata").map(Json::object);
    let providers = providers.as_ref().map(Object::fields).unwrap_or_default();
    let sealed = providers.iter().flat_map(|(_, own)| SEALED.map(|key| own.get(key))).flatten();
    Part::Reasoning(Reasoning {
        text: fields.text("text").unwrap_or_default().into_owned(),
        opaque_bytes: sealed.filter_map(Json::text).map(|sealed| sealed.len() as u64).sum(),
        hash: ContentHash::of(part.raw().as_bytes()),
    })
}

fn payload<'a>(part: Json<'a>, fields: &Object<'a>, kind: &str) -> Option<Payload<'a>> {
    let url = fields.text("url").filter(|_| kind == "file")?;
    let media_type = fields.text("mediaType").unwrap_or_default();
    let payload = Payload::address(Format::UiMessages, part, kind_of(&media_type), &media_type, url);
    Some(payload.called(fields.text("filename")))
}

fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let calls: HashSet<&CallId> = message.calls().map(|call| &call.id).collect();
    let mut results: HashMap<&CallId, &ToolResult> = HashMap::new();
    message.results().for_each(|result| {
        results.entry(&result.call_id).or_insert(result);
    });
    let is_answered =
        |part: &Part| matches!(part, Part::ToolResult(result) if calls.contains(&result.call_id));
    let parts = message.parts.iter().filter(|part| !is_answered(part));
    let parts: Vec<String> = parts.filter_map(|part| spell(part, &results, sources)).collect();
    let role = match message.role {
        Role::System | Role::Developer => "system",
        _ if message.calls().next().is_some() || message.results().next().is_some() => "assistant",
        Role::Assistant => "assistant",
        _ => "user",
    };
    if parts.is_empty() {
        return Vec::new();
    }
    let said = format!("\"role\":\"{role}\",\"parts\":[{}]", parts.join(","));
    vec![format!("{{\"id\":{},{said}}}", quoted(&id_from(&ContentHash::of(said.as_bytes()))))]
}

fn id_from(hash: &ContentHash) -> String {
    format!("msg_{}", hash.short(16))
}

/// Spells a part, a call with its result; `None` for what a UI message cannot say.
fn spell(part: &Part, results: &HashMap<&CallId, &ToolResult>, sources: &Sources<'_>) -> Option<String> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(typed_text(text)),
        Part::ToolCall(call) => {
            let input = arguments_object(&call.arguments.0);
            Some(tool_part(call.id.as_str(), &call.name, &input, results.get(&call.id).copied()))
        }
        // Its call was spelled before; `file` puts the two together.
        Part::ToolResult(result) => {
            let id = result.call_id.as_str();
            Some(tool_part(id, sources.name_of(id), "{}", Some(result)))
        }
        Part::Media(media) => sources.media.get(&media.hash).and_then(media_part),
        Part::Reasoning(reasoning) if !reasoning.text.is_empty() => sources
            .block(part)
            .or_else(|| Some(format!("{{\"type\":\"reasoning\",\"text\":{}}}", quoted(&reasoning.text)))),
        part => sources.block(part),
    }
}

fn tool_part(id: &str, name: &str, input: &str, result: Option<&ToolResult>) -> String {
    let (id, kind) = (quoted(id), quoted(&format!("tool-{name}")));
    let state = match result {
        None => "\"state\":\"input-available\"".to_owned(),
        Some(result) => answered(result.outcome == Outcome::Failed, &quoted(&result.joined_text())),
    };
    format!("{{\"type\":{kind},\"toolCallId\":{id},\"input\":{input},{state}}}")
}

/// Spells the fields of a part that say what came of a call.
fn answered(has_failed: bool, output: &str) -> String {
    match has_failed {
        true => format!("\"state\":\"output-error\",\"errorText\":{output}"),
        false => format!("\"state\":\"output-available\",\"output\":{output}"),
    }
}

fn media_part(payload: &Payload<'_>) -> Option<String> {
    if payload.format == Format::UiMessages {
        return Some(payload.raw.raw().to_owned());
    }
    let media_type = match (&*payload.media_type, payload.kind) {
        ("", MediaKind::Image) => "image/*",
        ("", MediaKind::Audio) => "audio/*",
        ("", _) => "application/pdf",
        (known, _) => known,
    };
    let url = match &payload.data {
        Data::Base64(data) => format!("data:{media_type};base64,{data}"),
        Data::Url(url) => url.to_string(),
        Data::File(_) => return None,
    };
    let name =
        payload.name.as_ref().map(|name| format!(",\"filename\":{}", quoted(name))).unwrap_or_default();
    Some(format!("{{\"type\":\"file\",\"mediaType\":{},\"url\":{}{name}}}", quoted(media_type), quoted(&url)))
}

/// Takes out the marks of steps that are gone, and gives what stands apart from the other steps an id of its own.
fn with_steps(message: &str, before: usize) -> String {
    let Ok(json) = Json::check(message.as_bytes()) else { return message.to_owned() };
    let parts = json.get("parts").map(Json::elements).unwrap_or_default();
    let begins =
        |part: &Json<'_>| part.get("type").and_then(Json::text).is_some_and(|kind| kind == "step-start");
    let is_idle = |at: usize| begins(&parts[at]) && parts.get(at + 1).is_none_or(begins);
    let keep: Vec<bool> = (0..parts.len()).map(|at| !is_idle(at)).collect();
    let spans: Vec<_> = parts.iter().map(|part| part.range_in(message)).collect();
    let mut edits = Edits::default();
    delete(&spans, &keep, &mut edits);
    if let Some(id) = json.get("id").filter(|_| before > 0) {
        edits.replace(id.range_in(message), quoted(&derived_id(&id.string().unwrap_or_default(), before)));
    }
    edits.apply(message)
}

/// Returns another id in the place of one that stands `n` times before.
fn derived_id(id: &str, n: usize) -> String {
    match n {
        0 => id.to_owned(),
        n => id_from(&ContentHash::of_fields([id.as_bytes(), &n.to_le_bytes()])),
    }
}

/// Puts results into the message that made their calls; what else a tool says is said by the user.
fn results_with_calls(messages: Vec<Message>) -> Vec<Message> {
    let mut whole: Vec<Message> = Vec::with_capacity(messages.len());
    // Who made a call last.
    let mut asking: HashMap<CallId, usize> = HashMap::new();
    for mut message in messages {
        let (results, rest): (Vec<_>, Vec<_>) =
            message.parts.drain(..).partition(|part| matches!(part, Part::ToolResult(_)));
        for result in results {
            let Part::ToolResult(ToolResult { call_id, .. }) = &result else { continue };
            match asking.get(call_id) {
                Some(at) => whole[*at].parts.push(result),
                None => whole.push(Message::new(Role::Tool, vec![result])),
            }
        }
        if !rest.is_empty() {
            let message = Message { parts: rest, ..message };
            asking.extend(message.calls().map(|call| (call.id.clone(), whole.len())));
            whole.push(message);
        }
    }
    whole
}

/// Puts the list together: each id stands once, and a result that came alone stands with its call.
fn file(mut draft: Draft) -> String {
    draft.messages = with_ids_of_their_own(with_their_results(with_next_steps(draft.messages)));
    draft.object_or_list([], "messages")
}

/// Puts the steps of an answer that follow each other back into one message.
fn with_next_steps(all: Vec<String>) -> Vec<String> {
    let mut answers: Vec<(String, Vec<String>)> = Vec::with_capacity(all.len());
    for message in all {
        match answers.last_mut().and_then(|(answer, more)| Some((next_steps(answer, &message, more)?, more)))
        {
            Some((steps, more)) => more.push(steps),
            None => answers.push((message, Vec::new())),
        }
    }
    let joined = answers.into_iter().map(|(answer, more)| match more.is_empty() {
        true => answer,
        false => and_steps(&answer, &more.concat()).unwrap_or(answer),
    });
    joined.collect()
}

/// Returns the steps that `next` adds to `answer`, each behind a comma, where it is more of that answer: it has the same id. What is
/// new has an id by what it says, and may be said twice.
fn next_steps(answer: &str, next: &str, more: &[String]) -> Option<String> {
    let (json, next) = (Json::check(answer.as_bytes()).ok()?, Json::check(next.as_bytes()).ok()?);
    let [first, more_of_it] =
        [json, next].map(|message| message.get("parts").filter(|parts| !parts.elements().is_empty()));
    first?;
    let steps = more_of_it?.raw().strip_prefix('[')?.strip_suffix(']')?;
    let is_same = ["id", "role"].into_iter().all(|key| match (json.get(key), next.get(key)) {
        (Some(one), Some(other)) => one.raw() == other.raw(),
        _ => false,
    });
    (is_same && (!more.is_empty() || answer != next.raw())).then(|| format!(",{steps}"))
}

/// Returns `answer` with `steps` at the end of its parts.
fn and_steps(answer: &str, steps: &str) -> Option<String> {
    let json = Json::check(answer.as_bytes()).ok()?;
    let end = json.get("parts")?.range_in(answer).end - 1;
    Some(format!("{}{steps}{}", &answer[..end], &answer[end..]))
}

fn with_their_results(all: Vec<String>) -> Vec<String> {
    let mut messages: Vec<(String, Edits)> = Vec::with_capacity(all.len());
    // Where the `state` stands that changes when the result of this call comes: the last that waits gets it.
    let mut waiting: HashMap<String, Vec<(usize, Range<usize>)>> = HashMap::new();
    for message in all {
        let asking = lone_result(&message).and_then(|(id, came)| Some((waiting.get_mut(&id)?.pop()?, came)));
        if let Some(((at, state), came)) = asking {
            messages[at].1.replace(state, came);
            continue;
        }
        for (id, state) in waiting_in(&message) {
            waiting.entry(id).or_default().push((messages.len(), state));
        }
        messages.push((message, Edits::default()));
    }
    messages.into_iter().map(|(message, edits)| edits.apply(&message)).collect()
}

/// Returns the call whose answer is all that `message` says, and the new value of the call's `state` with what comes with it.
fn lone_result(message: &str) -> Option<(String, String)> {
    let parts = Json::check(message.as_bytes()).ok()?.get("parts")?.elements();
    let [lone] = &parts[..] else { return None };
    let lone = lone.object();
    let (has_failed, output) = match lone.get("errorText") {
        Some(text) => (true, text),
        None => (false, lone.get("output")?),
    };
    let came = answered(has_failed, output.raw());
    Some((lone.text("toolCallId")?.into_owned(), came.strip_prefix("\"state\":")?.to_owned()))
}

/// Returns the calls of `message` that have no result, each with where its `state` stands.
fn waiting_in(message: &str) -> Vec<(String, Range<usize>)> {
    let parts = Json::check(message.as_bytes()).ok().and_then(|json| json.get("parts"));
    let waits = |state: &str| state.starts_with("input-") || state.starts_with("approval-");
    let waiting = parts.map(Json::elements).unwrap_or_default().into_iter().filter_map(|part| {
        let part = part.object();
        let state = part.get("state").filter(|state| state.text().is_some_and(|state| waits(&state)))?;
        Some((part.text("toolCallId")?.into_owned(), state.range_in(message)))
    });
    waiting.collect()
}

/// Gives each message whose id another has an id that follows from it.
fn with_ids_of_their_own(mut messages: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::new();
    // How many ids were made of one: those are taken.
    let mut made: HashMap<String, usize> = HashMap::new();
    for message in &mut messages {
        let Ok(json) = Json::check(message.as_bytes()) else { continue };
        let Some(id) = json.get("id").filter(|id| id.is_string()) else { continue };
        let named = id.string().unwrap_or_default();
        if taken.insert(named.clone()) {
            continue;
        }
        let n = made.entry(named.clone()).or_default();
        let free = loop {
            *n += 1;
            let free = id_from(&ContentHash::of_fields([named.as_bytes(), &n.to_le_bytes()]));
            if taken.insert(free.clone()) {
                break free;
            }
        };
        let mut edits = Edits::default();
        edits.replace(id.range_in(json.raw()), quoted(&free));
        *message = edits.apply(json.raw());
    }
    messages
}

/// What a provider vouches for goes with what it vouched for.
fn unsign(base: &str, located: &Located<'_>, edits: &mut Edits) {
    let Home::Element { element, .. } = located.home else { return };
    let part = element.object();
    match located.leaf {
        Leaf::Text(_) => remove_field(base, &part, "providerMetadata", edits),
        Leaf::Arguments(_) => remove_field(base, &part, "callProviderMetadata", edits),
        _ => {}
    }
}

/// what came with reasoning that is gone loses the id that it has at OpenAI, which would ask for the reasoning by it.
fn settle(base: &str, old: &[Located<'_>], new: &[Option<&Part>], edits: &mut Edits) {
    let is_gone = |(located, new): (&Located<'_>, &Option<&Part>)| {
        matches!(located.part, Part::Reasoning(_)) && new.is_none()
    };
    if !old.iter().zip(new).any(is_gone) {
        return;
    }
    for (located, _) in old.iter().zip(new).filter(|(_, new)| new.is_some()) {
        let Home::Element { element, .. } = located.home else { continue };
        let part = element.object();
        let metadata =
            ["providerMetadata", "callProviderMetadata"].map(|key| part.get(key).map(Json::object));
        for provider in metadata.iter().flatten().flat_map(Object::fields).map(|(_, own)| own.object()) {
            remove_field(base, &provider, "itemId", edits);
        }
    }
}
