//! What a front end hands in otherwise than it was said, and is the same: without the reasoning of earlier turns, with old results
//! cleared, with other white space at the end of lines. What was said here is put in its place.

use std::{borrow::Cow, sync::Arc};

use longhaul_redact::Asked;
use longhaul_transcript::{
    CallKind, ContentHash, Entry, MessageId, Part, Span, SummaryId, ToolCall, ToolResult,
};

use super::{SessionState, cleared};
use crate::compact::standing;

/// A history as it was said here.
pub(super) struct Known<'s> {
    pub(super) entries: Cow<'s, [Entry]>,
    /// For each of these its place in the history, none for reasoning that the front end left out; `None` where they are the history.
    pub(super) places: Option<Vec<Option<usize>>>,
    /// How many messages behind the instructions are as they are here, where the instructions are others.
    pub(super) alike: u64,
}

/// A history could not be followed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// What it is to be compared with is in the store only, and has to be read back first.
    #[error("{} spans of originals are not at hand", .0.len())]
    NotAtHand(Vec<Span>),
    /// Summaries that it goes on from are in the store only, and have to be read back first.
    #[error("{} summaries are not at hand", .0.len())]
    SummariesNotAtHand(Vec<SummaryId>),
    /// It goes on from a place before a compaction that deleted what it took the place of, and does not hand that in again.
    #[error(
        "the history goes back behind a summary, and {messages} of the messages that this stands for were deleted: hand in the \
         whole history as it was, or open a new session"
    )]
    OnlyInSummary {
        /// How many were deleted.
        messages: u64,
    },
}

impl SessionState {
    /// Returns the history with what was said here in the place of what is the same, up to the first message that is another one.
    pub(super) fn as_said_here<'s>(&self, said: &'s [Entry]) -> Result<Known<'s>, SyncError> {
        let (len, (known, common)) = (self.n_total(), self.shared_with(said)?);
        let mut found = Known { entries: Cow::Borrowed(said), places: None, alike: 0 };
        let Some(next) = said.get(known).filter(|_| common < len) else { return Ok(found) };
        self.at_hand(Span { start: common, end: common + 1 })?;
        let here = self.originals.get(common);
        let is_last = known + 1 == said.len();
        let mut asked = Asked::default();
        for before in &said[..known] {
            asked.follow(&before.message);
        }
        let may_be_it = |here: &Entry| {
            is_reasoning(here)
                || is_reasoning(next)
                || is_same(next, here, is_last)
                || self.is_clean_of(next, here, &asked)
        };
        if !here.is_some_and(may_be_it) {
            return Ok(found);
        }
        self.at_hand(Span { start: common, end: len })?;
        let is_dated = match (known.checked_sub(1), common.checked_sub(1)) {
            (Some(there), Some(here)) => self.originals.lineage(here) == Some(said[there].lineage),
            (there, here) => there.is_none() && here.is_none(),
        };
        let (mut ordinal, mut entries) = (common, said[..known].to_vec());
        let mut places: Vec<Option<usize>> = (0..known).map(Some).collect();
        let mut nth = known;
        while nth < said.len() {
            let Some(behind) = self.said_from(ordinal, &said[nth..], &asked) else {
                match self.behind_new_reasoning(ordinal, &said[nth..], &asked) {
                    Some(n) => nth += n,
                    None => break,
                }
                continue;
            };
            for at in ordinal..=behind {
                let Some(here) = self.originals.get(at) else { continue };
                places.push((at == behind).then_some(nth));
                // Of what came back from a store without its secrets the line knows the lineage that it had with them.
                match self.originals.lineage(at).filter(|_| is_dated) {
                    Some(lineage) => entries.push(Entry { lineage, ..here.clone() }),
                    None => push_behind(&mut entries, here),
                }
            }
            asked.follow(&said[nth].message);
            (ordinal, nth) = (behind + 1, nth + 1);
        }
        if ordinal == common {
            return Ok(found);
        }
        for (at, entry) in said.iter().enumerate().skip(nth) {
            places.push(Some(at));
            push_behind(&mut entries, entry);
        }
        let front = said.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
        // Since a compaction of the front end's own it stands elsewhere than here.
        let is_from_first = known as u64 + self.head == common + front as u64;
        found.alike = if is_dated || !is_from_first { 0 } else { ordinal - self.head };
        found.places = Some(places);
        found.entries = Cow::Owned(entries);
        Ok(found)
    }

    /// Returns where the first of `rest`, which answers what was `asked`, was said here, at `from` or behind the reasoning there.
    pub(super) fn said_from(&self, from: u64, rest: &[Entry], asked: &Asked) -> Option<u64> {
        let (next, is_last) = (rest.first()?, rest.len() == 1);
        let mut here = (from..self.n_total()).map_while(|at| Some((at, self.originals.get(at)?)));
        let is_it = |here: &Entry| {
            here.id.hash == next.id.hash
                || is_same(next, here, is_last)
                || self.is_clean_of(next, here, asked)
        };
        let (at, here) = here.find(|(_, here)| is_it(here) || !is_reasoning(here))?;
        is_it(here).then_some(at)
    }

    /// Returns how many messages of reasoning `rest` begins with that were left out when what follows them was said here, at `from`. A
    /// front end may hand them in later.
    pub(super) fn behind_new_reasoning(&self, from: u64, rest: &[Entry], asked: &Asked) -> Option<usize> {
        let n = rest.iter().position(|entry| !is_reasoning(entry)).filter(|n| *n > 0)?;
        self.said_from(from, &rest[n..], asked).map(|_| n)
    }

    /// Returns whether what was said is `here` without its secrets, as what comes from a store is.
    fn is_clean_of(&self, said: &Entry, here: &Entry, asked: &Asked) -> bool {
        let answers = asked.clone().follow(&said.message);
        self.clean_answer(&said.message, &answers).is_some_and(|clean| clean.hash == here.id.hash)
    }

    pub(super) fn at_hand(&self, span: Span) -> Result<(), SyncError> {
        match self.originals.missing([span]) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(SyncError::NotAtHand(missing)),
        }
    }
}

/// Adds a message behind others, with the lineage that it has there.
fn push_behind(entries: &mut Vec<Entry>, entry: &Entry) {
    let before = entries.last().map_or(&[][..], |before| &before.lineage.0[..]);
    let lineage = ContentHash::of_fields([before, &entry.id.hash.0]);
    let id = MessageId { ordinal: entries.len() as u64, ..entry.id };
    entries.push(Entry { id, lineage, message: Arc::clone(&entry.message) });
}

/// Returns whether `said` is what was said `here`, but for what front ends leave out or respell. What tools answered last is not
/// cleared yet.
pub(super) fn is_same(said: &Entry, here: &Entry, is_last: bool) -> bool {
    let (there, here) = (&said.message, &here.message);
    if (here.role, &here.name) != (there.role, &there.name) {
        return false;
    }
    let is_part = |(here, there): (&Part, &Part)| match (here, there) {
        (Part::Text(here), Part::Text(there)) => plain(here).eq(plain(there)),
        (Part::ToolCall(here), Part::ToolCall(there)) => here == there || calls_the_same(there, here),
        (Part::ToolResult(here), Part::ToolResult(there)) if here != there => {
            is_respelled(there, here) || !is_last && is_cleared(there, here)
        }
        (here, there) => here == there,
    };
    // Text that says nothing comes and goes: beside calls some write `null` for it, some "".
    let says = |part: &&Part| !matches!(part, Part::Text(text) if text.is_empty());
    let mut there_are: Vec<&Part> = there.parts.iter().filter(says).collect();
    let all: Vec<&Part> = here.parts.iter().filter(says).collect();
    let rest: Vec<&Part> = all.iter().copied().filter(|part| !is_thought(part)).collect();
    // What was thought may come later: where it was left out when this was said.
    if rest.len() == all.len() {
        there_are.retain(|part| !is_thought(part));
    }
    let are = |here: &[&Part]| {
        here.len() == there_are.len() && here.iter().copied().zip(there_are.iter().copied()).all(is_part)
    };
    are(&all) || are(&rest)
}

/// Returns the lines of a text without the white space at their ends, and without blank lines at its end.
fn plain(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines().map(str::trim_end)
}

/// Returns whether two calls ask for the same: arguments are JSON, and each client writes blanks and escapes in its own way. Numbers and
/// keys stand as they are written, for no reader takes all of them alike.
fn calls_the_same(there: &ToolCall, here: &ToolCall) -> bool {
    (&there.id, &there.name, there.kind) == (&here.id, &here.name, here.kind)
        && here.kind == CallKind::Function
        && respelled(&here.arguments.0)
            .is_some_and(|arguments| Some(arguments) == respelled(&there.arguments.0))
}

/// Returns JSON with its strings spelled in one way and without blanks between, everything else as it is written; `None` where it is none.
fn respelled(json: &str) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(json).ok()?;
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('"') {
        out.extend(rest[..at].split_ascii_whitespace());
        let mut strings = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<String>();
        out.push_str(&serde_json::to_string(&strings.next()?.ok()?).ok()?);
        rest = &rest[at + strings.byte_offset()..];
    }
    out.extend(rest.split_ascii_whitespace());
    Some(out)
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

/// Returns whether a front end put a note in the place of a result, cut it short and says so, or left its pictures out. What somebody took
/// out for what it says (a secret) is an edit, and so is what goes on in other words, shows something else, or went otherwise.
fn is_cleared(there: &ToolResult, here: &ToolResult) -> bool {
    if there.call_id != here.call_id {
        return false;
    }
    let is_media = |part: &&Part| matches!(part, Part::Media(_));
    let shows_another = there.content.iter().filter(is_media).any(|part| !here.content.contains(part));
    let has_fewer =
        there.content.iter().filter(is_media).count() < here.content.iter().filter(is_media).count();
    let (note, whole) = (there.joined_text(), here.joined_text());
    let is_shorter = || match note == whole {
        true => has_fewer,
        false => cleared::is_cut(&note, &whole),
    };
    let has_note = note != whole && cleared::is_note(&note);
    !shows_another && (has_note || there.outcome == here.outcome && is_shorter())
}

/// Returns whether a message is reasoning alone, as an item of it is.
pub(super) fn is_reasoning(entry: &Entry) -> bool {
    !entry.message.parts.is_empty() && entry.message.parts.iter().all(is_thought)
}

fn is_thought(part: &Part) -> bool {
    match part {
        Part::Reasoning(_) => true,
        Part::Opaque(opaque) => opaque.kind == "redacted_thinking",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Media, MediaKind, Outcome};

    use super::*;

    #[test]
    fn a_call_is_the_same_in_any_spelling_and_another_with_another_value() {
        let call = |arguments: &str| ToolCall::function("c", "pay", arguments);
        let same = |one: &str, other: &str| calls_the_same(&call(one), &call(other));
        for (one, other) in [
            (r#"{"a": 1, "b":[1,2]}"#, "{ \"a\":1,\n\"b\" : [1, 2] }"),
            (r#"{"name":"caf\u00e9"}"#, r#"{"name":"café"}"#),
            (r#"{"path":"a\/b"}"#, r#"{"path":"a/b"}"#),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [
            (r#"{"id":98765432109876543210}"#, r#"{"id":98765432109876543219}"#),
            (r#"{"n":0.12345678901234567891}"#, r#"{"n":0.12345678901234567892}"#),
            (r#"{"n":-0.0}"#, r#"{"n":0.0}"#),
            (r#"{"path":"/etc/passwd","path":"/tmp/a"}"#, r#"{"path":"/tmp/a"}"#),
            (r#"{"a":"1"}"#, r#"{"a":1}"#),
            (r#"{"a":"b c"}"#, r#"{"a":"bc"}"#),
            (r#"{"a":"b\",\"c"}"#, r#"{"a":"b","c":""}"#),
            ("{a}", "{ a}"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn another_picture_and_another_outcome_are_edits() {
        let picture = |nth: u8| {
            Part::Media(Media {
                kind: MediaKind::Image,
                media_type: "image/png".into(),
                source: String::new(),
                bytes: 9,
                pixels: None,
                pages: None,
                hash: ContentHash([nth; 32]),
            })
        };
        let long = "what the page says, line after line, up to its end";
        let result = |content: Vec<Part>, outcome| ToolResult { call_id: "c".into(), content, outcome };
        let text = |text: &str| Part::Text(text.to_owned());
        let here = result(vec![text(long), picture(1)], Outcome::Succeeded);
        for (there, is) in [
            (result(vec![text(long)], Outcome::Succeeded), true),
            (result(vec![], Outcome::Succeeded), true),
            (result(vec![text("[image removed to save space]")], Outcome::Succeeded), true),
            (result(vec![text(long), picture(2)], Outcome::Succeeded), false),
            (result(vec![text(long), picture(1), picture(2)], Outcome::Succeeded), false),
            (result(vec![text(long)], Outcome::Failed), false),
            (result(vec![text(long), picture(1)], Outcome::Failed), false),
        ] {
            assert_eq!(is_cleared(&there, &here), is, "{there:?}");
        }
    }
}
