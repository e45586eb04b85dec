//! What was really committed, pushed and published, whatever was proposed: the last of it, in the words of the tools.

use longhaul_extract::{Branch, Landing, Landings, each_act};
use longhaul_transcript::{Entry, Tokens};

use super::{
    acts::{Acts, brief},
    fixed::Fixed,
    heading::Heading,
    lines::fenced,
};

impl Fixed<'_> {
    /// The last commits, tags, pushes and releases, and what was edited after the last commit.
    pub(super) fn landings(&mut self, acts: &Acts) {
        let mut later = Landings::default();
        let mut is_shown_below = false;
        each_act(self.request.tail_beside_entries(), |act| {
            later.take(act);
            is_shown_below |= Branch::shown(act).is_some();
        });
        let mut all = acts.landings.clone();
        all.extend(later.done());
        let mut left = self.room(self.options.state_share * 2.0);
        let mut lines: Vec<String> = Vec::new();
        if let Some(line) = uncommitted(acts, &all) {
            left -= self.cost(&line) + Tokens(1);
            lines.push(line);
        }
        for landing in all.iter().rev().filter(|landing| !self.is_below(landing)).take(MOST) {
            let line = brief(&landing.line());
            let cost = self.cost(&line) + Tokens(1);
            if cost > left {
                break;
            }
            left -= cost;
            lines.push(line);
        }
        lines.reverse();
        if let Some(branch) = acts.branch.as_ref().filter(|_| !is_shown_below) {
            let line = format!("branch: {} (m{})", branch.name, branch.message);
            let is_told = lines.iter().any(|line| names(line, &branch.name));
            let fits = self.cost(&line) + Tokens(1) <= left;
            match lines.is_empty() {
                true if fits && !USUAL.contains(&&*branch.name) => self.add(Heading::Branch, line),
                false if fits && !is_told => lines.insert(0, line),
                _ => {}
            }
        }
        if !lines.is_empty() {
            self.add(Heading::Landed, fenced(lines.join("\n")));
        }
    }

    /// Returns whether what came of it stays after the summary, whole.
    fn is_below(&self, landing: &Landing) -> bool {
        let is_its = |entry: &&Entry| entry.id.ordinal == landing.answered;
        let was = || self.request.tail_beside_entries().iter().chain(self.request.entries).find(is_its);
        let kept = self.request.kept.iter().find(is_its);
        kept.is_some_and(|kept| was().is_none_or(|was| was.message == kept.message))
    }
}

/// Returns a line of the files that were edited after the last commit, or after all that stood there was thrown away; `None` where a
/// later command may have committed or put back some of it without a word.
fn uncommitted(acts: &Acts, landings: &[Landing]) -> Option<String> {
    let last = landings.iter().rev().find(|landing| landing.commits() || landing.throws_away())?;
    if acts.reworked.is_some_and(|at| at > last.message) {
        return None;
    }
    let named = acts.edited_since(last.message)?;
    let after = if last.commits() { "the last commit" } else { "the last reset" };
    Some(format!("edited after {after} (m{}): {named}", last.message))
}

/// Returns whether a line names a branch.
fn names(line: &str, branch: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '\'')).any(|word| word == branch)
}

/// Branches that say nothing where nothing else is told.
const USUAL: [&str; 2] = ["main", "master"];

/// How many are told, the newest.
const MOST: usize = 8;
