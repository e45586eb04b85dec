//! A history as read: what was said, what stands around it, and every byte of it.

use std::{collections::BTreeMap, io::BufRead, ops::Range};

use longhaul_transcript::{ContentHash, Message, MessageId, Origin, SessionId, Transcript, Usage};

use crate::{
    Format, Problem, WireError, detect,
    dialect::{Dialect, Said},
    error::excerpt,
    json::Json,
    session, whole,
};

/// A history as read: what was said, what stands around it, and every byte of it.
///
/// The [transcript](Document::transcript) is the live context: what the model would see on the next request. Earlier
/// parts of a session file (before the agent's own compaction, or on an abandoned branch) are not in it, but still
/// come back with [`write_unchanged`](crate::write_unchanged); the former are read by
/// [`before_compactions`](Document::before_compactions).
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
    pub(crate) transcript: Transcript,
    /// Where each entry of the transcript stands, by its ordinal.
    pub(crate) slots: Vec<Slot>,
    pub(crate) layout: Layout,
    pub(crate) envelope: Envelope,
    pub(crate) problems: Vec<Problem>,
}

/// What stands around the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) session_id: Option<SessionId>,
    pub(crate) model: Option<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) usages: Vec<(MessageId, Usage)>,
    /// The folder that the agent worked in.
    pub(crate) folder: Option<String>,
    /// What an import left aside, by a phrase that reads well after the number of such things.
    pub(crate) left: BTreeMap<String, usize>,
}

/// Where one message stands: one place, or several where a file spreads a message over lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    pub(crate) fragments: Vec<Fragment>,
}

/// One place of a message.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    /// The bytes of the message's JSON.
    pub(crate) range: Range<usize>,
    pub(crate) dialect: &'static Dialect,
    /// Index of the element, or of the line.
    pub(crate) at: usize,
    /// Which parts of it are the message's, where an answer of several steps is several messages.
    pub(crate) step: Option<Range<usize>>,
}

/// How the bytes are laid out.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    Whole(whole::Layout),
    ClaudeCode(Vec<session::claude_code::Line>),
    Codex(Vec<session::codex::Line>),
    /// Read, and written unchanged only.
    Import,
}

/// Reads a history, in `format` or in whatever format it is seen to have.
///
/// # Errors
/// When the input cannot be read, is in no known format, or does not have the shape of its format. Damage that leaves
/// the rest usable is no error: see [`Document::problems`].
pub fn read(format: Option<Format>, mut input: impl BufRead) -> Result<Document, WireError> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    from_bytes(format, bytes)
}

pub(crate) fn from_bytes(format: Option<Format>, bytes: Vec<u8>) -> Result<Document, WireError> {
    let unrecognized = || match bytes.trim_ascii().is_empty() {
        true => WireError::Empty,
        false => WireError::Unrecognized { excerpt: excerpt(&String::from_utf8_lossy(head(&bytes))) },
    };
    let format = format.or_else(|| detect(&bytes)).ok_or_else(unrecognized)?;
    (format.spec().read)(bytes)
}

fn head(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(400)]
}

impl Document {
    /// Returns the format it was read in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns whether the file has one message a line, in a format that keeps them in a list.
    pub fn is_by_line(&self) -> bool {
        matches!(&self.layout, Layout::Whole(layout) if layout.is_by_line)
    }

    /// Returns the live context, oldest first.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the session's id, where the file names one that can be used as such.
    pub fn session_id(&self) -> Option<SessionId> {
        self.envelope.session_id.clone()
    }

    /// Returns the tool definitions, each as JSON text. They are sent with every request and cost tokens, but are no
    /// part of the transcript.
    pub fn tools(&self) -> &[String] {
        &self.envelope.tools
    }

    /// Returns what the provider reported, request by request: the last message each request covered, and its usage.
    ///
    /// Output figures of session files are often those of the first event of a stream; count output yourself.
    pub fn usages(&self) -> &[(MessageId, Usage)] {
        &self.envelope.usages
    }

    /// Returns the model the history is for, where it names one.
    pub fn model(&self) -> Option<&str> {
        self.envelope.model.as_deref()
    }

    /// Returns the folder that the agent worked in, where the session file of an agent that can only be imported names it.
    pub fn folder(&self) -> Option<&str> {
        self.envelope.folder.as_deref()
    }

    /// Returns the damage that was tolerated.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the bytes that were read.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the JSON of a fragment. It was checked when the document was read.
    pub(crate) fn fragment<'a>(&'a self, fragment: &Fragment) -> Option<(Json<'a>, Said<'a>)> {
        let json = Json::check(self.bytes.get(fragment.range.clone())?).ok()?;
        let said = (fragment.dialect.read)(json).ok()?;
        Some((json, said))
    }

    /// Returns the messages that are the steps of the answer which message `n` is one of; `n` alone for any other.
    pub(crate) fn steps_of(&self, n: usize) -> Range<usize> {
        let at = |n: &usize| {
            let fragment = self.slots.get(*n)?.fragments.first()?;
            fragment.step.is_some().then_some(fragment.at)
        };
        let Some(own) = at(&n) else { return n..n + 1 };
        let before = (0..n).rev().take_while(|n| at(n) == Some(own)).count();
        n - before..n + (n..self.slots.len()).take_while(|n| at(n) == Some(own)).count()
    }

    /// Returns what was said between the agent's own compactions, one transcript each, side branches of subagents
    /// apart but abandoned branches included. Measurements of recall use it: inside a segment the model had seen all
    /// that came before. A history without compactions is one segment.
    pub fn segments(&self) -> Vec<Transcript> {
        (self.format.spec().segments)(self)
    }

    /// Returns the history as it was before each of the agent's own compactions, and before it began anew in the same file (a plan that
    /// is carried out with a clear context), oldest first; each is read when it is asked for. The live context has none of it but what
    /// the agent kept. Session files of Claude Code and Codex alone still hold it.
    pub fn before_compactions(&self) -> impl Iterator<Item = Document> + '_ {
        let starts = match &self.layout {
            Layout::ClaudeCode(lines) => session::claude_code::compactions(lines),
            Layout::Codex(lines) => session::codex::compactions(lines),
            Layout::Whole(_) | Layout::Import => Vec::new(),
        };
        let before = |start: usize| from_bytes(Some(self.format), self.bytes.get(..start)?.to_vec()).ok();
        starts.into_iter().filter_map(before).filter(|document| !document.transcript.is_empty())
    }

    /// Returns where the canonical form says the bytes of media are: hashes and quoted addresses.
    pub(crate) fn media_table(&self) -> Vec<(ContentHash, String)> {
        if self.format != Format::Longhaul {
            return Vec::new();
        }
        let media = Json::check(&self.bytes).ok().and_then(|json| json.get("media")).map(Json::object);
        let fields = media.as_ref().map(|media| media.fields()).unwrap_or_default();
        fields
            .iter()
            .filter_map(|(hash, url)| Some((hash.text()?.parse().ok()?, url.raw().to_owned())))
            .collect()
    }

    pub(crate) fn raw(&self, range: &Range<usize>) -> &str {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// Adds what was read to `transcript`, under the ordinal it gets there.
pub(crate) fn push(transcript: &mut Transcript, said: Said<'_>) -> MessageId {
    push_message(transcript, said.into_message())
}

/// Adds a message to `transcript` as one of its document.
pub(crate) fn push_message(transcript: &mut Transcript, message: Message) -> MessageId {
    let ordinal = u32::try_from(transcript.len()).unwrap_or(u32::MAX);
    transcript.push(message.with_origin(Origin::Document(ordinal)))
}
