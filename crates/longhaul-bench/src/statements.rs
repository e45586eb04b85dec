//! Statements, true and false, put into a model's mouth: what the checks make of each.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use longhaul_summarize::UNCONFIRMED;
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

/// Returns what became of each of these in a summary. A line of it stands for one statement: that another says the same, or
/// more, keeps none.
pub fn fates(statements: &[&Statement], record: &SummaryRecord) -> Vec<Fate> {
    let (mut said, mut apart) = (Vec::new(), Vec::new());
    let mut section = "";
    for line in record.text.lines().map(str::trim) {
        match line.strip_prefix("## ") {
            Some(heading) => section = heading,
            None => {
                let lines = if section == UNCONFIRMED { &mut apart } else { &mut said };
                lines.push(line.trim_start_matches("- ").to_lowercase());
            }
        }
    }
    apart.extend(record.summary.unconfirmed.iter().map(|line| line.to_lowercase()));
    let take = |lines: &mut Vec<String>, text: &str| {
        let at = lines.iter().position(|line| line == text);
        // Behind the statement may stand what it is from.
        let is_it = |line: &String| {
            let behind = line.strip_prefix(text).and_then(|behind| behind.chars().next());
            behind.is_some_and(|next| !next.is_alphanumeric())
        };
        at.or_else(|| lines.iter().position(is_it)).map(|at| lines.swap_remove(at)).is_some()
    };
    let fate = |statement: &&Statement| {
        let text = statement.text.to_lowercase();
        if take(&mut said, &text) {
            Fate::Kept
        } else if take(&mut apart, &text) {
            Fate::SetApart
        } else {
            Fate::Struck
        }
    };
    statements.iter().map(fate).collect()
}
