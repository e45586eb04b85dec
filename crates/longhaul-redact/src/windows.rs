//! The parts of a text that the expressions have to look at: what stands around key words.

use std::ops::Range;

use crate::rules::RuleSet;

/// Returns, for each rule with a key word in `text`, in order, the parts of the text that its expression has to look at. Parts
/// that touch are one, so that no byte is searched twice for the same rule.
pub(crate) fn windows(set: &RuleSet, text: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut hits = set.keywords.find(text).peekable();
    // What a text spells in other ways is searched word by word, and most have none.
    if hits.peek().is_none() {
        return Vec::new();
    }
    let mut windows: Vec<(usize, Range<usize>)> = Vec::new();
    // Where the last one of each rule is.
    let mut last = vec![usize::MAX; set.rules.len()];
    let mut assignment = Assignment::default();
    for hit in hits {
        let mut value_end = None;
        for &index in &set.owners[hit.word] {
            let rule = &set.rules[index];
            let window = if rule.is_assignment {
                let value_end = *value_end.get_or_insert_with(|| assignment.value_end(text, hit.end));
                let Some(end) = value_end else { continue };
                hit.start.saturating_sub(NAME_REACH)..(end + NEXT_REACH).min(text.len())
            } else {
                let Some(compiled) = rule.compiled() else { continue };
                let end = (hit.end + compiled.reach).min(text.len());
                hit.start.saturating_sub(compiled.reach)..end
            };
            match windows.get_mut(last[index]) {
                Some((_, known)) if window.start <= known.end => {
                    known.start = known.start.min(window.start);
                    known.end = known.end.max(window.end);
                }
                _ => {
                    last[index] = windows.len();
                    windows.push((index, window));
                }
            }
        }
    }
    windows.sort_by_key(|(index, _)| *index);
    windows
}

/// Remembers the last value it measured, so that a long value full of key words is measured once.
#[derive(Default)]
struct Assignment {
    value: Range<usize>,
}

impl Assignment {
    /// Returns where the value ends that is assigned to a name with a key word ending at `at`; `None` where nothing
    /// that could be a secret is. Takes a little more than the expressions do, never less.
    fn value_end(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let name = |byte: &u8| {
            byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"_.-*'\"`]\x0b".contains(byte)
        };
        let rest = text.get(at..)?;
        let operator = at + rest.iter().take(24).take_while(|byte| name(byte)).count();
        let wide = WIDE_OPERATORS.iter().find(|wide| text[operator..].starts_with(wide));
        if wide.is_none() && !b"=>:|?,".contains(text.get(operator)?) {
            return None;
        }
        let operator = operator + wide.map_or(0, |wide| wide.len());
        let skip = |byte: &u8| byte.is_ascii_whitespace() || b"=>:|?,*_`'\"\x0b".contains(byte);
        let blank = |at: usize| at + text[at..].iter().take(9).take_while(|byte| skip(byte)).count();
        let mut start = blank(operator);
        if text[start..].starts_with(b"</")
            && let Some(tag) = text[start..].iter().take(LONGEST_TAG).position(|byte| *byte == b'>')
        {
            start = blank(start + tag + 1);
        }
        if !self.value.contains(&start) {
            let length = text[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            self.value = start..start + length;
        }
        (self.value.end - start >= SHORTEST_WORD).then_some(self.value.end)
    }
}

/// Colons and equals signs as wide as a Chinese letter.
const WIDE_OPERATORS: [&[u8]; 2] = ["：".as_bytes(), "＝".as_bytes()];

/// The most that stands before a key word in an assignment, in bytes: 50 characters of the name and what surrounds it.
pub(crate) const NAME_REACH: usize = 64;

/// The most that is looked at behind the value of an assignment, in bytes: the name in the next one.
const NEXT_REACH: usize = 32;

/// The longest tag that ends an emphasized name, in bytes.
const LONGEST_TAG: usize = 11;

/// The shortest value worth looking at, in bytes.
const SHORTEST_WORD: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_needs_an_operator_and_a_value() {
        let end = |text: &str| Assignment::default().value_end(text.as_bytes(), 3);
        assert_eq!(end("key = 'abcdefghij' x"), Some(18));
        assert_eq!(end("key points are these"), None);
        assert_eq!(end("key: brief"), None);
        assert_eq!(end("key"), None);
    }
}
