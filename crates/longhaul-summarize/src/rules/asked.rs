//! What is asked: the newest request first, then in a line each what was asked before.

use std::borrow::Cow;

use hashbrown::HashMap;
use longhaul_extract::{
    Decision, DemandKind, Domain, Purpose, Run, StatementKind, ToolFamily, demand_kind, family,
    speaker::{Matter, Segment},
    statement_form, statement_key,
};
use longhaul_transcript::{Constraint, Entry, MessageId, Role, Tokens, one_line};

use super::{
    account::first_task,
    asks::{asks_something, own_text},
    clip::GAP,
    few::sent,
    fixed::{Fixed, is_kept},
    frames::is_header_or_handle,
    heading::{Heading, Leaves},
    newer,
    persons::shows,
    questions::is_question,
};
use crate::sentences::sentences;

impl<'a> Fixed<'a> {
    /// The newest request, and what was asked before it, but for what is `decided` and told as that. Where an earlier summary is told on,
    /// it tells what was asked first. Returns what would have been told of messages before and was decided: that has its own place.
    pub(super) fn requests(&mut self, is_continued: bool, decided: &[Decision]) -> Vec<Decision> {
        let speakers = self.request.index.speakers();
        let first = first_task(self.few.persons).filter(|_| !is_continued);
        let asks = |(entry, text): (&'a Entry, &str)| asks_something(text).then_some(entry);
        let mut asked: Vec<&Entry> = self.few.asking.iter().map(|(entry, _)| *entry).collect();
        if asked.is_empty() {
            asked.extend(first.map(|(entry, _)| entry));
        }
        let both = (self.options.task_share + self.options.asked_share) * self.request.limit.0 as f64;
        let mut room = Tokens(both as u64);
        if self.request.stays {
            // What it says of what is below would be false once that is summarized.
            asked.retain(|entry| !is_kept(self.request, entry));
        }
        let kept = self.persons_kept().filter(|_| !self.request.stays).filter_map(asks);
        let newest = asked.iter().copied().chain(kept).max_by_key(|entry| entry.id);
        let Some(newest) = newest else { return Vec::new() };
        let is_below =
            self.request.kept.iter().any(|entry| entry.id == newest.id && is_kept(self.request, newest))
                || asked.iter().all(|entry| entry.id != newest.id);
        if is_below {
            // It stands behind the summary, and reads as if nothing had been done for it yet.
            let last = self.request.entries.last().filter(|last| last.id > newest.id);
            let since = last.map_or(String::new(), |last| format!("{WORK_UP_TO}{}{IS_TOLD}", last.id));
            let is_cut = self.request.clipped().any(|(was, _)| was.id == newest.id);
            let cut =
                if is_cut { format!(", cut there; {} has all of it", newest.id) } else { String::new() };
            let about = format!(" ({}): the user's message below{cut}{since}", newest.id);
            self.add_about(Heading::Request, &about, String::new());
        } else if let Some(text) = own_text(&newest.message, speakers) {
            // A short request stays whole: it is what everything else is for.
            let body = self.clip_sent(newest, text, self.room(self.options.task_share));
            room -= self.cost(&body);
            self.add_about(Heading::Request, &format!(" ({})", newest.id), body);
        }
        let is_first = |entry: &Entry| first.is_some_and(|(first, _)| first.id == entry.id);
        let told_elsewhere: Vec<&Entry> = asked
            .extract_if(.., |entry| {
                !is_first(entry) && entry.id != newest.id && Fixed::is_told(entry, decided)
            })
            .collect();
        // They would have stood here.
        let of_decided = |entry: &&Entry| {
            own_text(&entry.message, speakers).map(|text| self.cost(text)).unwrap_or_default()
        };
        room -= told_elsewhere.iter().map(of_decided).sum::<Tokens>();
        asked.retain(|entry| entry.id != newest.id && !is_kept(self.request, entry));
        let task = self.carried_task().filter(|_| !is_continued);
        let task = task.map(|task| self.clip_to(&unframed(task), room.scaled(0.5).max(SHORT)));
        let task = task.map(|task| one_line(&task).into_owned());
        room -= task.as_deref().map_or(Tokens::ZERO, |task| self.cost(task) + Tokens(1));
        let (mut lines, apart) = self.before(&asked, first.map(|(entry, _)| entry), room);
        if let Some((handle, said, answer)) = self.last_answer() {
            // A message that goes on behind its short answer is told as well.
            let is_all = |line: &str| line.split(" (").next() == Some(&format!("{handle}{said}"));
            lines.retain(|line| !is_all(line));
            let more = lines.pop_if(|line| line.starts_with(MORE));
            lines.push(handle + &answer);
            lines.extend(more);
        }
        lines.splice(0..0, task);
        if !lines.is_empty() {
            self.add(Heading::AskedBefore, lines.join("\n"));
        }
        apart
    }

    /// Returns the task as the summary before tells it, where its message is not at hand: it was deleted, and would be told no
    /// more once that summary gives way to this one.
    fn carried_task(&self) -> Option<&str> {
        let task = self.request.previous?.summary.goal.trim();
        let begins: String = task.chars().take(KNOWN_BY).collect();
        let mut said = self.few.persons.iter().copied().chain(self.persons_kept());
        (!task.is_empty() && !said.any(|(_, text)| text.contains(&begins))).then_some(task)
    }

    /// Returns what was asked before: the first request as far as half of the room goes, of the others what much work was done for
    /// before what was said in passing, the newest first, each whole where it is short. Where some are left out a line says how many.
    /// What was decided in them comes apart.
    fn before(&self, asked: &[&Entry], first: Option<&Entry>, room: Tokens) -> (Vec<String>, Vec<Decision>) {
        let (mut left, longest) = (room, room.scaled(0.5));
        let is_first = |entry: &Entry| first.is_some_and(|first| first.id == entry.id);
        // What is asked of a page of material is not said again; what is asked in passing mostly is.
        let of_pages =
            asked.iter().rev().filter(|entry| !is_first(entry) && self.is_page(entry)).take(MOST_PAGES);
        let of_pages: Vec<&&Entry> = of_pages.collect();
        let is_of_page = |entry: &Entry| of_pages.iter().any(|page| page.id == entry.id);
        // What took a step back is told before what went on from it.
        let takes_back = |entry: &Entry| self.undone.taken_back_by(entry.id.ordinal).is_some();
        let backs = asked.iter().rev().filter(|entry| takes_back(entry)).take(MOST_BACKS);
        let others: Vec<&&Entry> =
            asked.iter().rev().filter(|entry| !is_first(entry) && !is_of_page(entry)).collect();
        let (newest, older) = others.split_at(NEWEST.min(others.len()));
        let (worked, passing): (Vec<&&Entry>, Vec<&&Entry>) =
            older.iter().partition(|entry| self.work_for(entry) >= MUCH_WORK);
        let first = asked.iter().filter(|entry| is_first(entry));
        // In a talk with a customer every call needs what the customer is known by.
        let is_service = self.request.index.domain() == Domain::Service;
        let gives_id = |entry: &Entry| entry.message.texts().any(names_an_id);
        let known_by = asked.iter().rev().filter(|entry| is_service && !is_first(entry) && gives_id(entry));
        // What a person decides comes before what they ask and is answered.
        let settles = |entry: &Entry| self.decided.iter().any(|one| one.message == entry.id.ordinal);
        let (deciding, passing): (Vec<&&Entry>, Vec<&&Entry>) =
            passing.into_iter().partition(|entry| settles(entry));
        let others = newest.iter().copied().chain(deciding).chain(worked).chain(passing);
        let in_turn = first.chain(known_by).chain(of_pages.iter().copied()).chain(backs).chain(others);
        let mut lines: Vec<(&Entry, String)> = Vec::new();
        let mut left_out: Vec<MessageId> = Vec::new();
        // What was sent again after it was interrupted is told once.
        let mut told: Vec<&str> = Vec::new();
        let mut apart: Vec<Decision> = Vec::new();
        let mut alike: HashMap<u32, usize> = HashMap::new();
        let mut repeated: Vec<MessageId> = Vec::new();
        for entry in in_turn {
            let is_full = self.request.most_listed.is_some_and(|most| lines.len() >= most);
            if is_full || left_out.len() >= MOST_TRIED {
                left_out.push(entry.id);
                continue;
            }
            let Some(text) = own_text(&entry.message, self.request.index.speakers())
                .filter(|text| !self.said.contains(text))
            else {
                continue;
            };
            let text = self.few.sent(entry).unwrap_or(text);
            if told.contains(&text) || lines.iter().any(|(_, line)| line.contains(text)) {
                continue;
            }
            told.push(text);
            let text = &*unframed(text);
            if text.trim().is_empty() {
                left_out.push(entry.id);
                continue;
            }
            // What is asked again of one thing after the other is counted.
            let form =
                statement_form(text).filter(|_| !is_first(entry) && text.trim_end().ends_with(['?', '？']));
            if form.is_some_and(|form| alike.get(&form).is_some_and(|told| *told >= MOST_ALIKE)) {
                repeated.push(entry.id);
                continue;
            }
            // What stands among the rules already leaves its room to what is asked beside it.
            let beside = if is_first(entry) { Cow::Borrowed(text) } else { self.beside_rules(entry, text) };
            let text = match &beside {
                Cow::Owned(rest) => {
                    let rest = rest.replace(GAP.trim(), "");
                    let is_told = || lines.iter().any(|(_, line)| line.contains(rest.trim()));
                    if !asks_something(&rest) || is_told() {
                        continue;
                    }
                    &*beside
                }
                Cow::Borrowed(text) => text,
            };
            // What all of the work began with stays whole where it is short, even if it takes room from what follows.
            let most = match is_first(entry) {
                true => longest.max(SHORT.min(self.request.limit.scaled(0.5))),
                false => longest.min(LINE.max(room.scaled(0.2))),
            };
            let is_answered = matches!(self.outcome(entry), Some((_, Turn::Answered | Turn::AskedBack)));
            let text = match is_answered {
                true if is_first(entry) => self.clip_sent(entry, text, most.min(FIRST_ANSWERED)),
                true => match self.said_in(entry, text) {
                    // What is asked stands before or behind what was pasted.
                    Cow::Owned(said) => self.clip_to(&said, most.min(BESIDE_PASTES)),
                    Cow::Borrowed(text) => self.opening(text, most, room.scaled(0.25)),
                },
                false => self.clip_sent(entry, text, most),
            };
            let text = one_line(&text);
            let decided = match is_first(entry) {
                true => Vec::new(),
                false => self.only_decides(entry, &text),
            };
            let line = match decided.is_empty() {
                true => format!("{} {text}{}", entry.id, self.became(entry, &text)),
                false => String::new(),
            };
            let cost = self.cost(&line) + decided.iter().map(|one| self.cost_of(one)).sum() + Tokens(1);
            if cost > left && !is_first(entry) {
                left_out.push(entry.id);
                continue;
            }
            left -= cost;
            form.into_iter().for_each(|form| *alike.entry(form).or_default() += 1);
            apart.extend(decided);
            lines.push((entry, line));
        }
        lines.sort_by_key(|(entry, _)| entry.id);
        left_out.append(&mut repeated);
        left_out.retain(|id| lines.iter().all(|(entry, _)| entry.id != *id));
        let told = lines.into_iter().map(|(_, line)| line).filter(|line| !line.is_empty());
        (told.chain(not_told(left_out)).collect(), apart)
    }

    /// Returns `text`, which `entry` says, with a gap for each rule in it that is told already.
    fn beside_rules<'t>(&self, entry: &Entry, text: &'t str) -> Cow<'t, str> {
        let is_told =
            |rule: &&&Constraint| rule.message == entry.id.ordinal && self.shows(&one_line(rule.text.trim()));
        let told = self.holding.iter().filter(is_told);
        told.fold(Cow::Borrowed(text), |text, rule| match text.contains(rule.text.trim()) {
            true => Cow::Owned(text.replacen(rule.text.trim(), GAP, 1).trim().to_owned()),
            false => text,
        })
    }

    /// Returns what was decided in the `text` that is told of a message, where it is settled and says nothing else. What says something
    /// beside stays whole: told in two pieces, it would be told again for what neither has.
    fn only_decides(&self, entry: &Entry, text: &str) -> Vec<Decision> {
        let is_open = self.undone.by(entry.id.ordinal).is_some()
            || self.undone.taken_back_by(entry.id.ordinal).is_some()
            || matches!(self.outcome(entry), Some((_, Turn::AskedBack | Turn::Interrupted)));
        let in_text =
            |one: &&Decision| one.message == entry.id.ordinal && text.contains(&*one_line(&one.text));
        let decided: Vec<Decision> = self.decided.iter().filter(in_text).cloned().collect();
        let rest =
            decided.iter().fold(text.to_owned(), |rest, one| rest.replacen(&*one_line(&one.text), "", 1));
        if is_open || asks_something(&rest.replace(GAP.trim(), "")) { Vec::new() } else { decided }
    }

    /// Returns how many calls were made for what is asked, until somebody asked again.
    fn work_for(&self, asked: &Entry) -> usize {
        let persons = self.few.persons;
        let next = persons.get(persons.partition_point(|(entry, _)| entry.id <= asked.id));
        let next = next.map_or(u64::MAX, |(entry, _)| entry.id.ordinal);
        let calls = &self.acts.calls;
        let made_before = |ordinal: u64| calls.partition_point(|call| *call < ordinal);
        made_before(next) - made_before(asked.id.ordinal)
    }

    /// Returns the first sentences of what was asked and is answered, whole, as far as they say what it is about; what else stands in it
    /// is told where it is needed. What the model had said and the person only quotes is passed over. What they list stays `whole` up to
    /// so much: half of it is something else.
    fn opening(&self, text: &str, most: Tokens, whole: Tokens) -> String {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let is_said = |text: &str| self.said_by_the_model.contains(&statement_key(text));
        let is_quoted = |line: &&str| is_said(line) || sentences(line).all(is_said);
        let from = lines.iter().position(|line| !is_quoted(line)).unwrap_or_default();
        let own = lines[from..].join("\n");
        if lists(&own) && self.cost(&own) <= whole {
            return own;
        }
        let mut told = String::new();
        for (nth, sentence) in lines[from..].iter().flat_map(|line| sentences(line)).enumerate() {
            let longer = format!("{told}{}{sentence}", if nth == 0 { "" } else { " " });
            if self.cost(&longer) > OPENING {
                return if nth == 0 { self.clip_to(text, most) } else { told + GAP + self.closing(text) };
            }
            told = longer;
        }
        told
    }

    /// Returns the last line of a long text, where it is short: what is asked stands behind what it is asked of.
    fn closing<'t>(&self, text: &'t str) -> &'t str {
        let last = text.trim_end().rsplit_once('\n').map_or("", |(_, last)| last.trim());
        let is_told = self.cost(text) > FIRST_ANSWERED && self.cost(last) <= OPENING;
        if is_told { last } else { "" }
    }

    /// Returns what became of what is asked, in parentheses; where the words that are `told` of it set down what lasts, that it holds.
    fn became(&self, asked: &Entry, told: &str) -> String {
        let ordinal = asked.id.ordinal;
        let mut became = match (self.undone.by(ordinal), self.outcome(asked)) {
            (Some(by), _) if self.undone.is_asked_again(by) => {
                format!(" (what was done was taken back in m{by}, and asked for again)")
            }
            (Some(by), _) => format!(" (taken back in m{by})"),
            (None, Some((answer, Turn::Answered))) => {
                let holds = self.holds_in(ordinal, told).map(|what| format!("; the {what} holds"));
                format!(" (answered in {answer}{})", holds.unwrap_or_default())
            }
            (None, Some((answer, Turn::AskedBack))) => format!(" (asked back in {answer})"),
            (None, Some((stopped, Turn::Interrupted))) => format!(" (interrupted by the user in {stopped})"),
            (None, None) => String::new(),
        };
        if self.undone.by(ordinal).is_none() {
            let note = self.overtaken.note(ordinal, told);
            became.push_str(&if note.is_empty() {
                newer::note(self.constraints, ordinal, told)
            } else {
                note
            });
        }
        if let Some(from) = self.undone.taken_back_by(ordinal) {
            became = format!(" (takes back what was done for m{from}){became}");
        }
        became
    }

    /// Returns what the words that are `told` of a message set down, where that holds on: answered, it would be taken for settled.
    fn holds_in(&self, message: u64, told: &str) -> Option<&'static str> {
        let rules = self.holding.iter().filter(|rule| rule.message == message && shows(told, &rule.text));
        let kinds = rules.map(|rule| demand_kind(&rule.text));
        let is_told = |one: &Decision| one.message == message && told.contains(&*one_line(&one.text));
        // Where they came back to it, that says whether it holds.
        let stands = |one: &&Decision| is_told(one) && !self.overruling.claims().name(message, &one.text);
        let is_decided = self.decided.iter().any(|one| stands(&one));
        match kinds.min().flatten() {
            Some(DemandKind::Rule) => Some("rule"),
            _ if is_decided => Some("decision"),
            kind => kind.map(|_| "fact"),
        }
    }

    /// Returns whether a message is a page of material and not only what somebody says of it.
    fn is_page(&self, entry: &Entry) -> bool {
        own_text(&entry.message, self.request.index.speakers()).is_some_and(|text| text.len() >= PAGE_BYTES)
    }

    /// Returns how the turn after `asked` ended before anything else was asked: the model's last message, or that the person stopped
    /// it. In a talk with a customer every message is answered.
    fn outcome(&self, asked: &Entry) -> Option<(MessageId, Turn)> {
        if self.request.index.domain() != Domain::Coding {
            return None;
        }
        let entries = self.request.entries;
        let after = &entries[entries.partition_point(|entry| entry.id <= asked.id)..];
        // The answer may be one that stays.
        let last = entries.last().map(|last| last.id);
        let kept = self.request.kept.iter().filter(|entry| last.is_none_or(|last| entry.id > last));
        let speakers = self.request.index.speakers();
        let turn = after.iter().chain(kept).take_while(|entry| sent(entry, speakers).is_none());
        let is_stop = |segment: &Segment<'_>| segment.matter == Matter::Interruption;
        let is_to_be_done = own_text(&asked.message, speakers).is_some_and(|asked| !wants_words(asked));
        let mut is_done = false;
        let mut outcome = None;
        for entry in turn {
            let message = &entry.message;
            if message.role == Role::User && speakers.segments(message).iter().any(is_stop) {
                outcome = Some((entry.id, Turn::Interrupted));
            } else if message.calls().next().is_some() {
                // What was said before it only tells what is going to be done.
                outcome = None;
                is_done |= self.does_something(entry);
            } else if message.role == Role::Assistant
                && let Some(said) = own_text(message, speakers).filter(|said| says_something(said))
            {
                let is_asking = is_to_be_done && !is_done && asks_back(said);
                outcome = Some((entry.id, if is_asking { Turn::AskedBack } else { Turn::Answered }));
            }
        }
        outcome
    }

    /// Returns whether a call of this message does something beside looking.
    fn does_something(&self, entry: &Entry) -> bool {
        let runs = &self.acts.runs;
        let of_entry = &runs[runs.partition_point(|run| run.message < entry.id.ordinal)..];
        let mut of_entry = of_entry.iter().take_while(|run| run.message == entry.id.ordinal);
        let is_look = |run: &Run| matches!(run.purpose, Purpose::Look | Purpose::Nothing);
        entry.message.calls().any(|call| match family(call) {
            ToolFamily::SubAgent => false,
            // Those that are not summarized were not looked at.
            ToolFamily::Shell => of_entry.next().is_none_or(|run| !is_look(run)),
            family => !family.only_looks(),
        })
    }

    /// The handle of the person's last message that begins with a word or two, these words, and they with what they answer:
    /// what a "yes" agreed to.
    fn last_answer(&self) -> Option<(String, String, String)> {
        let all = self.request.index.statements().all().iter().rev();
        let mut answers = all.filter(|statement| statement.kind == StatementKind::Person);
        let last = answers.find(|statement| statement.answers.is_some())?;
        let asked = last.answers.as_deref()?;
        let line = format!("{} (to: \"{asked}\")", last.text);
        let shown = self.request.kept.iter().flat_map(|entry| entry.message.texts());
        let is_shown = shown.into_iter().any(|text| text.contains(asked));
        let fits = self.cost(&line) <= self.room(self.options.asked_share);
        let said = one_line(&last.text).into_owned();
        (!is_shown && fits).then(|| (format!("m{} ", last.message), said, line))
    }
}

/// What stands behind the handle of a request for which something was done.
const WORK_UP_TO: &str = "; work on it up to ";
const IS_TOLD: &str = " is told here";

/// Returns the summary `text` without the promise of work where it tells of none: there was no room.
pub(super) fn without_empty_promise(text: String) -> String {
    let is_asked = |line: &str| Heading::of(line).is_some_and(|heading| heading.leaves() >= Leaves::Before);
    let tells = |line: &str| line.starts_with("## ") && !is_asked(line);
    // What a person says may have the same words.
    let heading = text.lines().find(|line| Heading::of(line) == Some(Heading::Request));
    match heading.and_then(|heading| Some((heading, heading.split_once(WORK_UP_TO)?.0))) {
        Some((heading, kept)) if !text.lines().any(tells) => text.replacen(heading, kept, 1),
        _ => text,
    }
}

/// An answered request is told by its first sentences, up to so much.
const OPENING: Tokens = Tokens(40);

/// What is said beside something pasted, where it is answered, may take so much.
const BESIDE_PASTES: Tokens = Tokens(120);

/// The first request, where it is answered, may take so much.
const FIRST_ANSWERED: Tokens = Tokens(240);

/// Whether an answer is more than one that broke off at its first word.
fn says_something(text: &str) -> bool {
    text.split_whitespace().nth(1).is_some() || !text.trim_end().ends_with(char::is_alphabetic)
}

/// Whether what is asked for is an answer in words, not something to be done.
fn wants_words(asked: &str) -> bool {
    let mut words = asked.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
    asked.contains(['?', '？']) || is_question(asked) || words.any(|word| INQUIRING.contains(&&*word))
}

/// What somebody asks for who wants to be told something.
const INQUIRING: [&str; 34] = [
    "analyse", "analyze", "assess", "brainstorm", "check", "compare", "consider", "describe", "discuss",
    "draft", "evaluate", "explain", "explore", "find", "help", "how", "investigate", "list", "look", "plan",
    "propose", "read", "research", "review", "say", "see", "show", "suggest", "summarize", "tell", "think",
    "verify", "what", "why",
];

/// Whether an answer puts a question in place of what was asked for.
fn asks_back(answer: &str) -> bool {
    let last = answer.trim_end().trim_end_matches(['*', '_', '`', ')']);
    last.ends_with(['?', '？'])
}

/// How a turn of the model's ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Answered,
    /// With a question, and nothing was done.
    AskedBack,
    Interrupted,
}

/// Whether a text has a list of two items or more.
fn lists(text: &str) -> bool {
    let is_item = |line: &&str| {
        let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = unnumbered.len() < line.len() && unnumbered.starts_with(". ");
        is_numbered || ["- ", "* ", "• "].iter().any(|bullet| line.starts_with(bullet))
    };
    text.lines().filter(is_item).nth(1).is_some()
}

/// So many of the newest requests are told before those that more was done for.
const NEWEST: usize = 3;

/// A request for which so many calls were made is what a stretch of the work was about.
const MUCH_WORK: usize = 8;

/// So many questions are told that differ only in their numbers.
const MOST_ALIKE: usize = 3;

/// When so many did not fit, no other is tried.
const MOST_TRIED: usize = 24;

/// How that line begins.
pub(super) const MORE: &str = "… ";

/// Returns the line that says how many requests are not told, and where they stand.
fn not_told(mut left_out: Vec<MessageId>) -> Option<String> {
    left_out.sort_unstable();
    // One that takes a step back stands in two groups.
    left_out.dedup();
    match (left_out.first()?, left_out.last()?) {
        (only, last) if only == last => Some(format!("{MORE}1 more, {only}")),
        (first, last) => Some(format!("{MORE}{} more between {first} and {last}", left_out.len())),
    }
}

/// So many messages that take a step back are told before the others.
const MOST_BACKS: usize = 3;

/// A message of so many bytes is a page.
const PAGE_BYTES: usize = 8_000;

/// So many pages, the newest, are told of before what was asked in passing.
const MOST_PAGES: usize = 3;

/// Whether a word of `text` is an id: of letters and digits (`omar_davis_3817`, `JG7FMM`, `#W1234567`).
fn names_an_id(text: &str) -> bool {
    const SHORTEST: usize = 6;
    let is_id = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let has = |of: fn(&u8) -> bool| word.bytes().any(|byte| of(&byte));
        word.len() >= SHORTEST
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
    };
    text.split_whitespace().any(is_id)
}

/// Returns `text` without the lines that look like the frame of a summary: on one line with others, all would be taken for one.
fn unframed(text: &str) -> Cow<'_, str> {
    let is_frame = |line: &str| is_header_or_handle(line.trim());
    match text.lines().any(is_frame) {
        true => Cow::Owned(text.lines().filter(|line| !is_frame(line)).collect::<Vec<_>>().join("\n")),
        false => Cow::Borrowed(text),
    }
}

/// A task is known again by so many characters.
const KNOWN_BY: usize = 80;

/// A first request of this length is told whole.
const SHORT: Tokens = Tokens(40);

/// What an earlier request may take at least where there is room for it.
const LINE: Tokens = Tokens(60);
