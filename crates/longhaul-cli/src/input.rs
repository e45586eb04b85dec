//! Reading: a file or stdin, of a format that is named or recognised.

mod unread;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal as _, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};
use longhaul::{
    transcript::Transcript,
    wire::{self, Document, Format, Problem, Profile, WireError},
};
use serde::Serialize;

use crate::{
    exit::{Impossible, without_secrets},
    found,
    near::near,
    opencode, paint, pipe, progress,
};

/// Reads the document at `path` (`-` is stdin).
pub(crate) fn document(path: &Path, format: Option<Format>) -> Result<Document> {
    let mut looks_like = None;
    let read = match opencode::exported(path, None) {
        Some(session) => wire::read(Some(Format::Opencode), &session?[..]),
        None => match format.or_else(|| found::format_at(path)) {
            Some(format) => {
                let mut bytes = Vec::new();
                open(path)?
                    .read_to_end(&mut bytes)
                    .map_err(WireError::Io)
                    .and_then(|_| wire::read(Some(format), &bytes[..]))
                    .inspect_err(|_| looks_like = unread::other_than(format, &bytes))
            }
            None => wire::read(None, open(path)?),
        },
    };
    let document = read.map_err(|error| match matches!(error, WireError::Io(_)) {
        false if path == Path::new("-") && matches!(error, WireError::Empty) => {
            anyhow::Error::new(Impossible(format!("stdin: the input is empty; {}", found::how_named())))
        }
        true => anyhow::Error::new(error).context(format!("{} cannot be read", shown(path))),
        // What it quotes of the file is for who may read that: `mcp` tells it apart.
        false => match looks_like {
            Some(other) => anyhow::Error::new(error).context(unread::told(other)),
            None => anyhow::Error::new(error),
        }
        .context(Impossible(shown(path).to_string())),
    })?;
    unread::must_be_read(&document).map_err(|error| error.context(Impossible(shown(path).to_string())))?;
    if let Some(other) = format.and_then(|format| unread::other_than(format, document.as_bytes()))
        && found::is_kept_in(other)
    {
        // Of lines that are not its own a format may read some. Who names it may know better all the same.
        say!("{} looks like a session of {other}, and is read as {}", shown(path), document.format());
    }
    progress::working(document.as_bytes().len() as u64);
    Ok(document)
}

/// Reads the text at `path` (`-` is stdin); invalid UTF-8 is read lossily.
pub(crate) fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).with_context(|| format!("{} cannot be read", shown(path)))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Opens `path` for reading.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            say!("reading what is typed here; Ctrl-D ends it");
        }
        return Ok(Box::new(BufReader::new(progress::reading(io::stdin(), None))));
    }
    let is_there = path.symlink_metadata().is_ok();
    let file = pipe::opened(path).with_context(|| match &near(path)[..] {
        _ if is_there => format!("{} cannot be opened", paint::path(path)),
        [] => format!("{} cannot be opened", paint::path(path)),
        near => {
            let near: Vec<String> = near.iter().map(|path| paint::path(path)).collect();
            format!("{} cannot be opened (there is {})", paint::path(path), near.join(", "))
        }
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a directory; expected a transcript, such as a session's .jsonl file", paint::path(path));
    }
    if is_endless(&file) {
        bail!(Impossible(format!(
            "{} is a device; expected a transcript, such as a session's .jsonl file",
            paint::path(path)
        )));
    }
    let length = file.metadata().ok().filter(|found| found.is_file()).map(|found| found.len());
    Ok(Box::new(BufReader::with_capacity(1 << 20, progress::reading(file, length))))
}

/// Returns whether this is a device that gives bytes for ever: none that people type on, and not the empty one.
#[cfg(unix)]
fn is_endless(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let is_device = file.metadata().is_ok_and(|found| found.file_type().is_char_device());
    is_device && !file.is_terminal() && (&mut &*file).read(&mut [0; 1]).is_ok_and(|n| n > 0)
}

#[cfg(not(unix))]
fn is_endless(_: &File) -> bool {
    false
}

/// Returns the name of `path` for programs, to the byte where it is text.
pub(crate) fn named(path: &Path) -> String {
    match path == Path::new("-") {
        true => "stdin".into(),
        false => path.display().to_string(),
    }
}

/// Returns what people call `path`.
pub(crate) fn shown(path: &Path) -> String {
    paint::name(&named(path))
}

/// What of a session its agent does not see any more, though the file has it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Unseen {
    /// It began anew in the same file: so many messages before that.
    BeganAnew(usize),
    /// It compacted: so many messages before that.
    Compacted(usize),
}

impl Unseen {
    /// Returns how many messages those are.
    pub(crate) fn count(self) -> usize {
        let (Unseen::BeganAnew(count) | Unseen::Compacted(count)) = self;
        count
    }

    /// Says what is not counted, in a line; nothing where that is nothing.
    pub(crate) fn line(self) -> String {
        let since = match self {
            Unseen::BeganAnew(_) => "before the agent began anew with a clear context",
            Unseen::Compacted(_) => "before the last compaction",
        };
        match self.count() as u64 {
            0 => String::new(),
            count => format!("not counted: {} from {since}\n", paint::counted(count, "message")),
        }
    }
}

/// Returns what of `document` its agent does not see any more.
pub(crate) fn unseen(document: &Document) -> Unseen {
    /// What each agent writes where it compacts. Most sessions have none, and segments are read out of the file once more.
    const MARKS: [&str; 3] = ["compact_boundary", "\"compacted\"", "\"compaction\""];
    let text = std::str::from_utf8(document.as_bytes()).unwrap_or_default();
    // What was kept stands in the window as well.
    let held: HashSet<_> = document.transcript().entries().iter().map(|entry| entry.id.hash).collect();
    let lost =
        |said: &Transcript| said.entries().iter().filter(|entry| !held.contains(&entry.id.hash)).count();
    if MARKS.iter().any(|mark| text.contains(mark)) {
        return Unseen::Compacted(document.segments().iter().map(lost).sum());
    }
    Unseen::BeganAnew(document.before_compactions().map(|before| lost(before.transcript())).sum())
}

/// Returns a line for each kind of problem: where it is, and how often.
fn told_once(problems: &[Problem]) -> Vec<String> {
    let mut kinds: Vec<(&Problem, u64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for problem in problems {
        let at = *places.entry(&problem.what).or_insert(kinds.len());
        match kinds.get_mut(at) {
            Some((_, times)) => *times += 1,
            None => kinds.push((problem, 1)),
        }
    }
    let line = |(Problem { place, what }, times): (&Problem, u64)| match times {
        1 => format!("{place}: {what}"),
        times => format!("{place} and {}: {what}", paint::counted(times - 1, "other place")),
    };
    kinds.into_iter().map(line).collect()
}

/// Says on stderr what is wrong with the input: what was damaged and how it was read all the same, and which rules of its
/// format it breaks.
///
/// # Errors
/// When something is wrong and `is_strict`.
pub(crate) fn warn_of_problems(path: &Path, document: &Document, is_strict: bool) -> Result<()> {
    const SHOWN: usize = 5;
    if document.is_by_line() {
        say!("{}: one message a line; read as messages of {}", shown(path), document.format());
    }
    let mut faults = told_once(document.problems());
    let n_more = document.problems().len() - faults.len();
    let mut profile = Profile::of_model(document.model().unwrap_or_default());
    // Whether a call came with reasoning is only supposed, and no fault of an input.
    profile.sends_item_ids = false;
    let violations = wire::validate(document.as_bytes(), document.format(), &profile);
    faults.extend(violations.into_iter().flatten().map(|violation| violation.to_string()));
    for fault in faults.iter().take(SHOWN) {
        // It may quote what somebody said, or how a tool is called.
        say!("{}: {}", shown(path), without_secrets(fault));
    }
    if faults.len() > SHOWN {
        say!("{}: and {} more", shown(path), faults.len() - SHOWN);
    }
    if is_strict && !faults.is_empty() {
        bail!(Impossible(format!(
            "{}: {}, and --strict allows none",
            shown(path),
            paint::counted((faults.len() + n_more) as u64, "fault")
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_that_comes_again_is_told_once() {
        let problem = |place: &str, what: &str| Problem { place: place.to_owned(), what: what.to_owned() };
        let told =
            told_once(&[problem("line 3", "cut"), problem("line 4", "no JSON"), problem("line 9", "cut")]);
        assert_eq!(told, ["line 3 and 1 other place: cut", "line 4: no JSON"]);
    }
}
