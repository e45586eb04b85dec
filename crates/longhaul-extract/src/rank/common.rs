//! Names that everyone knows: `README.md`, `--oneline`, `console.log`.

use std::sync::LazyLock;

use hashbrown::HashSet;

/// Returns whether `name` stands in so many public projects that nobody needs to be told it.
pub(super) fn is_common(name: &str) -> bool {
    COMMON.contains(name)
}

/// Names in four or more of 66 public repositories, and plain words in five or more: the background frequencies of the measure in
/// `docs/recall.md`, cut off where it gives no weight.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("common_names.txt").lines().chain(include_str!("common_words.txt").lines()).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_project_has_is_common() {
        assert!(is_common("README.md") && is_common("--help"));
        assert!(!is_common("crates/longhaul-extract/src/rank.rs"));
    }
}
