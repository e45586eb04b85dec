//! A summary that is brought up to date: what it said stays as it was, but for what the model takes out or replaces.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_transcript::Entry;

use crate::{
    Completion, InvalidAnswer, SummaryRequest, answer,
    notes::{Notes, Statement},
};

/// The statements of the summary that a new one is built on.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    statements: Vec<Statement>,
}

impl Earlier {
    /// Returns the statements of the request's previous summary and the messages that it does not tell of; `None` where
    /// there is none in sections, or nothing new.
    pub(crate) fn of<'a>(request: &SummaryRequest<'a>) -> Option<(Earlier, &'a [Entry])> {
        let previous = request.previous?;
        let is_in_sections = previous.text.starts_with("## ") || previous.text.contains("\n## ");
        let through = previous.covers.end;
        let at = request.entries.partition_point(|entry| entry.id.ordinal < through);
        let new = request.entries.get(at..).filter(|new| !new.is_empty())?;
        let statements = Notes::parse(Notes::by_model(&previous.text)).statements;
        (is_in_sections && !statements.is_empty()).then_some((Earlier { statements }, new))
    }

    /// Returns the statements as a model is shown them, each behind its number.
    pub(crate) fn numbered(&self) -> String {
        let line = |(nth, statement): (usize, &Statement)| {
            format!("[s{}] ({}) {}\n", nth + 1, statement.section.heading(), statement.text)
        };
        self.statements.iter().enumerate().map(line).collect()
    }

    /// Returns the summary after the changes that an answer asks for, and what was done in words.
    ///
    /// # Errors
    /// When the answer did not end well; see [`InvalidAnswer`].
    pub(crate) fn updated(&self, completion: &Completion) -> Result<(Notes, String), InvalidAnswer> {
        let mut text = answer::strip_fence(answer::body(completion)?).to_owned();
        answer::clean(&mut text);
        let changes = Changes::read(&text);
        let mut notes = Notes::default();
        let (mut removed, mut replaced) = (0, 0);
        for (nth, statement) in self.statements.iter().enumerate() {
            let number = nth + 1;
            let mut statement = statement.clone();
            if let Some(text) = changes.replaced.get(&number) {
                statement.text.clone_from(text);
                replaced += 1;
            } else if changes.removed.contains(&number) {
                removed += 1;
                continue;
            }
            notes.statements.push(statement);
        }
        let is_said = |new: &Statement| self.statements.iter().any(|old| old.text == new.text);
        let added: Vec<Statement> =
            changes.added.statements.into_iter().filter(|new| !is_said(new)).collect();
        let done = format!(
            "brought {} statements up to date: {} added, {replaced} replaced, {removed} removed",
            self.statements.len(),
            added.len()
        );
        notes.statements.extend(added);
        Ok((notes, done))
    }

    /// Returns whether the earlier summary had this very statement: what was checked once is not checked again against
    /// a conversation of which parts may be gone.
    pub(crate) fn has(&self, statement: &Statement) -> bool {
        self.statements.iter().any(|old| old.section == statement.section && old.text == statement.text)
    }
}

/// An answer that changes a summary.
#[derive(Debug, Default)]
struct Changes {
    removed: BTreeSet<usize>,
    replaced: BTreeMap<usize, String>,
    added: Notes,
}

impl Changes {
    fn read(text: &str) -> Changes {
        let mut changes = Changes::default();
        let mut rest = String::new();
        let mut part = Part::Added;
        for line in text.lines() {
            if let Some(heading) = line.trim().strip_prefix("## ") {
                part = match heading.trim().to_lowercase().as_str() {
                    "remove" | "removed" => Part::Removed,
                    "replace" | "replaced" => Part::Replaced,
                    _ => Part::Added,
                };
                if part != Part::Added {
                    continue;
                }
            }
            match part {
                Part::Removed => changes.removed.extend(numbers(line)),
                Part::Replaced => {
                    let said = line.trim().trim_start_matches(['-', '*', ' ', '[']);
                    let named = said.split_once(':').map(|(name, new)| (name.trim_end_matches(']'), new));
                    if let Some((number, new)) =
                        named.and_then(|(name, new)| Some((number(name)?, new.trim())))
                        && !new.is_empty()
                    {
                        changes.replaced.insert(number, new.to_owned());
                    }
                }
                Part::Added => {
                    rest.push_str(line);
                    rest.push('\n');
                }
            }
        }
        changes.added = Notes::parse(&rest);
        changes
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Removed,
    Replaced,
    Added,
}

fn numbers(line: &str) -> impl Iterator<Item = usize> + '_ {
    line.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(number)
}

fn number(name: &str) -> Option<usize> {
    name.trim().strip_prefix('s')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Finish;

    #[test]
    fn what_is_not_mentioned_stays_byte_for_byte() {
        let earlier = Earlier {
            statements: Notes::parse(
                "## Rules\n- \"Never touch  Cargo.lock\" (m0)\n## State\n- 41 pass, 1 fails.\n## Next\n- Fix it.",
            )
            .statements,
        };
        assert_eq!(
            earlier.numbered(),
            "[s1] (Rules) \"Never touch  Cargo.lock\" (m0)\n[s2] (State) 41 pass, 1 fails.\n[s3] (Next) Fix it.\n"
        );
        let answer =
            |text: &str| Completion { text: text.to_owned(), finish: Finish::Stop, ..Completion::default() };
        let (notes, done) = earlier
            .updated(&answer(
                "## Remove\ns3\n## Replace\ns2: 42 pass (m9).\n## Findings\n- It was a typo (m8).",
            ))
            .unwrap();
        assert_eq!(
            notes.render(),
            "## Rules\n- \"Never touch  Cargo.lock\" (m0)\n## State\n- 42 pass (m9).\n## Findings\n- It was a typo (m8)."
        );
        assert_eq!(done, "brought 3 statements up to date: 1 added, 1 replaced, 1 removed");
        // A model that tells all again adds nothing twice.
        let (again, _) = earlier.updated(&answer("## State\n- 41 pass, 1 fails.")).unwrap();
        assert_eq!(again.statements, earlier.statements);
        let cut = Completion { finish: Finish::Length, ..answer("## Remove\ns1") };
        assert_eq!(earlier.updated(&cut).unwrap_err(), InvalidAnswer::CutOff);
    }
}
