//! The places of a text where what was looked for stands.

use longhaul::store::{Query, WordPlace};

use crate::paint::{plain_piece, width};

/// What stands before and after a word that was looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks<'a>(pub(crate) &'a str, pub(crate) &'a str);

/// Two places closer than this, in bytes, are shown as one.
const NEAR: usize = 160;

/// Returns up to `most` places of `text`, each a line of at most `columns` columns in which the words of `query` are marked; the
/// beginning of the text where none of them stands in it. The first is where all of them stand as they were written or closest, else
/// where most of them do.
pub(crate) fn snippets(
    text: &str,
    query: &str,
    most: usize,
    columns: usize,
    marks: Marks<'_>,
) -> Vec<String> {
    let query = Query::new(query);
    let places = query.places(text);
    let mut best: Vec<(usize, usize)> = Vec::new();
    let (mut near, mut end) = (Held::new(query.telling().len()), 0);
    for place in &places {
        while let Some(next) = places.get(end).filter(|next| next.at < place.at + NEAR) {
            near.add(next.word);
            end += 1;
        }
        best.push((near.words, place.at));
        near.remove(place.word);
    }
    // Most words first, then as they stand in the text.
    best.sort_by_key(|(held, at)| (std::cmp::Reverse(*held), *at));
    let mut chosen: Vec<usize> = query.place_of_all(text).into_iter().collect();
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

/// How many different words stand in a stretch of places.
struct Held {
    /// How often each does.
    times: Vec<usize>,
    words: usize,
}

impl Held {
    fn new(words: usize) -> Held {
        Held { times: vec![0; words], words: 0 }
    }

    fn add(&mut self, word: usize) {
        self.times[word] += 1;
        self.words += usize::from(self.times[word] == 1);
    }

    fn remove(&mut self, word: usize) {
        self.times[word] -= 1;
        self.words -= usize::from(self.times[word] == 0);
    }
}

/// Returns a line of `text` around `at`, in which each of `places` is marked.
fn line(text: &str, at: usize, places: &[WordPlace], columns: usize, marks: Marks<'_>) -> String {
    // A quarter before the word, the rest from it on; a line break ends what belongs together only for the eye.
    let start = text.floor_char_boundary(at.saturating_sub(columns / 4));
    let start = match start {
        0 => 0,
        start => text[start..at].find(char::is_whitespace).map_or(start, |space| start + space),
    };
    let mut out = String::new();
    let mut taken = 0;
    if start > 0 && !text[..start].trim().is_empty() {
        out.push('…');
        taken = 1;
    }
    let mut rest = start;
    // Before the first word stands none.
    let (mut is_begun, mut is_blank, mut in_mark) = (false, false, false);
    while let Some(c) = text[rest..].chars().next() {
        let place = places.binary_search_by_key(&rest, |place| place.at).ok().map(|at| &places[at]);
        // A word for which no line has room is shown as far as it goes.
        let place = place.filter(|place| width(&plain_piece(text, rest..rest + place.length)) + 2 < columns);
        let piece = rest..rest + place.map_or(c.len_utf8(), |place| place.length);
        rest = piece.end;
        if c.is_whitespace() {
            is_blank = is_begun;
            continue;
        }
        let gap = usize::from(is_blank);
        let wide = plain_piece(text, piece);
        let is_full = taken + gap + width(&wide) + 1 > columns;
        // Of a script without spaces each character is a word: what stands together is marked as one.
        if in_mark && (is_full || gap > 0 || place.is_none()) {
            out.push_str(marks.1);
            in_mark = false;
        }
        if is_full {
            out.push('…');
            break;
        }
        if gap > 0 {
            out.push(' ');
        }
        if place.is_some() && !in_mark {
            out.push_str(marks.0);
            in_mark = true;
        }
        (is_begun, is_blank) = (true, false);
        taken += gap + width(&wide);
        out.push_str(&wide);
    }
    if in_mark {
        out.push_str(marks.1);
    }
    out
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
        assert_eq!(shown(" I saw a zebra", "zebra"), ["I saw a «zebra»"]);
        assert_eq!(shown("Ω is it", "omega"), ["Ω is it"]);
    }

    #[test]
    fn scripts_without_spaces_are_found() {
        assert_eq!(shown("请先读文件再改", "文件"), ["请先读«文件»再改"]);
        let text = format!("{}重启 Redis 服务器后再试", "任务要用机器。".repeat(40));
        let lines = shown(&text, "Redis 服务器");
        assert!(lines[0].contains("«Redis» «服务器»后再试"), "{lines:?}");
        // What is wider than a line is shown as far as it goes.
        let sought = "请先读文件再改服务器后再试任务要用机器".repeat(2);
        let lines = shown(&format!("说：{sought}。"), &sought);
        assert!(lines[0].contains("«请先读文件再改") && lines[0].ends_with("»…"), "{lines:?}");
        assert!(width(&lines[0]) <= 40 + 2, "{lines:?}");
        let lines = shown(&format!("see {}", "x".repeat(90)), &"x".repeat(90));
        assert!(lines[0].starts_with("see xxx") && width(&lines[0]) <= 40, "{lines:?}");
        let lines = shown(&"请先读 ".repeat(40), "文件");
        assert!(lines[0].ends_with('…') && width(&lines[0]) <= 40, "{lines:?}");
    }

    /// A model may look for a paragraph that it pastes.
    #[test]
    fn a_long_query_costs_little_more_than_a_short_one() {
        let word = |n: usize| format!("word{}", n % 97);
        let text = (0..4_000).map(|n| word(n * n) + " ").collect::<String>();
        let cost = |words: usize| {
            let query = (0..words).map(|n| word(n) + " ").collect::<String>();
            let started = std::time::Instant::now();
            for _ in 0..5 {
                Query::new(&query).fit(&text);
                shown(&text, &query);
            }
            started.elapsed().as_secs_f64()
        };
        cost(10);
        let (ten, thousand) = (cost(10), cost(1_000));
        assert!(thousand < 20.0 * ten + 0.2, "{ten:.3} s for ten words, {thousand:.3} s for a thousand");
    }
}
