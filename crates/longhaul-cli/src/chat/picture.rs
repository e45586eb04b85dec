//! What `/context` and `/history` show.

use longhaul::{
    Preset, SessionState,
    config::SoftAction,
    policy::{Forecast, When},
    store::Original,
    transcript::{Span, SummaryRecord, Tokens},
};

use super::{conversation::Conversation, screen::light};
use crate::{
    archive::{full, line},
    commands::context::{foretold, grid, kinds_of, row},
    paint::{GREY, Painter, counted, grouped, percent, plain},
    with_tools,
};

/// Returns the picture of what fills the window, and what becomes of it next.
pub(crate) fn context(conversation: &Conversation, now_ms: i64, painter: Painter) -> String {
    let state = conversation.manager.state();
    let (used, window) = (conversation.used(), conversation.window());
    let limits = state.limits();
    let share = percent(used.ratio_of(window.window));
    let numbers = format!("{} of {} tokens ({share} %)", grouped(used.0), grouped(window.window.0));
    let mut out = format!(
        "{}  {}\n{} said, {} in the window, {} in force\n\n",
        painter.bold(&plain(conversation.model())),
        painter.paint(light(state.view().tokens(), &limits), &numbers),
        counted(state.originals().len() as u64, "message"),
        grouped(state.view().len() as u64),
        counted(state.view().summaries().count() as u64, "summary"),
    );
    let kinds = kinds_of(state, &*conversation.known.model.counter(), conversation.overhead());
    out.push_str(&grid(&kinds, window.window, window.reserved_output, painter));
    out.push('\n');
    for kind in &kinds {
        out.push_str(&row(
            &painter.paint(kind.colour, &kind.letter.to_string()),
            kind.name,
            kind.tokens,
            window.window,
        ));
    }
    let free = window.window - window.reserved_output - kinds.iter().map(|kind| kind.tokens).sum();
    out.push_str(&row(&painter.paint(GREY, "·"), "free", free, window.window));
    out.push_str(&row(
        &painter.paint(GREY, "░"),
        "kept for the answer",
        window.reserved_output,
        window.window,
    ));
    out.push('\n');
    for (what, says) in outlook(conversation, now_ms) {
        out.push_str(&painter.hung(&format!("  {what:<12} "), &plain(&says), &" ".repeat(15)));
    }
    out
}

/// Returns when the next compaction comes, what one would do now, and what it costs.
fn outlook(conversation: &Conversation, now_ms: i64) -> Vec<(&'static str, String)> {
    let (state, tools) = (conversation.manager.state(), conversation.overhead());
    let outlook = state.outlook(Some(now_ms));
    let limits = with_tools::limits(outlook.limits, tools);
    let soft = match state.config().soft_action {
        SoftAction::Off => String::new(),
        _ => format!("soft {}, ", grouped(limits.soft.0)),
    };
    let mut lines = vec![(
        "thresholds",
        format!(
            "{soft}trigger {}, down to {}; the hard limit is {}",
            grouped(limits.trigger.0),
            grouped(limits.target.0),
            grouped(limits.ceiling.0)
        ),
    )];
    lines.extend(judged(state, tools).map(|says| ("compared", says)));
    lines.push(("next", next(state, &outlook.forecast.clone().beside(tools))));
    lines.extend(outlook.adjustments.iter().map(|adjustment| ("adjusted", adjustment.to_string())));
    lines.push(("now", outlook.decision.beside(tools).to_string()));
    lines.push(("would save", would_save(conversation, now_ms)));
    let cost = match outlook.cost(&conversation.known.model.prices, 0.0) {
        None => "the prices of this model are not known".to_owned(),
        Some(cost) => {
            let pays = match cost.pays_back_after {
                None => "it never pays for itself".to_owned(),
                Some(0) => "it pays for itself at once".to_owned(),
                Some(n) => format!("it has paid for itself after {}", counted(n, "request")),
            };
            format!(
                "${:.4} once, ${:.4} less a request: {pays} (the cache is {})",
                cost.once.max(0.0),
                cost.saved_per_request,
                match outlook.cache {
                    longhaul::cost::Cache::Warm => "warm",
                    longhaul::cost::Cache::Cold => "cold",
                }
            )
        }
    };
    lines.push(("would cost", cost));
    if conversation.spent > 0.0 {
        lines.push(("spent", format!("${:.4} in this run", conversation.spent)));
    }
    lines
}

/// Says what the thresholds are compared with, where that is not what the picture shows: the most that may be billed.
fn judged(state: &SessionState, tools: Tokens) -> Option<String> {
    let most = state.tokens() + tools;
    let margin = state.tokens() - state.likely_tokens();
    (margin > Tokens::ZERO).then(|| {
        format!("with {most:#} tokens, with a margin of {} for what may be billed", grouped(margin.0))
    })
}

/// Says what the policy will do next, and where tokens call for it, how many messages like the last ones that is.
fn next(state: &SessionState, forecast: &Forecast) -> String {
    const LATELY: u64 = 12;
    let said = state.originals().len() as u64;
    let lately = said.min(LATELY);
    let tokens: Tokens = (said - lately..said).map(|ordinal| state.cost(ordinal)).sum();
    let mean = tokens.0.checked_div(lately).filter(|mean| *mean > 0);
    match (forecast.upcoming.first().map(|upcoming| upcoming.when), mean) {
        (Some(When::Tokens { left, .. }), Some(mean)) if left.0 >= mean && !forecast.acts_now => {
            let about = counted(left.0 / mean, "message");
            format!("{forecast}; that is about {about} like the last {lately}")
        }
        _ => forecast.to_string(),
    }
}

/// Says what a compaction would save now: what is said until the next one goes into that as well. What a model will write is not known, but how long it may be.
fn would_save(conversation: &Conversation, now_ms: i64) -> String {
    let (state, beside) = (conversation.manager.state(), conversation.overhead());
    let writer = conversation.writer();
    let foretold = match foretold(state, Some(now_ms), writer.map(|writer| writer as _)) {
        Ok(foretold) => foretold,
        Err(why) => return format!("nothing: {why}"),
    };
    let before = state.likely_tokens();
    let (after, least, up_to) = match writer.is_some() {
        true => (foretold.most.min(before), "at least ", "at most "),
        false => (foretold.after, "", ""),
    };
    let by = match (writer, foretold.by_rule) {
        (_, Some(why)) => format!(" by rule ({why})"),
        (Some(_), None) => " by a model".to_owned(),
        (None, None) => String::new(),
    };
    let saved = match before - after {
        Tokens::ZERO => "nothing".to_owned(),
        saved => format!("{least}{saved:#} tokens"),
    };
    format!(
        "{saved} if one were made now: {} would become one summary{by}, {} → {up_to}{} tokens",
        counted(foretold.summarized as u64, "message"),
        grouped((before + beside).0),
        grouped((after + beside).0)
    )
}

/// Returns the summaries in force and what was said since; with `all` every message, each under its summary. Of what was `deleted` it
/// is said that it was.
pub(crate) fn history(state: &SessionState, all: bool, deleted: &[Span]) -> String {
    let said = state.originals().len();
    let counts_from_one = state.config().preset == Some(Preset::Session);
    let mut out = format!("Session history ({} total):\n", counted(said as u64, "message"));
    let mut end = 0;
    for (nth, record) in state.view().summaries().enumerate() {
        out.push_str(&summary(nth + 1, record, counts_from_one));
        end = end.max(record.covers.end);
    }
    let span = Span { start: if all { 0 } else { end }, end: u64::MAX };
    let shown = state.originals().in_span(span);
    if let Some(first) = shown.first() {
        let title = if all { "Every message" } else { "Recent" };
        let span = Span { start: first.id.ordinal, end: said as u64 };
        out.push_str(&match counts_from_one {
            true => format!("\n[{title}] {}: ({span})\n", messages(span)),
            false => format!("\n[{title}] {span}\n"),
        });
    }
    for entry in shown {
        let is_deleted = deleted.iter().any(|span| span.contains(entry.id.ordinal));
        let original = Original {
            ordinal: entry.id.ordinal,
            at_ms: 0,
            message: (!is_deleted).then(|| (*entry.message).clone()),
            is_changed: false,
        };
        match all {
            true => out.push_str(&full(&original)),
            false => out.push_str(&format!("{}\n", line(&original))),
        }
    }
    out
}

fn summary(nth: usize, record: &SummaryRecord, counts_from_one: bool) -> String {
    let indented: String = record.text.trim_end().lines().map(|line| format!("  {line}\n")).collect();
    let by = format!("depth {}, by {}, {}", record.depth, record.mode.as_str(), record.id);
    let head = match counts_from_one {
        true => format!("{}: ({}, {by})", messages(record.covers), record.covers),
        false => format!("{} ({by})", record.covers),
    };
    format!("\n[Summary {nth}] {head}\n{}", plain(&indented))
}

/// Returns a span in 002's words, which count messages from one.
fn messages(span: Span) -> String {
    format!("Messages {}-{}", span.start + 1, span.end)
}
