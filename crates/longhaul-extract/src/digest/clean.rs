//! Taking a tool's raw text apart from what terminals and harnesses wrap around it.

use std::borrow::Cow;

use crate::{
    json::{Json, Scalar},
    speaker::Speakers,
    tool::ToolFamily,
};

/// How much of a text is looked at: this many bytes at its head and as many at its tail.
const LOOKED_BYTES: usize = 8 << 20;

/// A line longer than this (in bytes) is looked at only at its two ends.
const LINE_BYTES: usize = 8 << 10;

/// Returns the text without escape sequences, carriage returns and the middle of what is too long to look at. What was
/// skipped is said in place.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    clip(bare(text))
}

/// Returns the same with its long lines whole.
pub(crate) fn bare(text: &str) -> Cow<'_, str> {
    let text = cap(without_reminders(text));
    if memchr::memchr3(0x1b, b'\r', 0x08, text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let body = body.strip_suffix('\r').unwrap_or(body);
        // A carriage return inside a line starts it over: a progress bar shows only its last state.
        let body = body.trim_end_matches('\r').rsplit('\r').next().unwrap_or(body);
        out.push_str(&strip_escapes(body));
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    Cow::Owned(out)
}

/// Returns a [bare] text with both ends of its long lines.
pub(crate) fn clip(text: Cow<'_, str>) -> Cow<'_, str> {
    if !has_long_line(&text) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        push_clipped(&mut out, line.strip_suffix('\n').unwrap_or(line));
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    Cow::Owned(out)
}

/// Returns what the tool said inside the wrapping of its harness: the output field of a JSON envelope with an exit
/// code, and what else says something there (`warning: …`); the texts of an MCP content list. Anything else comes back as it is.
pub(crate) fn unwrap(text: &str, family: ToolFamily) -> Cow<'_, str> {
    let head = text.trim_start();
    if !head.starts_with(['{', '[']) || text.len() > 2 * LOOKED_BYTES {
        return Cow::Borrowed(text);
    }
    let Some(json) = Json::read(text) else { return Cow::Borrowed(text) };
    let leaf_text = |wanted: &[&str]| {
        let named = json.leaves.iter().filter(|leaf| wanted.contains(&json.name(leaf)));
        let texts = named.filter_map(|leaf| match &leaf.value {
            Scalar::Text(text) => Some(text.as_ref()),
            Scalar::Literal(_) => None,
        });
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
    };
    let has = |key: &str| json.leaves.iter().any(|leaf| json.name(leaf) == key);
    let is_shell = matches!(family, ToolFamily::Shell | ToolFamily::Test | ToolFamily::Patch);
    let code = ["exit_code", "exitCode", "returncode", "return_code"].into_iter().find(|key| has(key));
    if let (true, Some(code)) = (is_shell, code) {
        let outputs = ["output", "stdout", "stderr", "error"];
        let mut out = leaf_text(&outputs).join("\n");
        if let Some(leaf) = json.leaves.iter().find(|leaf| json.name(leaf) == code) {
            out = format!("Exit code: {}\n{out}", leaf.value.as_str());
        }
        for leaf in &json.leaves {
            let (name, value) = (json.name(leaf), leaf.value.as_str());
            let is_output = outputs.contains(&name) && matches!(leaf.value, Scalar::Text(_));
            let is_told = is_output || name == code;
            if !is_told && !is_of_harness(name) && !matches!(value, "" | "null" | "false") {
                let line_end = if out.ends_with('\n') { "" } else { "\n" };
                out.push_str(&format!("{line_end}{name}: {value}"));
            }
        }
        return Cow::Owned(out);
    }
    let is_content = json.containers[0].is_array || has("content") || has("isError");
    let typed = json.leaves.iter().any(|leaf| json.name(leaf) == "type" && leaf.value.as_str() == "text");
    if is_content && typed {
        let texts = leaf_text(&["text"]);
        let inner: usize = texts.iter().map(|text| text.len()).sum();
        // Only where the texts are the bulk of it: records may have a `text` field of their own.
        if inner * 2 > text.len() {
            return Cow::Owned(texts.join("\n"));
        }
    }
    Cow::Borrowed(text)
}

/// Returns whether a field of an envelope is the harness' own: how long the command took, and which chunk of its output this is.
fn is_of_harness(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    ["duration", "walltime", "elapsed", "chunkid", "originaltokencount"]
        .iter()
        .any(|own| name.starts_with(own))
}

/// Returns the line without the number that a file view puts before it (`   12→`, `12\t`, `12: `, `12| `), and that
/// number.
pub(crate) fn strip_line_number(line: &str) -> Option<(u64, &str)> {
    let body = line.trim_start_matches([' ', '\t']);
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let number = body[..digits].parse().ok()?;
    let rest = &body[digits..];
    let after = rest
        .strip_prefix('→')
        .or_else(|| rest.strip_prefix('\t'))
        .or_else(|| rest.strip_prefix(": "))
        .or_else(|| rest.strip_prefix(":\t"))
        .or_else(|| rest.strip_prefix(" | "))
        .or_else(|| rest.strip_prefix("| "))
        .or_else(|| rest.strip_prefix('|'))
        .or_else(|| rest.strip_prefix(':'))?;
    Some((number, after))
}

/// Returns whether the lines are a view of a file with a running number before each: at least half of the first forty are
/// numbered, each one more than the last. A table whose first column counts is no view, so outside of the tools that show
/// files only an arrow counts as the sign of one.
pub(crate) fn is_numbered(lines: &[&str], of_a_file: bool) -> bool {
    let (mut seen, mut running) = (0, 0);
    let mut last = None;
    for line in lines.iter().filter(|line| !line.trim().is_empty()).take(40) {
        seen += 1;
        let Some((number, _)) = strip_line_number(line) else { continue };
        let arrow = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('→');
        running += usize::from(
            (of_a_file || arrow) && last.is_none_or(|last: u64| last.checked_add(1) == Some(number)),
        );
        last = Some(number);
    }
    running > 0 && running * 2 >= seen
}

/// Returns the largest prefix of at most `bytes` bytes that ends at a character.
pub(crate) fn prefix(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes.min(text.len()))]
}

/// Returns the largest suffix of at most `bytes` bytes that starts at a character.
pub(crate) fn suffix(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Removes what the harness adds to a result for the model's eyes: it is not the tool's word.
fn without_reminders(text: &str) -> Cow<'_, str> {
    Speakers::builtin().result_alone(text)
}

fn cap(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= 2 * LOOKED_BYTES {
        return text;
    }
    let (head, tail) = (prefix(&text, LOOKED_BYTES), suffix(&text, LOOKED_BYTES));
    let skipped = text.len() - head.len() - tail.len();
    Cow::Owned(format!("{head}\n… {skipped} bytes not looked at\n{tail}"))
}

fn has_long_line(text: &str) -> bool {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        if end - start > LINE_BYTES {
            return true;
        }
        start = end + 1;
    }
    text.len() - start > LINE_BYTES
}

fn push_clipped(out: &mut String, line: &str) {
    if line.len() <= LINE_BYTES {
        out.push_str(line);
        return;
    }
    let (head, tail) = (prefix(line, LINE_BYTES / 2), suffix(line, LINE_BYTES / 4));
    out.push_str(head);
    out.push_str(&format!(" … {} bytes … ", line.len() - head.len() - tail.len()));
    out.push_str(tail);
}

/// Removes terminal control: `ESC [ … letter`, `ESC ] … BEL`, `ESC x`, and backspaces.
fn strip_escapes(line: &str) -> Cow<'_, str> {
    if memchr::memchr2(0x1b, 0x08, line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' => {}
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    let _ = chars.find(|c| ('@'..='~').contains(c));
                }
                Some(']') => {
                    let mut escape = false;
                    let _ = chars.find(|&c| {
                        let end = c == '\u{7}' || escape && c == '\\';
                        escape = c == '\u{1b}';
                        end
                    });
                }
                Some('(' | ')') => {
                    chars.next();
                }
                _ => {}
            },
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_progress_and_windows_line_ends_go() {
        assert_eq!(
            clean("\x1b[1;31merror\x1b[0m: x\r\n 10%\r 50%\r100%\n\x1b]0;title\x07done"),
            "error: x\n100%\ndone"
        );
    }

    #[test]
    fn reminders_of_the_harness_go() {
        let text = "a\n<system-reminder>\nx\n</system-reminder>b<system-reminder>cut";
        assert_eq!(clean(text), "a\nb<system-reminder>cut");
    }

    #[test]
    fn a_huge_line_is_looked_at_from_both_ends() {
        let huge = format!("start {} end", "x".repeat(100 << 20));
        let cleaned = clean(&huge);
        assert!(cleaned.len() < 4 * LINE_BYTES, "{}", cleaned.len());
        assert!(
            cleaned.starts_with("start") && cleaned.ends_with("end") && cleaned.contains("not looked at")
        );
    }

    #[test]
    fn envelopes_are_opened() {
        let codex = r#"{"output":"ok\n","metadata":{"exit_code":2,"duration_seconds":0.1}}"#;
        assert_eq!(unwrap(codex, ToolFamily::Shell), "Exit code: 2\nok\n");
        let warned = r#"{"output":"ok","exit_code":0,"warning":"the disk is nearly full","stderr":"","timed_out":true,"error":7}"#;
        assert_eq!(
            unwrap(warned, ToolFamily::Shell),
            "Exit code: 0\nok\nwarning: the disk is nearly full\ntimed_out: true\nerror: 7"
        );
        let mcp = r#"[{"type":"text","text":"{\"id\": 7, \"name\": \"a long enough inner text\"}"}]"#;
        assert_eq!(unwrap(mcp, ToolFamily::Record), r#"{"id": 7, "name": "a long enough inner text"}"#);
        assert_eq!(unwrap(r#"{"text":"x"}"#, ToolFamily::Record), r#"{"text":"x"}"#);
    }

    #[test]
    fn line_numbers_of_file_views_are_told_apart_from_code() {
        assert_eq!(strip_line_number("    12→fn main() {"), Some((12, "fn main() {")));
        assert_eq!(strip_line_number("7\tx"), Some((7, "x")));
        assert_eq!(strip_line_number("3: y"), Some((3, "y")));
        assert_eq!(strip_line_number("42 apples"), None);
        assert_eq!(strip_line_number("x = 1"), None);
        assert!(is_numbered(&["[File: a.py]", "31:class A:", "32:    x: int", "33:"], true));
        assert!(is_numbered(&["text", "  9→a", " 10→b"], false));
        assert!(!is_numbered(&["id | name", " 1 | a", " 2 | b", " 3 | c"], false));
        assert!(!is_numbered(&["5\ta", "90\tb", "17\tc"], true));
    }
}
