//! What the filter saved: a line for each digest.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use longhaul::transcript::Tokens;
use serde::{Deserialize, Serialize};

use crate::{clock, paint, store};

/// One digest.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    at_ms: i64,
    /// The program, without what it was given.
    command: String,
    before: Tokens,
    after: Tokens,
}

/// What was saved in all, and by program.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Savings {
    pub(crate) version: u32,
    pub(crate) since_ms: Option<i64>,
    pub(crate) digests: u64,
    pub(crate) before: Tokens,
    pub(crate) after: Tokens,
    /// By what was saved, the most first.
    pub(crate) commands: Vec<Saved>,
}

/// What was saved for one program.
#[derive(Debug, Serialize)]
pub(crate) struct Saved {
    pub(crate) command: String,
    pub(crate) digests: u64,
    pub(crate) before: Tokens,
    pub(crate) after: Tokens,
}

fn file() -> Result<PathBuf> {
    Ok(store::data_folder()?.join("savings.jsonl"))
}

/// Notes that the output of `command` costs `after` in the place of `before`.
pub(super) fn note(command: &str, before: Tokens, after: Tokens) -> Result<()> {
    let line = Line { at_ms: clock::now_ms(), command: program(command), before, after };
    let path = file()?;
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file =
        options.open(&path).with_context(|| format!("{} cannot be written", paint::path(&path)))?;
    // In one write, so that lines of two hooks at once do not mix.
    file.write_all(format!("{}\n", serde_json::to_string(&line)?).as_bytes())?;
    Ok(())
}

/// Returns the program that a command line runs, and what it is told to do first where that is a word: `cargo test`, `ls`.
/// Nothing else of it is kept: it may hold what is nobody's business.
fn program(command: &str) -> String {
    const LONGEST: usize = 24;
    let is_word = |word: &&str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    // `cd x && cargo test`, `VAR=1 cargo test`: what is run last of the first line tells.
    let words = last_command(command.lines().next().unwrap_or_default()).unwrap_or_default();
    let mut words = words.iter().map(String::as_str).skip_while(|word| word.contains('='));
    let name = words.next().map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    let mut shown: String = Some(name).filter(is_word).unwrap_or("(other)").chars().take(LONGEST).collect();
    let takes_orders =
        ["cargo", "git", "npm", "pnpm", "yarn", "bun", "go", "docker", "kubectl", "gh", "uv", "pip"];
    if let Some(order) = words.next().filter(|order| takes_orders.contains(&name) && is_word(order)) {
        shown.push(' ');
        shown.extend(order.chars().take(LONGEST));
    }
    shown
}

/// Returns the words of the command that is run last in the first pipeline of `line`, as they stand there; `None` where they
/// cannot be told without a shell. What stands in quotes is one word, whatever it says.
fn last_command(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut chars) = (None, line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote != Some('\'') => word.extend([c, chars.next()?]),
            '`' if quote != Some('\'') => return None,
            '$' if quote == Some('"') && chars.peek() == Some(&'(') => return None,
            // `${A:-two words}` is one word to a shell.
            '$' if quote.is_none() && chars.peek() == Some(&'{') => {
                word.push(c);
                for inner in chars.by_ref().take_while(|inner| *inner != '}') {
                    word.push(if inner.is_whitespace() { '_' } else { inner });
                }
            }
            '(' if quote.is_none() && !word.is_empty() => return None,
            _ if quote.is_some() => {
                quote = quote.filter(|open| *open != c);
                word.push(c);
            }
            '\'' | '"' => {
                quote = Some(c);
                word.push(c);
            }
            '|' | ';' => break,
            '&' if chars.next_if_eq(&'&').is_some() => {
                words.clear();
                word.clear();
            }
            c if c.is_whitespace() => words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty())),
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    quote.is_none().then_some(words)
}

/// Returns what was saved so far.
///
/// # Errors
/// When it cannot be read; that nothing was saved is no error.
pub(crate) fn read() -> Result<Savings> {
    let path = file()?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", paint::path(&path))),
    };
    Ok(sum(&text))
}

fn sum(text: &str) -> Savings {
    let mut savings = Savings { version: 1, ..Savings::default() };
    let mut by: BTreeMap<String, (u64, Tokens, Tokens)> = BTreeMap::new();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        savings.since_ms = savings.since_ms.or(Some(line.at_ms));
        savings.digests += 1;
        savings.before += line.before;
        savings.after += line.after;
        let (digests, before, after) = by.entry(line.command).or_default();
        (*digests, *before, *after) = (*digests + 1, *before + line.before, *after + line.after);
    }
    let saved = |(command, (digests, before, after))| Saved { command, digests, before, after };
    savings.commands = by.into_iter().map(saved).collect();
    savings.commands.sort_by_key(|saved| std::cmp::Reverse(saved.before - saved.after));
    savings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_is_kept_of_a_command() {
        for (command, shown) in [
            ("cargo test -p relay 2>&1 | tail", "cargo test"),
            ("cd /w && TOKEN=abc /usr/bin/git log --oneline", "git log"),
            ("ls -la /secret", "ls"),
            ("curl -H 'Authorization: x' https://a", "curl"),
            ("$(evil) x", "(other)"),
            ("PASSPHRASE='correct horse battery' gpg -d x", "gpg"),
            ("A=\"correct 'horse\" B=it\\ is\\ secret gpg -d x", "gpg"),
            ("PASSPHRASE='correct horse", "(other)"),
            ("TOKEN=$(cat secret x) curl y", "(other)"),
            ("TOKEN=`cat secret` curl y", "(other)"),
            ("TOKEN=\"$(cat \"a horse b\")\" curl y", "(other)"),
            ("A=(horse battery x) curl y", "(other)"),
            ("(cd ${W} && make)", "(other)"),
            ("(cd ${W} && make all)", "make"),
            ("A=${B:-correct horse battery} gpg -d x", "gpg"),
            ("git commit -m 'fix && horse battery | x'", "git commit"),
            ("echo \"a && horse battery\"", "echo"),
            ("make 2>&1 && ls", "ls"),
            ("", "(other)"),
            ("cargo --version", "cargo --version"),
        ] {
            assert_eq!(program(command), shown, "{command}");
        }
    }

    #[test]
    fn lines_are_summed_and_torn_ones_left_out() {
        let line = |command: &str, before: u64, after: u64| {
            format!("{{\"at_ms\":5,\"command\":\"{command}\",\"before\":{before},\"after\":{after}}}\n")
        };
        let text =
            [line("ls", 3_000, 500), line("cargo test", 9_000, 900), line("ls", 2_000, 500), "{\"at".into()]
                .concat();
        let savings = sum(&text);
        assert_eq!((savings.digests, savings.before, savings.after), (3, Tokens(14_000), Tokens(1_900)));
        let by: Vec<_> =
            savings.commands.iter().map(|saved| (saved.command.as_str(), saved.digests)).collect();
        assert_eq!(by, [("cargo test", 1), ("ls", 2)]);
    }
}
