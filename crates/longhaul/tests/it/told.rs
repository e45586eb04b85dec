//! What the summaries of long work tell, under each document's preset: a rule in every other turn takes the place of nothing else.

use longhaul::{
    Config, Preset,
    summarize::{CompletionRequest, Scripted},
    transcript::{Message, Missing, Outcome, SummaryMode},
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

/// What the ending of the newest summary that is sent says was left out.
fn told_missing(sent: &str) -> Option<&str> {
    let at = sent.rfind("summary-left-out: ")?;
    sent[at..].lines().next()
}

/// Every preset, and none.
fn all_presets() -> impl Iterator<Item = Option<Preset>> {
    [None].into_iter().chain(Preset::ALL.into_iter().map(Some))
}

// asserts 000-22, 001-25
#[tokio::test]
async fn a_summary_says_how_many_rules_had_no_room_in_it() {
    let mut n_told_in_all = 0;
    // Under `chain` the line may be missing: see `docs/seeds.md`.
    for preset in all_presets().filter(|preset| *preset != Some(Preset::Chain)) {
        for is_models in [false, true] {
            if is_models && preset != Some(Preset::Rolling) {
                continue;
            }
            let config = preset.map_or_else(Config::default, |preset| preset.config());
            let mut work = match (is_models, preset) {
                (true, Some(preset)) => by_model(preset, 10_000),
                (true, None) => continue,
                (false, _) => Work::with(Config { mode: SummaryMode::Rules, ..config }, 10_000, None),
            };
            let mut n_rules = 0;
            let mut n_told = 0;
            for nth in 0..110 {
                for message in turn(nth * 2 + 1, false) {
                    n_rules += usize::from(message.is_user_text());
                    let before = work.finished().len();
                    work.context.push(message);
                    work.context.prepare().await.unwrap();
                    if work.finished().len() == before {
                        continue;
                    }
                    let sent = work.sent();
                    let n_seen = (0..=nth).filter(|nth| sent.contains(&rule(nth * 2 + 1))).count();
                    let record = work.context.state().summary().unwrap().clone();
                    let Missing { missing, of } = record.left_out.rules;
                    let line = told_missing(&sent);
                    // Several stand side by side there, each of which tells of its own.
                    if preset == Some(Preset::Session) {
                        n_told += usize::from(line.is_some());
                        continue;
                    }
                    assert_eq!(missing, n_rules - n_seen, "{preset:?} {is_models} {nth}: {line:?}\n{sent}");
                    assert!(missing <= of && of <= n_rules, "{preset:?} {of} of {n_rules}");
                    let told = format!("no room here for {missing} more rule");
                    let says = line.is_some_and(|line| line.contains(&told));
                    assert_eq!(says, missing > 0, "{preset:?} {is_models}: {line:?} {missing}\n{sent}");
                    let tokens = work.context.state().tokens();
                    assert!(tokens.0 <= 10_000, "{preset:?}: {tokens:?}");
                    n_told += usize::from(says);
                }
            }
            n_told_in_all += n_told;
        }
    }
    // A model's words of the document's length leave room for all of these, and where the limit is `auto` the view goes above its
    // target for them.
    assert!(n_told_in_all > 0, "each has room for all rules");
}

/// The rule that is said in a turn with one.
fn rule(nth: usize) -> String {
    format!("Never rename the column total_{nth} in the ledger.")
}

// asserts 000-22
#[tokio::test]
async fn what_had_no_room_is_said_to_be_looked_up_where_it_can_be() {
    let config = Config { mode: SummaryMode::Rules, ..Preset::Rolling.config() };
    let lookup = longhaul::RecallTool::LOOKUP.to_owned();
    for (config, can_be) in [(config.clone(), false), (Config { summary_lookup: lookup, ..config }, true)] {
        let mut work = Work::with(config, 10_000, None);
        summaries(&mut work, (0..120).map(|nth| turn(nth * 2 + 1, false))).await;
        let sent = work.sent();
        let line = told_missing(&sent).unwrap();
        assert_eq!(line.ends_with("look them up there by what they are about"), can_be, "{line}");
    }
}

// asserts 001-25
#[tokio::test]
async fn what_is_told_as_a_fact_is_no_part_of_a_request_in_a_running_summary() {
    let config = Config { mode: SummaryMode::Rules, ..Preset::Rolling.config() };
    let mut work = Work::with(config, 16_000, None);
    let fact = |nth: usize| format!("Our contract number {nth} is KX-44{nth:02}.");
    let said = |nth: usize| {
        let mut said = turn(nth * 4 + 2, false);
        if nth % 12 == 5 {
            said.insert(0, Message::user(format!("{} Then walk me through the lanes of it.", fact(nth))));
            said.insert(1, Message::assistant("I do."));
        }
        said
    };
    let told = summaries(&mut work, (0..200).map(said)).await;
    assert!(told.len() >= 4, "{}", told.len());
    let mut n_told = 0;
    for text in &told {
        for fact in (0..200).map(fact) {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(&fact)).collect();
            assert!(lines.len() <= 1, "{lines:?}: {text}");
            n_told += usize::from(lines.iter().any(|line| line.starts_with("[✓ user: Fact: ")));
        }
    }
    assert!(n_told > 0, "{told:?}");
}

// asserts 001-25, 000-22
#[tokio::test]
async fn what_is_decided_as_a_rule_is_told_once() {
    const RULE: &str = "We never deploy on Fridays, that is settled.";
    for preset in all_presets() {
        for is_models in [false, true] {
            if is_models && preset == Some(Preset::Chain) {
                // Beside a model's words in talk it may stand under "Said" as well.
                continue;
            }
            let config = preset.map_or_else(Config::default, |preset| preset.config());
            let mut work = match (is_models, preset) {
                (true, Some(preset)) => by_model(preset, 16_000),
                (true, None) => continue,
                (false, _) => Work::with(Config { mode: SummaryMode::Rules, ..config }, 16_000, None),
            };
            let said = |nth: usize| {
                let mut said = turn(nth * 4 + 2, false);
                if nth == 3 {
                    said.splice(0..0, [Message::user(RULE), Message::assistant("Noted.")]);
                }
                said
            };
            let told = summaries(&mut work, (0..120).map(said)).await;
            assert!(told.len() >= 2, "{preset:?} {}", told.len());
            for text in &told {
                assert!(
                    text.matches("never deploy on Fridays").count() <= 1,
                    "{preset:?} {is_models}: {text}"
                );
            }
            assert!(told[0].contains("never deploy on Fridays"), "{preset:?} {is_models}: {}", told[0]);
        }
    }
}

// asserts 002-11, 001-25
#[tokio::test]
async fn what_was_overruled_is_marked_or_not_told_and_what_is_chosen_is_no_rule() {
    const OLD: &str = "Fine, rafevux then for the status page.";
    const NEW: &str = "Change of plan: tivotuk instead of rafevux for the status page.";
    for preset in all_presets() {
        let config = preset.map_or_else(Config::default, |preset| preset.config());
        let mut work = Work::with(Config { mode: SummaryMode::Rules, ..config }, 16_000, None);
        let said = |nth: usize| {
            let mut said = turn(nth * 4 + 2, false);
            let own = [(3, OLD), (5, NEW)].into_iter().find(|(at, _)| *at == nth);
            if let Some((_, own)) = own {
                said.insert(0, Message::user(format!("{own} Can you look at it next?")));
                said.insert(1, Message::assistant("I do."));
            }
            said
        };
        let told = summaries(&mut work, (0..120).map(said)).await;
        assert!(told[0].contains(NEW.trim_end_matches('.')), "{preset:?}: {}", told[0]);
        for text in &told {
            let is_marked = |line: &str| line.contains("(taken back in m");
            assert!(text.lines().filter(|line| line.contains(OLD)).all(is_marked), "{preset:?}: {text}");
            let is_rule = |line: &str| line.contains("Rule: ") || line.starts_with("- m");
            assert!(!text.lines().any(|line| line.contains(NEW) && is_rule(line)), "{preset:?}: {text}");
        }
    }
}

// asserts 000-22, 001-25
#[tokio::test]
async fn a_rule_that_answers_stands_with_its_question() {
    const ASKED: &str = "Shall I regenerate the fixtures before every commit?";
    const CHOICE: &str = "Do you want the importer split by region, or by month?";
    for preset in all_presets() {
        for is_models in [false, true] {
            if is_models && preset == Some(Preset::Chain) {
                // Beside a model's words in talk it may stand under "Said" as well.
                continue;
            }
            let config = preset.map_or_else(Config::default, |preset| preset.config());
            let mut work = match (is_models, preset) {
                (true, Some(preset)) => by_model(preset, 10_000),
                (true, None) => continue,
                (false, _) => Work::with(Config { mode: SummaryMode::Rules, ..config }, 10_000, None),
            };
            let said = |nth: usize| {
                let mut said = turn(nth * 4 + 2, false);
                let asks = |question: &str, answer: &str| {
                    [
                        Message::user(format!("How are the fixtures of part {nth} made?")),
                        Message::assistant(format!("By hand. {question}")),
                        Message::user(answer),
                        Message::assistant("I will."),
                    ]
                };
                match nth {
                    3 => drop(said.splice(0..0, asks(ASKED, "yes, always"))),
                    5 => drop(said.splice(0..0, asks(CHOICE, "the second one, and never the first again"))),
                    _ => {}
                }
                said
            };
            let told = summaries(&mut work, (0..90).map(said)).await;
            assert!(told.len() >= 2, "{preset:?} {}", told.len());
            for (nth, text) in told.iter().enumerate() {
                for (answer, question) in
                    [("yes, always", ASKED), ("the second one, and never the first again", CHOICE)]
                {
                    let told = text.lines().filter(|line| line.contains(answer));
                    for line in told {
                        assert!(line.contains(question), "{preset:?} {is_models} {nth}: {line}\n{text}");
                    }
                }
            }
            // Under the preset `session` only the first stands for it.
            let has = |text: &&String| text.contains("yes, always") && text.contains("the second one");
            assert!(told.iter().any(|text| has(&text)), "{preset:?} {is_models}: {}", told[0]);
        }
    }
}
