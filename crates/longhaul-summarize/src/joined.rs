//! A summary as data: two made one, and its text.

use longhaul_tokens::TokenCounter;
use longhaul_transcript::{ErrorNote, Summary, SummaryMode, Tokens, one_line};

use crate::shortened;

/// Returns the record's data: facts by rule, and from the model what rules do not know.
pub(crate) fn join(mode: SummaryMode, said: Summary, facts: Summary) -> Summary {
    let or = |one: String, other: String| if one.trim().is_empty() { other } else { one };
    let mut joined = Summary {
        narrative: or(said.narrative, facts.narrative),
        key_points: union(said.key_points, facts.key_points),
        participants: union(said.participants, facts.participants),
        decisions: union(said.decisions, facts.decisions),
        action_items: union(said.action_items, facts.action_items),
        unresolved: union(said.unresolved, facts.unresolved),
        current_focus: or(said.current_focus, facts.current_focus),
        goal: or(facts.goal, said.goal),
        ..facts
    };
    if mode == SummaryMode::Llm {
        joined.domain_entities = union(said.domain_entities, joined.domain_entities);
        joined.errors = union(joined.errors, said.errors);
        joined.constraints = union(joined.constraints, said.constraints);
        let has_file =
            |files: &[longhaul_transcript::FileNote], path: &str| files.iter().any(|file| file.path == path);
        let more: Vec<_> =
            said.files.into_iter().filter(|file| !has_file(&joined.files, &file.path)).collect();
        joined.files.extend(more);
        let known = |command: &longhaul_transcript::CommandNote| {
            joined.commands.iter().any(|known| known.command == command.command)
        };
        let more: Vec<_> = said.commands.into_iter().filter(|command| !known(command)).collect();
        joined.commands.extend(more);
    }
    joined
}

fn union<T: PartialEq>(mut one: Vec<T>, other: Vec<T>) -> Vec<T> {
    for entry in other {
        if !one.contains(&entry) {
            one.push(entry);
        }
    }
    one
}

/// Renders the model's words, the most needed first, as many lines as fit.
pub(crate) fn render(
    mode: SummaryMode,
    summary: &Summary,
    counter: &dyn TokenCounter,
    limit: Tokens,
) -> String {
    let mut page = Page { text: String::new(), counter, limit };
    let whole = mode == SummaryMode::Llm;
    page.lines("", [&summary.narrative]);
    page.lines("Now", [&summary.current_focus]);
    page.lines("Decisions", &summary.decisions);
    let tasks = summary.action_items.iter().map(|item| {
        let owner = if item.owner.is_empty() { String::new() } else { format!(" ({})", item.owner) };
        let due = if item.due.is_empty() { String::new() } else { format!(", due {}", item.due) };
        format!("{}{owner}{due}", item.task)
    });
    page.lines("To do", &tasks.collect::<Vec<_>>());
    page.lines("Open", &summary.unresolved);
    if whole {
        let errors = summary.errors.iter().map(told_error);
        page.lines("Key points", &summary.key_points);
        page.lines("Errors", &errors.collect::<Vec<_>>());
    }
    page.text
}

/// Returns the line of an error.
pub(crate) fn told_error(error: &ErrorNote) -> String {
    match error.resolution.is_empty() {
        true => error.error.clone(),
        false => format!("{}; resolved: {}", error.error, error.resolution),
    }
}

struct Page<'a> {
    text: String,
    counter: &'a dyn TokenCounter,
    limit: Tokens,
}

impl Page<'_> {
    /// Adds a section with as many of `lines` as fit. Prose without a heading is shortened.
    fn lines<'l>(&mut self, heading: &str, lines: impl IntoIterator<Item = &'l String>) {
        let mut begun = heading.is_empty();
        for line in lines.into_iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            let mut next = self.text.clone();
            if !next.is_empty() {
                next.push('\n');
            }
            if !begun {
                next.push_str(&format!("{heading}:\n"));
            }
            if heading.is_empty() {
                next.push_str(line);
            } else {
                next.push_str(&format!("- {}", one_line(line)));
            }
            if self.counter.count_up_to(&next, self.limit).is_some() {
                (self.text, begun) = (next, true);
            } else if heading.is_empty() {
                let fits = |text: &str| self.counter.count_up_to(text, self.limit).is_some();
                self.text = shortened(line, fits).unwrap_or_default();
            }
        }
    }
}
