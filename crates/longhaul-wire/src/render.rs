//! Messages as a request: what came in spelled for the same provider goes out in the same bytes, what was shortened since is
//! patched in place, and the rest is spelled afresh.

use longhaul_transcript::{Message, Origin, SessionId, Transcript};

use crate::{
    Format, WireError, cache,
    convert::{
        encoded,
        losses::{Losses, place},
        messages::Body,
        strip::{left_out, media_of},
        unread::{Known, by_place},
    },
    dialect::Sources,
    order::ordered,
    repair::repair_for,
    spelled::spelled,
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
