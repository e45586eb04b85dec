//! What is to be done: the flags, the settings and the transcript, settled once and before anything is made or written.

use std::{
    path::Path,
    time::{Instant, SystemTime},
};

use anyhow::{Result, bail};
use longhaul::{
    Breakdown, Config,
    config::{Chaining, Layered, Source, SummaryLimit, SummaryRole},
    redact::Redactor,
    tokens::ContextWindow,
    transcript::{SessionId, SummaryMode, Tokens},
    wire::{self, Document, Format},
};

use super::{Destination, Keeper, Report};
use crate::{
    args::{CompactArgs, SummarizerArgs},
    counter::{self, Named},
    exit::{self, Impossible},
    found::{self, About},
    input,
    output::{NewFile, Target},
    paint, settings,
    store::{self, Said},
    summarizer,
    window::Room,
};

/// A compaction, as it is to be done.
pub(super) struct Plan<'a> {
    pub(super) started: Instant,
    /// The transcript; `-` is stdin.
    pub(super) file: &'a Path,
    pub(super) seen: Seen,
    pub(super) document: Document,
    /// As it came, where it came in another format.
    pub(super) came: Option<Came>,
    /// The id that the history names; of a session that is only read, also where what comes out has no place for it.
    pub(super) session_id: Option<SessionId>,
    pub(super) breakdown: Breakdown,
    /// What the last request and its answer were billed, where the file says so.
    pub(super) billed: Option<Tokens>,
    pub(super) destination: &'a Destination,
    /// The file that the new history goes to; none for stdout.
    pub(super) output: Option<&'a Path>,
    pub(super) target: Target,
    pub(super) report_to: Option<Target>,
    /// Nothing is written.
    pub(super) is_dry: bool,
    pub(super) config: Config,
    pub(super) counter: Named,
    pub(super) window: ContextWindow,
    pub(super) budget: Tokens,
    /// Where the budget comes from, unless the user says it.
    pub(super) budget_from: Option<String>,
    pub(super) recent: Recent,
    pub(super) goal: Option<&'a str>,
    pub(super) redactor: Option<Redactor>,
    pub(super) mode: SummaryMode,
    pub(super) is_reviewed: bool,
    pub(super) summarizer: &'a SummarizerArgs,
    /// The name that the user gives the session.
    pub(super) name: Option<&'a str>,
    pub(super) keeper: Keeper<'a>,
}

/// Returns how the summary is made: as the flag says, or the settings. Where these ask for a model and name none, rules write it in
/// `hybrid`, and in the mode of a preset, as [`context`](crate::commands::context) foretells.
fn mode(args: &CompactArgs, config: &Config) -> Result<SummaryMode> {
    let mode = summarizer::mode(args.mode.as_deref(), config)?;
    let is_presets = config.preset.is_some_and(|preset| preset.config().mode == mode);
    let may_be_by_rule = args.mode.is_none() && (mode == SummaryMode::Hybrid || is_presets);
    if mode != SummaryMode::Rules && may_be_by_rule && summarizer::models(&args.summarizer, config).is_empty()
    {
        say!("no model is named (--summarizer-model): rules write the summary");
        return Ok(SummaryMode::Rules);
    }
    Ok(mode)
}

/// How many messages stay at the end at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recent {
    /// As many as serve best.
    AsServesBest,
    /// As many as the settings say.
    AsSet,
    /// So many.
    Count(usize),
}

impl<'a> Plan<'a> {
    /// Settles what is to be done.
    ///
    /// # Errors
    /// Where it cannot be done, before a model is asked or a file is written.
    pub(super) fn of(args: &'a CompactArgs, destination: &'a Destination) -> Result<Plan<'a>> {
        let started = Instant::now();
        if !args.no_store {
            store::must_take_key(&args.store)?;
        }
        let output = destination.output(args);
        let report_to = report_target(args, output)?;
        if args.review && args.file == Path::new("-") {
            bail!(Impossible(
                "--review asks on stdin, where the transcript comes from; name its file".to_owned()
            ));
        }
        let seen = Seen::of(&args.file);
        let layered = settings::load(&args.settings)?;
        refuse_what_cannot_apply(&layered)?;
        let document = input::document(&args.file, args.from.from.0)?;
        let About { window: told, billed, .. } = About::of(&args.file, &document);
        let came_in = document.format();
        destination.check_source(came_in, written_as(args, came_in))?;
        let only_read = document.session_id().or_else(|| found::id_at(&args.file));
        let only_read = only_read.filter(|_| came_in.is_import_only());
        let (document, came) = converted(document, args)?;
        let session_id = only_read.or_else(|| document.session_id());
        destination.check(&document)?;
        let target = target(args, destination, output)?;
        let mut config = settings::for_history(&layered.config, &document, args.counter.model.as_deref());
        if let Some(most) = args.max_summary_tokens {
            config.max_summary_tokens = SummaryLimit::Tokens(Tokens(most));
        }
        let counter = counter::choose(&args.counter)?;
        input::warn_of_problems(&args.file, &document, args.strict)?;
        let breakdown = Breakdown::of(document.transcript().entries(), &*counter.counter);
        let room = Room::new(args.window, told, &config, &counter, &document)?;
        let (budget, budget_from) = budget(args, &room)?;
        let recent = match args.keep_recent {
            Some(count) => Recent::Count(count),
            None if layered.choose_recent() => Recent::AsSet,
            None => Recent::AsServesBest,
        };
        Ok(Plan {
            started,
            file: &args.file,
            seen,
            session_id,
            document,
            came,
            breakdown,
            billed,
            destination,
            output,
            target,
            report_to,
            is_dry: args.dry_run,
            mode: mode(args, &config)?,
            config,
            counter,
            window: room.window,
            budget,
            budget_from,
            recent,
            goal: args.goal.as_deref(),
            redactor: (!args.no_redact).then(Redactor::builtin),
            is_reviewed: args.review,
            summarizer: &args.summarizer,
            name: args.session.as_deref(),
            keeper: Keeper::new(&args.store, !args.no_store),
        })
    }

    /// Returns whether the history is within the budget as it is.
    pub(super) fn fits(&self) -> bool {
        self.breakdown.total <= self.budget
    }

    /// Returns what the summary is to say of how its originals are found. A preset's form is its own, and what nothing records
    /// nobody finds.
    pub(super) fn lookup(&self, said: &Said<'_>) -> Option<String> {
        let is_set = self.config.preset.is_some() || !self.config.summary_lookup.is_empty();
        if is_set || !self.keeper.is_used {
            return None;
        }
        let (session, flags) = (self.keeper.holder(said), self.keeper.flags_from_anywhere()?);
        Some(format!(
            "`longhaul recall {} {{message}}{flags}` shows {{message}} whole",
            paint::name(found::end_of(session.as_str()))
        ))
    }

    /// Returns whether nothing is to be written that is not recorded: what a file loses is to be in the store, and so is what an
    /// agent is told to look up there.
    pub(super) fn must_be_recorded(&self) -> bool {
        let leads_to_the_store =
            self.target.replaces_something() || matches!(self.destination, Destination::NewSession { .. });
        self.keeper.is_used && !self.is_dry && leads_to_the_store
    }

    /// Returns `error`, for which nothing could be recorded and so nothing was replaced, and says what to do.
    pub(super) fn unrecorded(&self, error: anyhow::Error) -> anyhow::Error {
        let stays = match self.output {
            Some(path) if path.exists() => format!("{} stays as it is", paint::path(path)),
            _ => "nothing was written".to_owned(),
        };
        let why = exit::words(&error);
        anyhow::anyhow!(
            "nothing could be recorded, so {stays} ({why}); mend that, name another store (--store), or do without (--no-store)"
        )
    }
}

/// What a file was like when it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen(Option<(u64, SystemTime)>);

impl Seen {
    pub(super) fn of(path: &Path) -> Seen {
        let seen = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        Seen(seen.and_then(|seen| Some((seen.len(), seen.modified().ok()?))))
    }

    /// Fails where somebody wrote to the transcript since: what they said would be in no history.
    pub(super) fn must_be_unchanged(&self, path: &Path) -> Result<()> {
        match *self == Seen::of(path) {
            true => Ok(()),
            false => {
                bail!("{} was written to while it was compacted; nothing was written", paint::path(path))
            }
        }
    }

    /// Says that somebody wrote to the transcript since: it has that, the new history has not.
    pub(super) fn tell_of_change(&self, path: &Path) {
        if *self != Seen::of(path) {
            say!("{} was written to meanwhile: what was added is not in the new history", paint::path(path));
        }
    }
}

/// Returns where the new history goes, where it may.
fn target(args: &CompactArgs, destination: &Destination, output: Option<&Path>) -> Result<Target> {
    let target = match (destination, output) {
        // Whoever says so means the session file also where it is read-only.
        (Destination::InPlace, Some(path)) if args.force => Target::unlocked(path).locked_too(),
        (Destination::InPlace, Some(path)) => Target::unlocked(path),
        (_, path) => Target::new(path, args.force),
    };
    let target = target.made(NewFile::like(&args.file));
    store::spare(&args.store, "-o", output)?;
    store::spare(&args.store, "--report", args.report.as_deref())?;
    target.check().map_err(|error| match destination {
        Destination::InPlace => {
            Impossible(format!("{error}; -o writes elsewhere, --force here all the same")).into()
        }
        _ => error,
    })?;
    Ok(target)
}

/// Returns where the report goes, where it may: never over the transcript, the new history or another file that is no report. `--force` is said
/// of the new history, and nobody means a second file by it.
fn report_target(args: &CompactArgs, output: Option<&Path>) -> Result<Option<Target>> {
    let Some(path) = &args.report else { return Ok(None) };
    let target = Target::unlocked(path).made(NewFile::like(&args.file));
    if target.replaces(&args.file) {
        bail!(Impossible(format!("--report {} would replace the transcript itself", paint::path(path))));
    }
    if output.is_some_and(|output| output == path || target.replaces(output)) {
        bail!(Impossible(format!("--report {} would replace the new history", paint::path(path))));
    }
    let is_empty = path.metadata().is_ok_and(|file| file.len() == 0);
    if path.is_file() && !is_empty && !Report::is_at(path) {
        bail!("{} exists and is no report of longhaul's: --report takes another name", paint::path(path));
    }
    target.check()?;
    Ok(Some(target))
}

/// Returns the format that a history is to be written in which came in as `format`.
fn written_as(args: &CompactArgs, format: Format) -> Format {
    args.to.and_then(|to| to.0).unwrap_or(format.written_as())
}

/// A document as it came in another format than it is written in.
pub(super) struct Came {
    pub(super) document: Document,
    /// So many kinds of things that it holds are left out, which was said.
    pub(super) n_losses: u64,
}

/// Returns the document in the format that is to be written, and as it came where that is another.
fn converted(document: Document, args: &CompactArgs) -> Result<(Document, Option<Came>)> {
    let told = args.to.and_then(|to| to.0);
    let to = written_as(args, document.format());
    if to == document.format() {
        return Ok((document, None));
    }
    if told.is_none() {
        say!(
            "a history of {} is only read: what comes out is written as {to} (--to says another)",
            document.format()
        );
    }
    let conversion = wire::convert(&document, to).map_err(|error| Impossible(error.to_string()))?;
    let (from, to) = (document.format().name(), to.name());
    for loss in &conversion.losses {
        // It may quote how a tool is called.
        say!("{from} to {to}: {}", exit::without_secrets(&loss.to_string()));
    }
    if let Some(at) = renumbered_from(&document, &conversion.document) {
        say!(
            "{from} to {to}: messages from m{at} on have other numbers than in {}",
            input::shown(&args.file)
        );
    }
    let n_losses = conversion.losses.len() as u64;
    Ok((conversion.document, Some(Came { document, n_losses })))
}

/// Returns the first message that has another number in the converted document: formats cut a conversation differently, and
/// results that were missing are put in.
fn renumbered_from(before: &Document, after: &Document) -> Option<usize> {
    let roles = |document: &Document| -> Vec<_> {
        let said = document.transcript().entries().iter();
        said.map(|entry| {
            (entry.message.is_user_text(), entry.message.calls().count(), entry.message.results().count())
        })
        .collect()
    };
    let (before, after) = (roles(before), roles(after));
    let same = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    (before.len() != after.len()).then_some(same)
}

/// Returns what the whole history may cost, and in words where that comes from unless the user says it.
fn budget(args: &CompactArgs, room: &Room) -> Result<(Tokens, Option<String>)> {
    let target = room.limits.target;
    match (args.budget, args.ratio) {
        (Some(budget), _) => Ok((Tokens(budget), None)),
        (None, None) => Ok((target, Some(format!("the target, {}", room.share(target))))),
        (None, Some(ratio)) if ratio > 0.0 && ratio <= 1.0 => {
            let budget = room.budget.scaled(ratio);
            Ok((budget, Some(room.share(budget))))
        }
        (None, Some(ratio)) => {
            bail!(Impossible(format!("--ratio {ratio} is no share; expected a number above 0 and up to 1")))
        }
    }
}

/// Says of settings that a history in a file has no place for that they change nothing here.
///
/// # Errors
/// Where one was given for this run.
fn refuse_what_cannot_apply(layered: &Layered) -> Result<()> {
    let reasons = [
        (
            "chaining",
            layered.config.chaining != Chaining::Fold,
            "a history in a file begins with one summary",
        ),
        (
            "summary_role",
            layered.config.summary_role != SummaryRole::User,
            "in a file a summary speaks as the user, so that nothing in it has the system's authority",
        ),
    ];
    for (name, _, why) in reasons.into_iter().filter(|(_, is_asked, _)| *is_asked) {
        match layered.sources.get(name) {
            Some(Source::Flag(_)) => bail!(Impossible(format!("{name} cannot be had here: {why}"))),
            Some(Source::File(_) | Source::Environment(_)) => {
                say!("the setting {name} changes nothing here: {why}");
            }
            _ => {}
        }
    }
    Ok(())
}
