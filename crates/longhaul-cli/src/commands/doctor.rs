//! `longhaul doctor`: what is configured, reachable, stored, and where text would be sent.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::{
    Config,
    summarize::{ClientError, CompletionRequest},
    transcript::{SummaryMode, Tokens},
};
use serde::Serialize;

use crate::{
    archive::Archive,
    args::DoctorArgs,
    exit,
    output::Target,
    paint::{self, GREEN, Painter, RED, plain},
    settings, store, summarizer,
};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    ok: bool,
    says: String,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let config = settings::load(&args.settings).map(|layered| layered.config);
    let mut findings = vec![settings_finding(&config)];
    let config = config.unwrap_or_default();
    findings.push(store_finding(args));
    findings.push(summarizer_finding(args, &config));
    findings.extend(reach_finding(args, &config));
    if args.ask {
        findings.push(answer_finding(args, &config));
    }
    let all_well = findings.iter().all(|finding| finding.ok);
    let shown = match args.json {
        true => format!("{}\n", serde_json::json!({"version": 1, "ok": all_well, "findings": findings})),
        false => findings.iter().map(line).collect(),
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::from(u8::from(!all_well)))
}

/// Where what is found begins.
const MARGIN: usize = 14;

fn line(finding: &Finding) -> String {
    let painter = Painter::stdout();
    let sign = if finding.ok { painter.paint(GREEN, "✓") } else { painter.paint(RED, "✗") };
    let says = painter.short_words(&plain(&finding.says), paint::line_width() - MARGIN);
    let text = says.split('\n').enumerate().map(|(nth, line)| {
        let first = if nth == 0 { format!("  {:<11} ", finding.what) } else { " ".repeat(MARGIN) };
        paint::wrapped(&first, line.trim_start(), &" ".repeat(MARGIN))
    });
    // The sign may be painted, and takes a column all the same.
    format!("{sign}{}", &text.collect::<String>()[1..])
}

fn settings_finding(config: &Result<Config>) -> Finding {
    let file = settings::users();
    let (ok, says) = match config {
        Ok(_) => (
            true,
            file.map_or("the defaults".into(), |path| format!("{} and the defaults", paint::path(&path))),
        ),
        Err(error) => (false, exit::words(error)),
    };
    Finding { what: "settings", ok, says }
}

fn store_finding(args: &DoctorArgs) -> Finding {
    let what = "store";
    match verified(args) {
        Ok((says, damaged)) if damaged.is_empty() => Finding { what, ok: true, says },
        Ok((says, damaged)) => {
            Finding { what, ok: false, says: format!("{says}; damaged: {}", damaged.join("; ")) }
        }
        Err(error) => Finding { what, ok: false, says: exit::words(&error) },
    }
}

/// Returns what the store holds, and each session in which a hash is not right.
fn verified(args: &DoctorArgs) -> Result<(String, Vec<String>)> {
    let place = store::place(&args.store)?;
    if !place.may_exist() {
        return Ok((format!("{place}: not there yet; the first `compact` makes it"), Vec::new()));
    }
    let archive = Archive::existing(&args.store)?;
    let sessions = archive.wait(archive.store.sessions())?;
    let mut damaged = Vec::new();
    for info in &sessions {
        if let Some(problem) = archive.wait(archive.store.verify(&info.session))?.problem {
            damaged.push(format!("{}: {problem}", info.session));
        }
    }
    let sound = if damaged.is_empty() { ", every hash is right" } else { "" };
    Ok((format!("{place}: {}{sound}", paint::counted(sessions.len() as u64, "session")), damaged))
}

fn summarizer_finding(args: &DoctorArgs, config: &Config) -> Finding {
    let what = "summarizer";
    if args.summarizer.base_url.is_none() {
        let ok = config.mode == SummaryMode::Rules;
        let says = match ok {
            true => "rules: no text is sent anywhere".into(),
            false => format!("mode {} is set, but no --base-url", config.mode.as_str()),
        };
        return Finding { what, ok, says };
    }
    match summarizer::endpoint(&args.summarizer) {
        Ok(endpoint) => {
            let models = summarizer::models(&args.summarizer, config);
            let models = if models.is_empty() { "no model named".into() } else { models.join(", ") };
            let key = if endpoint.key.is_some() { "with a key" } else { "without a key" };
            let says = format!(
                "in the modes llm and hybrid text would be sent to {} ({}, {key}; {models})",
                endpoint.host(),
                args.summarizer.protocol,
            );
            Finding { what, ok: true, says }
        }
        Err(error) => Finding { what, ok: false, says: format!("{error:#}") },
    }
}

/// Looks whether the endpoint is there, takes the key and has the models: with a request that carries no text.
fn reach_finding(args: &DoctorArgs, config: &Config) -> Option<Finding> {
    args.summarizer.base_url.as_ref()?;
    let wanted = summarizer::models(&args.summarizer, config);
    let (ok, says) = match summarizer::listed(&args.summarizer) {
        // The finding before this one says what is wrong with the address.
        Err(_) => return None,
        Ok(Ok(names)) => {
            let missing: Vec<_> =
                wanted.iter().filter(|name| !names.contains(name)).map(String::as_str).collect();
            match (wanted.is_empty(), missing.is_empty()) {
                (true, _) => (true, format!("it answers and has {}", few(&names))),
                (_, true) => (true, format!("it answers and has {}", few(&wanted))),
                (_, false) => {
                    (false, format!("it has no model {}; it has {}", missing.join(", "), few(&names)))
                }
            }
        }
        // A server that does not list its models is there all the same.
        Ok(Err(ClientError::BadRequest { .. } | ClientError::InvalidResponse { .. })) => {
            (true, "it answers, but does not list its models; try --ask".into())
        }
        Ok(Err(error)) => (false, error.to_string()),
    };
    Some(Finding { what: "reachable", ok, says })
}

/// Returns the first of `names`, and how many more there are.
fn few(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "no model".into(),
        n if n > SHOWN => format!("{shown} and {} more", n - SHOWN),
        _ => shown,
    }
}

fn answer_finding(args: &DoctorArgs, config: &Config) -> Finding {
    let models = summarizer::models(&args.summarizer, config);
    let asked = summarizer::client(&args.summarizer).and_then(|client| {
        let model = models.first().map(String::as_str).unwrap_or("default");
        let request =
            CompletionRequest::new(model, "Answer in one word.".into(), "Say: ready".into(), Tokens(16));
        store::block_on(async { Ok(client.complete(&request).await?) })
    });
    match asked {
        Ok(answer) => Finding { what: "answer", ok: true, says: format!("it said {:?}", answer.text.trim()) },
        Err(error) => Finding { what: "answer", ok: false, says: format!("{error:#}") },
    }
}
