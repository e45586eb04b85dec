//! What of a running summary holds, now that more was said: what is overruled leaves, and is marked where it stands among other things.

use std::borrow::Cow;

use longhaul_extract::sentences;
use longhaul_summarize::{Draft, rules::Since};
use longhaul_transcript::{Constraint, Summary, one_line};

use super::{
    super::page::{FACT, RULE, TASK},
    HEAD, head,
    line::{Class, LATER, MARK_END, alone, said_by_person},
    short::{QUOTED, quoted},
};

/// What was said since a running summary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds<'a> {
    new: &'a Draft,
    since: Option<&'a Since>,
}

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Stands,
    /// Something in it holds no more: so it is told now.
    Marked(String),
    Leaves,
}

impl<'a> Holds<'a> {
    /// Compares a running summary with what is `new`, and with what was said `since`.
    pub(crate) fn new(new: &'a Draft, since: Option<&'a Since>) -> Holds<'a> {
        Holds { new, since }
    }

    /// Returns the text of a running summary as far as it holds.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let fates: Vec<Fate> = text.lines().map(|line| self.line(line)).collect();
        if fates.iter().all(|fate| *fate == Fate::Stands) {
            return Cow::Borrowed(text);
        }
        let mut left: Vec<Cow<'_, str>> = Vec::new();
        for (line, fate) in text.lines().zip(fates) {
            match fate {
                Fate::Stands => left.push(Cow::Borrowed(line)),
                Fate::Marked(line) => left.push(Cow::Owned(line)),
                Fate::Leaves => count_down(&mut left),
            }
        }
        Cow::Owned(left.join("\n"))
    }

    /// Returns what becomes of a line.
    pub(super) fn line(&self, line: &str) -> Fate {
        if self.is_over(line) {
            return Fate::Leaves;
        }
        // Beside a model's words.
        if let Some(task) = line.strip_prefix(TASK) {
            return self.marked(task).map_or(Fate::Stands, |task| Fate::Marked(format!("{TASK}{task}")));
        }
        let Some((class, said)) = Class::told(line) else { return Fate::Stands };
        match class {
            Class::Task | Class::Now | Class::Request => self.asked(class, said),
            _ => Fate::Stands,
        }
    }

    /// Returns whether a line for a rule, a fact or a decision tells what holds no more, or is told anew with what may have lifted it.
    fn is_over(&self, line: &str) -> bool {
        let by_a_form = [RULE, FACT].iter().any(|mark| line.starts_with(mark));
        let rule = by_a_form.then(|| line.split_once("): ")).flatten().map(|(_, rule)| (Class::Rule, rule));
        let Some((class, said)) = rule.or_else(|| Class::told(line)) else { return false };
        let told = alone(said);
        match class {
            Class::Rule | Class::Fact => {
                is_taken_back(line, &self.new.summary) || self.over(told).is_some() || self.is_told_anew(told)
            }
            Class::Choice | Class::Decision => {
                self.since.is_some_and(|since| since.over_decision(told).is_some())
            }
            Class::Task | Class::Now | Class::Request => false,
        }
    }

    fn over(&self, told: &str) -> Option<&'a str> {
        self.since?.over(told)
    }

    fn is_told_anew(&self, rule: &str) -> bool {
        let mut lines = self.new.text.lines().filter_map(said_by_person);
        lines.any(|said| said.strip_prefix(rule).is_some_and(|rest| rest.starts_with(LATER)))
    }

    /// Returns what becomes of what was asked: it leaves where nothing in it holds and it is no task and not what was asked last.
    fn asked(&self, class: Class, said: &str) -> Fate {
        let said = said.strip_suffix(']').unwrap_or(said);
        let over = self.overruled_in(said);
        if over.is_empty() {
            return Fate::Stands;
        }
        let left = over.iter().fold(said.to_owned(), |left, (was, _)| left.replacen(&**was, "", 1));
        if class == Class::Request && !left.contains(char::is_alphanumeric) {
            return Fate::Leaves;
        }
        self.marked(said).map_or(Fate::Stands, |said| Fate::Marked(format!("{}{said}]", class.start())))
    }

    /// Returns `said` with a mark behind what in it holds no more; `None` where all is marked that has to be.
    fn marked(&self, said: &str) -> Option<String> {
        let over = self.overruled_in(said);
        let marked = over.iter().fold(said.to_owned(), |said, (was, by)| with_mark(&said, was, *by));
        (marked != said).then_some(marked)
    }

    /// Returns what holds now in the place of a rule that was taken back.
    fn newest_over(&self, rule: &Constraint) -> Option<&'a str> {
        let rules = &self.new.summary.constraints;
        let mut newest: Option<&'a Constraint> = None;
        let mut by = rule.superseded_by;
        while let Some(next) = rules.iter().find(|next| Some(next.message) == by) {
            newest = Some(next);
            by = next.superseded_by.filter(|later| *later > next.message);
        }
        newest.map(|newest| newest.text.trim())
    }

    /// Returns what of `said` holds no more, and what took its place where that is known.
    fn overruled_in(&self, said: &str) -> Vec<(String, Option<&'a str>)> {
        let rules = &self.new.summary.constraints;
        let holds = |text: &str| rules.iter().any(|rule| rule.superseded_by.is_none() && rule.text == text);
        let gone = rules.iter().filter(|rule| rule.superseded_by.is_some() && !holds(&rule.text));
        let gone = gone.map(|rule| {
            (one_line(rule.text.trim()).into_owned(), self.over(&rule.text).or(self.newest_over(rule)))
        });
        let mut all: Vec<_> = gone.filter(|(was, _)| said.contains(&**was)).collect();
        for sentence in sentences(&without_marks(said)) {
            let is_known = all.iter().any(|(was, _)| was.contains(&sentence) || sentence.contains(&**was));
            if let Some(by) = self.over(&sentence).filter(|_| !is_known && said.contains(&sentence)) {
                all.push((sentence, Some(by)));
            }
        }
        all
    }
}

/// Takes a line out of what the head over it counts.
fn count_down(left: &mut [Cow<'_, str>]) {
    if let Some(over) = left.iter_mut().rev().find(|line| line.starts_with(HEAD)) {
        let count = over[HEAD.len()..].split(' ').next().and_then(|count| count.parse::<usize>().ok());
        *over = Cow::Owned(head(count.unwrap_or(1).saturating_sub(1)));
    }
}

/// Returns `said` with a mark behind `was` that tells what took its place, in the place of an older mark.
fn with_mark(said: &str, was: &str, by: Option<&str>) -> String {
    let mark = match by {
        Some(by) => format!("{LATER}{}{MARK_END}", quoted(by, QUOTED)),
        None => TAKEN_BACK.to_owned(),
    };
    let Some((before, behind)) = said.split_once(was) else { return said.to_owned() };
    let behind = match behind.strip_prefix(LATER).and_then(|marked| marked.split_once(MARK_END)) {
        Some((_, behind)) => behind,
        None => behind.strip_prefix(TAKEN_BACK).unwrap_or(behind),
    };
    format!("{before}{was}{mark}{behind}")
}

/// Returns a text without what marks in it tell.
pub(super) fn without_marks(said: &str) -> String {
    let mut left = said.replace(TAKEN_BACK, "");
    while let Some(at) = left.find(LATER) {
        let end = left[at..].find(MARK_END).map_or(left.len(), |end| at + end + MARK_END.len());
        left.replace_range(at..end, "");
    }
    left
}

/// Returns whether a line tells of a rule that the user took back since.
pub(super) fn is_taken_back(line: &str, said: &Summary) -> bool {
    let tells = |rule: &Constraint| line.contains(&*quoted(rule.text.trim(), QUOTED));
    let (gone, holding): (Vec<&Constraint>, Vec<_>) =
        said.constraints.iter().partition(|rule| rule.superseded_by.is_some());
    said_by_person(line).is_some() && gone.into_iter().any(tells) && !holding.into_iter().any(tells)
}

/// Stands behind what was taken back in words that name nothing else.
pub(super) const TAKEN_BACK: &str = " (taken back since)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_took_the_place_of_is_marked_where_other_things_stand_beside_it() {
        let rule = |message, text: &str, superseded_by| Constraint {
            text: text.into(),
            message,
            superseded_by,
            ..Constraint::default()
        };
        let constraints = vec![
            rule(0, "Use Celery for the jobs.", Some(5)),
            rule(2, "Never push.", Some(9)),
            rule(5, "Use Dramatiq instead of Celery.", Some(8)),
            rule(8, "Use RQ instead of Celery.", None),
        ];
        let summary = Summary { constraints, ..Summary::default() };
        let new = Draft { summary, ..Draft::default() };
        let holds = Holds::new(&new, None);
        let before = "--- Summarized Context (4 items) ---
[✓ user: Task: Build the runner. Use Celery for the jobs. Then test it.]
[✓ user: Rule: Never push.]
[✓ user: Request: Use Celery for the jobs.]
[✓ user: Now: Go on. Never push.]";
        let now = "--- Summarized Context (2 items) ---
[✓ user: Task: Build the runner. Use Celery for the jobs. (later on this: \"Use RQ instead of Celery.\") Then test it.]
[✓ user: Now: Go on. Never push. (taken back since)]";
        assert_eq!(holds.text(before), now);
        // What is marked is not marked again, and not told by what its mark says.
        assert_eq!(holds.text(now), now);
    }
}
