//! Values that an edit took away after they were told: what was said of them is not how things stand.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Statement, StatementKind, Statements, ToolFamily};

/// Returns the places in the pool of the list items in which the model tells a value that an edit had written, and a later one removed
/// from the same file: from those where it had just been written, or, where it was told of later, from all files.
pub(crate) fn stale(pool: &Statements) -> HashSet<usize> {
    let mut values_in: HashMap<&str, HashMap<Option<&str>, Trace>> = HashMap::new();
    for one in pool.all() {
        let is_added = match one.kind {
            StatementKind::Added => true,
            StatementKind::Removed => false,
            _ => continue,
        };
        let path = pool.source(one).and_then(|source| source.path.as_deref());
        for value in values(&one.text) {
            values_in.entry(value).or_default().entry(path).or_default().take(one.message, is_added);
        }
    }
    let is_gone = |one: &Statement, value: &str, asked: u32| {
        let Some(traces) = values_in.get(value) else { return false };
        let mut just_written =
            traces.values().filter(|trace| trace.written_last(one.message) >= Some(asked)).peekable();
        match just_written.peek() {
            Some(_) => just_written.all(|trace| trace.is_removed_after(one.message)),
            None => {
                let told_before = |trace: &Trace| trace.written_last(one.message).is_some();
                !traces.values().any(Trace::stands)
                    && traces.values().any(|trace| told_before(trace) && trace.is_removed_after(one.message))
            }
        }
    };
    let mut stale = HashSet::new();
    let mut asked = 0;
    for (at, one) in pool.all().iter().enumerate() {
        let tells = one.is_item() && matches!(one.kind, StatementKind::Answer | StatementKind::Prose);
        if one.kind == StatementKind::Person {
            asked = one.message;
        } else if tells && values(&one.text).any(|value| is_gone(one, value, asked)) {
            stale.insert(at);
        }
    }
    stale
}

/// Returns the places in the pool of the lines that an edit added, or that stood in a file when it was read, and that a later edit
/// removed from the same file, where none added them again; each with the message of that edit.
pub(crate) fn removed(pool: &Statements) -> HashMap<usize, u32> {
    let mut there: HashMap<(u32, Option<&str>), Vec<usize>> = HashMap::new();
    let mut gone = HashMap::new();
    for (at, one) in pool.all().iter().enumerate() {
        let source = pool.source(one);
        let place = (one.key(), source.and_then(|source| source.path.as_deref()));
        let is_read = || source.is_some_and(|source| source.family() == ToolFamily::Read);
        match one.kind {
            StatementKind::Added => there.entry(place).or_default().push(at),
            StatementKind::Result if is_read() => there.entry(place).or_default().push(at),
            StatementKind::Removed => {
                if let Some(before) = there.get_mut(&place) {
                    // An edit that moves a line both removes and adds it.
                    let older = before.extract_if(.., |before| pool.all()[*before].message < one.message);
                    gone.extend(older.map(|before| (before, one.message)));
                }
            }
            _ => {}
        }
    }
    gone
}

/// Returns the places in the pool of what a tool said of a file that was not there, where that file was read or written later.
pub(crate) fn found_later(pool: &Statements) -> HashSet<usize> {
    let mut missing: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut found = HashSet::new();
    for (at, one) in pool.all().iter().enumerate() {
        let Some(source) = pool.source(one) else { continue };
        let Some(path) = source.path.as_deref() else { continue };
        let is_read = one.kind == StatementKind::Result && source.family() == ToolFamily::Read;
        if is_read && says_missing(&one.text) {
            missing.entry(path).or_default().push(at);
        } else if is_read || one.kind == StatementKind::Added {
            found.extend(missing.remove(path).into_iter().flatten());
        }
    }
    found
}

/// Whether this is what a tool that reads files says of one that is not there.
pub(crate) fn says_missing(text: &str) -> bool {
    const SAYS: [&str; 5] =
        ["File does not exist", "File not found", "No such file", "ENOENT", "Cannot find"];
    let text = text.trim_start_matches("<tool_use_error>").trim_start_matches("Error: ");
    SAYS.iter().any(|says| text.starts_with(says))
}

/// What edits did to a value in a file: for each that touched it its message, and whether the value stands there after it.
#[derive(Clone, Debug, Default)]
struct Trace {
    edits: Vec<(u32, bool)>,
}

impl Trace {
    fn take(&mut self, message: u32, is_added: bool) {
        match self.edits.last_mut() {
            // What an edit both removes and adds stays.
            Some((last, stands)) if *last == message => *stands |= is_added,
            _ => self.edits.push((message, is_added)),
        }
    }

    fn stands(&self) -> bool {
        self.edits.last().is_some_and(|(_, stands)| *stands)
    }

    /// Returns the last edit up to `message` that wrote the value.
    fn written_last(&self, message: u32) -> Option<u32> {
        self.edits.iter().rev().find(|(at, stands)| *stands && *at <= message).map(|(at, _)| *at)
    }

    /// Returns whether an edit after `message` removed the value, and none wrote it again.
    fn is_removed_after(&self, message: u32) -> bool {
        self.edits.last().is_some_and(|(at, stands)| !stands && *at > message)
    }
}

/// Returns the values in a text: words of letters and digits in which there are digits, and that are long enough to be told from a
/// count.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')));
    let words = words.map(|word| word.trim_matches(['.', '-', '_']));
    words.filter(|word| word.len() >= SHORTEST && word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Bytes of the shortest value.
const SHORTEST: usize = 4;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn a_line_that_a_later_edit_removed_is_gone() {
        let said = transcript(
            r##"
user: go
assistant: !Edit#e1 {"file_path":"a.rs","old_string":"","new_string":"let is_small = count < 3;\nlet wait = retry();"}
tool#e1: ok
assistant: !Edit#e2 {"file_path":"a.rs","old_string":"let is_small = count < 3;","new_string":"let is_very_small = count < 2;"}
tool#e2: ok
assistant: !Edit#e3 {"file_path":"b.rs","old_string":"let wait = retry();","new_string":""}
tool#e3: ok
"##,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let gone: Vec<&str> = removed(pool).into_keys().map(|at| &*pool.all()[at].text).collect();
        assert_eq!(gone, ["let is_small = count < 3;"]);
    }

    #[test]
    fn a_file_that_was_missing_and_is_read_later_is_there() {
        let said = transcript(
            r##"
user: go
assistant: !Read#c1 {"file_path":"/w/run.sh"} !Read#c2 {"file_path":"/w/.env"}
tool#c1!: <tool_use_error>File does not exist.</tool_use_error>
tool#c2!: <tool_use_error>File does not exist.</tool_use_error>
assistant: !Read#c3 {"file_path":"/w/run.sh"}
tool#c3: the script that starts the relay
"##,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let found: Vec<u32> = found_later(pool).into_iter().map(|at| pool.all()[at].message).collect();
        assert_eq!(found, [2]);
    }

    #[test]
    fn what_an_edit_took_away_again_is_stale() {
        let said = transcript(
            r##"
user: go
assistant: Noted. !Edit#e0 {"file_path":"old.json","old_string":"","new_string":"\"blue\": \"#5f87ff\""}
tool#e0: ok
user: Restore them.
assistant: Editing. !Edit#e1 {"file_path":"a.json","old_string":"\"green\": 1","new_string":"\"green\": \"#5fff00\", \"port\": 8443, \"blue\": \"#5f87ff\""}
tool#e1: ok
assistant: Restored:
- green: `#5fff00`
- the admin port is 8443
- 12 tests pass
- the other port, 9443, stands in b.json
- blue: `#5f87ff`
user: green is #b5bd68
assistant: Editing. !Edit#e2 {"file_path":"a.json","old_string":"\"green\": \"#5fff00\", \"port\": 8443, \"blue\": \"#5f87ff\"","new_string":"\"green\": \"#b5bd68\", \"port\": 8443"}
tool#e2: ok
assistant: A copy goes. !Edit#e3 {"file_path":"copy.json","old_string":"\"port\": 9443","new_string":"\"port\": none"}
tool#e3: ok
assistant: Changed:
- green: `#b5bd68`, no longer `#5fff00`
"##,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let stale = stale(pool);
        let told: Vec<&str> = pool
            .all()
            .iter()
            .enumerate()
            .filter(|(at, _)| stale.contains(at))
            .map(|(_, one)| &*one.text)
            .collect();
        // That blue stands as it was in a file of another step changes nothing.
        assert_eq!(told, ["- green: `#5fff00`", "- blue: `#5f87ff`"]);
    }
}
