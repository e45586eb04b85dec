//! `longhaul compact`: a transcript in, a valid smaller one out.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use longhaul::{
    Breakdown, CompactedDocument, Config, DocumentError, DocumentSession, Stored, Within,
    config::{Chaining, Layered, OnMaxDepth, Source, SummaryLimit, SummaryRole},
    keep_reasoning,
    redact::Redactor,
    redacted_messages,
    summarize::{Reviewed, Summarizer, rules::RulesSummarizer},
    transcript::{Part, Span, SummaryMode, Tokens, parse_summary},
    wire::{self, Document, Format},
};

use crate::{
    args::CompactArgs,
    clock, counter,
    exit::{self, Impossible, NOTHING_TO_DO},
    found::About,
    input,
    output::{self, Backup, NewFile, Target},
    paint::{self, Painter, harmless_json},
    review::AtTerminal,
    say, settings,
    store::{self, AfterSummary, BranchOf, Kept, Recorded, Replaced, Said, Store, Trace},
    summarizer,
    window::Room,
};

mod destination;
mod report;

use destination::Destination;
use report::NotKept;
pub(crate) use report::Report;

pub(crate) fn run(args: &CompactArgs) -> Result<ExitCode> {
    let destination = Destination::of(args)?;
    let args = &*destination.named(args);
    let report_to = report_target(args)?;
    let report = perform_for(args, &destination)?;
    if args.dry_run {
        Target::Stdout.put(Painter::stdout().folded(&report.preview()).as_bytes())?;
    }
    tell(args, report_to.as_ref(), &report)?;
    let is_unchanged = report.summary.is_none();
    destination.tell(&report, args.dry_run);
    Ok(ExitCode::from(if is_unchanged && args.fail_if_unchanged { NOTHING_TO_DO } else { 0 }))
}

/// Compacts, puts the history where `args` say and records what is to be, and returns what was done.
#[cfg(feature = "mcp")]
pub(crate) fn perform(args: &CompactArgs) -> Result<Report> {
    perform_for(args, &Destination::AsNamed)
}

/// Keeps what a transcript says, with a summary of it, and puts a new history nowhere.
pub(crate) fn keep(args: &CompactArgs) -> Result<Report> {
    perform_for(args, &Destination::Nowhere)
}

fn perform_for(args: &CompactArgs, destination: &Destination) -> Result<Report> {
    let started = Instant::now();
    if args.review && args.file == Path::new("-") {
        bail!(Impossible(
            "--review asks on stdin, where the transcript comes from; name its file".to_owned()
        ));
    }
    let target = match (destination, &args.output) {
        // Whoever says so means the session file also where it is read-only.
        (Destination::InPlace, Some(path)) if args.force => Target::unlocked(path).locked_too(),
        (Destination::InPlace, Some(path)) => Target::unlocked(path),
        (_, path) => Target::new(path.as_deref(), args.force),
    };
    let target = target.made(NewFile::like(&args.file));
    store::spare(&args.store, "-o", args.output.as_deref())?;
    store::spare(&args.store, "--report", args.report.as_deref())?;
    let is_in_place = *destination == Destination::InPlace;
    target.check().map_err(|error| match is_in_place {
        true => Impossible(format!("{error}; -o writes elsewhere, --force here all the same")).into(),
        false => error,
    })?;
    let read = Seen::of(&args.file);
    let layered = settings::load(&args.settings)?;
    let chooses_recent = settings::choose_recent(&layered);
    refuse_what_cannot_apply(&layered)?;
    let document = input::document(&args.file, args.from.from.0)?;
    let told = About::of(&args.file, &document).window;
    let came_in = document.format();
    let document = converted(document, args)?;
    let is_converted = document.format() != came_in;
    destination.check(&document)?;
    let mut config = settings::for_history(&layered.config, &document, args.counter.model.as_deref());
    if let Some(most) = args.max_summary_tokens {
        config.max_summary_tokens = SummaryLimit::Tokens(Tokens(most));
    }
    let redactor = (!args.no_redact).then(Redactor::builtin);
    let counter = counter::choose(&args.counter)?;
    input::warn_of_problems(&args.file, &document, args.strict)?;
    let breakdown = Breakdown::of(document.transcript().entries(), &*counter.counter);
    let room = Room::new(args.window, told, &config, &counter, &document);
    let (budget, budget_from) = budget(args, &room)?;
    // What a file loses is to be in the store, and so is what an agent is told to look up there.
    let must_be_recorded = !args.no_store
        && !args.dry_run
        && (target.replaces_something() || matches!(destination, Destination::NewSession { .. }));

    let mut report = Report::new(&document, &counter, (budget, budget_from), &breakdown);
    let made = match breakdown.total <= budget {
        true => {
            report.rests();
            None
        }
        false => {
            if redactor.is_none() {
                say!("--no-redact: secrets are summarized and recorded as they are");
            }
            if must_be_recorded {
                // Before a model is asked.
                store::open(&args.store).map_err(|error| unrecorded(args, error))?;
            }
            let (window, counter) = (room.window, counter.counter.clone());
            let session = DocumentSession::new(&document, window, counter, config.clone(), redactor.clone())
                .map_err(told_apart)?;
            let within = Within {
                keep_recent: args.keep_recent.or_else(|| chooses_recent.then(|| session.state().recent())),
                reasoning: keep_reasoning(document.format()),
                goal: args.goal.clone(),
                now_ms: clock::now_ms(),
                ..Within::new(budget)
            };
            let said = Said::new(&document, session.state().redacted(), args.session.as_deref());
            let (stored, words) = stored(args, &config, &said)?;
            let is_elsewhere = stored.is_none() && depth_of_summary(&said).is_some();
            let session = match stored {
                Some(stored) => session.with_stored(stored),
                None => session,
            };
            let is_unfit = !is_elsewhere && !session.has_originals();
            if let Some(depth) = depth_of_summary(&said) {
                tell_of_summary(depth, if is_unfit { UNFIT } else { &words });
            }
            let done = compacted(args, &config, &session, &within)?;
            report.fill(&done);
            warn_of_bound_thinking(document.format(), &done);
            Some((said, done, is_elsewhere))
        }
    };
    let history = match &made {
        Some((_, done, _)) => done.bytes.clone(),
        None => unchanged(&document)?,
    };
    let history = destination.bytes(&document, made.as_ref().map(|(_, done, _)| done), history)?;
    report.duration_ms = started.elapsed().as_millis() as u64;
    if !args.dry_run {
        // Of two that compact one file the second finds that it was written to, and has recorded nothing.
        let _lock = target.lock()?;
        let is_replaced = target.replaces(&args.file);
        if is_replaced {
            read.must_be_unchanged(&args.file)?;
        }
        let is_new = made.is_some();
        let record = |report: &mut Report| -> Result<()> {
            let (said, done, is_elsewhere) = match made {
                _ if args.no_store => return Ok(()),
                Some((said, done, is_elsewhere)) => (said, Some(done), is_elsewhere),
                // Whoever wants it kept wants that also of what is short.
                None if *destination == Destination::Nowhere && breakdown.messages > 0 => {
                    let messages = redacted_messages(&document, redactor.as_ref());
                    (Said::new(&document, messages, args.session.as_deref()), None, false)
                }
                None => return Ok(()),
            };
            let said = said.with_spellings(&document, redactor.as_ref());
            let of_format = (document.format(), done.as_ref());
            match recorded(args, &config, &said, of_format, redactor.as_ref()) {
                Ok((recorded, forgotten)) => {
                    report.recorded = Some(recorded);
                    report.not_kept = NotKept::of(&document, &said.messages, forgotten, is_elsewhere);
                }
                Err(error) if must_be_recorded => return Err(unrecorded(args, error)),
                // Originals may have been written before what failed.
                Err(error) => report.not_recorded = Some(exit::words(&error)),
            }
            Ok(())
        };
        // What a file is about to lose is kept first. What goes to stdout is lost by nobody, and a history that nobody got
        // is not to be recorded as the one in force.
        match target {
            _ if *destination == Destination::Nowhere => record(&mut report)?,
            // Where it fits already, there is nothing to read beside it; in another format it is new all the same.
            _ if !is_new && !is_converted && matches!(destination, Destination::Beside(_)) => {}
            Target::Stdout => {
                report.backup = put(&target, &history, args, (&document, is_in_place), |_| Ok(()))?;
                record(&mut report)?;
            }
            Target::File { .. } => {
                record(&mut report)?;
                let unchanged = if is_replaced { read.must_be_unchanged(&args.file) } else { Ok(()) };
                let note = |backup: &Path| {
                    keep_trace(args, &report, &document, &history, redactor.as_ref(), Some(backup))
                };
                match unchanged.and_then(|()| put(&target, &history, args, (&document, is_in_place), note)) {
                    Ok(backup) => report.backup = backup,
                    Err(error) => {
                        take_back(args, &report);
                        return Err(error);
                    }
                }
            }
        }
        if !is_replaced {
            read.tell_of_change(&args.file);
        }
        if report.backup.is_none()
            && let Err(error) = keep_trace(args, &report, &document, &history, redactor.as_ref(), None)
        {
            say!("undo will not name the file: {}", exit::words(&error));
        }
    }
    Ok(report)
}

/// What a file was like when it was read.
#[derive(Debug, PartialEq, Eq)]
struct Seen(Option<(u64, std::time::SystemTime)>);

impl Seen {
    fn of(path: &Path) -> Seen {
        let seen = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        Seen(seen.and_then(|seen| Some((seen.len(), seen.modified().ok()?))))
    }

    /// Fails where somebody wrote to the transcript since: what they said would be in no history.
    fn must_be_unchanged(&self, path: &Path) -> Result<()> {
        match *self == Seen::of(path) {
            true => Ok(()),
            false => {
                bail!("{} was written to while it was compacted; nothing was written", paint::path(path))
            }
        }
    }

    /// Says that somebody wrote to the transcript since: it has that, the new history has not.
    fn tell_of_change(&self, path: &Path) {
        if *self != Seen::of(path) {
            say!("{} was written to meanwhile: what was added is not in the new history", paint::path(path));
        }
    }
}

/// Returns where the report goes, where it may: never over the transcript or the new history, and over a file that is no
/// report only where the flag says so.
fn report_target(args: &CompactArgs) -> Result<Option<Target>> {
    let Some(path) = &args.report else { return Ok(None) };
    let target = if args.force { Target::new(Some(path), true) } else { Target::unlocked(path) };
    let target = target.made(NewFile::like(&args.file));
    if target.replaces(&args.file) {
        bail!(Impossible(format!("--report {} would replace the transcript itself", paint::path(path))));
    }
    if args.output.as_ref().is_some_and(|output| output == path || target.replaces(output)) {
        bail!(Impossible(format!("--report {} would replace the new history", paint::path(path))));
    }
    if path.is_file() && !args.force && !Report::is_at(path) {
        bail!("{} exists and is no report of longhaul's; say --force to overwrite it", paint::path(path));
    }
    target.check()?;
    Ok(Some(target))
}

/// Puts the history where it is to go. Where that is the transcript itself, the transcript is kept beside it: the store has
/// its messages, but not what an agent wrote around them, nor what the agent itself compacted before. Returns where.
/// `note` is told before the file is replaced. Where the compaction `is_in_place`, the new history begins with the old one.
fn put(
    target: &Target,
    history: &[u8],
    args: &CompactArgs,
    (document, is_in_place): (&Document, bool),
    note: impl FnOnce(&Path) -> Result<()>,
) -> Result<Option<PathBuf>> {
    if matches!(target, Target::Stdout) && output::is_stdout(&args.file) {
        bail!(Impossible(format!("stdout is {} itself; name another file with -o", paint::path(&args.file))));
    }
    if !target.replaces(&args.file) {
        return target.put_over(history, |there| is_known(args, there), note);
    }
    if history == document.as_bytes() {
        // It is there already.
        return Ok(None);
    }
    target.put_with_backup(history, if is_in_place { Backup::OfTheNewest } else { Backup::OfEach }, note)
}

/// Returns `error`, for which nothing could be recorded and so nothing was replaced, and says what to do.
fn unrecorded(args: &CompactArgs, error: anyhow::Error) -> anyhow::Error {
    let stays = match &args.output {
        Some(path) if path.exists() => format!("{} stays as it is", paint::path(path)),
        _ => "nothing was written".to_owned(),
    };
    let why = exit::words(&error);
    anyhow::anyhow!(
        "nothing could be recorded, so {stays} ({why}); mend that, name another store (--store), or do without (--no-store)"
    )
}

/// Returns whether these bytes are a history that was compacted here, word for word: what it was made from is in the store.
fn is_known(args: &CompactArgs, bytes: &[u8]) -> bool {
    let known = || match store::existing(&args.store)? {
        Some(store) => store::block_on(store::is_output(&store, bytes)),
        None => Ok(false),
    };
    !args.no_store && known().unwrap_or(false)
}

/// Takes the record of a history back that nobody got.
fn take_back(args: &CompactArgs, report: &Report) {
    let Some(withdrawal) = report.recorded.as_ref().and_then(|recorded| recorded.withdrawal.as_ref()) else {
        return;
    };
    let done =
        store::open(&args.store).and_then(|store| store::block_on(withdrawal.make(&store, clock::now_ms())));
    if let Err(error) = done {
        say!("the store has it as in force all the same: {}", exit::words(&error));
    }
}

/// Keeps beside the record what the compaction does to the file, so that `undo` can take that back too. `backup` is where the file
/// is kept that is replaced.
fn keep_trace(
    args: &CompactArgs,
    report: &Report,
    document: &Document,
    history: &[u8],
    redactor: Option<&Redactor>,
    backup: Option<&Path>,
) -> Result<()> {
    let (Some(recorded), Some(record)) = (&report.recorded, &report.summary) else { return Ok(()) };
    // What was replaced may be another transcript than the one that was read.
    let before = |backup: &Path| {
        let (before, path) = (std::fs::read(backup).ok()?, args.output.as_deref()?);
        let is_transcript = output::are_same(path, &args.file);
        Some(Replaced::new(path, backup, &before, history)?.of(&recorded.id, is_transcript))
    };
    let made = args.output.as_deref().filter(|_| backup.is_none());
    let trace = Trace::new(document.format(), backup.and_then(before), made);
    let keep = async |store: Store| {
        trace.keep(&store, &record.id, redactor).await?;
        match args.output {
            Some(_) => store::note_output(&store, history, &record.id).await,
            None => Ok(()),
        }
    };
    store::open(&args.store)
        .and_then(|store| store::block_on(keep(store)))
        .context("what becomes of the file cannot be noted, so undo would not put it back")
}

/// Returns the document in the format that is to be written.
fn converted(document: Document, args: &CompactArgs) -> Result<Document> {
    let Some(to) = args.to.and_then(|to| to.0).filter(|to| *to != document.format()) else {
        return Ok(document);
    };
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
    Ok(conversion.document)
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

fn unchanged(document: &Document) -> Result<Vec<u8>> {
    let mut history = Vec::new();
    wire::write_unchanged(document, &mut history).context("the history cannot be written")?;
    Ok(history)
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

/// Compacts; what the caller asked for and cannot be is told apart from what went wrong.
fn compacted(
    args: &CompactArgs,
    config: &Config,
    session: &DocumentSession<'_>,
    within: &Within,
) -> Result<CompactedDocument> {
    let mut mode = summarizer::mode(args.mode.as_deref(), config)?;
    if mode != SummaryMode::Rules {
        let too_large = session.too_large_for_model(within).map_err(|error| told_apart(error.into()))?;
        if let Some((tokens, limit)) = too_large {
            say!("too large for a model: {tokens} tokens of at most {limit}; summarized by rule");
            mode = SummaryMode::Rules;
        }
    }
    if mode == SummaryMode::Rules && !args.review {
        return session.compact(within).map_err(told_apart);
    }
    let mut summarizer: Arc<dyn Summarizer> = match mode {
        SummaryMode::Rules => Arc::new(RulesSummarizer::default()),
        mode => {
            // What a model wrote may be kept where the record of it may be.
            let cache = (!args.no_store && !args.dry_run).then(|| store::open(&args.store).ok()).flatten();
            let ladder = summarizer::ladder(&args.summarizer, config, mode, cache, None)?;
            Arc::new(summarizer::Announced::new(ladder, &args.summarizer)?)
        }
    };
    if args.review {
        summarizer = Arc::new(Reviewed::new(summarizer, Arc::new(AtTerminal)));
    }
    let asked = store::block_on(async { Ok(session.compact_with(within, &*summarizer).await) })?;
    let (done, attempts) = asked.map_err(told_apart)?;
    for attempt in attempts {
        let reason = paint::plain(&attempt.reason);
        say!("{} was not used: {reason}", attempt.summarizer);
    }
    Ok(done)
}

fn told_apart(error: DocumentError) -> anyhow::Error {
    match error {
        DocumentError::ImportOnly { format } => anyhow::Error::new(Impossible(format!(
            "{} histories can only be read; say --to openai",
            format.name()
        ))),
        DocumentError::Compact(_) | DocumentError::DoesNotFit { .. } => {
            anyhow::Error::new(Impossible(error.to_string()))
        }
        error => error.into(),
    }
}

/// Returns what the store has of the conversation behind the summary that the document begins with. Where the chain of
/// summaries is as deep as it may get, and no original is missing, it begins anew. Also returns what to say of it.
fn stored(args: &CompactArgs, config: &Config, said: &Said<'_>) -> Result<(Option<Stored>, String)> {
    let Some(depth) = depth_of_summary(said) else { return Ok((None, String::new())) };
    let found = match args.no_store {
        true => Ok(None),
        false => store::existing(&args.store).and_then(|store| match store {
            Some(store) => store::block_on(store::stored(&store, said)),
            None => Ok(None),
        }),
    };
    let is_deepest = depth.saturating_add(1) >= config.max_summary_chain_depth;
    if is_deepest && config.on_max_depth == OnMaxDepth::Halt {
        let max = config.max_summary_chain_depth;
        bail!(Impossible(format!(
            "the chain may have {max} summaries and has them (on_max_depth = \"halt\")"
        )));
    }
    let words = match &found {
        Err(error) => format!("its originals cannot be read: {}", exit::words(error)),
        _ if !is_deepest => String::new(),
        Ok(Some(stored)) if stored.originals.iter().all(Option::is_some) => {
            format!("summarized anew from {} stored originals", stored.originals.len())
        }
        Ok(Some(_)) => "some of its originals were forgotten: the chain goes on".to_owned(),
        Ok(None) => "its originals are not in the store: summarized from the summary itself".to_owned(),
    };
    Ok((found.ok().flatten(), words))
}

/// Says what becomes of the summary that a history begins with, where there is something to say.
fn tell_of_summary(depth: u32, words: &str) {
    if !words.is_empty() {
        say!("the history begins with a summary of depth {depth}; {words}");
    }
}

/// What is said where the store has the originals of a history that begins with more instructions than they do.
const UNFIT: &str =
    "it has other instructions than its originals in the store: summarized from the summary itself";

/// Says that what stays of a round in progress was signed together with what stood before it. Without its thinking, older
/// models refuse the round; with it, models with preserved thinking do, unless they are told to drop it.
fn warn_of_bound_thinking(format: Format, done: &CompactedDocument) {
    let is_signed = |part: &Part| matches!(part, Part::Reasoning(reasoning) if reasoning.opaque_bytes > 0);
    if !matches!(format, Format::Anthropic | Format::ClaudeCode) {
        return;
    }
    let Ok(history) = wire::read(Some(format), &*done.bytes) else { return };
    if history.transcript().entries().iter().any(|entry| entry.message.parts.iter().any(is_signed)) {
        say!(
            "the tool round in progress keeps its signed thinking: a model with preserved thinking takes it only with \
             thinking.block_binding.prefix_mismatch_behavior = \"drop_block\"; at the end of a turn there is no such choice"
        );
    }
}

/// Returns the depth of the summary that a history begins with.
fn depth_of_summary(said: &Said<'_>) -> Option<u32> {
    let first = said.messages.iter().find(|message| !message.is_system())?;
    first.texts().find_map(parse_summary).map(|(depth, _)| depth)
}

/// Records the originals and the summary, where there is one, and returns where, and how many messages of it were forgotten.
fn recorded(
    args: &CompactArgs,
    config: &Config,
    said: &Said<'_>,
    (format, done): (Format, Option<&CompactedDocument>),
    redactor: Option<&Redactor>,
) -> Result<(Recorded, u64)> {
    store::open(&args.store).and_then(|store| {
        let emitted = |done: &CompactedDocument| -> Result<_> {
            let read = wire::read(Some(format), &*done.bytes).context("the history cannot be read again")?;
            Ok((done.record.clone(), redacted_messages(&read, redactor)))
        };
        let made = done.map(emitted).transpose()?;
        let originals = if config.delete_originals { AfterSummary::Deleted } else { AfterSummary::Kept };
        let kept = store::keep(&store, said, made, originals);
        let Kept { place, n_deleted: deleted, withdrawal } = store::block_on(kept)?;
        let state = store::block_on(async { Ok(store.state(&place.session).await?) })?;
        let forgotten = state.map_or(0, |state| state.forgotten.iter().map(Span::len).sum());
        let branch_of = BranchOf::told(&place);
        let session = said.name.map_or_else(|| place.session.to_string(), str::to_owned);
        let store = store::place(&args.store)?.to_string();
        let id = place.session;
        Ok((Recorded { session, store, deleted, branch_of, id, withdrawal }, forgotten))
    })
}

fn tell(args: &CompactArgs, report_to: Option<&Target>, report: &Report) -> Result<()> {
    match args.json {
        true => say::err(&harmless_json(&serde_json::to_string(report)?)),
        false => say::err(&report.words(&input::shown(&args.file))),
    }
    match report_to {
        Some(target) => target.put(&serde_json::to_vec_pretty(report)?),
        None => Ok(()),
    }
}
