//! Who speaks: a message taken apart into pieces, each with its speaker and what it is.
//!
//! Role `user` on the wire is not the person's voice. Reminders, notifications, command echoes, skill texts and reports
//! of sub-agents come in it too, alone or in one text with what the person typed; and what a person pastes is not said by
//! the person. Everything that asks for rules, requests or wishes asks here, and nothing looks for marks by itself.
//!
//! What a reader knows from the structure of a file stands in [`Message::speaker`]; the rest is told from a table of
//! marks ([`Speakers`]), which is data (`marks.json`) and can be added to.

use std::borrow::Cow;

use longhaul_transcript::{
    Message, Origin, Outcome, Part, Role, Speaker, has_summary_header, parse_handle_line,
};
use serde::{Deserialize, Serialize};

mod crowd;
mod marks;
mod pasted;

pub use marks::{Form, Mark, MarksError, Speakers};

/// A piece of a message: who says it, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'m> {
    /// Who says it.
    pub speaker: Speaker,
    /// What it is.
    pub matter: Matter,
    /// The part of the message that it stands in.
    pub part: usize,
    /// For a piece of a tool's result: the place in the result's content.
    pub inner: Option<usize>,
    /// Where in its text it begins, in bytes.
    pub start: usize,
    /// The piece, without the blank space around it.
    pub text: &'m str,
}

/// What a piece of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Matter {
    /// The speaker's own words.
    Words,
    /// A plan that a person asks to be carried out: written by somebody else, wanted by the person.
    Plan,
    /// What a person put in: output, code, somebody else's text. Material, no demand.
    Pasted,
    /// What came of a tool, or of a command that a person ran by hand.
    Output,
    /// What another model found or did.
    Report,
    /// A summary of what was said before.
    Summary,
    /// A command to the harness, such as `/clear`.
    Command,
    /// A hint to the model that the harness adds.
    Reminder,
    /// News that the harness brings: a task that ended, a hook that stopped something.
    Notification,
    /// The note that the person stopped the model.
    Interruption,
    /// The text of a skill or of a command's template.
    Skill,
    /// Date, directory, open files and the like.
    Environment,
    /// A file or page that the harness put in.
    Attachment,
    /// Standing instructions: a system prompt, a project's rules for agents.
    Instructions,
}

impl Segment<'_> {
    /// Returns whether a person says this in words of their own: only here are requests, wishes and answers found.
    pub fn is_persons(&self) -> bool {
        self.speaker == Speaker::Person && self.matter == Matter::Words
    }
}

/// Returns the pieces of `message` by the built-in marks. See [`Speakers::segments`].
pub fn segments(message: &Message) -> Vec<Segment<'_>> {
    Speakers::builtin().segments(message)
}

impl Speakers {
    /// Returns the pieces of the texts in `message`, in order; pieces of blank space are left out.
    ///
    /// Calls, media and reasoning have none. The result of a tool that hands work to another agent is a report, which
    /// only the call tells: its pieces come as [`Speaker::Tool`].
    pub fn segments<'m>(&self, message: &'m Message) -> Vec<Segment<'m>> {
        let mut found = Vec::new();
        let base = base(message);
        for (part, of_message) in message.parts.iter().enumerate() {
            match of_message {
                Part::Text(text) => {
                    // What a client sends in one text with a summary is said by who sends the message.
                    let (summary, rest) = text.split_at(own_summary(text));
                    if !summary.is_empty() {
                        self.pieces(summary, (0, SUMMARY), (part, None), &mut found);
                    }
                    self.pieces(rest, (summary.len(), base), (part, None), &mut found);
                }
                Part::ToolResult(result) => {
                    for (inner, content) in result.content.iter().enumerate() {
                        if let Part::Text(text) = content {
                            let tool = (Speaker::Tool, Matter::Output);
                            let has_failed = result.outcome == Outcome::Failed;
                            let refused = has_failed.then(|| self.refused(text)).flatten();
                            let (end, who) = refused.unwrap_or((text.len(), tool));
                            self.pieces(&text[..end], (0, tool), (part, Some(inner)), &mut found);
                            self.pieces(&text[end..], (end, who), (part, Some(inner)), &mut found);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Returns what a person sends in the first text of `message` that holds words of theirs: from the first of these to the
    /// last thing they put in, so that a question stays with what was pasted to it.
    pub fn sent<'m>(&self, message: &'m Message) -> Option<&'m str> {
        if message.role != Role::User || message.origin == Origin::Longhaul {
            return None;
        }
        let pieces = self.segments(message);
        let persons = |piece: &&Segment<'_>| {
            piece.speaker == Speaker::Person && piece.matter != Matter::Command && piece.inner.is_none()
        };
        let first = pieces.iter().find(persons)?;
        let (mut end, mut is_open) = (first.start, true);
        for piece in pieces.iter().filter(|piece| piece.part == first.part && piece.start >= first.start) {
            is_open &= piece.speaker == Speaker::Person;
            if is_open {
                end = piece.start + piece.text.len();
            }
        }
        match &message.parts[first.part] {
            Part::Text(text) => text.get(first.start..end),
            _ => None,
        }
    }

    /// Returns the earlier summary that `message` brings, where it brings one, without what was said before or behind it.
    pub fn summary<'m>(&self, message: &'m Message) -> Option<&'m str> {
        let pieces = self.segments(message);
        let mut told = pieces.iter().filter(|piece| piece.matter == Matter::Summary && piece.inner.is_none());
        let first = told.next()?;
        let last = told.rfind(|piece| piece.part == first.part).unwrap_or(first);
        match &message.parts[first.part] {
            Part::Text(text) => text.get(first.start..last.start + last.text.len()),
            _ => None,
        }
    }

    /// Returns a tool's result without what a harness put into it.
    pub(crate) fn result_alone<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let base = (Speaker::Tool, Matter::Output);
        match &self.marked(text, base)[..] {
            [_] => Cow::Borrowed(text),
            pieces => {
                let own = pieces.iter().filter(|(_, who)| *who == base);
                Cow::Owned(own.map(|(place, _)| &text[place.clone()]).collect())
            }
        }
    }

    /// Returns whether a person says something in `message`, in words or by what was pasted.
    pub fn is_person(&self, message: &Message) -> bool {
        let base = base(message);
        let is_persons = |text: &str| {
            let rest = &text[own_summary(text)..];
            // What was pasted is the person's too, and need not be told from the rest.
            self.marked(rest, base).into_iter().any(|(place, (speaker, matter))| {
                speaker == Speaker::Person && matter != Matter::Command && !rest[place].trim().is_empty()
            })
        };
        message.texts().any(is_persons)
    }

    fn pieces<'m>(
        &self,
        text: &'m str,
        (offset, base): (usize, (Speaker, Matter)),
        (part, inner): (usize, Option<usize>),
        found: &mut Vec<Segment<'m>>,
    ) {
        let mut add = |range: std::ops::Range<usize>, (speaker, matter): (Speaker, Matter)| {
            let piece = &text[range.clone()];
            let trimmed = piece.trim();
            if trimmed.is_empty() {
                return;
            }
            let start = offset + range.start + (piece.len() - piece.trim_start().len());
            found.push(Segment { speaker, matter, part, inner, start, text: trimmed });
        };
        // Most texts have no mark, and need no list of their pieces.
        if base.0 != Speaker::Person && self.is_plain(text, base) {
            return add(0..text.len(), base);
        }
        for (range, who) in self.marked(text, base) {
            if who == (Speaker::Person, Matter::Words) {
                pasted::split(text, range).for_each(|(range, matter)| add(range, (Speaker::Person, matter)));
            } else {
                add(range, who);
            }
        }
    }
}

/// Who speaks in a message where no mark says otherwise.
fn base(message: &Message) -> (Speaker, Matter) {
    if message.origin == Origin::Longhaul {
        return SUMMARY;
    }
    let by_role = match message.role {
        Role::System | Role::Developer => Speaker::System,
        Role::Assistant => Speaker::Model,
        Role::Tool => Speaker::Tool,
        _ => Speaker::Person,
    };
    let speaker = message.speaker.unwrap_or(by_role);
    let matter = match speaker {
        Speaker::Tool => Matter::Output,
        Speaker::Harness => Matter::Reminder,
        Speaker::SubAgent => Matter::Report,
        Speaker::System => Matter::Instructions,
        _ => Matter::Words,
    };
    (speaker, matter)
}

const SUMMARY: (Speaker, Matter) = (Speaker::Harness, Matter::Summary);

/// Returns how many bytes at the front of `text` are a summary that longhaul wrote, as a history holds it that was compacted
/// before: from a header in brackets to the handle line.
fn own_summary(text: &str) -> usize {
    if !has_summary_header(text) {
        return 0;
    }
    let mut ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((line, *end))
    });
    ends.find(|(line, _)| parse_handle_line(line).is_some()).map_or(0, |(_, end)| end)
}

#[cfg(test)]
mod tests;
