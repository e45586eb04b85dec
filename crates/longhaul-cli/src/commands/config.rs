//! `longhaul config`: every setting, its value, and where it comes from; with `--explain`, what one of them means.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul::{Config, config::Layered};
use serde_json::json;

use crate::{
    args::ConfigArgs,
    output::Target,
    paint::{self, GREY, Painter, line_width, plain},
    settings,
};

/// The least room that is left for where a setting comes from.
const SOURCE: usize = 10;

pub(crate) fn run(args: &ConfigArgs) -> Result<ExitCode> {
    let layered = settings::load(&args.settings)?;
    if let Some(name) = &args.explain {
        let explained = explained(name, &layered, args.json)?;
        let shown = if args.json { explained } else { Painter::stdout().flowed(&explained) };
        Target::Stdout.put(shown.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = layered.rows();
    let shown = match args.json {
        true => {
            let row = |(name, value, source): &(String, String, longhaul::config::Source)| json!({"name": name, "value": value, "source": source.to_string()});
            let settings: Vec<_> = rows.iter().map(row).collect();
            format!("{}\n", json!({"version": 1, "settings": settings}))
        }
        false => {
            let painter = Painter::stdout();
            let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or_default();
            let line = |(name, value, source): &(String, String, longhaul::config::Source)| {
                let (value, source) = (plain(value), paint::name(&format!("# {source}")));
                let mut setting = format!("{name:<width$} = {value:<36} ");
                // A value stays whole, so that it can be copied.
                if painter.is_seen() && paint::width(&setting) + SOURCE > line_width() {
                    setting = format!("{name:<width$} =\n    {value} ");
                }
                let taken = paint::width(setting.lines().last().unwrap_or_default());
                let source = painter.short(&source, line_width().saturating_sub(taken).max(SOURCE));
                format!("{setting}{}\n", painter.paint(GREY, &source))
            };
            rows.iter().map(line).collect()
        }
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what `name` means: the settings it may be, with their documentation, values and sources.
fn explained(name: &str, layered: &Layered, as_json: bool) -> Result<String> {
    let Some(explanation) = Config::explain(name) else {
        bail!(
            "{name:?} is no setting, and no design document calls one so; `longhaul config` lists them all"
        );
    };
    let rows = layered.rows();
    let value = |setting: &str| {
        let row = rows.iter().find(|(name, ..)| name == setting);
        row.map(|(_, value, source)| (value.clone(), source.to_string())).unwrap_or_default()
    };
    let said = |known: &longhaul::config::DocumentName| {
        let note = if known.note.is_empty() { String::new() } else { format!(" ({})", known.note) };
        match known.setting {
            Some(setting) => format!("{} of document {} is {setting} here{note}", known.name, known.document),
            None => {
                format!("{} of document {} is no setting here: {}", known.name, known.document, known.note)
            }
        }
    };
    if as_json {
        let settings: Vec<_> = explanation
            .settings
            .iter()
            .map(|(setting, doc)| {
                let (value, source) = value(setting);
                json!({"name": setting, "value": value, "source": source, "documentation": doc})
            })
            .collect();
        let names: Vec<String> = explanation.names.iter().map(said).collect();
        return Ok(format!("{}\n", json!({"version": 1, "names": names, "settings": settings})));
    }
    let mut out: String = explanation.names.iter().map(|known| said(known) + "\n").collect();
    for (setting, doc) in &explanation.settings {
        let (value, source) = value(setting);
        out.push_str(if out.is_empty() { "" } else { "\n" });
        out.push_str(&format!("{setting} = {}  # {source}\n\n{}", plain(&value), unbroken(doc)));
    }
    Ok(out)
}

/// Returns `doc` with a paragraph a line: where lines break is for whoever shows it.
fn unbroken(doc: &str) -> String {
    let (mut out, mut before) = (String::new(), "");
    for line in doc.lines() {
        let goes_on = !before.is_empty() && !line.is_empty() && !line.starts_with(['-', '*', '|', ' ']);
        let between = if goes_on { " " } else { "\n" };
        out.push_str(if out.is_empty() { "" } else { between });
        out.push_str(line);
        before = line;
    }
    out + "\n"
}
