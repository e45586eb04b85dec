//! Secrets that only the message before tells to be some: what a command printed, what was asked for.

use longhaul_redact::{Asked, Redactor};

use longhaul_transcript::{Message, Outcome, Part, Raw, Role, ToolCall, ToolResult};
use proptest::strategy::Strategy as _;

/// A drawn word, and a chosen one.
const DRAWN: &str = "q7Vd0mXk3RbT9sLw5HcZ2yNf";
const CHOSEN: &str = "sommerwiese";

fn call(name: &str, arguments: &str) -> Message {
    Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function("c1", name, arguments))])
}

fn bash(command: &str) -> Message {
    call("Bash", &serde_json::json!({ "command": command }).to_string())
}

fn result(text: &str) -> Message {
    Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c1", text, Outcome::Succeeded))])
}

/// Returns what the last message says once the conversation was redacted.
fn told(messages: &[Message]) -> String {
    let clean = Redactor::builtin().redact_conversation(messages);
    let again = Redactor::builtin().redact_conversation(clean.iter().map(|message| &**message));
    assert_eq!(again, clean, "nothing is found in what was redacted");
    let texts = clean.last().into_iter().flat_map(|last| &last.parts).map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::ToolResult(result) => result.joined_text(),
        _ => String::new(),
    });
    texts.collect()
}

/// Each prints its secret alone.
const PRINTING: &[&str] = &[
    "openssl rand -base64 32",
    "openssl rand -hex 24 | tr -d '\\n'",
    "cd /srv/app && openssl rand -base64 32 2>/dev/null",
    "pwgen -s 24 1",
    "printenv API_KEY",
    "printenv \"DB_PASSWORD\"",
    "echo $DB_PASSWORD",
    "echo \"${GITHUB_TOKEN}\"",
    "source .env && echo \"$STRIPE_SECRET_KEY\"",
    "echo ${ADMIN_PASSWORD:-none}",
    "printf '%s' \"$PGPASSWORD\"",
    "cat /run/secrets/db",
    "cat ~/.vault-token",
    "cat secrets/db_password.txt",
    "head -n 1 config/admin-password",
    "pass show servers/db",
    "pass servers/db",
    "gopass show -o servers/db",
    "vault kv get -field=password secret/app/db",
    "op read 'op://vault/db/password'",
    "op item get db --fields password --reveal",
    "aws secretsmanager get-secret-value --secret-id db --query SecretString --output text",
    "aws ssm get-parameter --name /app/db --with-decryption --query Parameter.Value --output text",
    "aws ecr get-login-password --region eu-west-1",
    "gcloud secrets versions access latest --secret=db",
    "gcloud auth print-access-token",
    "kubectl get secret db -o jsonpath='{.data.password}' | base64 -d",
    "kubectl -n prod get secret/db -o jsonpath='{.data.password}' | base64 --decode; echo",
    "security find-generic-password -a me -s db -w",
    "az keyvault secret show --vault-name v --name db --query value -o tsv",
    "heroku config:get DATABASE_PASSWORD -a app",
    "doppler secrets get DB_PASSWORD --plain",
    "python -c \"import secrets; print(secrets.token_hex())\"",
    "python3 - <<'EOF'\nimport secrets\nprint(secrets.token_urlsafe(24))\nEOF",
    "node -e \"console.log(require('crypto').randomBytes(24).toString('hex'))\"",
    "node -p 'process.env.API_TOKEN'",
    "ruby -rsecurerandom -e 'puts SecureRandom.hex(24)'",
    "python3 -c 'import os; print(os.environ[\"DB_PASSWORD\"])'",
    "head -c 32 /dev/urandom | base64",
    "LC_ALL=C tr -dc A-Za-z0-9 </dev/urandom | head -c 24; echo",
    "echo $(openssl rand -hex 24)",
    "KEY=$(openssl rand -hex 24); echo $KEY",
    "export SIGNING=`openssl rand -hex 24`\necho \"$SIGNING\"",
    "docker exec db printenv POSTGRES_PASSWORD",
    "docker compose exec -T web sh -c 'echo $SECRET_KEY'",
    "ssh deploy@host 'cat /run/secrets/db'",
    "bash -lc \"openssl rand -hex 24\"",
    "sudo cat /var/run/secrets/token",
    "gh auth token",
    "terraform output -raw db_password",
    "bw get password github",
    "bundle exec rails secret",
    "wg genkey",
    "sops -d --extract '[\"db\"]' prod.yaml",
    "openssl rand -hex 24 | tee /dev/stderr",
    "for i in 1 2; do openssl rand -hex 24; done",
    "test -n \"$X\"; openssl rand -hex 24",
    "grep DB_PASSWORD .env | cut -d= -f2",
    "grep '^DB_PASSWORD=' .env | sed 's/DB_PASSWORD=//'",
    "grep -oP '(?<=DB_PASSWORD=).*' .env",
    "awk -F= '/PASSWORD/{print $2}' .env",
    "sed -n 's/^DB_PASSWORD=//p' .env",
    "cat .env | grep PASSWORD | cut -d\"=\" -f2",
    "printenv | grep DB_PASSWORD | cut -d= -f2",
    "env | grep -i pass | cut -d= -f2-",
    "kubectl exec db-0 -- env | grep PASSWORD | cut -d= -f2",
    "jq -r .db.password config.json",
    "cat config.json | jq -r .db.password",
    "yq '.postgres.password' values.yaml",
    "grep password config.yml | awk '{print $2}'",
    "terraform output -json | jq -r .db_password.value",
];

#[test]
fn what_a_command_prints_is_a_secret() {
    for command in PRINTING {
        for secret in [DRAWN, CHOSEN, "Tundra8274"] {
            let wrapped = [
                secret.to_owned(),
                format!("{secret}\n"),
                format!("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{secret}\n"),
                format!("<returncode>0</returncode>\n<output>\n{secret}</output>"),
                serde_json::json!({"output": format!("{secret}\n"), "metadata": {"exit_code": 0}})
                    .to_string(),
                serde_json::json!({"stdout": secret, "stderr": ""}).to_string(),
                format!("Stdout: {secret}\nStderr: (empty)\nExit Code: 0"),
            ];
            for shown in wrapped {
                let said = told(&[bash(command), result(&shown)]);
                assert_eq!(said, shown.replace(secret, "[REDACTED:printed-secret:1]"), "{command}");
            }
        }
    }
}

/// Base64 with a stroke looks like a path.
#[test]
fn base64_with_a_stroke_is_no_path() {
    for secret in [
        "sKQaJClVokhxm8gOd88vQ/TFQ7LsfizT",
        "wB58lFKADQrbRu1ltNicm/Rw",
        "/T/rPJJQt5dKm1KLaWNjIaRhtV71W3vq/YCamp6SW3k=",
        "REyiljUWFcrwOi2/ekWJN3wP",
        "peVc/LxKC4CUP1egGgcC7jYL",
    ] {
        for command in ["openssl rand -base64 24", "echo $DB_PASSWORD", "cat /run/secrets/db"] {
            assert_eq!(told(&[bash(command), result(secret)]), "[REDACTED:printed-secret:1]", "{secret}");
        }
        let asked = Message::assistant("What is the database password?");
        assert_eq!(told(&[asked, Message::user(secret)]), "[REDACTED:asked-secret:1]", "{secret}");
    }
    for path in
        ["/usr/bin/openssl", "src/Foo2/BarBazTest1", "/run/secrets/dbPassword", "Users/Me/Projects/App1"]
    {
        assert_eq!(told(&[bash("cat /run/secrets/db"), result(path)]), path);
    }
}

#[test]
fn what_others_print_beside_it_stays() {
    let command = "git status --short; openssl rand -hex 24; ls";
    let shown = format!("src/main.rs\n{DRAWN}\nCargo.toml\nREADME");
    assert_eq!(told(&[bash(command), result(&shown)]), shown.replace(DRAWN, "[REDACTED:printed-secret:1]"));
    let shown = format!("Generated key: {DRAWN}");
    assert_eq!(
        told(&[bash("echo \"Generated key: $(openssl rand -hex 24)\""), result(&shown)]),
        "Generated key: [REDACTED:printed-secret:1]"
    );
}

#[test]
fn what_is_printed_in_several_lines_is_told_apart() {
    for (command, shown, expected) in [
        (
            "git credential fill",
            "protocol=https\nhost=a.example\nusername=me",
            "protocol=https\nhost=a.example\nusername=me",
        ),
        ("pass show mail/x", "sommerwiese\nuser: me", "[REDACTED:printed-secret:1]\nuser: me"),
        ("pwgen 8 2", "ohXoo7ae Thie2pie", "[REDACTED:printed-secret:1] [REDACTED:printed-secret:2]"),
        ("pwgen -1 8 2", "ohXoo7ae\nThiezpie", "[REDACTED:printed-secret:1]\n[REDACTED:printed-secret:2]"),
        (
            "kubectl get secret db -o yaml",
            "kind: Secret\n  uid: 3f2a1b0c-9d8e-4f7a-8b6c-5d4e3f2a1b0c\n  resourceVersion: q7Vd0mXk3RbT9s",
            "kind: Secret\n  uid: 3f2a1b0c-9d8e-4f7a-8b6c-5d4e3f2a1b0c\n  resourceVersion: [REDACTED:printed-secret:1]",
        ),
        ("npm test; echo $API_KEY", "PASS src/a.test.ts\nabc", "PASS src/a.test.ts\nabc"),
        ("cat a.b64 | base64 -d", "node18", "node18"),
    ] {
        assert_eq!(told(&[bash(command), result(shown)]), expected, "{command}");
    }
}

#[test]
fn tools_are_known_by_their_names_and_paths() {
    for (name, arguments) in [
        ("mcp__vault__read_secret", r#"{"path":"db"}"#),
        ("get_password", "{}"),
        ("generate_api_key", "{}"),
        ("Read", r#"{"file_path":"/run/secrets/db"}"#),
        ("shell", r#"{"command":["bash","-lc","printenv API_KEY"]}"#),
        ("shell", r#"{"command":["printenv","API_KEY"]}"#),
        ("exec_command", r#"{"cmd":"echo $API_KEY"}"#),
    ] {
        for shown in [DRAWN.to_owned(), format!("     1→{CHOSEN}")] {
            let said = told(&[call(name, arguments), result(&shown)]);
            assert!(said.ends_with("[REDACTED:printed-secret:1]"), "{name} {arguments}: {said}");
        }
    }
    for (name, arguments) in [
        ("get_next_page_token", "{}"),
        ("count_tokens", "{}"),
        ("list_secrets", "{}"),
        ("Read", r#"{"file_path":"src/token.rs"}"#),
        ("Grep", r#"{"pattern":"openssl rand"}"#),
        ("apply_patch", r#"{"input":"*** Begin Patch\n+openssl rand -hex 24\n"}"#),
    ] {
        let said = told(&[call(name, arguments), result("scripts/deploy-2.sh")]);
        assert_eq!(said, "scripts/deploy-2.sh", "{name} {arguments}");
    }
}

#[test]
fn what_prints_none_alters_nothing() {
    for command in [
        "openssl rand --help",
        "openssl rand -hex 24 > .key",
        "openssl rand -hex -out .key 24",
        "echo \"KEY=$(openssl rand -hex 24)\" >> .env",
        "cat > setup.sh <<'EOF'\nopenssl rand -hex 24\nEOF",
        "KEY=$(openssl rand -hex 24)",
        "echo $MAX_TOKENS",
        "echo ${API_KEY:+x}",
        "echo ${#API_KEY}",
        "echo $PWD",
        "[ -n \"$API_KEY\" ] && hostname",
        "cat /etc/passwd",
        "cat src/secrets.rs",
        "kubectl get secrets -o name",
        "openssl rand -hex 24 | docker login --password-stdin",
        "openssl rand -hex 24 | wc -c",
        "git log --grep 'openssl rand'",
        "which openssl pwgen",
        "pass ls",
        "curl -H \"Authorization: Bearer $(op read op://a/b)\" https://x.example",
        "grep -c $DB_PASSWORD .env",
        "printenv HOME",
        "openssl rand -hex 8 | xargs -I{} docker tag img img:{}",
        "echo $REDIS_KEY",
        "docker run -e API_KEY=$API_KEY img",
        "heroku config:get NODE_ENV -a app",
        "doppler secrets get LOG_LEVEL --plain",
        "vault kv get -field=username secret/db",
        "kubectl get secret db -o jsonpath='{.metadata.name}'",
        "op item get db --fields username",
        "cat /run/secrets/db_user",
        "cat secrets/README",
        "grep -n max_tokens config.yml | cut -d: -f1",
        "jq -r .tokenizer config.json",
        "cat package.json | jq -r .name",
        "git log --format=%h --grep password | head -1",
    ] {
        for shown in [DRAWN, CHOSEN, "a1b2c3d4-host-7"] {
            assert_eq!(told(&[bash(command), result(shown)]), shown, "{command}");
        }
    }
}

#[test]
fn what_is_no_secret_stays_in_the_answer() {
    for command in ["openssl rand -hex 24", "echo $DB_PASSWORD", "cat /run/secrets/db", "pass show a/b"] {
        for shown in [
            "",
            "OK",
            "bash: openssl: command not found",
            "cat: /run/secrets/db: No such file or directory",
            "Error: b is not in the password store.",
            "/usr/bin/openssl",
            "3.0.13",
            "v1.2.3-beta4",
            "****",
            "********",
            "<unset>",
            "$DB_PASSWORD",
            "https://example.com/a",
            "not set",
            "null",
            "config/app.toml",
            "[no output]",
            "(no output)",
            "2026-11-26T12:00",
            "The key was written to the file that you named, and nothing else.",
        ] {
            assert_eq!(told(&[bash(command), result(shown)]), shown, "{command}");
        }
    }
    for shown in ["hello", "sommerwiese", "hello world"] {
        assert_eq!(told(&[bash("echo aGVsbG8= | base64 -d"), result(shown)]), shown);
    }
    assert_eq!(
        told(&[bash("echo aGVsbG8= | base64 -d"), result("Tundra8274")]),
        "[REDACTED:printed-secret:1]"
    );
}

#[test]
fn an_answer_to_a_question_is_a_secret() {
    for question in [
        "What is the database password?",
        "I cannot log in. What's the admin password for staging?",
        "Please enter the API key:",
        "Could you share the **access token** for GitHub?",
        "Which password should I use?",
        "I need the passphrase for the key to go on.",
        "Password?",
        "And the database password?",
        "Username: `ci`. Password?",
        "[sudo] password for me:",
        "Can I have the admin password?",
        "Do you know the sudo password?",
        "Please choose a password:",
        "What should the password be?",
        "What is the value of DB_PASSWORD?",
        "What value should JWT_SECRET have?",
        "Please provide DB_PASSWORD.",
        "Was ist das Datenbank-Passwort?",
        "Quel est le mot de passe ?",
        "¿Cuál es la contraseña?",
        "Qual é a senha do banco?",
        "Какой пароль?",
        "密码是什么？",
        "パスワードは何ですか？",
    ] {
        for secret in [DRAWN, CHOSEN, "Tundra8274"] {
            let asked = Message::assistant(question);
            let said = told(&[asked.clone(), Message::user(secret)]);
            assert_eq!(said, "[REDACTED:asked-secret:1]", "{question}");
            let ask = call(
                "AskUserQuestion",
                &serde_json::json!({"questions": [{"question": question}]}).to_string(),
            );
            let shown =
                format!("User has answered your questions: \"{question}\"=\"{secret}\". You can go on.");
            assert_eq!(
                told(&[ask.clone(), result(&shown)]),
                shown.replace(secret, "[REDACTED:asked-secret:1]")
            );
            assert_eq!(told(&[ask, result(secret)]), "[REDACTED:asked-secret:1]");
        }
        for answer in
            ["yes", "skip", "I will set it later, go on", "/help", "@src/main.rs", "src/config.ts", "none"]
        {
            assert_eq!(told(&[Message::assistant(question), Message::user(answer)]), answer, "{question}");
        }
    }
    for question in [
        "What password hashing do you want?",
        "Which token limit should I set?",
        "What is the name of the secret?",
        "Should I store the password in the keychain?",
        "I changed the password field.",
        "I rotated the database password.",
        "Do you know why the password is rejected?",
        "What should the password rule say?",
        "What is the value of a token budget?",
        "What is the path to the private key?",
        "All done. You have to provide the API key in .env before you start it.",
    ] {
        assert_eq!(told(&[Message::assistant(question), Message::user(CHOSEN)]), CHOSEN, "{question}");
    }
    let said = told(&[Message::assistant("What is the password?"), Message::user("x:\"=\"sommerwiese\"")]);
    assert!(!said.contains(CHOSEN), "{said}");
    let between = [
        Message::assistant("What is the password?"),
        Message::user("One moment please."),
        Message::user(CHOSEN),
    ];
    assert_eq!(told(&between), CHOSEN);
}

#[test]
fn results_are_told_apart_by_their_calls() {
    let calls = Message::new(
        Role::Assistant,
        vec![
            Part::ToolCall(ToolCall::function("a", "Bash", r#"{"command":"hostname"}"#)),
            Part::ToolCall(ToolCall::function("b", "Bash", r#"{"command":"openssl rand -hex 24"}"#)),
        ],
    );
    let answer = |id: &str| ToolResult::text(id, CHOSEN, Outcome::Succeeded);
    let answers =
        Message::new(Role::Tool, vec![Part::ToolResult(answer("b")), Part::ToolResult(answer("a"))]);
    assert_eq!(told(&[calls.clone(), answers]), format!("[REDACTED:printed-secret:1]{CHOSEN}"));
    let late = Message::new(Role::Tool, vec![Part::ToolResult(answer("b"))]);
    assert_eq!(told(&[calls.clone(), Message::user("and?"), late.clone()]), "[REDACTED:printed-secret:1]");
    // An id that comes again is another call.
    let again = call("Bash", r#"{"command":"hostname"}"#);
    assert_eq!(told(&[bash("openssl rand -hex 24"), again, result(CHOSEN)]), CHOSEN);
    assert_eq!(told(&[late]), CHOSEN);
}

#[test]
fn how_it_is_spelled_does_not_tell_it_either() {
    let redactor = Redactor::builtin();
    for secret in [DRAWN, CHOSEN, "a/b\"c\\d9Qx"] {
        let mut answer = result(&format!("{secret}\n"));
        let json = serde_json::json!({
            "type": "user", "name": "sommerwiese",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": format!("{secret}\n")}]},
            "toolUseResult": {"stdout": secret, "stderr": "", "interrupted": false, "lines": [format!("x\n{secret}\n")]},
        });
        answer.raw = Some(Raw::new("claude-code", json.to_string()).into());
        let mut asked = Asked::default();
        redactor.redact_next(&bash("openssl rand -hex 24"), &mut asked);
        let (clean, counts) = redactor.redact_next(&answer, &mut asked);
        let raw = &clean.raw.as_ref().unwrap().json;
        let spelled = serde_json::to_string(secret).unwrap();
        let left = raw.replace("\"name\":\"sommerwiese\"", "");
        assert!(!left.contains(spelled.trim_matches('"')), "{raw}");
        assert!(serde_json::from_str::<serde_json::Value>(raw).is_ok(), "{raw}");
        assert!(raw.contains("\"name\":\"sommerwiese\""), "{raw}");
        assert_eq!(counts.iter().map(|count| &*count.rule).collect::<Vec<_>>(), ["printed-secret"]);
        assert!(asked.is_empty());
    }
}

#[test]
fn a_message_without_its_secrets_asks_for_the_same() {
    let redactor = Redactor::builtin();
    for command in PRINTING {
        let (mut asked, mut without) = (Asked::default(), Asked::default());
        asked.follow(&bash(command));
        without.follow(&redactor.redact_message(&bash(command)).0);
        assert!(!asked.is_empty(), "{command}");
        assert_eq!(asked, without, "{command}");
    }
}

#[test]
fn many_secrets_cost_no_more_than_their_length() {
    let lines: String =
        (0..20_000u64).map(|nth| format!("q7Vd0mXk3{:020x}Rb9sLw\n", nth * 0x9e37_79b9)).collect();
    let json = serde_json::json!({ "output": lines }).to_string();
    for shown in [lines, json.clone()] {
        let mut answer = result(&shown);
        answer.raw = Some(Raw::new("claude-code", json.clone()).into());
        let clean = Redactor::builtin().redact_conversation([&bash("openssl rand -base64 900000"), &answer]);
        let said = format!("{:?}", clean[1]);
        assert!(!said.contains("q7Vd0mXk3"));
    }
}

proptest::proptest! {
    #[test]
    fn whatever_answers_is_redacted_once(
        command in proptest::sample::select(PRINTING),
        words in proptest::collection::vec(
            proptest::prelude::prop_oneof![
                proptest::sample::select(vec![
                    "\n", " ", "=", ":", "\"", "'", "`", "<a>", "</a>", "{\"output\":\"", "\"}", "\\n", "\\u0041", "→", "1→", "b'", "\"=\"",
                    DRAWN, CHOSEN, "[REDACTED:x:1]", "Output:", "user: ", "é",
                ]).prop_map(str::to_owned),
                "[a-zA-Z0-9+/=_.-]{1,16}",
            ],
            0..12,
        ),
    ) {
        told(&[bash(command), result(&words.concat())]);
        told(&[Message::assistant("What is the password?"), Message::user(words.concat())]);
    }
}
