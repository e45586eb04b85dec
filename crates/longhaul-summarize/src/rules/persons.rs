//! The person's rules, told in their words: what binds before what is wished, and what lifts a rule with it.

use std::cmp::Reverse;

use hashbrown::HashSet;
use longhaul_extract::{DemandKind, demand_kind, is_standing_rule, lifted_by_each, only_tells, stated};
use longhaul_transcript::{Constraint, Entry, LeftOut, Missing, Speaker, Tokens, one_line};

use super::{
    again::Again, fixed::Fixed, heading::Heading, marked, overtaken::Overtaken, questions::is_question,
};

/// Returns those of `rules` that bind, and what takes them back, or may.
fn binding(rules: &[Constraint]) -> Vec<Constraint> {
    let bound = bound(rules, &lifted_by_each(rules));
    let binds = rules.iter().zip(bound).filter(|(_, bound)| bound.rank < PLAIN_RULE);
    binds.map(|(rule, _)| rule.clone()).collect()
}

/// Returns whether a demand holds on: it is no request and no question, tells of nothing, and leads in no others. What is said to have a
/// value has it, also where that is said to be so now.
pub fn is_lasting(demand: &str) -> bool {
    let sets_down = || demand_kind(demand).is_some() || is_fact(demand);
    !leads_in(demand)
        && !only_tells(demand)
        && (is_standing_rule(demand) || !is_question(demand) && sets_down())
}

/// Returns whether what a person set down is a fact to go by: it says so, or it says which value something has and demands nothing.
pub fn is_fact(said: &str) -> bool {
    match demand_kind(said) {
        None => stated(said).is_some(),
        kind => kind == Some(DemandKind::Fact),
    }
}

/// Returns those of `rules` that are rules or facts, hold on, and were neither taken back, lifted nor `overtaken`.
pub(super) fn holding<'r>(rules: &'r [Constraint], overtaken: &Overtaken) -> Vec<&'r Constraint> {
    let lasts = |rule: &Constraint| {
        let sets_down = demand_kind(&rule.text) == Some(DemandKind::Rule) || is_fact(&rule.text);
        sets_down && is_lasting(&rule.text)
    };
    let lifted = lifted_by_each(rules);
    let is_lifted = |at: usize| lifted.iter().any(|lifted| lifted.contains(&at));
    let is_over =
        |rule: &Constraint| rule.superseded_by.is_some() || overtaken.by(rule.message, &rule.text).is_some();
    let holds = |(at, rule): &(usize, &Constraint)| !is_over(rule) && !is_lifted(*at) && lasts(rule);
    rules.iter().enumerate().filter(holds).map(|(_, rule)| rule).collect()
}

/// Returns how many of the user's `rules` that hold on, and how many of the facts among them, nothing of `shown` shows.
pub fn left_out(rules: &[Constraint], shown: &[&str]) -> LeftOut {
    let is_shown = |rule: &str| shown.iter().any(|said| shows(said, rule) || shows(said, &one_line(rule)));
    // Mostly all are: what lifts what need not be worked out.
    if rules.iter().all(|rule| is_shown(rule.text.trim())) {
        return LeftOut::default();
    }
    let lifted = lifted_by_each(rules);
    let holds = |(rule, lifted): &(&Constraint, &Vec<usize>)| {
        rule.superseded_by.is_none() && lifted.is_empty() && is_lasting(&rule.text)
    };
    let holding = rules.iter().zip(&lifted).filter(holds).map(|(rule, _)| rule.text.trim());
    let (facts, rules): (Vec<&str>, Vec<&str>) = holding.partition(|said| is_fact(said));
    let missing =
        |all: &[&str]| Missing { missing: all.iter().filter(|said| !is_shown(said)).count(), of: all.len() };
    LeftOut { rules: missing(&rules), facts: missing(&facts), in_part: false }
}

/// Returns those of `rules` that stand in messages that are `kept`, each with the message that it was said in.
pub(super) fn shown<'r>(rules: &'r [Constraint], kept: &[Entry]) -> Vec<(u64, &'r str)> {
    let texts: Vec<&str> = kept.iter().flat_map(|entry| entry.message.texts()).collect();
    let all = rules.iter().map(|rule| (rule.message, rule.text.trim()));
    all.filter(|(_, rule)| texts.iter().any(|text| text.contains(rule))).collect()
}

/// Returns whether `said` has the words of `rule`. An item of a list is told with what leads it in, and several one behind the other: all
/// of them may stand where the list stands.
pub(super) fn shows(said: &str, rule: &str) -> bool {
    let has_all = |items: &str| said.contains(items) || items.split("; ").all(|item| said.contains(item));
    let both = |(lead, item): (&str, &str)| item.len() >= LEAST_ITEM && said.contains(lead) && has_all(item);
    let mut splits = rule.match_indices(": ").map(|(at, colon)| (&rule[..at], &rule[at + colon.len()..]));
    said.contains(rule) || splits.any(both)
}

/// Returns whether a demand asks something, and sets nothing down for good.
fn only_asks(demand: &str) -> bool {
    is_question(demand) && !is_standing_rule(demand)
}

/// Returns whether a demand only leads in others, which stand behind it.
pub fn leads_in(demand: &str) -> bool {
    demand.trim_end().ends_with([':', '：'])
}

impl Fixed<'_> {
    /// Those of the rules that bind.
    pub(super) fn binding_rules(&mut self, constraints: &[Constraint]) {
        self.rules(&binding(constraints));
    }

    /// What the person demands and marks as worth remembering, verbatim.
    pub(super) fn rules(&mut self, constraints: &[Constraint]) {
        let share = self.request.limit.scaled(self.options.constraint_share);
        let few = FEW_CONSTRAINTS.min(self.request.limit.scaled(0.35));
        let told = self.sections.iter().position(|section| section.heading == Heading::Rules.words());
        let told_already = told.map_or(Tokens::ZERO, |at| self.cost(&self.sections[at].body));
        let binding = self.request.limit.scaled(BINDING_SHARE);
        let [room, most] = [share.max(few), binding].map(|room| room + self.spare - told_already);
        let (body, are_all) = self.rule_list(constraints, room, most);
        self.lacks_room |= !are_all;
        match told {
            _ if body.is_empty() => {}
            Some(at) => {
                self.said.push_str(&body);
                let told = &mut self.sections[at].body;
                let mut lines: Vec<&str> = told.lines().chain(body.lines()).collect();
                lines.sort_by_key(|line| said_in(line));
                *told = lines.join("\n");
            }
            None => self.add(Heading::Rules, body),
        }
    }

    /// Returns whether a message is of the standing instructions.
    fn is_systems(&self, message: u64) -> bool {
        let entries = self.request.entries;
        let at = entries.binary_search_by_key(&message, |entry| entry.id.ordinal);
        at.is_ok_and(|at| entries[at].message.speaker == Some(Speaker::System))
    }

    /// Returns the rules that nothing before and no kept message shows, as long as there is room, listed oldest first.
    /// Rules go before wishes, what holds before what was taken back, short ones before long ones, and newer before older.
    /// What binds may take `most`. Returns with them whether there was room for all.
    fn rule_list(&self, rules: &[Constraint], room: Tokens, most: Tokens) -> (String, bool) {
        let lifted = lifted_by_each(rules);
        let mut lines = self.lines(rules, &lifted);
        lines.sort_by_key(|line| {
            let is_long = line.cost > LONG_RULE;
            (line.is_systems, line.rank, line.is_over, is_long, Reverse(line.at))
        });
        // One stands in any case, where it leaves half of the summary to the rest.
        let least = lines.first().filter(|line| line.rank < WISH && line.cost <= self.room(LEAST_SHARE));
        let least = least.filter(|_| self.said_no_rules()).map_or(Tokens::ZERO, |line| line.cost);
        let n_lines = lines.len();
        let mut lines = that_fit(lines, &lifted, room, most.max(least));
        lines.sort_by_key(|line| line.at);
        let are_all = lines.len() == n_lines;
        (lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"), are_all)
    }

    fn said_no_rules(&self) -> bool {
        self.sections.iter().all(|section| section.heading != Heading::Rules.words())
    }

    /// Returns a line for each of `rules` that is to be told, with what became of it.
    fn lines(&self, rules: &[Constraint], lifted: &[Vec<usize>]) -> Vec<Line> {
        let persons: Vec<(&Entry, &str)> =
            self.few.persons.iter().copied().chain(self.persons_kept()).collect();
        let newest_first = persons.iter().rev().map(|(entry, text)| (entry.id.ordinal, *text));
        let again = Again::new(newest_first);
        let bound = bound(rules, lifted);
        let mut lines: Vec<Line> = Vec::new();
        for ((at, rule), bound) in rules.iter().enumerate().zip(bound) {
            let lifts = !lifted[at].is_empty();
            if !self.is_to_be_told(rule, lifts) {
                continue;
            }
            // What must never be holds until it is taken back, whatever else is said of it.
            let is_rule = is_standing_rule(&rule.text) || demand_kind(&rule.text) == Some(DemandKind::Rule);
            let later = match is_rule || lifts {
                true => bound.later,
                false => again.after(rule.message, &rule.text),
            };
            let later = later.max(self.overtaken.by(rule.message, &rule.text).map(|by| by.message));
            let after = match (rule.superseded_by, later) {
                (Some(by), _) => match again_after(rules, lifted, by) {
                    Some(later) => format!(" (taken back in m{by}; later on this: m{later})"),
                    None => format!(" (taken back in m{by})"),
                },
                (None, Some(later)) => format!(" (later on this: m{later})"),
                (None, None) => String::new(),
            };
            let asks = if only_asks(&rule.text) { " (a question)" } else { "" };
            let is_systems = self.is_systems(rule.message);
            let by = if is_systems { " (the system's instructions)" } else { "" };
            let text = format!("- m{}{by}: {}{asks}{after}", rule.message, rule.told());
            let cost = self.cost(&text) + Tokens(1);
            let is_over = rule.superseded_by.is_some();
            let rank = if is_over { WISH } else { bound.rank };
            lines.push(Line { at, text, cost, is_systems, is_over, rank, binds_alone: bound.alone < WISH });
        }
        lines
    }

    /// Returns whether a rule is told: it stands nowhere else, and holds, or lifts another. What only leads in rules is none, and no
    /// question is.
    fn is_to_be_told(&self, rule: &Constraint, lifts: bool) -> bool {
        let is_undone = || {
            let by = self.undone.by(rule.message).filter(|by| !self.undone.is_asked_again(*by));
            by.is_some() && !is_standing_rule(&rule.text)
        };
        let holds = || !only_asks(&rule.text) && !is_undone();
        // What only answers is not told where its question is not.
        let is_shown =
            self.shows(&rule.text) && rule.answers.as_deref().is_none_or(|asked| self.shows(asked));
        !leads_in(&rule.text) && !is_shown && (lifts || holds())
    }

    /// Returns whether `text` stands in what is told already or in a message that stays. That may have been cut: what counts is that the
    /// words are there.
    pub(super) fn shows(&self, text: &str) -> bool {
        let has = |said: &str| shows(said, text);
        has(&self.said) || self.request.kept.iter().flat_map(|entry| entry.message.texts()).any(has)
    }
}

/// Returns the ordinal of the message that a line of the list begins with.
fn said_in(line: &str) -> u64 {
    let ordinal = line.trim_start_matches("- m").split(|c: char| !c.is_ascii_digit()).next();
    ordinal.and_then(|ordinal| ordinal.parse().ok()).unwrap_or_default()
}

/// A constraint as it is told.
struct Line {
    /// Its place among the constraints.
    at: usize,
    text: String,
    cost: Tokens,
    is_systems: bool,
    /// It was taken back.
    is_over: bool,
    rank: u8,
    /// It binds by itself, not only by what it lifts.
    binds_alone: bool,
}

/// Returns those of `lines`, in their order, for which there is `room`; what binds may take `most`. What only lifts something is told
/// with the last of that and with what turns it round again, or not at all: alone it would allow what is forbidden.
fn that_fit(lines: Vec<Line>, lifted: &[Vec<usize>], room: Tokens, most: Tokens) -> Vec<Line> {
    let told: HashSet<usize> = lines.iter().map(|line| line.at).collect();
    let last_of = |line: &Line| lifted[line.at].iter().copied().filter(|at| told.contains(at)).max();
    let last: Vec<Option<usize>> = lines.iter().map(last_of).collect();
    let belong = |one: usize, other: usize| {
        let (at, other) = (lines[one].at, lines[other].at);
        last[one] == Some(other) || !lifted[at].is_empty() && lifted[other].contains(&at)
    };
    let mut taken = vec![false; lines.len()];
    let mut used = Tokens::ZERO;
    for (one, line) in lines.iter().enumerate() {
        let others = (0..lines.len()).filter(|other| belong(one, *other));
        let together: Vec<usize> = others.chain([one]).filter(|at| !taken[*at]).collect();
        let cost = |all: &[usize]| all.iter().map(|at| lines[*at].cost).sum::<Tokens>();
        let limit = if line.rank < WISH && !line.is_systems { room.max(most) } else { room };
        let fits = |all: &[usize]| used + cost(all) <= limit;
        let told = match taken[one] {
            true => Vec::new(),
            false if fits(&together) => together,
            false if line.binds_alone && fits(&[one]) => vec![one],
            false => Vec::new(),
        };
        used += cost(&told);
        told.into_iter().for_each(|at| taken[at] = true);
    }
    lines.into_iter().zip(taken).filter(|(_, is_taken)| *is_taken).map(|(line, _)| line).collect()
}

/// Returns the newest message that turns round what was said in the message `by`, which took something back.
fn again_after(rules: &[Constraint], lifted: &[Vec<usize>], by: u64) -> Option<u64> {
    let is_of = |lifted: &&Vec<usize>| lifted.iter().any(|at| rules[*at].message == by);
    let turning = rules.iter().zip(lifted).filter(|(_, lifted)| is_of(lifted)).map(|(rule, _)| rule.message);
    turning.max()
}

/// How much a constraint binds.
struct Bound {
    /// Its rank by itself.
    alone: u8,
    /// That, or the one of what it lifts: told alone, either would mislead.
    rank: u8,
    /// The message of the newest that takes it back, or may.
    later: Option<u64>,
}

/// Returns how much each of `rules` binds.
fn bound(rules: &[Constraint], lifted: &[Vec<usize>]) -> Vec<Bound> {
    let alone = rules.iter().map(|rule| rank(&rule.text));
    let mut bound: Vec<Bound> = alone.map(|rank| Bound { alone: rank, rank, later: None }).collect();
    for (by, lifted) in lifted.iter().enumerate() {
        lifted.iter().for_each(|at| bound[*at].later = Some(rules[by].message));
    }
    for (by, lifted) in lifted.iter().enumerate() {
        for at in lifted {
            if bound[*at].later == Some(rules[by].message) {
                bound[by].rank = bound[by].rank.min(bound[*at].rank);
            }
        }
    }
    bound
}

/// Returns how much a constraint binds, the strictest first. Any label marks a line; what is surely a rule goes before what is only
/// marked.
fn rank(text: &str) -> u8 {
    match (is_standing_rule(text), marked::is_marked(text)) {
        _ if only_tells(text) => TOLD,
        (true, _) => 0,
        (_, true) => 1,
        _ if demand_kind(text) == Some(DemandKind::Rule) => PLAIN_RULE,
        _ if is_fact(text) => FACT,
        _ => WISH,
    }
}

/// What a handful of rules takes: they get that much, however small the share, up to a third of the limit.
const FEW_CONSTRAINTS: Tokens = Tokens(150);

/// Bytes from which on an item of a list is known again by its words.
const LEAST_ITEM: usize = 12;

/// The share of the limit that the person's rules may take: before all else that could be told.
const BINDING_SHARE: f64 = 0.4;

/// Where no rule has room in its share, the first may take so much of the limit.
const LEAST_SHARE: f64 = 0.5;

/// The rank of a rule that no word and no label makes the strictest.
const PLAIN_RULE: u8 = 2;

/// The rank of what the person told to go by.
const FACT: u8 = 3;

/// The rank of what is neither.
const WISH: u8 = 4;

/// The rank of what has a word of demand and only tells of something.
const TOLD: u8 = 5;

/// A rule of more tokens gives way to shorter ones.
const LONG_RULE: Tokens = Tokens(40);
