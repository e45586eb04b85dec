//! What a reader of some text knows from it.

use std::borrow::Cow;

use hashbrown::HashSet;
use longhaul_transcript::{CallKind, Message, Part, Role};

use crate::{
    atoms::{AtomKind, expand, scan, scan_words},
    fields::call_fields,
};

/// The literals that a reader of some texts has before him, with everything they imply.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    known: HashSet<String>,
    words: bool,
}

impl Visible {
    /// Returns what a reader of nothing knows. With `words`, proper names and long words count as literals too.
    pub fn new(words: bool) -> Visible {
        Visible { known: HashSet::new(), words }
    }

    /// Adds what `text` shows.
    pub fn read(&mut self, text: &str) {
        let known = &mut self.known;
        let mut add = |atom: crate::Atom<'_>| add_expanded(known, &atom.text, atom.kind);
        scan(text, &mut add);
        if self.words {
            scan_words(text, &mut add);
        }
    }

    /// Adds what `message` shows, calls and results included.
    pub fn read_message(&mut self, message: &Message) {
        for_each_text(message, |text| self.read(text));
    }

    /// Adds one literal and what it implies.
    pub fn add(&mut self, name: &str, kind: AtomKind) {
        add_expanded(&mut self.known, name, kind);
    }

    /// Returns whether exactly this literal is known.
    pub fn has(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Returns whether `name` is known well enough: itself, or for a path a suffix of two components or more.
    pub fn has_path(&self, name: &str) -> bool {
        if self.has(name) {
            return true;
        }
        let mut rest = name.trim_matches('/');
        while rest.contains('/') {
            if self.has(rest) {
                return true;
            }
            rest = rest.split_once('/').map_or("", |(_, after)| after);
        }
        false
    }
}

/// Calls `each` with every text that `message` shows: words, the fields of calls, and what tools answered, without the line
/// numbers of file views.
pub fn for_each_text(message: &Message, mut each: impl FnMut(&str)) {
    for part in &message.parts {
        match part {
            Part::Text(text) if message.role == Role::Tool => each(&strip_line_numbers(text)),
            Part::Text(text) => each(text),
            Part::ToolCall(call) => {
                let fields = call_fields(&call.arguments.0, call.kind == CallKind::Function);
                fields.iter().for_each(|field| each(&field.text));
            }
            Part::ToolResult(result) => {
                for part in &result.content {
                    if let Part::Text(text) = part {
                        each(&strip_line_numbers(text));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a reader of `text` sees `name`, letter by letter: as it is, or, for a path, its last part in a line that
/// names its folder.
pub fn shows(text: &str, name: &str) -> bool {
    if text.contains(name) {
        return true;
    }
    let Some((folder, file)) = name.trim_end_matches('/').rsplit_once('/') else { return false };
    let parent = folder.rsplit('/').next().unwrap_or(folder);
    let listed = || text.lines().any(|line| line.contains(&format!("{parent}/")) && line.contains(file));
    !file.is_empty() && !parent.is_empty() && listed()
}

/// Returns `text` without the line numbers that file views put before each line: `12→`, `12<tab>`, `12: `, `12| `.
///
/// Only numbers that go up by one from line to line are a view's. Others say something: `523<tab>Fix the queue`.
pub fn strip_line_numbers(text: &str) -> Cow<'_, str> {
    let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    if !std::iter::once(0).chain(starts).any(|start| number_prefix(&text[start..]) > 0) {
        return Cow::Borrowed(text);
    }
    let mut stripped = String::with_capacity(text.len());
    let (mut before, mut lines) = (None, text.split_inclusive('\n').peekable());
    while let Some(line) = lines.next() {
        let number = line_number(line);
        let after = lines.peek().and_then(|line| line_number(line));
        let follows = |one: Option<u64>, next: Option<u64>| {
            one.zip(next).is_some_and(|(one, next)| one.checked_add(1) == Some(next))
        };
        let is_counted = follows(before, number) || follows(number, after);
        stripped.push_str(if is_counted { &line[number_prefix(line)..] } else { line });
        before = number;
    }
    Cow::Owned(stripped)
}

/// Returns the number that stands before `line`, where one does.
fn line_number(line: &str) -> Option<u64> {
    let prefix = &line[..number_prefix(line)];
    let digits = prefix.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Returns the length of the line-number prefix of `line`; zero where it has none.
pub(crate) fn number_prefix(line: &str) -> usize {
    let bytes = line.as_bytes();
    let run = |from: usize, test: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| test(byte)).count();
    let blanks = run(0, |byte| matches!(byte, b' ' | b'\t'));
    let digits = run(blanks, u8::is_ascii_digit);
    if digits == 0 {
        return 0;
    }
    let rest = &line[blanks + digits..];
    let mark = ["→", "\t", ": ", ":\t", "| "].into_iter().find(|mark| rest.starts_with(mark));
    mark.map_or(0, |mark| blanks + digits + mark.len())
}

fn add_expanded(known: &mut HashSet<String>, name: &str, kind: AtomKind) {
    expand(name, kind, |part| {
        if !known.contains(part) {
            known.insert(part.to_string());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_of_file_views_go() {
        assert_eq!(
            strip_line_numbers("   1→fn a\n   2→x\n8\ty\n9: y\n10| z\n5.0 w"),
            "fn a\nx\ny\ny\nz\n5.0 w"
        );
        assert!(matches!(strip_line_numbers("no numbers"), Cow::Borrowed(_)));
        let issues = "523\tFix the queue\n461\tDrop the runner\n";
        assert_eq!(strip_line_numbers(issues), issues);
    }

    #[test]
    fn a_path_is_shown_by_its_name_in_a_line_with_its_folder() {
        assert!(shows("see src/queue/retry.rs", "src/queue/retry.rs"));
        assert!(shows("src/queue/: retry.rs policy.rs", "src/queue/retry.rs"));
        assert!(!shows("src/queue/: policy.rs\nretry.rs", "src/queue/retry.rs"), "in another line");
        assert!(!shows("retry.rs", "src/queue/retry.rs"));
        assert!(!shows("queue", "retry"));
    }

    #[test]
    fn a_suffix_of_two_components_stands_for_the_path() {
        let mut visible = Visible::new(false);
        visible.read("see tests/it/main.rs");
        assert!(visible.has_path("/srv/x/tests/it/main.rs"));
        assert!(visible.has_path("it/main.rs"));
        assert!(!visible.has_path("/srv/other/main.rs"));
    }
}
