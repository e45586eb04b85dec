//! What is left of a running summary where the next update no longer fits behind it.

use longhaul_summarize::{
    Draft,
    rules::{overrules, set_down},
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Summary, SummaryRecord, Tokens, one_line};

use super::{
    super::page::{FACT, RULE, TASK, are_one},
    CONDENSED, HEAD, TRUNCATED,
    chosen::framed,
    drawn::without,
    holds::{Fate, Holds, is_taken_back, without_marks},
    line::{Class, Line, Rank, said_by_person},
    once::once,
    short::{QUOTED, quoted},
};

/// Returns the running summary where the update no longer fits: the lines of both that the work needs longest, in their
/// order, under one head, within `limit`, and up to `most` where they must be said. Of an older text in another form the task and the
/// rules are told in this one. `None` where what is new is in no lines of this form.
pub(crate) fn condense(
    old: &SummaryRecord,
    new: &Draft,
    holds: &Holds<'_>,
    counter: &dyn TokenCounter,
    limit: Tokens,
    most: Tokens,
) -> Option<String> {
    if !new.text.starts_with(HEAD) {
        return None;
    }
    let mut lines: Vec<Line> = old.text.lines().filter_map(|line| read(line, &old.summary)).collect();
    // What was the last request is one among others now.
    for line in lines.iter_mut().filter(|line| line.rank == Rank::LastRequest) {
        *line = Line::read(line.text.replacen(Class::Now.start(), Class::Request.start(), 1));
    }
    let mut lines = each_once(with_owed(lines, &old.summary));
    lines.retain(|line| line.rank == Rank::Task || !is_taken_back(&line.text, &new.summary));
    lines.retain_mut(|line| match holds.line(&line.text) {
        Fate::Stands => true,
        Fate::Marked(marked) => {
            line.text = marked;
            true
        }
        Fate::Leaves => false,
    });
    lines.extend(new.text.lines().filter_map(|line| read(line, &old.summary)));
    Some(framed(CONDENSED, &once(without_overruled(lines)), counter, limit, most))
}

/// Returns the lines without decisions that a later line overrules, and without rules that stand in a newer one with what may have lifted
/// them.
fn without_overruled(mut lines: Vec<Line>) -> Vec<Line> {
    let is_overruled = |at: &usize| {
        let later = lines[at + 1..].iter().filter_map(|line| said_by_person(&line.text));
        matches!(lines[*at].rank, Rank::Choice | Rank::Decision)
            && later.into_iter().any(|said| overrules(said, &lines[*at].text))
    };
    // Told once more with what may have lifted it, a rule need not stand without that.
    let stands_in_newer = |at: &usize| {
        let rule = lines[*at].text.trim_end_matches(']');
        lines[*at].rank == Rank::Rule
            && lines[at + 1..]
                .iter()
                .any(|newer| newer.text.len() > lines[*at].text.len() && newer.text.starts_with(rule))
    };
    let overruled: Vec<usize> =
        (0..lines.len()).filter(|at| is_overruled(at) || stands_in_newer(at)).collect();
    let mut at = 0..lines.len();
    lines.retain(|_| !at.next().is_some_and(|at| overruled.contains(&at)));
    lines
}

/// Returns the lines without a decision that stands as a rule as well, and requests without what of them stands as a rule, a fact or a
/// decision.
fn each_once(mut lines: Vec<Line>) -> Vec<Line> {
    let said = |line: &Line| said_by_person(&line.text).map(|said| said.trim_end_matches(']').to_owned());
    let of = |rank: Rank| lines.iter().filter(move |line| line.rank == rank).filter_map(said);
    let rules: Vec<String> = of(Rank::Rule).collect();
    let apart: Vec<String> = rules.iter().cloned().chain(of(Rank::Choice)).collect();
    let apart: Vec<&str> = apart.iter().map(String::as_str).collect();
    lines.retain_mut(|line| match (line.rank, said(line)) {
        (Rank::Choice, Some(decision)) => !rules.iter().any(|rule| are_one(rule, &decision)),
        (Rank::Request | Rank::Question, Some(asked)) => {
            let left = without(&asked, &apart);
            let is_left = !left.is_empty();
            line.text = format!("{}{left}]", Class::Request.start());
            is_left
        }
        _ => true,
    });
    lines
}

/// Returns the `lines` of a summary with those for its task and its rules that none of them has: the task first, and a rule behind the
/// one that was said before it.
pub(super) fn with_owed(mut lines: Vec<Line>, said: &Summary) -> Vec<Line> {
    if !said.goal.trim().is_empty() && !lines.iter().any(|line| line.rank == Rank::Task) {
        lines.insert(0, Line::of(Class::Task, &said.goal));
    }
    let mut behind = lines.iter().position(|line| line.rank == Rank::Task).map_or(0, |at| at + 1);
    for one in set_down(&said.constraints) {
        let told = quoted(&one.said.text, QUOTED);
        let tells = |line: &Line| line.rank <= Rank::Rule && line.text.contains(&told);
        match lines.iter().position(tells) {
            Some(at) if lines[at].rank == Rank::Rule => behind = behind.max(at + 1),
            Some(_) => {}
            None => {
                lines.insert(behind, Line::of(Class::of(&one), &one.told()));
                behind += 1;
            }
        }
    }
    lines
}

/// Returns a line of the running summary of which `said` is the data. A model's words stay as they are, line by line; what stands beside
/// them of the task and the rules is told from the data.
fn read(line: &str, said: &Summary) -> Option<Line> {
    let is_frame =
        line.starts_with(HEAD) || line.starts_with("[Update ") || [CONDENSED, TRUNCATED].contains(&line);
    if line.trim().is_empty() || is_frame || is_of_the_person(line, said) {
        return None;
    }
    let is_ours = line.starts_with("[✓ ") || line.starts_with("[❌ ");
    let text = line.to_owned();
    Some(if is_ours { Line::read(text) } else { Line { text, rank: Rank::Other } })
}

/// Whether this is a line for the task or a rule that stands beside a model's words, and not one of these.
fn is_of_the_person(line: &str, said: &Summary) -> bool {
    let task = line.strip_prefix(TASK).map(|task| one_line(task.trim_end_matches(" […]")));
    let behind = [RULE, FACT].iter().find_map(|mark| line.strip_prefix(mark));
    let rule = behind.and_then(|rule| rule.split_once("): ")).map(|(_, rule)| one_line(rule));
    task.is_some_and(|task| one_line(&said.goal).starts_with(&*without_marks(&task)))
        || rule.is_some_and(|rule| {
            said.constraints.iter().any(|known| rule.starts_with(&*one_line(&known.told())))
        })
}
