//! A command line as the simple commands it is made of, and how they hang together. Nothing is run or expanded.

use std::borrow::Cow;

/// How a command hangs together with the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// `&&`: the next runs only after success.
    And,
    /// `||`: the next runs only after failure.
    Or,
    /// `;` or a line break: the next runs anyway.
    Then,
    /// `|`: the next reads its output, and its exit code hides this one's.
    Pipe,
    /// `&`: nobody waits for it.
    Background,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'s> {
    /// Its text, without quotes.
    pub(crate) text: Cow<'s, str>,
    /// Whether any of it was quoted, so that `'>'` is no redirect and `"$x"` no path.
    pub(crate) quoted: bool,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Simple<'s> {
    /// Its words, redirects among them.
    pub(crate) words: Vec<Word<'s>>,
    /// How it hangs together with what follows; [`Link::Then`] for the last.
    pub(crate) link: Link,
    /// Where it stands in the script, in bytes.
    pub(crate) place: std::ops::Range<usize>,
}

/// Returns the simple commands of `script`, in order. Bodies of here-documents and comments are left out; what stands in
/// `$(…)` is part of its word.
pub(crate) fn simples(script: &str) -> Vec<Simple<'_>> {
    let end = script.floor_char_boundary(MOST_BYTES);
    let mut reader = Reader {
        script: &script[..end],
        at: 0,
        found: Vec::new(),
        words: Vec::new(),
        start: 0,
        heredocs: Vec::new(),
    };
    reader.read();
    reader.found
}

struct Reader<'s> {
    script: &'s str,
    at: usize,
    found: Vec<Simple<'s>>,
    words: Vec<Word<'s>>,
    start: usize,
    /// The ends of the here-documents whose bodies begin on the next line.
    heredocs: Vec<&'s str>,
}

impl<'s> Reader<'s> {
    fn read(&mut self) {
        let bytes = self.script.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let next = bytes.get(self.at + 1).copied();
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if next == Some(b'\n') => self.at += 2,
                b'\n' => {
                    self.end(Link::Then, 1);
                    self.skip_heredocs();
                }
                b'#' => self.at = self.line_end(),
                b'&' if next == Some(b'&') => self.end(Link::And, 2),
                b'|' if next == Some(b'|') => self.end(Link::Or, 2),
                b'|' => self.end(Link::Pipe, if next == Some(b'&') { 2 } else { 1 }),
                b'&' if next != Some(b'>') => self.end(Link::Background, 1),
                b';' => self.end(Link::Then, if next == Some(b';') { 2 } else { 1 }),
                b'(' | b')' => self.end(Link::Then, 1),
                _ => self.word(),
            }
        }
        self.end(Link::Then, 0);
    }

    fn end(&mut self, link: Link, length: usize) {
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            self.found.push(Simple { words, link, place: self.start..self.at });
        } else if let (Some(last), Link::And | Link::Or | Link::Pipe | Link::Background) =
            (self.found.last_mut(), link)
        {
            // `(a; b) | tail`: what follows the parenthesis holds for the last in it.
            last.link = link;
        }
        self.at += length;
    }

    fn line_end(&self) -> usize {
        memchr::memchr(b'\n', &self.script.as_bytes()[self.at..])
            .map_or(self.script.len(), |end| self.at + end)
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            while self.at < self.script.len() {
                let line_end = self.line_end();
                let line = &self.script[self.at..line_end];
                self.at = (line_end + 1).min(self.script.len());
                if line.trim() == end {
                    break;
                }
            }
        }
    }

    fn word(&mut self) {
        let bytes = self.script.as_bytes();
        let start = self.at;
        if self.words.is_empty() {
            self.start = start;
        }
        let mut text = String::new();
        let (mut is_plain, mut quoted) = (true, false);
        // Where the piece begins that is not yet in `text`.
        let mut from = start;
        while let Some(&byte) = bytes.get(self.at) {
            let next = bytes.get(self.at + 1).copied();
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b')' => break,
                b'(' if self.at > start => break,
                // `2>&1` and `&>` are one word; any other `&` ends one.
                b'&' if !(self.at > start && bytes[self.at - 1] == b'>' || next == Some(b'>')) => break,
                b'$' if next == Some(b'(') => self.at = self.substitution_end(),
                b'`' => {
                    let rest = &self.script[self.at + 1..];
                    self.at = rest.find('`').map_or(self.script.len(), |end| self.at + end + 2);
                }
                b'<' if next == Some(b'<') && bytes.get(self.at + 2) != Some(&b'<') => {
                    self.heredoc();
                    if self.at == start {
                        self.at += 2;
                    }
                    return;
                }
                b'\\' => {
                    text.push_str(&self.script[from..self.at]);
                    is_plain = false;
                    self.at += 1;
                    from = self.at;
                    self.at = self.script.ceil_char_boundary((self.at + 1).min(self.script.len()));
                }
                quote @ (b'\'' | b'"') => {
                    quoted = true;
                    is_plain = false;
                    text.push_str(&self.script[from..self.at]);
                    let end = self.quote_end(quote);
                    text.push_str(&self.script[self.at + 1..end]);
                    self.at = (end + 1).min(self.script.len());
                    from = self.at;
                }
                _ => self.at = self.script.ceil_char_boundary(self.at + 1),
            }
        }
        let text = match is_plain {
            true => Cow::Borrowed(&self.script[start..self.at]),
            false => {
                text.push_str(&self.script[from.min(self.at)..self.at]);
                Cow::Owned(text)
            }
        };
        self.at = self.at.max(start + usize::from(self.at == start));
        self.words.push(Word { text, quoted });
    }

    fn quote_end(&self, quote: u8) -> usize {
        let bytes = self.script.as_bytes();
        let mut at = self.at + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if quote == b'"' => at += 1,
                b'$' if quote == b'"' && bytes.get(at + 1) == Some(&b'(') => {
                    at = substitution_end(self.script, at).saturating_sub(1);
                }
                byte if byte == quote => return at,
                _ => {}
            }
            at += 1;
        }
        self.script.len()
    }

    fn substitution_end(&self) -> usize {
        substitution_end(self.script, self.at)
    }

    /// Notes a here-document; its word and its end are left out of the command.
    fn heredoc(&mut self) {
        let rest = &self.script[self.at + 2..];
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\'', '"', '\\']);
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if length > 0 {
            self.heredocs.push(&rest[..length]);
            let after = self.script.len() - rest.len() + length;
            self.at = after;
            if self.script[after..].starts_with(['\'', '"']) {
                self.at += 1;
            }
        }
    }
}

/// Returns where the `$(…)` at `at` ends. Parentheses in quotes and here-documents inside it are not looked at closely:
/// what is not closed takes the rest.
fn substitution_end(script: &str, at: usize) -> usize {
    let bytes = script.as_bytes();
    let (mut depth, mut at) = (0usize, at + 1);
    let mut quote: Option<u8> = None;
    // A here-document may hold any quotes and parentheses.
    let mut heredoc: Option<&str> = None;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\n'
            && let Some(end) = heredoc.take()
        {
            let mut from = at + 1;
            loop {
                let line_end = script[from..].find('\n').map_or(script.len(), |end| from + end);
                let is_end = script[from..line_end].trim() == end;
                from = (line_end + 1).min(script.len());
                if is_end || from >= script.len() {
                    break;
                }
            }
            at = from;
            continue;
        }
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'<') if script[at..].starts_with("<<") && !script[at..].starts_with("<<<") => {
                let rest = script[at + 2..].trim_start_matches(['-', ' ', '\'', '"']);
                let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                if length > 0 {
                    heredoc = Some(&rest[..length]);
                    at = script.len() - rest.len() + length;
                    if script[at..].starts_with(['\'', '"']) {
                        at += 1;
                    }
                    continue;
                }
            }
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    script.len()
}

impl<'s> Simple<'s> {
    /// Returns the words without redirects and their targets.
    pub(crate) fn plain(&self) -> Vec<&Word<'s>> {
        self.split().0
    }

    /// Returns the words, and the files that output goes to with whether it is appended.
    pub(crate) fn split(&self) -> (Vec<&Word<'s>>, Vec<(bool, &str)>) {
        let (mut plain, mut redirects) = (Vec::new(), Vec::new());
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let text = &*word.text;
            let mark = text.trim_start_matches(['1', '&']);
            if !word.quoted && mark.starts_with('>') {
                let target = mark.trim_start_matches(['>', '|']);
                let appends = mark.starts_with(">>");
                if target.is_empty() {
                    redirects.extend(words.next().map(|next| (appends, &*next.text)));
                } else if !target.starts_with('&') {
                    redirects.push((appends, target));
                }
            } else if !word.quoted && matches!(text, "2>" | "<" | "<<<") {
                words.next();
            } else if word.quoted || !(text.starts_with("2>") || text.starts_with('<')) {
                plain.push(word);
            }
        }
        (plain, redirects)
    }
}

/// Bytes of a script beyond which nothing is read.
const MOST_BYTES: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn show(script: &str) -> Vec<String> {
        let shown = |simple: &Simple<'_>| {
            let words: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
            format!("{:?} {:?}", words, simple.link)
        };
        simples(script).iter().map(shown).collect()
    }

    #[test]
    fn commands_hang_together_as_written() {
        assert_eq!(
            show("cd a && make test 2>&1 | tail -5; echo 'a; b' &"),
            [
                r#"["cd", "a"] And"#,
                r#"["make", "test", "2>&1"] Pipe"#,
                r#"["tail", "-5"] Then"#,
                r#"["echo", "a; b"] Background"#,
            ]
        );
    }

    #[test]
    fn quotes_and_documents_span_lines() {
        let script = "git commit -m \"$(cat <<'EOF'\nfix: don't (yet)\n\nrm -rf x\nEOF\n)\" && git push\ncat > f.py <<EOF\nrm y\nEOF\nls # no\\\n";
        assert_eq!(simples(script).len(), 4, "{:?}", show(script));
        assert_eq!(show(script)[1], r#"["git", "push"] Then"#);
        assert_eq!(show(script)[2], r#"["cat", ">", "f.py"] Then"#);
        assert_eq!(show("echo \"a\nb\" \\\n  c"), [r#"["echo", "a\nb", "c"] Then"#]);
    }

    #[test]
    fn odd_scripts_end() {
        for script in ["", "'", "\"$(", "<<", "a <<'", "((((", "a & & b", "\\", "`", "é'é", "$(<<A\nA"] {
            simples(script);
        }
    }
}
