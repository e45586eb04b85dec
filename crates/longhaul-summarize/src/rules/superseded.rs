//! What commands printed that is told by other means, or held only until something came after it.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Landings, Run, Runs, Verdict, each_act};

use super::{acts::Acts, anew::ordinal};
use crate::SummaryRequest;

/// Messages of whose commands and outputs nothing is quoted.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Those with the calls.
    pub(super) asking: HashSet<u32>,
    /// Those with the results.
    pub(super) answering: HashSet<u32>,
}

/// Returns the messages of whose commands nothing is quoted: checks and commits are told by how they went, and what a command showed
/// of the tree holds until the next commit.
pub(super) fn told_otherwise(request: &SummaryRequest<'_>, acts: &Acts) -> Told {
    let (mut runs, mut landings) = (Runs::default(), Landings::default());
    each_act(request.tail_beside_entries(), |act| {
        runs.take(act);
        landings.take(act);
    });
    let later = runs.done();
    let runs: Vec<&Run> = acts.runs.iter().chain(&later).collect();
    let after = landings.done();
    let landings = || acts.landings.iter().chain(&after);
    // Where no exit code is stated, what landed says so itself.
    let mut landed: HashMap<u64, bool> = HashMap::new();
    for landing in landings() {
        *landed.entry(landing.message).or_insert(true) &= landing.verdict == Verdict::Passed;
    }
    let commits = landings().filter(|landing| landing.commits());
    let committed = commits.map(|landing| landing.message).max().unwrap_or_default();
    // The last run of each check that passed.
    let mut passed: HashMap<&str, u64> = HashMap::new();
    for run in runs.iter().filter(|run| run.verdict == Verdict::Passed) {
        passed.insert(&run.heart, run.message);
    }
    let is_old = |run: &Run| {
        let passed_since = || passed.get(run.heart.as_str()).is_some_and(|at| *at > run.message);
        run.asks_git() && run.message < committed || run.only_reports() && passed_since()
    };
    let (mut asking, mut answering) = (HashMap::new(), HashMap::new());
    for run in runs {
        let is_old = is_old(run);
        *asking.entry(ordinal(run.message)).or_insert(true) &= run.only_reports() || is_old;
        if let Some(answered) = run.answered {
            // What a check beside it came to is not said by what landed.
            let has_landed = run.verdict == Verdict::Unknown
                && run.checks.is_empty()
                && landed.get(&run.message) == Some(&true);
            let says_no_more = (run.verdict == Verdict::Passed || has_landed) && run.only_reports();
            *answering.entry(ordinal(answered)).or_insert(true) &= says_no_more || is_old;
        }
    }
    Told { asking: all_of(asking), answering: all_of(answering) }
}

fn all_of(messages: HashMap<u32, bool>) -> HashSet<u32> {
    messages.into_iter().filter(|(_, is_so)| *is_so).map(|(at, _)| at).collect()
}
