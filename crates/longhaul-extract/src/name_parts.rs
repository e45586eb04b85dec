//! The words that names are made of: `parse`, `header` of `parse_header`, `ParseHeader`, `parse-header.rs`.

/// Returns the words of `text`: runs of letters or of digits, cut where a capital begins a new word.
///
/// A run of capitals is one word, up to the last where a small letter follows: `HTTPServer` is `HTTP` and `Server`. In
/// scripts without spaces a run is one word however long it is.
pub fn name_parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let (part, after) = rest.split_at(part_end(rest));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Returns the length of the word that `text` begins with.
fn part_end(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, mut before)) = chars.next() else { return 0 };
    let (mut before_at, mut capitals) = (0, usize::from(before.is_uppercase()));
    for (at, c) in chars {
        let is_word = c.is_alphanumeric() && c.is_numeric() == before.is_numeric();
        if !is_word || (c.is_uppercase() && before.is_lowercase()) {
            return at;
        }
        if capitals > 1 && c.is_lowercase() {
            return before_at;
        }
        capitals = if c.is_uppercase() { capitals + 1 } else { 0 };
        (before_at, before) = (at, c);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_their_words() {
        let parts = |text| name_parts(text).collect::<Vec<_>>();
        assert_eq!(parts("src/parse_header-line.rs"), ["src", "parse", "header", "line", "rs"]);
        assert_eq!(parts("getHTTPServerURL"), ["get", "HTTP", "Server", "URL"]);
        assert_eq!(parts("RetryLoop2 v10"), ["Retry", "Loop", "2", "v", "10"]);
        assert_eq!(parts("重试 队列.md Größe"), ["重试", "队列", "md", "Größe"]);
        assert_eq!(parts("--"), [""; 0]);
    }
}
