//! Random conversations, as odd as real ones.

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};
use proptest::{collection::vec, prelude::*};

/// Texts of many kinds: words, code, paths, other scripts, runs without a space, blanks, odd characters.
pub fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z ,.]{1,200}",
        2 => "(src/[a-z_]{1,12}\\.rs:[0-9]{1,4}: [a-z_ ]{1,40}\n){1,20}",
        1 => "\\PC{0,80}",
        1 => "[一-龥。]{1,60}",
        1 => "[a-f0-9]{200,2000}",
        1 => "( |\n|\t){1,10}",
        1 => Just(String::new()),
    ]
}

/// Valid conversations: an optional system prompt, requests, answers, exchanges with up to four parallel calls, and
/// sometimes an open exchange at the end.
pub fn conversation(max_units: usize) -> impl Strategy<Value = Transcript> {
    let unit = prop_oneof![
        2 => any_text().prop_map(Piece::User),
        2 => any_text().prop_map(Piece::Assistant),
        5 => vec((any_text(), any::<bool>()), 1..=4).prop_map(Piece::Exchange),
    ];
    (any::<bool>(), vec(unit, 0..=max_units), 0..=3usize).prop_map(|(system, pieces, open)| {
        let mut transcript = Transcript::new();
        if system {
            transcript.push(Message::system("You are a careful assistant."));
        }
        transcript.push(Message::user("Please fix src/lib.rs, and never touch the lock file."));
        for (index, piece) in pieces.into_iter().enumerate() {
            piece.push_to(index, &mut transcript);
        }
        if open > 0 {
            transcript.push(calls("open", open));
        }
        transcript
    })
}

#[derive(Clone, Debug)]
enum Piece {
    User(String),
    Assistant(String),
    Exchange(Vec<(String, bool)>),
}

impl Piece {
    fn push_to(self, index: usize, transcript: &mut Transcript) {
        let said = |text: String| if text.trim().is_empty() { "ok".to_owned() } else { text };
        match self {
            Piece::User(text) => {
                transcript.push(Message::user(said(text)));
            }
            Piece::Assistant(text) => {
                transcript.push(Message::assistant(said(text)));
            }
            Piece::Exchange(results) => {
                let prefix = format!("c{index}");
                transcript.push(calls(&prefix, results.len()));
                for (nth, (text, failed)) in results.into_iter().enumerate() {
                    let outcome = if failed { Outcome::Failed } else { Outcome::Unstated };
                    let result = ToolResult::text(format!("{prefix}_{nth}"), text, outcome);
                    transcript.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
                }
            }
        }
    }
}

fn calls(prefix: &str, count: usize) -> Message {
    let call = |nth| {
        let arguments = format!(r#"{{"path":"src/file_{nth}.rs"}}"#);
        Part::ToolCall(ToolCall::function(format!("{prefix}_{nth}"), "read_file", arguments))
    };
    Message::new(Role::Assistant, (0..count).map(call).collect())
}
