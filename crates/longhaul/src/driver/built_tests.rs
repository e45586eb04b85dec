//! What the builder refuses, and what it tells of settings, models and windows.

use longhaul_tokens::{CharsPer4, Prices, TokenCounter};

use super::{
    tests::{Log, Told, manager},
    *,
};
use crate::{
    config::{Chaining, OnMaxDepth, Oversize, SoftAction},
    event::Event,
};

#[test]
fn an_unknown_model_is_told_and_has_the_window_that_was_given() {
    let log = Log::default();
    let told = Arc::clone(&log);
    let window = ContextWindow::new(Tokens(200_000), Tokens::ZERO);
    let context = Session::builder(SessionId::new("test").unwrap(), window)
        .observer(move |event: &Event| told.lock().unwrap().push(event.clone()))
        .model("acme", "frontier-9")
        .build()
        .unwrap();
    assert_eq!(context.state().budget(), Tokens(200_000));
    let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    let told = "frontier-9 is in no table: tokens are estimated, for the window of 200,000 that was given";
    assert_eq!(lines, [told]);
}

/// A prompt of GPT-5 has 272,000 tokens, and its answer 128,000 beside them.
#[test]
fn where_prompt_and_answer_are_limited_apart_a_prompt_has_all_that_it_may_have() {
    let budget = |window, reserved, model: &str| {
        let window = ContextWindow::new(Tokens(window), Tokens(reserved));
        let session = Session::builder(SessionId::new("test").unwrap(), window).model("openai", model);
        session.build().unwrap().state().budget()
    };
    for model in ["gpt-5", "gpt-5.1-codex"] {
        for (window, reserved) in [(1_000_000, 0), (1_000_000, 32_000), (400_000, 128_000), (400_000, 32_000)]
        {
            assert_eq!(budget(window, reserved, model), Tokens(272_000), "{model} {window} {reserved}");
        }
        assert_eq!(budget(1_000_000, 200_000, model), Tokens(200_000));
        assert_eq!(budget(300_000, 100_000, model), Tokens(200_000));
        assert_eq!(budget(100_000, 10_000, model), Tokens(90_000));
    }
    assert_eq!(budget(1_000_000, 10_000, "gpt-4o"), Tokens(118_000));
}

#[cfg(feature = "bpe")]
#[test]
fn an_unknown_model_with_an_exact_counter_is_not_said_to_be_estimated() {
    let log = Log::default();
    let told = Arc::clone(&log);
    let window = ContextWindow::new(Tokens(200_000), Tokens::ZERO);
    Session::builder(SessionId::new("test").unwrap(), window)
        .observer(move |event: &Event| told.lock().unwrap().push(event.clone()))
        .counter(Arc::new(longhaul_tokens::Bpe::new(longhaul_tokens::Encoding::O200kBase).unwrap()))
        .model("acme", "frontier-9")
        .build()
        .unwrap();
    let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["frontier-9 is in no table: it is taken to have the window of 200,000 that was given"]
    );
}

#[test]
fn a_model_of_another_provider_is_told() {
    for (provider, model, expected) in [
        (
            "anthropic",
            "gpt-4o",
            Some(
                "gpt-4o is a model of openai's: its window, counter and prices go with the settings for anthropic",
            ),
        ),
        ("openai", "gpt-4o", None),
        ("openai", "qwen3-32b", None),
        ("gateway", "claude-sonnet-4-5", None),
    ] {
        let log = Log::default();
        let told = Arc::clone(&log);
        let window = ContextWindow::new(Tokens(100_000), Tokens::ZERO);
        let builder = Session::builder(SessionId::new("test").unwrap(), window);
        let builder = builder.observer(move |event: &Event| told.lock().unwrap().push(event.clone()));
        builder.model(provider, model).build().unwrap();
        let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
        let lines: Vec<&str> =
            lines.iter().map(String::as_str).filter(|line| !line.contains("in no table")).collect();
        assert_eq!(lines, Vec::from_iter(expected), "{provider} {model}");
    }
}

#[test]
fn no_model_makes_a_window_larger_than_the_one_given() {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let builder = || Session::builder(SessionId::new("test").unwrap(), window);
    for (provider, model) in [("ollama", "my-finetune"), ("openai", "gpt-4o")] {
        let context = builder().model(provider, model).build().unwrap();
        assert_eq!(context.state().budget(), Tokens(3_500), "{model}");
    }
    let larger = ContextWindow::new(Tokens(1_000_000), Tokens::ZERO);
    let builder = Session::builder(SessionId::new("test").unwrap(), larger).model("openai", "gpt-4o");
    assert_eq!(builder.build().unwrap().state().budget(), Tokens(128_000 - 16_384));
    // What is kept free for the answer is the caller's word, where there is one, in any order.
    let reserve = ContextWindow::new(Tokens(1_000_000), Tokens(2_000));
    let builder = || Session::builder(SessionId::new("test").unwrap(), reserve);
    let budget = |builder: super::Builder| builder.build().unwrap().state().budget();
    assert_eq!(budget(builder().model("openai", "gpt-4o")), Tokens(128_000 - 2_000));
    let config = Config { reserved_output_tokens: Some(Tokens(3_000)), ..Config::default() };
    assert_eq!(budget(builder().model("openai", "gpt-4o").config(config.clone())), Tokens(128_000 - 3_000));
    assert_eq!(budget(builder().config(config).model("openai", "gpt-4o")), Tokens(128_000 - 3_000));
    let builder = || Session::builder(SessionId::new("test").unwrap(), window);
    for name in ["", " "] {
        let error = builder().model("", name).build().unwrap_err();
        assert!(matches!(error, BuildError::NoModelName), "{error:?}");
    }
}

#[test]
fn a_window_that_no_compaction_fits_is_refused() {
    for tokens in [1, 10, 100, 200] {
        let window = ContextWindow::new(Tokens(tokens), Tokens::ZERO);
        let error = Session::builder(SessionId::new("test").unwrap(), window).build().unwrap_err();
        assert!(matches!(error, BuildError::BelowFloor { .. }), "{error:?}");
    }
}

#[test]
fn a_trigger_that_no_compaction_comes_below_is_refused() {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let ratio = |ratio| crate::config::Threshold::Ratio(ratio);
    let config = Config {
        trigger_ratio: ratio(0.02),
        reset_ratio: ratio(0.015),
        soft_ratio: ratio(0.012),
        target_ratio: ratio(0.01),
        ..Config::default()
    };
    let builder = Session::builder(SessionId::new("test").unwrap(), window).config(config.clone());
    let said = "trigger_ratio (0.02) comes to 140 tokens of a budget of 7,000, and no compaction goes below 200; \
                expected more";
    assert_eq!(builder.build().unwrap_err().to_string(), said);
    let (mut context, _) = manager(Config::default(), None);
    let refused = context.switch_model(window, Arc::new(CharsPer4), config).unwrap_err();
    assert_eq!(refused.to_string(), said);
}

#[test]
fn an_answer_that_takes_the_whole_window_is_refused_by_name() {
    let config = Config { reserved_output_tokens: Some(Tokens(9_000)), ..Config::default() };
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let error = Session::builder(SessionId::new("test").unwrap(), window).config(config).build().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("8,000") && error.contains("9,000 (reserved_output_tokens)"), "{error}");
}

/// Counts nothing, as one does that swallows an error of its own.
#[derive(Debug)]
struct Nothing;

impl longhaul_tokens::TokenCounter for Nothing {
    fn count_text(&self, _: &str) -> Tokens {
        Tokens::ZERO
    }

    fn accuracy(&self) -> longhaul_tokens::Accuracy {
        longhaul_tokens::Accuracy::Exact
    }
}

#[test]
fn a_counter_that_counts_nothing_is_refused() {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let builder = Session::builder(SessionId::new("test").unwrap(), window).counter(Arc::new(Nothing));
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("the counter says 0 tokens"), "{error}");
    let (mut context, _) = manager(Config::default(), None);
    assert!(context.switch_model(window, Arc::new(Nothing), Config::default()).is_err());
    assert_eq!(context.state().window(), Tokens(2_000));
}

/// Counts, and says of its error what is no share.
#[derive(Debug)]
struct Unsure(f64);

impl TokenCounter for Unsure {
    fn count_text(&self, text: &str) -> Tokens {
        longhaul_tokens::CharsPer4.count_text(text)
    }

    fn accuracy(&self) -> longhaul_tokens::Accuracy {
        longhaul_tokens::Accuracy::Estimate { margin: self.0 }
    }
}

#[test]
fn a_counter_whose_margin_is_no_share_is_refused() {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    for (margin, is_share) in
        [(0.0, true), (1.5, true), (-0.1, false), (f64::NAN, false), (f64::INFINITY, false)]
    {
        let id = SessionId::new("test").unwrap();
        let built = Session::builder(id, window).counter(Arc::new(Unsure(margin))).build();
        let error = built.err().map(|error| error.to_string());
        assert_eq!(error.is_none(), is_share, "{error:?}");
        assert!(error.is_none_or(|error| error.contains("margin of error is ")));
    }
}

#[test]
fn settings_without_effect_are_told() {
    let config = Config {
        summarizer_model_preference: vec!["small".into()],
        summary_prompt: "In {maxTokens}: {context}".into(),
        delete_originals: true,
        ..Config::default()
    };
    let (_, log) = manager(config, None);
    let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "summarizer_model_preference has no effect: no client or models were given to choose from",
            "summary_prompt has no effect: mode is rules, which asks no model",
            "delete_originals has no effect: no store was given, which could hold any",
        ]
    );
}

/// Counts ten tokens for a character: there is room for messages, and none for a summary with its header.
#[derive(Debug)]
struct Tenfold;

impl TokenCounter for Tenfold {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(10 * text.chars().count() as u64)
    }

    fn accuracy(&self) -> longhaul_tokens::Accuracy {
        longhaul_tokens::Accuracy::Exact
    }
}

#[tokio::test]
async fn what_must_stay_is_never_told_to_fit_where_it_does_not() {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let mut session =
        Session::builder(SessionId::new("test").unwrap(), window).counter(Arc::new(Tenfold)).build().unwrap();
    session.push(Message::user("the relay waits for the edge of the table ".repeat(5)));
    session.push(Message::assistant("the edge of the table waits for a relay ".repeat(8)));
    session.push(Message::user("the relay waits for the edge of the table ".repeat(5)));
    match session.prepare().await {
        Err(Error::OverBudget { floor, budget, .. }) => assert!(floor > budget, "{floor} of {budget}"),
        other => panic!("{other:?}"),
    }
    // Both refuse what no request can hold.
    let mut session = Session::builder(SessionId::new("test").unwrap(), window).build().unwrap();
    session.push(Message::user("Hello."));
    let text = "word ".repeat(4_000);
    let error = session.set_memory("notes", &text).unwrap_err().to_string();
    assert!(
        error.starts_with("the memory block \"notes\" cannot be set: ") && error.ends_with("3,500"),
        "{error}"
    );
    assert_eq!(session.state().memory().count(), 0);
    session.set_memory("notes", "one line").unwrap();
    session.prepare().await.unwrap();
}

#[tokio::test]
async fn more_messages_that_somebody_asks_for_stay_though_they_cost_more_than_usual() {
    let window = ContextWindow::new(Tokens(16_000), Tokens(2_000));
    let newest = async |config: Config| {
        let mut session =
            Session::builder(SessionId::new("test").unwrap(), window).config(config).build().unwrap();
        for nth in 0..400 {
            session.push(Message::user(format!("{nth}: {}", "what is said here ".repeat(20))));
            session.prepare().await.unwrap();
        }
        session.compact(None).await.unwrap();
        let view = session.prepare().await.unwrap();
        assert!(view.tokens() <= Tokens(14_000));
        session.state().recent()
    };
    assert!(newest(Config { preserve_recent: 60, ..Config::default() }).await >= 60);
    let limited = Config {
        preserve_recent: 60,
        preserve_recent_tokens: Some(crate::config::Threshold::Ratio(0.2)),
        ..Config::default()
    };
    assert!(newest(limited).await < 50);
}

#[test]
fn settings_that_only_a_model_or_a_store_would_heed_are_told() {
    let told = |set: &dyn Fn(Builder) -> Builder| {
        let log = Log::default();
        let seen = Arc::clone(&log);
        let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
        let builder = Session::builder(SessionId::new("test").unwrap(), window)
            .observer(move |event: &Event| seen.lock().unwrap().push(event.clone()));
        set(builder).build().unwrap();
        let log = log.lock().unwrap();
        log.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let config = Config {
        max_calls_per_hour: Some(3),
        transport_retries: 3,
        transcript_cap_tokens: Some(Tokens(600)),
        abort_on_failure: true,
        summary_form: longhaul_summarize::SummaryForm::Json,
        oversize: crate::config::Oversize::Newest,
        ..Config::default()
    };
    let lines = told(&|builder| builder.config(config.clone()));
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.ends_with("has no effect: mode is rules, which asks no model")));

    let config = Config { soft_action: SoftAction::Off, min_gain_ratio: 0.2, ..Config::default() };
    assert_eq!(
        told(&|builder| builder.config(config.clone())),
        ["min_gain_ratio has no effect: soft_action is off, and it is of passes of the soft tier alone"]
    );

    let of_soft_tier = Config {
        soft_action: SoftAction::Off,
        soft_ratio: crate::config::Threshold::Ratio(0.5),
        cache_ttl_ms: Some(5),
        ..Config::default()
    };
    let never = Config {
        enabled: false,
        trigger_ratio: crate::config::Threshold::Ratio(0.9),
        trigger_messages: Some(100),
        ..Config::default()
    };
    let of_window = |trigger: f64| Config {
        ratio_base: crate::config::RatioBase::Window,
        trigger_ratio: crate::config::Threshold::Ratio(trigger),
        ..Config::default()
    };
    let usual = Config { ratio_base: crate::config::RatioBase::Window, ..Config::default() };
    for (config, told_of) in [
        (of_soft_tier, &["soft_ratio", "cache_ttl_ms"][..]),
        (never, &["trigger_ratio", "trigger_messages"]),
        (of_window(1.0), &["trigger_ratio"]),
        (of_window(0.75), &[]),
        (usual, &[]),
    ] {
        let lines = told(&|builder| builder.config(config.clone()));
        let names: Vec<_> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(names, told_of, "{lines:?}");
    }

    let overrides =
        crate::config::Overrides { max_context_tokens: Some(Tokens(5_000)), ..Default::default() };
    let config = Config { models: [("gpt-4o".to_owned(), overrides)].into(), ..Config::default() };
    assert_eq!(
        told(&|builder| builder.config(config.clone())),
        ["models and providers has no effect: none of these settings is for a model that was named"]
    );
    assert!(told(&|builder| builder.config(config.clone()).model("openai", "gpt-4o")).is_empty());
    assert!(told(&|builder| builder.config(config.for_model("openai", "gpt-4o"))).is_empty());

    let large = |tokens| crate::config::Threshold::Tokens(Tokens(tokens));
    let config = Config { trigger_ratio: large(100_000), ..Config::default() };
    assert_eq!(
        told(&|builder| builder.config(config.clone())),
        ["trigger_ratio has no effect: 100,000 tokens do not fit a budget of 7,000; 6,300 are used"]
    );
    // The name is the one that was set, and what gives way to another threshold is told of as well.
    let config = Config { target_context_tokens: Some(Tokens(6_000)), ..Config::default() };
    assert_eq!(
        told(&|builder| builder.config(config.clone())),
        [
            "target_context_tokens has no effect: 6,000 tokens are not below soft_ratio (4,200) in a budget of \
             7,000; 3,150 are used"
        ]
    );
    for (config, told_of) in [
        (Config { reset_ratio: large(6_900), ..Config::default() }, Some("reset_ratio")),
        (Config { soft_ratio: large(6_900), ..Config::default() }, Some("soft_ratio")),
        (
            Config {
                soft_ratio: large(6_900),
                soft_action: crate::config::SoftAction::Off,
                ..Config::default()
            },
            Some("soft_ratio"),
        ),
        (Config { target_ratio: large(6_900), ..Config::default() }, Some("target_ratio")),
        (
            Config { preserve_recent_tokens: Some(large(6_000)), ..Config::default() },
            Some("preserve_recent_tokens"),
        ),
        (Config { trigger_ratio: large(6_000), ..Config::default() }, None),
    ] {
        let lines = told(&|builder| builder.config(config.clone()));
        assert_eq!(
            lines.iter().map(|line| line.split(' ').next().unwrap()).collect::<Vec<_>>(),
            Vec::from_iter(told_of)
        );
    }
    assert_eq!(
        told(&|builder| builder.when_overtaken(Overtaken::Stop)),
        ["when_overtaken has no effect: no store was given, in which somebody else could go on"]
    );
    assert_eq!(
        told(&|builder| builder.sleep(Arc::new(longhaul_transcript::NoSleep))),
        ["sleep has no effect: no summarizer was given that would be waited for by it"]
    );
    let (sent, answered) =
        (Prices { input: Some(3.0), ..Prices::default() }, Prices { output: Some(3.0), ..Prices::default() });
    let no_soft_tier = Config { soft_action: SoftAction::Off, ..Config::default() };
    assert_eq!(told(&|builder| builder.prices(sent)), [""; 0]);
    assert_eq!(
        told(&|builder| builder.prices(sent).config(no_soft_tier.clone())),
        ["prices has no effect: soft_action is off, and it is of passes of the soft tier alone"]
    );
    assert_eq!(
        told(&|builder| builder.prices(answered)),
        [
            "prices has no effect: they say nothing of what is sent, and an answer costs the same after any request"
        ]
    );
    let overrides =
        crate::config::Overrides { max_context_tokens: Some(Tokens(5_000)), ..Default::default() };
    for (provider, expected) in [
        (
            &["antropic", "Anthropic"][..],
            &["providers has no effect: one of them is called almost as a maker of models is, and is none"][..],
        ),
        (&["Anthropic"], &[]),
        (&["Anthropic", "my-gateway"], &[]),
        (
            &["antropic"],
            &["providers has no effect: none of these settings is for anthropic: they are for antropic"],
        ),
        (
            &["my-gateway", "openai"],
            &[
                "providers has no effect: none of these settings is for anthropic: they are for my-gateway, openai",
            ],
        ),
    ] {
        let providers = provider.iter().map(|name| ((*name).to_owned(), overrides.clone())).collect();
        let config = Config { providers, ..Config::default() };
        let build = |builder: Builder| builder.config(config.clone()).model("anthropic", "claude-sonnet-4-5");
        assert_eq!(told(&build), *expected, "{provider:?}");
    }
    let window = ContextWindow::new(Tokens(900_000), Tokens(1_000));
    let log = Log::default();
    let seen = Arc::clone(&log);
    let builder = Session::builder(SessionId::new("test").unwrap(), window)
        .observer(move |event: &Event| seen.lock().unwrap().push(event.clone()));
    builder.model("openai", "gpt-4o").build().unwrap();
    let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["window has no effect: it is more than the model has, and the model's is used"]);
    let lines = told(&|builder| builder.model("antropic", "claude-sonnet-4-5"));
    assert!(lines[0].contains("antropic") && lines[0].contains("anthropic"), "{lines:?}");
    assert!(told(&|builder| builder.model("openrouter", "claude-sonnet-4-5")).is_empty());
}

#[test]
fn prices_and_endpoints_that_cannot_be_meant_are_refused() {
    let builder = || {
        Session::builder(SessionId::new("test").unwrap(), ContextWindow::new(Tokens(8_000), Tokens(1_000)))
    };
    for price in [-1.0, f64::NAN, f64::INFINITY] {
        let error = builder().prices(Prices { cache_read: Some(price), ..Prices::default() }).build();
        assert!(matches!(error, Err(BuildError::NoPrice { what: "cache reads", .. })), "{error:?}");
    }
    for share in [5.0, -3.0, f64::NAN, f64::INFINITY] {
        let mut rules = longhaul_summarize::rules::RulesOptions::default();
        rules.state_share = share;
        let error = builder().rules(rules).build();
        assert!(matches!(error, Err(BuildError::NoShare { what: "state_share", .. })), "{error:?}");
    }
    assert!(builder().prices(Prices { input: Some(0.0), ..Prices::default() }).build().is_ok());
    assert!(matches!(builder().endpoint("", "").build(), Err(BuildError::NoModelName)));
}

#[test]
fn settings_that_reach_no_model_are_told_whoever_was_given() {
    let config = Config {
        mode: SummaryMode::Hybrid,
        summarizer_model_preference: vec!["small".into()],
        summary_prompt: "In {maxTokens}: {context}".into(),
        transport_retries: 3,
        // These two are heeded whoever summarizes.
        transcript_cap_tokens: Some(Tokens(600)),
        oversize: Oversize::Rules,
        ..Config::default()
    };
    let lines = [
        "mode has no effect: it is hybrid, and nobody was given to write summaries: rules write them",
        "summarizer_model_preference has no effect: no client or models were given to choose from",
        "summary_prompt has no effect: no client or models were given to put it to",
        "transport_retries has no effect: no client or models were given that calls are made to",
    ];
    let told = |log: &Log| {
        let log = log.lock().unwrap();
        let unused = log.iter().filter(|event| matches!(event.kind, EventKind::SettingUnused { .. }));
        unused.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told(&manager(config.clone(), None).1), lines);
    assert_eq!(told(&manager(config.clone(), Some(Told::new(&[]))).1), lines[1..]);
    let (mut context, log) = manager(Config::default(), None);
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    context.switch_model(window, Arc::new(CharsPer4), config.clone()).unwrap();
    assert_eq!(told(&log), lines);
    // One that writes the facts itself may be a ladder with these settings.
    let log = Log::default();
    let seen = Arc::clone(&log);
    let builder = Session::builder(SessionId::new("test").unwrap(), window).config(config);
    let ladder = Arc::new(longhaul_summarize::rules::RulesSummarizer::default());
    let builder = builder.observer(move |event: &Event| seen.lock().unwrap().push(event.clone()));
    builder.summarizer(ladder).build().unwrap();
    assert!(told(&log).is_empty());
}

/// In how many calls a model is shown what is long is for whoever makes them, and a chain that is none has no depth.
#[test]
fn settings_that_concern_another_way_are_told() {
    let settings = |config: &Config| {
        let log = manager(config.clone(), Some(Told::new(&[]))).1;
        let log = log.lock().unwrap();
        let unused = |event: &Event| match &event.kind {
            EventKind::SettingUnused { setting, .. } => Some(setting.clone()),
            _ => None,
        };
        log.iter().filter_map(unused).collect::<Vec<_>>()
    };
    let hybrid = Config { mode: SummaryMode::Hybrid, ..Config::default() };
    let capped = Config { transcript_cap_tokens: Some(Tokens(600)), ..hybrid.clone() };
    assert_eq!(settings(&capped), ["transcript_cap_tokens"]);
    assert_eq!(settings(&Config { oversize: Oversize::Newest, ..hybrid.clone() }), ["oversize"]);
    assert_eq!(settings(&Config { oversize: Oversize::Rules, ..capped }), [""; 0]);
    let sized = Config {
        target_context_tokens: Some(Tokens(800)),
        target_ratio: crate::config::Threshold::Ratio(0.3),
        ..hybrid.clone()
    };
    assert_eq!(settings(&sized), ["target_ratio"]);
    let halting = Config { on_max_depth: OnMaxDepth::Halt, max_summary_chain_depth: 2, ..hybrid };
    assert_eq!(settings(&halting), [""; 0]);
    let appended = Config { chaining: Chaining::Append, ..halting };
    assert_eq!(settings(&appended), ["on_max_depth", "max_summary_chain_depth"]);
}

#[tokio::test]
async fn a_switch_takes_no_settings_that_the_builder_refuses() {
    let (mut context, log) = manager(Config::default(), None);
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let before = context.state().config().clone();
    for config in [
        Config { version: 9, ..Config::default() },
        Config { preserve_recent: 0, ..Config::default() },
        Config { max_summary_chain_depth: 0, ..Config::default() },
        Config { trigger_ratio: crate::config::Threshold::Ratio(f64::NAN), ..Config::default() },
        Config { mode: SummaryMode::Llm, ..Config::default() },
        Config { max_context_tokens: Some(Tokens(1)), ..Config::default() },
        Config { reserved_output_tokens: Some(Tokens(2_000)), ..Config::default() },
    ] {
        let refused = context.switch_model(window, Arc::new(CharsPer4), config.clone());
        assert!(refused.is_err(), "{config:?}");
        assert_eq!(context.state().config(), &before);
    }
    assert!(log.lock().unwrap().is_empty());
    context.switch_model(window, Arc::new(CharsPer4), Config::default()).unwrap();
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let config = Config { preserve_recent: 0, ..Config::default() };
    let built = Session::builder(SessionId::new("test").unwrap(), window).config(config).build();
    let BuildError::Config(error) = built.unwrap_err() else { panic!("the settings are at fault") };
    assert_eq!(error.problems[0].field, "preserve_recent");
}

/// Returns what observers are told when a session in a window of 8,000 tokens is put together.
fn told_of(set: impl Fn(Builder) -> Builder) -> Vec<String> {
    let log = Log::default();
    let seen = Arc::clone(&log);
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let builder = Session::builder(SessionId::new("test").unwrap(), window)
        .observer(move |event: &Event| seen.lock().unwrap().push(event.clone()));
    set(builder).build().unwrap();
    let log = log.lock().unwrap();
    log.iter().map(ToString::to_string).collect()
}

#[test]
fn room_for_a_summary_and_for_recent_messages_that_no_view_has_is_told() {
    use crate::config::{SummaryLimit, Threshold};
    let of = |config: Config| told_of(|builder| builder.config(config.clone()));
    let limit =
        |tokens| Config { max_summary_tokens: SummaryLimit::Tokens(Tokens(tokens)), ..Config::default() };
    assert_eq!(of(limit(2_800)), [""; 0]);
    assert_eq!(
        of(limit(50_000)),
        [
            "max_summary_tokens has no effect: 50,000 tokens are above target_ratio (2,800) in a budget of 7,000, \
             and a view is to keep to that with its summary"
        ]
    );
    let recent =
        |share| Config { preserve_recent_tokens: Some(Threshold::Ratio(share)), ..Config::default() };
    assert_eq!(of(recent(0.4)), [""; 0]);
    assert_eq!(of(Config { target_ratio: Threshold::Ratio(0.1), ..Config::default() }), [""; 0]);
    let told = of(recent(0.9));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("preserve_recent_tokens has no effect: 6,300 tokens are not below"),
        "{told:?}"
    );
}

#[test]
fn shares_of_a_summary_that_leave_no_room_for_the_rest_are_refused() {
    let built = |share: f64| {
        let mut rules = longhaul_summarize::rules::RulesOptions::default();
        (rules.task_share, rules.constraint_share, rules.state_share, rules.asked_share) =
            (share, share, share, share);
        let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
        Session::builder(SessionId::new("test").unwrap(), window).rules(rules).build()
    };
    assert!(built(0.25).is_ok());
    let error = built(1.0).unwrap_err().to_string();
    assert!(error.starts_with("task_share + "), "{error}");
    assert!(error.ends_with(" + asked_share come to 4; expected at most 1"), "{error}");
}

#[test]
fn a_provider_or_an_endpoint_without_a_name_is_refused() {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let builder = || Session::builder(SessionId::new("test").unwrap(), window);
    let said = "the provider of gpt-4o has no name; expected one, such as openai";
    assert_eq!(builder().model(" ", "gpt-4o").build().unwrap_err().to_string(), said);
    let said = "the endpoint of m is empty; expected an address or a name to tell it from others";
    assert_eq!(builder().endpoint("m", "").build().unwrap_err().to_string(), said);
    let (mut context, _) = manager(Config::default(), None);
    assert_eq!(context.set_endpoint("m", " ").unwrap_err().to_string(), said);
}

#[test]
fn settings_for_other_models_than_the_one_that_is_used_are_told() {
    let overrides =
        crate::config::Overrides { max_context_tokens: Some(Tokens(5_000)), ..Default::default() };
    let config = |names: &[&str]| Config {
        models: names.iter().map(|name| ((*name).to_owned(), overrides.clone())).collect(),
        ..Config::default()
    };
    let of =
        |names: &[&str], model: &str| told_of(|builder| builder.config(config(names)).model("openai", model));
    assert_eq!(of(&["gpt-4o"], "gpt-4o"), [""; 0]);
    assert_eq!(of(&["gpt-4*", "o3"], "gpt-4o"), [""; 0]);
    assert_eq!(
        of(&["gpt-4", "o3"], "gpt-4o"),
        ["models has no effect: none of these settings is for gpt-4o: they are for gpt-4, o3"]
    );
    let told = told_of(|builder| builder.config(config(&["m"])).endpoint("m", "host"));
    assert_eq!(
        told,
        ["models and providers has no effect: they are taken for a model that Builder::model names"]
    );
}

#[test]
fn counts_of_messages_that_nobody_can_mean_are_refused() {
    for config in [
        Config { preserve_recent: 2_000_000, ..Config::default() },
        Config { trigger_messages: Some(2_000_000), ..Config::default() },
        Config { force_refresh_after_messages: Some(2_000_000), ..Config::default() },
    ] {
        let problems = config.validate();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].message.starts_with("2000000 are more than a conversation has"), "{problems:?}");
    }
}
