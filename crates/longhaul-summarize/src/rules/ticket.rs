//! The issues and pull requests that the work is about: what one says that was looked up by a number that somebody names is what is asked.

use hashbrown::HashSet;
use longhaul_extract::{Statement, StatementKind, Statements};

/// Which statements stand in such a ticket.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    places: HashSet<usize>,
}

impl Tickets {
    pub(crate) fn new(pool: &Statements) -> Tickets {
        let is_asked =
            |one: &&Statement| matches!(one.kind, StatementKind::Command | StatementKind::Argument);
        let all = pool.all();
        let mut called: Vec<(&str, &Statement)> = Vec::new();
        for one in all.iter().filter(is_asked) {
            called.extend(looked_up(&one.text).into_iter().map(|number| (number, one)));
        }
        if called.is_empty() {
            return Tickets::default();
        }
        let is_said = |one: &&Statement| one.kind.is_said() && one.kind != StatementKind::Report;
        let named: HashSet<&str> = all.iter().filter(is_said).flat_map(|one| named(&one.text)).collect();
        let source = |one: &Statement| pool.source(one).map(std::ptr::from_ref);
        let about: HashSet<_> = called
            .iter()
            .filter(|(number, _)| named.contains(number))
            .filter_map(|(_, call)| source(call))
            .collect();
        let says = |one: &Statement| {
            one.kind == StatementKind::Result
                && !is_json(&one.text)
                && one.text.split_whitespace().nth(LEAST_WORDS - 1).is_some()
                && source(one).is_some_and(|source| about.contains(&source))
        };
        Tickets { places: (0..all.len()).filter(|at| says(&all[*at])).collect() }
    }

    /// Returns whether the statement at `at` stands in a ticket that the work is about.
    pub(crate) fn hold(&self, at: usize) -> bool {
        self.places.contains(&at)
    }
}

/// Returns whether a text is a piece of JSON: a field, or some in a row.
fn is_json(text: &str) -> bool {
    text.starts_with('"') || text.contains("\":")
}

/// Returns the numbers of tickets that a call asks for: `gh issue view 950`, `…/issues/950`, `"issue_number": 950`.
fn looked_up(text: &str) -> Vec<&str> {
    if !["ssue", "pull", "icket", "pr", "mr", "PR", "MR"].iter().any(|name| text.contains(name)) {
        return Vec::new();
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number =
        |at: &usize| (1..=7).contains(&words[*at].len()) && words[*at].bytes().all(|b| b.is_ascii_digit());
    let of_ticket = |at: &usize| {
        let before = words[..*at].iter().rev().take(3).take_while(|word| {
            TICKETS.contains(&&*word.to_lowercase()) || BETWEEN.contains(&&*word.to_lowercase())
        });
        before.into_iter().any(|word| TICKETS.contains(&&*word.to_lowercase()))
    };
    (0..words.len()).filter(is_number).filter(of_ticket).map(|at| words[at]).collect()
}

/// Returns the numbers of tickets that somebody names: `#950`, `issue 950`, a link.
fn named(text: &str) -> Vec<&str> {
    let marked = text.split('#').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        &rest[..end]
    });
    marked.filter(|number| !number.is_empty()).chain(looked_up(text)).collect()
}

/// What is called by a number.
const TICKETS: [&str; 9] = ["issue", "issues", "pull", "pulls", "pr", "prs", "mr", "ticket", "tickets"];

/// What may stand between that and the number.
const BETWEEN: [&str; 8] = ["view", "number", "id", "iid", "no", "show", "get", "request"];

/// A line of fewer words says little.
const LEAST_WORDS: usize = 5;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_an_issue_says_that_the_work_is_about_is_found() {
        let said = transcript(
            r#"
user: Please do #950.
assistant: I look it up. !bash#c1 {"command":"gh issue view 950"} !bash#c2 {"command":"gh issue view 12"} !bash#c3 {"command":"gh api repos/a/b/pulls/950"}
tool#c1: The composite grader has no examples that show how to do it.
tool#c3: me of a person","fork":false,"url":"https://example.org/a b c d e"
tool#c2: The dashboard shows the wrong colour for all the failed runs.
assistant: Done.
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let tickets = Tickets::new(pool);
        let held: Vec<&str> =
            (0..pool.all().len()).filter(|at| tickets.hold(*at)).map(|at| &*pool.all()[at].text).collect();
        assert_eq!(held, ["The composite grader has no examples that show how to do it."]);
    }

    #[test]
    fn numbers_of_tickets_are_told_from_others() {
        assert_eq!(
            looked_up("curl -s https://api.github.com/repos/a/b/issues/950 | sed -n '1,220p'"),
            ["950"]
        );
        assert_eq!(looked_up(r#"{"issue_number": 7, "page": 2}"#), ["7"]);
        assert_eq!(looked_up("sed -n '1,220p' docs/pr.md; ls 950"), Vec::<&str>::new());
        assert_eq!(named("See #949 and issue 12, at 10 of 20."), ["949", "12"]);
    }
}
