//! What several targets read from their input.

use std::sync::LazyLock;

use longhaul_wire::Format;

/// The formats that a first byte tells. `cargo xtask fuzz` reads the same list for its seeds.
pub static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    include_str!("formats.txt").lines().map(|name| name.parse().expect("the name of a format")).collect()
});

/// Returns the format that the first byte of an input tells, and the rest of it.
pub fn told(bytes: &[u8]) -> Option<(Format, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((FORMATS[usize::from(*first) % FORMATS.len()], rest))
}
