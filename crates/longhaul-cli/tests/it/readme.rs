//! What README shows is what the command prints, to the letter.

use crate::run::{Folder, Ran, example};

const README: &str = include_str!("../../../../README.md");
const COMMAND: &str = "cargo run --release -p longhaul-cli -- ";

/// Returns the fenced blocks of the README in their order: what they are written in, and their text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut left = README;
    std::iter::from_fn(|| {
        let (_, from) = left.split_once("\n```")?;
        let (language, from) = from.split_once('\n')?;
        let (text, rest) = from.split_once("\n```\n")?;
        left = rest;
        Some((language, text))
    })
    .collect()
}

/// Returns the code and what was printed by the command of a block, in a home of its own where the README's session lies.
fn printed_by(command: &str) -> (i32, String) {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    folder.file("examples/session.jsonl", &std::fs::read(example()).unwrap());
    let args: Vec<&str> = command.split(' ').collect();
    let Ran { code, stdout, stderr } = folder.run(&args, b"");
    let printed = String::from_utf8(stdout).unwrap() + &stderr;
    (code, printed.replace(folder.path().to_str().unwrap(), "~"))
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let blocks = blocks();
    let mut compared = 0;
    for pair in blocks.windows(2) {
        let [("sh", command), ("text", shown)] = pair else { continue };
        let command = command.strip_prefix(COMMAND).unwrap();
        let (code, printed) = printed_by(command);
        assert_eq!((code, printed.trim_end()), (0, *shown), "{command}");
        compared += 1;
    }
    assert_eq!(compared, 1, "compact; what `context` shows is a picture");
}

#[test]
fn the_readme_shows_how_the_summary_begins() {
    let blocks = blocks();
    let begins = |(_, text): &&(&str, &str)| text.starts_with("[Context Summary");
    let (_, shown) = blocks.iter().find(begins).unwrap();
    let compact = |(_, text): &&(&str, &str)| text.contains(" compact ");
    let (_, command) = blocks.iter().find(compact).unwrap();
    let (command, _) = command.strip_prefix(COMMAND).unwrap().split_once(" -o ").unwrap();
    let (_, printed) = printed_by(&format!("{command} --dry-run"));
    let shown = shown.strip_suffix("\n…").unwrap();
    assert!(printed.contains(shown), "README shows\n{shown}\n\nand the command prints\n{printed}");
}
