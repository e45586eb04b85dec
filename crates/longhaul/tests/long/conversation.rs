//! A made-up conversation that goes on for a thousand turns. It has one task, settles a hundred things at its beginning, and
//! then something every few turns until its end.

use longhaul::transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

/// Something that was settled, in the words it was settled with.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// What it is, for a report.
    pub(crate) kind: &'static str,
    /// The words. They stand in one message, and in no other.
    pub(crate) words: String,
}

/// How a turn is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Whether the assistant calls tools.
    pub(crate) tools: bool,
    /// About how many tokens a turn adds, at four characters each.
    pub(crate) turn_tokens: usize,
}

/// Something is settled in each of so many turns at the beginning.
pub(crate) const SETTLING: usize = 100;

/// After that something is settled in every turn of this many.
const LATER: usize = 7;

/// What the user set out for, said once, in the first turn.
pub(crate) const TASK: &str = "Port the exporter in src/ledger/export.rs to streaming, part by part.";

const NAMES: [&str; 20] = [
    "amber", "birch", "cedar", "dune", "ember", "fjord", "glade", "heath", "islet", "juniper", "kelp",
    "larch", "moss", "nettle", "otter", "plover", "quartz", "reed", "sorrel", "thistle",
];

/// Returns the name of the `nth` subject: no two are alike.
fn name(nth: usize) -> String {
    format!("{}_{}", NAMES[nth % NAMES.len()], NAMES[(nth / NAMES.len() * 7 + nth + 3) % NAMES.len()])
}

/// Returns what the turn settles: a rule of the user's, a decision of the assistant's, a file that is changed.
pub(crate) fn settled(turn: usize, style: Style) -> Option<Settled> {
    let name = name(turn);
    (turn < SETTLING || turn.is_multiple_of(LATER)).then(|| match turn % 3 {
        0 => {
            Settled { kind: "rule", words: format!("Never rename the column {name}_total in ledger {turn}.") }
        }
        1 => Settled {
            kind: "decision",
            words: format!("We decided to use the {name} codec for queue {turn}, since it streams."),
        },
        _ if style.tools => Settled { kind: "file", words: format!("src/{name}/writer_{turn}.rs") },
        _ => Settled {
            kind: "decision",
            words: format!("We decided to split the {name} job into {turn} shards."),
        },
    })
}

/// Returns the messages of a turn, the user's first.
pub(crate) fn turn(nth: usize, style: Style) -> Vec<Message> {
    let name = name(nth);
    let settled = settled(nth, style);
    let words = |kind: &str| {
        settled
            .as_ref()
            .filter(|settled| settled.kind == kind)
            .map_or(String::new(), |settled| format!(" {}", settled.words))
    };
    let filler = |about: &str, tokens: usize| {
        let sentence =
            format!("Step {nth} of {about} reads batch {} and writes {} rows. ", nth * 3, nth * 17 + 5);
        sentence.repeat((tokens * 4 / sentence.len()).max(1))
    };
    let quarter = style.turn_tokens / 4;
    let task = if nth == 0 { format!("{TASK} ") } else { String::new() };
    let mut messages = vec![Message::user(format!(
        "{task}Please go on with the part {nth} about {name}.{} {}",
        words("rule"),
        filler("the request", quarter)
    ))];
    if style.tools {
        let path = match &settled {
            Some(settled) if settled.kind == "file" => settled.words.clone(),
            _ => format!("src/{name}/reader_{nth}.rs"),
        };
        let is_file = settled.as_ref().is_some_and(|settled| settled.kind == "file");
        let (tool, arguments) = match is_file {
            true => {
                ("edit_file", format!(r#"{{"path":"{path}","old_string":"a{nth}","new_string":"b{nth}"}}"#))
            }
            false => ("read_file", format!(r#"{{"path":"{path}"}}"#)),
        };
        let output: String = (0..style.turn_tokens / 20)
            .map(|line| format!("fn {name}_{line}() {{ step({nth}); }}\n"))
            .collect();
        let output = if is_file { format!("The file {path} has been updated.") } else { output };
        let command = format!(r#"{{"command":"cargo test -p part_{nth}"}}"#);
        let log = format!("running 3 tests\ntest {name} ... ok\ntest result: ok. 3 passed; 0 failed\n");
        for (call, tool, arguments, output) in
            [(0, tool, arguments, output), (1, "execute_bash", command, log)]
        {
            let id = format!("t{nth}_{call}");
            messages.push(Message::new(
                Role::Assistant,
                vec![Part::ToolCall(ToolCall::function(id.as_str(), tool, arguments))],
            ));
            let result = ToolResult::text(id.as_str(), output, Outcome::Unstated);
            messages.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        }
    }
    messages.push(Message::assistant(format!(
        "The part {nth} about {name} is done.{} {}",
        words("decision"),
        filler("the answer", quarter)
    )));
    messages
}
