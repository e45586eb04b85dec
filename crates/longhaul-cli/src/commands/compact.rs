//! `longhaul compact`: a transcript in, a valid smaller one out.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};
use longhaul::wire;

use crate::{
    args::CompactArgs,
    exit::{self, Impossible, NOTHING_TO_DO},
    input,
    output::{self, Backup, Kept, Target},
    paint::{self, Painter, harmless_json},
    say,
};

mod destination;
mod keeper;
mod made;
mod plan;
mod report;

use destination::Destination;
use keeper::{Keeper, delete_originals, keep_trace, record, take_back, tell_left_behind};
use made::Made;
use plan::Plan;
use report::NotKept;
pub(crate) use report::Report;

pub(crate) fn run(args: &CompactArgs) -> Result<ExitCode> {
    let destination = Destination::of(args)?;
    let plan = Plan::of(args, &destination)?;
    let report = carried_out(&plan)?;
    if plan.is_dry {
        Target::Stdout.put(Painter::stdout().folded(&report.preview()).as_bytes())?;
    }
    tell(args, plan.report_to.as_ref(), &report)?;
    let is_unchanged = report.summary.is_none();
    destination.tell(&report, plan.is_dry);
    Ok(ExitCode::from(if is_unchanged && args.fail_if_unchanged { NOTHING_TO_DO } else { 0 }))
}

/// Compacts, puts the history where `args` say and records what is to be, and returns what was done.
#[cfg(feature = "mcp")]
pub(crate) fn perform(args: &CompactArgs) -> Result<Report> {
    carried_out(&Plan::of(args, &Destination::AsNamed)?)
}

/// Keeps what a transcript says, with a summary of it, and puts a new history nowhere.
pub(crate) fn keep(args: &CompactArgs) -> Result<Report> {
    carried_out(&Plan::of(args, &Destination::Nowhere)?)
}

/// Does what is planned, and returns what was done.
fn carried_out(plan: &Plan<'_>) -> Result<Report> {
    let budget = (plan.budget, plan.budget_from.clone());
    let mut report = Report::new(&plan.document, &plan.counter, budget, &plan.breakdown);
    let made = match plan.fits() {
        true => None,
        false => Some(Made::by(plan)?),
    };
    match &made {
        None => report.rests(plan.billed),
        Some(made) => report.fill(&made.done),
    }
    let history = history(plan, made.as_ref())?;
    report.duration_ms = plan.started.elapsed().as_millis() as u64;
    if !plan.is_dry {
        put_down(plan, made, &history, &mut report)?;
    }
    Ok(report)
}

/// Returns the bytes that are to be written.
fn history(plan: &Plan<'_>, made: Option<&Made<'_>>) -> Result<Vec<u8>> {
    let done = made.map(|made| &made.done);
    let history = match done {
        Some(done) => done.bytes.clone(),
        None => {
            let mut unchanged = Vec::new();
            let written = wire::write_unchanged(&plan.document, &mut unchanged);
            written.context("the history cannot be written")?;
            unchanged
        }
    };
    plan.destination.bytes(&plan.document, done, history)
}

/// Puts the history where it is to go, and records what is to be. What a file is about to lose is kept first. What goes to stdout
/// is lost by nobody, and a history that nobody got is not to be recorded as the one in force.
fn put_down(plan: &Plan<'_>, made: Option<Made<'_>>, history: &[u8], report: &mut Report) -> Result<()> {
    // Of two that compact one file the second finds that it was written to, and has recorded nothing.
    let _lock = plan.target.lock()?;
    let is_replaced = plan.target.replaces(plan.file);
    if is_replaced {
        plan.seen.must_be_unchanged(plan.file)?;
    }
    match &plan.target {
        _ if *plan.destination == Destination::Nowhere => record(plan, made, report)?,
        // Where it fits already, there is nothing to read beside it; in another format it is new all the same.
        _ if made.is_none() && plan.came.is_none() && matches!(plan.destination, Destination::Beside(_)) => {}
        Target::Stdout => {
            report.backup = put(plan, history, |_| Ok(()))?;
            record(plan, made, report)?;
        }
        Target::File { .. } => {
            record(plan, made, report)?;
            let unchanged = if is_replaced { plan.seen.must_be_unchanged(plan.file) } else { Ok(()) };
            let mut is_kept = false;
            let note = |backup: &Kept| {
                is_kept = keep_trace(plan, report, history, Some(backup))?;
                Ok(())
            };
            match unchanged.and_then(|()| put(plan, history, note)) {
                Ok(backup) => (report.backup, report.comes_back) = (backup, is_kept),
                Err(error) => {
                    take_back(plan, report);
                    return Err(error);
                }
            }
        }
    }
    match is_replaced {
        true => tell_left_behind(plan, report),
        false => plan.seen.tell_of_change(plan.file),
    }
    if report.backup.is_none()
        && let Err(error) = keep_trace(plan, report, history, None)
    {
        say!("undo will not name the file: {}", exit::words(&error));
    }
    delete_originals(plan, report)
}

/// Puts the history where it is to go. Where that is the transcript itself, the transcript is kept beside it: the store has
/// its messages, but not what an agent wrote around them, nor what the agent itself compacted before. Returns where.
/// `note` is told before the file is replaced. What is compacted in place begins with what was there.
fn put(plan: &Plan<'_>, history: &[u8], note: impl FnOnce(&Kept) -> Result<()>) -> Result<Option<PathBuf>> {
    let target = &plan.target;
    if matches!(target, Target::Stdout) && output::is_stdout(plan.file) {
        bail!(Impossible(format!("stdout is {} itself; name another file with -o", paint::path(plan.file))));
    }
    if !target.replaces(plan.file) {
        return target.put_over(history, |there| plan.keeper.knows(there), note);
    }
    if history == plan.document.as_bytes() {
        // It is there already.
        return Ok(None);
    }
    let is_in_place = *plan.destination == Destination::InPlace;
    target.put_with_backup(history, if is_in_place { Backup::OfTheNewest } else { Backup::OfEach }, note)
}

fn tell(args: &CompactArgs, report_to: Option<&Target>, report: &Report) -> Result<()> {
    match args.json {
        true => say::err(&harmless_json(&serde_json::to_string(report)?)),
        false => say::err(&report.words(&input::shown(&args.file))),
    }
    match report_to {
        // Of a text that is laid out every line is escaped by itself: a break between two is none of its own.
        Some(target) => {
            let json = serde_json::to_string_pretty(report)?;
            target.put(json.lines().map(harmless_json).collect::<String>().as_bytes())
        }
        None => Ok(()),
    }
}
