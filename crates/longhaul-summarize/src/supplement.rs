//! What only rules know exactly, beside a model's statements: as far as those do not hold it already.

use longhaul_extract::{Run, Verdict, runs};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{
    ActionItem, Constraint, Entry, FileNote, FileState, Role, Summary, Tokens, clipped, one_line,
};

use crate::{
    SummaryRequest,
    notes::{EXACTLY, Notes, Section, Statement, UNCONFIRMED},
    rules::{SetDown, standing},
};

/// The share of the limit that the user's rules may take where the statements leave less.
const RULES_SHARE: f64 = 0.15;
/// The share of the limit that all that rules add may take.
const ADDED_SHARE: f64 = 0.25;
/// The share of the limit that unconfirmed statements may take.
const UNCONFIRMED_SHARE: f64 = 0.12;
/// How many of the last checks are told.
const CHECKS: usize = 3;

/// Joins a model's statements with what the rules know and the statements do not say. Returns the text and its cost;
/// `None` where not one statement fits.
pub(crate) fn supplemented(
    mut notes: Notes,
    unconfirmed: &[String],
    known: &Summary,
    request: &SummaryRequest<'_>,
    limit: Tokens,
) -> Option<(String, Tokens, Notes)> {
    let counter = request.counter;
    quote_rules(&mut notes, &known.constraints, request, limit);
    let runs = runs(request.entries);
    loop {
        let said = notes.render();
        let mut page = Page { text: said, counter, limit };
        let spoken = counter.count_text(&page.text);
        if spoken <= limit {
            let most = limit.min(spoken + limit.scaled(ADDED_SHARE));
            page.section(EXACTLY, &exact_lines(&page.text, known, &runs), most);
            let spent = counter.count_text(&page.text);
            let most = limit.min(spent + limit.scaled(UNCONFIRMED_SHARE));
            page.section(UNCONFIRMED, unconfirmed, most);
            let tokens = counter.count_text(&page.text);
            return (!notes.statements.is_empty()).then_some((page.text, tokens, notes));
        }
        let_go(&mut notes, spoken - limit, counter);
        if notes.statements.is_empty() {
            return None;
        }
    }
}

/// Puts the user's rules among the statements, verbatim, newest first where not all fit: what holds on may take all that the statements
/// leave. A quotation of a rule that was taken back goes.
fn quote_rules(notes: &mut Notes, rules: &[Constraint], request: &SummaryRequest<'_>, limit: Tokens) {
    for rule in rules.iter().filter(|rule| rule.superseded_by.is_some()) {
        let quoted = quotation(rule);
        notes.statements.retain(|statement| !is_quoted(statement, &quoted));
    }
    // Where nobody is an assistant, as in a meeting, nobody gives it rules.
    if !request.entries.iter().chain(request.kept).any(|entry| entry.message.role == Role::Assistant) {
        return;
    }
    // Those that the summary before quoted are chosen anew: what was left then may be needed for statements now.
    let quoted: Vec<String> = rules.iter().map(quotation).collect();
    notes.statements.retain(|statement| !quoted.iter().any(|quoted| is_quoted(statement, quoted)));
    let said = notes.render();
    let is_shown = |rule: &Constraint| {
        let words = rule.text.trim();
        let in_kept = |entry: &Entry| entry.message.texts().any(|text| text.contains(words));
        words.is_empty() || said.contains(words) || request.kept.iter().any(in_kept)
    };
    let counter = request.counter;
    let share = limit.scaled(RULES_SHARE);
    let heading = counter.count_text(&format!("\n## {}\n", Section::Rules.heading()));
    let left = limit - counter.count_text(&said) - heading;
    let mut used = Tokens::ZERO;
    let mut quoted = Vec::new();
    for one in standing(rules).into_iter().rev().filter(|one| !is_shown(one.said)) {
        let text = told(&one);
        let cost = counter.count_text(&text) + Tokens(2);
        let most = if one.lasts() { share.max(left) } else { share };
        if used + cost > most {
            continue;
        }
        used += cost;
        // A piece of the rule that the model quoted stands in the whole of it.
        notes.statements.retain(|statement| !is_piece(statement, &one.said.text));
        quoted.push(Statement { section: Section::Rules, lead: "- ".into(), text, goes_on: false });
    }
    quoted.reverse();
    notes.statements.extend(quoted);
}

/// Returns whether a statement is what [`told`] returns of the rule with this quotation.
fn is_quoted(statement: &Statement, quotation: &str) -> bool {
    let text = statement.text.strip_prefix(TOLD).unwrap_or(&statement.text);
    text.strip_prefix(quotation).is_some_and(|rest| rest.is_empty() || rest.starts_with(LATER))
}

/// Returns a rule or a fact in the user's words, with what may have lifted it.
fn told(one: &SetDown<'_>) -> String {
    let mark = if one.is_fact() { TOLD } else { "" };
    let later = one.later.map_or(String::new(), |later| format!("{LATER}{}", quotation(later)));
    format!("{mark}{}{later}", quotation(one.said))
}

/// Stands before a fact to go by: among rules it would be taken for one.
const TOLD: &str = "Told by the user: ";

/// Stands before what may have lifted a rule.
const LATER: &str = "; later on this: ";

fn is_piece(statement: &Statement, rule: &str) -> bool {
    let quoted = statement.text.split(['"', '“', '”']).skip(1).step_by(2).map(str::trim);
    let mut quoted = quoted.filter(|quoted| quoted.len() >= 8).peekable();
    statement.section == Section::Rules
        && quoted.peek().is_some()
        && quoted.all(|quoted| rule.contains(quoted))
}

fn quotation(rule: &Constraint) -> String {
    let asked = rule.answers.as_ref().map_or(String::new(), |asked| format!(", to: \"{asked}\""));
    format!("\"{}\" (m{}{asked})", rule.text.trim(), rule.message)
}

/// Returns a line for each kind of thing that rules know exactly and `said` does not tell.
fn exact_lines(said: &str, known: &Summary, runs: &[Run]) -> Vec<String> {
    let mut lines = Vec::new();
    for (state, word) in TRAIL {
        let is_said = |file: &FileNote| names(said, &file.path, &known.files);
        let files = known.files.iter().filter(|file| file.state == state && !is_said(file));
        let files: Vec<String> = files.map(file_line).collect();
        if !files.is_empty() {
            lines.push(format!("{word}: {}", files.join(", ")));
        }
    }
    let untold: Vec<&Run> = last_checks(runs).into_iter().filter(|check| !tells(said, check)).collect();
    let last = untold.len().saturating_sub(CHECKS);
    lines.extend(untold[last..].iter().map(|check| check_line(check)));
    let open = known.action_items.iter().filter(|item| !holds(said, &item.task));
    lines.extend(open.map(|item: &ActionItem| format!("Open: {}", item.task.trim())));
    lines
}

/// What became of files, in the order in which it is told; what was only read is not.
const TRAIL: [(FileState, &str); 5] = [
    (FileState::Created, "Created"),
    (FileState::Modified, "Modified"),
    (FileState::Renamed, "Renamed"),
    (FileState::Deleted, "Deleted"),
    (FileState::Reverted, "Changed and put back"),
];

fn file_line(file: &FileNote) -> String {
    match file.note.trim() {
        "" => file.path.clone(),
        note => format!("{} ({note})", file.path),
    }
}

/// Returns whether a text names a file: by its path, or by as much of its end as no other file has.
fn names(text: &str, path: &str, files: &[FileNote]) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let end = (0..parts.len()).rev().map(|from| parts[from..].join("/")).find(|end| {
        let is_same = |file: &&FileNote| {
            file.path.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        end.len() >= 5 && files.iter().filter(is_same).count() <= 1
    });
    text.contains(path) || end.is_some_and(|end| has_whole(text, &end))
}

/// Returns whether a text has a name as it is, and not as a piece of a longer one: `pytest` is not in `pytest.ini`.
fn has_whole(text: &str, name: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let behind = &text[at + name.len()..];
        let goes_on = behind.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_inside));
        !text[..at].ends_with(is_inside) && !behind.starts_with(is_inside) && !goes_on
    })
}

/// Returns the last run of each check, in their order, where its outcome is known: one that a later run may have overtaken
/// says nothing of how things stand.
fn last_checks(runs: &[Run]) -> Vec<&Run> {
    let mut last: Vec<&Run> = Vec::new();
    for run in runs.iter().filter(|run| run.purpose.is_check()) {
        last.retain(|earlier| runner(earlier) != runner(run));
        last.push(run);
    }
    last.retain(|run| run.verdict != Verdict::Unknown);
    last
}

/// A check without what only picks lines of its output: `npm run check 2>&1 | grep error` runs `npm run check`.
fn runner(run: &Run) -> &str {
    let command = run.heart.split(" | ").next().unwrap_or_default().trim();
    command.strip_suffix("2>&1").unwrap_or(command).trim_end()
}

/// Returns whether a line of `said` tells how a check went, beside the words of its command.
fn tells(said: &str, check: &Run) -> bool {
    let outcomes: &[&str] = match check.verdict {
        Verdict::Failed => &FAILED,
        _ => &PASSED,
    };
    let heart = shown(check);
    said.lines().filter(|line| has_whole(line, &heart)).any(|line| {
        let line = line.replace(&heart, " ").to_lowercase();
        line.split(|c: char| !c.is_alphanumeric()).any(|word| outcomes.contains(&word))
    })
}

/// Words by which somebody tells that a check failed.
const FAILED: [&str; 17] = [
    "fail", "fails", "failed", "failing", "failure", "failures", "error", "errors", "errored", "broke",
    "broken", "breaks", "red", "exit", "exits", "exited", "unsuccessful",
];

/// Words by which somebody tells that a check went well.
const PASSED: [&str; 20] = [
    "pass", "passes", "passed", "passing", "success", "successful", "successfully", "succeed", "succeeds",
    "succeeded", "green", "ok", "okay", "clean", "cleanly", "fine", "works", "worked", "exit", "exited",
];

fn check_line(check: &Run) -> String {
    let code = check.exit_code.map(|code| format!("exit {code}"));
    let verdict = if check.verdict == Verdict::Failed { "failed" } else { "passed" };
    let outcome = [
        Some(code.unwrap_or_else(|| verdict.to_owned())),
        check.error.as_deref().map(|error| clipped(error, COMMAND_CHARS)),
    ];
    let outcome: Vec<String> = outcome.into_iter().flatten().collect();
    format!("Last run of `{}`: {}", shown(check), outcome.join(", "))
}

/// A command as one line.
fn shown(check: &Run) -> String {
    clipped(&one_line(&check.heart), COMMAND_CHARS)
}

/// More characters of a command or of an error are not shown.
const COMMAND_CHARS: usize = 160;

/// Returns whether a text says what a task says, however it is spaced and capitalised, or most of its words near one another.
fn holds(text: &str, task: &str) -> bool {
    let fold = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.map(str::to_lowercase).collect::<Vec<String>>()
    };
    let wanted = fold(task);
    let is_line_of = |line: &str| {
        let line = fold(line);
        let shared = wanted.iter().filter(|word| line.contains(word)).count();
        shared * 5 >= wanted.len() * 3
    };
    wanted.is_empty() || text.lines().any(is_line_of)
}

/// Lets whole statements go until `over` tokens are saved: what is easiest to find again and what is settled first, the
/// oldest first. The last statement of a section stays longest.
fn let_go(notes: &mut Notes, over: Tokens, counter: &dyn TokenCounter) {
    let mut saved = Tokens::ZERO;
    while saved < over && !notes.statements.is_empty() {
        let count = |section: Section| {
            notes.statements.iter().filter(|statement| statement.section == section).count()
        };
        let in_turns = Section::ALL.into_iter().filter(|section| place(*section) < IN_TURNS);
        let fullest = in_turns.filter(|section| count(*section) > 1).max_by_key(|section| {
            // Of the sections that may give, the one with most to give.
            (count(*section), std::cmp::Reverse(*section))
        });
        let left = Section::ALL.into_iter().filter(|section| count(*section) > 0);
        let section = fullest.or_else(|| left.min_by_key(|section| place(*section)));
        let at = section
            .and_then(|section| notes.statements.iter().position(|statement| statement.section == section));
        let Some(at) = at else { break };
        let gone = notes.statements.remove(at);
        saved += counter.count_text(&format!("{}{}\n", gone.lead, gone.text));
    }
}

/// Returns the place of a section in the order in which they give way.
fn place(section: Section) -> u8 {
    match section {
        Section::Failures => 0,
        Section::Changes => 1,
        Section::Findings => 2,
        Section::Decisions => 3,
        Section::State => IN_TURNS,
        Section::Next => 5,
        Section::Request => 6,
        Section::Rules => 7,
    }
}

/// Sections before this place give way in turns, down to one statement each, before any of them is empty.
const IN_TURNS: u8 = 4;

struct Page<'a> {
    text: String,
    counter: &'a dyn TokenCounter,
    limit: Tokens,
}

impl Page<'_> {
    /// Adds a section with as many whole lines as fit into `most` tokens of the page.
    fn section(&mut self, heading: &str, lines: &[String], most: Tokens) {
        let mut begun = false;
        for line in lines {
            let mut next = self.text.clone();
            if !begun {
                next.push_str(&format!("\n## {heading}"));
            }
            next.push_str(&format!("\n{}", item(line)));
            if self.counter.count_up_to(&next, most.min(self.limit)).is_some() {
                (self.text, begun) = (next, true);
            }
        }
    }
}

fn item(line: &str) -> String {
    format!("- {}", line.trim().replace('\n', " "))
}

/// Returns whether the summary `text` tells this statement apart.
pub(crate) fn tells_apart(text: &str, statement: &str) -> bool {
    text.lines().any(|line| line == item(statement))
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::SessionId;

    use super::*;

    const SAID: &str = r#"user: Find out why the relay tests fail.
assistant: Running. !Bash#c1 {"command":"cd /w && pytest"}
tool#c1: 1 failed, 3 passed in 0.2s
Exit code: 1
assistant: And the lint. !Bash#c2 {"command":"cd /w && ruff check ."}
tool#c2: All checks passed!
Exit code: 0
"#;

    #[test]
    fn a_fact_is_told_as_one_and_known_again_and_a_rule_stands_with_what_may_have_lifted_it() {
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let rules = [
            said(1, "Never use external crates."),
            Constraint { superseded_by: Some(7), ..said(3, "Our port is 8080.") },
            said(5, "OK, external crates are allowed now."),
            said(7, "Our port is 9090 now."),
        ];
        let lines: Vec<String> = standing(&rules).iter().map(told).collect();
        assert_eq!(
            lines,
            [
                "\"Never use external crates.\" (m1); later on this: \"OK, external crates are allowed now.\" (m5)",
                "Told by the user: \"Our port is 9090 now.\" (m7)",
            ]
        );
        for (rule, line) in [&rules[0], &rules[3]].into_iter().zip(lines) {
            let statement =
                Statement { section: Section::Rules, lead: "- ".into(), text: line, goes_on: false };
            assert!(is_quoted(&statement, &quotation(rule)) && !is_quoted(&statement, &quotation(&rules[1])));
        }
    }

    #[test]
    fn a_check_is_told_where_no_line_says_how_it_went() {
        let transcript = longhaul_testkit::transcript(SAID);
        let all = runs(transcript.entries());
        let lines = |said: &str| exact_lines(said, &Summary::default(), &all);
        let both = [
            "Last run of `pytest`: exit 1, 1 failed, 3 passed in 0.2s",
            "Last run of `ruff check .`: exit 0",
        ];
        assert_eq!(lines("- `pytest.ini` sets the path, and the check failed."), both);
        assert_eq!(lines("- `pytest` is the runner.\n- `ruff check .` is the linter."), both);
        assert_eq!(lines("- `pytest` fails: 1 of 4.\n- `ruff check .` passes."), Vec::<String>::new());
        let reduced = "- `pytest` was reduced to one file.\n- `ruff check .` asks for the password: okapi.";
        assert_eq!(lines(reduced), both);
    }

    #[test]
    fn a_check_that_was_run_since_is_not_told_as_the_last() {
        let said = r#"user: Do the types hold?
assistant: Checking. !Bash#c1 {"command":"npm run check 2>&1 | grep error"}
tool#c1: src/a.ts(28,2): error TS2739: Type is missing a property
assistant: Mended; again. !Bash#c2 {"command":"npm run check 2>&1 | tail -3"}
tool#c2: Debugger attached.
Waiting for the debugger to disconnect...
"#;
        let all = runs(longhaul_testkit::transcript(said).entries());
        assert_eq!(
            all.iter().map(|run| run.verdict).collect::<Vec<_>>(),
            [Verdict::Failed, Verdict::Unknown]
        );
        assert_eq!(exact_lines("- Types.", &Summary::default(), &all), Vec::<String>::new());
    }

    #[test]
    fn the_words_of_a_command_tell_nothing_of_how_it_went() {
        let said = r#"user: Do they pass?
assistant: Running. !Bash#c1 {"command":"pytest tests/errors.py --exit"}
tool#c1: 1 failed, 3 passed in 0.2s
Exit code: 1
"#;
        let all = runs(longhaul_testkit::transcript(said).entries());
        let lines = |said: &str| exact_lines(said, &Summary::default(), &all);
        let told = ["Last run of `pytest tests/errors.py --exit`: exit 1, 1 failed, 3 passed in 0.2s"];
        assert_eq!(lines("- `pytest tests/errors.py --exit` is the check."), told);
        assert_eq!(lines("- `pytest tests/errors.py --exit` fails."), Vec::<String>::new());
    }

    #[test]
    fn what_is_set_apart_is_told_apart_only_where_it_fits() {
        let line = "Elm costs 137 euros.\nOr more. [not found in the transcript: 137]".to_owned();
        let text = |limit: u64| {
            let limit = Tokens(limit);
            let mut page = Page { text: "- It was measured.".into(), counter: &CharsPer4, limit };
            page.section(UNCONFIRMED, std::slice::from_ref(&line), limit);
            page.text
        };
        assert!(tells_apart(&text(100), &line), "{}", text(100));
        assert!(!tells_apart(&text(20), &line), "{}", text(20));
    }

    #[test]
    fn rules_take_what_the_statements_leave_and_a_share_where_that_is_less() {
        let transcript = longhaul_testkit::transcript("user: Begin.\nassistant: I begin.");
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::new());
        let rule = |nth: u64| format!("Never change the function handler_{nth}.");
        let constraints =
            (0..30).map(|nth| Constraint { text: rule(nth), message: 0, ..Constraint::default() });
        let known = Summary { constraints: constraints.collect(), ..Summary::default() };
        let limit = Tokens(700);
        let request = SummaryRequest::new(&session, transcript.entries(), &index, &CharsPer4, limit);
        let notes = |statements: u64| Notes {
            statements: (0..statements)
                .map(|nth| Statement {
                    section: Section::Findings,
                    lead: "- ".into(),
                    text: format!("Part {nth} was read from its beginning to its end."),
                    goes_on: false,
                })
                .collect(),
            ..Notes::default()
        };
        let told = |said: Notes| {
            let (text, tokens, notes) = supplemented(said, &[], &known, &request, limit).unwrap();
            assert!(tokens <= limit, "{text}");
            ((0..30).filter(|nth| text.contains(&rule(*nth))).collect::<Vec<_>>(), notes)
        };
        let (all, mut notes_with_rules) = told(notes(1));
        assert_eq!(all.len(), 30);
        let (few, _) = told(notes(55));
        assert!((4..10).contains(&few.len()) && few.ends_with(&[28, 29]), "the newest: {few:?}");
        // What the summary before had room for is no claim to it.
        notes_with_rules.statements.extend(notes(55).statements);
        let (still, notes) = told(notes_with_rules);
        assert_eq!(still, few);
        assert!(notes.statements.len() > few.len() + 30, "{notes:?}");
    }
}
