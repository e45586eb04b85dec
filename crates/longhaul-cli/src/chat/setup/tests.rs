use std::path::Path;

use clap::Parser as _;
use longhaul::config::{SummaryLimit, Threshold};
use serde_json::Value;

use super::*;
use crate::args::{Args, Command};

/// Every setting, none at its default.
const ALL: &str = "
enabled = false
mode = 'hybrid'
trigger_ratio = 0.85
reset_ratio = 0.65
soft_ratio = 0.55
soft_action = 'trim'
target_ratio = 0.35
target_context_tokens = 2000
max_context_tokens = 9000
reserved_output_tokens = 900
ratio_base = 'window'
min_gain_ratio = 0.07
cache_ttl_ms = 1000
trigger_messages = 50
min_messages = 14
preserve_recent = 8
preserve_recent_tokens = 0.2
max_summary_chain_depth = 2
on_max_depth = 'halt'
chaining = 'append'
oversize = 'rules'
summary_role = 'system'
summary_header = '[Earlier]'
summary_lookup = 'the archive shows m12'
summary_deadline_ms = 200000
cooldown_messages = 5
failure_cooldown_ms = 5
force_refresh_after_messages = 77
target_compression = 0.4
max_summary_tokens = 300
max_summary_share = 0.3
preserve_error_details = false
preserve_system = false
abort_on_failure = true
rules_on_failure = false
transcript_cap_tokens = 9000
summary_form = 'markdown'
summarizer_model_preference = ['second']
summary_prompt = 'In {maxTokens}: {context}'
transport_retries = 0
max_calls_per_hour = 3
delete_originals = true
[models.'gpt-4o*']
target_ratio = 0.3
[providers.openai]
max_summary_tokens = 310
";

fn args(folder: &Path, settings: &str, more: &[&str]) -> ChatArgs {
    std::fs::write(folder.join("settings.toml"), settings).unwrap();
    let (file, store) = (folder.join("settings.toml"), folder.join("store.db"));
    let own = ["longhaul", "chat", "--base-url", "http://127.0.0.1:9/v1", "--model", "gpt-4o"];
    let paths = ["--config", file.to_str().unwrap(), "--store", store.to_str().unwrap()];
    match Args::try_parse_from([&own[..], &paths, more].concat()).unwrap().command {
        Command::Chat(args) => *args,
        other => unreachable!("{other:?}"),
    }
}

fn fields(config: &Config) -> serde_json::Map<String, Value> {
    serde_json::to_value(config).unwrap().as_object().unwrap().clone()
}

#[tokio::test]
async fn the_session_of_a_chat_has_every_setting() {
    let folder = tempfile::tempdir().unwrap();
    let conversation = setup(&args(folder.path(), ALL, &[]), &Interrupts::default()).await.unwrap();
    let in_force = fields(conversation.manager.state().config());
    let (usual, set) = (fields(&Config::default()), fields(&toml::from_str(ALL).unwrap()));
    for (name, value) in &in_force {
        let expected = match name.as_str() {
            "version" | "preset" => &usual[name],
            "target_ratio" => &Value::from(0.3),
            "max_summary_tokens" => &Value::from(310),
            _ => &set[name],
        };
        assert_eq!(value, expected, "{name}");
        assert!(value != &usual[name] || ["version", "preset"].contains(&name.as_str()), "{name}");
    }
    let window = conversation.manager.state().limits();
    assert_eq!(window.target, Tokens(2_000), "and goes by them");
}

#[tokio::test]
async fn another_model_has_its_own_settings_window_and_prices() {
    let folder = tempfile::tempdir().unwrap();
    let args = args(folder.path(), ALL, &["--max-output", "700"]);
    let mut conversation = setup(&args, &Interrupts::default()).await.unwrap();
    conversation.switch("small-1", Some(6_000), &mut Screen::new());
    let config = conversation.manager.state().config();
    assert_eq!(config.target_ratio, Threshold::Ratio(0.35), "nothing of the first model's stays");
    assert_eq!(config.max_summary_tokens, SummaryLimit::Tokens(Tokens(310)), "the provider is the same");
    assert_eq!(config.reserved_output_tokens, Some(Tokens(700)), "a flag wins for both");
    assert_eq!(conversation.manager.state().budget(), Tokens(5_300));
}

#[test]
fn summaries_are_written_by_whom_flags_name_then_settings_then_by_who_answers() {
    let folder = tempfile::tempdir().unwrap();
    let writers = |settings: &str, more: &[&str]| {
        let args = args(folder.path(), settings, more);
        let with = With::of(&args, None).unwrap();
        let config = Settings::load(&args, &with).unwrap().for_model(&with.model);
        let writers = summarizer_args(&args, &with, &config);
        (writers.summarizer_model, writers.summarizer_window)
    };
    let named = |name: &str| vec![name.to_owned()];
    let preferred = "summarizer_model_preference = ['second']";
    assert_eq!(writers("", &["--window", "8000"]), (named("gpt-4o"), Some(8_000)));
    assert_eq!(writers(preferred, &["--window", "8000"]), (named("second"), None));
    assert_eq!(writers(preferred, &["--summarizer-model", "third"]), (named("third"), None));
    let told = ["--window", "8000", "--summarizer-model", "third", "--summarizer-window", "64k"];
    assert_eq!(writers("", &told), (named("third"), Some(64_000)));
}
