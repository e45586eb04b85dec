//! Messages as a body has them: those spelled for the same provider in their own bytes, the others afresh.

use std::ops::Range;

use longhaul_transcript::{Message, Part, Role, SessionId, Transcript};

use super::{
    losses::{Losses, WITHOUT_CONTENT, place},
    strip::{left_out, media_of, strip},
};
use crate::{
    dialect::{Dialect, Sources},
    edit::{Edits, Home, Located, append},
    formats::{Draft, LaterSystem, Lead, Writing},
    json::{Json, quoted},
    raw::is_reasoning,
    reasoning::without_field,
    spelled::{Spelled, respelled, spelled},
};

/// A request as it grows.
pub(crate) struct Body {
    writing: &'static Writing,
    /// Standing instructions that stand outside the list, as JSON.
    outside: Vec<String>,
    /// The messages that these are of.
    outside_at: Vec<Option<usize>>,
    pub(crate) list: Vec<Value>,
    /// Whether reasoning stands in the list.
    has_reasoned: bool,
    /// The messages that are written in their own spelling, with it.
    pub(crate) own: Vec<(usize, String)>,
}

/// An item of the list.
pub(crate) struct Value {
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
