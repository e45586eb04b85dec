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

/// Cells of tables, as in `spellings.rs`.
const CELLS: &[&str] = &[
    "| Password | `«word»` |",
    "| **Password** | `«word»` |",
    "| **Password** | «word» |",
    "| **Password** | **«word»** |",
    "| `DB_PASSWORD` | `«word»` |",
    "| Field | Value |\n|---|---|\n| Username | `admin` |\n| Password | `«m14»` |",
    "| User | `Password` |\n|---|---|\n| bob | **«word»** |",
    "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ bob │ «word» │\n└──────┴──────────┘",
    "│ (index) │ name │ password │\n├─────────┼──────┼──────────┤\n│ 0 │ 'bob' │ '«word»'  │",
    "║ user ║ password ║\n╠══════╬══════════╣\n║ bob ║ «m14» ║",
    "│ Password │ «word» │",
];

const CELLS_INNOCENT: &[&str] = &[
    "| Password | `string` |",
    "| Password | `Argon2id` |",
    "| **Password** | `required` |",
    "| **Password** | min 8 characters |",
    "| password | `varchar(60)` |\n| token | `char(64)` |",
    "| `password` | `PasswordDto2` |",
    "| Password | `src/auth/password2.ts` |",
    "| Password | `sha512` |",
    "│ password │ varchar(60) │",
    "│ field │ type │\n├───────┼──────┤\n│ password │ string │",
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
        for round in 0..20 {
            let (text, secrets) = drawn(&template, &mut draw);
            let secret = secrets.last().expect("the table is well formed");
            // How it stands costs more to try than what it is.
            let clean = match round {
                0 | 1 => redacted(&text).to_vec(),
                _ => vec![Redactor::builtin().redact_text(&text).0.into_owned()],
            };
            told.extend(clean.into_iter().find(|clean| is_told(clean, secret)));
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

#[test]
fn cells_of_tables_hide_no_secret() {
    let of = |list: &'static [&str]| list.iter().map(|text| (*text).to_owned());
    let told = told(of(CELLS));
    assert!(told.is_empty(), "{told:#?}");
    let altered = altered(of(CELLS_INNOCENT));
    assert!(altered.is_empty(), "{altered:#?}");
}

/// What stands between a name and its value stays as it was.
#[test]
fn blanks_that_align_stay() {
    let text = "db_host         = \"h\"\ndb_password     = \"Tundra6318\"\n";
    let expected = "db_host         = \"h\"\ndb_password     = \"[REDACTED:quoted-password:1]\"\n";
    assert_eq!(Redactor::builtin().redact_text(text).0, expected);
}
