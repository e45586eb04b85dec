//! A text that grows by whole lines within a limit, and what every form states of the user's.

use longhaul_extract::is_standing_rule;
use longhaul_summarize::{
    SummaryRequest, prose_told,
    rules::{SetDown, decided, gist, set_down},
    shortened,
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Message, Origin, Speaker, Summary, Tokens, one_line, parse_summary};

/// A text that grows by whole lines within a limit.
#[derive(Clone, Debug)]
pub(super) struct Page<'a> {
    pub(super) text: String,
    counter: &'a dyn TokenCounter,
    limit: Tokens,
}

impl<'a> Page<'a> {
    pub(super) fn new(counter: &'a dyn TokenCounter, limit: Tokens) -> Page<'a> {
        Page { text: String::new(), counter, limit }
    }

    /// Adds a line where it fits, and says whether it did.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let next = match self.text.is_empty() {
            true => line.to_owned(),
            false => format!("{}\n{line}", self.text),
        };
        let fits = self.counter.count_up_to(&next, self.limit).is_some();
        if fits {
            self.text = next;
        }
        fits
    }

    /// Adds as many of `lines` as fit, in their order, and returns how many did not.
    pub(super) fn lines<'l>(&mut self, lines: impl IntoIterator<Item = &'l str>) -> usize {
        lines.into_iter().filter(|line| !self.line(line)).count()
    }

    /// Adds the newest of `lines` that fit, in their order.
    pub(super) fn newest(&mut self, lines: &[String]) {
        // The cost grows with the number of lines, so the largest number that fits is found by halving.
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.clone().line(&lines[middle..].join("\n")) { high = middle } else { low = middle + 1 }
        }
        if low < lines.len() {
            self.line(&lines[low..].join("\n"));
        }
    }

    /// Adds what [`of_the_person`] returns: the task, then the newest of the rules that fit.
    fn person(&mut self, person: &[String]) {
        let n_task = person.iter().take_while(|line| line.starts_with(TASK)).count();
        let (task, rules) = person.split_at(n_task);
        // A long task leaves the rules most of the room, where they need as much.
        let all = self.limit;
        self.limit = all - owed_to_rules(rules, self.counter).min(all.scaled(RULES_BESIDE_TASK));
        task.iter().for_each(|line| self.beginning(line));
        self.limit = all;
        self.newest(rules);
    }

    /// Adds a line, and where it does not fit as many of its first words as do.
    pub(super) fn beginning(&mut self, line: &str) {
        if self.line(line) {
            return;
        }
        // A task is not told without the demands in it that last.
        let of_task = |told: &str| format!("{TASK}{told}");
        let fits = |told: &str| self.clone().line(&of_task(told));
        if let Some(told) = line.strip_prefix(TASK).and_then(|task| gist(task, fits)) {
            self.line(&of_task(&told));
            return;
        }
        // Of a script without spaces each character may be the last.
        let may_end = |c: char| c == ' ' || c >= '\u{2e80}';
        // The mark alone says nothing.
        let told = line.char_indices().filter(|(at, _)| *at > TASK.len() || !line.starts_with(TASK));
        let ends: Vec<usize> = told.filter(|(_, c)| may_end(*c)).map(|(at, _)| at).collect();
        let clipped = |count: usize| format!("{} […]", &line[..ends[count]]);
        // The cost grows with the number of words, so the largest number that fits is found by halving.
        let (mut low, mut high) = (0, ends.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.clone().line(&clipped(middle)) { low = middle + 1 } else { high = middle }
        }
        if low > 0 {
            self.line(&clipped(low - 1));
        }
    }

    /// Adds `heading` and as many of `items` under it as fit, one a line; nothing where none does.
    pub(super) fn list<'l>(&mut self, heading: &str, items: impl IntoIterator<Item = &'l String>) {
        let mut head = heading.to_owned();
        for item in items {
            if self.line(&format!("{head}{item}")) {
                head = "- ".to_owned();
            } else if !head.starts_with('-') {
                return;
            }
        }
    }
}

/// What the user set out for and the rules that a model does not tell of get this share of its room, or what its words leave where that
/// is more.
const PERSON_SHARE: f64 = 0.2;

/// Returns a model's words within `limit`, shortened where they must be, and behind them, after `separator`, what the user wants
/// and demands as far as they do not say it. Words as long as their writer was told are not cut for that.
pub(super) fn with_the_person(
    words: &str,
    summary: &Summary,
    request: &SummaryRequest<'_>,
    limit: Tokens,
    separator: &str,
) -> String {
    let counter = request.counter;
    let within =
        |room: Tokens| shortened(words, |text| counter.count_up_to(text, room).is_some()).unwrap_or_default();
    let separating = counter.count_text(separator);
    // What the words leave is theirs as well.
    let free = counter.count_up_to(words, limit).map_or(Tokens::ZERO, |words| limit - words - separating);
    let left = limit - sure(words, summary, request) - separating;
    let most = limit.scaled(PERSON_SHARE).min(left).max(free);
    let person = of_the_person(summary, request, &within(limit - most));
    // A rule that is lost is worse than a sentence that is: of words longer than their writer was told, the rules take what they need.
    let owed = owed_to_rules(&person, counter).min(left);
    let (most, person) = match owed > most {
        // What stood in the words that are cut for it is told then.
        true => (owed, of_the_person(summary, request, &within(limit - owed))),
        false => (most, person),
    };
    let mut page = Page::new(counter, most);
    page.person(&person);
    if page.text.is_empty() {
        return within(limit);
    }
    let person = format!("{separator}{}", page.text);
    format!("{}{person}", within(limit - counter.count_text(&person))).trim().to_owned()
}

/// Returns a text with a model's words and behind them, in what they leave of `limit`, the newest of what the person decided that they do
/// not tell.
pub(super) fn with_decisions_of_the_person(
    text: String,
    request: &SummaryRequest<'_>,
    limit: Tokens,
) -> String {
    let rules: Vec<&str> =
        text.lines().filter(|line| line.starts_with(RULE) || line.starts_with(FACT)).collect();
    let rules: Vec<&str> = rules.iter().filter_map(|line| Some(line.split_once("): ")?.1)).collect();
    // One that holds a rule is that.
    let is_told = |said: &str| text.contains(said) || rules.iter().any(|rule| said.contains(rule));
    let decided = decided(request).into_iter().filter(|one| !is_told(one.text.trim()));
    let lines: Vec<String> = decided
        .map(|one| format!("The user decided (m{}): {}", one.message, one_line(one.text.trim())))
        .collect();
    let mut page = Page::new(request.counter, limit);
    page.text = text;
    page.newest(&lines);
    page.text
}

/// Of room that the task needs as well, the rules get this share at most.
const RULES_BESIDE_TASK: f64 = 0.75;

/// Returns the room that the rules among these lines need, with that of the task where it stands with them.
pub(super) fn owed_to_rules(person: &[String], counter: &dyn TokenCounter) -> Tokens {
    let rules: Vec<&str> = person.iter().map(String::as_str).filter(|line| line.starts_with(RULE)).collect();
    let needed = counter.count_text(&rules.join("\n")) + Tokens(rules.len() as u64);
    if rules.len() < person.len() { needed.scaled(1.0 / RULES_BESIDE_TASK) } else { needed }
}

/// Returns what of a model's words stays in any case.
pub(super) fn sure(words: &str, summary: &Summary, request: &SummaryRequest<'_>) -> Tokens {
    let told = prose_told(request, &summary.constraints);
    request.counter.count_up_to(words, told).unwrap_or(told)
}

/// Stands before what the user set out for.
pub(super) const TASK: &str = "Task: ";

/// Stands before the ordinal of the message in which the user said a rule.
pub(super) const RULE: &str = "The user's rule (m";

/// Stands before the ordinal of the message in which the user told a fact to go by.
pub(super) const FACT: &str = "The user told (m";

/// Returns what a person wants and demands, as far as neither `said` nor the kept messages say it: the task, then the facts they told, and
/// the rules that hold, which leave last: of these, what stands until it is taken back.
pub(super) fn of_the_person(summary: &Summary, request: &SummaryRequest<'_>, said: &str) -> Vec<String> {
    let is_shown = |text: &str| {
        said.contains(text)
            || request.kept.iter().any(|entry| entry.message.texts().any(|kept| kept.contains(text)))
    };
    let goal = summary.goal.trim();
    let mut lines = Vec::new();
    if !goal.is_empty() && !is_shown(goal) {
        lines.push(format!("{TASK}{}", goal.replace('\n', " ")));
    }
    let all = set_down(&summary.constraints).into_iter();
    let missing = all.filter(|one| !is_shown(one.said.text.trim()) && !goal.contains(one.said.text.trim()));
    let (facts, mut rules): (Vec<SetDown<'_>>, Vec<SetDown<'_>>) = missing.partition(SetDown::is_fact);
    // What is chosen for one thing leaves before what must never be.
    rules.sort_by_key(|rule| is_standing_rule(&rule.said.text));
    let told = facts.into_iter().map(|fact| (FACT, fact)).chain(rules.into_iter().map(|rule| (RULE, rule)));
    lines.extend(
        told.map(|(mark, one)| format!("{mark}{}): {}", one.said.message, one.told().replace('\n', " "))),
    );
    lines
}

/// Returns whether a rule and a decision are one thing, told in the same words.
pub(super) fn are_one(rule: &str, decision: &str) -> bool {
    let (rule, decision) = (one_line(rule.trim()), one_line(decision.trim()));
    rule.contains(&*decision) || decision.contains(&*rule)
}

/// Returns whether a person said this: not a tool, and not a summary that stands in the user's name.
pub(super) fn is_a_persons(message: &Message) -> bool {
    let is_anothers = message.speaker.is_some_and(|speaker| speaker != Speaker::Person);
    message.is_user_text() && message.origin != Origin::Longhaul && !is_anothers
}

/// Returns the texts of `message` in which a person says something: one that a file begins with may be a summary of ours.
pub(super) fn persons_texts(message: &Message) -> impl Iterator<Item = &str> {
    let texts = is_a_persons(message).then(|| message.texts()).into_iter().flatten();
    texts.filter(|text| !text.trim().is_empty() && parse_summary(text).is_none())
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::{Constraint, SessionId};

    use super::*;

    #[test]
    fn facts_are_told_as_such_and_leave_before_rules() {
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, &[], &index, &CharsPer4, Tokens(400));
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let summary = Summary {
            constraints: vec![
                said(1, "Never push to main."),
                said(3, "Our contract number is KX-4411."),
                said(5, "Always run the linter."),
            ],
            ..Summary::default()
        };
        let person = of_the_person(&summary, &request, "");
        assert_eq!(
            person,
            [
                "The user told (m3): Our contract number is KX-4411.",
                "The user's rule (m1): Never push to main.",
                "The user's rule (m5): Always run the linter.",
            ]
        );
        let mut page = Page::new(&CharsPer4, Tokens(24));
        page.person(&person);
        assert_eq!(page.text.lines().collect::<Vec<_>>(), &person[1..]);
    }

    #[test]
    fn what_is_chosen_leaves_before_what_must_never_be() {
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, &[], &index, &CharsPer4, Tokens(400));
        let said = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let chosen = |nth: u64| {
            said(
                9 + nth,
                &format!("Please use lathe_{nth} rather than mill_{nth} for all doors of hall {nth}."),
            )
        };
        let ban = said(3, "Never send mail to Ann without asking me first.");
        let constraints = [vec![ban.clone()], (0..6).map(chosen).collect()].concat();
        let person = of_the_person(&Summary { constraints, ..Summary::default() }, &request, "");
        let mut page = Page::new(&CharsPer4, Tokens(60));
        page.person(&person);
        assert!(page.text.contains(&ban.text) && page.text.contains("lathe_5"), "{}", page.text);
        assert!(!page.text.contains("lathe_0"), "{}", page.text);
    }

    #[test]
    fn words_as_long_as_was_told_stay_whole_and_longer_ones_leave_the_rules_room() {
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let request = SummaryRequest::new(&session, &[], &index, &CharsPer4, Tokens(400));
        let words = |count: usize| -> String {
            (0..count)
                .map(|nth| format!("- Turn {nth}: look at module_{nth} in /srv/app/module_{nth}.ts.\n"))
                .collect()
        };
        let rule = |message, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
        let few = vec![
            rule(67, "Do not log customer emails."),
            rule(93, "Always write the changelog in English."),
            rule(95, "Never restart the relay on Mondays."),
        ];
        let many: Vec<Constraint> = (0..30)
            .map(|nth| rule(nth, &format!("Never touch the table number {nth} of the ledger.")))
            .collect();
        // What was told is 340, and 240 where there are many rules; a line is 13, a rule 18.
        for (count, rules, is_whole, least) in
            [(25, &few, true, 3), (18, &many, true, 8), (25, &many, false, 8), (40, &few, false, 3)]
        {
            let said = Summary { constraints: rules.clone(), ..Summary::default() };
            let words = words(count);
            let told = with_the_person(&words, &said, &request, Tokens(400), "\n\n");
            assert!(CharsPer4.count_text(&told) <= Tokens(400), "{told}");
            assert_eq!(told.starts_with(words.trim()), is_whole, "{told}");
            assert!(told.matches(RULE).count() >= least, "{told}");
            assert!(told.contains(&rules.last().unwrap().text), "the newest: {told}");
        }
    }

    #[test]
    fn the_beginning_of_a_line_is_told_in_any_script() {
        let told = |line: &str| {
            let mut page = Page::new(&CharsPer4, Tokens(9));
            page.beginning(line);
            page.text
        };
        assert_eq!(told("Task: read the relay"), "Task: read the relay");
        assert_eq!(
            told("Task: read the relay and its tests, then mend them"),
            "Task: read the relay and its […]"
        );
        let clipped = told("Task: 先把中继的源代码读完再修改它的测试然后把结果写进文档并且提交到主分支上去");
        assert!(clipped.starts_with("Task: 先把中继") && clipped.ends_with(" […]"), "{clipped}");
    }
}
