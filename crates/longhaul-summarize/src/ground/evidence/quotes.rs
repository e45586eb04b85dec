//! Whether a text stands in the source, however it is capitalised, spaced and marked up.

use super::{Evidence, Speaker, lookup::NEAR_BYTES};
use crate::ground::words::{hash, is_wide, words};

impl Evidence {
    /// Returns whether `text` stands in the source, however it is capitalised, spaced and marked up.
    pub(in crate::ground) fn quotes(&self, text: &str) -> bool {
        self.contains(text) || self.is_quoted(text, |_| true)
    }

    /// Returns whether `text` stands in the words of those who are `meant`.
    pub(in crate::ground) fn is_quoted(&self, text: &str, meant: impl Fn(Speaker) -> bool) -> bool {
        let wanted = plain(text);
        if wanted.is_empty() {
            return true;
        }
        let places = |word: &str| -> Vec<u32> {
            let spelled = self.spellings.get(&hash(&word.to_lowercase())).map_or(&[][..], Vec::as_slice);
            spelled.iter().filter_map(|spelling| self.positions.get(spelling)).flatten().copied().collect()
        };
        let all: Vec<Vec<u32>> = words(text).map(|(_, word)| places(word)).collect();
        let rarest = all.iter().min_by_key(|places| places.len()).map_or(&[][..], Vec::as_slice);
        let reach = 2 * text.len() + NEAR_BYTES;
        let wanted = format!(" {wanted} ");
        let is_meant = |at: &usize| self.clause_at(*at).is_some_and(|clause| meant(clause.speaker));
        let places = |rarest: &[u32]| {
            let places: Vec<usize> = rarest.iter().map(|at| *at as usize).take(MAX_QUOTED).collect();
            places.into_iter().filter(is_meant)
        };
        if places(rarest).any(|at| format!(" {} ", plain(self.around(at, reach))).contains(&wanted)) {
            return true;
        }
        // Letter by letter, where marks and line ends stand between and inside its words.
        let wanted = Squeezed::new(&unmarked(text));
        let rarest = all.iter().filter(|places| !places.is_empty()).min_by_key(|places| places.len());
        wanted.text.len() >= LEAST_SQUEEZED
            && rarest.is_some_and(|rarest| {
                places(rarest)
                    .any(|at| Squeezed::new(&unmarked(self.around(at, 2 * reach))).has(&wanted.text))
            })
    }
}

/// A text in lower case without what stands between its words, but for what stands between two digits: `1.2` is not `12`.
#[derive(Debug, Default)]
struct Squeezed {
    text: String,
    /// Where its words begin and where they end, in bytes, in order.
    begins: Vec<usize>,
    ends: Vec<usize>,
}

impl Squeezed {
    fn new(text: &str) -> Squeezed {
        let mut squeezed = Squeezed::default();
        let (mut before, mut between) = (' ', String::from(" "));
        for c in text.chars() {
            if !c.is_alphanumeric() {
                between.push(c);
                continue;
            }
            let is_number = before.is_ascii_digit() && c.is_ascii_digit();
            let is_joint = is_number && between.len() == 1 && between.trim() == between;
            if is_joint {
                squeezed.text.push_str(&between);
            } else if !between.is_empty() || is_wide(before) || is_wide(c) {
                squeezed.ends.push(squeezed.text.len());
                if is_number {
                    squeezed.text.push(' ');
                }
                squeezed.begins.push(squeezed.text.len());
            }
            between.clear();
            squeezed.text.extend(c.to_lowercase());
            before = c;
        }
        squeezed.ends.push(squeezed.text.len());
        squeezed
    }

    /// Returns whether it has `wanted`, from where a word begins to where one ends.
    fn has(&self, wanted: &str) -> bool {
        let is_whole = |at: usize| {
            self.begins.binary_search(&at).is_ok() && self.ends.binary_search(&(at + wanted.len())).is_ok()
        };
        self.text.match_indices(wanted).any(|(at, _)| is_whole(at))
    }
}

/// Lower case, words only; a number keeps its marks.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut before: Option<(usize, &str)> = None;
    for (at, word) in words(text) {
        if let Some((end, last)) = before {
            let between = &text[end..at];
            let is_joint = matches!(between, "." | ",") && is_number(last) && is_number(word);
            plain.push_str(if is_joint { between } else { " " });
        }
        plain.extend(word.chars().flat_map(char::to_lowercase));
        before = Some((at + word.len(), word));
    }
    plain
}

/// A text without the line numbers of a file view and the tags of a page.
fn unmarked(text: &str) -> String {
    let unnumbered = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(['→', '\t', '|']).unwrap_or(line).to_owned()
    };
    let lines = text.lines().map(unnumbered).collect::<Vec<_>>().join("\n");
    let (mut out, mut rest) = (String::with_capacity(lines.len()), lines.as_str());
    while let Some(at) = rest.find('<') {
        let (before, inside) = (&rest[..at], &rest[at + 1..]);
        out.push_str(before);
        let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let end = inside.find('>').filter(|end| is_tag && *end <= LONGEST_TAG);
        rest = end.map_or(inside, |end| &inside[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// What is longer is no tag.
const LONGEST_TAG: usize = 300;

/// A shorter text may stand anywhere letter by letter.
const LEAST_SQUEEZED: usize = 16;

/// Occurrences of the rarest word of a quotation that are compared with it.
const MAX_QUOTED: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_begins_and_ends_with_its_words() {
        let mut evidence = Evidence::default();
        let said = "The clerk is unable to delete the table. The request took 1.2 seconds on average, the *first* of the requests.";
        evidence.read(said, Speaker::User, 0);
        for torn in [
            "able to delete the table",
            "is unable to delete the tab",
            "the request took 12 seconds on average",
            "2 seconds on average, the first",
        ] {
            assert!(!evidence.quotes(torn), "{torn}");
        }
        for whole in [
            "unable to -- delete the table",
            "the request took 1.2 seconds, on average",
            "on average the **first** of the requests",
        ] {
            assert!(evidence.quotes(whole), "{whole}");
        }
    }
}
