//! A front end that compacts by itself and keeps a tail of what was said: what it took out, and what it takes back later, comes back
//! in no request, whatever longhaul digests and summarizes meanwhile.
//!
//! 12 conversations by default; `LONGHAUL_FRONT_ENDS=1000` drives a thousand.

use std::{collections::BTreeSet, sync::Arc};

use longhaul::{
    Session, Synced,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult},
    wire::{Format, Profile, validate},
};

use crate::front_end::{Draw, SUMMARIES, document};

const SUMMARY: &str = SUMMARIES[0];

fn below(draw: &mut Draw, n: usize) -> usize {
    draw.below(n as u64) as usize
}

/// A front end: what it has, what it had before it compacted, and how many words it said.
struct FrontEnd {
    said: Vec<Message>,
    before: Option<Vec<Message>>,
    nth: usize,
}

impl FrontEnd {
    fn says(&mut self, draw: &mut Draw, most: usize) -> String {
        self.nth += 1;
        let rest = "the module parses the ledger and keeps an index ".repeat(1 + below(draw, most));
        format!("canary{}z {rest} in src/file_{}.rs", self.nth, self.nth)
    }

    fn ask(&mut self, draw: &mut Draw) {
        let words = self.says(draw, 4);
        self.said.push(Message::user(words));
    }

    fn answer(&mut self, draw: &mut Draw) {
        if below(draw, 2) == 0 {
            let id = format!("call_{}", self.nth);
            let call = Part::ToolCall(ToolCall::function(&*id, "read_file", r#"{"path":"a.rs"}"#));
            self.said.push(Message::new(Role::Assistant, vec![call]));
            let content = vec![Part::Text(self.says(draw, 90))];
            let result = ToolResult { call_id: id.into(), content, outcome: Outcome::Unstated };
            self.said.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        }
        let words = self.says(draw, 6);
        self.said.push(Message::assistant(words));
    }

    /// Returns where people ask for something.
    fn requests(&self) -> Vec<usize> {
        let is_request =
            |at: &usize| self.said[*at].role == Role::User && !words(&self.said[*at]).starts_with(SUMMARY);
        (0..self.said.len()).filter(is_request).collect()
    }

    /// Does something that ends with a request, and returns what it is.
    fn act(&mut self, draw: &mut Draw) -> &'static str {
        let requests = self.requests();
        match below(draw, 12) {
            0 | 1 if requests.len() > 2 => {
                // With another first request it would be another conversation.
                let first = usize::from(requests[0] == 1);
                self.said.truncate(requests[first + below(draw, requests.len() - first)]);
                self.ask(draw);
                "edited"
            }
            2 if requests.len() > 2 => {
                self.said.truncate(requests[below(draw, requests.len() - 1)] + 1);
                "rewound"
            }
            3 | 4 if requests.len() > 3 => {
                self.before = Some(self.said.clone());
                let tail = self.said.split_off(requests[1 + below(draw, requests.len() - 1)]);
                self.said.truncate(1);
                let words = self.says(draw, 2);
                self.said.push(Message::user(format!("{SUMMARY} {words}")));
                self.said.extend(tail);
                "compacted"
            }
            5 if let Some(before) = self.before.take() => {
                self.said = before;
                "taken back"
            }
            _ => {
                self.answer(draw);
                self.ask(draw);
                "grew"
            }
        }
    }
}

fn words(message: &Message) -> String {
    let results = message.results().map(|result| result.joined_text());
    message.texts().map(str::to_owned).chain(results).collect::<Vec<_>>().join("\n")
}

fn canaries(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.starts_with("canary") && word.ends_with('z')).map(str::to_owned).collect()
}

async fn open(store: &Arc<dyn SummaryStore>, name: &str) -> Session {
    let window = ContextWindow::new(Tokens(3_500), Tokens(1_000));
    let builder = Session::builder(SessionId::new(name).unwrap(), window);
    builder.counter(Arc::new(CharsPer4)).store(Arc::clone(store)).open().await.unwrap()
}

#[tokio::test]
async fn what_a_front_end_took_out_or_back_is_in_no_request() {
    let asked = std::env::var("LONGHAUL_FRONT_ENDS").ok().and_then(|n| n.parse().ok());
    let (mut n_compacted, mut n_summarized) = (0, 0);
    for conversation in 1..=asked.unwrap_or(12_u64) {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let (mut session, mut draw) = (open(&store, "front").await, Draw(conversation * 104_729));
        let mut front_end = FrontEnd { said: vec![Message::system("Be careful.")], before: None, nth: 0 };
        front_end.ask(&mut draw);
        let mut ordinals = session.sync(&document(&front_end.said)).await.unwrap().ordinals;
        let mut done = Vec::new();
        for _ in 0..60 {
            let (n_before, was) = (front_end.said.len(), front_end.said.clone());
            let does = front_end.act(&mut draw);
            done.push(does);
            let (said, place) = (&front_end.said, format!("{conversation}: {done:?}"));
            let n = (said.len().max(n_before) - n_before) as u64;
            let sync = session.sync(&document(said)).await.unwrap();
            let change = sync.change;
            let is_expected = match does {
                "grew" => change == Synced::Grew { n },
                "compacted" => change == Synced::CompactedByClient { n: said.len() as u64 - 1 },
                "edited" => matches!(change, Synced::Edited { n: 1, .. }),
                "rewound" => matches!(change, Synced::Rewound { .. }),
                _ => matches!(change, Synced::Rewound { .. } | Synced::Edited { .. }),
            };
            assert!(is_expected, "{place} is {change:?}");
            if does == "compacted" {
                n_compacted += 1;
                // It is an original still.
                let asked = format!(r#"{{"message":"m{}"}}"#, ordinals[1].unwrap());
                let found = session.recall(&asked).await.unwrap();
                assert!(found.contains(&words(&was[1])), "{place}: {found}");
            }
            ordinals = sync.ordinals;
            assert_eq!(session.sync(&document(said)).await.unwrap().change, Synced::Unchanged, "{place}");

            let view = session.prepare().await.unwrap();
            let n_summaries = view.summaries().count();
            n_summarized += n_summaries;
            assert!(view.len() <= said.len() + n_summaries, "{place}: {} of {}", view.len(), said.len());
            let mut own: Vec<String> = view.messages().map(|message| words(message)).collect();
            own.retain(|words| words.starts_with("canary"));
            own.sort_unstable();
            assert!(own.windows(2).all(|pair| pair[0] != pair[1]), "{place}: one stands there twice");
            let json = view.to_json(Format::OpenAi).unwrap().json;
            let known = said.iter().map(words).collect::<Vec<_>>().join("\n");
            let foreign: Vec<String> = canaries(&json).difference(&canaries(&known)).cloned().collect();
            assert!(foreign.is_empty(), "{place}: {foreign:?} came back");
            let asked = words(said.last().unwrap());
            assert!(view.messages().any(|message| words(message) == asked), "{place}: no request");
            let body = format!(r#"{{"messages":{json}}}"#);
            let body = if json.starts_with('[') { body } else { json };
            let problems = validate(body.as_bytes(), Format::OpenAi, &Profile::default()).unwrap();
            assert!(problems.is_empty(), "{place}: {problems:?}");
            if below(&mut draw, 6) == 0 {
                session.undo().await.unwrap();
            }
            if below(&mut draw, 6) == 0 {
                session.save().await.unwrap();
                session = open(&store, "front").await;
            }
        }
    }
    assert!(n_compacted > 20 && n_summarized > 100, "{n_compacted} {n_summarized}");
}

/// A conversation that began with an agent's summary goes on under instructions that are worded otherwise, as where they tell the day.
#[tokio::test]
async fn a_conversation_that_begins_with_a_summary_grows_under_other_instructions() {
    for summary in SUMMARIES {
        for newest in [None, Some(11)] {
            let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
            let mut all = vec![Message::user(format!("{summary} The relay was mended."))];
            for nth in 0..20 {
                let mut said =
                    vec![Message::system(format!("It is {}.", if nth < 15 { "Monday" } else { "Tuesday" }))];
                let n_left_out = newest.map_or(1, |newest| all.len().saturating_sub(newest).max(1));
                said.push(all[0].clone());
                said.extend_from_slice(&all[n_left_out..]);
                let mut session = open(&store, "header").await;
                let change =
                    session.sync_with(&document(&said), longhaul::FrontEnd::known()).await.unwrap().change;
                let n = 2;
                assert_eq!(change, Synced::Grew { n }, "{summary}, {newest:?}, {nth}");
                session.save().await.unwrap();
                all.push(Message::assistant(format!("Part {nth} is done.")));
                all.push(Message::user(format!("And part {}?", nth + 1)));
            }
        }
    }
}

/// A session that is opened for each request knows what it has since the client compacted, whatever secrets were said before.
#[tokio::test]
async fn what_a_front_end_has_since_it_compacted_is_known_where_there_are_secrets() {
    let key = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    for (secret_at, n_left_out) in (0..17).flat_map(|at| [0, 2, 8].map(|n| (at, n))) {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
        let message = |nth: usize| {
            let secret = if nth == secret_at { format!(" The key is {key}.") } else { String::new() };
            match nth % 2 {
                0 => Message::user(format!("Question {nth} about the ledger?{secret}")),
                _ => Message::assistant(format!("Answer {nth} is this, and more of it.{secret}")),
            }
        };
        let mut said: Vec<Message> = (0..17).map(message).collect();
        let mut n_requests = 0;
        for (does, expected) in [
            ("asks", Synced::Grew { n: 18 }),
            ("compacts", Synced::CompactedByClient { n: 15 }),
            ("goes on", Synced::Grew { n: 2 }),
            ("goes on", Synced::Grew { n: 2 }),
        ] {
            match does {
                "compacts" => {
                    let tail = said.split_off(4);
                    said = vec![Message::user(format!("{SUMMARY} Much.")), Message::assistant("I go on.")];
                    said.extend(tail);
                }
                "goes on" => said.extend([
                    Message::assistant(format!("Answer {n_requests} of it.")),
                    Message::user(format!("Question {n_requests} about the queue?")),
                ]),
                _ => {}
            }
            n_requests += 1;
            let head = [Message::system(format!("It is 10:0{n_requests}."))];
            let mut session = open(&store, "secrets").await;
            // It keeps its summary and what followed it, and the newest.
            let cut = if does == "goes on" { 2 + n_left_out } else { 2 };
            let said = [&head[..], &said[..2], &said[cut..]].concat();
            let change = session.sync(&document(&said)).await.unwrap().change;
            assert_eq!(change, expected, "{secret_at}, {n_left_out}: {does}");
            session.save().await.unwrap();
        }
    }
}
