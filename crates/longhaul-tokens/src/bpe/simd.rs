//! What is done for many bytes or numbers at once: with AVX2 where the machine has it, else by words.

#![allow(
    unsafe_code,
    reason = "vector loads and the call into code for a newer machine, each with its argument"
)]

use super::window::{BYTES, Masks};

/// Numbers in a vector.
pub(super) const LANES: usize = 8;

/// Runs `body` as it is compiled for this machine, with the fastest means it has.
///
/// `body` is compiled once for each kind of machine, so that its own arithmetic uses the same instructions.
#[inline(always)]
pub(super) fn compiled_for_machine<B: Body>(body: B) -> B::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the features that the function is compiled for were all detected.
        return unsafe { x86::run(body) };
    }
    body.run(Portable)
}

/// What a machine can do at once.
pub(super) trait Machine: Copy {
    /// Returns the classes of the bytes of a window.
    fn classify(self, window: &[u8; BYTES]) -> Masks;
    /// Returns for each of `bits`, which are single ones, the set of bytes that have it.
    fn with_bits<const N: usize>(self, bytes: &[u8; BYTES], bits: [u8; N]) -> [u64; N];
    /// Returns the lowest of `numbers`, or all ones where there are none.
    fn lowest(self, numbers: &[[u32; LANES]]) -> u32;
}

/// Any machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

/// Has a place in memory fetched into the caches of the processor, where it can do that.
#[inline(always)]
pub(super) fn fetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: nothing is read, whatever the address is; the instruction is part of SSE, which x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(place).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// What is run on a machine. A trait and not a closure, so that it can be generic over the machine.
pub(super) trait Body {
    /// What it returns.
    type Output;
    /// Runs it. Must be `#[inline(always)]`, or it is not compiled for the machine that was detected.
    fn run(self, machine: impl Machine) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::*;

    /// A machine with the features of [`run`], which alone makes one.
    #[derive(Clone, Copy)]
    struct Avx2;

    impl Machine for Avx2 {
        #[inline(always)]
        fn classify(self, window: &[u8; BYTES]) -> Masks {
            // SAFETY: there is an `Avx2` only within `run`, where the features are there.
            unsafe { classify(window) }
        }

        #[inline(always)]
        fn with_bits<const N: usize>(self, bytes: &[u8; BYTES], bits: [u8; N]) -> [u64; N] {
            // SAFETY: as above.
            unsafe { with_bits(bytes, bits) }
        }

        #[inline(always)]
        fn lowest(self, numbers: &[[u32; LANES]]) -> u32 {
            // SAFETY: as above.
            unsafe { lowest(numbers) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn run<B: Body>(body: B) -> B::Output {
        body.run(Avx2)
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn lowest(numbers: &[[u32; LANES]]) -> u32 {
        let mut least = _mm256_set1_epi32(-1);
        for eight in numbers {
            // SAFETY: the reference is to 32 readable bytes, and the load is unaligned.
            let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
            least = _mm256_min_epu32(least, eight);
        }
        let four = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
        let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b10_11>(four));
        let one = _mm_min_epu32(two, _mm_shuffle_epi32::<0b01>(two));
        _mm_cvtsi128_si32(one) as u32
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn with_bits<const N: usize>(bytes: &[u8; BYTES], bits: [u8; N]) -> [u64; N] {
        let [low, high] = [load(bytes, 0), load(bytes, 32)];
        bits.map(|bit| {
            let bit = _mm256_set1_epi8(bit as i8);
            let has = |v| _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit)) as u32;
            u64::from(has(low)) | u64::from(has(high)) << 32
        })
    }

    /// Loads the half of a window that begins at `offset`, 0 or 32.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn load(window: &[u8; BYTES], offset: usize) -> __m256i {
        const { assert!(BYTES == 64) };
        let bytes: &[u8; 32] = if offset == 0 {
            window.first_chunk().expect("64 bytes have a first half")
        } else {
            window.last_chunk().expect("64 bytes have a last half")
        };
        // SAFETY: the reference is to 32 readable bytes, and the load is unaligned.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn classify(window: &[u8; BYTES]) -> Masks {
        let (low, high) = (half(window, 0), half(window, 32));
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Masks {
            letters: join(low.letters, high.letters),
            upper: join(low.upper, high.upper),
            digits: join(low.digits, high.digits),
            spaces: join(low.spaces, high.spaces),
            breaks: join(low.breaks, high.breaks),
            blank: join(low.blank, high.blank),
            apostrophes: join(low.apostrophes, high.apostrophes),
            slashes: join(low.slashes, high.slashes),
            beyond: join(low.beyond, high.beyond),
            later: join(low.later, high.later),
        }
    }

    struct Half {
        letters: u32,
        upper: u32,
        digits: u32,
        spaces: u32,
        breaks: u32,
        blank: u32,
        apostrophes: u32,
        slashes: u32,
        beyond: u32,
        later: u32,
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn half(window: &[u8; BYTES], offset: usize) -> Half {
        let v = load(window, offset);
        let all = |byte: u8| _mm256_set1_epi8(byte as i8);
        let bits = |v| _mm256_movemask_epi8(v) as u32;
        let is = |byte: u8| _mm256_cmpeq_epi8(v, all(byte));
        // Signed comparison after moving `last` to the top of the signed range: true for first..=last and no other.
        let within = |v, first: u8, last: u8| {
            _mm256_cmpgt_epi8(_mm256_add_epi8(v, all(127 - last)), all(127 - (last - first) - 1))
        };
        let blank = is(b' ');
        Half {
            letters: bits(within(_mm256_or_si256(v, all(0x20)), b'a', b'z')),
            // Among letters, capitals are those without bit 5: shifted into the sign bit, and turned.
            upper: !bits(_mm256_slli_epi16::<2>(v)),
            digits: bits(within(v, b'0', b'9')),
            spaces: bits(_mm256_or_si256(blank, within(v, b'\t', b'\r'))),
            breaks: bits(_mm256_or_si256(is(b'\n'), is(b'\r'))),
            blank: bits(blank),
            apostrophes: bits(is(b'\'')),
            slashes: bits(is(b'/')),
            beyond: bits(v),
            // As signed bytes, 0x80 to 0xBF are the lowest.
            later: bits(_mm256_cmpgt_epi8(all(0xC0), v)),
        }
    }
}

impl Machine for Portable {
    #[inline(always)]
    fn classify(self, window: &[u8; BYTES]) -> Masks {
        swar(window)
    }

    #[inline(always)]
    fn with_bits<const N: usize>(self, bytes: &[u8; BYTES], bits: [u8; N]) -> [u64; N] {
        let mut sets = [0; N];
        for (at, byte) in bytes.iter().enumerate() {
            for (set, bit) in sets.iter_mut().zip(bits) {
                *set |= u64::from(byte & bit != 0) << at;
            }
        }
        sets
    }

    #[inline(always)]
    fn lowest(self, numbers: &[[u32; LANES]]) -> u32 {
        let least =
            |all: [u32; LANES], eight: &[u32; LANES]| std::array::from_fn(|lane| all[lane].min(eight[lane]));
        numbers.iter().fold([u32::MAX; LANES], least).into_iter().fold(u32::MAX, u32::min)
    }
}

/// Classifies eight bytes in one word at a time, on any machine.
#[inline(always)]
fn swar(window: &[u8; BYTES]) -> Masks {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const fn all(byte: u8) -> u64 {
        byte as u64 * 0x0101_0101_0101_0101
    }
    let mut masks = Masks::default();
    for (at, bytes) in window.chunks_exact(8).enumerate() {
        let mut word = [0; 8];
        word.copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        let beyond = word & HIGH;
        let low = word & !HIGH;
        // Seven bits plus at most 128 stay in their byte; the high bit says whether the sum reached 128.
        let within = |word: u64, first: u8, last: u8| {
            (word + all(128 - first)) & !(word + all(127 - last)) & !beyond & HIGH
        };
        let is = |byte: u8| within(low, byte, byte);
        // Gathers the high bit of each byte: each is moved to its own place in the top byte.
        let bits = |set: u64| ((set >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
        let blank = is(b' ');
        masks.letters |= bits(within(low | all(0x20), b'a', b'z'));
        masks.upper |= bits(within(low, b'A', b'Z'));
        masks.digits |= bits(within(low, b'0', b'9'));
        masks.spaces |= bits(blank | within(low, b'\t', b'\r'));
        masks.breaks |= bits(is(b'\n') | is(b'\r'));
        masks.blank |= bits(blank);
        masks.apostrophes |= bits(is(b'\''));
        masks.slashes |= bits(is(b'/'));
        masks.beyond |= bits(beyond);
        masks.later |= bits(beyond & !(word << 1));
    }
    masks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Classify<'a>(&'a [u8; BYTES]);

    impl Body for Classify<'_> {
        type Output = Masks;
        #[inline(always)]
        fn run(self, machine: impl Machine) -> Masks {
            machine.classify(self.0)
        }
    }

    struct Lowest<'a>(&'a [[u32; LANES]]);

    impl Body for Lowest<'_> {
        type Output = u32;
        #[inline(always)]
        fn run(self, machine: impl Machine) -> u32 {
            machine.lowest(self.0)
        }
    }

    struct WithBits<'a>(&'a [u8; BYTES]);

    impl Body for WithBits<'_> {
        type Output = [u64; 3];
        #[inline(always)]
        fn run(self, machine: impl Machine) -> [u64; 3] {
            machine.with_bits(self.0, [1, 16, 128])
        }
    }

    fn check(window: &[u8; BYTES]) {
        let expected = Masks::scalar(window);
        for mut masks in [compiled_for_machine(Classify(window)), swar(window)] {
            masks.upper &= masks.letters;
            assert_eq!(masks, expected, "{window:?}");
        }
    }

    #[test]
    fn every_byte_at_every_place_is_classified_as_defined() {
        for byte in 0..=u8::MAX {
            for other in [b'a', b' ', 0, 0xFF] {
                for at in 0..BYTES {
                    let mut window = [other; BYTES];
                    window[at] = byte;
                    check(&window);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_window_is_classified_as_defined(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
            check(bytes[..].try_into().unwrap());
        }

        #[test]
        fn bits_are_found_in_every_byte(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
            let window: &[u8; BYTES] = bytes[..].try_into().unwrap();
            let having = |bit: u8| bytes.iter().rev().fold(0, |set, byte| set << 1 | u64::from(byte & bit != 0));
            let expected = [having(1), having(16), having(128)];
            prop_assert_eq!(compiled_for_machine(WithBits(window)), expected);
            prop_assert_eq!(Portable.with_bits(window, [1, 16, 128]), expected);
        }

        #[test]
        fn the_lowest_is_found_in_every_lane(numbers in prop::collection::vec(any::<[u32; LANES]>(), 0..20)) {
            let expected = numbers.iter().flatten().copied().min().unwrap_or(u32::MAX);
            prop_assert_eq!(compiled_for_machine(Lowest(&numbers)), expected);
            prop_assert_eq!(Portable.lowest(&numbers), expected);
        }
    }
}
