//! One history for each rule of Anthropic Messages that breaks it and nothing else.

mod breaking;

use breaking::{breaks, breaks_with, holds, holds_with};
use longhaul_wire::{Format::Anthropic, Profile, Thinking};

const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#;
const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}"#;
const ASK: &str = r#"{"role":"user","content":"go"}"#;
const SAY: &str = r#"{"role":"assistant","content":"ok"}"#;

fn list(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

fn thinking(profile: Thinking) -> Profile {
    let mut known = Profile::default();
    known.thinking = profile;
    known
}

#[test]
fn a_sound_history_breaks_nothing() {
    holds(Anthropic, &list(&[ASK, CALL, RESULT, SAY, ASK]));
    holds(Anthropic, &list(&[ASK, CALL]));
    holds(Anthropic, &list(&[ASK, ASK, CALL, RESULT, ASK, SAY, SAY]));
}

#[test]
fn a_01_at_least_one_message() {
    breaks("A-01", Anthropic, "[]");
}

#[test]
fn a_02_every_call_is_answered() {
    breaks("A-02", Anthropic, &list(&[ASK, CALL, ASK]));
    breaks("A-02", Anthropic, &list(&[ASK, CALL, ASK, SAY]));
}

#[test]
fn a_03_every_result_answers_the_message_before() {
    breaks("A-03", Anthropic, &list(&[ASK, SAY, RESULT]));
    breaks("A-03", Anthropic, &list(&[RESULT, SAY]));
}

#[test]
fn a_04_one_result_a_call() {
    breaks("A-04", Anthropic, &list(&[ASK, CALL, RESULT, RESULT]));
}

#[test]
fn a_05_results_come_first() {
    let late = r#"{"role":"user","content":[{"type":"text","text":"and"},{"type":"tool_result","tool_use_id":"t1","content":"a"}]}"#;
    breaks("A-05", Anthropic, &list(&[ASK, CALL, late]));
}

#[test]
fn a_06_nothing_stands_between() {
    let between = list(&[ASK, CALL, ASK, SAY, RESULT]);
    let found = breaking::rules(&between, Anthropic, &Profile::default());
    assert!(found.contains(&"A-02") || found.contains(&"A-06"), "{found:?}");
    // The result further on answers nothing that stands directly before it.
    assert!(found.contains(&"A-03"), "{found:?}");
    let system = r#"{"role":"system","content":"note"}"#;
    let found = breaking::rules(&list(&[ASK, CALL, system, RESULT]), Anthropic, &Profile::default());
    assert!(found.contains(&"A-06"), "{found:?}");
}

#[test]
fn a_07_texts_say_something() {
    for blank in ["", " \\n"] {
        let message = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{blank}"}}]}}"#);
        breaks("A-07", Anthropic, &list(&[&message, SAY]));
    }
}

#[test]
fn a_08_no_message_is_empty_but_the_last_answer() {
    breaks("A-08", Anthropic, &list(&[r#"{"role":"user","content":[]}"#, SAY]));
    holds(Anthropic, &list(&[ASK, r#"{"role":"assistant","content":[]}"#]));
}

#[test]
fn a_09_a_prefill_does_not_end_in_blanks() {
    breaks(
        "A-09",
        Anthropic,
        r#"{"max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"It is "}]}"#,
    );
}

#[test]
fn a_10_call_ids_have_their_form() {
    let odd = |text: &str| text.replace("t1", "t.1");
    breaks("A-10", Anthropic, &list(&[ASK, &odd(CALL), &odd(RESULT)]));
}

#[test]
fn a_11_four_breakpoints_at_most() {
    let marked =
        r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#;
    breaks("A-11", Anthropic, &list(&[marked, SAY, marked, SAY, marked, SAY, marked, SAY, marked]));
    holds(Anthropic, &list(&[marked, SAY, marked, SAY, marked, SAY, marked]));
}

#[test]
fn a_12_breakpoints_stand_on_blocks() {
    breaks(
        "A-12",
        Anthropic,
        &list(&[r#"{"role":"user","content":"go","cache_control":{"type":"ephemeral"}}"#]),
    );
    let thinking = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s","cache_control":{"type":"ephemeral"}},{"type":"text","text":"a"}]}"#;
    breaks("A-12", Anthropic, &list(&[ASK, thinking]));
}

#[test]
fn a_13_longer_lives_stand_first() {
    breaks(
        "A-13",
        Anthropic,
        r#"{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"5m"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}"#,
    );
}

#[test]
fn a_14_server_tools_stay_with_their_results() {
    let call = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#;
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let text = r#"{"type":"text","text":"a"}"#;
    let message = |blocks: &[&str]| format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","));
    holds(Anthropic, &list(&[ASK, &message(&[call, result, text]), ASK]));
    breaks("A-14", Anthropic, &list(&[ASK, &message(&[call, text]), ASK]));
    breaks("A-14", Anthropic, &list(&[ASK, &message(&[result, text]), ASK]));
}

#[test]
fn a_15_inputs_are_objects() {
    breaks("A-15", Anthropic, &list(&[ASK, &CALL.replace("{}", "\"{}\""), RESULT]));
}

#[test]
fn a_17_images_are_not_too_large_nor_too_many() {
    let image = |data: &str| {
        format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#)
    };
    let message = |blocks: &[String]| format!(r#"[{{"role":"user","content":[{}]}}]"#, blocks.join(","));
    let mut profile = Profile::default();
    profile.max_image_chars = 8;
    breaks_with("A-17", Anthropic, &message(&[image("AAAAAAAAAAAA")]), &profile);
    breaks("A-17", Anthropic, &message(&vec![image("AAAA"); 101]));
    holds(Anthropic, &message(&vec![image("AAAA"); 100]));
}

const THINK: &str = r#"{"type":"thinking","thinking":"h","signature":"c2ln"}"#;

#[test]
fn a_18_pictures_and_files_are_of_a_kind_that_is_taken() {
    let shown = |kind: &str, given: &str, media_type: &str| {
        list(&[&format!(
            r#"{{"role":"user","content":[{{"type":"{kind}","source":{{"type":"{given}","media_type":"{media_type}","data":"AAAA"}}}}]}}"#
        )])
    };
    breaks("A-18", Anthropic, &shown("document", "base64", "audio/wav"));
    breaks("A-18", Anthropic, &shown("image", "base64", "image/tiff"));
    holds(Anthropic, &shown("document", "base64", "application/pdf"));
    holds(Anthropic, &shown("document", "text", "text/plain"));
}

#[test]
fn a_19_an_answer_shows_nothing() {
    let shown = r#"{"role":"assistant","content":[{"type":"image","source":{"type":"url","url":"https://x.org/x.png"}}]}"#;
    breaks("A-19", Anthropic, &list(&[ASK, shown]));
}

fn thought(blocks: &[&str]) -> String {
    format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
}

#[test]
fn a_20_thinking_leads_and_does_not_end() {
    let text = r#"{"type":"text","text":"a"}"#;
    breaks("A-20", Anthropic, &list(&[ASK, &thought(&[text, THINK, text])]));
    breaks("A-20", Anthropic, &list(&[ASK, &thought(&[THINK, text, THINK])]));
    holds(Anthropic, &list(&[ASK, &thought(&[THINK, text])]));
    // Thinking alone ends with it too; the history may end in the middle of an answer.
    breaks("A-20", Anthropic, &list(&[ASK, &thought(&[THINK]), ASK]));
    holds(Anthropic, &list(&[ASK, &thought(&[THINK]), &thought(&[text]), ASK]));
    holds(Anthropic, &list(&[ASK, &thought(&[THINK])]));
    // Messages that follow each other are one.
    breaks("A-20", Anthropic, &list(&[ASK, SAY, &thought(&[THINK, text]), ASK]));
    holds(Anthropic, &list(&[ASK, &thought(&[THINK, text]), &thought(&[THINK, text]), ASK]));
}

#[test]
fn a_20_of_a_round_in_progress_thinking_stands_as_it_came() {
    let text = r#"{"type":"text","text":"a"}"#;
    let call = thought(&[text, THINK, r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#]);
    holds(Anthropic, &list(&[ASK, &call]));
    holds(Anthropic, &list(&[ASK, &call, RESULT]));
    breaks("A-20", Anthropic, &list(&[ASK, &call, RESULT, SAY]));
    breaks("A-20", Anthropic, &list(&[ASK, &call, RESULT, SAY, ASK]));
}

#[test]
fn a_21_a_round_in_progress_begins_with_its_thinking() {
    breaks_with("A-21", Anthropic, &list(&[ASK, CALL, RESULT]), &thinking(Thinking::On));
    let call = r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#;
    holds_with(Anthropic, &list(&[ASK, &thought(&[THINK, call]), RESULT]), &thinking(Thinking::On));
}

/// A turn that the server paused is to go on as well.
#[test]
fn a_21_a_paused_turn_begins_with_its_thinking() {
    let call = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}"#;
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let text = r#"{"type":"text","text":"a"}"#;
    breaks_with("A-21", Anthropic, &list(&[ASK, &thought(&[text, call])]), &thinking(Thinking::On));
    holds_with(Anthropic, &list(&[ASK, &thought(&[THINK, call])]), &thinking(Thinking::On));
    holds_with(Anthropic, &list(&[ASK, &thought(&[call, result, text])]), &thinking(Thinking::On));
}

#[test]
fn a_22_the_latest_thinking_keeps_its_signature() {
    let bare = r#"{"type":"thinking","thinking":"h","signature":""}"#;
    let text = r#"{"type":"text","text":"a"}"#;
    breaks_with("A-22", Anthropic, &list(&[ASK, &thought(&[bare, text])]), &thinking(Thinking::On));
}

#[test]
fn a_23_no_thinking_when_it_is_off() {
    let text = r#"{"type":"text","text":"a"}"#;
    breaks_with("A-23", Anthropic, &list(&[ASK, &thought(&[THINK, text])]), &thinking(Thinking::Off));
}

#[test]
fn a_24_earlier_thinking_may_go() {
    let call = r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#;
    let late = thought(&[THINK, call]);
    holds_with(Anthropic, &list(&[ASK, SAY, ASK, &late, RESULT]), &thinking(Thinking::On));
}

#[test]
fn a_25_bound_thinking_does_not_outlive_an_edit() {
    let text = r#"{"type":"text","text":"a"}"#;
    let history = list(&[ASK, &thought(&[THINK, text]), ASK]);
    breaks_with("A-25", Anthropic, &history, &thinking(Thinking::Preserved { unedited: 0 }));
    holds_with(Anthropic, &history, &thinking(Thinking::Preserved { unedited: 3 }));
}

const SYSTEM: &str = r#"{"role":"system","content":"note"}"#;

#[test]
fn a_30_a_system_message_follows_the_user() {
    breaks("A-30", Anthropic, &list(&[ASK, SAY, SYSTEM]));
    holds(Anthropic, &list(&[ASK, SYSTEM, SAY]));
}

#[test]
fn a_31_a_system_message_is_followed_by_the_assistant() {
    breaks("A-31", Anthropic, &list(&[ASK, SYSTEM, ASK]));
}

#[test]
fn a_32_a_system_message_splits_no_exchange() {
    let found = breaking::rules(&list(&[ASK, CALL, SYSTEM, RESULT]), Anthropic, &Profile::default());
    assert!(found.contains(&"A-32"), "{found:?}");
}

const COMPACTION: &str = r#"{"role":"assistant","content":[{"type":"compaction","content":"so far"}]}"#;

#[test]
fn a_40_a_compaction_leads() {
    holds(Anthropic, &list(&[COMPACTION, ASK, SAY]));
    breaks("A-40", Anthropic, &list(&[ASK, COMPACTION, ASK]));
}

#[test]
fn a_41_one_compaction_with_content() {
    breaks("A-41", Anthropic, &list(&[COMPACTION, ASK, COMPACTION, ASK]));
    breaks("A-41", Anthropic, &list(&[&COMPACTION.replace("so far", "")]));
}

#[test]
fn u_03_call_ids_are_used_once() {
    breaks("U-03", Anthropic, &list(&[ASK, CALL, RESULT, CALL, RESULT]));
}
