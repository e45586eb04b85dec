//! `longhaul hook`: Claude Code's hooks, and `longhaul savings`: what its filter saved.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    archive::utc,
    args::{HookArgs, HookPlace, HookRunArgs, HookWhat, SavingsArgs},
    exit::{self, Impossible},
    hook::{self, Savings},
    output::{self, Backup, Target, why_read_only},
    paint::{self, cut, grouped, harmless_json, plain, wrapped},
    say,
};

pub(crate) fn run(args: &HookArgs) -> Result<ExitCode> {
    match &args.what {
        HookWhat::Install(install) => {
            let (command, with_filter) = (hook::command()?, !install.without_filter);
            let path = hook::settings_file(&install.place)?;
            let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
            let has_folder = path.parent().filter(is_missing).is_none();
            let installed = |settings: Option<&str>| match settings {
                None if !has_folder => hook::installed_with_folder(&command, with_filter).map(Some),
                settings => hook::installed(settings, &command, with_filter).map(Some),
            };
            change(&install.place, INSTALLED, installed)
        }
        HookWhat::Remove(place) => change(place, REMOVED, |settings| match settings {
            Some(settings) => hook::removed(settings),
            None => Ok(None),
        }),
        HookWhat::Run(args) => Ok(answered(args)),
    }
}

/// Changes a settings file where it is to change, and keeps it as it was beside it. `change` is given what it says, and gives what it
/// is to say: nothing, where there is to be none.
fn change(
    place: &HookPlace,
    done: &str,
    change: impl Fn(Option<&str>) -> Result<Option<String>, String>,
) -> Result<ExitCode> {
    let path = hook::settings_file(place)?;
    let name = paint::path(&path);
    let refused = |why: &str| Impossible(format!("{name}: {why}; nothing was changed"));
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        bail!(refused("it is no regular file"));
    }
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("{name} cannot be read")),
    };
    let new = change(text.as_deref()).map_err(|why| refused(&why))?;
    if new == text {
        say!("{name} has nothing to change");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(why) = why_read_only(&path) {
        bail!(refused(why));
    }
    // Nobody writes there in between, as far as one can see.
    if fs::read_to_string(&path).ok() != text {
        bail!("{name} was written to meanwhile; nothing was changed");
    }
    let Some(new) = new else {
        // It was made for our hooks, and there is nothing else in it.
        let made = path.canonicalize().unwrap_or(path);
        fs::remove_file(&made).with_context(|| format!("{name} cannot be removed"))?;
        if let Some(folder) = made.parent().filter(|_| text.as_deref().is_some_and(hook::made_folder)) {
            // One that others have put something into stays.
            let _ = fs::remove_dir(folder);
        }
        say!("{done}; {name} held nothing else and is gone");
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", paint::path(folder)))?;
    }
    let target = Target::unlocked(&path);
    // What comes back without our hooks, and is kept as it was then, is not kept with them as well.
    let is_kept = done == REMOVED && output::is_kept(&path, new.as_bytes());
    let backup = match path.is_file() && !is_kept {
        true => target.put_with_backup(new.as_bytes(), Backup::OfEach, |_| Ok(()))?,
        false => target.put(new.as_bytes()).map(|()| None)?,
    };
    say::with_whole(&format!("{done} in"), &name);
    if let Some(backup) = backup {
        say::with_whole("as it was it is", &paint::path(&backup));
    }
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
        return wrapped(
            "",
            "nothing yet: `longhaul hook install` digests long output of Claude Code's commands",
            "  ",
        );
    };
    let share = |before: longhaul::transcript::Tokens, after: longhaul::transcript::Tokens| {
        100.0 * (1.0 - after.ratio_of(before))
    };
    let saved = savings.before - savings.after;
    let told = format!(
        "{} tokens saved since {}: {} → {} ({:.0} %) in {} output{}",
        grouped(saved.0),
        utc(since),
        grouped(savings.before.0),
        grouped(savings.after.0),
        share(savings.before, savings.after),
        grouped(savings.digests),
        if savings.digests == 1 { "" } else { "s" },
    );
    let mut out = wrapped("", &told, "  ");
    out.push_str("\ncommand                             outputs      saved     of\n");
    for one in savings.commands.iter().take(MOST) {
        out.push_str(&format!(
            "{:<32}  {:>9}  {:>9}  {:>3.0} %\n",
            cut(&plain(&one.command), 32),
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
