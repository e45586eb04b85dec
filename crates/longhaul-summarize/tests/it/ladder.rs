//! Each way a model can fail, and what becomes of it.

use std::{sync::Arc, time::Duration};

use expect_test::expect;
use longhaul_summarize::{
    ClientError, Completion, Draft, Finish, Ladder, LlmOptions, MemoryCache, Scripted, SummarizeError,
    Summarizer, SummarizerModel, SummaryForm, SummaryRequest, written,
};
use longhaul_testkit::block_on;
use longhaul_transcript::{
    Clock, Message, NoJitter, Sleep, Span, SummaryMode, SummaryRecord, Tokens, Transcript,
};

use crate::fixtures::{Asking, Time, UserWords, conversation, time};

const GOOD: &str = r#"{"narrative": "The nightly export failed with a deadlock because tenants were locked in the order they arrive. The tenant ids are now sorted in flush, and the deadlock tests pass.", "decisions": ["Set EXPORT_WORKERS=1 tonight"], "action_items": [], "unresolved": [], "current_focus": "Lena reviews the patch."}"#;

fn model(name: &str, client: &Arc<Scripted>) -> SummarizerModel {
    SummarizerModel::new(name, Tokens(32_000), Arc::clone(client) as _)
}

fn ladder(models: Vec<SummarizerModel>, options: LlmOptions, time: &Arc<Time>) -> Ladder {
    Ladder::new(
        models,
        Arc::new(UserWords),
        options,
        Arc::clone(time) as _,
        Arc::clone(time) as _,
        Arc::new(NoJitter),
    )
}

fn summarize(ladder: &Ladder) -> Result<Draft, SummarizeError> {
    let (conversation, asking) = (conversation(), Asking::new());
    let request = asking.request(conversation.entries(), 400);
    let plan = ladder.plan(&request);
    let draft = block_on(ladder.summarize(request));
    if let Ok(draft) = &draft {
        assert!(draft.tokens <= Tokens(400), "{draft:?}");
        assert!(draft.cost.map_or(0, |cost| cost.calls) <= plan.max_calls);
    }
    draft
}

/// Asks one model that behaves like this and tells what came of it.
fn check(answer: Result<Completion, ClientError>) -> String {
    let client = Arc::new(Scripted::new(move |_, _| answer.clone()));
    let time = time();
    let draft = summarize(&ladder(vec![model("m", &client)], LlmOptions::default(), &time)).unwrap();
    let reasons: Vec<_> = draft.attempts.iter().map(|attempt| attempt.reason.as_str()).collect();
    format!(
        "{} after {} calls in {} ms: {}",
        draft.mode.as_str(),
        client.calls(),
        time.now_ms(),
        reasons.join(" | ")
    )
}

#[test]
fn a_good_answer_is_used_and_the_users_words_stand_beside_it() {
    let client = Arc::new(Scripted::always(GOOD));
    let draft = summarize(&ladder(vec![model("m", &client)], LlmOptions::default(), &time())).unwrap();
    assert_eq!((draft.mode, draft.model.as_str(), client.calls()), (SummaryMode::Hybrid, "m", 1));
    assert!(draft.attempts.is_empty() && draft.repairs.is_empty(), "{draft:?}");
    assert!(draft.text.contains("Never touch Cargo.lock."), "{}", draft.text);
    assert_eq!(draft.summary.decisions, ["Set EXPORT_WORKERS=1 tonight"]);
    assert_eq!(draft.summary.constraints[0].text, "Never touch Cargo.lock.");
}

// asserts 004-39
#[test]
fn every_failure_ends_with_the_rules() {
    let unavailable =
        |status| ClientError::Unavailable { status, retry_after: None, reason: "overloaded".into() };
    let limited = |seconds| ClientError::RateLimited {
        retry_after: Some(Duration::from_secs(seconds)),
        reason: "slow down".into(),
    };
    let says = |text: &str| Ok(Scripted::says(text));
    let cases: [(&str, Result<Completion, ClientError>); 19] = [
        ("429", Err(ClientError::RateLimited { retry_after: None, reason: "slow down".into() })),
        ("429, come back in 2 s", Err(limited(2))),
        ("429, come back in 1 h", Err(limited(3600))),
        ("503", Err(unavailable(503))),
        ("529", Err(unavailable(529))),
        ("reset", Err(ClientError::Transport { reason: "connection reset".into() })),
        ("timeout", Err(ClientError::Timeout { after: Duration::from_secs(60) })),
        ("401", Err(ClientError::Denied { status: 401, reason: "bad key".into() })),
        ("400", Err(ClientError::BadRequest { status: 400, reason: "no such model".into() })),
        ("malformed", Err(ClientError::InvalidResponse { reason: "expected value".into() })),
        ("overflow", Err(ClientError::ContextOverflow { limit: None, reason: "too long".into() })),
        ("length", Ok(Scripted::ends(GOOD, Finish::Length))),
        ("refusal", Ok(Scripted::ends("", Finish::Refusal))),
        ("tool call", Ok(Scripted::ends("", Finish::ToolCall))),
        ("empty", says("")),
        ("reasoning only", says("<think>let me see</think>")),
        ("prose", says("All went well.")),
        ("oversize", says(&format!("{{\"narrative\": \"{}\"}}", "the export ".repeat(5_000)))),
        (
            "wrong language",
            says(
                r#"{"narrative": "夜间导出因为死锁而失败，现在已经修复，所有测试都通过了。下一步是审查补丁。"}"#,
            ),
        ),
    ];
    let table: String =
        cases.into_iter().map(|(name, answer)| format!("{name}: {}\n", check(answer))).collect();
    expect![[r#"
        429: rules after 2 calls in 250 ms: the provider limits the rate (status 429): slow down | the provider limits the rate (status 429): slow down
        429, come back in 2 s: rules after 2 calls in 2000 ms: the provider limits the rate (status 429): slow down | the provider limits the rate (status 429): slow down
        429, come back in 1 h: rules after 1 calls in 0 ms: the provider limits the rate (status 429): slow down
        503: rules after 2 calls in 250 ms: the provider is in trouble (status 503): overloaded | the provider is in trouble (status 503): overloaded
        529: rules after 2 calls in 250 ms: the provider is in trouble (status 529): overloaded | the provider is in trouble (status 529): overloaded
        reset: rules after 2 calls in 250 ms: the connection failed: connection reset | the connection failed: connection reset
        timeout: rules after 2 calls in 250 ms: no answer within 60 s | no answer within 60 s
        401: rules after 1 calls in 0 ms: the provider refuses the key (status 401): bad key
        400: rules after 1 calls in 0 ms: the provider does not take the request (status 400): no such model
        malformed: rules after 1 calls in 0 ms: the provider's answer cannot be read: expected value
        overflow: rules after 2 calls in 0 ms: the prompt is too large for the model: too long | the prompt is too large for the model: too long
        length: rules after 1 calls in 0 ms: the answer was cut off at its limit (finish reason length)
        refusal: rules after 1 calls in 0 ms: the model refused
        tool call: rules after 1 calls in 0 ms: the model calls a tool instead of answering
        empty: rules after 1 calls in 0 ms: the answer is empty
        reasoning only: rules after 1 calls in 0 ms: the answer holds reasoning only
        prose: rules after 1 calls in 0 ms: the answer is not JSON
        oversize: rules after 1 calls in 0 ms: the answer (13755 tokens) is not smaller than its source (2191 tokens)
        wrong language: rules after 1 calls in 0 ms: the answer is in Chinese, the conversation in English
    "#]].assert_eq(&table);
}

// asserts 004-13, 004-41
#[test]
fn a_rejected_answer_is_kept_as_a_short_sanitized_excerpt() {
    let said = format!("Sure! \u{1b}[31mHere\nit is: {}", "words ".repeat(200));
    let client = Arc::new(Scripted::always(said));
    let draft = summarize(&ladder(vec![model("m", &client)], LlmOptions::default(), &time())).unwrap();
    let excerpt = &draft.attempts[0].excerpt;
    assert!(excerpt.starts_with("Sure! ") && excerpt.contains("Here"), "{excerpt}");
    // Of the first 200 characters the last words are whole, two are escaped, and a mark says that more was said.
    assert!(excerpt.starts_with("Sure! \\u{1b}[31mHere\\nit") && excerpt.ends_with('…'), "{excerpt:?}");
    assert_eq!(excerpt.chars().count(), 197 + 5 + 1 + 1, "{excerpt:?}");
    assert!(!excerpt.chars().any(char::is_control), "{excerpt:?}");
    assert!(!draft.attempts[0].reason.contains("Sure!"), "{}", draft.attempts[0].reason);
}

// asserts 004-39
#[test]
fn a_retry_after_trouble_gives_the_summary() {
    let answers = vec![
        Err(ClientError::RateLimited {
            retry_after: Some(Duration::from_secs(3)),
            reason: "slow down".into(),
        }),
        Ok(Scripted::says(GOOD)),
    ];
    let (client, time) = (Arc::new(Scripted::sequence(answers)), time());
    let draft = summarize(&ladder(vec![model("m", &client)], LlmOptions::default(), &time)).unwrap();
    assert_eq!((draft.mode, draft.attempts.len(), draft.cost.unwrap().calls), (SummaryMode::Hybrid, 1, 2));
    assert_eq!(time.now_ms(), 3_000, "Retry-After wins over the backoff");
}

#[test]
fn a_request_is_repeated_as_often_as_the_options_say() {
    for retries in 0..=5 {
        let down = ClientError::Unavailable { status: 503, retry_after: None, reason: "overloaded".into() };
        let client = Arc::new(Scripted::new(move |_, _| Err(down.clone())));
        let mut options = LlmOptions::default();
        options.retries = retries;
        let ladder = ladder(vec![model("m", &client)], options, &time());
        let draft = summarize(&ladder).unwrap();
        assert_eq!((draft.mode, client.calls()), (SummaryMode::Rules, retries as usize + 1), "{retries}");
        // Three failures in a row are enough to leave it alone the next time.
        summarize(&ladder).unwrap();
        let again = if retries < 2 { retries as usize + 1 } else { 0 };
        assert_eq!(client.calls(), retries as usize + 1 + again, "{retries}: {draft:?}");
    }
}

#[test]
fn the_next_model_is_asked_and_a_small_window_is_not() {
    let (first, second) = (Arc::new(Scripted::always("no")), Arc::new(Scripted::always(GOOD)));
    let mut small = model("small", &first);
    small.window = Tokens(900);
    let models = vec![small, model("first", &first), model("second", &second)];
    let draft = summarize(&ladder(models, LlmOptions::default(), &time())).unwrap();
    assert_eq!(draft.model, "second");
    let tried: Vec<_> =
        draft.attempts.iter().map(|attempt| (attempt.summarizer.as_str(), attempt.reason.as_str())).collect();
    assert_eq!(
        tried,
        [
            ("small", "its window of 900 tokens is too small for the prompt"),
            ("first", "the answer is not JSON"),
        ]
    );
    assert_eq!(draft.attempts[1].excerpt, "no");
}

/// Sixty requests of 300 tokens.
fn long() -> Transcript {
    (0..60)
        .map(|nth| Message::user(format!("Request {nth} is about src/part_{nth}.rs. ").repeat(40)))
        .collect()
}

/// Asks a preferred model that has too little room for a long conversation, and a second, and returns what came of it.
fn asked_for_much(small: &Arc<Scripted>, large: &Arc<Scripted>, large_window: u64) -> Draft {
    let windows = [("small", small, 6_000), ("large", large, large_window)];
    let models = windows
        .map(|(name, client, window)| SummarizerModel::new(name, Tokens(window), Arc::clone(client) as _));
    let mut options = LlmOptions::default();
    options.max_passes = 2;
    let (long, asking) = (long(), Asking::new());
    let ladder = ladder(models.into(), options, &time());
    let request = asking.request(long.entries(), 400);
    let plan = ladder.plan(&request);
    let draft = block_on(ladder.summarize(request)).unwrap();
    // Who is foretold first is who was asked first.
    let first = if large.calls() > 0 { "large" } else { "small" };
    assert_eq!(plan.models[0].model, first, "{plan:?}");
    assert!(small.calls() + large.calls() <= plan.max_calls as usize, "{plan:?}");
    draft
}

const PARTS: &str = r#"{"narrative": "Each request is about one of the parts in src, from src/part_0.rs to src/part_59.rs.", "decisions": [], "action_items": [], "unresolved": [], "current_focus": ""}"#;

// asserts 004-08
#[test]
fn a_model_that_takes_all_is_asked_before_one_that_would_see_it_clipped() {
    let [small, large] = [PARTS, PARTS].map(|answer| Arc::new(Scripted::always(answer)));
    let draft = asked_for_much(&small, &large, 100_000);
    assert_eq!((draft.model.as_str(), small.calls(), large.calls()), ("large", 0, 1));
    let tried: Vec<_> = draft.attempts.iter().map(|tried| (&*tried.summarizer, &*tried.reason)).collect();
    assert_eq!(tried, [("small", "its window of 6000 tokens is too small for all that is to be summarized")]);
}

// asserts 004-08
#[test]
fn the_one_that_was_passed_over_is_asked_where_the_other_fails() {
    let (small, large) = (Arc::new(Scripted::always(PARTS)), Arc::new(Scripted::always("no")));
    let draft = asked_for_much(&small, &large, 100_000);
    assert_eq!((draft.model.as_str(), large.calls()), ("small", 1));
    assert_eq!(draft.attempts.len(), 1, "{:?}", draft.attempts);
}

// asserts 004-08
#[test]
fn the_preferred_one_is_asked_where_none_takes_all() {
    let [small, large] = [PARTS, PARTS].map(|answer| Arc::new(Scripted::always(answer)));
    let draft = asked_for_much(&small, &large, 7_000);
    assert_eq!((draft.model.as_str(), large.calls(), draft.attempts.len()), ("small", 0, 0));
}

#[test]
fn an_overflow_is_answered_with_a_smaller_prompt_once() {
    let client = Arc::new(Scripted::new(|nth, _| match nth {
        0 => Err(ClientError::ContextOverflow {
            limit: Some(Tokens(4_096)),
            reason: "exceed_context_size_error".into(),
        }),
        _ => Ok(Scripted::says(GOOD)),
    }));
    let draft = summarize(&ladder(vec![model("m", &client)], LlmOptions::default(), &time())).unwrap();
    let sizes: Vec<_> = client.requests().iter().map(|request| request.user.len()).collect();
    assert_eq!((draft.mode, sizes.len()), (SummaryMode::Hybrid, 2));
    assert!(sizes[1] < sizes[0], "{sizes:?}");
    let text = &client.requests()[1].user;
    assert!(
        text.contains("END data-") && text.contains("The answer is one JSON object"),
        "the frame is whole"
    );
}

/// Rules whose facts come in blocks of 25 tokens.
#[derive(Debug)]
struct Blocks;

#[async_trait::async_trait]
impl Summarizer for Blocks {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let blocks = (request.limit.0 / 25) as usize;
        let text: String = (0..blocks).map(|nth| format!("{:<99}\n", format!("block {nth}"))).collect();
        let tokens = request.counter.count_text(&text);
        Ok(Draft { text, tokens, made_with: "blocks-0".into(), ..Draft::default() })
    }
}

/// Seen with a real model: facts of 418 tokens in a room of 439 and a line of 24 were one too many, and asking for
/// facts in 437, 435 and 433 gave the same 418. The summary went out without any.
#[test]
fn facts_give_way_to_names_line_by_line_and_do_not_vanish() {
    let conversation = conversation();
    let mut index = longhaul_extract::FactIndex::new();
    conversation.entries().iter().for_each(|entry| index.push(entry));
    let (asking, time) = (Asking::new(), time());
    for limit in (200..400).step_by(5) {
        let models = vec![model("m", &Arc::new(Scripted::always(GOOD)))];
        let (options, clock) = (LlmOptions::default(), Arc::clone(&time));
        let ladder =
            Ladder::new(models, Arc::new(Blocks), options, clock.clone() as _, clock, Arc::new(NoJitter));
        let request = SummaryRequest { index: &index, ..asking.request(conversation.entries(), limit) };
        let draft = block_on(ladder.summarize(request)).unwrap();
        assert_eq!(draft.mode, SummaryMode::Hybrid, "{:?}", draft.attempts);
        assert!(draft.tokens <= Tokens(limit));
        assert!(draft.text.contains("block 0") && draft.text.contains("Also: "), "{limit}: {}", draft.text);
    }
}

#[test]
fn abort_on_failure_returns_the_attempts() {
    let client = Arc::new(Scripted::always("no"));
    let mut options = LlmOptions::default();
    options.abort_on_failure = true;
    let error = summarize(&ladder(vec![model("m", &client)], options, &time())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no summarizer gave a usable summary after 1 attempt; the last said: the answer is not JSON"
    );
}

#[test]
fn a_client_that_hangs_is_left_behind() {
    #[derive(Debug)]
    struct Hanging;
    #[async_trait::async_trait]
    impl longhaul_summarize::CompletionClient for Hanging {
        async fn complete(
            &self,
            _: &longhaul_summarize::CompletionRequest,
        ) -> Result<Completion, ClientError> {
            std::future::pending().await
        }
    }
    let time = time();
    let model = SummarizerModel::new("m", Tokens(32_000), Arc::new(Hanging));
    let draft = summarize(&ladder(vec![model], LlmOptions::default(), &time)).unwrap();
    assert_eq!((draft.mode, draft.cost.unwrap().calls), (SummaryMode::Rules, 2));
    assert!(time.now_ms() <= 300_000, "{}", time.now_ms());
}

#[test]
fn a_failing_provider_is_left_alone_for_a_while() {
    let client = Arc::new(Scripted::new(|_, _| Err(ClientError::Transport { reason: "refused".into() })));
    let time = time();
    let ladder = ladder(vec![model("m", &client)], LlmOptions::default(), &time);
    for _ in 0..5 {
        summarize(&ladder).unwrap();
    }
    assert_eq!(client.calls(), 4, "two summaries, each asked for twice");
    block_on(time.sleep(Duration::from_secs(60)));
    summarize(&ladder).unwrap();
    assert_eq!(client.calls(), 5, "one trial");
}

#[test]
fn the_hourly_limit_holds() {
    let client = Arc::new(Scripted::always("no"));
    let time = time();
    let ladder = ladder(vec![model("m", &client)], LlmOptions::default(), &time);
    for _ in 0..100 {
        summarize(&ladder).unwrap();
    }
    assert_eq!(client.calls(), 60);
    let draft = summarize(&ladder).unwrap();
    assert_eq!(draft.attempts[0].reason, "the limit of 60 calls an hour is reached");
}

#[test]
fn a_cached_summary_costs_no_call() {
    let client = Arc::new(Scripted::always(GOOD));
    let ladder = ladder(vec![model("m", &client)], LlmOptions::default(), &time())
        .with_cache(Arc::new(MemoryCache::default()));
    let (first, second) = (summarize(&ladder).unwrap(), summarize(&ladder).unwrap());
    assert_eq!(client.calls(), 1);
    assert_eq!((first.text, second.cost), (second.text, None));
    let (conversation, asking) = (conversation(), Asking::new());
    block_on(ladder.summarize(asking.request(conversation.entries(), 300))).unwrap();
    assert_eq!(client.calls(), 2, "another limit is another summary");
    let (all, last) = conversation.entries().split_at(conversation.entries().len() - 1);
    for words in ["I sorted […]", "all deadlock tests […]", "all deadlock tests […]"] {
        let mut kept = last.to_vec();
        kept[0].message = Arc::new(Message::assistant(words));
        let request = SummaryRequest { kept: &kept, tail: last, ..asking.request(all, 400) };
        block_on(ladder.summarize(request)).unwrap();
    }
    assert_eq!(client.calls(), 4, "what stays of the last message is part of what is asked");
}

#[test]
fn a_long_conversation_is_summarized_in_parts_within_the_planned_calls() {
    let client = Arc::new(Scripted::always(GOOD));
    let mut options = LlmOptions::default();
    options.transcript_cap = Some(Tokens(900));
    options.max_passes = 3;
    let ladder = ladder(vec![model("m", &client)], options, &time());
    let (conversation, asking) = (conversation(), Asking::new());
    let request = asking.request(conversation.entries(), 400);
    let plan = ladder.plan(&request);
    let draft = block_on(ladder.summarize(request)).unwrap();
    assert!(plan.models[0].passes > 1, "{plan:?}");
    assert_eq!(client.calls(), plan.models[0].passes + 1, "each part, and one call to merge them");
    assert!(client.calls() <= plan.max_calls as usize);
    assert!(draft.repairs.contains(&format!("summarized in {} parts", plan.models[0].passes)));
}

#[test]
fn nothing_is_asked_under_the_floor_or_in_rules_mode() {
    let client = Arc::new(Scripted::always(GOOD));
    let mut rules = LlmOptions::default();
    rules.mode = SummaryMode::Rules;
    summarize(&ladder(vec![model("m", &client)], rules, &time())).unwrap();
    let (conversation, asking) = (conversation(), Asking::new());
    let ladder = ladder(vec![model("m", &client)], LlmOptions::default(), &time());
    block_on(ladder.summarize(asking.request(conversation.entries(), 49))).unwrap();
    assert_eq!(client.calls(), 0);
}

#[test]
fn a_custom_prompt_asks_for_prose() {
    let client =
        Arc::new(Scripted::always("The export deadlock was fixed by sorting the tenant ids in flush."));
    let mut options = LlmOptions::default();
    options.custom_prompt = Some("In {maxTokens} tokens: {context}".into());
    let draft = summarize(&ladder(vec![model("m", &client)], options, &time())).unwrap();
    assert!(draft.text.contains("\nThe export deadlock was fixed"), "{}", draft.text);
    let request = &client.requests()[0];
    assert!(request.schema.is_none() && request.user.starts_with("In 340 tokens: "), "{}", request.user);
}

fn prose(client: &Arc<Scripted>, cap: Option<u64>) -> Ladder {
    let mut options = LlmOptions::default();
    options.custom_prompt = Some("In {maxTokens} tokens: {context}".into());
    options.transcript_cap = cap.map(Tokens);
    ladder(vec![model("m", client)], options, &time())
}

#[test]
fn a_prompt_of_ones_own_is_shown_the_summary_before_and_what_is_new() {
    let client =
        Arc::new(Scripted::always("The tenant ids are sorted in flush, and Lena reviews the patch."));
    let (conversation, asking) = (conversation(), Asking::new());
    let entries = conversation.entries();
    let covered = Span { start: 0, end: 9 };
    let earlier = "The export fails with a deadlock; the tenants are locked in the order they arrive.";
    let draft = |mode| Draft { text: earlier.into(), mode, ..Draft::default() };
    let asked_behind = |previous| {
        let request = SummaryRequest { previous: Some(&previous), ..asking.request(entries, 400) };
        block_on(prose(&client, None).summarize(request)).unwrap();
        client.requests().pop().unwrap().user
    };
    let asked = asked_behind(crate::drift::record(None, &draft(SummaryMode::Llm), covered));
    assert!(asked.contains(earlier) && asked.contains("deadlock_11"), "{asked}");
    assert!(!asked.contains("Never touch Cargo.lock"), "what it tells of is read again: {asked}");
    // What stayed in part then was not summarized, and is read now.
    let mut stayed = crate::drift::record(None, &draft(SummaryMode::Llm), covered);
    stayed.covered = entries[..9].iter().map(Into::into).collect();
    stayed.kept = vec![Span { start: 2, end: 9 }];
    let asked = asked_behind(stayed);
    assert!(asked.contains(earlier) && asked.contains("lock(tenant)"), "{asked}");
    assert!(!asked.contains("Never touch Cargo.lock"), "what it tells of is read again: {asked}");
    // What only rules told of is read; of what a model wrote before them, only what came after it.
    let by_rule = crate::drift::record(None, &draft(SummaryMode::Rules), covered);
    let asked = asked_behind(by_rule.clone());
    assert!(asked.contains("Never touch Cargo.lock") && asked.contains("deadlock_11"), "{asked}");
    let text = format!("Rules: none.\n\n{} m2\n{earlier}", written::HEADING);
    let asked = asked_behind(SummaryRecord { text, ..by_rule });
    assert!(asked.contains(earlier) && asked.contains("lock(tenant)"), "{asked}");
    assert!(!asked.contains("Never touch Cargo.lock"), "a model has read it: {asked}");
}

#[test]
fn what_no_summary_tells_is_read_again_and_what_one_tells_is_shown() {
    let (conversation, asking) = (conversation(), Asking::new());
    let covered = Span { start: 0, end: 9 };
    let asked = |text: &str, cap: Option<Tokens>| {
        let client =
            Arc::new(Scripted::always("The tenant ids are sorted in flush, and Lena reviews the patch."));
        let mut options = LlmOptions::default();
        options.custom_prompt = Some("In {maxTokens} tokens: {context}".into());
        (options.newest_only, options.transcript_cap) = (cap.is_some(), cap);
        let previous = crate::drift::record(None, &Draft { text: text.into(), ..Draft::default() }, covered);
        let request =
            SummaryRequest { previous: Some(&previous), ..asking.request(conversation.entries(), 400) };
        block_on(ladder(vec![model("m", &client)], options, &time()).summarize(request)).unwrap();
        client.requests()[0].user.clone()
    };
    // There was no room for a summary: its messages are in none.
    for nothing in ["", longhaul_summarize::rules::OMITTED] {
        let prompt = asked(nothing, None);
        assert!(prompt.contains("Never touch Cargo.lock") && !prompt.contains("summary of what came before"));
    }
    // Where only the newest part is shown, the rest stands in the summary before.
    let told = "Two workers waited for each other all night.";
    let prompt = asked(told, Some(Tokens(600)));
    assert!(prompt.contains(told) && !prompt.contains("Never touch Cargo.lock"), "{prompt}");
    assert!(!asked(told, Some(Tokens(20_000))).contains(told), "all of it is shown");
}

#[test]
fn what_is_rebuilt_is_told_of_the_summary_before_only_where_not_all_is_shown() {
    const TOLD: &str = "Two workers waited for each other all night.";
    let (conversation, asking) = (conversation(), Asking::new());
    for form in [SummaryForm::Json, SummaryForm::Markdown] {
        let asked = |is_rebuilt: bool, cap: Option<u64>| {
            let client = Arc::new(Scripted::always(GOOD));
            let mut options = LlmOptions::default();
            (options.form, options.transcript_cap, options.max_passes) = (form, cap.map(Tokens), 1);
            let draft = Draft { text: format!("## State\n- {TOLD}"), ..Draft::default() };
            let draft = Draft { mode: SummaryMode::Llm, ..draft };
            let previous = crate::drift::record(None, &draft, conversation.span());
            let request = SummaryRequest {
                previous: Some(&previous),
                is_rebuilt,
                ..asking.request(conversation.entries(), 400)
            };
            let ladder = ladder(vec![model("m", &client)], options, &time());
            block_on(ladder.summarize(request)).unwrap();
            assert!(
                ladder.plan(&request).models[0].max_prompt
                    >= Tokens(client.requests()[0].user.len() as u64 / 4)
            );
            client.requests()[0].user.clone()
        };
        let prompt = asked(true, None);
        assert!(prompt.contains("Never touch Cargo.lock") && prompt.contains("lock(tenant)"), "{prompt}");
        assert!(!prompt.contains(TOLD), "{prompt}");
        let prompt = asked(true, Some(600));
        assert!(prompt.contains(TOLD) && !prompt.contains("Never touch Cargo.lock"), "{prompt}");
        assert!(asked(false, None).contains(TOLD));
    }
}

/// A window smaller than configured: the middle of what is shown is cut out, and stands in the summary before.
#[test]
fn what_is_rebuilt_is_told_of_the_summary_before_where_the_server_takes_less() {
    const TOLD: &str = "Two workers waited for each other all night.";
    let (conversation, asking) = (conversation(), Asking::new());
    for (form, prompt, cap, overflows) in [
        (SummaryForm::Json, None, None, 0),
        (SummaryForm::Markdown, None, None, 0),
        (SummaryForm::Auto, Some("In {maxTokens} tokens: {context}"), None, 0),
        // In parts: the first is answered without it.
        (SummaryForm::Auto, Some("In {maxTokens} tokens: {context}"), Some(900), 1),
    ] {
        let client = Arc::new(Scripted::new(move |nth, _| match nth == overflows {
            true => Err(ClientError::ContextOverflow { limit: None, reason: "too long".into() }),
            false => Ok(Scripted::says(match prompt {
                Some(_) => "The tenant ids are sorted in flush, and Lena reviews the patch.",
                None => GOOD,
            })),
        }));
        let mut options = LlmOptions::default();
        (options.form, options.transcript_cap) = (form, cap.map(Tokens));
        options.custom_prompt = prompt.map(Into::into);
        let draft = Draft { text: format!("## State\n- {TOLD}"), mode: SummaryMode::Llm, ..Draft::default() };
        let previous = crate::drift::record(None, &draft, conversation.span());
        let request = SummaryRequest {
            previous: Some(&previous),
            is_rebuilt: true,
            ..asking.request(conversation.entries(), 400)
        };
        block_on(ladder(vec![model("m", &client)], options, &time()).summarize(request)).unwrap();
        let asked: Vec<String> = client.requests().iter().map(|request| request.user.clone()).collect();
        let (refused, again) = (&asked[overflows], &asked[overflows + 1]);
        assert!(asked[..=overflows].iter().all(|prompt| !prompt.contains(TOLD)), "all of it is shown");
        assert!(again.contains(TOLD) && again.len() < refused.len(), "{form:?} {cap:?}: {again}");
        // And of the parts before.
        assert!(overflows == 0 || again.contains("The tenant ids are sorted in flush"), "{again}");
    }
}

#[test]
fn prose_about_several_parts_is_told_on_from_part_to_part() {
    let client =
        Arc::new(Scripted::always("The tenant ids are sorted in flush, and Lena reviews the patch."));
    let (conversation, asking) = (conversation(), Asking::new());
    let ladder = prose(&client, Some(900));
    let request = asking.request(conversation.entries(), 400);
    let passes = ladder.plan(&request).models[0].passes;
    let draft = block_on(ladder.summarize(request)).unwrap();
    assert!(passes > 1 && client.calls() == passes, "no call merges them: {} of {passes}", client.calls());
    assert!(!client.requests()[0].user.contains("The summary of what came before"));
    let last = &client.requests()[passes - 1].user;
    assert!(last.contains("The summary of what came before stands first") && last.contains("Lena reviews"));
    assert_eq!(draft.text.matches("Lena reviews the patch.").count(), 1, "{}", draft.text);
}

#[test]
fn an_update_in_several_parts_changes_what_the_part_before_left() {
    let (conversation, asking) = (conversation(), Asking::new());
    let client = Arc::new(Scripted::new(|nth, _| {
        Ok(Scripted::says(match nth {
            0 => {
                "## Replace\ns1: The deadlock in src/export/writer.rs is being looked for (m0).\n## Next\n- Set EXPORT_WORKERS=1."
            }
            _ => "## Remove\ns2\n## Replace\ns1: The deadlock in src/export/writer.rs is found (m3).",
        }))
    }));
    let mut options = LlmOptions::default();
    (options.form, options.transcript_cap) = (SummaryForm::Markdown, Some(Tokens(900)));
    let text = "## State\n- The deadlock in src/export/writer.rs is reported.".to_owned();
    let draft = Draft { text, mode: SummaryMode::Hybrid, ..Draft::default() };
    let previous = crate::drift::record(None, &draft, Span { start: 0, end: 1 });
    let request = SummaryRequest { previous: Some(&previous), ..asking.request(conversation.entries(), 400) };
    let ladder = ladder(vec![model("m", &client)], options, &time());
    let plan = ladder.plan(&request);
    let draft = block_on(ladder.summarize(request)).unwrap();
    assert!(plan.models[0].passes > 1 && client.calls() == plan.models[0].passes, "{} calls", client.calls());
    let asked = &client.requests()[1].user;
    assert!(
        asked.contains("[s1] (State) The deadlock in src/export/writer.rs is being looked for (m0)."),
        "{asked}"
    );
    assert!(asked.contains("[s2] (Next) Set EXPORT_WORKERS=1."), "{asked}");
    assert_eq!(draft.text.matches("The deadlock in src/export/writer.rs is").count(), 1, "{}", draft.text);
    assert!(!draft.text.contains("EXPORT_WORKERS=1."), "{}", draft.text);
}
