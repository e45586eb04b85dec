//! What is shown on a terminal of 80 columns fits, however long paths, titles and names are; what somebody may copy stays whole, on a
//! line of its own.

use std::fs;

use unicode_width::UnicodeWidthStr as _;

use crate::{
    run::{Folder, example},
    terminal::Terminal,
};

const ID: &str = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";

/// A folder with a session deep in it, of a project that lies as deep, whose first request is long.
fn deep() -> (Folder, String) {
    let folder = Folder::new();
    let deep =
        ["a-folder-with-a-rather-long-name", "and-another-one-in-it-更为重要", "down-below-all-of-them"]
            .join("/");
    let here = folder.path().canonicalize().unwrap().join(&deep);
    fs::create_dir_all(folder.path().join(".claude/projects/-w")).unwrap();
    fs::create_dir_all(&here).unwrap();
    let asked = "Please look at each of these at once: /srv/data/with/a/very/long/path/that/goes/on/and/on/and/on/to/the/end.txt ";
    let text = fs::read_to_string(example()).unwrap().replace("/home/dev/longhaul", here.to_str().unwrap());
    let text = text.replacen("The trim planner throws away too much.", &asked.repeat(3), 1);
    fs::write(folder.path().join(format!(".claude/projects/-w/{ID}.jsonl")), &text).unwrap();
    let file = format!("{deep}/{ID}.jsonl");
    fs::write(folder.path().join(&file), &text).unwrap();
    (folder, file)
}

/// Returns what a terminal shows, without colours and without what is drawn and taken away again.
pub(crate) fn shown(folder: &Folder, args: &[&str]) -> Option<String> {
    shown_on(folder, args, 80)
}

/// The same on a terminal of so many columns.
fn shown_on(folder: &Folder, args: &[&str], columns: u16) -> Option<String> {
    let shown = Terminal::of(folder, args, columns)?.end().1.replace('\r', "");
    let mut out = String::new();
    let mut rest = shown.as_str();
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        rest = rest[at..].find('m').map_or("", |end| &rest[at + end + 1..]);
    }
    Some(out + rest)
}

#[test]
fn every_line_fits_and_what_is_copied_is_whole() {
    let (folder, file) = deep();
    let name = "a-name-of-a-session-that-somebody-chose-rather-long-so-that-it-is-known-again";
    let config = format!("{file}.toml");
    fs::write(folder.path().join(&config), "trigger_ratio = 0.9\n").unwrap();
    let store = format!("{file}.db");
    let long_output =
        "warning: unused `x` in /srv/data/with/a/very/long/path/that/goes/on/and/on/and/on/to/the/end.txt\n";
    let event = serde_json::json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo a-command-of-which-the-name-is-rather-long"},
        "tool_response": {"stdout": long_output.repeat(400), "stderr": "", "interrupted": false, "isImage": false},
    });
    assert_eq!(folder.run(&["hook", "run"], event.to_string().as_bytes()).code, 0);
    let settings = format!("{file}.settings.json");
    let out = format!("{file}.out");
    for args in [
        &["sessions"][..],
        &["count", &file],
        &["context"],
        &["context", ID],
        &["context", &file],
        &["compact"],
        &["compact", &file],
        &["compact", &file, "--budget", "9k", "--dry-run", "--no-store"],
        &["compact", &file, "--budget", "8k", "--store", &store, "-o", &out],
        &["compact", &file, "--budget", "8k", "--session", name],
        &["compact", &file, "--budget", "6k", "--in-place", "--session", name],
        &["compact", &file, "--budget", "6k", "--as-new-session"],
        &["sessions"],
        &["history"],
        &["history", name],
        &["diff", name],
        &["recall", "knapsack"],
        &["recall", "goes on"],
        &["recall", name, "end.txt"],
        &["audit"],
        &["audit", "--verify"],
        &["undo", name],
        &["redo", name],
        &["undo", name],
        &["undo", name],
        &["savings"],
        &["hook", "install", "--settings", &settings],
        &["hook", "install", "--settings", &settings],
        &["hook", "remove", "--settings", &settings],
        &["doctor", "--store", &store, "--config", &config],
        &["config", "--config", &config],
        &["config", "--explain", "mode"],
        &["context", &file, "--window", "10"],
    ] {
        let Some(shown) = shown(&folder, args) else { return };
        for line in shown.lines() {
            let line = line.trim_end_matches('\r');
            // One thing that is to be copied, and nothing beside it.
            let is_copied = [ID, name, "longhaul ", "claude --resume "]
                .iter()
                .any(|whole| line.trim_start().starts_with(whole))
                || line.trim_start().starts_with('/')
                || line.trim_start().starts_with("a-folder-");
            assert!(line.width() <= 80 || is_copied, "{args:?}: {line:?} in\n{shown}");
        }
    }
}

/// Rows that are wider than the terminal are broken by it wherever that is.
#[test]
fn rows_fit_terminals_that_are_narrow() {
    let (folder, file) = deep();
    assert_eq!(folder.run(&["compact", &file, "--budget", "8k"], b"").code, 0);
    for columns in [40, 46, 51, 60, 70] {
        for args in [&["sessions"][..], &["context", &file], &["count", &file]] {
            let Some(shown) = shown_on(&folder, args, columns) else { return };
            for line in shown.lines() {
                let fits = line.width() <= usize::from(columns);
                assert!(fits, "{columns}, {args:?}: {line:?} in\n{shown}");
            }
            assert!(
                args != ["sessions"] || shown.contains("7d1c2f6a") && shown.contains("Please look at"),
                "{shown}"
            );
        }
    }
}
