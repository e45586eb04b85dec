//! What providers ask of the order: results directly behind their calls, not too many calls at once, and no message that says
//! nothing.

use std::{borrow::Cow, collections::HashSet};

use longhaul_transcript::{CallId, Message, Part, Role, ToolResult};

use crate::{
    convert::losses::{Losses, WITHOUT_CONTENT, place},
    formats::{Blanks, Order, Writing},
    json::Json,
    validate::is_blank,
};

/// Returns `messages` as a request must have them: what a user says while a tool runs stands behind the tool's result, a message
/// that says nothing is left out, and calls that are too many for one message are made in several.
pub(crate) fn ordered<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    writing: &Writing,
    losses: &mut Losses,
) -> Vec<Cow<'a, Message>> {
    let messages = messages.into_iter().filter_map(|message| said(message, writing, losses)).collect();
    match writing.order {
        Order::AsSaid => messages,
        Order::ResultsFirst { most_calls } => {
            apart(results_first(messages, losses), most_calls, writing, losses)
        }
    }
}

/// Returns `message` without its blank texts, where these cannot stay.
fn said<'a>(message: &'a Message, writing: &Writing, losses: &mut Losses) -> Option<Cow<'a, Message>> {
    if writing.blanks == Blanks::Stay {
        return Some(Cow::Borrowed(message));
    }
    if message.parts.iter().all(is_blank_text) {
        losses.count(WITHOUT_CONTENT, place(message));
        return None;
    }
    let everywhere = writing.blanks == Blanks::GoEverywhere;
    let goes = |part: &Part| is_blank_text(part) && (everywhere || message.role != Role::Assistant);
    let is_odd = |part: &Part| everywhere && has_blank_block(message, part);
    if !message.parts.iter().any(|part| goes(part) || is_odd(part)) {
        return Some(Cow::Borrowed(message));
    }
    let without = |part: &Part| match part {
        Part::ToolResult(result) if is_odd(part) => {
            let content = result.content.iter().filter(|part| !is_blank_text(part)).cloned().collect();
            Part::ToolResult(ToolResult { content, ..result.clone() })
        }
        part => part.clone(),
    };
    let parts = message.parts.iter().filter(|part| !goes(part)).map(without).collect();
    Some(Cow::Owned(Message { parts, ..message.clone() }))
}

fn is_blank_text(part: &Part) -> bool {
    matches!(part, Part::Text(text) if is_blank(text))
}

/// Returns whether a part is a result that came with a block of white space; as a text of its own this may stand.
fn has_blank_block(message: &Message, part: &Part) -> bool {
    let (Part::ToolResult(result), Some(raw)) = (part, &message.raw) else { return false };
    result.content.iter().any(is_blank_text)
        && Json::check(raw.json.as_bytes()).is_ok_and(|json| {
            let blocks = json.get("content").map(Json::elements).unwrap_or_default();
            let is_it = |block: &Json<'_>| {
                block
                    .get("tool_use_id")
                    .and_then(Json::string)
                    .is_some_and(|id| id == result.call_id.as_str())
            };
            blocks
                .iter()
                .filter(|block| is_it(block))
                .any(|block| block.get("content").is_some_and(Json::is_array))
        })
}

fn results_first<'a>(mut messages: Vec<Cow<'a, Message>>, losses: &mut Losses) -> Vec<Cow<'a, Message>> {
    // What follows an answer, up to the next one. A simulated user may call tools too.
    for segment in messages.split_mut(|message| answers(message)) {
        if !segment.is_sorted_by_key(|message| !shows(message)) {
            let at = segment.iter().find(|message| !shows(message)).and_then(|message| place(message));
            segment.sort_by_key(|message| !shows(message));
            losses.count("result put before what was said while its tool ran", at);
        }
    }
    messages
}

fn answers(message: &Message) -> bool {
    message.role == Role::Assistant || message.calls().next().is_some()
}

fn shows(message: &Message) -> bool {
    message.results().next().is_some()
}

/// O-01, O-05: has the results of calls directly behind the message that makes them, where answers follow each other that go out as
/// they were spelled, or calls that are made at once are more than `most`.
fn apart<'a>(
    messages: Vec<Cow<'a, Message>>,
    most: usize,
    writing: &Writing,
    losses: &mut Losses,
) -> Vec<Cow<'a, Message>> {
    let is_own = |message: &Message| {
        let format = message.raw.as_ref().map(|raw| &*raw.format);
        calls(message) > 0 && format == Some(writing.dialect.format.name())
    };
    // An exchange: answers that follow each other, and all up to the next one.
    let is_within = |before: &Cow<'_, Message>, next: &Cow<'_, Message>| {
        !answers(next) || answers(before) && !shows(before)
    };
    let mut parted = Vec::with_capacity(messages.len());
    for exchange in messages.chunk_by(is_within) {
        let n_calls = exchange.iter().map(|message| calls(message)).sum::<usize>();
        let n_callers = exchange.iter().filter(|message| calls(message) > 0).count();
        let is_several = most < usize::MAX && n_callers > 1 && exchange.iter().any(|message| is_own(message));
        if n_calls <= most && !is_several {
            parted.extend_from_slice(exchange);
            continue;
        }
        if n_calls > most {
            losses.count("calls that are too many for one message made in several", place(&exchange[0]));
        }
        // What a message holds together with its calls counts as well.
        let said = exchange.iter().take_while(|message| answers(message));
        let said = said.filter_map(|message| only(message, |id| id.is_none()));
        let mut told: HashSet<&CallId> = HashSet::new();
        let groups = groups(said, most, is_own);
        for group in &groups {
            let ids: HashSet<&CallId> =
                group.iter().flat_map(|said| said.calls()).map(|call| &call.id).collect();
            parted.extend_from_slice(group);
            let is_of_it = |id: Option<&CallId>| id.is_some_and(|id| ids.contains(id));
            parted.extend(exchange.iter().filter_map(|message| only(message, is_of_it)).map(of_a_tool));
            told.extend(ids);
        }
        let rest = exchange.iter().skip_while(|message| answers(message));
        parted.extend(rest.filter_map(|message| only(message, |id| id.is_none_or(|id| !told.contains(id)))));
    }
    parted
}

fn calls(message: &Message) -> usize {
    message.calls().count()
}

/// Returns results that an answer held as what a tool says.
fn of_a_tool(results: Cow<'_, Message>) -> Cow<'_, Message> {
    match results.role {
        Role::Assistant => Cow::Owned(Message { role: Role::Tool, raw: None, ..results.into_owned() }),
        _ => results,
    }
}

/// Returns what these messages say in groups of at most `most` calls, those that are spelled already each in a group of its own. A
/// message that makes more calls is cut.
fn groups<'a>(
    messages: impl Iterator<Item = Cow<'a, Message>>,
    most: usize,
    is_own: impl Fn(&Message) -> bool,
) -> Vec<Vec<Cow<'a, Message>>> {
    let (mut groups, mut group, mut n_calls, mut is_closed) = (Vec::new(), Vec::new(), 0, false);
    for piece in messages.flat_map(|message| pieces(message, most)) {
        let (n, own) = (calls(&piece), is_own(&piece));
        if n > 0 && n_calls > 0 && (is_closed || own || n_calls + n > most) {
            groups.push(std::mem::take(&mut group));
            n_calls = 0;
        }
        is_closed = own || n == 0 && is_closed;
        n_calls += n;
        group.push(piece);
    }
    groups.push(group);
    groups
}

fn pieces(message: Cow<'_, Message>, most: usize) -> Vec<Cow<'_, Message>> {
    if calls(&message) <= most {
        return vec![message];
    }
    let (mut pieces, mut n_calls) = (vec![Vec::new()], 0);
    for part in &message.parts {
        n_calls += usize::from(matches!(part, Part::ToolCall(_)));
        if n_calls > most {
            pieces.push(Vec::new());
            n_calls = 1;
        }
        pieces.last_mut().into_iter().for_each(|piece| piece.push(part.clone()));
    }
    let piece = |parts| Cow::Owned(Message { parts, ..(*message).clone() });
    pieces.into_iter().map(piece).collect()
}

/// Returns the parts of `message` that are wanted, each by the call that it answers.
fn only<'a>(
    message: &Cow<'a, Message>,
    is_wanted: impl Fn(Option<&CallId>) -> bool,
) -> Option<Cow<'a, Message>> {
    let is_wanted = |part: &Part| match part {
        Part::ToolResult(result) => is_wanted(Some(&result.call_id)),
        _ => is_wanted(None),
    };
    if message.parts.iter().all(is_wanted) {
        return Some(message.clone());
    }
    let parts: Vec<Part> = message.parts.iter().filter(|part| is_wanted(part)).cloned().collect();
    (!parts.is_empty()).then(|| Cow::Owned(Message { parts, ..(**message).clone() }))
}
