//! Sealing: what is kept, readable only with a key.
//!
//! Nothing here is drawn at random. A nonce is derived from the very bytes it seals (as in a synthetic-IV scheme), so
//! that no two different texts ever share one; the same bytes give the same ciphertext, which shows that they are equal
//! and nothing else. Contents are addressed by their hash, so equality is no secret in this store.

use std::fmt;

use chacha20poly1305::{
    KeyInit as AeadKeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::StoreError;

/// The key that a store is kept under: 32 bytes, from a file or the environment. It is never written, printed or sent.
#[derive(Clone)]
pub struct StoreKey([u8; KEY_BYTES]);

impl StoreKey {
    /// Returns the key that 32 random bytes are.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> StoreKey {
        StoreKey(bytes)
    }

    /// Reads a key as 64 hexadecimal digits, as `openssl rand -hex 32` prints them; white space around them is ignored.
    ///
    /// # Errors
    /// [`StoreError::Locked`] where `text` is anything else. The text is not repeated.
    pub fn parse(text: &str) -> Result<StoreKey, StoreError> {
        let digits = text.trim().as_bytes();
        let wrong = || StoreError::Locked { reason: "the key is not 64 hexadecimal digits" };
        let value = |digit: u8| char::from(digit).to_digit(16);
        let mut bytes = [0; KEY_BYTES];
        if digits.len() != 2 * KEY_BYTES {
            return Err(wrong());
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = value(pair[0]).zip(value(pair[1])).ok_or_else(wrong)?;
            *byte = (high << 4 | low) as u8;
        }
        Ok(StoreKey(bytes))
    }
}

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreKey(..)")
    }
}

/// Seals and opens under one key, and turns words into tokens that say nothing without it.
#[derive(Clone)]
pub(crate) struct Sealer {
    cipher: XChaCha20Poly1305,
    nonces: [u8; KEY_BYTES],
    words: [u8; KEY_BYTES],
    #[cfg(feature = "postgres")]
    contents: [u8; KEY_BYTES],
}

impl Sealer {
    /// Returns the sealer of a key. Each use has a key of its own, derived from it.
    pub(crate) fn new(key: &StoreKey) -> Sealer {
        let derived = |purpose: &str| prf(&key.0, &[b"longhaul store key", purpose.as_bytes()]);
        Sealer {
            cipher: AeadKeyInit::new(&derived("seal").into()),
            nonces: derived("nonce"),
            words: derived("words"),
            #[cfg(feature = "postgres")]
            contents: derived("contents"),
        }
    }

    /// Returns `plain` sealed with a key of its own, and that key, itself sealed with this one: without it the sealed
    /// value says nothing, and it can be destroyed by itself. The key is derived from the value, so that it cannot be
    /// made again but by who has the value.
    #[cfg(feature = "postgres")]
    pub(crate) fn seal_alone(&self, plain: &[u8]) -> SealedAlone {
        let key = prf(&self.contents, &[plain]);
        let body = Sealer::new(&StoreKey(key)).seal(ALONE, plain);
        SealedAlone { body, key: self.seal(ALONE, &key) }
    }

    /// Returns what [`seal_alone`](Self::seal_alone) sealed.
    #[cfg(feature = "postgres")]
    pub(crate) fn open_alone(&self, body: &[u8], key: &[u8]) -> Option<Vec<u8>> {
        let key = self.open(ALONE, key)?.try_into().ok()?;
        Sealer::new(&StoreKey(key)).open(ALONE, body)
    }

    /// Returns `plain` sealed: 24 bytes of nonce, the ciphertext, 16 bytes that authenticate it and `place`, where it
    /// stands: a ciphertext moved elsewhere does not open.
    pub(crate) fn seal(&self, place: &[u8], plain: &[u8]) -> Vec<u8> {
        let nonce = &prf(&self.nonces, &[place, plain])[..NONCE_BYTES];
        let mut sealed = nonce.to_vec();
        let payload = Payload { msg: plain, aad: place };
        let body = self.cipher.encrypt(XNonce::from_slice(nonce), payload);
        sealed.extend(body.expect("a content is far below the cipher's limit of 256 GiB"));
        sealed
    }

    /// Returns what was sealed at `place`; `None` where it is not what was written, or the key is another.
    pub(crate) fn open(&self, place: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_BYTES)?;
        self.cipher.decrypt(XNonce::from_slice(nonce), Payload { msg: body, aad: place }).ok()
    }

    /// Returns the token that stands for `word` in a search index.
    pub(crate) fn token(&self, word: &str) -> u64 {
        let digest = prf(&self.words, &[word.as_bytes()]);
        u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

/// A value with a key of its own.
#[cfg(feature = "postgres")]
#[derive(Clone, Debug)]
pub(crate) struct SealedAlone {
    /// The value, sealed with the key.
    pub(crate) body: Vec<u8>,
    /// The key, sealed.
    pub(crate) key: Vec<u8>,
}

/// Returns HMAC-SHA256 of `fields`, each with its length before it.
fn prf(key: &[u8; KEY_BYTES], fields: &[&[u8]]) -> [u8; KEY_BYTES] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for field in fields {
        mac.update(&(field.len() as u64).to_le_bytes());
        mac.update(field);
    }
    mac.finalize().into_bytes().into()
}

/// The place of what has a key of its own.
#[cfg(feature = "postgres")]
const ALONE: &[u8] = b"alone";

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealer(byte: u8) -> Sealer {
        Sealer::new(&StoreKey::from_bytes([byte; 32]))
    }

    #[test]
    fn a_key_is_64_digits_and_is_never_shown() {
        let key = StoreKey::parse(&format!(" {}\n", "0aF9".repeat(16))).unwrap();
        assert_eq!(key.0[..2], [0x0a, 0xf9]);
        assert_eq!(format!("{key:?} {:?}", Sealer::new(&key)), "StoreKey(..) Sealer(..)");
        for odd in ["", "0aF9", &"0".repeat(63), &"g".repeat(64), &"é".repeat(32)] {
            let error = StoreKey::parse(odd).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the store cannot be unlocked: the key is not 64 hexadecimal digits"
            );
        }
    }

    #[test]
    fn tokens_depend_on_the_key_and_the_word() {
        assert_eq!(sealer(1).token("word"), sealer(1).token("word"));
        assert_ne!(sealer(1).token("word"), sealer(2).token("word"));
        assert_ne!(sealer(1).token("word"), sealer(1).token("work"));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_value_with_a_key_of_its_own_needs_both() {
        let one = sealer(1).seal_alone(b"some words");
        let other = sealer(1).seal_alone(b"other words");
        assert_eq!(sealer(1).open_alone(&one.body, &one.key).unwrap(), b"some words");
        assert_eq!(sealer(1).open_alone(&one.body, &other.key), None);
        assert_eq!(sealer(2).open_alone(&one.body, &one.key), None);
        assert_eq!(sealer(1).open_alone(&one.body, b""), None);
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens_with_its_key_at_its_place_alone(plain: Vec<u8>, bit: usize) {
            let sealed = sealer(1).seal(b"here", &plain);
            prop_assert_eq!(sealer(1).open(b"here", &sealed), Some(plain.clone()));
            prop_assert_eq!(sealer(1).open(b"there", &sealed), None);
            prop_assert_eq!(sealer(2).open(b"here", &sealed), None);
            prop_assert!(plain.len() < 8 || !sealed.windows(plain.len()).any(|window| window == plain));
            let mut flipped = sealed.clone();
            let bit = bit % (flipped.len() * 8);
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(sealer(1).open(b"here", &flipped), None);
            prop_assert_eq!(sealer(1).open(b"here", &sealed[..sealed.len() - 1]), None);
        }
    }
}
