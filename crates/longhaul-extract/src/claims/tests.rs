//! Pairs of sentences of which the second takes the place of the first, and pairs that are alike and both hold.

use super::Claim;

fn overtakes(later: &str, earlier: &str) -> bool {
    let (Some(was), Some(now)) = (Claim::of(earlier), Claim::of(later)) else { return false };
    was.is_overtaken_by(&now)
}

#[test]
fn what_is_said_anew_of_the_same_thing_overtakes() {
    let missed: Vec<&(&str, &str)> = OVERTAKEN.iter().filter(|(was, now)| !overtakes(now, was)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_alike_and_of_something_else_does_not() {
    let wrong: Vec<&(&str, &str)> = BOTH_HOLD.iter().filter(|(was, now)| overtakes(now, was)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const OVERTAKEN: &[(&str, &str)] = &[
    ("The CLI will be called marmot.", "The CLI will be called badger, not marmot."),
    ("I decided that the CLI will be called marmot.", "The CLI will be called badger, not marmot."),
    ("The launch is on Tuesday.", "The launch moves to Thursday."),
    ("The launch is on Tuesday.", "The launch has moved from Tuesday to Thursday."),
    ("We drop Windows support.", "We keep Windows support."),
    ("Keep the v1 endpoint.", "Drop the v1 endpoint after all."),
    ("Always answer in German.", "You can answer in English again."),
    ("Always answer in German.", "Stop answering in German."),
    ("Write a changelog entry for every change.", "Stop writing changelog entries."),
    ("Please always run make lint first.", "No need to run make lint any more."),
    ("You must run make lint first.", "You don't have to run make lint."),
    ("Keep functions under 40 lines.", "Functions may have up to 60 lines from now on."),
    ("Keep functions under 40 lines.", "Make that 60 lines for functions."),
    ("Keep functions under 40 lines.", "Keep functions under 60 lines."),
    ("Production runs Postgres 14.", "Production runs Postgres 16 now."),
    ("Production runs Postgres 14.", "Production runs Postgres 16 since the upgrade last night."),
    ("Our port is 8080.", "The port is now 9090."),
    ("Our port is 8080.", "The port changed to 9090."),
    ("My contact is Mrs Balder.", "My contact is Mr Quill now."),
    ("The customer's contact is Mrs Balder.", "Mrs Balder has left; the contact is Mr Quill."),
    ("Sprint ends on 14 March.", "Sprint ends on 21 March instead."),
    ("The sprint ends on 14 March.", "The sprint ends on 21 March."),
    ("Use tabs for indentation.", "Use spaces for indentation, not tabs."),
    ("We use MySQL.", "We switched from MySQL to MariaDB."),
    ("Tests go under tests/unit.", "Tests go under tests/fast from now on."),
    (
        "Use Redis for the session store.",
        "On second thought, Memcached instead of Redis for the session store",
    ),
    ("We deploy to the Frankfurt region.", "We moved: we deploy to the Dublin region from today."),
    ("By the way, the database listens on 5433 here.", "Correction: the database listens on 5544 now."),
    ("The demo is at 10:00.", "The demo is at 14:00."),
    ("We support Python 3.9.", "We support Python 3.11 now."),
    ("Use four spaces for indentation.", "Forget the four spaces, use two spaces for indentation."),
    ("Use four spaces for indentation.", "Use two spaces for indentation."),
    ("We use Jenkins for the nightly build.", "We no longer use Jenkins."),
    ("We ship from the develop branch.", "We ship from the main branch now."),
    ("We host on Heroku.", "We moved from Heroku to Fly."),
    ("The release is on 3 May.", "The release was moved to 10 May."),
    ("Sign every commit.", "Stop signing commits."),
    ("Ask me before you push.", "No need to ask me before you push."),
    ("Let's cap uploads at 25 MB.", "Let's cap uploads at 50 MB instead."),
];

const BOTH_HOLD: &[(&str, &str)] = &[
    ("The port of the api is 8080.", "The port of the worker is 9090 now."),
    ("The api's port is 8080.", "The worker's port is 9090 now."),
    ("The launch of A is on Tuesday.", "The launch of B moves to Thursday."),
    ("The launch is on Tuesday.", "Is the launch on Thursday now?"),
    ("The launch is on Tuesday.", "Maybe the launch moves to Thursday."),
    ("The launch is on Tuesday.", "Tom thinks the launch moves to Thursday."),
    ("The launch is on Tuesday.", "The demo moves to Thursday."),
    ("The launch has 40 guests.", "The launch moves to Thursday."),
    ("The launch is in Porto.", "The launch moves to Thursday."),
    ("Use tabs for the tables.", "Use spaces for the code, not tabs."),
    ("Use tabs for indentation.", "Use spaces for indentation, not only tabs."),
    ("Never use tabs.", "Use spaces, not tabs."),
    ("Use spaces for indentation, not tabs.", "Remember: use spaces for indentation, not tabs."),
    ("Use MySQL for the reports.", "Use MariaDB instead of MySQL for the search."),
    ("The billing team runs MySQL.", "We switched from Jenkins to Buildkite."),
    ("Look at part 3 of the import.", "Look at part 4 of the import now."),
    ("Fix bug 12.", "Fix bug 13 now."),
    ("Show me 5 rows of the table.", "Show me 10 rows of the table."),
    ("We keep the logs of Leeds for 30 days.", "We keep the logs of Porto for 30 days now."),
    ("We keep the Leeds logs.", "We keep the Porto logs now."),
    ("We keep the Leeds logs for 30 days.", "We keep the Leeds logs for 30 days."),
    ("We drop Windows support in the installer.", "We keep Windows support in the editor."),
    ("Keep the tests in one folder.", "Drop the tests of the parser."),
    ("Remove the dead code in the parser.", "Keep the parser small."),
    ("Always answer in German.", "Stop the server."),
    ("Always answer in German.", "The tests stop running in German."),
    ("Never answer in German.", "Stop answering in German."),
    ("Write a changelog entry for every change.", "Stop writing comments."),
    ("Keep functions under 40 lines.", "Files may have up to 600 lines from now on."),
    ("Keep functions under 40 lines.", "Functions may have up to 5 parameters from now on."),
    ("We use pytest.", "We use MariaDB now."),
    ("The limit for tenant_a is 40.", "The limit for tenant_b is 60 now."),
    ("Tests go under tests/unit.", "Fixtures go under tests/data from now on."),
    ("Tests go under tests/unit.", "Tests go under tests/fast."),
    ("The staging host is db-3.", "The production host is db-7 now."),
    ("My name is Ada.", "Your name is Max now."),
    ("Our port is 8080.", "Our port is 8080 now."),
    ("The customer's contact is Mrs Balder.", "The supplier's contact is Mr Quill now."),
    ("The next question goes to Mr Kelly.", "The next question goes to Mr Chong."),
    ("You have 30 seconds.", "You have 20 seconds."),
    ("I restarted my phone after the update.", "I restarted my phone again after the call."),
    ("We have a call on Monday.", "We have a call on Friday."),
    ("We have the review with Tom on Monday.", "We have the review with Mara on Monday now."),
    ("Test the parser.", "Test the lexer now."),
    ("Run the linter.", "Run the formatter now."),
    ("Run the parser tests.", "Run the lexer tests again."),
    ("Show me the log.", "Show me the config now."),
    ("The test in tests/a.rs is red.", "The test in tests/b.rs is red now."),
    ("Use port 8080 for the api.", "Use port 9090 for the worker now."),
    ("We support Python 3.9.", "We support Node 18 now."),
    ("Tom owns the parser.", "Mara owns the lexer now."),
    ("We drop the CSV export.", "We keep the JSON export."),
    ("Write tests for the parser.", "Stop writing docs for the parser."),
    ("The cache holds 40 entries.", "The queue holds 60 entries now."),
    ("The launch is on Tuesday.", "If the launch moves to Thursday, tell Tom."),
    ("Production runs Postgres 14.", "Staging runs Postgres 16 now."),
    ("Mrs Balder has left.", "Mrs Balder has a question; the meeting is on Friday."),
];
