//! Text taken apart into statements: sentences, whole list items, table rows, lines of output and code.

/// A piece of prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What it says; wrapped lines are joined with one blank.
    pub(crate) text: String,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
}

/// Returns the pieces of prose: a paragraph whose lines are wrapped is joined, a list item keeps its continuation lines,
/// and what is longer than a few sentences is taken apart between sentences.
pub(crate) fn prose(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter::default();
    for raw in text.lines() {
        splitter.line(raw);
    }
    splitter.flush();
    splitter.pieces
}

#[derive(Debug, Default)]
struct Splitter {
    pieces: Vec<Piece>,
    current: String,
    is_item: bool,
    last_len: usize,
    in_fence: bool,
    /// The fence shows how it is not to be done.
    is_warning: bool,
}

impl Splitter {
    fn line(&mut self, raw: &str) {
        let line = raw.trim();
        if line.starts_with("```") {
            self.flush();
            self.in_fence = !self.in_fence;
            self.is_warning = self.in_fence && self.pieces.last().is_some_and(|lead| warns(&lead.text));
            return;
        }
        if line.is_empty() {
            self.flush();
            return;
        }
        if self.in_fence && self.is_warning {
            return;
        }
        if self.in_fence {
            pieces(line, |piece| self.pieces.push(Piece { text: piece.into(), is_item: false }));
            return;
        }
        if line.starts_with('#') {
            self.flush();
            self.push(line.to_string(), false);
            return;
        }
        let is_item = is_item(line);
        let continues = !is_item
            && !line.starts_with(['|', '>'])
            && !self.current.is_empty()
            && !self.current.starts_with('|')
            && (self.last_len >= WRAPPED || raw.starts_with("  "));
        if continues {
            self.current.push(' ');
            self.current.push_str(line);
        } else {
            self.flush();
            self.current.push_str(line);
            self.is_item = is_item;
        }
        self.last_len = line.len();
    }

    fn flush(&mut self) {
        let current = std::mem::take(&mut self.current);
        let is_item = std::mem::take(&mut self.is_item);
        pieces(&current, |piece| self.push(piece.to_string(), is_item));
    }

    fn push(&mut self, text: String, is_item: bool) {
        self.pieces.push(Piece { text, is_item });
    }
}

/// Whether a line leads in an example of what is wrong: told without it, the example would be taken for an instruction.
fn warns(lead: &str) -> bool {
    const WORDS: [&str; 8] =
        ["bad", "wrong", "incorrect", "avoid", "anti-pattern", "don't", "don’t", "never"];
    let is_lead = lead.starts_with(['#', '*']) || lead.trim_end_matches('*').ends_with([':', '：']);
    let lower = lead.to_lowercase();
    let mut words =
        lower.split(|c: char| c.is_whitespace() || matches!(c, ':' | '*' | '(' | ')' | ',' | '#'));
    lead.contains('❌') || is_lead && lead.len() <= LONGEST_WARNING && words.any(|word| WORDS.contains(&word))
}

/// Bytes of the longest line that warns of what it leads in.
const LONGEST_WARNING: usize = 60;

/// Lines of so many bytes are taken for wrapped ones.
const WRAPPED: usize = 55;

/// Returns whether `line` begins an item of a list.
pub(crate) fn is_item(line: &str) -> bool {
    if line.starts_with("- ") || line.starts_with("* ") || line.starts_with("• ") {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits) && matches!(line.as_bytes().get(digits..digits + 2), Some(b". " | b") "))
}

/// Calls `each` with `text`, or with its sentences where it is long; never with blank space.
pub(crate) fn pieces(text: &str, mut each: impl FnMut(&str)) {
    let text = text.trim();
    if text.len() <= LONGEST {
        if text.len() > 2 {
            each(text);
        }
        return;
    }
    let (mut start, mut count) = (0, 0);
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let wide = matches!(c, '。' | '！' | '？' | '；');
        let narrow = matches!(c, '.' | ';' | '!' | '?')
            && text[after..].starts_with(char::is_whitespace)
            && !(c == '.' && is_abbreviated(&text[start..at]));
        let forced = after - start >= HARD && c.is_whitespace();
        if wide || narrow || forced || after - start >= HARD * 2 {
            end = after;
        }
        if end > start {
            let piece = text[start..end].trim();
            if piece.len() > 3 {
                each(piece);
                count += 1;
            }
            start = end;
            if count >= MOST_PIECES {
                return;
            }
        }
    }
    let rest = text[start..].trim();
    if rest.len() > 3 {
        each(rest);
    }
}

/// Whether `text` ends with a word that is written with a full stop wherever it stands.
fn is_abbreviated(text: &str) -> bool {
    const WORDS: [&str; 20] = [
        "Mr", "Mrs", "Ms", "Dr", "Hon", "hon", "Prof", "Rev", "St", "Sr", "Jr", "No", "Nos", "vs", "e.g",
        "i.e", "cf", "approx", "Fig", "resp",
    ];
    let word = text.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[')).next().unwrap_or(text);
    WORDS.contains(&word)
}

/// Bytes of text that stay together.
pub(crate) const LONGEST: usize = 320;

/// A sentence longer than this is cut at a blank.
const HARD: usize = 400;

/// No more sentences than these are taken from one paragraph or line.
const MOST_PIECES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        prose(text).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn wrapped_lines_are_one_statement() {
        let wrapped = "Ask the model only when a trigger fires, never by default and never\nfor a routine judgment call.\n\nShort line\nanother line";
        assert_eq!(
            texts(wrapped),
            [
                "Ask the model only when a trigger fires, never by default and never for a routine judgment call.",
                "Short line",
                "another line"
            ]
        );
    }

    #[test]
    fn an_item_keeps_its_continuation() {
        let list = "## Next steps\n1. Change the CEBA threshold\n   to 20,000\n2) Tell the user\n- done";
        let all = prose(list);
        let texts: Vec<_> = all.iter().map(|piece| (piece.text.as_str(), piece.is_item)).collect();
        assert_eq!(
            texts,
            [
                ("## Next steps", false),
                ("1. Change the CEBA threshold to 20,000", true),
                ("2) Tell the user", true),
                ("- done", true)
            ]
        );
    }

    #[test]
    fn a_title_ends_no_sentence() {
        let said = "The next question goes to Mr. Barlow, who has asked for the numbers of the tax three times today already. ";
        let text = said.repeat(4);
        assert!(texts(&text).iter().all(|piece| piece == said.trim()), "{:?}", texts(&text));
    }

    #[test]
    fn long_text_is_cut_between_sentences() {
        let sentence = "The retry loop waits for the lock that its own caller holds.";
        let text = [sentence; 9].join(" ");
        let all = texts(&text);
        assert_eq!(all.len(), 9);
        assert!(all.iter().all(|piece| piece == sentence));
        let endless = "x".repeat(5000);
        assert!(texts(&endless).iter().all(|piece| endless.contains(piece.as_str())));
    }
}
