//! Secrets of every kind, planted wherever a conversation has text.

use longhaul_redact::{Redactor, Vault};
use longhaul_transcript::{Message, Outcome, Part, Raw, Role, ToolCall, ToolResult};

use crate::kinds::{Draw, KINDS, kinds, tell};

fn redacted_text(message: &Message) -> String {
    let (redacted, _) = Redactor::builtin().redact_message(message);
    serde_json::to_string(&*redacted).expect("a message is JSON")
}

fn survivors(plant: impl Fn(&str, &str) -> Message) -> Vec<&'static str> {
    let planted = kinds().map(|(kind, before, secret)| (kind, plant(before, &secret), secret));
    planted
        .filter(|(_, message, secret)| redacted_text(message).contains(tell(secret)))
        .map(|(kind, ..)| kind)
        .collect()
}

#[test]
fn no_secret_survives_in_text() {
    assert!(KINDS.len() >= 40);
    let none: [&str; 0] = [];
    assert_eq!(
        survivors(|before, secret| Message::user(format!("Here it is: {before}{secret}\nuse it"))),
        none
    );
    assert_eq!(survivors(|before, secret| Message::user(format!("`{before}{secret}`"))), none);
    assert_eq!(survivors(|before, secret| Message::user(format!("export X={before}{secret}"))), none);
}

#[test]
fn no_secret_survives_in_tool_arguments() {
    let call = |arguments: serde_json::Value| {
        Message::new(
            Role::Assistant,
            vec![Part::ToolCall(ToolCall::function("c1", "bash", arguments.to_string()))],
        )
    };
    let none: [&str; 0] = [];
    let command = |before: &str, secret: &str| {
        call(
            serde_json::json!({ "command": format!("cat > .env <<'X'\n{before}{secret}\nX\n"), "timeout": 3 }),
        )
    };
    assert_eq!(survivors(command), none);
    let nested = |before: &str, secret: &str| {
        let inner = serde_json::json!({ "content": format!("line\n\t{before}{secret}\n") }).to_string();
        call(serde_json::json!({ "edits": [{ "path": "a", "new": inner }] }))
    };
    assert_eq!(survivors(nested), none);
}

#[test]
fn no_secret_survives_in_tool_results() {
    let result = |before: &str, secret: &str| {
        let text = format!("1\tHOST=x\n2\t{before}{secret}\n3\tEND");
        Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c1", text, Outcome::Succeeded))])
    };
    let none: [&str; 0] = [];
    assert_eq!(survivors(result), none);
}

#[test]
fn no_secret_survives_in_file_names_and_urls() {
    // A secret that spans lines, holds a slash or needs a name beside it is not in a file's name.
    let plain = |secret: &&(&str, &str, String)| secret.1.is_empty() && !secret.2.contains(['\n', '"']);
    let all: Vec<_> = kinds().collect();
    let mut survivors = Vec::new();
    for (kind, _, secret) in all.iter().filter(plain) {
        for text in [
            format!("/tmp/{secret}"),
            format!("backups/{secret}.txt was deleted"),
            format!("https://example.org/x?access_token={secret}&y=1"),
            format!("https://user:{secret}@example.org/"),
            format!("curl https://example.org/{secret}"),
        ] {
            let (redacted, _) = Redactor::builtin().redact_text(&text);
            if redacted.contains(tell(secret)) {
                survivors.push(format!("{kind}: {}", redacted.replace(secret.as_str(), "...")));
            }
        }
    }
    assert_eq!(survivors, [""; 0]);
}

#[test]
fn arguments_stay_valid_json_and_the_rest_of_them_as_it_was() {
    for (kind, before, secret) in kinds() {
        let arguments =
            serde_json::json!({ "path": "a\"b\\c", "text": format!("x\n{before}{secret}\ny"), "n": 1 });
        let spelled = arguments.to_string().replace("\"n\":1", "\"n\" : 1.0e0");
        let (redacted, findings) = Redactor::builtin().redact_json(&spelled);
        assert!(!findings.is_empty(), "{kind}");
        let value: serde_json::Value = serde_json::from_str(&redacted).expect(kind);
        assert_eq!(value["path"], "a\"b\\c", "{kind}");
        assert!(redacted.contains("\"n\" : 1.0e0"), "{kind}: {redacted}");
    }
}

#[test]
fn a_vault_turns_a_message_back() {
    let redactor = Redactor::builtin();
    for (kind, before, secret) in kinds() {
        let text = format!("see {before}{secret} and {before}{secret}");
        let mut vault = Vault::new();
        let (redacted, _) = redactor.redact_text_into(&text, &mut vault);
        assert_ne!(redacted, text, "{kind}");
        assert_eq!(vault.restore(&redacted), text, "{kind}");
    }
}

/// Where a secret is hidden from rules that look at one line as it stands, and how many are found there. The figures are
/// in docs/reliability.md; a change that finds fewer of them fails here.
#[test]
fn the_rate_for_encoded_and_split_secrets_is_known() {
    let redactor = Redactor::builtin();
    let is_caught = |text: &str, secret: &str| !redactor.redact_text(text).0.contains(secret);
    fn half(secret: &str) -> (&str, &str) {
        secret.split_at(secret.len() / 2 + 6)
    }
    let kinds: Vec<_> = kinds().filter(|(.., secret)| !secret.contains('\n')).collect();
    let count = |is_caught: &dyn Fn(&str, &str) -> bool| {
        kinds.iter().filter(|(_, before, secret)| is_caught(before, secret)).count()
    };
    let lines = count(&|before, secret| {
        let (head, tail) = half(secret);
        is_caught(&format!("{before}{head}\n{tail}"), tell(secret))
    });
    let messages = count(&|before, secret| {
        let (head, tail) = half(secret);
        is_caught(&format!("{before}{head}"), tell(head)) && is_caught(&format!("{tail} is the rest"), tail)
    });
    let heads =
        count(&|before, secret| is_caught(&format!("{before}{}", half(secret).0), tell(half(secret).0)));
    let encoded = count(&|before, secret| {
        let encoded = base64(format!("{before}{secret}").as_bytes());
        is_caught(&format!("the file in base64: {encoded}"), tell(&encoded))
    });
    let header = count(&|_, secret| {
        let encoded = base64(format!("me:{secret}").as_bytes());
        is_caught(&format!("Authorization: Basic {encoded}"), tell(&encoded))
    });
    let found = format!(
        "of {}: split by a line break behind the middle {lines}; by a message: the first part {heads}, both {messages}; \
         in base64 {encoded}, as a basic authorization {header}",
        kinds.len()
    );
    println!("{found}");
    expect_test::expect!["of 140: split by a line break behind the middle 63; by a message: the first part 63, both 0; in base64 137, as a basic authorization 140"].assert_eq(&found);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let is_padding = digit > chunk.len();
            let index = word >> (18 - 6 * digit) & 63;
            out.push(if is_padding { '=' } else { char::from(DIGITS[index as usize]) });
        }
    }
    out
}

/// As `jq -C`, `grep --color` and logs on a terminal show them.
#[test]
fn a_colour_between_a_name_and_its_secret_hides_nothing() {
    let redactor = Redactor::builtin();
    let (secret, id) = ("n8aB5kBh0fzK4xDX", "6d1f");
    for text in [
        format!("password: \u{1b}[31m{secret}\u{1b}[0m\nid: {id}"),
        format!(
            "\u{1b}[34;1m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[32m\"{secret}\"\u{1b}[0m, {id}"
        ),
        format!("\u{1b}[35mDB_PASSWORD\u{1b}[0m=\u{1b}[32m{secret}\u{1b}[0m {id}"),
        format!(
            " id | name | \u{1b}[1mpassword\u{1b}[0m \n----+------+----------\n  1 | bob  | {secret}\n id {id}"
        ),
    ] {
        let clean = redactor.redact_text(&text).0;
        assert!(!clean.contains(secret) && clean.contains(id), "{clean:?}");
        let json = serde_json::json!({ "out": text }).to_string();
        let clean = redactor.redact_json(&json).0;
        assert!(!clean.contains(secret) && clean.contains(id), "{clean:?}");
    }
    let shown = "password: \u{1b}[31mrequired\u{1b}[0m, at least 8 letters";
    assert_eq!(redactor.redact_text(shown).0, shown);
}

/// As tools print the bytes of a file, as base64 of base64, and with characters in it that nobody sees.
#[test]
fn a_secret_is_found_however_it_is_spelled() {
    let redactor = Redactor::builtin();
    let secret = crate::kinds::Draw(17).secret("ghp_<A36>");
    let said = format!("# settings of the build\nexport GITHUB_TOKEN={secret}\nexport HOST=db\n");
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(|c: char| c.is_ascii_control(), ".");
    let dump = |line: &dyn Fn(usize, &[u8]) -> String| {
        said.as_bytes().chunks(16).enumerate().map(|(nth, bytes)| line(16 * nth, bytes)).collect::<String>()
    };
    let spaced = |bytes: &[u8], n: usize| bytes.chunks(n).map(digits).collect::<Vec<_>>().join(" ");
    let hidden = |between: &str| format!("{}{between}{}", &said[..60], &said[60..]);
    let texts = [
        ("xxd", dump(&|at, bytes| format!("{at:08x}: {:39}  {}\n", spaced(bytes, 2), shown(bytes)))),
        ("xxd -g1", dump(&|at, bytes| format!("{at:08x}: {:47}  {}\n", spaced(bytes, 1), shown(bytes)))),
        ("hexdump -C", dump(&|at, bytes| format!("{at:08x}  {:48}  |{}|\n", spaced(bytes, 1), shown(bytes)))),
        ("xxd -p", said.as_bytes().chunks(30).map(|bytes| digits(bytes) + "\n").collect()),
        ("base64 twice", format!("it is {}", base64(base64(said.as_bytes()).as_bytes()))),
        ("a blank of no width", hidden("\u{200b}")),
        ("a joiner", hidden("\u{200d}")),
        ("a soft hyphen", hidden("\u{ad}")),
        ("a mark", hidden("\u{feff}")),
        ("a colour", hidden("\u{1b}[01;31m\u{1b}[K")),
        ("a string put together", hidden("\" + \"")),
        ("a string put together on two lines", hidden("' +\n    '")),
        ("a line that goes on", hidden("\\\n")),
    ];
    let mut missed = Vec::new();
    for (how, text) in texts {
        // What gives it away: the last ten characters of it as they are spelled there.
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(&secret[34..]) || !text.contains(&secret[34..]))
            .collect();
        let inner = serde_json::json!({ "out": text }).to_string();
        let nested = serde_json::json!({ "arguments": inner }).to_string();
        for clean in [
            redactor.redact_text(&text).0,
            redactor.redact_json(&inner).0,
            redactor.redact_json(&nested).0,
            redactor.redact_text(&nested).0,
        ] {
            let is_told =
                clean.contains(&secret[30..]) || clean.contains(&spaced(&secret.as_bytes()[30..38], 1));
            if is_told
                || !clean.contains("[REDACTED:")
                || lines.iter().all(|line| line.len() > 20 && clean.contains(line))
            {
                missed.push(format!("{how}: {clean}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_secret_is_found_behind_escapes_and_before_punctuation() {
    let redactor = Redactor::builtin();
    let (.., quoted) = kinds().find(|(kind, ..)| *kind == "quoted password").unwrap();
    let mut json = serde_json::json!({ "config": format!("password: {quoted}") });
    for layer in 1..4 {
        let text = json.to_string();
        let clean = redactor.redact_json(&text).0;
        assert!(!clean.contains(tell(&quoted)), "{layer}: {clean}");
        serde_json::from_str::<serde_json::Value>(&clean).unwrap();
        json = serde_json::json!({ "arguments": text });
    }
    let (_, before, token) = kinds().find(|(kind, ..)| *kind == "telegram bot token").unwrap();
    for end in [".", ", and", ". Then", "!", ":\n"] {
        let text = format!("I noted {before}{token}{end}");
        assert!(!redactor.redact_text(&text).0.contains(tell(&token)), "{text}");
    }
}

#[test]
fn what_was_redacted_is_no_secret_beside_other_strings() {
    let redactor = Redactor::builtin();
    let line = r#"{"parts":[{"text":"login me password [REDACTED:netrc-password:1]."}],"role":"assistant","more":[1,2,3]}"#;
    assert_eq!(redactor.redact_json(line).1, [], "what follows in other strings is not part of it");
}

#[test]
fn a_secret_is_found_before_a_closing_tag() {
    let redactor = Redactor::builtin();
    for text in [
        "<env>curl -d 'user=me' --pwd=Ab3dEf6h!7kq2x</env>",
        "<arg>--password=kL9mQ2xR7tVb!9</arg>",
        "<password>kL9mQ2xR7tVb!7</password>",
        "<dbPassword>kL9mQ2xR7tVb!7</dbPassword>",
        "<keyStorePassword>kL9mQ2xR7tVb!7</keyStorePassword>",
        "<db.password encoding=\"plain\">kL9mQ2xR7tVb!7</db.password>",
        "<env>PGPASSWORD=kL9mQ2xR7tVb7</env>",
        "<p>password: kL9mQ2xR7tVb!7</p>",
    ] {
        let clean = redactor.redact_text(text).0;
        assert!(clean.contains("[REDACTED:") && clean.ends_with('>'), "{clean}");
        assert!(!clean.contains("kL9mQ2xR7tVb") && !clean.contains("Ab3dEf6h"), "{clean}");
    }
    let innocent = "<password>string</password> <password>changeme</password> <input type=password></input> \
                    <forgotPassword>/login/forgot</forgotPassword>";
    assert_eq!(redactor.redact_text(innocent).0, innocent);
}

/// Names are put before and behind keys, addresses spell what stands before one, terminals colour it.
#[test]
fn a_token_is_found_behind_whatever_is_no_part_of_it() {
    let redactor = Redactor::builtin();
    let mut draw = crate::kinds::Draw(5);
    let mut missed = Vec::new();
    for template in
        ["sk-proj-<A48>", "AKIA<2:16>", "ghp_<A36>", "npm_<a36>", "sk_live_<A24>", "xai-<A80>", "hf_<A34>"]
    {
        let secret = draw.secret(template);
        for text in [
            format!("key_{secret}"),
            format!("id_{secret}_here"),
            format!("?q=token%3D{secret}"),
            format!("\u{1b}[32m{secret}\u{1b}[0m"),
            format!(r"\u001b[1;32m{secret}\u001b[0m"),
        ] {
            if redactor.redact_text(&text).0.contains(tell(&secret)) {
                missed.push(text);
            }
        }
    }
    let secret = draw.secret("ghp_<A36>");
    assert!(!redactor.redact_text(&format!("x{secret}")).0.contains(&secret));
    assert!(missed.is_empty(), "{missed:#?}");
    for name in [
        "sk_test_connection_string_of_the_pool",
        "my_re_compile_somethingverylongandwide",
        "XAKIAIOSFODNN7ABCDEFG",
    ] {
        assert_eq!(redactor.redact_text(name).0, name);
    }
}

/// A private key as tools show one.
#[test]
fn a_key_is_found_behind_what_tools_put_before_its_lines() {
    let redactor = Redactor::builtin();
    let mut draw = crate::kinds::Draw(11);
    let mut lines = || [draw.secret("MIIEpAIBAAKCAQEA<b48>"), draw.secret("<b64>"), draw.secret("<b64>")];
    for mark in ["id_rsa:2:", "2:", "  2\t", "> ", "+", "-", "| ", "    2→", "id_rsa-3-", "\"", "# "] {
        let key = lines();
        let body = key.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
        for (how, text) in [
            ("cut", format!("{mark}-----BEGIN RSA PRIVATE KEY-----\n{body}")),
            ("by itself", body.clone()),
            (
                "its end",
                format!("{}{mark}-----END RSA PRIVATE KEY-----", &body[body.find('\n').unwrap() + 1..]),
            ),
        ] {
            let inner = serde_json::json!({ "out": text }).to_string();
            let nested = serde_json::json!({ "arguments": inner }).to_string();
            let clean = [
                redactor.redact_text(&text).0,
                redactor.redact_json(&inner).0,
                redactor.redact_json(&nested).0,
                redactor.redact_text(&nested).0,
            ];
            for clean in clean {
                assert!(key.iter().all(|line| !clean.contains(&line[20..])), "{how}: {clean}");
            }
        }
    }
}

/// What follows a placeholder may be the rest of a secret.
#[test]
fn a_placeholder_hides_nothing_behind_it() {
    let redactor = Redactor::builtin();
    for text in [
        "app --token=[REDACTED:x:1]`Zk39dkLmQ02xWp81sVb7",
        "https://x/?access_token=[REDACTED:x:1]`Zk39dkLmQ02xWp81sVb7",
        "mysql -u root -p[REDACTED:x:1]`Zk39dkLmQ02xWp81sVb7",
        "login me password [REDACTED:x:1]'Zk39dkLmQ02xWp81sVb7",
    ] {
        let clean = redactor.redact_text(text).0;
        assert!(!clean.contains("Zk39dkLmQ02xWp81sVb7"), "{clean}");
    }
}

/// A text that tells of both ends of a key says something between them.
#[test]
fn what_stands_between_the_ends_of_a_key_is_one_where_it_has_its_lines() {
    let redactor = Redactor::builtin();
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let told = format!(
        "Never remove the line {begin} from the docs.\n- Tests run with 9fceb02d0ae5\n- End with {end}, always."
    );
    assert_eq!(redactor.redact_text(&told).0, told);
    let mut draw = crate::kinds::Draw(19);
    let line = draw.secret("<b64>");
    let key = format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{line}\n{line}\n{end}");
    let clean = redactor.redact_text(&format!("{told}\n{key}\n{told}")).0.into_owned();
    assert!(!clean.contains(&line[..20]) && clean.contains("Tests run"), "{clean}");
    assert_eq!(redactor.redact_text(&key).0, "[REDACTED:private-key:1]");
}

/// Words of a list of innocents stand in drawn keys by chance.
#[test]
fn no_drawn_key_is_taken_for_a_name() {
    let redactor = Redactor::builtin();
    let mut draw = crate::kinds::Draw(3);
    let mut missed = Vec::new();
    for _ in 0..400 {
        for (before, template) in [
            ("api_key=", "<A32>"),
            ("the password is ", "<A8>7<A4>"),
            ("", "hvs.<A96>"),
            ("", "sk-ant-api03-<A93>AA"),
            ("", "ghp_<A36>"),
        ] {
            let secret = draw.secret(template);
            let text = format!("{before}{secret}\n");
            if redactor.redact_text(&text).0.contains(tell(&secret)) {
                missed.push(text);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// A rule may be blind to one secret in fifty of its kind; and what stands behind a secret may be taken for its end.
#[test]
fn no_kind_is_lost_at_times_nor_before_words() {
    let redactor = Redactor::builtin();
    let mut missed = std::collections::BTreeMap::new();
    for (index, (kind, before, template)) in KINDS.iter().enumerate() {
        let mut draw = crate::kinds::Draw(1000 + index as u64);
        let is_token = before.is_empty() && !template.contains(['\n', '"']);
        let ends =
            if is_token { &["", "_in_production", "-for-the-build", "/reset-password"][..] } else { &[""] };
        for nth in 0..200 {
            let secret = draw.secret(template);
            if !before.is_empty() && !secret.bytes().any(|byte| byte.is_ascii_digit()) {
                // Behind a label, what has no digit may be the name of a value.
                continue;
            }
            // What is lost before words is lost each time.
            for end in if nth < 10 { ends } else { &ends[..1] } {
                let text = format!("see {before}{secret}{end}\n");
                if redactor.redact_text(&text).0.contains(tell(&secret)) {
                    missed.entry(format!("{kind}{end}")).or_insert((0, text)).0 += 1;
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A message is searched as it is read and as it was recorded, where escapes stand around a secret and another rule may find
/// it: it is one secret, by one name.
#[test]
fn a_secret_that_two_copies_tell_is_counted_once() {
    for text in [
        r#"{"level":"info","headers":{"authorization":"Bearer SECRET"}}"#,
        r#"const client = new OpenAI({ apiKey: "SECRET" });"#,
        r#"curl -H "Authorization: Bearer SECRET" https://x/"#,
        r#"{"password":"SECRET"}"#,
    ] {
        for secret in ["<A40>", "sk-proj-<A48>", "<A14>"].map(|form| Draw(31).secret(form)) {
            let text = text.replace("SECRET", &secret);
            let raw =
                serde_json::json!({ "role": "tool", "tool_call_id": "c1", "content": text }).to_string();
            let result = ToolResult::text("c1", text.as_str(), Outcome::Succeeded);
            let mut message = Message::new(Role::Tool, vec![Part::ToolResult(result)]);
            message.raw = Some(Raw::new("openai", raw).into());
            let (clean, counts) = Redactor::builtin().redact_message(&message);
            let raw = &clean.raw.as_ref().unwrap().json;
            assert!(!raw.contains(&secret) && !redacted_text(&clean).contains(&secret), "{raw}");
            assert_eq!(counts.iter().map(|told| told.count).sum::<u64>(), 1, "{text}: {counts:?}, {raw}");
            assert!(raw.contains(&format!("[REDACTED:{}:1]", counts[0].rule)), "{counts:?}, {raw}");
        }
    }
}
