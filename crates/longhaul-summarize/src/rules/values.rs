//! The numbers in a sentence: those that are values of what it speaks of, and those that only name something.

/// A sentence without its values.
#[derive(Debug, Default)]
pub(crate) struct Frame<'t> {
    /// Its words in lower case, marks apart, with `#` in place of each value.
    pub(crate) text: String,
    /// Its values, without currencies and marks of thousands.
    pub(crate) values: Vec<&'t str>,
    /// The other numbers in it, which name something: `step 3`.
    pub(crate) others: Vec<&'t str>,
}

/// Returns `text` taken apart into its words and its values.
pub(crate) fn frame(text: &str) -> Frame<'_> {
    let mut frame = Frame::default();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return frame;
    }
    let text = without_item_mark(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, raw) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| words[before]).filter(|_| at > 1 || words[0] != "|");
        match number(raw) {
            Some(number) if is_value(raw, number, before, words.get(at + 1)) => {
                frame.values.push(number);
                frame.text.push_str("# ");
            }
            Some(number) => {
                frame.others.push(number);
                frame.text.extend([number, " "]);
            }
            None => {
                let word = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                if !word.is_empty() {
                    frame.text.extend([&word, " "]);
                }
            }
        }
    }
    frame
}

/// Returns the number that a word is, without currency, unit and what stands around it: `957` of `**$957**.`
fn number(raw: &str) -> Option<&str> {
    let bare = raw.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = bare.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(bare.len());
    let (number, unit) = bare.split_at(digits);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    let is_unit = unit.len() <= LONGEST_UNIT && unit.chars().all(|c| c.is_ascii_alphabetic() || c == '%');
    // `#12` and `m12` name something, `/42` is a part of a path.
    let is_named = raw.contains(['#', '/', '\\', '_']);
    (is_number && is_unit && !is_named).then(|| number.trim_end_matches(['.', ',']))
}

/// Returns whether a number says how much, and not which one.
fn is_value(raw: &str, number: &str, before: Option<&str>, next: Option<&&str>) -> bool {
    if raw.contains(['$', '€', '£', '%'])
        || !raw.trim_end_matches(|c: char| !c.is_alphanumeric()).ends_with(number)
    {
        return true;
    }
    let counts = |next: &&str| {
        let word = next.trim_matches(|c: char| !c.is_alphanumeric());
        word.len() >= 3 && word.chars().all(|c| c.is_ascii_lowercase())
    };
    let Some(before) = before else { return next.is_some_and(counts) };
    // A cell of a table, but the first one, which names the row.
    if before == "|" && next.is_none_or(|next| *next == "|") {
        return true;
    }
    if before.trim_end_matches(['*', '_', '`']).ends_with([':', '=', '→', '≈', '~']) {
        return true;
    }
    let word = before.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    VERBS.contains(&&*word)
        || next.is_some_and(|next| counts(next) && next.trim_end_matches(['.', ',']).ends_with('s'))
            && !NAMED.contains(&&*word)
}

/// Returns a line of a list without the mark that it begins with.
fn without_item_mark(text: &str) -> &str {
    let rest = text.trim_start_matches(['-', '*', '•', ' ']);
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match behind.len() < rest.len() && behind.starts_with([')', '.']) && behind[1..].starts_with(' ') {
        true => &behind[2..],
        false => rest,
    }
}

/// Words behind which a number says how much.
const VERBS: [&str; 26] = [
    "is", "are", "was", "were", "be", "of", "has", "have", "had", "takes", "took", "costs", "cost", "totals",
    "about", "only", "now", "all", "with", "found", "got", "contains", "holds", "shows", "remain", "price",
];

/// Words behind which a number says which one.
const NAMED: [&str; 20] = [
    "step", "phase", "task", "issue", "option", "part", "round", "line", "row", "section", "item",
    "question", "version", "case", "batch", "unit", "level", "stage", "flight", "page",
];

/// Letters of the longest unit that is written behind a number.
const LONGEST_UNIT: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_numbers_that_name_something() {
        for (text, values, others) in [
            ("The total cost is **$1,047**.", vec!["1,047"], vec![]),
            ("- **Total Cost:** $957", vec!["957"], vec![]),
            ("Step 3 is complete, 12 tests pass", vec!["12"], vec!["3"]),
            ("2. The lock takes 40ms, 12 % of all", vec!["40"], vec!["12"]),
            ("All 147 tests of issue #12 pass in v1.2", vec!["147"], vec![]),
            ("see src/a.rs:12", vec![], vec![]),
        ] {
            let frame = frame(text);
            assert_eq!((frame.values, frame.others), (values, others), "{text}");
        }
    }

    #[test]
    fn what_differs_in_its_values_has_one_frame() {
        assert_eq!(frame("- **Total Cost:** $957").text, frame("- **Total Cost:** $1,047").text);
        assert_ne!(frame("Step 3 is complete").text, frame("Step 4 is complete").text);
    }
}
