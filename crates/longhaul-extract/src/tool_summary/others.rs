//! Pages, to-dos, other agents, and records: what their calls name and what came back.

use super::line::{ToolStatus, ToolSummary, first_line, in_lines, short};
use crate::{digest::Source, fields::FieldPlace, json::Json, tool_view::CallView};

pub(super) fn web(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(url) = source.call.and_then(CallView::url) {
        facts.fact("URL", url);
        facts.meta("url", url);
    } else if let Some(query) = source.call.and_then(CallView::query) {
        facts.fact("Query", format!("\"{}\"", short(query, 120)));
        facts.meta("query", query);
    }
    if facts.status == ToolStatus::Error {
        return;
    }
    let title = source
        .text
        .lines()
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| line.len() > 3);
    if let Some(title) = title {
        facts.fact("Title", short(title, 100));
    }
    facts.fact("Text", in_lines(source.text.lines().count()));
}

pub(super) fn todo(source: Source<'_>, facts: &mut ToolSummary) {
    let Some(call) = source.call else { return };
    let fields = call.fields();
    let of = |keys: &[&str]| -> Vec<&str> {
        fields.iter().filter(|field| keys.contains(&&*field.key)).map(|field| &*field.text).collect()
    };
    let items = of(&["content", "step", "subject", "text"]);
    let states = of(&["status"]);
    if !items.is_empty() {
        facts.fact("Items", items.len());
        let done = states.iter().filter(|state| matches!(**state, "completed" | "done")).count();
        if states.len() == items.len() {
            facts.fact("Done", done);
            for (item, state) in items.iter().zip(&states) {
                if state.contains("progress") {
                    facts.fact("In progress", short(item, 100));
                }
            }
        } else {
            facts.fact("Item", short(items[0], 100));
        }
    } else {
        let keys = fields.iter().filter(|field| field.place == FieldPlace::Key).take(4);
        keys.for_each(|field| facts.fact(&field.key, short(&field.text, 80)));
    }
}

pub(super) fn sub_agent(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(task) = source.call.and_then(CallView::query) {
        facts.fact("Task", short(task, 120));
    }
    facts.fact("Report", in_lines(source.text.lines().count()));
    facts.meta("lines", source.text.lines().count());
}

pub(super) fn record(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(call) = source.call {
        for field in call.fields().iter().filter(|field| field.place == FieldPlace::Key).take(6) {
            let label = if field.key.is_empty() { "Input" } else { &*field.key };
            facts.fact(label, short(&field.text, 80));
            facts.meta(label, &*field.text);
        }
    }
    if facts.status == ToolStatus::Error {
        return;
    }
    match Json::read(source.text).filter(|json| json.rest == 0) {
        Some(json) if json.containers[0].is_array => {
            facts.fact("Results", json.containers[0].len);
            facts.meta("resultCount", json.containers[0].len);
            if json.containers[0].len == 0 {
                facts.status = ToolStatus::Partial;
            }
        }
        Some(json) => {
            facts.fact("Fields", json.containers[0].len);
            let top =
                json.leaves.iter().filter(|leaf| leaf.container == 0 && leaf.value.as_str().len() <= 60);
            for leaf in top.filter(|leaf| !matches!(leaf.value.as_str(), "" | "null")).take(5) {
                facts.fact(json.name(leaf), leaf.value.as_str());
            }
        }
        None => {
            let text = source.text.trim();
            if !text.is_empty() {
                facts.fact("Result", short(first_line(text), 120));
            }
            let lines = text.lines().count();
            if lines > 1 {
                facts.fact("Output", format!("{lines} lines"));
            }
        }
    }
}
