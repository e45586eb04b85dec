//! What the tests have of each wire format: a history of it, and what they draw, convert and send in it. One file a format, and
//! all tests that walk the formats read it there.

mod anthropic;
mod chat;
mod claude_code;
mod codex;
mod gemini;
mod imported;
mod longhaul;
mod openai;
mod responses;
mod said;
mod ui_messages;

use expect_test::Expect;
use serde_json::{Value, value::RawValue};

pub use said::{IDS, Piece, Said, Speller, Text, name};

/// Returns what there is of the format of this name.
///
/// # Panics
/// When there is nothing of it.
pub fn of(format: &str) -> &'static Sample {
    let sample = match format {
        "anthropic" => Some(&anthropic::SAMPLE),
        "chat" => Some(&chat::SAMPLE),
        "claude-code" => Some(&claude_code::SAMPLE),
        "cline" => Some(&imported::CLINE),
        "codex" => Some(&codex::SAMPLE),
        "copilot" => Some(&imported::COPILOT),
        "gemini" => Some(&gemini::SAMPLE),
        "gemini-cli" => Some(&imported::GEMINI_CLI),
        "longhaul" => Some(&longhaul::SAMPLE),
        "meeting" => Some(&imported::MEETING),
        "openai" => Some(&openai::SAMPLE),
        "opencode" => Some(&imported::OPENCODE),
        "pi" => Some(&imported::PI),
        "responses" => Some(&responses::SAMPLE),
        "swe-agent" => Some(&imported::SWE_AGENT),
        "tau2" => Some(&imported::TAU2),
        "ui-messages" => Some(&ui_messages::SAMPLE),
        "vcsum" => Some(&imported::VCSUM),
        _ => None,
    };
    assert!(
        sample.is_some(),
        "crates/longhaul-testkit/src/samples has nothing of {format}: add it after openai.rs"
    );
    sample.unwrap_or(&openai::SAMPLE)
}

/// What the tests have of a format.
#[derive(Debug)]
pub struct Sample {
    /// A small history, odd in the ways real ones are.
    pub history: &'static [u8],
    /// What is read of it; `UPDATE_EXPECT=1` fills it in.
    pub read: Expect,
    /// `None` for a format that can only be imported.
    pub written: Option<Written>,
}

/// What they have of one that can be written.
#[derive(Debug)]
pub struct Written {
    /// What of other formats it can say, beside text and calls.
    pub carries: &'static [Kind],
    /// Histories that hold what is known again by the word `CANARY` in it: one at least for each kind of content that it has.
    pub pieces: fn() -> Vec<(Kind, String)>,
    /// The field of a body that holds the messages; `None` for a session file.
    pub list: Option<&'static str>,
    /// `None` for one that nobody is sent: session files, plain chat, and our own.
    pub request: Option<Request>,
    /// `None` for one that no provider of models is sent.
    pub provider: Option<Provider>,
}

/// What they have of one in which a provider or an agent takes requests.
#[derive(Debug)]
pub struct Request {
    /// Returns how what is said is spelled, where there is a spelling for it.
    pub items: fn(&mut Speller, &Said) -> Option<Vec<Value>>,
    /// A message of the user's.
    pub of_user: &'static str,
    /// Whether answers that follow each other are read as one.
    pub reads_as_one: bool,
}

/// What they have of one in which a provider of models takes requests.
#[derive(Debug)]
pub struct Provider {
    /// The messages of a request, each with something that only this provider knows: a picture with the word "look", a call, its
    /// result of two lines, and an answer.
    pub spelled: &'static [&'static str],
    /// What stands before and behind them in a body, without and with the standing instructions "Be brief."
    pub around: [(&'static str, &'static str); 2],
    /// A message of the user's: a PNG, the word "or", a GIF, and a block of next month.
    pub pictures: &'static str,
    /// Messages, some of which call `ls` and some say "zebra", in the shape that this provider alone knows: the formats of all others
    /// must refuse them, or read them right.
    pub shapes: &'static [&'static str],
    /// The body of an answer.
    pub answer: &'static str,
    /// The message in it.
    pub message: &'static str,
    /// The body of an answer that failed.
    pub failed: &'static str,
    /// What answers, or events of a stream, say that they cost: input, read from the cache, written to it, output, reasoning.
    pub costs: &'static [(&'static str, [u64; 5])],
}

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What somebody says.
    Text,
    /// A call with its result.
    Call,
    /// The name of a speaker.
    Name,
    /// A name that providers do not take.
    UnfitName,
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A file.
    File,
    /// The name of a file.
    FileName,
    /// A file that lies with the provider.
    ProvidersFile,
    /// Readable reasoning.
    Reasoning,
    /// What a provider has sealed of it.
    Sealed,
    /// A block of a type that longhaul does not know.
    Block,
    /// A field that longhaul does not read.
    Field,
    /// A field of the system prompt.
    SystemField,
    /// The id of an item.
    Id,
    /// The definition of a tool.
    Tool,
    /// What stands around the messages.
    Around,
}

impl Kind {
    /// Returns whether every format carries it.
    pub fn is_always_carried(self) -> bool {
        matches!(self, Kind::Text | Kind::Call)
    }

    /// Returns the words by which its loss is told.
    pub fn told_by(self) -> &'static str {
        match self {
            Kind::Text | Kind::Call => "-",
            Kind::Name | Kind::UnfitName => "name of a speaker",
            Kind::Image | Kind::ProvidersFile => "picture",
            Kind::Audio => "sound",
            Kind::File | Kind::FileName => "file",
            Kind::Reasoning => "reasoning left out",
            Kind::Sealed => "reasoning",
            Kind::Block => "block of type",
            Kind::Field => "field",
            Kind::SystemField | Kind::Id | Kind::Tool | Kind::Around => "left out",
        }
    }
}

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"done"}"#;

/// Returns the elements of a list, each made into a line.
fn lines(list: &str, line: impl Fn(usize, &str) -> String) -> String {
    let elements: Vec<Box<RawValue>> = serde_json::from_str(list).expect("a list");
    elements.iter().enumerate().map(|(nth, element)| line(nth, element.get()) + "\n").collect()
}
