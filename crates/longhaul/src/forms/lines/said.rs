//! What a summary in this form says, read back from a history.

use longhaul_extract::{demand_kind, sentences, settles};
use longhaul_summarize::rules::is_lasting;
use longhaul_transcript::{Constraint, Summary, is_ending_line};

use super::{
    CONDENSED, HEAD,
    holds::TAKEN_BACK,
    line::{Class, LATER, MARK_END, alone},
};

/// Returns the text of a running summary that stands in a history in this form, without its header and its ending, and what its lines
/// say of the task, the rules and what was decided, as said in the message `at`. `None` where it has another form.
pub(crate) fn read_back(message: &str, at: u64) -> Option<(String, Summary)> {
    let is_start = |line: &&str| line.starts_with(HEAD) || *line == CONDENSED;
    let from = message.lines().position(|line| is_start(&line))?;
    let lines: Vec<&str> = message.lines().skip(from).collect();
    let n_ending = lines.iter().rev().take_while(|line| line.is_empty() || is_ending_line(line)).count();
    let lines = &lines[..lines.len() - n_ending];
    let said = |class: Class| {
        lines.iter().filter_map(move |line| line.strip_prefix(class.start())?.strip_suffix(']'))
    };
    // What may have lifted it stands behind it.
    let rule = |told: &str| {
        let (told, later) = told.split_once(LATER).unwrap_or((told, ""));
        let later = later.strip_suffix(MARK_END).map(|later| Constraint::read_back(later, at));
        [Constraint::read_back(told, at)].into_iter().chain(later)
    };

    let goal = said(Class::Task).next().unwrap_or_default().to_owned();
    // What the last request demands is told in no other line, unless it holds no more.
    let demanded: Vec<String> = said(Class::Now).map(without_marked).collect();
    let demanded = demanded.iter().flat_map(|said| sentences(said));
    let demanded = demanded.filter(|text| demand_kind(text).is_some() && is_lasting(text));
    let told = said(Class::Rule).chain(said(Class::Fact));
    let demanded: Vec<String> = told.map(str::to_owned).chain(demanded).collect();
    let constraints = demanded.iter().flat_map(|told| rule(told)).collect();
    // What is decided as a rule stands as that alone.
    let ruled = said(Class::Rule).filter(|rule| settles(rule));
    let decided = ruled.chain(said(Class::Choice)).chain(said(Class::Decision));
    let decisions = decided.map(|told| alone(told).to_owned()).collect();
    let summary = Summary { goal, constraints, decisions, ..Summary::default() };
    Some((lines.join("\n"), summary))
}

/// Returns what was said without the sentences that a mark stands behind.
fn without_marked(said: &str) -> String {
    let mut left = said.to_owned();
    while let Some((at, end)) = first_mark(&left) {
        let before = left[..at].trim_end_matches(ENDS);
        let begins = before.rfind(ENDS).map_or(0, |end| end + 1);
        left.replace_range(begins..end, "");
    }
    left
}

/// Returns where the first mark stands.
fn first_mark(said: &str) -> Option<(usize, usize)> {
    let gone = said.find(TAKEN_BACK).map(|at| (at, at + TAKEN_BACK.len()));
    let later = said.find(LATER).map(|at| {
        let end = said[at..].find(MARK_END).map_or(said.len(), |end| at + end + MARK_END.len());
        (at, end)
    });
    gone.into_iter().chain(later).min()
}

/// What ends a sentence.
const ENDS: [char; 3] = ['.', '!', '?'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_more_in_the_last_request_is_no_rule_again() {
        let message = "--- Summarized Context (3 items) ---\n[✓ user: Task: Port it.]\n[✓ assistant: Decision: We settled on slim. (later on this: \"Alpine it is.\")]\n[✓ user: Now: Go on. Never push. (taken back since) Never use tabs. (later on this: \"You may use tabs.\") Never touch audit.]";
        let (_, said) = read_back(message, 4).unwrap();
        let rules: Vec<&str> = said.constraints.iter().map(|rule| &*rule.text).collect();
        assert_eq!(rules, ["Never touch audit."]);
        assert_eq!(said.decisions, ["We settled on slim."]);
    }

    #[test]
    fn what_the_last_request_demands_is_read_back_as_a_rule() {
        let message = "[Previous Conversation Summary]\n\n--- Summarized Context (3 items) ---\n[✓ user: Task: Port it.]\n[✓ user: Rule: Never push.]\n[✓ user: Fact: The budget is 10 euros.]\n[✓ user: Now: Write a test for that. Never touch the table audit.]\n\nsummary-depth:0 id:b2454e128b49e802";
        let (text, said) = read_back(message, 4).unwrap();
        assert!(text.starts_with(HEAD) && text.ends_with("audit.]"), "{text}");
        let rules: Vec<(&str, u64)> =
            said.constraints.iter().map(|rule| (&*rule.text, rule.message)).collect();
        assert_eq!(
            (&*said.goal, rules),
            (
                "Port it.",
                vec![("Never push.", 4), ("The budget is 10 euros.", 4), ("Never touch the table audit.", 4)]
            )
        );
    }
}
