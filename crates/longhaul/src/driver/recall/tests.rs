use longhaul_tokens::ContextWindow;
use longhaul_transcript::{SessionId, Tokens};

use super::*;

#[tokio::test]
async fn the_model_gets_what_a_handle_stands_for_within_bounds() {
    let window = ContextWindow::new(Tokens(32_000), Tokens(1_000));
    let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
    session.push(Message::user("The port is 4711."));
    session.push(Message::assistant("long ".repeat(50_000)));
    let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
    assert_eq!(recall(r#"{"message":"m0"}"#).await, "m0 user: The port is 4711.");
    assert_eq!(recall(r#"{"query":"PORT 4711"}"#).await, "m0 user: The port is 4711.");
    let lacking = recall(r#"{"message":"m0","query":"walrus"}"#).await;
    assert_eq!(lacking, "m0 user (without these words): The port is 4711.");
    let both = recall(r#"{"message":"m0-m1"}"#).await;
    assert!(both.starts_with("m0 user: The port is 4711.\n\nm1 assistant: long long"), "{both}");
    assert!(recall("seven").await.starts_with("the arguments are no JSON"));
    assert_eq!(recall(r#"{"message":0}"#).await, "m0 user: The port is 4711.");
    assert_eq!(recall(r#"{"handle":"m0"}"#).await, "m0 user: The port is 4711.");
    assert_eq!(recall(r#"{"message":["m0"]}"#).await, "m0 user: The port is 4711.");
    let several = recall(r#"{"message":["m1", 0]}"#).await;
    assert!(several.starts_with("m1 assistant: long") && several.ends_with("The port is 4711."), "{several}");
    let none = r#"{"a":1} is no handle; expected one like m12, or m12-m15 for several messages"#;
    assert_eq!(recall(r#"{"message":{"a":1}}"#).await, none);
}

#[tokio::test]
async fn a_long_message_is_shown_where_the_words_stand_and_read_on_from_anywhere() {
    let line = |nth: u64| format!("line {nth} of the log{}\n", if nth == 3_333 { " ZEBRA" } else { "" });
    let log: String = (0..4_000).map(line).collect();
    let session = asked(["Read it.".to_owned(), log.clone()]);
    let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
    let around = recall(r#"{"message":"m1","query":"ZEBRA"}"#).await;
    assert!(around.contains("line 3333 of the log ZEBRA\nline 3334"), "{around}");
    let (mut read, mut from) = (String::new(), 0);
    loop {
        let part = recall(&format!(r#"{{"message":"m1","from":{from}}}"#)).await;
        assert!(session.state().counter().count_text(&part) <= ANSWER_TOKENS);
        let said = part.strip_prefix(&format!("m1 user from {from}: ")).unwrap();
        let Some((said, next)) = said.rsplit_once("\n… ") else {
            read.push_str(said);
            break;
        };
        read.push_str(said);
        from = next.rsplit_once("from ").unwrap().1.parse().unwrap();
    }
    assert_eq!(read, log);
    let beyond = recall(r#"{"message":"m1","from":999999}"#).await;
    assert!(beyond.starts_with("m1 ends before: it has "), "{beyond}");
    let several = recall(r#"{"message":"m0-m1","from":5}"#).await;
    assert_eq!(several, "give `from` a number of bytes, and `message` one handle");
}

#[tokio::test]
async fn what_is_still_shown_comes_behind_what_is_not() {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let store = Arc::new(longhaul_store::MemoryStore::new());
    let builder = || Session::builder(SessionId::new("recall").unwrap(), window);
    for mut session in [builder().build().unwrap(), builder().store(store).build().unwrap()] {
        session.push(Message::user("We deploy on Fridays only, and the boxes are blue."));
        for nth in 0..60 {
            session.push(Message::assistant(format!("Part {nth}. {}", "nothing new ".repeat(30))));
            session.push(Message::user(format!("Go on with {nth}.")));
            session.prepare().await.unwrap();
        }
        session.push(Message::user("Which Friday was it, and which box was it?"));
        session.prepare().await.unwrap();
        for query in ["Friday", "box", "which fridays", "deploys"] {
            let answer = session.recall(&format!(r#"{{"query":"{query}"}}"#)).await.unwrap();
            let first = if query == "which fridays" { "m121 user" } else { "m0 user" };
            assert!(answer.starts_with(first), "{query}: {answer}");
        }
    }
}

/// Returns a session with these requests.
fn asked(requests: impl IntoIterator<Item = String>) -> Session {
    let window = ContextWindow::new(Tokens(90_000), Tokens(1_000));
    let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
    requests.into_iter().for_each(|request| {
        session.push(Message::user(request));
    });
    session
}

#[tokio::test]
async fn an_answer_is_bounded_in_tokens_whatever_it_is_written_in() {
    let texts = ["🦀".repeat(20_000), "漢字かな交じり文".repeat(4_000), "a b\n".repeat(9_000)];
    let session = asked(texts);
    for handle in ["m0", "m1", "m2", "m0-m2"] {
        let answer = session.recall(&format!(r#"{{"message":"{handle}"}}"#)).await.unwrap();
        let cost = session.state().counter().count_text(&answer);
        assert!((Tokens(1_900)..=Tokens(2_000)).contains(&cost), "{handle} costs {cost}");
    }
    // What short messages leave long ones have.
    let session = asked(["Short.".to_owned(), "a word or two ".repeat(9_000), "Short as well.".to_owned()]);
    let answer = session.recall(r#"{"message":"m0-m2"}"#).await.unwrap();
    let cost = session.state().counter().count_text(&answer);
    assert!((Tokens(1_900)..=Tokens(2_000)).contains(&cost), "{cost}");
    assert!(answer.starts_with("m0 user: Short.\n\n") && answer.ends_with("m2 user: Short as well."));
}

#[tokio::test]
async fn what_names_no_message_is_told_what_would() {
    let session = asked((0..8).map(|nth| format!("Request {nth}.")));
    let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
    assert_eq!(recall(r#"{"message":"m6-m3"}"#).await, "m6-m3 goes backwards; ask for m3-m6");
    assert_eq!(recall(r#"{"message":"m1, 6..3"}"#).await, "6..3 goes backwards; ask for m3-m6");
    assert_eq!(
        recall(r#"{"message":"seven"}"#).await,
        "seven is no handle; expected one like m12, or m12-m15 for several messages"
    );
    assert_eq!(recall(r#"{"message":"m70-m80"}"#).await, "nothing was found: the conversation ends with m7");
}

#[tokio::test]
async fn what_more_was_asked_for_is_said_and_handles_may_be_several() {
    let session = asked((0..60).map(|nth| format!("This is about module_{nth:02} alone.")));
    let recall = async |arguments: &str| session.recall(arguments).await.unwrap();
    let answer = recall(r#"{"message":"m0-m59"}"#).await;
    assert!(answer.ends_with("not shown for want of room: m8-m59; ask for it by itself"), "{answer}");
    let (one, two) = ("m1 user: This is about module_01 alone.", "m2 user: This is about module_02 alone.");
    assert_eq!(recall(r#"{"message":"m1, m2"}"#).await, format!("{one}\n\n{two}"));
    assert_eq!(recall(r#"{"message":"m1..m2"}"#).await, format!("{one}\n\n{two}"));
    assert_eq!(recall(r#"{"message":"m1","query":"module_02"}"#).await, format!("{one}\n\n{two}"));
    let either = recall(r#"{"query":"module_01 OR module_02"}"#).await;
    assert!(either.contains(one) && either.contains(two), "{either}");
    let some = recall(r#"{"query":"module_01 nowhere"}"#).await;
    assert_eq!(some, format!("{one}\n\nno message holds all of these words: these hold some"));
    assert_eq!(recall(r#"{"query":"nowhere"}"#).await, "nothing was found");
}

/// Words that stand scattered in newer messages came before the one that holds just what was asked for.
#[tokio::test]
async fn what_holds_the_query_as_it_is_written_comes_first_with_and_without_a_store() {
    let window = ContextWindow::new(Tokens(90_000), Tokens(1_000));
    let builder = || Session::builder(SessionId::new("recall").unwrap(), window);
    let store = Arc::new(longhaul_store::MemoryStore::new());
    for mut session in [builder().build().unwrap(), builder().store(store).build().unwrap()] {
        let listing = "x ".repeat(9_000);
        session.push(Message::user(format!("{listing} The limit is in src/part_17.rs, line 3. {listing}")));
        (0..30).for_each(|nth| {
            session.push(Message::user(format!("{nth} of 17: in src/mod.rs is no part.")));
        });
        session.save().await.unwrap();
        let answer = session.recall(r#"{"query":"src/part_17.rs"}"#).await.unwrap();
        assert!(answer.starts_with("m0 user: … "), "{answer}");
        assert!(answer.contains("The limit is in src/part_17.rs, line 3."), "{answer}");
        assert!(answer.contains("\n\nm30 user: 29 of 17"), "what is as good comes newest first: {answer}");
        let some = session.recall(r#"{"query":"part_17 nowhere"}"#).await.unwrap();
        assert!(some.starts_with("m0 user") && some.contains("these hold some"), "{some}");
    }
}

#[test]
#[cfg(feature = "wire")]
fn each_format_has_the_tool_as_its_requests_do() {
    use longhaul_wire::Format;
    let tool = |format| RecallTool.of(format);
    let schema = RecallTool.schema();
    for format in [Format::Anthropic, Format::ClaudeCode] {
        let tool = tool(format).unwrap();
        assert_eq!((&tool["name"], &tool["input_schema"]), (&json!("recall"), &schema));
    }
    for format in [Format::Responses, Format::Codex] {
        let tool = tool(format).unwrap();
        assert_eq!((&tool["type"], &tool["parameters"]), (&json!("function"), &schema));
    }
    assert_eq!(tool(Format::OpenAi).unwrap()["function"]["parameters"], schema);
    assert_eq!(tool(Format::Gemini).unwrap()["functionDeclarations"][0]["parameters"], schema);
    assert_eq!(tool(Format::Meeting), None);
}

#[tokio::test]
async fn a_summary_that_is_named_by_its_id_is_answered_with_what_it_stands_for() {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let mut session = Session::builder(SessionId::new("recall").unwrap(), window).build().unwrap();
    for nth in 0..30 {
        session.push(Message::user(format!("What does src/part_{nth}.rs do?")));
        session.push(Message::assistant(format!("It computes value_{nth} and keeps it.")));
    }
    session.compact(None).await.unwrap();
    let record = session.state().summary().unwrap();
    let (id, covers) = (record.id.clone(), record.covers);
    let answer = session.recall(&format!(r#"{{"message":"{id}"}}"#)).await.unwrap();
    let begins = format!("{id} is the summary of m{}-m{}, which begin:", covers.start, covers.end - 1);
    assert!(answer.starts_with(&begins), "{answer}");
    assert!(answer.contains("m0 user: What does src/part_0.rs do?"), "{answer}");
}
