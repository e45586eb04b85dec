//! What a command was to change: whoever did that after all, with other words for it, made an earlier failure old.

use std::collections::BTreeSet;

use super::{Purpose, Run, Verdict, kind, spoken};
use crate::script::{Simple, simples};

impl Run {
    /// Returns whether it went well and changed what `failed` was to change: the same program was told to, with the number, file or
    /// package that both name. `gh api repos/a/b/pulls/12 -X PATCH` does what `gh pr edit 12` was to.
    pub fn does_after_all(&self, failed: &Run) -> bool {
        if self.verdict != Verdict::Passed || self.message <= failed.message {
            return false;
        }
        let wanted = objects(&failed.command);
        objects(&self.command).iter().any(|done| wanted.iter().any(|one| done.does(one)))
    }
}

/// What a program is told to do to something.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    program: String,
    /// `pr edit`, `install`.
    verb: String,
    name: String,
}

impl Object {
    /// Whether this does what the other was to: `gh pr close 12` does not edit it, and what `gh api` does may be anything.
    fn does(&self, other: &Object) -> bool {
        let is_api = self.program == "gh" && self.verb == "api";
        (&self.program, &self.name) == (&other.program, &other.name) && (is_api || self.verb == other.verb)
    }
}

/// Returns what the commands of a line change that its exit code speaks for.
fn objects(command: &str) -> BTreeSet<Object> {
    let script = simples(command);
    let acts = spoken(&script).iter().filter(|simple| kind::purpose(simple) == Purpose::Act);
    acts.flat_map(|simple| {
        let object =
            |name| Object { program: kind::program_name(simple).to_owned(), verb: verb(simple), name };
        named(simple).into_iter().map(object).collect::<Vec<_>>()
    })
    .collect()
}

/// Returns the word that says what is to be done, `install`, or two where the first says to what kind of thing: `pr edit`. What stands
/// behind a flag may be the flag's.
fn verb(simple: &Simple<'_>) -> String {
    const OF_TWO_WORDS: [&str; 5] = ["gh", "glab", "gcloud", "aws", "az"];
    let words = simple.plain();
    let pairs = words.windows(2).map(|pair| (&*pair[0].text, &*pair[1].text));
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let verbs =
        pairs.filter(|(before, word)| !before.starts_with('-') && is_word(word)).map(|(_, word)| word);
    let most = if OF_TWO_WORDS.contains(&kind::program_name(simple)) { 2 } else { 1 };
    verbs.take(most).collect::<Vec<_>>().join(" ")
}

/// Returns the words that name one thing among many. What stands behind a flag may be anything.
fn named(simple: &Simple<'_>) -> Vec<String> {
    let words = simple.plain();
    let mut found = Vec::new();
    for pair in words.windows(2) {
        let (before, word) = (&*pair[0].text, &*pair[1].text);
        if before.starts_with('-') || word.starts_with('-') || word.contains(char::is_whitespace) {
            continue;
        }
        let is_number = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
        found.extend(word.split(['/', '#']).filter(|part| is_number(part)).map(str::to_owned));
        if word.len() >= LEAST_NAME && word.contains(['.', '-', '_', '@', ':']) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Bytes of a name that is not met by chance.
const LEAST_NAME: usize = 4;

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Outcome, ToolCall, ToolResult};

    use crate::run_of;

    #[test]
    fn another_command_may_do_what_one_failed_to() {
        let run = |message: u64, command: &str, outcome: Outcome| {
            let arguments = serde_json::json!({ "command": command }).to_string();
            let call = ToolCall::function("c", "Bash", arguments);
            let run = run_of(&call, &ToolResult::text("c", "x", outcome)).expect("a command");
            crate::Run { message, ..run }
        };
        for (failed, later, does) in [
            (
                "gh pr edit 1533 --body-file b.md",
                "cd /w && gh api repos/a/b/pulls/1533 -X PATCH -f body=x",
                true,
            ),
            ("cd /w && npm install left-pad", "npm install left-pad --legacy-peer-deps", true),
            ("gh pr edit 1533 --body-file b.md", "gh pr view 1533", false),
            ("gh pr edit 1533 --body-file b.md", "gh pr edit 1534 --body-file b.md", false),
            ("gh issue edit 12 --repo a/my-repo", "gh issue edit 14 --repo a/my-repo", false),
            ("gh pr edit 1533 --body-file b.md", "gh pr comment 1533 --body x; true", false),
            ("rm build/out-1.txt", "cp a build/out-1.txt", false),
            ("gh pr edit 1533 --body-file b.md", "gh pr close 1533", false),
            ("npm install left-pad", "npm uninstall left-pad", false),
            ("npm --prefix web install left-pad", "npm --prefix web uninstall left-pad", false),
            ("npm install typescript left-pad", "npm install left-pad", true),
            (
                "mkdir -p ~/.a/themes && cp $(npm root -g)/b/dist/dark.json ~/.a/themes/my.json",
                "mkdir -p ~/.a/themes && cp b/src/dark.json ~/.a/themes/my.json",
                true,
            ),
            ("gh -R a/b pr edit 1533", "gh pr edit 1533 -R a/b", true),
            ("gh -R a/b pr edit 1533", "gh -R a/b pr close 1533", false),
        ] {
            let (failed, after) = (run(1, failed, Outcome::Failed), run(3, later, Outcome::Succeeded));
            assert_eq!(after.does_after_all(&failed), does, "{later}");
            assert!(
                !failed.does_after_all(&after) && !run(3, later, Outcome::Failed).does_after_all(&failed)
            );
        }
    }
}
