//! Cuts a conversation into pieces that fit a summarizer's window: the calls are known before any is made.

use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Tokens, Units};

use crate::fence::{Fence, clipped};

/// The prompts' worth of conversation, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passes {
    /// What each call is shown; at least one where there is anything to say.
    pub texts: Vec<String>,
    /// How many of the oldest units did not fit into the allowed number of calls, even clipped hard.
    pub units_left_out: usize,
    /// Whether all of them are shown, and of each as much as the most generous clipping leaves.
    pub holds_all: bool,
    /// What the largest of them costs at most.
    pub largest: Tokens,
}

/// Returns the renderings of `entries`, at most `max_passes` of them, each of at most `cap` tokens.
///
/// Whole units go into one pass. Long texts are clipped, harder where that saves passes beyond the allowed number;
/// the oldest units are left out only where the hardest clipping does not suffice.
pub(crate) fn passes(
    entries: &[Entry],
    fence: &Fence,
    counter: &dyn TokenCounter,
    cap: Tokens,
    max_passes: usize,
) -> Passes {
    let max_passes = max_passes.max(1);
    let units: Vec<&[Entry]> = Units::new(entries).map(|unit| unit.entries).collect();
    if let Some((text, largest)) = whole(&units, fence, counter, cap) {
        return Passes { texts: vec![text], units_left_out: 0, holds_all: true, largest };
    }
    let (mut packed, mut holds_all) = (Vec::new(), false);
    for clip in CLIPS {
        let pieces: Vec<Piece> = units.iter().map(|unit| piece(unit, fence, counter, cap, clip)).collect();
        holds_all = clip == CLIPS[0] && pieces.iter().all(|piece| piece.is_generous);
        packed = pack(pieces, cap);
        if packed.len() <= max_passes {
            break;
        }
    }
    let surplus = packed.len().saturating_sub(max_passes);
    let units_left_out = packed.drain(..surplus).map(|(_, units)| units).sum();
    let texts: Vec<String> = packed.into_iter().map(|(text, _)| text).collect();
    let largest = texts.iter().map(|text| counter.count_text(text)).max().unwrap_or_default();
    Passes { texts, units_left_out, holds_all: holds_all && surplus == 0, largest }
}

/// Returns the newest units that fit one pass of `cap` tokens together, clipped no more than the most generous pass does.
pub(crate) fn newest(entries: &[Entry], fence: &Fence, counter: &dyn TokenCounter, cap: Tokens) -> Passes {
    let units: Vec<&[Entry]> = Units::new(entries).map(|unit| unit.entries).collect();
    let mut room = cap;
    let mut shown: Vec<String> = Vec::new();
    let mut holds_all = true;
    for unit in units.iter().rev() {
        let Piece { text, tokens, is_generous } = piece(unit, fence, counter, cap, CLIPS[0]);
        // Joined texts may cost a little more than their sum.
        if tokens + Tokens(2) > room && !shown.is_empty() {
            break;
        }
        room -= tokens + Tokens(2);
        holds_all &= is_generous;
        shown.push(text);
    }
    let units_left_out = units.len() - shown.len();
    let text: String = shown.into_iter().rev().collect();
    let largest = counter.count_text(&text);
    Passes { texts: vec![text], units_left_out, holds_all: holds_all && units_left_out == 0, largest }
}

/// Returns all units in one text, the middle of large results left out from the oldest on until the rest fits; `None`
/// where that does not suffice.
fn whole(
    units: &[&[Entry]],
    fence: &Fence,
    counter: &dyn TokenCounter,
    cap: Tokens,
) -> Option<(String, Tokens)> {
    let render = |unit: &[Entry], clip: usize| {
        let text: String = unit.iter().map(|entry| fence.render(entry, clip)).collect();
        let tokens = counter.count_text(&text);
        (text, tokens)
    };
    let mut pieces: Vec<(String, Tokens)> = units.iter().map(|unit| render(unit, usize::MAX)).collect();
    let mut all: Tokens = pieces.iter().map(|(_, tokens)| *tokens).sum();
    for clip in WHOLE_CLIPS {
        for (piece, unit) in pieces.iter_mut().zip(units) {
            if all <= cap {
                break;
            }
            if piece.0.len() > clip && unit.iter().any(|entry| entry.message.results().next().is_some()) {
                let clipped = render(unit, clip);
                all = all - piece.1 + clipped.1;
                *piece = clipped;
            }
        }
    }
    let text: String = pieces.into_iter().map(|(text, _)| text).collect();
    let tokens = counter.count_up_to(&text, cap)?;
    Some((text, tokens))
}

/// Bytes that the texts of an exchange with a large result keep, where all is to fit into one call.
const WHOLE_CLIPS: [usize; 2] = [6_000, 2_000];

/// Bytes that one text of a message may take, from generous to hard. The first keeps what a person writes whole and
/// takes the middle out of large tool results, whose facts the rules collect anyway.
const CLIPS: [usize; 5] = [6_000, 2_000, 800, 300, 120];

/// One unit as a model is shown it.
struct Piece {
    text: String,
    tokens: Tokens,
    /// Nothing had to be clipped harder than was asked for.
    is_generous: bool,
}

fn piece(unit: &[Entry], fence: &Fence, counter: &dyn TokenCounter, cap: Tokens, most: usize) -> Piece {
    let mut clip = most;
    loop {
        let text: String = unit.iter().map(|entry| fence.render(entry, clip)).collect();
        if let Some(tokens) = counter.count_up_to(&text, cap) {
            return Piece { text, tokens, is_generous: clip == most };
        }
        if clip > 60 {
            clip /= 2;
            continue;
        }
        // A unit of very many parts: cut its rendering as a whole.
        let (text, tokens) = cut(&text, counter, cap);
        return Piece { text, tokens, is_generous: false };
    }
}

/// Returns `text` with its middle taken out until it costs at most `cap`.
pub(crate) fn cut(text: &str, counter: &dyn TokenCounter, cap: Tokens) -> (String, Tokens) {
    let mut bytes = text.len().min((cap.0 as usize).saturating_mul(4));
    loop {
        let shorter = clipped(text, bytes);
        match counter.count_up_to(&shorter, cap) {
            Some(tokens) => return (shorter, tokens),
            None if bytes == 0 => return (String::new(), Tokens::ZERO),
            None => bytes /= 2,
        }
    }
}

/// Fills passes in order; counts are added up, so a pass leaves a little room for what joining texts may cost.
fn pack(pieces: Vec<Piece>, cap: Tokens) -> Vec<(String, usize)> {
    let mut packed: Vec<(String, usize)> = Vec::new();
    let mut room = Tokens::ZERO;
    for Piece { text, tokens, .. } in pieces {
        match packed.last_mut() {
            Some((pass, units)) if tokens <= room => {
                pass.push_str(&text);
                *units += 1;
                room -= tokens;
            }
            _ => {
                packed.push((text, 1));
                room = cap - tokens;
            }
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::{conversation, transcript};
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::Transcript;
    use proptest::prelude::*;

    use super::*;

    fn passes_of(transcript: &Transcript, cap: u64, max: usize) -> Passes {
        let fence = Fence::around(transcript.entries(), &[]);
        passes(transcript.entries(), &fence, &BytesPer4, Tokens(cap), max)
    }

    #[test]
    fn a_short_conversation_is_one_pass() {
        let passes = passes_of(&transcript("user: a\nassistant: b"), 8_000, 6);
        assert_eq!((passes.texts.len(), passes.units_left_out, passes.holds_all), (1, 0, true));
    }

    #[test]
    fn a_long_one_is_clipped_before_anything_is_left_out() {
        let long: Transcript = (0..40)
            .map(|n| longhaul_transcript::Message::user(format!("request {n}: {}", "word ".repeat(2_000))))
            .collect();
        let passes = passes_of(&long, 1_000, 3);
        assert!(passes.texts.len() <= 3);
        assert_eq!((passes.units_left_out, passes.holds_all), (0, false));
        for n in 0..40 {
            assert!(passes.texts.iter().any(|text| text.contains(&format!("request {n}:"))), "{n}");
        }
    }

    #[test]
    fn all_is_held_in_parts_as_long_as_nothing_is_clipped_hard() {
        let long: Transcript = (0..40)
            .map(|n| longhaul_transcript::Message::user(format!("request {n}: {}", "word ".repeat(200))))
            .collect();
        let in_parts = passes_of(&long, 4_000, 3);
        assert_eq!((in_parts.texts.len(), in_parts.holds_all), (3, true));
        assert!(!passes_of(&long, 4_000, 2).holds_all);
        // One that no part has room for is clipped, however many parts there may be.
        assert!(!passes_of(&long, 200, 100).holds_all);
    }

    #[test]
    fn the_newest_alone_are_shown_whole_in_one_pass() {
        let long: Transcript = (0..60)
            .map(|n| {
                longhaul_transcript::Message::user(format!("request {n}: {}end {n}", "word ".repeat(200)))
            })
            .collect();
        let fence = Fence::around(long.entries(), &[]);
        let shown = newest(long.entries(), &fence, &BytesPer4, Tokens(2_000));
        assert_eq!(shown.texts.len(), 1);
        assert!(shown.largest <= Tokens(2_000) && shown.largest > Tokens(1_600), "{:?}", shown.largest);
        for n in 54..60 {
            assert!(shown.texts[0].contains(&format!("end {n}")), "{n}");
        }
        assert_eq!(shown.texts[0].matches("end ").count() + shown.units_left_out, 60);
        assert!(!shown.texts[0].contains("omitted"), "{}", shown.texts[0]);
    }

    #[test]
    fn the_oldest_go_last_of_all() {
        let long: Transcript =
            (0..400).map(|n| longhaul_transcript::Message::user(format!("request {n}"))).collect();
        let passes = passes_of(&long, 200, 2);
        assert!(passes.units_left_out > 0 && passes.texts.len() == 2);
        assert!(passes.texts[1].contains("request 399"));
    }

    proptest! {
        #[test]
        fn every_pass_fits(transcript in conversation(12), cap in 60u64..2_000, max in 1usize..5) {
            let passes = passes_of(&transcript, cap, max);
            prop_assert!(passes.texts.len() <= max);
            for text in &passes.texts {
                prop_assert!(BytesPer4.count_text(text) <= Tokens(cap), "{}", text);
            }
        }
    }
}
