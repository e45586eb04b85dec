//! The scanner: one pass over the text, alternatives in a fixed order at each word's start.

use std::borrow::Cow;

use super::{
    Atom, AtomKind, is_known_extension,
    path::{classify, component, path_end},
    word_char,
};

/// Calls `each` with every literal of `text`, in order of appearance; literals do not overlap.
///
/// Runs of `LONG_RUN` characters and more without blanks or quotes (base64 and the like) hold none. Linear in the
/// length of the text.
pub fn scan<'t>(text: &'t str, mut each: impl FnMut(Atom<'t>)) {
    for (offset, piece) in unblanked(text) {
        let mut scanner =
            Scanner { text: piece, bytes: piece.as_bytes(), run_end: 0, run_leads: false, no_file_before: 0 };
        scanner.run(|raw_start, raw_end, kind| {
            if let Some((text, kind)) = accept(&piece[raw_start..raw_end], kind) {
                each(Atom { text, kind, at: offset + raw_start });
            }
        });
    }
}

/// Characters in a row without blank, quote, bracket, comma or semicolon from which on they are taken for encoded data.
pub(super) const LONG_RUN: usize = 240;

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Up to here the run of path characters is known, and whether a separator and another component follow it. A
    /// path begins at the start of a run or nowhere in it, which keeps the scan linear.
    run_end: usize,
    run_leads: bool,
    /// Before this no file name begins: the chain of dotted names up to here was searched without success.
    no_file_before: usize,
}

/// A word: its end, and what it is made of.
#[derive(Clone, Copy)]
struct Shape {
    end: usize,
    /// Bits: [`LOWER`], [`UPPER`], [`DIGIT`], [`UNDERSCORE`], [`OTHER`].
    made_of: u8,
}

impl Shape {
    fn has(self, bits: u8) -> bool {
        self.made_of & bits != 0
    }
}

impl<'t> Scanner<'t> {
    fn run(&mut self, mut found: impl FnMut(usize, usize, AtomKind)) {
        let (bytes, text) = (self.bytes, self.text);
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            let class = CLASS[byte as usize];
            if class == SKIP {
                at += 1;
                continue;
            }
            let shape = self.shape(at);
            if class == WORD && self.is_closed(shape) {
                let found_here = self.of_shape(at, shape).filter(|_| !word_before(text, at));
                if let Some((end, kind)) = found_here {
                    found(at, end, kind);
                }
                at = found_here.map_or(shape.end, |(end, _)| end);
                continue;
            }
            let word = match class {
                WORD => 1,
                WIDE => match word_char(text, at) {
                    Some(length) => length,
                    None => {
                        at += char_length(byte);
                        continue;
                    }
                },
                _ => 0,
            };
            if word == 0 {
                match self.at_mark(at) {
                    Some((end, kind)) => {
                        found(at, end, kind);
                        at = end;
                    }
                    None => at += 1,
                }
                continue;
            }
            if let Some((end, kind)) = self.anywhere(at) {
                found(at, end, kind);
                at = end;
                continue;
            }
            if word_before(text, at) {
                // The rest of a word whose start was consumed by another literal.
                at += word;
                continue;
            }
            if let Some((end, kind)) = self.at_word(at, shape) {
                found(at, end, kind);
                at = end;
                continue;
            }
            // Inside the word only an address or a drive letter can begin.
            let next = self.inner_start(at, shape.end).unwrap_or(shape.end);
            at = next.max(at + word);
        }
    }

    /// Returns whether nothing goes on behind a word: it is a literal by itself or none, and no path, address or other chain has
    /// it. Most words of any text are such, and need no further look.
    fn is_closed(&self, word: Shape) -> bool {
        let goes_on = |byte: u8| CLASS[usize::from(byte)] != SKIP;
        !word.has(OTHER)
            && match self.bytes.get(word.end) {
                None => true,
                Some(b':') => {
                    !self.bytes.get(word.end + 1).is_some_and(|next| goes_on(*next) || *next == b':')
                }
                Some(byte) => !goes_on(*byte),
            }
    }

    /// Literals that begin with a punctuation mark.
    fn at_mark(&mut self, at: usize) -> Option<(usize, AtomKind)> {
        let bytes = self.bytes;
        if let Some(end) = self.path(at) {
            return Some((end, AtomKind::Path));
        }
        match bytes[at] {
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                let free = !word_before(self.text, at) && (at == 0 || bytes[at - 1] != b'-');
                let lower = bytes.get(at + 2).is_some_and(u8::is_ascii_lowercase);
                let end = self.hyphenated_end(at + 2);
                (free && lower && end > at + 3).then_some((end, AtomKind::Flag))
            }
            b'#' => {
                let start = at + 1 + usize::from(bytes.get(at + 1).is_some_and(u8::is_ascii_uppercase));
                let end = self.digits_end(start);
                let fits = (1..=10).contains(&(end - start)) && !self.is_word_at(end);
                fits.then_some((end, AtomKind::Ticket))
            }
            b'$' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let mut end = at + 1;
                while bytes.get(end).is_some_and(|byte| byte.is_ascii_digit() || *byte == b',') {
                    end += 1;
                }
                Some((self.decimals_end(end), AtomKind::Number))
            }
            _ => None,
        }
    }

    /// Literals that need no word boundary before them.
    fn anywhere(&mut self, at: usize) -> Option<(usize, AtomKind)> {
        if self.bytes[at] == b'h'
            && let Some(end) = self.url(at)
        {
            return Some((end, AtomKind::Url));
        }
        if !word_before(self.text, at)
            && let Some(end) = self.uuid(at)
        {
            return Some((end, AtomKind::Uuid));
        }
        self.path(at).map(|end| (end, AtomKind::Path))
    }

    /// Literals that begin where a word begins.
    fn at_word(&mut self, at: usize, shape: Shape) -> Option<(usize, AtomKind)> {
        let bytes = self.bytes;
        if let Some(end) = self.file(at) {
            return Some((end, AtomKind::File));
        }
        let first = bytes[at];
        if first.is_ascii_digit()
            && let Some(end) = self.date(at)
        {
            return Some((end, AtomKind::Date));
        }
        let end = shape.end;
        if shape.has(UPPER)
            && !shape.has(LOWER | DIGIT | UNDERSCORE | OTHER)
            && (2..=8).contains(&(end - at))
            && bytes.get(end) == Some(&b'-')
        {
            let digits = self.digits_end(end + 1);
            if (1..=6).contains(&(digits - end - 1)) && !self.is_word_at(digits) {
                return Some((digits, AtomKind::Ticket));
            }
        }
        let alone = self.of_shape(at, shape);
        if matches!(alone, Some((_, AtomKind::Hex))) {
            return alone;
        }
        if let Some(end) = self.dotted(at, end) {
            return Some((end, AtomKind::Dotted));
        }
        if !shape.has(UPPER | UNDERSCORE | OTHER)
            && let Some(end) = self.kebab(end)
        {
            return Some((end, AtomKind::Kebab));
        }
        alone
    }

    /// Returns what a word is by itself, or the number that begins with it.
    fn of_shape(&self, at: usize, shape: Shape) -> Option<(usize, AtomKind)> {
        let end = shape.end;
        let (word, length) = (&self.bytes[at..end], end - at);
        let is_hex = || word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let kind = match shape.made_of {
            LOWER => return None,
            LOWER_DIGIT if (7..=64).contains(&length) && is_hex() => AtomKind::Hex,
            made_of if made_of & OTHER != 0 => return None,
            made_of if made_of & UNDERSCORE != 0 => return is_snake(word).then_some((end, AtomKind::Snake)),
            made_of if made_of & UPPER != 0 && made_of != UPPER && is_camel(word) => AtomKind::Camel,
            UPPER_DIGIT if (4..=12).contains(&length) => AtomKind::Code,
            _ => return self.number(at).map(|end| (end, AtomKind::Number)),
        };
        Some((end, kind))
    }

    fn shape(&self, start: usize) -> Shape {
        let (mut end, mut made_of) = (start, 0);
        while let Some(&byte) = self.bytes.get(end) {
            let bits = MADE_OF[usize::from(byte)];
            if bits != 0 {
                made_of |= bits;
                end += 1;
                continue;
            }
            let wide = if byte < 0x80 { None } else { word_char(self.text, end) };
            let Some(length) = wide else { break };
            made_of |= OTHER;
            end += length;
        }
        Shape { end, made_of }
    }

    /// Where inside a word that is no literal one may still begin: `xhttp://…`, `abc:/d/e`.
    fn inner_start(&self, start: usize, end: usize) -> Option<usize> {
        if self.bytes.get(end) != Some(&b':') {
            return None;
        }
        let word = &self.bytes[start..end];
        let address = self.bytes[end..].starts_with(b"://");
        let scheme = [&b"https"[..], b"http"].into_iter().find(|scheme| address && word.ends_with(scheme));
        let at = end - scheme.map_or(1, <[u8]>::len);
        (at > start && self.bytes[at].is_ascii_alphabetic()).then_some(at)
    }

    fn url(&self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        let scheme = [&b"https://"[..], b"http://"].into_iter().find(|scheme| rest.starts_with(scheme))?;
        let start = at + scheme.len();
        let stops = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | '}' | '`' | '\\' | '|')
        };
        let end = self.text[start..].find(stops).map_or(self.bytes.len(), |length| start + length);
        (end > start).then_some(end)
    }

    fn uuid(&self, at: usize) -> Option<usize> {
        let candidate = self.bytes.get(at..at + 36)?;
        if candidate[8] != b'-' || candidate[13] != b'-' {
            return None;
        }
        let fits = candidate.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
        (fits && !self.is_word_at(at + 36)).then_some(at + 36)
    }

    fn path(&mut self, at: usize) -> Option<usize> {
        let byte = self.bytes[at];
        let is_drive = byte.is_ascii_alphabetic() && self.bytes.get(at + 1) == Some(&b':');
        if is_drive || matches!(byte, b'~' | b'/' | b'\\') {
            return path_end(self.text, at);
        }
        if at >= self.run_end {
            (self.run_end, self.run_leads) = component(self.text, at);
        }
        // Dots may lead to doubled slashes, which the run alone does not see.
        let leads =
            self.run_leads || (byte == b'.' && matches!(self.bytes.get(self.run_end), Some(b'/' | b'\\')));
        if leads { path_end(self.text, at) } else { None }
    }

    /// `name.rs`, `name.test.ts`: the longest chain of dotted names that ends in a known extension.
    fn file(&mut self, at: usize) -> Option<usize> {
        if at < self.no_file_before {
            return None;
        }
        let mut end = self.hyphenated_end(at);
        let mut found = None;
        while self.bytes.get(end) == Some(&b'.') {
            let next = self.hyphenated_end(end + 1);
            let mut word = end + 1;
            while word < next && self.bytes[word] != b'-' {
                word += 1;
            }
            // Extensions are at most six letters; longer words need no search.
            if word - end <= 8 && is_known_extension(&self.text[end + 1..word]) {
                found = Some(word);
            }
            if next == end + 1 {
                break;
            }
            end = next;
        }
        if found.is_none() {
            self.no_file_before = end;
        }
        found
    }

    fn date(&self, at: usize) -> Option<usize> {
        let pattern = |start: usize, pattern: &[u8]| {
            let candidate = self.bytes.get(start..start + pattern.len())?;
            let fits = candidate.iter().zip(pattern).all(|(byte, mark)| match mark {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b' '),
                mark => byte == mark,
            });
            fits.then_some(start + pattern.len())
        };
        let day = pattern(at, b"0000-00-00")?;
        let minute = pattern(day, b"T00:00");
        let second = minute.and_then(|end| pattern(end, b":00"));
        [second, minute, Some(day)].into_iter().flatten().find(|end| !self.is_word_at(*end))
    }

    fn dotted(&self, at: usize, first_end: usize) -> Option<usize> {
        let leads = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        if !leads(self.bytes[at]) {
            return None;
        }
        let mut end = first_end;
        loop {
            let rest = &self.bytes[end..];
            let separator = match rest {
                [b'.', ..] => 1,
                [b':', b':', ..] | [b'-', b'>', ..] => 2,
                _ => break,
            };
            if !rest.get(separator).is_some_and(|byte| leads(*byte)) {
                break;
            }
            end = self.shape(end + separator).end;
        }
        (end > first_end).then_some(end)
    }

    /// Three names or more with hyphens between, the first of which ends at `first_end`.
    fn kebab(&self, first_end: usize) -> Option<usize> {
        let (mut end, mut parts, mut found) = (first_end, 1, None);
        while self.bytes.get(end) == Some(&b'-') {
            let start = end + 1;
            end = start;
            while self.bytes.get(end).is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
                end += 1;
            }
            if end == start || self.is_word_at(end) {
                break;
            }
            parts += 1;
            if parts >= 3 {
                found = Some(end);
            }
        }
        found
    }

    fn number(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes;
        let start = at + usize::from(bytes[at] == b'v');
        let end = self.digits_end(start);
        if end == start {
            return None;
        }
        // Decimals and versions: up to three dots.
        let (mut dotted, mut dots) = (end, 0);
        while dots < 3 && bytes.get(dotted) == Some(&b'.') {
            let next = self.digits_end(dotted + 1);
            if next == dotted + 1 {
                break;
            }
            (dotted, dots) = (next, dots + 1);
        }
        if dots > 0 {
            return Some(dotted + usize::from(bytes.get(dotted) == Some(&b'%')));
        }
        if start > at {
            return None;
        }
        let digits = end - start;
        if digits <= 2
            && bytes.get(end) == Some(&b':')
            && self.digits_end(end + 1) == end + 3
            && !self.is_word_at(end + 3)
        {
            return Some(end + 3);
        }
        if digits <= 3 {
            let (mut grouped, mut found) = (end, None);
            while bytes.get(grouped) == Some(&b',') && self.digits_end(grouped + 1) >= grouped + 4 {
                grouped += 4;
                if self.is_word_at(grouped) {
                    break;
                }
                found = Some(grouped);
            }
            if found.is_some() {
                return found;
            }
        }
        (digits >= 3 && !self.is_word_at(end)).then_some(end)
    }

    /// Returns the end of `.12` at `end`, or `end` itself.
    fn decimals_end(&self, end: usize) -> usize {
        let next = self.digits_end(end + 1);
        if self.bytes.get(end) == Some(&b'.') && next > end + 1 { next } else { end }
    }

    fn digits_end(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    /// Returns the end of the run of word characters and hyphens at `at`.
    fn hyphenated_end(&self, mut at: usize) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            match CLASS[byte as usize] {
                WORD => at += 1,
                WIDE => match word_char(self.text, at) {
                    Some(length) => at += length,
                    None => break,
                },
                _ if byte == b'-' => at += 1,
                _ => break,
            }
        }
        at
    }

    fn is_word_at(&self, at: usize) -> bool {
        word_char(self.text, at).is_some()
    }
}

/// Returns the literal as it is known, or `None` where it is none after all.
fn accept(raw: &str, kind: AtomKind) -> Option<(Cow<'_, str>, AtomKind)> {
    let (text, kind) = match kind {
        AtomKind::Path => classify(raw)?,
        AtomKind::Url => (Cow::Borrowed(raw.trim_end_matches(['.', ',', ';', ':'])), kind),
        _ => (Cow::Borrowed(raw), kind),
    };
    let long_enough = text.len() >= 3 && text.chars().nth(2).is_some();
    let short_enough = text.len() <= 200 || text.chars().nth(200).is_none();
    (long_enough && short_enough).then_some((text, kind))
}

/// `_?alnum(_+alnum)+`: at least two parts, at most one leading underscore, none trailing.
fn is_snake(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"_").unwrap_or(word);
    let ends = word.first().zip(word.last());
    ends.is_some_and(|(first, last)| *first != b'_' && *last != b'_') && word.contains(&b'_')
}

/// A capital after a lower-case start, or a capitalised word with another capital, or two capitals and lower case.
fn is_camel(word: &[u8]) -> bool {
    let run = |from: usize, test: fn(&u8) -> bool| word[from..].iter().take_while(|byte| test(byte)).count();
    let lower = run(0, u8::is_ascii_lowercase);
    if lower > 0 {
        let digits = run(lower, u8::is_ascii_digit);
        return word.get(lower + digits).is_some_and(u8::is_ascii_uppercase);
    }
    let upper = run(0, u8::is_ascii_uppercase);
    match upper {
        0 => false,
        1 => {
            let tail = run(1, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            tail > 0 && word.get(1 + tail).is_some_and(u8::is_ascii_uppercase)
        }
        _ => word.get(upper).is_some_and(u8::is_ascii_lowercase),
    }
}

/// Splits `text` at the runs of [`LONG_RUN`] characters that are taken for encoded data; yields the rest with offsets.
pub(super) fn unblanked(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let start = at;
        match long_run(text, at) {
            Some((from, to)) => {
                at = to;
                Some((start, &text[start..from]))
            }
            None => {
                done = true;
                Some((start, &text[start..]))
            }
        }
    })
}

/// Returns the first run of at least [`LONG_RUN`] characters without a delimiter from `start` on.
fn long_run(text: &str, start: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut from = start;
    while from + LONG_RUN <= bytes.len() {
        // Looking backward from where the run would be long enough skips most bytes of ordinary text.
        let window = &bytes[from..from + LONG_RUN];
        if let Some(last) = window.iter().rposition(|byte| is_delimiter(*byte)) {
            from += last + 1;
            continue;
        }
        let end = bytes[from..].iter().position(|byte| is_delimiter(*byte)).map_or(bytes.len(), |n| from + n);
        // Blanks beyond ASCII delimit too, and the limit counts characters, not bytes.
        let mut piece = from;
        for part in text[from..end].split_inclusive(char::is_whitespace) {
            let solid = part.trim_end();
            if solid.len() >= LONG_RUN && solid.chars().nth(LONG_RUN - 1).is_some() {
                return Some((piece, piece + solid.len()));
            }
            piece += part.len();
        }
        from = end;
    }
    None
}

fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        b'\t'..=b'\r' | 0x1c..=0x1f | b' ' | b'"' | b'\'' | b'<' | b'>' | b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b';'
    )
}

/// Returns whether a word character stands right before `at`.
pub(super) fn word_before(text: &str, at: usize) -> bool {
    match at.checked_sub(1).map(|before| text.as_bytes()[before]) {
        None => false,
        Some(byte) if byte < 0x80 => byte.is_ascii_alphanumeric() || byte == b'_',
        Some(_) => text[..at].chars().next_back().is_some_and(char::is_alphanumeric),
    }
}

fn char_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

const SKIP: u8 = 0;
const MARK: u8 = 1;
const WORD: u8 = 2;
const WIDE: u8 = 3;

/// What a byte can begin: nothing, a literal with a leading mark, a word, or a character beyond ASCII.
const CLASS: [u8; 256] = {
    let mut class = [SKIP; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD,
            b'.' | b'~' | b'/' | b'\\' | b'-' | b'#' | b'$' | b'@' | b'+' => MARK,
            0x80.. => WIDE,
            _ => SKIP,
        };
        byte += 1;
    }
    class
};

const LOWER: u8 = 1;
const UPPER: u8 = 1 << 1;
const DIGIT: u8 = 1 << 2;
const UNDERSCORE: u8 = 1 << 3;
/// A letter or digit beyond ASCII.
const OTHER: u8 = 1 << 4;
const LOWER_DIGIT: u8 = LOWER | DIGIT;
const UPPER_DIGIT: u8 = UPPER | DIGIT;

/// What each byte of a word makes it of: nothing where it is in none.
const MADE_OF: [u8; 256] = {
    let mut made_of = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        made_of[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            _ => 0,
        };
        byte += 1;
    }
    made_of
};

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: Expect) {
        let mut lines = String::new();
        scan(text, |atom| lines.push_str(&format!("{:?} {} @{}\n", atom.kind, atom.text, atom.at)));
        expect.assert_eq(&lines);
    }

    #[test]
    fn paths_are_normalised_and_lookalikes_are_left_out() {
        check(
            r"see ./src/main.rs, ../a/b and C:\dir\file.txt; not a/b, 1/2, x\ny or and/or. ~/x/y //srv/z/ main.rs",
            expect![[r#"
                Path src/main.rs @4
                Path ../a/b @19
                Path C:/dir/file.txt @30
                Path ~/x/y @77
                Path //srv/z @83
                File main.rs @92
            "#]],
        );
    }

    #[test]
    fn each_kind_is_found() {
        check(
            "https://a.b/c?d=1. 2026-11-21T10:00 --dry-run ABC-12 #123 deadbeef1 a.b::c snake_case camelCase HTTPServer \
             E0308 one-two-three 1.2.3 $1,200.50 12:30 1,234,567 404 12",
            expect![[r#"
                Url https://a.b/c?d=1 @0
                Date 2026-11-21T10:00 @19
                Flag --dry-run @36
                Ticket ABC-12 @46
                Ticket #123 @53
                Hex deadbeef1 @58
                Dotted a.b::c @68
                Snake snake_case @75
                Camel camelCase @86
                Camel HTTPServer @96
                Code E0308 @107
                Kebab one-two-three @113
                Number 1.2.3 @127
                Number $1,200.50 @133
                Number 12:30 @143
                Number 1,234,567 @149
                Number 404 @159
            "#]],
        );
    }

    #[test]
    fn encoded_data_holds_no_literals() {
        check(
            &format!("before.rs {}/snake_case after.rs", "A1b2".repeat(60)),
            expect![[r#"
            File before.rs @0
            File after.rs @262
        "#]],
        );
    }

    proptest! {
        #[test]
        fn any_text_is_scanned_without_overlap(text in "[a-zA-Z0-9_./\\\\:~@+#$ -]{0,200}|.{0,80}") {
            let mut end = 0;
            scan(&text, |atom| {
                assert!(atom.at >= end && text.is_char_boundary(atom.at));
                end = atom.at + 1;
            });
        }
    }
}
