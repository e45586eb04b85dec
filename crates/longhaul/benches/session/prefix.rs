//! How much of one request the next begins with: what a provider has in its cache. 200 requests, each with a tool result
//! of 40 lines more than the one before.

use longhaul::{
    Session,
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
        "| window | format | prefix kept | rewrites | stable prefix told right |\n|---|---|---|---|---|"
    );
    for window in [16_000, 32_000, 128_000] {
        for format in [Format::OpenAi, Format::Anthropic] {
            let limits = ContextWindow::new(Tokens(window), Tokens(window / 8));
            let mut session = Session::builder(SessionId::new("prefix").unwrap(), limits).build().unwrap();
            session.push(Message::system("You are a careful engineer."));
            session.push(Message::user(
                "Go through the parts of the export one by one and say what each is for.",
            ));
            let (mut sent, mut same) = (0, 0);
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
                "| {window} | {} | {:.3} | {rewrites} | {is_right} |",
                format.name(),
                same as f64 / sent as f64
            );
        }
    }
}
