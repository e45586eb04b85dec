//! Reading: a file or stdin, of a format that is named or recognised.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal as _, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use longhaul::wire::{self, Document, Format};

use crate::exit::Impossible;

/// A file of this many bytes takes long enough to read that a person wants to see it move.
const LONG: u64 = 16 << 20;

/// Reads the document at `path` (`-` is stdin).
pub(crate) fn document(path: &Path, format: Option<Format>) -> Result<Document> {
    let read = wire::read(format, open(path)?);
    read.map_err(|error| match matches!(error, wire::WireError::Io(_)) {
        true => anyhow::Error::new(error).context(format!("{} cannot be read", shown(path))),
        false => anyhow::Error::new(Impossible(format!("{}: {error}", shown(path)))),
    })
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
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{} is a directory; expected a transcript, such as a session's .jsonl file", path.display());
    }
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    if length >= LONG && io::stderr().is_terminal() {
        let bar = ProgressBar::new(length).with_finish(ProgressFinish::AndClear);
        bar.set_style(
            ProgressStyle::with_template("reading {bytes} of {total_bytes} {wide_bar}")
                .unwrap_or(bar.style()),
        );
        return Ok(Box::new(BufReader::with_capacity(1 << 20, bar.wrap_read(file))));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
}

/// Returns what people call `path`.
pub(crate) fn shown(path: &Path) -> String {
    match path == Path::new("-") {
        true => "stdin".into(),
        false => path.display().to_string(),
    }
}

/// Says on stderr what was damaged in the input and how it was read all the same.
pub(crate) fn warn_of_problems(path: &Path, document: &Document) {
    const SHOWN: usize = 5;
    let problems = document.problems();
    for problem in problems.iter().take(SHOWN) {
        eprintln!(
            "longhaul: {}: {}",
            shown(path),
            crate::paint::plain(&format!("{}: {}", problem.place, problem.what))
        );
    }
    if problems.len() > SHOWN {
        eprintln!("longhaul: {}: and {} more", shown(path), problems.len() - SHOWN);
    }
}
