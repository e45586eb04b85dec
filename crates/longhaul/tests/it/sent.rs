//! Whatever is said in a session, what goes out is taken by the provider that it is spelled for, nothing is lost of the
//! originals, and what was done is told.

use std::sync::Arc;

use longhaul::{
    Config, FrontEnd, Session, Synced,
    config::SummaryRole,
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Transcript, Usage},
    wire::{Format, Profile, encode, read, render_grown, validate},
};

use crate::front_end::document;

/// What requests are made in.
fn dialects() -> impl Iterator<Item = Format> {
    let is_sent = |format: &Format| format.request() == Some(*format);
    let is_ours = |format: &Format| matches!(format, Format::Chat | Format::Longhaul);
    Format::ALL.into_iter().filter(move |format| is_sent(format) && !is_ours(format))
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall::function(id, "ls", "{}"))
}

fn result(id: &str, text: &str) -> Message {
    Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text(id, text, Outcome::Unstated))])
}

fn calls(n: usize) -> Message {
    Message::new(Role::Assistant, (0..n).map(|nth| call(&format!("c{nth}"))).collect())
}

fn results(n: usize) -> Vec<Message> {
    (0..n).map(|nth| result(&format!("c{nth}"), "main.rs")).collect()
}

/// What a program may well say, and no provider takes as it is.
fn odd() -> Vec<(&'static str, Vec<Message>)> {
    let blank = |role| Message::new(role, vec![text(" \n\t")]);
    let go = || Message::user("go");
    let done = || Message::assistant("done");
    let with = |messages: Vec<Vec<Message>>| messages.concat();
    vec![
        ("an empty text of the user", vec![Message::user(""), go()]),
        ("a blank text of the user", vec![blank(Role::User), go(), done(), blank(Role::User), go()]),
        ("a blank question", vec![go(), done(), blank(Role::User)]),
        ("nothing but a blank question", vec![blank(Role::User)]),
        ("a blank answer", vec![go(), blank(Role::Assistant), go()]),
        ("a blank instruction", vec![blank(Role::System), go(), done(), blank(Role::Developer), go()]),
        (
            "a message of no parts",
            vec![go(), Message::new(Role::Assistant, vec![]), Message::new(Role::User, vec![])],
        ),
        (
            "a blank text beside another",
            vec![Message::new(Role::User, vec![text(" "), text("go"), text("\n")])],
        ),
        (
            "a blank text beside calls",
            vec![go(), Message::new(Role::Assistant, vec![text("\n"), call("c0")]), result("c0", "x")],
        ),
        ("a blank result", vec![go(), calls(2), result("c0", " \n"), result("c1", ""), done(), go()]),
        (
            "a result of no parts",
            vec![
                go(),
                calls(1),
                Message::new(
                    Role::Tool,
                    vec![Part::ToolResult(ToolResult {
                        call_id: "c0".into(),
                        content: vec![],
                        outcome: Outcome::Unstated,
                    })],
                ),
                done(),
                go(),
            ],
        ),
        ("129 calls at once", with(vec![vec![go(), calls(129)], results(129), vec![done(), go()]])),
        ("300 calls at once, unread", with(vec![vec![go(), calls(300)], results(300)])),
        (
            "300 calls at once, answered in one message",
            vec![
                go(),
                calls(300),
                Message::new(
                    Role::Tool,
                    results(300).into_iter().flat_map(|message| message.parts).collect(),
                ),
                done(),
                go(),
            ],
        ),
        ("one of two calls answered", vec![go(), calls(2), result("c1", "x")]),
        ("one of two calls answered, and on", vec![go(), calls(2), result("c0", "x"), go()]),
        ("one of 300 calls answered", vec![go(), calls(300), result("c7", "x")]),
        (
            "an answer in two messages with a call each",
            vec![
                go(),
                Message::new(Role::Assistant, vec![text("so"), call("c0")]),
                Message::new(Role::Assistant, vec![call("c1")]),
                result("c0", "x"),
            ],
        ),
        ("a call that nobody answered", vec![go(), calls(2)]),
    ]
}

fn session() -> Session {
    let window = ContextWindow::new(Tokens(100_000), Tokens(1_000));
    Session::builder(SessionId::new("odd").unwrap(), window).build().unwrap()
}

/// Prepares, and returns what is wrong with the request in each dialect.
async fn faults(mut session: Session, name: &str, said: usize) -> Vec<String> {
    let view = session.prepare().await.unwrap();
    assert_eq!(session.state().originals().len(), said, "{name}: a message is lost");
    let mut faults = Vec::new();
    for format in dialects() {
        let sent = view.to_json(format).unwrap();
        // It asks for more than models before it.
        let profile = Profile::of_model(if format == Format::Gemini { "gemini-3-pro" } else { "" });
        let found = validate(sent.json.as_bytes(), format, &profile).unwrap();
        // Where nobody says anything there is nothing to send, and that is told.
        if sent.losses.iter().any(|loss| loss.ends_with("there is nothing to send")) {
            continue;
        }
        faults.extend(found.iter().map(|fault| {
            format!(
                "{name}, {format}: {fault:?}\n  {}\n  {:?}",
                &sent.json[..sent.json.len().min(400)],
                sent.losses
            )
        }));
    }
    faults
}

#[tokio::test]
async fn odd_messages_leave_as_requests_that_are_taken() {
    let mut found = Vec::new();
    for (name, said) in odd() {
        let mut pushed = session();
        said.iter().for_each(|message| {
            pushed.push(message.clone());
        });
        found.extend(faults(pushed, name, said.len()).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn odd_messages_in_the_spelling_of_a_provider_do_too() {
    let mut found = Vec::new();
    for format in dialects() {
        for (name, said) in odd() {
            let transcript: Transcript = said.iter().cloned().collect();
            let json = encode(&transcript, format).unwrap().document.as_bytes().to_vec();
            let document = read(Some(format), &*json).unwrap();
            if document.transcript().is_empty() {
                continue;
            }
            let mut synced = session();
            if synced.sync(&document).await.is_ok() {
                let name = format!("{name}, synced from {format}");
                found.extend(faults(synced, &name, document.transcript().len()).await);
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Messages as they may come, in the spelling of each provider.
const SPELLED: &[(Format, &str)] = &[
    (Format::OpenAi, r#"[{"role":"user","content":" "},{"role":"user","content":"go"}]"#),
    (
        Format::OpenAi,
        r#"[{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"go"}]}]"#,
    ),
    (
        Format::OpenAi,
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":" ","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":" "}]"#,
    ),
    (
        Format::OpenAi,
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"y"}]"#,
    ),
    (Format::Responses, r#"[{"role":"user","content":" "},{"role":"user","content":"go"}]"#),
    (
        Format::Responses,
        r#"[{"role":"user","content":[{"type":"input_text","text":" "},{"type":"input_text","text":"go"}]}]"#,
    ),
    (
        Format::Responses,
        r#"[{"role":"user","content":"go"},{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"},{"type":"function_call","call_id":"b","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":" "}]"#,
    ),
    (Format::Anthropic, r#"[{"role":"user","content":" "},{"role":"user","content":"go"}]"#),
    (
        Format::Anthropic,
        r#"[{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"go"}]}]"#,
    ),
    (
        Format::Anthropic,
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":" "},{"type":"tool_use","id":"a","name":"ls","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":" "}]}]}]"#,
    ),
    (
        Format::Gemini,
        r#"[{"role":"user","parts":[{"text":" "},{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"b","name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"ls","response":{"output":" "}}}]}]"#,
    ),
    (Format::Gemini, r#"[{"role":"user","parts":[{"text":" "}]}, {"role":"user","parts":[{"text":"go"}]}]"#),
    (
        Format::UiMessages,
        r#"[{"id":"1","role":"user","parts":[{"type":"text","text":" "}]},{"id":"2","role":"user","parts":[{"type":"text","text":"go"}]}]"#,
    ),
];

#[tokio::test]
async fn odd_messages_as_they_came_do_too() {
    let mut found = Vec::new();
    for (format, list) in SPELLED.iter().copied() {
        let mut pushed = session();
        let items: Vec<serde_json::Value> = serde_json::from_str(list).unwrap();
        let mut n = 0;
        for item in items {
            n += pushed.push_json(format, &item.to_string()).unwrap().len();
        }
        found.extend(faults(pushed, &format!("{format} {list}"), n).await);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn what_was_done_about_odd_messages_is_told() {
    let told = [
        ("a blank question", "1 x message without content left out"),
        ("129 calls at once", "1 x calls that are too many for one message made in several (m1)"),
        ("one of two calls answered", "m1: the call c0 of ls was never answered; it is now, as aborted"),
    ];
    for (name, loss) in told {
        let (_, said) = odd().into_iter().find(|(odd, _)| *odd == name).unwrap();
        let mut session = session();
        said.into_iter().for_each(|message| {
            session.push(message);
        });
        let losses = session.prepare().await.unwrap().to_json(Format::OpenAi).unwrap().losses;
        assert!(losses.iter().any(|line| line.starts_with(loss)), "{name}: {losses:?}");
    }
}

/// What is sent of many calls: each of them once, with its result directly behind the message that makes it.
#[tokio::test]
async fn of_many_calls_each_stands_with_its_result() {
    let mut session = session();
    session.push(Message::user("go"));
    session.push(calls(300));
    for result in results(300).into_iter().rev() {
        session.push(result);
    }
    let sent = session.prepare().await.unwrap().to_json(Format::OpenAi).unwrap();
    let sent: Vec<serde_json::Value> = serde_json::from_str(&sent.json).unwrap();
    let calls: Vec<usize> =
        sent.iter().filter_map(|message| message["tool_calls"].as_array().map(Vec::len)).collect();
    assert_eq!(calls, [128, 128, 44]);
    assert_eq!(sent.iter().filter(|message| message["role"] == "tool").count(), 300);
}

/// G-06, G-08: what another provider's model called goes on with Gemini 3, whole and where results are digested or summarized.
#[tokio::test]
async fn g_08_calls_of_another_provider_go_on_with_gemini_3() {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let mut session = Session::builder(SessionId::new("g").unwrap(), window).build().unwrap();
    session.push_json(Format::Anthropic, r#"{"role":"user","content":"Look at all files."}"#).unwrap();
    let mut summaries = 0;
    for nth in 0..60 {
        let calls: Vec<String> = (0..=nth % 3)
            .map(|at| format!(r#"{{"type":"tool_use","id":"toolu_{nth}_{at}","name":"read","input":{{"path":"{nth}.rs"}}}}"#))
            .collect();
        let shown = "a line of the file ".repeat(30);
        let results: Vec<String> = (0..=nth % 3)
            .map(|at| {
                format!(r#"{{"type":"tool_result","tool_use_id":"toolu_{nth}_{at}","content":"{shown}"}}"#)
            })
            .collect();
        let message = |role: &str, blocks: Vec<String>| {
            format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
        };
        session.push_json(Format::Anthropic, &message("assistant", calls)).unwrap();
        session.push_json(Format::Anthropic, &message("user", results)).unwrap();
        let view = session.prepare().await.unwrap();
        summaries = summaries.max(view.summaries().count());
        let sent = view.to_json(Format::Gemini).unwrap();
        for model in ["gemini-3-pro", "gemini-2.5-pro"] {
            let found = validate(sent.json.as_bytes(), Format::Gemini, &Profile::of_model(model)).unwrap();
            assert_eq!(found, [], "{nth}: {}", sent.json);
        }
        assert!(!view.to_json(Format::Anthropic).unwrap().json.contains("skip_thought"));
    }
    assert!(summaries > 0);
}

/// Each request tells all that it lost: nobody else knows which went out, and in what format.
#[tokio::test]
async fn what_a_message_lost_is_told_with_each_request_or_with_the_first() {
    let message =
        |role: &str, nth: usize| format!(r#"{{"role":"{role}","content":"{nth}","id":"msg_{nth}"}}"#);
    let mut session = session();
    for nth in 0..4 {
        session.push_json(Format::OpenAi, &message("user", 2 * nth)).unwrap();
        let _never_sent = session.prepare().await.unwrap();
        let view = session.prepare().await.unwrap();
        let n = 2 * nth + 1;
        let all = match n {
            1 => "1 x field id left out (m0)".to_owned(),
            n => format!("{n} x field id left out (m0-m{})", n - 1),
        };
        // The agent may have been switched to another provider.
        for format in [Format::Anthropic, Format::Gemini] {
            assert_eq!(view.to_json(format).unwrap().losses, [&*all]);
        }
        let new = match n {
            1 => all,
            n => format!("2 x field id left out (m{}-m{})", n - 2, n - 1),
        };
        let messages = view.messages().map(|message| &**message);
        assert_eq!(render_grown(messages, Format::Anthropic, n.saturating_sub(2)).unwrap().losses, [new]);
        session.push_json(Format::OpenAi, &message("assistant", n)).unwrap();
    }
}

/// A call that was sent as aborted, since others made with it were answered, has its own result once that comes.
#[tokio::test]
async fn a_result_that_comes_late_takes_the_place_of_the_aborted_one() {
    let mut session = session();
    let said = [Message::user("go"), calls(2), result("c1", "late.rs")];
    said.into_iter().for_each(|message| {
        session.push(message);
    });
    let sent = |session: &Session| session.state().view().to_json(Format::Gemini).unwrap().json;
    session.prepare().await.unwrap();
    assert!(sent(&session).contains("aborted"));
    session.push(result("c0", "main.rs"));
    session.prepare().await.unwrap();
    let json = sent(&session);
    assert!(json.contains("main.rs") && json.contains("late.rs") && !json.contains("aborted"), "{json}");
}

/// What is set before anything was said stands behind the instructions all the same, also where a client hands them in.
#[tokio::test]
async fn instructions_stand_before_a_block_that_was_set_before_them() {
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    let said = |nth: u64, now: &str| {
        let turns = (0..nth).flat_map(|nth| {
            let question = Message::user(format!("Question {nth}: {}", "look at it again. ".repeat(20)));
            [question, Message::assistant(format!("Answer {nth}."))]
        });
        let next = Message::user(format!("Question {nth}: {}", "look at it again. ".repeat(20)));
        [Message::system(format!("You are careful.{now}"))].into_iter().chain(turns).chain([next])
    };
    let new = |name: &str| {
        let builder = Session::builder(SessionId::new(name).unwrap(), window).counter(Arc::new(CharsPer4));
        let mut session = builder.build().unwrap();
        session.set_memory("rule", "be brief").unwrap();
        session
    };
    let (mut pushed, mut synced) = (new("pushed"), new("synced"));
    for nth in 0..40 {
        said(nth, "").skip(if nth == 0 { 0 } else { 2 * nth as usize }).for_each(|message| {
            pushed.push(message);
        });
        let handed_in: Vec<Message> = said(nth, &format!(" It is {nth} o'clock.")).collect();
        let report = synced.sync_with(&document(&handed_in), FrontEnd::known()).await.unwrap();
        assert!(matches!(report.change, Synced::Grew { .. }), "{nth}: {report:?}");
        for session in [&mut pushed, &mut synced] {
            let view = session.prepare().await.unwrap();
            let first: Vec<&Message> = view.messages().map(|message| &**message).take(2).collect();
            let begins = first[0].texts().collect::<String>().starts_with("You are careful.");
            assert!(begins && first[0].role == Role::System, "{nth}: {first:?}");
            assert!(first[1].texts().collect::<String>().contains("be brief"), "{nth}: {first:?}");
        }
    }
}

/// What a format joins depends on what stands behind it: a summary among the instructions was not where it was expected.
#[tokio::test]
async fn no_more_is_called_stable_than_was_sent_before() {
    for (role, has_block) in
        [SummaryRole::System, SummaryRole::User].map(|role| [(role, true), (role, false)]).concat()
    {
        let window = ContextWindow::new(Tokens(4_000), Tokens(500));
        let config = Config { summary_role: role, ..Config::default() };
        let builder =
            Session::builder(SessionId::new("stable").unwrap(), window).counter(Arc::new(CharsPer4));
        let mut session = builder.config(config).build().unwrap();
        session.push(Message::system("Be brief."));
        if has_block {
            session.set_memory("plan", "Plan A").unwrap();
        }
        let mut before: Vec<String> = Vec::new();
        for nth in 0..60 {
            session.push(Message::user(format!("Question {nth}: {}", "look at it again. ".repeat(20))));
            let view = session.prepare().await.unwrap();
            let now: Vec<String> = dialects().map(|format| view.to_json(format).unwrap().json).collect();
            for (at, format) in dialects().enumerate().filter(|(at, _)| *at < before.len()) {
                let pairs = before[at].bytes().zip(now[at].bytes());
                let common = pairs.take_while(|(one, other)| one == other).count();
                let told = view.stable_bytes(format).unwrap();
                assert!(told <= common, "{role:?} {has_block} {format} {nth}: {told} of {common}");
            }
            let prefix = view.stable_prefix().tokens;
            assert!(prefix <= view.tokens(), "{prefix} of {}", view.tokens());
            before = now;
            // Far less than is counted is billed.
            let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
            session.report_usage(view.id(), &Usage { input: counted.scaled(0.6), ..Usage::default() });
            session.push(Message::assistant("Well."));
        }
        assert!(session.state().summary().is_some());
    }
}
