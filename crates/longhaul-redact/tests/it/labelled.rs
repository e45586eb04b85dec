//! Passwords that are words: what stands behind a label is one where labels and values stand so, and in no other place.

use longhaul_redact::Redactor;
use serde_json::json;

/// Each with the password in angle brackets.
const PASSWORDS: &[&str] = &[
    "password: <correcthorse>",
    "Password: <hunter>",
    "DB_PASSWORD='<pa$$w0rd9X>'",
    "password: \"<Gx7$kQ2pLm9>\"",
    "DB_PASSWORD=<S3cr3t$9xPw>",
    "client_secret: '<Gx7(kQ2)pLm9!>'",
    "passwd = <hunter>",
    "passwd: <correct-horse>",
    "my password: <correcthorse>",
    "the admin password: <correcthorse>.",
    "username: me, password: <correcthorse>",
    "user: me password: <correcthorse> host: db",
    "login me (password: <correcthorse>)",
    "- **Password:** <correcthorse>",
    "  12\tpassword: <correcthorse>",
    "config.yml:12:  password: <correcthorse>",
    "+  password: <correcthorse>",
    "> password: <correcthorse>",
    "db_password: <correcthorse>",
    "dbPassword: <correcthorse>",
    "spring.datasource.password=<letters>",
    "export DB_PASSWORD=<letters>",
    "passphrase: <letters>",
    "pass: <hunter>",
    "pwd: <hunter>",
    "secret: <hunter>",
    "token: <letters>",
    "user = me\npass = <hunter>\nhost = db",
    "const auth = { user: 'me', pass: '<letters>' };",
    "secret: '<letters>'",
    "\"password\": \"<letters>\"",
    "{\"user\": \"me\", \"password\": \"<correcthorse>\"}",
    "password: '<letters>'",
    "password = \"<letters>\"",
    "the password is \"<correcthorse>\"",
    "<password><letters></password>",
    "<db.password><letters></db.password>",
    "<user name='me' password='<letters>'/>",
    "mysql -p<secret>",
    "mysql -u root -p<secret>",
    "mysql -u root -p <secret>",
    "mysqldump --user=root --password=<letters> shop > shop.sql",
    "mongosh -u me -p <letters> db",
    "tool --password=<letters>",
    "tool --password <letters>",
    "tool --user me --db-password '<letters>' run",
    "tool --token <letters> run",
    "tool --pass=<letters>",
    "PGPASSWORD=<letters> psql -h db",
    "docker run -e MYSQL_ROOT_PASSWORD=<secret> mysql",
    "API_TOKEN=<letters> ./deploy",
    "sshpass -p <letters> ssh h",
    "curl -u me:<letters> https://x",
    "curl --user me:<letters> https://x",
    "curl -d 'user=me&password=<letters>' https://x",
    "curl https://x/?user=me&password=<letters>",
    "host=db user=me password=<letters> dbname=x",
    "Server=x;Uid=y;Pwd=<letters>;",
    "machine x login me password <letters>",
    "machine x\nlogin me\npassword <letters>",
    "default login me password <letters>",
    "postgres://me:<letters>@db/x",
    "redis://:<secret>@cache:6379",
    "https://me:<letters>@x/y.git",
    "CREATE USER me IDENTIFIED BY '<letters>';",
    "ALTER USER me WITH PASSWORD '<letters>';",
    "requirepass <letters>",
    "openssl rsa -in k -passin pass:<letters>",
    "unzip -P <letters> a.zip",
];

/// What is said about passwords, what programs do with them, and what stands in the place of one.
const INNOCENT: &[&str] = &[
    "password: `${prefix}9${suffix}`",
    "password = \"{user}-1{n}\"",
    "password='$HOME_9$USER'",
    "PASSWORD=read_secret(9)",
    "pwd=$(pass show x9)",
    "the password: what it is for, and who sets it",
    "Two things about the password: length and age.",
    "password: required",
    "password: string",
    "password: String,\n",
    "password: str = None",
    "password: Optional[str] = None",
    "def login(user: str, password: str) -> bool:",
    "function login(username: string, password: string): void {",
    "login(user: user, password: secretWord)",
    "let password: Zeroizing = read()",
    "connect(user=user, password=password)",
    "connect(\n    user=name,\n    password=hashed,\n)",
    "const { user, password: plaintext } = body;",
    "Login { user, password: hashed }",
    "this.password = encoded;",
    "self.password = encoded",
    "password: <your password>",
    "password: your-password",
    "password: $PASSWORD",
    "password: ${VAR}",
    "password=${DB_PASSWORD}",
    "password: ***",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password = None",
    "password: null",
    "password: true",
    "password: false",
    "\"password\": null",
    "\"password\": \"string\"",
    "\"password\": \"Password\"",
    "\"type\": \"password\", \"name\": \"password\"",
    "password = getpass()",
    "password = get_password(user)",
    "password: process.env.DB_PASSWORD,",
    "secretName: registry-login",
    "token: string",
    "token: Token,",
    "token: CancelSource",
    "{\"token\": \"hello\", \"logprob\": -0.1}",
    "tokens: words and parts of words",
    "pass: true",
    "--- PASS: TestLogin (0.00s)",
    "PASS: TestLogin",
    "12 passed, 0 failed",
    "use --password to set one",
    "--password <PASSWORD>  the password",
    "--password string   Password of the user",
    "--token TOKEN",
    "--password-stdin",
    "either --password or --token must be given",
    "login with password authentication",
    "login and password reset",
    "https://user:password@example.org/",
    "GITHUB_TOKEN=your-token",
    "PASSWORD=changeme",
    "<password>string</password>",
    "<label for=\"password\">Password</label>",
    "mysql -u root -p",
    "mysql -u root -p < dump.sql",
    "WITH PASSWORD 'password'",
    "let pwd = process.cwd();",
    "PWD=/home/me",
    "Enter your password: ",
    "Wrong password: try again",
    "a pass: the second one",
    "[user]\n  password = \n  name = me",
];

/// Returns the text without the brackets around the password, and the password.
fn planted(text: &str) -> (String, &str) {
    // The brackets of elements are some, too: the innermost pair holds the password.
    let words = [
        "correcthorse",
        "correct-horse",
        "hunter",
        "letters",
        "secret",
        "pa$$w0rd9X",
        "Gx7$kQ2pLm9",
        "S3cr3t$9xPw",
        "Gx7(kQ2)pLm9!",
    ];
    let bracketed = words.iter().find_map(|word| text.find(&format!("<{word}>")).map(|at| (at, *word)));
    let (at, word) = bracketed.expect(text);
    (format!("{}{word}{}", &text[..at], &text[at + word.len() + 2..]), word)
}

#[test]
fn words_behind_labels_are_taken_out() {
    let redactor = Redactor::builtin();
    let mut kept = Vec::new();
    for text in PASSWORDS {
        let (text, password) = planted(text);
        let inner = json!({ "command": text }).to_string();
        let nested = json!({ "arguments": inner, "n": [1] }).to_string();
        let around = format!("I tried this:\n\n{text}\n\nand it went on.");
        for (how, clean) in [
            ("alone", redactor.redact_text(&text).0),
            ("in lines", redactor.redact_text(&around).0),
            ("in JSON", redactor.redact_json(&inner).0),
            ("in JSON in JSON", redactor.redact_json(&nested).0),
            ("in JSON in text", redactor.redact_text(&inner).0),
            ("in JSON in JSON in text", redactor.redact_text(&nested).0),
        ] {
            if clean.matches(password).count() >= text.matches(password).count() {
                kept.push(format!("{how}: {text}"));
            }
        }
    }
    assert!(kept.is_empty(), "{kept:#?}");
}

#[test]
fn what_is_said_about_passwords_stays() {
    let redactor = Redactor::builtin();
    let mut taken = Vec::new();
    for text in INNOCENT {
        let inner = json!({ "command": text }).to_string();
        let nested = json!({ "arguments": inner }).to_string();
        let around = format!("I read this:\n\n{text}\n\nand it went on.");
        for clean in [
            redactor.redact_text(text).0,
            redactor.redact_text(&around).0,
            redactor.redact_json(&inner).0,
            redactor.redact_json(&nested).0,
        ] {
            if clean.contains("[REDACTED:") {
                taken.push(clean.into_owned());
            }
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
}
