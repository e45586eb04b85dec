//! What another tool's summary tells as open, and later work took up: told on, a step that was taken would be a step to take.

use std::ops::Range;

use longhaul_extract::{AtomKind, Purpose, Runs, each_act, scan};

use super::{LEFT_OUT, Line};
use crate::{SummaryRequest, rules::acts::Acts};

/// Returns what was done after the message `from`: the files that were changed, and the commands that changed or checked something. What
/// was written into them does not count: a plan names what is still to be done.
pub(super) fn done_since(request: &SummaryRequest<'_>, acts: &Acts, from: u64) -> Vec<String> {
    let files = acts.files.iter();
    let edited = files.filter(|file| file.trail.iter().any(|edit| edit.message > from));
    let mut done: Vec<String> = edited.map(|file| file.path.clone()).collect();
    let mut later = Runs::default();
    each_act(request.tail_beside_entries(), |act| {
        let changes = act.call.family().changes_files();
        done.extend(act.call.path().filter(|_| changes).map(str::to_owned));
        later.take(act);
    });
    let later = later.done();
    let runs = acts.runs.iter().chain(&later).filter(|run| run.message > from);
    let acted = runs.filter(|run| run.purpose.is_check() || run.purpose == Purpose::Act);
    done.extend(acted.map(|run| run.command.clone()));
    done
}

/// Returns `lines` without what they tell as open and `done` took up, and the text of what is left out. What stays of it is said to
/// have been so then.
pub(super) fn without(lines: Vec<Line>, done: &[String]) -> (Vec<Line>, String) {
    let is_taken_up = |place: Range<usize>| names(&lines[place]).iter().any(|name| is_done(name, done));
    let mut gone = vec![false; lines.len()];
    let titles: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].tells_open()).collect();
    for title in &titles {
        let under = lines[title + 1..].iter().take_while(|line| !line.is_title).count();
        for block in blocks(&lines, title + 1..title + 1 + under) {
            if is_taken_up(block.clone()) {
                gone[block].fill(true);
            }
        }
        let is_left = |at: usize| !gone[at] && !lines[at].text.trim().is_empty();
        gone[*title] = under > 0 && !(title + 1..title + 1 + under).any(is_left);
    }
    let has_gone = gone.contains(&true);
    for at in (0..lines.len()).filter(|at| lines[*at].is_under_way()) {
        let is_nameless = names(&lines[at..=at]).is_empty();
        gone[at] |= is_taken_up(at..at + 1) || has_gone && is_nameless;
    }
    let (mut left, mut overtaken): (Vec<Line>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, mut line) in lines.into_iter().enumerate() {
        if gone[at] {
            overtaken.extend(line.text.split_whitespace().map(str::to_owned));
            if left.last().is_some_and(|before| before.text != LEFT_OUT) && line.fence.is_none() {
                left.push(Line { text: LEFT_OUT.into(), fence: None, is_title: false });
            }
            continue;
        }
        if titles.contains(&at) {
            line.text = format!("[as of then] {}", line.text);
        }
        left.push(line);
    }
    (left, overtaken.join(" "))
}

/// Returns the parts of a section that stand for themselves: its items, or all of it where it is more than a list.
fn blocks(lines: &[Line], section: Range<usize>) -> Vec<Range<usize>> {
    let indent = |at: &usize| lines[*at].text.len() - lines[*at].text.trim_start().len();
    let says = |at: &usize| !lines[*at].text.trim().is_empty();
    let Some(least) = section.clone().filter(says).map(|at| indent(&at)).min() else { return Vec::new() };
    let heads: Vec<usize> = section.clone().filter(|at| says(at) && indent(at) == least).collect();
    if !heads.iter().all(|at| is_item(lines[*at].text.trim_start())) {
        return vec![section];
    }
    let ends = heads.iter().copied().skip(1).chain([section.end]);
    heads.iter().copied().zip(ends).map(|(from, to)| from..to).collect()
}

fn is_item(text: &str) -> bool {
    let numbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with(['-', '*', '•']) || numbered.len() < text.len() && numbered.starts_with(['.', ')'])
}

/// Returns the names of files, functions and the like in `lines`, those of files without their folders.
fn names(lines: &[Line]) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines {
        scan(&line.text, |atom| {
            let is_name = matches!(
                atom.kind,
                AtomKind::Path | AtomKind::File | AtomKind::Dotted | AtomKind::Snake | AtomKind::Camel
            );
            let name = atom.text.rsplit('/').next().unwrap_or_default();
            if is_name && name.len() >= SHORTEST_NAME {
                found.push(name.to_owned());
            }
        });
    }
    found
}

fn is_done(name: &str, done: &[String]) -> bool {
    done.iter().any(|text| text.contains(name))
}

/// Bytes of the shortest name that is not met by chance.
const SHORTEST_NAME: usize = 6;

impl Line {
    /// Whether what stands under this was open, or being done, when it was written.
    fn tells_open(&self) -> bool {
        const WORDS: [&str; 12] = [
            "pending",
            "current work",
            "current state",
            "current status",
            "current task",
            "in progress",
            "next step",
            "remaining",
            "to do",
            "todo",
            "outstanding",
            "open task",
        ];
        let lower = self.text.to_lowercase();
        self.is_title && WORDS.iter().any(|word| lower.contains(word))
    }

    /// Whether a line tells what somebody was doing: "Currently investigating", "**In Progress**: …".
    fn is_under_way(&self) -> bool {
        let doing = self.text.split_once("Currently ").and_then(|(_, rest)| rest.split_whitespace().next());
        let is_labelled = self.text.trim_start_matches([' ', '-', '*']).starts_with("In Progress");
        !self.is_title
            && self.fence.is_none()
            && (is_labelled || doing.is_some_and(|word| word.ends_with("ing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_open_and_was_taken_up_since_is_left_out() {
        let line = |text: &str| Line {
            text: text.into(),
            fence: None,
            is_title: text.ends_with(':') && !text.starts_with(' '),
        };
        let all = [
            "4. Errors:",
            "   - test_relay_waits: Currently investigating it",
            "   - **In Progress**: the other callers of test_relay_waits",
            "7. Pending Tasks:",
            "   - Mend `test_relay_waits`",
            "     in src/relay.rs",
            "   - Tell Mara",
            "9. Next Step:",
            "   Run test_relay_waits once more. Then:",
            "   1. push",
            "10. Notes:",
            "   test_relay_waits is slow.",
        ];
        let done = ["cargo test test_relay_waits".to_owned()];
        let (left, overtaken) = without(all.map(line).to_vec(), &done);
        let left: Vec<&str> = left.iter().map(|line| &*line.text).collect();
        assert_eq!(
            left,
            [
                "4. Errors:",
                "[…]",
                "[as of then] 7. Pending Tasks:",
                "[…]",
                "   - Tell Mara",
                "[…]",
                "10. Notes:",
                "   test_relay_waits is slow.",
            ]
        );
        assert!(overtaken.contains("Run test_relay_waits once more."), "{overtaken}");
    }
}
