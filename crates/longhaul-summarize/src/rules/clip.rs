//! Cutting text to a number of tokens.

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

/// What stands where something was cut out.
pub(crate) const GAP: &str = " […] ";

/// Returns the longest start of `text`, cut at a blank where one is near, that costs at most `limit`.
pub(crate) fn to_tokens(text: &str, limit: Tokens, counter: &dyn TokenCounter) -> String {
    if counter.count_up_to(text, limit).is_some() {
        return text.to_string();
    }
    let fits = |end: usize| counter.count_up_to(&text[..boundary(text, end)], limit).is_some();
    let end = boundary(text, bisect(text.len(), fits));
    let cut = text[..end].trim_end();
    // A word cut in two would be a word that the source does not have.
    match cut.rfind(char::is_whitespace) {
        Some(blank)
            if end < text.len() && !text[end..].starts_with(char::is_whitespace) && blank * 2 > cut.len() =>
        {
            cut[..blank].trim_end().to_string()
        }
        _ => cut.to_string(),
    }
}

/// Returns start and end of `text` with a gap between, at most `limit` tokens in all; a third goes to the end, or `end` tokens
/// where that is more, but never more than half.
pub(crate) fn ends(text: &str, limit: Tokens, end: Tokens, counter: &dyn TokenCounter) -> String {
    if counter.count_up_to(text, limit).is_some() {
        return text.to_string();
    }
    let room = limit - counter.count_text(GAP);
    // What is counted with the words around it may cost a token or two more than alone.
    let for_end = room.scaled(0.33).max((end + Tokens(2)).min(room.scaled(0.5)));
    let start = to_tokens(text, room - for_end, counter);
    let left = room - counter.count_text(&start);
    let fits = |length: usize| {
        let from = boundary(text, text.len() - length);
        counter.count_up_to(&text[from..], left).is_some()
    };
    let mut from = boundary(text, text.len() - bisect(text.len() - start.len(), fits));
    let before = text[..from].chars().next_back();
    if before.is_some_and(|c| !c.is_whitespace()) {
        from += text[from..].find(char::is_whitespace).unwrap_or(0);
    }
    let both = format!("{start}{GAP}{}", text[from..].trim_start());
    if counter.count_up_to(&both, limit).is_some() { both } else { start }
}

fn bisect(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let at = low + (high - low) / 2;
        if fits(at) { low = at } else { high = at }
    }
    low
}

/// Returns the last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
