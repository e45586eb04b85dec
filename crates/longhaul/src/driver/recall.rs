//! A tool for the model itself: what a handle in a summary stands for, and what was said about something.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use longhaul_store::{Query, SummaryStore as _, readable_text};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Message, Part, Span, SummaryRecord, Tokens};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Error, Session, journal::said};
use crate::{
    compact::clip_text,
    session::{SessionState, Shown, changed, is_changed, is_gone},
};

/// A tool that the model can be given: its summaries name messages as `m12`, and this fetches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecallTool;

/// What the model asks for. What it wrote may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    /// Models call it by what it is, too.
    #[serde(alias = "handle")]
    message: Option<Value>,
    query: Option<Value>,
    from: Option<Value>,
}

/// The most that an answer costs.
const ANSWER_TOKENS: Tokens = Tokens(2_000);

/// Stands between the lines of an answer.
const BETWEEN: &str = "\n\n";

/// How many messages an answer shows.
const HITS: usize = 8;

/// How many are found, of which those that are no longer shown come first.
const LOOKED_AT: usize = 4 * HITS;

/// No text is cut below this many characters.
const LEAST_SHOWN: usize = 60;

impl RecallTool {
    /// The name under which the model calls it.
    pub const NAME: &str = "recall";

    /// What a summary says of it, for the setting [`summary_lookup`](crate::Config::summary_lookup) of a session whose model is
    /// given it.
    pub const LOOKUP: &str = "the tool recall shows {message} whole";

    /// What the model is told it does.
    pub const DESCRIPTION: &str = "Fetches earlier messages of this conversation that are no longer shown. Give `message` a handle \
        from the summary, such as m12 or m12-m15, or `query` words to search for; with both, the message is shown around these words, and \
        others that hold them too. `from` reads a long message on from there.";

    /// Returns what it takes, as JSON Schema.
    pub fn schema(self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "message": { "type": "string", "description": "a handle: m12, or m12-m15" },
                "query": { "type": "string", "description": "words that the message holds" },
                "from": { "type": "integer", "description": "of one message: where to begin, in bytes; 0 is its beginning" },
            },
        })
    }

    /// Returns the definition as requests of `format` have it; `None` for a format that can only be imported. Without the
    /// feature `wire` it is put together of the name, the description and the schema.
    #[cfg(feature = "wire")]
    pub fn of(self, format: longhaul_wire::Format) -> Option<Value> {
        let definition = format.tool_definition(Self::NAME, Self::DESCRIPTION, &self.schema().to_string())?;
        serde_json::from_str(&definition).ok()
    }
}

impl Session {
    /// Returns a tool that the model can be given; what it asks for is answered by [`recall`](Self::recall).
    pub fn recall_tool(&self) -> RecallTool {
        RecallTool
    }

    /// Answers a call of the [recall tool](Self::recall_tool) with these arguments, in at most 2,000 tokens. What
    /// cannot be answered is said in words, for the model to read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn recall(&self, arguments: &str) -> Result<String, Error> {
        let Ok(asked) = serde_json::from_str::<Asked>(arguments) else {
            return Ok(
                "the arguments are no JSON object with a handle as `message` or words as `query`".to_owned()
            );
        };
        let handles = asked.message.as_ref().map(written);
        let asked_for = asked.query.as_ref().map(written);
        let summary = handles.as_deref().and_then(|handle| self.summary_named(handle));
        let mut wanted = match (&handles, &summary) {
            (None, _) => Vec::new(),
            (Some(_), Some(record)) => vec![record.covers],
            (Some(handles), None) => match spans(handles) {
                Ok(spans) => spans,
                Err(what) => return Ok(what),
            },
        };
        if handles.is_none() && asked_for.is_none() {
            return Ok("give `message` a handle such as m12, or `query` words".to_owned());
        }
        let from = asked.from.as_ref().map(|from| written(from).parse::<usize>());
        match (from, &wanted[..]) {
            (None, _) => {}
            (Some(Ok(from)), [one]) if one.len() == 1 => return self.part(one.start, from).await,
            (Some(_), _) => return Ok("give `from` a number of bytes, and `message` one handle".to_owned()),
        }
        let (mut found, mut notes) = (Vec::new(), Vec::new());
        let is_asked = !wanted.is_empty();
        wanted.iter_mut().for_each(|span| span.end = span.end.min(self.state.originals().len() as u64));
        for span in wanted {
            let room = (HITS - found.len()) as u64;
            let shown = Span { end: span.end.min(span.start.saturating_add(room)), ..span };
            found.extend(self.said(shown).await?);
            if shown.end < span.end {
                notes.push(format!(
                    "not shown for want of room: {}; ask for it by itself",
                    named_span(shown.end, span.end)
                ));
            }
        }
        let mut by: HashMap<u64, Query> = HashMap::new();
        if let Some(query) = &asked_for {
            by.extend(found.iter().map(|(ordinal, _)| (*ordinal, Query::new(query))));
            let (hits, note) = self.found(query).await?;
            let is_new = |hit: &Found| found.iter().all(|(ordinal, _)| *ordinal != hit.ordinal);
            let room = HITS.saturating_sub(found.len());
            let hits: Vec<Found> = hits.into_iter().filter(is_new).take(room).collect();
            notes.extend(note.filter(|_| !hits.is_empty()));
            for Found { ordinal, message, by: side } in hits {
                by.insert(ordinal, Query::new(&side));
                found.push((ordinal, message));
            }
        }
        if found.is_empty() {
            let last = (self.state.originals().len() as u64).checked_sub(1).filter(|_| is_asked);
            let ends = last.map(|last| format!(": the conversation ends with m{last}"));
            return Ok(format!("nothing was found{}", ends.unwrap_or_default()));
        }
        let line = |(ordinal, message): &(u64, Message)| match is_gone(message) {
            true if is_changed(message) => {
                Line::whole(format!("m{ordinal} was changed in the store, and cannot be shown"))
            }
            true => Line::whole(format!("m{ordinal} was destroyed, and cannot be shown")),
            false => {
                let said = words(message);
                let place = by.get(ordinal).and_then(|query| query.place_in(&said));
                Line { begins: format!("m{ordinal} {}: ", message.who()), said, place }
            }
        };
        let of_summary = summary.map(|record| {
            let covers = named_span(record.covers.start, record.covers.end);
            Line::whole(format!("{} is the summary of {covers}, which begin:", record.id))
        });
        let lines = of_summary.into_iter().chain(found.iter().map(line));
        let lines: Vec<Line> = lines.chain(notes.into_iter().map(Line::whole)).collect();
        Ok(answer(&lines, self.state.counter()))
    }

    /// Returns the summary in the view that a model names by the id that stands in it.
    fn summary_named(&self, handle: &str) -> Option<Arc<SummaryRecord>> {
        let handle = handle.trim().trim_matches(['(', ')', '[', ']']);
        self.state.view().summaries().find(|record| record.id.as_str() == handle).cloned()
    }

    async fn said(&self, span: Span) -> Result<Vec<(u64, Message)>, Error> {
        let originals = self.state.originals();
        if span.is_empty() {
            return Ok(Vec::new());
        }
        match &self.journal {
            Some(journal) if !originals.missing([span]).is_empty() => {
                let held =
                    journal.store().originals_in_line(journal.line(), span).await.map_err(Error::Store)?;
                Ok(held.into_iter().map(|held| (held.ordinal, said(held))).collect())
            }
            _ => {
                let entries = self.state.clean_in(span).into_iter();
                Ok(entries.map(|entry| (entry.id.ordinal, (*entry.message).clone())).collect())
            }
        }
    }

    /// Returns what of a message follows its first `from` bytes, as far as there is room, and where to go on.
    async fn part(&self, ordinal: u64, from: usize) -> Result<String, Error> {
        let found = self.said(Span { start: ordinal, end: ordinal + 1 }).await?;
        let Some((_, message)) = found.first().filter(|(_, message)| !is_gone(message)) else {
            return Ok(format!("m{ordinal} cannot be shown"));
        };
        let said = words(message);
        if from >= said.len() {
            return Ok(format!("m{ordinal} ends before: it has {} bytes", said.len()));
        }
        let rest = &said[said.floor_char_boundary(from)..];
        let begins = format!("m{ordinal} {} from {from}: ", message.who());
        let ends = |shown: usize| match rest.len() - shown {
            0 => String::new(),
            more => format!("\n… {more} more bytes; go on with from {}", said.len() - more),
        };
        let counter = self.state.counter();
        let is_room = |shown: usize| {
            let part = format!("{begins}{}{}", &rest[..shown], ends(shown));
            counter.count_up_to(&part, ANSWER_TOKENS).is_some()
        };
        let (mut fits, mut too_long) = (0, rest.len() + 1);
        while too_long > fits + 1 {
            let at = fits.midpoint(too_long);
            if is_room(rest.floor_char_boundary(at)) { fits = at } else { too_long = at }
        }
        let shown = rest.floor_char_boundary(fits);
        Ok(format!("{begins}{}{}", &rest[..shown], ends(shown)))
    }

    /// Returns the messages that hold all of the words, the best first, or where `OR` or `|` stands between them those of one
    /// side; where there are none, those that hold the most, and a note that says so. What is still shown comes last.
    async fn found(&self, query: &str) -> Result<(Vec<Found>, Option<String>), Error> {
        let (mut found, sides): (Vec<Found>, Vec<String>) = (Vec::new(), sides(query));
        for side in sides.iter().cloned().chain(sides.iter().flat_map(|side| inflected(side))) {
            let hits = self.holding(&side, Wanted::All).await?;
            found.extend(hits.into_iter().map(|(ordinal, message)| Found {
                ordinal,
                message,
                by: side.clone(),
            }));
        }
        let mut note = None;
        if found.is_empty() {
            note = Some("no message holds all of these words: these hold some".to_owned());
            let by = sides.join(" ");
            let hits = self.holding(&by, Wanted::Some).await?.into_iter();
            found.extend(hits.map(|(ordinal, message)| Found { ordinal, message, by: by.clone() }));
        }
        let mut known = HashSet::new();
        found.retain(|hit| known.insert(hit.ordinal));
        let view = self.state.view();
        let shown: HashSet<u64> = view.shown().filter_map(whole).collect();
        found.sort_by_key(|hit| shown.contains(&hit.ordinal));
        found.truncate(HITS);
        Ok((found, note))
    }

    /// Returns the messages that hold all words of `query`, or the most of them, the best first.
    async fn holding(&self, query: &str, wanted: Wanted) -> Result<Vec<(u64, Message)>, Error> {
        if let Some(journal) = &self.journal {
            let (store, line) = (journal.store(), journal.line());
            let hits = match wanted {
                Wanted::All => store.search_in_line(line, query, LOOKED_AT).await,
                Wanted::Some => store.search_some_in_line(line, query, LOOKED_AT).await,
            };
            let hits = hits.map_err(Error::Store)?.into_iter();
            return Ok(hits.map(|hit| (hit.id.ordinal, hit.message.unwrap_or_else(changed))).collect());
        }
        let query = Query::new(query);
        let entries = self.state.clean_in(Span { start: 0, end: u64::MAX }).into_iter().rev();
        let fits = entries.map(|entry| (query.fit(&readable_text(&entry.message)), entry));
        let mut hits: Vec<_> = fits.filter(|(fit, _)| fit.missing < query.words().len()).collect();
        let least = match wanted {
            Wanted::All => Some(0),
            Wanted::Some => hits.iter().map(|(fit, _)| fit.missing).min(),
        };
        hits.retain(|(fit, _)| Some(fit.missing) == least);
        hits.sort_by_key(|(fit, _)| *fit);
        let hits = hits.into_iter().take(LOOKED_AT);
        Ok(hits.map(|(_, entry)| (entry.id.ordinal, (*entry.message).clone())).collect())
    }
}

/// How many words of a query a message must hold.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    All,
    Some,
}

/// Returns the sides of a query between which `OR` or `|` stands.
fn sides(query: &str) -> Vec<String> {
    let mut sides = vec![Vec::new()];
    for word in query.split_whitespace().flat_map(|word| word.split_inclusive('|')) {
        let (word, is_next) = match word.strip_suffix('|') {
            Some(word) => (word, true),
            None if word == "OR" => ("", true),
            None => (word, false),
        };
        sides.last_mut().into_iter().for_each(|side| side.extend(Some(word).filter(|word| !word.is_empty())));
        if is_next {
            sides.push(Vec::new());
        }
    }
    sides.iter().map(|side| side.join(" ")).filter(|side| !side.is_empty()).collect()
}

/// A message that was found, and the words that it was found by.
#[derive(Debug)]
struct Found {
    ordinal: u64,
    message: Message,
    by: String,
}

/// Returns the ordinal of a message that the view shows as it was said.
fn whole(shown: &Shown) -> Option<u64> {
    match shown {
        Shown::Message { id, digested: false, .. } => Some(id.ordinal),
        _ => None,
    }
}

/// Returns a query with one word of it in the plural or the genitive where it is not, and without that ending where it is, for each of
/// its first words.
fn inflected(query: &str) -> Vec<String> {
    /// So many words are looked for otherwise.
    const MOST: usize = 8;
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut queries = Vec::new();
    for at in 0..words.len().min(MOST) {
        for other in other_numbers(words[at]) {
            queries.push([&words[..at], &[other.as_str()], &words[at + 1..]].concat().join(" "));
        }
    }
    queries
}

/// Returns a word in the plural where it is none, and else what it may be the plural of.
fn other_numbers(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    if word.chars().count() < 3 || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let is_hissed = |stem: &str| ["s", "x", "z", "ch", "sh"].iter().any(|end| stem.ends_with(end));
    match word.strip_suffix('s') {
        Some(_) if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => vec![format!("{word}es")],
        Some(stem) => {
            let of_y = stem.strip_suffix("ie").map(|stem| format!("{stem}y"));
            let of_es = stem.strip_suffix('e').filter(|stem| is_hissed(stem)).map(str::to_owned);
            [Some(stem.to_owned()), of_y, of_es].into_iter().flatten().collect()
        }
        None if is_hissed(&word) => vec![format!("{word}es")],
        None => {
            let of_y = word.strip_suffix('y').map(|stem| format!("{stem}ies"));
            [Some(format!("{word}s")), of_y].into_iter().flatten().collect()
        }
    }
}

/// Returns what a model wrote for a text: several in a list, a number without quotes.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Returns the messages that handles name, or what to say where they name none.
fn spans(handles: &str) -> Result<Vec<Span>, String> {
    let named = handles.split([',', ';']).map(str::trim).filter(|handle| !handle.is_empty());
    let spans = named.map(span).collect::<Result<Vec<Span>, String>>()?;
    if spans.is_empty() { Err(no_handle(handles)) } else { Ok(spans) }
}

/// What an answer tells of one message, or beside them.
#[derive(Debug)]
struct Line {
    /// Stands whole.
    begins: String,
    /// May be cut.
    said: String,
    /// What was searched for stands here in it.
    place: Option<usize>,
}

impl Line {
    fn whole(text: String) -> Line {
        Line { begins: text, said: String::new(), place: None }
    }

    fn within(&self, most: Tokens, counter: &dyn TokenCounter) -> String {
        let shown = clipped_around(&self.said, self.place, most - counter.count_text(&self.begins), counter);
        format!("{}{shown}", self.begins)
    }
}

/// Returns the lines in at most [`ANSWER_TOKENS`]: what short ones leave, long ones have.
fn answer(lines: &[Line], counter: &dyn TokenCounter) -> String {
    let mut most = ANSWER_TOKENS;
    loop {
        let answer = shared_out(lines, most, counter);
        let cost = counter.count_text(&answer);
        if cost <= ANSWER_TOKENS || most == Tokens::ZERO {
            return answer;
        }
        // The lines together may cost a little more than each by itself.
        most -= cost - ANSWER_TOKENS;
    }
}

fn shared_out(lines: &[Line], most: Tokens, counter: &dyn TokenCounter) -> String {
    let whole = |line: &Line| format!("{}{}", line.begins, line.said);
    // What a line costs that is longer than all there is tells nothing.
    let cost = |line: &Line| counter.count_up_to(&(whole(line) + BETWEEN), most);
    let mut shortest_first: Vec<(usize, Option<Tokens>)> = lines.iter().map(cost).enumerate().collect();
    shortest_first.sort_by_key(|(_, cost)| cost.unwrap_or(most));
    let mut shown = vec![String::new(); lines.len()];
    let mut left = most;
    for (nth, (at, cost)) in shortest_first.iter().enumerate() {
        let share = Tokens(left.0 / (lines.len() - nth) as u64);
        (shown[*at], left) = match cost.filter(|cost| *cost <= share) {
            Some(cost) => (whole(&lines[*at]), left - cost),
            None => (lines[*at].within(share - counter.count_text(BETWEEN), counter), left - share),
        };
    }
    shown.join(BETWEEN)
}

/// Returns `text` cut so that it costs `most` at most, and hardly less, whatever it is written in.
fn clipped(text: &str, most: Tokens, counter: &dyn TokenCounter) -> String {
    if counter.count_up_to(text, most).is_some() {
        return text.to_owned();
    }
    let (mut fits, mut too_long) = (LEAST_SHOWN, text.chars().count());
    while too_long > fits + 1 {
        let limit = fits.midpoint(too_long);
        match counter.count_up_to(&clip_text(text, limit), most) {
            Some(_) => fits = limit,
            None => too_long = limit,
        }
    }
    clip_text(text, fits)
}

/// Returns `text` cut as [`clipped`] does it, so that what stands at `place` is in it.
fn clipped_around(text: &str, place: Option<usize>, most: Tokens, counter: &dyn TokenCounter) -> String {
    let whole = clipped(text, most, counter);
    let Some(place) = place else { return whole };
    if whole.contains(&text[place..text.ceil_char_boundary(place + LEAST_SHOWN)]) {
        return whole;
    }
    let before = usize::try_from(most.0).unwrap_or(usize::MAX);
    let from = text.floor_char_boundary(place.saturating_sub(before));
    clipped(&format!("… {}", &text[from..]), most, counter)
}

/// Returns how messages up to `end` are named.
fn named_span(start: u64, end: u64) -> String {
    match end.saturating_sub(1) {
        last if last <= start => format!("m{start}"),
        last => format!("m{start}-m{last}"),
    }
}

/// Returns the messages that `m12`, `12`, `m12-m15` or `m12..m15` names, or what to say where it names none.
fn span(handle: &str) -> Result<Span, String> {
    let number = |text: &str| text.trim().trim_start_matches(['m', 'M']).parse::<u64>().ok();
    let bare = handle.trim_matches(['(', ')', '[', ']']);
    let ends = match ["..=", "..", "-", "–", " to "].iter().find_map(|between| bare.split_once(between)) {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(bare).map(|at| (at, at)),
    };
    match ends.and_then(|(first, last)| Some((first, last, last.checked_add(1)?))) {
        Some((first, last, _)) if last < first => {
            Err(format!("{handle} goes backwards; ask for m{last}-m{first}"))
        }
        Some((start, _, end)) => Ok(Span { start, end }),
        None => Err(no_handle(handle)),
    }
}

fn no_handle(handle: &str) -> String {
    let handle: String = handle.chars().take(LEAST_SHOWN).collect();
    format!("{handle} is no handle; expected one like m12, or m12-m15 for several messages")
}

/// Returns what a message says, calls and results included.
fn words(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments.0)),
        Part::ToolResult(result) => {
            let media = result.content.iter().filter_map(named);
            Some([result.joined_text()].into_iter().chain(media).collect::<Vec<_>>().join("\n"))
        }
        part => named(part),
    };
    message.parts.iter().filter_map(part).collect::<Vec<_>>().join("\n")
}

/// Returns how many places of what will be sent verbatim hold a placeholder instead of a secret.
pub(super) fn placeholders(state: &SessionState) -> u64 {
    let view = state.view();
    let said = view.shown().filter_map(|shown| match shown {
        Shown::Message { message, .. } | Shown::Block { message, .. } => {
            Some(longhaul_redact::placeholders(&words(message)) as u64)
        }
        Shown::Summary { .. } => None,
    });
    said.sum()
}

/// Returns what stands for a picture or another file.
fn named(part: &Part) -> Option<String> {
    match part {
        Part::Media(media) if media.media_type.is_empty() => Some("[media]".to_owned()),
        Part::Media(media) => Some(format!("[{}]", media.media_type)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::ContextWindow;
    use longhaul_transcript::SessionId;

    use super::*;

    #[tokio::test]
    async fn the_model_gets_what_a_handle_stands_for_within_bounds() {
        let window = ContextWindow::new(Tokens(32_000), Tokens(1_000));
        let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
        session.push(Message::user("The port is 4711."));
        session.push(Message::assistant("long ".repeat(50_000)));
        let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
        assert_eq!(recall(r#"{"message":"m0"}"#).await, "m0 user: The port is 4711.");
        assert_eq!(recall(r#"{"query":"PORT 4711"}"#).await, "m0 user: The port is 4711.");
        let both = recall(r#"{"message":"m0-m1"}"#).await;
        assert!(both.starts_with("m0 user: The port is 4711.\n\nm1 assistant: long long"), "{both}");
        assert!(recall("seven").await.starts_with("the arguments are no JSON"));
        assert_eq!(recall(r#"{"message":0}"#).await, "m0 user: The port is 4711.");
        assert_eq!(recall(r#"{"handle":"m0"}"#).await, "m0 user: The port is 4711.");
        assert_eq!(recall(r#"{"message":["m0"]}"#).await, "m0 user: The port is 4711.");
        let several = recall(r#"{"message":["m1", 0]}"#).await;
        assert!(
            several.starts_with("m1 assistant: long") && several.ends_with("The port is 4711."),
            "{several}"
        );
        let none = r#"{"a":1} is no handle; expected one like m12, or m12-m15 for several messages"#;
        assert_eq!(recall(r#"{"message":{"a":1}}"#).await, none);
    }

    #[tokio::test]
    async fn a_long_message_is_shown_where_the_words_stand_and_read_on_from_anywhere() {
        let line = |nth: u64| format!("line {nth} of the log{}\n", if nth == 3_333 { " ZEBRA" } else { "" });
        let log: String = (0..4_000).map(line).collect();
        let session = asked(["Read it.".to_owned(), log.clone()]);
        let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
        let around = recall(r#"{"message":"m1","query":"ZEBRA"}"#).await;
        assert!(around.contains("line 3333 of the log ZEBRA\nline 3334"), "{around}");
        let (mut read, mut from) = (String::new(), 0);
        loop {
            let part = recall(&format!(r#"{{"message":"m1","from":{from}}}"#)).await;
            assert!(session.state().counter().count_text(&part) <= ANSWER_TOKENS);
            let said = part.strip_prefix(&format!("m1 user from {from}: ")).unwrap();
            let Some((said, next)) = said.rsplit_once("\n… ") else {
                read.push_str(said);
                break;
            };
            read.push_str(said);
            from = next.rsplit_once("from ").unwrap().1.parse().unwrap();
        }
        assert_eq!(read, log);
        let beyond = recall(r#"{"message":"m1","from":999999}"#).await;
        assert!(beyond.starts_with("m1 ends before: it has "), "{beyond}");
        let several = recall(r#"{"message":"m0-m1","from":5}"#).await;
        assert_eq!(several, "give `from` a number of bytes, and `message` one handle");
    }

    #[tokio::test]
    async fn what_is_still_shown_comes_behind_what_is_not() {
        let window = ContextWindow::new(Tokens(4_000), Tokens(500));
        let store = Arc::new(longhaul_store::MemoryStore::new());
        let builder = || Session::builder(SessionId::new("recall").unwrap(), window);
        for mut session in [builder().build().unwrap(), builder().store(store).build().unwrap()] {
            session.push(Message::user("We deploy on Fridays only, and the boxes are blue."));
            for nth in 0..60 {
                session.push(Message::assistant(format!("Part {nth}. {}", "nothing new ".repeat(30))));
                session.push(Message::user(format!("Go on with {nth}.")));
                session.prepare().await.unwrap();
            }
            session.push(Message::user("Which Friday was it, and which box was it?"));
            session.prepare().await.unwrap();
            for query in ["Friday", "box", "which fridays", "deploys"] {
                let answer = session.recall(&format!(r#"{{"query":"{query}"}}"#)).await.unwrap();
                let first = if query == "which fridays" { "m121 user" } else { "m0 user" };
                assert!(answer.starts_with(first), "{query}: {answer}");
            }
        }
    }

    /// Returns a session with these requests.
    fn asked(requests: impl IntoIterator<Item = String>) -> Session {
        let window = ContextWindow::new(Tokens(90_000), Tokens(1_000));
        let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
        requests.into_iter().for_each(|request| {
            session.push(Message::user(request));
        });
        session
    }

    #[tokio::test]
    async fn an_answer_is_bounded_in_tokens_whatever_it_is_written_in() {
        let texts = ["🦀".repeat(20_000), "漢字かな交じり文".repeat(4_000), "a b\n".repeat(9_000)];
        let session = asked(texts);
        for handle in ["m0", "m1", "m2", "m0-m2"] {
            let answer = session.recall(&format!(r#"{{"message":"{handle}"}}"#)).await.unwrap();
            let cost = session.state().counter().count_text(&answer);
            assert!((Tokens(1_900)..=Tokens(2_000)).contains(&cost), "{handle} costs {cost}");
        }
        // What short messages leave long ones have.
        let session =
            asked(["Short.".to_owned(), "a word or two ".repeat(9_000), "Short as well.".to_owned()]);
        let answer = session.recall(r#"{"message":"m0-m2"}"#).await.unwrap();
        let cost = session.state().counter().count_text(&answer);
        assert!((Tokens(1_900)..=Tokens(2_000)).contains(&cost), "{cost}");
        assert!(answer.starts_with("m0 user: Short.\n\n") && answer.ends_with("m2 user: Short as well."));
    }

    #[tokio::test]
    async fn what_names_no_message_is_told_what_would() {
        let session = asked((0..8).map(|nth| format!("Request {nth}.")));
        let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
        assert_eq!(recall(r#"{"message":"m6-m3"}"#).await, "m6-m3 goes backwards; ask for m3-m6");
        assert_eq!(recall(r#"{"message":"m1, 6..3"}"#).await, "6..3 goes backwards; ask for m3-m6");
        assert_eq!(
            recall(r#"{"message":"seven"}"#).await,
            "seven is no handle; expected one like m12, or m12-m15 for several messages"
        );
        assert_eq!(
            recall(r#"{"message":"m70-m80"}"#).await,
            "nothing was found: the conversation ends with m7"
        );
    }

    #[tokio::test]
    async fn what_more_was_asked_for_is_said_and_handles_may_be_several() {
        let session = asked((0..60).map(|nth| format!("This is about module_{nth:02} alone.")));
        let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
        let answer = recall(r#"{"message":"m0-m59"}"#).await;
        assert!(answer.ends_with("not shown for want of room: m8-m59; ask for it by itself"), "{answer}");
        let (one, two) =
            ("m1 user: This is about module_01 alone.", "m2 user: This is about module_02 alone.");
        assert_eq!(recall(r#"{"message":"m1, m2"}"#).await, format!("{one}\n\n{two}"));
        assert_eq!(recall(r#"{"message":"m1..m2"}"#).await, format!("{one}\n\n{two}"));
        assert_eq!(recall(r#"{"message":"m1","query":"module_02"}"#).await, format!("{one}\n\n{two}"));
        let either = recall(r#"{"query":"module_01 OR module_02"}"#).await;
        assert!(either.contains(one) && either.contains(two), "{either}");
        let some = recall(r#"{"query":"module_01 nowhere"}"#).await;
        assert_eq!(some, format!("{one}\n\nno message holds all of these words: these hold some"));
        assert_eq!(recall(r#"{"query":"nowhere"}"#).await, "nothing was found");
    }

    /// Words that stand scattered in newer messages came before the one that holds just what was asked for.
    #[tokio::test]
    async fn what_holds_the_query_as_it_is_written_comes_first_with_and_without_a_store() {
        let window = ContextWindow::new(Tokens(90_000), Tokens(1_000));
        let builder = || Session::builder(SessionId::new("recall").unwrap(), window);
        let store = Arc::new(longhaul_store::MemoryStore::new());
        for mut session in [builder().build().unwrap(), builder().store(store).build().unwrap()] {
            let listing = "x ".repeat(9_000);
            session
                .push(Message::user(format!("{listing} The limit is in src/part_17.rs, line 3. {listing}")));
            (0..30).for_each(|nth| {
                session.push(Message::user(format!("{nth} of 17: in src/mod.rs is no part.")));
            });
            session.save().await.unwrap();
            let answer = session.recall(r#"{"query":"src/part_17.rs"}"#).await.unwrap();
            assert!(answer.starts_with("m0 user: … "), "{answer}");
            assert!(answer.contains("The limit is in src/part_17.rs, line 3."), "{answer}");
            assert!(
                answer.contains("\n\nm30 user: 29 of 17"),
                "what is as good comes newest first: {answer}"
            );
            let some = session.recall(r#"{"query":"part_17 nowhere"}"#).await.unwrap();
            assert!(some.starts_with("m0 user") && some.contains("these hold some"), "{some}");
        }
    }

    #[test]
    #[cfg(feature = "wire")]
    fn each_format_has_the_tool_as_its_requests_do() {
        use longhaul_wire::Format;
        let tool = |format| RecallTool.of(format);
        let schema = RecallTool.schema();
        for format in [Format::Anthropic, Format::ClaudeCode] {
            let tool = tool(format).unwrap();
            assert_eq!((&tool["name"], &tool["input_schema"]), (&json!("recall"), &schema));
        }
        for format in [Format::Responses, Format::Codex] {
            let tool = tool(format).unwrap();
            assert_eq!((&tool["type"], &tool["parameters"]), (&json!("function"), &schema));
        }
        assert_eq!(tool(Format::OpenAi).unwrap()["function"]["parameters"], schema);
        assert_eq!(tool(Format::Gemini).unwrap()["functionDeclarations"][0]["parameters"], schema);
        assert_eq!(tool(Format::Meeting), None);
    }

    #[tokio::test]
    async fn a_summary_that_is_named_by_its_id_is_answered_with_what_it_stands_for() {
        let window = ContextWindow::new(Tokens(4_000), Tokens(500));
        let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
        for nth in 0..30 {
            session.push(Message::user(format!("What does src/part_{nth}.rs do?")));
            session.push(Message::assistant(format!("It computes value_{nth} and keeps it.")));
        }
        session.compact(None).await.unwrap();
        let record = session.state().summary().unwrap();
        let (id, covers) = (record.id.clone(), record.covers);
        let answer = session.recall(&format!(r#"{{"message":"{id}"}}"#)).await.unwrap();
        let begins = format!("{id} is the summary of m{}-m{}, which begin:", covers.start, covers.end - 1);
        assert!(answer.starts_with(&begins), "{answer}");
        assert!(answer.contains("m0 user: What does src/part_0.rs do?"), "{answer}");
    }
}
