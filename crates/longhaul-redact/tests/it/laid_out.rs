//! Secrets that are laid out for the eye: aligned with blanks, put into tables. Beside them what is laid out so and holds none.

use longhaul_redact::Redactor;
use serde_json::json;

use crate::{
    kinds::Draw,
    spellings::{drawn, is_told},
};

/// As in `spellings.rs`, with `~` for the blanks.
const ALIGNED: &[&str] = &[
    "db_password~= \"«word»\"",
    "password:~\"«word»\"",
    "DB_PASSWORD~= «word»",
    "$config['db_pass']~= '«word»';",
    "define( 'DB_PASSWORD',~'«word»' );",
    "Password~: «word»",
    "Password:~«m14»",
    "\"password\"~: \"«word»\"",
    "'password'~=> '«word»',",
    "#define MQTT_PASSWORD~\"«word»\"",
    "spring.datasource.password~= «word»",
    "  + password~= \"«word»\"",
    "api_key~= \"«m32»\"",
    "client_secret~:~«m14»",
];

/// With `~` for the blanks.
const ALIGNED_INNOCENT: &[&str] = &[
    "password~= var.db_password",
    "password~: string",
    "password~varchar(255) NOT NULL",
    "+ password~= (sensitive value)",
    "Password:~(unchanged)",
    "password~=> Hash::make($p2)",
    "\"password\"~: \"string\"",
    "password~:~PasswordDto2",
    "password_hash~= \"argon2id\"",
    "secret_id~= \"prod/db/password2\"",
    "self.password~= password2",
    "#define MAX_TOKEN~256",
    "Pass:~12 of 14",
    "app-secret2~Opaque~3~12d",
];

const BLANKS: [&str; 4] = ["    ", "         ", "\t\t", " \t                       \t"];

/// Returns how `text` is redacted by itself, among other lines, and in arguments.
fn redacted(text: &str) -> [String; 3] {
    let redactor = Redactor::builtin();
    let around = format!("I read this:\n\n{text}\n\nand it went on.");
    let inner = json!({ "command": text }).to_string();
    [redactor.redact_text(text).0, redactor.redact_text(&around).0, redactor.redact_json(&inner).0]
        .map(|clean| clean.into_owned())
}

/// Returns what of `templates` tells a secret.
fn told(templates: impl Iterator<Item = String>) -> Vec<String> {
    let mut told = Vec::new();
    for (nth, template) in templates.enumerate() {
        let mut draw = Draw(11_000 + nth as u64);
        for _ in 0..20 {
            let (text, secrets) = drawn(&template, &mut draw);
            let secret = secrets.last().expect("the table is well formed");
            told.extend(redacted(&text).into_iter().filter(|clean| is_told(clean, secret)).take(1));
        }
    }
    told
}

/// Returns what of `texts` is altered.
fn altered(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.flat_map(|text| redacted(&text)).filter(|clean| clean.contains("[REDACTED:")).collect()
}

#[test]
fn blanks_that_align_hide_no_secret() {
    let with = |of: &'static [&str]| {
        BLANKS.iter().flat_map(|blanks| of.iter().map(|text| text.replace('~', blanks)))
    };
    let told = told(with(ALIGNED));
    assert!(told.is_empty(), "{told:#?}");
    let altered = altered(with(ALIGNED_INNOCENT));
    assert!(altered.is_empty(), "{altered:#?}");
}

/// What stands between a name and its value stays as it was.
#[test]
fn blanks_that_align_stay() {
    let text = "db_host         = \"h\"\ndb_password     = \"Tundra6318\"\n";
    let expected = "db_host         = \"h\"\ndb_password     = \"[REDACTED:quoted-password:1]\"\n";
    assert_eq!(Redactor::builtin().redact_text(text).0, expected);
}
