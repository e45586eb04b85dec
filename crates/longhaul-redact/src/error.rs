//! What can be wrong with a rule file.

/// A rule file cannot be used. Texts and messages never cause an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The file is not TOML in the shape of gitleaks' configuration.
    #[error("not a rule file: {reason}; expected TOML with [[rules]] of id, regex and keywords")]
    RuleFile {
        /// What the parser says, with line and column.
        reason: String,
    },
    /// A rule's expression does not compile.
    #[error("the expression of rule `{rule}` is not valid: {reason}")]
    Expression {
        /// The rule's id, or `allowlist`.
        rule: String,
        /// What the compiler says.
        reason: String,
    },
}
