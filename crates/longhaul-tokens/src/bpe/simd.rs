//! The classes of 64 bytes at once: with AVX2 where the machine has it, else eight bytes in a word.

#![allow(
    unsafe_code,
    reason = "vector loads and the call into code for a newer machine, each with its argument"
)]

use super::window::{BYTES, Masks};

/// Runs `body` as it is compiled for this machine, with the fastest classifier it has.
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
    body.run(swar)
}

/// What is run with a classifier. A trait and not a closure, so that it can be generic over the classifier.
pub(super) trait Body {
    /// What it returns.
    type Output;
    /// Runs it. Must be `#[inline(always)]`, or it is not compiled for the machine that was detected.
    fn run(self, classify: impl Fn(&[u8; BYTES]) -> Masks) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::*;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn run<B: Body>(body: B) -> B::Output {
        body.run(|window| classify(window))
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn classify(window: &[u8; BYTES]) -> Masks {
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
        const { assert!(BYTES == 64) };
        let bytes: &[u8; 32] = if offset == 0 {
            window.first_chunk().expect("64 bytes have a first half")
        } else {
            window.last_chunk().expect("64 bytes have a last half")
        };
        // SAFETY: the reference is to 32 readable bytes, and the load is unaligned.
        let v = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
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
        fn run(self, classify: impl Fn(&[u8; BYTES]) -> Masks) -> Masks {
            classify(self.0)
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
    }
}
