//! What is said of a context against what is billed for it: with an overhead that nobody told of, by another tokenizer, and with bills
//! that scatter.

use longhaul::{
    Session, UsageVerdict,
    tokens::ContextWindow,
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Usage},
};

/// A provider that bills `text` and `results` for each counted token of these, `beside` for every request, and up to `scatter` of it
/// all more or less.
#[derive(Clone, Copy, Debug)]
struct Provider {
    text: f64,
    results: f64,
    beside: u64,
    scatter: f64,
}

/// What became of one request.
#[derive(Debug)]
struct Request {
    nth: u64,
    /// The view is another than that of the request before.
    is_rewritten: bool,
    /// What it was expected to cost at most, what was likely, and what was billed.
    most: Tokens,
    likely: Tokens,
    billed: Tokens,
}

/// Evenly spread between -1 and 1.
fn chance(nth: u64) -> f64 {
    (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1u32 << 23) - 1.0
}

fn exchange(nth: u64) -> [Message; 4] {
    let id = format!("c{nth}");
    let lines = match nth % 9 {
        4 => 120,
        _ => 4 + nth * 13 % 31,
    };
    let output: String =
        (0..lines).map(|line| format!("{line}: pub fn step_{nth}_{line}(input: &str) -> usize\n")).collect();
    let call = ToolCall::function(&*id, "read_file", format!("{{\"path\":\"src/mod_{nth}.rs\"}}"));
    [
        Message::user(format!("Turn {nth}: look at src/mod_{nth}.rs and mend error E{:04}.", 100 + nth)),
        Message::new(Role::Assistant, vec![Part::ToolCall(call)]),
        Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text(&*id, output, Outcome::Succeeded))]),
        Message::assistant(format!("Turn {nth} is done: step {nth} was wrong.")),
    ]
}

/// An agent of sixty turns in this window; each answer is asked for, and billed. `Err` where no request could be made.
async fn work(window: u64, provider: Provider) -> Result<Vec<Request>, String> {
    let window = ContextWindow::new(Tokens(window), Tokens(window / 8));
    let mut session = Session::builder(SessionId::new("billed").unwrap(), window).build().unwrap();
    let (mut requests, mut rewrites): (Vec<Request>, u64) = (Vec::new(), 0);
    for message in (0..60).flat_map(exchange) {
        if message.role == Role::Assistant {
            let nth = requests.len() as u64 + 1;
            let view = session.prepare().await.map_err(|error| format!("request {nth}: {error}"))?;
            let counter = session.state().counter();
            let of = |is_result: bool| -> f64 {
                let messages =
                    view.messages().filter(|message| message.results().next().is_some() == is_result);
                messages.map(|message| counter.count_message(message).0 as f64).sum()
            };
            let exact = of(false) * provider.text + of(true) * provider.results + provider.beside as f64;
            let billed = Tokens((exact * (1.0 + provider.scatter * chance(nth))) as u64);
            let (most, likely) = (view.tokens(), session.state().likely_tokens());
            let is_rewritten = view.id().rewrites != rewrites;
            rewrites = view.id().rewrites;
            if billed > window.window {
                session.overflowed(None).await.map_err(|error| format!("refused {nth}: {error}"))?;
            } else {
                session.report_usage(view.id(), &Usage { input: billed, ..Usage::default() });
                requests.push(Request { nth, is_rewritten, most, likely, billed });
            }
        }
        session.push(message);
    }
    Ok(requests)
}

#[tokio::test]
async fn what_every_request_costs_beside_its_messages_is_known_from_the_fourth_on() {
    for beside in [500, 3_500, 9_000] {
        let provider = Provider { text: 1.0, results: 1.0, beside, scatter: 0.0 };
        for request in work(32_000, provider).await.unwrap().iter().filter(|request| request.nth > 3) {
            let shares = (request.most.ratio_of(request.billed), request.likely.ratio_of(request.billed));
            assert!(
                (0.98..1.1).contains(&shares.0) && (0.98..1.02).contains(&shares.1),
                "{beside}: {request:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_window_of_which_a_third_is_overhead_and_each_token_costs_three_can_be_worked_in() {
    let provider = Provider { text: 3.0, results: 3.0, beside: 3_500, scatter: 0.0 };
    let requests = work(16_000, provider).await.unwrap();
    assert!(requests.len() >= 119, "{}", requests.len());
    for request in requests.iter().filter(|request| request.nth > 4) {
        assert!((0.97..1.2).contains(&request.most.ratio_of(request.billed)), "{request:?}");
    }
}

#[tokio::test]
async fn bills_that_scatter_are_no_rise_and_no_price_of_their_own() {
    for (text, results, beside) in [(1.0, 1.0, 0), (1.3, 1.3, 500), (1.0, 1.6, 0), (1.0, 1.6, 2_000)] {
        let requests = work(16_000, Provider { text, results, beside, scatter: 0.03 }).await.unwrap();
        let rewritten = requests.iter().filter(|request| request.is_rewritten).count();
        assert!(rewritten > 5, "{rewritten}");
        for request in requests.iter().filter(|request| request.nth > 6) {
            assert!((0.94..1.3).contains(&request.most.ratio_of(request.billed)), "{request:?}");
            assert!((0.85..1.15).contains(&request.likely.ratio_of(request.billed)), "{request:?}");
        }
    }
}

/// From a request on each is billed at twice what is counted, which is more than the window.
#[tokio::test]
async fn a_bill_above_the_window_that_stays_is_believed_and_a_running_total_is_not() {
    let window = ContextWindow::new(Tokens(12_000), Tokens(1_500));
    for is_total in [false, true] {
        let mut session = Session::builder(SessionId::new("billed").unwrap(), window).build().unwrap();
        let (mut requests, mut total) = (Vec::new(), 0);
        for message in (0..60).flat_map(exchange) {
            if message.role == Role::Assistant {
                let view = session.prepare().await.unwrap();
                let counter = session.state().counter();
                let counted: u64 = view.messages().map(|message| counter.count_message(message).0).sum();
                let is_large = counted > 6_200 || !requests.is_empty();
                total += counted;
                let billed = match (is_large, is_total) {
                    (false, _) => counted,
                    (true, false) => 2 * counted,
                    (true, true) => total,
                };
                let most = view.tokens();
                let usage = Usage { input: Tokens(billed), ..Usage::default() };
                let verdict = session.report_usage(view.id(), &usage);
                if is_large {
                    requests.push((counted, most, Tokens(billed), verdict));
                }
            }
            session.push(message);
        }
        let believed: Vec<_> =
            requests.iter().map(|request| request.3 != UsageVerdict::Implausible).collect();
        match is_total {
            true => assert!(!believed.contains(&true), "{requests:?}"),
            false => {
                assert_eq!(believed[..3], [false, false, true], "{requests:?}");
                for (_, most, billed, _) in &requests[3..] {
                    assert!(*billed <= Tokens(10_500) && most.ratio_of(*billed) > 0.98, "{requests:?}");
                }
            }
        }
    }
}
