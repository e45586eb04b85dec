//! A long conversation under one preset, with everything that must hold looked at after each message.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use longhaul::{
    Config, Event, EventKind, Finish, Preset, Session, notice,
    policy::{Reason, When},
    store::{MemoryStore, SummaryStore},
    summarize::{Answer, Scripted, SummarizerModel, rules::OMITTED},
    tokens::{CharsPer4, ContextWindow},
    transcript::{FixedClock, Message, NoJitter, NoSleep, SessionId, SummaryMode, Tokens},
};

use super::conversation::{SETTLING, Style, settled, turn};

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
    pub(crate) notices: usize,
    pub(crate) peak: u64,
    /// The smallest view right after a summary.
    pub(crate) least_view: u64,
    /// What was settled early: in view at the end, found by `recall`, neither.
    pub(crate) in_view: usize,
    pub(crate) recalled: usize,
    pub(crate) lost: Vec<String>,
    /// What should not have been.
    pub(crate) faults: Vec<String>,
}

/// Faults beyond this many are counted, not told.
const MOST_TOLD: usize = 8;

impl Plan {
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

/// What the scripted model says: prose where a document's prompt asks for it, a record elsewhere.
fn says(prompt: &str) -> String {
    let narrative = "The parts were gone through one after the other, as the user asked. Each was read, changed where it had to be, and tested; the tests passed.";
    if prompt.contains("\"narrative\"") {
        return serde_json::to_string(&Answer { narrative: narrative.to_owned(), ..Answer::default() })
            .unwrap_or_default();
    }
    narrative.to_owned()
}

/// Has the conversation.
pub(crate) async fn run(plan: Plan) -> Done {
    let config = plan.config();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let log = Arc::clone(&events);
    let store = Arc::new(MemoryStore::new());
    let session = SessionId::new("long").expect("a name");
    let window = ContextWindow::new(Tokens(plan.window), Tokens(plan.window / 20));
    let mut builder = Session::builder(session.clone(), window)
        .config(config.clone())
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_700_000_000_000)))
        .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
        .observer(move |event: &Event| log.lock().expect("nobody panics here").push(event.clone()));
    let model = Arc::new(Scripted::new(|_, request| Ok(Scripted::says(says(&request.user)))));
    if plan.model {
        let asked = SummarizerModel::new("small", Tokens(128_000), Arc::clone(&model) as _);
        builder = builder.models(vec![asked], Arc::new(NoSleep), Arc::new(NoJitter));
    }
    let mut context = builder.build().expect("the settings are valid");
    let mut done = Done { smallest: u64::MAX, least_view: u64::MAX, ..Done::default() };
    context.push(Message::system("You are a careful engineer."));
    let mut seen = 0;
    let mut standing = 0;
    for nth in 0..plan.turns {
        for message in turn(nth, plan.style()) {
            let foretold = foretold(&context);
            let pushed = message.role;
            context.push(message);
            if pushed == longhaul::transcript::Role::Assistant {
                // The request was made before the answer came.
                continue;
            }
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
                    EventKind::Trimmed { .. } => done.soft += 1,
                    EventKind::Finished(finish) => {
                        look(&mut done, &plan, &config, &context, finish, nth, &mut standing);
                        keeps_its_word(&mut done, finish, foretold, nth);
                    }
                    _ => {}
                }
            }
        }
    }
    context.save().await.expect("memory takes everything");
    done.messages = context.state().originals().len() as u64;
    done.calls = model.calls();
    let sent: String = context
        .state()
        .view()
        .messages()
        .flat_map(|message| {
            message
                .texts()
                .map(str::to_owned)
                .chain(message.results().map(|one| one.joined_text()))
                .chain(message.calls().map(|call| call.arguments.0.clone()))
                .collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
        .join("\n");
    for settled in (0..SETTLING.min(plan.turns)).filter_map(|nth| settled(nth, plan.style())) {
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

/// When the policy was said to act next: the number of tokens, and of messages.
fn foretold(context: &Session) -> (Option<u64>, Option<u64>) {
    let forecast = context.state().outlook(None).forecast;
    let hard = forecast.upcoming.iter().filter(|upcoming| !upcoming.is_soft);
    let (mut tokens, mut messages) = (None, None);
    for upcoming in hard {
        match upcoming.when {
            When::Tokens { at, .. } => tokens = Some(at.0),
            When::Messages { left, .. } => messages = Some(left),
        }
    }
    (tokens, messages)
}

/// Looks at a summary right after it was made.
fn look(
    done: &mut Done,
    plan: &Plan,
    config: &Config,
    context: &Session,
    finish: &Finish,
    nth: usize,
    standing: &mut u64,
) {
    done.summaries += 1;
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
    done.notices += usize::from(notice(record).is_some());
    // The tail: as many of the newest messages as are to be kept, as they were said, where they cost what a tail may.
    let entries = state.originals().entries();
    let newest = &entries[entries.len().saturating_sub(config.preserve_recent as usize)..];
    let cost: Tokens = newest.iter().map(|entry| state.cost(entry.id.ordinal)).sum();
    let is_second_pass = matches!(finish.reason, Reason::SecondPass { .. } | Reason::Emergency { .. });
    if cost <= state.limits().tail && !is_second_pass {
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
    // A merge of three at the cap of one leaves a third, and rounding.
    if plan.turns > 20 && now * 10 < *standing * 3 {
        done.fault(|| format!("turn {nth}: the summaries went from {standing} to {now} tokens"));
    }
    *standing = (*standing).max(now);
}

/// What `/context` said before the last message is what happened.
fn keeps_its_word(done: &mut Done, finish: &Finish, foretold: (Option<u64>, Option<u64>), nth: usize) {
    match (finish.reason, foretold) {
        (Reason::Ratio { tokens, .. }, (Some(at), _)) if tokens.0 < at - at / 20 => {
            done.fault(|| format!("turn {nth}: acted at {tokens} tokens, foretold for {at}"));
        }
        (Reason::Messages { .. }, (_, Some(left))) if left > 6 => {
            done.fault(|| format!("turn {nth}: acted on messages with {left} left"));
        }
        _ => {}
    }
}

/// The first row of the table.
pub(crate) const HEADER: &str = "\
| preset | window | tools | by | turns | messages | summaries (soft passes) | summary tokens | calls | notices | peak view | least view after | settled early: in view / recalled / lost | out of bounds |
|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// A row of the table.
pub(crate) struct Row<'a>(pub(crate) &'a Plan, pub(crate) &'a Done);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row(plan, done) = self;
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} ({}) | {}-{} | {} | {} | {} | {} | {} / {} / {} | {} |",
            plan.preset.map_or("defaults", Preset::as_str),
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
