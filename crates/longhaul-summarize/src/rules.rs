//! Summaries by rule: no model, no network, the same bytes every time.
//!
//! The budget goes to what the rest of the work most likely needs: the request and the user's rules first, then where the
//! work stands, then statements of the source, verbatim, picked by need per token. Nothing is said that the source does not
//! say, headings, counts and message handles (`m12`) apart.

use std::{cell::RefCell, sync::Arc};

use async_trait::async_trait;
use longhaul_extract::{
    Calls, DefaultRanker, Domain, FactIndex, Ranker, StatementWeights, Subjects, speaker::Speakers,
    statement_key,
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, SummaryMode, Tokens};

use crate::{Draft, SummarizeError, Summarizer, SummaryRequest};

mod account;
mod acts;
mod again;
mod anew;
mod answers;
mod asked;
mod asks;
mod carried;
mod choose;
mod claimed;
mod clip;
mod coverage;
mod cut;
mod decided;
mod deed;
mod deeds;
mod demanded;
mod earlier;
mod few;
mod fixed;
mod forms;
mod frames;
mod gist;
mod goal;
mod heading;
mod idle;
mod landed;
mod later;
mod lines;
mod lists;
mod marked;
mod marks;
mod newer;
mod noise;
mod options;
mod overruled;
mod overtaken;
mod passing;
mod persons;
mod proposals;
mod questions;
mod quoted;
mod records;
mod rejected;
mod render;
mod results;
mod revised;
mod runs;
mod sections;
mod set_down;
mod since;
mod spoken;
mod stale;
mod state;
mod superseded;
mod talkers;
mod ticket;
mod tools;
mod trail;
mod undone;
mod values;
mod worked;

pub use account::{MOST_FILES, task};
pub use cut::cut;
pub(crate) use cut::without_lines;
pub use decided::{decided, overruled_since};
pub use gist::{gist, keeps_demands};
pub use heading::{Heading, Leaves};
pub use overruled::overrules;
pub use persons::{is_fact, is_lasting, leads_in, left_out};
pub(crate) use set_down::standing;
pub use set_down::{SetDown, set_down};
pub use since::Since;
pub use tools::tools_used;

use acts::{Acts, Front, Part};
use answers::Answers;
use choose::{Choice, Looks, Places};
use claimed::LastRead;
use coverage::Coverage;
use demanded::{DemandFront, demanded};
use earlier::Earlier;
use few::{Few, FewOf};
use forms::Forms;
use goal::Goal;
use idle::{Idle, Spent};
use later::Later;
use lists::Lists;
use marks::Marks;
use options::Options;
use overruled::Overruling;
use overtaken::Overtaken;
use passing::Passing;
use records::Records;
use rejected::Rejected;
use render::Page;
use revised::Revised;
use talkers::Talkers;
use ticket::Tickets;
use trail::Trail;
use undone::Undone;
use worked::Worked;

/// Settings of [`summarize`]. Shares are the most that each may take; where they come to more than 1 together, those that stand first
/// in a summary leave nothing for the rest.
///
/// ```
/// # use longhaul_summarize::rules::RulesOptions;
/// let mut options = RulesOptions::default();
/// options.task_share = 0.3;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RulesOptions {
    /// Tells which facts are worth keeping: a statement is worth more for those that it names first.
    pub ranker: Arc<dyn Ranker>,
    /// Share of the limit that the task may take, 0.0 to 1.0. Default 0.15.
    pub task_share: f64,
    /// Share of the limit that the user's rules may take. Default 0.15. They always may have 150 tokens, up to a third of the
    /// limit; rules that bind, as against wishes, may have two fifths of it.
    pub constraint_share: f64,
    /// Half the share of the limit that each of these may take: the to-do list, what landed (commits, pushes), and the last
    /// checks with what tools refused. A goal that was stated may take the share itself. Default 0.05.
    pub state_share: f64,
    /// Share of the limit that what was asked after the first request may take. Default 0.12.
    pub asked_share: f64,
    /// What the statements are weighed by; `None` is the built-in weights.
    pub weights: Option<StatementWeights>,
    /// What tells who speaks, for an agent whose marks the built-in table does not have: a session's facts are read by it
    /// ([`FactIndex::set_speakers`](longhaul_extract::FactIndex::set_speakers)), and whoever hands facts to [`summarize`] sets it
    /// there. `None` is the built-in table.
    pub speakers: Option<Arc<Speakers>>,
}

impl Default for RulesOptions {
    fn default() -> RulesOptions {
        RulesOptions {
            ranker: Arc::new(DefaultRanker::default()),
            task_share: 0.15,
            constraint_share: 0.15,
            state_share: 0.05,
            asked_share: 0.12,
            weights: None,
            speakers: None,
        }
    }
}

impl RulesOptions {
    /// Returns the shares of the limit by their names: each from 0 to 1, and no more than 1 together.
    pub fn shares(&self) -> [(&'static str, f64); 4] {
        let RulesOptions {
            ranker: _,
            task_share,
            constraint_share,
            state_share,
            asked_share,
            weights: _,
            speakers: _,
        } = self;
        [
            ("task_share", *task_share),
            ("constraint_share", *constraint_share),
            ("state_share", *state_share),
            ("asked_share", *asked_share),
        ]
    }
}

/// A [`Summarizer`] that follows the rules of [`summarize`]. It never fails.
#[derive(Clone, Debug, Default)]
pub struct RulesSummarizer {
    /// The settings.
    pub options: RulesOptions,
}

#[async_trait]
impl Summarizer for RulesSummarizer {
    fn writes_facts(&self) -> bool {
        true
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        Ok(summarize(&request, &self.options))
    }
}

/// Version of the rules; part of a record's id.
pub const MADE_WITH: &str = "rules-13";

/// What stands in place of a summary for which there is no room.
pub const OMITTED: &str = "[Summary omitted - insufficient budget]";

/// Share of the limit that lines of changed files may take by themselves, what their edits say apart: in long work they would leave no
/// room for what was decided.
const TRAIL_SHARE: f64 = 0.25;

/// Below this limit a summary says nothing useful.
pub const LEAST_LIMIT: Tokens = Tokens(50);

/// Returns a summary of the request's entries, within its limit.
pub fn summarize(request: &SummaryRequest<'_>, options: &RulesOptions) -> Draft {
    Reading::new(request.index, request.counter, options).summarize(request)
}

/// What was read of a conversation, for several summaries of it: whoever tries different limits or ranges reads it once.
#[derive(Debug)]
pub struct Reading<'a> {
    index: &'a FactIndex,
    counter: &'a dyn TokenCounter,
    options: &'a RulesOptions,
    subjects: Subjects,
    lists: Lists,
    passing: Passing,
    later: Later<'a>,
    rejected: Rejected,
    talkers: Talkers,
    records: Records,
    chosen: Options,
    tickets: Tickets,
    answers: Answers,
    revised: Revised<'a>,
    forms: Forms,
    spent: Spent,
    looks: Looks,
    claims: LastRead,
    entries: &'a [Entry],
    few: Few<'a>,
    calls: Calls<'a>,
    front: RefCell<Option<Front>>,
    demand_front: RefCell<Option<DemandFront>>,
}

impl<'a> Reading<'a> {
    /// Reads what `index` holds; `counter` counts the summaries.
    pub fn new(
        index: &'a FactIndex,
        counter: &'a dyn TokenCounter,
        options: &'a RulesOptions,
    ) -> Reading<'a> {
        let pool = index.statements();
        let lists = Lists::new(pool);
        let spent = Spent::new(pool, &lists, index.domain());
        let revised = match index.domain() {
            Domain::Talk => Revised::none(pool),
            _ => Revised::new(pool),
        };
        Reading {
            index,
            counter,
            options,
            subjects: Subjects::new(index, &*options.ranker),
            lists,
            passing: Passing::new(pool),
            revised,
            later: Later::new(pool),
            rejected: match index.domain() {
                Domain::Talk => Rejected::default(),
                _ => Rejected::new(pool),
            },
            records: Records::new(pool),
            chosen: Options::new(pool),
            tickets: Tickets::new(pool),
            answers: Answers::new(pool, index.domain()),
            forms: Forms::new(pool),
            spent,
            talkers: Talkers::new(pool),
            looks: Looks::default(),
            claims: LastRead::default(),
            entries: &[],
            few: Few::default(),
            calls: Calls::of(&[]),
            front: RefCell::default(),
            demand_front: RefCell::default(),
        }
    }

    /// Reads a conversation once, where summaries of different parts of it begin with the same message.
    pub fn of(self, entries: &'a [Entry]) -> Reading<'a> {
        let few = Few::among(entries, self.index.speakers());
        Reading { entries, few, calls: Calls::of(entries), ..self }
    }

    /// Reads what the calls of the request's entries did.
    fn acts(&self, request: &SummaryRequest<'_>, place: Option<usize>, few: FewOf<'_>) -> Acts {
        let (entries, tail) = (request.entries, request.tail_beside_entries());
        let part = |calls| Part { entries, telling: few.telling, tail, calls };
        match place {
            Some(place) => {
                Acts::read_on(&part(self.calls.within(entries)), place, &mut self.front.borrow_mut())
            }
            None => Acts::of_part(&part(Calls::of(entries))),
        }
    }

    /// Returns where in the conversation these very `part`s of it begin.
    fn place_of(&self, part: &[Entry]) -> Option<usize> {
        let ordinal = |entry: &Entry| entry.id.ordinal;
        let place = self.entries.binary_search_by_key(&ordinal(part.first()?), ordinal).ok()?;
        self.entries.get(place..place + part.len()).filter(|same| std::ptr::eq(*same, part)).map(|_| place)
    }

    /// Returns what [`summarize`] does, by these facts and this counter, whatever the request has.
    pub fn summarize(&self, request: &SummaryRequest<'_>) -> Draft {
        let request = &SummaryRequest { index: self.index, counter: self.counter, ..*request };
        if request.limit < LEAST_LIMIT {
            return omitted(request);
        }
        let (draft, lacks_room) = self.draft(request, Tokens::ZERO);
        // Where people only talk, everything else is what was asked and answered.
        let of_talk = match self.index.domain() {
            Domain::Talk => request.limit.scaled(TALK_SHARE),
            _ => Tokens::ZERO,
        };
        let spare = (request.limit - draft.tokens).max(of_talk);
        if !lacks_room || spare < LEAST_SPARE {
            return draft;
        }
        // What nothing else needed is room for rules that had none.
        let (fuller, _) = self.draft(request, spare);
        if missing_rules(request, &fuller) < missing_rules(request, &draft) { fuller } else { draft }
    }

    /// Returns a draft in which the person's rules may take what is `spare` beside their share, and whether that was too little for some.
    fn draft(&self, request: &SummaryRequest<'_>, spare: Tokens) -> (Draft, bool) {
        let pool = request.index.statements();
        let goal = Goal::new(request.goal);
        let mut coverage = Coverage::new(request.index, &self.subjects, &goal);
        request.kept.iter().for_each(|entry| coverage.read_message(&entry.message));
        let place = self.place_of(request.entries);
        let own = if place.is_some() {
            Few::default()
        } else {
            Few::among(request.entries, request.index.speakers())
        };
        let few = if place.is_some() { &self.few } else { &own }.of(request.entries);
        let acts = self.acts(request, place, few);
        let runs = runs::runs(&acts.runs);
        let is_talk = request.index.domain() == Domain::Talk;
        let front = &mut self.demand_front.borrow_mut();
        let mut demanded = demanded(few, request.index.speakers(), is_talk, place, front);
        let speakers = request.index.speakers();
        let overruling = Overruling::of(few.users.iter().chain(request.kept), speakers, &self.claims);
        let overruling = if sections::is_meeting(request) { overruling.of_many() } else { overruling };
        let mut earlier = Earlier::find(few, speakers);
        if let Some(earlier) = &mut earlier {
            earlier.mark(&overruling);
        }
        let (rules, before) = earlier.as_ref().map(Earlier::said).unwrap_or_default();
        let (rules, lifting) = carried::marked(rules, few.demanding, speakers);
        demanded.splice(0..0, rules);
        carried::add(&mut demanded, lifting);
        let carried = carried::decisions(request);
        let before = [&carried[..], &before].concat();
        let judged = overruled::decided(before, few.users, &overruling, speakers).without(&carried);

        let decided = &judged.standing[..];
        let known = (&judged, &overruling);
        let mut summary = account::account(request, &runs, &acts, few, &self.subjects, demanded, known);
        if let Some(task) = earlier.as_ref().and_then(Earlier::task) {
            summary.goal = task;
        }
        let kept = request.kept.iter().filter_map(|entry| Some((entry, few::sent(entry, speakers)?)));
        let persons = few.persons.iter().copied().chain(kept.collect::<Vec<_>>());
        let persons = persons.map(|(entry, text)| (entry.id.ordinal, text)).collect::<Vec<_>>();
        let overtaken = Overtaken::new(&judged, &overruling, &summary.constraints, persons.iter().copied());
        newer::add(&mut summary.constraints, &overtaken);
        let marks = Marks::new(&overtaken, &summary.constraints, &persons, request.kept);
        let undone = Undone::read(request, &acts, few);
        let trail = Trail::new(&summary.files, request.limit.scaled(TRAIL_SHARE), request.counter);
        let known = (&undone, &trail, earlier.as_ref());
        let person = (decided, &overruling, &overtaken);
        let fixed = sections::sections(request, &summary, &acts, few, known, person, (self.options, spare));
        let sections = fixed.first.iter().chain(&fixed.last);
        sections.for_each(|section| coverage.read(&section.body));
        let told = (&self.lists, &self.passing, &self.spent);
        let told_on = earlier.as_ref().and_then(Earlier::of_ours);
        let idle = Idle::new(request, told, &runs, &acts, &undone, few, told_on);
        let places = Places {
            idle: &idle,
            lists: &self.lists,
            records: &self.records,
            options: &self.chosen,
            tickets: &self.tickets,
            answers: &self.answers,
            revised: &self.revised,
            forms: &self.forms,
            looks: &self.looks,
            worked: &Worked::new(request.entries, few.persons, &acts.calls),
        };
        // Who meets is nobody's user.
        let decided_by_user = if sections::is_meeting(request) { &[][..] } else { decided };
        let page = Page {
            fixed: &fixed.first,
            last: &fixed.last,
            places: &places,
            later: &self.later,
            rejected: &self.rejected,
            talkers: &self.talkers,
            overtaken: &overtaken,
            marks: &marks,
            rules: &summary.constraints,
            shown: persons::shown(&summary.constraints, request.kept),
            pool,
            trail: &trail,
            domain: request.index.domain(),
            said_by_person: account::said_by_person(request, few),
            decided: decided_by_user.iter().map(|one| (one.message, statement_key(&one.text))).collect(),
        };
        let least = page.text(&[]);
        coverage.read(&least);
        let budget = request.limit - request.counter.count_text(&least);
        let choice = Choice::new(request, self.options, &goal, least, &places);
        let mut picks = choice.pick(&mut coverage, budget.scaled(ROOM_TO_CHOOSE));
        if let Some(most) = request.most_listed {
            page.keep_most_needed(&mut picks, most);
        }
        let mut text = fit(picks.len(), request, |count| page.text(&picks[..count]));
        if request.counter.count_text(&text) > request.limit {
            text = within(request, &text);
        }
        text = asked::without_empty_promise(frames::without(text));
        newer::mark(&mut summary.constraints, &overtaken);
        let draft = Draft {
            tokens: request.counter.count_text(&text),
            text,
            summary,
            mode: SummaryMode::Rules,
            made_with: MADE_WITH.into(),
            ..Draft::default()
        };
        (draft, fixed.lacks_room)
    }
}

/// Returns how many rules and facts of the user's that hold neither `draft` nor a message that stays shows.
fn missing_rules(request: &SummaryRequest<'_>, draft: &Draft) -> usize {
    let kept = request.kept.iter().flat_map(|entry| entry.message.texts());
    let shown: Vec<&str> = kept.chain([&*draft.text]).collect();
    let left_out = persons::left_out(&draft.summary.constraints, &shown);
    left_out.rules.missing + left_out.facts.missing
}

/// The share of a talk's summary that what was asked and answered leaves the person's rules and facts, where they have none in their own.
const TALK_SHARE: f64 = 0.25;

/// A rule takes so much at least.
const LEAST_SPARE: Tokens = Tokens(15);

/// Returns as much of `text` as the limit has room for: whole lines, or where none fits that says something its beginning.
fn within(request: &SummaryRequest<'_>, text: &str) -> String {
    let whole = cut(text, request.counter, request.limit);
    if whole.lines().any(|line| !line.starts_with(['#', '`'])) {
        return whole;
    }
    // A fence that is left open is closed.
    let room = request.limit - request.counter.count_text(FENCE);
    cut::closed(&without_last_heading(whole_lines(text, clip::to_tokens(text, room, request.counter))))
}

/// What closes a fence at the end of a text.
const FENCE: &str = "\n````";

/// Returns `cut`, which is the beginning of `text`, without a line that was cut in its middle: half a rule may say something else. The
/// first that stands there may be all there is.
fn whole_lines(text: &str, mut cut: String) -> String {
    let rest = text[cut.len()..].trim_start_matches(' ');
    let is_whole = rest.is_empty() || rest.starts_with('\n');
    let says_something = |end: &usize| cut[..*end].lines().any(|line| !line.starts_with('#'));
    if let Some(end) = cut.rfind('\n').filter(|end| !is_whole && says_something(end)) {
        cut.truncate(end);
    }
    cut
}

/// Returns `text`, which was cut, without a heading that nothing stands under any more.
fn without_last_heading(mut text: String) -> String {
    while let Some(start) = text.rfind('\n').filter(|start| text[start + 1..].starts_with('#')) {
        text.truncate(start);
    }
    text
}

fn omitted(request: &SummaryRequest<'_>) -> Draft {
    let fits = request.counter.count_text(OMITTED) <= request.limit;
    let text = if fits { OMITTED.to_string() } else { String::new() };
    Draft {
        tokens: request.counter.count_text(&text),
        text,
        mode: SummaryMode::Rules,
        made_with: MADE_WITH.into(),
        ..Draft::default()
    }
}

/// How much more than the budget is picked, by estimate, so that the exact count has something to choose from.
const ROOM_TO_CHOOSE: f64 = 1.7;

/// Returns the text with the most picks, out of `most`, that keeps within the limit; near enough is good enough.
fn fit(most: usize, request: &SummaryRequest<'_>, render: impl Fn(usize) -> String) -> String {
    let limit = request.limit.0 as f64;
    let good = limit * NEAR_ENOUGH;
    let mut best = render(0);
    // The most that is known to fit and the least that is known not to, with what they cost.
    let mut low = (0, request.counter.count_text(&best).0 as f64);
    let mut high: Option<(usize, f64)> = None;
    let mut count = most;
    while low.0 < count && low.1 < good {
        let text = render(count);
        let cost = request.counter.count_text(&text).0 as f64;
        if cost <= limit {
            (low, best) = ((count, cost), text);
        } else {
            high = Some((count, cost));
        }
        let Some((above, cost_above)) = high else { break };
        // Costs grow about evenly between the two.
        let share = ((limit * 0.998 - low.1) / (cost_above - low.1)).clamp(0.0, 1.0);
        let gap = above - low.0;
        count = low.0 + ((gap as f64 * share) as usize).clamp(1, gap.saturating_sub(1).max(1));
        if gap <= 1 {
            break;
        }
    }
    best
}

/// Share of the limit from which on no more is squeezed in.
const NEAR_ENOUGH: f64 = 0.985;

#[cfg(test)]
mod tests;
