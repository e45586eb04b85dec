//! Whatever a conversation looks like, what a compaction of it leaves is taken by its provider.
//!
//! The rules are written once more here (`rules.rs`), from what the providers document and answer, on plain JSON: they
//! share nothing with the validator of `longhaul-wire`, whose mistakes they are to find. The histories are drawn
//! (`histories.rs`). `LONGHAUL_CASES=1000000 cargo test --release -p longhaul --features wire providers` is the long run; with
//! `LONGHAUL_FIRST_CASE=N` it begins behind those that an earlier run drew.

mod histories;
mod rules;

use std::sync::Arc;

use longhaul::{
    Breakdown, Config, DocumentError, DocumentSession, RewriteError, Within, keep_reasoning,
    tokens::{CharsPer4, ContextWindow},
    transcript::Tokens,
    wire::{self, Format},
};
use serde_json::Value;

use self::histories::Draw;

/// How many histories of each format a run draws, where nobody says otherwise.
const CASES: u64 = 40;

fn hold(format: Format, draw: fn(&mut Draw) -> String, broken: fn(&str, &str) -> Vec<String>) {
    let asked = |name| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let first = asked("LONGHAUL_FIRST_CASE").unwrap_or_default();
    let cases = asked("LONGHAUL_CASES").unwrap_or(CASES);
    let (mut compacted, mut refused) = (0u64, 0u64);
    for seed in first..first + cases {
        let mut draws = Draw::new(seed);
        let before = draw(&mut draws);
        let faults = broken(&before, &before);
        assert!(faults.is_empty(), "{seed}: the history that was drawn breaks {faults:?}\n{before}");
        match compact(&before, format, &mut draws) {
            Some(after) => {
                compacted += 1;
                let faults = broken(&before, &after);
                assert!(faults.is_empty(), "{seed}: {faults:#?}\nbefore: {before}\nafter: {after}");
            }
            None => refused += 1,
        }
    }
    assert!(compacted * 2 > refused, "{compacted} compacted, {refused} refused: the draws test too little");
}

/// Compacts into a budget that is drawn too; `None` where it is below what must stay, or nothing is gained.
fn compact(history: &str, format: Format, draws: &mut Draw) -> Option<String> {
    let document = wire::read(Some(format), history.as_bytes()).unwrap();
    assert_eq!(document.problems(), [], "{history}");
    let breakdown = Breakdown::of(document.transcript().entries(), &CharsPer4);
    let budget = breakdown.total.scaled(0.1 + 0.08 * draws.below(10) as f64).max(Tokens(300));
    let within = Within {
        reasoning: keep_reasoning(format),
        keep_recent: [None, Some(2), Some(8)][draws.below(3)],
        ..Within::new(budget)
    };
    let window = ContextWindow::new(Tokens(200_000), Tokens(16_000));
    let session =
        DocumentSession::new(&document, window, Arc::new(CharsPer4), Config::default(), None).unwrap();
    match session.compact(&within) {
        Ok(done) => Some(String::from_utf8(done.bytes).unwrap()),
        Err(
            DocumentError::Compact(_)
            | DocumentError::DoesNotFit { .. }
            | DocumentError::Rewrite(RewriteError::NoGain { .. }),
        ) => None,
        Err(error) => unreachable!("{error}\n{history}"),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().filter(|line| !line.is_empty()).map(json).collect()
}

#[test]
fn anthropic_takes_what_is_left() {
    hold(Format::Anthropic, histories::anthropic, |before, after| {
        rules::anthropic(&json(before)["messages"], &json(after)["messages"])
    });
}

#[test]
fn openai_takes_what_is_left() {
    hold(Format::OpenAi, histories::openai, |_, after| rules::openai(&json(after)["messages"]));
}

#[test]
fn responses_takes_what_is_left() {
    hold(Format::Responses, histories::responses, |before, after| {
        rules::responses(&json(before)["input"], &json(after)["input"])
    });
}

#[test]
fn gemini_takes_what_is_left() {
    hold(Format::Gemini, histories::gemini, |before, after| {
        rules::gemini(&json(before)["contents"], &json(after)["contents"])
    });
}

#[test]
fn claude_code_sends_what_its_provider_takes() {
    hold(Format::ClaudeCode, histories::claude_code, |before, after| {
        let live = |text| rules::live_of_claude_code(&lines(text));
        rules::anthropic(&live(before), &live(after))
    });
}

#[test]
fn codex_sends_what_its_provider_takes() {
    hold(Format::Codex, histories::codex, |before, after| {
        let live = |text| rules::live_of_codex(&lines(text));
        rules::responses(&live(before), &live(after))
    });
}

/// A test that cannot fail proves nothing: each of these breaks one rule.
#[test]
fn the_rules_find_what_is_broken() {
    let call = |id: &str| {
        json(&format!(
            r#"{{"type":"function_call","id":"fc_{id}","call_id":"{id}","name":"n","arguments":"{{}}"}}"#
        ))
    };
    let output =
        |id: &str| json(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"x"}}"#));
    let thought = json(r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA=="}"#);
    let user = json(r#"{"role":"user","content":"go"}"#);
    let whole = Value::Array(vec![
        user.clone(),
        thought.clone(),
        call("a"),
        call("b"),
        output("a"),
        output("b"),
        user.clone(),
    ]);
    let without = |gone: usize| {
        let mut left = whole.as_array().unwrap().clone();
        left.remove(gone);
        rules::responses(&whole, &Value::Array(left))
    };
    assert_eq!(rules::responses(&whole, &whole), [""; 0]);
    assert!(without(1).iter().filter(|fault| fault.starts_with("R-05")).count() == 2, "parallel calls too");
    for (gone, rule) in [(2, "R-02"), (4, "R-01")] {
        assert!(without(gone).iter().any(|fault| fault.starts_with(rule)), "{rule}");
    }

    let signed = r#"[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"n","args":{"a":"long"}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"n","response":{}}}]}]"#;
    let clipped = signed.replace("long", "l…");
    assert_eq!(rules::gemini(&json(signed), &json(signed)), [""; 0]);
    assert!(rules::gemini(&json(signed), &json(&clipped))[0].starts_with("G-07"));
    let unchecked = clipped.replace("c2ln", "skip_thought_signature_validator");
    assert_eq!(rules::gemini(&json(signed), &json(&unchecked)), [""; 0]);

    let round = r#"[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"a","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"text","text":"and"}]}]"#;
    for (from, to, rule) in [
        (r#""tool_use_id":"a""#, r#""tool_use_id":"b""#, "A-03"),
        (r#""text":"and""#, r#""text":" ""#, "A-07"),
        (r#""id":"a""#, r#""id":"a b""#, "A-10"),
        (r#""input":{}"#, r#""input":"{}""#, "A-15"),
        (r#""signature":"s""#, r#""signature":"r""#, "A-22"),
    ] {
        let broken = rules::anthropic(&json(round), &json(&round.replace(from, to)));
        assert!(broken.iter().any(|fault| fault.starts_with(rule)), "{rule}: {broken:?}");
    }
    let chat = r#"[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"and"}]"#;
    assert_eq!(rules::openai(&json(chat)), [""; 0]);
    for (from, to, rule) in [
        (r#""tool_call_id":"a""#, r#""tool_call_id":"b""#, "O-02"),
        (r#"{"role":"tool","tool_call_id":"a","content":"x"},"#, "", "O-01"),
        (
            r#""content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]"#,
            r#""content":null"#,
            "O-03",
        ),
        (r#""content":"x""#, r#""content":[{"type":"image_url","image_url":{"url":"x"}}]"#, "O-07"),
    ] {
        let broken = rules::openai(&json(&chat.replace(from, to)));
        assert!(broken.iter().any(|fault| fault.starts_with(rule)), "{rule}: {broken:?}");
    }
}
