//! 002's form: what was said of the segment, then the files modified and the decisions.

use longhaul_summarize::{
    Draft, SummaryRequest,
    rules::{cut, set_down},
    shortened,
};
use longhaul_transcript::{FileState, Summary, Tokens};

use crate::event::whole_words;

use super::{
    page::{Page, TASK, are_one, of_the_person, persons_texts, sure, with_decisions_of_the_person},
    words,
};

/// The document keeps five decisions of a segment.
const MOST_DECISIONS: usize = 5;

/// The box shows three topics, each on a line of its own.
const MOST_TOPICS: usize = 3;
const TOPIC_CHARS: usize = 80;

/// What stands after the content gets this share of the limit, and more where the content leaves it.
const FACTS_SHARE: f64 = 0.45;

/// The line of files gets this share of the room at most where rules or decisions need the rest.
const FILES_SHARE: f64 = 0.25;

/// What the heading of the decisions costs at most.
const DECISIONS_HEAD: Tokens = Tokens(8);

/// What the blank line between the two costs at most.
const SEPARATOR: Tokens = Tokens(2);

/// Returns the content with files and decisions after it. The draft keeps the same decisions as its text, and gets topics
/// where it has none.
pub(super) fn text(draft: &mut Draft, request: &SummaryRequest<'_>) -> Option<String> {
    let counter = request.counter;
    let surplus = draft.summary.decisions.len().saturating_sub(MOST_DECISIONS);
    draft.summary.decisions.drain(..surplus);
    let content = words(draft).unwrap_or(draft.text.as_str());
    let within = |limit: Tokens| match words(draft) {
        Some(words) => {
            shortened(words, |text| counter.count_up_to(text, limit).is_some()).unwrap_or_default()
        }
        None => cut(&draft.text, counter, limit),
    };
    let most = match words(draft) {
        Some(words) => request.limit - sure(words, &draft.summary, request) - SEPARATOR,
        None => request.limit,
    };
    // What the content leaves is theirs as well.
    let free = counter.count_up_to(content, request.limit);
    let free = free.map_or(Tokens::ZERO, |content| request.limit - content - SEPARATOR);
    let for_facts = request.limit.scaled(FACTS_SHARE).max(free).min(most);
    let mut facts = Page::new(counter, for_facts);
    // What the user set out for comes first, then their rules; what changed and what was decided have a share beside these.
    let person = match words(draft) {
        Some(_) => of_the_person(&draft.summary, request, content),
        None => Vec::new(),
    };
    let (task, rules): (Vec<String>, Vec<String>) =
        person.into_iter().partition(|line| line.starts_with(TASK));
    // A long task has half of the room, if it does not fit: what was done with it counts as well.
    let mut half = Page::new(counter, for_facts.scaled(0.5));
    if facts.lines(task.iter().map(String::as_str)) > 0 {
        task.iter().for_each(|line| half.beginning(line));
        facts.line(&half.text);
    }
    let changed: Vec<&str> = draft
        .summary
        .files
        .iter()
        .filter(|file| file.state != FileState::Read)
        .map(|file| file.path.as_str())
        .collect();
    // Lines of the content that do not fit go; what they decided is then listed.
    let surely = within(request.limit - for_facts);
    let is_told = |text: &str, decision: &str| {
        text.contains(decision.trim()) || text.contains(&decision.trim().replace('\n', " "))
    };
    let decisions = &draft.summary.decisions;
    let missing: Vec<String> = decisions
        .iter()
        .filter(|decision| !is_told(&surely, decision) && !is_rule(decision, &draft.summary))
        .map(|decision| decision.trim().replace('\n', " "))
        .collect();
    let left = for_facts - counter.count_text(&facts.text);
    let for_decisions = match missing.is_empty() {
        true => Tokens::ZERO,
        false => counter.count_text(&missing.join("\n- ")) + DECISIONS_HEAD,
    };
    let of_files = counter.count_text(&files(&changed, 0)) + SEPARATOR;
    let beside_rules =
        [of_files, for_decisions].into_iter().map(|needed| needed.min(left.scaled(FILES_SHARE))).sum();
    let mut ruled = Page::new(counter, left - beside_rules);
    ruled.newest(&rules);
    if !ruled.text.is_empty() {
        facts.line(&ruled.text);
    }
    // The newest are at the end; a list too long loses its oldest, and leaves the decisions their room.
    let left = for_facts - counter.count_text(&facts.text);
    let for_files = left - for_decisions.min(left.scaled(0.5));
    // What nobody else needs is theirs as well.
    let unclaimed = match ruled.text.lines().count() == rules.len() {
        true => free - counter.count_text(&facts.text),
        false => Tokens::ZERO,
    };
    let for_files = for_files.min(request.limit.scaled(FILES_SHARE).max(unclaimed));
    let fits = |from: usize| counter.count_up_to(&files(&changed, from), for_files).is_some();
    let from = (0..changed.len()).find(|from| fits(*from)).unwrap_or(changed.len());
    if from < changed.len() {
        facts.line(&files(&changed, from));
    }
    facts.list("Key decisions:\n- ", &missing);
    let separator = if facts.text.is_empty() { "" } else { "\n\n" };
    let room = request.limit - counter.count_text(&format!("{separator}{}", facts.text));
    let content = within(room);
    let text = format!("{content}{separator}{}", facts.text);
    // Room that is left goes to what the user demands and the content does not say: first to the rest of the task.
    let mut page = Page::new(counter, request.limit);
    let has_clipped = !half.text.is_empty();
    if !(has_clipped && page.line(&text.replacen(&half.text, &task.join("\n"), 1))) {
        page.line(&text);
    }
    let mut person = of_the_person(&draft.summary, request, &text);
    // Of a task that was clipped the beginning stands above.
    person.retain(|line| half.text.is_empty() || !line.starts_with(TASK));
    page.newest(&person);
    let text = match words(draft) {
        Some(_) => with_decisions_of_the_person(page.text, request, request.limit),
        None => page.text,
    };
    // What is counted as decided, announced and sent is the same.
    draft.summary.decisions.retain(|decision| is_told(&text, decision));
    if draft.summary.key_points.is_empty() {
        draft.summary.key_points = topics(request, &text);
    }
    Some(text)
}

/// Returns whether a decision is told among the rules, with what it answers.
fn is_rule(decision: &str, summary: &Summary) -> bool {
    set_down(&summary.constraints).iter().any(|one| are_one(&one.said.text, decision))
}

/// Returns the line that names the files from one on, with how many it leaves out.
fn files(changed: &[&str], from: usize) -> String {
    let named = changed[from..].join(", ");
    match from {
        0 => format!("Files modified: {named}"),
        _ => format!("Files modified: … {from} more, {named}"),
    }
}

/// Returns what the segment was about: the first lines of what a person asked, the newest that say more than a word or two and that its
/// summary, `told`, tells.
fn topics(request: &SummaryRequest<'_>, told: &str) -> Vec<String> {
    let asked = request.entries.iter().rev();
    let is_told = |topic: &str| told.contains(topic.trim_end_matches('…').trim_end());
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        let sentence =
            longhaul_extract::sentences(line).next().map_or(line.to_owned(), |one| one.to_string());
        let short = whole_words(&sentence, TOPIC_CHARS);
        (short.split_whitespace().count() >= 3).then_some(short)
    };
    let mut topics: Vec<String> = Vec::new();
    for text in asked.filter_map(|entry| persons_texts(&entry.message).find_map(line)) {
        if topics.len() < MOST_TOPICS && !topics.contains(&text) && is_told(&text) {
            topics.push(text);
        }
    }
    topics.reverse();
    topics
}
