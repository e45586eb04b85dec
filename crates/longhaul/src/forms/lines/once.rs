//! What is told once, and not with each repetition.

use std::collections::{BTreeSet, HashMap};

use longhaul_extract::statement_form;

use super::line::{Line, Rank};

/// Returns each line once, where it stands last; what is needed longest where it stands first.
pub(super) fn once(lines: Vec<Line>) -> Vec<Line> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<bool> = vec![false; lines.len()];
    let newest = (0..lines.len()).rev().filter(|at| lines[*at].rank > Rank::Rule);
    for at in (0..lines.len()).filter(|at| lines[*at].rank <= Rank::Rule).chain(newest) {
        kept[at] = seen.insert(lines[at].text.as_str());
    }
    drop(seen);
    lines.into_iter().zip(kept).filter_map(|(line, kept)| kept.then_some(line)).collect()
}

/// Returns the lines without questions that a few newer ones repeat but for their numbers.
pub(super) fn without_repetitions(mut lines: Vec<Line>) -> Vec<Line> {
    let mut told: HashMap<u32, usize> = HashMap::new();
    let mut is_new = |line: &Line| {
        let form = statement_form(&line.text).filter(|_| line.rank == Rank::Question);
        let count = form.map(|form| told.entry(form).or_default());
        count.is_none_or(|count| {
            *count += 1;
            *count <= MOST_ALIKE
        })
    };
    let mut kept: Vec<bool> = lines.iter().rev().map(&mut is_new).collect();
    lines.retain(|_| kept.pop().unwrap_or(true));
    lines
}

/// So many questions are told that differ only in their numbers.
const MOST_ALIKE: usize = 3;
