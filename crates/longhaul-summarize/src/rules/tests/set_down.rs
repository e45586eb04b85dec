//! What persons set down: what took its place is told and noted with it, and nothing stands twice.

use super::{draft, draft_of};

/// What is said first and last, with questions between and behind.
fn amid_questions(first: &str, then: &str) -> String {
    let asked = |from: usize| -> String {
        (from..from + 12)
            .map(|nth| {
                format!("user: How does part {nth} work, roughly?\nassistant: Part {nth} reads its table.\n")
            })
            .collect()
    };
    format!(
        "user: Get the shop ready.\nassistant: Gladly.\nuser: {first}\nassistant: Noted.\n{}user: {then}\nassistant: Noted.\n{}",
        asked(0),
        asked(20)
    )
}

#[test]
fn what_took_the_place_of_a_fact_stands_with_it_among_the_facts_and_in_the_data() {
    let said = amid_questions("Our port is 8080.", "Thanks. Our port is 9090 now.");
    for limit in [150, 400] {
        let draft = draft(&said, limit);
        let noted: Vec<(&str, Option<u64>)> =
            draft.summary.constraints.iter().map(|rule| (&*rule.text, rule.superseded_by)).collect();
        assert_eq!(noted, [("Our port is 8080.", Some(28)), ("Our port is 9090 now.", None)]);
        let told: Vec<&str> = draft.text.lines().filter(|line| line.contains("port is")).collect();
        assert!(told.iter().any(|line| line.contains("9090")), "{limit}: {}", draft.text);
        assert!(
            told.iter().all(|line| line.contains("9090") || line.contains("(later on this: m28)")),
            "{limit}: {}",
            draft.text
        );
    }
}

#[test]
fn questions_that_differ_only_in_their_numbers_are_told_a_few_times() {
    let text = draft(&amid_questions("Our port is 8080.", "Go on."), 500).text;
    let asked = text.matches("How does part").count();
    assert!((3..=7).contains(&asked), "{asked} of 24: {text}");
}

#[test]
fn what_stands_among_the_rules_is_not_told_again_with_what_was_said_beside_it() {
    let turns: String = (0..30)
        .map(|nth| {
            format!("user: Never rename the column total_{nth}. Add a test for the lane_{nth} with an empty list.\nassistant: It is added.\n")
        })
        .collect();
    for limit in [400, 900, 2_000, 4_000] {
        let text = draft(&format!("user: Port the relay.\nassistant: Yes.\n{turns}"), limit).text;
        for nth in 0..29 {
            let told = text.matches(&format!("the column total_{nth}.")).count();
            assert!(told <= 1, "{limit}: {told} times {nth} in\n{text}");
            let gaps =
                text.lines().filter(|line| line.contains('…') && line.contains(&format!("the lane_{nth} ")));
            assert!(gaps.count() == 0 || told == 1, "{limit}: {nth} in\n{text}");
        }
    }
}

#[test]
fn a_rule_that_was_taken_back_is_marked_where_it_stands_with_something_else() {
    let said = longhaul_testkit::transcript(&amid_questions(
        "Always use four spaces for indentation. How is the search tested?",
        "Forget the four spaces, use two spaces for indentation.",
    ));
    for limit in [120, 300, 700] {
        let text = draft_of(said.entries(), limit, &[]).text;
        let mut told = text.lines().filter(|line| line.contains("Always use four spaces"));
        assert!(told.all(|line| line.contains("in m28)") || line.contains("this: m28)")), "{limit}:\n{text}");
    }
}
