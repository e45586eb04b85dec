//! Text taken apart into statements: sentences, whole list items, table rows, lines of output and code.

/// A piece of prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What it says; wrapped lines are joined with one blank.
    pub(crate) text: String,
    /// Whether it is an item of a list.
    pub(crate) is_item: bool,
    /// Whether it stands in a fence, as code does.
    pub(crate) is_fenced: bool,
}

/// Returns the pieces of prose: a paragraph whose lines are wrapped is joined, a list item keeps its continuation lines,
/// and what is longer than a few sentences is taken apart between sentences.
pub(crate) fn prose(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter::default();
    for raw in text.lines() {
        splitter.line(raw);
    }
    splitter.end()
}

/// Returns the same without code that stands under a label by which it shows how it is not to be done (`❌`, `Bad:`): told
/// without its label, it would be taken for an instruction.
pub(crate) fn prose_without_bad_examples(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter { drops_warnings: true, ..Splitter::default() };
    for raw in text.lines() {
        splitter.line(raw);
    }
    splitter.end()
}

#[derive(Debug, Default)]
struct Splitter {
    pieces: Vec<Piece>,
    current: String,
    is_item: bool,
    last_len: usize,
    in_fence: bool,
    drops_warnings: bool,
    /// The fence shows how it is not to be done: its pieces begin here.
    warning: Option<usize>,
}

impl Splitter {
    fn line(&mut self, raw: &str) {
        let line = raw.trim();
        if line.starts_with("```") {
            self.flush();
            self.in_fence = !self.in_fence;
            // Only a fence that is closed is an example: behind one that never is, all of the rest would be lost.
            if let Some(from) = self.warning.take() {
                self.pieces.truncate(from);
            }
            let warns = self.drops_warnings && self.pieces.last().is_some_and(|lead| warns(&lead.text));
            self.warning = (self.in_fence && warns).then_some(self.pieces.len());
            return;
        }
        if line.is_empty() {
            self.flush();
            return;
        }
        if self.in_fence {
            pieces(line, |piece| {
                self.pieces.push(Piece { text: piece.into(), is_item: false, is_fenced: true })
            });
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

    fn end(mut self) -> Vec<Piece> {
        self.flush();
        self.pieces
    }

    fn flush(&mut self) {
        let current = std::mem::take(&mut self.current);
        let is_item = std::mem::take(&mut self.is_item);
        if current.len() <= LONGEST && current.trim().len() == current.len() {
            if current.len() > 2 {
                self.push(current, is_item);
            }
            return;
        }
        pieces(&current, |piece| self.push(piece.to_string(), is_item));
    }

    fn push(&mut self, text: String, is_item: bool) {
        self.pieces.push(Piece { text, is_item, is_fenced: false });
    }
}

/// Whether a line is a label that says of what it leads in that it is wrong, and says nothing else.
fn warns(lead: &str) -> bool {
    const LABELS: [&str; 14] = [
        "bad", "wrong", "incorrect", "avoid", "anti-pattern", "antipattern", "don't", "do not", "never",
        "not like this", "bad example", "bad practice", "wrong way", "incorrect usage",
    ];
    let bare = lead.replace('’', "'").to_lowercase();
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    let is_label = lead.starts_with(['#', '*']) || lead.trim_end().ends_with([':', '：']);
    lead.trim_start_matches(['#', '*', '-', ' ']).starts_with('❌') || is_label && LABELS.contains(&bare)
}

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
    sentences(text).into_iter().for_each(each);
}

/// Returns the sentences of `text`; one that is too long is cut at a blank.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
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
                sentences.push(piece);
            }
            start = end;
            if sentences.len() >= MOST_PIECES {
                return sentences;
            }
        }
    }
    let rest = text[start..].trim();
    if rest.len() > 3 {
        sentences.push(rest);
    }
    sentences
}

/// Returns `text` up to the sentence in which somebody says what to do next, and from there on: `It takes a theme now. Let me fix
/// the calls:`. The second is empty where nothing is announced, or nothing is said before.
pub(crate) fn before_announcement(text: &str) -> (&str, &str) {
    let ends = text.match_indices(['.', '!', '?', ':']).map(|(at, _)| at + 1);
    let announced = ends.filter(|end| {
        let next = text[*end..].trim_start_matches(['*', '_', '`', ')']);
        next.starts_with(char::is_whitespace)
            && ANNOUNCING.iter().any(|words| next.trim_start().starts_with(words))
    });
    let is_told = |end: &usize| text[..*end].split_whitespace().nth(LEAST_TOLD - 1).is_some();
    match announced.into_iter().find(is_told) {
        Some(end) => (&text[..end], text[end..].trim_start()),
        None => (text, ""),
    }
}

/// How a sentence opens in which a model says what it does next.
const ANNOUNCING: [&str; 14] = [
    "Let me ", "Now let me ", "Let's ", "Now let's ", "Let’s ", "Now I'll ", "Now I’ll ", "Now I need to ",
    "Now I will ", "I'll now ", "I’ll now ", "Next, I'll ", "Next, I’ll ", "I'll check ",
];

/// Words from which on something is told before it.
const LEAST_TOLD: usize = 5;

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
    fn an_example_of_what_is_wrong_is_told_from_what_went_wrong() {
        let told = |lead: &str| {
            let text = format!("{lead}\n```\nlet port = 8423;\n```\nThe end.");
            prose_without_bad_examples(&text).iter().any(|piece| piece.text.contains("8423"))
        };
        for label in
            ["❌ Bad", "Bad:", "**Wrong**", "## Anti-pattern", "Don't:", "**Don’t:**", "- ❌ by hand:"]
        {
            assert!(!told(label), "{label}");
        }
        for lead in [
            "The output is wrong:",
            "Never push without running:",
            "## Bad request",
            "I could not avoid this:",
            "Good:",
        ] {
            assert!(told(lead), "{lead}");
        }
        // Persons show what is wrong so that it is mended.
        assert!(texts("Wrong:\n```\nlet port = 8423;\n```").contains(&"let port = 8423;".to_string()));
        let open = "Bad:\n```\nlet port = 8423;\nThe rest of the text.";
        assert!(prose_without_bad_examples(open).iter().any(|piece| piece.text == "The rest of the text."));
    }

    #[test]
    fn a_title_ends_no_sentence() {
        let said = "The next question goes to Mr. Barlow, who has asked for the numbers of the tax three times today already. ";
        let text = said.repeat(4);
        assert!(texts(&text).iter().all(|piece| piece == said.trim()), "{:?}", texts(&text));
    }

    #[test]
    fn what_was_found_is_told_from_what_is_announced() {
        let both = "So the signature is: `(text, theme)`. Let me fix those lines:";
        assert_eq!(
            before_announcement(both),
            ("So the signature is: `(text, theme)`.", "Let me fix those lines:")
        );
        for one in
            ["Good. Let me look.", "Let me look at the file first.", "We decided: let me know by Friday."]
        {
            assert_eq!(before_announcement(one), (one, ""));
        }
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
