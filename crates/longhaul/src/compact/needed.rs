//! How much each line of a tool's output is needed, by the rule that picks statements for the summary.

use std::collections::HashMap;

use longhaul_extract::{FactIndex, StatementKind, statement_key};

/// The statements of tools' outputs by their keys, each with how likely it is needed.
#[derive(Clone, Debug, Default)]
pub struct Needed(HashMap<u32, i32>);

impl Needed {
    /// Weighs the statements that `index` holds.
    pub fn new(index: &FactIndex) -> Needed {
        let pool = index.statements();
        let ranked = pool.all().iter().zip(pool.rank(None));
        let shown = ranked.filter(|(statement, _)| statement.kind == StatementKind::Result);
        Needed(shown.map(|(statement, needed)| (statement.key(), needed)).collect())
    }

    /// Returns what a line is worth beside the digest's own rules, from 0 to 7.
    pub fn worth(&self, line: &str) -> f64 {
        let needed = self.0.get(&statement_key(line)).map_or(LEAST, |needed| f64::from(*needed));
        ((needed - LEAST) / (BEST - LEAST)).clamp(0.0, 1.0) * MOST
    }
}

/// Logarithms of probabilities, in thousandths, from which on a line is worth something, and everything.
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
}
