//! The words of statements: as hashes, and what is known of each.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// Calls `each` with the hash of every telling word of `text`, in order: names of three letters or more, numbers of two
/// digits or more, pairs of characters in scripts without blanks. Case does not count.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(u32)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // The character before, where it is one of a script without blanks.
    let mut before: Option<char> = None;
    while let Some(&byte) = bytes.get(at) {
        let begun = at;
        if byte.is_ascii() {
            before = None;
            if IN_WORD[usize::from(byte)] == 0 {
                at += 1;
                continue;
            }
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            if is_wide(c) {
                if let Some(before) = before {
                    let mut pair = [0; 8];
                    let first = before.encode_utf8(&mut pair).len();
                    let second = c.encode_utf8(&mut pair[first..]).len();
                    each(hash(&pair[..first + second]));
                }
                before = Some(c);
                at += c.len_utf8();
                continue;
            }
            before = None;
            if !c.is_alphanumeric() {
                at += c.len_utf8();
                continue;
            }
        }
        at = match ascii_word(&bytes[begun..]) {
            Some((length, hash)) => {
                hash.into_iter().for_each(&mut each);
                begun + length
            }
            None => {
                let end = word_end(text, begun);
                word(&text[begun..end], &mut each);
                end
            }
        };
    }
}

/// Returns how long the word is that `bytes` begin with, and its hash where it is a telling one; `None` where a character is not
/// ASCII. Most words of any text are read here, once.
fn ascii_word(bytes: &[u8]) -> Option<(usize, Option<u32>)> {
    let (mut hash, mut length) = (START, 0);
    // The word without the marks that may stand inside it and end it.
    let mut whole = (START, 0);
    loop {
        let begun = length;
        while let Some(folded) =
            bytes.get(length).map(|byte| IN_WORD[usize::from(*byte)]).filter(|it| *it != 0)
        {
            hash = step(hash, folded);
            length += 1;
        }
        if length > begun {
            whole = (hash, length);
        }
        match bytes.get(length) {
            Some(mark @ (b'.' | b'-')) => hash = step(hash, *mark),
            Some(0x80..) => return None,
            _ => break,
        }
        length += 1;
    }
    let least = if bytes[0].is_ascii_digit() { 2 } else { 3 };
    Some((length, (whole.1 >= least).then_some(whole.0)))
}

/// Each byte of a word of ASCII in lower case; zero for all others.
const IN_WORD: [u8; 256] = {
    let mut folded = [0; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            folded[at] = byte.to_ascii_lowercase();
        }
        at += 1;
    }
    folded
};

/// Returns where the word ends that begins at `at`.
fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        let goes_on = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        at += bytes[at..].iter().take_while(goes_on).count();
        let next =
            if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) { text[at..].chars().next() } else { None };
        match next.filter(|c| c.is_alphanumeric() && !is_wide(*c)) {
            Some(c) => at += c.len_utf8(),
            None => return at,
        }
    }
}

fn word(word: &str, each: &mut impl FnMut(u32)) {
    let word = word.trim_end_matches(['.', '-']);
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    if word.len() < if is_number { 2 } else { 3 } {
        return;
    }
    match word.is_ascii() {
        true => each(hash_of(word.bytes().map(|byte| byte.to_ascii_lowercase()))),
        false => each(hash(word.to_lowercase().as_bytes())),
    }
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// FNV-1a: the same on every machine, and a word is short.
fn hash(bytes: &[u8]) -> u32 {
    hash_of(bytes.iter().copied())
}

pub(super) fn hash_of(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(START, step)
}

fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

const START: u32 = 0x811c_9dc5;

/// What is known of one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub(crate) struct Word {
    /// In how many statements it stands.
    pub(crate) statements: u32,
    /// In how many messages.
    pub(crate) messages: u32,
    /// The first message that has it.
    pub(crate) first: u32,
    /// The last one.
    pub(crate) last: u32,
    /// In how many messages the model says it in prose.
    pub(crate) said: u32,
    /// The last of these.
    pub(crate) last_said: Option<u32>,
    /// Whether a person says it.
    pub(crate) persons: bool,
}

/// A word as it is stored, in the order of its fields: there are many, and their names would be most of it.
type Stored = (u32, u32, u32, u32, u32, Option<u32>, bool);

impl From<Word> for Stored {
    fn from(word: Word) -> Stored {
        let Word { statements, messages, first, last, said, last_said, persons } = word;
        (statements, messages, first, last, said, last_said, persons)
    }
}

impl From<Stored> for Word {
    fn from((statements, messages, first, last, said, last_said, persons): Stored) -> Word {
        Word { statements, messages, first, last, said, last_said, persons }
    }
}

/// What is known of all words, bounded: beyond [`MOST`], those are forgotten that stood in one message long ago.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    known: HashMap<u32, Word>,
    /// How many statements were counted.
    pub(crate) statements: u32,
}

/// The most words that are held, in 5 MB.
const MOST: usize = 110_000;

/// As many more fit into a table of that size: more than one statement has.
const ROOM: usize = 4_000;

/// Where a statement stands, as far as its words are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    Person,
    Model,
    Other,
}

impl Words {
    /// Counts the words of one statement; each is given once.
    pub(crate) fn count(&mut self, words: &[u32], message: u32, voice: Voice) {
        self.statements = self.statements.saturating_add(1);
        for hash in words {
            let word = self.known.entry(*hash).or_insert(Word { first: message, ..Word::default() });
            if word.statements == 0 || word.last != message {
                word.messages += 1;
            }
            word.last = message;
            word.statements += 1;
            word.persons |= voice == Voice::Person;
            if voice == Voice::Model && word.last_said != Some(message) {
                word.said += 1;
                word.last_said = Some(message);
            }
        }
        if self.known.len() > MOST {
            self.forget();
        }
    }

    pub(crate) fn get(&self, hash: u32) -> Word {
        self.known.get(&hash).copied().unwrap_or_default()
    }

    /// Returns how rare a word is: the binary logarithm, in sixteenths, of statements for each that has it.
    pub(crate) fn rarity(&self, hash: u32) -> u32 {
        self.rarity_of(&self.get(hash))
    }

    /// Returns the same of a word that was looked up.
    pub(crate) fn rarity_of(&self, word: &Word) -> u32 {
        let all = log2_sixteenths(u64::from(self.statements.max(1)));
        all.saturating_sub(log2_sixteenths(u64::from(word.statements.max(1))))
    }

    /// Forgets the older half of the words that only one message has; where that is not enough, the older half of all.
    fn forget(&mut self) {
        let mut once: Vec<u32> =
            self.known.values().filter(|word| word.messages < 2).map(|word| word.last).collect();
        let all_once = once.len() > MOST / 4;
        if !all_once {
            once = self.known.values().map(|word| word.last).collect();
        }
        let middle = once.len() / 2;
        let (_, middle, _) = once.select_nth_unstable(middle);
        let middle = *middle;
        let stays = |word: &Word| word.last > middle || (all_once && word.messages > 1);
        // A table of its own: one that words were taken out of doubles when it fills again.
        let mut known = HashMap::with_capacity(MOST + ROOM);
        known.extend(self.known.drain().filter(|(_, word)| stays(word)));
        self.known = known;
    }

    /// Returns the hashes of all words, sorted.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.known.keys().copied().collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn from_stored(words: Vec<(u32, Word)>, statements: u32) -> Words {
        Words { known: words.into_iter().collect(), statements }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.known.allocation_size()
    }
}

/// Returns the binary logarithm of `n` (1 at least) in sixteenths, by whole numbers only: the same on every machine.
pub fn log2_sixteenths(n: u64) -> u32 {
    let n = n.max(1);
    let whole = n.ilog2();
    // The five bits after the first one, mapped through the curve's value at their place.
    let bits = if whole >= 5 { (n >> (whole - 5)) & 31 } else { (n << (5 - whole)) & 31 };
    whole * 16 + u32::from(CURVE[bits as usize])
}

/// 16 * log2(1 + i / 32), rounded.
const CURVE: [u8; 32] = [
    0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15,
    15, 16,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u32> {
        let mut all = Vec::new();
        each_word(text, |word| all.push(word));
        all
    }

    #[test]
    fn case_and_marks_do_not_count() {
        assert_eq!(words("Retry_Loop."), words("retry_loop is"));
        assert_eq!(words("at 42 of v2.1"), [words("42"), words("v2.1")].concat());
        assert_eq!(words("不要修改").len(), 3);
        assert!(words("a of to").is_empty());
    }

    #[test]
    fn a_word_of_ascii_is_read_in_one_pass_as_in_two() {
        for text in ["Foo-Bar.rs, and", "v1.2-", "a.b.", "ab", "x", "_", "___", "3", "42.", "4.", "END"] {
            let mut slow = Vec::new();
            let end = word_end(text, 0);
            word(&text[..end], &mut |hash| slow.push(hash));
            let fast = ascii_word(text.as_bytes()).map(|(end, hash)| (end, Vec::from_iter(hash)));
            assert_eq!(fast, Some((end, slow)), "{text}");
        }
        assert_eq!(ascii_word("naïve".as_bytes()), None);
        assert_eq!(words("naïve Relay—dial").len(), 3);
    }

    #[test]
    fn a_logarithm_is_near_enough() {
        for n in [1_u64, 2, 3, 7, 100, 1000, 123_456, 1 << 40] {
            let exact = (n as f64).log2() * 16.0;
            assert!(
                (f64::from(log2_sixteenths(n)) - exact).abs() <= 1.0,
                "{n}: {} for {exact}",
                log2_sixteenths(n)
            );
        }
    }

    #[test]
    fn the_table_is_bounded_and_keeps_what_comes_back() {
        let mut table = Words::default();
        table.count(&[7], 0, Voice::Person);
        table.count(&[7], 1, Voice::Model);
        for message in 0..3 * MOST as u32 {
            table.count(&[message.wrapping_mul(2_654_435_761) | 1 << 31], message + 2, Voice::Other);
        }
        assert!(table.sorted().len() <= MOST + 1);
        assert!(table.memory_bytes() < 6_000_000, "{}", table.memory_bytes());
        let word = table.get(7);
        assert!(word.persons && word.last_said == Some(1) && word.messages == 2, "{word:?}");
    }
}
