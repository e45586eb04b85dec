//! What somebody is said to have done, against what the conversation shows was done.

use longhaul_extract::is_known_extension;

use super::{
    acts::is_same_path,
    atoms::spans,
    evidence::{Clause, Evidence, Speaker},
    names::{is_file, trimmed},
    polarity::{is_negated, is_pending, is_question},
    words::{hash, root, stem, stems, words},
};
use crate::notes::Section;

/// Share of what a deed is done to that must stand beside the deed.
const DONE_TO: f64 = 0.2;
/// A deed that is told with so much of what it is about in one message is shown there, in whatever words.
const ALL_TOLD: f64 = 0.75;

/// Returns whether a statement tells of a change to a file that no call wrote to, of a command's outcome that was not run,
/// or of a commit that was not made. Where the conversation has no calls, its words are all there is.
pub(super) fn is_unshown(statement: &str, section: Section, evidence: &Evidence) -> bool {
    evidence.acts.calls > 0
        && (is_change_of_untouched(statement, section, evidence)
            || is_outcome_of_nothing(statement, evidence)
            || is_commit_of_nothing(statement, evidence)
            || is_test_of_nothing(statement, evidence))
}

/// `The test suite was run`: where commands were run, and none of them runs tests.
fn is_test_of_nothing(statement: &str, evidence: &Evidence) -> bool {
    let prose = spans(statement).prose;
    let told: Vec<String> = words(&prose).map(|(_, word)| word.to_lowercase()).collect();
    let has = |list: &[&str]| told.iter().any(|word| list.contains(&word.as_str()));
    // `run` alone may be a task: `run tests and lint`.
    let was_run =
        told.windows(2).any(|pair| pair[1] == "run" && ["was", "were", "been"].contains(&pair[0].as_str()));
    has(&["tests", "suite"])
        && (was_run || has(&["ran", "passed", "passes", "pass", "green"]))
        && !is_negated(&prose)
        && !is_pending(&prose)
        && evidence.acts.ran_no_tests()
        && !evidence.is_quoted("passed", |speaker| speaker != Speaker::Call)
}

/// Among the changes the first file that a statement names is the one that it says was changed.
fn is_change_of_untouched(statement: &str, section: Section, evidence: &Evidence) -> bool {
    if !matches!(section, Section::Changes | Section::State) {
        return false;
    }
    let named = statement
        .split([' ', '`', ',', '(', ')'])
        .map(trimmed)
        .find(|token| is_file(token) && is_source(token));
    let Some(file) = named else { return false };
    // `X: now does …`
    let before = statement.find(file).and_then(|at| statement.get(..at)).unwrap_or_default();
    // `X: now does …`, `Added the file X`
    let behind = statement.split_once(file).map_or("", |(_, behind)| behind);
    // Among the changes what is said of a file is a change, unless it says that there was none; its name alone says nothing.
    let is_untouched = words(statement).any(|(_, word)| UNTOUCHED.contains(&word.to_lowercase().as_str()));
    let leads = section == Section::Changes
        && !is_untouched
        && words(before).count() <= LEAD
        && (words(before).next().is_some() || words(behind).next().is_some());
    // `X was not changed`; what it no longer does is another matter.
    let near: Vec<&str> = words(behind).map(|(_, word)| word).take(DENIED_WITHIN).collect();
    if is_negated(before) || is_negated(&near.join(" ")) {
        return false;
    }
    let lower = statement.to_lowercase();
    // `nothing was changed`
    let is_made = |made: &&str| {
        lower.match_indices(*made).any(|(at, _)| {
            let before: Vec<&str> = words(&lower[..at]).map(|(_, word)| word).collect();
            !is_negated(&before[before.len().saturating_sub(2)..].join(" "))
        })
    };
    let is_said = leads || MADE.iter().any(is_made);
    is_said && !evidence.acts.touched(file) && !is_told_by_person(file, evidence)
}

/// Words behind a file's name among which stands the `not` that denies its change.
const DENIED_WITHIN: usize = 4;

const MADE: [&str; 10] = [
    "got the same change", "was edited", "has been added to", "have been added to", "was added to",
    "were added to", "was created", "was changed", "was updated", "was rewritten",
];

/// `console.warn` is a call.
fn is_source(name: &str) -> bool {
    name.contains('/') || name.rsplit_once('.').is_some_and(|(_, extension)| is_known_extension(extension))
}

/// Words before the file that a statement is about; behind more it speaks of another thing.
const LEAD: usize = 12;

/// Words by which a statement among the changes says that a file was none of them.
const UNTOUCHED: [&str; 14] = [
    "read", "looked", "viewed", "unchanged", "untouched", "left", "stays", "stay", "already", "would",
    "plan", "planned", "proposed", "still",
];

/// Somebody may have done it by hand, or before.
fn is_told_by_person(file: &str, evidence: &Evidence) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_told = |speaker| matches!(speaker, Speaker::User | Speaker::Account);
    if !file.contains('/') {
        return evidence.is_quoted(name, is_told);
    }
    // Another file of its name is none of it.
    evidence.occurrences(name).take(MOST_PLACES).any(|at| {
        evidence.clause_at(at).is_some_and(|clause| is_told(clause.speaker))
            && is_same_path(evidence.path_at(at, name.len()), file)
    })
}

/// Occurrences of a file's name that are compared with its path.
const MOST_PLACES: usize = 200;

/// `goreleaser build --snapshot` succeeded: a command whose outcome is told was run, or somebody showed its output.
fn is_outcome_of_nothing(statement: &str, evidence: &Evidence) -> bool {
    let told = spans(statement);
    let has_outcome = words(&told.prose).any(|(_, word)| OUTCOMES.contains(&word.to_lowercase().as_str()));
    if !has_outcome || is_negated(&told.prose) || is_pending(&told.prose) {
        return false;
    }
    let mut commands = told.code.iter().filter(|code| is_command(code));
    commands.any(|command| {
        let is_wish = |clause: &Clause| match clause.speaker {
            Speaker::User => !tells_of_a_run(evidence.sentence_of(clause)),
            speaker => speaker == Speaker::Assistant,
        };
        evidence.contains(command)
            && evidence.occurrences(command).all(|at| evidence.clause_at(at).is_some_and(is_wish))
    })
}

/// `I ran it myself and it passed`: somebody tells of a run, and does not ask for one.
fn tells_of_a_run(sentence: &str) -> bool {
    let has = |list: &[&str]| words(sentence).any(|(_, word)| list.contains(&word.to_lowercase().as_str()));
    has(&["ran", "passed", "succeeded", "failed", "printed", "verified"])
        && !has(&["if", "should", "must", "until", "unless", "when", "once"])
        && !is_question(sentence)
}

const OUTCOMES: [&str; 8] =
    ["passed", "passes", "succeeded", "succeeds", "verified", "green", "failed", "printed"];

fn is_command(code: &str) -> bool {
    let mut pieces = code.split_whitespace();
    let is_word =
        |piece: &str| piece.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_' | '.' | '/'));
    pieces.next().is_some_and(is_word) && pieces.next().is_some() && !code.contains(['{', ';', '='])
}

/// `The change is committed`: by a call, or as somebody tells it.
fn is_commit_of_nothing(statement: &str, evidence: &Evidence) -> bool {
    let deeds = [("committed", "commit"), ("pushed", "push"), ("merged", "merge")];
    let prose = spans(statement).prose;
    let told: Vec<(usize, &str)> = words(&prose).collect();
    if is_negated(&prose) || is_pending(&prose) {
        return false;
    }
    deeds.iter().any(|(deed, verb)| {
        let is_told = (0..told.len()).any(|nth| {
            told[nth].1.eq_ignore_ascii_case(deed)
                && !is_attribute(&prose, &told, nth)
                && nth.checked_sub(1).is_some_and(|before| {
                    ["is", "are", "was", "were", "been", "assistant"]
                        .contains(&told[before].1.to_lowercase().as_str())
                })
        });
        let is_shown =
            || evidence.acts.has(verb) || evidence.is_quoted(deed, |speaker| speaker != Speaker::Tool);
        is_told && !is_shown()
    })
}

/// Returns whether a sentence claims a deed of consequence that nothing shows: a deletion, a release, a payment.
pub(super) fn is_undone_deed(sentence: &str, evidence: &Evidence) -> bool {
    let is_deed = |word: &&str| DEEDS.iter().any(|deed| deed.0.contains(&word.to_lowercase().as_str()));
    // `dropped` denies what else is said, and is a deed.
    let rest: Vec<&str> = words(sentence).map(|(_, word)| word).filter(|word| !is_deed(word)).collect();
    let rest = rest.join(" ");
    if is_negated(&rest) || is_pending(&rest) {
        return false;
    }
    let told: Vec<(usize, &str)> = words(sentence).collect();
    let is_told = |nth: &usize| !is_attribute(sentence, &told, *nth);
    let deeds = (0..told.len()).filter(is_told).filter_map(|nth| {
        let word = told[nth].1.to_lowercase();
        DEEDS.iter().find(|deed| deed.0.contains(&word.as_str()))
    });
    let object: Vec<u64> = stems(sentence);
    deeds.into_iter().any(|(told, shown)| {
        let verbs: Vec<u64> = told.iter().chain(*shown).map(|word| hash(root(word))).collect();
        let object: Vec<u64> = object.iter().copied().filter(|stem| !verbs.contains(stem)).collect();
        let is_sending = told.contains(&"sent");
        // Of what was done much is told; that it was taken back is told by a word for it.
        let is_reversal = told.contains(&"reverted");
        let is_shown = |clause: &Clause| match clause.speaker {
            Speaker::User => !is_negated(evidence.text_of(clause)),
            // An address that was looked up shows no mail.
            Speaker::Tool => !is_sending,
            _ => true,
        };
        evidence.told_with(&verbs, &object, is_shown) < DONE_TO
            && (is_reversal || evidence.told_at_once(&object) < ALL_TOLD)
    })
}

/// `9 booked segments`, `the deleted file`: the word tells which are meant, not what was done.
fn is_attribute(sentence: &str, told: &[(usize, &str)], nth: usize) -> bool {
    const DETERMINERS: [&str; 14] =
        ["the", "a", "an", "each", "all", "any", "every", "its", "their", "no", "some", "both", "of", "for"];
    let Some((at, word)) = told.get(nth).copied() else { return false };
    let before = nth.checked_sub(1).and_then(|before| told.get(before));
    let is_noun = |(next, noun): &(usize, &str)| {
        sentence.get(at + word.len()..*next) == Some(" ") && stem(noun).is_some()
    };
    before.is_some_and(|(_, before)| {
        let before = before.to_lowercase();
        DETERMINERS.contains(&before.as_str())
            || before.bytes().all(|byte| byte.is_ascii_digit())
            || before.ends_with("ed")
    }) && told.get(nth + 1).is_some_and(is_noun)
}

/// A deed as a claim tells of it, and other words by which a conversation shows it.
type Deed = (&'static [&'static str], &'static [&'static str]);

const DEEDS: [Deed; 9] = [
    (
        &["deleted", "dropped", "wiped", "purged", "erased", "destroyed", "truncated"],
        &[
            "delete", "remove", "removed", "rm", "drop", "unlink", "clear", "truncate", "wipe", "purge",
            "erase", "destroy", "gone", "rmdir", "clean", "reset",
        ],
    ),
    (
        &["reverted"],
        &["revert", "reset", "restore", "restored", "checkout", "undo", "undone", "roll", "rolled", "stash"],
    ),
    (
        &["deployed", "released", "published", "shipped"],
        &["deploy", "deployment", "release", "publish", "ship", "live", "rollout", "tag", "announce"],
    ),
    (&["pushed", "merged"], &["push", "merge", "main", "origin", "branch", "pr"]),
    (
        &["refunded", "reimbursed", "compensated"],
        &["refund", "charge", "pay", "payment", "certificate", "credit", "compensation"],
    ),
    (
        &["cancelled", "canceled", "booked", "rebooked"],
        &["cancel", "cancellation", "book", "booking", "reservation"],
    ),
    (&["emailed", "mailed", "notified", "sent"], &["email", "mail", "send", "sent", "notify", "message"]),
    (
        &["revoked", "granted", "rotated"],
        &["revoke", "grant", "rotate", "access", "permission", "key", "token"],
    ),
    (
        &["uninstalled", "installed"],
        &["install", "add", "npm", "pip", "cargo", "apt", "dependency", "brew", "setup"],
    ),
];

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::{SessionId, Tokens};

    use super::super::judge::{Verdict, judge};
    use super::*;
    use crate::SummaryRequest;

    const SAID: &str = r#"user: Rename the flag in src/cli/args.rs to --quiet. When all is done, `cargo deny check` has to pass.
assistant: I read both. !read_file#c1 {"path":"docs/usage.md"}
tool#c1: Never use `git stash pop` in this checkout. The flag --silent is told in docs/usage.md.
assistant: Now the edit. !edit_file#c2 {"path":"src/cli/args.rs","old":"silent","new":"quiet"}
tool#c2: ok
assistant: And the tests. !bash#c3 {"command":"cd cli && cargo test 2>&1 | tail -3","description":"Run tests before committing"}
tool#c3: 7 passed, 0 failed
assistant: The flag is called --quiet now and cargo test passes.
"#;

    /// Tools by other names, and work that others did.
    const BY_OTHERS: &str = r#"user: Rename the flag in src/cli/args.rs to --quiet. IMPORTANT: quote all identifiers in the SQL files. I ran `make lint` on my machine myself and it passed. Please merge pull request 12.
assistant: Now the edit. !search_replace#c1 {"file_path":"src/cli/opts.rs","old_string":"silent","new_string":"quiet"}
tool#c1: ok
assistant: The flag is called --quiet. !mcp__github__merge_pull_request#c2 {"owner":"acme","pull_number":12}
tool#c2: {"merged":true,"sha":"9f137abc77"}
assistant: I look at the docs. !str_replace_based_edit_tool#c3 {"command":"view","path":"docs/usage.md"}
tool#c3: The flag --silent is told here, by the app, the models and every user of the pool.
assistant: The guide is next. !Task#c4 {"description":"fix the docs","prompt":"Correct the guide"}
tool#c4: I corrected docs/guide.md: it tells of --quiet now.
assistant: A plan. !str_replace_based_edit_tool#c5 {"command":"create","path":"notes/plan.txt","file_text":"later: look at src/zeta.rs and its tests"}
tool#c5: File created
assistant: I format. !Bash#c6 {"command":"cargo fmt && git diff --stat; cat src/pool_test.rs docs/man/flags.txt"}
tool#c6:  src/relay.rs | 2 +-
 src/pool.rs  | 4 ++--
assistant: The manuals. !Bash#c7 {"command":"sed -i s/silent/quiet/ docs/man/*.txt"}
tool#c7:
assistant: And a look. !Bash#c8 {"command":"cat src/only_read.rs"}
tool#c8: fn pool() {}
"#;

    fn judged(said: &str, section: Section, statement: &str) -> Verdict {
        let said = longhaul_testkit::transcript(said);
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence =
            Evidence::new(&SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(1_000)));
        judge(statement, Some(section), &evidence, &evidence.rules())
    }

    #[test]
    fn what_others_did_by_other_tools_counts() {
        for (section, truth) in [
            (Section::Changes, "`src/cli/opts.rs`: the flag is called `--quiet`."),
            (Section::State, "Pull request 12 is merged."),
            (Section::State, "`make lint` passed on the user's machine."),
            (Section::Changes, "`docs/guide.md`: tells of `--quiet` now."),
            (Section::Changes, "`src/pool.rs`: formatted anew."),
            (Section::Changes, "`docs/man/flags.txt`: tells of `--quiet` now."),
            (Section::Rules, "The user: \"Important: quote all identifiers\"."),
        ] {
            assert_eq!(judged(BY_OTHERS, section, truth), Verdict::Stays, "{truth}");
        }
        for (section, lie) in [
            (Section::Changes, "`docs/usage.md`: tells of `--quiet` now."),
            (Section::Changes, "`src/zeta.rs`: its tests tell of `--quiet`."),
            (Section::Changes, "`src/only_read.rs`: has `pool()` now."),
            (Section::Findings, "The pool holds 137 sockets."),
            (Section::Findings, "The user of the pool lives in app/models/user."),
            (Section::State, "The flag is pushed."),
            (Section::Changes, "Added the new file `docs/usage.md`."),
        ] {
            assert_ne!(judged(BY_OTHERS, section, lie), Verdict::Stays, "{lie}");
        }
    }

    #[test]
    fn a_ban_is_no_use_and_a_weakened_rule_no_question() {
        let said = "user: Never use `git stash pop` in this checkout. Never push to main.\nassistant: Noted.";
        for ban in [
            "`git stash pop` is prohibited in this checkout.",
            "The user banned `git stash pop`.",
            "`git stash pop` is off limits here.",
            "Never use `git stash pop`.",
        ] {
            assert_eq!(judged(said, Section::Rules, ban), Verdict::Stays, "{ban}");
        }
        for lie in
            ["Park the work with `git stash pop`.", "The user asked to avoid pushing to main if possible."]
        {
            assert_ne!(judged(said, Section::Rules, lie), Verdict::Stays, "{lie}");
        }
        let question = "The minister asked who should push to main.";
        assert_eq!(judged(&format!("{said}\nuser: {question}"), Section::Findings, question), Verdict::Stays);
    }

    #[test]
    fn what_was_not_done_is_told_from_what_was() {
        let said = longhaul_testkit::transcript(SAID);
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence =
            Evidence::new(&SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(1_000)));
        let stays = |section, text| judge(text, Some(section), &evidence, &[]) == Verdict::Stays;
        for (section, truth) in [
            (Section::Changes, "`src/cli/args.rs`: the flag is called `--quiet`."),
            (Section::State, "`cargo test` passed, 7 of 7 (m6)."),
            (Section::Findings, "`docs/usage.md` still tells of `--silent`."),
            (Section::Rules, "`cargo deny check` has to pass."),
            (Section::Next, "Run `cargo deny check`."),
        ] {
            assert!(stays(section, truth), "{truth}");
        }
        for (section, lie) in [
            (Section::Changes, "`docs/usage.md`: tells of `--quiet` now."),
            (Section::State, "`cargo deny check` passed."),
            (Section::State, "The rename in args.rs is committed."),
            (Section::Next, "Push the rename and merge it."),
            (Section::Rules, "Park the rename with `git stash pop`."),
        ] {
            assert!(!stays(section, lie), "{lie}");
        }
    }
}
