//! How much of one request the next begins with: what a provider has in its cache. 200 requests, each with a tool result
//! of 40 lines more than the one before. Beside it what a cached request costs in all, in tokens read anew, where reading
//! from the cache costs a tenth and writing there a quarter more: with the soft tier and without.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use longhaul::{
    Config, Event, EventKind, Session,
    config::SoftAction,
    tokens::ContextWindow,
    transcript::{Message, SessionId, Tokens},
    wire::Format,
};

use super::work::turn;

/// How many requests are made.
const REQUESTS: usize = 200;

pub(crate) async fn run() {
    println!("prefix kept over {REQUESTS} requests with a result of 40 lines more in each, default settings");
    println!(
        "| window | format | soft tier | prefix kept | rewrites | soft ones | costs, thousand bytes | stable prefix told right |\n|---|---|---|---|---|---|---|---|"
    );
    let soft_actions = [Config::default().soft_action, SoftAction::Off];
    for (window, soft_action) in
        [16_000, 32_000, 128_000].into_iter().flat_map(|window| soft_actions.map(|soft| (window, soft)))
    {
        for format in [Format::OpenAi, Format::Anthropic] {
            let limits = ContextWindow::new(Tokens(window), Tokens(window / 8));
            let n_soft = Arc::new(AtomicU64::new(0));
            let seen = Arc::clone(&n_soft);
            let observer = move |event: &Event| {
                if let EventKind::Trimmed { .. } = event.kind {
                    seen.fetch_add(1, Relaxed);
                }
            };
            let builder = Session::builder(SessionId::new("prefix").unwrap(), limits).observer(observer);
            let config = Config { soft_action, ..Config::default() };
            let mut session = builder.config(config).build().unwrap();
            session.push(Message::system("You are a careful engineer."));
            session.push(Message::user(
                "Go through the parts of the export one by one and say what each is for.",
            ));
            let (mut sent, mut same, mut cost) = (0, 0, 0.0);
            let mut before = String::new();
            let mut is_right = true;
            for nth in 0..REQUESTS {
                let view = session.prepare().await.unwrap();
                let request = view.to_json(format).unwrap().json;
                let common =
                    before.bytes().zip(request.bytes()).take_while(|(one, other)| one == other).count();
                is_right &= view.stable_bytes(format).unwrap() <= common || before.is_empty();
                sent += before.len();
                same += common;
                cost += common as f64 * 0.1 + (request.len() - common) as f64 * 1.25;
                before = request;
                // The model calls, the tool answers; it speaks seldom.
                let [_, call, result, answer] = turn(nth, 40);
                session.push(call);
                session.push(result);
                if nth % 20 == 19 {
                    session.push(answer);
                    session.push(Message::user(format!("And what does part {nth} need?")));
                }
            }
            let rewrites = session.state().view().id().rewrites;
            println!(
                "| {window} | {} | {soft_action:?} | {:.3} | {rewrites} | {} | {:.0} | {is_right} |",
                format.name(),
                same as f64 / sent as f64,
                n_soft.load(Relaxed),
                cost / 1e3,
            );
        }
    }
}
