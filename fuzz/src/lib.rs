//! What several targets read from their input.

use std::sync::LazyLock;

use longhaul_wire::Format;

/// The formats that a first byte tells: those that can be written, in their order.
pub static FORMATS: LazyLock<Vec<Format>> =
    LazyLock::new(|| Format::ALL.into_iter().filter(|format| !format.is_import_only()).collect());

/// Returns the format that the first byte of an input tells, and the rest of it.
pub fn told(bytes: &[u8]) -> Option<(Format, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((FORMATS[usize::from(*first) % FORMATS.len()], rest))
}
