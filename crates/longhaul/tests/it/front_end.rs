//! A front end that hands over its whole history with each request, as clients of a gateway do: it grows, edits,
//! regenerates, goes back, compacts by itself, and talks in two places at once.
//!
//! 40 conversations by default; `LONGHAUL_FRONT_ENDS=1000` drives a thousand.

use std::sync::Arc;

use longhaul::{
    Session, SessionState, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Transcript},
    wire::{Document, Format, Profile, encode, read, validate},
};

/// Draws numbers: a xorshift is enough, and gives the same conversations each time.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

pub(crate) fn document(said: &[Message]) -> Document {
    let transcript: Transcript = said.iter().cloned().collect();
    let json = encode(&transcript, Format::OpenAi).unwrap().document.as_bytes().to_vec();
    read(Some(Format::OpenAi), &*json).unwrap()
}

fn words(message: &Message) -> String {
    message.texts().collect::<Vec<_>>().join("\n")
}

/// How agents begin a summary of their own.
pub(crate) const SUMMARIES: [&str; 4] = [
    "This session is being continued from a previous conversation that ran out of context.",
    "Another language model started to solve this problem and produced a summary of its thinking process.",
    "<state_snapshot>",
    "The conversation history before this point was compacted into the following summary:",
];

/// A front end: what it shows, and the words it says.
struct FrontEnd {
    said: Vec<Message>,
    /// Tells its words from those of others.
    name: String,
    nth: u64,
}

impl FrontEnd {
    fn new(name: String) -> FrontEnd {
        FrontEnd { said: vec![Message::system("You are careful.")], name, nth: 0 }
    }

    fn word(&mut self, kind: &str, draw: &mut Draw) -> String {
        self.nth += 1;
        let padding = "and the queue drops the small blocks ".repeat(draw.below(12) as usize);
        format!("{kind} word_{}_{} {padding}", self.name, self.nth)
    }

    /// Does something, and returns what a session should take it for.
    fn act(&mut self, draw: &mut Draw) -> &'static str {
        let n = self.said.len() as u64;
        match draw.below(12) {
            0 if n > 4 => {
                let role = self.said[n as usize - 1].role;
                let parts = Message::user(self.word("anew", draw)).parts;
                self.said[n as usize - 1] = Message::new(role, parts);
                if role == Role::Assistant { "regenerated" } else { "edited" }
            }
            1 if n > 6 => {
                self.said.truncate(2 + draw.below(n - 4) as usize);
                "rewound"
            }
            2 if n > 6 => {
                self.said.truncate(2 + draw.below(n - 4) as usize);
                let word = self.word("otherwise", draw);
                self.said.push(Message::user(word));
                "edited"
            }
            3 if n > 8 => {
                let mark = SUMMARIES[draw.below(SUMMARIES.len() as u64) as usize];
                let word = self.word("summary", draw);
                self.said.truncate(1);
                self.said.push(Message::user(format!("{mark} {word}")));
                "compacted"
            }
            _ => {
                let (question, answer) = (self.word("question", draw), self.word("answer", draw));
                self.said.push(Message::user(question));
                self.said.push(Message::assistant(answer));
                "grew"
            }
        }
    }
}

fn conversations() -> u64 {
    let asked = std::env::var("LONGHAUL_FRONT_ENDS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(40)
}

#[test]
fn whatever_a_front_end_does_the_session_is_where_it_is() {
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    for conversation in 0..conversations() {
        let window = ContextWindow::new(Tokens(2_000 + 400 * draw.below(10)), Tokens(0));
        let session = SessionId::new(&format!("front-{conversation}")).unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        let mut front_end = FrontEnd::new(conversation.to_string());
        for _ in 0..30 {
            let expected = front_end.act(&mut draw);
            let said = &front_end.said;
            let before = state.clone();
            let sync = state.sync(&document(said)).unwrap();
            let is_expected = match (expected, sync.change) {
                ("grew", Synced::Grew { .. })
                | ("rewound", Synced::Rewound { .. } | Synced::Unchanged)
                | ("regenerated", Synced::Regenerated { .. })
                | ("compacted", Synced::CompactedByClient { .. }) => true,
                // What follows the same beginning may be an answer anew, or the same words by chance.
                ("edited", Synced::Edited { .. } | Synced::Regenerated { .. } | Synced::Grew { .. }) => true,
                _ => false,
            };
            assert!(is_expected, "{conversation}: {expected}, and it is {:?}", sync.change);
            assert_eq!(sync.ordinals.len(), said.len());
            let last = state.originals().last().unwrap();
            assert_eq!(words(&last.message), words(said.last().unwrap()));
            // Handed in again it is where it was.
            assert_eq!(state.clone().sync(&document(said)).unwrap().change, Synced::Unchanged, "{expected}");
            // Nothing in the view was said elsewhere: on what the front end took back, or in another conversation.
            state.settle(None);
            let here: String =
                state.originals().entries().iter().map(|entry| words(&entry.message)).collect();
            for message in state.view().messages() {
                for found in words(message).split_whitespace().filter(|found| found.starts_with("word_")) {
                    assert!(here.contains(found), "{found} was said elsewhere");
                }
            }
            assert!(state.tokens() <= state.budget());
            // The state before is untouched: another place may go on from it.
            assert!(before.originals().len() <= 200 && before.tokens() <= before.budget() + Tokens(2_000));
        }
    }
}

/// Both sides compact, and the front end knows nothing of ours: what it hands in next has only grown.
#[test]
fn a_front_end_that_compacted_by_itself_is_followed_after_a_compaction_of_ours() {
    let window = ContextWindow::new(Tokens(2_000), Tokens(0));
    let session = SessionId::new("both-compact").unwrap();
    let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
    let turn = |nth: usize| {
        let answer = format!("answer_{nth} stands in part_{nth} ").repeat(20);
        [Message::user(format!("question_{nth}?")), Message::assistant(answer)]
    };
    let mut said = vec![Message::system("You are careful.")];
    said.extend((0..3).flat_map(turn));
    state.sync(&document(&said)).unwrap();
    said.truncate(1);
    said.push(Message::user(format!("{} All is well.", SUMMARIES[0])));
    assert!(matches!(state.sync(&document(&said)).unwrap().change, Synced::CompactedByClient { .. }));
    for nth in 3..30 {
        said.extend(turn(nth));
        let sync = state.sync(&document(&said)).unwrap();
        assert_eq!(sync.change, Synced::Grew { n: 2 }, "turn {nth}");
        state.settle(None);
    }
    assert!(state.summary().is_some());
    assert_eq!(state.originals().len(), 7 + 1 + 54);
    said.truncate(6);
    assert!(matches!(state.sync(&document(&said)).unwrap().change, Synced::Rewound { .. }));
}

/// A front end that sends what the model thought only within a turn, as many do, goes on with what was said: it makes no answers anew.
#[tokio::test]
async fn a_front_end_that_leaves_earlier_reasoning_out_has_only_grown() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    let open = || {
        let builder = Session::builder(SessionId::new("thinking").unwrap(), window);
        builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store)).open()
    };
    let mut session = open().await.unwrap();
    let body = |messages: &[serde_json::Value]| {
        let body = serde_json::json!({ "model": "m", "max_tokens": 9, "system": "Be careful.", "messages": messages });
        read(Some(Format::Anthropic), body.to_string().as_bytes()).unwrap()
    };
    let mut said: Vec<serde_json::Value> = Vec::new();
    for nth in 0..24 {
        for message in &mut said {
            if let Some(content) = message["content"].as_array_mut() {
                content.retain(|block| !block["type"].as_str().unwrap().ends_with("thinking"));
            }
        }
        let id = format!("toolu_{nth}");
        let turn = [
            serde_json::json!({ "role": "user", "content": [{ "type": "text", "text": format!("Question {nth}?") }] }),
            serde_json::json!({ "role": "assistant", "content": [
                { "type": "thinking", "thinking": "t", "signature": format!("S{nth}") },
                { "type": "redacted_thinking", "data": format!("R{nth}") },
                { "type": "tool_use", "id": id, "name": "read", "input": {} },
            ] }),
            serde_json::json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": format!("fn part_{nth}() {{}}\n").repeat(15) },
            ] }),
            serde_json::json!({ "role": "assistant", "content": [{ "type": "text", "text": format!("It is {nth}.") }] }),
        ];
        if nth % 7 == 6 {
            session = open().await.unwrap();
        }
        for end in [1, 3] {
            let all = [&said[..], &turn[..end]].concat();
            let sync = session.sync(&body(&all)).await.unwrap();
            assert!(matches!(sync.change, Synced::Grew { .. }), "{nth}: {:?}", sync.change);
            session.prepare().await.unwrap();
        }
        said.extend(turn);
    }
    let sessions = store.sessions().await.unwrap();
    assert_eq!((sessions.len(), sessions[0].state.messages), (1, 96));
    // Another answer is another one, whatever was thought.
    said[1]["content"][0]["input"] = serde_json::json!({ "path": "a.rs" });
    let change = session.sync(&body(&said)).await.unwrap().change;
    assert!(matches!(change, Synced::Edited { .. } | Synced::Regenerated { .. }), "{change:?}");
}

/// The same where reasoning is an item of its own, which is left out whole or handed in without what the server alone knows.
#[tokio::test]
async fn items_of_reasoning_that_a_front_end_leaves_out_are_known() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    let open = || {
        let builder = Session::builder(SessionId::new("items").unwrap(), window);
        builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store)).open()
    };
    let mut session = open().await.unwrap();
    let body = |items: &[serde_json::Value]| {
        let body = serde_json::json!({ "model": "m", "instructions": "Be careful.", "input": items });
        read(Some(Format::Responses), body.to_string().as_bytes()).unwrap()
    };
    let is_reasoning = |item: &serde_json::Value| item["type"] == "reasoning";
    let mut said: Vec<serde_json::Value> = Vec::new();
    for nth in 0..24 {
        for item in &mut said {
            item.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "status");
        }
        if nth % 3 == 1 {
            said.retain(|item| !is_reasoning(item));
        }
        let (id, sealed) = (format!("call_{nth}"), format!("gAAAA{nth}"));
        let reasoning = |of: &str| {
            serde_json::json!({
                "type": "reasoning", "id": format!("rs_{of}{nth}"), "status": "completed",
                "summary": [], "encrypted_content": format!("{sealed}{of}"),
            })
        };
        let output = format!("fn part_{nth}() {{}}\n").repeat(15);
        let turn = [
            serde_json::json!({ "role": "user", "content": format!("Question {nth}?") }),
            reasoning("a"),
            reasoning("b"),
            serde_json::json!({ "type": "function_call", "id": format!("fc_{nth}"), "call_id": id, "name": "read", "arguments": "{}" }),
            serde_json::json!({ "type": "function_call_output", "call_id": id, "output": output }),
            reasoning("c"),
            serde_json::json!({ "type": "message", "id": format!("msg_{nth}"), "role": "assistant",
                "content": [{ "type": "output_text", "text": format!("It is {nth}."), "annotations": [] }] }),
        ];
        if nth % 7 == 6 {
            session = open().await.unwrap();
        }
        for end in [1, 5] {
            let all = [&said[..], &turn[..end]].concat();
            let sync = session.sync(&body(&all)).await.unwrap();
            assert!(matches!(sync.change, Synced::Grew { .. }), "{nth}: {:?}", sync.change);
            assert_eq!(sync.ordinals.len(), 1 + all.len());
            let last = sync.ordinals.last().copied().flatten().unwrap();
            assert_eq!(last + 1, session.state().originals().len() as u64);
            session.prepare().await.unwrap();
        }
        said.extend(turn);
    }
    let sessions = store.sessions().await.unwrap();
    // Of each third turn the last reasoning was never handed in, and of the last turn nothing behind the output.
    assert_eq!((sessions.len(), sessions[0].state.messages), (1, 1 + 24 * 7 - 8 - 2));
    // Another answer is another one, whatever was thought.
    let call = said.iter().position(|item| item["type"] == "function_call").unwrap();
    said[call]["arguments"] = serde_json::json!("{\"path\":\"a.rs\"}");
    let change = session.sync(&body(&said)).await.unwrap().change;
    assert!(matches!(change, Synced::Edited { .. } | Synced::Regenerated { .. }), "{change:?}");
}

/// Agents clear what tools answered longer ago, and trim what was typed: it is what was said here all the same.
#[tokio::test]
async fn old_results_that_a_front_end_clears_are_what_was_said() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    let open = || {
        let builder = Session::builder(SessionId::new("cleared").unwrap(), window);
        builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store)).open()
    };
    let mut session = open().await.unwrap();
    let body = |messages: &[serde_json::Value]| {
        let body = serde_json::json!({ "model": "m", "messages": messages });
        read(Some(Format::OpenAi), body.to_string().as_bytes()).unwrap()
    };
    let output = |nth: usize| format!("fn part_{nth}() {{ advance(); }}\n").repeat(15);
    let mut said: Vec<serde_json::Value> = Vec::new();
    for nth in 0..24 {
        // All but the newest three, in one of three ways; and what was typed is trimmed.
        for (at, message) in said.iter_mut().enumerate().filter(|(at, _)| at / 4 + 3 < nth) {
            let note = match (message["role"] == "tool", at % 3) {
                (true, 0) => "Old environment output: (15 lines omitted)".to_owned(),
                (true, 1) if at % 2 == 0 => format!("{}... (truncated)", &output(at / 4)[..60]),
                (true, 1) => {
                    let whole = output(at / 4);
                    format!("{}\n… 9 lines omitted …\n{}", &whole[..60], &whole[whole.len() - 60..])
                }
                (true, _) => String::new(),
                _ => continue,
            };
            message["content"] = serde_json::json!(note);
        }
        // Other results have the ends of their lines respelled.
        let newer = said.iter_mut().filter(|message| message["role"] == "tool").skip(nth.saturating_sub(3));
        newer.for_each(|message| {
            let text = message["content"].as_str().unwrap().replace("\r\n", "\n").replace('\n', "\r\n");
            message["content"] = serde_json::json!(text);
        });
        said.iter_mut().filter(|message| message["role"] == "user").for_each(|message| {
            message["content"] = serde_json::json!(message["content"].as_str().unwrap().trim_end());
        });
        // Each client writes JSON in its own way, and some an empty text where nothing is said.
        let calls = said.iter_mut().filter(|message| message["tool_calls"].is_array());
        calls.for_each(|message| {
            message["tool_calls"][0]["function"]["arguments"] = serde_json::json!("{\"limit\": 15}");
            message["content"] = serde_json::json!("");
        });
        let id = format!("call_{nth}_of_many");
        let call = serde_json::json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{\"limit\":15}" } });
        let turn = [
            serde_json::json!({ "role": "user", "content": format!("Question {nth}? \r\n") }),
            serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            serde_json::json!({ "role": "tool", "tool_call_id": id, "content": output(nth) }),
            serde_json::json!({ "role": "assistant", "content": format!("It is {nth}.") }),
        ];
        if nth % 7 == 6 {
            session = open().await.unwrap();
        }
        for end in [1, 3] {
            let all = [&said[..], &turn[..end]].concat();
            let sync = session.sync(&body(&all)).await.unwrap();
            assert!(matches!(sync.change, Synced::Grew { .. }), "{nth}: {:?}", sync.change);
            session.prepare().await.unwrap();
        }
        said.extend(turn);
    }
    let sessions = store.sessions().await.unwrap();
    assert_eq!((sessions.len(), sessions[0].state.messages), (1, 24 * 4 - 1));
    let last = session.recall(r#"{"message":"m2"}"#).await.unwrap();
    assert!(last.contains("fn part_0() { advance(); }"), "the original is kept: {last}");
    // What says something else is another answer, and so is what is no note.
    for other in [
        "fn part_0() { retreat(); }".to_owned(),
        "[1, 2]".to_owned(),
        "[]".to_owned(),
        "{\"content\": \"cleared\"}".to_owned(),
        // Somebody took out what nobody is to see.
        "[REDACTED]".to_owned(),
        "[cleared by the user: it was a secret]".to_owned(),
        "[omitted for security]".to_owned(),
        "[permission denied]".to_owned(),
        "<error>timeout</error>".to_owned(),
        format!("{}and then it panicked", &output(0)[..90]),
        format!("{}\nretreat()", &output(0)[..90]),
        output(0).replacen("advance", "go", 1),
    ] {
        let mut edited = said.clone();
        edited[2]["content"] = serde_json::json!(other);
        let mut session = open().await.unwrap();
        let change = session.sync(&body(&edited)).await.unwrap().change;
        assert!(!matches!(change, Synced::Grew { .. } | Synced::Unchanged), "{other}: {change:?}");
    }
}

/// Two front ends go on from the same beginning, each with its own history and a session of the same name over one store:
/// neither sees a word of the other, nor loses one of its own.
#[tokio::test]
async fn two_front_ends_at_once_do_not_hear_each_other() {
    let mut draw = Draw(0x2545_F491_4F6C_DD1D);
    for conversation in 0..conversations() / 4 {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let window = ContextWindow::new(Tokens(2_000 + 400 * draw.below(10)), Tokens(0));
        let open = |name: &str| {
            let builder = Session::builder(SessionId::new(name).unwrap(), window);
            builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store)).open()
        };
        let mut front_ends = ["a", "b"].map(|name| FrontEnd::new(name.to_owned()));
        for _ in 0..4 {
            front_ends[0].act(&mut draw);
        }
        let beginning = front_ends[0].nth;
        front_ends[1].said = front_ends[0].said.clone();
        let mut sessions = [open("both").await.unwrap(), open("both").await.unwrap()];
        sessions[0].sync(&document(&front_ends[0].said)).await.unwrap();
        sessions[0].prepare().await.unwrap();
        let mut ever: [Vec<String>; 2] = Default::default();
        for turn in 0..40 {
            let who = if turn == 0 { 0 } else { draw.below(2) as usize };
            // It may be started anew at any time, and goes on where it was.
            if draw.below(6) == 0 {
                let line = sessions[who].line().to_string();
                sessions[who] = open(&line).await.unwrap();
            }
            let (front_end, session) = (&mut front_ends[who], &mut sessions[who]);
            front_end.act(&mut draw);
            ever[who].extend(front_end.said.iter().map(words));
            let said = document(&front_end.said);
            if session.sync(&said).await.unwrap().change == Synced::Another {
                // The other took over the name of the line: what is said here is a conversation of its own from now on.
                let here = session.state().originals().entries();
                let is_own = |entry: &longhaul::transcript::Entry| {
                    words(&entry.message).contains(&format!(" word_{}_", front_end.name))
                };
                assert!(!here.iter().any(is_own), "{conversation}, turn {turn}: {}", session.line());
                *session = open(&format!("own-{who}-{turn}")).await.unwrap();
                assert!(matches!(session.sync(&said).await.unwrap().change, Synced::Grew { .. }));
            }
            let view = session.prepare().await.unwrap();
            let last = session.state().originals().last().unwrap();
            assert_eq!(words(&last.message), words(front_end.said.last().unwrap()));
            for message in view.messages() {
                for word in words(message).split_whitespace().filter(|word| word.starts_with("word_")) {
                    let nth: u64 = word.rsplit('_').next().unwrap().parse().unwrap();
                    let is_own = word.starts_with(&format!("word_{}_", front_end.name));
                    assert!(
                        is_own || nth <= beginning,
                        "{conversation}, turn {turn}: {} hears {word}",
                        front_end.name
                    );
                }
            }
        }
        // All that was ever said is in the store, under one name or another.
        let mut kept = std::collections::BTreeSet::new();
        for info in store.sessions().await.unwrap() {
            let span = longhaul::transcript::Span { start: 0, end: u64::MAX };
            let originals = store.originals_in_line(&info.session, span).await.unwrap();
            kept.extend(originals.into_iter().filter_map(|original| Some(words(&original.message?))));
        }
        for said in ever.iter().flatten() {
            assert!(kept.contains(said), "{conversation}: lost {said}");
        }
    }
}

/// A front end that keeps its last messages only, or has put words of its own before them, is the same conversation: what it asks
/// goes out, and what it left out is not lost.
#[tokio::test]
async fn a_front_end_that_leaves_out_what_was_said_long_ago_is_followed() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let question =
        |nth: usize| Message::user(format!("question_{nth}? {}", "it is long ".repeat(nth % 7 * 9)));
    let answer =
        |nth: usize| Message::assistant(format!("answer_{nth}. {}", "it is long ".repeat(nth % 5 * 9)));
    let head = |nth: usize| Message::system(format!("It is 10:{nth:02}. Be brief."));
    for (name, is_clock, keeps_task, own) in [
        ("sliding", false, false, None),
        ("clock", true, false, None),
        ("task", false, true, None),
        ("summary", false, false, Some("So far: nothing came of it.")),
        ("tagged", false, false, Some("<summary>Nothing came of it.</summary>")),
    ] {
        let open = || {
            let builder =
                Session::builder(SessionId::new(name).unwrap(), window).counter(Arc::new(CharsPer4));
            builder.store(Arc::clone(&store)).open()
        };
        let mut session = open().await.unwrap();
        let mut all: Vec<Message> = Vec::new();
        for nth in 0..60 {
            all.push(question(nth));
            let mut said = vec![head(if is_clock { nth } else { 0 })];
            let n_left_out = all.len().saturating_sub(21);
            if n_left_out > 0 && keeps_task {
                said.push(question(0));
            }
            // What it puts in their place it does every tenth turn.
            let n_left_out = if own.is_some() { n_left_out / 20 * 20 } else { n_left_out };
            said.extend(
                own.filter(|_| n_left_out > 0).map(|own| Message::user(format!("{own} {n_left_out}"))),
            );
            said.extend(all[n_left_out..].iter().cloned());
            if nth % 13 == 12 {
                session = open().await.unwrap();
            }
            let change = session.sync(&document(&said)).await.unwrap().change;
            match own {
                None => assert_eq!(change, Synced::Grew { n: 2 }, "{name}, {nth}"),
                Some(_) => assert!(
                    matches!(change, Synced::Grew { .. } | Synced::CompactedByClient { .. }),
                    "{name}, {nth}: {change:?}"
                ),
            }
            let view = session.prepare().await.unwrap();
            let shown: Vec<String> = view.messages().map(|message| words(message)).collect();
            assert!(shown.last().unwrap().starts_with(&format!("question_{nth}?")), "{name}, {nth}");
            assert_eq!(shown[0], words(&said[0]), "{name}, {nth}");
            if let Some(own) = own.filter(|_| n_left_out > 0) {
                assert!(shown.iter().any(|said| said.contains(own)), "{name}, {nth}");
            }
            all.push(answer(nth));
        }
        // Without words of its own in their place nothing is said twice.
        if own.is_none() {
            assert_eq!(session.state().originals().len(), 1 + 60 + 59, "{name}");
            assert!(session.state().summary().is_some(), "{name}");
        }
    }
}

/// A front end that keeps the first exchange and leaves out half of the rest at once, with a note in the place of the first messages or
/// without, takes nothing back.
#[test]
fn a_front_end_that_keeps_the_first_exchange_is_followed() {
    const NOTE: &str = "[NOTE] Some previous conversation history with the user has been removed to maintain optimal context window \
        length. The initial user task has been retained for continuity, while intermediate conversation history has been removed. Keep \
        this in mind as you continue assisting the user. Pay special attention to the user's latest messages.";
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let question = |nth: usize| Message::user(format!("question_{nth}? {}", "it is long ".repeat(9)));
    let answer = |nth: usize| Message::assistant(format!("answer_{nth}. {}", "it is long ".repeat(9)));
    let noted = format!("{NOTE}\n\n{}", words(&answer(0)));
    for first in [
        vec![question(0), answer(0)],
        vec![question(0), Message::assistant(NOTE)],
        vec![question(0), Message::assistant(&*noted)],
        vec![Message::user("[Continue assisting the user!]"), Message::assistant(&*noted)],
        vec![question(0), answer(0), Message::user("[14 earlier messages omitted]")],
        vec![question(0), answer(0), question(1), answer(1), question(2)],
    ] {
        let session = SessionId::new("exchange").unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        let (mut all, mut n_left_out) = (Vec::new(), 0);
        for nth in 0..40 {
            all.push(question(nth));
            if all.len() - n_left_out > 30 {
                n_left_out += 14;
            }
            let said = match n_left_out {
                0 => all.clone(),
                n => [&first[..], &all[n + first.len() / 2 * 2..]].concat(),
            };
            let change = state.sync(&document(&said)).unwrap().change;
            assert_eq!(change, Synced::Grew { n: 1 + u64::from(nth > 0) }, "{first:?}, {nth}");
            all.push(answer(nth));
        }
        assert_eq!(state.originals().len(), 79, "{first:?}");
    }
}

/// Who says that they keep so many of the first messages is followed though the user says the same each time: what they keep of the
/// newest begins as what stood behind the first did.
#[test]
fn a_front_end_that_says_what_it_keeps_is_followed_where_the_user_repeats_themselves() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    for (first, newest) in [(2, 9), (2, 20), (4, 9), (4, 20), (1, 9)] {
        let session = SessionId::new("again").unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        let front_end = longhaul::FrontEnd::known().keeps_first(first);
        let mut all: Vec<Message> = Vec::new();
        for nth in 0..40 {
            all.push(Message::user(if nth == 0 { "Mend the relay." } else { "continue" }));
            let said = match all.len() > first + newest {
                true => [&all[..first], &all[all.len() - newest..]].concat(),
                false => all.clone(),
            };
            let change = state.sync_with(&document(&said), front_end).unwrap().change;
            assert_eq!(change, Synced::Grew { n: 1 + u64::from(nth > 0) }, "{first} and {newest}, {nth}");
            all.push(Message::assistant(format!("Part {nth} is done.")));
        }
        assert_eq!(state.originals().len(), 79, "{first} and {newest}");
        // What is edited is edited all the same, in the middle of what was said the same each time.
        let mut edited = all[..6].to_vec();
        edited.push(Message::user("Stop here."));
        let change = state.sync_with(&document(&edited), front_end).unwrap().change;
        assert_eq!(change, Synced::Edited { at: 6, n: 1 }, "{first} and {newest}");
    }
}

/// What anybody may say is no sign of the same conversation, and what somebody took out of the middle is gone.
#[test]
fn a_few_equal_words_mix_no_conversations_and_what_was_deleted_is_not_shown() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let said = |words: &[&str]| -> Vec<Message> {
        let turn = |(nth, word): (usize, &&str)| match nth % 2 {
            0 => Message::user(*word),
            _ => Message::assistant(*word),
        };
        let head = [Message::system("Be brief.")];
        head.into_iter().chain(words.iter().enumerate().map(turn)).collect()
    };
    for (first, next, expected) in [
        (
            &["Fix X", "Done", "Hello", "Hi, how can I help?"][..],
            &["Hello", "Hi, how can I help?", "Book a flight"][..],
            Synced::Another,
        ),
        (
            &["Fix X", "Which file?", "a.rs", "OK.", "continue"],
            &["Book a flight", "OK.", "continue"],
            Synced::Another,
        ),
        (
            &["a", "b", "my key is 7", "hm", "c", "d"],
            &["a", "b", "c", "d", "e"],
            Synced::Edited { at: 3, n: 3 },
        ),
        (
            &["hi", "Hello", "yes", "ok", "X", "Y", "yes", "ok"],
            &["hi", "Hello", "yes", "ok", "yes", "ok", "Q"],
            Synced::Edited { at: 5, n: 3 },
        ),
    ] {
        let session = SessionId::new("few").unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        state.sync(&document(&said(first))).unwrap();
        assert_eq!(state.sync(&document(&said(next))).unwrap().change, expected, "{first:?}, {next:?}");
    }
}

/// Where a format has no ids of calls two equal exchanges prove nothing; real ids do.
#[test]
fn the_names_of_tools_are_no_ids() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let said = |id: &str, first: &str, behind: &[&str]| -> Vec<Message> {
        let call = Part::ToolCall(ToolCall::function(id, "ls", "{}"));
        let result = Part::ToolResult(ToolResult::text(id, "a.rs", Outcome::Unstated));
        let exchange = [Message::new(Role::Assistant, vec![call]), Message::new(Role::Tool, vec![result])];
        [Message::user(first)]
            .into_iter()
            .chain(exchange)
            .chain(behind.iter().map(|text| Message::user(*text)))
            .collect()
    };
    for (id, expected) in [("ls", false), ("call_7f3a91c2", true)] {
        let session = SessionId::new("ids").unwrap();
        let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
        let mut first = vec![Message::user("Fix X"), Message::assistant("Looking.")];
        first.extend(said(id, "And Y", &[]));
        state.sync(&document(&first)).unwrap();
        let change = state.sync(&document(&said(id, "Summary of it", &["go on"]))).unwrap().change;
        assert_eq!(change != Synced::Another, expected, "{id}: {change:?}");
    }
}

/// Instructions that are worded as they once were are shown so again.
#[test]
fn instructions_go_back_to_what_they_were() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let session = SessionId::new("modes").unwrap();
    let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
    let mut said = Vec::new();
    for (nth, mode) in ["plan", "act", "plan", "plan", "act"].into_iter().enumerate() {
        said.push(Message::user(format!("question {nth}")));
        let whole: Vec<Message> = [Message::system(mode)].into_iter().chain(said.iter().cloned()).collect();
        state.sync(&document(&whole)).unwrap();
        assert_eq!(words(state.view().messages().next().unwrap()), mode, "{nth}");
        said.push(Message::assistant(format!("answer {nth}")));
    }
}

#[tokio::test]
async fn the_view_of_one_conversation_is_not_sent_for_another() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let mut session = Session::builder(SessionId::new("one").unwrap(), window).build().unwrap();
    let said =
        [Message::user("What is a monad?"), Message::assistant("A burrito."), Message::user("Really?")];
    session.sync(&document(&said)).await.unwrap();
    session.prepare().await.unwrap();
    let change = session.sync(&document(&[Message::user("Book a flight.")])).await.unwrap().change;
    assert_eq!(change, Synced::Another);
    let error = session.prepare().await.unwrap_err();
    assert!(error.to_string().contains("another conversation's"), "{error}");
    session.sync(&document(&said)).await.unwrap();
    session.prepare().await.unwrap();
}

#[test]
fn a_first_message_that_was_edited_is_no_summary() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let mut state =
        SessionState::new(SessionId::new("edited").unwrap(), window, Arc::new(CharsPer4), Default::default());
    let mut said = vec![Message::system("Be brief.")];
    said.extend((0..6).flat_map(|nth| {
        [Message::user(format!("question_{nth}")), Message::assistant(format!("answer_{nth}"))]
    }));
    state.sync(&document(&said)).unwrap();
    said[1] = Message::user("question_0, but otherwise");
    let change = state.sync(&document(&said)).unwrap().change;
    assert_eq!(change, Synced::Edited { at: 1, n: 12 });
    assert_eq!(state.view().messages().count(), 13);
}

#[tokio::test]
async fn instructions_are_shown_as_they_are_worded_now() {
    let window = ContextWindow::new(Tokens(4_000), Tokens::ZERO);
    let mut session = Session::builder(SessionId::new("clock").unwrap(), window)
        .counter(Arc::new(CharsPer4))
        .store(Arc::new(MemoryStore::new()))
        .build()
        .unwrap();
    let turns: Vec<Message> = (0..12)
        .flat_map(|nth| {
            let said = |word: &str| format!("{word} {nth}: {}", "word ".repeat(80));
            [Message::user(said("Question")), Message::assistant(said("Answer"))]
        })
        .collect();
    let under = |instructions: &str| {
        let head = std::iter::once(Message::system(instructions));
        document(&head.chain(turns.iter().cloned()).collect::<Vec<_>>())
    };
    // Longer ones leave less room for the rest.
    for instructions in ["It is 10:00.".to_owned(), "It is 10:01.".to_owned(), "Mind this. ".repeat(500)] {
        session.sync(&under(&instructions)).await.unwrap();
        let view = session.prepare().await.unwrap();
        assert_eq!(words(view.messages().next().unwrap()), instructions);
        let costs: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
        assert!(costs <= Tokens(4_000), "{costs}");
    }
}

/// What a body of Anthropic's holds beside its words: a picture, signed thinking, a mark, a field of next month.
const ODD: [&str; 4] = [
    r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#,
    r#"{"type":"thinking","thinking":"hm","signature":"c2lnbmVk"}"#,
    r#""cache_control":{"type":"ephemeral"}"#,
    r#""of_next_month":1e2"#,
];

#[tokio::test]
async fn what_a_front_end_sends_beside_the_words_goes_on_to_the_provider() {
    let [picture, thinking, mark, field] = ODD;
    let ask =
        format!(r#"{{"role":"user","content":[{picture},{{"type":"text","text":"What is this?",{mark}}}]}}"#);
    let answer =
        format!(r#"{{"role":"assistant","content":[{thinking},{{"type":"text","text":"A cat."}}],{field}}}"#);
    let next = r#"{"role":"user","content":"And this?"}"#;
    let body = |said: &str| {
        format!(
            r#"{{"model":"m","system":[{{"type":"text","text":"Be brief."}}],"messages":[{said}],"stream":true}}"#
        )
    };
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let mut session = Session::builder(SessionId::new("odd").unwrap(), window).build().unwrap();
    for said in [ask.clone(), format!("{ask},{answer},{next}")] {
        let body = body(&said);
        let came = read(Some(Format::Anthropic), body.as_bytes()).unwrap();
        session.sync(&came).await.unwrap();
        let view = session.prepare().await.unwrap();
        let sent = view.to_json(Format::Anthropic).unwrap();
        assert_eq!(sent.losses, [""; 0]);
        assert_eq!(came.with_messages(&sent).unwrap(), body);
    }
}

/// A client marks its tools, its instructions and its last two questions, as most do, each time anew: four marks in all.
#[tokio::test]
async fn marks_of_earlier_requests_do_not_pile_up() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let mut session = Session::builder(SessionId::new("marks").unwrap(), window).build().unwrap();
    for n in 1..10 {
        let text = |role: &str, text: String, mark: &str| {
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"{mark}}}]}}"#)
        };
        let turn = |nth: usize| {
            let ask = text("user", format!("Question {nth}"), if nth + 2 >= n { mark } else { "" });
            [ask, text("assistant", format!("Answer {nth}"), "")]
        };
        let mut said: Vec<String> = (0..n).flat_map(turn).collect();
        said.pop();
        let (tool, said) = (r#"{"name":"f","input_schema":{"type":"object"}"#, said.join(","));
        let body = format!(
            r#"{{"model":"m","tools":[{tool}{mark}}}],"system":[{{"type":"text","text":"Be brief."{mark}}}],"messages":[{said}]}}"#
        );
        let came = read(Some(Format::Anthropic), body.as_bytes()).unwrap();
        session.sync(&came).await.unwrap();
        let view = session.prepare().await.unwrap();
        let as_is = view.to_json(Format::Anthropic).unwrap();
        for sent in [as_is, view.to_json_marked(Format::Anthropic).unwrap()] {
            let request = came.with_messages(&sent).unwrap();
            let found = validate(request.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
            assert_eq!(found, [], "{n}: {request}");
            let last = request.rfind("cache_control").unwrap();
            assert!(last > request.rfind("Question").unwrap(), "{n}: the newest has none: {request}");
        }
    }
}

/// A pin follows what it holds onto the way that a front end takes, and where it is not said there the caller is told.
#[tokio::test]
async fn a_pin_follows_the_history_that_says_it_again() {
    let said = |first: &str, rule: &str| {
        let mut said = vec![Message::user(first), Message::assistant("Gladly.")];
        said.extend([Message::user(rule), Message::assistant("Noted."), Message::user("Now go on.")]);
        said
    };
    let rule = "RULE: never edit Cargo.lock.";
    for (first, next_rule, is_kept) in
        [("Hello, please help.", rule, true), ("Hello, help.", "RULE: never edit anything.", false)]
    {
        let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let builder = Session::builder(SessionId::new("pinned").unwrap(), window);
        let mut session = builder.counter(Arc::new(CharsPer4)).store(store).build().unwrap();
        session.sync(&document(&said("Hello, help.", rule))).await.unwrap();
        let id = session.state().originals().get(2).unwrap().id;
        session.pin(id).await.unwrap();
        let sync = session.sync(&document(&said(first, next_rule))).await.unwrap();
        assert!(matches!(sync.change, Synced::Edited { .. }), "{:?}", sync.change);
        let pins: Vec<u64> = session.state().pins().collect();
        assert_eq!((pins, sync.unpinned), if is_kept { (vec![2], vec![]) } else { (vec![], vec![2]) });
        let mut all = said(first, next_rule);
        for nth in 0..40 {
            all.extend([
                Message::assistant("It is so. ".repeat(30)),
                Message::user(format!("Question {nth}?")),
            ]);
            session.sync(&document(&all)).await.unwrap();
            let view = session.prepare().await.unwrap();
            assert_eq!(view.messages().any(|message| words(message) == rule), is_kept, "{nth}");
        }
    }
}

/// Where the caller knows whose history it is, little of it is enough.
#[tokio::test]
async fn a_front_end_that_keeps_few_messages_is_followed_where_it_is_known() {
    for newest in [2, 3, 5, 6] {
        let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
        let open = |name: &str| {
            let builder = Session::builder(SessionId::new(name).unwrap(), window);
            builder.counter(Arc::new(CharsPer4)).build().unwrap()
        };
        let (mut by_word, mut alone) = (open("known"), open("alone"));
        let mut all: Vec<Message> = Vec::new();
        let mut refused = 0;
        for nth in 0..20 {
            all.push(Message::user(format!("question_{nth}?")));
            let said = document(&all[all.len().saturating_sub(newest)..]);
            let change = by_word.sync_with(&said, longhaul::FrontEnd::known()).await.unwrap().change;
            let n = if nth == 0 { 1 } else { 2 };
            // Of the newest two nothing was said before but the answer, which the client alone knows.
            match newest {
                2 if nth > 0 => assert_eq!(change, Synced::CompactedByClient { n: 2 }, "{nth}"),
                _ => assert_eq!(change, Synced::Grew { n }, "{newest}, {nth}"),
            }
            let last = by_word.prepare().await.unwrap().messages().last().map(|last| words(last));
            assert_eq!(last, Some(format!("question_{nth}?")));
            refused += u32::from(alone.sync(&said).await.unwrap().change == Synced::Another);
            all.push(Message::assistant(format!("answer_{nth}.")));
        }
        assert_eq!(refused > 0, newest < 6, "{newest}");
        if newest > 2 {
            assert_eq!(by_word.state().originals().len(), 39);
        }
        let empty = by_word.sync_with(&document(&[]), longhaul::FrontEnd::known()).await.unwrap();
        assert_eq!(empty.change, Synced::Another, "there is nothing to send");
    }
}

/// Two of three messages were said once before, in this order: they are not what the client has taken the conversation back to.
#[test]
fn words_that_were_said_twice_take_a_known_front_end_back_to_nowhere() {
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let builder = Session::builder(SessionId::new("twice").unwrap(), window);
    let mut state = builder.counter(Arc::new(CharsPer4)).build().unwrap().state().clone();
    let turn = [
        "Plan the work", "step 1 planned", "yes", "ok", "delete the old table", "table deleted",
        "use port 8081", "port set", "yes", "ok", "go on",
    ];
    let all: Vec<Message> = turn
        .iter()
        .enumerate()
        .map(|(nth, text)| if nth % 2 == 0 { Message::user(*text) } else { Message::assistant(*text) })
        .collect();
    for end in (1..=all.len()).step_by(2) {
        let newest = document(&all[end.saturating_sub(3)..end]);
        let change = state.sync_with(&newest, longhaul::FrontEnd::known()).unwrap().change;
        assert_eq!(change, Synced::Grew { n: if end == 1 { 1 } else { 2 } }, "{end}");
    }
    assert_eq!(state.originals().len(), 11);
}

/// Who hands in the newest messages only takes a turn back, asks otherwise, or has an answer made anew: it is what it is of a whole history.
#[test]
fn what_is_taken_back_in_the_newest_messages_is_known() {
    let window = ContextWindow::new(Tokens(8_000), Tokens::ZERO);
    let all: Vec<Message> = (0..41)
        .map(|nth| match nth % 2 {
            0 => Message::user(format!("question_{nth}?")),
            _ => Message::assistant(format!("answer_{nth}.")),
        })
        .collect();
    let other = |from: usize, to: usize, new: &[Message]| [&all[from..to], new].concat();
    for (said, expected) in [
        (other(19, 39, &[]), Synced::Rewound { to: 39 }),
        (other(1, 39, &[]), Synced::Rewound { to: 39 }),
        (other(10, 30, &[]), Synced::Rewound { to: 30 }),
        (other(21, 39, &[Message::assistant("Otherwise.")]), Synced::Edited { at: 39, n: 1 }),
        (other(30, 38, &[Message::user("And that?")]), Synced::Edited { at: 38, n: 1 }),
        (other(30, 40, &[Message::user("And that?")]), Synced::Edited { at: 40, n: 1 }),
    ] {
        for is_known in [false, true] {
            let session = SessionId::new("newest").unwrap();
            let mut state = SessionState::new(session, window, Arc::new(CharsPer4), Default::default());
            state.sync(&document(&all)).unwrap();
            let said = document(&said);
            let front_end =
                if is_known { longhaul::FrontEnd::known() } else { longhaul::FrontEnd::default() };
            let sync = state.sync_with(&said, front_end).unwrap();
            assert_eq!(sync.change, expected, "{is_known}");
            let n_new = sync.ordinals.len() as u64
                - sync.ordinals.iter().flatten().filter(|at| **at < 41).count() as u64;
            assert_eq!(n_new, 0);
            assert!(state.view().messages().any(|message| words(message) == "question_0?"));
        }
    }
}

/// After a compaction of the front end's own it may have more instructions than before, or fewer: it is shown what it has now.
#[tokio::test]
async fn instructions_that_come_or_go_after_the_client_compacted_are_heeded() {
    let system = |text: &str| Message::system(text);
    let (ask, answer) = (|text: &str| Message::user(text), |text: &str| Message::assistant(text));
    let summary = || Message::user(format!("{}\nthings", SUMMARIES[0]));
    let since = || vec![summary(), answer("ok"), ask("question_3")];
    let grown = |said: Vec<Message>| [said, vec![answer("answer_3"), ask("question_4")]].concat();
    let with = |head: &[Message], said: Vec<Message>| [head, &said[..]].concat();
    let talk = || vec![ask("question_1"), answer("answer_1"), ask("question_2")];
    for steps in [
        vec![talk(), since(), with(&[system("S")], since()), with(&[system("S2")], grown(since()))],
        vec![talk(), since(), with(&[system("S")], grown(since()))],
        vec![
            with(&[system("S")], talk()),
            with(&[system("S")], since()),
            since(),
            with(&[system("S"), system("T")], since()),
            with(&[system("S2")], since()),
            with(&[system("S3"), system("T")], grown(since())),
        ],
        vec![
            with(&[system("S")], talk()),
            with(&[system("S")], since()),
            with(&[system("S"), system("T")], grown(since())),
        ],
    ] {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        for (nth, said) in steps.iter().enumerate() {
            let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
            let builder = Session::builder(SessionId::new("heads").unwrap(), window);
            let builder = builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store));
            let mut session = builder.open().await.unwrap();
            let sync = session.sync_with(&document(said), longhaul::FrontEnd::known()).await.unwrap();
            let view = session.prepare().await.unwrap();
            let sent: Vec<String> = view.messages().map(|message| words(message)).collect();
            assert_eq!(sent, said.iter().map(words).collect::<Vec<_>>(), "{nth}: {:?}", sync.change);
        }
    }
}

/// Who takes turns back and then says again all that was there returns to the line that they left, with its pins and whole results.
#[tokio::test]
async fn who_rewinds_and_returns_is_where_they_were() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let said: Vec<Message> = (0..4)
        .flat_map(|nth| {
            [Message::user(format!("question_{nth}")), Message::assistant(format!("answer_{nth}"))]
        })
        .collect();
    let mut grown = said.clone();
    grown.push(Message::user("question_4"));
    let mut lines = Vec::new();
    for (nth, history) in [&said[..], &said[..1], &grown[..], &said[..3], &grown[..]].into_iter().enumerate()
    {
        let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
        let builder = Session::builder(SessionId::new("returns").unwrap(), window);
        let builder = builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store));
        let mut session = builder.open().await.unwrap();
        session.sync(&document(history)).await.unwrap();
        if nth == 0 {
            let pinned = session.state().originals().get(4).unwrap().id;
            session.pin(pinned).await.unwrap();
        }
        session.prepare().await.unwrap();
        assert_eq!(session.state().originals().len(), history.len(), "{nth}");
        lines.push((session.line().to_string(), session.state().pins().count()));
        session.save().await.unwrap();
    }
    let is_back = |nth: usize| lines[nth] == lines[0];
    assert!(is_back(2) && is_back(4) && !is_back(1) && !is_back(3), "{lines:?}");
}
