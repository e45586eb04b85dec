//! Compression: contents as zstd frames.

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
    // Our frames say how much they hold: one that lies about it, or holds too much, is unpacked no further than that.
    let held = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
    let held = usize::try_from(held).ok().filter(|held| *held <= LARGEST)?;
    zstd::bulk::decompress(packed, held).ok()
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
const LARGEST: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_unpacked_no_further_than_it_says_and_not_where_it_says_too_much() {
        let plain = "the same line\n".repeat(10_000).into_bytes();
        let packed = compress(&plain);
        assert_eq!(unpack(&packed).as_deref(), Some(&*plain));
        // The descriptor's first two bits are the width of the size, which begins behind it (RFC 8878, 3.1.1.1).
        assert_eq!(packed[4] >> 6, 2, "four bytes of size");
        for size in [plain.len() as u32 - 1, u32::MAX, (1 << 30) + 1] {
            let mut lies = packed.clone();
            lies[5..9].copy_from_slice(&size.to_le_bytes());
            assert_eq!(unpack(&lies), None, "{size}");
        }
    }
}
