//! Every setting as `longhaul compact` takes it: it changes the new history or what a model is asked, or the command says
//! that it cannot be had here, or it is about when to act, which a command that is told to act does not ask. The names come
//! from `longhaul config`, so that a new setting cannot be forgotten. `longhaul chat` hands its settings to the session
//! (`crates/longhaul/tests/it/settings.rs`); what it sets itself is in `chat/setup.rs` (`Settings::for_model`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    fake::{Fake, Reply},
    run::{Folder, example},
};

/// What becomes of a setting here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Here {
    /// It changes the new history, with these flags and settings beside it.
    Changes(&'static str, &'static str),
    /// It changes what comes of a history that was compacted before.
    ChangesTheSecond(&'static str, &'static str),
    /// It changes what a model is asked, or what comes of a model that says this with this status.
    ChangesTheModels(u16, &'static str),
    /// It is refused.
    Refused,
    /// It is about when to act.
    WhenToAct,
}
use Here::*;

type Example = (&'static str, &'static str, Here);

const EXAMPLES: [Example; 46] = [
    ("version", "version = 2", Refused),
    ("preset", "preset = 'session'", Changes(BUDGET, "mode = 'rules'")),
    ("enabled", "enabled = false", WhenToAct),
    ("mode", "mode = 'llm'", Refused),
    ("trigger_ratio", "trigger_ratio = 0.9", WhenToAct),
    ("reset_ratio", "reset_ratio = 0.65", WhenToAct),
    ("soft_ratio", "soft_ratio = 0.5", WhenToAct),
    ("soft_action", "soft_action = 'off'", WhenToAct),
    ("target_ratio", "target_ratio = 0.2", Changes(WINDOW, "")),
    ("target_context_tokens", "target_context_tokens = 3000", Changes(WINDOW, "")),
    ("max_context_tokens", "max_context_tokens = 9000", Changes(WINDOW, "")),
    ("reserved_output_tokens", "reserved_output_tokens = 6000", Changes(WINDOW, "")),
    ("ratio_base", "ratio_base = 'window'", Changes(WINDOW, "reserved_output_tokens = 4000")),
    ("min_gain_ratio", "min_gain_ratio = 0.2", WhenToAct),
    ("cache_ttl_ms", "cache_ttl_ms = 1", WhenToAct),
    ("trigger_messages", "trigger_messages = 50", WhenToAct),
    ("min_messages", "min_messages = 500", WhenToAct),
    ("preserve_recent", "preserve_recent = 12", Changes("wide", "")),
    (
        "preserve_recent_tokens",
        "preserve_recent_tokens = '100 tokens'",
        Changes("wide", "preserve_recent = 12"),
    ),
    (
        "max_summary_chain_depth",
        "max_summary_chain_depth = 1",
        ChangesTheSecond(BUDGET, "on_max_depth = 'halt'"),
    ),
    ("on_max_depth", "on_max_depth = 'halt'", ChangesTheSecond(BUDGET, "max_summary_chain_depth = 1")),
    ("chaining", "chaining = 'append'", Refused),
    ("oversize", "oversize = 'rules'", ChangesTheModels(200, "transcript_cap_tokens = 600")),
    ("summary_role", "summary_role = 'system'", Refused),
    ("summary_header", "summary_header = '[Earlier]'", Changes(BUDGET, "")),
    ("summary_lookup", "summary_lookup = 'ask Mara'", Changes(BUDGET, "")),
    ("cooldown_messages", "cooldown_messages = 40", WhenToAct),
    ("failure_cooldown_ms", "failure_cooldown_ms = 1", WhenToAct),
    ("force_refresh_after_messages", "force_refresh_after_messages = 10", WhenToAct),
    ("target_compression", "target_compression = 0.01", Changes(BUDGET, "")),
    ("max_summary_tokens", "max_summary_tokens = 200", Changes(BUDGET, "")),
    ("max_summary_share", "max_summary_share = 0.1", Changes(BUDGET, "")),
    ("preserve_error_details", "preserve_error_details = false", Changes("failing", "")),
    ("preserve_system", "preserve_system = false", Changes("failing", "")),
    ("abort_on_failure", "abort_on_failure = true", ChangesTheModels(400, "")),
    ("rules_on_failure", "rules_on_failure = false", WhenToAct),
    ("transcript_cap_tokens", "transcript_cap_tokens = 600", ChangesTheModels(200, "")),
    ("summary_form", "summary_form = 'markdown'", ChangesTheModels(200, "summary_form = 'json'")),
    ("summarizer_model_preference", "summarizer_model_preference = ['second']", ChangesTheModels(200, "")),
    ("summary_prompt", "summary_prompt = 'Briefly, in {maxTokens}: {context}'", ChangesTheModels(200, "")),
    ("transport_retries", "transport_retries = 0", ChangesTheModels(500, "")),
    ("summary_deadline_ms", "summary_deadline_ms = 1000", ChangesTheModels(500, "transport_retries = 3")),
    ("max_calls_per_hour", "max_calls_per_hour = 1", ChangesTheModels(500, "")),
    ("delete_originals", "delete_originals = true", Changes("kept", "")),
    ("models", "[models.'gpt-4o*']\nmax_context_tokens = 9000", Changes(WINDOW, "")),
    ("providers", "[providers.anthropic]\nmax_context_tokens = 9000", Changes(WINDOW, "")),
];

const BUDGET: &str = "budget";
const WINDOW: &str = "window";

/// A conversation with instructions and tests that fail with much to say.
fn failing() -> Vec<u8> {
    let mut messages = vec![
        json!({"role": "system", "content": "You are a careful engineer."}),
        json!({"role": "user", "content": "Make the suite pass."}),
    ];
    for nth in 0..10 {
        let call = json!({"id": format!("c{nth}"), "type": "function", "function": {
            "name": "bash", "arguments": format!(r#"{{"command":"cargo test part_{nth}"}}"#)}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let details = format!("expected `u64` at a step of part_{nth}, found `u32`; ").repeat(10);
        let output = format!(
            "{0}error[E0308]: mismatched types: {details}\n  --> src/part_{nth}.rs:{nth}:5\n{0}exit code: 101\n",
            "   Compiling parts v0.1.0\n".repeat(40)
        );
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{nth}"), "content": output}));
    }
    messages.push(json!({"role": "user", "content": "What is left?"}));
    serde_json::to_vec(&json!({ "messages": messages })).unwrap()
}

/// Runs the command under these settings and returns all that can be seen of it, and whether it was done.
fn seen(here: Here, settings: &str) -> (bool, String) {
    let folder = Folder::new();
    folder.file("settings.toml", settings.as_bytes());
    let file = example();
    let once = folder.path().join("once.jsonl");
    let (mut args, reply) = match here {
        Changes("failing", _) => {
            folder.file("failing.json", &failing());
            (vec!["compact", "failing.json", "--budget", "1100", "--no-store"], None)
        }
        // What the model has yet to read stays whole: beside it there is room for more.
        Changes("wide", _) => {
            (vec!["compact", file.to_str().unwrap(), "--budget", "8000", "--no-store"], None)
        }
        Changes("kept", _) => (vec!["compact", file.to_str().unwrap(), "--budget", "4000"], None),
        Changes(WINDOW, _) => {
            let file = file.to_str().unwrap();
            (vec!["compact", file, "--window", "14000", "--model", "gpt-4o", "--no-store"], None)
        }
        ChangesTheSecond(..) => {
            let args =
                ["compact", file.to_str().unwrap(), "--budget", "4000", "--no-store", "-o", "once.jsonl"];
            assert_eq!(folder.run(&args, b"").code, 0);
            (vec!["compact", once.to_str().unwrap(), "--budget", "2000", "--no-store"], None)
        }
        ChangesTheModels(status, _) => {
            let reply = if status == 200 { Reply::completion("{}") } else { Reply::error(status) };
            let args =
                vec!["compact", file.to_str().unwrap(), "--budget", "4000", "--no-store", "--mode", "llm"];
            (args, Some(reply))
        }
        _ => (vec!["compact", file.to_str().unwrap(), "--budget", "4000", "--no-store"], None),
    };
    args.extend(["--config", "settings.toml"]);
    let fake = reply.map(Fake::always);
    if let Some(fake) = &fake {
        args.extend(["--base-url", &fake.base]);
        if !settings.contains("preference") {
            args.extend(["--summarizer-model", "first"]);
        }
    }
    let ran = folder.run(&args, b"");
    let mut seen = String::from_utf8_lossy(&ran.stdout).into_owned();
    for request in fake.iter().flat_map(Fake::requests) {
        seen.push_str(&request.body);
    }
    if here == Changes("kept", "") {
        let told = ran.stderr.lines().find(|line| line.contains("deleted")).unwrap_or("kept");
        seen.push_str(told);
    }
    (ran.code == 0, format!("{seen}{}", if ran.code == 0 { "" } else { &ran.stderr }))
}

fn walk(part: usize) {
    let mut unseen = Vec::new();
    for (name, changed, here) in EXAMPLES.iter().skip(part).step_by(PARTS) {
        let beside = match here {
            Changes(_, beside) | ChangesTheSecond(_, beside) | ChangesTheModels(_, beside) => *beside,
            WhenToAct => {
                let ((is_done, before), after) = (seen(*here, ""), seen(*here, changed));
                assert!(
                    is_done && after == (true, before),
                    "{name} changes what a command does that is told to"
                );
                continue;
            }
            Refused => {
                // Of a file it may be said that it changes nothing; asked for in so many words it is an error.
                let value = changed.split_once(" = ").unwrap().1.trim_matches('\'');
                let folder = Folder::new();
                let set = format!("{name}={value}");
                let file = example();
                let args =
                    ["compact", file.to_str().unwrap(), "--budget", "4000", "--no-store", "--set", &set];
                let ran = folder.run(&args, b"");
                assert!(ran.code != 0 && ran.stdout.is_empty(), "{name}: {}", ran.stderr);
                // A model that is asked for must be named.
                let why = if *name == "mode" { "--summarizer-model" } else { name };
                assert!(ran.stderr.contains(why), "{name}: {}", ran.stderr);
                continue;
            }
        };
        let with = match beside.split_once(" = ") {
            // The same setting, changed.
            Some((beside, _)) if beside == *name => (*changed).to_owned(),
            _ => format!("{beside}\n{changed}"),
        };
        let ((is_done, before), (is_done_too, after)) = (seen(*here, beside), seen(*here, &with));
        // What stops a compaction is seen as an error, and nothing else is.
        let stops = ["on_max_depth", "max_summary_chain_depth", "abort_on_failure"].contains(name);
        assert!(is_done && is_done_too != stops, "{name}: {}", &after[after.len().saturating_sub(400)..]);
        if before == after {
            unseen.push(*name);
        }
    }
    assert!(unseen.is_empty(), "nobody sees a difference: {unseen:?}");
}

const PARTS: usize = 3;

/// Settings that may be there and cannot be read are not passed over.
#[cfg(unix)]
#[test]
fn settings_in_a_folder_that_cannot_be_read_are_told() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join(".config")).unwrap();
    // A link that leads to itself cannot be followed by anybody.
    std::os::unix::fs::symlink("longhaul", folder.path().join(".config/longhaul")).unwrap();
    let ran = folder.run(&["config"], b"");
    assert!(ran.code == 1 && ran.said().contains("config.toml cannot be read"), "{}", ran.stderr);
    let ran = folder.run(&["doctor"], b"");
    assert!(ran.code == 1 && String::from_utf8_lossy(&ran.stdout).contains("cannot be read"));
}

#[test]
fn a_third_of_the_settings_change_something() {
    walk(0);
}

#[test]
fn a_second_third_of_the_settings_change_something() {
    walk(1);
}

#[test]
fn the_last_third_of_the_settings_change_something() {
    walk(2);
}

#[test]
fn no_setting_is_left_out() {
    let printed = Folder::new().run(&["config", "--json"], b"");
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let rows = printed["settings"].as_array().unwrap().iter();
    let settings: BTreeSet<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    let shown: BTreeSet<&str> = EXAMPLES.iter().map(|(name, ..)| *name).collect();
    let missing: Vec<_> = shown.symmetric_difference(&settings).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[cfg(not(feature = "encryption"))]
#[test]
fn a_key_that_this_build_cannot_use_is_refused_at_once() {
    let folder = Folder::new();
    let (key, example) = ("5e".repeat(32), crate::run::example());
    let example = example.to_str().unwrap();
    let compact = ["compact", example, "--budget", "4000", "-o", "out"];
    for args in [&compact[..], &["sessions"], &["history"], &["recall", "words"]] {
        for variable in [("LONGHAUL_STORE_KEY", key.as_str()), ("LONGHAUL_STORE_KEY_FILE", "key")] {
            let ran = folder.run_with(&[variable], args, b"");
            assert!(
                ran.code == 4 && ran.said().contains("this build cannot encrypt"),
                "{args:?} {}",
                ran.stderr
            );
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
    let doctor = folder.run_with(&[("LONGHAUL_STORE_KEY_FILE", "key")], &["doctor"], b"");
    let shown = String::from_utf8_lossy(&doctor.stdout);
    assert!(doctor.code == 1 && shown.contains("✗ store"), "{shown}");
    let ran =
        folder.run_with(&[("LONGHAUL_STORE_KEY", &key)], &[&compact[..], &["--no-store"]].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
