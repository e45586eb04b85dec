//! What was said, on its way to a terminal: an answer comes in pieces that end anywhere, and its lines break between words.

use unicode_width::UnicodeWidthChar as _;

/// Breaks the lines of a text that comes in pieces. A word is held back until it has ended, so that nothing that was shown has to
/// be taken away again. Code between fences keeps its lines: it is copied.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    columns: usize,
    /// How many columns of the line are shown.
    column: usize,
    /// How far the line is indented, and what goes on below it.
    margin: usize,
    /// The blanks before the word, and what is there of the word.
    blanks: String,
    word: String,
    /// How the line begins, as far as that tells a fence.
    opening: String,
    is_code: bool,
}

const FENCE: &str = "```";

impl Flow {
    pub(crate) fn new(columns: usize) -> Flow {
        let (blanks, word, opening) = (String::new(), String::new(), String::new());
        Flow { columns, column: 0, margin: 0, blanks, word, opening, is_code: false }
    }

    /// Returns what is to be shown now that `piece` has come.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            if self.opening.len() < FENCE.len() && !c.is_whitespace() {
                self.opening.push(c);
            }
            match c {
                '\n' => {
                    out.push_str(&self.end());
                    out.push('\n');
                }
                c if self.is_code || self.opening == FENCE => {
                    self.show(&mut out);
                    out.push(c);
                }
                ' ' => {
                    self.show(&mut out);
                    self.blanks.push(c);
                }
                c => {
                    let width = c.width().unwrap_or_default();
                    // What has no blanks is broken anywhere, as the terminal does it.
                    if columns_of(&self.word) + width > self.columns - self.indent() {
                        self.show(&mut out);
                    }
                    self.word.push(c);
                    if width == 2 {
                        self.show(&mut out);
                    }
                }
            }
        }
        out
    }

    /// Ends the line, and returns what of it was held back.
    pub(crate) fn end(&mut self) -> String {
        let mut out = String::new();
        self.show(&mut out);
        self.blanks.clear();
        self.is_code ^= self.opening == FENCE;
        self.opening.clear();
        self.column = 0;
        out
    }

    /// Returns how far what goes on below the line is indented.
    fn indent(&self) -> usize {
        match self.column {
            0 => columns_of(&self.blanks).min(self.columns / 2),
            _ => self.margin,
        }
    }

    /// Puts the word down, on a line of its own where this one has no room for it.
    fn show(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let wanted = columns_of(&self.blanks) + columns_of(&self.word);
        if self.column == 0 {
            self.margin = self.indent();
        } else if self.column + wanted > self.columns {
            out.push('\n');
            self.column = 0;
            self.blanks = " ".repeat(self.margin);
        }
        self.column += columns_of(&self.blanks) + columns_of(&self.word);
        out.push_str(&self.blanks);
        out.push_str(&self.word);
        self.blanks.clear();
        self.word.clear();
    }
}

fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, columns: usize) -> String {
        let mut flow = Flow::new(columns);
        flow.push(text) + &flow.end()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(shown("one two three four", 9), "one two\nthree\nfour");
        assert_eq!(shown("- a list\n- of two\n", 20), "- a list\n- of two\n");
        assert_eq!(shown("  - a list\n- of two\n", 9), "  - a\n  list\n- of two\n");
        assert_eq!(shown("abcdefghijkl mno", 5), "abcde\nfghij\nkl\nmno");
        assert_eq!(shown("更为重要更为", 5), "更为\n重要\n更为");
    }

    #[test]
    fn code_keeps_its_lines() {
        let code = "so:\n```rust\nlet a_long_name = another_long_name + 1;\n```\nand on it goes";
        assert_eq!(shown(code, 12), code.replace("and on it goes", "and on it\ngoes"));
    }

    #[test]
    fn a_word_is_shown_when_it_has_ended() {
        let mut flow = Flow::new(80);
        assert_eq!([flow.push("Well, let"), flow.push(" me"), flow.end()], ["Well,", " let", " me"]);
    }

    proptest! {
        #[test]
        fn it_matters_not_where_the_pieces_end(text in "([a-z更`]{1,9}| |\n|```){0,40}", at in 0usize..200) {
            let whole = shown(&text, 12);
            let at = text.char_indices().map(|(at, _)| at).nth(at).unwrap_or(text.len());
            let mut flow = Flow::new(12);
            let parts = flow.push(&text[..at]) + &flow.push(&text[at..]) + &flow.end();
            prop_assert_eq!(&parts, &whole);
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&whole), words(&text));
        }

        #[test]
        fn no_line_is_wider_than_the_terminal(text in "( {0,4}([a-z更]{1,30} {0,3}){0,6}\n){0,8}") {
            let whole = shown(&text, 12);
            let widest = whole.lines().map(|line| columns_of(line.trim_end())).max().unwrap_or_default();
            prop_assert!(widest <= 12, "{:?}", whole);
        }
    }
}
