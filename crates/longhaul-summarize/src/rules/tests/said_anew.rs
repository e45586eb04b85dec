//! What a person says anew in plain words takes the place of what they said before, and what is only alike does not.

use super::draft;

/// Talk of the work with `first` and `second` in it, each answered.
fn session(first: &str, second: &str) -> String {
    let talk = |nth: usize| {
        format!(
            "user: How is part {nth} of the shop tested?\nassistant: By four unit tests.\nuser: Refactor the helper of part_{nth}.rs.\nassistant: Done, it is shorter.\n"
        )
    };
    format!(
        "user: Help me get the shop's backend ready.\nassistant: Gladly.\n{}user: {first}\nassistant: Understood.\n{}user: {second}\nassistant: Understood.\n{}",
        talk(1),
        talk(2),
        (3..6).map(talk).collect::<String>(),
    )
}

/// Returns the lines of summaries of some lengths that tell `said`.
fn told(session: &str, said: &str) -> Vec<String> {
    let texts = [300, 600, 1200].map(|limit| draft(session, limit).text);
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.contains(said)).map(str::to_owned).collect()
}

#[test]
fn what_was_said_otherwise_since_is_marked_wherever_it_is_told() {
    for (first, second) in [
        ("The CLI will be called marmot.", "The CLI will be called badger, not marmot."),
        ("I decided that the CLI will be called marmot.", "The CLI will be called badger, not marmot."),
        ("The launch is on Tuesday.", "The launch moves to Thursday."),
        ("We drop Windows support.", "We keep Windows support."),
        ("Our port is 8080.", "The port changed to 9090."),
        ("Sprint ends on 14 March.", "Sprint ends on 21 March instead."),
        ("Always answer in German.", "You can answer in English again."),
        ("Write a changelog entry for every change.", "Stop writing changelog entries."),
        ("Please always run make lint first.", "No need to run make lint any more."),
        ("Keep functions under 40 lines.", "Functions may have up to 60 lines from now on."),
        ("Use tabs for indentation.", "Use spaces for indentation, not tabs."),
        ("Tests go under tests/unit.", "Tests go under tests/fast from now on."),
        ("We use MySQL.", "We switched from MySQL to MariaDB."),
        (
            "Use Redis for the session store.",
            "On second thought, Memcached instead of Redis for the session store.",
        ),
        ("My contact is Mrs Balder.", "My contact is Mr Quill now."),
        ("Production runs Postgres 14.", "Production runs Postgres 16 since the upgrade last night."),
    ] {
        let said = session(first, second);
        let lines = told(&said, first);
        assert!(!lines.is_empty(), "{first}");
        for line in lines {
            let is_marked = line.contains("later on this: m12") || line.contains("taken back in m12");
            assert!(is_marked && !line.contains("holds"), "{line}");
        }
        assert!(!told(&said, second).iter().any(|line| line.contains("later on this")), "{second}");
    }
}

/// What is told alone though something else holds would be taken for what holds.
#[test]
fn what_holds_is_told_wherever_what_it_took_the_place_of_is() {
    for (first, second) in [
        ("Our warehouse is in Ghent.", "We moved the warehouse to Bruges."),
        ("The audit is on 4 March.", "They postponed the audit to 18 March."),
        ("I live in Turin.", "I moved to Parma in spring."),
        ("The default theme is slate.", "The default theme is amber these days."),
        ("The tool is called Spindle.", "We renamed the tool to Bobbin."),
        ("Fixtures live in fix/.", "I moved the fixtures to samples/."),
        ("We chose the Bergen hall.", "The Bergen hall fell through, Oslo it is."),
        ("We go with the lathe for the door.", "We are dropping the lathe; the mill does the door."),
        ("Use German quotes.", "Switch to French quotes."),
        ("Only Nils may deploy.", "Anyone in the office may deploy now."),
        ("The quota is 20 uploads per day.", "They raised the quota to 35 uploads per day."),
    ] {
        let said = session(first, second);
        for text in [300, 600, 1200].map(|limit| draft(&said, limit).text) {
            let told = text.lines().find(|line| line.contains(first));
            let is_marked =
                |line: &str| line.contains("later on this: m12") || line.contains("taken back in m12");
            assert!(told.is_none_or(is_marked), "{first}:\n{text}");
            assert!(told.is_none() || text.contains(second), "{second}:\n{text}");
            let decided = text.split("\n## ").find(|section| section.contains("Decisions of the user"));
            assert!(!decided.is_some_and(|section| section.contains(first)), "{first}:\n{text}");
        }
    }
}

#[test]
fn what_was_said_otherwise_long_ago_stays_marked() {
    let talk: String = (0..450)
        .map(|nth| format!("user: Refactor part_{nth}.rs.\nassistant: Done, it is shorter.\n"))
        .collect();
    let said = format!("{}{talk}", session("Our port is 8080.", "The port changed to 9090."));
    let lines = told(&said, "8080");
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains("later on this: m12")), "{lines:?}");
}

#[test]
fn what_a_person_tells_comes_before_what_they_only_ask() {
    let told = ["The logo may not be stretched.", "Nobody but Ursula may sign.", "We bill by the hour."];
    let ask = |nth: usize| {
        let question = format!(
            "What do visitors of town {nth} usually say about its harbour and the old festival there?"
        );
        format!("user: {question}\nassistant: They like it, and come back in the summer of each year.\n")
    };
    let said: String = told.iter().map(|one| format!("user: {one}\nassistant: Noted.\n")).collect();
    let talk: String = (0..40).map(ask).collect();
    let text =
        draft(&format!("user: Help me write about towns.\nassistant: Gladly.\n{said}{talk}"), 400).text;
    told.iter().for_each(|one| assert!(text.contains(one), "{one} in {text}"));
}

#[test]
fn what_is_alike_and_of_something_else_is_not_marked() {
    for (first, second) in [
        ("The port of the api is 8080.", "The port of the worker is 9090 now."),
        ("The launch of Kelmar is on Tuesday.", "The launch of Brunwick moves to Thursday."),
        ("The launch is on Tuesday.", "Is the launch on Thursday now?"),
        ("The launch is on Tuesday.", "The demo moves to Thursday."),
        ("Use tabs for the tables.", "Use spaces for the code, not tabs."),
        ("Use spaces for indentation.", "Use spaces for indentation, not only in Python."),
        ("Always answer in German.", "Stop the server."),
        ("Keep functions under 40 lines.", "Files may have up to 600 lines from now on."),
        ("We use pytest.", "We use MariaDB now."),
    ] {
        let said = session(first, second);
        for line in told(&said, first) {
            assert!(!line.contains("later on this") && !line.contains("taken back"), "{line}");
        }
    }
}

#[test]
fn what_the_model_says_takes_the_place_of_nothing() {
    let said = session("The launch is on Tuesday.", "Is all well?").replacen(
        "user: Is all well?\nassistant: Understood.",
        "user: Is all well?\nassistant: The launch moves to Thursday.",
        1,
    );
    let lines = told(&said, "The launch is on Tuesday.");
    assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("later on this")), "{lines:?}");
}

#[test]
fn no_decision_holds_that_the_person_came_back_to() {
    let call = |nth: usize| {
        format!(
            "assistant: Doing it. !Edit#e{nth} {{\"file_path\":\"a.rs\",\"old_string\":\"x\",\"new_string\":\"y\"}}\ntool#e{nth}: ok\nassistant: That is done. Shall I go on?\n"
        )
    };
    let first = "We go with Postgres for the store. Add the table of orders.";
    let text = |later: &str| {
        let said = format!(
            "user: {first}\n{}user: {later} Add the page of the edges.\n{}user: Move on.\nassistant: I do.\n",
            call(1),
            call(2)
        );
        draft(&said, 900).text
    };
    let holds = "(answered in m3; the decision holds)";
    assert!(text("The edges wait.").contains(&format!("{first} {holds}")));
    for later in ["For the store SQLite is what Tom wants.", "Postgres costs too much."] {
        let text = text(later);
        assert!(text.contains(first) && !text.contains("the decision holds"), "{later}:\n{text}");
    }
}

#[test]
fn requests_of_the_moment_are_counted_among_no_rules() {
    let said = |text: &str| longhaul_transcript::Constraint { text: text.into(), ..Default::default() };
    let all = [
        "Never push to main.",
        "Explain to me what the cron runner does when the disk is full.",
        "Fix the crash when the list is empty.",
    ];
    let left_out = super::super::persons::left_out(&all.map(said), &[]);
    assert_eq!(left_out.words().as_deref(), Some("1 of 1 rules of the user"));
}
