//! A custom extractor: your own tool's results, digested by your own rules.
//!
//! `cargo run -p longhaul --example custom_extractor`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    extract::{Extractor, Registry, Source, ToolStatus, ToolSummary, format_summaries},
    transcript::{Outcome, ToolCall, ToolResult},
};

/// Reads the results of a deployment tool: `web-1 ok 3.2s`, one host a line.
#[derive(Debug)]
struct Deploy;

impl Extractor for Deploy {
    fn name(&self) -> &'static str {
        "deploy"
    }

    fn handles(&self, source: Source<'_>) -> bool {
        source.tool() == "deploy"
    }

    fn extract(&self, source: Source<'_>, facts: &mut ToolSummary) {
        let hosts = source.text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        });
        let (good, bad): (Vec<_>, Vec<_>) = hosts.partition(|(_, state)| *state == "ok");
        facts.key_facts.push(format!("Deployed: {} hosts", good.len()));
        if !bad.is_empty() {
            let names: Vec<&str> = bad.iter().map(|(host, _)| *host).collect();
            facts.status = ToolStatus::Error;
            facts.key_facts.push(format!("Failed: {}", names.join(", ")));
        }
    }
}

fn main() {
    let registry = Registry::builtin().with(Deploy);
    let results = [
        ("deploy", r#"{"to":"staging"}"#, "web-1 ok 3.2s\nweb-2 ok 3.4s"),
        ("deploy", r#"{"to":"production"}"#, "web-1 ok 3.1s\nweb-2 timeout 30s\nweb-3 ok 3.3s"),
        ("execute_bash", r#"{"command":"uptime"}"#, "up 41 days\nexit code: 0"),
    ];
    let summaries = results.map(|(tool, arguments, output)| {
        let call = ToolCall::function("c1", tool, arguments);
        registry.summarize(Some(&call), &ToolResult::text("c1", output, Outcome::Unstated))
    });
    println!("{}", format_summaries(&summaries));
}
