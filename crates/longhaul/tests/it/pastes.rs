//! Long messages of a person's: what is asked stands in their first or last lines, and what is between is material.

use longhaul::{
    Config, Preset,
    summarize::{ClientError, Completion, CompletionRequest, Scripted},
    transcript::{Message, SummaryMode},
};

use crate::work::{Script, Work, answer};

const RULE: &str = "Rule: never write to the table ledger_audit while the relay runs.";
const REQUEST: &str = "Now move the export into src/ledger/relay.rs and keep its twelve tests green.";

/// Material of some pages, as it is pasted: what a service logged, a report, a table, a page of notes with labels.
fn materials() -> [(&'static str, String); 4] {
    let lines = |line: &dyn Fn(usize) -> String, n: usize| (0..n).map(line).collect::<String>();
    let log = lines(
        &|n| format!("2025-03-04T10:{:02}:00Z INFO relay served part {n} in {} ms\n", n % 60, n % 97),
        200,
    );
    let report = lines(
        &|n| {
            format!(
                "## Chapter {n}\n\nThe relay of chapter {n} waits for {n} seconds. Its queue holds {} parts, and the reader drops none of them.\n\n",
                n * 3
            )
        },
        80,
    );
    let table = lines(&|n| format!("{n},relay-{n},{}.{},eu-west-{}\n", n * 7, n % 10, n % 3), 400);
    let notes = lines(&|n| format!("Entry {}: the relay waited for {n} seconds.\n", letters(n)), 200);
    [("log", log), ("report", report), ("table", table), ("notes", notes)]
}

fn letters(n: usize) -> String {
    [n / 676 % 26, n / 26 % 26, n % 26].iter().map(|at| char::from(b'a' + *at as u8)).collect()
}

fn each() -> impl Iterator<Item = (&'static str, Config)> {
    let presets = Preset::ALL.into_iter().map(|preset| (preset.as_str(), preset.config()));
    [("defaults", Config::default())].into_iter().chain(presets)
}

/// A model that says true things and leaves out what was asked.
fn forgetful() -> Box<Script> {
    Box::new(|_: usize, request: &CompletionRequest| -> Result<Completion, ClientError> {
        Ok(match request.schema.is_some() {
            true => answer("The relay was discussed, and the part that waits."),
            false => Scripted::says("The relay was discussed, and the part that waits."),
        })
    })
}

/// Says `said` in the midst of other work, goes on, and compacts. Returns what is sent then.
async fn sent_after(mut config: Config, script: Option<Box<Script>>, said: String) -> String {
    if script.is_some() && config.mode == SummaryMode::Rules {
        config.mode = SummaryMode::Llm;
    }
    let mut work = Work::with(config, 200_000, script);
    work.context.push(Message::user("Make the relay in src/ledger/export.rs faster."));
    work.context.push(Message::assistant("I read src/ledger/export.rs."));
    work.talk(4, 150).await;
    work.context.push(Message::user(said));
    work.context.push(Message::assistant("I look into that."));
    work.talk(14, 300).await;
    work.context.compact(None).await.unwrap();
    work.sent()
}

// asserts 004-50
#[tokio::test]
async fn under_each_preset_the_first_and_last_lines_of_a_long_message_reach_the_summary() {
    let mut lost = Vec::new();
    for (preset, config) in each() {
        for (material, pasted) in materials() {
            for script in [false, true] {
                // What a model was told to summarize and left out is its own doing, unless it is a rule.
                let both = [(REQUEST, RULE), (RULE, REQUEST)];
                for (first, last) in both.into_iter().take(if script { 1 } else { 2 }) {
                    let said = format!("{first}\n{pasted}{last}");
                    let sent = sent_after(config.clone(), script.then(forgetful), said).await;
                    for (place, line) in [("first", first), ("last", last)] {
                        let must_be_told = !script || line == RULE;
                        if must_be_told && !sent.contains(line) {
                            lost.push(format!("{preset}, model {script}: {line:.5} {place} of a {material}"));
                        }
                    }
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
