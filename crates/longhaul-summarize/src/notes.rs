//! A model's summary in Markdown: sections of statements, each of which stays whole.

use crate::{Completion, InvalidAnswer, reply, sentences::sentences};

/// A section of a summary, in the order in which a reader needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Section {
    Request,
    Rules,
    State,
    Decisions,
    Findings,
    Changes,
    Failures,
    Next,
}

impl Section {
    pub(crate) const ALL: [Section; 8] = [
        Section::Request,
        Section::Rules,
        Section::State,
        Section::Decisions,
        Section::Findings,
        Section::Changes,
        Section::Failures,
        Section::Next,
    ];

    /// Returns the heading that the prompt asks for.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Section::Request => "Request",
            Section::Rules => "Rules",
            Section::State => "State",
            Section::Decisions => "Decisions",
            Section::Findings => "Findings",
            Section::Changes => "Changes",
            Section::Failures => "Failures",
            Section::Next => "Next",
        }
    }

    /// Returns the section that a heading means, however the model words it.
    pub(crate) fn of(heading: &str) -> Option<Section> {
        let heading = heading.to_lowercase();
        let means = |section: &&(Section, &[&str])| section.1.iter().any(|word| heading.contains(word));
        HEADINGS.iter().find(means).map(|(section, _)| *section)
    }
}

/// Words that tell a section by its heading; the first that fits decides, so that "Open questions about the files" is what is
/// to come. A word for a new section must not stand in a heading that means one above it.
const HEADINGS: [(Section, &[&str]); 8] = [
    (Section::Next, &["next", "to do", "todo", "open", "remain", "pending", "action item"]),
    (Section::Rules, &["rule", "constraint", "preference", "instruction"]),
    (Section::Decisions, &["decision", "decided", "reject", "choice"]),
    (Section::Failures, &["fail", "error", "problem", "cure", "fixes"]),
    (Section::Changes, &["change", "file", "edit", "artifact"]),
    (Section::Request, &["request", "goal", "asked", "task"]),
    (Section::State, &["state", "stand", "progress", "status", "current", "done so far"]),
    (Section::Findings, &["finding", "fact", "learn", "discover", "value", "detail", "context", "insight"]),
];

/// Heads what rules add to a model's words.
pub(crate) const EXACTLY: &str = "By rule";
/// Heads what a model said and the transcript does not show.
pub const UNCONFIRMED: &str = "Not shown by the transcript: look up before relying on it";
/// What headed it before, in summaries that were kept.
const UNCONFIRMED_BEFORE: &str = "Unconfirmed: the conversation does not show it";

/// One statement: a list item, a row, a block of code, or a sentence of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub section: Section,
    /// What stands before it on its line: an indent and a list mark.
    pub lead: String,
    /// What it says; lines of its own where the model broke it.
    pub text: String,
    /// It goes on the line of the statement before it.
    pub goes_on: bool,
}

/// What a model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    pub statements: Vec<Statement>,
    /// What an earlier summary set apart as unconfirmed and this one leaves so.
    pub unconfirmed: Vec<String>,
}

impl Notes {
    /// Reads a model's answer in Markdown.
    ///
    /// # Errors
    /// When it did not end well or holds no statement; see [`InvalidAnswer`].
    pub(crate) fn read(completion: &Completion) -> Result<Notes, InvalidAnswer> {
        let text = reply::body(completion)?;
        let mut text = reply::strip_fence(text).to_owned();
        reply::clean(&mut text);
        let notes = Notes::parse(&text);
        match notes.statements.is_empty() {
            true => Err(InvalidAnswer::Empty),
            false => Ok(notes),
        }
    }

    /// Returns the statements of a Markdown text. What stands before the first heading says where things stand.
    pub(crate) fn parse(text: &str) -> Notes {
        let mut notes = Notes::default();
        let mut section = Section::State;
        let mut in_code = false;
        for line in text.lines() {
            let plain = line.trim();
            if in_code || plain.starts_with("```") {
                in_code = in_code != plain.starts_with("```");
                notes.append(section, line);
                continue;
            }
            if plain.is_empty() {
                continue;
            }
            if let Some(heading) = heading(plain) {
                section = Section::of(heading).unwrap_or(Section::Findings);
                continue;
            }
            let (lead, said) = split_lead(line);
            match lead.trim() {
                "" if lead.is_empty() || !notes.goes_on_in(section) => notes.prose(section, said),
                "" => notes.append(section, line),
                _ => notes.add(section, lead, said),
            }
        }
        notes
    }

    /// Returns the text: sections in their order, each with its heading and its statements as the model wrote them.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        for section in Section::ALL {
            let own = self.statements.iter().filter(|statement| statement.section == section);
            for (nth, statement) in own.enumerate() {
                if nth == 0 {
                    out.push_str(if out.is_empty() { "## " } else { "\n## " });
                    out.push_str(section.heading());
                }
                out.push_str(if nth > 0 && statement.goes_on { " " } else { "\n" });
                out.push_str(&statement.lead);
                out.push_str(&statement.text);
            }
        }
        out
    }

    /// Returns the part of a summary's text that a model wrote, without what rules added to it.
    pub(crate) fn by_model(text: &str) -> String {
        let mut is_added = false;
        let is_models = |line: &&str| {
            if let Some(heading) = line.strip_prefix("## ") {
                is_added = [EXACTLY, UNCONFIRMED, UNCONFIRMED_BEFORE].contains(&heading.trim());
            }
            !is_added
        };
        text.lines().filter(is_models).collect::<Vec<_>>().join("\n")
    }

    /// Returns whether a text is a model's in sections, as [`render`](Self::render) writes them.
    pub(crate) fn are_in(text: &str) -> bool {
        let first = text.strip_prefix("## ").and_then(|text| text.lines().next());
        first.is_some_and(|first| Section::ALL.iter().any(|section| section.heading() == first.trim()))
    }

    fn add(&mut self, section: Section, lead: &str, text: &str) {
        if !text.trim().is_empty() {
            let (lead, text) = (lead.to_owned(), text.trim().to_owned());
            self.statements.push(Statement { section, lead, text, goes_on: false });
        }
    }

    fn prose(&mut self, section: Section, paragraph: &str) {
        for (nth, sentence) in sentences(paragraph).enumerate() {
            let text = sentence.trim().to_owned();
            self.statements.push(Statement { section, lead: String::new(), text, goes_on: nth > 0 });
        }
    }

    /// Adds a line to the statement before it: code, or an item that goes on in a line of its own.
    fn append(&mut self, section: Section, line: &str) {
        match self.statements.last_mut().filter(|last| last.section == section) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            None => self.add(section, "", line),
        }
    }

    /// Returns whether the last statement is a list item of this section.
    fn goes_on_in(&self, section: Section) -> bool {
        self.statements.last().is_some_and(|last| last.section == section && !last.lead.is_empty())
    }
}

/// Returns the words of a heading: `## Next`, `**Next**`, `**Next:**`.
fn heading(line: &str) -> Option<&str> {
    if let Some(words) = line.strip_prefix('#') {
        let words = words.trim_start_matches('#');
        return words.starts_with(' ').then(|| words.trim().trim_end_matches('#').trim());
    }
    let words = line.strip_prefix("**")?.trim_end_matches(':').strip_suffix("**")?;
    (!words.contains("**") && words.len() <= 60).then(|| words.trim_end_matches(':'))
}

/// Splits a line into its indent with its list mark, and the rest.
pub(crate) fn split_lead(line: &str) -> (&str, &str) {
    let rest = line.trim_start();
    let indent = line.len() - rest.len();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match rest.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 2,
        [b'|', ..] => 1,
        bytes if (1..=3).contains(&digits) => match bytes.get(digits..digits + 2) {
            Some(b". " | b") ") => digits + 2,
            _ => 0,
        },
        _ if rest.starts_with("• ") => "• ".len(),
        _ => 0,
    };
    line.split_at(indent + mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Two of three are done. See `a. B` (i.e. The first). Done!

## Decisions
- Use SQLite, i.e. no server. It is enough.
  A second line.
  - nested
1. Redis was rejected.

**Next steps:**
Run it:
```
cargo test
```
";

    #[test]
    fn a_text_comes_back_as_it_was() {
        let notes = Notes::parse(TEXT);
        let texts: Vec<&str> = notes.statements.iter().map(|statement| &*statement.text).collect();
        assert_eq!(
            texts,
            [
                "Two of three are done.",
                "See `a. B` (i.e. The first).",
                "Done!",
                "Use SQLite, i.e. no server. It is enough.\n  A second line.",
                "nested",
                "Redis was rejected.",
                "Run it:\n```\ncargo test\n```",
            ]
        );
        let again = notes.render();
        assert!(again.starts_with("## State\nTwo of three are done. See `a. B`"), "{again}");
        assert!(again.contains("\n  - nested\n1. Redis was rejected.\n## Next\nRun it:\n```"), "{again}");
        assert_eq!(Notes::parse(&again), notes);
    }

    #[test]
    fn headings_are_known_in_other_words() {
        assert_eq!(Section::of("What remains to do"), Some(Section::Next));
        assert_eq!(Section::of("Key facts"), Some(Section::Findings));
        assert_eq!(Section::of("Poetry"), None);
    }
}
