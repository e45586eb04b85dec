//! What commands committed, tagged, pushed, merged, published and released, in the words of the tool that did it.

use super::run_of_view;
use super::{Run, Verdict, kind};
use crate::{
    Act, digest,
    script::{Link, Simple, simples},
};

/// A command that changed what others see of the work: its history, its tags, its packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    /// Ordinal of the message with the call.
    pub message: u64,
    /// Ordinal of the message that says how it went.
    pub answered: u64,
    /// The program and what it was told to do: `git push origin main`.
    pub act: String,
    /// How it went, as far as the source settles it for this command.
    pub verdict: Verdict,
    /// The lines of the output that say what came of it, or what went wrong.
    pub said: Vec<String>,
}

impl Landing {
    /// Returns how it went in one line: `git commit: [main 45ffe0a] Release v0.8.0 (m897)`.
    pub fn line(&self) -> String {
        let Landing { message, act, verdict, said, .. } = self;
        let word = match (verdict, said.is_empty()) {
            (Verdict::Failed, true) => "failed".to_owned(),
            (Verdict::Failed, false) => format!("failed: {}", said.join("; ")),
            (_, true) => "went well".to_owned(),
            (_, false) => said.join("; "),
        };
        format!("{act}: {word} (m{message})")
    }

    /// Returns whether it put files into the history.
    pub fn commits(&self) -> bool {
        self.verdict != Verdict::Failed && self.act.starts_with("git commit")
    }

    /// Returns whether it made the files those of a commit, whatever had been edited.
    pub fn throws_away(&self) -> bool {
        self.verdict != Verdict::Failed
            && self.act.starts_with("git reset")
            && self.act.split(' ').any(|word| word == "--hard")
    }

    /// Returns whether it does what `other` does, whatever the flags: `git push` pushes what `git push origin main` does.
    fn does_what(&self, other: &Landing) -> bool {
        let names = |landing: &'_ Landing| {
            let words = landing.act.split(' ').filter(|word| !word.starts_with('-'));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let (one, other) = (names(self), names(other));
        one.starts_with(&other) || other.starts_with(&one)
    }
}

/// Takes in what calls commit, push and publish, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Landings {
    found: Vec<Landing>,
}

impl Landings {
    /// Takes in one call. What ends in the background, or says nothing that settles it, is left out.
    pub fn take(&mut self, act: &Act<'_>) {
        let Some((answered, result)) = act.result else { return };
        let Some(command) =
            act.call.command().filter(|command| MAY_LAND.iter().any(|word| command.contains(word)))
        else {
            return;
        };
        let script = simples(&command);
        let acts = script.iter().enumerate().filter_map(|(at, simple)| Some((at, landing(simple)?)));
        let mut acts = acts.peekable();
        if acts.peek().is_none() {
            return;
        }
        let text = result.joined_text();
        let Some(run) = run_of_view(&act.call, &text, result.outcome) else { return };
        let text = digest::cleaned(&text);
        let acts: Vec<(usize, (String, Kind))> = acts.collect();
        let kinds: Vec<Kind> = acts.iter().map(|(_, (_, kind))| *kind).collect();
        let mut said = shared_out(&text, &kinds).into_iter();
        for (at, (name, kind)) in acts {
            let speaks = script[at..script.len() - 1].iter().all(|next| next.link == Link::And);
            let said = said.next().unwrap_or_default();
            let mut landing =
                Landing { message: act.message, answered, act: name, verdict: Verdict::Unknown, said };
            let Some(verdict) = verdict(&landing, &run, at + 1 == script.len(), speaks) else { continue };
            landing.verdict = verdict;
            if verdict == Verdict::Failed && landing.said.is_empty() {
                let is_free = |line: &str| !kinds.iter().any(|kind| kind.tells(line));
                landing.said = match kind.runs_hooks() {
                    true => last_words(text.lines().map(str::trim).filter(|line| is_free(line))),
                    false => run.error.iter().filter(|line| is_free(line)).cloned().collect(),
                };
            }
            self.found.push(landing);
        }
    }

    /// Returns what was taken in, oldest first, without failures after which the same went well.
    pub fn done(self) -> Vec<Landing> {
        let mut kept: Vec<Landing> = Vec::new();
        for landing in self.found.into_iter().rev() {
            let is_mended = landing.verdict == Verdict::Failed
                && kept.iter().any(|later| later.verdict != Verdict::Failed && later.does_what(&landing));
            if !is_mended {
                kept.push(landing);
            }
        }
        kept.reverse();
        kept
    }
}

/// Returns for each act of a script the lines of the output that tell of it: acts speak in their order, and none has failed that said
/// it went well.
fn shared_out(text: &str, kinds: &[Kind]) -> Vec<Vec<String>> {
    let mut said: Vec<Vec<String>> = vec![Vec::new(); kinds.len()];
    let mut from = 0;
    for line in text.lines().map(str::trim) {
        let may_say = |at: &usize| {
            let went_well = said[*at].iter().any(|line| !refuses(line));
            let is_done = went_well && (refuses(line) || kinds[*at] == Kind::Commit);
            kinds[*at].tells(line) && !is_done
        };
        if let Some(at) = (from..kinds.len()).find(may_say) {
            from = at;
            if said[at].len() < MOST_LINES {
                said[at].push(line.to_owned());
            }
        }
    }
    said
}

/// Returns how an act went: as its own lines say, else as the exit code does where it speaks for it.
fn verdict(landing: &Landing, run: &Run, is_last: bool, speaks: bool) -> Option<Verdict> {
    match run.verdict {
        _ if landing.said.iter().any(|line| refuses(line)) => Some(Verdict::Failed),
        _ if !landing.said.is_empty() => Some(Verdict::Passed),
        Verdict::Passed if speaks => Some(Verdict::Passed),
        Verdict::Failed if is_last => Some(Verdict::Failed),
        _ => None,
    }
}

/// Returns the last lines that tell of a failure: what a hook prints before them is mostly of checks that went well.
fn last_words<'t>(lines: impl DoubleEndedIterator<Item = &'t str>) -> Vec<String> {
    let tells = |line: &&str| TELLS_FAILURE.iter().any(|word| line.contains(word));
    let mut last: Vec<String> = lines.rev().filter(tells).take(LAST_LINES).map(str::to_owned).collect();
    last.reverse();
    last
}

/// Returns whether a line that tells of an act says that it was refused.
fn refuses(line: &str) -> bool {
    REFUSED.iter().any(|start| line.starts_with(start))
}

/// What a command does to the history, the tags or the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Commit,
    Push,
    Merge,
    Reset,
    Tag,
    Branch,
    /// A branch or a worktree that is no more.
    Delete,
    Publish,
    Release,
}

impl Kind {
    /// Returns whether it runs hooks, which print before it does anything.
    fn runs_hooks(self) -> bool {
        matches!(self, Kind::Commit | Kind::Push | Kind::Merge)
    }

    /// Returns whether a line of the output says what came of it.
    fn tells(self, line: &str) -> bool {
        let starts = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        match self {
            // `[main 45ffe0a] Release`, `[main (root-commit) 45ffe0a] First`.
            Kind::Commit => is_committed(line) || starts(&["nothing to commit", "fatal: "]),
            Kind::Push => {
                is_pushed(line) || starts(&["Everything up-to-date", "fatal: ", "error: failed to push"])
            }
            Kind::Merge => {
                is_committed(line)
                    || line.strip_prefix("Updating ").is_some_and(|range| range.contains(".."))
                    || starts(&[
                        "Fast-forward", "Merge made by", "Already up to date", "Successfully rebased",
                        "CONFLICT ", "fatal: ", "error: could not apply",
                    ])
            }
            Kind::Reset => starts(&["HEAD is now at ", "fatal: "]),
            Kind::Tag => starts(&["fatal: tag ", "fatal: Failed to resolve ", "Deleted tag ", "error: tag "]),
            Kind::Branch => {
                starts(&["Switched to ", "Already on ", "Preparing worktree ", "fatal: ", "error: pathspec"])
            }
            Kind::Delete => starts(&["Deleted branch ", "error: ", "fatal: "]),
            Kind::Publish => {
                starts(&["npm error code ", "npm ERR! code ", "Published ", "error: failed to publish"])
                    || line.strip_prefix("+ ").is_some_and(|rest| rest.rfind('@').is_some_and(|at| at > 0))
            }
            Kind::Release => {
                let is_address = line.starts_with("https://") && !line.contains(' ');
                is_address || starts(&["✓ ", "X ", "! ", "HTTP 4", "pull request create failed", "GraphQL: "])
            }
        }
    }
}

fn is_committed(line: &str) -> bool {
    committed_to(line).is_some()
}

/// Returns the branch of a commit, where a line says that one was made.
pub(super) fn committed_to(line: &str) -> Option<&str> {
    let (place, _) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = place.rsplit_once(' ')?;
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| branch.strip_suffix(" (root-commit)").unwrap_or(branch))
}

/// `17d213a..45ffe0a  main -> main`, `* [new tag] v0.8.0 -> v0.8.0`, `! [rejected] main -> main (fetch first)`.
fn is_pushed(line: &str) -> bool {
    let is_range = || {
        let first = line.trim_start_matches(['+', ' ']).split(' ').next().unwrap_or_default();
        let ends = first.split_once("...").or_else(|| first.split_once(".."));
        let is_hash = |part: &str| part.len() >= 7 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        ends.is_some_and(|(from, to)| is_hash(from) && is_hash(to))
    };
    line.contains(" -> ") && (line.starts_with("* [new ") || line.starts_with("! [") || is_range())
        || line.starts_with("- [deleted]")
}

/// Returns whether a simple command lands something, or prepares to: `git add`.
pub(super) fn lands(simple: &Simple<'_>) -> bool {
    let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
    kind::program(&words).starts_with(&["git", "add"]) || landing(simple).is_some()
}

/// Returns whether a simple command asks git how things stand.
pub(super) fn asks(simple: &Simple<'_>) -> bool {
    let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
    let words = kind::program(&words);
    words.first().is_some_and(|program| kind::base(program) == "git")
        && words.get(1).is_some_and(|what| ["status", "diff", "log", "show"].contains(what))
}

/// Returns whether a command line may commit, or put files or commits back. What it hands to another program counts where it may.
pub fn may_rework(command: &str) -> bool {
    let mentions = |word: &str| {
        word.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|said| REWORKS.contains(&said))
    };
    simples(command).iter().any(|simple| {
        let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
        match kind::program(&words) {
            [program, arguments @ ..] if kind::base(program) == "git" => {
                let mut takes_one = false;
                let mut named = arguments.iter().filter(|word| {
                    let is_value = std::mem::replace(&mut takes_one, VALUED.contains(word));
                    !is_value && !word.starts_with('-')
                });
                match (named.next(), named.next()) {
                    (Some(&"stash"), Some(&("list" | "show"))) => false,
                    (verb, _) => verb.is_some_and(|verb| REWORKS.contains(verb)),
                }
            }
            _ => words.iter().any(|word| word.contains("git")) && words.iter().any(|word| mentions(word)),
        }
    })
}

/// What git is told where it commits, or puts files or commits back.
const REWORKS: [&str; 10] =
    ["commit", "stash", "reset", "checkout", "restore", "rebase", "merge", "pull", "revert", "cherry-pick"];

/// Returns what a simple command lands, in words, where it does.
fn landing(simple: &Simple<'_>) -> Option<(String, Kind)> {
    let words: Vec<(&str, bool)> =
        simple.plain().into_iter().map(|word| (&*word.text, word.quoted)).collect();
    let plain: Vec<&str> = words.iter().map(|(text, _)| *text).collect();
    let skipped = plain.len() - kind::program(&plain).len();
    let mut rest = words[skipped..].iter().copied();
    let program = kind::base(rest.next()?.0).to_owned();
    let mut named = vec![program];
    // The command as it is told: its words in their order.
    let mut told = named.clone();
    let (mut flags, mut takes_one) = (Vec::new(), false);
    for (word, is_quoted) in rest {
        if std::mem::take(&mut takes_one) {
            continue;
        }
        let is_told = match word.starts_with('-') {
            true => {
                let makes_branch = MAKES_BRANCH.contains(&word)
                    && named.get(1).is_some_and(|verb| ["checkout", "switch", "worktree"].contains(&&**verb));
                takes_one = VALUED.contains(&word) && !makes_branch;
                flags.push(word);
                TOLD_FLAGS.contains(&word) || makes_branch
            }
            false if is_quoted || word.contains(['$', '\n']) => false,
            false => {
                named.push(word.to_owned());
                named.len() <= MOST_WORDS
            }
        };
        if is_told {
            told.push(word.to_owned());
        }
    }
    let of = |at: usize| named.get(at).map(String::as_str);
    let has = |all: &[&str]| flags.iter().any(|flag| all.contains(flag));
    let kind = match (of(0)?, of(1), of(2)) {
        ("git", Some("commit"), _) => Kind::Commit,
        ("git", Some("push"), _) => Kind::Push,
        ("git", Some("merge" | "rebase" | "cherry-pick" | "revert" | "pull"), _) => Kind::Merge,
        ("git", Some("reset"), _) if has(&["--hard", "--soft", "--mixed"]) => Kind::Reset,
        ("git", Some("tag"), Some(_)) if !flags.iter().any(|flag| asks_for_tags(flag)) => Kind::Tag,
        ("git", Some("checkout" | "switch"), Some(_)) if !plain.contains(&"--") => Kind::Branch,
        ("git", Some("worktree"), Some("add")) => Kind::Branch,
        ("git", Some("branch"), Some(_)) if has(&["-d", "-D", "--delete"]) => Kind::Delete,
        ("git", Some("worktree"), Some("remove")) => Kind::Delete,
        ("npm" | "pnpm" | "yarn" | "bun" | "cargo" | "poetry" | "uv", Some("publish"), _) => Kind::Publish,
        ("npm" | "pnpm" | "yarn" | "bun", Some("run"), Some("publish" | "release")) => Kind::Publish,
        ("twine", Some("upload"), _) => Kind::Publish,
        ("gh", Some("release"), Some("create" | "edit" | "delete" | "upload")) => Kind::Release,
        ("gh", Some("pr" | "issue"), Some("create" | "merge" | "close" | "reopen" | "ready")) => {
            Kind::Release
        }
        ("glab", Some("mr" | "release"), Some("create" | "merge" | "close")) => Kind::Release,
        _ => return None,
    };
    let is_dry = has(&["--dry-run", "--help", "-h", "--abort"]) || kind == Kind::Push && has(&["-n"]);
    (!is_dry).then(|| (told.join(" "), kind))
}

/// Whether with this flag `git tag` only lists tags.
fn asks_for_tags(flag: &str) -> bool {
    const LONG: [&str; 7] =
        ["--list", "--contains", "--no-contains", "--points-at", "--merged", "--sort", "--verify"];
    matches!(flag, "-l" | "-v") || flag.starts_with("-n") || LONG.iter().any(|long| flag.starts_with(long))
}

/// A command with none of these lands nothing.
const MAY_LAND: [&str; 16] = [
    "commit", "push", "merge", "rebase", "cherry-pick", "revert", "reset", " tag", "publish", "release",
    " pr ", "checkout", "switch", "worktree", " branch ", "pull",
];

/// What a line that tells of a refusal begins with.
const REFUSED: [&str; 11] = [
    "fatal: ",
    "! [",
    "CONFLICT ",
    "error: ",
    "nothing to commit",
    "npm ERR! ",
    "npm error ",
    "X ",
    "HTTP 4",
    "GraphQL: ",
    "pull request create failed",
];

/// What stands in a line with which a hook tells that it failed.
const TELLS_FAILURE: [&str; 5] = ["error", "failed", "Error", "FAILED", "exited with"];

/// How many of these are told.
const LAST_LINES: usize = 2;

/// Flags with a value of their own.
const VALUED: [&str; 18] = [
    "-m", "-am", "-F", "-C", "-t", "-b", "--title", "--body", "--body-file", "--message", "--notes",
    "--base", "--head", "--author", "--notes-file", "-R", "--repo", "-c",
];

/// Flags behind which git is told how to call a new branch.
const MAKES_BRANCH: [&str; 4] = ["-b", "-B", "-c", "-C"];

/// Flags that change what a command does.
const TOLD_FLAGS: [&str; 11] = [
    "-d", "-D", "--amend", "--hard", "--soft", "--force", "-f", "--force-with-lease", "--tags", "--delete",
    "--no-verify",
];

/// Words of a command that are told.
const MOST_WORDS: usize = 5;

/// Lines of an output that are told.
const MOST_LINES: usize = 3;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;
    use crate::each_act;

    fn lines(fixture: &str) -> Vec<String> {
        let said = transcript(fixture);
        let mut landings = Landings::default();
        each_act(said.entries(), |act| landings.take(act));
        landings.done().iter().map(Landing::line).collect()
    }

    #[test]
    fn what_landed_is_told_in_the_words_of_the_tool() {
        let told = lines(
            r#"
user: release it
assistant: !Bash#a {"command":"git add . && git commit -m \"Release v2\""}
tool#a!: Exit code 1
husky - pre-commit script failed (code 1)
assistant: !Bash#b {"command":"cd /w && git add . && git commit -m \"Release v2 -> main\""}
tool#b: [main 45ffe0a] Release v2
 4 files changed, 15 insertions(+)
assistant: !Bash#c {"command":"git tag v2.0.0"}
tool#c: Process exited with code 0
assistant: !Bash#d {"command":"git push origin main 2>&1 | tail -3; npm publish"}
tool#d!: To github.com:acme/relay
   17d213a..45ffe0a  main -> main
npm error code E401
assistant: !Bash#e {"command":"git push --dry-run; git log --oneline; echo git commit"}
tool#e: 45ffe0a..99999aa  main -> main
assistant: !Bash#f {"command":"npm run publish"}
tool#f!: npm error code 1
"#,
        );
        assert_eq!(
            told,
            [
                "git commit: [main 45ffe0a] Release v2 (m3)",
                "git tag v2.0.0: went well (m5)",
                "git push origin main: 17d213a..45ffe0a  main -> main (m7)",
                "npm publish: failed: npm error code E401 (m7)",
                "npm run publish: failed: npm error code 1 (m11)",
            ]
        );
    }

    #[test]
    fn each_act_of_a_script_has_its_own_lines() {
        let told = lines(
            r#"
user: go
assistant: !Bash#a {"command":"git commit -nm 'error: 3 tests failed, mended' && git tag v2 && git push origin main"}
tool#a!: [main 45ffe0a] error: 3 tests failed, mended
fatal: 'origin' does not appear to be a git repository
assistant: !Bash#b {"command":"git commit -m one; git commit -m two && git status"}
tool#b: [main 1111111] one
[main 2222222] two
nothing to commit, working tree clean
assistant: !Bash#c {"command":"git push origin v2"}
tool#c: * [new tag]         v2 -> v2
assistant: !Bash#d {"command":"git tag --contains 45ffe0a; git tag -n3 v2"}
tool#d: v2
assistant: !Bash#e {"command":"git tag -d v2"}
tool#e: Process exited with code 0
assistant: !Bash#f {"command":"git reset --hard origin/main"}
tool#f: HEAD is now at 45ffe0a Release
"#,
        );
        assert_eq!(
            told,
            [
                "git commit: [main 45ffe0a] error: 3 tests failed, mended (m1)",
                "git push origin main: failed: fatal: 'origin' does not appear to be a git repository (m1)",
                "git commit: [main 1111111] one (m3)",
                "git commit: [main 2222222] two (m3)",
                "git push origin v2: * [new tag]         v2 -> v2 (m5)",
                "git tag -d v2: went well (m9)",
                "git reset --hard origin/main: HEAD is now at 45ffe0a Release (m11)",
            ]
        );
    }

    #[test]
    fn a_branch_that_was_deleted_is_told_beside_the_one_that_was_switched_to() {
        let told = lines(
            r#"
user: switch to main and delete the stale branch
assistant: !Bash#a {"command":"git switch main && git branch -D fix/old-env && git remote prune origin && git branch --list"}
tool#a: Switched to branch 'main'
Your branch is behind 'origin/main' by 1 commit, and can be fast-forwarded.
Deleted branch fix/old-env (was 5bd477ba).
* main
assistant: !Bash#b {"command":"git pull"}
tool#b: Updating edd74935..93fc317e
Fast-forward
 a.rs | 2 +-
assistant: !Bash#c {"command":"git branch -d side; git branch -a"}
tool#c!: error: The branch 'side' is not fully merged.
"#,
        );
        assert_eq!(
            told,
            [
                "git switch main: Switched to branch 'main' (m1)",
                "git branch -D fix/old-env: Deleted branch fix/old-env (was 5bd477ba). (m1)",
                "git pull: Updating edd74935..93fc317e; Fast-forward (m3)",
                "git branch -d side: failed: error: The branch 'side' is not fully merged. (m5)",
            ]
        );
    }

    #[test]
    fn what_a_hook_prints_of_checks_that_passed_is_not_why_a_commit_failed() {
        let told = lines(
            r#"
user: commit
assistant: !Bash#a {"command":"git add . && git commit -m 'Add the relay'"}
tool#a!: Exit code 1
$ bun test src/
error: Item 3 failed
 12 pass
 0 fail
src/app.tsx:40:13 lint/unused  FIXABLE
error: script "lint" exited with code 1
husky - pre-commit script failed (code 1)
"#,
        );
        assert_eq!(
            told,
            [
                r#"git commit: failed: error: script "lint" exited with code 1; husky - pre-commit script failed (code 1) (m1)"#
            ]
        );
    }

    #[test]
    fn what_the_source_does_not_settle_is_not_told() {
        let told = lines(
            r#"
user: go
assistant: !Bash#a {"command":"git tag v3; make docs"}
tool#a!: make: *** [docs] Error 2
assistant: !Bash#b {"command":"git checkout -- src/a.rs"}
tool#b: Process exited with code 0
assistant: !shell#c {"command":"git push"}
tool#c: no more is shown
"#,
        );
        assert_eq!(told, [""; 0]);
    }
}
