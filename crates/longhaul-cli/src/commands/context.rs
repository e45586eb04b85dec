//! `longhaul context`: what fills the window.

mod of_state;
mod stored;

use std::process::ExitCode;

use anyhow::Result;
use longhaul::{
    Breakdown, Config, DocumentSession, Shown, Within,
    config::Adjustment,
    keep_reasoning,
    policy::{self, Hold, Measurement, PolicyState, Upcoming},
    tokens::{TokenCounter, count_tools},
    transcript::{Entry, Message, Part, Role, Tokens, Transcript},
    wire::{self, Document, Format},
};
use serde::Serialize;

pub(crate) use self::of_state::{foretold, kinds_of};
use self::stored::Stored;
use crate::{
    args::ContextArgs,
    counter::{self, Named},
    found::{self, About},
    input::{self, Unseen},
    output::Target,
    paint::{self, Colour, GREY, Painter, grouped, harmless_json},
    settings,
    window::Room,
};

/// What fills the window, as `--json` prints it. Keys are stable.
#[derive(Debug, Serialize)]
struct View {
    version: u32,
    file: String,
    format: &'static str,
    encoding: String,
    messages: usize,
    /// Messages that a compaction took out of the window, or that stood before the agent began anew: they are not counted.
    #[serde(rename = "compacted_away")]
    unseen: Unseen,
    window: Tokens,
    reserved_output: Tokens,
    budget: Tokens,
    /// What the next request costs, as far as that is known: what was billed last, where that is more than is counted.
    tokens: Tokens,
    /// What the messages cost as they are counted here.
    counted: Tokens,
    /// What the last request and its answer were billed, where the file says so.
    billed: Option<Tokens>,
    ratio: f64,
    kinds: Vec<Kind>,
    largest: Vec<Large>,
    compaction: Forecast,
}

/// One kind of content: a row of the table and a stretch of the grid.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) tokens: Tokens,
    #[serde(skip)]
    pub(crate) letter: char,
    #[serde(skip)]
    pub(crate) colour: Colour,
}

#[derive(Debug, Serialize)]
struct Large {
    message: String,
    tokens: Tokens,
    what: String,
}

/// When the next compaction comes, and what it would do now.
#[derive(Debug, Serialize)]
struct Forecast {
    trigger: Tokens,
    to_go: Tokens,
    target: Tokens,
    /// Each tier that may act, and what is left until it does; what comes first is first.
    upcoming: Vec<Upcoming>,
    /// What would be done is due now.
    acts_now: bool,
    /// The same in words.
    #[serde(skip)]
    due: Option<&'static str>,
    /// What keeps a tier from acting that has been reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<Hold>,
    /// Thresholds that do not fit the budget as they are set, and what takes their place.
    adjusted: Vec<Adjustment>,
    /// What the history would cost after a compaction now; `None` where it is at the target already.
    after: Option<Tokens>,
    /// The budget that this leaves for the messages as they are counted, where more was billed than is counted: `compact`, which knows
    /// a history and not what its agent sends beside it, goes by what is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_as_counted: Option<Tokens>,
}

pub(crate) fn run(mut args: ContextArgs) -> Result<ExitCode> {
    let view = match stored::meant(&args)? {
        Some(stored) => seen_stored(&stored),
        None => {
            found::settle(&mut args.file, found::ByWords::Taken)?;
            seen(&args)?
        }
    };
    let shown = match args.json {
        true => harmless_json(&serde_json::to_string(&view)?),
        false => picture(&view),
    };
    Target::Stdout.put(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what fills the window in words, without the grid.
#[cfg(feature = "mcp")]
pub(crate) fn told(args: &ContextArgs) -> Result<String> {
    let view = seen(args)?;
    let painter = Painter::stdout();
    Ok(heading(&view, painter) + &table(&view, painter))
}

fn seen(args: &ContextArgs) -> Result<View> {
    let document = input::document(&args.file, args.from.from.0)?;
    input::warn_of_problems(&args.file, &document, false)?;
    let about = About::of(&args.file, &document);
    let counter = counter::choose(&args.counter)?;
    let layered = settings::load(&args.settings)?;
    let keeps_recent = layered.choose_recent();
    let model = args.counter.model.as_ref().or(about.model.as_ref().filter(|_| document.model().is_none()));
    let config = settings::for_history(&layered.config, &document, model.map(String::as_str));
    let room = Room::new(args.window, about.window, &config, &counter, &document)?;
    Ok(view(args, (config, keeps_recent), &counter, &document, &room, about.billed))
}

/// Returns what fills the window of a conversation that the store has: the numbers that `/context` shows in it.
fn seen_stored(stored: &Stored) -> View {
    let (state, tools) = (stored.opened.state(), stored.tools);
    let (outlook, limits, window) = (state.outlook(None), state.limits(), state.context_window());
    let view = state.view();
    let shown: Vec<&Shown> = view.shown().collect();
    let entries: Transcript = shown.iter().map(|shown| shown.message().clone()).collect();
    let breakdown = Breakdown::of(entries.entries(), &*stored.counter.counter);
    let (tokens, budget) = (state.likely_tokens() + tools, state.budget() + tools);
    let foretold = || foretold(state, None, None).ok().map(|foretold| foretold.after + tools);
    let name = |at: u64| match usize::try_from(at).ok().and_then(|at| shown.get(at)) {
        Some(Shown::Message { id, .. }) => id.to_string(),
        Some(Shown::Summary { .. }) => "summary".to_owned(),
        Some(Shown::Instruction { .. }) => "instruction".to_owned(),
        _ => "block".to_owned(),
    };
    let largest = breakdown.largest(entries.entries(), 8).into_iter();
    View {
        version: 1,
        file: stored.session.to_string(),
        format: Format::Longhaul.name(),
        encoding: stored.counter.name.clone(),
        messages: breakdown.messages,
        unseen: Unseen::Compacted(0),
        window: window.window,
        reserved_output: window.reserved_output,
        budget,
        tokens,
        counted: breakdown.total + tools,
        billed: state.is_billed().then_some(tokens),
        ratio: tokens.ratio_of(budget),
        kinds: kinds_of(state, &*stored.counter.counter, tools),
        largest: largest
            .map(|large| Large { message: name(large.id.ordinal), tokens: large.tokens, what: large.what })
            .collect(),
        compaction: Forecast {
            trigger: limits.trigger + tools,
            to_go: limits.trigger - state.tokens(),
            target: limits.target + tools,
            due: outlook.forecast.due(),
            held: outlook.forecast.held(),
            acts_now: outlook.forecast.acts_now,
            upcoming: outlook.forecast.beside(tools).upcoming,
            adjusted: outlook.adjustments,
            after: foretold().filter(|after| *after < tokens),
            budget_as_counted: None,
        },
    }
}

fn view(
    args: &ContextArgs,
    (config, keeps_recent): (Config, bool),
    counter: &Named,
    document: &Document,
    room: &Room,
    billed: Option<Tokens>,
) -> View {
    let entries = document.transcript().entries();
    let breakdown = Breakdown::of(entries, &*counter.counter);
    let tools = count_tools(&*counter.counter, document.tools().iter().map(String::as_str));
    let counted = breakdown.total + tools;
    // What the agent sends beside what it writes down: system prompt, tools, memory; and what the count misses.
    let unseen = billed.unwrap_or_default() - counted;
    let (used, budget) = (counted + unseen, room.budget + tools);
    let largest = breakdown.largest(entries, 8).into_iter();
    View {
        version: 1,
        file: input::named(&args.file),
        format: document.format().name(),
        encoding: counter.name.clone(),
        messages: breakdown.messages,
        unseen: input::unseen(document),
        window: room.window.window,
        reserved_output: room.window.reserved_output,
        budget,
        tokens: used,
        counted,
        billed,
        ratio: used.ratio_of(budget),
        kinds: kinds(entries, &breakdown, counter, tools, unseen),
        largest: largest
            .map(|large| Large { message: large.id.to_string(), tokens: large.tokens, what: large.what })
            .collect(),
        compaction: forecast(document, &breakdown, (config, keeps_recent), counter, room, (tools, unseen)),
    }
}

/// Returns every kind at nothing, in the order in which they are shown: tool definitions come second, [`slot`] knows the
/// others.
fn no_kinds() -> Vec<Kind> {
    let kind = |name, letter, colour| Kind { name, tokens: Tokens::ZERO, letter, colour: Colour(colour) };
    vec![
        kind("system prompt", 's', 69),
        kind("tool definitions", 'd', 141),
        kind("user", 'u', 35),
        kind("assistant", 'a', 38),
        kind("tool calls", 'c', 178),
        kind("tool results", 'r', 173),
        kind("media, reasoning, other", 'o', 245),
    ]
}

/// Returns every kind with its share of the request; together they are all of it.
fn kinds(
    entries: &[Entry],
    breakdown: &Breakdown,
    counter: &Named,
    tools: Tokens,
    unseen: Tokens,
) -> Vec<Kind> {
    let mut kinds = no_kinds();
    for (entry, whole) in entries.iter().zip(&breakdown.per_message) {
        share_out(*whole, &entry.message, &*counter.counter, &mut kinds);
    }
    // What begins the reply is nothing in the largest.
    let shared: Tokens = breakdown.per_message.iter().copied().sum();
    if let Some(largest) = kinds.iter_mut().max_by_key(|kind| kind.tokens) {
        largest.tokens += breakdown.total - shared;
    }
    kinds[1].tokens = tools;
    kinds.push(Kind { name: "billed, not in the file", letter: 'b', tokens: unseen, colour: Colour(103) });
    kinds.retain(|kind| kind.tokens > Tokens::ZERO);
    kinds
}

/// Adds what a message costs, `whole`, to the kinds of its parts; what frames it goes to that of the first.
fn share_out(whole: Tokens, message: &Message, counter: &dyn TokenCounter, kinds: &mut [Kind]) {
    let mut framing = whole;
    for part in &message.parts {
        let tokens = counter.count_part(part);
        framing -= tokens;
        kinds[slot(message, part)].tokens += tokens;
    }
    let first = message.parts.first().map_or(3, |part| slot(message, part));
    kinds[first].tokens += framing;
}

/// Returns the index of the kind that `part` belongs to.
fn slot(message: &Message, part: &Part) -> usize {
    match (part, message.role) {
        (Part::Text(_), Role::System | Role::Developer) => 0,
        (Part::Text(_), Role::User) => 2,
        (Part::Text(_), _) => 3,
        (Part::ToolCall(_), _) => 4,
        (Part::ToolResult(_), _) => 5,
        _ => 6,
    }
}

fn forecast(
    document: &Document,
    breakdown: &Breakdown,
    (config, keeps_recent): (Config, bool),
    counter: &Named,
    room: &Room,
    (tools, unseen): (Tokens, Tokens),
) -> Forecast {
    let (target, trigger) = (room.limits.target, room.limits.trigger);
    let adjusted = config.adjustments(room.window.window, room.budget);
    // What can only be read is compacted as what it is written in.
    let to = document.format().written_as();
    let written = (to != document.format()).then(|| wire::convert(document, to)).and_then(Result::ok);
    let written = written.map(|conversion| conversion.document);
    let document = written.as_ref().unwrap_or(document);
    let session =
        DocumentSession::new(document, room.window, counter.counter.clone(), config.clone(), None).ok();
    // A history that can only be imported is told of by its size.
    let measured = session.as_ref().map(|session| session.state().measure(None));
    let n_messages = breakdown.messages as u64;
    let unknown =
        || Measurement { n_messages, n_said: n_messages, n_total: n_messages, ..Measurement::default() };
    let m = Measurement {
        tokens: breakdown.total + unseen,
        budget: room.budget,
        window: room.window.window,
        ..measured.unwrap_or_else(unknown)
    };
    let coming = policy::forecast(&PolicyState::new(), &config, &m);
    let after = || {
        let reasoning = keep_reasoning(document.format());
        // What no message accounts for stays whatever is done to the messages.
        let session = session?;
        let keep_recent = keeps_recent.then(|| session.state().recent());
        let job = session.plan(&Within { reasoning, keep_recent, ..Within::new(target - unseen) }).ok()?;
        Some(job.finish_by_rule().ok()?.outcome().tokens_after + unseen + tools)
    };
    let after = if breakdown.total + unseen > target { after() } else { None };
    Forecast {
        trigger: trigger + tools,
        to_go: trigger - breakdown.total - unseen,
        target: target + tools,
        due: coming.due(),
        held: coming.held(),
        acts_now: coming.acts_now,
        upcoming: coming.beside(tools).upcoming,
        adjusted,
        after,
        budget_as_counted: after.is_some().then_some(target - unseen).filter(|_| unseen > Tokens::ZERO),
    }
}

/// Half a percent of the window each.
const CELLS: u64 = 200;
/// So many of them may stand in a line, none of which is short then: as many as there is room for.
const COLUMNS: [usize; 3] = [50, 40, 25];

fn picture(view: &View) -> String {
    let painter = Painter::stdout();
    let grid = grid(&view.kinds, view.window, view.reserved_output, painter);
    format!("{}\n{grid}\n{}", heading(view, painter), table(view, painter))
}

/// Returns what is looked at, and how full its window is.
fn heading(view: &View, painter: Painter) -> String {
    let share = paint::percent(view.tokens.ratio_of(view.window));
    let how = if view.billed == Some(view.tokens) { ", as billed" } else { "" };
    let used = format!("{} of {} tokens ({share} %{how})", grouped(view.tokens.0), grouped(view.window.0));
    /// A name that is shorter tells little.
    const LEAST: usize = 12;
    let line_width = paint::line_width();
    let beside = line_width.saturating_sub(paint::width(&used) + 2);
    let room = if beside < LEAST { line_width } else { beside };
    let file = painter.bold(&painter.short(&paint::name(&view.file), room));
    let used = painter.paint(paint::fullness(view.ratio), &used);
    let first = match painter.is_seen() && beside < LEAST {
        true => format!("{file}\n") + &paint::wrapped("  ", &used, "  "),
        false => format!("{file}  {used}\n"),
    };
    let told = format!(
        "{}, {}, {}",
        view.format,
        paint::counted(view.messages as u64, "message"),
        painter.short(&paint::name(&view.encoding), 40)
    );
    let not_counted = view.unseen.line();
    let not_counted = not_counted.lines().map(|line| painter.hung("", line, "  ")).collect::<String>();
    format!("{first}{}{not_counted}", painter.hung("", &told, "  "))
}

/// Returns the kinds, the largest messages and what a compaction would do.
fn table(view: &View, painter: Painter) -> String {
    let mut out = String::new();
    for kind in &view.kinds {
        let sign = painter.paint(kind.colour, &kind.letter.to_string());
        out.push_str(&row(&sign, kind.name, kind.tokens, view.window));
    }
    out.push_str(&row(
        &painter.paint(GREY, "·"),
        "free",
        view.window - view.reserved_output - used_tokens(view),
        view.window,
    ));
    out.push_str(&row(&painter.paint(GREY, "░"), "kept for the reply", view.reserved_output, view.window));
    if !view.largest.is_empty() {
        out.push_str("\nlargest\n");
    }
    for large in &view.largest {
        let columns = format!("  {:<6} {:>9}  ", large.message, grouped(large.tokens.0));
        let what = painter.cut(&paint::name(&large.what), columns.len());
        out.push_str(&format!("{columns}{what}\n"));
    }
    out.push('\n');
    words(&view.compaction, view).lines().for_each(|line| out.push_str(&painter.hung("", line, "  ")));
    out
}

fn used_tokens(view: &View) -> Tokens {
    view.kinds.iter().map(|kind| kind.tokens).sum()
}

pub(crate) fn row(sign: &str, name: &str, tokens: Tokens, window: Tokens) -> String {
    let share = paint::percent(tokens.ratio_of(window));
    let numbers = format!("{:>9}  {share:>5} %", grouped(tokens.0));
    /// As long as the longest name.
    const COLUMNS: usize = 24;
    let painter = Painter::stdout();
    let left = paint::line_width().saturating_sub("  s  ".len() + numbers.len());
    let room = if painter.is_seen() { left.min(COLUMNS) } else { COLUMNS };
    format!("  {sign} {} {numbers}\n", paint::padded(&painter.short(name, room), room))
}

/// Returns the window as cells of half a percent each: what is used by kind, what is free, what the reply gets.
pub(crate) fn grid(kinds: &[Kind], window: Tokens, reserved_output: Tokens, painter: Painter) -> String {
    let cells_of = |tokens: Tokens| (tokens.ratio_of(window).min(1.0) * CELLS as f64).round() as u64;
    let mut cells: Vec<(char, Colour)> = Vec::new();
    for kind in kinds {
        let count = cells_of(kind.tokens).max(1);
        cells.extend((0..count).map(|_| (kind.letter, kind.colour)));
    }
    cells.truncate(CELLS as usize);
    let reserved = cells_of(reserved_output).min(CELLS - cells.len() as u64);
    let free = CELLS - cells.len() as u64 - reserved;
    cells.extend((0..free).map(|_| ('·', GREY)));
    cells.extend((0..reserved).map(|_| ('░', GREY)));
    let line = |cells: &[(char, Colour)]| {
        let painted = cells
            .chunk_by(|a, b| a == b)
            .map(|run| painter.paint(run[0].1, &run.iter().map(|(letter, _)| *letter).collect::<String>()));
        format!("  {}\n", painted.collect::<String>())
    };
    let room = if painter.is_seen() { paint::line_width() - 2 } else { COLUMNS[0] };
    let columns = COLUMNS.into_iter().find(|columns| *columns <= room).unwrap_or(COLUMNS[2]);
    cells.chunks(columns).map(line).collect()
}

fn words(forecast: &Forecast, view: &View) -> String {
    let mut lines: Vec<String> = forecast.upcoming.iter().map(ToString::to_string).collect();
    match forecast.due {
        Some(due) => match forecast.upcoming.iter().position(Upcoming::is_reached) {
            Some(at) => lines[at] = format!("{due}: {}", lines[at]),
            None => lines.insert(0, due.to_owned()),
        },
        None if lines.is_empty() => lines.push("switched off: nothing is compacted".to_owned()),
        None => lines.extend(forecast.held.map(|hold| format!("for now: {hold}"))),
    }
    lines.extend(forecast.adjusted.iter().map(ToString::to_string));
    let as_billed = if forecast.budget_as_counted.is_some() { ", as billed" } else { "" };
    lines.push(match forecast.after {
        Some(after) => {
            format!(
                "compacted now it would go from {} to {} tokens{as_billed}",
                grouped(view.tokens.0),
                grouped(after.0)
            )
        }
        None if view.tokens > forecast.target => {
            format!(
                "compacting the messages does not bring it to the target of {} tokens",
                grouped(forecast.target.0)
            )
        }
        None => format!("nothing to gain below the target of {} tokens", grouped(forecast.target.0)),
    });
    if let Some(budget) = forecast.budget_as_counted {
        lines.push(format!(
            "`longhaul compact` counts {} of them, which the file holds: --budget {} does that",
            grouped(view.counted.0),
            budget.0
        ));
    }
    lines.join("\n")
}
