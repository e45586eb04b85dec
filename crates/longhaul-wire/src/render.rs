//! Messages as a request: what came in spelled for the same provider goes out in the same bytes, what was shortened since is
//! patched in place, and the rest is spelled afresh.

use std::{collections::HashSet, ops::Range, sync::Arc};

use longhaul_transcript::{Media, Message, Origin, Part, Raw, Role, SessionId, Transcript};

use crate::{
    Format, WireError, cache,
    convert::{
        encoded, left_out,
        losses::{Losses, WITHOUT_CONTENT, place},
        media_of, strip,
        unread::{Known, by_place},
    },
    dialect::{Dialect, Said, Sources},
    edit::{Edits, Home, Key, Located, align, append, patch},
    formats::{Draft, LaterSystem, Lead, Writing},
    json::{Json, quoted},
    order::ordered,
    raw::{dialect_of_item, is_reasoning, items_of},
    reasoning::without_field,
    repair::repair_for,
    write::with_content,
};

/// Messages as a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendition {
    /// The format that they are spelled in.
    pub format: Format,
    /// The messages as JSON: a list, or an object with the list and the standing instructions that stand outside of it.
    pub json: String,
    /// What could not be carried, one line each; empty where everything was.
    pub losses: Vec<String>,
}

/// Spells `messages` as a request of the format `to`, or as the session file of an agent.
///
/// A message that carries its spelling in that format is written in the same bytes where it says the same, and otherwise
/// patched: images, signed thinking and fields that longhaul does not know stay. Messages from elsewhere are spelled
/// afresh, cut the way the format cuts them. Of the marks to cache that messages bring along from earlier requests, the last four
/// stay.
///
/// # Errors
/// When `to` is a format that can only be imported.
pub fn render<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    to: Format,
) -> Result<Rendition, WireError> {
    render_session(messages, to, None)
}

/// Does what [`render`](fn@render) does, and tells of what could not be carried only what a request of the first `told` messages
/// did not lose already: it was told with that one.
///
/// # Errors
/// Those of `render`.
pub fn render_grown<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    to: Format,
    told: usize,
) -> Result<Rendition, WireError> {
    let messages: Vec<&Message> = messages.into_iter().collect();
    let (json, losses) = rendered(messages.iter().copied(), to, None)?;
    if losses.is_empty() {
        return Ok(Rendition { format: to, json, losses: Vec::new() });
    }
    let (_, before) = rendered(messages.into_iter().take(told), to, None)?;
    Ok(Rendition { format: to, json, losses: losses.without(&before).into_lines() })
}

/// Does what [`render`](fn@render) does, for the session of this id: the files of agents name theirs, and those of others are
/// given one that is derived from the messages.
///
/// # Errors
/// Those of `render`.
pub fn render_session<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    to: Format,
    session: Option<&SessionId>,
) -> Result<Rendition, WireError> {
    let (json, losses) = rendered(messages, to, session)?;
    Ok(Rendition { format: to, json, losses: losses.into_lines() })
}

fn rendered<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    to: Format,
    session: Option<&SessionId>,
) -> Result<(String, Losses), WireError> {
    let number = |(n, message): (usize, &Message)| {
        message.clone().with_origin(Origin::Document(u32::try_from(n).unwrap_or(u32::MAX)))
    };
    let said: Transcript = messages.into_iter().enumerate().map(number).collect();
    let writing = to.writing()?;
    if writing.dialect.spelling.is_none() {
        // No message carries a spelling in it.
        let mut losses = Losses::default();
        let document = encoded(&said, to, &mut losses)?;
        tell_unread(&said, &[], &mut losses);
        // What a file of ours has of them stands beside its messages, and no message brings it.
        for message in said.entries().iter().map(|entry| &entry.message).filter(|_| writing.carries_all) {
            media_of(message).for_each(|media| losses.count(left_out(media), place(message)));
        }
        let json = String::from_utf8_lossy(document.as_bytes()).into_owned();
        return Ok((json, losses));
    }
    let mut losses = Losses::default();
    // What Gemini's API said may lack its ids, also where nothing of how it was spelled is left.
    let repaired = repair_for(writing, &said, to.spec().may_lack_ids);
    repaired.done.into_iter().for_each(|done| losses.note(done));
    let messages = repaired.transcript.entries().iter().map(|entry| &*entry.message);
    let messages = ordered(messages, writing, &mut losses);
    let messages: Vec<&Message> = messages.iter().map(|message| &**message).collect();
    let body = Body::of(writing, &messages, Sources::default(), &mut losses);
    tell_unread(&said, &body.own, &mut losses);
    if body.list.is_empty() && !said.is_empty() {
        losses.note("no message says anything: there is nothing to send");
    }
    let draft = body.draft(session.cloned(), &said, &mut losses);
    let json = (writing.file)(draft, &mut losses);
    let json = if writing.session.is_none() { cache::settled(json) } else { json };
    Ok((json, losses))
}

/// Tells what the spellings of messages hold beside what was read of them, where it is not in what is written of them as they
/// were spelled (`own`).
fn tell_unread(said: &Transcript, own: &[(usize, String)], losses: &mut Losses) {
    let known = Known::of(said.entries().iter().map(|entry| &*entry.message), None);
    let own = by_place(own);
    for (at, entry) in said.entries().iter().enumerate() {
        let own = own.get(&at).copied();
        // Most go out as they came in.
        if own.is_some() && own == entry.message.raw.as_deref().map(|raw| &*raw.json) {
            continue;
        }
        for item in spelled(&entry.message).into_iter().flatten() {
            known.tell_fields(item.dialect.format, item.json, &item.said, own, at, losses);
        }
    }
}

/// Returns `message` with a spelling that says what it says and nothing else: of a message that was shortened, that of what
/// is left. Without this a spelling holds all that was said, pictures included, until it is sent. Where the spelling cannot
/// be changed to say it, it is made anew, of what stays: pictures, signed thinking and blocks that longhaul does not know.
pub fn respell(message: Arc<Message>) -> Arc<Message> {
    let Some(raw) = message.raw.as_deref() else { return message };
    let values = spelled(&message).and_then(|items| {
        let payloads = items.iter().flat_map(|item| item.said.payloads.iter().cloned());
        let mut sources = Sources::of_media(payloads);
        sources.note_calls(&message);
        let patched = respelled(&items, &message, &sources, &mut Losses::default());
        patched.or_else(|| {
            items.iter().for_each(|item| sources.note_blocks(&item.said.parts));
            afresh(&items, &message, &sources)
        })
    });
    let respelled = values.map(|values| Raw { json: values.join("\n").into(), ..raw.clone() });
    if respelled.as_ref() == Some(raw) {
        return message;
    }
    Arc::new(Message { raw: respelled.map(Arc::new), ..(*message).clone() })
}

/// An item that a message was read from.
pub(crate) struct Spelled<'a> {
    dialect: &'static Dialect,
    pub(crate) json: Json<'a>,
    pub(crate) said: Said<'a>,
}

/// Returns the items that a message was read from, where it carries them.
pub(crate) fn spelled(message: &Message) -> Option<Vec<Spelled<'_>>> {
    let raw = message.raw.as_deref()?;
    let items = items_of(&raw.json)?.into_iter().map(|json| {
        let dialect = dialect_of_item(raw, json)?;
        Some(Spelled { dialect, json, said: (dialect.read)(json).ok()? })
    });
    items.collect()
}

/// Returns the items so that they say what `message` says; `None` where they cannot.
fn respelled(
    items: &[Spelled<'_>],
    message: &Message,
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> Option<Vec<String>> {
    // What a harness says as the user in a rollout was read as a developer's.
    let is_same_role = |item: &Spelled<'_>| {
        let is_harness = message.role == Role::Developer && item.said.role == Role::User;
        item.said.role == message.role || is_harness
    };
    if !items.iter().all(is_same_role) {
        return None;
    }
    let old: Vec<Located<'_>> = items.iter().flat_map(|item| item.said.parts.iter().cloned()).collect();
    if old.iter().map(|located| &located.part).eq(&message.parts) {
        return Some(items.iter().map(|item| item.json.raw().to_owned()).collect());
    }
    let blocks: HashSet<Key<'_>> = old.iter().map(|located| Key::of(&located.part)).collect();
    let is_carried = |part: &Part| match part {
        Part::Reasoning(_) | Part::Opaque(_) => blocks.contains(&Key::of(part)),
        _ => true,
    };
    let parts: Vec<Part> = as_spelled(message, &old).into_iter().filter(is_carried).collect();
    let pairs = align(&old, &parts)?;
    for _ in parts.len()..message.parts.len() {
        losses.count("block of the provider's left out", place(message));
    }
    let (mut from, mut values) = (0, Vec::with_capacity(items.len()));
    for item in items {
        let pairs = &pairs[from..from + item.said.parts.len()];
        from += item.said.parts.len();
        values.extend(patch(item.dialect, item.json, &item.said.parts, pairs, sources));
    }
    Some(values)
}

/// Spells `message` anew, in the dialect of the `items` that it was read from; `None` where that is no dialect of messages.
fn afresh(items: &[Spelled<'_>], message: &Message, sources: &Sources<'_>) -> Option<Vec<String>> {
    let dialect = items.first()?.dialect;
    let spells_messages = dialect.format.writing().is_ok_and(|writing| writing.dialect == dialect);
    let is_one = items.iter().all(|item| item.dialect == dialect);
    let values = (spells_messages && is_one).then(|| (dialect.fresh)(message, sources))?;
    match (&values[..], items, dialect.content_key) {
        ([], ..) => None,
        // The fields around the content stay.
        ([value], [item], Some(key)) => {
            Some(vec![with_content(item.json.raw(), value, key).unwrap_or_else(|| value.clone())])
        }
        _ => Some(values),
    }
}

/// Returns the parts of `message`, its files being those of the spelling. Where a secret was taken out of one, the spelling has
/// other bytes than were read, and another hash.
fn as_spelled(message: &Message, old: &[Located<'_>]) -> Vec<Part> {
    let mut parts = message.parts.clone();
    if message.raw.as_ref().is_none_or(|raw| raw.redacted == 0) {
        return parts;
    }
    let spelled: Vec<Media> = old.iter().flat_map(|located| media_in(&located.part)).cloned().collect();
    let mut said: Vec<&mut Media> = parts.iter_mut().flat_map(media_in_mut).collect();
    let is_same = |(said, spelled): (&&mut Media, &Media)| {
        (said.kind, &said.media_type) == (spelled.kind, &spelled.media_type)
    };
    if said.len() == spelled.len() && said.iter().zip(&spelled).all(is_same) {
        said.iter_mut().zip(spelled).for_each(|(said, spelled)| **said = spelled);
    }
    parts
}

/// Returns the files of a part: itself, or those in a result.
fn media_in(part: &Part) -> Vec<&Media> {
    match part {
        Part::Media(media) => vec![media],
        Part::ToolResult(result) => result.content.iter().flat_map(media_in).collect(),
        _ => Vec::new(),
    }
}

fn media_in_mut(part: &mut Part) -> Vec<&mut Media> {
    match part {
        Part::Media(media) => vec![media],
        Part::ToolResult(result) => result.content.iter_mut().flat_map(media_in_mut).collect(),
        _ => Vec::new(),
    }
}

/// A request as it grows.
pub(crate) struct Body {
    writing: &'static Writing,
    /// Standing instructions that stand outside the list, as JSON.
    outside: Vec<String>,
    /// The messages that these are of.
    outside_at: Vec<Option<usize>>,
    list: Vec<Value>,
    /// Whether reasoning stands in the list.
    has_reasoned: bool,
    /// The messages that are written in their own spelling, with it.
    pub(crate) own: Vec<(usize, String)>,
}

/// An item of the list.
struct Value {
    json: String,
    is_reasoning: bool,
    /// The model's own, so that reasoning may stand before it.
    is_answer: bool,
    /// The message that it is of.
    at: Option<usize>,
}

impl Body {
    /// Spells `messages`, those that carry a spelling of the format in it.
    pub(crate) fn of<'a>(
        writing: &'static Writing,
        messages: &[&'a Message],
        mut sources: Sources<'a>,
        losses: &mut Losses,
    ) -> Body {
        let spelled: Vec<Option<Vec<Spelled<'_>>>> =
            messages.iter().map(|message| spelled(message)).collect();
        let payloads = spelled.iter().flatten().flatten().flat_map(|item| item.said.payloads.iter().cloned());
        sources.note_media(payloads);
        for media in messages.iter().flat_map(|message| media_of(message)) {
            sources.note_address(media);
        }
        messages.iter().for_each(|message| sources.note_calls(message));
        let mut body = Body {
            writing,
            outside: Vec::new(),
            outside_at: Vec::new(),
            list: Vec::new(),
            has_reasoned: false,
            own: Vec::new(),
        };
        let mut waiting: Vec<Message> = Vec::new();
        for (message, spelled) in messages.iter().zip(&spelled) {
            let own =
                spelled.as_ref().filter(|items| items.iter().all(|item| writing.dialect.takes(item.dialect)));
            let values = own.and_then(|items| respelled(items, message, &sources, losses));
            if values.is_some() {
                body.fresh(std::mem::take(&mut waiting), &mut sources, losses);
            }
            match values.and_then(|values| body.placed(message, values)) {
                Some(values) => {
                    let redacted = message.raw.as_ref().map_or(0, |raw| raw.redacted);
                    (0..redacted).for_each(|_| {
                        let what = "secret that is a placeholder, or was left out with its block";
                        losses.count(what, place(message));
                    });
                    body.own(message, values);
                }
                None => waiting.push((*message).clone()),
            }
        }
        body.fresh(waiting, &mut sources, losses);
        body
    }

    /// Returns a message in its own spelling where that may stand here; `None` where it must be spelled otherwise: what was
    /// a standing instruction outside the list has no spelling inside it.
    fn placed(&self, message: &Message, values: Vec<String>) -> Option<Vec<String>> {
        let is_lead = !message.is_system() || self.list.is_empty();
        (is_lead || !values.iter().any(|value| self.is_outside(value))).then_some(values)
    }

    fn is_outside(&self, value: &str) -> bool {
        Json::check(value.as_bytes()).is_ok_and(|json| self.writing.dialect.is_outside(json))
    }

    /// Makes a system message that leads what it is outside of the list.
    fn lead(&self, value: &mut String) {
        let json = Json::check(value.as_bytes()).ok();
        let of_message = self.writing.dialect.outside.map(|outside| outside.of_message);
        if let Some(content) = json.zip(of_message).and_then(|(json, of_message)| of_message(json)) {
            *value = content.raw().to_owned();
        }
    }

    /// Adds a message in its own spelling.
    fn own(&mut self, message: &Message, mut values: Vec<String>) {
        if message.is_system() && self.list.is_empty() {
            values.iter_mut().for_each(|value| self.lead(value));
            self.own.extend(place(message).map(|at| (at, values.join("\n"))));
            if values.iter().all(|value| self.is_outside(value)) {
                self.outside_at.push(place(message));
                self.outside.extend(values);
                return;
            }
        }
        let is_answer = message.role == Role::Assistant;
        let is_reasoning = self.writing.dialect.is_of_items && is_reasoning(message);
        let is_led = self.list.iter().rev().take_while(|last| last.is_answer).any(|last| last.is_reasoning);
        // Of a call it is supposed, where others came with reasoning.
        let was_led = message.raw.as_ref().is_some_and(|raw| raw.after_reasoning)
            || self.has_reasoned && message.calls().next().is_some();
        self.has_reasoned |= is_reasoning;
        // Reasoning is known by its id alone, and asks for nothing; a compaction never changes.
        let is_fixed = is_reasoning
            || matches!(&message.parts[..], [Part::Opaque(opaque)] if opaque.kind == "compaction");
        if self.writing.dialect.is_of_items && was_led && !is_led && !is_fixed {
            // the server would ask for the reasoning by the id.
            values.iter_mut().take(1).for_each(|value| *value = without_field(value, "id"));
        }
        self.own.extend(place(message).map(|at| (at, values.join("\n"))));
        let at = place(message);
        self.list.extend(values.into_iter().map(|json| Value { json, is_reasoning, is_answer, at }));
    }

    /// Adds messages that are spelled afresh.
    fn fresh(&mut self, mut messages: Vec<Message>, sources: &mut Sources<'_>, losses: &mut Losses) {
        if messages.is_empty() {
            return;
        }
        let Writing { dialect, lead, regroup, .. } = *self.writing;
        strip(&mut messages, self.writing, sources, losses);
        if lead == Lead::Outside && self.list.is_empty() {
            let lead = messages.iter().take_while(|message| message.is_system()).count();
            for message in messages.drain(..lead) {
                media_of(&message).for_each(|media| losses.count(left_out(media), place(&message)));
                let text = message.texts().collect::<Vec<_>>().join("\n\n");
                if !text.is_empty() {
                    self.outside_at.push(place(&message));
                    self.outside.push(quoted(&text));
                } else if media_of(&message).next().is_none() {
                    losses.count(WITHOUT_CONTENT, place(&message));
                }
            }
        }
        if self.writing.later_system != LaterSystem::Anywhere {
            for message in messages.iter().filter(|message| message.is_system()) {
                losses.count("system message in mid-conversation written as the user's", place(message));
            }
        }
        let messages = regroup(messages, losses);
        // Calls may have other names now.
        messages.iter().for_each(|message| sources.note_calls(message));
        for message in messages {
            let (at, is_answer) = (place(&message), message.role == Role::Assistant);
            let values = (dialect.fresh)(&message, sources);
            if values.is_empty() {
                losses.count(WITHOUT_CONTENT, at);
            }
            let values = values.into_iter();
            self.list.extend(values.map(|json| Value { json, is_reasoning: false, is_answer, at }));
        }
    }

    /// A-02, G-01: results that came one by one, each in a message of its own, stand in one where the provider wants those of one
    /// answer together.
    fn join_results(&mut self) {
        if self.writing.session.is_some() {
            return;
        }
        let mut joined: Vec<Value> = Vec::with_capacity(self.list.len());
        // Where the results stand of the last one, as long as it holds nothing else.
        let mut open: Option<Range<usize>> = None;
        for value in std::mem::take(&mut self.list) {
            let results = if value.is_answer { None } else { results_of(self.writing.dialect, &value.json) };
            let next = results.as_ref().filter(|(_, is_all)| *is_all).map(|(list, _)| list.clone());
            match (joined.last_mut(), open.as_mut(), results) {
                (Some(last), Some(list), Some((more, is_all))) => {
                    append(&mut last.json, list, &value.json[more]);
                    open = open.filter(|_| is_all);
                }
                _ => {
                    joined.push(value);
                    open = next;
                }
            }
        }
        self.list = joined;
    }

    /// a system message in the list stays one where a request may have it; elsewhere the user says it.
    fn settle_system(&mut self, losses: &mut Losses) {
        let stays = self.writing.later_system == LaterSystem::BeforeAnswers;
        let mut before_is_said_to_model = false;
        for at in 0..self.list.len() {
            let is_before_answer = self.list.get(at + 1).is_none_or(|next| next.is_answer);
            let value = &mut self.list[at];
            let is_system = role_of(&value.json).is_some_and(|role| role == "system");
            if is_system && !(stays && before_is_said_to_model && is_before_answer) {
                losses.count("system message in mid-conversation written as the user's", value.at);
                value.json = as_the_users(&value.json);
            }
            let stays_system = role_of(&value.json).is_some_and(|role| role == "system");
            before_is_said_to_model =
                !stays_system && (!value.is_answer || ends_with_server_result(&value.json));
        }
    }

    /// Returns what a file is put together from, but for what stands around the messages.
    pub(crate) fn draft(
        mut self,
        session: Option<SessionId>,
        said: &Transcript,
        losses: &mut Losses,
    ) -> Draft {
        self.join_results();
        // reasoning is followed by what it led to; of several items of it, the last one is.
        let mut is_followed = false;
        let mut stays = Vec::with_capacity(self.list.len());
        for value in self.list.iter().rev() {
            stays.push(is_followed || !value.is_reasoning);
            is_followed = value.is_answer && (is_followed || !value.is_reasoning);
        }
        self.list.retain(|value| {
            let stays = stays.pop().unwrap_or(true);
            if !stays {
                losses.count("reasoning left out", value.at);
            }
            stays
        });
        if self.writing.later_system != LaterSystem::Anywhere {
            self.settle_system(losses);
        }
        Draft {
            is_named: session.is_some(),
            session: session.unwrap_or_else(|| said.derived_session()),
            model: None,
            tools: None,
            outside: self.outside,
            outside_at: self.outside_at,
            begins_with_answer: self.list.first().is_some_and(|first| first.is_answer),
            messages: self.list.into_iter().map(|value| value.json).collect(),
            media: Vec::new(),
        }
    }
}

/// Returns where the list stands that holds what a message says, where it begins with a result, and whether results are all there is.
fn results_of(dialect: &Dialect, message: &str) -> Option<(Range<usize>, bool)> {
    let said = (dialect.read)(Json::check(message.as_bytes()).ok()?).ok()?;
    let is_result = |located: &Located<'_>| matches!(located.part, Part::ToolResult(_));
    let Home::Element { array, .. } = said.parts.first().filter(|first| is_result(first))?.home else {
        return None;
    };
    let is_all = said.parts.len() == array.elements().len() && said.parts.iter().all(is_result);
    Some((array.range_in(message), is_all))
}

/// Returns the role of a message, as it stands in its JSON.
fn role_of(value: &str) -> Option<String> {
    Json::check(value.as_bytes()).ok()?.get("role")?.string()
}

/// Returns a message with the user's role.
fn as_the_users(value: &str) -> String {
    let mut edits = Edits::default();
    if let Some(role) = Json::check(value.as_bytes()).ok().and_then(|json| json.get("role")) {
        edits.replace(role.range_in(value), "\"user\"");
    }
    edits.apply(value)
}

/// Returns whether an answer ends with the result of a tool that the provider ran.
fn ends_with_server_result(value: &str) -> bool {
    let content = Json::check(value.as_bytes()).ok().and_then(|json| json.get("content"));
    let last = content.map(Json::elements).and_then(|blocks| blocks.last().copied());
    let kind = last.and_then(|block| block.get("type")).and_then(Json::string);
    kind.is_some_and(|kind| kind.ends_with("_tool_result"))
}
