//! Two hundred made-up rules, labelled or not, in any of ten positions of a conversation.

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};

use super::*;

/// A conversation of ten turns with `rule` in the one at `position`, alone or among other words.
fn conversation(rule: &str, position: usize) -> Transcript {
    let mut said = Vec::new();
    for turn in 0..10 {
        let plain = format!("Please look at module {turn} now.");
        let text = match (turn == position, position % 5) {
            (false, _) => plain,
            (true, 0) => rule.to_owned(),
            (true, 1) => format!("{plain} {rule}"),
            (true, 2) => format!("{plain}\n\n{rule}\n\nThanks!"),
            (true, 3) => format!("Two things:\n\n- {plain}\n- {rule}\n"),
            (true, _) => format!("<system-reminder>\nYou must be brief.\n</system-reminder>\n{rule}"),
        };
        said.push(Message::user(text));
        let call =
            Part::ToolCall(ToolCall::function(format!("c{turn}"), "Read", "{\"file_path\":\"/a.rs\"}"));
        said.push(Message::new(Role::Assistant, vec![Part::Text("You should never see this.".into()), call]));
        let result = ToolResult::text(format!("c{turn}"), "You must not pass.", Outcome::Unstated);
        said.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    }
    said.into_iter().collect()
}

#[test]
fn two_hundred_rules_are_found_in_any_of_ten_positions() {
    let rules = longhaul_testkit::demands();
    assert_eq!(rules.len(), 200);
    let mut lost = Vec::new();
    let is_whole = std::env::var("LONGHAUL_DEMANDS").is_ok_and(|which| which == "all");
    for (nth, rule) in rules.iter().enumerate() {
        // In the normal run each stands in two of the ten positions.
        for position in (0..10).filter(|position| is_whole || position % 5 == nth % 5) {
            let said = conversation(rule, position);
            let all = demands(said.entries(), Speakers::builtin());
            if !all.iter().any(|demand| demand.text.contains(rule.trim())) {
                lost.push(format!("{position}: {rule}"));
            }
            assert!(
                all.iter().all(|demand| !demand.text.contains("You must")
                    && !demand.text.contains("You should never see")),
                "{all:?}"
            );
            assert!(all.len() <= 2, "{all:?}");
        }
    }
    assert!(lost.is_empty(), "{} lost:\n{}", lost.len(), lost.join("\n"));
}
