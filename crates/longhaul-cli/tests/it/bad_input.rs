//! Bad input gets a clear error that names the place and what was expected, or passes through untouched; nothing is
//! ever overwritten, and nothing panics.

use crate::run::{Folder, Ran, example};

const OPENAI: &str = r#"[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]"#;

/// What a case must end in.
enum End {
    /// This exit code, and a message that holds each of these.
    Fails(i32, &'static [&'static str]),
    /// Exit code 0 and the input back, byte for byte.
    PassesThrough,
}

use End::{Fails, PassesThrough};

fn check(name: &str, input: &[u8], end: End) {
    let folder = Folder::new();
    let path = folder.file("input", input);
    let ran = folder.run(&["compact", "input", "--budget", "1000"], b"");
    judge(name, &ran, input, end);
    assert_eq!(std::fs::read(path).unwrap(), input, "{name}: the input was touched");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{name}: something was left behind");
}

fn judge(name: &str, ran: &Ran, input: &[u8], end: End) {
    assert!(!ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
    match end {
        Fails(code, words) => {
            assert_eq!(ran.code, code, "{name}: {}", ran.stderr);
            for word in words {
                assert!(ran.stderr.contains(word), "{name}: {word:?} is not in {:?}", ran.stderr);
            }
            assert!(ran.stdout.is_empty(), "{name}: a failure wrote data");
        }
        PassesThrough => {
            assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
            assert!(ran.stdout == input, "{name}: not byte for byte");
        }
    }
}

#[test]
fn a_number_of_tokens_below_nothing_is_told_as_such() {
    for args in [&["compact", "-", "--budget", "-5"][..], &["context", "-", "--window", "-5"]] {
        let ran = Folder::new().run(args, OPENAI.as_bytes());
        assert!(ran.code == 2 && ran.said().contains("tokens are not counted below 0"), "{}", ran.stderr);
    }
}

/// In a script stdin is no terminal, and often nothing.
#[test]
fn where_nothing_is_named_and_nothing_comes_it_is_told_how_a_session_is_named() {
    let folder = Folder::new();
    let ran = folder.run(&["context"], b"");
    assert!(
        ran.code == 4 && ran.said().contains("stdin: the input is empty; name a FILE, or a session"),
        "{}",
        ran.stderr
    );
    let home = folder.path().join(".claude/projects/-w");
    std::fs::create_dir_all(&home).unwrap();
    let here = folder.path().canonicalize().unwrap();
    let text =
        std::fs::read_to_string(example()).unwrap().replace("/home/dev/longhaul", here.to_str().unwrap());
    std::fs::write(home.join("7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl"), text).unwrap();
    let ran = folder.run(&["context"], b"");
    assert!(ran.code == 4 && ran.said().contains("7d1c2f6a is the newest of this folder"), "{}", ran.stderr);
    assert_eq!(folder.run(&["context", "7d1c2f6a"], b"").code, 0);
}

#[test]
fn words_about_settings_and_formats_name_what_there_is() {
    let folder = Folder::new();
    folder.file("a.json", OPENAI.as_bytes());
    let ran = folder.run(&["compact", "a.json", "--budget", "10", "--preset", "bogus"], b"");
    assert!(ran.said().contains("`chain`, or `off`"), "{}", ran.stderr);
    let ran = folder.run(&["compact", "a.json", "--budget", "10", "--in-place"], b"");
    assert!(ran.code == 4 && ran.said().contains("a history of openai is no session file"), "{}", ran.stderr);
    let ran = folder.run(&["chat", "--temperature", "nan"], b"");
    assert!(ran.code == 2 && ran.said().contains("is no temperature"), "{}", ran.stderr);
}

#[test]
fn a_store_that_ends_with_the_command_is_none() {
    let text = std::fs::read(example()).unwrap();
    let ran = Folder::new().run(&["compact", "-", "--budget", "4000", "--store", "memory:"], &text);
    assert!(
        ran.said().contains("was not recorded: a store in memory is gone when the command"),
        "{}",
        ran.stderr
    );
    assert!(!ran.said().contains("every original is kept"), "{}", ran.stderr);
    for command in ["doctor", "history", "sessions", "recall"] {
        let args = [&[command][..], if command == "recall" { &["word"] } else { &[] }].concat();
        let ran = Folder::new().run(&[&args[..], &["--store", "memory:"]].concat(), b"");
        let said = format!("{}{}", ran.said(), String::from_utf8_lossy(&ran.stdout));
        assert!(ran.code != 0 && said.contains("a store in memory is gone"), "{command}: {said}");
    }
}

/// A session that was put together of itself.
#[test]
fn a_session_in_which_every_line_stands_twice_is_compacted_as_if_once() {
    let text = std::fs::read_to_string(example()).unwrap();
    let beside: String = text.lines().map(|line| format!("{line}\n{line}\n")).collect();
    let compacted = |text: &str| {
        let folder = Folder::new();
        folder.file("s.jsonl", text.as_bytes());
        let ran = folder.run(&["compact", "s.jsonl", "--budget", "4000", "-o", "small.jsonl"], b"");
        assert!(ran.code == 0 && ran.said().contains("valid for claude-code ✓"), "{}", ran.stderr);
        let small = std::fs::read_to_string(folder.path().join("small.jsonl")).unwrap();
        // What has no uuid is carried as often as it stands there.
        let named = small.lines().filter(|line| line.contains("\"uuid\":")).map(str::to_owned);
        (named.collect::<Vec<_>>(), ran.said())
    };
    let once = compacted(&text);
    for twice in [beside, text.repeat(2)] {
        let (small, told) = compacted(&twice);
        assert_eq!(small, once.0);
        assert!(told.contains("other places: it stands further up already"), "{told}");
    }
}

#[test]
fn what_is_no_history_is_refused() {
    for (name, input) in [
        ("empty", &b""[..]),
        ("blank", b"  \n\n"),
        ("a number", b"42"),
        ("a text", b"\"hello\""),
        ("null", b"null"),
        ("true", b"true"),
        ("prose", b"Dear model, please fix it."),
        ("binary", &[0, 159, 146, 150, 255, 254, 1, 2, 3]),
        ("nul bytes", &[0; 64]),
        ("an elf file", b"\x7fELF\x02\x01\x01\0\0\0"),
        ("utf-16", b"\xff\xfe[\0]\0"),
        ("html", b"<!doctype html><html></html>"),
        ("an object without messages", b"{\"a\":1}"),
        ("a list of numbers", b"[1,2,3]"),
        ("a list of nothing known", b"[{\"x\":1}]"),
    ] {
        check(name, input, Fails(4, &["input"]));
    }
    check("nothing", b"", Fails(4, &["the input is empty"]));
}

#[test]
fn malformed_json_is_named_by_its_place() {
    for (name, input) in [
        ("cut off", &OPENAI[..OPENAI.len() - 9]),
        ("cut inside a text", &OPENAI[..30]),
        ("a comma too many", r#"[{"role":"user","content":"hello"},]"#),
        ("trailing words", r#"[{"role":"user","content":"hello"}] and more"#),
        ("two arrays", r#"[{"role":"user","content":"a"}][{"role":"user","content":"b"}]"#),
        ("single quotes", "[{'role':'user'}]"),
        ("an unescaped line feed", "[{\"role\":\"user\",\"content\":\"a\nb\"}]"),
        ("a bad escape", r#"[{"role":"user","content":"\x41"}]"#),
    ] {
        check(name, input.as_bytes(), Fails(4, &["input"]));
    }
    check("invalid utf-8", b"[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]", Fails(4, &["byte"]));
}

#[test]
fn wrong_types_are_named_by_their_path() {
    for (name, input) in [
        ("messages is a number", r#"{"messages":5}"#),
        ("a message is a number", r#"{"messages":[{"role":"user","content":"a"},7]}"#),
        ("the role is a number", r#"[{"role":7,"content":"a"}]"#),
        ("calls are no list", r#"[{"role":"assistant","content":null,"tool_calls":{"a":1}}]"#),
    ] {
        check(name, input.as_bytes(), Fails(4, &["expected"]));
    }
}

/// Every format of lines carries the lines that it does not know: read as the wrong one, a history was empty and "within the budget".
#[test]
fn a_history_that_is_read_as_another_format_is_no_empty_one() {
    let codex = concat!(
        r#"{"timestamp":"2026-01-05T10:00:00Z","type":"session_meta","payload":{"id":"019eef3d-abd1-72e1-ab99-dcdb259027c5","cwd":"/a"}}"#,
        "\n",
        r#"{"timestamp":"2026-01-05T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello there"}]}}"#,
        "\n"
    );
    let folder = Folder::new();
    folder.file("openai.json", OPENAI.as_bytes());
    folder.file("codex.jsonl", codex.as_bytes());
    let begun = codex.lines().next().unwrap();
    folder.file("begun.jsonl", begun.as_bytes());
    folder.file("prose", b"\nDear model, please fix it.");
    folder.file("notes", b"\n{\"kind\":\"note\",\"text\":\"Dear model, please fix it.\"}\n");
    folder.file("none.json", b"[]");
    let commands = [&["compact", "--budget", "9000"][..], &["count"], &["context"]];
    for (from, file, named) in [
        ("claude-code", "codex.jsonl", "looks like codex (--from codex): line 1: found {\"timestamp\""),
        ("claude-code", "begun.jsonl", "looks like codex (--from codex)"),
        ("codex", "openai.json", "it looks like openai (--from openai): line 1: found [{\"role\""),
        ("codex", "prose", "found Dear model, please fix it.; expected a Codex rollout file"),
        ("claude-code", "notes", "read as claude-code, nothing in it is a message: line 2: found {\"kind\""),
    ] {
        for command in commands {
            let ran = folder.run(&[command, &["--from", from, file]].concat(), b"");
            assert!(ran.code == 4 && ran.stdout.is_empty(), "{command:?} {from} {file}: {}", ran.stderr);
            let said = ran.said();
            assert!(said.contains(named) && said.contains("; expected a "), "{command:?}: {said}");
        }
    }
    // Of some lines of another agent's it makes messages.
    folder.file("claude.jsonl", &std::fs::read(example()).unwrap());
    let told = folder.run(&["count", "--from", "codex", "claude.jsonl"], b"").said();
    let looks_like = "claude.jsonl looks like a session of claude-code, and is read as codex";
    assert!(told.contains(looks_like), "{told}");
    // Nobody has said anything yet.
    for args in [&["begun.jsonl"][..], &["begun.jsonl", "--from", "codex"], &["none.json"]] {
        let ran = folder.run(&[&["count"], args].concat(), b"");
        assert!(
            ran.code == 0 && String::from_utf8_lossy(&ran.stdout).contains("0 messages"),
            "{args:?} {}",
            ran.stderr
        );
    }
}

#[test]
fn depth_bombs_end_in_an_answer() {
    let deep = |open: &str, close: &str, times: usize| open.repeat(times) + &close.repeat(times);
    check("arrays", deep("[", "]", 200_000).as_bytes(), Fails(4, &["input"]));
    check("only opened", "[".repeat(200_000).as_bytes(), Fails(4, &["input"]));
    let inside = format!(r#"[{{"role":"user","content":"a","x":{}}}]"#, deep("[", "]", 100_000));
    let folder = Folder::new();
    folder.file("input", inside.as_bytes());
    let ran = folder.run(&["compact", "input", "--budget", "1000"], b"");
    assert!([0, 4].contains(&ran.code) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(ran.code == 4 || ran.stdout == inside.as_bytes());
}

#[test]
fn oddities_pass_through_byte_for_byte() {
    for (name, input) in [
        (
            "numbers and escapes",
            r#"[{"role":"user","content":"h\u00e9\/","n":1.0e2,"big":12345678901234567890123}]"#,
        ),
        ("a lone surrogate", r#"[{"role":"user","content":"cut \ud83d here"}]"#),
        ("a nul escape", r#"[{"role":"user","content":"a\u0000b"}]"#),
        ("duplicate keys", r#"[{"role":"user","content":"a","x":1,"x":2}]"#),
        ("unknown fields and blocks", r#"[{"role":"user","content":[{"type":"hologram","z":[1]}],"y":{}}]"#),
        ("white space", " [ { \"role\" : \"user\" , \"content\" : \"a\" } ] \n\n"),
        (
            "an orphan result",
            r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}]"#,
        ),
        (
            "duplicate ids",
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"}]"#,
        ),
        (
            "arguments that are no JSON",
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{broken"}}]},{"role":"tool","tool_call_id":"a","content":"1"}]"#,
        ),
        (
            "an open exchange",
            r#"[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]"#,
        ),
        ("empty texts", r#"[{"role":"user","content":""},{"role":"assistant","content":""}]"#),
        ("bidirectional overrides", "[{\"role\":\"user\",\"content\":\"a\u{202e}b\u{2028}c\"}]"),
    ] {
        check(name, input.as_bytes(), PassesThrough);
    }
    check("a byte order mark", format!("\u{feff}{OPENAI}").as_bytes(), PassesThrough);
}

const LINE: &str = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u1","sessionId":"s1","timestamp":"2026-01-01T00:00:00Z"}"#;

#[test]
fn damaged_session_files_are_read_as_far_as_they_go() {
    for (name, input) in [
        ("no final line feed", LINE.to_owned()),
        ("carriage returns", format!("{LINE}\r\n")),
        ("the last line half written", format!("{LINE}\n{}", &LINE[..60])),
        ("garbage between the lines", format!("{LINE}\nnot json\n")),
        ("an unknown type", format!("{LINE}\n{{\"type\":\"hologram\",\"x\":1}}\n")),
        ("blank lines", format!("\n{LINE}\n\n\n")),
        ("a cycle of parents", LINE.replace("\"parentUuid\":null", "\"parentUuid\":\"u1\"") + "\n"),
        ("a parent that is not there", LINE.replace("\"parentUuid\":null", "\"parentUuid\":\"gone\"") + "\n"),
        ("the same line twice", format!("{LINE}\n{LINE}\n")),
    ] {
        check(name, input.as_bytes(), PassesThrough);
    }
    let mut invalid = format!("{LINE}\n{{\"type\":\"x\",\"t\":\"").into_bytes();
    invalid.extend(b"\xff\xfe\"}\n");
    check("invalid utf-8 in a line", &invalid, PassesThrough);
}

#[test]
fn one_huge_line_is_only_large() {
    let text = "word and number 12345 ".repeat(if cfg!(debug_assertions) { 40_000 } else { 200_000 });
    let input = LINE.replace("hello", &text);
    let folder = Folder::new();
    folder.file("input", input.as_bytes());
    let ran = folder.run(&["compact", "input", "--budget", "2000"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.len() < 40_000, "{}", ran.stdout.len());
}

#[test]
fn places_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let ran = folder.run(&["compact", "nowhere.json", "--budget", "100"], b"");
    judge("missing", &ran, b"", Fails(1, &["nowhere.json"]));
    let ran = folder.run(&["compact", "folder", "--budget", "100"], b"");
    judge("a directory", &ran, b"", Fails(1, &["folder", "directory"]));
}

#[cfg(unix)]
#[test]
fn a_device_that_never_ends_is_refused() {
    for device in ["/dev/zero", "/dev/full", "/dev/urandom"] {
        for command in ["count", "context", "compact"] {
            let ran = Folder::new().run(&[command, device], b"");
            assert_eq!((ran.code, ran.said().contains("is a device")), (4, true), "{device}: {}", ran.stderr);
        }
    }
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    folder.file("in.json", OPENAI.as_bytes());
    for (args, code, word) in [
        (&["compact", "in.json", "--budget=-3"][..], 2, "--budget"),
        (&["compact", "in.json", "--budget", "many"], 2, "many"),
        (&["compact", "in.json", "--ratio", "2"], 4, "ratio"),
        (&["compact", "in.json", "--ratio", "NaN"], 4, "ratio"),
        (&["compact", "in.json", "--from", "klingon"], 2, "klingon"),
        (&["compact", "in.json", "--encoding", "latin1"], 1, "latin1"),
        (&["compact", "in.json", "--model", "no-such-model-9"], 1, "no-such-model-9"),
        (&["compact", "in.json", "--tokenizer", "nowhere.json"], 1, "nowhere.json"),
        (&["compact", "in.json", "--preset", "magic"], 1, "magic"),
        (&["compact", "in.json", "--set", "no_such_setting=1"], 1, "no_such_setting"),
        (&["compact", "in.json", "--set", "trigger_ratio"], 1, "NAME=VALUE"),
        (&["compact", "in.json", "--config", "nowhere.toml"], 1, "nowhere.toml"),
        (&["compact", "in.json", "--from", "claude-code", "--budget", "9"], 4, "in.json"),
        (&["frobnicate"], 2, "frobnicate"),
    ] {
        let ran = folder.run(args, b"");
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn nothing_is_overwritten_without_being_told() {
    let folder = Folder::new();
    folder.file("in.json", OPENAI.as_bytes());
    folder.file("out.json", b"precious");
    let ran = folder.run(&["compact", "in.json", "--budget", "900", "-o", "out.json"], b"");
    judge("out exists", &ran, b"", Fails(1, &["out.json", "--force"]));
    assert_eq!(std::fs::read(folder.path().join("out.json")).unwrap(), b"precious");
    let ran = folder.run(&["compact", "in.json", "--budget", "900", "-o", "out.json", "--force"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read(folder.path().join("out.json")).unwrap(), OPENAI.as_bytes());
}
