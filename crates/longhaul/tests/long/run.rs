//! A long conversation under one preset, with everything that must hold looked at after each message.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use longhaul::{
    Config, Event, EventKind, Finish, Preset, Session, View, notice,
    policy::{Reason, When},
    store::{MemoryStore, SummaryStore},
    summarize::{Answer, CompletionRequest, Scripted, SummarizerModel, rules::OMITTED},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Clock, Item, Message, NoJitter, NoSleep, SessionId, SummaryMode, Tokens},
};

use super::conversation::{Style, TASK, settled, turn};

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The preset; `None` are the defaults.
    pub(crate) preset: Option<Preset>,
    pub(crate) window: u64,
    pub(crate) turns: usize,
    pub(crate) tools: bool,
    /// Whether a scripted model writes summaries; the mode is then the preset's, or hybrid.
    pub(crate) model: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) messages: u64,
    pub(crate) summaries: usize,
    pub(crate) soft: usize,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    pub(crate) calls: usize,
    /// Summaries that a model wrote, or a part of.
    pub(crate) by_model: usize,
    pub(crate) notices: usize,
    pub(crate) peak: u64,
    /// The smallest view right after a summary.
    pub(crate) least_view: u64,
    /// What was settled: in view at the end, found by `recall`, neither.
    pub(crate) in_view: usize,
    pub(crate) recalled: usize,
    pub(crate) lost: Vec<String>,
    /// What should not have been.
    pub(crate) faults: Vec<String>,
}

/// A summary says something from here on.
const LEAST_SUMMARY: Tokens = Tokens(120);

/// A clock that a turn moves on, so that what is bounded by the hour goes on.
#[derive(Debug)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

const TURN_MS: i64 = 90_000;

/// Faults beyond this many are counted, not told.
const MOST_TOLD: usize = 8;

impl Plan {
    pub(crate) fn name(&self) -> &'static str {
        self.preset.map_or("defaults", Preset::as_str)
    }

    pub(crate) fn config(&self) -> Config {
        let config = self.preset.map_or_else(Config::default, Preset::config);
        match (self.model, config.mode) {
            (false, _) => Config { mode: SummaryMode::Rules, ..config },
            (true, SummaryMode::Rules) => Config { mode: SummaryMode::Hybrid, ..config },
            (true, _) => config,
        }
    }

    fn style(&self) -> Style {
        // A window of 16,000 tokens is full every fifteen turns or so, one of 200,000 every two hundred.
        Style { tools: self.tools, turn_tokens: if self.window <= 16_000 { 500 } else { 900 } }
    }
}

impl Done {
    fn fault(&mut self, what: impl FnOnce() -> String) {
        if self.faults.len() < MOST_TOLD {
            self.faults.push(what());
        }
    }
}

/// What the scripted model says: every statement that it is shown, newest first, as far as its answer may go. As prose
/// where a document's prompt asks for it, as a record elsewhere.
fn says(request: &CompletionRequest) -> String {
    let most = request.max_tokens.0 as usize * 2;
    let mut statements: Vec<&str> = Vec::new();
    let mut length = 0;
    let sentences: Vec<&str> =
        request.user.split(['\n', '"']).flat_map(|line| line.split_inclusive(". ")).collect();
    for sentence in sentences.into_iter().rev() {
        let sentence = sentence.trim().trim_start_matches("- ");
        let is_statement = STATEMENTS.iter().any(|words| sentence.starts_with(words));
        if is_statement && length + sentence.len() < most && !statements.contains(&sentence) {
            length += sentence.len() + 3;
            statements.push(sentence);
        }
    }
    statements.reverse();
    let narrative = format!(
        "The parts were gone through one after the other, as the user asked.\n- {}",
        statements.join("\n- ")
    );
    if request.user.contains("\"narrative\"") {
        return serde_json::to_string(&Answer { narrative, ..Answer::default() }).unwrap_or_default();
    }
    narrative
}

/// How the sentences begin that somebody who sums up would keep.
const STATEMENTS: [&str; 5] = [
    "Port the exporter",
    "Never rename the column",
    "We decided to",
    "The file src/",
    "Please go on with the part",
];

/// Has the conversation.
pub(crate) async fn run(plan: Plan) -> Done {
    let config = plan.config();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let log = Arc::clone(&events);
    let store = Arc::new(MemoryStore::new());
    let session = SessionId::new("long").expect("a name");
    let window = ContextWindow::new(Tokens(plan.window), Tokens(plan.window / 20));
    let clock = Arc::new(Ticking(AtomicI64::new(1_700_000_000_000)));
    let mut builder = Session::builder(session.clone(), window)
        .config(config.clone())
        .counter(Arc::new(CharsPer4))
        .clock(Arc::clone(&clock) as Arc<dyn Clock>)
        .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
        .observer(move |event: &Event| log.lock().expect("nobody panics here").push(event.clone()));
    let model = Arc::new(Scripted::new(|_, request| Ok(Scripted::says(says(request)))));
    if plan.model {
        // It reads in one call what the conversation's own model does.
        let reads = Tokens(plan.window.max(128_000));
        let asked = SummarizerModel::new("small", reads, Arc::clone(&model) as _);
        builder = builder.models(vec![asked], Arc::new(NoSleep), Arc::new(NoJitter));
    }
    let mut context = builder.build().expect("the settings are valid");
    let mut done = Done { smallest: u64::MAX, least_view: u64::MAX, ..Done::default() };
    context.push(Message::system("You are a careful engineer."));
    let mut seen = 0;
    let mut standing = 0;
    let mut promise = None;
    for nth in 0..plan.turns {
        clock.0.fetch_add(TURN_MS, Ordering::Relaxed);
        for message in turn(nth, plan.style()) {
            let pushed = message.role;
            context.push(message);
            if pushed == longhaul::transcript::Role::Assistant {
                // The request was made before the answer came.
                continue;
            }
            // What is promised right after a compaction holds until the next, however much is said.
            let told = promise.get_or_insert_with(|| Promise::of(&mut done, &context)).clone();
            if let Err(error) = context.prepare().await {
                done.fault(|| format!("turn {nth}: {error}"));
                continue;
            }
            let (tokens, budget) = (context.state().tokens(), context.state().budget());
            done.peak = done.peak.max(tokens.0);
            if tokens > budget {
                done.fault(|| format!("turn {nth}: a view of {tokens} in a budget of {budget}"));
            }
            let new: Vec<Event> = events.lock().expect("nobody panics here")[seen..].to_vec();
            seen += new.len();
            for event in &new {
                match &event.kind {
                    EventKind::SummarizerFailed { error, .. } => {
                        done.fault(|| format!("turn {nth}: {error}"));
                    }
                    EventKind::Trimmed { reason, tokens_before, .. } => {
                        done.soft += 1;
                        told.is_kept(&mut done, *reason, *tokens_before, &context, nth);
                        promise = None;
                    }
                    EventKind::Finished(finish) => {
                        look(&mut done, plan, &context, finish, nth, &mut standing);
                        told.is_kept(&mut done, finish.reason, finish.tokens_before, &context, nth);
                        promise = None;
                    }
                    _ => {}
                }
            }
            if promise.is_some() {
                told.is_not_overdue(&mut done, &context, nth);
            }
        }
    }
    context.save().await.expect("memory takes everything");
    done.messages = context.state().originals().len() as u64;
    done.calls = model.calls();
    // What the summary before tells of is not paid for again; what a first tier shortened in between is read as it was said.
    let largest =
        model.requests().iter().map(|request| request.user.len() as u64 / 4).max().unwrap_or_default();
    if largest > plan.window * 2 {
        done.fault(|| format!("a prompt of {largest} tokens for a summary"));
    }
    if done.summaries == 0 {
        done.fault(|| "no summary".to_owned());
    }
    if done.notices != done.summaries {
        let (notices, summaries) = (done.notices, done.summaries);
        done.fault(|| format!("{notices} notices of {summaries} summaries"));
    }
    // Where one summary takes the place of many, all they stand for may be read again, in parts.
    let merges = if plan.preset == Some(Preset::Session) { done.by_model / 10 } else { 0 };
    if done.calls < done.by_model || done.calls > done.by_model + merges {
        let (calls, by_model) = (done.calls, done.by_model);
        done.fault(|| format!("{calls} calls for {by_model} summaries by a model"));
    }
    let sent: String = context.state().view().messages().map(|message| words(message)).collect();
    for settled in (0..plan.turns).filter_map(|nth| settled(nth, plan.style())) {
        if sent.contains(&settled.words) {
            done.in_view += 1;
            continue;
        }
        let hits = store.search(Some(&session), &settled.words, 5).await.unwrap_or_default();
        let found = hits.iter().any(|hit| format!("{hit:?}").contains(&settled.words));
        if found {
            done.recalled += 1;
        } else {
            done.lost.push(format!("{}: {}", settled.kind, settled.words));
        }
    }
    done
}

/// What `/context` says of when the policy will act next.
#[derive(Clone, Debug)]
struct Promise {
    /// At so many tokens, by a summary and by the soft tier.
    hard: Option<u64>,
    soft: Option<u64>,
    /// With the message of this number, of all that were ever said, by how many are in view and how many are new.
    message: Option<u64>,
    refresh: Option<u64>,
    /// How many had been said.
    said: u64,
}

impl Promise {
    fn of(done: &mut Done, context: &Session) -> Promise {
        let said = context.state().originals().len() as u64;
        let mut promise = Promise { hard: None, soft: None, message: None, refresh: None, said };
        for upcoming in context.state().outlook(None).forecast.upcoming {
            match upcoming.when {
                When::Tokens { at, .. } if upcoming.is_soft => promise.soft = Some(at.0),
                When::Tokens { at, .. } => promise.hard = Some(at.0),
                When::Messages { left, .. } => promise.message = Some(said + left),
                When::Refresh { left, .. } => promise.refresh = Some(said + left),
                other => done.fault(|| format!("nobody here knows how {other:?} is promised")),
            }
        }
        promise
    }

    /// A compaction came when it was said to come, give or take a twentieth and what was said at once.
    fn is_kept(&self, done: &mut Done, reason: Reason, tokens: Tokens, context: &Session, nth: usize) {
        let said = context.state().originals().len() as u64;
        let step = self.step(context);
        let is_near = |at: u64, tokens: u64| at <= tokens + at / 20 && tokens <= at + at / 20 + step;
        let is_at_message = |at: u64| {
            let slack = 2 + (at - self.said) / 20;
            at <= said + slack && said <= at + slack + MESSAGES_OF_A_TURN
        };
        let is_kept = match reason {
            Reason::Ratio { .. } => self.hard.is_some_and(|at| is_near(at, tokens.0)),
            // It waits where it is not worth it, which is said beside it.
            Reason::Soft { .. } => self.soft.is_some_and(|at| at <= tokens.0 + at / 20),
            Reason::Messages { .. } => self.message.is_some_and(is_at_message),
            Reason::Refresh { .. } => self.refresh.is_some_and(is_at_message),
            // What sets them off is promised by nobody: they must be what they say.
            Reason::SecondPass { trigger, .. } | Reason::ModelSwitch { trigger, .. } => tokens >= trigger,
            Reason::Emergency { budget, .. } => tokens >= budget,
            // Nobody asks by hand here (`Manual`), and what else there may be says here what it promises.
            _ => false,
        };
        if !is_kept {
            done.fault(|| {
                format!("turn {nth}: {reason} at {tokens} tokens and {said} messages, promised {self:?}")
            });
        }
    }

    /// What was promised and did not happen, though it should have by now.
    fn is_not_overdue(&self, done: &mut Done, context: &Session, nth: usize) {
        let (tokens, said) = (context.state().tokens().0, context.state().originals().len() as u64);
        let step = self.step(context);
        let tokens_overdue = self.hard.is_some_and(|at| tokens > at + at / 20 + step);
        let is_past = |at: u64| said > at + 2 + (at - self.said) / 20 + MESSAGES_OF_A_TURN;
        let messages_overdue = self.message.into_iter().chain(self.refresh).any(is_past);
        if tokens_overdue || messages_overdue {
            done.fault(|| {
                format!(
                    "turn {nth}: {tokens} tokens, {said} messages and {}, promised {self:?}",
                    context.decide()
                )
            });
        }
    }

    /// What the newest messages added that no decision was made between.
    fn step(&self, context: &Session) -> u64 {
        let said = context.state().originals().len() as u64;
        (said.saturating_sub(2)..said).map(|ordinal| context.state().cost(ordinal).0).sum()
    }
}

/// What is not urgent waits for the end of a turn.
const MESSAGES_OF_A_TURN: u64 = 6;

/// Looks at a summary right after it was made.
fn look(done: &mut Done, plan: Plan, context: &Session, finish: &Finish, nth: usize, standing: &mut u64) {
    done.summaries += 1;
    done.by_model += usize::from(finish.mode != SummaryMode::Rules);
    done.smallest = done.smallest.min(finish.summary_tokens.0);
    done.largest = done.largest.max(finish.summary_tokens.0);
    let state = context.state();
    let Some(record) = state.summary() else { return done.fault(|| format!("turn {nth}: no summary")) };
    let view = state.view();
    done.least_view = done.least_view.min(view.tokens().0);
    let free = state.budget() - view.tokens();
    if record.text.contains(OMITTED) && free > Tokens(1_000) {
        done.fault(|| format!("turn {nth}: an empty summary with {free} tokens free ({:?})", finish.reason));
    }
    if finish.summary_tokens < LEAST_SUMMARY && free > Tokens(1_000) && record.tokens_before > Tokens(4_000) {
        done.fault(|| format!("turn {nth}: a summary of {} tokens with {free} free", finish.summary_tokens));
    }
    // A trigger of messages leaves what was said last, however small; one of tokens goes down to the target.
    let is_of_tokens = matches!(finish.reason, Reason::Ratio { .. } | Reason::Soft { .. });
    if is_of_tokens && view.tokens().0 * 4 < state.limits().target.0 * 3 {
        done.fault(|| format!("turn {nth}: a view of {} tokens ({:?})", view.tokens(), finish.reason));
    }
    // What a summary quotes ends where the summary says so, and no section is there that holds nothing.
    for record in view.summaries() {
        if let Some(what) = misshapen(&record.text) {
            done.fault(|| format!("turn {nth}: {what}: {}", record.text));
        }
    }
    done.notices += usize::from(notice(record).is_some());
    // What the box and the record say of it is what the next request costs.
    for told in [finish.tokens_after, record.tokens_after] {
        if told.0.abs_diff(view.tokens().0) * 20 > view.tokens().0 {
            done.fault(|| format!("turn {nth}: told as {told} tokens, and is {}", view.tokens()));
        }
    }
    // The tail: as many of the newest messages as are to be kept, as they were said, where they cost what a tail may.
    let entries = state.originals().entries();
    let newest = &entries[entries.len().saturating_sub(plan.config().preserve_recent as usize)..];
    let cost: Tokens = newest.iter().map(|entry| state.cost(entry.id.ordinal)).sum();
    let is_second_pass = matches!(finish.reason, Reason::SecondPass { .. } | Reason::Emergency { .. });
    // A tail without a limit of its own has at least the target, but for what stands before it.
    let limits = state.limits();
    let tail = match plan.config().preserve_recent_tokens {
        Some(_) => limits.tail,
        None => limits.target - record.tokens - LEAST_SUMMARY,
    };
    if cost <= tail && !is_second_pass {
        let kept: Vec<&Arc<Message>> = view.messages().collect();
        let missing =
            newest.iter().filter(|entry| !kept.iter().any(|kept| ***kept == *entry.message)).count();
        if missing > 0 {
            done.fault(|| {
                format!("turn {nth}: {missing} of the last {} are not as they were said", newest.len())
            });
        }
    }
    // What stands for all that was said does not shrink as more is said, but for what a merge saves.
    let now: u64 = view.summaries().map(|record| record.tokens.0).sum();
    // A merge leaves four tenths, and rounding; how much a model says where it writes alone is its own affair.
    if finish.mode != SummaryMode::Llm && now * 10 < *standing * 3 {
        done.fault(|| format!("turn {nth}: the summaries went from {standing} to {now} tokens"));
    }
    *standing = now;
    // Whoever reads the view knows the task, and of what was settled last and is no longer there as it was said, something.
    let (mut told, mut said) = (String::new(), String::new());
    for item in view.items() {
        match item {
            Item::Summary(record) => told.push_str(&record.text),
            Item::Message { message, .. } => said.push_str(&words(message)),
        }
    }
    for gone in points_nowhere(&view) {
        done.fault(|| format!("turn {nth}: m{gone} is told to stand below, and does not"));
    }
    if !told.contains(TASK) && !said.contains(TASK) {
        done.fault(|| format!("turn {nth}: the task is gone: {told}"));
    }
    let gone = (0..nth).rev().filter_map(|nth| settled(nth, plan.style()));
    let newest: Vec<_> = gone.filter(|settled| !said.contains(&settled.words)).take(NEWEST).collect();
    if newest.len() == NEWEST && !newest.iter().any(|settled| told.contains(&settled.words)) {
        done.fault(|| format!("turn {nth}: nothing of {newest:?} in: {told}"));
    }
}

/// Returns the messages that a summary in the view says stand below it, and that do not.
fn points_nowhere(view: &View) -> Vec<u64> {
    let id = |item: &Item<'_>| match item {
        Item::Message { id, .. } => Some(id.ordinal),
        Item::Summary(_) => None,
    };
    let shown: Vec<u64> = view.items().filter_map(|item| id(&item)).collect();
    let of = |told: &str| -> Option<u64> {
        let (_, handle) = told.rsplit_once("(m")?;
        handle.strip_suffix(')')?.parse().ok()
    };
    const BELOW: &str = ": the user's message below";
    let texts = view.summaries().map(|record| &*record.text);
    let told = texts.flat_map(|text| text.match_indices(BELOW).map(|(at, _)| &text[..at]));
    told.filter_map(of).filter(|ordinal| !shown.contains(ordinal)).collect()
}

/// Returns what is wrong with the fences and sections of a summary.
fn misshapen(text: &str) -> Option<&'static str> {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    if text.lines().filter(is_fence).count() % 2 == 1 {
        return Some("a fence that is left open");
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let empty = |two: &[&str]| is_fence(&two[0]) && two[0] == two[1];
    if lines.windows(2).any(empty) {
        return Some("a fence that holds nothing");
    }
    let is_section = |line: &&str| line.starts_with("## ") && line.ends_with("(quoted)");
    let ends = lines.last().is_some_and(is_section);
    let is_bare = |two: &[&str]| is_section(&two[0]) && two[1].starts_with("## ");
    (ends || lines.windows(2).any(is_bare)).then_some("a section that holds nothing")
}

/// One of so many things that were settled last is told of.
const NEWEST: usize = 3;

/// Everything that a message says, asks of tools and was told by them.
fn words(message: &Message) -> String {
    let texts = message.texts().map(str::to_owned);
    let results = message.results().map(|one| one.joined_text());
    let calls = message.calls().map(|call| call.arguments.0.clone());
    texts.chain(results).chain(calls).map(|text| text + "\n").collect()
}

/// The first row of the table.
pub(crate) const HEADER: &str = "\
| preset | window | tools | by | turns | messages | summaries (soft passes) | summary tokens | calls | notices | peak view | least view after | settled: in view / recalled / lost | out of bounds |
|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// A row of the table.
pub(crate) struct Row<'a>(pub(crate) &'a Plan, pub(crate) &'a Done);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row(plan, done) = self;
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} ({}) | {}-{} | {} | {} | {} | {} | {} / {} / {} | {} |",
            plan.name(),
            plan.window,
            if plan.tools { "yes" } else { "no" },
            if plan.model { "model" } else { "rules" },
            plan.turns,
            done.messages,
            done.summaries,
            done.soft,
            if done.summaries == 0 { 0 } else { done.smallest },
            done.largest,
            done.calls,
            done.notices,
            done.peak,
            if done.summaries == 0 { 0 } else { done.least_view },
            done.in_view,
            done.recalled,
            done.lost.len(),
            done.faults.len(),
        )
    }
}

/// Every preset and the defaults, with tools and without, by rule and with a model.
pub(crate) fn plans(window: u64, turns: usize) -> Vec<Plan> {
    let presets = [None].into_iter().chain(Preset::ALL.map(Some));
    let mut plans = Vec::new();
    for preset in presets {
        for (tools, model) in [(false, false), (true, false), (false, true), (true, true)] {
            plans.push(Plan { preset, window, turns, tools, model });
        }
    }
    plans
}
