//! What providers ask of the order: results directly behind their calls, not too many calls at once, and no message that says
//! nothing.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use longhaul_transcript::{CallId, Message, Part, Role, ToolResult};

use crate::{
    convert::losses::{Losses, WITHOUT_CONTENT, place},
    formats::{Blanks, Writing},
    ids,
    json::Json,
    spelled::is_spelled,
    validate::is_blank,
};

/// Returns `messages` as a request must have them: each call with an id of its own, what a user says while a tool runs behind the
/// tool's result, no message that says nothing, and calls that are too many for one message in several.
pub(crate) fn ordered<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    writing: &Writing,
    losses: &mut Losses,
) -> Vec<Cow<'a, Message>> {
    let messages = messages.into_iter().filter_map(|message| said(message, writing, losses));
    if writing.carries_all {
        return messages.collect();
    }
    let mut messages: Vec<_> = messages.flat_map(|message| results_of_the_tools(message, writing)).collect();
    ids::settle(&mut messages, writing, losses);
    let mut steps = Steps::default();
    messages.into_iter().for_each(|message| steps.add(message, writing, losses));
    if writing.dialect.format.spec().may_lack_ids {
        steps.steps.iter_mut().for_each(Step::put_in_order);
    }
    let messages = steps.into_messages();
    match (writing.dialect.is_led_by_reasoning, writing.session) {
        (true, None) => without_trailing_space(led_by_reasoning(messages, writing, losses)),
        (true, Some(_)) => led_by_reasoning(messages, writing, losses),
        (false, _) => messages,
    }
}

/// takes the white space at the end of an answer that the model is to go on with. Nothing is lost with it.
fn without_trailing_space(mut messages: Vec<Cow<'_, Message>>) -> Vec<Cow<'_, Message>> {
    let Some(last) = messages.last_mut().filter(|last| last.role == Role::Assistant) else { return messages };
    let words = match last.parts.last() {
        Some(Part::Text(text)) => text.trim_end(),
        _ => return messages,
    };
    if !words.is_empty() && last.parts.last() != Some(&Part::Text(words.to_owned())) {
        let words = Part::Text(words.to_owned());
        last.to_mut().parts.pop();
        last.to_mut().parts.push(words);
    }
    messages
}

/// leaves the reasoning of answers out that do not begin with it, or end with it. What follows goes on with the answer.
/// of a round in progress it is wanted back where the model put it.
fn led_by_reasoning<'a>(
    messages: Vec<Cow<'a, Message>>,
    writing: &Writing,
    losses: &mut Losses,
) -> Vec<Cow<'a, Message>> {
    let is_reasoning = |part: &Part| matches!(part, Part::Reasoning(_));
    let leads = |part: &Part| {
        is_reasoning(part) || matches!(part, Part::Opaque(opaque) if opaque.kind == "compaction")
    };
    let says = |message: &Message, part: &Part| match part {
        Part::ToolCall(_) => true,
        part => !is_blank_text(part) && (is_spelled(message, writing) || matches!(part, Part::Text(_))),
    };
    // Answers that follow each other are one.
    let mut led: Option<bool> = None;
    let is_led = |message: &Cow<'_, Message>| {
        let first = message.parts.iter().find(|part| says(message, part)).map(leads);
        led = led.or(first).filter(|_| message.role == Role::Assistant);
        led.unwrap_or(true)
    };
    let is_led: Vec<bool> = messages.iter().map(is_led).collect();
    let in_progress = round_in_progress(&messages);
    let mut goes_on = false;
    let mut kept = Vec::with_capacity(messages.len());
    for (at, mut message) in messages.into_iter().enumerate().rev() {
        if is_spelled(&message, writing) && message.parts.iter().any(is_reasoning) {
            let last = message.parts.iter().rfind(|part| !is_blank_text(part));
            let ends = !goes_on && last.is_some_and(is_reasoning);
            if ends || at < in_progress && !is_led[at] {
                losses.count("reasoning left out", place(&message));
                message.to_mut().parts.retain(|part| !is_reasoning(part));
            }
        }
        if !message.parts.is_empty() {
            goes_on =
                message.role == Role::Assistant && message.parts.iter().any(|part| says(&message, part));
            kept.push(message);
        }
    }
    kept.reverse();
    kept
}

/// Returns where the answers begin that the model is still at: what was called last, by it or by the provider, is not answered yet
/// or has just been.
fn round_in_progress(messages: &[Cow<'_, Message>]) -> usize {
    let is_called = |part: &Part| match part {
        Part::ToolCall(_) | Part::ToolResult(_) => true,
        Part::Opaque(opaque) => matches!(&*opaque.kind, "server_tool_use" | "mcp_tool_use"),
        _ => false,
    };
    // A note may stand behind the results.
    let is_open = messages
        .last()
        .is_some_and(|last| last.parts.last().is_some_and(is_called) || last.results().next().is_some());
    // A later system message goes out as the user's.
    let begins =
        |message: &Cow<'_, Message>| message.role != Role::Assistant && message.results().next().is_none();
    match is_open {
        true => messages.iter().rposition(begins).map_or(0, |begin| begin + 1),
        false => messages.len(),
    }
}

/// Returns `message` without its blank texts, where these cannot stay.
fn said<'a>(message: &'a Message, writing: &Writing, losses: &mut Losses) -> Option<Cow<'a, Message>> {
    let says_nothing = message.parts.iter().all(is_blank_text);
    // Of what is blank, an agent's file has its own alone.
    let is_own = || writing.carries_all || !message.parts.is_empty() && is_spelled(message, writing);
    if writing.blanks == Blanks::Stay && (!says_nothing || is_own()) {
        return Some(Cow::Borrowed(message));
    }
    if says_nothing {
        losses.count(WITHOUT_CONTENT, place(message));
        return None;
    }
    let everywhere = writing.blanks == Blanks::GoEverywhere;
    let goes = |part: &Part| match part {
        Part::Text(text) if everywhere || message.role != Role::Assistant => is_blank(text),
        Part::Text(text) => text.is_empty() && writing.blanks == Blanks::GoWhereEmpty,
        _ => false,
    };
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

/// Takes results out of the answers that they stand in, in formats whose messages hold a call together with its result.
fn results_of_the_tools<'a>(message: Cow<'a, Message>, writing: &Writing) -> Vec<Cow<'a, Message>> {
    let has_own = message.role == Role::Assistant && message.results().next().is_some();
    if !has_own || is_spelled(&message, writing) {
        return vec![message];
    }
    let Message { parts, .. } = &*message;
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
    let pieces = parts.chunk_by(|before, next| !is_result(before) && !is_result(next));
    let piece = |(nth, parts): (usize, &[Part])| {
        let role = if is_result(&parts[0]) { Role::Tool } else { Role::Assistant };
        // The first one has the spelling, for the pictures in it.
        let raw = message.raw.clone().filter(|_| nth == 0);
        Cow::Owned(Message { role, raw, parts: parts.to_vec(), ..bare(&message) })
    };
    pieces.enumerate().map(piece).collect()
}

/// Returns a message without what it says.
fn bare(message: &Message) -> Message {
    Message {
        name: message.name.clone(),
        origin: message.origin,
        speaker: message.speaker,
        ..Message::new(message.role, Vec::new())
    }
}

/// A history in the steps that providers read it in.
#[derive(Default)]
struct Steps<'a> {
    steps: Vec<Step<'a>>,
    /// The step that a call waits in for its result.
    waiting: HashMap<CallId, usize>,
    /// Those that call nothing, in order.
    silent: Vec<usize>,
    /// Those of which it was told that a result was put before them.
    told: HashSet<usize>,
}

/// What is said in one go, and the results that it gets.
#[derive(Default)]
struct Step<'a> {
    said: Vec<Cow<'a, Message>>,
    is_answer: bool,
    n_calls: usize,
    results: Vec<Cow<'a, Message>>,
    /// What was said together with the results.
    words: Vec<Cow<'a, Message>>,
}

impl Step<'_> {
    /// G-10: puts results in the order of their calls, in whatever order the tools were done and however many came together: where
    /// calls have no ids, the order alone says which is whose.
    fn put_in_order(&mut self) {
        let ids = self.said.iter().flat_map(|message| message.calls()).map(|call| call.id.clone());
        let places: HashMap<CallId, usize> = ids.enumerate().map(|(at, id)| (id, at)).collect();
        let place = |part: &Part| match part {
            Part::ToolResult(result) => places.get(&result.call_id).copied(),
            _ => None,
        };
        if self.results.iter().flat_map(|message| &message.parts).filter_map(place).is_sorted() {
            return;
        }
        let (mut apart, mut said): (Vec<Message>, Vec<Message>) = Default::default();
        for message in &self.results {
            let with = |parts| Message { parts, raw: message.raw.clone(), ..bare(message) };
            for chunk in message.parts.chunk_by(|_, next| !matches!(next, Part::ToolResult(_))) {
                // What a tool shows stands behind its result; words stand behind all of them.
                let is_shown = |part: &Part| !matches!(part, Part::Text(_));
                let (shown, words): (Vec<Part>, Vec<Part>) = chunk.iter().cloned().partition(is_shown);
                apart.extend((!shown.is_empty()).then(|| with(shown)));
                said.extend((!words.is_empty()).then(|| with(words)));
            }
        }
        apart.sort_by_key(|message| message.parts.iter().find_map(place));
        self.results = apart.into_iter().map(Cow::Owned).collect();
        self.words.splice(0..0, said.into_iter().map(Cow::Owned));
    }
}

const RESULT_FIRST: &str = "result put before what was said while its tool ran";
const TOO_MANY: &str = "calls that are too many for one message made in several";

impl<'a> Steps<'a> {
    fn add(&mut self, message: Cow<'a, Message>, writing: &Writing, losses: &mut Losses) {
        for piece in pieces(message, writing.most_calls) {
            for (step, part) in self.by_step(piece) {
                match step {
                    Some(step) => self.add_result(step, part, losses),
                    None => self.say(part, writing, losses),
                }
            }
        }
    }

    /// Returns the parts of `message`, results by the step whose calls they answer; whole where nothing comes between.
    fn by_step(&mut self, message: Cow<'a, Message>) -> Vec<(Option<usize>, Cow<'a, Message>)> {
        let mut parts: BTreeMap<Option<usize>, Vec<&Part>> = BTreeMap::new();
        let mut is_led_by_results = true;
        for part in &message.parts {
            let step = match part {
                Part::ToolResult(result) => self.waiting.remove(&result.call_id),
                _ => None,
            };
            is_led_by_results &= step.is_none() || !parts.contains_key(&None);
            parts.entry(step).or_default().push(part);
        }
        let steps: Vec<usize> = parts.keys().copied().flatten().collect();
        match &steps[..] {
            [] => return vec![(None, message)],
            [step] if parts.len() == 1 => return vec![(Some(*step), message)],
            // Words of the user may stand behind the results.
            [last] if is_led_by_results && last + 1 == self.steps.len() && !answers(&message) => {
                return vec![(Some(*last), message)];
            }
            _ => {}
        }
        let with = |(step, parts): (&Option<usize>, &Vec<&Part>)| {
            let parts = parts.iter().map(|part| (*part).clone()).collect();
            (*step, Cow::Owned(Message { parts, raw: message.raw.clone(), ..bare(&message) }))
        };
        // What is said besides stands behind the results.
        parts
            .iter()
            .skip_while(|(step, _)| step.is_none())
            .chain(parts.get_key_value(&None))
            .map(with)
            .collect()
    }

    fn add_result(&mut self, at: usize, results: Cow<'a, Message>, losses: &mut Losses) {
        let before = self.silent.partition_point(|silent| *silent <= at);
        if let Some(silent) = self.silent.get(before).filter(|silent| self.told.insert(**silent)) {
            losses.count(RESULT_FIRST, place(&self.steps[*silent].said[0]));
        }
        let step = &mut self.steps[at];
        // Words that stand behind results stand behind these too.
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        if let Some(last) = step.results.pop_if(|last| !last.parts.last().is_some_and(is_result)) {
            let (came, words) = last.parts.iter().cloned().partition(is_result);
            let with = |parts| Cow::Owned(Message { parts, raw: last.raw.clone(), ..bare(&last) });
            step.results.push(with(came));
            step.words.push(with(words));
        }
        step.results.push(results);
    }

    fn say(&mut self, message: Cow<'a, Message>, writing: &Writing, losses: &mut Losses) {
        if !self.goes_on(&message, writing, losses) {
            if calls(&message) == 0 {
                self.silent.push(self.steps.len());
            }
            self.steps.push(Step { is_answer: answers(&message), ..Step::default() });
        }
        let at = self.steps.len() - 1;
        self.waiting.extend(message.calls().map(|call| (call.id.clone(), at)));
        let step = &mut self.steps[at];
        step.n_calls += calls(&message);
        if step.n_calls > 0 && self.silent.last() == Some(&at) {
            self.silent.pop();
        }
        step.said.push(message);
    }

    /// O-01, O-05: returns whether `message` is said in one go with what was said last. Where answers are read each by itself, those
    /// that go out as they were spelled are, and words behind calls.
    fn goes_on(&self, message: &Message, writing: &Writing, losses: &mut Losses) -> bool {
        let Some(step) = self.steps.last() else { return false };
        if message.role != Role::Assistant || !step.is_answer || !step.results.is_empty() {
            return false;
        }
        let is_own = |message: &Message| is_spelled(message, writing);
        let is_apart =
            || is_own(message) || says_words(message) || step.said.last().is_some_and(|last| is_own(last));
        if writing.reads_as_one || step.n_calls == 0 {
            return true;
        }
        let is_too_many = step.n_calls + calls(message) > writing.most_calls;
        if is_too_many {
            losses.count(TOO_MANY, place(message));
        }
        !is_too_many && !is_apart()
    }

    fn into_messages(self) -> Vec<Cow<'a, Message>> {
        let steps = self.steps.into_iter();
        steps.flat_map(|step| step.said.into_iter().chain(step.results).chain(step.words)).collect()
    }
}

fn answers(message: &Message) -> bool {
    message.role == Role::Assistant || message.calls().next().is_some()
}

fn calls(message: &Message) -> usize {
    message.calls().count()
}

/// Returns a message in pieces of at most `most` calls.
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
    let piece = |parts| Cow::Owned(Message { parts, raw: message.raw.clone(), ..bare(&message) });
    pieces.into_iter().map(piece).collect()
}

/// Returns whether a message says something beside its reasoning, and calls nothing.
fn says_words(message: &Message) -> bool {
    calls(message) == 0 && !message.parts.iter().all(|part| matches!(part, Part::Reasoning(_)))
}
