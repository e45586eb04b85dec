//! Digests: what matters of a tool's output, within a number of tokens.

mod clean;
mod fit;
mod lines;
mod listing;
mod matches;
mod patterns;
mod records;
mod registry;
mod render;
mod shape;
mod shell;
mod source;

pub(crate) use clean::{clean as cleaned, is_numbered, strip_line_number};
pub use fit::Allowance;
pub(crate) use matches::parse_matches;
pub use registry::{Extractor, Registry, digest, summarize_tool_result};
pub(crate) use render::clip;
pub use shell::{ShellOutcome, TestCounts, is_wrapper, read_shell};
pub(crate) use shell::{count_line, exit_code as stated_code, read_lines};
pub use source::Source;
