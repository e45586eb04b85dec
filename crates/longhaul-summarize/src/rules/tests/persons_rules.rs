//! What a person forbids and allows is told in their words, also where there is little room.

use super::draft;
use crate::Draft;

/// A ban, much else that the person wants, and what may lift the ban.
fn session(ban: &str, by: &str) -> String {
    let wishes: String = (0..40)
        .map(|n| format!("user: Please make sure that page {n} of the guide names the option relay-{n}.\nassistant: Page {n} names it.\n"))
        .collect();
    format!(
        "user: Port the relay. {ban}\nassistant: Understood.\n{wishes}user: {by}\nassistant: Noted.\n{wishes}user: And now?\nassistant: Going on.\n"
    )
}

#[test]
fn what_may_lift_a_ban_is_told_beside_it_in_little_room() {
    for (ban, by) in [
        ("Never push to the remote.", "You may push from here on."),
        ("Never expose the admin port.", "You can now expose the metrics port, the admin port stays closed."),
        ("Never touch the ledger.", "Forget what I said about the ledger, it is fine to touch it."),
    ] {
        for limit in [250, 600, 1500] {
            let text = draft(&session(ban, by), limit).text;
            assert!(text.contains(by), "{limit}: {by} in\n{text}");
            let is_linked = text.contains("(later on this: m82)") || text.contains("(taken back in m82)");
            assert!(!text.contains(&format!("- m0: {ban}")) || is_linked, "{limit}: {by} in\n{text}");
        }
    }
}

#[test]
fn what_only_reports_crowds_out_no_rule() {
    let rules = [
        "Always run the tests before you commit.",
        "You must never store card numbers in the log.",
        "Never touch billing/ledger.rs.",
        "Everything must stay below 5 MB.",
    ];
    let reports = |n: usize| {
        [
            format!("No reply from the vendor about worker {n} yet."),
            format!("No new errors on worker {n} since the deploy."),
            format!("Don't know why worker {n} fails now."),
            format!("The ledger of worker {n} may be slow, look again."),
            format!("The tests of worker {n} can be found in the nightly log."),
        ]
    };
    let said: String = (0..12)
        .flat_map(reports)
        .map(|report| format!("user: {report}\nassistant: Looked at it.\n"))
        .collect();
    let said = format!(
        "user: {}\nassistant: Understood.\n{said}user: And now?\nassistant: Going on.\n",
        rules.join(" ")
    );
    for limit in [400, 600, 1000, 1500, 2500] {
        let text = draft(&said, limit).text;
        for rule in rules {
            assert!(text.contains(rule), "{limit}: {rule} in\n{text}");
        }
    }
}

#[test]
fn a_ban_that_comes_after_a_permission_is_the_last_word() {
    let said = session("Never push to main.", "You may push to main.").replace(
        "user: And now?",
        "user: I take that back, no pushing to main, please.\nassistant: Fine.\nuser: And now?",
    );
    for limit in [300, 600] {
        let text = draft(&said, limit).text;
        assert!(text.contains("no pushing to main"), "{limit}:\n{text}");
    }
}

#[test]
fn a_permission_is_told_with_what_it_lifts_and_what_turns_it_round() {
    for (ban, by, back) in [
        (
            "Never write to staging.",
            "You may write to staging now.",
            "Back to read-only on staging, somebody broke it.",
        ),
        ("No uses nunca la rama main.", "Puedes subir a main.", "Espera, no subas a main, me precipité."),
        (
            "Il ne faut jamais déployer le vendredi.",
            "Tu peux déployer le vendredi.",
            "En fait si, on ne déploie pas le vendredi.",
        ),
    ] {
        let said = session(ban, by)
            .replace("user: And now?", &format!("user: {back}\nassistant: Fine.\nuser: And now?"));
        for limit in [200, 250, 300, 600] {
            let text = draft(&said, limit).text;
            assert!(!text.contains(by) || text.contains(back), "{limit}: {by} in\n{text}");
        }
        assert!(draft(&said, 300).text.contains(back), "{back}");
    }
}

#[test]
fn a_permission_of_something_else_displaces_no_ban() {
    let said = session("Never email the Hamburg client.", "You can email the Bremen client.");
    for limit in [150, 180, 220, 260, 300] {
        let text = draft(&said, limit).text;
        let both = ["Never email the Hamburg client.", "You can email the Bremen client."];
        assert!(!text.contains(both[1]) || text.contains(both[0]), "{limit}:\n{text}");
    }
}

#[test]
fn what_others_said_goes_behind_what_the_person_wants() {
    let talk = "Someone said we should always use the blue logo. They were not allowed to park there. My colleague wrote: never trust the cache.";
    let said = session("Never push to the remote.", talk);
    for limit in [200, 300, 600] {
        let text = draft(&said, limit).text;
        let ban = text.find("Never push to the remote.");
        assert!(ban.is_some(), "{limit}:\n{text}");
        assert!(limit > 200 || !text.contains("always use the blue logo"), "{limit}:\n{text}");
    }
}

#[test]
fn a_question_is_no_rule() {
    let question = "do we already sort relays by rack and if no rack is defined it goes into the default rack under the hall";
    let later: String = (0..30)
        .map(|n| format!("user: Look at page {n} of the guide, where the halls and racks of zone {n} are drawn.\nassistant: Seen.\n"))
        .collect();
    let said = format!(
        "user: Port the relay. Never push.\nassistant: Fine.\nuser: Also sort them. {question}\nassistant: Yes.\n{later}"
    );
    for limit in [300, 600] {
        let text = draft(&said, limit).text;
        let rules = text.split("## ").find(|section| section.starts_with("Rules")).unwrap_or_default();
        assert!(text.contains("Never push."), "{limit}:\n{text}");
        assert!(!rules.contains(question), "{limit}:\n{text}");
    }
}

// asserts 002-11
#[test]
fn what_the_person_decided_stands_under_a_heading_and_what_they_overruled_does_not() {
    let talk = |nth: usize| {
        format!(
            "assistant: I looked at part_{nth}.rs, and it is in order.\nuser: is it gone on your side, and how is {nth}?\n"
        )
    };
    let said = format!(
        "user: Find out why lanes stall and mend it.\n{}\
         assistant: Fine.\nuser: Agreed with Tom that we'd do the switch on Tuesday 06:00 UTC.\n{}\
         assistant: Fine.\nuser: We keep the epoch a u32, that settles it.\n{}\
         assistant: Fine.\nuser: Strike the Tuesday thing, Wednesday 05:00 UTC.\n{}assistant: Good.",
        talk(1),
        talk(2),
        talk(3),
        (4..12).map(talk).collect::<String>(),
    );
    let Draft { text, summary, .. } = draft(&said, 600);
    let (_, decided) = text.split_once("## Decisions of the user\n").unwrap_or_else(|| panic!("{text}"));
    let decided: Vec<&str> = decided.lines().take_while(|line| !line.starts_with("## ")).collect();
    let told =
        ["We keep the epoch a u32, that settles it.", "Strike the Tuesday thing, Wednesday 05:00 UTC."];
    assert_eq!(
        decided.iter().map(|line| line.split_once(' ').unwrap().1).collect::<Vec<_>>(),
        told,
        "{text}"
    );
    assert_eq!(summary.decisions, told);
    assert!(told.iter().all(|told| text.matches(told).count() == 1), "{text}");
}

#[test]
fn facts_that_are_left_out_are_counted_apart_from_rules() {
    let said =
        |text: &str| longhaul_transcript::Constraint { text: text.into(), message: 1, ..Default::default() };
    let all = [
        said("Never push to main."),
        said("Always run the linter."),
        said("The budget for the crew is 1000 euros until June."),
        said("Our contract number is KX-4411."),
    ];
    let left_out = |shown: &[&str]| super::super::persons::left_out(&all, shown).words();
    assert_eq!(left_out(&[]).as_deref(), Some("2 of 2 rules and 2 of 2 facts of the user"));
    let rules = "Never push to main. Always run the linter.";
    assert_eq!(left_out(&[rules]).as_deref(), Some("2 of 2 facts of the user"));
    let facts = "The budget for the crew is 1000 euros until June. Our contract number is KX-4411.";
    assert_eq!(left_out(&[rules, facts]), None);
}

// asserts 002-18
#[test]
fn what_a_person_decides_comes_before_what_they_ask_and_is_answered() {
    let mut said = String::from("user: Port the relay to async.\nassistant: I begin.\n");
    for nth in 0..30 {
        said.push_str(&format!(
            "user: OK, decided: we go with lane_{nth} for the module {nth}.\nassistant: !read_file#r{nth} {{\"path\":\"src/part_{nth}.rs\"}}\ntool#r{nth}: fn part_{nth}() {{}}\nassistant: Noted.\n"
        ));
        for which in ["What could go wrong with", "Can you explain why we have", "How would you test"] {
            said.push_str(&format!("user: {which} the part {nth} next week?\nassistant: Little.\n"));
        }
    }
    said.push_str("user: Go on.\nassistant: I go on.\n");
    for limit in [250, 300, 400, 500, 600, 800] {
        let text = draft(&said, limit).text;
        let before =
            text.split("## ").find(|section| section.starts_with("Asked before")).unwrap_or_default();
        let asked = before.lines().filter(|line| line.contains("next week?")).count();
        let decided = text.lines().filter(|line| line.contains("OK, decided: we go with")).count();
        // The newest say what the work is at.
        assert!(decided == 30 || asked <= 4, "{limit}: {decided} decisions, {asked} questions: {text}");
    }
}

/// What was decided, how each was overruled, and talk between; with calls of tools, or without any.
fn overruled(with_tools: bool) -> String {
    let looks = |nth: usize| match with_tools {
        true => format!(
            "assistant: !read_file#c{nth} {{\"path\":\"src/part_{nth}.rs\"}}\ntool#c{nth}: fn step_{nth}() {{}}\n"
        ),
        false => String::new(),
    };
    let turns = [
        "Please port the relay to the new scheduler.",
        "Fine, rafevux then for the status page. Can you look at the status page next?",
        "I settled on zeklofan for the webhook relay, since the other one was too slow. What is its state?",
        "OK, decided: brolikun for the import wizard. Can you look at the import wizard next?",
        "Sarodim it is for the mail digest. How far are we?",
        "Strike rafevux, the status page moves to tivotuk after all. Please go on with the status page.",
        "Forget what I said about zeklofan; we will use bizirak for the webhook relay. Is anything open?",
        "Change of plan: gidiklex instead of brolikun for the import wizard. Please go on with it.",
        "Thanks. Change of plan: petulon instead of sarodim for the mail digest. Is that done?",
    ];
    let turns = turns.iter().enumerate();
    let turns =
        turns.map(|(nth, said)| format!("user: {said}\n{}assistant: Part {nth} is read.\n", looks(nth)));
    turns.collect::<String>() + "user: And now?\nassistant: Going on.\n"
}

#[test]
fn what_was_overruled_is_marked_wherever_it_is_told() {
    for with_tools in [false, true] {
        let said = overruled(with_tools);
        let step = if with_tools { 4 } else { 2 };
        for limit in [300, 500, 1000, 2000] {
            let text = draft(&said, limit).text;
            for (nth, name) in ["Fine, rafevux", "settled on zeklofan", "decided: brolikun", "Sarodim it is"]
                .iter()
                .enumerate()
            {
                let by = format!("(taken back in m{})", (nth + 5) * step);
                for line in text.lines().filter(|line| line.contains(name)) {
                    assert!(line.contains(&by), "{limit}: {line}\n{text}");
                }
            }
            for name in
                ["Strike rafevux", "Forget what I said about zeklofan", "gidiklex instead", "petulon instead"]
            {
                let told: Vec<&str> = text.lines().filter(|line| line.contains(name)).collect();
                assert!(told.iter().all(|line| !line.contains("taken back")), "{limit}:\n{text}");
                assert!(told.len() <= 1, "{limit}: {told:?}\n{text}");
                assert!(limit < 1000 || told.len() == 1, "{limit}: {name} in\n{text}");
            }
            assert!(!text.contains("## Rules"), "what is chosen is no rule: {limit}:\n{text}");
        }
    }
}

#[test]
fn what_has_another_value_now_is_marked_and_no_other_thing_is() {
    for (fact, by, is_so) in [
        ("The port is 8080.", "Actually, the port is 9090.", true),
        ("The staging host is 10.3.7.22.", "The staging host is 10.3.7.40 now.", true),
        ("The budget of the fair is 3000 euros.", "The budget of the feast is 4000 euros.", false),
        ("The port is 8080.", "The port is 8080, as before.", false),
    ] {
        let said = format!(
            "user: {fact}\nassistant: Noted.\nuser: How is the relay?\nassistant: Fine.\nuser: {by}\nassistant: Noted.\nuser: And now?\nassistant: On.\n"
        );
        let text = draft(&said, 1000).text;
        let mut told = text.lines().filter(|line| line.contains(fact));
        assert!(told.all(|line| line.contains("(later on this: m4)") == is_so), "{fact} / {by}:\n{text}");
    }
}

#[test]
fn what_is_chosen_leaves_the_rules_their_room() {
    let turns: String = (0..24)
        .map(|nth| match nth % 2 {
            0 => format!("user: Never send mail to person_{nth} without asking me first.\nassistant: Noted.\n"),
            _ => format!("user: Change of plan: lathe_{nth} instead of mill_{nth} for the door {nth}. Please go on with door {nth}.\nassistant: I go on.\n"),
        })
        .collect();
    let text = draft(
        &format!("user: Build the house.\nassistant: Yes.\n{turns}user: And now?\nassistant: On.\n"),
        700,
    )
    .text;
    let n_rules = text.lines().filter(|line| line.contains("Never send mail")).count();
    assert_eq!(n_rules, 12, "{text}");
    assert!(text.contains("lathe_23 instead of mill_23"), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("- m") && line.contains("Change of plan")), "{text}");
}

/// What a person wants remembered of twenty services, each with a question behind it.
fn services() -> String {
    (1..=20)
        .map(|n| {
            format!(
                "user: Please remember that service {n} listens on port {n}80 and its config lives in /etc/svc{n}.toml, never kill it. What else is open?\nassistant: The log is.\n"
            )
        })
        .collect()
}

fn shown_of_services(text: &str) -> Vec<usize> {
    (1..=20).map(|n| text.matches(&format!("listens on port {n}80 ")).count()).collect()
}

#[test]
fn rules_take_what_nothing_else_needs() {
    for limit in [400, 800, 1200, 2400] {
        let draft = draft(&services(), limit);
        let left_out = shown_of_services(&draft.text).iter().filter(|shown| **shown == 0).count();
        // A rule costs 30 at most.
        let spare = limit - draft.tokens.0;
        assert!(
            left_out == 0 || spare < 40,
            "{limit}: {left_out} left out, {spare} spare in\n{}",
            draft.text
        );
    }
}

#[test]
fn what_stands_among_the_rules_is_not_told_with_what_was_asked_as_well() {
    let text = draft(&services(), 800).text;
    let (rules, rest) = text.split_once("\n## Request").unwrap();
    let (_, asked) = rest.split_once("\n## Asked before").unwrap();
    let asked = asked.split("\n## ").next().unwrap();
    // What all began with is told whole.
    let told = shown_of_services(rules).into_iter().zip(shown_of_services(asked)).skip(1);
    assert_eq!(told.filter(|(rule, asked)| rule + asked > 1).count(), 0, "{text}");
}

#[test]
fn one_rule_stands_where_none_has_room_in_its_share() {
    let long = "Never restart the relay of the northern depot while the night shift is still loading the last of its lorries, whoever asks for it.";
    let said: String = (0..6)
        .map(|n| format!("user: What about part {n}?\nassistant: Part {n} is done, and its tests pass.\n"))
        .collect();
    let text = draft(
        &format!("user: Port the relay.\nassistant: Yes.\nuser: {long}\nassistant: Noted.\n{said}"),
        76,
    )
    .text;
    assert!(text.contains(long), "{text}");
}
