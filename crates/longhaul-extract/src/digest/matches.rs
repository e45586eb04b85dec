//! Search results: matches grouped by file.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    fit::{Allowance, Piece, fit},
    lines::{classify, spread},
    listing::split_path,
    patterns::Class,
    render::clip,
};
use crate::bytewise::Bytewise;
use longhaul_transcript::counted;

/// One match of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match<'a> {
    pub(crate) file: &'a str,
    /// The line number as spelled, or empty where the search gave none.
    pub(crate) line: &'a str,
    pub(crate) text: &'a str,
}

static WITH_FILE: LazyLock<Bytewise> = LazyLock::new(|| {
    Bytewise::new(r"^((?:[A-Za-z]:)?[^\s:][^:]{0,300}?)(?::|\()(\d{1,7})(?::\d{1,5})?\)?: ?(.*)$")
        .expect("a tested pattern")
});
static HEADED: LazyLock<Bytewise> =
    LazyLock::new(|| Bytewise::new(r"^\s*(?:Line |line )?(\d{1,7})[:-] ?(.*)$").expect("a tested pattern"));

/// Reads the output of grep, ripgrep and the agents' own search tools: `file:line:text`, or a line with the file and
/// then its lines. `None` where less than half of the lines are matches.
pub(crate) fn parse_matches<'a>(lines: &[&'a str]) -> Option<Vec<Match<'a>>> {
    let mut found = Vec::new();
    let (mut seen, mut heads) = (0usize, 0usize);
    let mut file: Option<&'a str> = None;
    for &line in lines {
        let body = line.trim();
        if body.is_empty() || body == "--" || body.bytes().all(|b| matches!(b, b'-' | b'=')) {
            continue;
        }
        seen += 1;
        if let (Some([Some(line), Some(text)]), Some(file)) = (HEADED.groups(line).as_deref(), file) {
            found.push(Match { file, line, text });
        } else if let Some([Some(file), Some(line), Some(text)]) = WITH_FILE.groups(line).as_deref()
            && looks_like_path(file)
        {
            found.push(Match { file, line, text });
        } else if let Some(path) = head_of_file(body) {
            file = Some(path);
            heads += 1;
        }
        if seen == PROBE && found.len() + heads < PROBE / 2 {
            return None;
        }
    }
    (!found.is_empty() && (found.len() + heads) * 2 > seen).then_some(found)
}

/// After this many lines, a text that has shown few matches is not a search result.
const PROBE: usize = 40;

fn head_of_file(body: &str) -> Option<&str> {
    let body = body.strip_prefix("File: ").unwrap_or(body);
    let body = body.strip_suffix(':').unwrap_or(body).trim_matches(['`', '"', '\'']);
    (looks_like_path(body) && !body.contains(' ')).then_some(body)
}

fn looks_like_path(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let extension = name.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty() && (1..=8).contains(&ext.len()) && ext.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    !text.contains("://") && !text.contains(", ") && (extension || text.contains('/')) && text.len() < 300
}

/// Returns the matches within the allowance, under their files.
pub(crate) fn matches_within(found: &[Match<'_>], allowance: &Allowance<'_>) -> Option<String> {
    let mut files: Vec<(&str, usize)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut file_of = Vec::with_capacity(found.len());
    for one in found {
        let at = *place.entry(one.file).or_insert_with(|| {
            files.push((one.file, 0));
            files.len() - 1
        });
        files[at].1 += 1;
        file_of.push(at);
    }
    // Files come first in the list of pieces, then the matches: a match shows its file in any case.
    let mut scores: Vec<f64> = vec![4.0; files.len()];
    let mut rank_in_file = vec![0usize; files.len()];
    for (one, &file) in found.iter().zip(&file_of) {
        let definition = matches!(classify(one.text), Class::Definition | Class::Decisive);
        let rank = rank_in_file[file] as f64;
        rank_in_file[file] += 1;
        scores.push(if definition { 5.0 } else { 3.5 } / (1.0 + 0.15 * rank.min(30.0)));
    }
    let (file_scores, match_scores) = scores.split_at_mut(files.len());
    spread(file_scores);
    spread(match_scores);
    let texts: Vec<String> = found.iter().map(|one| clip(one.text.trim(), 200)).collect();
    let pieces: Vec<Piece> = scores
        .iter()
        .enumerate()
        .map(|(at, &score)| {
            let text = at.checked_sub(files.len()).map_or_else(|| files[at].0, |at| texts[at].as_str());
            Piece { score: score + allowance.wanted(text), bytes: text.len() + 8 }
        })
        .collect();
    fit(&pieces, allowance, |kept| {
        let mut out = format!("{} matches in {}", found.len(), counted(files.len() as u64, "file"));
        let mut per_file: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
        let mut shown = vec![false; files.len()];
        for &piece in kept {
            match piece.checked_sub(files.len()) {
                None => shown[piece] = true,
                Some(at) => {
                    shown[file_of[at]] = true;
                    per_file[file_of[at]].push(at);
                }
            }
        }
        let with_matches = |file: &usize| !per_file[*file].is_empty();
        for file in (0..files.len()).filter(with_matches) {
            let ((path, count), kept) = (files[file], &per_file[file]);
            out.push('\n');
            out.push_str(path);
            if kept.len() < count {
                out.push_str(&format!(" ({count})"));
            }
            for &at in kept {
                out.push_str("\n  ");
                if !found[at].line.is_empty() {
                    out.push_str(found[at].line);
                    out.push_str(": ");
                }
                out.push_str(&texts[at]);
            }
        }
        // Files without a shown match: one line a directory, the names with their counts.
        let mut directory = None;
        for file in (0..files.len()).filter(|file| shown[*file] && !with_matches(file)) {
            let (path, count) = files[file];
            let (dir, name) = split_path(path);
            out.push_str(if directory == Some(dir) { ", " } else { "\n" });
            if directory != Some(dir) && !dir.is_empty() {
                out.push_str(dir);
                out.push_str(": ");
            }
            directory = Some(dir);
            out.push_str(&format!("{name} ({count})"));
        }
        let hidden = shown.iter().filter(|shown| !**shown).count();
        if hidden > 0 {
            out.push_str(&format!("\n… {} omitted", counted(hidden as u64, "file")));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::Tokens;

    use super::*;

    #[test]
    fn both_forms_of_search_output_are_read() {
        let flat = ["src/a.rs:3:fn a() {}", "src/a.rs:9:7:a();", "README.md:1:# a"];
        let found = parse_matches(&flat).expect("are matches");
        assert_eq!(found[1], Match { file: "src/a.rs", line: "9", text: "a();" });
        let headed = ["src/a.rs:", "3:fn a() {}", "9-  a();", "", "src/b.rs", "1: x"];
        assert_eq!(parse_matches(&headed).expect("are matches").len(), 3);
        assert!(parse_matches(&["one", "two: three", "4: five"]).is_none());
    }

    #[test]
    fn each_file_is_named_once() {
        let found =
            parse_matches(&["src/a.rs:3:fn a() {}", "src/a.rs:9:a();", "b.md:1:a"]).expect("are matches");
        let count = |text: &str| Tokens(text.len() as u64);
        let shown = matches_within(&found, &Allowance::new(Tokens(100), &count));
        assert_eq!(
            shown.as_deref(),
            Some("3 matches in 2 files\nsrc/a.rs\n  3: fn a() {}\n  9: a();\nb.md\n  1: a")
        );
    }
}
