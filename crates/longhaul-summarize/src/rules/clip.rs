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
    let fits = |end: usize| counter.count_up_to(&text[..text.floor_char_boundary(end)], limit).is_some();
    let end = text.floor_char_boundary(bisect(text.len(), fits));
    let cut = text[..end].trim_end();
    // A word cut in two would be a word that the source does not have.
    match cut.rfind(char::is_whitespace) {
        Some(blank)
            if end < text.len() && !text[end..].starts_with(char::is_whitespace) && blank * 2 > cut.len() =>
        {
            cut[..blank].trim_end().to_string()
        }
        _ => text[..word_start(text, end)].trim_end().to_string(),
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
        let from = text.floor_char_boundary(text.len() - length);
        counter.count_up_to(&text[from..], left).is_some()
    };
    let mut from = text.floor_char_boundary(text.len() - bisect(text.len() - start.len(), fits));
    let before = text[..from].chars().next_back();
    if before.is_some_and(|c| !c.is_whitespace()) {
        from = match text[from..].find(char::is_whitespace) {
            Some(blank) => from + blank,
            None if is_within_word(text, from) => return to_tokens(text, limit, counter),
            None => from,
        };
    }
    let both = format!("{start}{GAP}{}", text[from..].trim_start());
    if counter.count_up_to(&both, limit).is_some() { both } else { start }
}

/// Returns whether a cut at `at` would part a word, in a script that sets blanks between words.
fn is_within_word(text: &str, at: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && c < FIRST_WITHOUT_BLANKS;
    text[..at].chars().next_back().is_some_and(is_letter) && text[at..].starts_with(is_letter)
}

/// Returns where the word begins that a cut at `end` would part, or `end` where it parts none, or one so long that it is
/// none.
fn word_start(text: &str, end: usize) -> usize {
    let starts = text[..end].char_indices().rev().take(LONGEST_WORD).map(|(at, _)| at);
    [end].into_iter().chain(starts).find(|at| !is_within_word(text, *at)).unwrap_or(end)
}

/// The first letter of the scripts that set no blanks: Thai, and after some that do, those of the Far East.
const FIRST_WITHOUT_BLANKS: char = '\u{e00}';

/// What is longer is a key or an address, of which a part says more than nothing.
const LONGEST_WORD: usize = 40;

fn bisect(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let at = low + (high - low) / 2;
        if fits(at) { low = at } else { high = at }
    }
    low
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::CharsPer4;

    use super::*;

    #[test]
    fn no_word_is_cut_in_its_middle() {
        for text in [
            "Deploy only with permission-from-the-release-manager-of-the-week",
            "Never touch crates/net/src/dial.rs, crates/net/src/retry.rs or the ledger's audit trail; ask first.",
            "Nie_ohne_Prüfung: Änderungen/Löschungen/Überschreibungen/Wiederherstellungen/Zurücksetzungen",
        ] {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            for limit in 8..24 {
                for cut in [
                    to_tokens(text, Tokens(limit), &CharsPer4),
                    ends(text, Tokens(limit), Tokens(5), &CharsPer4),
                ] {
                    let is_whole = |word: &str| word.is_empty() || words.contains(&word);
                    assert!(cut.split(|c: char| !c.is_alphanumeric()).all(is_whole), "{limit}: {cut:?}");
                    assert!(!cut.is_empty(), "{limit}");
                }
            }
        }
        // Without blanks there is nothing to go by.
        let text = "変更は必ず確認してから行ってください。".repeat(3);
        assert!(ends(&text, Tokens(10), Tokens(3), &CharsPer4).contains(GAP));
    }
}
