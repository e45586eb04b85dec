//! `longhaul doctor`: what is stored where, whether it is sound, and where text would be sent.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::redact::Redactor;

use crate::{
    archive::Archive,
    args::DoctorArgs,
    output::Target,
    paint::{GREEN, Painter, RED, grouped},
    store,
};

pub(crate) fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let path = store::path(&args.store)?;
    let bytes = std::fs::metadata(&path).map(|metadata| metadata.len()).ok();
    let (mut sessions, mut damaged) = (0, Vec::new());
    if bytes.is_some() {
        let archive = Archive::existing(&args.store)?;
        for info in archive.wait(archive.store.sessions())? {
            sessions += 1;
            if let Some(problem) = archive.wait(archive.store.verify(&info.session))?.problem {
                damaged.push(format!("{}: {problem}", info.session));
            }
        }
    }
    let rules = Redactor::builtin().rule_count();
    if args.json {
        let value = serde_json::json!({
            "version": 1,
            "store": path,
            "store_bytes": bytes,
            "sessions": sessions,
            "damaged": damaged,
            "redaction_rules": rules,
            "sends_text_to": [],
        });
        Target::Stdout.put(format!("{value}\n").as_bytes())?;
    } else {
        let painter = Painter::stdout();
        let store = match bytes {
            Some(bytes) => format!("{} ({} bytes, {sessions} sessions)", path.display(), grouped(bytes)),
            None => format!("{} (nothing recorded yet)", path.display()),
        };
        let sound = match damaged.is_empty() {
            true => painter.paint(GREEN, "every hash is right"),
            false => painter.paint(RED, &damaged.join("; ")),
        };
        let out = format!(
            "store      {store}\nintegrity  {sound}\nsecrets    {rules} rules, applied before anything is recorded\n\
             network    none: summaries are made by rule, and no text leaves this machine\n"
        );
        Target::Stdout.put(out.as_bytes())?;
    }
    Ok(if damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
