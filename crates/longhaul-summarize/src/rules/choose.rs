//! Which statements get in: what is needed most for each token, what was told already counting for less.

use std::{cell::RefCell, cmp::Reverse, collections::BinaryHeap, rc::Rc};

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Domain, Statement, StatementKind, Statements, log2_sixteenths, statement_words};
use longhaul_transcript::{Tokens, one_line};

use super::{
    RulesOptions,
    answers::Answers,
    coverage::Coverage,
    forms::{Alike, Forms},
    goal::Goal,
    idle::Idle,
    lists::Lists,
    options::Options,
    records::Records,
    results::settles_a_number,
    revised::Revised,
    ticket::Tickets,
    worked::Worked,
};
use crate::SummaryRequest;

/// What statements are chosen by.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    request: &'a SummaryRequest<'a>,
    pool: &'a Statements,
    /// For each statement how much it serves the goal.
    serves: Vec<f64>,
    /// For each statement the logarithm of the probability that it is needed, in thousandths.
    needed: Vec<i32>,
    /// How often each word was told.
    told: HashMap<u32, u32>,
    /// The statements that were told, by their keys.
    keys: HashSet<u32>,
    /// The headings that were told, by their places: the same words over another list are another heading.
    led: HashSet<usize>,
    /// What stands in the summary whatever is chosen, and in those beside it, on one line.
    fixed: String,
    places: &'a Places<'a>,
}

/// What was found out of a statement that may get in.
#[derive(Debug)]
struct Look {
    /// What it costs, its line included.
    cost: u64,
    /// What it makes known.
    subjects: Vec<u32>,
}

/// What was found out of statements, by their places: the same for every summary of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Looks(RefCell<HashMap<usize, Rc<Look>>>);

/// How closely a statement was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Never,
    /// It may be told: it is not idle.
    Fit,
    /// What it costs and makes known was counted.
    Counted,
}

/// A few lines of a file that was read in passing say what it is: one for so many tokens of the summary.
const FOR_ONE_PASSING: u64 = 250;

/// What is known of places in the pool.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    pub(crate) idle: &'a Idle<'a>,
    pub(crate) lists: &'a Lists,
    pub(crate) records: &'a Records,
    pub(crate) options: &'a Options,
    pub(crate) tickets: &'a Tickets,
    pub(crate) answers: &'a Answers,
    pub(crate) revised: &'a Revised<'a>,
    pub(crate) forms: &'a Forms,
    pub(crate) looks: &'a Looks,
    pub(crate) worked: &'a Worked,
}

impl Places<'_> {
    /// Returns whether what stands at `at` is not told: nobody's word, or how a record stood before.
    pub(crate) fn are_silent_of(&self, at: usize) -> bool {
        self.idle.holds(at) || self.records.is_old(at)
    }
}

impl<'a> Choice<'a> {
    /// Prepares the choice: `fixed` stands in the summary already, and the kept messages after it.
    pub(crate) fn new(
        request: &'a SummaryRequest<'a>,
        options: &RulesOptions,
        goal: &Goal,
        fixed: String,
        places: &'a Places<'a>,
    ) -> Choice<'a> {
        let pool = request.index.statements();
        let mut needed = pool.rank(options.weights.as_ref());
        let renewed = needed.iter_mut().enumerate().filter(|(at, _)| places.records.is_renewed(*at));
        renewed.for_each(|(_, needed)| *needed += RENEWED);
        for (at, needed) in needed.iter_mut().enumerate() {
            *needed += if places.options.is_chosen(at) { CHOSEN } else { 0 };
            *needed += if places.tickets.hold(at) { TICKET } else { 0 };
            *needed -= if places.worked.holds(&pool.all()[at]) { WORKED } else { 0 };
        }
        let added = needed.iter_mut().zip(pool.all()).filter(|(_, one)| one.kind == StatementKind::Added);
        added.filter(|(_, one)| one.is_comment()).for_each(|(needed, _)| *needed -= ADDED_COMMENT);
        let end = pool.all().last().map_or(1, |last| i64::from(last.message) + 1);
        let chosen = needed.iter_mut().zip(pool.all()).filter(|(_, one)| one.tells_choice());
        for (needed, one) in chosen {
            *needed += (OF_OLD * (end - i64::from(one.message)) / end) as i32;
            *needed += if one.kind == StatementKind::Person { PERSONS_CHOICE } else { 0 };
        }
        if request.index.domain() != Domain::Talk {
            let asked = needed.iter_mut().zip(pool.all()).filter(|(_, one)| asks(one));
            asked.for_each(|(needed, _)| *needed -= ASKED);
        }
        if request.index.domain() == Domain::Service {
            let heads = needed.iter_mut().enumerate().filter(|(at, _)| places.records.heads(*at));
            heads.for_each(|(_, needed)| *needed += HEADS);
        }
        if request.index.domain() == Domain::Talk {
            let said = needed.iter_mut().zip(pool.all()).filter(|(_, one)| one.kind.is_said());
            let results = said.filter(|(_, one)| settles_a_number(&one.text));
            results.for_each(|(needed, _)| *needed += RESULT);
        }
        let (mut told, mut keys) = (HashMap::new(), HashSet::new());
        for statement in Statements::of(request.kept.iter(), request.index.speakers()).all() {
            keys.insert(statement.key());
            statement.words().iter().for_each(|word| *told.entry(*word).or_insert(0) += 1);
        }
        // Beside other summaries each tells of its own part first, and of the parts before it what they left out.
        if let (false, Some(first)) = (request.beside.is_empty(), request.entries.first()) {
            let earlier = |one: &Statement| u64::from(one.message) < first.id.ordinal;
            let theirs = needed.iter_mut().zip(pool.all()).filter(|(_, one)| earlier(one));
            theirs.for_each(|(needed, _)| *needed -= OF_OTHERS);
        }
        let beside = request.beside.iter().map(|record| &*record.text);
        let stands: Vec<&str> = beside.chain([&*fixed]).collect();
        for text in &stands {
            let mut words = statement_words(text);
            words.sort_unstable();
            words.dedup();
            words.into_iter().for_each(|word| *told.entry(word).or_insert(0) += 1);
        }
        let fixed = one_line(&stands.join("\n")).into_owned();
        let serves = pool.all().iter().map(|statement| goal.worth(&statement.text)).collect();
        let led = HashSet::new();
        Choice { request, pool, serves, needed, told, keys, led, fixed, places }
    }

    /// Returns the places in the pool of what gets in, the most needed for its tokens first, until about `budget` is spent.
    pub(crate) fn pick(mut self, coverage: &mut Coverage<'_>, budget: Tokens) -> Vec<usize> {
        let all = self.pool.all();
        // What each may be worth at most: most statements are never looked at any closer.
        let most_facts = coverage.most();
        let most = |at: usize| self.at_most(at, self.needed[at], most_facts);
        let mut heap: BinaryHeap<(i32, Reverse<usize>)> = self.places.forms.candidates(most).into();
        let mut seen = vec![Seen::Never; all.len()];
        // What is worth more for the questions that were told: however many there are.
        let mut answering: HashSet<usize> = HashSet::new();
        let mut alike = Alike::default();
        // How many lines of each message that were read in passing.
        let mut passing: HashMap<u32, u64> = HashMap::new();
        let most_passing = self.request.limit.0 / FOR_ONE_PASSING;
        let (mut opened, mut picks, mut left) = (HashSet::new(), Vec::new(), budget.0);
        let counter = self.request.counter;
        let count = |text: &str| counter.count_text(text).0;
        while let Some((worth, Reverse(at))) = heap.pop() {
            if left < LEAST {
                break;
            }
            let statement = &all[at];
            if self.keys.contains(&statement.key()) {
                continue;
            }
            if seen[at] == Seen::Never {
                if self.places.are_silent_of(at) {
                    continue;
                }
                seen[at] = Seen::Fit;
            }
            let form = self.places.forms.of(at);
            if form.is_some_and(|form| alike.is_enough(form, statement)) {
                continue;
            }
            let is_passing = self.places.idle.is_passing(at);
            if is_passing && passing.get(&statement.message).is_some_and(|told| *told >= most_passing) {
                continue;
            }
            let needed = self.needed[at] + self.news(at);
            if seen[at] == Seen::Fit {
                let most = self.at_most(at, needed, most_facts);
                if most < worth {
                    heap.push((most, Reverse(at)));
                    continue;
                }
                seen[at] = Seen::Counted;
            }
            let look = self.look(at, coverage);
            let cost = look.cost;
            let now = needed + self.extra(at, coverage.gain(&look.subjects)) - per_token(cost);
            if now < worth {
                heap.push((now, Reverse(at)));
                continue;
            }
            let place = (statement.message, statement.kind.is_said());
            let handle = if opened.contains(&place) { 0 } else { HANDLE };
            let mut leads = self.leads(at);
            leads.extend(self.correction(at));
            leads.extend(self.answer(at).filter(|answer| !leads.contains(answer)));
            let led = leads.iter().map(|lead| count(&all[*lead].text) + LINE).sum::<u64>();
            if cost + led + handle > left || self.stands(&statement.text) {
                continue;
            }
            if let Some(form) = form {
                alike.add(form, statement);
            }
            if is_passing {
                *passing.entry(statement.message).or_insert(0) += 1;
            }
            left -= cost + led + handle;
            opened.insert(place);
            look.subjects.iter().for_each(|subject| coverage.anchor(*subject));
            for at in leads.into_iter().chain([at]) {
                self.tell(at);
                picks.push(at);
            }
            // A question says little without its answer.
            if let Some(reply) = self.reply(at).filter(|reply| answering.insert(*reply)) {
                self.needed[reply] += ANSWERS;
                heap.push((self.at_most(reply, self.needed[reply], most_facts), Reverse(reply)));
            }
        }
        picks
    }

    /// Returns whether a text stands in the summary whatever is chosen; an item of a list may stand there without its mark.
    fn stands(&self, text: &str) -> bool {
        self.fixed.contains(without_mark(&one_line(text)))
    }

    /// Returns what the statement at `at` costs and makes known.
    fn look(&self, at: usize, coverage: &Coverage<'_>) -> Rc<Look> {
        let mut looks = self.places.looks.0.borrow_mut();
        let look = looks.entry(at).or_insert_with(|| {
            let statement = &self.pool.all()[at];
            let count = |text: &str| self.request.counter.count_text(text).0;
            let answers = statement.answers.as_ref().map_or(0, |text| count(text));
            let cost = count(&statement.text) + answers + LINE;
            Rc::new(Look { cost, subjects: coverage.known_by(&statement.text) })
        });
        Rc::clone(look)
    }

    /// Returns what leads in the item at `at` and was not told yet, outermost first.
    fn leads(&self, at: usize) -> Vec<usize> {
        let chain = self.places.lists.leads(at);
        let is_new = |lead: &usize| !self.led.contains(lead);
        let mut leads: Vec<usize> = chain.take(DEEPEST).filter(is_new).collect();
        leads.reverse();
        let before = self.places.lists.numbered_before(at).filter(|item| !self.led.contains(item));
        let bytes = |item: &usize| self.pool.all()[*item].text.len();
        let before: Vec<usize> = before.take(MOST_BEFORE + 1).collect();
        if before.len() <= MOST_BEFORE && before.iter().map(bytes).sum::<usize>() <= BYTES_BEFORE {
            leads.extend(before);
        }
        leads
    }

    /// Returns what the message answers that lists the statement at `at`, where it was not told yet and may be.
    fn answer(&self, at: usize) -> Option<usize> {
        let all = self.pool.all();
        let is_listed = self.places.lists.lead(at).is_some();
        let answer = self.places.answers.of(all[at].message).filter(|answer| is_listed && *answer != at)?;
        let is_told = self.keys.contains(&all[answer].key()) || self.stands(&all[answer].text);
        (!is_told && !self.places.are_silent_of(answer)).then_some(answer)
    }

    /// Returns what corrects the statement at `at`, where it was not told yet and may be: without it, what it says would mislead.
    fn correction(&self, at: usize) -> Option<usize> {
        let by = self.places.revised.by(at)?;
        let is_told = self.keys.contains(&self.pool.all()[by].key());
        (!is_told && !self.places.are_silent_of(by)).then_some(by)
    }

    /// Returns what answers the question at `at` best, where people talk: a sentence of the next message, if none was told.
    fn reply(&self, at: usize) -> Option<usize> {
        let all = self.pool.all();
        let asks = |one: &Statement| one.text.trim_end().ends_with(['?', '？']);
        let is_talk = self.request.index.domain() == Domain::Talk && self.request.limit >= ROOMY;
        if !is_talk || !all[at].kind.is_said() || !asks(&all[at]) {
            return None;
        }
        let next = at + all[at..].iter().position(|one| one.message > all[at].message)?;
        let message = all[next].message;
        let of_message = next..next + all[next..].iter().take_while(|one| one.message == message).count();
        if of_message.clone().any(|place| self.keys.contains(&all[place].key())) {
            return None;
        }
        let answers = |place: &usize| {
            all[*place].kind.is_said()
                && all[*place].words().len() >= LEAST_ANSWER
                && !asks(&all[*place])
                && !self.places.are_silent_of(*place)
        };
        let worth = |place: &usize| self.needed[*place] - per_token(all[*place].text.len() as u64 / 4 + LINE);
        of_message.filter(answers).max_by_key(|place| (worth(place), Reverse(*place)))
    }

    fn tell(&mut self, at: usize) {
        let statement = &self.pool.all()[at];
        self.keys.insert(statement.key());
        self.led.insert(at);
        statement.words().iter().for_each(|word| *self.told.entry(*word).or_insert(0) += 1);
    }

    /// Returns what a statement that is `needed` so much may be worth for its tokens where it makes `facts` known: a logarithm in
    /// thousandths, so that whole numbers do. What it costs is guessed from its length.
    fn at_most(&self, at: usize, needed: i32, facts: f64) -> i32 {
        let cost = self.pool.all()[at].text.len() as u64 / 4 + LINE;
        needed + self.extra(at, facts) - per_token(cost)
    }

    /// Returns what it adds that a statement makes `facts` known and serves the goal.
    fn extra(&self, at: usize, facts: f64) -> i32 {
        (facts * FACT + self.serves[at] * GOAL) as i32
    }

    /// Returns what a statement loses because it was told already.
    fn news(&self, at: usize) -> i32 {
        let told = |word: u32| self.told.get(&word).copied().unwrap_or_default();
        let news = u64::from(self.pool.news(&self.pool.all()[at], told));
        // A fifth of the worth stays where everything was told: said again in other words.
        ln(16 + news * 4) - ln(80)
    }
}

/// Returns an item of a list without its mark, its number and its check box; one that is too short to be known by its words as it is.
fn without_mark(text: &str) -> &str {
    let bare = text.strip_prefix("- ").unwrap_or(text);
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let unnumbered = digits.strip_prefix(". ").filter(|_| digits.len() < bare.len()).unwrap_or(bare);
    let boxes = ["[ ] ", "[x] ", "[X] "];
    let item = boxes.iter().find_map(|mark| unnumbered.strip_prefix(mark)).unwrap_or(unnumbered);
    if item.len() >= LEAST_ITEM { item } else { bare }
}

/// Bytes from which on an item is known by its words.
const LEAST_ITEM: usize = 16;

/// Returns what it takes from the worth of a statement that it costs so many tokens.
fn per_token(cost: u64) -> i32 {
    ln(cost) * 7 / 10
}

/// Returns the natural logarithm in thousandths.
fn ln(n: u64) -> i32 {
    (log2_sixteenths(n) * 433 / 10) as i32
}

/// What a mark and a line break cost.
const LINE: u64 = 2;

/// Returns whether a person asks something by it, and says nothing else.
fn asks(statement: &Statement) -> bool {
    statement.kind == StatementKind::Person && statement.text.trim_end().ends_with(['?', '？'])
}

/// What it adds that a statement shows the new state of a record, in thousandths of a logarithm.
const RENEWED: i32 = 1000;

/// What it adds that a statement tells of an option that was chosen.
const CHOSEN: i32 = 2000;

/// What it adds that a statement tells of something that was chosen at the very beginning, less the later it was: what is old is needed
/// less, but what was decided holds until it is decided otherwise.
const OF_OLD: i64 = 2000;

/// What it adds that a person tells of something that was chosen: new or old, it holds more than what the model chose long ago.
const PERSONS_CHOICE: i32 = 1000;

/// What it adds that a statement stands in the issue that the work is about.
const TICKET: i32 = 2000;

/// What it takes away that a statement is of a part of the conversation that a summary beside this one stands for.
const OF_OTHERS: i32 = 4000;

/// What it takes away that a person only asks something: what there is to know of it is in the answer, and what else they said is not.
const ASKED: i32 = 1500;

/// What it takes away that an added line only comments on the code: what the code does now is in the lines beside it.
const ADDED_COMMENT: i32 = 1500;

/// What it takes away that a statement is a step of a plan that was worked through.
const WORKED: i32 = 1200;

/// What it adds in the service of customers that a statement says which record is in which state.
const HEADS: i32 = 2000;

/// What it adds that people who meet came to a number.
const RESULT: i32 = 1000;

/// What it adds that a statement answers a question that was told.
const ANSWERS: i32 = 700;

/// From this limit on answers are looked for: with less room, more of a talk is told by what is asked in it.
const ROOMY: Tokens = Tokens(5000);

/// Words of the shortest answer.
const LEAST_ANSWER: usize = 4;

/// What the handle of a message that was not named yet costs.
const HANDLE: u64 = 4;

/// Headings over headings that are told with an item.
const DEEPEST: usize = 2;

/// Items that stand before a numbered one and are told with it, and the bytes that they may have.
const MOST_BEFORE: usize = 4;
const BYTES_BEFORE: usize = 400;

/// With less room nothing is said.
const LEAST: u64 = 6;

/// What a fact of value 1 adds to a statement that names it first, in thousandths of a logarithm.
const FACT: f64 = 500.0;

/// What it adds that a statement shares words with the goal.
const GOAL: f64 = 3000.0;
