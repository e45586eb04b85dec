//! The headings of a summary by rule, and which lines leave first where a preset's form has less room than they take.

/// When the lines under a heading leave, where there is not room for all: those named first go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leaves {
    /// What is quoted for the record.
    Quoted,
    /// How checks went.
    Checks,
    /// What was decided, found and done.
    Told,
    /// How checks went at the end: of the lines under [`Heading::Checks`] the first.
    LastChecks,
    /// What was asked before.
    Before,
    /// What is asked for, and the rules.
    Asked,
}

macro_rules! headings {
    ($($heading:ident = $words:literal, $leaves:ident;)*) => {
        /// A heading of a summary by rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Heading {
            $(#[doc = concat!("`", $words, "`")] $heading,)*
        }

        impl Heading {
            const ALL: [Heading; [$($words),*].len()] = [$(Heading::$heading),*];

            /// Returns what the line begins with; a section may say more behind it.
            pub(crate) const fn words(self) -> &'static str {
                match self {
                    $(Heading::$heading => $words,)*
                }
            }

            /// Returns when the lines under it leave.
            pub fn leaves(self) -> Leaves {
                match self {
                    $(Heading::$heading => Leaves::$leaves,)*
                }
            }
        }
    };
}

headings! {
    Request = "## Request", Asked;
    AskedBefore = "## Asked before", Before;
    Rules = "## Rules and facts from the user", Asked;
    Decided = "## Decisions of the user", Asked;
    Goal = "## Goal (stated by the user)", Told;
    Earlier = "## Earlier summary", Told;
    List = "## To do, as the list stood in", Told;
    Branch = "## Branch", Told;
    Landed = "## Committed, pushed and released (quoted)", Quoted;
    Checks = "## Checks and failures (quoted)", Checks;
    Deeds = "## Calls that changed something, answered without an error", Told;
    Said = "## Said", Told;
    Told = "## Asked and told by the user", Told;
    Decisions = "## Decisions", Told;
    Findings = "## Findings and progress, in the assistant's words", Told;
    Thought = "## Thought by the assistant, not said", Told;
    Proposed = "## Proposed by the assistant", Told;
    Reports = "## Reports and earlier summaries (quoted)", Quoted;
    Planned = "## To do", Told;
    Changed = "## Changed files", Told;
    Calls = "## From calls (quoted)", Quoted;
    Pasted = "## Pasted by the user (quoted)", Quoted;
    Results = "## From tool results (quoted)", Quoted;
    LastWords = "## The assistant's last words", Told;
}

impl Heading {
    /// Returns whether what persons said stands under it, the oldest first: of that the newest holds.
    pub(crate) fn is_of_persons(self) -> bool {
        matches!(self, Heading::AskedBefore | Heading::Decided | Heading::Told | Heading::Said)
    }

    /// Returns the heading that a line is.
    pub fn of(line: &str) -> Option<Heading> {
        let begins = |heading: &Heading| line.starts_with(heading.words());
        Heading::ALL.into_iter().filter(begins).max_by_key(|heading| heading.words().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_line() {
        for heading in Heading::ALL {
            assert_eq!(Heading::of(heading.words()), Some(heading));
        }
        assert_eq!(Heading::of("## To do, as the list stood in m5"), Some(Heading::List));
        assert_eq!(Heading::of("## To do"), Some(Heading::Planned));
        assert_eq!(Heading::of("## As a model summarized"), None);
    }
}
