//! `compact --mode llm|hybrid` and `doctor` against a server over real HTTP.

use serde_json::{Value, json};

use crate::{
    fake::{Fake, Reply},
    run::{Folder, Ran},
};

const RULE: &str = "Never restart the primary during business hours.";

/// A key as GitHub makes them; put together here so that no scanner takes it for one.
fn secret() -> String {
    ["gh", "p_", "1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8"].concat()
}

/// A conversation in which somebody pasted a secret, of about `n` times 100 tokens.
fn history(n: usize) -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": format!(
        "The nightly export on db-prod-3 fails. {RULE} Please find out why. The token is {}", secret()
    )})];
    for nth in 0..n {
        let words = format!("Step {nth} reads table ledger_{nth} and takes {nth}0 minutes on worker {nth}. ");
        let role = if nth % 2 == 0 { "assistant" } else { "user" };
        messages.push(json!({"role": role, "content": words.repeat(5)}));
    }
    messages.push(json!({"role": "assistant", "content": "The export waits for table ledger_3."}));
    serde_json::to_vec(&messages).unwrap()
}

fn good() -> String {
    json!({
        "narrative": "The nightly export on db-prod-3 fails because it waits for table ledger_3. Version 9.9.9 mends it.",
        "decisions": [], "action_items": [], "unresolved": [],
        "current_focus": "Find out why the export waits for table ledger_3.",
    })
    .to_string()
}

/// Compacts in `folder` with these arguments beside the usual.
fn compact(folder: &Folder, fake: &Fake, args: &[&str]) -> Ran {
    let usual =
        ["compact", "in.json", "--budget", "1500", "--base-url", &fake.base, "--summarizer-model", "fake"];
    folder.run_with(&[("LONGHAUL_API_KEY", "sk-key-of-the-test")], &[&usual, args].concat(), b"")
}

fn folder(n: usize) -> Folder {
    let folder = Folder::new();
    folder.file("in.json", &history(n));
    folder
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

#[test]
fn a_provider_that_is_down_is_asked_as_often_as_the_settings_say() {
    for retries in [0, 1, 3] {
        let (folder, fake) = (folder(40), Fake::always(Reply::error(503)));
        let setting = format!("transport_retries={retries}");
        let ran = compact(&folder, &fake, &["--mode", "llm", "--set", &setting]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(fake.requests().len(), retries + 1, "{retries}: {}", ran.stderr);
    }
}

#[test]
fn a_good_answer_is_checked_used_and_paid_for_once() {
    for mode in ["llm", "hybrid"] {
        let (folder, fake) = (folder(40), Fake::always(Reply::completion(&good())));
        let ran = compact(&folder, &fake, &["--mode", mode]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let said = text(&ran);
        assert!(said.contains("fails because it waits for table ledger_3.") && said.contains(RULE), "{said}");
        assert!(!said.contains("9.9.9"), "what the source does not have is struck: {said}");
        assert!(
            ran.stderr.contains(&format!("asking {} for a summary (at most ", fake.host()))
                && ran.stderr.contains(" tokens a call); at most 4 calls"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("1 call made, 900 tokens in and 80 out"), "{}", ran.stderr);
        let again = compact(&folder, &fake, &["--mode", mode]);
        assert_eq!((again.code, fake.requests().len()), (0, 1), "{}", again.stderr);
        assert_eq!(text(&again), said, "the same bytes from the store");
        assert!(again.stderr.contains("no call made"), "{}", again.stderr);
        compact(&folder, &fake, &["--mode", mode, "--no-store"]);
        assert_eq!(fake.requests().len(), 2, "without a store nothing is remembered");
    }
}

#[test]
fn the_other_protocol_does_the_same() {
    let (folder, fake) = (folder(40), Fake::always(Reply::message(&good())));
    let ran = compact(&folder, &fake, &["--mode", "hybrid", "--protocol", "anthropic"]);
    assert!(text(&ran).contains("fails because it waits for table ledger_3."), "{}", ran.stderr);
    let request = &fake.requests()[0];
    assert!(request.head.starts_with("POST /v1/messages "), "{}", request.head);
    assert!(request.head.to_lowercase().contains("x-api-key: sk-key-of-the-test"), "{}", request.head);
}

#[test]
fn every_fault_ends_in_a_summary_by_rule() {
    let cut = r#"{"choices":[{"message":{"content":"{\"narrative\": \"The exp"},"finish_reason":"length"}]}"#;
    let faults = [
        ("garbage", Reply::completion("All is well."), "the answer is not JSON", 1),
        ("no protocol", Reply::Says(200, String::new(), "<html>".into()), "cannot be read", 1),
        ("cut off", Reply::Says(200, String::new(), cut.into()), "cut off", 1),
        ("empty", Reply::completion(""), "the answer is empty", 1),
        ("500", Reply::error(500), "status 500", 2),
        ("429", Reply::Says(429, "retry-after: 3600\r\n".into(), "{}".into()), "status 429", 1),
        ("401", Reply::error(401), "refuses the key", 1),
        ("hangs", Reply::Hangs, "no answer within 1 s", 2),
    ];
    let mut by_rule = String::new();
    for (name, reply, why, calls) in faults {
        let (folder, fake) = (folder(40), Fake::always(reply));
        let ran = compact(&folder, &fake, &["--mode", "hybrid", "--no-store", "--summarizer-timeout", "1"]);
        assert_eq!((ran.code, fake.requests().len()), (0, calls), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{name}: {}", ran.stderr);
        let said = text(&ran);
        assert!(said.contains("messages summarized]") && said.contains(RULE), "{name}: {said}");
        assert!(!said.contains("waits for table ledger_3. Version"), "{name}: {said}");
        assert!(by_rule.is_empty() || said == by_rule, "{name}: the same whatever the fault");
        by_rule = said;
        assert!(!ran.stderr.contains("sk-key-of-the-test"), "{name}: {}", ran.stderr);
    }
}

/// What a provider says of a request may quote it.
#[test]
fn a_fault_that_quotes_a_secret_is_told_without_it() {
    let body = format!(r#"{{"error":{{"message":"no: {}"}}}}"#, secret());
    let (folder, fake) = (folder(40), Fake::always(Reply::Says(500, String::new(), body)));
    let ran = compact(&folder, &fake, &["--mode", "llm", "--no-store"]);
    assert!(ran.stderr.contains("status 500") && !ran.stderr.contains(&secret()), "{}", ran.stderr);
}

#[test]
fn nothing_is_written_where_the_fall_back_is_forbidden() {
    let (folder, fake) = (folder(40), Fake::always(Reply::error(400)));
    let ran = compact(&folder, &fake, &["--mode", "llm", "--abort-on-failure"]);
    assert_eq!((ran.code, ran.stdout.len()), (1, 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("status 400"), "{}", ran.stderr);
    let sessions = folder.run(&["sessions"], b"");
    assert!(!text(&sessions).contains("m0"), "nothing was recorded");
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Fake::always(Reply::completion(&good()));
    let location = format!("location: {}/chat/completions\r\n", elsewhere.base);
    for status in [301, 307, 308] {
        let (folder, fake) = (folder(40), Fake::always(Reply::Says(status, location.clone(), String::new())));
        let ran = compact(&folder, &fake, &["--mode", "hybrid", "--no-store"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("redirects (status {status})")), "{}", ran.stderr);
    }
    assert!(elsewhere.requests().is_empty(), "no text goes where the user did not say");
}

#[test]
fn no_secret_reaches_the_server_or_the_store() {
    let (folder, fake) = (folder(40), Fake::always(Reply::completion(&good())));
    let goal = format!("deploy with {}", secret());
    let ran = compact(&folder, &fake, &["--mode", "llm", "--goal", &goal]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let sent = &fake.requests()[0].body;
    assert!(sent.contains("db-prod-3") && sent.contains("deploy with"), "{sent}");
    assert!(!sent.contains(&secret()), "a secret was sent");
    let store = std::fs::read(folder.path().join(".local/share/longhaul/store.db")).unwrap();
    let needle = secret().into_bytes();
    assert!(!store.windows(needle.len()).any(|window| window == needle), "a secret was stored");
}

#[test]
fn the_key_comes_from_one_variable_and_nowhere_else() {
    let (folder, fake) = (folder(40), Fake::always(Reply::completion(&good())));
    let usual = ["compact", "in.json", "--budget", "1500", "--mode", "hybrid", "--no-store"];
    let flags = ["--base-url", &fake.base, "--summarizer-model", "fake"];
    let others = [("OPENAI_API_KEY", "sk-other"), ("ANTHROPIC_API_KEY", "sk-other")];
    folder.run_with(&others, &[&usual[..], &flags].concat(), b"");
    compact(&folder, &fake, &["--mode", "hybrid", "--no-store"]);
    let heads: Vec<String> = fake.requests().iter().map(|request| request.head.to_lowercase()).collect();
    assert!(!heads[0].contains("authorization") && !heads[0].contains("sk-other"), "{}", heads[0]);
    assert!(heads[1].contains("authorization: bearer sk-key-of-the-test"), "{}", heads[1]);
    let refused =
        folder.run(&[&usual[..], &["--base-url", "http://me:sk-in-url@127.0.0.1:9/v1"]].concat(), b"");
    assert_ne!(refused.code, 0);
    assert!(!refused.stderr.contains("sk-in-url"), "{}", refused.stderr);
}

#[test]
fn nothing_is_sent_without_an_address_or_without_need() {
    let (folder, fake) = (folder(40), Fake::always(Reply::completion(&good())));
    let usual = ["compact", "in.json", "--budget", "1500", "--mode", "llm", "--summarizer-model", "fake"];
    let ran = folder.run(&usual, b"");
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("nothing is sent anywhere that you did not name"), "{}", ran.stderr);
    let fits = compact(&folder, &fake, &["--mode", "rules"]);
    assert_eq!(fits.code, 0, "{}", fits.stderr);
    assert!(fake.requests().is_empty(), "rules ask nobody");
}

#[test]
fn a_long_span_is_shown_in_parts_and_the_calls_are_told_before() {
    let (folder, fake) = (folder(150), Fake::always(Reply::completion(&good())));
    let ran = compact(&folder, &fake, &["--mode", "hybrid", "--no-store", "--summarizer-window", "4500"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = ran.stderr.lines().find_map(|line| line.split_once("for a summary, in ")).unwrap().1;
    let (parts, most) = told.split_once(" parts (at most ").unwrap();
    let (_, most) = most.split_once("; at most ").unwrap();
    let most: usize = most.trim_end_matches(" calls").parse().unwrap();
    let (parts, made) = (parts.parse::<usize>().unwrap(), fake.requests().len());
    assert!(parts > 1 && made == parts + 1 && made <= most, "{parts} parts, {made} calls, {most} announced");
    let prompts = fake.requests();
    let last: Value = serde_json::from_str(&prompts.last().unwrap().body).unwrap();
    let asked = last["messages"][1]["content"].as_str().unwrap();
    assert!(asked.contains("merge the parts into one summary"), "{asked}");
}

fn doctor(folder: &Folder, args: &[&str]) -> (i32, String) {
    let ran =
        folder.run_with(&[("LONGHAUL_API_KEY", "sk-key-of-the-test")], &[&["doctor"], args].concat(), b"");
    // In one line: where a long one is broken depends on how long a port is.
    (ran.code, text(&ran).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn doctor_says_where_text_would_go_and_whether_anybody_is_there() {
    let folder = Folder::new();
    let (code, said) = doctor(&folder, &[]);
    assert!(code == 0 && said.contains("no text is sent anywhere"), "{said}");

    let list = json!({"data": [{"id": "small"}, {"id": "large"}]}).to_string();
    let fake = Fake::always(Reply::Says(200, String::new(), list));
    let (code, said) = doctor(&folder, &["--base-url", &fake.base, "--summarizer-model", "small"]);
    assert_eq!(code, 0, "{said}");
    let sent_to = format!("text would be sent to {} (openai, with a key; small)", fake.host());
    assert!(said.contains(&sent_to) && said.contains("it answers and has small"), "{said}");
    let (code, said) = doctor(&folder, &["--base-url", &fake.base, "--summarizer-model", "huge"]);
    assert!(code == 1 && said.contains("it has no model huge; it has small, large"), "{said}");
    for request in fake.requests() {
        assert!(request.head.starts_with("GET /v1/models ") && request.body.is_empty(), "{request:?}");
    }

    let denied = Fake::always(Reply::error(401));
    let (code, said) = doctor(&folder, &["--base-url", &denied.base, "--summarizer-model", "small"]);
    assert!(code == 1 && said.contains("refuses the key"), "{said}");
    let lists_none = Fake::always(Reply::error(404));
    let (code, said) = doctor(&folder, &["--base-url", &lists_none.base, "--summarizer-model", "small"]);
    assert!(code == 0 && said.contains("does not list its models"), "{said}");

    // A port that was free a moment ago.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base = format!("http://{gone}/v1");
    let (code, said) = doctor(&folder, &["--base-url", &base, "--summarizer-model", "small"]);
    assert!(code == 1 && said.contains("the connection failed"), "{said}");
    assert!(!said.contains("sk-key-of-the-test"), "{said}");
}

#[test]
fn doctor_asks_for_one_word_where_it_is_told_to() {
    let (folder, fake) = (Folder::new(), Fake::always(Reply::completion("ready")));
    let (_, said) = doctor(&folder, &["--base-url", &fake.base, "--summarizer-model", "small", "--ask"]);
    assert!(said.contains("it said \"ready\""), "{said}");
}

#[test]
#[cfg(unix)]
fn a_summary_is_shown_and_edited_before_it_is_used() {
    let folder = folder(40);
    let review = |editor: &str, answers: &str, more: &[&str]| {
        let args = [&["compact", "in.json", "--budget", "1500", "--review"], more].concat();
        folder.run_with(&[("EDITOR", editor)], &args, answers.as_bytes())
    };
    // Nobody answers: nothing is written.
    let refused = review("true", "", &[]);
    assert!(refused.code != 0 && refused.stdout.is_empty(), "{}", refused.stderr);
    assert!(refused.stderr.contains(RULE) && refused.stderr.contains("turned down"), "{}", refused.stderr);
    let used = review("true", "y\n", &["--no-store"]);
    assert_eq!(
        text(&used),
        text(&folder.run(&["compact", "in.json", "--budget", "1500", "--no-store"], b""))
    );

    // A line that nothing shows is pointed out, and stands if it is insisted on.
    let editor =
        "sh -c 'sed -i \"\\$d\" \"$0\"; printf \"\\n- Ask Mara before db-prod-7 is touched.\\n\" >> \"$0\"'";
    let edited = review(editor, "e\ny\n", &["--report", "report.json"]);
    assert_eq!(edited.code, 0, "{}", edited.stderr);
    assert!(
        edited.stderr.contains("the conversation does not show \"- Ask Mara before db-prod-7"),
        "{}",
        edited.stderr
    );
    assert!(text(&edited).contains("Ask Mara before db-prod-7 is touched."));
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    let made_with = report["summary"]["made_with"].as_str().unwrap();
    assert!(made_with.ends_with("+edited"), "{made_with}");

    // An editor that fails changes nothing, and one is asked again.
    let failed = review("false", "e\nn\n", &[]);
    assert!(failed.code != 0 && failed.stderr.contains("the editor \"false\" failed"), "{}", failed.stderr);
    let piped = folder.run(&["compact", "-", "--budget", "1500", "--review"], &history(40));
    assert!(piped.code != 0 && piped.stderr.contains("--review asks on stdin"), "{}", piped.stderr);
}
