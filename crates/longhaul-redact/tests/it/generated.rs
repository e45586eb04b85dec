//! Values as generators of passwords make them, with every sign that they have, in each of the places where people put them.

use longhaul_redact::Redactor;
use serde_json::json;

use crate::kinds::Draw;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Who makes it, with which signs, how long; `true` where it has capitals.
const GENERATORS: &[(&str, &str, usize, bool)] = &[
    ("Bitwarden", "!@#$%^&*", 14, true),
    ("random_password of Terraform", "!@#$%&*()-_=+[]{}<>:?", 16, true),
    ("AWS Secrets Manager", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", 32, true),
    ("Django", "!@#$%^&*(-_=+)", 50, false),
    ("salts of WordPress", "!@#$%^&*()-_ []{}<>~`+=,.;:/?|", 64, true),
    ("1Password", "!@#$%^&*()-_=+.", 20, true),
];

/// What stands around it: `«json»` is the value as JSON spells it, `«sh»` as a shell does between single quotes, `«raw»` as it is.
const QUOTED: &[&str] = &[
    "{\"user\":\"bob\",\"password\":«json»}",
    "{\"password\": «json»}",
    "{\n  \"db\": {\n    \"password\": «json»\n  }\n}",
    "db_password = «json»",
    "password = «json»",
    "use {\"password\": «json»} for it",
    "const password = «json»;",
    "PGPASSWORD=«sh» psql -h db",
    "DB_PASSWORD=«sh»",
    "define('DB_PASSWORD', «sh»);",
    "define( 'AUTH_KEY',         «sh» );",
    "SECRET_KEY = «sh»",
    "ALTER USER a PASSWORD «sh»;",
];

/// Where no quotes say where it ends: without blanks.
const UNQUOTED: &[&str] = &["DJANGO_SECRET_KEY=«raw»\n", "A=1\nexport DB_PASSWORD=«raw»\nB=2"];

/// Where a quote ends it as well.
const WORDS: &[&str] = &["my db password is «raw»", "password: «raw»", "password = «raw»\nuser = bob"];

/// Returns what is left of `value` in `clean`: so many of its characters in a row.
fn is_left(clean: &str, value: &str) -> bool {
    let spelled = json!(value).to_string();
    let parts = |value: &str| value.as_bytes().windows(6).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let clean = clean.as_bytes();
    parts(value)
        .iter()
        .chain(&parts(&spelled[1..spelled.len() - 1]))
        .any(|part| clean.windows(part.len()).any(|shown| shown == part))
}

#[test]
fn a_generated_value_ends_where_it_ends_whatever_signs_it_has() {
    let redactor = Redactor::builtin();
    let mut left = Vec::new();
    for (nth, (generator, signs, length, has_capitals)) in GENERATORS.iter().enumerate() {
        let letters = if *has_capitals {
            LETTERS.to_owned()
        } else {
            LETTERS.replace(|c: char| c.is_ascii_uppercase(), "")
        };
        let alphabet = letters + signs;
        let mut draw = Draw(34_000 + nth as u64);
        let is_word = |sign: char| signs.contains(sign);
        let places = QUOTED.iter().chain(UNQUOTED.iter().filter(|_| !is_word(' ')));
        let places = places.chain(WORDS.iter().filter(|_| !is_word(' ') && !is_word('\'')));
        for place in places {
            for round in 0..60 {
                let value = draw.text(alphabet.as_bytes(), *length);
                // Generators leave out what a shell and SQL cannot have between such quotes.
                let plain = value.replace('\'', "x");
                let (value, text) = match place.contains("«json»") {
                    true => (value.clone(), place.replace("«json»", &json!(value).to_string())),
                    false => {
                        (plain.clone(), place.replace("«sh»", &format!("'{plain}'")).replace("«raw»", &plain))
                    }
                };
                let inner = json!({ "content": text }).to_string();
                let nested = json!({ "arguments": inner }).to_string();
                let mut forms = vec![redactor.redact_text(&text).0];
                if round < 10 {
                    forms.push(redactor.redact_json(&inner).0);
                    forms.push(redactor.redact_json(&nested).0);
                }
                if text.starts_with('{') {
                    forms.push(redactor.redact_json(&text).0);
                }
                left.extend(
                    forms
                        .iter()
                        .find(|clean| is_left(clean, &value))
                        .map(|clean| format!("{generator} in {place:?}: {clean}")),
                );
            }
        }
    }
    assert!(left.is_empty(), "{} left: {:#?}", left.len(), &left[..left.len().min(40)]);
}

#[test]
fn what_programs_have_between_quotes_is_not_generated() {
    for text in [
        "password: \"${DB_PASSWORD_2024:-}\"",
        "password = \"{{ vault_db_password_2 }}\"",
        "\"password\": \"^(?=.*[A-Z])(?=.*[0-9]).{8,20}$\"",
        "password: '[a-zA-Z0-9!@#$%^&*]{8,64}'",
        "password = \"$(cat /run/secrets/db_pw2)\"",
        "\"password\": \"At least 8 characters (1 digit, 1 sign)!\"",
        "password = \"<your-password-2-here>\"",
        "password: \"crypt($1, gen_salt('bf', 8))\"",
        "DB_PASSWORD=$(openssl_rand_base64_12)",
        "SECRET_KEY=${SECRET_KEY:?is_not_set}",
        "password = \"%(db_password)s\"",
        "password: req.body[0].password1,",
        "the password is user.getPassword(1, b2).",
        "password = hash(req.body['pw1'],salt2);",
        "const password = `${user.name}-${Date.now()}`;",
        "password: \"#login-form > input:nth-child(2)\"",
        "let token = \"%s:%s@tcp(%s:%d)/%s?x=1\";",
    ] {
        let clean = Redactor::builtin().redact_text(text).0;
        assert_eq!(clean, text);
    }
}
