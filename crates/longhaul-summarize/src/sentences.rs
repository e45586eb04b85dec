//! Where sentences end.

/// Returns the sentences of a paragraph of prose. One ends at a full stop, question or exclamation mark before a blank
/// and a new beginning; not inside code, a quotation or brackets, nor behind an abbreviation.
pub(crate) fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    let mut ends = Vec::new();
    let (mut in_code, mut in_quote, mut depth) = (false, false, 0usize);
    for (at, c) in paragraph.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '`' => in_code = !in_code,
            _ if in_code => {}
            '"' => in_quote = !in_quote,
            '“' | '«' => in_quote = true,
            '”' | '»' => in_quote = false,
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_open = in_code || in_quote || depth > 0;
        let rest = &paragraph[end..];
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '`' | '"' | '”' | ')' | '*' if !is_open => {
                let said = paragraph[..end].trim_end_matches(['`', '"', '”', ')', '*']);
                said.ends_with(['.', '!', '?'])
                    && !is_abbreviation(said)
                    && rest.starts_with(' ')
                    && !rest.trim_start().starts_with(|next: char| next.is_lowercase())
            }
            _ => false,
        };
        if is_end {
            ends.push(end);
        }
    }
    ends.push(paragraph.len());
    let mut from = 0;
    let pieces = ends.into_iter().map(move |end| {
        let piece = &paragraph[from.min(end)..end];
        from = end;
        piece
    });
    pieces.filter(|piece| !piece.trim().is_empty())
}

/// `i.e.`, `e.g.`, `vs.`, `No.`, an initial, the day of a German date.
fn is_abbreviation(said: &str) -> bool {
    let word = said.trim_end_matches('.').rsplit([' ', '(', '\u{a0}']).next().unwrap_or_default();
    let lower = word.to_lowercase();
    said.ends_with('.')
        && (ABBREVIATIONS.contains(&lower.as_str())
            || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "I")
            || (word.len() <= 2 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())))
}

const ABBREVIATIONS: [&str; 24] = [
    "i.e", "e.g", "vs", "cf", "no", "nr", "approx", "ca", "etc", "dr", "mr", "mrs", "ms", "prof", "st",
    "fig", "sec", "incl", "resp", "bzw", "z.b", "d.h", "u.a", "al",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_new_one_begins() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(sentences(text).map(str::trim).collect::<Vec<_>>(), expected, "{text}");
        };
        check("Version 4. 2 is out. It works.", &["Version 4. 2 is out.", "It works."]);
        check("He said \"No. Never.\" Then left.", &["He said \"No. Never.\"", "Then left."]);
        check("Edit src/lib.rs and a.b. then go.", &["Edit src/lib.rs and a.b. then go."]);
        check("好。再见。", &["好。", "再见。"]);
        check("", &[]);
    }
}
