//! What holds for every text.

use longhaul_redact::{Redactor, Vault};
use longhaul_testkit::any_text;
use longhaul_transcript::Raw;
use proptest::prelude::*;

use crate::shapes;

/// Texts with the words that wake the rules up.
fn risky_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("api_key=".to_owned()),
        Just("password: \"".to_owned()),
        Just("\\\"token\\\":\\\"".to_owned()),
        Just("-----BEGIN RSA PRIVATE KEY-----".to_owned()),
        Just("eyJhbGciOiJIUzI1NiIsInR5.eyJ".to_owned()),
        Just("curl -u a:".to_owned()),
        Just("https://a:".to_owned()),
        Just("[REDACTED:x:1]".to_owned()),
        Just("AKIAIOSFODNN7ABCDEFG ".to_owned()),
        Just("\\u0067hp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo".to_owned()),
        Just("\\\\u0067hp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo".to_owned()),
        Just("password: correcthorse".to_owned()),
        Just("\\n".to_owned()),
        Just("user=me password=".to_owned()),
        Just("-----END RSA PRIVATE KEY-----".to_owned()),
        Just("MIIEpAIBAAKCAQEAq3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5".to_owned()),
        "[A-Za-z0-9+/=_.-]{1,60}",
        "[ \n\"'\\\\é漢@;&]{1,3}",
        any_text(),
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn findings_are_in_order_apart_and_on_characters(text in risky_text()) {
        let mut end = 0;
        for finding in Redactor::builtin().find(&text) {
            prop_assert!(finding.span.start >= end && finding.span.start < finding.span.end);
            prop_assert!(text.get(finding.span.clone()).is_some());
            end = finding.span.end;
        }
    }

    #[test]
    fn what_is_outside_the_findings_is_kept(text in risky_text()) {
        let (redacted, findings) = Redactor::builtin().redact_text(&text);
        let kept: usize = text.len() - findings.iter().map(|finding| finding.span.len()).sum::<usize>();
        prop_assert!(redacted.len() >= kept);
        let mut rest = &*redacted;
        let mut at = 0;
        for finding in &findings {
            let before = &text[at..finding.span.start];
            prop_assert!(rest.starts_with(before));
            rest = &rest[before.len()..];
            prop_assert!(rest.starts_with("[REDACTED:"));
            rest = &rest[rest.find(']').expect("a placeholder ends") + 1..];
            at = finding.span.end;
        }
        prop_assert_eq!(rest, &text[at..]);
    }

    #[test]
    fn json_stays_json(texts in proptest::collection::vec((risky_text(), risky_text()), 0..4)) {
        let object: serde_json::Map<_, _> =
            texts.into_iter().map(|(key, value)| (key, serde_json::Value::String(value))).collect();
        let json = serde_json::Value::Object(object).to_string();
        let (redacted, _) = Redactor::builtin().redact_json(&json);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{json} -> {redacted}");
    }

    /// What one reader leaves the next one takes: an import looks at what was redacted when it was recorded.
    #[test]
    fn nothing_is_found_in_what_was_redacted(text in risky_text(), other in risky_text()) {
        let redactor = Redactor::builtin();
        let clean = redactor.redact_text(&text).0;
        prop_assert_eq!(redactor.find(&clean), [], "{}", clean);
        let json = serde_json::json!({ "text": text, "more": [other] }).to_string();
        let clean = redactor.redact_json(&json).0;
        prop_assert_eq!(redactor.redact_json(&clean).1, [], "{}", clean);
        let raw = Raw::new("openai", format!(r#"{{"role":"user","content":{json}}}"#));
        if let Some(clean) = redactor.redact_raw_into(&raw, &mut Vault::new()).0 {
            let again = redactor.redact_raw_into(&clean, &mut Vault::new());
            prop_assert!(again.1.is_empty(), "{:?}: {}", again.1, clean.json);
        }
    }

    #[test]
    fn broken_json_is_no_reason_to_stop(text in risky_text()) {
        Redactor::builtin().redact_json(&text);
    }
}

/// Eight times as much text costs about eight times as much, whatever it is. What is counted is the time of this thread on
/// the processor, to which a virtual machine adds what it waits for its own; a cost that is quadratic is 64 times as much.
#[test]
fn no_text_costs_more_than_its_length() {
    let redactor = Redactor::builtin();
    for ((name, short), (_, long)) in shapes::all(12 << 10).zip(shapes::all(96 << 10)) {
        redactor.redact_json(&short);
        let cost = |text: &str| {
            let started = processor_seconds();
            redactor.redact_json(text);
            redactor.redact_text(text);
            redactor.redact_raw_into(&Raw::new("anthropic", text), &mut Vault::new());
            processor_seconds() - started
        };
        let (once, eight) = (cost(&short), cost(&long));
        assert!(eight < 24.0 * once + 0.25, "{name}: {once:.3} s, and {eight:.3} s for eight times as much");
    }
}

/// A history that is nested without end is searched like any other text.
#[test]
fn depth_costs_no_stack() {
    let key = "ghp_k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo";
    let (open, close) = ("[".repeat(20_000), "]".repeat(20_000));
    let raw = Raw::new("openai", format!("{open}\"{key}\"{close}"));
    let (clean, counts) = Redactor::builtin().redact_raw_into(&raw, &mut Vault::new());
    assert_eq!(counts.values().sum::<u64>(), 1);
    assert_eq!(*clean.unwrap().json, format!("{open}\"[REDACTED:github-pat:1]\"{close}"));
}

/// Returns the processor time of this thread; where Linux does not tell, nothing.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
