//! Baselines: what peers and the seeds do, and the oracle.

use std::collections::{BTreeMap, HashMap};

use longhaul_extract::{FactClass, expand};
use longhaul_transcript::Role;
use serde_json::Value;

use super::{
    score::Piece,
    session::{Demanded, Read, count},
};

/// The past to be compacted.
#[derive(Debug)]
pub struct Past<'a> {
    /// Its messages.
    pub messages: &'a [Read],
    /// What the future asks for. Only the oracle looks.
    pub demand: &'a HashMap<String, Demanded>,
    /// What each demanded fact weighs.
    pub weights: &'a HashMap<String, f64>,
}

/// The newest messages that fit; the last of them may be cut at its start.
pub fn tail<'a>(pieces: Vec<Piece<'a>>, budget: usize) -> Vec<Piece<'a>> {
    let (mut kept, mut left) = (Vec::new(), budget);
    for piece in pieces.into_iter().rev() {
        let tokens = piece.tokens();
        if tokens <= left {
            left -= tokens;
            kept.push(piece);
            continue;
        }
        if left > 20 {
            kept.push(Piece::Text(last_tokens(piece.text(), left)));
        }
        break;
    }
    kept.reverse();
    kept
}

fn whole(messages: &[Read]) -> Vec<Piece<'_>> {
    messages.iter().map(Piece::Whole).collect()
}

fn tokens(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(Piece::tokens).sum()
}

fn encode(text: &str) -> Vec<u32> {
    bpe_openai::o200k_base().encode(text)
}

fn decode(tokens: &[u32]) -> String {
    let bytes: Vec<u8> =
        tokens.iter().flat_map(|token| bpe_openai::o200k_base().bpe.token_bytes(*token)).copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn first_tokens(text: &str, n: usize) -> String {
    let tokens = encode(text);
    decode(&tokens[..n.min(tokens.len())])
}

fn last_tokens(text: &str, n: usize) -> String {
    let tokens = encode(text);
    decode(&tokens[tokens.len().saturating_sub(n)..])
}

fn clip<'a>(piece: Piece<'a>, n: usize) -> Piece<'a> {
    if piece.tokens() <= n {
        return piece;
    }
    let tokens = encode(piece.text());
    let half = n / 2;
    Piece::Text(format!(
        "{}\n[...]\n{}",
        decode(&tokens[..half]),
        decode(&tokens[tokens.len() - (n - half)..])
    ))
}

/// The first user message, clipped to `share` of the budget, and the messages without it.
pub fn task<'a>(past: &Past<'a>, budget: usize, share: f64) -> (Vec<Piece<'a>>, Vec<&'a Read>) {
    let first = past.messages.iter().position(|read| read.raw.role == Role::User);
    let task =
        first.map(|at| clip(Piece::Whole(&past.messages[at]), ((budget as f64 * share) as usize).max(50)));
    let rest =
        past.messages.iter().enumerate().filter(|(at, _)| Some(*at) != first).map(|(_, read)| read).collect();
    (task.into_iter().collect(), rest)
}

/// Older tool outputs cut to `n` tokens, the assistant's messages to twice that.
fn clipped<'a>(messages: &[&'a Read], n: usize, keep: usize) -> Vec<Piece<'a>> {
    let mut seen = 0;
    let mut pieces: Vec<Piece<'a>> = messages
        .iter()
        .rev()
        .map(|read| match read.raw.role {
            Role::Tool => {
                seen += 1;
                if seen > keep { clip(Piece::Whole(read), n) } else { Piece::Whole(read) }
            }
            Role::Assistant => clip(Piece::Whole(read), 2 * n),
            _ => Piece::Whole(read),
        })
        .collect();
    pieces.reverse();
    pieces
}

fn with_tail<'a>(mut head: Vec<Piece<'a>>, rest: Vec<Piece<'a>>, budget: usize) -> Vec<Piece<'a>> {
    let left = budget.saturating_sub(tokens(&head));
    head.extend(tail(rest, left));
    head
}

/// Plain truncation.
pub fn plain_tail<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    tail(whole(past.messages), budget)
}

/// A fifth for the start, the rest for the end.
pub fn head_tail<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let (mut head, mut left) = (Vec::new(), budget / 5);
    for piece in whole(past.messages) {
        let tokens = piece.tokens();
        if tokens <= left {
            left -= tokens;
            head.push(piece);
            continue;
        }
        if left > 20 {
            head.push(Piece::Text(first_tokens(piece.text(), left)));
        }
        break;
    }
    let rest = whole(&past.messages[head.len()..]);
    with_tail(head, rest, budget)
}

/// Tool outputs but the last ten replaced by a line (JetBrains, "The Complexity Trap").
pub fn mask10<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let (head, rest) = task(past, budget, 0.15);
    let mut seen = 0;
    let mut pieces: Vec<Piece<'a>> = rest
        .iter()
        .rev()
        .map(|read| {
            seen += usize::from(read.raw.role == Role::Tool);
            if read.raw.role == Role::Tool && seen > 10 && read.tokens > 25 {
                let tool = if read.raw.tool.is_empty() { "tool" } else { &read.raw.tool };
                Piece::Text(format!("<tool> [output of {tool} omitted: {} tokens]", read.tokens))
            } else {
                Piece::Whole(read)
            }
        })
        .collect();
    pieces.reverse();
    with_tail(head, pieces, budget)
}

/// Older tool outputs cut to their first and last 100 tokens (Codex, goose).
pub fn clip200<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let (head, rest) = task(past, budget, 0.15);
    with_tail(head, clipped(&rest, 200, 2), budget)
}

/// Seed 001: one line for each dropped tool result, newest in 30 % of the budget.
pub fn seed001<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let cap = (budget as f64 * 0.3) as usize;
    let kept = tail(whole(past.messages), budget - cap);
    let n_whole = kept.iter().filter(|piece| matches!(piece, Piece::Whole(_))).count();
    let dropped = &past.messages[..past.messages.len() - n_whole];
    let calls = call_texts(past.messages);
    let lines = dropped
        .iter()
        .filter(|read| read.raw.role == Role::Tool)
        .map(|read| seed001_line(read, calls.get(read.raw.call_id.as_str()).map_or("", String::as_str)));
    let summary = format!("--- Summarized Context ---\n{}", lines.collect::<Vec<_>>().join("\n"));
    let mut pieces = vec![Piece::Text(last_tokens(&summary, cap))];
    pieces.extend(kept);
    pieces
}

fn call_texts(messages: &[Read]) -> HashMap<&str, String> {
    let mut texts = HashMap::new();
    for (id, _, arguments) in messages.iter().flat_map(|read| &read.raw.calls) {
        let value: Value = serde_json::from_str(arguments).unwrap_or_default();
        let key = ["file_path", "path", "filePath", "command", "cmd", "pattern", "query"]
            .iter()
            .find_map(|key| value.get(*key))
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_string));
        texts.insert(id.as_str(), key.unwrap_or_else(|| arguments.clone()).replace('\n', " "));
    }
    texts
}

fn chars(text: &str, n: usize) -> String {
    text.chars().take(n).collect()
}

fn seed001_line(read: &Read, arguments: &str) -> String {
    let content =
        if read.raw.role == Role::Tool { read.body.trim_start_matches("<tool> ") } else { &read.body };
    let name = if read.raw.tool.is_empty() { "unknown" } else { &read.raw.tool };
    let tool = name.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    let n_lines = content.matches('\n').count() + 1;
    let lower = content.to_lowercase();
    const ERRORS: [&str; 11] = [
        "error", "fail", "exception", "panic", "traceback", "not found", "cannot", "denied", "undefined",
        "invalid", "mismatch",
    ];
    let failed = ERRORS.iter().any(|word| lower.contains(word));
    let facts = if is(&["read", "view", "cat"]) {
        vec![format!("File: {}", chars(arguments, 120)), format!("Lines: {n_lines}")]
    } else if is(&["bash", "shell", "exec", "command", "terminal"]) {
        let mut facts =
            vec![format!("Command: {}", chars(arguments, 60)), format!("Output: {n_lines} lines")];
        let line = content.split('\n').find(|line| {
            let line = line.to_lowercase();
            line.contains("error") || line.contains("failed")
        });
        facts.extend(line.filter(|_| failed).map(|line| format!("Error: {}", chars(line, 100))));
        facts
    } else if is(&["grep", "search", "glob", "find"]) {
        let mut facts = vec![format!("Pattern: \"{}\"", chars(arguments, 60))];
        let mut files: Vec<&str> = Vec::new();
        for word in content.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'))) {
            let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
            if (1..=5).contains(&extension.len()) && !files.contains(&word) && files.len() < 500 {
                files.push(word);
            }
        }
        facts.push(format!("Files: {}", files.len()));
        if !files.is_empty() {
            facts.push(format!("Top files: {}", files[..files.len().min(3)].join(", ")));
        }
        facts
    } else if is(&["edit", "write", "patch", "create"]) {
        vec![format!("File: {}", chars(arguments, 120)), "edited".into()]
    } else {
        vec![format!("Args: {}", chars(arguments, 80)), format!("Output: {n_lines} lines")]
    };
    format!("[{} {name}: {}]", if failed { "x" } else { "ok" }, facts.join(" | "))
}

/// Seed 003: tools, files and the last twenty commands, then the last eight messages.
pub fn seed003<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let (mut tools, mut files, mut commands): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
    let add = |list: &mut Vec<String>, text: String| {
        if !list.contains(&text) {
            list.push(text);
        }
    };
    for (_, tool, arguments) in past.messages.iter().flat_map(|read| &read.raw.calls) {
        add(&mut tools, tool.clone());
        let value: Value = serde_json::from_str(arguments).unwrap_or_default();
        for key in ["file_path", "path", "filePath"] {
            if let Some(path) = value.get(key).and_then(Value::as_str) {
                add(&mut files, path.into());
            }
        }
        for key in ["command", "cmd"] {
            if let Some(command) = value.get(key).and_then(Value::as_str) {
                add(&mut commands, chars(command, 100).replace('\n', " "));
            }
        }
    }
    let last = &commands[commands.len().saturating_sub(20)..];
    let text = format!(
        "Tools used: {}\nFiles explored: {}\nCommands run: {}",
        tools.join(", "),
        files.join(", "),
        last.join("; ")
    );
    let head = vec![Piece::Text(first_tokens(&text, budget / 2))];
    let recent = whole(&past.messages[past.messages.len().saturating_sub(8)..]);
    with_tail(head, recent, budget)
}

/// A quarter for a list of what the future asks for, which only an oracle knows; the rest for the clipped tail.
pub fn oracle<'a>(past: &Past<'a>, budget: usize) -> Vec<Piece<'a>> {
    let mut wanted: Vec<(&String, &Demanded, f64)> = past
        .demand
        .iter()
        .map(|(name, demanded)| (name, demanded, past.weights.get(name).copied().unwrap_or(0.0)))
        .filter(|(_, _, weight)| *weight > 0.0)
        .collect();
    wanted.sort_by(|one, other| other.2.total_cmp(&one.2).then_with(|| one.0.cmp(other.0)));
    let mut left = (budget / 4).saturating_sub(12);
    let mut lists: BTreeMap<FactClass, Vec<&str>> = BTreeMap::new();
    let mut known: Vec<&str> = Vec::new();
    for (name, demanded, _) in wanted {
        let cost = count(&format!(", {name}"));
        if known.contains(&name.as_str()) || cost > left {
            continue;
        }
        left -= cost;
        expand(name, demanded.kind, |part| known.push(part));
        lists.entry(demanded.kind.class()).or_default().push(name);
    }
    let text: Vec<String> =
        lists.iter().map(|(class, names)| format!("{}: {}", class.as_str(), names.join(", "))).collect();
    let (mut head, rest) = task(past, budget, 0.15);
    head.push(Piece::Text(text.join("\n")));
    with_tail(head, clipped(&rest, 200, 2), budget)
}
