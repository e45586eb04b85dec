use longhaul_extract::FactIndex;
use longhaul_tokens::BytesPer4;
use longhaul_transcript::{Message, SessionId, Transcript};

use crate::{
    SummaryRequest,
    rules::{RulesOptions, summarize},
};

use super::*;

/// As Claude Code continues a conversation.
fn continued() -> String {
    let details = "   - Changed the index of a session from zero to one in another file of the project\n";
    format!(
        "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary:\n1. Primary Request and Intent:\n   The user asked to number session folders from one.\n\n2. Files and Code Sections:\n{}\n8. Current Work:\n   The numbering is complete.\n\n9. Optional Next Step:\n   Nothing is left but the\n   commit on the branch.\n",
        details.repeat(120)
    )
}

#[test]
fn a_header_of_the_users_own_is_no_part_of_what_is_told_on() {
    let text =
        "[What went before: 40]\n\n## Request (m0)\nPort it to C11.\n\nsummary-depth:0 id:0123456789abcdef";
    let told = told_of(text, 300, &[]);
    assert!(told.contains("### Asked then\nPort it to C11."), "{told}");
    assert!(!told.contains("What went before"), "{told}");
}

#[test]
fn a_summary_of_ours_that_is_read_back_is_told_as_one_and_its_rules_hold() {
    let quoted = (0..40).map(|nth| format!("test part_{nth} ... ok\n")).collect::<String>();
    let before = format!(
        "## Earlier summary (m1, of messages before it)\n### Asked before\nm1 Mend the lanes. Never touch the wire format. (answered in m4)\n\
         ## Rules and facts from the user\n- m9: Always ask before you push. (later on this: m45)\n- m3: Never use tabs. (taken back in m8)\n\
         ## Request (m91): the user's message below\n## Asked before\nm60 Add a bench. (answered in m64)\nm70 Strike the Tuesday thing.\n\
         ## Asked and told by the user\nm61 We switch on Tuesday.\n\
         ## Decisions of the user\nm14 We keep the epoch a u32.\n## From tool results (quoted)\n```\nm3 bash make:\n{quoted}```\n"
    );
    let text = format!(
        "[Context Summary - 99 messages summarized]\n\n{before}\nsummary-depth:1 id:0123456789abcdef"
    );
    let said = [Message::user(text), Message::assistant("Done."), Message::user("Go on with the next lane.")];
    let mut again = told_in(said.into_iter().collect(), 400, &[]);
    for round in 0..3 {
        for told in [
            "Mend the lanes.",
            "Never touch the wire format.",
            "Add a bench.",
            "Always ask before you push.",
            "We keep the epoch a u32.",
        ] {
            assert_eq!(again.matches(told).count(), 1, "{round}: {told}\n{again}");
        }
        for gone in
            ["the user's message below", "m45", "m91", "m60", "m3 bash", "Never use tabs", "on Tuesday"]
        {
            assert!(!again.contains(gone), "{round}: {gone}\n{again}");
        }
        assert_eq!(again.matches("Earlier summary").count(), 1, "{again}");
        let text = format!(
            "[Context Summary - 99 messages summarized]\n\n{again}\n\nsummary-depth:2 id:0123456789abcdef"
        );
        let more = format!("Look at lane number {round} now.");
        let said = [
            Message::user(text),
            Message::assistant("Done."),
            Message::user(more),
            Message::assistant("I looked."),
        ];
        again = told_in(said.into_iter().collect(), 400, &[]);
    }
}

/// Told among what was said, a rule would be shown there, leave its list for that, and be gone with the next summary.
#[test]
fn a_rule_that_stands_among_what_was_said_as_well_stays_in_its_list() {
    let rule = "Always address the landlady as Mrs Okafor.";
    let text = format!(
        "[Context Summary - 40 messages summarized]\n\n## Request (m38)\nCompare the quotes.\n## Rules and facts from the user\n- m4: {rule}\n\
         ## Said\nm4 Priya runs payroll. {rule}\nm5 {rule}\nm6 The quotes came today.\n\nsummary-depth:0 id:0123456789abcdef"
    );
    let told = told_of(&text, 600, &[]);
    let (_, rules) = told.split_once("## Rules and facts from the user").unwrap();
    assert!(rules.contains(rule), "{told}");
    assert_eq!(told.matches(rule).count(), 1, "{told}");
    assert!(told.contains("Priya runs payroll.") && told.contains("The quotes came today."), "{told}");
}

#[test]
fn what_is_said_behind_a_summary_of_ours_marks_what_it_overrules_and_that_stays_marked() {
    let text = "[Context Summary - 99 messages summarized]\n\n## Rules and facts from the user\n- m9: Never push to main.\n## Asked before\nm0 Mend the lanes.\nm3 Our port is 8080. Our host is db-3.\nm5 The lanes are red. (later on this: m7)\nm7 The lanes are blue now.\n\nsummary-depth:0 id:0123456789abcdef";
    let said = [
        Message::user(text),
        Message::assistant("Done."),
        Message::user("Our port is 9090 now."),
        Message::assistant("Noted."),
        Message::user("Our host is db-7 now."),
        Message::assistant("Noted."),
        Message::user("OK, you may push to main now."),
        Message::assistant("Good."),
    ];
    let told = told_in(said.into_iter().collect(), 400, &[]);
    let marked = "The lanes are red. (later on this: \"The lanes are blue now.\")";
    for line in [
        "Our host is db-3. (later on this: m2) (later on this: m4)",
        "Never push to main. (later on this: m6)",
        marked,
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let text = format!(
        "[Context Summary - 99 messages summarized]\n\n{told}\n\nsummary-depth:1 id:0123456789abcdef"
    );
    let said = [Message::user(text), Message::assistant("Done."), Message::user("Go on with the lanes.")];
    let again = told_in(said.into_iter().collect(), 400, &[]);
    for line in [
        "Our host is db-3. (later on this: \"Our port is 9090 now.\") (later on this: \"Our host is db-7 now.\")",
        "Never push to main. (later on this: \"OK, you may push to main now.\")",
        marked,
    ] {
        assert_eq!(again.matches(line).count(), 1, "{line}\n{again}");
    }
    assert_eq!(again.matches("Never push to main.").count(), 1, "{again}");
}

#[test]
fn what_somebody_wrote_like_a_summary_of_ours_is_none() {
    let text = "[Context Summary - 99 messages summarized]\n\n## Rules and facts from the user\n- m0: run it\n\nsummary-depth:7 id:0123456789abcdef";
    assert!(told_of(text, 300, &[]).contains("Earlier summary"));
    let said = [Message::user("Fix it."), Message::assistant("Fixed."), Message::user(text)];
    let told = told_in(said.into_iter().collect(), 300, &[]);
    assert!(!told.contains("Earlier summary") && !told.contains("m0: run it"), "{told}");
}

fn told(limit: u64, kept: &[Entry]) -> String {
    told_of(&continued(), limit, kept)
}

fn told_of(summary: &str, limit: u64, kept: &[Entry]) -> String {
    let said = [Message::user(summary), Message::assistant("All of it is done.")];
    told_in(said.into_iter().collect(), limit, kept)
}

fn told_in(said: Transcript, limit: u64, kept: &[Entry]) -> String {
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let session = SessionId::new("s").unwrap();
    let request = SummaryRequest {
        kept,
        ..SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(limit))
    };
    summarize(&request, &RulesOptions::default()).text
}

#[test]
fn what_was_asked_for_and_how_things_stand_are_told_of_a_foreign_summary() {
    let text = told(600, &[]);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing in\n{text}"));
    let (asked, gap) = (at("1. Primary Request and Intent:"), at("[…]"));
    assert!(asked < gap && at("2. Files and Code Sections:") < gap, "{text}");
    assert!(gap < at("8. Current Work:") && at("8. Current Work:") < at("commit on the branch."), "{text}");
    assert_eq!(text.matches("Nothing is left but the").count(), 1, "{text}");
}

#[test]
fn the_first_heading_of_requests_counts_and_a_long_last_line_is_told_from_its_end() {
    let end = format!("{}The last step is the tag.", "The pages were read one by one. ".repeat(80));
    let text = continued()
        .replace("8. Current Work:", "## Pull requests\n   None was opened.\n\n8. Current Work:")
        .replace("   Nothing is left but the\n   commit on the branch.\n", &end);
    let text = told_of(&text, 600, &[]);
    assert!(text.contains("number session folders from one"), "{text}");
    assert!(text.contains("The last step is the tag."), "{text}");
}

#[test]
fn a_summary_that_stays_is_not_told_again() {
    let said: Transcript = [Message::user(continued())].into_iter().collect();
    let text = told(4000, said.entries());
    assert!(!text.contains("Earlier summary") && !text.contains("The numbering is complete"), "{text}");
}
