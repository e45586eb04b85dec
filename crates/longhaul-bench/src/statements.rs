//! Statements, true and false, put into a model's mouth: what the checks make of each.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use longhaul_transcript::SummaryRecord;
use serde::Deserialize;

/// One statement about a case.
#[derive(Clone, Debug, Deserialize)]
pub struct Statement {
    /// The case it is about.
    pub case: String,
    /// What kind of lie it is; empty for a truth.
    #[serde(default)]
    pub kind: String,
    /// The section of the summary in which it is told.
    pub section: String,
    /// What it says.
    pub text: String,
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It stands among what the summary says.
    Kept,
    /// It stands among what is unconfirmed.
    SetApart,
    /// It stands nowhere.
    Struck,
}

/// Reads a list of statements.
///
/// # Errors
/// When the file is no such list.
pub fn read(path: &Path) -> Result<Vec<Statement>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut statements: Vec<Statement> = serde_json::from_str(&text)?;
    for statement in &mut statements {
        statement.text = statement.text.trim_start_matches("- ").trim().to_owned();
    }
    Ok(statements)
}

/// Returns the answer of a model that says all of these.
pub fn answer(statements: &[&Statement]) -> String {
    let mut sections: Vec<&str> = Vec::new();
    for statement in statements {
        if !sections.contains(&statement.section.as_str()) {
            sections.push(&statement.section);
        }
    }
    let of = |section: &&str| {
        let own = statements.iter().filter(|statement| statement.section == *section);
        let lines: String = own.map(|statement| format!("- {}\n", statement.text)).collect();
        format!("## {section}\n{lines}")
    };
    sections.iter().map(of).collect()
}

/// Returns what became of `text` in a summary.
pub fn fate(text: &str, record: &SummaryRecord) -> Fate {
    let unconfirmed = "## Unconfirmed";
    let said = record.text.split(unconfirmed).next().unwrap_or_default().to_lowercase();
    if said.contains(&text.to_lowercase()) {
        return Fate::Kept;
    }
    match record.summary.unconfirmed.iter().any(|apart| apart == text) {
        true => Fate::SetApart,
        false => Fate::Struck,
    }
}
