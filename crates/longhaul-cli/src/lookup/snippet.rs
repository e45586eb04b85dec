//! The places of a text where what was looked for stands.

use longhaul::store::words;

use crate::paint::plain;

/// What stands before and after a word that was looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks<'a>(pub(crate) &'a str, pub(crate) &'a str);

/// Two places closer than this, in bytes, are shown as one.
const NEAR: usize = 160;

/// Returns up to `most` places of `text`, each a line of at most `columns` columns in which the words of `query` are marked; the
/// beginning of the text where none of them stands in it. The first is where most of them stand.
pub(crate) fn snippets(
    text: &str,
    query: &str,
    most: usize,
    columns: usize,
    marks: Marks<'_>,
) -> Vec<String> {
    let wanted: Vec<String> = words(query).collect();
    let places = places(text, &wanted);
    let mut best: Vec<(usize, usize)> = Vec::new();
    for (at, _, _) in &places {
        let held = |word: usize| places.iter().any(|(p, _, w)| *w == word && *p >= *at && *p < at + NEAR);
        best.push(((0..wanted.len()).filter(|word| held(*word)).count(), *at));
    }
    // Most words first, then as they stand in the text.
    best.sort_by_key(|(held, at)| (std::cmp::Reverse(*held), *at));
    let mut chosen: Vec<usize> = Vec::new();
    for (_, at) in best {
        if chosen.len() < most && chosen.iter().all(|other| other.abs_diff(at) >= NEAR) {
            chosen.push(at);
        }
    }
    if chosen.is_empty() {
        chosen.push(0);
    }
    chosen.into_iter().map(|at| line(text, at, &places, columns, marks)).collect()
}

/// Returns the place, the length and the number of each word of `wanted` in `text`, in order.
fn places(text: &str, wanted: &[String]) -> Vec<(usize, usize, usize)> {
    /// As many places tell where the best is.
    const ENOUGH: usize = 2_000;
    let mut found = Vec::new();
    for (at, run) in runs(text) {
        let lower = run.to_lowercase();
        let word = wanted.iter().position(|word| match word.is_ascii() {
            true => lower == *word,
            // Scripts without spaces: a word is a part of a run.
            false => lower.contains(word.as_str()),
        });
        found.extend(word.map(|word| (at, run.len(), word)));
        if found.len() == ENOUGH {
            break;
        }
    }
    found
}

/// Returns the runs of letters and digits of `text`, with where they stand.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr() as usize;
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(move |run| (run.as_ptr() as usize - base, run))
}

/// Returns a line of `text` around `at`, in which each of `places` is marked.
fn line(text: &str, at: usize, places: &[(usize, usize, usize)], columns: usize, marks: Marks<'_>) -> String {
    // A quarter before the word, the rest from it on; a line break ends what belongs together only for the eye.
    let start = text.floor_char_boundary(at.saturating_sub(columns / 4));
    let start = match start {
        0 => 0,
        start => text[start..at].find(char::is_whitespace).map_or(start, |space| start + space),
    };
    let mut out = String::new();
    let mut width = 0;
    if start > 0 && !text[..start].trim().is_empty() {
        out.push('…');
        width = 1;
    }
    let mut rest = start;
    let mut is_blank = true;
    while let Some(c) = text[rest..].chars().next() {
        let marked = places.iter().find(|(place, _, _)| *place == rest);
        let length = marked.map_or(c.len_utf8(), |(_, length, _)| *length);
        let piece = &text[rest..rest + length];
        rest += length;
        if c.is_whitespace() {
            is_blank = true;
            continue;
        }
        let gap = usize::from(is_blank && width > 1);
        let wide = plain(piece);
        if width + gap + wide.chars().count() + 1 > columns {
            out.push('…');
            break;
        }
        if gap > 0 {
            out.push(' ');
        }
        is_blank = false;
        width += gap + wide.chars().count();
        match marked {
            Some(_) => out.extend([marks.0, &wide, marks.1]),
            None => out.push_str(&wide),
        }
    }
    out
}

/// Returns whether `text` holds `phrase`, whatever blanks stand between its words; both are in lower case.
pub(super) fn holds_phrase(text: &str, phrase: &str) -> bool {
    if text.contains(phrase) {
        return true;
    }
    let mut words = phrase.split(' ');
    let Some(first) = words.next().filter(|first| !first.is_empty()) else { return false };
    let rest: Vec<&str> = words.collect();
    text.match_indices(first).any(|(at, _)| {
        let mut after = &text[at + first.len()..];
        rest.iter().all(|word| {
            let trimmed = after.trim_start();
            let is_next = trimmed.len() < after.len() && trimmed.starts_with(word);
            after = trimmed.get(word.len()..).filter(|_| is_next).unwrap_or_default();
            is_next
        })
    })
}

/// Returns over how many bytes of `text` the words of `wanted` are spread where they stand closest together.
pub(super) fn spread(text: &str, wanted: &[String]) -> usize {
    let places = places(text, wanted);
    let mut last: Vec<Option<usize>> = vec![None; wanted.len()];
    let mut least = usize::MAX;
    for (at, length, word) in places {
        last[word] = Some(at);
        // Each word of a query that says it twice is the same place.
        let first = (0..wanted.len()).map(|other| {
            let same = wanted.iter().position(|word| *word == wanted[other]).unwrap_or(other);
            last[same]
        });
        if let Some(first) = first.collect::<Option<Vec<usize>>>().and_then(|all| all.into_iter().min()) {
            least = least.min(at + length - first);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks<'_> = Marks("«", "»");

    fn shown(text: &str, query: &str) -> Vec<String> {
        snippets(text, query, 2, 40, MARKS)
    }

    #[test]
    fn the_words_are_marked_where_most_of_them_stand() {
        let text = format!("retry once.\n{}\nthe retry budget of the relay is 48,000\n", "x ".repeat(200));
        let lines = shown(&text, "Retry BUDGET");
        assert_eq!(
            lines,
            ["…x x the «retry» «budget» of the relay is 4…", "«retry» once. x x x x x x x x x x x x x x…"]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= 40 + 4), "{lines:?}");
    }

    #[test]
    fn what_holds_nothing_is_shown_from_its_beginning() {
        assert_eq!(shown("nothing of\tthat", "zebra"), ["nothing of that"]);
        assert_eq!(shown("", "zebra"), [""]);
        assert_eq!(shown("a\x1b[2Jb zebra", "zebra"), ["a\\u{1b}[2Jb «zebra»"]);
    }

    #[test]
    fn scripts_without_spaces_are_found() {
        assert_eq!(shown("请先读文件再改", "文件"), ["«请先读文件再改»"]);
    }

    #[test]
    fn phrases_and_close_words_are_told_apart() {
        assert!(holds_phrase("the retry\n budget", "retry budget"));
        assert!(!holds_phrase("retrybudget and budget retry", "retry budget"));
        let wanted: Vec<String> = words("retry budget").collect();
        assert_eq!(spread("retry a budget", &wanted), 14);
        assert_eq!(spread("retry", &wanted), usize::MAX);
        assert_eq!(spread("b a b", &words("b b").collect::<Vec<_>>()), 1);
    }
}
