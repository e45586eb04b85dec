//! How much each line of a tool's output is needed, by the rule that picks statements for the summary.

use std::collections::HashMap;

use longhaul_extract::{FactIndex, StatementKind, statement_key};

/// The statements of tools' outputs by their keys, each with how likely it is needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed(HashMap<u32, i32>);

impl Needed {
    /// Weighs the statements that `index` holds.
    pub(crate) fn new(index: &FactIndex) -> Needed {
        let pool = index.statements();
        let ranked = pool.all().iter().zip(pool.rank(None));
        let shown = ranked.filter(|(statement, _)| statement.kind == StatementKind::Result);
        let mut by_key = HashMap::new();
        for (statement, needed) in shown {
            // What was said before is ranked low where it is repeated, and is needed once.
            let most = by_key.entry(statement.key()).or_insert(needed);
            *most = needed.max(*most);
        }
        Needed(by_key)
    }

    /// Returns what a line is worth beside the digest's own rules, from 0 to 7.
    pub(crate) fn worth(&self, line: &str) -> f64 {
        let needed = self.0.get(&statement_key(line)).map_or(LEAST, |needed| f64::from(*needed));
        ((needed - LEAST) / (BEST - LEAST)).clamp(0.0, 1.0) * MOST
    }
}

/// Logarithms of probabilities, in thousandths, from which on a line is worth something, and everything: one in 150, and
/// three in five. Of values tried these, with [`MOST`], kept most of what was asked for afterwards in whole contexts of
/// 4,000 tokens (0.771 of it, 0.760 without).
const LEAST: f64 = -5000.0;
const BEST: f64 = -500.0;

/// What the most needed line is worth: a plain one then stands beside a failure.
const MOST: f64 = 7.0;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn a_line_is_worth_what_its_statement_is() {
        let said = transcript(
            "user: why is it slow?\nassistant: !bash#c1 {\"command\":\"cat NOTES.md\"}\ntool#c1: The cache must never be shared between the two workers of a pool.\nassistant: The cache is shared between the workers.",
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let needed = Needed::new(&index);
        let known = needed.worth("  The cache must never be shared between the two workers of a pool.");
        assert!(known > 0.0 && known <= MOST, "{known}");
        assert_eq!(needed.worth("A line that no tool has shown."), 0.0);
    }

    #[test]
    fn a_statement_that_is_repeated_is_worth_what_it_was_at_its_best() {
        let mut index = FactIndex::new();
        let lines = [
            "The cache must never be shared between the two workers of a pool.",
            "The port 8423 is taken by another process.",
            "Timeouts are set to 30 seconds in config/prod.toml.",
            "Nothing was found.",
        ];
        let mut said = String::from("user: why is it slow?\n");
        for nth in 0..6 {
            let shown = lines.map(|line| format!("{line}\n")).concat();
            said +=
                &format!("assistant: !bash#c{nth} {{\"command\":\"cat NOTES.md\"}}\ntool#c{nth}: {shown}\n");
        }
        transcript(said.trim_end()).entries().iter().for_each(|entry| index.push(entry));
        let (needed, pool) = (Needed::new(&index), index.statements());
        let mut n_lower = 0;
        for (statement, rank) in pool.all().iter().zip(pool.rank(None)) {
            if statement.kind == StatementKind::Result {
                assert!(needed.0[&statement.key()] >= rank, "{}", statement.text);
                n_lower += usize::from(needed.0[&statement.key()] > rank);
            }
        }
        assert!(n_lower > 0, "none was ranked lower where it was repeated");
    }
}
