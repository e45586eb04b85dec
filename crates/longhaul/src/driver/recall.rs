//! A tool for the model itself: what a handle in a summary stands for, and what was said about something.

mod answer;
mod find;
mod handles;

use std::sync::Arc;

use longhaul_store::{Query, SummaryStore as _};
use longhaul_transcript::{Message, Part, Span, SummaryRecord};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Error, Session, journal::said};
use crate::session::{SessionState, Shown, is_changed, is_gone};
use answer::{ANSWER_TOKENS, Line, answer};
use find::Found;
use handles::{named_span, spans, written};

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

/// How many messages an answer shows.
const HITS: usize = 8;

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
        let asked = match serde_json::from_str::<Asked>(arguments) {
            Ok(asked) if asked.message.is_some() || asked.query.is_some() => asked,
            Ok(_) => return Ok("give `message` a handle such as m12, or `query` words".to_owned()),
            Err(_) => {
                let what = "the arguments are no JSON object with a handle as `message` or words as `query`";
                return Ok(what.to_owned());
            }
        };
        let handles = asked.message.as_ref().map(written);
        let summary = handles.as_deref().and_then(|handle| self.summary_named(handle));
        let named = match (&handles, &summary) {
            (None, _) => Vec::new(),
            (Some(_), Some(record)) => vec![record.covers],
            (Some(handles), None) => match spans(handles) {
                Ok(spans) => spans,
                Err(what) => return Ok(what),
            },
        };
        let from = asked.from.as_ref().map(|from| written(from).parse::<usize>());
        match (from, &named[..]) {
            (None, _) => {}
            (Some(Ok(from)), [one]) if one.len() == 1 => return self.part(one.start, from).await,
            (Some(_), _) => return Ok("give `from` a number of bytes, and `message` one handle".to_owned()),
        }
        let (mut told, mut notes) = self.named(&named).await?;
        if let Some(query) = asked.query.as_ref().map(written) {
            let (hits, note) = self.found(&query).await?;
            let is_new = |hit: &Found| told.iter().all(|known| known.ordinal != hit.ordinal);
            let hits: Vec<Found> =
                hits.into_iter().filter(is_new).take(HITS.saturating_sub(told.len())).collect();
            notes.extend(note.filter(|_| !hits.is_empty()));
            told.iter_mut().for_each(|named| named.by.clone_from(&query));
            told.extend(hits);
        }
        if told.is_empty() {
            let last = (self.state.originals().len() as u64).checked_sub(1).filter(|_| !named.is_empty());
            let ends = last.map(|last| format!(": the conversation ends with m{last}"));
            return Ok(format!("nothing was found{}", ends.unwrap_or_default()));
        }
        let of_summary = summary.map(|record| {
            let covers = named_span(record.covers.start, record.covers.end);
            Line::whole(format!("{} is the summary of {covers}, which begin:", record.id))
        });
        let lines = of_summary.into_iter().chain(told.iter().map(line));
        let lines: Vec<Line> = lines.chain(notes.into_iter().map(Line::whole)).collect();
        Ok(answer(&lines, self.state.counter()))
    }

    /// Returns the messages that were named, as many as an answer shows, and notes on those it does not.
    async fn named(&self, spans: &[Span]) -> Result<(Vec<Found>, Vec<String>), Error> {
        let (mut named, mut notes) = (Vec::new(), Vec::new());
        let ends = self.state.originals().len() as u64;
        for Span { start, end } in spans.iter().map(|span| Span { end: span.end.min(ends), ..*span }) {
            let shown = end.min(start.saturating_add((HITS - named.len()) as u64));
            let said = self.said(Span { start, end: shown }).await?.into_iter();
            named.extend(said.map(|(ordinal, message)| Found { ordinal, message, by: String::new() }));
            if shown < end {
                let left = named_span(shown, end);
                notes.push(format!("not shown for want of room: {left}; ask for it by itself"));
            }
        }
        Ok((named, notes))
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
}

/// Returns what an answer tells of one message, and where in it the words stand that it was found by.
fn line(Found { ordinal, message, by }: &Found) -> Line {
    if is_changed(message) {
        return Line::whole(format!("m{ordinal} was changed in the store, and cannot be shown"));
    }
    if is_gone(message) {
        return Line::whole(format!("m{ordinal} was destroyed, and cannot be shown"));
    }
    let said = words(message);
    let place = if by.is_empty() { None } else { Query::new(by).place_in(&said) };
    let lacks = if by.is_empty() || place.is_some() { "" } else { " (without these words)" };
    Line { begins: format!("m{ordinal} {}{lacks}: ", message.who()), said, place }
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
        Shown::Message { message, .. } | Shown::Block { message, .. } | Shown::Instruction { message } => {
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
mod tests;
