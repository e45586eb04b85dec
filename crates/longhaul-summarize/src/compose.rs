//! Puts the model's words and the rules' facts together, within the limit.

use longhaul_transcript::{
    ActionItem, Constraint, ErrorNote, Summary, SummaryMode, Tokens, clipped, one_line,
};

use crate::{
    Answer, Summarizer, SummaryRequest,
    beside::with_said,
    form::Form,
    joined::{join, render},
    needed::Needed,
    notes::{Notes, Section},
    rules::{SetDown, gist, standing},
    supplement::supplemented,
};

/// A summary as data and as text.
#[derive(Debug)]
pub(crate) struct Composed {
    pub summary: Summary,
    pub text: String,
    pub tokens: Tokens,
}

/// Returns how much of the limit a model's words may take; facts by rule get the rest.
///
/// Model summaries alone keep 0.735 of what the rest of the work needs, with 1,000 tokens of facts beside them 0.90,
/// facts alone 0.957 (measured on 75 real compactions): so facts get the larger share, and a model is
/// asked for what facts cannot say.
///
/// Sections of statements by a strong model answer nearly all of what a reader asks, facts by rule half of it; and a model
/// that is told a limit stays a fifth below it, which is room enough for what only rules know exactly.
pub(crate) fn share(mode: SummaryMode, form: Form, limit: Tokens) -> Tokens {
    match (form, mode) {
        (Form::Notes, _) => limit.scaled(0.95),
        // A prompt of its own says what is wanted, and the answer is the summary.
        (Form::Prose, _) => prose_share(limit),
        (_, SummaryMode::Llm) => limit.scaled(0.5),
        _ => limit.scaled(0.3),
    }
}

/// Returns how much of a summary's limit a model that writes prose may have: everything by rule has the rest.
fn prose_share(limit: Tokens) -> Tokens {
    limit.scaled(0.85)
}

/// Returns how much a model that writes prose is told that it may write of what `request` asks for, and gets: what keeps to it is not
/// cut. It is less than most of the limit where the user's `rules` need more than that leaves, but not under 50 tokens for that.
pub fn prose_told(request: &SummaryRequest<'_>, rules: &[Constraint]) -> Tokens {
    let SummaryRequest { counter, limit, kept, .. } = *request;
    let stays = |rule: &str| kept.iter().any(|entry| entry.message.texts().any(|text| text.contains(rule)));
    let told = rules.iter().filter(|rule| rule.superseded_by.is_none() && !stays(rule.text.trim()));
    let needed: Tokens = told.map(|rule| counter.count_text(&rule.text) + RULE_LEAD).sum();
    let left = limit - needed.scaled(WITH_TASK).min(limit.scaled(RULES_SHARE));
    prose_share(limit).min(left.max(LEAST_TOLD))
}

/// The share of the limit that a model's words leave the user's rules at most.
const RULES_SHARE: f64 = 0.4;

/// The task stands before the rules, and takes a quarter of the room of both.
const WITH_TASK: f64 = 4.0 / 3.0;

/// What stands before a rule, and the end of its line.
const RULE_LEAD: Tokens = Tokens(10);

/// Nobody is told to write less than this.
pub(crate) const LEAST_TOLD: Tokens = Tokens(50);

/// Joins a checked answer, given in `form`, with the facts by rule that it does not mention. Returns `None` where nothing
/// that is smaller than the source fits.
pub(crate) async fn compose(
    mode: SummaryMode,
    form: Form,
    checked: Summary,
    rules: &dyn Summarizer,
    known: &Summary,
    request: &SummaryRequest<'_>,
) -> Option<Composed> {
    let counter = request.counter;
    let limit = request.limit.min(request.replaced() - Tokens(1));
    let said = render(mode, &checked, counter, share(mode, form, limit));
    if said.is_empty() {
        return None;
    }
    let left = limit - counter.count_text(&said) - SEPARATOR;
    // In `hybrid` the facts by rule have room for it.
    let is_alone = mode == SummaryMode::Llm;
    let task = is_alone.then(|| task(&known.goal, &said, request, limit.scaled(TASK_SHARE).min(left)));
    let task = task.unwrap_or_default();
    let left = left - counter.count_text(&task);
    let share = limit.scaled(PINNED_SHARE).min(left);
    // In `hybrid` the facts by rule tell of the rest.
    let most = if is_alone { left } else { share };
    let pinned = pinned(&known.constraints, &task, request, share, most);
    let parts = [task, pinned, said].into_iter().filter(|part| !part.is_empty());
    let words = parts.collect::<Vec<_>>().join("\n");
    let spoken = counter.count_text(&words);
    let kept = with_said(request, &words);

    let needed = Needed::of(request);
    let mut room = limit - spoken - SEPARATOR;
    let mut without_names = None;
    for _ in 0..TRIES {
        let facts = match room >= MIN_FACTS {
            true => {
                let request = SummaryRequest { kept: &kept, limit: room, ..*request };
                rules.summarize(request).await.ok()?
            }
            false => break,
        };
        let mut text = match facts.text.trim() {
            "" => words.clone(),
            facts => format!("{words}\n\n{facts}"),
        };
        let missing = needed.missing_from(&text, counter, limit);
        let plain = counter.count_text(&text);
        if plain <= limit && !facts.text.trim().is_empty() {
            without_names.get_or_insert_with(|| (text.clone(), plain, facts.summary.clone()));
        }
        let tokens = match missing.is_empty() {
            true => plain,
            false => {
                text = format!("{text}\n{missing}");
                counter.count_text(&text)
            }
        };
        if tokens <= limit {
            return Some(Composed { summary: join(mode, checked, facts.summary), text, tokens });
        }
        // Less than what the facts took, not than what they were allowed: they come in lines, and a little less room may
        // change nothing.
        room = room.min(facts.tokens) - (tokens - limit) - Tokens(1);
    }
    // Names come back in place of facts, and take more room than these left: the task is among the facts.
    if let Some((text, tokens, facts)) = without_names {
        return Some(Composed { summary: join(mode, checked, facts), text, tokens });
    }
    // No room for facts: the words, and the names if they fit.
    let facts = rules.summarize(*request).await.ok()?;
    let named = format!("{words}\n{}", needed.missing_from(&words, counter, limit));
    let mut texts =
        [named.trim_end().to_owned(), words].into_iter().map(|text| (counter.count_text(&text), text));
    let (tokens, text) = texts.find(|(tokens, _)| *tokens <= limit)?;
    Some(Composed { summary: join(mode, checked, facts.summary), text, tokens })
}

/// Joins checked statements with what the rules know and they do not say. Returns `None` where nothing that is smaller
/// than the source fits.
pub(crate) fn compose_notes(
    notes: Notes,
    unconfirmed: Vec<String>,
    known: &Summary,
    request: &SummaryRequest<'_>,
) -> Option<Composed> {
    let limit = request.limit.min(request.replaced() - Tokens(1));
    let (text, tokens, notes) = supplemented(notes, &unconfirmed, known, request, limit)?;
    let said = |section: Section| -> Vec<String> {
        let own = notes.statements.iter().filter(|statement| statement.section == section);
        own.map(|statement| statement.text.clone()).take(Answer::MAX_ENTRIES).collect()
    };
    let tasks = said(Section::Next).into_iter().map(|task| ActionItem { task, ..ActionItem::default() });
    let errors = said(Section::Failures).into_iter().map(|error| ErrorNote { error, ..ErrorNote::default() });
    let summary = Summary {
        narrative: said(Section::State).join(" "),
        key_points: said(Section::Findings),
        decisions: said(Section::Decisions),
        action_items: tasks.collect(),
        errors: errors.collect(),
        current_focus: said(Section::Next).into_iter().next().unwrap_or_default(),
        unconfirmed,
        ..known.clone()
    };
    Some(Composed { summary, text, tokens })
}

/// Returns a line with what the user set out for, where neither the model's words nor the kept messages show it: of a long task the demands
/// in it that last, or its beginning.
fn task(goal: &str, said: &str, request: &SummaryRequest<'_>, most: Tokens) -> String {
    let goal = goal.trim();
    let is_kept = || request.kept.iter().any(|entry| entry.message.texts().any(|text| text.contains(goal)));
    if goal.is_empty() || said.contains(goal) || is_kept() {
        return String::new();
    }
    let line = |told: &str| format!("Task: {}", one_line(told));
    let fits = |told: &str| request.counter.count_up_to(&line(told), most).is_some();
    if fits(goal) {
        return line(goal);
    }
    // Half as many characters each time come to little after a few.
    let beginnings = std::iter::successors(Some(goal.chars().count() / 2), |count| Some(count / 2));
    let mut beginnings = beginnings.take_while(|count| *count > 0).map(|count| clipped(goal, count));
    let told = gist(goal, fits).or_else(|| beginnings.find(|told| fits(told)));
    told.map_or_else(String::new, |told| line(&told))
}

/// Returns the user's rules and the facts they told, verbatim, the newest first where not all fit a `share`, or what holds on `most`; those
/// that the `task` and the kept messages show, and those that the user took back, are left out.
fn pinned(
    constraints: &[Constraint],
    task: &str,
    request: &SummaryRequest<'_>,
    share: Tokens,
    most: Tokens,
) -> String {
    let is_shown = |rule: &Constraint| {
        task.contains(&*one_line(rule.text.trim()))
            || request
                .kept
                .iter()
                .any(|entry| entry.message.texts().any(|text| text.contains(rule.text.trim())))
    };
    let mut told: Vec<SetDown<'_>> = Vec::new();
    for one in standing(constraints).into_iter().rev().filter(|one| !is_shown(one.said)) {
        told.push(one);
        let limit = if one.lasts() { most } else { share };
        if request.counter.count_up_to(&listed(&told), limit).is_none() {
            told.pop();
        }
    }
    listed(&told)
}

/// Returns what a person set down, the newest first, each under what it is.
fn listed(told: &[SetDown<'_>]) -> String {
    let (facts, rules): (Vec<SetDown<'_>>, Vec<SetDown<'_>>) = told.iter().partition(|one| one.is_fact());
    let line = |one: &SetDown<'_>| format!("\n- {} (m{})", one_line(&one.told()), one.said.message);
    let under = |heading: &str, all: &[SetDown<'_>]| match all.is_empty() {
        true => String::new(),
        false => format!("{heading}{}", all.iter().map(line).collect::<String>()),
    };
    let parts = [under("The user's rules:", &rules), under("Told by the user:", &facts)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The share of the limit that the task may take beside a model's words.
const TASK_SHARE: f64 = 0.1;
/// The share of the limit that the user's rules may take before facts by rule are told.
const PINNED_SHARE: f64 = 0.2;
/// What the blank line between the two parts may cost.
const SEPARATOR: Tokens = Tokens(2);
/// Facts in less room than this are none.
const MIN_FACTS: Tokens = Tokens(50);
/// How often the facts are asked for again in less room, where joining the parts costs more than their sum, or names
/// have to be put back.
const TRIES: usize = 4;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::SessionId;

    use super::*;

    #[test]
    fn facts_stand_apart_from_rules_and_what_was_taken_back_does_not_stand() {
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let rules = [
            said(1, "Never push to main."),
            Constraint { superseded_by: Some(7), ..said(3, "Our port is 8080.") },
            Constraint { superseded_by: Some(9), ..said(5, "Always answer in German.") },
            said(7, "Our port is 9090 now."),
        ];
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, &[], &index, &CharsPer4, Tokens(400));
        assert_eq!(
            pinned(&rules, "", &request, Tokens(100), Tokens(100)),
            "The user's rules:\n- Never push to main. (m1)\nTold by the user:\n- Our port is 9090 now. (m7)"
        );
    }
}
