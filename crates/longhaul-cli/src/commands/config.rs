//! `longhaul config`: every setting, its value, and where it comes from.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::{
    args::ConfigArgs,
    output::Target,
    paint::{GREY, Painter, plain},
    settings,
};

pub(crate) fn run(args: &ConfigArgs) -> Result<ExitCode> {
    let layered = settings::load(&args.settings)?;
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
                let source = painter.paint(GREY, &format!("# {source}"));
                format!("{name:<width$} = {:<36} {source}\n", plain(value))
            };
            rows.iter().map(line).collect()
        }
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
