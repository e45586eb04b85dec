//! What an agent is told of a conversation that it has compacted: a summary of all of it, behind which nothing stays.

use anyhow::Result;
use longhaul::{
    extract::{FactIndex, speaker::segments},
    store::{Original, readable_text},
    summarize::{
        SummaryRequest,
        rules::{Reading, RulesOptions},
    },
    transcript::{Message, SessionId, Span, Tokens, Transcript},
};

use crate::{archive::Archive, args::CounterArgs, counter};

/// The most that the notes may cost; the agent's own summary stands beside them.
const NOTES: Tokens = Tokens(2_000);

/// Returns a summary by rule of what is stored of `session`, to its last message, with the newest request in it, of no more than so
/// many bytes where rules can be that short. It is made of the originals: what was forgotten meanwhile is not in it.
pub(super) fn of(archive: &Archive, session: &SessionId, bytes: usize) -> Result<String> {
    /// So often it is made anew where it is longer than its tokens suggest.
    const TRIES: usize = 4;
    let all = Span { start: 0, end: archive.wait(archive.store.require(session))?.messages };
    let message = |original: Original| original.message.unwrap_or_else(|| Message::user(""));
    let said: Transcript = archive.originals(session, all)?.into_iter().map(message).collect();
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let (counter, options) = (counter::choose(&CounterArgs::default())?.counter, RulesOptions::default());
    let reading = Reading::new(&index, &*counter, &options).of(said.entries());
    let notes = |limit: Tokens| {
        reading.summarize(&SummaryRequest::new(session, said.entries(), &index, &*counter, limit)).text
    };
    let (mut limit, mut text) = (NOTES, notes(NOTES));
    // A talk is told without one.
    let request = match text.lines().any(|line| line.starts_with("## Request (")) {
        true => String::new(),
        false => newest_request(archive, session)?,
    };
    let room = bytes.saturating_sub(request.len());
    for _ in 1..TRIES {
        if text.len() <= room {
            break;
        }
        // What was done last stands at the end: it is made shorter, and not cut.
        limit = limit.scaled(0.97 * room as f64 / text.len() as f64);
        text = notes(limit);
    }
    Ok(request + &text)
}

/// Returns what the messages cost that are stored of `session`.
pub(super) fn cost(archive: &Archive, session: &SessionId) -> Result<Tokens> {
    let all = Span { start: 0, end: archive.wait(archive.store.require(session))?.messages };
    let counter = counter::choose(&CounterArgs::default())?.counter;
    let said = archive.originals(session, all)?.into_iter().filter_map(|original| original.message);
    Ok(said.map(|message| counter.count_message(&message)).sum())
}

/// Returns the newest message of a person's, as a summary tells a request; empty where there is none.
pub(super) fn newest_request(archive: &Archive, session: &SessionId) -> Result<String> {
    /// The most of it that is told, in bytes.
    const LONGEST: usize = 1_500;
    let Some((ordinal, said)) = newest_of_a_person(archive, session)? else { return Ok(String::new()) };
    let asked = readable_text(&said);
    let asked = asked.trim();
    let end = asked.floor_char_boundary(LONGEST.min(asked.len()));
    let more = if end < asked.len() { " …" } else { "" };
    Ok(format!("## Request (m{ordinal})\n{}{more}\n", &asked[..end]))
}

fn newest_of_a_person(archive: &Archive, session: &SessionId) -> Result<Option<(u64, Message)>> {
    /// So many are looked at together.
    const STEP: u64 = 64;
    let is_persons = |message: &Message| {
        // Some of it the agent puts into the person's mouth.
        message.is_user_text() && segments(message).iter().any(|segment| segment.is_persons())
    };
    let mut end = archive.wait(archive.store.require(session))?.messages;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let some = archive.originals(session, Span { start, end })?.into_iter().rev();
        let mut said = some.filter_map(|original| Some((original.ordinal, original.message?)));
        if let Some(found) = said.find(|(_, message)| is_persons(message)) {
            return Ok(Some(found));
        }
        end = start;
    }
    Ok(None)
}

/// Returns what of `text` fits into so many bytes, in whole lines where there are several.
pub(super) fn whole_lines(text: &str, bytes: usize) -> &str {
    let end = text.floor_char_boundary(bytes.min(text.len()));
    let is_cut = end < text.len();
    &text[..text[..end].rfind('\n').filter(|_| is_cut).unwrap_or(end)]
}
