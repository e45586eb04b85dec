//! Every setting of `Config` changes something that somebody can see, or is refused. The names come from the serialized
//! defaults, so that a new setting cannot be forgotten here.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use longhaul::{
    Config, Event, Session,
    config::{Layer, Layered},
    store::{MemoryStore, SummaryStore},
    summarize::{ClientError, CompletionClient, Scripted, SummarizerModel},
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{Clock, Message, NoJitter, NoSleep, Outcome, SessionId, Span, SummaryMode, Tokens, Usage},
};

use crate::work::{answer, exchange, text};

/// What a session is put through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    Usual,
    /// The instructions take half of the budget.
    LongInstructions,
    /// What fails says so at length.
    LongErrors,
    /// The model that is to write summaries is down.
    ModelDown,
}
use Scene::{LongErrors, LongInstructions, ModelDown, Usual};

/// A setting, the scene, settings beside it, and the same with the setting changed.
type Example = (&'static str, Scene, &'static str, &'static str);

const EXAMPLES: [Example; 46] = [
    ("version", Usual, "", "version = 2"),
    ("preset", Usual, "", "preset = 'session'"),
    ("enabled", Usual, "", "enabled = false"),
    ("mode", Usual, "", "mode = 'llm'"),
    ("trigger_ratio", Usual, OFF, "trigger_ratio = 0.95"),
    ("reset_ratio", LongInstructions, "soft_ratio = 0.45", "reset_ratio = 0.5"),
    ("soft_ratio", Usual, "", "soft_ratio = 0.45"),
    ("soft_action", Usual, "", OFF),
    ("target_ratio", Usual, "", "target_ratio = 0.2"),
    ("target_context_tokens", Usual, "", "target_context_tokens = 1200"),
    ("max_context_tokens", Usual, "", "max_context_tokens = 3500"),
    ("reserved_output_tokens", Usual, "", "reserved_output_tokens = 1000"),
    ("ratio_base", Usual, "reserved_output_tokens = 1500", "ratio_base = 'window'"),
    ("min_gain_ratio", Usual, "", "min_gain_ratio = 0.5"),
    ("cache_ttl_ms", Usual, "min_gain_ratio = 0.5", "cache_ttl_ms = 1"),
    ("trigger_messages", Usual, "", "trigger_messages = 14"),
    ("min_messages", Usual, "", "min_messages = 200"),
    ("preserve_recent", Usual, REFRESH, "preserve_recent = 12"),
    ("preserve_recent_tokens", Usual, REFRESH, "preserve_recent_tokens = 0.01"),
    ("max_summary_chain_depth", Usual, OFF, "max_summary_chain_depth = 1"),
    ("on_max_depth", Usual, "soft_action = 'off'\nmax_summary_chain_depth = 1", "on_max_depth = 'halt'"),
    ("chaining", Usual, OFF, "chaining = 'append'"),
    ("oversize", Usual, "mode = 'llm'\ntranscript_cap_tokens = 600", "oversize = 'rules'"),
    ("summary_role", Usual, OFF, "summary_role = 'system'"),
    ("summary_header", Usual, OFF, "summary_header = '[Earlier]'"),
    ("summary_lookup", Usual, OFF, "summary_lookup = 'the tool recall shows m12 whole'"),
    (
        "cooldown_messages",
        Usual,
        "soft_action = 'off'\ntrigger_ratio = 0.8\ntarget_ratio = 0.55",
        "cooldown_messages = 40",
    ),
    ("failure_cooldown_ms", ModelDown, ABORT, "failure_cooldown_ms = 86400000"),
    ("force_refresh_after_messages", Usual, "", "force_refresh_after_messages = 10"),
    ("target_compression", Usual, OFF, "target_compression = 0.02"),
    ("max_summary_tokens", Usual, OFF, "max_summary_tokens = 60"),
    ("max_summary_share", Usual, OFF, "max_summary_share = 0.02"),
    ("preserve_error_details", LongErrors, "", "preserve_error_details = false"),
    ("preserve_system", Usual, OFF, "preserve_system = false"),
    ("abort_on_failure", ModelDown, "mode = 'llm'", "abort_on_failure = true"),
    ("rules_on_failure", ModelDown, "mode = 'llm'", "rules_on_failure = false"),
    ("transcript_cap_tokens", Usual, "mode = 'llm'", "transcript_cap_tokens = 600"),
    ("summary_form", Usual, "mode = 'llm'\nsummary_form = 'json'", "summary_form = 'markdown'"),
    ("summarizer_model_preference", Usual, "mode = 'llm'", "summarizer_model_preference = ['second']"),
    ("summary_prompt", Usual, "mode = 'llm'", "summary_prompt = 'Briefly, in {maxTokens}: {context}'"),
    ("transport_retries", ModelDown, "mode = 'llm'", "transport_retries = 3"),
    ("summary_deadline_ms", ModelDown, "mode = 'llm'\ntransport_retries = 5", "summary_deadline_ms = 1000"),
    ("max_calls_per_hour", Usual, "mode = 'llm'", "max_calls_per_hour = 1"),
    ("delete_originals", Usual, OFF, "delete_originals = true"),
    ("models", Usual, "", "[models.'seen*']\nmax_context_tokens = 3500"),
    ("providers", Usual, "", "[providers.acme]\nmax_context_tokens = 3500"),
];

const OFF: &str = "soft_action = 'off'";
const REFRESH: &str = "soft_action = 'off'\nforce_refresh_after_messages = 14";
const ABORT: &str = "mode = 'llm'\nabort_on_failure = true\nfailure_cooldown_ms = 0\ncooldown_messages = 1";

/// A second passes with each look at it.
#[derive(Debug)]
struct Seconds(AtomicI64);

impl Clock for Seconds {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }
}

/// Returns all that can be seen of a session under these settings: what it is told, what it sends, what it asks a model,
/// what it leaves in the store.
async fn seen(scene: Scene, settings: &[&str]) -> String {
    // Later files win; a table would take in what follows it.
    let layers = settings.iter().map(|toml| Layer::file("settings", toml));
    let config = match Layered::from_layers(layers.collect()) {
        Ok(layered) => layered.config,
        Err(error) => return format!("refused: {error:?}"),
    };
    let log: Arc<Mutex<String>> = Arc::default();
    let events = Arc::clone(&log);
    let store = Arc::new(MemoryStore::default());
    let client = Arc::new(Scripted::new(move |_, _| match scene {
        ModelDown => Err(ClientError::Transport { reason: "reset".into() }),
        _ => Ok(answer("The parts were looked at one by one.")),
    }));
    let session = SessionId::new("seen").unwrap();
    let mut builder = Session::builder(session.clone(), ContextWindow::new(Tokens(32_768), Tokens(4_096)))
        .model("acme", "seen-1")
        .config(Config {
            max_context_tokens: config.max_context_tokens.or(Some(Tokens(4_500))),
            reserved_output_tokens: config.reserved_output_tokens.or(Some(Tokens(500))),
            ..config.clone()
        })
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(Seconds(AtomicI64::new(1_700_000_000_000))))
        .store(store.clone())
        .observer(move |event: &Event| writeln!(events.lock().unwrap(), "{event:?}").unwrap());
    if config.mode != SummaryMode::Rules {
        let models = ["first", "second"].map(|name| {
            SummarizerModel::new(name, Tokens(128_000), Arc::clone(&client) as Arc<dyn CompletionClient>)
        });
        builder = builder.models(models.into(), Arc::new(NoSleep), Arc::new(NoJitter));
    }
    let mut session_at_work = builder.build().unwrap();
    for message in said(scene) {
        let answers = message.role != longhaul::transcript::Role::Assistant;
        session_at_work.push(message);
        if !answers {
            continue;
        }
        match session_at_work.prepare().await {
            Ok(view) => {
                // The provider counts as the session does.
                let input = view.messages().map(|message| CharsPer4.count_message(message)).sum();
                let usage = Usage { input, ..Usage::default() };
                session_at_work.report_usage(view.id(), &usage);
            }
            Err(error) => writeln!(log.lock().unwrap(), "{error:?}").unwrap(),
        }
    }
    let mut seen = std::mem::take(&mut *log.lock().unwrap());
    for message in session_at_work.state().view().messages() {
        writeln!(seen, "{}: {}", message.role.as_str(), text(message)).unwrap();
    }
    for request in client.requests() {
        writeln!(seen, "{request:?}").unwrap();
    }
    let kept = store.originals(&session, Span { start: 0, end: u64::MAX }).await.unwrap_or_default();
    writeln!(seen, "{} kept", kept.iter().filter(|original| original.message.is_some()).count()).unwrap();
    seen
}

/// A task, and exchanges on it: commands, some of which fail with much to say, and words.
fn said(scene: Scene) -> Vec<Message> {
    let instructions =
        if scene == LongInstructions { "Mind the house rules. ".repeat(370) } else { String::new() };
    let mut said = vec![
        Message::system(format!("You are a careful engineer. {instructions}")),
        Message::user("Make the suite pass. Never touch src/generated.rs."),
    ];
    for nth in 0..36 {
        let id = format!("call_{nth}");
        let (output, outcome) = match nth % 3 {
            0 => (failure(nth, if scene == LongErrors { 30 } else { 10 }), Outcome::Failed),
            _ => (format!("test part_{nth}::works ... ok\n").repeat(14), Outcome::Succeeded),
        };
        let command = format!(r#"{{"command":"cargo test part_{nth}"}}"#);
        said.extend(exchange(&id, "bash", &command, &output, outcome));
        said.push(Message::assistant(format!("Part {nth} was run; src/part_{nth}.rs is next. ").repeat(2)));
        if nth % 4 == 3 {
            said.push(Message::user(format!("Good. Now look at src/part_{nth}.rs and say what is wrong.")));
        }
    }
    said
}

fn failure(nth: usize, details: usize) -> String {
    let mut output = "   Compiling parts v0.1.0\n".repeat(20);
    let details = format!("expected `u64` at a step of part_{nth}, found `u32`; ").repeat(details);
    writeln!(output, "error[E0308]: mismatched types: {details}\n  --> src/part_{nth}.rs:{nth}:5").unwrap();
    output + &"   Finished nothing\n".repeat(20)
}

async fn walk(part: usize) {
    let (mut unseen, mut usual) = (Vec::new(), None);
    for (name, scene, beside, changed) in EXAMPLES.iter().skip(part).step_by(PARTS) {
        let before = match (scene, *beside, &usual) {
            (Usual, "", Some(usual)) => String::clone(usual),
            (Usual, "", None) => usual.insert(seen(Usual, &[""]).await).clone(),
            _ => seen(*scene, &[beside]).await,
        };
        let after = seen(*scene, &[beside, changed]).await;
        assert!(!before.starts_with("refused"), "{name}: {before}");
        let may_be_refused = ["version", "preset"].contains(name);
        assert!(may_be_refused || !after.starts_with("refused"), "{name}: {after}");
        if before == after {
            unseen.push(*name);
        }
    }
    assert!(unseen.is_empty(), "nobody sees a difference: {unseen:?}");
}

const PARTS: usize = 6;

#[tokio::test]
async fn a_sixth_of_the_settings_change_something() {
    walk(0).await;
}

#[tokio::test]
async fn a_second_sixth_of_the_settings_change_something() {
    walk(1).await;
}

#[tokio::test]
async fn a_third_sixth_of_the_settings_change_something() {
    walk(2).await;
}

#[tokio::test]
async fn a_fourth_sixth_of_the_settings_change_something() {
    walk(3).await;
}

#[tokio::test]
async fn a_fifth_sixth_of_the_settings_change_something() {
    walk(4).await;
}

#[tokio::test]
async fn the_last_sixth_of_the_settings_change_something() {
    walk(5).await;
}

#[test]
fn no_setting_is_left_out() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let settings: BTreeSet<&str> = defaults.as_object().unwrap().keys().map(String::as_str).collect();
    let shown: BTreeSet<&str> = EXAMPLES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(settings, shown);
}

#[tokio::test]
async fn the_same_settings_show_the_same() {
    assert_eq!(seen(Usual, &[""]).await, seen(Usual, &[""]).await, "a difference is a setting's");
}

#[test]
fn the_name_of_a_preset_alone_is_refused() {
    use longhaul::{BuildError, Preset};
    let config = Config { preset: Some(Preset::Session), ..Config::default() };
    let window = ContextWindow::new(Tokens(9_000), Tokens::ZERO);
    let built = Session::builder(SessionId::new("preset").unwrap(), window).config(config).build();
    assert!(matches!(built, Err(BuildError::Config(_))), "{built:?}");
    for preset in Preset::ALL {
        assert_eq!(preset.config().validate(), [], "{preset}");
    }
}
