//! Replays the usage that Claude Code recorded, and shows how well the next request was foreseen:
//! `cargo run --release -p longhaul-tokens --example calibrate -- ../shared/transcripts/claude_code/*.jsonl`.
//!
//! Each request of a session is estimated before its report is shown to the calibration. Counts are of the messages alone
//! (the system prompt and the tool definitions are not in these files); thinking is empty there, and images are rare.

#![allow(clippy::print_stdout, reason = "a report")]

use std::{collections::BTreeSet, error::Error, fs};

use longhaul_tokens::{
    Accuracy, Bpe, Calibration, ClassCounts, ContentClass, Encoding, Family, Reported, ScriptEstimator,
    TokenCounter,
};
use longhaul_transcript::Tokens;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let exact = Bpe::new(Encoding::O200kBase).ok_or("the feature o200k is off")?;
    let script = ScriptEstimator::new(Family::Claude);
    println!(
        "{:28} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "counter", "requests", "median %", "p95 %", "total %", "covered %"
    );
    for (name, counter, prior) in
        [("o200k_base x 1.17", &exact as &dyn TokenCounter, 1.17), ("script estimator, Claude", &script, 1.0)]
    {
        let mut calibration = Calibration::new(prior, Accuracy::Estimate { margin: 0.3 });
        let mut outcome = Outcome::default();
        for file in &files {
            replay(&fs::read_to_string(file)?, counter, &mut calibration, &mut outcome);
        }
        outcome.print(name);
        println!("{:28} ratios {:.2?}", "", calibration.ratios());
    }
    Ok(())
}

#[derive(Default)]
struct Outcome {
    errors: Vec<f64>,
    covered: usize,
    expected_growth: f64,
    growth: f64,
}

impl Outcome {
    fn print(mut self, name: &str) {
        self.errors.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            self.errors.get((self.errors.len() as f64 * share) as usize).map_or(0.0, |e| e * 100.0)
        };
        println!(
            "{name:28} {:8} {:9.2} {:9.2} {:9.2} {:9.1}",
            self.errors.len(),
            quantile(0.5),
            quantile(0.95),
            (self.expected_growth / self.growth - 1.0) * 100.0,
            self.covered as f64 * 100.0 / self.errors.len() as f64,
        );
    }
}

fn replay(text: &str, counter: &dyn TokenCounter, calibration: &mut Calibration, outcome: &mut Outcome) {
    let (mut counted, mut anchor, mut seen) = (ClassCounts::default(), None::<Reported>, BTreeSet::new());
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let is_side = line["isSidechain"].as_bool() == Some(true);
        if line["subtype"] == "compact_boundary" || line["isCompactSummary"].as_bool() == Some(true) {
            // The view begins anew, so what was reported for the old one says nothing of it.
            (counted, anchor) = (ClassCounts::default(), None);
        }
        let message = &line["message"];
        if is_side || !message.is_object() {
            continue;
        }
        let usage = &message["usage"];
        let request = message["id"].as_str().unwrap_or_default();
        if line["type"] == "assistant" && usage.is_object() && seen.insert(request.to_owned()) {
            let field = |name: &str| usage[name].as_u64().unwrap_or(0);
            let input = field("input_tokens")
                + field("cache_read_input_tokens")
                + field("cache_creation_input_tokens");
            if input > 0 {
                let report = Reported { counted, tokens: Tokens(input) };
                let base = anchor.filter(|anchor| anchor.tokens <= report.tokens);
                if let Some(base) = base {
                    let estimate = calibration.estimate(counted, Some(base));
                    let actual = input as f64;
                    outcome.errors.push((estimate.mid.0 as f64 - actual).abs() / actual);
                    outcome.covered +=
                        usize::from(estimate.low <= report.tokens && report.tokens <= estimate.high);
                    outcome.expected_growth += (estimate.mid - base.tokens).0 as f64;
                    outcome.growth += (report.tokens - base.tokens).0 as f64;
                }
                calibration.observe(report, base);
                anchor = Some(report);
            }
        }
        count_content(&message["content"], counter, &mut counted);
    }
}

fn count_content(content: &Value, counter: &dyn TokenCounter, counted: &mut ClassCounts) {
    let text = |value: &Value| value.as_str().map_or(Tokens::ZERO, |text| counter.count_text(text));
    if content.is_string() {
        counted.record(ContentClass::Text, text(content) + Tokens(4));
    }
    for block in content.as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => counted.record(ContentClass::Text, text(&block["text"]) + Tokens(4)),
            Some("tool_use") => {
                let arguments = counter.count_text(&block["input"].to_string());
                counted.record(ContentClass::Calls, text(&block["name"]) + arguments + Tokens(20));
            }
            Some("tool_result") => {
                counted.record(ContentClass::Results, text(&block["content"]) + Tokens(20));
                for part in block["content"].as_array().into_iter().flatten() {
                    match part["type"] == "text" {
                        true => counted.record(ContentClass::Results, text(&part["text"])),
                        false => counted.record(ContentClass::Media, Tokens(1_500)),
                    }
                }
            }
            Some("thinking") => counted.record(ContentClass::Reasoning, text(&block["thinking"])),
            Some("image" | "document") => counted.record(ContentClass::Media, Tokens(1_500)),
            _ => {}
        }
    }
}
