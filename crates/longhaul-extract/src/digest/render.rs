//! Rendering the kept lines of a text with marks where lines were left out.

use super::{
    clean::{prefix, suffix},
    fit::{Allowance, Piece, fit},
    lines::tells_trouble,
    patterns::Class,
};

/// Returns the best of `lines` by `scores`, in order.
///
/// Where lines are missing, a mark says how many: `… 12 lines`. Lines with numbers show those instead, and one
/// mark at the end counts all that is missing.
pub(crate) fn lines_within(
    lines: &[&str],
    numbers: Option<&[Option<u64>]>,
    classes: &[Class],
    scores: &[f64],
    allowance: &Allowance<'_>,
) -> Option<String> {
    // No single line may take the whole allowance; those that carry an error get more of it.
    let room = usize::try_from(allowance.limit.0).unwrap_or(usize::MAX);
    let width = |at: usize| {
        let whole = allowance.preserve_error_details
            && classes
                .get(at)
                .is_some_and(|class| class.is_error() || matches!(class, Class::Totals | Class::Count));
        if whole { room.saturating_mul(3).max(40) } else { room.clamp(100, 240) }
    };
    let shown: Vec<String> =
        lines.iter().enumerate().map(|(at, line)| clip(line.trim_end(), width(at))).collect();
    let pieces: Vec<Piece> = shown
        .iter()
        .zip(scores)
        .map(|(line, &score)| Piece { score: score + allowance.wanted(line), bytes: line.len() })
        .collect();
    // Where the totals stand, a test that passed is told of by them: it takes no room, unless it is asked for. Where a run was
    // cut before them, those that passed say how far it came, unless one that failed does.
    let is_total = |line: &&str| *line == "PASS" || line.starts_with("ok  \t");
    let has_totals = classes.iter().any(|class| matches!(class, Class::Totals | Class::FailedTest))
        || lines.iter().any(is_total);
    // Progress says nothing beside what a run came to.
    let says_more = |(line, class): (&&str, &Class)| {
        !matches!(class, Class::Passed | Class::Progress | Class::Noise) && !line.trim().is_empty()
    };
    let has_said = lines.iter().zip(classes).any(says_more);
    let is_told = |at: &usize| {
        let is_told = match classes.get(*at) {
            Some(Class::Passed) => has_totals,
            // `Checking the database … connection refused` says more.
            Some(Class::Progress) => has_said && !tells_trouble(lines[*at]),
            _ => false,
        };
        is_told && allowance.wanted(lines[*at]) <= 0.0
    };
    // Lines with numbers are of a file: each stands where it is.
    let is_repeated: Vec<bool> = (0..shown.len()).map(|at| numbers.is_none() && repeats(lines, at)).collect();
    let candidates: Vec<usize> = (0..pieces.len()).filter(|at| !is_told(at) && !is_repeated[*at]).collect();
    let worth: Vec<Piece> = candidates.iter().map(|&at| pieces[at]).collect();
    fit(&worth, allowance, |kept| {
        let kept: Vec<usize> = kept.iter().map(|&nth| candidates[nth]).collect();
        let mut out = String::new();
        if numbers.is_some() {
            for &at in &kept {
                out.push_str(&shown[at]);
                out.push('\n');
            }
            out.push_str(&omitted_of(shown.len() - kept.len(), shown.len()));
            out.truncate(out.trim_end().len());
            return out;
        }
        let mut next = 0;
        for &at in &kept {
            gap(&mut out, &shown[next..at], at - next);
            out.push_str(&shown[at]);
            out.push('\n');
            next = at + 1;
            let same = is_repeated[next..].iter().take_while(|is_repeated| **is_repeated).count();
            if same > 0 {
                out.push_str(&format!("… {same} more lines like this\n"));
                next += same;
            }
        }
        gap(&mut out, &shown[next..], shown.len() - next);
        out.truncate(out.trim_end().len());
        out
    })
}

/// Returns whether the line at `at` is the one before it again, in a run of them that a line and a mark tell shorter.
fn repeats(lines: &[&str], at: usize) -> bool {
    let line = lines[at].trim_end();
    let is_same =
        |at: Option<usize>| at.and_then(|at| lines.get(at)).is_some_and(|other| other.trim_end() == line);
    let is_within = is_same(at.checked_sub(2)) || is_same(Some(at + 1));
    !line.is_empty() && is_same(at.checked_sub(1)) && is_within
}

/// Writes the mark for left-out lines, or the lines themselves where they are no longer than the mark.
fn gap(out: &mut String, left_out: &[String], count: usize) {
    let mark = omitted(count);
    let bytes: usize = left_out.iter().take(4).map(|line| line.len() + 1).sum();
    if count <= 3 && bytes <= mark.len() + 1 {
        for line in left_out {
            out.push_str(line);
            out.push('\n');
        }
    } else if left_out.iter().take(4).any(|line| !line.is_empty()) || count > 3 {
        out.push_str(&mark);
        out.push('\n');
    }
}

fn omitted_of(count: usize, all: usize) -> String {
    if count == 0 { String::new() } else { format!("… {count} of {all} lines omitted") }
}

/// Returns the mark for `count` left-out lines; empty for none.
fn omitted(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "… 1 line".to_owned(),
        n => format!("… {n} lines"),
    }
}

/// Returns `text` shortened to about `width` bytes: its head, `…`, and a little of its tail. Words stay whole where
/// they are of ordinary length, so that no identifier appears that the text does not hold.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if text.len() <= width {
        return text.to_owned();
    }
    let tail = width / 4;
    let (head, tail) = (prefix(text, width - tail), suffix(text, tail));
    let head_end = head.rfind(char::is_whitespace).filter(|end| head.len() - end < LONG_WORD);
    let tail_start = tail.find(char::is_whitespace).filter(|&start| start < LONG_WORD);
    let head = head_end.map_or(head, |end| &head[..end]);
    let tail = tail_start.map_or(tail, |start| &tail[start..]);
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

/// A word longer than this may be cut.
const LONG_WORD: usize = 80;

#[cfg(test)]
mod tests {
    use longhaul_transcript::Tokens;

    use super::*;
    use crate::digest::lines;

    #[test]
    fn tests_that_passed_are_left_to_the_totals_where_there_are_any() {
        let passed: Vec<String> = (0..140).map(|n| format!("test ledger::case_{n} ... ok")).collect();
        let shown = |end: &str| {
            let all: Vec<&str> = ["running 140 tests"]
                .into_iter()
                .chain(passed.iter().map(String::as_str))
                .chain([end])
                .collect();
            let (classes, scores) = lines::score(&all);
            let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
            let shown = lines_within(&all, None, &classes, &scores, &Allowance::new(Tokens(300), &count));
            shown.unwrap_or_default()
        };
        for end in [
            "test result: ok. 140 passed; 0 failed",
            "140 passed in 3.21s",
            "Tests:       140 passed, 140 total",
        ] {
            let shown = shown(end);
            assert!(shown.contains(end) && !shown.contains("... ok"), "{shown}");
        }
        for end in ["Process exited with code 124", "[The command completed with no output]", "(3 rows)"] {
            let shown = shown(end);
            assert!(shown.contains(end) && shown.contains("case_139 ... ok"), "{shown}");
        }
    }

    #[test]
    fn a_run_of_one_line_is_that_line_and_how_often_it_came() {
        let mut all = vec!["ERROR the same"; 2_000];
        all.insert(0, "starting");
        all.push("done");
        let (classes, scores) = lines::score(&all);
        let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
        let shown = lines_within(&all, None, &classes, &scores, &Allowance::new(Tokens(300), &count));
        assert_eq!(shown.as_deref(), Some("starting\nERROR the same\n… 1999 more lines like this\ndone"));
    }

    #[test]
    fn left_out_lines_are_counted_where_they_were() {
        let text: Vec<String> = (0..50).map(|n| format!("word number {n} of the long output")).collect();
        let mut all: Vec<&str> = text.iter().map(String::as_str).collect();
        all[20] = "error: it broke";
        let (classes, scores) = lines::score(&all);
        let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
        let shown = lines_within(&all, None, &classes, &scores, &Allowance::new(Tokens(24), &count));
        assert_eq!(
            shown.as_deref(),
            Some("word number 0 of the long output\n… 19 lines\nerror: it broke\n… 29 lines")
        );
    }
}
