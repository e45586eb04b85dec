//! A summary that is brought up to date: what it said stays as it was, but for what the model takes out or replaces.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_transcript::{Entry, SummaryMode};

use crate::{
    Completion, InvalidAnswer, SummaryRequest,
    notes::{Notes, Section, Statement},
    reply, written,
};

/// The statements of the summary that a new one is built on.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    statements: Vec<Statement>,
    /// What stood apart as unconfirmed.
    unconfirmed: Vec<String>,
}

impl Earlier {
    /// Returns the statements that a model wrote for the request's previous summary and the messages that none has read;
    /// `None` where there are none in sections, or nothing new.
    pub(crate) fn of(request: &SummaryRequest<'_>) -> Option<(Earlier, Vec<Entry>)> {
        let previous = request.previous?;
        let words = written::words(previous)?;
        let is_in_sections = words.starts_with("## ") || words.contains("\n## ");
        // A model that writes sections is shown what stays in part as well.
        let until = match previous.mode {
            SummaryMode::Rules => written::read_until(previous),
            _ => previous.covers.end,
        };
        let new = written::new_to(previous, request.entries, until);
        new.last().filter(|last| last.id.ordinal >= until)?;
        let statements = Notes::parse(&Notes::by_model(&words)).statements;
        let unconfirmed = previous.summary.unconfirmed.clone();
        (is_in_sections && !statements.is_empty()).then_some((Earlier { statements, unconfirmed }, new))
    }

    /// Returns the statements as a model is shown them, each behind its number.
    pub(crate) fn numbered(&self) -> String {
        let line = |(nth, statement): (usize, &Statement)| {
            format!("[s{}] ({}) {}\n", nth + 1, statement.section.heading(), statement.text)
        };
        let apart = |(nth, text): (usize, &String)| {
            format!("[s{}] (Unconfirmed) {text}\n", self.statements.len() + nth + 1)
        };
        let apart = self.unconfirmed.iter().enumerate().map(apart);
        self.statements.iter().enumerate().map(line).chain(apart).collect()
    }

    /// Returns the summary after the changes that an answer asks for, and what was done in words.
    ///
    /// # Errors
    /// When the answer did not end well; see [`InvalidAnswer`].
    pub(crate) fn updated(&self, completion: &Completion) -> Result<(Notes, String), InvalidAnswer> {
        let mut text = reply::strip_fence(reply::body(completion)?).to_owned();
        reply::clean(&mut text);
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
        for (nth, text) in self.unconfirmed.iter().enumerate() {
            let number = self.statements.len() + nth + 1;
            // Put in other words it is looked up again.
            if let Some(text) = changes.replaced.get(&number) {
                let (section, lead, text) = (Section::Findings, "- ".to_owned(), text.clone());
                notes.statements.push(Statement { section, lead, text, goes_on: false });
                replaced += 1;
            } else if changes.removed.contains(&number) {
                removed += 1;
            } else {
                notes.unconfirmed.push(text.clone());
            }
        }
        let is_said = |new: &Statement| notes.statements.iter().any(|old| old.text == new.text);
        let added: Vec<Statement> =
            changes.added.statements.into_iter().filter(|new| !is_said(new)).collect();
        let done = format!(
            "brought {} statements up to date: {} added, {replaced} replaced, {removed} removed",
            self.statements.len() + self.unconfirmed.len(),
            added.len()
        );
        notes.statements.extend(added);
        Ok((notes, done))
    }

    /// Returns the statements as they stand after changes, for the next part of what is new.
    pub(crate) fn after(notes: &Notes) -> Earlier {
        Earlier { statements: notes.statements.clone(), unconfirmed: notes.unconfirmed.clone() }
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
            unconfirmed: Vec::new(),
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
        // What is taken out and said again stays, in its new place.
        let (again, _) = earlier.updated(&answer("## Remove\ns2\n## Findings\n- 41 pass, 1 fails.")).unwrap();
        assert!(
            again.render().ends_with("## Findings\n- 41 pass, 1 fails.\n## Next\n- Fix it."),
            "{}",
            again.render()
        );
        // What was set apart stays so until it is taken out, or said in other words.
        let apart = Earlier {
            unconfirmed: vec!["The relay is at 10.0.0.7.".into(), "It restarts.".into()],
            ..earlier.clone()
        };
        assert!(
            apart
                .numbered()
                .ends_with("[s4] (Unconfirmed) The relay is at 10.0.0.7.\n[s5] (Unconfirmed) It restarts.\n")
        );
        let (notes, _) = apart.updated(&answer("## Replace\ns4: The relay is at 10.0.0.8 (m9).")).unwrap();
        assert_eq!(notes.unconfirmed, ["It restarts."]);
        assert_eq!(notes.statements.last().unwrap().text, "The relay is at 10.0.0.8 (m9).");
        assert!(apart.updated(&answer("## Remove\ns4, s5")).unwrap().0.unconfirmed.is_empty());
        let cut = Completion { finish: Finish::Length, ..answer("## Remove\ns1") };
        assert_eq!(earlier.updated(&cut).unwrap_err(), InvalidAnswer::CutOff);
    }
}
