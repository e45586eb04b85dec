//! Texts made up fast: a million a minute, where proptest makes thousands.

/// Makes up texts, the same for the same seed.
pub(crate) struct Generator(u64);

/// What the patterns tell apart, several of each kind.
const PARTS: [&[&str]; 12] = [
    &["a", "the", "word", "getName", "HTTPServer", "internationalization", "I", "xY", "ab", "Zz"],
    &[" ", " ", " ", "  ", "   ", "\t", " \t ", "        "],
    &["\n", "\r\n", "\n\n", "\r", "\n \n", "\n    ", " \n", "\n\t\n "],
    &["1", "42", "007", "1234", "65536", "31415926535"],
    &[".", ",", "{", "}", "()", "\":\"", "--", "===", "->", "</", "//", "!?", "\\n", "_", "#"],
    &["'s", "'LL", "'ve", "'d", "'re", "'x", "'", "’s", "'ſ", "'l", "''t"],
    &["/", "\n/", ".\n/", "/\r\n", "!\n\n/"],
    &["é", "ß", "É", "дом", "ДОМ", "Ω", "ñandú", "ǅ", "ʰ", "ﬁ", "K"],
    &["日本語", "です", "한글", "中", "。", "、", "「", "ー"],
    &["مرحبا", "नमस्ते", "ไทย", "\u{94d}", "\u{301}", "\u{fe0f}", "e\u{301}", "שלום"],
    &["🦀", "👩‍💻", "€", "→", "\u{200b}", "\u{feff}", "\u{fffd}", "①", "½", "٣", "Ⅷ"],
    &["\u{a0}", "\u{2028}", "\u{3000}", "\u{85}", "\u{b}", "\u{c}", "\u{0}", "\u{1f}", "\u{7f}"],
];

/// How often each of [`PARTS`] is taken, of the sum.
const SHARES: [u64; 12] = [12, 9, 4, 4, 6, 3, 1, 3, 2, 2, 2, 2];

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        Generator(seed)
    }

    /// Returns the next number below `end` (SplitMix64).
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    fn part(&mut self) -> &'static str {
        let total: u64 = SHARES.iter().sum();
        let mut left = self.below(total as usize) as u64;
        for (part, share) in PARTS.iter().zip(SHARES) {
            if left < share {
                return part[self.below(part.len())];
            }
            left -= share;
        }
        ""
    }

    /// Fills `text` with a text of up to three windows: mostly mixed parts, sometimes one part again and again up to an
    /// edge and then mixed ones, sometimes characters of all of Unicode.
    pub(crate) fn text(&mut self, text: &mut String) {
        text.clear();
        let length = [20, 60, 64, 68, 128, 132, 190][self.below(7)] + self.below(16);
        let kind = self.below(8);
        if kind == 0 {
            let part = self.part();
            let until = 64 * (1 + self.below(2)) - self.below(8);
            while !part.is_empty() && text.len() < until {
                text.push_str(part);
            }
        }
        while text.len() < length {
            match kind {
                1 => text.push(self.character()),
                2 if self.below(4) == 0 => text.push(self.character()),
                _ => text.push_str(self.part()),
            }
        }
    }

    /// Fills `bytes` with printable text in which some bytes are any.
    pub(crate) fn bytes(&mut self, bytes: &mut Vec<u8>) {
        bytes.clear();
        let length = 50 + self.below(90);
        let rarity = [1, 4, 20][self.below(3)];
        while bytes.len() < length {
            match self.below(rarity) {
                0 => bytes.push(self.below(256) as u8),
                _ => bytes.extend_from_slice(self.part().as_bytes()),
            }
        }
    }

    /// Returns a character: of ASCII, of the first blocks, or of all.
    fn character(&mut self) -> char {
        let end = [0x80, 0x800, 0x3100, 0x1_0000, 0x11_0000][self.below(5)];
        char::from_u32(self.below(end) as u32).unwrap_or('\u{d7ff}')
    }
}
