//! Sentences of what a person typed.

/// Returns the sentences of `text`, trimmed, in order. Fenced code, markup and quoted output are left out, as are
/// sentences too short or too long to be a person's. Bullets and numbers that open a line do not count as text.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut in_fence = false;
    let lines = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_fence ^= fence;
        !fence && !in_fence
    });
    lines.map(unmarked).filter(|line| !line.starts_with(['<', '>', '{', '|', '$'])).flat_map(split).filter(
        |sentence| {
            let length = sentence.chars().take(LONGEST + 1).count();
            (SHORTEST..=LONGEST).contains(&length)
        },
    )
}

/// Returns `line` without the mark of a list item or heading.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(['-', '*', '•', '#', '–']);
    if rest.len() != line.len() && rest.starts_with(' ') {
        return rest.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 && rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    }
}

/// Splits after a mark that ends a sentence: one of the wide ones, or `.`, `!`, `?`, `;` before a blank.
fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let after = &rest[at + c.len_utf8()..];
            let wide = matches!(c, '。' | '！' | '？' | '；');
            let narrow = matches!(c, '.' | '!' | '?' | ';') && after.starts_with(char::is_whitespace);
            if wide || (narrow && !is_abbreviation(&rest[..at])) {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(sentence.trim())
    })
}

fn is_abbreviation(before: &str) -> bool {
    ["e.g", "i.e", "etc", "z.B", "p.ex", "vs", "cf", "z. B", "bzw", "ca"]
        .iter()
        .any(|short| before.ends_with(short))
}

/// Characters of the shortest sentence; three ideographs can be one.
const SHORTEST: usize = 4;

/// Characters of the longest sentence that a person demands something with.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let text = "Use src/a.rs, e.g. line 2. Then stop!\n- Never push; ask first.\n2. 只用标准库。不要联网。\n```\nmust not\n```\n<tag>x</tag>";
        let all: Vec<_> = sentences(text).collect();
        assert_eq!(
            all,
            [
                "Use src/a.rs, e.g. line 2.",
                "Then stop!",
                "Never push;",
                "ask first.",
                "只用标准库。",
                "不要联网。"
            ]
        );
    }
}
