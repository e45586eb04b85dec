//! A model that says little: what rules tell beside its words, and how much of it.

use std::fmt::Write;

use longhaul::{
    Config, EventKind, Preset,
    summarize::Scripted,
    transcript::{Message, SummaryMode, Tokens},
};

use super::work::Work;

const WORDS: &str = "The festival went on, and the prices of the suppliers were discussed.";
const NAMES: [&str; 4] = ["Help me plan a festival", "Lukrakel sponsor", "Vexel for the badges", "41,750"];

fn mute(preset: Preset, answer: &'static str, window: u64) -> Work {
    let config = match preset.config().mode {
        SummaryMode::Rules => Config { mode: SummaryMode::Hybrid, ..preset.config() },
        _ => preset.config(),
    };
    let config = Config { trigger_messages: None, ..config };
    Work::with(config, window, Some(Box::new(move |_, _| Ok(Scripted::says(answer)))))
}

/// Plans a festival until a model was asked for a summary of it.
async fn plan(work: &mut Work) {
    work.context.push(Message::system("Be brief."));
    for said in [
        "Help me plan a festival for 800 people in Tarnwald.",
        "Never mention the Lukrakel sponsor to the press.",
        "We will use Vexel for the badges.",
        "Our budget is 41,750 euros.",
    ] {
        work.context.push(Message::user(said));
        work.context.push(Message::assistant("Noted."));
    }
    for nth in 0..400 {
        let points = (0..4).fold(String::new(), |mut points, point| {
            let _ =
                write!(points, "Point {point} of part {nth} concerns supplier {nth}{point} and its price. ");
            points
        });
        work.context.push(Message::user(format!("Question {nth}: {points}")));
        work.context.prepare().await.unwrap();
        work.context.push(Message::assistant(format!("Answer {nth}: {points}")));
        if work.calls() > 0 {
            return;
        }
    }
    assert!(work.calls() > 0, "no model was asked");
}

// asserts 000-22, all-02
#[tokio::test]
async fn beside_few_words_of_a_model_rules_take_the_room_that_is_free() {
    for preset in [Preset::ContextManager, Preset::Session, Preset::TwoTier] {
        let mut work = mute(preset, WORDS, 16_000);
        plan(&mut work).await;
        let record = work.context.state().summary().unwrap().clone();
        assert_ne!(record.mode, SummaryMode::Rules, "{preset}");
        assert!(record.text.contains(WORDS), "{preset}: {}", record.text);
        assert!(record.tokens >= Tokens(800), "{preset}: {} tokens: {}", record.tokens, record.text);
        for name in NAMES {
            assert!(record.text.contains(name), "{preset}: {name} in {}", record.text);
        }
        // What stands there once need not stand there again.
        for said in ["We will use Vexel for the badges.", "Never mention the Lukrakel sponsor to the press."]
        {
            assert_eq!(record.text.matches(said).count(), 1, "{preset}: {}", record.text);
        }
    }
}

// asserts 000-22, all-08
#[tokio::test]
async fn an_answer_that_states_nothing_is_none() {
    for preset in [Preset::ContextManager, Preset::Session, Preset::TwoTier] {
        let mut work = mute(preset, "no json here", 16_000);
        plan(&mut work).await;
        let failed = |kind: &EventKind| matches!(kind, EventKind::SummarizerFailed { error, .. } if error.contains("states nothing"));
        assert!(work.events().iter().any(failed), "{preset}: {:?}", work.events());
        let record = work.context.state().summary().unwrap();
        assert_eq!(record.mode, SummaryMode::Rules, "{preset}");
        assert!(!record.text.contains("no json here"), "{preset}: {}", record.text);
    }
}

// asserts 004-12, 004-43
#[tokio::test]
async fn beside_a_models_words_lists_are_as_long_as_the_document_says() {
    const MOST: usize = 30;
    let answer = r#"{"narrative":"The festival went on, and the prices of the suppliers were discussed.","key_points":[]}"#;
    let mut work = mute(Preset::Chain, answer, 32_000);
    plan(&mut work).await;
    let record = work.context.state().summary().unwrap();
    assert_eq!(record.mode, SummaryMode::Llm);
    for section in record.text.split("\n## ").skip(1) {
        // How many are left out, and what was asked first, stand there as well.
        let n_lines =
            section.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with('…')).count();
        assert!(n_lines <= MOST + 2, "{n_lines} lines of ## {section}");
    }
    for name in NAMES {
        assert!(work.sent().contains(name), "{name} in {}", record.text);
    }
}
