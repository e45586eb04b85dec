//! On which branch the work stands, in git's words.

use super::{kind, landings::committed_to};
use crate::{Act, digest, script::simples};

/// A branch that git said is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// Ordinal of the message with the call that git was asked by.
    pub message: u64,
}

impl Branch {
    /// Returns the branch that the result of a call says is checked out, the last one where it says several.
    pub fn shown(act: &Act<'_>) -> Option<Branch> {
        let (_, result) = act.result?;
        let command = act.call.command().filter(|command| command.contains("git"))?;
        let script = simples(&command);
        let mut asks = Vec::new();
        for simple in &script {
            let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
            if let [program, told @ ..] = kind::program(&words)
                && kind::base(program) == "git"
            {
                asks.push(told.join(" "));
            }
        }
        if asks.is_empty() {
            return None;
        }
        let text = result.joined_text();
        let text = digest::cleaned(&text);
        let is_name_alone = script.len() == 1 && ASK_NAME.contains(&&*asks[0]);
        let lists = asks.iter().any(|told| *told == "branch" || told.starts_with("branch -"));
        let named = |line: &str| match () {
            () if is_name_alone => Some(line.to_owned()),
            () if lists && line.starts_with("* ") => line[2..].split(' ').next().map(str::to_owned),
            () => told_by(line).map(str::to_owned),
        };
        let name = text.lines().map(str::trim_end).rev().filter_map(named).find(|name| is_name(name))?;
        Some(Branch { name, message: act.message })
    }
}

/// Returns the branch that a line of git's names: `On branch main`, `Switched to a new branch 'fix'`, `[fix 45ffe0a] Mend it`.
fn told_by(line: &str) -> Option<&str> {
    let quoted = || line.split_once('\'')?.1.split_once('\'').map(|(name, _)| name);
    match line.strip_prefix("On branch ") {
        Some(name) => Some(name),
        None if ["Switched to ", "Already on "].iter().any(|start| line.starts_with(start)) => quoted(),
        None => committed_to(line),
    }
}

fn is_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '(' | ')' | ':' | '~' | '^');
    !name.is_empty() && name.len() <= LONGEST && name != "HEAD" && !name.contains(is_odd)
}

/// What git is told where it answers with the name and nothing else.
const ASK_NAME: [&str; 3] =
    ["branch --show-current", "rev-parse --abbrev-ref HEAD", "symbolic-ref --short HEAD"];

/// Bytes of the longest name that is told.
const LONGEST: usize = 120;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;
    use crate::each_act;

    fn shown(command: &str, answer: &str) -> Option<String> {
        let call = serde_json::json!({ "command": command });
        let said = transcript(&format!("user: go\nassistant: !bash#c1 {call}\ntool#c1: {answer}"));
        let mut found = None;
        each_act(said.entries(), |act| found = Branch::shown(act));
        found.map(|branch| branch.name)
    }

    #[test]
    fn git_says_which_branch_is_checked_out() {
        for (command, answer, name) in [
            ("cd /srv/relay && git status", "On branch fix/lock\n  nothing to commit", Some("fix/lock")),
            ("git checkout -b fix/lock", "Switched to a new branch 'fix/lock'", Some("fix/lock")),
            (
                "git switch main && git branch",
                "Switched to branch 'main'\n  fix/lock\n  * main",
                Some("main"),
            ),
            ("git commit -m x", "[release/2.0 45ffe0a] x\n   1 file changed", Some("release/2.0")),
            ("git commit -m x", "[main (root-commit) 45ffe0a] x", Some("main")),
            ("git branch --show-current", "fix/lock", Some("fix/lock")),
            ("git rev-parse --abbrev-ref HEAD", "HEAD", None),
            ("git status", "HEAD detached at 45ffe0a", None),
            ("git log", "commit 45ffe0a\n      On branch day", None),
            ("cat notes.md", "On branch day", None),
            ("git branch --show-current; pwd", "fix/lock\n  /srv", None),
        ] {
            assert_eq!(shown(command, answer).as_deref(), name, "{command}");
        }
    }
}
