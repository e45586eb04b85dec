//! Secrets of every kind, planted wherever a conversation has text.

use longhaul_redact::{Redactor, Vault};
use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

/// Kind, what stands before the secret, and the secret: `<A30>` is 30 letters and digits, `<a>` lower case only,
/// `<N>` digits, `<h>` hexadecimal digits, `<U>` upper case and digits, `<b>` base64. They are drawn when the test
/// runs, so that no scanner takes this file for a leak.
const KINDS: &[(&str, &str, &str)] = &[
    ("aws access key", "", "AKIA<2:16>"),
    ("aws secret key", "aws_secret_access_key = ", "<b40>"),
    ("github token", "", "ghp_<A36>"),
    ("github fine-grained token", "", "github_pat_<A22>_<A59>"),
    ("github server token", "", "ghs_<A36>"),
    ("gitlab token", "", "glpat-<A20>"),
    ("openai project key", "", "sk-proj-<A48>"),
    ("openai legacy key", "", "sk-<A20>T3BlbkFJ<A20>"),
    ("anthropic key", "", "sk-ant-api03-<A93>AA"),
    ("anthropic oauth token", "", "sk-ant-oat01-<A80>"),
    ("openrouter key", "", "sk-or-v1-<h64>"),
    ("google api key", "", "AIza<A35>"),
    ("google oauth token", "", "ya29.<A80>"),
    ("google client secret", "", "GOCSPX-<A28>"),
    ("slack bot token", "", "xoxb-<N12>-<N12>-<A24>"),
    ("slack user token", "", "xoxp-<N12>-<N12>-<N12>-<h32>"),
    ("slack webhook", "https://hooks.slack.com/services/", "T<U9>/B<U9>/<A24>"),
    ("discord webhook", "https://discord.com/api/webhooks/123456789012345678/", "<A68>"),
    ("stripe key", "", "sk_live_<A24>"),
    ("stripe webhook secret", "", "whsec_<A32>"),
    ("twilio key", "", "SK<h32>"),
    ("sendgrid key", "", "SG.<A22>.<A43>"),
    ("mailgun key", "mailgun_api_key=", "key-<h32>"),
    ("npm token", "", "npm_<a36>"),
    ("pypi token", "", "pypi-AgEIcHlwaS5vcmc<A70>"),
    ("hugging face token", "", "hf_<L34>"),
    ("replicate token", "", "r8_<A37>"),
    ("groq key", "", "gsk_<A52>"),
    ("xai key", "", "xai-<A80>"),
    ("digitalocean token", "", "dop_v1_<h64>"),
    ("databricks token", "", "dapi<h32>"),
    ("vault token", "", "hvs.<A96>"),
    ("telegram bot token", "telegram bot token: ", "<N10>:A<A34>"),
    ("jwt", "", "eyJ<A30>.eyJ<A60>.<A43>"),
    ("password in a url", "postgres://app:", "<A18>@db.internal:5432/app"),
    ("bearer header", "Authorization: Bearer ", "<A40>"),
    ("password in an environment file", "PGPASSWORD=", "<A14>"),
    ("quoted password", "password: ", "\"<A12>\""),
    ("generic api key", "api_key=", "<A32>"),
    ("azure storage key", "AccountName=x;AccountKey=", "<b86>=="),
    (
        "private key",
        "",
        "-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b64>\n-----END RSA PRIVATE KEY-----",
    ),
    ("netrc", "machine example.org login me password ", "<A16>"),
    ("linear key", "", "lin_api_<a40>"),
    ("shopify token", "", "shpat_<h32>"),
    ("notion token", "", "ntn_<A46>"),
    ("figma token", "", "figd_<A40>"),
    ("doppler token", "", "dp.pt.<A43>"),
    ("age key", "", "AGE-SECRET-KEY-1<3:58>"),
];

/// Draws the parts of a secret: the same each time, different from kind to kind.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn text(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }

    fn secret(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('<') {
            let (class, tail) = after.split_once('>').expect("the table is well formed");
            out.push_str(before);
            let (kind, length) = match class.split_once(':') {
                Some((kind, length)) => (kind, length),
                None => class.split_at(1),
            };
            let alphabet: &[u8] = match kind {
                "a" => b"abcdefghijkmnpqrstuvwxyz0123456789",
                "N" => b"0123456789",
                "h" => b"0123456789abcdef",
                "U" => b"ABCDEFGHJKLMNPQRSTUVWXYZ0123456789",
                "L" => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
                "b" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
                "2" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "3" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
                _ => b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789",
            };
            out.push_str(&self.text(alphabet, length.parse().expect("the table is well formed")));
            rest = tail;
        }
        out + rest
    }
}

/// Returns the longest run of a secret that would give it away: 10 characters from its middle.
fn tell(secret: &str) -> &str {
    let core = secret.split('@').next().unwrap_or(secret).trim_matches('"');
    let middle = core.len() / 2;
    &core[middle.saturating_sub(5)..(middle + 5).min(core.len())]
}

fn redacted_text(message: &Message) -> String {
    let (redacted, _) = Redactor::builtin().redact_message(message);
    serde_json::to_string(&*redacted).expect("a message is JSON")
}

fn kinds() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let draws = KINDS.iter().enumerate();
    draws.map(|(index, (kind, before, template))| (*kind, *before, Draw(index as u64 + 7).secret(template)))
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

#[test]
fn the_rate_for_encoded_and_split_secrets_is_known() {
    // Inside base64 and across a line break only a part can be found: the figures are in docs/reliability.md.
    let redactor = Redactor::builtin();
    let is_caught = |text: &str, secret: &str| !redactor.redact_text(text).0.contains(tell(secret));
    let split: Vec<bool> = kinds()
        .filter(|(.., secret)| !secret.contains('\n'))
        .map(|(_, before, secret)| {
            let (head, tail) = secret.split_at(secret.len() / 2 + 6);
            is_caught(&format!("{before}{head}\n{tail}"), &secret)
        })
        .collect();
    let caught = split.iter().filter(|caught| **caught).count();
    println!("split across a line break after the middle: {caught} of {}", split.len());
    assert!(caught > 0 && caught <= split.len());
}
