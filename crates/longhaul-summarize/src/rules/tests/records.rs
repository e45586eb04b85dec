//! Bookings, orders and issues are told with their state, a meeting with what it came to.

use longhaul_testkit::transcript;
use longhaul_transcript::{Message, Role};

use super::{draft, draft_of};

#[test]
fn what_calls_changed_outside_is_told_and_nothing_that_was_refused_or_only_looked_up() {
    let said = r#"
user: Move all three of my bookings to economy.
assistant: !get_booking#c0 {"booking_id":"XK4"}
tool#c0: {"booking_id": "XK4", "cabin": "business"}
assistant: !update_booking#c1 {"booking_id":"XK4","cabin":"economy","flights":[{"number":"HAT1","date":"2024-05-21"}]}
tool#c1: {"booking_id": "XK4", "cabin": "economy"}
assistant: !update_booking#c2 {"booking_id":"ZZ9","cabin":"economy"}
tool#c2: Error: the booking cannot be changed
assistant: !mcp__mail__send_message#c3 {"to":"mara@example.com","body":"XK4 is in economy now."} !update_booking#c4 {"booking_id":"QQ1"}
tool#c3: sent
assistant: !cancel_booking#c5 {"booking_id":"LK5"} !create_note#c6 {"text":"moved"}
tool#c5: {"error":"the booking is locked"}
tool#c6: {"error": null, "id": 7}
assistant: The second one is refused.
"#;
    let text = draft(said, 900).text;
    let told = "## Calls that changed something, answered without an error\n```\nm3 update_booking booking_id XK4, cabin economy, number HAT1, date 2024-05-21\nm7 mcp__mail__send_message to mara@example.com, body XK4 is in economy now.\nm9 create_note text moved\n```";
    assert!(text.contains(told), "{text}");
}

#[test]
fn what_the_customer_did_is_not_told_as_the_agents_and_a_token_of_the_harness_is_no_request() {
    let said = r#"
user: I cannot send pictures. Please add 2 GB to line L1002.
assistant: Please switch off the airplane mode first.
assistant: !toggle_airplane_mode#u1 {}
tool#u1: It is off.
user: It is off now, and it still fails.
assistant: !refuel_data#a1 {"line_id":"L1002","gb":2}
tool#a1: {"added": 2}
assistant: 2 GB are added.
user: ###TRANSFER###
"#;
    let mut entries = transcript(said).entries().to_vec();
    entries[2].message = Message { role: Role::User, ..(*entries[2].message).clone() }.into();
    let text = draft_of(&entries, 900, &[]).text;
    let told = "\nm2 toggle_airplane_mode (by the user)\nm5 refuel_data line_id L1002, gb 2\n";
    assert!(text.contains(told), "{text}");
    assert!(!text.contains("TRANSFER"), "{text}");
    assert!(text.starts_with("## Request (m4)"), "{text}");
}

#[test]
fn what_a_customer_is_known_by_is_told_before_what_else_was_asked() {
    let more = (0..30).map(|nth| {
        format!("user: And leg {nth}?\nassistant: !get_seat#s{nth} {{\"leg\":\"{nth}\"}}\ntool#s{nth}: {{\"seat\": {nth}}}\nassistant: It is free.\n")
    });
    let said = format!(
        "\nuser: I need to change my bookings.\nassistant: What is your user id?\nuser: I can give you my user id; it is mara_keller_3817. However, I am not sure about the ids of my bookings.\nassistant: !get_user#c0 {{\"user_id\":\"mara_keller_3817\"}}\ntool#c0: {{\"bookings\": [\"XK4\"]}}\nassistant: Found.\n{}",
        more.collect::<String>()
    );
    let text = draft(&said, 260).text;
    let asked = text.split("## Asked before\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let asked = asked.split("\n## ").next().unwrap_or_default();
    assert!(
        asked.contains("m2 I can give you my user id; it is mara_keller_3817.") && asked.contains(" more "),
        "{text}"
    );
}

#[test]
fn where_a_part_of_a_record_is_left_out_a_mark_says_so() {
    let item = |name: &str, id: u32| {
        format!(
            r#"{{"name": "{name}", "item_id": "{id}", "options": {{"colour": "dark blue", "size": "a large one of the second kind", "brand": "Brand B of the north"}}}}"#
        )
    };
    let items: Vec<String> = (0..9).map(|nth| item(&format!("Lamp {nth}"), 5_000 + nth)).collect();
    let said = format!(
        "\nuser: What is in order W12? I want Lamp 3 out of it.\nassistant: !get_order_details#c1 {{\"order_id\":\"W12\"}}\ntool#c1: {{\"order_id\": \"W12\", \"status\": \"pending\", \"items\": [{}], \"total\": 1409}}\nassistant: Lamp 3 can be taken out.\n",
        items.join(", ")
    );
    let text = draft(&said, 320).text;
    let quoted = text.split("get_order_details W12:\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let quoted = quoted.split("\n```").next().unwrap_or_default();
    let told = quoted.matches("\"name\"").count();
    assert!((1..9).contains(&told), "{text}");
    assert!(quoted.lines().any(|line| line == "…"), "{text}");
    let whole = draft(&said, 4_000).text;
    assert!(whole.matches("\"name\"").count() == 9 && !whole.contains("\n…\n"), "{whole}");
}

#[test]
fn a_refused_change_of_a_record_that_was_made_after_all_is_not_told_as_open() {
    let said = r#"
user: Change the lamp of order W12, and cancel W13.
assistant: !modify_order#c1 {"order_id":"W12","item":"77"}
tool#c1: Error: the new item should be another one
assistant: !cancel_order#c2 {"order_id":"W13"}
tool#c2: Error: it was delivered already
assistant: !modify_order#c3 {"order_id":"W12","item":"78"}
tool#c3: {"order_id": "W12", "item": "78"}
assistant: The lamp is changed.
"#;
    let text = draft(said, 900).text;
    let failures = text.split("## Checks and failures").nth(1).unwrap_or_default();
    assert!(!failures.contains("should be another one"), "{text}");
    assert!(failures.contains("m4 cancel_order: Error: it was delivered already"), "{text}");
}

#[test]
fn a_refused_change_stays_open_whatever_else_was_changed_of_the_record_or_of_its_neighbour() {
    for (refused, made) in [
        (
            r#"update_booking#c1 {"booking_id":"XK4","cabin":"business"}"#,
            r#"update_booking#c2 {"booking_id":"XK4","bags":2}"#,
        ),
        (
            r#"create_issue#c1 {"owner":"acme","repo":"relay"}"#,
            r#"create_issue#c2 {"owner":"acme","repo":"docs"}"#,
        ),
        (
            r#"use_mcp_tool#c1 {"tool_name":"cancel_order","arguments":{"order_id":"W13"}}"#,
            r#"use_mcp_tool#c2 {"tool_name":"modify_order","arguments":{"order_id":"W13"}}"#,
        ),
    ] {
        let said = format!(
            "user: Do it.\nassistant: !{refused}\ntool#c1: Error: not today\nassistant: !{made}\ntool#c2: {{\"ok\":1}}\nassistant: Done.\n"
        );
        let text = draft(&said, 900).text;
        let failures = text.split("## Checks and failures").nth(1).unwrap_or_default();
        assert!(failures.contains("Error: not today"), "{text}");
    }
}

#[test]
fn what_a_record_is_about_is_no_failure_and_a_search_is_no_deed() {
    let said = r#"
user: File what is missing in the relay.
assistant: !mcp__notion__API-post-search#c1 {"query":"relay tickets"}
tool#c1: {"results": []}
assistant: !create_issue#c2 {"title":"Handle ENOENT","repo":"relay"}
tool#c2: {"id": 44, "title": "Handle ENOENT: permission denied"}
assistant: Filed 44.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("an error\n```\nm3 create_issue title Handle ENOENT, repo relay\n```"), "{text}");
    assert!(!text.contains("## Checks and failures"), "{text}");
}

#[test]
fn what_a_meeting_came_to_in_numbers_is_told_first() {
    let mut said = String::new();
    for (nth, item) in ["fancy", "innovative", "easy to find", "comfortable to hold"].iter().enumerate() {
        said.push_str(&format!(
            "user: Marketing: Question {nth}. Does the casing of the remote control look {item} to the people who buy it?\nuser: User Interface: Hmm ?\nuser: Industrial Designer: I like how the casing goes on behind the display and the buttons on either side of it.\nuser: User Interface: Thirteen ?\nuser: Project Manager: The seven of them are on my list, of which the last ones were added by the marketing people this week.\nuser: User Interface: Mm .\n"
        ));
    }
    said.push_str("user: Marketing: Okay, the average is two.\nuser: User Interface: Ooh .\n");
    let text = draft(&said, 300).text;
    assert!(text.contains("Marketing: Okay, the average is two."), "{text}");
}
