//! The tools of a conversation: read, search and edit files, run commands, look up what was said. Each use is asked for.

mod files;
mod place;
mod shell;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use longhaul::transcript::{Outcome, Part, SessionId, ToolCall, ToolResult};
use longhaul_client::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use self::shell::stop_all as stop_commands;
use self::{
    place::{Place, has_dot},
    shell::Printed,
};
use super::{
    console::{Consent, Console},
    interrupt::Interrupts,
    screen::Screen,
};
use crate::{
    archive::{self, line_within},
    lookup,
    paint::{self, plain},
    store::Store,
};

/// The tools, and what the user has agreed to once and for all.
#[derive(Debug)]
pub(crate) struct Toolbox {
    place: Place,
    store: Store,
    session: SessionId,
    /// What need not be asked for again: a tool's name, or a whole command line.
    always: BTreeSet<String>,
    /// Questions that nobody sees are answered by the next line of stdin.
    answers_are_piped: bool,
}

/// What a tool came to: what it says, or why it could not.
type Said = Result<String, String>;

/// A use of a tool, as the model asks for it.
#[derive(Debug, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
enum Use {
    ReadFile {
        path: String,
        #[serde(default)]
        from_line: usize,
        #[serde(default = "many_lines")]
        lines: usize,
    },
    ListFiles {
        #[serde(default = "here")]
        path: String,
    },
    Search {
        pattern: String,
        #[serde(default = "here")]
        path: String,
    },
    EditFile {
        path: String,
        old: String,
        new: String,
    },
    WriteFile {
        path: String,
        content: String,
    },
    RunCommand {
        command: String,
        #[serde(default = "a_minute")]
        timeout_seconds: u64,
    },
    Recall {
        query: String,
    },
}

fn here() -> String {
    ".".to_owned()
}

fn many_lines() -> usize {
    400
}

fn a_minute() -> u64 {
    60
}

/// What the model is told of calls of a turn that was stopped.
pub(crate) const NOT_RUN: &str = "not run: the user stopped the turn";

/// What a call gives during which the process ended.
pub(crate) const CUT_OFF: &str =
    "aborted: it was cut off before it ended, and what it did until then is not known";

/// The most characters that a tool says; the middle of a longer output is left out.
const MAX_SAID: usize = 16_000;

/// The longest command that is agreed to for good, in bytes. A longer one nobody reads twice.
const MAX_KNOWN: usize = 2_000;

/// The most lines of a change that a question shows.
const MAX_SHOWN: usize = 30;

/// Columns of a message that recall names: the model has no terminal.
const COLUMNS: usize = 160;

impl Toolbox {
    /// Returns the tools for the working directory.
    pub(crate) fn here(store: Store, session: SessionId, answers_are_piped: bool) -> Result<Toolbox> {
        let folder = std::env::current_dir().context("there is no working directory")?;
        Ok(Toolbox {
            place: Place::new(&folder)?,
            store,
            session,
            always: BTreeSet::new(),
            answers_are_piped,
        })
    }

    /// Looks things up in the conversation that the store keeps as `line` from now on.
    pub(crate) fn follow(&mut self, line: &SessionId) {
        self.session.clone_from(line);
    }

    /// Returns what the model is told to begin with.
    pub(crate) fn instructions(&self) -> String {
        format!(
            "You are a careful software engineer at work in the directory {}. Use the tools to look before you answer \
             and to change what you are asked to change; paths are relative to this directory and must lie in it. Make \
             small edits, run the tests after them, and say what you did. The user is asked before each use of a tool \
             and may refuse. Earlier parts of a long conversation are replaced by a summary: `recall` finds their words.",
            self.place.root().display()
        )
    }

    /// Returns the definitions that go out with every request.
    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        let text = |says: &str| json!({"type": "string", "description": says});
        let number = |says: &str| json!({"type": "integer", "description": says});
        let tool = |name: &str, says: &str, properties: Value, required: &[&str]| ToolDefinition {
            name: name.to_owned(),
            description: says.to_owned(),
            parameters: json!({"type": "object", "properties": properties, "required": required}),
        };
        vec![
            tool(
                "read_file",
                "Read a text file, with line numbers",
                json!({"path": text("The file"), "from_line": number("First line, from 1"), "lines": number("How many lines; 400 where not said")}),
                &["path"],
            ),
            tool(
                "list_files",
                "List the files below a directory; those below a hidden name only where the path has it",
                json!({"path": text("The directory")}),
                &[],
            ),
            tool(
                "search",
                "Search the files below a directory for a regular expression; those below a hidden name only where the path has it",
                json!({"pattern": text("The regular expression"), "path": text("The directory or file")}),
                &["pattern"],
            ),
            tool(
                "edit_file",
                "Replace one piece of a file; the old text must stand there exactly once",
                json!({"path": text("The file"), "old": text("The text to replace"), "new": text("The text in its place")}),
                &["path", "old", "new"],
            ),
            tool(
                "write_file",
                "Write a whole file, new or in place of the old one",
                json!({"path": text("The file"), "content": text("All of its text")}),
                &["path", "content"],
            ),
            tool(
                "run_command",
                "Run a shell command in the working directory",
                json!({"command": text("The command line"), "timeout_seconds": number("When it is stopped; 60 where not said, 600 at most")}),
                &["command"],
            ),
            tool(
                "recall",
                "Find messages of this conversation by their words, also those that were summarized away",
                json!({"query": text("Words to look for")}),
                &["query"],
            ),
        ]
    }

    /// Runs what `call` asks for, once the user agrees. Returns the result, and whether the user stopped the turn.
    pub(crate) async fn run(
        &mut self,
        call: &ToolCall,
        screen: &mut Screen,
        console: &mut Console,
        interrupts: &Interrupts,
    ) -> Result<(ToolResult, bool)> {
        let asked = match read(call) {
            Ok(asked) => asked,
            Err(why) => {
                screen.warn(&format!("{}: {why}", call.name));
                return Ok((result(call, Err(why)), false));
            }
        };
        // Nobody is asked about what is not done in any case.
        if let Err(why) = self.placed(&asked) {
            screen.warn(&format!("{}: {why}", asked.title()));
            return Ok((result(call, Err(why)), false));
        }
        let is_command = matches!(asked, Use::RunCommand { .. });
        let key = asked.key(&self.place);
        if key.as_ref().is_none_or(|key| !self.always.contains(key)) {
            if !self.answers_are_piped && !console.is_seen() {
                screen.warn(&format!(
                    "{}: refused, nobody is there to be asked (--piped-answers takes answers from stdin)",
                    asked.title()
                ));
                return Ok((Toolbox::refused(call, "refused: nobody is there to be asked"), false));
            }
            let (shown, question) = asked.question();
            match console.consent_to(&shown, &question, key.is_some())? {
                Consent::Yes => {}
                Consent::Always => self.always.extend(key),
                Consent::Stop => return Ok((Toolbox::refused(call, NOT_RUN), true)),
                Consent::No | Consent::Edit => {
                    return Ok((Toolbox::refused(call, "the user refused this"), false));
                }
            }
        }
        screen.note(&format!("· {}", asked.title()));
        let printed = Printed::default();
        let said = tokio::select! {
            biased;
            () = interrupts.pressed() => None,
            said = self.perform(asked, &printed) => Some(said),
        };
        let was_stopped = said.is_none();
        if was_stopped {
            screen.interrupted();
        }
        let said = said.unwrap_or_else(|| Err(printed.until("stopped by the user")));
        match &said {
            Ok(text) | Err(text) if is_command => screen.note(&told(text)),
            Err(why) if !was_stopped => {
                screen.note(&format!("  {}", why.lines().next().unwrap_or_default()));
            }
            _ => {}
        }
        Ok((result(call, said), was_stopped))
    }

    /// Returns the result of a call that was not run.
    pub(crate) fn refused(call: &ToolCall, why: &str) -> ToolResult {
        result(call, Err(why.to_owned()))
    }

    /// Fails where the file or folder lies where no tool may go.
    fn placed(&self, asked: &Use) -> Result<(), String> {
        match asked {
            Use::ReadFile { path, .. }
            | Use::ListFiles { path }
            | Use::Search { path, .. }
            | Use::EditFile { path, .. } => self.place.existing(path),
            Use::WriteFile { path, .. } => self.place.new_or_existing(path),
            Use::RunCommand { .. } | Use::Recall { .. } => return Ok(()),
        }
        .map(drop)
    }

    /// Does what is asked; what a command has printed so far is in `printed`.
    async fn perform(&self, asked: Use, printed: &Printed) -> Said {
        match asked {
            Use::ReadFile { path, from_line, lines } => {
                files::read(&self.place.existing(&path)?, from_line, lines)
            }
            Use::ListFiles { path } => files::list(&self.place, &self.place.existing(&path)?),
            Use::Search { pattern, path } => {
                files::search(&self.place, &self.place.existing(&path)?, &pattern)
            }
            Use::EditFile { path, old, new } => files::edit(&self.place.existing(&path)?, &old, &new),
            Use::WriteFile { path, content } => files::write(&self.place.new_or_existing(&path)?, &content),
            Use::RunCommand { command, timeout_seconds } => {
                shell::run(self.place.root(), &command, timeout_seconds, printed).await
            }
            Use::Recall { query } => self.recall(&query).await,
        }
    }

    async fn recall(&self, query: &str) -> Said {
        let failed = |error: longhaul::store::StoreError| error.to_string();
        let mut found = String::new();
        let mut hits = self.store.search_in_line(&self.session, query, 8).await.map_err(failed)?;
        if hits.is_empty() {
            hits = self.store.search_some_in_line(&self.session, query, 8).await.map_err(failed)?;
            let deleted = archive::deleted(&self.store, &self.session).await.map_err(failed)?;
            let deleted = archive::but_deleted(deleted);
            if hits.is_empty() {
                return Err(format!("nothing of this was said{deleted}"));
            }
            found.push_str(&format!("no message holds all of these words{deleted}; these hold some:\n"));
        }
        for hit in hits {
            let snippet = plain(&hit.snippet);
            found.push_str(&format!("{}\n    {snippet}\n", line_within(&lookup::found(hit), COLUMNS)));
        }
        Ok(found)
    }
}

impl Use {
    /// Returns what "always" is about: this tool, or this very command. `None` for what is asked for each time: a path
    /// through a hidden name, which is where hooks, settings and secrets are, and a command too long to be known again.
    fn key(&self, place: &Place) -> Option<String> {
        let tool = |name: &str, path: &str| (!is_hidden(place, path)).then(|| name.to_owned());
        match self {
            Use::ReadFile { path, .. } => tool("read_file", path),
            Use::ListFiles { path } => tool("list_files", path),
            Use::Search { path, .. } => tool("search", path),
            Use::EditFile { path, .. } => tool("edit_file", path),
            Use::WriteFile { path, .. } => tool("write_file", path),
            Use::RunCommand { command, .. } => {
                (command.len() <= MAX_KNOWN).then(|| format!("run_command {command}"))
            }
            Use::Recall { .. } => Some("recall".to_owned()),
        }
    }

    /// Says in a line what is to be done.
    fn title(&self) -> String {
        match self {
            Use::ReadFile { path, .. } => format!("read {}", in_a_line(path)),
            Use::ListFiles { path } => format!("list {}", in_a_line(path)),
            Use::Search { pattern, path } => {
                format!("search {} for {}", in_a_line(path), in_a_line(pattern))
            }
            Use::EditFile { path, .. } => format!("edit {}", in_a_line(path)),
            Use::WriteFile { path, content } => {
                format!("write {} ({})", in_a_line(path), paint::counted(content.len() as u64, "byte"))
            }
            Use::RunCommand { command, .. } => format!("run {}", in_a_line(command)),
            Use::Recall { query } => format!("look up {}", in_a_line(query)),
        }
    }

    /// Returns what is to be done, in full, and the question that is put behind it, out of its reach.
    fn question(&self) -> (String, String) {
        let marked = |sign: char, text: &str| -> String {
            let lines = text.lines().take(MAX_SHOWN).map(|line| format!("{sign} {line}\n"));
            let more = text.lines().count().saturating_sub(MAX_SHOWN);
            let more = match more as u64 {
                0 => String::new(),
                more => format!("{sign} … {}\n", paint::counted(more, "more line")),
            };
            lines.chain([more]).collect()
        };
        match self {
            Use::EditFile { old, new, .. } => {
                let change = format!("{}{}", marked('-', old), marked('+', new));
                (format!("{}:\n{change}", self.title()), "make this change?".to_owned())
            }
            Use::WriteFile { content, .. } => {
                (format!("{}:\n{}", self.title(), marked('+', content)), "write this file?".to_owned())
            }
            Use::RunCommand { command, .. } => {
                let lines = paint::counted(command.lines().count() as u64, "line");
                let characters = paint::counted(command.chars().count() as u64, "character");
                (format!("{}\n", self.title()), format!("run this command ({lines}, {characters})?"))
            }
            _ => (String::new(), format!("{}?", self.title())),
        }
    }
}

/// Returns whether a path goes through a name that begins with a dot, as it is written or as links lead it. One that leads
/// out of the working directory is refused, whatever was agreed to.
fn is_hidden(place: &Place, path: &str) -> bool {
    let found = place.new_or_existing(path);
    has_dot(Path::new(path)) || found.is_ok_and(|found| place.is_hidden(&found))
}

/// Returns `text` as one line that says all of it: line ends are spelled out, so that nothing scrolls away, and so are
/// long gaps, behind which words could hide.
fn in_a_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = 0;
    for c in text.chars().chain(['\0']) {
        if c == ' ' {
            gap += 1;
            continue;
        }
        match std::mem::take(&mut gap) {
            many @ 9.. => out.push_str(&format!("⟨{many} spaces⟩")),
            few => out.extend(std::iter::repeat_n(' ', few)),
        }
        match c {
            '\0' => {}
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out
}

/// Reads the arguments of a call.
/// Returns whether `call` is one of a tool that is there, with arguments that it takes.
pub(crate) fn is_known(call: &ToolCall) -> bool {
    read(call).is_ok()
}

fn read(call: &ToolCall) -> Result<Use, String> {
    let mut arguments: Value = serde_json::from_str(&call.arguments.0)
        .map_err(|error| format!("the arguments are not JSON: {error}"))?;
    let Some(fields) = arguments.as_object_mut() else {
        return Err("the arguments are not a JSON object".to_owned());
    };
    fields.insert("tool".to_owned(), json!(call.name));
    // What serde calls a variant is a tool to the reader.
    serde_json::from_value(arguments)
        .map_err(|error| error.to_string().replacen("unknown variant", "there is no tool", 1))
}

/// Returns the first lines of what a command said and the last, which tells how it ended, for who let it run.
fn told(text: &str) -> String {
    const SHOWN: usize = 5;
    let shown = |line: &str| format!("  {}", paint::cut(line, 200));
    let lines: Vec<&str> = text.lines().collect();
    let (first, rest) = lines.split_at(lines.len().min(SHOWN));
    let mut told: Vec<String> = first.iter().copied().map(shown).collect();
    if let Some((last, between)) = rest.split_last() {
        if !between.is_empty() {
            told.push(format!("  … {}", paint::counted(between.len() as u64, "more line")));
        }
        told.push(shown(last));
    }
    told.join("\n")
}

fn result(call: &ToolCall, said: Said) -> ToolResult {
    let (text, outcome) = match said {
        Ok(text) => (text, Outcome::Succeeded),
        Err(why) => (why, Outcome::Failed),
    };
    ToolResult { call_id: call.id.clone(), content: vec![Part::Text(capped(&text, MAX_SAID))], outcome }
}

/// Returns `text` with its middle left out where it is longer than `most` characters: the beginning says what it is, the
/// end how it came out.
fn capped(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 3, most - most / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}\n[… {} characters left out …]\n{end}", length - most)
}

/// A path as it is shown, relative to the working directory.
fn shown(place: &Place, path: &std::path::Path) -> String {
    let relative: PathBuf = path.strip_prefix(place.root()).unwrap_or(path).to_owned();
    relative.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: "c".into(),
            name: name.to_owned(),
            arguments: longhaul::transcript::RawJson(arguments.to_owned()),
            kind: Default::default(),
        }
    }

    #[test]
    fn arguments_are_read_and_mistakes_explained() {
        assert!(matches!(read(&call("list_files", "{}")), Ok(Use::ListFiles { path }) if path == "."));
        for (name, arguments, why) in [
            ("read_file", "{}", "missing field `path`"),
            ("read_file", "{", "not JSON"),
            ("read_file", "[]", "not a JSON object"),
            ("frobnicate", "{}", "there is no tool `frobnicate`"),
        ] {
            let error = read(&call(name, arguments)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    fn keys(folder: &Path) -> impl Fn(&str, &str) -> Option<String> {
        let place = Place::new(folder).unwrap();
        move |name, arguments| read(&call(name, arguments)).unwrap().key(&place)
    }

    #[test]
    fn always_is_about_one_command_and_not_about_all() {
        let folder = tempfile::tempdir().unwrap();
        let key = keys(folder.path());
        let command = |line: &str| key("run_command", &json!({ "command": line }).to_string());
        assert!(command("ls").is_some() && command("ls") != command("rm -r ."));
        assert_eq!(command(&"x".repeat(MAX_KNOWN + 1)), None);
    }

    #[test]
    fn always_never_covers_what_others_run_or_hide() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        let key = keys(folder.path());
        let write = |path: &str| key("write_file", &json!({"path": path, "content": ""}).to_string());
        assert_eq!(write("src/a.rs").as_deref(), Some("write_file"));
        for path in [".git/hooks/pre-commit", "./.GIT/config", "a/../.env", ".github/workflows/x.yml"] {
            assert_eq!(write(path), None, "{path}");
        }
        assert_eq!(key("read_file", r#"{"path":".env"}"#), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(".git/hooks", folder.path().join("plain")).unwrap();
            assert_eq!(write("plain/pre-commit"), None, "a link to a hidden place");
        }
    }

    #[test]
    fn a_question_shows_what_changes() {
        let edit = call("edit_file", r#"{"path":"a.txt","old":"one\ntwo","new":"three"}"#);
        assert_eq!(read(&edit).unwrap().question().0, "edit a.txt:\n- one\n- two\n+ three\n");
    }

    #[test]
    fn a_command_is_shown_in_one_line_and_the_question_behind_it() {
        let line = format!("ls{}{}rm -r .{}# run this command?", "\n".repeat(80), " ".repeat(400), "\t");
        let (shown, question) =
            read(&call("run_command", &json!({ "command": line }).to_string())).unwrap().question();
        let expected = format!("run ls{}⟨400 spaces⟩rm -r .\\t# run this command?\n", "\\n".repeat(80));
        assert_eq!(shown, expected);
        assert_eq!(question, "run this command (81 lines, 509 characters)?");
    }

    #[test]
    fn the_middle_of_a_long_output_is_left_out() {
        let text = "é".repeat(100);
        let capped = capped(&text, 30);
        assert!(capped.contains("[… 70 characters left out …]"), "{capped}");
        assert_eq!(capped.matches('é').count(), 30);
    }
}
