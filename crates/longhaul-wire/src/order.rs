//! The order that providers ask for: results directly behind their calls, and no message without content.

use longhaul_transcript::{Message, Part, Role};

use crate::{
    convert::losses::{Losses, WITHOUT_CONTENT, place},
    formats::Order,
    validate::is_blank,
};

/// Returns `messages` in the order that a request must have them in. What a user says while a tool runs stands behind the
/// tool's result, and a message that says nothing is left out.
pub(crate) fn ordered<'a>(messages: Vec<&'a Message>, order: Order, losses: &mut Losses) -> Vec<&'a Message> {
    let Order::ResultsFirst { takes_blank } = order else { return messages };
    let (empty, mut messages): (Vec<&Message>, Vec<&Message>) =
        messages.into_iter().partition(|message| is_empty(message, takes_blank));
    empty.iter().for_each(|message| losses.count(WITHOUT_CONTENT, place(message)));
    // What follows an answer, up to the next one. A simulated user may call tools too.
    let opens = |message: &&Message| message.role == Role::Assistant || message.calls().next().is_some();
    for segment in messages.split_mut(opens) {
        if !segment.is_sorted_by_key(|message| !answers(message)) {
            let at = segment.iter().find(|message| !answers(message)).and_then(|message| place(message));
            segment.sort_by_key(|message| !answers(message));
            losses.count("result put before what was said while its tool ran", at);
        }
    }
    messages
}

fn answers(message: &Message) -> bool {
    message.results().next().is_some()
}

fn is_empty(message: &Message, takes_blank: bool) -> bool {
    // Where an empty text is refused, one of blanks is too.
    let says_nothing = |part: &Part| matches!(part, Part::Text(text) if is_blank(text) && !takes_blank);
    message.parts.iter().all(says_nothing)
}
