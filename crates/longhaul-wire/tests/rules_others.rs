//! One history for each rule of the other formats that breaks it and nothing else.

mod breaking;

use breaking::{breaks, breaks_with, holds, holds_with, rules};
use longhaul_wire::{
    Format::{Anthropic, ClaudeCode, Codex, Gemini, OpenAi, Responses, UiMessages},
    IdPattern, Profile,
};

fn list(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

fn profile(set: impl FnOnce(&mut Profile)) -> Profile {
    let mut profile = Profile::default();
    set(&mut profile);
    profile
}

// Every format.

#[test]
fn u_13_there_is_a_message() {
    for format in [OpenAi, Responses, Gemini, UiMessages] {
        breaks("U-13", format, "[]");
    }
    breaks_with("R-09", Responses, r#"{"input":[],"previous_response_id":"resp_1"}"#, &Profile::default());
}

#[test]
fn u_14_roles_are_known() {
    breaks("U-14", OpenAi, &list(&[ASK, r#"{"role":"model","content":"a"}"#]));
    breaks("U-14", OpenAi, &list(&[r#"{"content":"a"}"#]));
    breaks("U-14", Responses, r#"[{"role":"tool","content":"a"}]"#);
    breaks("U-14", Gemini, r#"[{"role":"assistant","parts":[{"text":"a"}]}]"#);
    breaks("U-14", Anthropic, r#"[{"role":"user","content":"a"},{"role":"tool","content":"b"}]"#);
    holds(Gemini, r#"[{"parts":[{"text":"a"}]}]"#);
}

// OpenAI Chat Completions.

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const SAY: &str = r#"{"role":"assistant","content":"ok"}"#;
const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"callAbc12","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"callAbc12","content":"a"}"#;

#[test]
fn a_sound_chat_breaks_nothing() {
    holds(OpenAi, &list(&[r#"{"role":"system","content":"s"}"#, ASK, CALL, RESULT, SAY, ASK]));
    holds(OpenAi, &list(&[ASK, CALL]));
}

#[test]
fn o_01_calls_are_answered_at_once() {
    breaks("O-01", OpenAi, &list(&[ASK, CALL, ASK]));
    assert!(rules(&list(&[ASK, CALL, ASK, RESULT]), OpenAi, &Profile::default()).contains(&"O-01"));
}

#[test]
fn o_02_results_answer_the_message_before() {
    breaks("O-02", OpenAi, &list(&[RESULT, ASK]));
    breaks("O-02", OpenAi, &list(&[ASK, CALL, RESULT, SAY, RESULT]));
}

#[test]
fn o_03_there_is_content() {
    breaks("O-03", OpenAi, &list(&[ASK, r#"{"role":"assistant","content":null}"#]));
    breaks("O-03", OpenAi, &list(&[r#"{"role":"user"}"#]));
}

#[test]
fn o_04_no_empty_list_of_calls() {
    breaks("O-04", OpenAi, &list(&[ASK, r#"{"role":"assistant","content":"a","tool_calls":[]}"#]));
}

#[test]
fn o_05_not_too_many_calls() {
    let call = |nth: usize| {
        format!(r#"{{"id":"c{nth}","type":"function","function":{{"name":"ls","arguments":"{{}}"}}}}"#)
    };
    let calls = |count| (0..count).map(call).collect::<Vec<_>>().join(",");
    let message = |count| {
        format!(
            r#"[{{"role":"user","content":"go"}},{{"role":"assistant","tool_calls":[{}]}}]"#,
            calls(count)
        )
    };
    breaks("O-05", OpenAi, &message(129));
    holds(OpenAi, &message(128));
}

#[test]
fn o_06_no_string_is_too_long() {
    let short = profile(|profile| profile.max_string_chars = 5);
    breaks_with("O-06", OpenAi, &list(&[r#"{"role":"user","content":"éééééé"}"#]), &short);
    holds_with(OpenAi, &list(&[r#"{"role":"user","content":"ééééé"}"#]), &short);
}

#[test]
fn o_07_tools_answer_in_text() {
    let image = r#"{"role":"tool","tool_call_id":"callAbc12","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}"#;
    breaks("O-07", OpenAi, &list(&[ASK, CALL, image]));
}

#[test]
fn o_08_names_have_their_form() {
    breaks("O-08", OpenAi, &list(&[r#"{"role":"user","name":"a b","content":"go"}"#]));
    breaks("O-08", OpenAi, &list(&[ASK, &CALL.replace("\"ls\"", "\"l s\""), RESULT]));
}

#[test]
fn o_09_audio_stands_for_content() {
    // Whether an audio id has expired only the server knows; that it may stand alone is what can be checked.
    holds(OpenAi, &list(&[ASK, r#"{"role":"assistant","audio":{"id":"audio_1"}}"#]));
}

#[test]
fn o_11_one_name_for_instructions() {
    breaks(
        "O-11",
        OpenAi,
        &list(&[r#"{"role":"system","content":"s"}"#, r#"{"role":"developer","content":"d"}"#, ASK]),
    );
}

#[test]
fn o_12_the_user_shows_pictures() {
    let shown = r#"{"role":"R","content":[{"type":"image_url","image_url":{"url":"https://x.org/x.png"}}]}"#;
    breaks("O-12", OpenAi, &list(&[ASK, &shown.replace('R', "assistant")]));
    holds(OpenAi, &list(&[&shown.replace('R', "user")]));
}

#[test]
fn od_1_reasoning_comes_back() {
    let strict = profile(|profile| profile.needs_reasoning_content = true);
    breaks_with("OD-1", OpenAi, &list(&[ASK, CALL, RESULT]), &strict);
    let with = CALL.replace("\"content\":null", "\"content\":null,\"reasoning_content\":\"h\"");
    holds_with(OpenAi, &list(&[ASK, &with, RESULT]), &strict);
}

#[test]
fn od_5_ids_of_nine() {
    let nine = profile(|profile| profile.id_pattern = IdPattern::Nine);
    holds_with(OpenAi, &list(&[ASK, CALL, RESULT, SAY]), &nine);
    breaks_with("OD-5", OpenAi, &list(&[ASK, CALL, RESULT, ASK]), &nine);
    let long = |text: &str| text.replace("callAbc12", "call_Abc12");
    breaks_with("OD-5", OpenAi, &list(&[ASK, &long(CALL), &long(RESULT)]), &nine);
}

#[test]
fn od_6_strict_alternation() {
    let strict = profile(|profile| profile.alternates = true);
    breaks_with("OD-6", OpenAi, &list(&[ASK, ASK, SAY]), &strict);
    breaks_with("OD-6", OpenAi, &list(&[ASK, r#"{"role":"system","content":"s"}"#, SAY]), &strict);
    holds_with(OpenAi, &list(&[ASK, CALL, RESULT, SAY, ASK]), &strict);
}

#[test]
fn u_03_one_id_one_call() {
    breaks("U-03", OpenAi, &list(&[ASK, CALL, RESULT, CALL, RESULT]));
    breaks("U-03", OpenAi, &list(&[ASK, CALL, RESULT, RESULT]));
}

#[test]
fn u_11_texts_do_not_become_blank() {
    breaks("U-11", OpenAi, &list(&[r#"{"role":"user","content":"  "}"#]));
    breaks("U-11", OpenAi, &list(&[r#"{"role":"user","content":[{"type":"text","text":" "}]}"#]));
    let blank = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":" "}]}"#;
    breaks("U-11", Responses, &list(&[ASK, blank]));
    breaks("U-11", Gemini, &list(&[G_ASK, &G_SAY.replace("ok", " ")]));
}

// OpenAI Responses.

const MAKE: &str = r#"{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"a"}"#;
const THINK: &str = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FB"}"#;

#[test]
fn a_sound_list_of_items_breaks_nothing() {
    holds(Responses, &list(&[ASK, THINK, MAKE, OUTPUT, SAY]));
    holds(Responses, &list(&[ASK, MAKE]));
    holds(Responses, r#"{"input":"go"}"#);
}

#[test]
fn r_01_every_call_has_its_output() {
    breaks("R-01", Responses, &list(&[ASK, MAKE, SAY]));
}

#[test]
fn r_02_every_output_has_its_call() {
    breaks("R-02", Responses, &list(&[ASK, OUTPUT, SAY]));
    breaks(
        "R-02",
        Responses,
        &list(&[ASK, MAKE, &OUTPUT.replace("function_call_output", "shell_call_output")]),
    );
}

#[test]
fn r_03_pairs_stand_together_where_they_must() {
    let strict = profile(|profile| profile.keeps_adjacent = true);
    breaks_with("R-03", Responses, &list(&[ASK, MAKE, SAY, OUTPUT]), &strict);
    holds(Responses, &list(&[ASK, MAKE, SAY, OUTPUT]));
}

#[test]
fn r_04_reasoning_stands_before_what_it_led_to() {
    breaks("R-04", Responses, &list(&[ASK, THINK, ASK]));
    // What it leads to may still come, but not from a request.
    holds(Responses, &list(&[ASK, THINK]));
    breaks("R-04", Responses, &format!(r#"{{"model":"m","input":{}}}"#, list(&[ASK, THINK])));
}

#[test]
fn r_05_a_call_stands_with_its_reasoning() {
    let with_id = MAKE.replace("\"call_id\"", "\"id\":\"fc_1\",\"call_id\"");
    breaks("R-05", Responses, &list(&[ASK, THINK, SAY, ASK, &with_id, OUTPUT]));
    // R-06: without its id it may stand alone.
    holds(Responses, &list(&[ASK, THINK, SAY, ASK, MAKE, OUTPUT]));
    // The server may hold the reasoning.
    let part = list(&[ASK, THINK, SAY, ASK, &with_id, OUTPUT]);
    let part = format!("{{\"previous_response_id\":\"resp_1\",\"input\":{part}}}");
    let found = longhaul_wire::validate(part.as_bytes(), Responses, &Profile::default()).unwrap();
    assert!(found.iter().all(|violation| violation.rule != "R-05"), "{found:?}");
}

#[test]
fn r_07_call_ids_are_short() {
    let long = |text: &str| text.replace("\"c1\"", &format!("\"{}\"", "c".repeat(65)));
    breaks("R-07", Responses, &list(&[ASK, &long(MAKE), &long(OUTPUT)]));
}

#[test]
fn r_08_reasoning_by_id_means_nothing_to_a_server_that_forgets() {
    let stateless = profile(|profile| profile.is_stateless = true);
    let bare = THINK.replace("Z0FB", "");
    breaks_with("R-08", Responses, &list(&[ASK, &bare, SAY]), &stateless);
    holds_with(Responses, &list(&[ASK, THINK, SAY]), &stateless);
}

#[test]
fn r_09_a_part_of_a_history_is_named_as_such() {
    breaks(
        "R-09",
        Responses,
        r#"{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c1","output":"a"}]}"#,
    );
    breaks("R-09", Responses, r#"{"previous_response_id":"r","conversation":"c","input":[]}"#);
}

#[test]
fn r_10_a_compaction_keeps_its_content() {
    breaks("R-10", Responses, &list(&[r#"{"type":"compaction","id":"cmp_1","encrypted_content":""}"#, ASK]));
    breaks("R-10", Responses, &list(&[r#"{"type":"compaction_trigger"}"#, ASK]));
    holds(Responses, &list(&[r#"{"type":"compaction","encrypted_content":"Z0FB"}"#, ASK]));
}

#[test]
fn r_13_phases_survive() {
    let phased = r#"{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]}"#;
    let lost =
        r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#;
    breaks("R-13", Responses, &list(&[ASK, phased, lost]));
    holds(Responses, &list(&[ASK, lost, phased]));
    holds(Responses, &list(&[ASK, phased, SAY]));
}

#[test]
fn r_14_an_answer_shows_nothing() {
    let shown = r#"{"type":"message","role":"R","content":[{"type":"input_image","image_url":"https://x.org/x.png"}]}"#;
    breaks("R-14", Responses, &list(&[ASK, &shown.replace('R', "assistant")]));
    holds(Responses, &list(&[&shown.replace('R', "user")]));
}

#[test]
fn u_03_one_call_id_one_item() {
    breaks("U-03", Responses, &list(&[ASK, MAKE, OUTPUT, OUTPUT]));
    breaks("U-03", Responses, &list(&[ASK, MAKE, MAKE, OUTPUT]));
}

// Gemini.

const G_ASK: &str = r#"{"role":"user","parts":[{"text":"go"}]}"#;
const G_CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}"#;
const G_RESULT: &str =
    r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}"#;
const G_SAY: &str = r#"{"role":"model","parts":[{"text":"ok"}]}"#;

#[test]
fn a_sound_list_of_contents_breaks_nothing() {
    holds(Gemini, &list(&[G_ASK, G_CALL, G_RESULT, G_SAY, G_ASK]));
    holds(Gemini, &list(&[G_ASK, G_CALL]));
}

#[test]
fn g_01_as_many_responses_as_calls() {
    let two = G_CALL.replace("[{", "[{\"functionCall\":{\"name\":\"ls\",\"args\":{}}},{");
    breaks("G-01", Gemini, &list(&[G_ASK, &two, G_RESULT]));
}

#[test]
fn g_02_the_response_follows_the_call() {
    breaks("G-02", Gemini, &list(&[G_ASK, G_CALL, G_ASK]));
    breaks("G-02", Gemini, &list(&[G_ASK, G_RESULT]));
}

#[test]
fn g_03_a_call_follows_the_user() {
    breaks("G-03", Gemini, &list(&[G_CALL, G_RESULT]));
    breaks("G-03", Gemini, &list(&[G_ASK, G_SAY, G_CALL, G_RESULT]));
}

#[test]
fn g_04_the_user_begins() {
    breaks("G-04", Gemini, &list(&[G_SAY, G_ASK]));
}

#[test]
fn g_05_a_part_holds_one_thing() {
    breaks("G-05", Gemini, &list(&[r#"{"role":"user","parts":[]}"#]));
    breaks("G-05", Gemini, &list(&[r#"{"role":"user","parts":[{"text":"a","fileData":{"fileUri":"x"}}]}"#]));
    let empty = |more: &str| G_CALL.replace("[{", &format!("[{{\"text\":\"\"{more}}},{{"));
    breaks("G-05", Gemini, &list(&[G_ASK, &empty(""), G_RESULT]));
    // G-09: with a signature it stays.
    holds(Gemini, &list(&[G_ASK, &empty(r#","thoughtSignature":"c2ln""#), G_RESULT]));
}

#[test]
fn g_06_the_first_call_of_a_step_is_signed() {
    let strict = profile(|profile| profile.needs_thought_signature = true);
    breaks_with("G-06", Gemini, &list(&[G_ASK, G_CALL, G_RESULT]), &strict);
    let signed = G_CALL.replace("}}]", "},\"thoughtSignature\":\"c2ln\"}]");
    holds_with(Gemini, &list(&[G_ASK, &signed, G_RESULT]), &strict);
    // What lies before the last words of the user does not count.
    holds_with(Gemini, &list(&[G_ASK, G_CALL, G_RESULT, G_SAY, G_ASK]), &strict);
}

#[test]
fn g_10_responses_bear_the_name_of_their_call() {
    breaks("G-10", Gemini, &list(&[G_ASK, G_CALL, &G_RESULT.replace("\"ls\"", "\"cat\"")]));
}

#[test]
fn g_11_calls_and_responses_have_names_and_objects() {
    let call =
        |call: &str| list(&[G_ASK, &format!(r#"{{"role":"model","parts":[{{"functionCall":{call}}}]}}"#)]);
    breaks("G-11", Gemini, &call(r#"{"args":{}}"#));
    breaks("G-11", Gemini, &call(r#"{"name":"ls","args":"a"}"#));
    holds(Gemini, &call(r#"{"name":"ls"}"#));
    let answer = |answer: &str| {
        let answer = format!(r#"{{"role":"user","parts":[{{"functionResponse":{answer}}}]}}"#);
        list(&[G_ASK, G_CALL, &answer])
    };
    breaks("G-11", Gemini, &answer(r#"{"name":"ls","response":["a"]}"#));
    breaks("G-11", Gemini, &answer(r#"{"name":"ls"}"#));
}

// Session files.

#[test]
fn c_04_the_walk_reaches_a_root() {
    let line = |uuid: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":"go"}}}}"#
        )
    };
    holds(ClaudeCode, &[line("a", "null"), line("b", "\"a\"")].join("\n"));
    breaks("C-04", ClaudeCode, &[line("a", "null"), line("b", "\"x\"")].join("\n"));
    breaks("C-04", ClaudeCode, &[line("a", "\"b\""), line("b", "\"a\"")].join("\n"));
}

#[test]
fn c_06_a_session_is_held_to_the_rules_of_its_provider() {
    let line = |uuid: &str, parent: &str, kind: &str, message: &str| {
        format!(r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"message":{message}}}"#)
    };
    let call =
        r#"{"role":"assistant","id":"m1","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#;
    let ask = r#"{"role":"user","content":"go"}"#;
    let broken = [
        line("a", "null", "user", ask),
        line("b", "\"a\"", "assistant", call),
        line("c", "\"b\"", "user", ask),
    ];
    breaks("A-02", ClaudeCode, &broken.join("\n"));
}

#[test]
fn x_01_a_rollout_is_held_to_the_rules_of_its_provider() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let ask = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#;
    let compacted =
        format!(r#"{{"type":"compacted","payload":{{"message":"","replacement_history":[{ask}]}}}}"#);
    // Before the compaction nothing counts; after it everything does.
    holds(Codex, &[item(ask), item(MAKE), item(ask), compacted.clone(), item(MAKE), item(OUTPUT)].join("\n"));
    breaks("R-02", Codex, &[item(ask), item(MAKE), compacted, item(OUTPUT)].join("\n"));
}

#[test]
fn x_05_turns_taken_back_are_gone() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let ask = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#;
    let back = r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#.to_owned();
    breaks("R-02", Codex, &[item(ask), item(MAKE), back, item(OUTPUT)].join("\n"));
}

// UI messages of the AI SDK.

/// A message of the model's with these parts, between two of the user's.
fn ui(parts: &str) -> String {
    let user = |id: u8| format!(r#"{{"id":"u{id}","role":"user","parts":[{{"type":"text","text":"go"}}]}}"#);
    list(&[&user(1), &format!(r#"{{"id":"a","role":"assistant","parts":[{parts}]}}"#), &user(2)])
}

const LS: &str = r#"{"type":"tool-ls","toolCallId":"c","state":"output-available","input":{},"output":null}"#;

#[test]
fn sound_ui_messages_break_nothing() {
    holds(UiMessages, &ui(LS));
    holds(UiMessages, &ui(r#"{"type":"tool-ls","toolCallId":"c","state":"input-streaming"}"#));
    holds(UiMessages, &ui(r#"{"type":"data-x","data":null},{"type":"part-of-next-month"}"#));
    let open = r#"[{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"ls","toolCallId":"c","state":"input-available","input":{}}]}]"#;
    holds(UiMessages, open);
}

#[test]
fn v_01_a_message_has_an_id_a_role_and_parts() {
    breaks("V-01", UiMessages, &ui(""));
    breaks("V-01", UiMessages, &ui(LS).replace(r#""id":"u1","#, ""));
    breaks("V-01", UiMessages, &ui(LS).replacen("user", "tool", 1));
}

#[test]
fn v_02_a_part_has_what_its_type_asks_for() {
    breaks("V-02", UiMessages, &ui(r#"{"type":"text"}"#));
    breaks("V-02", UiMessages, &ui(r#"{"text":"a"}"#));
    breaks("V-02", UiMessages, &ui(r#"{"type":"file","mediaType":"image/png"}"#));
    breaks("V-02", UiMessages, &ui(r#"{"type":"data-x"}"#));
    breaks("V-02", UiMessages, &ui(&LS.replace("tool-ls", "dynamic-tool")));
}

#[test]
fn v_03_a_call_has_what_its_state_says() {
    breaks("V-03", UiMessages, &ui(&LS.replace(r#""toolCallId":"c","#, "")));
    breaks("V-03", UiMessages, &ui(&LS.replace("output-available", "output-error")));
    breaks("V-03", UiMessages, &ui(&LS.replace("output-available", "result")));
    breaks("V-03", UiMessages, &ui(&LS.replace(r#","output":null"#, "")));
}

#[test]
fn v_04_a_call_is_answered_before_the_conversation_goes_on() {
    breaks("V-04", UiMessages, &ui(&LS.replace("output-available", "input-available")));
}

#[test]
fn u_03_one_ui_call_one_part() {
    breaks("U-03", UiMessages, &ui(&format!("{LS},{LS}")));
}
