//! What must survive: an agent cannot work without its hashes, ids and code.

use longhaul_redact::{Redactor, Vault};
use longhaul_transcript::{
    ContentHash, Message, Opaque, Outcome, Part, Raw, RawJson, Reasoning, Role, ToolCall, ToolResult,
};

#[test]
fn hashes_ids_and_code_survive() {
    for text in [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: A <a@example.org>",
        "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae  file.tar.gz",
        "session 0bb9a2d9-a51e-4c0f-9f0e-2f6f3c1f7a11 resumed",
        "cache key: 5d41402abc4b2a76b9719d911017c592",
        "\"key\": \"f47ac10b-58cc-4372-a567-0e02b2c3d479\"",
        "toolu_01A09q90qw90lq917835lq9 call_abc123def456ghi789jkl0",
        "let key = map.keys().next().expect(\"a key\");",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "password = get_password_from_keyring(user)",
        "connect(host=host, password=db_password2, port=5432)",
        "login(password=self.password2)\nlogin(user=user, password=password1)",
        "if password==other1password: pass",
        "self.token = token\nself.access_token = response.access_token",
        "const token = await getAccessTokenSilently();",
        "password: str = Field(..., description=\"The password\")",
        "total_tokens: 123456, max_tokens: 8192",
        "Authorization: Bearer $TOKEN",
        "https://user:password@example.org/",
        "postgres://localhost:5432/app",
        "The key point is: authentication tokens are checked in src/auth/middleware.rs:42.",
        "error[E0277]: the trait bound `Token: Serialize` is not satisfied",
        "monkey: abcdefghijklmnop1234567890qrstuvwxyz",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "[REDACTED:github-pat:1]",
        "api_key=[REDACTED:generic-api-key:1]",
    ] {
        let (redacted, findings) = Redactor::builtin().redact_text(text);
        assert_eq!(redacted, text, "{findings:?}");
    }
}

fn opaque(raw: String) -> Message {
    let part = Part::Opaque(Opaque { kind: "x".into(), raw: RawJson(raw), pair_id: Some("srv_1".into()) });
    Message::new(Role::Assistant, vec![part])
}

#[test]
fn signatures_and_encrypted_content_are_never_touched() {
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let message = Message::new(
        Role::Assistant,
        vec![
            Part::ToolCall(ToolCall::function("toolu_01A09q90qw90lq917835lq9", "bash", "{}")),
            Part::Reasoning(Reasoning { text: String::new(), opaque_bytes: 9, hash: ContentHash::of(b"x") }),
        ],
    );
    let (redacted, counts) = Redactor::builtin().redact_message(&message);
    assert_eq!(*redacted, message);
    assert!(counts.is_empty());
    let long = secret.repeat(9);
    for sealed in [
        format!(r#"{{"type":"web_search_result","encrypted_content": "{secret}","title":"a page"}}"#),
        format!(r#"{{"type":"redacted_thinking","data":"{secret}"}}"#),
        format!(r#"{{"type":"next_month","encrypted_content":"{long}"}}"#),
        format!(r#"{{"thoughtSignature":"{secret}"}}"#),
    ] {
        let message = opaque(sealed);
        assert_eq!(*Redactor::builtin().redact_message(&message).0, message);
    }
}

/// Fields that are sealed in one block, in another that only calls one so.
#[test]
fn a_field_is_not_sealed_because_it_is_called_so() {
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    for block in [
        format!(r#"{{"signature":"{secret}"}}"#),
        format!(r#"{{"data":"{secret}"}}"#),
        format!(r#"{{"type":"log","format":"text","data":"token {secret}"}}"#),
        format!(r#"{{"type":"log","format":"text","data":"{secret}"}}"#),
        format!(r#"{{"type":"res","mimeType":"text/plain","data":"export GITHUB_TOKEN={secret}"}}"#),
        format!(r#"{{"type":"reasoning_note","data":"{secret}"}}"#),
        format!(r#"{{"type":"commit","encrypted_content":"{secret}","encrypted":"{secret}"}}"#),
        format!(r#"{{"type":"link","url":"data:,{secret}"}}"#),
        format!(r#"{{"type":"image_url","image_url":{{"url":"data:text/plain,token {secret}"}}}}"#),
        format!(r#"{{"inlineData":{{"mimeType":"text/plain","data":"T={secret}"}}}}"#),
        format!(r#"{{"inlineData":{{"mimeType":"text/plain","data":"{secret}"}}}}"#),
    ] {
        let redactor = Redactor::builtin();
        let said = serde_json::to_string(&*redactor.redact_message(&opaque(block.clone())).0).unwrap();
        assert!(!said.contains(&secret), "{said}");
        let raw = Raw::new("openai", format!(r#"{{"content":[{block}]}}"#));
        let raw = redactor.redact_raw_into(&raw, &mut Vault::new()).0.unwrap().json;
        assert!(!raw.contains(&secret), "{raw}");
        serde_json::from_str::<serde_json::Value>(&raw).unwrap();
    }
}

#[test]
fn blocks_that_nobody_reads_are_searched_and_left_out_where_they_are_sealed() {
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let said = |raw: String| match &Redactor::builtin().redact_message(&opaque(raw)).0.parts[..] {
        [Part::Opaque(opaque)] => opaque.raw.0.clone(),
        _ => panic!("the part is still there"),
    };
    for (raw, expected) in [
        (
            r#"{"type":"document","source":{"type":"text","data":"KEY=SECRET and\nmore"}}"#,
            r#"{"type":"document","source":{"type":"text","data":"KEY=[REDACTED:github-pat:1] and\nmore"}}"#,
        ),
        (
            r#"{"SECRET":1.0,"n":[{"deep":"SECRET"}]}"#,
            r#"{"[REDACTED:github-pat:1]":1.0,"n":[{"deep":"[REDACTED:github-pat:1]"}]}"#,
        ),
        (
            r#"{"type":"web_search_result","url":"https://a/SECRET","encrypted_content":"Zm9v"}"#,
            r#"{"type":"redacted"}"#,
        ),
    ] {
        assert_eq!(said(raw.replace("SECRET", &secret)), expected);
    }
}

/// Formats without ids make one of the name: both have to be another, the same in the call and in its result, which is in
/// a message of its own and not always in the order of the calls.
#[test]
fn a_name_that_is_a_secret_becomes_one_that_providers_take() {
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let (second, other) = (format!("{secret}-2"), format!("ghp_{}", "a8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo"));
    let call = |id: &str, name: &str| Part::ToolCall(ToolCall::function(id, name, "{}"));
    let asked = Message::new(
        Role::Assistant,
        vec![call(&secret, &secret), call(&second, &secret), call(&other, &other)],
    );
    let asked = Message { name: Some(secret.clone().into()), ..asked };
    let redactor = Redactor::builtin();
    let asked = redactor.redact_message(&asked).0;
    let calls: Vec<_> = asked.calls().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    let [(id, name), (id_of_second, name_of_second), (id_of_other, name_of_other)] = calls[..] else {
        panic!("{calls:?}")
    };
    assert!(name.starts_with("redacted-github-pat-"), "{name}");
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
    assert_eq!((asked.name.as_deref(), id, name_of_second), (Some(name), name, name));
    assert_eq!((id_of_second, id_of_other), (&*format!("{name}-2"), name_of_other));
    assert_ne!(name, name_of_other);
    for (before, after) in [(&other, id_of_other), (&second, id_of_second), (&secret, id)] {
        let answer = ToolResult::text(before.as_str(), "done", Outcome::Succeeded);
        let answered = redactor.redact_message(&Message::new(Role::Tool, vec![Part::ToolResult(answer)])).0;
        assert!(answered.results().map(|result| result.call_id.as_str()).eq([after]));
    }

    let contents = format!(
        r#"{{"parts":[{{"functionCall":{{"name":"{secret}","args":{{"name":"{secret}"}}}}}}]}}
{{"role":"function","name":"{secret}","tool_call_id":"{secret}-2","content":"ok"}}"#
    );
    let raw = redactor.redact_raw_into(&Raw::new("gemini", contents), &mut Vault::new()).0.unwrap();
    let expected = r#"{"parts":[{"functionCall":{"name":"NAME","args":{"name":"[REDACTED:github-pat:1]"}}}]}
{"role":"function","name":"NAME","tool_call_id":"NAME-2","content":"ok"}"#;
    assert_eq!(*raw.json, expected.replace("NAME", name));
}

#[test]
fn the_same_message_gives_the_same_bytes_whatever_came_before() {
    let secret = format!("token ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let redactor = Redactor::builtin();
    let once = redactor.redact_message(&Message::user(secret.clone()));
    redactor.redact_message(&Message::user("glpat-a8Zr2VqT5nXw9LbY3mHc"));
    assert_eq!(redactor.redact_message(&Message::user(secret)), once);
    assert_eq!(once.1[0].rule, "github-pat");
}

#[test]
fn rules_can_be_added_changed_and_taken_out() {
    let rules = "[[rules]]\nid = 'ours'\nregex = '''\\bours-[0-9]{6}\\b'''\nkeywords = ['ours-']\n\
                 [[rules]]\nid = 'github-pat'\ndisabled = true";
    let redactor = Redactor::with_rules(rules).unwrap();
    assert_eq!(redactor.redact_text("an ours-123456 one").0, "an [REDACTED:ours:1] one");
    assert!(redactor.rule_count() == Redactor::builtin().rule_count());
    let broken = Redactor::with_rules("[[rules]]\nid = 'x'\nregex = '('\nkeywords = ['x']").unwrap_err();
    assert!(broken.to_string().starts_with("the expression of rule `x` is not valid"), "{broken}");
    assert!(Redactor::with_rules("rules = 3").is_err());
}

/// Arguments that begin and end as JSON does and are none, as a model writes them that forgets a comma.
#[test]
fn what_only_looks_like_json_is_searched_between_its_strings() {
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let redactor = Redactor::builtin();
    for arguments in [format!(r#"{{"a":"b"}}{secret}{{"c":"d"}}"#), format!(r#"{{"a": {secret}, "b": "c"}}"#)]
    {
        let call = ToolCall::function("c1", "bash", arguments.clone());
        let message = Message::new(Role::Assistant, vec![Part::ToolCall(call)]);
        let clean = redactor.redact_message(&message).0;
        let expected = arguments.replace(&secret, "[REDACTED:github-pat:1]");
        assert_eq!(clean.calls().next().unwrap().arguments.0, expected);
    }
}
