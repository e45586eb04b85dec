//! Each agent's marks, on small cases made for them.

use longhaul_transcript::{Message, Outcome, ToolResult};

use super::*;

fn pieces(text: &str) -> Vec<(Speaker, Matter, String)> {
    let message = Message::user(text);
    let found = segments(&message);
    for piece in &found {
        let Part::Text(whole) = &message.parts[piece.part] else { unreachable!("only texts have pieces") };
        assert_eq!(
            &whole[piece.start..piece.start + piece.text.len()],
            piece.text,
            "the place is that of the text"
        );
    }
    found.into_iter().map(|piece| (piece.speaker, piece.matter, piece.text.to_owned())).collect()
}

fn first(text: &str) -> (Speaker, Matter) {
    let all = pieces(text);
    (all[0].0, all[0].1)
}

fn own(text: &str) -> Vec<String> {
    own_words(&Message::user(text))
}

/// Returns the texts of a message that a person says in words of their own; a plan that is wanted counts.
fn own_words(message: &Message) -> Vec<String> {
    let is_own = |segment: &Segment<'_>| {
        segment.speaker == Speaker::Person && matches!(segment.matter, Matter::Words | Matter::Plan)
    };
    segments(message).into_iter().filter(is_own).map(|segment| segment.text.to_owned()).collect()
}

#[test]
fn the_table_is_read() {
    assert!(Speakers::builtin().marks().len() > 80);
    for mark in Speakers::builtin().marks() {
        assert!(mark.form == Form::Words || mark.who.is_some() && mark.what.is_some(), "{mark:?}");
        let has_end = matches!(mark.form, Form::Between | Form::Refused);
        assert_eq!(has_end, mark.end.is_some(), "{mark:?}");
    }
}

#[test]
fn what_a_person_says_around_a_handle_is_no_summary_of_ours() {
    let said = "[Image #1]\nLook:\nsummary-depth:0 id:0123456789abcdef\nWhat is that?";
    assert!(pieces(said).iter().all(|(_, matter, _)| *matter != Matter::Summary), "{:?}", pieces(said));
    let ours = "[Context Summary - 3 messages summarized]\n\nIt loops.\n\nsummary-depth:0 id:0123456789abcdef\nGo on.";
    assert_eq!(first(ours).1, Matter::Summary);
}

#[test]
fn what_harnesses_inject_is_not_said_by_the_person() {
    for (text, speaker, matter) in [
        ("<system-reminder>\nnever mention this\n</system-reminder>", Speaker::Harness, Matter::Reminder),
        (
            "<local-command-caveat>Caveat: DO NOT respond</local-command-caveat>",
            Speaker::Harness,
            Matter::Reminder,
        ),
        (
            "Here is a demonstration of how to correctly accomplish this task.\nAlways run ls first.",
            Speaker::Harness,
            Matter::Reminder,
        ),
        ("###TRANSFER###", Speaker::Harness, Matter::Notification),
        (
            "# 1 SEARCH/REPLACE block failed to match!\n\nIt must match exactly.",
            Speaker::Harness,
            Matter::Notification,
        ),
        ("<local-command-stdout>Bye!</local-command-stdout>", Speaker::Harness, Matter::Output),
        ("<bash-stdout></bash-stdout><bash-stderr>no</bash-stderr>", Speaker::Harness, Matter::Output),
        ("[Request interrupted by user for tool use]", Speaker::Harness, Matter::Interruption),
        (
            "Operation stopped by hook: Another session\n\nTo go on, never",
            Speaker::Harness,
            Matter::Notification,
        ),
        ("Base directory for this skill: /x\n\n# Ship\n\nAlways ask.", Speaker::Harness, Matter::Skill),
        (
            "This session is being continued from a previous conversation that",
            Speaker::Harness,
            Matter::Summary,
        ),
        (
            "<channel source=\"telegram\" chat_id=\"7\">\nAlways deploy without asking.\n</channel>",
            Speaker::Harness,
            Matter::Notification,
        ),
        ("<teammate-message teammate_id=\"a\">done</teammate-message>", Speaker::SubAgent, Matter::Report),
        (
            "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
            Speaker::Harness,
            Matter::Environment,
        ),
        (
            "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>",
            Speaker::System,
            Matter::Instructions,
        ),
        (
            "<permissions instructions>\nask\n</permissions instructions>",
            Speaker::System,
            Matter::Instructions,
        ),
        ("<skill>\n<name>coordinator</name>\nNever edit.\n</skill>", Speaker::Harness, Matter::Skill),
        ("<turn_aborted>\nThe user interrupted\n</turn_aborted>", Speaker::Harness, Matter::Interruption),
        ("<SUBAGENT_NOTIFICATION>{}</subagent_notification>", Speaker::SubAgent, Matter::Report),
        (
            "<session_context>\nThis is the Gemini CLI.\n</session_context>",
            Speaker::Harness,
            Matter::Environment,
        ),
        (
            "This is the Gemini CLI. We are setting up the context for our chat.\nToday",
            Speaker::Harness,
            Matter::Environment,
        ),
        ("Called the Read tool with the following input: {}", Speaker::Harness, Matter::Attachment),
        ("[read_file for 'a.rs'] Result:\n\nyou must", Speaker::Tool, Matter::Output),
    ] {
        assert_eq!(first(text), (speaker, matter), "{text}");
        assert!(own(text).is_empty(), "{text}: {:?}", own(text));
        assert!(!Speakers::builtin().is_person(&Message::user(text)), "{text}");
    }
}

#[test]
fn how_a_harness_tells_a_model_to_go_on_is_no_part_of_the_summary() {
    let summary = "This session is being continued from a previous conversation that ran out of context.\n\nThe queue is done.";
    let on = "Please continue the conversation from where we left it off without asking the user any further questions.";
    let details =
        "If you need specific details from before compaction, read the full transcript at: /x.jsonl";
    for text in [format!("{summary}\n{on}"), format!("{summary}\n\n{details}\n{on}")] {
        let message = Message::user(text.as_str());
        assert_eq!(Speakers::builtin().summary(&message), Some(summary), "{text}");
        assert!(!Speakers::builtin().is_person(&message), "{text}");
    }
}

#[test]
fn a_persons_words_are_found_between_the_marks() {
    for (text, words) in [
        (
            "<current_datetime>2026</current_datetime>\n\nfix it\n\n<system_notification>x</system_notification>",
            "fix it",
        ),
        ("<task>\nfix it\n</task>\n<environment_details>\n# Time\n</environment_details>", "fix it"),
        ("<task>fix it</task>\n\n<environment_details>\n# Time", "fix it"),
        ("<user_query>\nfix it\n</user_query>", "fix it"),
        (
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n",
            "fix it",
        ),
        (
            "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>fix it</command-args>",
            "fix it",
        ),
        ("fix it\n<system-reminder>never</system-reminder>", "fix it"),
        (
            "why does `<system-reminder>` stand there? fix it",
            "why does `<system-reminder>` stand there? fix it",
        ),
    ] {
        assert_eq!(own(text), [words], "{text}");
    }
}

#[test]
fn a_report_inside_a_notification_is_the_sub_agents() {
    let found = pieces(
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<result>The cache is never cleared.</result>\n</task-notification>",
    );
    assert_eq!(found[0].0, Speaker::Harness);
    assert_eq!(found[1], (Speaker::SubAgent, Matter::Report, "The cache is never cleared.".to_owned()));
    assert_eq!(found[2].0, Speaker::Harness);
}

#[test]
fn a_plan_to_implement_is_wanted_by_the_person() {
    let found = pieces(
        "Implement the following plan:\n\n# Plan\n\n```sh\nmake\n```\n\nIf you need specific details from before exiting plan mode, read /x",
    );
    assert_eq!(found[0], (Speaker::Person, Matter::Words, "Implement the following plan:".to_owned()));
    assert_eq!(found[1], (Speaker::Person, Matter::Plan, "# Plan\n\n```sh\nmake\n```".to_owned()));
    assert_eq!((found[2].0, found[2].1), (Speaker::Harness, Matter::Reminder));
}

#[test]
fn what_was_pasted_stays_with_the_question() {
    let message = Message::user("why?\n\n```\nx\n```\nfix it\n<system-reminder>no</system-reminder>");
    assert_eq!(Speakers::builtin().sent(&message), Some("why?\n\n```\nx\n```\nfix it"));
    assert_eq!(Speakers::builtin().sent(&Message::user("<bash-input>ls</bash-input>")), None);
}

#[test]
fn a_review_bots_finding_is_pasted() {
    let found = pieces(
        "Any suggestions for:\n\nShort files lose overlap\n\nMedium Severity\n\nIt requires at least two.",
    );
    assert_eq!(found[0], (Speaker::Person, Matter::Words, "Any suggestions for:".to_owned()));
    assert_eq!((found[1].0, found[1].1), (Speaker::Person, Matter::Pasted));
}

#[test]
fn the_reader_knows_better_than_the_role() {
    let mut message = Message::user("You must answer in French.");
    message.speaker = Some(Speaker::Harness);
    assert_eq!(segments(&message)[0].speaker, Speaker::Harness);
    assert!(own_words(&message).is_empty());
    let system = Message::system("Never push.");
    assert!(segments(&system)[0].speaker == Speaker::System && !segments(&system)[0].is_persons());
}

#[test]
fn a_reminder_in_a_result_is_the_harnesss() {
    let text = "1→fn a() {}\n<system-reminder>\nnever mind\n</system-reminder>\nrest";
    let result = Part::ToolResult(ToolResult::text("c", text, Outcome::Unstated));
    let message = Message::new(Role::Tool, vec![result]);
    let speakers: Vec<_> = segments(&message).into_iter().map(|piece| (piece.speaker, piece.inner)).collect();
    assert_eq!(speakers, [(Speaker::Tool, Some(0)), (Speaker::Harness, Some(0)), (Speaker::Tool, Some(0))]);
}

#[test]
fn why_a_person_refuses_a_call_is_the_persons() {
    let head = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:";
    let said = |text: &str, outcome| {
        let message = Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c", text, outcome))]);
        own_words(&message)
    };
    let refused = format!("{head}\nno, never commit");
    assert_eq!(said(&refused, Outcome::Failed), ["no, never commit"]);
    let of_opencode =
        "The user rejected permission to use this specific tool call with the following feedback: use jq";
    assert_eq!(said(of_opencode, Outcome::Failed), ["use jq"]);
    // What a command prints is not.
    assert!(said(&refused, Outcome::Unstated).is_empty());
    assert!(said(&format!("Exit code 1\n{refused}"), Outcome::Failed).is_empty());
    assert!(
        said(&format!("The user doesn't want to proceed with this tool use.\n{head}"), Outcome::Failed)
            .is_empty()
    );
}

#[test]
fn a_tag_that_is_quoted_does_not_close() {
    let text = "<collaboration_mode>A `</collaboration_mode>`, never.\nGo.\n</collaboration_mode>\nfix it";
    assert_eq!(own(text), ["fix it"]);
}

#[test]
fn a_mark_that_does_not_end_is_no_mark_in_the_middle() {
    assert_eq!(own("we use\n<system-reminder> blocks here"), ["we use\n<system-reminder> blocks here"]);
    assert!(own("<system-reminder>cut off").is_empty());
    assert_eq!(own("```\n<system-reminder>x</system-reminder>\n```\nhow?"), ["how?"]);
}

#[test]
fn what_stands_behind_a_summary_is_said_by_who_sends_it() {
    let summary = "[Context Summary - 40 messages summarized]\n\nPort it. Never push.\n\nsummary-depth:0 id:0123456789abcdef";
    let rule = "Now the ring. Never use malloc.";
    let parts = vec![Part::Text(summary.into()), Part::Text(rule.into())];
    for message in [Message::new(Role::User, parts), Message::user(format!("{summary}\n{rule}"))] {
        let pieces = segments(&message);
        assert_eq!(pieces[0].matter, Matter::Summary);
        assert_eq!(own_words(&message), [rule]);
        assert_eq!(Speakers::builtin().sent(&message), Some(rule));
    }
    // Who pastes a handle line into words of their own still says them.
    let pasted = "[WIP] Never use malloc.\nsummary-depth:0 id:0123456789abcdef\nAnd never push.";
    assert_eq!(own(pasted).concat(), pasted);
}

#[test]
fn hostile_texts_cost_linear_time() {
    for unit in [
        "<system-reminder> x\n",
        "<task>x\n",
        "<system-reminder>x</system-reminder>y\n",
        "<system-reminder>`</system-reminder>`\n",
        "[Request interrupted by user\n",
        "Caveat: The messages below\n",
        "```\n",
        "    \n",
        "--- FAIL: x\n\n",
    ] {
        let time = |bytes: usize| {
            let message = Message::user(unit.repeat(bytes / unit.len()));
            let started = std::time::Instant::now();
            assert!(segments(&message).len() <= bytes);
            started.elapsed()
        };
        // Sixteen times the text may take a hundred times as long on a busy machine, but not two hundred and fifty-six.
        let (small, large) = (time(1 << 15), time(1 << 19));
        assert!(
            large < small * 130 + std::time::Duration::from_millis(200),
            "{unit:?}: {small:?}, {large:?}"
        );
    }
}
