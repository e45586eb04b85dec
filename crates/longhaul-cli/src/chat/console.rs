//! What is typed: with a line editor on a terminal, line by line from anywhere else.

use std::{
    env,
    io::{self, BufRead, IsTerminal as _},
    mem,
    sync::{Arc, Mutex},
};

use anyhow::{Context as _, Result};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::MemHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use super::{interrupt::Interrupts, slash};
use crate::{found::forget_what_was_typed, paint::plain, say};

/// Where lines come from.
pub(crate) enum Console {
    Editor(Box<Editors>),
    /// Not a terminal: a script, a test. Or one that moves no cursor.
    Plain {
        /// A line that was read for an answer and is none: the next message begins with it.
        unread: Option<String>,
    },
}

/// Messages and answers are read by editors of their own: what was typed ahead waits in the one for messages, and must not
/// answer a question that nobody had seen yet.
pub(crate) struct Editors {
    messages: Editor<Assistance, MemHistory>,
    answers: Editor<(), MemHistory>,
    cleared: Cleared,
}

/// What stood in the line when Ctrl-C was pressed: the editor itself only says that it was.
#[derive(Clone, Debug, Default)]
struct Cleared(Arc<Mutex<String>>);

/// One line, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Line(String),
    /// Ctrl-C in a line with something in it, which is gone from there.
    Cleared,
    /// Ctrl-C in an empty line.
    Interrupted,
    /// Ctrl-D, or the end of the script.
    End,
}

/// What a question was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Yes,
    No,
    /// Yes, and the same question is not asked again.
    Always,
    /// Not before it was edited.
    Edit,
    /// Ctrl-C: neither, and what it was asked for ends here.
    Stop,
}

/// Completes commands, and takes a line that ends in a backslash for unfinished.
#[derive(Debug)]
pub(crate) struct Assistance;

impl Console {
    /// Opens the console, and listens for Ctrl-C. `before` is what was typed in earlier parts of the conversation, oldest first.
    pub(crate) fn open(before: Vec<String>, interrupts: &Interrupts) -> Result<Console> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let moves_cursor = !env::var("TERM").is_ok_and(|name| UNMOVED.contains(&name.as_str()));
        if !is_terminal || !moves_cursor {
            interrupts.listen(false)?;
            return Ok(Console::Plain { unread: None });
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .auto_add_history(false)
            .keyseq_timeout(Some(AFTER_ESC_MS))
            .build();
        // The later one is told when the terminal changes its size.
        let (mut answers, mut editor) = (editor(config.clone())?, editor(config)?);
        editor.set_helper(Some(Assistance));
        let newline = || EventHandler::Simple(Cmd::Newline);
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), newline());
        editor.bind_sequence(KeyEvent(KeyCode::Char('J'), Modifiers::CTRL), newline());
        let cleared = Cleared::default();
        // Right behind Esc it is one key with it.
        for held in [Modifiers::CTRL, Modifiers::CTRL | Modifiers::ALT] {
            let ctrl_c = KeyEvent(KeyCode::Char('C'), held);
            editor.bind_sequence(ctrl_c, EventHandler::Conditional(Box::new(cleared.clone())));
            answers.bind_sequence(ctrl_c, EventHandler::Simple(Cmd::Interrupt));
        }
        for line in before {
            editor.add_history_entry(line).context("the line editor takes no history")?;
        }
        interrupts.listen(true)?;
        Ok(Console::Editor(Box::new(Editors { messages: editor, answers, cleared })))
    }

    /// Reads a message or a command; one that ends in a backslash goes on in the next line.
    pub(crate) fn message(&mut self, prompt: &str) -> Result<Input> {
        let input = match self {
            Console::Editor(editors) => match editors.messages.readline(prompt) {
                Ok(line) => {
                    editors.remember(&line)?;
                    Input::Line(line)
                }
                Err(ReadlineError::Interrupted) => match editors.cleared.take() {
                    line if line.is_empty() => Input::Interrupted,
                    line => {
                        editors.remember(&line)?;
                        Input::Cleared
                    }
                },
                Err(error) => ended(error)?,
            },
            Console::Plain { unread } => {
                if io::stdin().is_terminal() {
                    say::err(prompt);
                }
                plain_message(unread)?
            }
        };
        Ok(match input {
            Input::Line(line) => Input::Line(line.replace("\\\n", "\n")),
            other => other,
        })
    }

    /// Shows what is asked about, then asks. What is shown is of others: it ends in a line of its own, and the question,
    /// which is ours, stands in the next.
    pub(crate) fn consent_to(&mut self, shown: &str, question: &str, may_always: bool) -> Result<Consent> {
        if !shown.is_empty() {
            say::err(&plain(shown));
        }
        self.consent(question, may_always.then_some(Consent::Always))
    }

    /// Returns whether somebody sees a question before it is answered.
    pub(crate) fn is_seen(&self) -> bool {
        matches!(self, Console::Editor(_)) || io::stdin().is_terminal()
    }

    /// Asks a question that is answered with a letter: yes, no or `third`. No answer is a no; on a terminal
    /// what is none of them is asked again. A script may answer ahead: its
    /// next line is taken where it is an answer, and is the next message where it is none.
    pub(crate) fn consent(&mut self, question: &str, third: Option<Consent>) -> Result<Consent> {
        let choices = match third {
            Some(Consent::Always) => "[y]es, [n]o, [a]lways",
            Some(Consent::Edit) => "[y]es, [n]o, [e]dit",
            _ => "[y]es, [n]o",
        };
        let prompt = format!("{} {choices}: ", plain(question));
        let slip = format!("this asks for {choices}; Ctrl-C stops it\n");
        let answer = |line: &str| match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Consent::Yes),
            "n" | "no" => Some(Consent::No),
            "a" | "always" => third.filter(|third| *third == Consent::Always),
            "e" | "edit" => third.filter(|third| *third == Consent::Edit),
            _ => None,
        };
        let given = match self {
            Console::Editor(editors) => loop {
                forget_what_was_typed();
                match editors.answers.readline(&prompt) {
                    Ok(line) if answer(&line).is_some() || line.trim().is_empty() => break answer(&line),
                    // A slip is asked about again: it is no answer.
                    Ok(_) => say::err(&slip),
                    Err(ReadlineError::Interrupted) => break Some(Consent::Stop),
                    Err(error) => break ended(error).map(|_| None)?,
                }
            },
            Console::Plain { unread } => loop {
                forget_what_was_typed();
                say::err(&prompt);
                let line = plain_line(unread)?;
                say::err("\n");
                let given = line.as_deref().and_then(answer);
                let is_slip = given.is_none() && line.as_deref().is_some_and(|line| !line.trim().is_empty());
                if is_slip && io::stdin().is_terminal() {
                    say::err(&slip);
                    continue;
                }
                *unread = line.filter(|_| given.is_none() && !io::stdin().is_terminal());
                break given;
            },
        };
        Ok(given.unwrap_or(Consent::No))
    }
}

impl Editors {
    /// Lets the user come back to a message.
    fn remember(&mut self, line: &str) -> Result<()> {
        if !line.trim().is_empty() {
            self.messages.add_history_entry(line).context("the line editor takes no history")?;
        }
        Ok(())
    }
}

impl Cleared {
    fn take(&self) -> String {
        self.0.lock().map(|mut line| mem::take(&mut *line)).unwrap_or_default()
    }
}

impl ConditionalEventHandler for Cleared {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, editor: &EventContext<'_>) -> Option<Cmd> {
        if let Ok(mut line) = self.0.lock() {
            editor.line().clone_into(&mut line);
        }
        Some(Cmd::Interrupt)
    }
}

/// How long it may take from Esc to what a key sends behind it, in milliseconds: what comes later is a key of its own. Lines over
/// which keys come in pieces are slow by tens of them.
const AFTER_ESC_MS: u16 = 200;

/// Terminals that no line can be edited on.
const UNMOVED: [&str; 3] = ["dumb", "cons25", "emacs"];

fn editor<H: Helper>(config: Config) -> Result<Editor<H, MemHistory>> {
    let history = MemHistory::with_config(&config);
    Editor::with_history(config, history).context("the line editor does not start")
}

fn ended(error: ReadlineError) -> Result<Input> {
    match error {
        ReadlineError::Eof => Ok(Input::End),
        ReadlineError::Interrupted => Ok(Input::Interrupted),
        error => Err(error).context("the terminal cannot be read"),
    }
}

fn plain_message(unread: &mut Option<String>) -> Result<Input> {
    let mut text = String::new();
    loop {
        let Some(line) = plain_line(unread)? else {
            return Ok(if text.is_empty() { Input::End } else { Input::Line(text) });
        };
        text.push_str(&line);
        if !text.ends_with('\\') {
            return Ok(Input::Line(text));
        }
        text.push('\n');
    }
}

/// Returns the next line without its end, the `unread` one first; `None` at the end of the input.
fn plain_line(unread: &mut Option<String>) -> Result<Option<String>> {
    if let Some(line) = unread.take() {
        return Ok(Some(line));
    }
    let mut bytes = Vec::new();
    let count = io::stdin().lock().read_until(b'\n', &mut bytes).context("stdin cannot be read")?;
    let line = String::from_utf8_lossy(&bytes);
    Ok((count > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

impl Completer for Assistance {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let start = line.get(..pos).unwrap_or_default();
        Ok((0, slash::completions(start).into_iter().map(|name| format!("{name} ")).collect()))
    }
}

impl Validator for Assistance {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Assistance {
    type Hint = String;
}

impl Highlighter for Assistance {}

impl Helper for Assistance {}
