//! The packed form of a vocabulary: 256 bytes, the single-byte tokens by id, and then six bytes for each further id: the
//! two tokens it is the merge of, 24 bits each, little endian; all ones for an id that is no token.
//!
//! `examples/codegen.rs` writes it; the build script expands it, or with the feature `small` the first count does.

use super::tables::Tables;

/// A packed vocabulary in `data/`.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The name of the file.
    #[allow(dead_code, reason = "for the build script")]
    pub(super) name: &'static str,
    /// The features that need it, as the build script sees them.
    #[allow(dead_code, reason = "for the build script")]
    pub(super) features: &'static [&'static str],
    /// Whole pieces are looked up among the tokens below this.
    pub(super) whole: u32,
}

/// All packed vocabularies. The first 50,256 tokens of p50k are r50k, so one set of tables serves both; whole pieces are
/// looked up among those that both have.
pub(super) const VOCABULARIES: [Vocabulary; 3] = [
    Vocabulary { name: "o200k", features: &["O200K"], whole: u32::MAX },
    Vocabulary { name: "cl100k", features: &["CL100K"], whole: u32::MAX },
    Vocabulary { name: "p50k", features: &["P50K"], whole: 50_256 },
];

const GAP: u32 = 0xFF_FFFF;

/// Returns the tables of a packed vocabulary, or `None` if it is none.
pub(super) fn expand(packed: &[u8], whole: u32) -> Option<Tables> {
    let (singles, merges) = packed.split_first_chunk()?;
    let merges: Vec<_> = merges
        .chunks_exact(6)
        .map(|merge| {
            let left = u32::from_le_bytes([merge[0], merge[1], merge[2], 0]);
            let right = u32::from_le_bytes([merge[3], merge[4], merge[5], 0]);
            (left != GAP).then_some((left, right))
        })
        .collect();
    Tables::new(singles, &merges, whole, &[])
}
