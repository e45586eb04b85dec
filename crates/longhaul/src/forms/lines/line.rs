//! A line of the summary, and how long it is needed.

use longhaul_extract::{ToolFamily, family};
use longhaul_summarize::rules::SetDown;
use longhaul_transcript::ToolCall;

use super::{
    super::page::RULE,
    short::{QUOTED, QUOTED_REQUEST, quoted},
};

/// A line that may stand in the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// What is needed longest has the lowest.
    pub(super) rank: Rank,
}

impl Line {
    /// Returns the line of a class for what was `said`.
    pub(super) fn of(class: Class, said: &str) -> Line {
        let most = if class == Class::Request { QUOTED_REQUEST } else { QUOTED };
        Line::read(format!("{}{}]", class.start(), quoted(said, most)))
    }

    /// Reads a line of this form.
    pub(super) fn read(text: String) -> Line {
        Line { rank: rank_of(&text), text }
    }

    /// Returns the line with the question that it answers behind what it tells.
    pub(super) fn answering(self, asked: &str) -> Line {
        let told = self.text.strip_suffix(']').unwrap_or(&self.text);
        Line::read(format!("{told}{ASKED}{}{MARK_END}]", quoted(asked, QUOTED_REQUEST)))
    }

    /// Returns whether it tells something of a class.
    pub(super) fn is(&self, class: Class) -> bool {
        self.text.starts_with(class.start())
    }
}

/// How long a line is needed, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rank {
    Task,
    LastRequest,
    Rule,
    /// A decision of the person's.
    Choice,
    Decision,
    /// What failed before and went well.
    Cure,
    Error,
    Change,
    Request,
    Other,
    /// A request that only asks something: what else was said is not to be found in the answer.
    Question,
    Read,
}

impl Rank {
    /// Returns how long the line of a call that went well is needed.
    pub(super) fn of(family: ToolFamily) -> Rank {
        match family {
            ToolFamily::Read | ToolFamily::List => Rank::Read,
            family if family.changes_files() => Rank::Change,
            _ => Rank::Other,
        }
    }
}

/// What a line tells of what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Task,
    Rule,
    Fact,
    /// A decision of the person's.
    Choice,
    /// A decision of the model's.
    Decision,
    /// The last request.
    Now,
    Request,
}

impl Class {
    const ALL: [Class; 7] =
        [Class::Task, Class::Rule, Class::Fact, Class::Choice, Class::Decision, Class::Now, Class::Request];

    /// Returns what a person demands, or tells to go by.
    pub(super) fn of(one: &SetDown<'_>) -> Class {
        if one.is_fact() { Class::Fact } else { Class::Rule }
    }

    /// Returns what a line of this class says.
    pub(super) fn told(line: &str) -> Option<(Class, &str)> {
        Class::ALL.into_iter().find_map(|class| Some((class, line.strip_prefix(class.start())?)))
    }

    /// What its lines begin with.
    pub(super) fn start(self) -> &'static str {
        match self {
            Class::Task => "[✓ user: Task: ",
            Class::Rule => "[✓ user: Rule: ",
            Class::Fact => "[✓ user: Fact: ",
            Class::Choice => "[✓ user: Decision: ",
            Class::Decision => "[✓ assistant: Decision: ",
            Class::Now => "[✓ user: Now: ",
            Class::Request => "[✓ user: Request: ",
        }
    }

    fn rank(self) -> Rank {
        match self {
            Class::Task => Rank::Task,
            Class::Rule | Class::Fact => Rank::Rule,
            Class::Choice => Rank::Choice,
            Class::Decision => Rank::Decision,
            Class::Now => Rank::LastRequest,
            Class::Request => Rank::Request,
        }
    }
}

/// Stands between what was said and what took its place, or may have.
pub(super) const LATER: &str = " (later on this: \"";

/// Stands between an answer and what was asked.
pub(super) const ASKED: &str = " (to: \"";

/// Ends what either of them begins.
pub(super) const MARK_END: &str = "\")";

/// Returns what a line tells without its end and without what stands behind it: what may have lifted it, or what it answers.
pub(super) fn alone(said: &str) -> &str {
    let said = said.strip_suffix(']').unwrap_or(said);
    let end = [LATER, ASKED].iter().filter_map(|mark| said.find(mark)).min();
    said[..end.unwrap_or(said.len())].trim()
}

/// Returns what the line of a person's has in their words.
pub(super) fn said_by_person(line: &str) -> Option<&str> {
    if line.starts_with(RULE) {
        return line.split_once("): ").map(|(_, rule)| rule);
    }
    Class::told(line).filter(|(class, _)| *class != Class::Decision).map(|(_, said)| said)
}

pub(super) fn rank_of(line: &str) -> Rank {
    if let Some((class, _)) = Class::told(line) {
        let asks = line.trim_end_matches(']').ends_with(['?', '？']);
        return if class == Class::Request && asks { Rank::Question } else { class.rank() };
    }
    if line.starts_with("[❌ ") {
        return Rank::Error;
    }
    let tool = line.trim_start_matches("[✓ ").split(':').next().unwrap_or_default();
    Rank::of(family(&ToolCall::function("", tool, "{}")))
}
