//! What providers ask of the order: results directly behind their calls, not too many calls at once, and no message that says
//! nothing.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use longhaul_transcript::{CallId, Message, Part, Role, ToolResult};

use crate::{
    convert::losses::{Losses, WITHOUT_CONTENT, place},
    formats::{Answers, Blanks, Order, Writing},
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
        Order::ResultsFirst { most_calls, answers } => {
            apart(results_first(messages, losses), most_calls, answers, writing, losses)
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
    let odd = if everywhere { with_blank_blocks(message) } else { HashSet::new() };
    let is_odd =
        |part: &Part| matches!(part, Part::ToolResult(result) if odd.contains(result.call_id.as_str()));
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

/// Returns the calls whose results came with a block of white space; as a text of its own this may stand.
fn with_blank_blocks(message: &Message) -> HashSet<String> {
    let has_blank = message.results().any(|result| result.content.iter().any(is_blank_text));
    let raw = message.raw.as_ref().filter(|_| has_blank);
    let json = raw.and_then(|raw| Json::check(raw.json.as_bytes()).ok());
    let blocks = json.and_then(|json| json.get("content")).map(Json::elements).unwrap_or_default();
    let blocks = blocks.iter().filter(|block| block.get("content").is_some_and(Json::is_array));
    blocks.filter_map(|block| block.get("tool_use_id")?.string()).collect()
}

const RESULT_FIRST: &str = "result put before what was said while its tool ran";

fn results_first<'a>(mut messages: Vec<Cow<'a, Message>>, losses: &mut Losses) -> Vec<Cow<'a, Message>> {
    // What follows an answer, up to the next one. A simulated user may call tools too.
    for segment in messages.split_mut(|message| answers(message)) {
        if !segment.is_sorted_by_key(|message| !shows(message)) {
            let at = segment.iter().find(|message| !shows(message)).and_then(|message| place(message));
            segment.sort_by_key(|message| !shows(message));
            losses.count(RESULT_FIRST, at);
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

/// Returns whether a message is written as it was spelled, in a message of its own.
pub(crate) fn is_spelled(message: &Message, writing: &Writing) -> bool {
    message.raw.as_ref().is_some_and(|raw| *raw.format == *writing.dialect.format.name())
}

/// O-01, O-05: has the results of calls directly behind the message that makes them, where answers follow each other that go out as
/// they were spelled, or calls that are made at once are too many.
fn apart<'a>(
    messages: Vec<Cow<'a, Message>>,
    most: usize,
    reads: Answers,
    writing: &Writing,
    losses: &mut Losses,
) -> Vec<Cow<'a, Message>> {
    let is_own = |message: &Message| is_spelled(message, writing);
    // An exchange: answers that follow each other, and all up to the next one.
    let is_within = |before: &Cow<'_, Message>, next: &Cow<'_, Message>| {
        !answers(next) || answers(before) && !shows(before)
    };
    let mut parted = Vec::with_capacity(messages.len());
    for exchange in messages.chunk_by(is_within) {
        let lead = &exchange[..exchange.iter().take_while(|message| answers(message)).count()];
        let n_calls = exchange.iter().map(|message| calls(message)).sum::<usize>();
        let calls_first = lead.iter().rev().skip(1).any(|message| calls(message) > 0);
        let words_behind = lead.iter().skip_while(|message| calls(message) == 0).any(|said| says_words(said));
        let has_own = || lead.iter().any(|message| is_own(message));
        let is_several = calls_first
            && match reads {
                Answers::AsOne => false,
                Answers::Joined => has_own(),
                Answers::Apart => words_behind || has_own(),
            };
        if n_calls <= most && !is_several {
            parted.extend_from_slice(exchange);
            continue;
        }
        if n_calls > most {
            losses.count("calls that are too many for one message made in several", place(&exchange[0]));
        }
        // What a message holds together with its calls counts as well.
        let own: HashSet<&CallId> = lead.iter().flat_map(|said| said.calls()).map(|call| &call.id).collect();
        let mut groups = groups(lead.iter().filter_map(|said| without_results(said, &own)), most, is_own);
        for words in groups.iter().skip(1).filter_map(|group| group.first()).filter(|said| calls(said) == 0) {
            losses.count(RESULT_FIRST, place(words));
        }
        let calls = |(nth, group): (usize, &Vec<Cow<'_, Message>>)| {
            let ids = group.iter().flat_map(|said| said.calls()).map(|call| (call.id.clone(), nth));
            ids.collect::<Vec<_>>()
        };
        let group_of: HashMap<CallId, usize> = groups.iter().enumerate().flat_map(calls).collect();
        let mut rest = Vec::new();
        for (at, message) in exchange.iter().enumerate() {
            for (group, part) in by_group(message, &group_of) {
                match group {
                    Some(group) => groups[group].push(of_a_tool(part)),
                    None if at < lead.len() => {}
                    None => rest.push(part),
                }
            }
        }
        parted.extend(groups.into_iter().flatten().chain(rest));
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
        if n_calls > 0 && (is_closed || own || says_words(&piece) || n_calls + n > most) {
            groups.push(std::mem::take(&mut group));
            n_calls = 0;
        }
        is_closed = own;
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

/// Returns whether a message says something beside its reasoning, and calls nothing.
fn says_words(message: &Message) -> bool {
    calls(message) == 0 && !message.parts.iter().all(|part| matches!(part, Part::Reasoning(_)))
}

/// Returns what `message` says beside the results of `own` calls.
fn without_results<'a>(message: &Cow<'a, Message>, own: &HashSet<&CallId>) -> Option<Cow<'a, Message>> {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(result) if own.contains(&result.call_id));
    if !message.parts.iter().any(is_result) {
        return Some(message.clone());
    }
    let parts: Vec<Part> = message.parts.iter().filter(|part| !is_result(part)).cloned().collect();
    (!parts.is_empty()).then(|| Cow::Owned(Message { parts, ..(**message).clone() }))
}

/// Returns the parts of `message`, results by the group whose calls they answer.
fn by_group<'a>(
    message: &Cow<'a, Message>,
    group_of: &HashMap<CallId, usize>,
) -> Vec<(Option<usize>, Cow<'a, Message>)> {
    let group = |part: &Part| match part {
        Part::ToolResult(result) => group_of.get(&result.call_id).copied(),
        _ => None,
    };
    let mut parts: BTreeMap<Option<usize>, Vec<Part>> = BTreeMap::new();
    message.parts.iter().for_each(|part| parts.entry(group(part)).or_default().push(part.clone()));
    if parts.len() <= 1 {
        return vec![(parts.into_keys().next().flatten(), message.clone())];
    }
    let bare = Message { parts: Vec::new(), ..(**message).clone() };
    let with = |(group, parts)| (group, Cow::Owned(Message { parts, ..bare.clone() }));
    parts.into_iter().map(with).collect()
}
