//! What a front end hands in otherwise than it was said, and is the same: without the reasoning of earlier turns, with old results
//! cleared, with other white space at the end of lines. What was said here is put in its place.

use std::{borrow::Cow, sync::Arc};

use longhaul_transcript::{ContentHash, Entry, MessageId, Part, Span, ToolResult};

use super::{SessionState, sync::SyncError};

/// A history as it was said here.
pub(super) struct Known<'s> {
    pub(super) entries: Cow<'s, [Entry]>,
    /// Which of these are not the front end's: messages of reasoning alone.
    pub(super) put_back: Vec<usize>,
}

impl SessionState {
    /// Returns the history with what was said here in the place of what is the same, up to the first message that is another one.
    pub(super) fn as_said_here<'s>(&self, said: &'s [Entry]) -> Result<Known<'s>, SyncError> {
        let (len, common) = (self.n_total(), self.common_with(said)?);
        let mut found = Known { entries: Cow::Borrowed(said), put_back: Vec::new() };
        let Some(next) = said.get(common as usize).filter(|_| common < len) else { return Ok(found) };
        self.at_hand(Span { start: common, end: common + 1 })?;
        let here = self.originals.get(common);
        let is_last = common as usize + 1 == said.len();
        if !here.is_some_and(|here| is_reasoning(here) || is_same(next, here, is_last)) {
            return Ok(found);
        }
        self.at_hand(Span { start: common, end: len })?;
        let (mut ordinal, mut entries) = (common, said[..common as usize].to_vec());
        let mut rest = &said[common as usize..];
        while let Some(behind) = self.said_from(ordinal, rest) {
            for at in ordinal..=behind {
                if at < behind {
                    found.put_back.push(entries.len());
                }
                entries.extend(self.originals.get(at).cloned());
            }
            (ordinal, rest) = (behind + 1, &rest[1..]);
        }
        if ordinal == common {
            return Ok(found);
        }
        for entry in rest {
            let before = entries.last().map_or(&[][..], |before| &before.lineage.0[..]);
            let lineage = ContentHash::of_fields([before, &entry.id.hash.0]);
            let id = MessageId { ordinal: entries.len() as u64, ..entry.id };
            entries.push(Entry { id, lineage, message: Arc::clone(&entry.message) });
        }
        found.entries = Cow::Owned(entries);
        Ok(found)
    }

    /// Returns where the first of `rest` was said here, at `from` or behind the reasoning there.
    fn said_from(&self, from: u64, rest: &[Entry]) -> Option<u64> {
        let (next, is_last) = (rest.first()?, rest.len() == 1);
        let mut here = (from..self.n_total()).map_while(|at| Some((at, self.originals.get(at)?)));
        let is_it = |here: &Entry| here.id.hash == next.id.hash || is_same(next, here, is_last);
        let (at, here) = here.find(|(_, here)| is_it(here) || !is_reasoning(here))?;
        is_it(here).then_some(at)
    }

    fn at_hand(&self, span: Span) -> Result<(), SyncError> {
        match self.originals.missing([span]) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(SyncError::NotAtHand(missing)),
        }
    }
}

/// Returns whether `said` is what was said `here`, but for what front ends leave out or respell. What tools answered last is not
/// cleared yet.
fn is_same(said: &Entry, here: &Entry, is_last: bool) -> bool {
    let (there, here) = (&said.message, &here.message);
    let is_part = |(here, there): (&Part, &Part)| match (here, there) {
        (Part::Text(here), Part::Text(there)) => plain(here).eq(plain(there)),
        (Part::ToolResult(here), Part::ToolResult(there)) if here != there => {
            is_respelled(there, here) || !is_last && is_cleared(there, here)
        }
        (here, there) => here == there,
    };
    let are = |here: &[&Part]| {
        here.len() == there.parts.len() && here.iter().copied().zip(&there.parts).all(is_part)
    };
    let all: Vec<&Part> = here.parts.iter().collect();
    let rest: Vec<&Part> = all.iter().copied().filter(|part| !is_thought(part)).collect();
    (here.role, &here.name) == (there.role, &there.name) && (are(&all) || are(&rest))
}

/// Returns the lines of a text without the white space at their ends, and without blank lines at its end.
fn plain(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines().map(str::trim_end)
}

/// Returns whether two results say the same, white space at the ends of lines apart.
fn is_respelled(there: &ToolResult, here: &ToolResult) -> bool {
    let is_part = |(here, there): (&Part, &Part)| match (here, there) {
        (Part::Text(here), Part::Text(there)) => plain(here).eq(plain(there)),
        (here, there) => here == there,
    };
    (&there.call_id, there.outcome) == (&here.call_id, here.outcome)
        && there.content.len() == here.content.len()
        && here.content.iter().zip(&there.content).all(is_part)
}

/// Returns whether a front end put a note in the place of a result, or cut it short. What somebody took out for what it says (a
/// secret) is an edit, and so is what goes on in other words.
fn is_cleared(there: &ToolResult, here: &ToolResult) -> bool {
    let (note, whole) = (there.joined_text(), here.joined_text());
    let (note, whole) = (note.trim(), whole.trim());
    there.call_id == here.call_id
        && (note.len() < whole.len() || here.content.len() > there.content.len())
        && (note.is_empty() || is_note(note) || is_cut(note, whole))
}

/// Returns whether a text is words in brackets which say that something was left out to save room: `[Old tool result content cleared]`.
fn is_note(text: &str) -> bool {
    let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    let is_bracketed = is_in('[', ']') || is_in('(', ')') || is_in('<', '>');
    is_bracketed && text.len() <= LONGEST_NOTE && !text.contains(['"', '{', '=']) && tells_of_a_cut(text)
}

/// Returns whether `text` is what `whole` begins with, or begins and ends with, and says so where it was cut.
fn is_cut(text: &str, whole: &str) -> bool {
    let alike = |(there, here): &(u8, u8)| there == here;
    let head = text.bytes().zip(whole.bytes()).take_while(alike).count();
    let ends = text.bytes().skip(head).rev().zip(whole.bytes().skip(head).rev());
    let tail = ends.take_while(alike).count();
    let mark = text.get(head..text.len() - tail).unwrap_or_default();
    let is_marked = || mark.len() <= LONGEST_NOTE && tells_of_a_cut(mark);
    head + tail >= LEAST_KEPT && (head == text.len() || is_marked())
}

/// Returns whether words say that something was left out to save room, and not for what it says.
fn tells_of_a_cut(words: &str) -> bool {
    let words = words.to_lowercase();
    let says = |all: &[&str]| all.iter().any(|word| words.contains(word));
    says(&CUT) && !says(&TAKEN_OUT)
}

const CUT: [&str; 10] =
    ["cleared", "omitted", "elided", "truncated", "pruned", "trimmed", "compacted", "more lines", "...", "…"];

/// What is said of what nobody is to see.
const TAKEN_OUT: [&str; 6] = ["redact", "secret", "password", "private", "by the user", "censor"];

/// Returns whether a message is reasoning alone, as an item of it is.
fn is_reasoning(entry: &Entry) -> bool {
    !entry.message.parts.is_empty() && entry.message.parts.iter().all(is_thought)
}

fn is_thought(part: &Part) -> bool {
    match part {
        Part::Reasoning(_) => true,
        Part::Opaque(opaque) => opaque.kind == "redacted_thinking",
        _ => false,
    }
}

/// Bytes from which on a beginning is one.
const LEAST_KEPT: usize = 40;

/// Bytes of the longest note.
const LONGEST_NOTE: usize = 200;
