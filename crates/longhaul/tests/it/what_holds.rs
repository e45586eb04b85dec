//! Summaries that follow one another tell what holds now, and not what was so when the one before was written.

use longhaul::{
    Config, Preset,
    config::SummaryLimit,
    summarize::Scripted,
    transcript::{Message, SummaryMode, Tokens},
};

use crate::work::{Script, Work};

/// What was said first, what took its place later, and how a running summary tells that.
const OVERRULED: [(&str, &str, &str); 6] = [
    ("Use Celery for the jobs.", "Use RQ for the jobs instead of Celery.", "[✓ user: Rule: "),
    ("Our port is 8080.", "Our port is 9090 now.", "[✓ user: Fact: "),
    ("The deadline is 12 June.", "They pushed the deadline back to 19 June.", "[✓ user: Fact: "),
    ("Never push to main.", "OK, you may push to main now.", "[✓ user: Rule: "),
    ("Keep functions under 40 lines.", "Functions may have up to 60 lines from now on.", "[✓ user: Rule: "),
    ("Let's keep the lock for 2 h.", "Make it 3 h.", "[✓ user: Rule: "),
];

const TASK: &str = "Build the job runner for the shop. Use Celery for the jobs. Then write its tests.";

/// What is said before the first summary, or after it, with an answer to what was asked right before that.
fn said(is_later: bool) -> Vec<String> {
    let said = OVERRULED.iter().map(|(was, now, _)| if is_later { *now } else { *was }.to_owned());
    let first = if is_later { "The second." } else { TASK }.to_owned();
    [first].into_iter().chain(said).collect()
}

/// Returns the lines of `text` that tell what was overruled without a word of that.
fn unmarked(text: &str) -> Vec<&str> {
    let tells = |line: &&str| OVERRULED.iter().any(|(was, ..)| line.contains(was));
    let is_marked = |line: &str| line.contains("later on this") || line.contains("taken back");
    text.lines().filter(tells).filter(|line| !is_marked(line)).collect()
}

const ASKED: &str = "Should they be in one file or in one for each job?";

/// Talks until there is another summary, and ends with a question of the model's.
async fn talk_until_summarized(work: &mut Work) {
    let before = work.finished().len();
    while work.finished().len() == before {
        work.talk(2, 150).await;
    }
    work.context.push(Message::user("Go on with the tests."));
    work.context.push(Message::assistant(ASKED));
}

async fn say(work: &mut Work, all: Vec<String>) {
    for one in all {
        work.context.push(Message::user(one));
        work.context.push(Message::assistant("All right."));
        work.context.prepare().await.unwrap();
    }
}

fn running(limit: u64, by_model: bool) -> Work {
    let mode = if by_model { SummaryMode::Llm } else { SummaryMode::Rules };
    let max_summary_tokens = SummaryLimit::Tokens(Tokens(limit));
    let config = Config { mode, max_summary_tokens, transcript_cap_tokens: None, ..Preset::Rolling.config() };
    let says = |_: usize, _: &_| Ok(Scripted::says("The parts of the runner were gone through one by one."));
    Work::with(config, 12_000, by_model.then(|| Box::new(says) as Box<Script>))
}

// asserts 001-24, 001-25
#[tokio::test]
async fn what_is_overruled_after_a_part_of_a_running_summary_leaves_it_or_is_marked() {
    for (limit, by_model) in [(1_600, false), (400, false), (240, false), (1_600, true), (300, true)] {
        let mut work = running(limit, by_model);
        say(&mut work, said(false)).await;
        talk_until_summarized(&mut work).await;
        let first = work.summary();
        assert!(first.contains("Our port is 8080."), "{limit} {by_model}: {first}");
        say(&mut work, said(true)).await;
        for round in 0..4 {
            talk_until_summarized(&mut work).await;
            let text = work.summary();
            assert_eq!(unmarked(&text), Vec::<&str>::new(), "{limit} {by_model} {round}: {text}");
            assert!(text.contains("Build the job runner for the shop."), "{text}");
            if limit == 1_600 && !by_model {
                assert_eq!(text.contains("[Update 2]"), round == 0, "{text}");
                for (_, now, class) in OVERRULED {
                    assert!(text.contains(&format!("{class}{now}")), "{round}: {class}{now} in {text}");
                }
                let answer = format!("The second. (to: \"{ASKED}\")]");
                assert!(round > 0 || text.contains(&answer), "{text}");
                let task = "Use Celery for the jobs. (later on this: \"Use RQ for the jobs instead of Celery.\") Then write";
                assert!(text.contains(task), "{text}");
            }
        }
    }
}

#[cfg(feature = "wire")]
mod read_back {
    use std::sync::Arc;

    use longhaul::{
        DocumentSession, Within,
        tokens::{CharsPer4, ContextWindow},
        wire::{self, Document, Format},
    };
    use serde_json::json;

    use super::*;

    /// Returns the history after these messages of persons, each with an answer, as a file.
    fn behind(history: &[serde_json::Value], all: &[String]) -> Document {
        let turn = |said: &String| {
            [json!({"role": "user", "content": said}), json!({"role": "assistant", "content": "All right."})]
        };
        let messages: Vec<_> = history.iter().cloned().chain(all.iter().flat_map(turn)).collect();
        wire::read(Some(Format::OpenAi), &*serde_json::to_vec(&json!({ "messages": messages })).unwrap())
            .unwrap()
    }

    // asserts 000-22, 001-25, 002-11
    #[test]
    fn what_is_said_behind_a_summary_that_is_read_back_marks_what_it_overrules() {
        let window = ContextWindow::new(Tokens(20_000), Tokens::ZERO);
        let presets = Preset::ALL.into_iter().map(Some).chain([None]);
        for preset in presets {
            let config = preset.map_or_else(Config::default, |preset| preset.config());
            let config = Config { mode: SummaryMode::Rules, ..config };
            let talk = |round: usize| {
                (0..14).map(move |nth| {
                    let line = format!("How is the lane {round}_{nth} tested at the moment? ");
                    format!("{line}{}", "It is one of the lanes that the clerks read. ".repeat(18))
                })
            };
            let mut history = Vec::new();
            for round in 0..4 {
                let said = match round {
                    0 => said(false),
                    1 => said(true),
                    _ => Vec::new(),
                };
                let said: Vec<String> = said.into_iter().chain(talk(round)).collect();
                let document = behind(&history, &said);
                let session =
                    DocumentSession::new(&document, window, Arc::new(CharsPer4), config.clone(), None)
                        .unwrap();
                let done = session.compact(&Within::new(Tokens(3_000))).unwrap();
                let written: serde_json::Value = serde_json::from_slice(&done.bytes).unwrap();
                history = written["messages"].as_array().unwrap().clone();
                let text = &done.record.text;
                let told = unmarked(text);
                if round > 0 {
                    assert_eq!(told, Vec::<&str>::new(), "{preset:?} {round}: {text}");
                }
                assert!(text.contains("Build the job runner for the shop."), "{preset:?} {round}: {text}");
            }
        }
    }
}
