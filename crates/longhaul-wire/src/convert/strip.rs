//! What a format cannot say is taken out, and told.

use longhaul_transcript::{CallKind, Media, MediaKind, Message, Outcome, Part, Role, ToolCall};

use super::losses::{Losses, WITHOUT_CONTENT, place};
use crate::{
    dialect::{Dialect, Sources},
    formats::{Blanks, Writing},
    json::Json,
    media::Data,
    validate::is_blank,
};

/// Takes out what the dialect cannot say.
pub(crate) fn strip(
    messages: &mut Vec<Message>,
    writing: &Writing,
    sources: &Sources<'_>,
    losses: &mut Losses,
) {
    let dialect = writing.dialect;
    for message in messages.iter_mut() {
        let at = place(message);
        if message.parts.is_empty() && !writing.carries_all {
            losses.count(WITHOUT_CONTENT, at);
        }
        let says = |part: &Part, losses: &mut Losses| is_sayable(part, at, writing, sources, losses);
        let name = message.name.take();
        let is_tool =
            |name: &str| message.results().any(|result| sources.name_of(result.call_id.as_str()) == name);
        match name {
            Some(name) if (dialect.takes_name)(&name) && message.role != Role::Tool => {
                message.name = Some(name)
            }
            Some(name) if !is_tool(&name) => losses.count("name of a speaker left out", at),
            _ => {}
        }
        message.parts.retain_mut(|part| match part {
            Part::ToolResult(result) => {
                if result.outcome == Outcome::Failed && !dialect.marks_failure {
                    losses.count("a failed result is marked by its text alone", at);
                }
                result.content.retain(|part| says(part, losses));
                true
            }
            Part::ToolCall(call) => {
                if call.kind == CallKind::Custom && !dialect.has_custom_calls {
                    losses.count("call with a text of its own form written as a function's", at);
                } else if !has_arguments_as_they_are(call, dialect, sources) {
                    losses.count("call whose arguments are no JSON object, carried in one", at);
                }
                true
            }
            part => says(part, losses),
        });
    }
    // What is left beside reasoning may be blank, which nobody takes for an answer (U-11).
    let is_said =
        |part: &Part| !matches!(part, Part::Text(text) if is_blank(text)) || writing.blanks == Blanks::Stay;
    messages.retain(|message| message.parts.iter().any(is_said) || writing.carries_all);
}

/// Returns whether a dialect carries the arguments of `call` as the model wrote them, which may have been cut off: some want an object,
/// and get one around them.
fn has_arguments_as_they_are(call: &ToolCall, dialect: &Dialect, sources: &Sources<'_>) -> bool {
    let text = &*call.arguments.0;
    if text.trim().is_empty() || Json::check(text.as_bytes()).is_ok_and(Json::is_object) {
        return true;
    }
    let alone = Message::new(Role::Assistant, vec![Part::ToolCall(call.clone())]);
    (dialect.fresh)(&alone, sources).iter().any(|value| {
        let said = Json::check(value.as_bytes()).ok().and_then(|json| (dialect.read)(json).ok());
        let parts = said.into_iter().flat_map(|said| said.parts);
        parts.map(|located| located.part).any(|part| match part {
            Part::ToolCall(written) => written.arguments == call.arguments,
            _ => false,
        })
    })
}

fn is_sayable(
    part: &Part,
    at: Option<usize>,
    writing: &Writing,
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> bool {
    let dialect = writing.dialect;
    let (is_carried, what) = match part {
        Part::Reasoning(reasoning)
            if writing.carries_all || dialect.says_reasoning && !reasoning.text.is_empty() =>
        {
            if reasoning.opaque_bytes > 0 {
                losses.count("signature of reasoning left out", at);
            }
            (true, String::new())
        }
        Part::Reasoning(_) => (false, "reasoning left out".to_owned()),
        Part::Opaque(opaque) => (writing.carries_all, format!("block of type {:?} left out", opaque.kind)),
        Part::Media(media) => {
            // Where it may not stand with who says it, the user shows it.
            let message = Message::new(Role::User, vec![part.clone()]);
            let payload = sources.media.get(&media.hash);
            let is_read = payload.is_none_or(|payload| match &payload.data {
                Data::Url(url) => (dialect.reaches)(url),
                _ => true,
            });
            let can = is_read && !(dialect.fresh)(&message, sources).is_empty();
            let is_unlike = sources.is_unlike(&media.hash) && media.kind == MediaKind::Image;
            let has_detail = payload.is_some_and(|payload| payload.detail.is_some());
            if can && !dialect.has_detail && (has_detail || is_unlike) {
                losses.count("picture without the detail that was asked for it", at);
            }
            if can && !dialect.has_file_names && payload.is_some_and(|payload| payload.name.is_some()) {
                losses.count("file without its name", at);
            }
            let is_said = match media.kind {
                MediaKind::Image => dialect.has_detail,
                _ => dialect.has_file_names,
            };
            if can && is_said && sources.is_unlike(&media.hash) {
                losses.count("picture or file that stands there twice with one detail and name for both", at);
            }
            (can, left_out(media))
        }
        _ => (true, String::new()),
    };
    if !is_carried {
        losses.count(what, at);
    }
    is_carried
}

/// Says that a picture or file is left out.
pub(crate) fn left_out(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "picture",
        MediaKind::Audio => "sound",
        _ => "file",
    };
    match media.media_type.is_empty() {
        true => format!("{kind} left out"),
        false => format!("{kind} of type {:?} left out", media.media_type),
    }
}

/// Returns the media of a message, those inside results included.
pub(crate) fn media_of(message: &Message) -> impl Iterator<Item = &Media> {
    let inner = message.results().flat_map(|result| &result.content);
    message.parts.iter().chain(inner).filter_map(|part| match part {
        Part::Media(media) => Some(media),
        _ => None,
    })
}
