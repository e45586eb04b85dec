//! A front end that hands over its whole history with each request, with secrets in it, and a session that is opened for each: what
//! goes on to the provider is what the front end says in that very request, and nothing of the secrets is kept.

use std::sync::{Arc, Mutex};

use longhaul::{
    Builder, Config, Event, Session, Shown, Synced, View,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{FixedClock, SessionId, Span, Tokens, Usage},
    wire::{Document, Format, read},
};

use crate::front_end::Draw;

/// Put together here, so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo")
}

/// The messages of the nth turn, as `format` spells them: a question, a call, its result, an answer, the first three with a secret.
fn turn(format: Format, nth: usize, words: usize) -> Vec<String> {
    let (key, more) = (secret(), "and the queue drops the small blocks ".repeat(words));
    let (ask, found) = (format!("Q{nth}: use {key} please {more}"), format!("TOKEN_{nth}={key}\\n{more}"));
    let answer = format!(r#"{{"role":"assistant","content":"A{nth}: {more}"}}"#);
    let ask = format!(r#"{{"role":"user","content":"{ask}"}}"#);
    match format {
        Format::OpenAi => vec![
            ask,
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{nth}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"env {key}\"}}"}}}}]}}"#
            ),
            format!(r#"{{"role":"tool","tool_call_id":"call_{nth}","content":"{found}"}}"#),
            answer,
        ],
        _ => vec![
            ask,
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_{nth}","name":"bash","input":{{"command":"env {key}"}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{nth}","content":"{found}"}}]}}"#
            ),
            answer,
        ],
    }
}

/// A request that says `said`, under instructions with a secret in them.
fn body(format: Format, said: &[String]) -> String {
    let (key, said) = (secret(), said.join(","));
    match format {
        Format::OpenAi => {
            format!(
                r#"{{"model":"m","messages":[{{"role":"system","content":"The key is {key}."}},{said}]}}"#
            )
        }
        _ => format!(r#"{{"model":"m","system":"The key is {key}.","messages":[{said}],"max_tokens":5}}"#),
    }
}

struct FrontEnd {
    window: u64,
    store: Arc<MemoryStore>,
    told: Arc<Mutex<Vec<String>>>,
}

impl FrontEnd {
    fn new(window: u64) -> FrontEnd {
        FrontEnd { window, store: Arc::default(), told: Arc::default() }
    }

    fn builder(&self) -> Builder {
        let window = ContextWindow::new(Tokens(self.window), Tokens::ZERO);
        let told = Arc::clone(&self.told);
        Session::builder(SessionId::new("secrets").unwrap(), window)
            .config(Config { trigger_ratio: "0.8".parse().unwrap(), ..Config::default() })
            .counter(Arc::new(CharsPer4))
            .clock(Arc::new(FixedClock(1_000)))
            .observer(move |event: &Event| told.lock().unwrap().push(format!("{event} {event:?}")))
    }

    /// Makes a request by a session that is opened for it.
    async fn request(&self, came: &Document) -> (View, Synced) {
        let mut session = self.builder().store(self.store.clone()).open().await.unwrap();
        follow(&mut session, came).await
    }

    /// Asserts that nothing of a secret is in the store, in an event or in a summary.
    async fn assert_kept_nothing(&self, view: &View) {
        let mut kept = self.told.lock().unwrap().join("\n");
        for info in self.store.sessions().await.unwrap() {
            let (line, all) = (&info.session, Span { start: 0, end: 10_000 });
            kept += &format!("{:?}", self.store.originals_in_line(line, all).await.unwrap());
            kept += &format!("{:?}", self.store.records(line).await.unwrap());
            kept += &format!("{:?}", self.store.chain(line).await.unwrap());
            let snapshot = self.store.snapshot(line).await.unwrap().unwrap();
            kept += &String::from_utf8(snapshot.bytes).unwrap();
        }
        kept.extend(view.summaries().map(|record| format!("{record:?}")));
        assert!(!kept.contains(&secret()) && !kept.contains(&secret()[4..12]));
    }
}

async fn follow(session: &mut Session, came: &Document) -> (View, Synced) {
    let change = session.sync(came).await.unwrap().change;
    let view = session.prepare().await.unwrap();
    let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
    session.report_usage(view.id(), &Usage { input: counted + Tokens(9), ..Usage::default() });
    session.save().await.unwrap();
    (view, change)
}

#[tokio::test]
async fn what_the_client_says_again_goes_out_as_it_says_it() {
    for format in [Format::OpenAi, Format::Anthropic] {
        let client = FrontEnd::new(60_000);
        let mut said: Vec<String> = Vec::new();
        let mut before = String::new();
        for nth in 0..6 {
            let next = turn(format, nth, 20);
            said.push(next[0].clone());
            let whole = body(format, &said);
            let came = read(Some(format), whole.as_bytes()).unwrap();
            let (view, change) = client.request(&came).await;
            assert!(matches!(change, Synced::Grew { .. }), "{format} {nth}: {change:?}");
            let sent = view.to_json(format).unwrap();
            assert_eq!(came.with_messages(&sent).unwrap(), whole, "{format} {nth}");
            assert!(view.stable_prefix().items >= nth.min(1), "{format} {nth}");
            let sent = sent.json.trim_end_matches([']', '}']).to_owned();
            assert!(sent.starts_with(&before), "{format} {nth}");
            before = sent;
            said.extend_from_slice(&next[1..]);
            client.assert_kept_nothing(&view).await;
        }
    }
}

/// Compacted, edited and taken back, it sends what a session sends that stays open.
#[tokio::test]
async fn a_session_for_each_request_sends_what_one_that_stays_sends() {
    for format in [Format::OpenAi, Format::Anthropic] {
        let client = FrontEnd::new(6_000);
        let mut open = client.builder().store(Arc::new(MemoryStore::default())).build().unwrap();
        let mut said: Vec<String> = Vec::new();
        let (mut n_summaries, mut n_digested, mut n_whole) = (0, 0, 0);
        let mut draw = Draw(7);
        for nth in 0..40 {
            let next = turn(format, nth, 3 + draw.below(30) as usize);
            let changes = match nth {
                15 => {
                    // An earlier question is asked in other words.
                    let at = said.len() - 8;
                    said.truncate(at);
                    said.extend_from_slice(&next[..1]);
                    "edited"
                }
                25 => {
                    said.truncate(said.len() - 7);
                    "rewound"
                }
                _ => {
                    said.push(next[0].clone());
                    "grew"
                }
            };
            let whole = body(format, &said);
            let came = read(Some(format), whole.as_bytes()).unwrap();
            let (view, change) = client.request(&came).await;
            let (other, other_change) = follow(&mut open, &came).await;
            assert_eq!(change, other_change, "{format} {nth}");
            assert!(serde_json::to_value(change).unwrap().to_string().contains(changes), "{change:?}");
            let json = |view: &View| view.to_json(format).unwrap().json;
            let (one, other_json) = (json(&view), json(&other));
            let at = one.bytes().zip(other_json.bytes()).take_while(|(one, other)| one == other).count();
            assert!(one == other_json, "{format} {nth} at {at} of {} and {}", one.len(), other_json.len());
            assert_eq!(view.stable_prefix(), other.stable_prefix(), "{format} {nth}");
            for shown in view.shown() {
                match shown {
                    Shown::Message { digested: true, .. } => n_digested += 1,
                    Shown::Message { message, .. } => {
                        n_whole += 1;
                        assert!(!format!("{message:?}").contains("REDACTED"), "{format} {nth}: {message:?}");
                    }
                    _ => n_summaries += 1,
                }
            }
            client.assert_kept_nothing(&view).await;
            match changes {
                "rewound" => {}
                _ => said.extend_from_slice(&next[1..]),
            }
        }
        assert!(n_summaries > 5 && n_digested > 0 && n_whole > 20, "{n_summaries} {n_digested} {n_whole}");
    }
}
