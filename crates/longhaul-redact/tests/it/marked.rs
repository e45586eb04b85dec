//! Secrets that take several lines, shown by tools that put a mark before each: numbers, names of files, marks of differences, of
//! quotations and of comments, one behind another. What is found where the lines stand by themselves is found there, too.

use std::{borrow::Cow, iter};

use longhaul_redact::Redactor;
use serde_json::json;

use crate::{
    kinds::Draw,
    spellings::{drawn, is_told},
};

/// As in `spellings.rs`, each with secrets that one line alone does not tell.
const LAYOUTS: &[&str] = &[
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  value: «m14»\n  other: «m16»\ntype: Opaque",
    "data:\n  first: «b40»\nkind: Secret\nmetadata:\n  name: db",
    "kind: Secret\nstringData:\n  config: |\n    user bob\n    «m16»\n",
    "env:\n- name: DB_PASSWORD\n  value: «m14»\n- name: HOME\n  value: /root",
    "- name: API_TOKEN\n  value: \"«m24»\"\n",
    "- value: «m14»\n  name: DB_PASSWORD\n",
    "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"«m14»\"\n}",
    "{\n  \"ParameterKey\": \"DbPassword\",\n  \"ParameterValue\": \"«m14»\"\n}",
    "{\n  \"password\": {\n    \"value\": \"«m14»\"\n  }\n}",
    "password: |\n  «m14»\nuser: bob",
    "db_password: >-\n    «s14»\n",
    "api_key: |\n  «m32»\n",
    "user,password\nbob,«m10»\nalice,«word»\n",
    "id;name;password\n1;bob;«m10»\n2;alice;«m12»\n",
    "name\tpasswd\nbob\t«m10»\n",
    "| User | Password |\n|------|----------|\n| bob | «m10» |\n| alice | «word» |\n",
    " user | password \n------+----------\n bob  | «m10»\n alice | «word»\n(2 rows)",
    "+-------+----------+\n| user  | password |\n+-------+----------+\n| bob   | «m10» |\n+-------+----------+",
    "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ bob  │ «m10» │\n└──────┴──────────┘",
    "Key         Value\n---         -----\nhost        db\npassword    «m14»\n",
    "INSERT INTO users (id, name, password) VALUES\n  (1, 'bob', '«m10»'),\n  (2, 'alice', '«word»');\n",
    "INSERT INTO users\n  (name, password)\nVALUES\n  ('bob', '«m10»');\n",
    "-----BEGIN RSA PRIVATE KEY-----\n«b64»\n«b64»\n«b40»\n-----END RSA PRIVATE KEY-----",
    "passwords:\n  - «m10»\n  - «m12»\n",
    "passwords = [\n  \"«m10»\",\n  \"«m12»\",\n]\n",
    "credentials:\n  bob: «m12»\n  alice: «m12»\n",
    "password:\n  «s12»\n",
    "password =\n  \"«m12»\"\n",
    "<key>dbPassword</key>\n<string>«m12»</string>\n",
    "<property>\n  <name>db.password</name>\n  <value>«m12»</value>\n</property>",
    "variable \"db_password\" {\n  type = string\n  default = \"«m14»\"\n}\n",
    "connect(\n  user,\n  password=\n  \"«m12»\",\n)\n",
    "machine x.example\n  login bob\n  password «m12»\n",
    "mysql -u root \\\n  -h db \\\n  -p«m12» app\n",
    "curl -s \\\n  -u bob:«m12» \\\n  https://x.example\n",
    "command:\n  - --password\n  - «m12»\n",
    "environment:\n  password: «m12»\n  db_password     = \"«m12»\"\n",
    "conn = getConnection(\n  url,\n  \"bob\",\n  \"«m12»\")\n",
    "define(\n  'DB_PASSWORD',\n  '«m12»');\n",
    "const apiKey =\n  \"«m32»\";\n",
    "<tr><th>User</th><th>Password</th></tr>\n<tr>\n<td>bob</td>\n<td>«m12»</td></tr>\n</table>\n",
    "Private-Lines: 2\n«b64»\n«b40»\n",
    "{\n  \"kty\": \"oct\",\n  \"k\": \"«m43»\"\n}\n",
];

/// A kind of marks: what it is called, and what it makes of a line with its number.
type Kind = (&'static str, fn(usize, &str) -> String);

const MARKS: &[Kind] = &[
    ("arrow", |nth, line| format!("{nth:6}→{line}")),
    ("cat -n", |nth, line| format!("{nth:6}\t{line}")),
    ("grep -n", |nth, line| format!("{nth}:{line}")),
    ("grep -n around", |nth, line| format!("{nth}{}{line}", if nth % 3 == 0 { ':' } else { '-' })),
    ("grep of files", |nth, line| format!("deploy/a-1.yml:{nth}:{line}")),
    ("grep of files around", |nth, line| {
        let sign = if nth % 3 == 0 { ':' } else { '-' };
        format!("deploy/a.yml{sign}{nth}{sign}{line}")
    }),
    ("grep without numbers", |nth, line| {
        format!("deploy/a.yml{}{line}", if nth % 2 == 1 { ':' } else { '-' })
    }),
    ("L", |nth, line| format!("L{nth}: {line}")),
    ("bar", |nth, line| format!("{nth:4} | {line}")),
    ("drawn bar", |nth, line| format!("{nth:4} │ {line}")),
    ("narrow bar", |nth, line| format!("{nth}|{line}")),
    ("number", |nth, line| format!("{nth:4} {line}")),
    ("added", |_, line| format!("+{line}")),
    ("removed", |_, line| format!("-{line}")),
    ("around", |nth, line| format!("{}{line}", if nth % 2 == 0 { '+' } else { ' ' })),
    ("coloured", |_, line| format!("\u{1b}[32m+{line}\u{1b}[m")),
    ("blame", |nth, line| {
        format!(
            "9fceb02{:x} (Bob Doe (x) 2026-11-{:02} 17:08:09 +0000 {nth:2}) {line}",
            nth % 16,
            nth % 28 + 1
        )
    }),
    ("quotation", |_, line| format!("> {line}").trim_end().to_owned()),
    ("quotation of quotation", |_, line| format!("> > {line}")),
    ("hash", |_, line| format!("# {line}")),
    ("indented hash", |_, line| format!("    # {line}")),
    ("slashes", |_, line| format!("  // {line}")),
    ("dashes", |_, line| format!("-- {line}")),
    ("star", |_, line| format!(" * {line}")),
    ("semicolon", |_, line| format!("; {line}")),
    ("time", |nth, line| format!("2026-11-29T17:08:{:02}.123456Z {line}", nth % 60)),
    ("job", |nth, line| format!("build (x)\tRun it\t2026-11-29T17:08:{:02}.1234567Z {line}", nth % 60)),
    ("service", |_, line| format!("web-1  | {line}")),
    ("number and colon", |nth, line| format!("{nth:4}: {line}")),
    ("Windows", |nth, line| format!("{nth:6}→{line}\r")),
    ("code frame", |nth, line| format!("{} {nth:3} | {line}", if nth % 4 == 2 { '>' } else { ' ' })),
    ("number and dot", |nth, line| format!("{nth:4}. {line}")),
    ("number in brackets", |nth, line| format!("[{nth}] {line}")),
    ("indented addition", |_, line| format!("    +{line}")),
    ("indented difference", |nth, line| format!("  {}{line}", if nth % 2 == 0 { '+' } else { ' ' })),
    ("coloured grep", |nth, line| {
        format!(
            "\u{1b}[35ma/b.yml\u{1b}[m\u{1b}[36m:\u{1b}[m\u{1b}[32m{nth}\u{1b}[m\u{1b}[36m:\u{1b}[m{line}"
        )
    }),
    ("frame", |_, line| format!("│ {line:<90} │")),
    ("frame with numbers", |nth, line| format!("│ {nth:3} │ {line}")),
    ("star without blank", |_, line| format!("* {line}")),
    ("double star", |_, line| format!("** {line}")),
    ("exclamation", |_, line| format!("! {line}")),
    ("log", |nth, line| format!("[2026-11-29 17:08:{:02}] {line}", nth % 60)),
    ("time alone", |nth, line| format!("17:08:{:02} {line}", nth % 60)),
    ("time and level", |nth, line| format!("2026-11-29T17:08:{:02}Z INFO {line}", nth % 60)),
    ("syslog", |nth, line| format!("Nov 29 17:08:{:02} web-1 app[812]: {line}", nth % 60)),
    ("prefix", |_, line| format!("[web] {line}")),
    ("stderr", |_, line| format!("remote: {line}")),
];

fn marked(text: &str, first: usize, (_, mark): &Kind) -> String {
    text.lines().enumerate().map(|(nth, line)| mark(first + nth, line) + "\n").collect()
}

/// Returns the layouts that tell a secret behind `kinds`, the innermost first, each as what is left of it.
fn told(kinds: &[&Kind]) -> Vec<String> {
    let redactor = Redactor::builtin();
    let mut told = Vec::new();
    for (nth, layout) in LAYOUTS.iter().enumerate() {
        let (text, secrets) = drawn(layout, &mut Draw(35_000 + nth as u64));
        let text = kinds.iter().fold(text, |text, kind| marked(&text, 8 + nth % 5, kind));
        let json = json!({ "content": [{ "type": "text", "text": text }] }).to_string();
        let around = format!("Here it is:\n\n{text}\nand that was it.\n");
        let clean =
            [redactor.redact_text(&text).0, redactor.redact_json(&json).0, redactor.redact_text(&around).0];
        let left = clean.into_iter().find(|clean| secrets.iter().any(|secret| is_told(clean, secret)));
        told.extend(left.map(|left| left.into_owned()));
    }
    told
}

/// Fails where a secret is told behind marks.
fn check(chains: &[Vec<&Kind>]) {
    let mut examples = Vec::new();
    for chain in chains {
        let names: Vec<&str> = chain.iter().map(|(name, _)| *name).collect();
        examples.extend(told(chain).iter().map(|left| format!("{}: {left}", names.join(" in "))));
    }
    let (n_told, n_all) = (examples.len(), chains.len() * LAYOUTS.len());
    examples.truncate(10);
    assert_eq!(n_told, 0, "of {n_all}:\n{}", examples.join("\n"));
}

#[test]
fn what_stands_by_itself_is_found() {
    check(&[vec![]]);
}

#[test]
fn no_mark_hides_a_secret_of_several_lines() {
    check(&MARKS.iter().map(|kind| vec![kind]).collect::<Vec<_>>());
}

#[test]
fn no_mark_behind_another_hides_one() {
    let named = |name: &str| MARKS.iter().find(|(known, _)| *known == name).expect(name);
    let chain = |names: &[&str]| names.iter().map(|name| named(name)).collect::<Vec<_>>();
    check(&[
        chain(&["added", "arrow"]),
        chain(&["around", "cat -n"]),
        chain(&["quotation", "arrow"]),
        chain(&["hash", "arrow"]),
        chain(&["hash", "added"]),
        chain(&["slashes", "around"]),
        chain(&["arrow", "quotation"]),
        chain(&["cat -n", "arrow"]),
        chain(&["arrow", "grep of files"]),
        chain(&["quotation", "added", "arrow"]),
        chain(&["star", "around", "cat -n"]),
        chain(&["added", "quotation", "time"]),
        chain(&["dashes", "around", "arrow"]),
    ]);
}

/// What a difference takes away stands between what it adds and what names both.
#[test]
fn both_sides_of_a_difference_are_read() {
    let redactor = Redactor::builtin();
    for (text, secrets) in [
        (
            " - name: DB_PASSWORD\n-  value: Tundra6318x\n+  value: Quarry2750y\n",
            ["Tundra6318x", "Quarry2750y"],
        ),
        (
            " kind: Secret\n-stringData:\n-  a: Tundra6318x\n+data:\n+  a: UXVhcnJ5Mjc1MHk=\n",
            ["Tundra6318x", "UXVhcnJ5Mjc1MHk="],
        ),
        (" user,password\n-bob,h7Rk2m9QzL\n+bob,w4Xn8p3TfV\n", ["h7Rk2m9QzL", "w4Xn8p3TfV"]),
    ] {
        for text in [text.to_owned(), marked(text, 7, &MARKS[0])] {
            let clean = redactor.redact_text(&text).0;
            assert!(secrets.iter().all(|secret| !clean.contains(secret)), "{clean}");
        }
    }
}

/// Behind marks, too.
#[test]
fn what_holds_no_secret_stays() {
    let altered = |text: &str| match Redactor::builtin().redact_text(text).0 {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => None,
    };
    let texts = INNOCENT.iter().flat_map(|text| {
        let behind = MARKS.iter().map(|kind| marked(text, 7, kind));
        iter::once((*text).to_owned()).chain(behind)
    });
    let altered: Vec<_> = texts.filter_map(|text| altered(&text)).collect();
    assert!(altered.is_empty(), "{}", altered.join("\n"));
}

const INNOCENT: &[&str] = &[
    "kind: ConfigMap\ndata:\n  name: production\n  region: us-east-1\n",
    "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-credentials\n      key: password\n",
    "properties:\n  id: number\n  password: string\n",
    "| Field | Type |\n|---|---|\n| password | varchar(60) |\n| token | char(64) |\n",
    "def login(user, password):\n    call(one, two2)\n    return check(user)\n",
    "const { user, password } = body;\nconst hash2 = await argon2id(password);\n",
    "struct Login {\n    user: String,\n    password: SecretString,\n    attempts: u32,\n}\n",
    "INSERT INTO users (id, password) VALUES\n  ($1, $2)\n",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: Bob\n\n    Rotate the password\n",
    "Password\n  must have 12 characters\n  must have a digit\n",
    "on:\n  push:\n    branches: [main]\npermissions:\n  id-token: write\n",
    "passwords: see below\n- at least 12 characters\n- no words\n",
    // What comes next in the text is a mark.
    "user: bob\npassword:\n  type: string\n",
    "DB_PASSWORD:\n  from: vault\n",
    "properties:\n  api_key:\n    type: string\n",
    "password=\n\nuser=bob\n",
    "secret: |\n  see the notes\n",
    "password: >-\n\n  see the notes\n",
    "The password is:\n  see the notes\n",
    "token =\n  read(path)\n",
    "The API key:\n\n  see the notes\n",
];
