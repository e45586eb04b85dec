//! Where the new history goes, and in what form it goes there.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use longhaul::{
    CompactedDocument,
    transcript::{ContentHash, SessionId},
    wire::{self, Appended, Document, Format},
};

use super::Report;
use crate::{args::CompactArgs, clock, exit::Impossible, found, input, opencode, paint, say};

/// Where the new history goes where `-o` does not say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Where `-o` says, or stdout.
    AsNamed,
    /// Beside the transcript, on a terminal: nobody wants to read a history there.
    Beside(PathBuf),
    /// Nowhere: it is recorded, and that is all.
    Nowhere,
    /// Into the session file itself, behind what it holds.
    InPlace,
    /// Into a session of its own, which the agent can resume.
    NewSession { id: SessionId, path: PathBuf },
}

impl Destination {
    /// Returns where the new history goes.
    ///
    /// # Errors
    /// When the flags ask for a session file and none is read.
    pub(super) fn of(args: &CompactArgs) -> Result<Destination> {
        let is_stdin = args.file == Path::new("-");
        if is_stdin && (args.in_place || args.as_new_session) {
            bail!(Impossible("stdin is no session file; name one".to_owned()));
        }
        if (args.in_place || args.as_new_session) && args.file.exists() && !args.file.is_file() {
            let file = paint::path(&args.file);
            bail!(Impossible(format!("{file} is no session file: it is no regular file")));
        }
        // One in a database has no file that could be looked at.
        if opencode::is_in_database(&args.file) {
            match (args.in_place, args.as_new_session) {
                (true, _) => bail!(only_read(Format::Opencode)),
                (_, true) => bail!(no_session_file(Format::Opencode)),
                _ => {}
            }
        }
        if args.in_place {
            return Ok(Destination::InPlace);
        }
        if args.as_new_session {
            let (now, path) = (clock::now_ms(), args.file.to_string_lossy());
            let process = std::process::id();
            let seed = format!("{now} {process} {path}");
            let id = wire::session_id_from(&ContentHash::of(seed.as_bytes()));
            let path = args.file.with_file_name(file_name(&args.file, &id, now));
            return Ok(Destination::NewSession { id, path });
        }
        let floods = args.output.is_none() && !args.dry_run && !is_stdin && io::stdout().is_terminal();
        Ok(if floods { Destination::Beside(beside(&args.file)?) } else { Destination::AsNamed })
    }

    /// Returns the file that the new history goes to; `None` for stdout, or nowhere.
    pub(super) fn output<'a>(&'a self, args: &'a CompactArgs) -> Option<&'a Path> {
        match self {
            Destination::AsNamed | Destination::Nowhere => args.output.as_deref(),
            Destination::InPlace => Some(&args.file),
            Destination::Beside(path) | Destination::NewSession { path, .. } => Some(path),
        }
    }

    /// Fails where something is to be put into the file of a session that is only read, or beside it in a format, `to`, that is no
    /// session's.
    pub(super) fn check_source(&self, format: Format, to: Format) -> Result<()> {
        match self {
            Destination::InPlace if format.is_import_only() => bail!(only_read(format)),
            Destination::NewSession { .. } if !to.is_session_file() => bail!(no_session_file(format)),
            _ => Ok(()),
        }
    }

    /// Fails where `document` is no session file and one is asked for.
    pub(super) fn check(&self, document: &Document) -> Result<()> {
        let is_session = document.format().is_session_file();
        match self {
            Destination::InPlace | Destination::NewSession { .. } if !is_session => {
                bail!(no_session_file(document.format()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the bytes that go there, of a history that was compacted or that stays as it is.
    pub(super) fn bytes(
        &self,
        document: &Document,
        done: Option<&CompactedDocument>,
        history: Vec<u8>,
    ) -> Result<Vec<u8>> {
        Ok(match (self, done) {
            (Destination::InPlace, Some(done)) => {
                let appended = Appended { at_ms: clock::now_ms(), tokens: done.tokens_after };
                let bytes = wire::append(document, &history, appended)?;
                must_say_the_same(document.format(), &bytes, &history)?;
                bytes
            }
            (Destination::NewSession { id, .. }, _) => {
                wire::with_session_id(&history, document.format(), id)?
            }
            _ => history,
        })
    }

    /// Says where it went, and how the agent takes it up.
    pub(super) fn tell(&self, report: &Report, is_dry: bool) {
        let format = report.format.parse::<Format>().ok();
        let resume = |id: &SessionId| format.and_then(|format| format.resume_command(id)).unwrap_or_default();
        match self {
            _ if is_dry => {}
            Destination::AsNamed | Destination::Nowhere => {}
            Destination::Beside(path) if !path.exists() => {}
            Destination::Beside(path) => {
                say::with_whole("written to", &paint::path(path));
                say!("`-o -` prints it, -o names another file");
            }
            Destination::InPlace => {
                if report.backup.is_some() {
                    say!(
                        "the next compaction in place renews that copy, which holds what the file was before, too; what has that name now is called .left then"
                    );
                }
                if let (Some(id), Some(_)) = (&report.session_id, &report.summary) {
                    let words =
                        "an agent that has the session open goes on without this; it is taken up with";
                    say::with_whole(words, &resume(id));
                }
            }
            Destination::NewSession { id, path } => {
                say::with_whole("written to", &paint::path(path));
                say::with_whole("the agent takes it up with", &resume(id));
            }
        }
    }
}

fn only_read(format: Format) -> Impossible {
    Impossible(format!(
        "{format} sessions are only read: how that agent writes a compaction of its own was not seen in a recording, so \
         nothing is put into its files; name a new file with -o"
    ))
}

fn no_session_file(format: Format) -> Impossible {
    Impossible(format!(
        "a history of {format} is no session file of Claude Code or Codex; name a new file with -o"
    ))
}

/// Fails where the session file would not be read as the history that was checked.
fn must_say_the_same(format: Format, appended: &[u8], history: &[u8]) -> Result<()> {
    let said = |bytes: &[u8]| -> Result<Vec<_>> {
        let document = wire::read(Some(format), bytes).context("the session cannot be read again")?;
        let entries = document.transcript().entries().iter();
        Ok(entries.map(|entry| (entry.message.role, entry.message.parts.clone())).collect())
    };
    match said(appended)? == said(history)? {
        true => Ok(()),
        false => bail!("the session would not be read as the compacted history; nothing was written"),
    }
}

/// Returns a name that nobody has beside `file`: `session.compacted.jsonl`, `session.compacted2.jsonl` and so on.
fn beside(file: &Path) -> Result<PathBuf> {
    const TRIES: u32 = 1_000;
    // A database has no room beside one of its sessions, and an agent takes what lies beside its sessions for another of them:
    // what comes out goes to the working directory.
    let own = Path::new(file.file_name().unwrap_or_default());
    let file = if opencode::is_in_database(file) || found::is_kept_by_an_agent(file) { own } else { file };
    let stem =
        file.file_stem().with_context(|| format!("{} has no name", input::shown(file)))?.to_string_lossy();
    let ending = file.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));
    let named = |number: u32| {
        let number = if number == 1 { String::new() } else { number.to_string() };
        file.with_file_name(format!("{stem}.compacted{number}{ending}"))
    };
    (1..TRIES)
        .map(named)
        .find(|path| !path.exists())
        .context("there is no name left beside the transcript; use -o")
}

/// Returns what the agent would call the file of the session `id`.
fn file_name(file: &Path, id: &SessionId, now_ms: i64) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match name.starts_with("rollout-") {
        true => format!("rollout-{}-{id}.jsonl", crate::archive::utc_in_a_name(now_ms)),
        false => format!("{id}.jsonl"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.b.jsonl");
        let first = beside(&file).unwrap();
        assert_eq!(first, folder.path().join("a.b.compacted.jsonl"));
        std::fs::write(&first, "taken").unwrap();
        assert_eq!(beside(&file).unwrap(), folder.path().join("a.b.compacted2.jsonl"));
    }

    #[test]
    fn sessions_are_named_as_their_agent_does() {
        let id = SessionId::new("44444444-4444-4444-8444-444444444444").unwrap();
        assert_eq!(
            file_name(Path::new("/x/7d1c.jsonl"), &id, 0),
            "44444444-4444-4444-8444-444444444444.jsonl"
        );
        assert_eq!(
            file_name(Path::new("rollout-2026-06-22T12-10-56-019eef3d.jsonl"), &id, 1_709_210_096_000),
            "rollout-2024-02-29T12-34-56-44444444-4444-4444-8444-444444444444.jsonl"
        );
    }
}
