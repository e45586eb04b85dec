//! A session that was killed goes on with the same requests, byte for byte, as one that was not: usage reported, thinking in
//! every round, tool results as lists of blocks, images.

use std::sync::Arc;

use longhaul::{
    Builder, Session, Shown, View,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow, TokenCounter},
    transcript::{FixedClock, Message, SessionId, Tokens, Usage},
    wire::Format::Anthropic,
};

/// How many requests a conversation has.
const REQUESTS: usize = 44;

/// A step of a round, for a kill to come after.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    /// The request was made ready, and maybe sent.
    Prepared,
    /// The answer came and was written.
    Saved,
}

fn builder(store: &Arc<MemoryStore>) -> Builder {
    let window = ContextWindow::new(Tokens(5_000), Tokens(500));
    let builder = Session::builder(SessionId::new("killed").unwrap(), window).store(store.clone());
    builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000)))
}

async fn open(store: &Arc<MemoryStore>) -> Session {
    builder(store).open().await.unwrap()
}

/// What comes before the nth request: a question every eight requests, with a picture in some; results of tools otherwise.
fn asked(nth: usize) -> String {
    let (turn, within) = (nth / 8, nth % 8);
    if within == 0 {
        let picture = r#",{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAEAAAABA"}}"#;
        let picture = if turn.is_multiple_of(3) { picture } else { "" };
        return format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"Task {turn}: mend src/part_{turn}.rs, please."}}{picture}]}}"#
        );
    }
    let result = |id: String| {
        let text = format!("let value_{nth} = compute({turn});\\n").repeat(15 + nth * 7 % 40);
        format!(
            r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":"{text}"}}],"x_took":{nth}}}"#
        )
    };
    let results: Vec<String> = ids(nth - 1).into_iter().map(result).collect();
    format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","))
}

/// The calls that the nth answer makes: two in every fifth round.
fn ids(nth: usize) -> Vec<String> {
    let more = nth.is_multiple_of(5).then(|| format!("t{nth}b"));
    [format!("t{nth}")].into_iter().chain(more).collect()
}

fn answered(nth: usize) -> String {
    let turn = nth / 8;
    let thinking = format!(
        r#"{{"type":"thinking","thinking":"Part {nth} may be at fault, or what calls it.","signature":"c2ln{nth}"}}"#
    );
    if nth % 8 == 7 {
        return format!(
            r#"{{"role":"assistant","content":[{thinking},{{"type":"text","text":"Task {turn} is done."}}]}}"#
        );
    }
    let call = |id: String| {
        format!(
            r#"{{"type":"tool_use","id":"{id}","name":"read_file","input":{{"path":"src/part_{nth}.rs","n":1.0}}}}"#
        )
    };
    let calls: Vec<String> = ids(nth).into_iter().map(call).collect();
    format!(
        r#"{{"id":"msg_{nth}","type":"message","role":"assistant","content":[{thinking},{{"type":"text","text":"I read part {nth}."}},{}],"usage":{{"input_tokens":1}}}}"#,
        calls.join(",")
    )
}

fn spelled(view: &View) -> String {
    view.to_json_marked(Anthropic).unwrap().json
}

/// What a provider bills: somewhat more than is counted here.
fn billed(view: &View) -> Usage {
    let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
    Usage { input: counted.scaled(1.15) + Tokens(40), ..Usage::default() }
}

/// Makes the requests of a conversation, killed after the requests that `kills` says, and returns them.
async fn requests(kills: impl Fn(usize, At) -> bool) -> Vec<String> {
    let store = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let mut requests = Vec::new();
    for nth in 0..REQUESTS {
        session.push_json(Anthropic, &asked(nth)).unwrap();
        let mut view = session.prepare().await.unwrap();
        if kills(nth, At::Prepared) {
            drop(session);
            session = open(&store).await;
            view = session.prepare().await.unwrap();
        }
        let json = spelled(&view);
        session.report_usage(view.id(), &billed(&view));
        requests.push(json);
        session.push_json(Anthropic, &answered(nth)).unwrap();
        session.save().await.unwrap();
        if kills(nth, At::Saved) {
            drop(session);
            session = open(&store).await;
        }
    }
    assert!(session.state().view().id().rewrites > 2, "it was rewritten several times");
    assert!(session.state().summary().is_some());
    requests
}

fn same(one: &[String], other: &[String], what: &str) {
    for (nth, (one, other)) in one.iter().zip(other).enumerate() {
        let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        let near =
            |text: &str| text.get(at.saturating_sub(80)..(at + 120).min(text.len())).map(str::to_owned);
        assert!(
            one == other,
            "{what}: request {nth} of {} and {} bytes differs at {at}:\n{:?}\n{:?}",
            one.len(),
            other.len(),
            near(one),
            near(other)
        );
    }
}

#[tokio::test]
async fn a_killed_session_sends_what_one_that_was_not_killed_sends() {
    let whole = requests(|_, _| false).await;
    same(&whole, &requests(|_, at| at == At::Saved).await, "killed after each answer");
    same(&whole, &requests(|_, at| at == At::Prepared).await, "killed after each request");
    // Every cut takes minutes: a few by default, `LONGHAUL_EVERY_CUT=1` takes all.
    let is_long = std::env::var_os("LONGHAUL_EVERY_CUT").is_some();
    for cut in (0..REQUESTS).step_by(if is_long { 1 } else { 13 }) {
        for at in [At::Prepared, At::Saved]
            .into_iter()
            .skip(if is_long { 0 } else { cut % 2 })
            .step_by(if is_long { 1 } else { 2 })
        {
            let cut_once = requests(|nth, when| nth == cut && when == at).await;
            same(&whole, &cut_once, &format!("killed once, {at:?} {cut}"));
        }
    }
}

#[tokio::test]
async fn what_was_undone_is_done_again_in_the_same_bytes_after_a_resume() {
    let store = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let mut n_undone = 0;
    for nth in 0..40 {
        session.push_json(Anthropic, &asked(nth)).unwrap();
        let view = session.prepare().await.unwrap();
        session.report_usage(view.id(), &billed(&view));
        session.push_json(Anthropic, &answered(nth)).unwrap();
        let done = session.prepare().await.unwrap().to_json(Anthropic).unwrap().json;
        let was_rewritten = session.state().view().id().rewrites > 0;
        assert_eq!(session.undo().await.unwrap(), was_rewritten, "{nth}");
        if !was_rewritten {
            continue;
        }
        n_undone += 1;
        let undone = session.state().view().to_json(Anthropic).unwrap().json;
        drop(session);
        session = open(&store).await;
        assert!(session.state().view().to_json(Anthropic).unwrap().json == undone, "undone, {nth}");
        assert!(session.redo().await.unwrap(), "{nth}");
        let again = session.state().view().to_json(Anthropic).unwrap().json;
        same(&[done], &[again], &format!("done again, {nth}"));
    }
    assert!(n_undone > 20, "{n_undone}");
}

#[tokio::test]
async fn what_was_taken_out_of_a_message_is_in_no_snapshot() {
    let store = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let picture = "iVBORw0KGgo".repeat(40);
    let mut n_shortened = 0;
    for nth in 0..30 {
        let middle = "let other = plain;\\n".repeat(60);
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":[{{"type":"text","text":"{middle}and {middle}"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{picture}"}}}}]}}]}}"#
        );
        let call = format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"read_file","input":{{"path":"src/a.rs"}}}}]}}"#
        );
        session.push(Message::user(format!("What does part {nth} do?")));
        session.push_json(Anthropic, &call).unwrap();
        session.push_json(Anthropic, &result).unwrap();
        session.prepare().await.unwrap();
        session.set_memory("turn", &format!("{nth}")).unwrap();
        session.save().await.unwrap();
        let kept = store.snapshot(session.line()).await.unwrap().unwrap();
        let kept = String::from_utf8(kept.bytes).unwrap();
        let is_shortened = |shown: &&Shown| matches!(shown, Shown::Message { message, digested: true, .. } if message.results().next().is_some());
        n_shortened += session.state().view().shown().filter(is_shortened).count();
        assert!(!kept.contains(&picture), "turn {nth}");
    }
    assert!(n_shortened > 3, "{n_shortened}");
}
