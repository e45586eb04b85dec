//! The commands of a conversation: everything that begins with a slash.

use std::path::PathBuf;

use crate::{args::tokens, paint::Painter};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slash {
    Context,
    Summarize { goal: Option<String> },
    Resummarize { goal: Option<String> },
    History { full: bool },
    Recall { query: String },
    Undo,
    Redo,
    Model { name: Option<String>, window: Option<u64> },
    Save { path: Option<PathBuf>, overwrites: bool },
    Retry,
    Help,
    Quit,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Nothing,
    Command(Slash),
    /// Words for the model.
    Words(String),
    /// A command that there is not, or not in this way.
    Wrong(String),
}

/// Name, arguments and meaning of each command, in the order of the help.
pub(crate) const COMMANDS: [(&str, &str, &str); 12] = [
    ("/context", "", "what fills the window, when the next compaction comes, what it would save and cost"),
    ("/summarize", "[goal]", "compact now, with a view to a goal; shows the summary and asks first"),
    ("/resummarize", "[goal]", "make the summary anew from the originals; shows it and asks first"),
    ("/history", "[--full]", "the summaries and what was said since; --full shows every message"),
    ("/recall", "words | m12 | m3-m9", "find what was said, also what no longer stands in the window"),
    ("/undo", "", "take the last compaction back"),
    ("/redo", "", "put it in force again"),
    ("/model", "[name [window]]", "which model answers, or another one from now on"),
    ("/save", "[--force] [file]", "where the conversation is kept; with a file, write it there too"),
    ("/retry", "", "ask again where the last answer failed or was stopped"),
    ("/help", "", "this list"),
    ("/quit", "", "leave; the conversation stays and goes on with --session"),
];

/// Returns what `line` is. A message that begins with a slash is written with two.
pub(crate) fn read(line: &str) -> Typed {
    let line = line.trim();
    if line.is_empty() {
        return Typed::Nothing;
    }
    if let Some(words) = line.strip_prefix("//") {
        return Typed::Words(format!("/{words}"));
    }
    if !line.starts_with('/') {
        return Typed::Words(line.to_owned());
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let given = (!rest.is_empty()).then(|| rest.to_owned());
    let wrong = |expected: &str| Typed::Wrong(format!("{name} takes {expected}"));
    Typed::Command(match (name, rest) {
        ("/summarize", _) => Slash::Summarize { goal: given },
        ("/resummarize", _) => Slash::Resummarize { goal: given },
        ("/history", "") => Slash::History { full: false },
        ("/history", "--full") => Slash::History { full: true },
        ("/history", _) => return wrong("--full or nothing"),
        ("/recall", "") => return wrong("words, or the number of a message such as m12"),
        ("/recall", _) => Slash::Recall { query: rest.to_owned() },
        ("/model", _) => match model(rest) {
            Some(model) => model,
            None => return wrong("a name, and the window in tokens where the model is not known"),
        },
        ("/save", _) => match save(rest) {
            Some(save) => save,
            None => {
                return wrong(
                    "a file, and --force where it may overwrite one; nothing else that begins with a dash",
                );
            }
        },
        ("/context", "") => Slash::Context,
        ("/undo", "") => Slash::Undo,
        ("/redo", "") => Slash::Redo,
        ("/retry", "") => Slash::Retry,
        ("/help", "") => Slash::Help,
        ("/quit" | "/exit", "") => Slash::Quit,
        ("/context" | "/undo" | "/redo" | "/retry" | "/help" | "/quit" | "/exit", _) => {
            return wrong("nothing");
        }
        _ => return Typed::Wrong(format!("there is no command {name}; /help lists them")),
    })
}

fn save(rest: &str) -> Option<Slash> {
    const FORCE: &str = "--force";
    let before = rest.strip_prefix(FORCE).filter(|rest| rest.starts_with(char::is_whitespace));
    let behind = rest.strip_suffix(FORCE).filter(|rest| rest.ends_with(char::is_whitespace));
    let overwrites = before.or(behind).is_some();
    let path = before.or(behind).unwrap_or(rest).trim();
    let path = (!path.is_empty()).then(|| PathBuf::from(path));
    let is_flag = path.as_ref().is_some_and(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-"));
    (!is_flag).then_some(Slash::Save { path, overwrites })
}

fn model(rest: &str) -> Option<Slash> {
    let mut words = rest.split_whitespace();
    let name = words.next().map(str::to_owned);
    let window = words.next().map(tokens).transpose().ok()?;
    words.next().is_none().then_some(Slash::Model { name, window })
}

/// Returns the commands that begin with `start`.
pub(crate) fn completions(start: &str) -> Vec<&'static str> {
    match start.starts_with('/') {
        true => COMMANDS.iter().map(|(name, ..)| *name).filter(|name| name.starts_with(start)).collect(),
        false => Vec::new(),
    }
}

/// Returns the list of commands for people.
pub(crate) fn help(painter: Painter) -> String {
    let mut text = String::new();
    for (name, arguments, meaning) in COMMANDS {
        let first = format!("  {:<28} ", format!("{name} {arguments}"));
        text.push_str(&painter.hung(&first, meaning, &" ".repeat(first.len())));
    }
    text.push('\n');
    for hint in [
        "A line that ends in \\ goes on in the next one. A message that begins with / is written with //.",
        "Ctrl-C stops an answer, a command or a summary; Ctrl-D or /quit leaves.",
    ] {
        text.push_str(&painter.hung("  ", hint, "  "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_words_and_mistakes_are_told_apart() {
        let goal = |goal: &str| Some(goal.to_owned());
        let save = |path: Option<&str>, overwrites| {
            Typed::Command(Slash::Save { path: path.map(PathBuf::from), overwrites })
        };
        for (line, expected) in [
            ("  ", Typed::Nothing),
            ("hello /undo", Typed::Words("hello /undo".into())),
            ("//etc/passwd is a file", Typed::Words("/etc/passwd is a file".into())),
            ("/undo", Typed::Command(Slash::Undo)),
            ("/summarize", Typed::Command(Slash::Summarize { goal: None })),
            ("/summarize fix  the tests ", Typed::Command(Slash::Summarize { goal: goal("fix  the tests") })),
            ("/history --full", Typed::Command(Slash::History { full: true })),
            ("/model", Typed::Command(Slash::Model { name: None, window: None })),
            ("/model m 4k", Typed::Command(Slash::Model { name: Some("m".into()), window: Some(4000) })),
            ("/model m 4096", Typed::Command(Slash::Model { name: Some("m".into()), window: Some(4096) })),
            ("/exit", Typed::Command(Slash::Quit)),
            ("/save", save(None, false)),
            ("/save a file.json", save(Some("a file.json"), false)),
            ("/save --force a.json", save(Some("a.json"), true)),
            ("/save a.json --force", save(Some("a.json"), true)),
        ] {
            assert_eq!(read(line), expected, "{line:?}");
        }
        for wrong in [
            "/frobnicate", "/undo 3", "/history -f", "/recall", "/model m x", "/model m 1 2", "/",
            "/save --force", "/save -f a",
        ] {
            assert!(matches!(read(wrong), Typed::Wrong(_)), "{wrong}");
        }
    }

    #[test]
    fn every_command_is_understood_and_completed() {
        for (name, arguments, _) in COMMANDS {
            let line = if name == "/recall" { "/recall word" } else { name };
            assert!(matches!(read(line), Typed::Command(_)), "{name} {arguments}");
            assert!(completions(&name[..3]).contains(&name));
        }
        assert_eq!(completions("/re"), ["/resummarize", "/recall", "/redo", "/retry"]);
        assert!(completions("un").is_empty());
    }
}
