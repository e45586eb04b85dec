//! The main job, and the contract that other programs rely on.

use longhaul::wire::Format;
use serde_json::{Value, json};

use crate::{
    fake::{Fake, Reply},
    run::{Folder, example},
};

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A history that begins with a summary says less than was summarized.
#[test]
fn messages_of_the_summary_before_are_told_apart() {
    let folder = Folder::new();
    folder.file("s.jsonl", &std::fs::read(example()).unwrap());
    let compact = |file: &str, budget: &str, recent: &str, out: &str| {
        folder.run(&["compact", file, "--budget", budget, "--keep-recent", recent, "-o", out, "--json"], b"")
    };
    let first = compact("s.jsonl", "17000", "52", "once.jsonl");
    assert_eq!(first.code, 0, "{}", first.stderr);
    for (budget, recent) in [("14000", "20"), ("6000", "10")] {
        let json = compact("once.jsonl", budget, recent, "twice.jsonl");
        let line = json.stderr.lines().find(|line| line.starts_with('{')).unwrap();
        let report: serde_json::Value = serde_json::from_str(line).unwrap();
        let count = |name: &str| report[name].as_u64().unwrap();
        let is_more = count("summarized") + count("kept_verbatim") > count("messages_before");
        let args = ["compact", "once.jsonl", "--budget", budget, "--keep-recent", recent, "-o", "-"];
        let said = folder.run(&args, b"").said();
        assert!(is_more && said.contains("with those that the summary before says it stands for"), "{said}");
        std::fs::remove_file(folder.path().join("twice.jsonl")).unwrap();
    }
}

#[test]
fn messages_one_a_line_are_read_and_written_as_such() {
    let folder = Folder::new();
    let said = "Please look at the parser and tell me what it does with each of the odd inputs.";
    let pair = format!(
        "{{\"role\":\"user\",\"content\":\"{said}\"}}\n{{\"role\":\"assistant\",\"content\":\"It reads them.\"}}\n"
    );
    folder.file("chat.jsonl", pair.repeat(12).as_bytes());
    let ran = folder.run(&["compact", "chat.jsonl", "--budget", "250", "-o", "small.jsonl"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.said().contains("chat.jsonl: one message a line; read as messages of openai"),
        "{}",
        ran.stderr
    );
    let small = std::fs::read_to_string(folder.path().join("small.jsonl")).unwrap();
    let lines: Vec<Value> = small.lines().map(json).collect();
    assert!(lines.len() < 24 && lines.iter().all(|line| line["role"].is_string()), "{small}");
    assert!(small.contains("[Context Summary") && small.ends_with(&pair), "{small}");
}

#[test]
fn compact_keeps_its_contract() {
    let folder = Folder::new();
    let file = example();
    let file = file.to_str().unwrap();
    for budget in ["1500", "4000", "9000"] {
        let ran = folder.run(&["compact", file, "--budget", budget, "--report", "report.json"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report = json(&std::fs::read_to_string(folder.path().join("report.json")).unwrap());
        for key in [
            "format", "encoding", "budget", "tokens_before", "tokens_after", "messages_before",
            "messages_after", "summary_tokens", "summarized", "digested", "dropped", "kept_verbatim",
            "depth", "mode", "duration_ms", "valid", "survival", "decision", "summary",
        ] {
            assert!(report.get(key).is_some(), "{key} is missing");
        }
        assert_eq!(report["valid"], true);
        assert_eq!(report["format"], "claude-code");
        let budget: u64 = budget.parse().unwrap();
        assert!(report["tokens_after"].as_u64().unwrap() <= budget);
        assert!(report["tokens_after"].as_u64().unwrap() * 10 >= budget * 9, "{}", report["tokens_after"]);

        // What it says is what a reader counts.
        let ran = folder.run(&["count", "-", "--json"], &ran.stdout);
        let count = json(&String::from_utf8(ran.stdout).unwrap());
        assert_eq!(count["tokens"], report["tokens_after"]);
        assert_eq!(count["messages"], report["messages_after"]);
        std::fs::remove_file(folder.path().join("report.json")).unwrap();
    }
}

#[test]
fn compacting_is_deterministic_and_rests_when_it_fits() {
    let folder = Folder::new();
    let file = example();
    let args = ["compact", file.to_str().unwrap(), "--budget", "4000"];
    let once = folder.run(&args, b"");
    let twice = folder.run(&args, b"");
    assert!(once.stdout == twice.stdout, "the same input gives the same bytes");
    let again = folder.run(&["compact", "-", "--budget", "4000", "--fail-if-unchanged"], &once.stdout);
    assert_eq!(again.code, 3, "{}", again.stderr);
    assert!(again.stdout == once.stdout, "a history that fits comes back as it is");
}

#[test]
fn what_the_user_demanded_survives() {
    let folder = Folder::new();
    let ran = folder.run(&["compact", example().to_str().unwrap(), "--budget", "2000"], b"");
    let history = String::from_utf8(ran.stdout).unwrap();
    for demand in
        ["Never change the public API of longhaul-trim", "Don't touch Cargo.lock", "41,380", "msg_0187"]
    {
        assert!(history.contains(demand), "{demand}");
    }
}

#[test]
fn a_budget_below_the_floor_names_the_floor() {
    let folder = Folder::new();
    let ran = folder.run(&["compact", example().to_str().unwrap(), "--budget", "150"], b"");
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("floor"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = Folder::new();
    let ran = folder.run(
        &["compact", example().to_str().unwrap(), "--budget", "3000", "--dry-run", "-o", "out.jsonl"],
        b"",
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!folder.path().join("out.jsonl").exists());
    assert!(String::from_utf8(ran.stdout).unwrap().starts_with("[Context Summary - "));
}

#[test]
fn a_history_becomes_one_of_another_format() {
    let folder = Folder::new();
    for format in Format::ALL.into_iter().filter(|format| !format.is_import_only()).map(Format::name) {
        let args =
            ["compact", example().to_str().unwrap().to_owned().leak(), "--budget", "3000", "--to", format];
        let ran = folder.run(&args, b"");
        assert_eq!(ran.code, 0, "{format}: {}", ran.stderr);
        let ran = folder.run(&["count", "-", "--json", "--from", format], &ran.stdout);
        assert_eq!(ran.code, 0, "{format}: {}", ran.stderr);
        let count = json(&String::from_utf8(ran.stdout).unwrap());
        assert_eq!(count["format"], format);
        assert!(count["tokens"].as_u64().unwrap() <= 3000, "{format}: {count}");
    }
}

#[test]
fn a_chat_of_the_ai_sdk_is_compacted_in_place_of_its_own_parts() {
    let folder = Folder::new();
    let round = |nth: usize| {
        let log = format!("line {nth} of the log\\n").repeat(150);
        format!(
            r#"{{"id":"u{nth}","role":"user","parts":[{{"type":"text","text":"Look into case {nth}, and keep port 47{nth}1."}}]}},
{{"id":"a{nth}","role":"assistant","metadata":{{"ms":1.50e1}},"parts":[{{"type":"step-start"}},{{"type":"tool-bash","toolCallId":"c{nth}","state":"output-available","input":{{"command":"cat case{nth}.log"}},"output":"{log}"}},{{"type":"step-start"}},{{"type":"text","text":"Case {nth} is closed.","state":"done"}}]}}"#
        )
    };
    let rounds: Vec<_> = (0..12).map(round).collect();
    let chat = format!(r#"{{"id":"chat-1","messages":[{}],"trigger":"submit-message"}}"#, rounds.join(",\n"));
    folder.file("chat.json", chat.as_bytes());
    let counted = folder.run(&["count", "chat.json", "--json"], b"");
    assert_eq!(json(&String::from_utf8(counted.stdout).unwrap())["format"], "ui-messages");
    let ran = folder.run(&["compact", "chat.json", "--budget", "4000", "--strict"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let written = String::from_utf8(ran.stdout).unwrap();
    // What stays is as it was, around a summary in the user's role.
    assert!(written.starts_with(r#"{"id":"chat-1","messages":["#), "{written}");
    assert!(written.contains(&rounds[11]), "{written}");
    assert!(!written.contains(&rounds[0]) && written.contains("[Context Summary - "), "{written}");
    let again = json(&written);
    let is_whole = |message: &serde_json::Value| message["id"].is_string() && message["parts"].is_array();
    assert!(again["messages"].as_array().unwrap().iter().all(is_whole), "{written}");
    assert_eq!(again["trigger"], "submit-message");
}

#[test]
fn count_says_where_the_tokens_are() {
    let folder = Folder::new();
    let ran = folder.run(&["count", example().to_str().unwrap(), "--json"], b"");
    let count = json(&String::from_utf8(ran.stdout).unwrap());
    let sum =
        |key: &str| -> u64 { count[key].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum() };
    assert_eq!(count["accuracy"], "Claude's own count differs");
    assert_eq!(count["tokens"].as_u64().unwrap(), sum("by_role"));
    assert_eq!(count["tokens"].as_u64().unwrap(), sum("by_kind"));
    assert!(count["by_tool"]["Read"]["calls"].as_u64().unwrap() >= 9);

    let ran = folder.run(&["count", "--text"], "hello world".as_bytes());
    assert!(String::from_utf8(ran.stdout).unwrap().contains(" 2 tokens"));
}

/// What stands below each other is compared.
#[test]
fn the_columns_of_count_stand_below_each_other_and_name_who_speaks() {
    let folder = Folder::new();
    let name = "mcp__a_server_with_a_long_name__a_tool_with_a_long_name";
    let history = serde_json::json!([
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]);
    let counted = |bytes: &str| {
        let ran = folder.run(&["count", "-"], bytes.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    let table = counted(&history.to_string());
    let rows: Vec<&str> = table.lines().filter(|line| line.ends_with(" %")).collect();
    assert!(rows.iter().any(|row| row.contains(name)), "{table}");
    assert!(rows.iter().all(|row| row.chars().count() == rows[0].chars().count()), "{table}");
    assert!(table.contains("\n  assistant "), "{table}");
    let meeting = r#"[{"role":"user","content":"Ann: hello"},{"role":"user","content":"Ben: hello"}]"#;
    let table = counted(meeting);
    assert!(table.contains("(what begins a reply)") && !table.contains("assistant"), "{table}");
}

#[test]
fn a_provider_is_asked_for_its_count_only_where_told() {
    let folder = Folder::new();
    let secret = ["gh", "p_", "1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8"].concat();
    let history = serde_json::json!([{"role": "user", "content": format!("The token is {secret}.")}]);
    folder.file("in.json", history.to_string().as_bytes());
    let fake = Fake::always(Reply::Says(200, String::new(), r#"{"input_tokens": 4321}"#.into()));
    let variables = [("LONGHAUL_BASE_URL", fake.base.as_str()), ("LONGHAUL_API_KEY", "sk-key-of-the-test")];

    let ran = folder.run_with(&variables, &["count", "in.json", "--json"], b"");
    assert_eq!((ran.code, fake.requests().len()), (0, 0), "{}", ran.stderr);
    assert!(json(&String::from_utf8(ran.stdout).unwrap()).get("provider").is_none());

    let ran = folder.run_with(&variables, &["count", "in.json", "--ask", "m-1", "--json"], b"");
    let provider = &json(&String::from_utf8(ran.stdout).unwrap())["provider"];
    assert_eq!((&provider["tokens"], &provider["host"]), (&4321.into(), &fake.host().into()));
    let request = &fake.requests()[0];
    assert!(request.head.contains("x-api-key: sk-key-of-the-test"), "{}", request.head);
    assert!(request.body.contains("The token is") && !request.body.contains(&secret), "{}", request.body);
    let ran = folder.run_with(&variables, &["count", "in.json", "--ask", "m-1"], b"");
    assert!(String::from_utf8(ran.stdout).unwrap().contains("counts 4,321 tokens for m-1"));

    let ran = folder.run(&["count", "in.json", "--ask", "m-1"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--base-url"), "{}", ran.stderr);
}

// asserts 000-23
#[test]
fn context_shows_what_fills_the_window() {
    let folder = Folder::new();
    let ran = folder.run(&["context", example().to_str().unwrap(), "--window", "64000"], b"");
    let shown = String::from_utf8(ran.stdout).unwrap();
    // Another window changes nothing of what was billed.
    assert!(shown.contains("38,342 of 64,000 tokens (59.9 %, as billed)"), "{shown}");
    for word in ["claude-code", "tool results", "kept for the reply", "largest", "plan.rs", "compacts at"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colour where there is no terminal");
}

#[test]
fn the_rows_of_context_add_up() {
    let folder = Folder::new();
    let tool = r#"{"type":"function","function":{"name":"look","description":"Looks a word up.","parameters":{"type":"object"}}}"#;
    let said = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"What is a relay?"}]"#;
    folder.file("in.json", format!(r#"{{"messages":{said},"tools":[{tool}]}}"#).as_bytes());
    for file in ["in.json", example().to_str().unwrap()] {
        let ran = folder.run(&["context", file, "--window", "64000", "--json"], b"");
        let told = json(&String::from_utf8(ran.stdout).unwrap());
        let of = |kind: &serde_json::Value| kind["tokens"].as_u64().unwrap();
        let sum: u64 = told["kinds"].as_array().unwrap().iter().map(of).sum();
        assert_eq!(told["tokens"], sum, "{told}");
        let ran = folder.run(&["context", file, "--window", "64000"], b"");
        let shown = String::from_utf8(ran.stdout).unwrap();
        let table = shown.split("\n\n").nth(2).unwrap();
        let row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words
                .get(words.len().wrapping_sub(3))
                .map_or(0, |n| n.replace(',', "").parse::<u64>().unwrap_or(0))
        };
        assert_eq!(table.lines().map(row).sum::<u64>(), 64_000, "{shown}");
    }
}

#[test]
fn an_answer_that_takes_the_whole_window_is_refused_by_name() {
    let (folder, example) = (Folder::new(), example());
    for command in [&["context"][..], &["compact", "--no-store", "-o", "out"]] {
        let set = ["--window", "64000", "--set", "reserved_output_tokens=300k"];
        let ran = folder.run(&[command, &[example.to_str().unwrap()], &set].concat(), b"");
        let said = "reserved_output_tokens (300,000) leaves nothing of a window of 64,000 tokens (--window)";
        assert!(ran.code == 4 && ran.said().contains(said), "{}: {}", ran.code, ran.stderr);
    }
}

// asserts 000-23
#[test]
fn context_foretells_what_the_policy_does() {
    let folder = Folder::new();
    let said = |n: usize| {
        let message = |nth: usize| {
            let role = ["user", "assistant"][nth % 2];
            format!(r#"{{"role":"{role}","content":"Message {nth} is about part {nth}."}}"#)
        };
        format!("[{}]", (0..n).map(message).collect::<Vec<_>>().join(",")).into_bytes()
    };
    let shown = |n: usize, more: &[&str]| {
        folder.file("in.json", &said(n));
        let window = if more.contains(&"--window") { &[][..] } else { &["--window", "128000"] };
        let ran = folder.run(&[&["context", "in.json"], window, more].concat(), b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    let session = ["--preset", "session"];
    assert!(
        shown(42, &session).contains("compacts with message 51 in the view: 9 to go\n"),
        "{}",
        shown(42, &session)
    );
    let two_tier = shown(42, &["--preset", "two-tier", "--window", "16000"]);
    assert!(two_tier.contains("the soft tier acts at "), "{two_tier}");
    assert!(
        two_tier.contains("trigger_ratio: 120,000 tokens do not fit a budget of 14,400; 12,960 are used\n"),
        "{two_tier}"
    );
    let off = shown(42, &["--set", "enabled=false"]);
    assert!(off.contains("switched off: nothing is compacted\n"), "{off}");
}

#[test]
fn digest_is_a_filter() {
    let folder = Folder::new();
    let mut output = "   Compiling app v0.1.0\n".repeat(300);
    output
        .push_str("error[E0308]: mismatched types\n  --> src/http.rs:41:9\nerror: could not compile `app`\n");
    let args = ["digest", "--tool", "shell", "--input", "cargo build", "--budget", "80"];
    let ran = folder.run(&args, output.as_bytes());
    let digest = String::from_utf8(ran.stdout).unwrap();
    assert!(digest.contains("error[E0308]: mismatched types") && digest.contains("src/http.rs"), "{digest}");
    assert!(digest.len() < 600, "{digest}");
}

/// C1 and marks of direction pass through what strips colours, and a pipe may end on a terminal.
#[test]
fn a_digest_in_a_pipe_steers_no_terminal() {
    let folder = Folder::new();
    let output = "a \u{9b}31mred\u{9d}0;title\u{9c} \u{202e}desrever\u{2066}x\u{61c} \u{7}b\r\nné 読\n";
    let ran = folder.run(&["digest"], output.as_bytes());
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.contains("\\u{9b}31mred") && shown.contains("\\u{202e}desrever"), "{shown:?}");
    assert!(shown.contains("b\nné 読") && !shown.contains(['\u{9b}', '\u{202e}', '\u{7}']), "{shown:?}");
    let ran = folder.run(&["digest", "--json"], output.as_bytes());
    let json = String::from_utf8(ran.stdout).unwrap();
    assert!(!json.contains(['\u{9b}', '\u{202e}']), "{json:?}");
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(told["digest"].as_str().unwrap().contains('\u{202e}'), "a program gets it as it was: {json}");
}

#[test]
fn config_names_the_source_of_each_value() {
    let folder = Folder::new();
    folder.file("my.toml", b"trigger_ratio = 0.9\n");
    let args = ["config", "--config", "my.toml", "--set", "cooldown_messages=7", "--preset", "chain"];
    let shown = String::from_utf8(folder.run(&args, b"").stdout).unwrap();
    let line = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("trigger_ratio").contains("0.9") && line("trigger_ratio").contains("my.toml"), "{shown}");
    assert!(line("cooldown_messages").contains('7'), "{shown}");
    assert!(line("min_gain_ratio").contains("default"), "{shown}");
    assert!(line("cooldown_messages").ends_with("# flag --set cooldown_messages"), "{shown}");
    assert!(line("preset").ends_with("# flag --preset"), "{shown}");
}

#[test]
fn what_only_the_models_server_refuses_is_told() {
    let folder = Folder::new();
    let call = r#"{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let said = format!(
        r#"[{{"role":"user","content":"go"}},{call},{{"role":"tool","tool_call_id":"call_1","content":"x"}}]"#
    );
    for (model, is_told) in [("mistral-large-latest", true), ("gpt-4o", false)] {
        folder.file("in.json", format!(r#"{{"model":"{model}","messages":{said}}}"#).as_bytes());
        let ran = folder.run(&["count", "in.json"], b"");
        assert_eq!(ran.stderr.contains("OD-5"), is_told, "{}", ran.stderr);
    }
}

#[test]
fn a_variable_of_a_flag_is_no_setting_that_was_misspelled() {
    let folder = Folder::new();
    let key = folder.path().join("key");
    let variables = [
        ("LONGHAUL_MODEL", "m"),
        ("LONGHAUL_BASE_URL", "http://127.0.0.1:1"),
        ("LONGHAUL_STORE", "s.db"),
        ("LONGHAUL_STORE_KEY_FILE", key.to_str().unwrap()),
        ("LONGHAUL_STORE_KEY", ""),
        ("LONGHAUL_API_KEY", "k"),
    ];
    assert_eq!(folder.run_with(&variables, &["config"], b"").stderr, "");
    let misspelled = folder.run_with(&[("LONGHAUL_TRIGER", "1")], &["config"], b"");
    assert!(misspelled.stderr.contains("triger: names no setting"), "{}", misspelled.stderr);
}

#[test]
fn a_setting_is_explained_under_its_name_in_a_design_document() {
    let folder = Folder::new();
    let shown =
        |name: &str| String::from_utf8(folder.run(&["config", "--explain", name], b"").stdout).unwrap();
    let keep = shown("keepSystemPrompt");
    assert!(keep.starts_with("keepSystemPrompt of document 000 is preserve_system here\n"), "{keep}");
    assert!(keep.contains("preserve_system = true  # default") && keep.contains("Unit: "), "{keep}");
    assert!(shown("triggerTokenRatio").contains("trigger_ratio = 0.92"));
    assert_ne!(folder.run(&["config", "--explain", "magic"], b"").code, 0);
}

#[test]
fn completions_are_there_for_every_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = folder.run(&["completions", shell], b"");
        assert!(ran.code == 0 && !ran.stdout.is_empty(), "{shell}");
    }
}

#[test]
fn settings_of_a_file_apply_or_are_refused() {
    let folder = Folder::new();
    let example = example();
    let compact = |set: &[&str], variables: &[(&str, &str)]| {
        let fixed = ["compact", example.to_str().unwrap(), "--budget", "8000", "--no-store", "--json"];
        folder.run_with(variables, &[&fixed, set].concat(), b"")
    };
    let kept = |ran: &crate::run::Ran| {
        let report: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
        report["messages_after"].as_u64().unwrap()
    };
    let usual = compact(&[], &[]);
    let flag = compact(&["--keep-recent", "12"], &[]);
    let setting = compact(&["--set", "preserve_recent=12"], &[]);
    assert_ne!(flag.stdout, usual.stdout, "{}", usual.stderr);
    assert_eq!((kept(&setting), setting.stdout), (kept(&flag), flag.stdout));
    for (name, value) in [("chaining", "append"), ("summary_role", "system")] {
        let refused = compact(&["--set", &format!("{name}={value}")], &[]);
        assert!(refused.code != 0 && refused.stdout.is_empty(), "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("{name} cannot be had here")), "{}", refused.stderr);
        let variable = format!("LONGHAUL_{}", name.to_uppercase());
        let told = compact(&[], &[(&variable, value)]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        assert!(told.stderr.contains(&format!("the setting {name} changes nothing here")), "{}", told.stderr);
    }
    let once = folder.file("once", &compact(&[], &[]).stdout);
    let twice = |set: &str| {
        let args = ["compact", once.to_str().unwrap(), "--budget", "2000", "--no-store", "--set", set];
        folder.run_with(&[("LONGHAUL_MAX_SUMMARY_CHAIN_DEPTH", "1")], &args, b"")
    };
    assert_eq!(twice("on_max_depth=rebuild").code, 0);
    let halted = twice("on_max_depth=halt");
    assert!(halted.code != 0 && halted.stderr.contains("on_max_depth"), "{}", halted.stderr);
}

// asserts 000-09, 002-04, 003-05, 004-05
#[test]
fn under_a_preset_as_many_messages_stay_as_its_document_says() {
    let mut messages =
        vec![serde_json::json!({"role": "user", "content": "Read all parts of src/, please."})];
    for nth in 0..40 {
        let path = format!(r#"{{"path":"src/part_{nth}.rs"}}"#);
        let call = serde_json::json!({"id": format!("c{nth}"), "type": "function",
            "function": {"name": "read_file", "arguments": path}});
        messages.push(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let text = format!("pub fn part_{nth}() -> u32 {{ {nth} }}\n").repeat(40);
        messages
            .push(serde_json::json!({"role": "tool", "tool_call_id": format!("c{nth}"), "content": text}));
    }
    messages.push(serde_json::json!({"role": "assistant", "content": "All were read."}));
    let folder = Folder::new();
    folder.file("in.json", &serde_json::to_vec(&messages).unwrap());
    for (preset, recent) in [("context-manager", 10), ("session", 10), ("two-tier", 8), ("chain", 6)] {
        let same = |set: &[&str]| {
            let usual = [
                "compact", "in.json", "--mode", "rules", "--window", "64000", "--ratio", "0.1", "--no-store",
            ];
            let ran = folder.run(&[&usual[..], &["--preset", preset], set].concat(), b"");
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let left: Vec<Value> = serde_json::from_slice(&ran.stdout).unwrap();
            assert!(left.len() < messages.len(), "{preset}");
            left.iter().rev().zip(messages.iter().rev()).take_while(|(left, said)| left == said).count()
        };
        let (same, fewer) = (same(&[]), same(&["--set", "preserve_recent=2"]));
        assert!(
            same >= recent && fewer < recent,
            "{preset}: the last {same}, and {fewer} where 2 are asked for"
        );
    }
}

#[test]
fn under_a_preset_rules_write_where_no_model_is_named() {
    let messages: Vec<Value> = (0..80)
        .map(|nth| {
            let role = if nth % 2 == 0 { "user" } else { "assistant" };
            let said = format!("Part {nth} of the exporter reads the column c{nth}. ").repeat(20);
            serde_json::json!({"role": role, "content": said})
        })
        .collect();
    let folder = Folder::new();
    folder.file("in.json", &serde_json::to_vec(&messages).unwrap());
    let run = |more: &[&str]| {
        folder.run(&[&["compact", "in.json", "--window", "16000", "--no-store"], more].concat(), b"")
    };
    for preset in ["context-manager", "session", "two-tier", "chain"] {
        let ran = run(&["--preset", preset]);
        assert!(ran.code == 0 && ran.stderr.contains("no model is named"), "{preset}: {}", ran.stderr);
    }
    // Whoever asks for a model is told what is missing.
    let refused = run(&["--preset", "chain", "--mode", "llm"]);
    assert!(refused.code != 0 && refused.stderr.contains("--summarizer-model"), "{}", refused.stderr);
}

#[test]
fn the_overrides_of_a_model_are_in_force_and_named() {
    let folder = Folder::new();
    folder.file(
        "c.toml",
        b"[models.'gpt-4o*']\ntrigger_ratio = 0.5\nreset_ratio = 0.45\nsoft_ratio = 0.4\ntarget_ratio = 0.2",
    );
    let said: Vec<Value> = (0..90)
        .map(|nth| {
            let words = format!("Message {nth} is about src/part_{nth}.rs and its limit. ").repeat(40);
            let role = ["user", "assistant"][nth % 2];
            serde_json::json!({"role": role, "content": words})
        })
        .collect();
    folder.file("in.json", &serde_json::to_vec(&said).unwrap());
    let shown = folder.run(&["config", "--config", "c.toml"], b"");
    let shown = String::from_utf8(shown.stdout).unwrap();
    let row = shown.lines().find(|line| line.starts_with("models ")).unwrap();
    assert!(row.ends_with("# file c.toml"), "{row}");
    for (model, target, trigger) in [("gpt-4o", "11,520", "28,800"), ("gpt-4.1", "23,040", "52,992")] {
        let usual = ["--config", "c.toml", "--model", model, "--window", "64000"];
        let context = folder.run(&[&["context", "in.json"], &usual[..]].concat(), b"");
        let context = String::from_utf8(context.stdout).unwrap();
        assert!(context.contains(&format!("compacts from {trigger} tokens on")), "{model}: {context}");
        let compact = folder.run(&[&["compact", "in.json", "--no-store"], &usual[..]].concat(), b"");
        assert!(compact.said().contains(&format!("budget {target}")), "{model}: {}", compact.stderr);
    }
}

#[test]
fn a_budget_that_nobody_named_is_explained() {
    let folder = Folder::new();
    let example = example();
    let said = |args: &[&str]| {
        let ran = folder.run(&[&["compact", example.to_str().unwrap(), "--no-store"], args].concat(), b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.said()
    };
    let target = "the target, 40 % of the 28,800 tokens that a window of 32,000 (--window) leaves; --budget names another";
    assert!(said(&["--window", "32000"]).contains(&format!("the budget is {target}")));
    let half = "the budget is 30 % of the 28,800 tokens that a window of 32,000 (--window) leaves";
    assert!(said(&["--window", "32000", "--ratio", "0.3"]).contains(half));
    let rests = said(&[]);
    assert!(
        rests
            .contains("within the budget of 73,600 (the target, 40 % of the 184,000 tokens that a window of"),
        "{rests}"
    );
    assert!(!said(&["--budget", "4000"]).contains("the budget is"));
}

/// What a format writes beside the messages is part of the least that works.
#[test]
fn a_budget_below_the_floor_is_told_with_what_would_work() {
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    let message = |role: &str, kind: &str, text: String| {
        let content = json!([{"type": kind, "text": text}]);
        line("response_item", json!({"type": "message", "role": role, "content": content}))
    };
    let meta = json!({
        "id": "0f0e0d0c-0000-4000-8000-000000000000", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/w",
        "originator": "codex", "cli_version": "0.1.0", "base_instructions": {"text": "Be careful. ".repeat(600)},
    });
    let mut session = line("session_meta", meta);
    session += &message("developer", "input_text", "Never push. ".repeat(300));
    for nth in 0..40 {
        session += &message("user", "input_text", format!("What does part {nth} of the import do, and why?"));
        session += &message("assistant", "output_text", format!("Part {nth} reads the file part_{nth}.csv."));
    }
    let folder = Folder::new();
    folder.file("s.jsonl", session.as_bytes());
    let refused = |budget: &str, more: &[&str]| {
        let args =
            [&["compact", "s.jsonl", "--no-store", "--force", "--budget", budget, "-o", "out.jsonl"], more]
                .concat();
        let ran = folder.run(&args, b"");
        assert_eq!(ran.code, 4, "{}", ran.stderr);
        ran.said()
    };
    let floor = |said: &str| -> u64 {
        said.split_once("floor of ").unwrap().1.split(", ").next().unwrap().replace(',', "").parse().unwrap()
    };
    let said = refused("900", &[]);
    assert!(said.contains("the least that works") && said.contains("--set preserve_system=false"), "{said}");
    let least = floor(&said).to_string();
    let ran = folder.run(&["compact", "s.jsonl", "--no-store", "-o", "out.jsonl", "--budget", &least], b"");
    assert!(ran.code == 0 && ran.said().contains("messages has only"), "{}", ran.stderr);
    for budget in ["150", "100"] {
        let said = refused(budget, &["--set", "preserve_system=false"]);
        let least = floor(&said).to_string();
        let args = ["compact", "s.jsonl", "--no-store", "-o", "out.jsonl", "--set", "preserve_system=false"];
        let ran = folder.run(&[&args[..], &["--budget", &least, "--force"]].concat(), b"");
        assert_eq!(ran.code, 0, "{said}: {}", ran.stderr);
    }
}
