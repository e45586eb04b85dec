//! Comparisons with peers, the reader test, and the measure of future-reference recall.
#![forbid(unsafe_code)]

pub mod answers;
pub mod claims;
pub mod fitting;
pub mod reader;
pub mod recall;
pub mod soak;
pub mod speech;
/// Statements, true and false, put into a model's mouth.
pub mod statements;
pub mod tokens;

/// Returns what Linux says of this process under `name`, as `VmRSS:`, in kilobytes; elsewhere there is none.
pub fn process_kilobytes(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
