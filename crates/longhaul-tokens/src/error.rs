//! What can go wrong before anything is counted.

use std::path::PathBuf;

/// A counter could not be made, or data of this crate could not be read. Counting itself never fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The name is not one of the encodings.
    #[error("unknown encoding {name:?}; expected one of {expected}")]
    UnknownEncoding {
        /// The name that was given.
        name: String,
        /// The names there are.
        expected: String,
    },
    /// A line of a model table does not have the form that the table's own header describes.
    #[error("line {line} of the model table: {field} is {value:?}; expected {expected}")]
    ModelTable {
        /// The line, from 1.
        line: usize,
        /// The column's name.
        field: &'static str,
        /// What stands there.
        value: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A `tokenizer.json` could not be read, or is not one.
    #[error("{} is not a readable tokenizer: {reason}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        reason: String,
    },
}
