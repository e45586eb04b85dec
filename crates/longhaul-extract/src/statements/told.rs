//! A summary by rule read back: what it quotes of messages that are gone, each line under the message that it is quoted from.

use super::{StatementKind, Statements, read::Reader};

/// A line that a summary quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told<'s> {
    message: u32,
    kind: StatementKind,
    /// The call that it belongs to.
    label: Option<&'s str>,
    text: &'s str,
}

impl Statements {
    /// Reads what `summary` quotes of messages for which `is_gone` holds: what was said as a report of it, since what stood around it is
    /// not known any more. What it tells in words of its own is not read, nor a line of which it does not say where it stood.
    pub(crate) fn push_told(&mut self, summary: &str, is_gone: impl Fn(u32) -> bool) {
        let mut lines = told(summary);
        lines.retain(|line| is_gone(line.message));
        // As the messages came; what is told of one stays in its order.
        lines.sort_by_key(|line| line.message);
        let first = self.all.len();
        for of_message in lines.chunk_by(|one, next| one.message == next.message) {
            let mut reader = Reader::new(self, of_message[0].message);
            of_message.iter().for_each(|line| reader.told(line.text, line.kind, line.label));
            reader.finish();
        }
        self.weigh(first);
    }
}

/// Returns the lines that a summary quotes, in its order.
fn told(summary: &str) -> Vec<Told<'_>> {
    let mut found = Vec::new();
    let (mut section, mut message, mut label) = (Section::Own, None, None);
    for line in summary.lines() {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            section = Section::under(title.trim());
            (message, label) = (handle_in(title), None);
            continue;
        }
        // Calls stand in the order in which they were made: what a result says goes on where a line looks like an earlier one's.
        let goes_on =
            |named: u32| section == Section::Calls && message.is_some_and(|message| named < message);
        let named = handle(line).filter(|(named, _)| !goes_on(*named));
        let (named, said) =
            named.map_or((handle_at_end(line, section), line), |(named, said)| (Some(named), said));
        if named.is_some() {
            (message, label) = (named, said.strip_suffix(':').filter(|_| section == Section::Calls));
        }
        let is_label = named.is_some() && label.is_some();
        // What stands for lines that are left out says nothing here.
        let is_mark = said.starts_with("```") || said == "…" || is_count(said);
        let Some(message) = message.filter(|_| section != Section::Own && !is_label && !is_mark) else {
            continue;
        };
        let (kind, text) = match (section, label) {
            (Section::Calls, Some(_)) => (StatementKind::Result, said),
            (Section::Calls, None) => (StatementKind::Command, said.trim_start_matches("$ ")),
            _ => (StatementKind::Report, said.trim_start_matches("… ")),
        };
        found.push(Told { message, kind, label, text });
    }
    found
}

/// Whose words stand under a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// The summary's, or what the data of its record hold.
    Own,
    /// What was said or done.
    Said,
    /// What calls said, and what they were answered.
    Calls,
}

impl Section {
    fn under(heading: &str) -> Section {
        let begins = |with: &[&str]| with.iter().any(|with| heading.starts_with(with));
        match () {
            () if begins(&["From calls", "From tool results", "Pasted by the user"]) => Section::Calls,
            () if begins(&OWN) => Section::Own,
            () => Section::Said,
        }
    }
}

/// The headings over what the data of a record hold as well, and over a model's words.
const OWN: [&str; 3] = ["Rules and facts from the user", "Goal", "As a model summarized"];

/// Returns the handle in a heading: `Request (m12)`, `To do, as the list stood in m5`.
fn handle_in(heading: &str) -> Option<u32> {
    let (_, rest) = heading.split_once("(m").or_else(|| heading.rsplit_once(" in m"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the message that a line names first, and what follows.
fn handle(line: &str) -> Option<(u32, &str)> {
    let (ordinal, said) = line.strip_prefix('m')?.split_once(' ')?;
    Some((ordinal.parse().ok()?, said))
}

/// Returns the message that a line of what was done names last: `cargo test: ok (m7)`.
fn handle_at_end(line: &str, section: Section) -> Option<u32> {
    let (_, ordinal) =
        line.trim_end().strip_suffix(')').filter(|_| section == Section::Said)?.rsplit_once("(m")?;
    ordinal.parse().ok()
}

/// Whether a line says how much is left out: `… 3 more`.
fn is_count(line: &str) -> bool {
    let count = line.strip_prefix("… ").and_then(|rest| rest.split_once(" more"));
    count.is_some_and(|(count, _)| count.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_summary_quotes_is_known_by_its_message() {
        let summary = "## Request (m8)
Port the ledger.
## Asked before
m0 What does it do? (answered in m3)
… 2 more between m1 and m4
## Rules and facts from the user
- m0: Never touch Cargo.lock.
## To do, as the list stood in m5
open: the tests
## Findings and progress, in the assistant's words
m3 … It rounds.
- twice
…
## Changed files
a.rs: edited
```
m5 + let x = 1;
```
## Checks and failures (quoted)
cargo test: 3 failed (m5)
## From calls (quoted)
```
m5 $ cargo test
m6 update_booking JG7:
seats 2
m0 Read it once.
```
## From tool results (quoted)
```
m6 Read a.rs:
fn round() {}
```
## As a model summarized what came before m40
m7 is about rounding.";
        let lines: Vec<String> = told(summary)
            .iter()
            .map(|told| format!("{} {:?} {:?} {}", told.message, told.kind, told.label, told.text))
            .collect();
        assert_eq!(
            lines,
            [
                "8 Report None Port the ledger.",
                "0 Report None What does it do? (answered in m3)",
                "5 Report None open: the tests",
                "3 Report None It rounds.",
                "3 Report None - twice",
                "5 Report None + let x = 1;",
                "5 Report None cargo test: 3 failed (m5)",
                "5 Command None cargo test",
                "6 Result Some(\"update_booking JG7\") seats 2",
                "6 Result Some(\"update_booking JG7\") m0 Read it once.",
                "6 Result Some(\"Read a.rs\") fn round() {}",
            ]
        );
    }
}
