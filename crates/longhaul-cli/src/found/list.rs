//! The sessions on this machine as a list.

use std::{collections::BTreeMap, path::PathBuf};

use super::{About, Found, Ids, ago};
use crate::paint::{GREY, Painter, fullness, grouped, harmless_json, line_width, name, width};

/// Returns the newest of `all`, by the folder they were held in: the folder of the newest first.
pub(crate) fn table(all: &[Found], most: usize) -> String {
    let mut folders: Vec<(Option<PathBuf>, Vec<String>)> = Vec::new();
    let mut places: BTreeMap<Option<PathBuf>, usize> = BTreeMap::new();
    let ids = Ids::of(all);
    for found in all.iter().take(most) {
        let about = About::with_window(found);
        let at = *places.entry(about.folder.clone()).or_insert_with(|| {
            folders.push((about.folder.clone(), Vec::new()));
            folders.len() - 1
        });
        folders[at].1.push(row(found, &about, &found.typed(&ids)));
    }
    let painter = Painter::stdout();
    let head = match is_narrow(painter) {
        true => format!("{:<8} {:<11} {:>11} {:>5}", "session", "agent", "changed", "full"),
        false => format!(
            "  {:<8}  {:<11}  {:>11}  {:>5}  {}{}",
            "session",
            "agent",
            "changed",
            "full",
            column("model"),
            "asked first"
        ),
    };
    let mut out = format!("{}\n", painter.paint(GREY, &head));
    for (folder, rows) in folders {
        let folder = folder.map_or("(no folder told)".to_owned(), |folder| folder.display().to_string());
        out.push_str(&format!("{}\n", painter.bold(&painter.short(&name(&folder), line_width()))));
        rows.iter().for_each(|row| out.push_str(row));
    }
    if all.len() > most {
        out.push_str(&format!("… and {} older\n", grouped((all.len() - most) as u64)));
    }
    out
}

/// Returns whether a title has too little room beside the columns: it stands below them.
fn is_narrow(painter: Painter) -> bool {
    const LEAST: usize = 70;
    painter.is_seen() && line_width() < LEAST
}

/// Returns `model` as a column where a line has room for one: on a wide terminal, or where no person reads it.
fn column(model: &str) -> String {
    const WIDE: usize = 110;
    const COLUMNS: usize = 20;
    let painter = Painter::stdout();
    match painter.is_seen() && line_width() < WIDE {
        true => String::new(),
        false => format!("{:<COLUMNS$}  ", painter.short(model, COLUMNS)),
    }
}

/// What stands before a title below its row.
const INDENT: &str = "    ";

/// Returns a line: id, agent, age, how full the window was, the model, what was asked first. What names the session and is longer than an id
/// stands on a line of its own: it is copied.
fn row(found: &Found, about: &About, typed: &str) -> String {
    let painter = Painter::stdout();
    let full = about.billed.zip(about.window).map(|(billed, window)| billed.ratio_of(window));
    let used = full.map_or_else(
        || format!("{:>5}", ""),
        |full| painter.paint(fullness(full), &format!("{:>5}", format!("{:.0} %", 100.0 * full))),
    );
    let title = name(about.title.as_deref().unwrap_or("(no request)"));
    let below = if width(typed) <= 8 { String::new() } else { format!("    {typed}\n") };
    let short = if width(typed) <= 8 { typed } else { "" };
    let (agent, ago) = (found.agent.name, ago(found.changed));
    if is_narrow(painter) {
        let title = painter.cut(&title, INDENT.len());
        return format!("{short:<8} {agent:<11} {ago:>11} {used}\n{INDENT}{title}\n{below}");
    }
    let columns = format!(
        "  {short:<8}  {agent:<11}  {ago:>11}  {used}  {}",
        column(&name(about.model.as_deref().unwrap_or_default()))
    );
    format!("{columns}{}\n{below}", painter.cut(&title, width(&columns)))
}

/// Returns a JSON object for each of the newest of `found`, on a line of its own.
pub(crate) fn json_lines(found: &[Found], most: usize) -> String {
    let line = |found: &Found| {
        let about = About::with_window(found);
        let since = found.changed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let value = serde_json::json!({
            "version": 1,
            "kind": "file",
            "agent": found.agent.format.name(),
            "path": found.path,
            "folder": about.folder,
            "title": about.title,
            "model": about.model,
            "billed_tokens": about.billed,
            "window": about.window,
            "changed_at_ms": since.as_millis() as u64,
        });
        harmless_json(&value.to_string())
    };
    found.iter().take(most).map(line).collect()
}
