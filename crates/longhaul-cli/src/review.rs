//! A summary is shown on the terminal before it is used, and may be edited there.

use std::{
    fs,
    io::Write as _,
    process::{self, Command, ExitStatus},
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use longhaul::summarize::{Review, Reviewer, Shown};

use crate::{
    chat::console::{Consent, Console},
    exit::INTERRUPTED,
    paint::plain,
    say,
};

/// The person at the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtTerminal;

#[async_trait]
impl Reviewer for AtTerminal {
    async fn review(&self, shown: Shown<'_>) -> Review {
        say::err(&format!("\n{}\n\n", plain(shown.text)));
        for doubt in shown.doubts {
            say!("{}", plain(&doubt.to_string()));
        }
        let question = match shown.doubts {
            [] => format!("Use this summary? There is room for {} tokens.", shown.limit),
            _ => "Use it all the same?".to_owned(),
        };
        asked(&question, shown.text).unwrap_or_else(|error| {
            say!("{error:#}");
            Review::Refuse
        })
    }
}

/// Asks until there is an answer: an editor that fails is none.
fn asked(question: &str, text: &str) -> Result<Review> {
    let mut console = Console::Plain { unread: None };
    loop {
        match console.consent(question, Some(Consent::Edit))? {
            Consent::Yes | Consent::Always => return Ok(Review::Use),
            Consent::No | Consent::Stop => return Ok(Review::Refuse),
            Consent::Edit => match edited(text) {
                Ok(text) => return Ok(Review::Edited(text)),
                Err(error) => say!("{error:#}"),
            },
        }
    }
}

/// The user's editor runs.
static IS_EDITING: AtomicBool = AtomicBool::new(false);

/// Returns whether the user's editor runs, whose key Ctrl-C is.
pub(crate) fn is_editing() -> bool {
    IS_EDITING.load(Ordering::SeqCst)
}

/// Returns what the user's editor makes of `text`.
///
/// # Errors
/// Where there is no editor, or it fails.
pub(crate) fn edited(text: &str) -> Result<String> {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(named).unwrap_or_else(|| USUAL.to_owned());
    // The file is the user's alone, and gone afterwards.
    let mut file = tempfile::Builder::new().prefix("longhaul-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes()).context("the summary cannot be written for the editor")?;
    let path = file.into_temp_path();
    // Ctrl-C reaches this program as well as the editor, and is the editor's. A conversation listens for it already.
    let _ = ctrlc::set_handler(|| {
        if !is_editing() {
            process::exit(INTERRUPTED);
        }
    });
    IS_EDITING.store(true, Ordering::SeqCst);
    let status = run(&editor, &path);
    IS_EDITING.store(false, Ordering::SeqCst);
    let status = status.with_context(|| format!("the editor {editor:?} does not start"))?;
    if !status.success() {
        bail!("the editor {editor:?} failed ({status}): the summary is as it was");
    }
    fs::read_to_string(&path).context("what the editor left cannot be read")
}

/// The editor may be a command with arguments, as in `code --wait`.
#[cfg(unix)]
fn run(editor: &str, path: &std::path::Path) -> std::io::Result<ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("longhaul").arg(path).status()
}

#[cfg(not(unix))]
fn run(editor: &str, path: &std::path::Path) -> std::io::Result<ExitStatus> {
    let mut words = editor.split_whitespace();
    Command::new(words.next().unwrap_or(USUAL)).args(words).arg(path).status()
}

/// The editor of somebody who named none.
const USUAL: &str = if cfg!(windows) { "notepad" } else { "vi" };
