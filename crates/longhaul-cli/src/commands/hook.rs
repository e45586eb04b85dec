//! `longhaul hook`: Claude Code's hooks, and `longhaul savings`: what its filter saved.

use std::{
    fs,
    io::{self, Read as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    archive::utc,
    args::{HookArgs, HookPlace, HookRunArgs, HookWhat, SavingsArgs},
    exit::{self, Impossible},
    hook::{self, Savings},
    output::{NewFile, Target},
    paint::{grouped, harmless_json, plain},
};

pub(crate) fn run(args: &HookArgs) -> Result<ExitCode> {
    match &args.what {
        HookWhat::Install(install) => {
            let (command, with_filter) = (hook::command()?, !install.without_filter);
            change(&install.place, INSTALLED, |settings| hook::installed(settings, &command, with_filter))
        }
        HookWhat::Remove(place) => change(place, REMOVED, hook::removed),
        HookWhat::Run(args) => Ok(answered(args)),
    }
}

/// Changes a settings file where it is to change, and keeps it as it was beside it.
fn change(
    place: &HookPlace,
    done: &str,
    change: impl Fn(&str) -> Result<String, String>,
) -> Result<ExitCode> {
    let path = hook::settings_file(place)?;
    let refused = |why: &str| Impossible(format!("{}: {why}; nothing was changed", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    let new = match (&text, done) {
        (None, REMOVED) => String::new(),
        (text, _) => change(text.as_deref().unwrap_or_default()).map_err(|why| refused(&why))?,
    };
    if new == text.as_deref().unwrap_or_default() {
        say!("{} has nothing to change", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if fs::metadata(&path).is_ok_and(|found| found.permissions().readonly()) {
        bail!(refused("it is read-only"));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let target = Target::new(Some(&path), true).made(NewFile::Private);
    // Nobody writes there in between, as far as one can see.
    if fs::read_to_string(&path).ok() != text {
        bail!("{} was written to meanwhile; nothing was changed", path.display());
    }
    let backup = match path.is_file() {
        true => target.put_with_backup(new.as_bytes(), |_| {})?,
        false => target.put(new.as_bytes()).map(|()| None)?,
    };
    let kept = backup.map(|backup| format!("; as it was it is {}", backup.display())).unwrap_or_default();
    say!("{done} in {}{kept}", path.display());
    if done == INSTALLED {
        say!(
            "sessions that are running take them up when they are opened anew; `longhaul savings` says what is saved"
        );
    }
    Ok(ExitCode::SUCCESS)
}

const INSTALLED: &str = "installed";
const REMOVED: &str = "removed";

/// Answers an event. What goes wrong is said on stderr, and never costs the agent anything.
fn answered(args: &HookRunArgs) -> ExitCode {
    /// No event is longer.
    const LONGEST: u64 = 64 << 20;
    let answer = || -> Result<()> {
        let mut event = Vec::new();
        io::stdin().lock().take(LONGEST).read_to_end(&mut event).context("the event cannot be read")?;
        match hook::answer(&args.store, &event)? {
            Some(answer) => Target::Stdout.put(format!("{answer}\n").as_bytes()),
            None => Ok(()),
        }
    };
    if let Err(error) = answer() {
        say!("{}", exit::words(&error));
    }
    ExitCode::SUCCESS
}

/// Prints what the filter saved.
pub(crate) fn savings(args: &SavingsArgs) -> Result<ExitCode> {
    let savings = hook::savings()?;
    let shown = match args.json {
        true => harmless_json(&serde_json::to_string(&savings)?),
        false => words(&savings),
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn words(savings: &Savings) -> String {
    /// So many programs are shown.
    const MOST: usize = 12;
    let Some(since) = savings.since_ms else {
        return "nothing yet: `longhaul hook install` digests long output of Claude Code's commands\n"
            .to_owned();
    };
    let share = |before: longhaul::transcript::Tokens, after: longhaul::transcript::Tokens| {
        100.0 * (1.0 - after.ratio_of(before))
    };
    let saved = savings.before - savings.after;
    let mut out = format!(
        "{} tokens saved since {}: {} → {} ({:.0} %) in {} output{}\n\ncommand                    outputs     saved     of\n",
        grouped(saved.0),
        utc(since),
        grouped(savings.before.0),
        grouped(savings.after.0),
        share(savings.before, savings.after),
        grouped(savings.digests),
        if savings.digests == 1 { "" } else { "s" },
    );
    for one in savings.commands.iter().take(MOST) {
        out.push_str(&format!(
            "{:<24} {:>9} {:>9}  {:>3.0} %\n",
            plain(&one.command),
            grouped(one.digests),
            grouped((one.before - one.after).0),
            share(one.before, one.after),
        ));
    }
    if savings.commands.len() > MOST {
        out.push_str(&format!("… and {} other commands\n", savings.commands.len() - MOST));
    }
    out
}
