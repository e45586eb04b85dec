//! What a compaction leaves behind.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    ContentHash, Entry, LeftOut, Message, MessageId, Origin, SessionId, Span, Summary, SummaryId, Tokens,
    Usage, left_out::is_left_out_line,
};

/// A summary with everything needed to check it, to undo it and to build the next one on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRecord {
    /// Version of this shape; readers refuse a newer one.
    pub version: u32,
    /// Hash of session, parent, covered messages, mode, model, version of the prompt or rules, and text.
    pub id: SummaryId,
    /// The summary this one folds in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SummaryId>,
    /// How many summaries lie below this one; 0 for the first.
    pub depth: u32,
    /// The messages this summary stands for, those of its parents included.
    pub covers: Span,
    /// Ordinal and hash of each of them that the emitted history no longer carries verbatim.
    pub covered: Vec<Covered>,
    /// The messages that the emitted history carries after the summary, verbatim or shortened, in order. A history that
    /// is read again continues the stored conversation there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Span>,
    /// What the emitted history says after the summary, where it was written to a file: when that is read again, it is
    /// known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted: Option<Emitted>,
    /// What it says, as data.
    pub summary: Summary,
    /// The line above the text in the emitted history. It says that something was summarized, and how much.
    pub header: String,
    /// What it says, as it stands in the emitted history between header and handle.
    pub text: String,
    /// How what a handle in it stands for is looked up; empty where it cannot be.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lookup: String,
    /// What of the person's rules and facts had no room in it.
    #[serde(default, skip_serializing_if = "LeftOut::is_nothing")]
    pub left_out: LeftOut,
    /// How it was made.
    pub mode: SummaryMode,
    /// The model that wrote it; empty in `rules` mode.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Version of the prompt or of the rules that made it.
    pub made_with: String,
    /// Tokens of `text`.
    pub tokens: Tokens,
    /// Tokens of the whole view before the compaction.
    pub tokens_before: Tokens,
    /// Tokens of the whole view after it.
    pub tokens_after: Tokens,
    /// Which share of the facts is still visible, by class.
    pub survival: BTreeMap<String, Survival>,
    /// Secrets taken out before anything was written or sent, by rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redactions: Vec<RedactionCount>,
    /// What making it cost, where a model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub created_at_ms: i64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// A covered message: enough to find it in the store and to check that it is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Its ordinal in the session.
    pub ordinal: u64,
    /// SHA-256 of its content.
    pub sha256: ContentHash,
}

/// A history as a compaction wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emitted {
    /// How many messages the session had then: what is said next has this ordinal.
    pub through: u64,
    /// The address, in a store, of each message after the summary.
    pub messages: Vec<ContentHash>,
}

/// How a summary was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SummaryMode {
    /// By rule: no model, no network, the same bytes every time.
    #[default]
    Rules,
    /// By a model, checked and repaired.
    Llm,
    /// Facts by rule, narrative by a model.
    Hybrid,
}

/// A text names no [`SummaryMode`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseSummaryModeError(String);

impl fmt::Display for ParseSummaryModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no mode; expected rules, llm or hybrid", self.0)
    }
}

impl std::error::Error for ParseSummaryModeError {}

impl FromStr for SummaryMode {
    type Err = ParseSummaryModeError;

    fn from_str(name: &str) -> Result<SummaryMode, ParseSummaryModeError> {
        match name {
            "rules" => Ok(SummaryMode::Rules),
            "llm" => Ok(SummaryMode::Llm),
            "hybrid" => Ok(SummaryMode::Hybrid),
            _ => Err(ParseSummaryModeError(name.to_owned())),
        }
    }
}

/// How many facts of a class there were, and how many are still visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survival {
    /// Still visible in the emitted history.
    pub kept: u64,
    /// In the source.
    pub total: u64,
}

/// How often a redaction rule struck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedactionCount {
    /// The rule's id.
    pub rule: String,
    /// How often.
    pub count: u64,
}

/// What making a summary cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Calls to a model, failed ones included.
    pub calls: u32,
    /// What the provider reported.
    pub usage: Usage,
}

/// One element of a view, or of a history on its way out.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A summary in place of what it covers.
    Summary(&'a SummaryRecord),
    /// A message: verbatim, or with digested content under its own id.
    Message {
        /// The id of the original.
        id: MessageId,
        /// What is to be written.
        message: &'a Message,
    },
}

impl SummaryRecord {
    /// The version this code writes.
    pub const VERSION: u32 = 1;

    /// Returns a record of a summary by rule of which only `id` and `text` are known, for the caller to fill in what else is.
    pub fn by_rule(id: SummaryId, text: impl Into<String>) -> SummaryRecord {
        SummaryRecord {
            version: SummaryRecord::VERSION,
            id,
            parent: None,
            depth: 0,
            covers: Span::default(),
            covered: Vec::new(),
            kept: Vec::new(),
            emitted: None,
            summary: Summary::default(),
            header: String::new(),
            lookup: String::new(),
            left_out: LeftOut::default(),
            text: text.into(),
            mode: SummaryMode::Rules,
            model: String::new(),
            made_with: String::new(),
            tokens: Tokens::ZERO,
            tokens_before: Tokens::ZERO,
            tokens_after: Tokens::ZERO,
            survival: Default::default(),
            redactions: Vec::new(),
            cost: None,
            created_at_ms: 0,
            duration_ms: 0,
        }
    }

    /// Returns the id of a record: a hash of what it covers, how it was made, and what it says.
    pub fn derive_id(
        session: &SessionId,
        parent: Option<&SummaryId>,
        covered: &[Covered],
        mode: SummaryMode,
        model: &str,
        made_with: &str,
        text: &str,
    ) -> SummaryId {
        let hashes: Vec<u8> = covered.iter().flat_map(|covered| covered.sha256.0).collect();
        ContentHash::of_fields([
            session.as_str().as_bytes(),
            parent.map_or("", SummaryId::as_str).as_bytes(),
            &hashes,
            mode.as_str().as_bytes(),
            model.as_bytes(),
            made_with.as_bytes(),
            text.as_bytes(),
        ])
        .into()
    }

    /// The header of a summary, unless a setting asks for another; `{messages}` stands for the number of messages summarized.
    pub const HEADER: &str = "[Context Summary - {messages} messages summarized]";

    /// Returns the usual header of a summary of `messages` messages.
    pub fn default_header(messages: usize) -> String {
        SummaryRecord::HEADER.replace("{messages}", &messages.to_string())
    }

    /// Returns the ordinal of the first message that was said after the emitted history.
    pub fn through(&self) -> u64 {
        let kept = self.kept.last().map_or(0, |span| span.end);
        self.emitted.as_ref().map_or(self.covers.end.max(kept), |emitted| emitted.through)
    }

    /// Takes the messages from `end` on out of what it covers and keeps: in a branch that leaves there, these ordinals
    /// are other messages.
    pub fn limit(&mut self, end: u64) {
        self.covered.retain(|covered| covered.ordinal < end);
        self.covers.end = self.covers.end.min(end);
        self.kept.retain(|span| span.start < end);
        self.kept.iter_mut().for_each(|span| span.end = span.end.min(end));
        let n_kept: u64 = self.kept.iter().map(Span::len).sum();
        if let Some(emitted) = &mut self.emitted {
            emitted.through = emitted.through.min(end);
            emitted.messages.truncate(n_kept as usize);
        }
    }

    /// Returns the message that stands in the emitted history: header, text, and the [`ending`](Self::ending).
    /// It speaks in the user's role, so that it is data in the history and does not have the system's authority.
    pub fn to_message(&self) -> Message {
        let text = format!("{}\n\n{}\n\n{}", self.header, self.text, self.ending());
        Message::user(text).with_origin(Origin::Longhaul)
    }

    /// Returns the line that names this record inside an emitted history, so that a reader can ask for the originals.
    pub fn handle(&self) -> String {
        handle_line(self.depth, &self.id)
    }

    /// Returns what stands below the text in an emitted history: the line that says how handles are looked up, and the one that says
    /// what had no room, where there are any, and the handle.
    pub fn ending(&self) -> String {
        let can_be_looked_up = !self.lookup.is_empty();
        let lookup = can_be_looked_up.then(|| lookup_line(&self.lookup));
        let lines = [lookup, self.left_out.line(can_be_looked_up), Some(self.handle())];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// Returns the handle line of a summary: `summary-depth:0 id:0123456789abcdef`.
pub fn handle_line(depth: u32, id: &SummaryId) -> String {
    format!("summary-depth:{depth} id:{id}")
}

/// Returns the line that says how what a handle stands for is looked up: `summary-lookup: the tool recall shows m12 whole`.
pub fn lookup_line(how: &str) -> String {
    format!("{LOOKUP}{how}")
}

/// Returns whether a line of a summary is one of its [`ending`](SummaryRecord::ending): it says how handles are looked up, or what had no
/// room, or is the handle.
pub fn is_ending_line(line: &str) -> bool {
    line.starts_with(LOOKUP) || is_left_out_line(line) || parse_handle_line(line).is_some()
}

const LOOKUP: &str = "summary-lookup: ";

/// Returns depth and id of the last handle line in `text`, where there is one.
pub fn parse_handle_line(text: &str) -> Option<(u32, SummaryId)> {
    text.lines().rev().find_map(|line| {
        let (depth, id) = line.trim().strip_prefix("summary-depth:")?.split_once(" id:")?;
        let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Some((depth.parse().ok()?, SummaryId(id.into()))))?
    })
}

/// Returns depth and id of the summary that `text` is, as [`SummaryRecord::to_message`] writes one: begun by a header in
/// brackets on a line of its own with an empty line behind it, or ended by its handle. A text that quotes a handle
/// somewhere is none.
pub fn parse_summary(text: &str) -> Option<(u32, SummaryId)> {
    let lines = if has_summary_header(text) { text } else { text.trim_end().lines().next_back()? };
    parse_handle_line(lines)
}

/// Returns whether `text` begins as [`SummaryRecord::to_message`] begins a summary: with a header in brackets on a line of its
/// own, and an empty line behind it.
pub fn has_summary_header(text: &str) -> bool {
    let mut first = text.trim_start().lines().map(str::trim_end);
    let is_header = |line: &str| line.starts_with('[') && line.ends_with(']');
    first.next().is_some_and(is_header) && first.next() == Some("")
}

impl SummaryMode {
    /// Returns the name that settings and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            SummaryMode::Rules => "rules",
            SummaryMode::Llm => "llm",
            SummaryMode::Hybrid => "hybrid",
        }
    }
}

impl From<&Entry> for Covered {
    fn from(entry: &Entry) -> Covered {
        Covered { ordinal: entry.id.ordinal, sha256: entry.id.hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_round_trip_and_nothing_else_is_one() {
        let id = SummaryId("0123456789abcdef".into());
        let text = format!("[Context Summary]\n{}\nmore", handle_line(2, &id));
        assert_eq!(parse_handle_line(&text), Some((2, id)));
        for odd in ["", "summary-depth:x id:0123456789abcdef", "summary-depth:0 id:../../etc/passwd"] {
            assert_eq!(parse_handle_line(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_line_of_looking_up_stands_above_the_handle() {
        let handle = handle_line(0, &SummaryId("0123456789abcdef".into()));
        let rules = crate::Missing { missing: 2, of: 9 };
        let record = SummaryRecord {
            lookup: "ask Mara".into(),
            left_out: LeftOut { rules, ..LeftOut::default() },
            ..SummaryRecord::by_rule(SummaryId("0123456789abcdef".into()), "words")
        };
        let ending = record.ending();
        assert!(ending.lines().all(is_ending_line) && !is_ending_line("words"), "{ending}");
        let lines: Vec<&str> = ending.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[2]), (3, "summary-lookup: ask Mara", &*handle));
        assert!(lines[1].contains("no room here for 2 more rules of the user"), "{ending}");
        for text in
            [format!("[Context Summary]\n\nwords\n\n{ending}"), format!("A header\nwords\n\n{ending}\n")]
        {
            assert!(parse_summary(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_text_that_quotes_a_handle_is_no_summary() {
        let handle = handle_line(3, &SummaryId("0123456789abcdef".into()));
        for (text, is_one) in [
            (format!("[Context Summary]\n\nwords\n\n{handle}"), true),
            (format!("A header of the user's\nwords\n{handle}\n"), true),
            (format!("[Context Summary]\n\nwords\n{handle}\nand words of another"), true),
            (format!("[Image #1] Look:\n{handle}\nWhat is that?"), false),
            (format!("[Image #1]\nLook:\n{handle}\nWhat is that?"), false),
            (format!("Look at this:\n{handle}\nWhat is it?"), false),
            (format!("what does `{handle}` mean?"), false),
            (String::new(), false),
        ] {
            assert_eq!(parse_summary(&text).is_some(), is_one, "{text}");
        }
    }

    #[test]
    fn the_id_depends_on_what_is_covered_and_said() {
        let session = SessionId::new("s").unwrap();
        let id = |covered: &[Covered], text| {
            SummaryRecord::derive_id(&session, None, covered, SummaryMode::Rules, "", "rules-1", text)
        };
        let covered = [Covered { ordinal: 0, sha256: ContentHash::of(b"a") }];
        assert_eq!(id(&covered, "x"), id(&covered, "x"));
        assert_ne!(id(&covered, "x"), id(&[], "x"));
        assert_ne!(id(&covered, "x"), id(&covered, "y"));
    }
}
