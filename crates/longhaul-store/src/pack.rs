//! Compression: contents as zstd frames.

use std::io::Read;

/// Returns `bytes` compressed, and true, where that is shorter.
#[cfg(feature = "sqlite")]
pub(crate) fn pack(bytes: &[u8]) -> (bool, Vec<u8>) {
    let packed = compress(bytes);
    if packed.len() < bytes.len() { (true, packed) } else { (false, bytes.to_vec()) }
}

/// Returns `bytes` as a zstd frame.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, LEVEL).unwrap_or_else(|_| bytes.to_vec())
}

/// Returns `bytes`, many contents, as a zstd frame. One that stays may take longer than one that is soon joined by more.
#[cfg(feature = "sqlite")]
pub(crate) fn compress_block(bytes: &[u8], stays: bool) -> Vec<u8> {
    let level = if stays { BLOCK_LEVEL } else { OPEN_BLOCK_LEVEL };
    zstd::bulk::compress(bytes, level).unwrap_or_else(|_| bytes.to_vec())
}

/// Returns what a frame holds; `None` where it is none.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    // The one bit of a frame's header that zstd writes as zero and does not read (RFC 8878, 3.1.1.1.1).
    if packed.get(4)? & 0x10 != 0 {
        return None;
    }
    let mut bytes = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(packed).ok()?;
    decoder.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Compression level of zstd; measured in `docs/reliability.md`.
const LEVEL: i32 = 3;

/// Compression level of full blocks.
#[cfg(feature = "sqlite")]
const BLOCK_LEVEL: i32 = 6;

/// Compression level of a block that is written anew with each few messages, until it is full.
#[cfg(feature = "sqlite")]
const OPEN_BLOCK_LEVEL: i32 = 1;

/// The largest content that is unpacked, in bytes: a damaged one must not fill the memory.
const LARGEST: u64 = 1 << 30;
