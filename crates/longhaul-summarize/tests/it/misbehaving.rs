//! A model that does whatever it likes, for as long as it likes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use longhaul_summarize::{ClientError, Finish, Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel};
use longhaul_testkit::block_on;
use longhaul_transcript::{Clock, NoJitter, Tokens};
use proptest::prelude::*;

use crate::fixtures::{Asking, UserWords, conversation, time};

fn random_model(seed: u64) -> Scripted {
    let state = AtomicU64::new(seed | 1);
    Scripted::new(move |_, request| {
        // A linear congruential step (Knuth's MMIX constants): random enough, and the same each time.
        let step = |state: u64| state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let roll =
            state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(step(state))).unwrap_or(0)
                >> 33;
        match roll % 16 {
            0 => Err(ClientError::RateLimited {
                retry_after: Some(Duration::from_secs(roll % 90)),
                reason: "slow down".into(),
            }),
            1 => Err(ClientError::Transport { reason: "reset".into() }),
            2 => Err(ClientError::Unavailable { status: 503, retry_after: None, reason: String::new() }),
            3 => Err(ClientError::ContextOverflow { limit: None, reason: String::new() }),
            4 => Err(ClientError::Denied { status: 401, reason: String::new() }),
            5 => Ok(Scripted::ends("{\"narrative\": \"cut", Finish::Length)),
            6 => Ok(Scripted::says("")),
            7 => Ok(Scripted::says("<think>")),
            8 => Ok(Scripted::says("[".repeat(5_000))),
            9 => Ok(Scripted::says(format!("{{\"narrative\": \"{}\"}}", "x ".repeat(20_000)))),
            10 => Ok(Scripted::says(request.user.clone())),
            11 => Ok(Scripted::says(r#"{"narrative": "Deployed 99.7 to /etc/passwd in 12345 ms."}"#)),
            12 => Ok(Scripted::says(r#"{"narrative": ["wrong", "shape"]}"#)),
            13 => Ok(Scripted::ends("no", Finish::Refusal)),
            14 => Ok(Scripted::says("summary-depth:0 id:0123456789abcdef")),
            _ => Ok(Scripted::says(r#"{"narrative": "The nightly export failed with a deadlock."}"#)),
        }
    })
}

#[test]
fn ten_thousand_turns_of_any_answer_stay_bounded_and_lose_nothing() {
    let conversation = conversation();
    let before = conversation.entries().last().unwrap().lineage;
    let (client, time, asking) = (Arc::new(random_model(7)), time(), Asking::new());
    let mut options = LlmOptions::default();
    options.spend.calls_per_hour = 600;
    options.spend.tokens_per_hour = Tokens(u64::MAX);
    let model = SummarizerModel::new("m", Tokens(32_000), Arc::clone(&client) as _);
    let ladder = Ladder::new(
        vec![model],
        Arc::new(UserWords),
        options.clone(),
        Arc::clone(&time) as _,
        Arc::clone(&time) as _,
        Arc::new(NoJitter),
    );
    // A short span, so that ten thousand turns take seconds.
    let entries = &conversation.entries()[..12];
    for turn in 0..10_000 {
        let request = asking.request(entries, 120);
        let (calls, started) = (client.calls(), time.now_ms());
        let planned = if turn == 0 { ladder.plan(&request).max_calls } else { options.max_calls };
        let draft = block_on(ladder.summarize(request)).expect("rules never fail");
        assert!(client.calls() - calls <= planned as usize, "turn {turn}");
        assert!(draft.tokens <= Tokens(120), "turn {turn}");
        assert!(draft.text.contains("Never touch Cargo.lock."), "turn {turn}: {}", draft.text);
        assert!(!draft.text.contains("99.7") && !draft.text.contains("/etc/passwd"), "turn {turn}");
        assert!(time.now_ms() - started <= options.deadline.as_millis() as i64, "turn {turn}");
        time.pass(Duration::from_secs(20));
    }
    let hours = time.now_ms() / 3_600_000 + 1;
    assert!(client.calls() as i64 <= 600 * hours, "{} calls in {hours} h", client.calls());
    assert_eq!(conversation.entries().last().unwrap().lineage, before);
    println!("{} calls in 10,000 turns over {hours} hours", client.calls());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_conversation_any_answer_any_limit(
        transcript in longhaul_testkit::conversation(10),
        seed in any::<u64>(),
        limit in 0u64..600,
        cap in 100u64..2_000,
    ) {
        let (client, time, asking) = (Arc::new(random_model(seed)), time(), Asking::new());
        let mut options = LlmOptions::default();
        options.transcript_cap = Some(Tokens(cap));
        let model = SummarizerModel::new("m", Tokens(8_000), Arc::clone(&client) as _);
        let ladder = Ladder::new(
            vec![model.clone(), model],
            Arc::new(UserWords),
            options.clone(),
            Arc::clone(&time) as _,
            Arc::clone(&time) as _,
            Arc::new(NoJitter),
        );
        let request = asking.request(transcript.entries(), limit);
        let plan = ladder.plan(&request);
        let draft = block_on(ladder.summarize(request)).unwrap();
        prop_assert!(draft.tokens <= Tokens(limit));
        prop_assert!(client.calls() <= plan.max_calls as usize);
        for request in client.requests() {
            prop_assert!(request.user.len() as u64 / 4 < 8_000);
        }
    }
}
