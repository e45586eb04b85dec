//! The cases: a recorded past and the questions that whoever goes on from it must be able to answer.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use longhaul_tokens::{Encoding, TokenCounter, counter};
use longhaul_transcript::{Entry, Tokens};
use longhaul_wire::Format;
use serde::Deserialize;

use super::score::fold;

/// One case.
#[derive(Debug)]
pub struct Case {
    /// The name of its folder.
    pub name: String,
    /// The past, system prompt included.
    pub entries: Vec<Entry>,
    /// What the past costs, framing included.
    pub tokens: Tokens,
    /// What the system prompt costs, which is never compacted.
    pub system: Tokens,
    /// What is asked.
    pub questions: Vec<Question>,
}

/// A question with its evidence.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// What it is about: goal, constraint, decision, state, finding, failure, change, value or next.
    pub kind: String,
    /// The question.
    pub question: String,
    /// Groups of alternative spans; the answer needs one of each group.
    pub needs: Vec<Vec<String>>,
}

impl Case {
    /// Reads all cases under `root`, one folder each.
    pub fn all(root: &Path) -> Result<Vec<Case>> {
        let folders = fs::read_dir(root).with_context(|| format!("listing {}", root.display()))?;
        let mut names: Vec<String> = folders
            .map(|folder| Ok(folder?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_>>()?;
        names.sort();
        names.into_iter().filter(|name| root.join(name).is_dir()).map(|name| Case::read(root, name)).collect()
    }

    fn read(root: &Path, name: String) -> Result<Case> {
        let folder = root.join(&name);
        let history = fs::read(folder.join("history.json")).with_context(|| format!("reading {name}"))?;
        let document = longhaul_wire::read(Some(Format::OpenAi), history.as_slice())?;
        let questions = fs::read(folder.join("questions.json"))?;
        let mut questions: Vec<Question> = serde_json::from_slice(&questions)?;
        for span in questions.iter_mut().flat_map(|question| question.needs.iter_mut().flatten()) {
            *span = fold(span);
        }
        let entries = document.transcript().entries().to_vec();
        let counter = counter(Encoding::O200kBase);
        let cost = |entry: &Entry| counter.count_message(&entry.message);
        let tokens = entries.iter().map(cost).sum();
        let system = entries.iter().filter(|entry| entry.message.is_system()).map(cost).sum();
        Ok(Case { name, entries, tokens, system, questions })
    }

    /// Returns the project that the recording is from: the first word of its file's name.
    pub fn project(&self) -> &str {
        let project = self.name.split('-').nth(1).unwrap_or(&self.name);
        if project.starts_with("tau") { "tau" } else { project }
    }

    /// Returns whether there is enough to leave out at this budget.
    pub fn counts_at(&self, budget: usize) -> bool {
        (self.tokens - self.system).0 * 2 >= budget as u64 * 3
    }
}
