//! Which lines stand in a running summary where not all of them fit.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use super::{
    TRUNCATED, cured, head,
    line::{Class, Line, Rank},
    short::forms,
};

/// How many lines of a kind are taken in each round, the newest first: what one kind has most of is not to push out the
/// others. What is owed comes before all of these, and any kind that is not named behind them.
const IN_A_ROUND: [(Rank, usize); 6] = [
    (Rank::Choice, 2),
    (Rank::Decision, 1),
    (Rank::Cure, 1),
    (Rank::Error, 1),
    (Rank::Change, 1),
    (Rank::Other, 1),
];

/// How many of the newest of each kind stand in any summary, in turns, beside the task and the last request.
const OWED: [(Kind, usize); 7] = [
    (Kind::Of(Rank::Choice), 2),
    (Kind::Of(Rank::Decision), 2),
    (Kind::Of(Rank::Cure), 1),
    (Kind::Of(Rank::Error), 1),
    (Kind::Of(Rank::Request), 1),
    (Kind::Of(Rank::Change), 1),
    (Kind::Command, 1),
];

/// A kind of line of which the newest is owed.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Of(Rank),
    Command,
}

impl Kind {
    fn has(self, line: &Line) -> bool {
        match self {
            Kind::Of(Rank::Request) => matches!(line.rank, Rank::Request | Rank::Question),
            Kind::Of(rank) => line.rank == rank,
            Kind::Command => line.rank == Rank::Other && cured::command(&line.text).is_some(),
        }
    }
}

/// The user's rules have at least this share of all that there is: what else is owed takes the rest, and they what that leaves.
const RULES_SHARE: f64 = 0.35;

/// Returns as many of `lines` as fit, shown in their order under the head: the task and the last request; the newest of each kind, as
/// far as the rules keep their share; the rules; then some of each kind round by round. What is owed and does not fit `limit`
/// gets what there is up to `most`, an error and what was asked in short (see [`forms`]).
pub(super) fn framed(
    mark: &str,
    lines: &[Line],
    counter: &dyn TokenCounter,
    limit: Tokens,
    most: Tokens,
) -> String {
    let frame = [mark, &head(lines.len()), TRUNCATED].join("\n");
    let room = limit - counter.count_text(&frame) - Tokens(2);
    let ranked = Ranked::of(lines);
    let cost = |at: &usize| counter.count_text(&lines[*at].text) + Tokens(1);
    let of_rules: Tokens = ranked.rules.iter().map(cost).sum();
    let of_owed: Tokens = ranked.first.iter().chain(&ranked.owed).map(cost).sum();
    let mut page = Page {
        lines,
        counter,
        cures: &ranked.cures,
        is_tight: of_rules + of_owed > room + (most - limit),
        shown: BTreeMap::new(),
        left: room + (most - limit),
        beyond: most - limit,
    };
    page.all(&ranked.first);
    let for_rules = of_rules.min(most.scaled(RULES_SHARE)).min(page.left);
    page.left -= for_rules;
    page.in_turns(&ranked.owed);
    page.left += for_rules;
    page.all(&ranked.rules);
    // What is not owed keeps to the limit, so that an update fits behind it.
    page.left -= page.beyond;
    page.beyond = Tokens::ZERO;
    page.all(&ranked.in_rounds);
    let owed = || ranked.first.iter().chain(&ranked.rules).chain(&ranked.owed);
    let missing: Vec<usize> = owed().copied().filter(|at| !page.shown.contains_key(at)).collect();
    if !missing.is_empty() {
        // Line by line they count more than together.
        page.left = most - counter.count_text(&told(mark, &page.shown, true));
        page.all(&missing);
    }
    let is_demanded = |at: &usize| lines[*at].rank <= Rank::Rule;
    let is_cut = missing.iter().any(|at| is_demanded(at) && !page.shown.contains_key(at));
    told(mark, &page.shown, is_cut)
}

/// The places of lines, in the order in which they are taken.
struct Ranked {
    /// The task and the last request.
    first: Vec<usize>,
    /// The newest of each kind.
    owed: Vec<usize>,
    rules: Vec<usize>,
    in_rounds: Vec<usize>,
    /// The line that tells of the cure of what failed, by the place of that.
    cures: HashMap<usize, usize>,
}

impl Ranked {
    fn of(lines: &[Line]) -> Ranked {
        let cures = cured::cures(lines);
        let newest_of = |rank| (0..lines.len()).rev().filter(move |at| lines[*at].rank == rank);
        // Facts that a person told leave before what they forbid and demand.
        let (rules, facts): (Vec<usize>, Vec<usize>) =
            newest_of(Rank::Rule).partition(|at| lines[*at].is(Class::Rule));
        let rules = [rules, facts].concat();
        // The first task is the task.
        let task = (0..lines.len()).filter(|at| lines[*at].rank == Rank::Task);
        let first: Vec<usize> = task.chain(newest_of(Rank::LastRequest)).collect();
        let mut owed = Vec::new();
        for (kind, count) in OWED {
            // Where what was asked last stays, or was told before, the one before it is the last request.
            if matches!(kind, Kind::Of(Rank::Request)) && newest_of(Rank::LastRequest).next().is_some() {
                continue;
            }
            let newest = (0..lines.len()).rev().filter(|at| kind.has(&lines[*at]));
            let open = newest.clone().filter(|at| !cures.contains_key(at)).take(count).collect::<Vec<_>>();
            let newest = if open.is_empty() { newest.take(count).collect() } else { open };
            owed.extend(newest.into_iter().enumerate());
        }
        owed.sort_by_key(|(nth, _)| *nth);
        let mut in_order: Vec<usize> = Vec::new();
        for (_, at) in owed {
            // What failed is not told without its cure.
            for at in cures.get(&at).copied().into_iter().chain([at]) {
                if !in_order.contains(&at) && !first.contains(&at) {
                    in_order.push(at);
                }
            }
        }
        let is_taken =
            |at: &usize| first.contains(at) || lines[*at].rank == Rank::Rule || in_order.contains(at);
        let in_rounds = in_rounds(lines, &cures).into_iter().filter(|at| !is_taken(at)).collect();
        Ranked { in_rounds, first, owed: in_order, rules, cures }
    }
}

/// Returns the places of `lines` round by round, what is needed longest first, and the newest of a kind before the others. What was
/// mended comes last.
fn in_rounds(lines: &[Line], cures: &HashMap<usize, usize>) -> Vec<usize> {
    let mut taken: HashMap<Rank, usize> = HashMap::new();
    let mut turn = |at: usize| {
        let rank = if cures.contains_key(&at) { Rank::Read } else { lines[at].rank };
        let nth = taken.entry(rank).or_default();
        *nth += 1;
        let in_a_round = IN_A_ROUND.iter().find(|(kind, _)| *kind == rank).map(|(_, count)| *count);
        let round = in_a_round.map_or(usize::MAX, |count| (*nth - 1) / count);
        (round, rank, usize::MAX - at)
    };
    let mut order: Vec<_> = (0..lines.len()).rev().map(|at| (turn(at), at)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// What of the lines is shown, and the room that is left.
struct Page<'l> {
    lines: &'l [Line],
    counter: &'l dyn TokenCounter,
    cures: &'l HashMap<usize, usize>,
    is_tight: bool,
    shown: BTreeMap<usize, Cow<'l, str>>,
    left: Tokens,
    /// So much of what is left is for what would not be told otherwise.
    beyond: Tokens,
}

impl Page<'_> {
    /// Shows as many of the lines as fit.
    fn all(&mut self, order: &[usize]) {
        order.iter().for_each(|at| self.show(*at, self.left - self.beyond));
    }

    /// Shows as many of the lines as fit, none of them longer than its part of the room where it can be told in short.
    fn in_turns(&mut self, order: &[usize]) {
        for (nth, at) in order.iter().enumerate() {
            let part = Tokens(self.left.0 / (order.len() - nth) as u64);
            self.show(*at, if self.is_tight { part } else { self.left - self.beyond });
        }
    }

    /// Shows a line in the longest form within `wanted`, or in the shortest where there is room for that.
    fn show(&mut self, at: usize, wanted: Tokens) {
        let lacks_cure = self.cures.get(&at).is_some_and(|cure| !self.shown.contains_key(cure));
        if lacks_cure || self.shown.contains_key(&at) {
            return;
        }
        let forms = forms(&self.lines[at].text, self.is_tight).into_iter();
        let forms: Vec<_> = forms.map(|text| (self.counter.count_text(&text) + Tokens(1), text)).collect();
        let fitting = forms.iter().find(|(cost, _)| *cost <= wanted).or(forms.last());
        if let Some((cost, text)) = fitting.filter(|(cost, _)| *cost <= self.left) {
            self.left -= *cost;
            self.shown.insert(at, text.clone());
        }
    }
}

/// Returns the lines that are `shown` in their frame.
fn told(mark: &str, shown: &BTreeMap<usize, Cow<'_, str>>, is_cut: bool) -> String {
    let mut text = if mark.is_empty() { String::new() } else { format!("{mark}\n") };
    text.push_str(&head(shown.len()));
    let cut = is_cut.then_some(TRUNCATED);
    for line in shown.values().map(|line| &**line).chain(cut) {
        text.push('\n');
        text.push_str(line);
    }
    text
}
