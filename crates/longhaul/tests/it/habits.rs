//! What stateless clients do to the history that they hand in, each with each: they keep the newest messages only, clear what tools answered
//! longer ago, leave earlier reasoning out, spell things otherwise, and tell the time in their instructions. It has only grown all the same.

use std::sync::Arc;

use longhaul::{
    FrontEnd, Session, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Entry, SessionId, Tokens},
    wire::{Document, Format, read},
};
use serde_json::{Value, json};

/// How a client hands in what was said.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// Its instructions tell the time.
    clock: bool,
    /// It keeps so many of the newest messages, and so many of the first.
    newest: Option<(usize, usize)>,
    /// It clears all but the newest results.
    clears: bool,
    /// It sends what the model thought only with the newest answers.
    forgets_thoughts: bool,
    /// It hands in what the model thought in each third request only.
    toggles_thoughts: bool,
    /// It writes blanks in its own way.
    respells: bool,
}

fn all_habits() -> impl Iterator<Item = Habits> {
    let cuts = [None, Some((9, 0)), Some((20, 0)), Some((20, 1)), Some((20, 4)), Some((60, 0))];
    (0..24).flat_map(move |bits| {
        let is = move |nth: u32| bits >> nth & 1 == 1;
        cuts.map(|newest| Habits {
            clock: is(0),
            newest,
            clears: is(1),
            forgets_thoughts: is(2),
            respells: is(3),
            toggles_thoughts: is(4),
        })
    })
}

/// How a format spells what a client says.
struct Spelling {
    format: Format,
    turn: fn(usize) -> Vec<Value>,
    body: fn(&str, &[Value]) -> Value,
    /// Where a message that is a result has its text; `None` where it is none.
    output: fn(&mut Value) -> Option<&mut Value>,
    /// Takes what the model thought out of what was said; returns whether nothing is left.
    forget: fn(&mut Value) -> bool,
    arguments: fn(&mut Value) -> Option<&mut Value>,
}

fn output(nth: usize) -> String {
    format!("fn part_{nth}() {{ advance(); }}\n").repeat(15)
}

const SPELLINGS: [Spelling; 3] = [
    Spelling {
        format: Format::OpenAi,
        turn: |nth| {
            let call = json!({ "id": format!("call_{nth}_of_many"), "type": "function",
                "function": { "name": "read", "arguments": "{\"limit\":15}" } });
            vec![
                json!({ "role": "user", "content": format!("Question {nth}?") }),
                json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
                json!({ "role": "tool", "tool_call_id": format!("call_{nth}_of_many"), "content": output(nth) }),
                json!({ "role": "assistant", "content": format!("It is {nth}.") }),
            ]
        },
        body: |head, said| {
            let head = [json!({ "role": "system", "content": head })];
            let messages = [&head[..], said].concat();
            json!({ "model": "m", "messages": messages })
        },
        output: |message| (message["role"] == "tool").then(|| &mut message["content"]),
        forget: |_| false,
        arguments: |message| {
            message["tool_calls"].is_array().then(|| &mut message["tool_calls"][0]["function"]["arguments"])
        },
    },
    Spelling {
        format: Format::Anthropic,
        turn: |nth| {
            let id = format!("toolu_{nth}_of_many");
            vec![
                json!({ "role": "user", "content": [{ "type": "text", "text": format!("Question {nth}?") }] }),
                json!({ "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "t", "signature": format!("S{nth}") },
                    { "type": "tool_use", "id": id, "name": "read", "input": { "limit": 15 } },
                ] }),
                json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": id, "content": output(nth) },
                ] }),
                json!({ "role": "assistant", "content": [{ "type": "text", "text": format!("It is {nth}.") }] }),
            ]
        },
        body: |head, said| json!({ "model": "m", "max_tokens": 9, "system": head, "messages": said }),
        output: |message| {
            (message["content"][0]["type"] == "tool_result").then(|| &mut message["content"][0]["content"])
        },
        forget: |message| {
            let blocks = message["content"].as_array_mut().unwrap();
            blocks.retain(|block| block["type"] != "thinking");
            false
        },
        arguments: |_| None,
    },
    Spelling {
        format: Format::Responses,
        turn: |nth| {
            let id = format!("call_{nth}_of_many");
            let thought = |of: &str| json!({ "type": "reasoning", "summary": [], "encrypted_content": format!("gAAAA{nth}{of}") });
            vec![
                json!({ "role": "user", "content": format!("Question {nth}?") }),
                thought("a"),
                json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": "{\"limit\":15}" }),
                json!({ "type": "function_call_output", "call_id": id, "output": output(nth) }),
                thought("b"),
                json!({ "type": "message", "role": "assistant",
                    "content": [{ "type": "output_text", "text": format!("It is {nth}."), "annotations": [] }] }),
            ]
        },
        body: |head, said| json!({ "model": "m", "instructions": head, "input": said }),
        output: |item| (item["type"] == "function_call_output").then(|| &mut item["output"]),
        forget: |item| item["type"] == "reasoning",
        arguments: |item| (item["type"] == "function_call").then(|| &mut item["arguments"]),
    },
];

impl Spelling {
    /// Returns the request of a client that holds `all`.
    fn request(&self, habits: Habits, nth: usize, all: &[Value]) -> Document {
        let mut said = all.to_vec();
        let n_results = said.iter_mut().filter_map(self.output).count();
        let older = said.iter_mut().filter_map(self.output).take(n_results.saturating_sub(3));
        older.filter(|_| habits.clears).for_each(|text| *text = json!("[Old tool result content cleared]"));
        if habits.respells {
            let newer = said.iter_mut().filter_map(self.output).skip(n_results.saturating_sub(3));
            newer.for_each(|text| *text = json!(text.as_str().unwrap().replace('\n', "\r\n")));
            let calls = said.iter_mut().filter_map(self.arguments).rev().skip(1);
            calls.for_each(|arguments| *arguments = json!("{ \"limit\": 15 }"));
        }
        if habits.forgets_thoughts || habits.toggles_thoughts && !nth.is_multiple_of(3) {
            let old = if habits.toggles_thoughts { all.len() } else { all.len().saturating_sub(6) };
            let mut at = 0;
            said.retain_mut(|message| {
                at += 1;
                at > old || !(self.forget)(message)
            });
        }
        if let Some((newest, first)) = habits.newest {
            let rest = said.split_off(said.len().saturating_sub(newest));
            said.truncate(first);
            said.extend(rest);
        }
        let head = format!("It is 10:{:02}. Be brief.", if habits.clock { nth } else { 0 });
        read(Some(self.format), (self.body)(&head, &said).to_string().as_bytes()).unwrap()
    }
}

#[tokio::test]
async fn whatever_a_client_leaves_out_or_respells_the_conversation_has_only_grown() {
    let window = ContextWindow::new(Tokens(3_000), Tokens(300));
    for (nth, spelling) in SPELLINGS.iter().enumerate() {
        // Each spelling has a third of them.
        for habits in all_habits().skip(nth).step_by(SPELLINGS.len()) {
            let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
            let open = || {
                let builder = Session::builder(SessionId::new("habits").unwrap(), window);
                builder.counter(Arc::new(CharsPer4)).store(Arc::clone(&store)).open()
            };
            let mut session = open().await.unwrap();
            let mut all: Vec<Value> = Vec::new();
            // Some say how many of the first messages they keep.
            let told = habits.newest.filter(|_| habits.clock).map_or(0, |(_, first)| first);
            let front_end = FrontEnd::default().keeps_first(told);
            let context = format!("{:?}, {habits:?}", spelling.format);
            for nth in 0..18 {
                if nth % 7 == 6 {
                    session = open().await.unwrap();
                }
                let turn = (spelling.turn)(nth);
                let is_output = |message: &Value| (spelling.output)(&mut message.clone()).is_some();
                for end in [1, 1 + turn.iter().position(is_output).unwrap()] {
                    let said = [&all[..], &turn[..end]].concat();
                    let request = spelling.request(habits, nth, &said);
                    let sync = session.sync_with(&request, front_end).await.unwrap();
                    assert!(
                        matches!(sync.change, Synced::Grew { .. }),
                        "{context}, {nth}: {:?}",
                        sync.change
                    );
                    let view =
                        session.prepare().await.unwrap_or_else(|error| panic!("{context}, {nth}: {error}"));
                    let last = view.messages().last().unwrap();
                    assert_eq!(last.results().count(), usize::from(end > 1), "{context}, {nth}");
                }
                all.extend(turn);
            }
            // All of it was said once.
            let originals = session.state().originals();
            let is_said = |entry: &&Entry| entry.message.texts().any(|text| !text.is_empty());
            let n_said = originals.entries().iter().filter(is_said).count();
            assert_eq!(n_said, 1 + 18 + 17, "{context}");
            let recalled = session.recall(r#"{"message":"m3"}"#).await.unwrap();
            assert!(!recalled.contains("cleared"), "{context}: {recalled}");
        }
    }
}
