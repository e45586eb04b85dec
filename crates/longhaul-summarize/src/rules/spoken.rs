//! What a person says themselves in a message that brings something pasted.

use std::borrow::Cow;

use longhaul_extract::speaker::{Matter, Segment, Speakers};
use longhaul_transcript::Message;

use super::clip::GAP;

/// Returns `text`, which a person sent in `message`, with a gap for the rest of each thing that was pasted, of which `shorten` leaves
/// the start; as it stands where nothing was pasted or nothing is said beside it.
pub(super) fn spoken<'t>(
    message: &Message,
    text: &'t str,
    speakers: &Speakers,
    shorten: impl Fn(&str) -> String,
) -> Cow<'t, str> {
    let mut pieces = speakers.segments(message);
    pieces.retain(|piece| piece.inner.is_none() && text.contains(piece.text));
    let has = |matter| pieces.iter().any(|piece| piece.matter == matter);
    if !has(Matter::Pasted) || !has(Matter::Words) {
        return Cow::Borrowed(text);
    }
    let told = |piece: &Segment<'_>| match piece.matter {
        Matter::Pasted => format!("{}{GAP}", shorten(piece.text).trim_end()),
        _ => piece.text.to_owned(),
    };
    let said: Vec<String> = pieces.iter().map(told).collect();
    Cow::Owned(said.join("\n").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_stands_where_something_was_pasted() {
        let text = "look at this:\n\n```\nlet a = 1;\nlet b = 2;\n```\nnever push";
        let told = |text: &'static str, shorten: fn(&str) -> String| {
            let message = Message::user(text);
            spoken(&message, text, Speakers::builtin(), shorten).into_owned()
        };
        assert_eq!(told(text, |_| String::new()), "look at this:\n […] \nnever push");
        assert_eq!(told(text, |pasted| pasted[..3].to_owned()), "look at this:\n``` […] \nnever push");
        for whole in ["never push", "```\nlet a = 1;\n```"] {
            assert_eq!(told(whole, |_| String::new()), whole);
        }
    }
}
