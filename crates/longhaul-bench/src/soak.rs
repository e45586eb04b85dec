//! Long conversations over real HTTP: what a turn costs after a hundred thousand of them, and what the endpoint is sent.

mod chart;
mod endpoint;
mod script;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use cpu_time::ThreadTime;
use longhaul::{
    Config, Event, EventKind, Session,
    tokens::{self, ContextWindow, Encoding},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolResult},
};
use longhaul_client::{Chat, ChatRequest, Endpoint};

pub use chart::chart;
pub use endpoint::Faults;

use self::{endpoint::ScriptedEndpoint, script::Script};

/// One long conversation.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The model's window.
    pub window: Tokens,
    /// How many turns there are.
    pub turns: u64,
    /// About how many tokens a turn adds.
    pub turn_tokens: u64,
}

/// A stretch of a conversation, measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stretch {
    /// The last turn of it, counted from 1.
    pub turn: u64,
    /// Median processor time that longhaul took for a turn: pushing, preparing, learning from the usage; without HTTP and
    /// encoding.
    pub median: Duration,
    /// Mean of the same, compactions included.
    pub mean: Duration,
    /// Memory of this process, client and server together, in bytes.
    pub resident: u64,
}

/// What came of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Soaked {
    /// The stretches, in order.
    pub stretches: Vec<Stretch>,
    /// Messages said.
    pub messages: u64,
    /// Requests made; a turn with a tool call takes two.
    pub requests: u64,
    /// Rewrites that were announced by an event.
    pub rewrites: u64,
    /// The most rewrites before a single request.
    pub most_rewrites: u64,
    /// Rewrites that came again before the cooldown was over, short of an emergency.
    pub loops: u64,
    /// The largest prompt, as the endpoint counts it.
    pub largest: u64,
    /// What the endpoint found wrong.
    pub faults: Faults,
    /// Bytes of histories sent before, and how many of them stood unchanged at the start of the next request.
    pub prefix: (u64, u64),
    /// The same without the requests that follow an announced rewrite.
    pub prefix_between: (u64, u64),
}

/// Room for an answer, as a share of the window.
const RESERVED: f64 = 0.05;

/// How many stretches a conversation is measured in.
const STRETCHES: u64 = 40;

/// Has one conversation from its first turn to its last, and tells of each stretch when it is over.
///
/// # Errors
/// When the loopback interface cannot be used, or longhaul cannot keep the conversation within its window.
pub async fn soak(plan: Plan, mut tell: impl FnMut(&Stretch)) -> Result<Soaked> {
    let endpoint = ScriptedEndpoint::start(plan)?;
    let client = Chat::openai(Endpoint::new(endpoint.base())?)?;
    let config = Config::default();
    let cooldown = config.cooldown_messages;
    let rewrites = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&rewrites);
    let window = ContextWindow::new(plan.window, plan.window.scaled(RESERVED));
    let mut context = Session::builder(SessionId::new("soak")?, window)
        .counter(tokens::counter(Encoding::O200kBase))
        .config(config)
        .observer(move |event: &Event| {
            if matches!(event.kind, EventKind::Finished(_) | EventKind::Trimmed { .. }) {
                told.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build()?;
    context.push(Message::system("You are a careful engineer. Answer briefly."));

    let mut script = Script::new(plan.turn_tokens);
    let mut done = Soaked::default();
    let mut spent: Vec<Duration> = Vec::new();
    let mut sent_before: Vec<u8> = Vec::new();
    let mut last_rewrite: Option<u64> = None;
    let stretch = (plan.turns / STRETCHES).max(1);
    for turn in 1..=plan.turns {
        let mut own = Duration::ZERO;
        let start = ThreadTime::now();
        context.push(Message::user(script.question(turn)));
        own += start.elapsed();
        loop {
            let known = rewrites.load(Ordering::Relaxed);
            let start = ThreadTime::now();
            let (messages, sent) = {
                let view = context.prepare().await?;
                (view.messages().cloned().collect::<Vec<_>>(), view.id())
            };
            own += start.elapsed();
            let since = rewrites.load(Ordering::Relaxed) - known;
            done.rewrites += since;
            done.most_rewrites = done.most_rewrites.max(since);
            let said = context.state().originals().len() as u64;
            if since > 0 {
                done.loops += u64::from(last_rewrite.is_some_and(|last| said - last < cooldown));
                last_rewrite = Some(said);
            }
            let request = ChatRequest::new("scripted", messages, window.reserved_output);
            let body = client.body(&request)?;
            note_prefix(&mut done, &sent_before, &body, since > 0);
            sent_before = body;
            let reply = client.reply(&request, |_| {}).await.with_context(|| format!("turn {turn}"))?;
            done.requests += 1;
            let start = ThreadTime::now();
            if let Some(usage) = &reply.usage {
                done.largest = done.largest.max(usage.prompt_total().0);
                context.report_usage(sent, usage);
            }
            let calls: Vec<_> = reply.message.calls().cloned().collect();
            context.push(reply.message);
            for call in &calls {
                let content = vec![Part::Text(script.output(turn))];
                let result = ToolResult { call_id: call.id.clone(), content, outcome: Outcome::Succeeded };
                context.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
            }
            own += start.elapsed();
            if calls.is_empty() {
                break;
            }
        }
        spent.push(own);
        if turn % stretch == 0 {
            let measured = measured(turn, &mut spent);
            tell(&measured);
            done.stretches.push(measured);
        }
    }
    done.messages = context.state().originals().len() as u64;
    done.faults = endpoint.faults();
    Ok(done)
}

/// Compares the history with the one sent before: up to its end it should be the same bytes.
fn note_prefix(done: &mut Soaked, before: &[u8], now: &[u8], is_rewritten: bool) {
    // The list is left open at its end by two bytes: `]}`.
    let before = before.strip_suffix(b"]}").unwrap_or(before);
    if before.is_empty() {
        return;
    }
    let same = before.iter().zip(now).take_while(|(a, b)| a == b).count() as u64;
    let whole = before.len() as u64;
    done.prefix = (done.prefix.0 + whole, done.prefix.1 + same);
    if !is_rewritten {
        done.prefix_between = (done.prefix_between.0 + whole, done.prefix_between.1 + same);
    }
}

fn measured(turn: u64, spent: &mut Vec<Duration>) -> Stretch {
    spent.sort_unstable();
    let mean = spent.iter().sum::<Duration>() / u32::try_from(spent.len()).unwrap_or(u32::MAX).max(1);
    let median = spent.get(spent.len() / 2).copied().unwrap_or_default();
    spent.clear();
    Stretch { turn, median, mean, resident: resident_bytes().unwrap_or_default() }
}

/// Returns the memory of this process, where the system tells it (Linux).
fn resident_bytes() -> Option<u64> {
    crate::process_kilobytes("VmRSS:").map(|kilobytes| kilobytes * 1024)
}

impl Plan {
    /// Returns the plan that `text` spells: `WINDOW:TURNS:TOKENS`, such as `2000:100000:60`.
    ///
    /// # Errors
    /// When it is not of that form.
    pub fn parse(text: &str) -> Result<Plan> {
        let numbers: Vec<u64> =
            text.split(':').map(str::parse).collect::<Result<_, _>>().with_context(|| format!("{text:?}"))?;
        match numbers[..] {
            [window, turns, turn_tokens] if turns > 0 => {
                Ok(Plan { window: Tokens(window), turns, turn_tokens })
            }
            _ => bail!("{text:?} is no plan; expected WINDOW:TURNS:TOKENS, such as 2000:100000:60"),
        }
    }
}
