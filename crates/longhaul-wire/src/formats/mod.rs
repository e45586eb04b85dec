//! The formats: what a history is written in, and one description of each.
//!
//! A format is one file here, its `mod` line, and its line in the list below. The compiler asks for all of its [`Spec`]; one that can
//! only be imported may begin with [`Spec::read_only`]. Rules that its provider holds a history to stand in a file of their own
//! beside it (`openai/rules.rs`), which shares no code with the reader. What else a new format needs is listed in
//! `docs/ARCHITECTURE.md`; tests ask for most of it.

pub(crate) mod anthropic;
mod chat;
mod claude_code;
mod cline;
mod codex;
mod copilot;
pub(crate) mod gemini;
mod gemini_cli;
mod longhaul;
mod meeting;
mod openai;
mod opencode;
mod pi;
pub(crate) mod responses;
mod swe_agent;
mod tau2;
mod ui_messages;
mod vcsum;

use std::{fmt, str::FromStr};

use longhaul_transcript::{ContentHash, Message, SessionId, Tokens, Transcript};

use crate::{
    Document, WireError,
    convert::losses::Losses,
    detect::{Claim, Head},
    dialect::Dialect,
    json::{Json, quoted},
    validate::Check,
};

pub(crate) use responses::{INSTRUCTIONS, ROLLOUT, USER_TEXT};
pub(crate) use {anthropic::MESSAGE as ANTHROPIC, openai::MESSAGE as OPENAI};

/// Declares the formats, each with the module that describes it.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $module:ident,)*) => {
        /// What a history is written in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// Every format, those that can be written first.
            pub const ALL: [Format; [$(stringify!($format)),*].len()] = [$(Format::$format),*];

            /// Returns what there is to know of the format.
            pub(crate) fn spec(self) -> &'static Spec {
                match self {
                    $(Format::$format => &$module::SPEC,)*
                }
            }
        }
    };
}

formats! {
    /// OpenAI Chat Completions: an array of messages, or an object with `messages`.
    OpenAi = openai,
    /// OpenAI Responses: an array of items, or an object with `input`.
    Responses = responses,
    /// Anthropic Messages: a request body with `messages`, or the bare array.
    Anthropic = anthropic,
    /// A Claude Code session file, one JSON value a line.
    ClaudeCode = claude_code,
    /// A Codex CLI rollout file, one JSON value a line.
    Codex = codex,
    /// Google Gemini: an array of contents, or an object with `contents`.
    Gemini = gemini,
    /// Plain chat as in ShareGPT: `from` and `value`.
    Chat = chat,
    /// UI messages of Vercel's AI SDK: an array of messages with `id` and `parts`, or an object with `messages`.
    UiMessages = ui_messages,
    /// longhaul's own canonical form.
    Longhaul = longhaul,
    /// A pi session file. Import only.
    Pi = pi,
    /// A session file of Gemini CLI. Import only.
    GeminiCli = gemini_cli,
    /// A task of Cline, or of Roo Code and other kin. Import only.
    Cline = cline,
    /// A session of Copilot CLI, one event a line. Import only.
    Copilot = copilot,
    /// A session of opencode, as it exports them. Import only.
    Opencode = opencode,
    /// A tau2-bench simulation, or a tau-bench result with `traj`. Import only.
    Tau2 = tau2,
    /// A SWE-agent trajectory. Import only.
    SweAgent = swe_agent,
    /// A QMSum meeting. Import only.
    Meeting = meeting,
    /// VCSum meeting segments, one a line. Import only.
    Vcsum = vcsum,
}

/// Everything that longhaul knows of a format.
#[derive(Debug)]
pub(crate) struct Spec {
    /// The name that the command line and reports use.
    pub(crate) name: &'static str,
    /// Other names that the command line takes.
    pub(crate) aliases: &'static [&'static str],
    /// Whose models its histories are for, as settings name a provider; `None` where that cannot be said.
    pub(crate) provider: Option<&'static str>,
    /// Says how surely what begins like this is of the format.
    pub(crate) claims: fn(&Head<'_>) -> Option<Claim>,
    /// Whether a file of it is one JSON value a line.
    pub(crate) is_lines: bool,
    /// Whether calls and results may stand without ids, in their order: those that they get here say nothing (G-10).
    pub(crate) may_lack_ids: bool,
    /// Reads a file.
    pub(crate) read: fn(Vec<u8>) -> Result<Document, WireError>,
    /// Returns what was said between the agent's own compactions.
    pub(crate) segments: fn(&Document) -> Vec<Transcript>,
    /// Checks a file against the rules of the format; `None` where all that is asked is that it can be read.
    pub(crate) validate: Option<Check>,
    /// How it is written; `None` for one that can only be imported.
    pub(crate) writing: Option<Writing>,
    /// What a history of it is written in where nobody says: itself where it can be, and for one that can only be imported the
    /// format that is nearest to what was sent.
    pub(crate) written_as: Format,
}

impl Spec {
    /// One that can only be imported, and of which there is nothing else to say.
    const fn read_only(
        name: &'static str,
        claims: fn(&Head<'_>) -> Option<Claim>,
        read: fn(Vec<u8>) -> Result<Document, WireError>,
    ) -> Spec {
        Spec {
            name,
            aliases: &[],
            provider: None,
            claims,
            is_lines: false,
            may_lack_ids: false,
            read,
            segments: one_segment,
            validate: None,
            writing: None,
            written_as: Format::OpenAi,
        }
    }
}

/// How a format is written: what it can carry, and how what comes from elsewhere is cut to fit.
#[derive(Debug)]
pub(crate) struct Writing {
    /// How its messages are spelled: in its own way, or in that of the provider whose messages an agent keeps.
    pub(crate) dialect: &'static Dialect,
    /// Whether it can carry everything that a transcript holds, as it is.
    pub(crate) carries_all: bool,
    /// Whether reasoning may stay in the messages that a compaction keeps, or is bound to a prefix that it changes.
    pub(crate) keeps_reasoning: bool,
    /// Where leading system messages go.
    pub(crate) lead: Lead,
    /// Where system messages stand that do not lead.
    pub(crate) later_system: LaterSystem,
    /// What becomes of texts of white space.
    pub(crate) blanks: Blanks,
    /// How many calls an answer may make before their results.
    pub(crate) most_calls: usize,
    /// Whether answers that follow each other are read as one, so that the results of all may stand behind the last.
    pub(crate) reads_as_one: bool,
    /// Cuts messages the way the format cuts them.
    pub(crate) regroup: fn(Vec<Message>, &mut Losses) -> Vec<Message>,
    /// Spells the definition of a tool for the model.
    pub(crate) tool: fn(&Tool<'_>) -> String,
    /// Where the definitions of tools stand.
    pub(crate) tools: Tools,
    /// Whether a request can be marked with what the provider is to cache.
    pub(crate) takes_cache_marks: bool,
    /// Puts a file together.
    pub(crate) file: fn(Draft, &mut Losses) -> String,
    /// What there is to do with it as the session file of an agent.
    pub(crate) session: Option<SessionFile>,
}

/// Where leading system messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// In the list, as messages.
    Inside,
    /// Outside of the list.
    Outside,
}

/// Where system messages stand that do not lead. Elsewhere the user says them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaterSystem {
    /// Anywhere in the list.
    Anywhere,
    /// Between what is said to the model and its answer, in the spelling that they came in.
    BeforeAnswers,
    /// Nowhere.
    Never,
}

/// What becomes of texts of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// They stay.
    Stay,
    /// Messages that say nothing else go, and blank texts beside others that are not the model's (U-11).
    Go,
    /// As `Go`, and the model's go as well where they are empty (G-05).
    GoWhereEmpty,
    /// They go wherever they stand, in results too.
    GoEverywhere,
}

/// Where the definitions of tools stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tools {
    /// In the file; the function makes one JSON value of the definitions.
    Inside(fn(&[String]) -> String),
    /// In the file, as they came.
    AsTheyCame,
    /// Nowhere: the format has no place for them.
    Nowhere,
}

/// The definition of a tool, each field as JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    /// What it takes, as JSON Schema.
    pub(crate) schema: &'a str,
}

/// What an agent's session file needs beyond its messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionFile {
    /// Spells the lines that put a compaction behind what the file holds: of the file, of what was written from it, at a
    /// time, with what the history costs now.
    pub(crate) append: fn(&Document, &Document, &str, Tokens) -> Vec<String>,
    /// The command that takes a session up again, up to the id.
    pub(crate) resume: &'static str,
    /// Returns the places of a line that name the session.
    pub(crate) ids: for<'a> fn(Json<'a>) -> Vec<Json<'a>>,
}

/// A file before it is put together: its pieces, each as JSON text.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The id of the session, which may be derived from what was said.
    pub(crate) session: SessionId,
    /// Whether that id was named, and is not derived.
    pub(crate) is_named: bool,
    pub(crate) model: Option<String>,
    /// The definitions of the tools, as the format lists them.
    pub(crate) tools: Option<String>,
    /// Standing instructions that stand outside the list.
    pub(crate) outside: Vec<String>,
    /// The messages that these are of.
    pub(crate) outside_at: Vec<Option<usize>>,
    pub(crate) messages: Vec<String>,
    /// Whether the first message is the model's.
    pub(crate) begins_with_answer: bool,
    /// Addresses of media, by hash, where the format keeps them apart.
    pub(crate) media: Vec<(ContentHash, String)>,
}

impl Format {
    /// Returns the name that the command line and reports use.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the other names under which [`str::parse`] knows the format.
    pub fn aliases(self) -> &'static [&'static str] {
        self.spec().aliases
    }

    /// Returns whose models the histories of the format are for, by the name that settings give a provider; `None` where
    /// that cannot be said.
    pub fn provider(self) -> Option<&'static str> {
        self.spec().provider
    }

    /// Returns whether the format can be read but not written, other than unchanged.
    pub fn is_import_only(self) -> bool {
        self.spec().writing.is_none()
    }

    /// Returns what a history of the format is written in where nobody says: the format itself where it can be written, and
    /// another where it can only be imported.
    pub fn written_as(self) -> Format {
        self.spec().written_as
    }

    /// Returns whether a file of the format is one JSON value a line.
    pub fn is_lines(self) -> bool {
        self.spec().is_lines
    }

    /// Returns whether a file of the format is the session of an agent that can be taken up again: what [`append`] and
    /// [`with_session_id`] are for.
    ///
    /// [`append`]: crate::append
    /// [`with_session_id`]: crate::with_session_id
    pub fn is_session_file(self) -> bool {
        self.spec().writing.as_ref().is_some_and(|writing| writing.session.is_some())
    }

    /// Returns the command with which the agent takes the session `id` up again, where it is the format of an agent's session
    /// file.
    pub fn resume_command(self, id: &SessionId) -> Option<String> {
        let session = self.spec().writing.as_ref()?.session?;
        Some(format!("{} {id}", session.resume))
    }

    /// Returns whether reasoning may stay in the messages that a compaction keeps. Chat dialects of thinking models want it
    /// back (`OD-1`); elsewhere it is bound to a prefix that the compaction changes.
    pub fn keeps_reasoning(self) -> bool {
        self.spec().writing.as_ref().is_some_and(|writing| writing.keeps_reasoning)
    }

    /// Returns whether requests in the format can be marked with what the provider is to cache, by
    /// [`with_cache_marks`](crate::with_cache_marks).
    pub fn takes_cache_marks(self) -> bool {
        self.spec().writing.as_ref().is_some_and(|writing| writing.takes_cache_marks)
    }

    /// Returns the format of the requests that carry its messages: its own, that of the provider whose messages an agent
    /// keeps, or `None` for one that can only be imported.
    pub fn request(self) -> Option<Format> {
        self.spec().writing.as_ref().map(|writing| writing.dialect.format)
    }

    /// Returns the definition of a tool as the requests of the format have it, as JSON text; `schema` says what the tool takes,
    /// as JSON Schema. `None` for a format that can only be imported.
    pub fn tool_definition(self, name: &str, description: &str, schema: &str) -> Option<String> {
        let writing = self.spec().writing.as_ref()?;
        let (name, description) = (quoted(name), quoted(description));
        let tool = (writing.tool)(&Tool { name: &name, description: Some(&description), schema });
        let Tools::Inside(list) = writing.tools else { return Some(tool) };
        // Gemini's list holds lists of its own.
        let list = list(&[tool]);
        Json::check(list.as_bytes()).ok()?.elements().first().map(|tool| tool.raw().to_owned())
    }

    /// Returns how the format is written.
    pub(crate) fn writing(self) -> Result<&'static Writing, WireError> {
        self.spec().writing.as_ref().ok_or(WireError::ImportOnly { format: self })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = WireError;

    fn from_str(name: &str) -> Result<Format, WireError> {
        let is_named = |format: &Format| format.name() == name || format.aliases().contains(&name);
        let named = Format::ALL.into_iter().find(is_named);
        named.ok_or_else(|| WireError::UnknownFormat { name: name.to_owned() })
    }
}

impl Tool<'_> {
    /// Returns the description as a field of an object, with a comma before it.
    fn described(&self) -> String {
        self.description.map(|text| format!(",\"description\":{text}")).unwrap_or_default()
    }
}

impl Draft {
    /// Returns the model as a field of an object.
    fn model_field(&self) -> Option<String> {
        self.model.as_ref().map(|model| format!("\"model\":{}", quoted(model)))
    }

    /// Returns the tools as a field of an object.
    fn tools_field(&self) -> Option<String> {
        self.tools.as_ref().map(|tools| format!("\"tools\":{tools}"))
    }

    /// Returns the messages, bare where there are no `fields`, else as the field `key` behind them.
    fn object_or_list(&self, fields: impl IntoIterator<Item = Option<String>>, key: &str) -> String {
        let list = format!("[{}]", self.messages.join(","));
        let fields: String = fields.into_iter().flatten().map(|field| field + ",").collect();
        match fields.is_empty() {
            true => list,
            false => format!("{{{fields}\"{key}\":{list}}}"),
        }
    }
}

/// Returns every format's name, for messages.
pub(crate) fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

/// Returns definitions as a list.
fn listed(tools: &[String]) -> String {
    format!("[{}]", tools.join(","))
}

/// Returns what was said as one segment: the agent does not compact, or its file does not say where.
fn one_segment(doc: &Document) -> Vec<Transcript> {
    vec![doc.transcript().clone()]
}

/// Returns the text of a standing instruction that is a bare string.
fn text_of(value: &str) -> Option<String> {
    Json::check(value.as_bytes()).ok()?.string()
}

/// Returns what a failed call said, as a dialect without a field for that tells it: once, where it says so itself.
fn told_as_failed(said: &str) -> String {
    match said.starts_with("Error: ") {
        true => said.to_owned(),
        false => format!("Error: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_means_one_format() {
        let mut names = BTreeSet::new();
        for format in Format::ALL {
            for name in format.aliases().iter().copied().chain([format.name()]) {
                assert_eq!(name.parse::<Format>().unwrap(), format);
                assert!(names.insert(name), "{name} is named twice");
            }
        }
        assert!("OpenAI".parse::<Format>().is_err());
    }

    #[test]
    fn those_that_can_be_written_come_first() {
        assert!(Format::ALL.is_sorted_by_key(|format| format.is_import_only()));
    }

    #[test]
    fn that_a_call_failed_is_told_once() {
        let said = ["denied", "Error: denied"].map(told_as_failed);
        assert_eq!(said, ["Error: denied", "Error: denied"]);
    }
}
