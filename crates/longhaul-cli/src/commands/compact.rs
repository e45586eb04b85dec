//! `longhaul compact`: a transcript in, a valid smaller one out.

use std::{process::ExitCode, time::Instant};

use anyhow::{Context, Result, bail};
use longhaul::{
    Breakdown,
    compact::{self as engine, CompactSettings, Compacted, KeepReasoning, Source},
    extract::FactIndex,
    summarize::rules::RulesOptions,
    transcript::{Item, Tokens},
    wire::{self, Document, Format, Profile},
};

use crate::{
    args::CompactArgs,
    counter::{self, Named},
    exit::{Impossible, NOTHING_TO_DO},
    input,
    output::Target,
    window,
};

mod report;

pub(crate) use report::Report;

pub(crate) fn run(args: &CompactArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let target = Target::new(args.output.as_deref(), args.force);
    target.check()?;
    let counter = counter::choose(&args.counter)?;
    let document = converted(input::document(&args.file, args.from.from.0)?, args)?;
    input::warn_of_problems(&args.file, &document);
    let breakdown = Breakdown::of(document.transcript().entries(), &*counter.counter);
    let budget = budget(args, &counter, &document)?;

    let mut report = Report::new(&document, &counter, budget, &breakdown);
    let history = match breakdown.total <= budget {
        true => {
            report.decision = format!("unchanged: {} tokens are within the budget", breakdown.total);
            unchanged(&document)?
        }
        false => compacted(&document, &counter, budget, &breakdown, args, &mut report)?,
    };
    report.duration_ms = started.elapsed().as_millis() as u64;
    if args.dry_run {
        Target::Stdout.put(report.preview().as_bytes())?;
    } else {
        target.put(&history)?;
    }
    tell(args, &report)?;
    let unchanged = breakdown.total <= budget;
    Ok(ExitCode::from(if unchanged && args.fail_if_unchanged { NOTHING_TO_DO } else { 0 }))
}

/// Returns the document in the format that is to be written.
fn converted(document: Document, args: &CompactArgs) -> Result<Document> {
    let Some(to) = args.to.and_then(|to| to.0).filter(|to| *to != document.format()) else {
        return Ok(document);
    };
    let conversion = wire::convert(&document, to).map_err(|error| Impossible(error.to_string()))?;
    for loss in &conversion.losses {
        eprintln!("longhaul: {} to {}: {loss}", document.format().name(), to.name());
    }
    Ok(conversion.document)
}

/// Returns what the whole history may cost.
fn budget(args: &CompactArgs, counter: &Named, document: &Document) -> Result<Tokens> {
    if let Some(budget) = args.budget {
        return Ok(Tokens(budget));
    }
    let ratio = args.ratio.unwrap_or(window::TARGET_RATIO);
    if !(ratio > 0.0 && ratio <= 1.0) {
        bail!(Impossible(format!("--ratio {ratio} is not a share; expected a number above 0 and up to 1")));
    }
    Ok(window::budget(args.window, counter, document).scaled(ratio))
}

fn unchanged(document: &Document) -> Result<Vec<u8>> {
    let mut history = Vec::new();
    wire::write_unchanged(document, &mut history).context("the history cannot be written")?;
    Ok(history)
}

/// Compacts, writes, reads back and counts what was written: what the report says is what the reader will find.
fn compacted(
    document: &Document,
    counter: &Named,
    budget: Tokens,
    breakdown: &Breakdown,
    args: &CompactArgs,
    report: &mut Report,
) -> Result<Vec<u8>> {
    let format = document.format();
    if format.is_import_only() {
        bail!(Impossible(format!(
            "{} histories are read only: {} tokens are over the budget of {budget}; say --to openai (or another format) to compact",
            format.name(),
            breakdown.total,
        )));
    }
    let entries = document.transcript().entries();
    let mut index = FactIndex::new();
    entries.iter().for_each(|entry| index.push(entry));
    let session = document.session_id().unwrap_or_else(|| document.transcript().derived_session());
    let source = Source {
        session: &session,
        entries,
        costs: &breakdown.per_message,
        tokens_before: breakdown.total,
        counter: &*counter.counter,
        index: &index,
        previous: None,
    };
    let mut settings = CompactSettings {
        keep_recent: args.keep_recent,
        max_summary_tokens: args.max_summary_tokens.map(Tokens),
        goal: args.goal.clone(),
        reasoning: reasoning(format),
        now_ms: crate::clock::now_ms(),
        ..CompactSettings::new(budget)
    };
    // What a format adds around a message is known only once it is written and read again.
    const ATTEMPTS: usize = 4;
    for _ in 0..ATTEMPTS {
        let compacted = engine::compact(&source, &settings, &RulesOptions::default())
            .map_err(|error| Impossible(error.to_string()))?;
        let history = written(document, &compacted)?;
        let after = recount(&history, format, counter)?;
        if after > budget {
            settings.budget = settings.budget - (after - budget) - Tokens(1);
            continue;
        }
        let violations = new_violations(document, &history)?;
        if !violations.is_empty() {
            bail!("the compacted history would not be valid, so nothing was written: {}", violations.join("; "));
        }
        report.fill(&compacted, after, breakdown);
        report.valid = report::Valid::check(&history, format)?;
        return Ok(history);
    }
    bail!("the compacted history does not fit {budget} tokens once written as {}", format.name())
}

fn written(document: &Document, compacted: &Compacted) -> Result<Vec<u8>> {
    let message = |kept: &'_ engine::Kept| (kept.id, kept.message.clone());
    let head: Vec<_> = compacted.head.iter().map(message).collect();
    let tail: Vec<_> = compacted.tail.iter().map(message).collect();
    let items = (head.iter().map(|(id, message)| Item::Message { id: *id, message }))
        .chain([Item::Summary(&compacted.record)])
        .chain(tail.iter().map(|(id, message)| Item::Message { id: *id, message }));
    let mut history = Vec::new();
    wire::write(document, items, &mut history).context("the compacted history cannot be written")?;
    Ok(history)
}

fn recount(history: &[u8], format: Format, counter: &Named) -> Result<Tokens> {
    let again = wire::read(Some(format), history).context("the compacted history cannot be read back")?;
    Ok(Breakdown::of(again.transcript().entries(), &*counter.counter).total)
}

/// Returns what is wrong with `history` and was not wrong with the input already.
fn new_violations(document: &Document, history: &[u8]) -> Result<Vec<String>> {
    let profile = Profile::default();
    let before = wire::validate(&unchanged(document)?, document.format(), &profile)?;
    let after = wire::validate(history, document.format(), &profile)?;
    let is_new = |rule: &str| before.iter().all(|violation| violation.rule != rule);
    let new = after.into_iter().filter(|violation| is_new(violation.rule));
    Ok(new.map(|violation| violation.to_string()).collect())
}

/// Chat dialects of thinking models want their reasoning back (`OD-1`); everywhere else it is bound to a prefix that
/// a compaction changes.
fn reasoning(format: Format) -> KeepReasoning {
    match format {
        Format::OpenAi | Format::Gemini | Format::Chat | Format::Longhaul => KeepReasoning::Keep,
        _ => KeepReasoning::Strip,
    }
}

fn tell(args: &CompactArgs, report: &Report) -> Result<()> {
    if let Some(path) = &args.report {
        let json = serde_json::to_vec_pretty(report)?;
        Target::new(Some(path), true).put(&json)?;
    }
    match args.json {
        true => eprintln!("{}", serde_json::to_string(report)?),
        false => eprint!("{}", report.words(&input::shown(&args.file))),
    }
    Ok(())
}
