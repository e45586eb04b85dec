//! What the summaries of long work tell, under each document's preset: a rule in every other turn takes the place of nothing else.

use longhaul::{
    Config, Preset,
    summarize::{CompletionRequest, Scripted},
    transcript::{Message, Outcome, SummaryMode},
};

use crate::work::{Work, answer, exchange};

const TASK: &str = "Port the billing importer of heron to streaming";

/// A turn of long work: what the user says, and with `tools` a run that fails, is mended and passes, one that stays broken, a
/// file that is changed, or a log that is read.
fn turn(nth: usize, tools: bool) -> Vec<Message> {
    let task = if nth == 0 { format!("{TASK}, part by part. ") } else { String::new() };
    let demand = match nth % 4 {
        0 if nth > 0 => format!(" We go with the codec_{nth} for the queue, that is settled."),
        1 | 3 => format!(" Never rename the column total_{nth} in the ledger."),
        _ => String::new(),
    };
    let noise = |from: usize| {
        let line = |at: usize| {
            format!("Step {at} of part {nth} reads batch {} and writes {} rows. ", at * 3, at * 17)
        };
        (from..from + 7).map(line).collect::<String>()
    };
    let mut said = vec![Message::user(format!("{task}Walk me through part {nth} now.{demand} {}", noise(1)))];
    let run = |id: &str, command: String, output: String, outcome| {
        exchange(id, "execute_bash", &format!(r#"{{"command":"{command}"}}"#), &output, outcome)
    };
    let edit = |tool: &str, path: String| {
        let arguments = format!(r#"{{"path":"{path}","old_string":"a","new_string":"b","content":"b"}}"#);
        exchange(
            &format!("e{nth}"),
            tool,
            &arguments,
            &format!("The file {path} has been updated."),
            Outcome::Unstated,
        )
    };
    if tools {
        let failed = format!(
            "error[E0382]: borrow of moved value: `handle_{nth}`\n  --> src/part_{nth}.rs:12:9\nexit code: 101"
        );
        match nth % 5 {
            0 => {
                let test = format!("cargo test -p part_{nth}");
                said.extend(run(&format!("f{nth}"), test.clone(), failed, Outcome::Failed));
                said.extend(edit("edit_file", format!("src/part_{nth}.rs")));
                let passed = format!("part_{nth} ran\ntest result: ok. 14 passed; 0 failed\nexit code: 0");
                said.extend(run(&format!("p{nth}"), test, passed, Outcome::Succeeded));
            }
            1 => said.extend(edit("create_file", format!("src/new_{nth}.rs"))),
            2 => said.extend(run(&format!("m{nth}"), format!("make check_{nth}"), failed, Outcome::Failed)),
            _ => {
                let log = noise(40) + "\nexit code: 0";
                said.extend(run(
                    &format!("l{nth}"),
                    format!("tail logs/run_{nth}.log"),
                    log,
                    Outcome::Succeeded,
                ));
            }
        }
    }
    let decided = if nth.is_multiple_of(3) {
        format!(" I decided to put the retries into worker_{nth}.")
    } else {
        String::new()
    };
    said.push(Message::assistant(format!("Part {nth} is done.{decided} {}", noise(20))));
    said
}

/// Has these turns of work, and returns the summaries that came of it.
async fn summaries(work: &mut Work, turns: impl Iterator<Item = Vec<Message>>) -> Vec<String> {
    views(work, turns).await.into_iter().map(|(_, summary, _)| summary).collect()
}

/// The same, each with the number of its turn and with what is sent.
async fn views(work: &mut Work, turns: impl Iterator<Item = Vec<Message>>) -> Vec<(usize, String, String)> {
    let (mut told, mut seen) = (Vec::new(), work.finished().len());
    for (nth, turn) in turns.enumerate() {
        for message in turn {
            work.context.push(message);
            work.context.prepare().await.unwrap();
            let finished = work.finished().len();
            if finished > seen {
                seen = finished;
                told.push((nth, work.summary(), work.sent()));
            }
        }
    }
    told
}

/// What a model says of it that leaves the user's demands to the rules.
fn says_little(request: &CompletionRequest) -> String {
    let line = |nth: usize| format!("- The lanes of batch {nth} were gone through and measured anew.\n");
    let lines: String = (0..request.max_tokens.0 as usize / 40).map(line).collect();
    format!("The importer is being rebuilt; the work goes on.\n{lines}")
}

/// A session under `preset` whose summaries a model writes, as often as they are wanted.
fn by_model(preset: Preset, window: u64) -> Work {
    let config = preset.config();
    let mode = if config.mode == SummaryMode::Rules { SummaryMode::Llm } else { config.mode };
    let config = Config { mode, max_calls_per_hour: None, ..config };
    let script = |_: usize, request: &CompletionRequest| {
        Ok(match request.user.contains("\"narrative\"") {
            true => answer(&says_little(request)),
            false => Scripted::says(says_little(request)),
        })
    };
    Work::with(config, window, Some(Box::new(script)))
}

// asserts 000-22, all-01
#[tokio::test]
async fn no_number_of_rules_takes_the_tasks_place_beside_a_models_words() {
    let mut work = by_model(Preset::Chain, 16_000);
    let told = summaries(&mut work, (0..260).map(|nth| turn(nth, false))).await;
    assert!(told.len() >= 4 && work.calls() >= 4, "{} {}", told.len(), work.calls());
    for (nth, text) in told.iter().enumerate() {
        assert!(text.starts_with(&format!("Task: {TASK}")), "summary {nth}: {text}");
    }
    assert!(told.last().unwrap().matches("\n- Never rename").count() > 30, "{told:?}");
}

// asserts 001-07, 001-25
#[tokio::test]
async fn each_running_summary_of_long_work_tells_of_each_kind() {
    let config = Config { mode: SummaryMode::Rules, ..Preset::Rolling.config() };
    let mut work = Work::with(config, 16_000, None);
    let told = views(&mut work, (0..300).map(|nth| turn(nth, true))).await;
    assert!(told.len() >= 12, "{}", told.len());
    for (nth, text, sent) in &told {
        let has =
            |starts: &[&str]| text.lines().any(|line| starts.iter().any(|start| line.starts_with(start)));
        assert!(has(&[&format!("[✓ user: Task: {TASK}")]), "turn {nth}: {text}");
        for starts in [
            &["[✓ user: Now: ", "[✓ user: Request: "][..],
            &["[❌ execute_bash: Command: "],
            &["[✓ edit_file: File: ", "[✓ create_file: File: "],
            &["[✓ execute_bash: Command: "],
            &["[✓ user: Decision: "],
            &["[✓ assistant: Decision: "],
        ] {
            assert!(has(starts), "summary {nth} has no {starts:?}: {text}");
        }
        assert!(text.matches("Never rename").count() >= 5, "summary {nth}: {text}");
        for test in
            text.lines().filter_map(|line| line.strip_prefix("[❌ execute_bash: Command: cargo test -p "))
        {
            let test = test.split(' ').next().unwrap();
            let cure = format!("[✓ execute_bash: Command: cargo test -p {test} ");
            // It may be at work on it, or show it as it was.
            let is_seen = text.contains(&cure) || sent.contains(&format!("{test} ran\n"));
            assert!(is_seen || test == format!("part_{nth}"), "turn {nth}: {test} was mended: {text}");
        }
    }
}

// asserts 001-25
#[tokio::test]
async fn a_rule_that_is_taken_back_leaves_a_running_summary() {
    for (preset, mode) in [(Preset::Rolling, SummaryMode::Rules), (Preset::Rolling, SummaryMode::Llm)] {
        let mut work = match mode {
            SummaryMode::Llm => by_model(preset, 16_000),
            _ => Work::with(Config { mode, ..preset.config() }, 16_000, None),
        };
        let said = |nth: usize| {
            let mut turn = turn(nth * 4 + 2, false);
            match nth {
                3 => turn.insert(0, Message::user("Never touch the orders folder. What comes next?")),
                90 => turn.insert(
                    0,
                    Message::user("Forget the rule about the orders folder, you may touch it now."),
                ),
                _ => {}
            }
            turn
        };
        let before = summaries(&mut work, (0..90).map(said)).await;
        assert!(before.last().unwrap().contains("Never touch the orders folder."), "{mode:?} {before:?}");
        let after = summaries(&mut work, (90..260).map(said)).await;
        assert!(after.len() >= 3, "{}", after.len());
        // The first after it may leave what was said last as it is.
        for (nth, text) in after.iter().enumerate().skip(1) {
            let is_rule = |line: &&str| line.contains("Rule: ") || line.contains("The user's rule");
            let rule = text.lines().filter(is_rule).find(|line| line.contains("Never touch the orders"));
            assert_eq!(rule, None, "{mode:?} summary {nth}: {text}");
        }
    }
}

// asserts 002-36, 000-22
#[tokio::test]
async fn where_summaries_are_merged_files_leave_the_rules_their_room() {
    let mut work = by_model(Preset::Session, 16_000);
    // A file is created in each of them.
    let told = summaries(&mut work, (0..240).map(|nth| turn(nth * 5 + usize::from(nth > 0), true))).await;
    let merged = told.iter().max_by_key(|text| text.len()).unwrap();
    let files = merged.lines().find(|line| line.starts_with("Files modified: ")).unwrap();
    assert!(files.contains(" more, ") && files.len() * 4 <= merged.len() + 40, "{files}: {merged}");
    assert!(merged.matches("Never rename").count() >= 8, "{merged}");
}

// asserts 000-19, 000-20, 000-21
#[tokio::test]
async fn the_lists_keep_a_share_beside_a_models_words_and_many_rules() {
    let mut work = by_model(Preset::ContextManager, 64_000);
    let told = summaries(&mut work, (0..420).map(|nth| turn(nth, true))).await;
    assert!(told.len() >= 3 && work.calls() >= 3, "{} {}", told.len(), work.calls());
    for (nth, text) in told.iter().enumerate() {
        let section = |heading: &str| {
            let section = text.split_once(heading).map(|(_, rest)| rest.split("\n\n").next().unwrap());
            section.unwrap_or_else(|| panic!("summary {nth} has no {heading}: {text}")).to_owned()
        };
        for heading in ["## Files Referenced\n", "## Commands Executed\n", "## Errors Encountered\n"] {
            let list = section(heading);
            let is_note = |line: &&str| line.starts_with('(') && line.ends_with(" left out)");
            let (notes, entries): (Vec<&str>, Vec<_>) = list.lines().partition(is_note);
            assert!(entries.len() >= 3, "summary {nth}: {list}\n{text}");
            assert!(notes.len() <= 1, "{list}");
        }
        assert!(section("## Commands Executed\n").contains(" left out)"), "summary {nth}: {text}");
    }
    assert!(told.last().unwrap().contains("The user's rule"), "{told:?}");
}
