//! Texts that were made to be slow.

/// Returns each shape, in a text of about this many bytes.
pub(crate) fn all(bytes: usize) -> impl Iterator<Item = (&'static str, String)> {
    SHAPES.iter().map(move |(name, head, body, tail)| {
        let repeated = body.repeat(bytes.saturating_sub(head.len() + tail.len()) / body.len());
        (*name, format!("{head}{repeated}{tail}"))
    })
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
    ("many literals with keys", "[", "\"ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo\\n\",", "0]"),
];
