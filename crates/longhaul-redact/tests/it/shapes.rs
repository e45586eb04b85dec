//! Texts that were made to be slow.

/// Returns each shape, in a text of about this many bytes.
pub(crate) fn all(bytes: usize) -> impl Iterator<Item = (&'static str, String)> {
    let shapes = SHAPES.iter().map(move |(name, head, body, tail)| {
        let repeated = body.repeat(bytes.saturating_sub(head.len() + tail.len()) / body.len());
        (*name, format!("{head}{repeated}{tail}"))
    });
    shapes.chain(std::iter::once_with(move || ("drawn passwords", drawn_passwords(bytes))))
}

/// Returns lines with a password each, no two of which are the same.
fn drawn_passwords(bytes: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 24u64;
    let mut digit = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(DIGITS[(state >> 58) as usize])
    };
    let mut line = |_| format!("DB_PASSWORD={}\n", (0..12).map(&mut digit).collect::<String>());
    (0..bytes / 25).map(&mut line).collect()
}

/// Name, beginning, what is repeated, end.
const SHAPES: &[(&str, &str, &str, &str)] = &[
    ("escaped keys in one string", "{\"a\":\"", "\\napi_key=a8Zr2VqT5nXw9LbY3mHc", "\"}"),
    ("keys in one string", "{\"a\":\"\\n", " AKIAQZ7XWVUTSRQPONM2", "\"}"),
    ("escaped letters", "\"", "\\u0070assword=\\u0061bcdefg7", "\""),
    ("key words in one value", "key=", "tokensecretpassword", ""),
    ("names of names", "", "api_key=secret:token=>", ""),
    ("keys without an end", "", "-----BEGIN RSA PRIVATE KEY-----\n", ""),
    (
        "a long key without an end",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfnygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB\n",
        "",
    ),
    ("addresses", "", "://a:", "@"),
    ("quotes", "", "\"", ""),
    ("backslashes", "\"", "\\\\", "\""),
    ("line ends", "\"", "\\n", "\""),
    ("brackets", "", "[", ""),
    ("half a token", "", "eyJhbGciOiJIUzI1NiJ9.eyJ", ""),
    ("cookies", "", "cookie: a=b; ", ""),
    ("logins", "", "login a password mysql -u ", ""),
    ("placeholders", "", "[REDACTED:x:1]", ""),
    ("open placeholders", "key=", "[REDACTED:", ""),
    ("base64 of a text", "", "cGFzc3dvcmQ9aHVudGVyMiBhbmQg", ""),
    ("base64 of base64", "", "WTNWeWJDQXRkU0JoT21JZ1lXNWtJQT09", ""),
    ("spaces", "password", " ", "= x"),
    ("aligned settings", "", "db_password         = \"x9Km2QzL\"\n", ""),
    ("drawn tables", "", "│ password │ x9Km2QzL │\n", ""),
    ("aligned without an end", "", "password:    ", ""),
    ("bearers", "", "bearer bearer authorization: ", ""),
    ("aws", "", "aws secret aws secret ", ""),
    ("short passwords", "", "password=abcdefgh1 ", ""),
    ("lists beside a key", "[\"ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo\",", "[],", "0]"),
    (
        "signed blocks with keys",
        "[",
        "{\"type\":\"thinking\",\"signature\":\"ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo\"},",
        "0]",
    ),
    (
        "signed blocks that say keys",
        "[",
        "{\"type\":\"thinking\",\"thinking\":\"ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo\",\"signature\":\"x\"},",
        "0]",
    ),
    ("hexadecimal digits", "", "9fceb02d0ae598e95dc970b74767f19372d61af8", ""),
    ("digits of base64", "", "q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5+/", ""),
    ("lines of base64", "", "q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5+/q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5+/\n", ""),
    ("labels", "", "password: ", ""),
    ("labels of labels", "", "password:password=\"password\": ", ""),
    ("words behind labels", "", "password: correcthorse\n", ""),
    ("words behind options", "", "--password letters ", ""),
    ("pairs", "", "user: me, password: correcthorse, host=x password=letters ", ""),
    ("first lines of keys", "", "MIIEpAIBAAKCAQEA", ""),
    ("first lines of keys with signs", "", "MIIEpAIBAAKCAQEA!", ""),
    ("last lines of keys", "", "-----END RSA PRIVATE KEY-----\n", ""),
    (
        "lines of keys and their ends",
        "",
        "q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5+/ \n-----END RSA PRIVATE KEY----- ",
        "",
    ),
    ("escapes in a text", "", "\\u0070assword=\\u0061bcdefg7 \\/", ""),
    ("escapes of escapes in a text", "", "\\\\\\\\u0067\\\\/", ""),
    ("beginnings of tokens", "", "_ghp_sk-ant-api03-xoxb-AKIA%3Dhf_eyJ", ""),
    ("colours", "", "\u{1b}[32msk-[1;31m", ""),
    ("heads of tables", "", "user,password\n", ""),
    ("heads in one line", "", "password,", ""),
    ("rows of a table", "user,password\n", "me,letters1\n", ""),
    ("heads of lists", "", "passwords: [", ""),
    ("items of a list", "passwords: [", "letters, ", "]"),
    ("heads of inserts", "", "insert into u (password) values (", ""),
    ("rows of an insert", "insert into u (id, password) values ", "(1, 'letters'), ", ";"),
    ("kinds", "", "kind: Secret\n", ""),
    ("secrets of Kubernetes", "", "---\nkind: Secret\ndata:\n  a: b25lIHR3bw==\n", ""),
    ("data of a secret", "kind: Secret\n", "data:{", ""),
    ("more data of a secret", "kind: Secret\n", "data:\n a\n", ""),
    ("names without values", "", "name: DB_PASSWORD\n value: ", ""),
    ("blocks of YAML", "", "password: |\n  ", ""),
    ("lines of a dump", "", "00000000: 6869 2074 6865 7265 2c20 796f 7520 616c  hi there, you al\n", ""),
    ("digits of a text", "", "68692074686572652c20796f7520616c6c21", ""),
    ("blanks of no width", "", "api_key=\u{200b}", ""),
    ("colours", "", "password: \u{1b}[31m", ""),
    ("signs spelled with percent signs", "", "%61pi%5Fkey%3Da8Zr2VqT5nXw9LbY3mHc%26", ""),
    ("words with percent signs", "", "%61 ", ""),
    ("web keys", "", "{\"kty\":\"RSA\",\"d\":\"k8Zr2VqT5nXw9LbY3mHc7JdF\"}", ""),
    ("kinds of web keys", "{", "\"kty\":\"RSA\",\"d\":\"\n", "}"),
    ("passwords in other letters", "", "密码：k8Zr2VqT5nXw9L，пароль: ", ""),
    ("short labels", "", "pass: pw=h7Rk2m9QzL psk: ", ""),
    ("piped", "", "echo h7Rk2m9Q | docker login --password-stdin ", ""),
    ("a colour without an end", "", "\u{1b}[0;", ""),
    ("users and passwords", "", "credentials: bob:h7Rk2m9QzL, ", ""),
    ("pairs", "credentials: ", "bob:h7Rk2m9QzL, ", ""),
    ("emphasized labels", "", "**Password:** ", ""),
    ("cells with labels", "", "| Password | password | ", ""),
    ("elements with labels", "", "<td>Password</td>", ""),
    ("told passwords", "", "password for the is set to log in as a and ", ""),
    ("entities", "", "&#112;assword&#61;&lowbar;", ""),
    ("halves of entities", "", "&#", ""),
    ("words of digits", "", "x 6768705f754e754e754e ", ""),
    ("placeholders in a key", "", "ghp_[REDACTED:github-pat:1]a", ""),
    ("heads behind words", "", "Error: user,password\n", ""),
    ("labels that are set", "", "password=", ""),
    ("base64 of labels", "", "cGFzc3dvcmQ9cGFzc3dvcmQ9cGFzc3dvcmQ9cGFzc3dvcmQ9cGFzc3dvcmQ9", ""),
    ("JSON in the escapes of JSON", "", "{\\\"password\\\":\\\"{\\\\\\\"token\\\\\\\":", ""),
    ("names beside values", "", "{\"name\":\"password\",", ""),
    ("names of objects", "", "\"password\":{", ""),
    ("bytes with blanks between them", "", "68 69 20 74 68 65 72 65 2c 20 ", ""),
    ("fields that are filled in", "", "getByLabel('password') .type('password', ", ""),
    ("told aside", "", "the password on prod is to be the secret of a user pass ", ""),
    (
        "stores",
        "",
        "aws put-parameter --name password --value x SecureString echo x1x1x1x1 | docker secret <<< ",
        "",
    ),
    ("numbered lines", "", "12→password: h7Rk2m9QzL\n13→x\n", ""),
    ("lines of a difference", "", "+password: h7Rk2m9QzL\n-password:\n x\n", ""),
    ("marks behind marks", "", " # # # + > # password: |\n+# - # x\n", ""),
    ("marks behind marks that are wide", "", "-- -- // > # password    : \u{200b}x\n+// # > x\n", ""),
    ("numbers behind numbers", "", "1 2 3 4 password: \n2 3 4 5 x\n", ""),
    ("lines around", "", "a-b\n", ""),
    ("lines around the same", "", "a-\na:\nb\n", ""),
    ("quoted tables", "> user,password\n", "> bob,h7Rk2m9QzL\n", ""),
    ("signs of quotations", "", ">", ""),
    ("many literals with keys", "[", "\"ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo\\n\",", "0]"),
];
