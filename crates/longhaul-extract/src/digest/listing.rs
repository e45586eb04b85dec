//! Lists of paths, grouped by directory.

use std::collections::HashMap;

use super::{
    fit::{Allowance, Piece, fit},
    lines::spread,
};

/// Returns whether the lines are paths or names, one each.
pub(crate) fn is_listing(lines: &[&str]) -> bool {
    let mut paths = 0usize;
    let mut others = 0usize;
    for line in lines.iter().take(400) {
        match line.trim() {
            "" => {}
            body if is_path(body) => paths += 1,
            _ => others += 1,
        }
    }
    paths >= 3 && others * 4 <= paths
}

fn is_path(body: &str) -> bool {
    let plain =
        body.len() < 300 && !body.contains([' ', '\t', '(', ')', '{', '}', ';', '=', '"', ',', '<', '>']);
    plain && !body.contains("://") && !body.ends_with([':', '.']) && body.contains(['/', '.', '\\', '_', '-'])
        || plain && body.ends_with('/')
}

/// Returns the paths within the allowance: a line a directory, with the names in it. Lines that are no paths (`Found 12
/// files`) stay as they are.
pub(crate) fn listing_within(lines: &[&str], allowance: &Allowance<'_>) -> Option<String> {
    let entries: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let mut groups: Vec<(&str, usize)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut split = Vec::with_capacity(entries.len());
    for entry in &entries {
        let (dir, name) = if is_path(entry) { split_path(entry) } else { ("", *entry) };
        let at = *place.entry(dir).or_insert_with(|| {
            groups.push((dir, 0));
            groups.len() - 1
        });
        groups[at].1 += 1;
        split.push((at, name));
    }
    let mut scores: Vec<f64> = vec![4.0; groups.len()];
    let mut rank_in_group = vec![0usize; groups.len()];
    for ((group, _), entry) in split.iter().zip(&entries) {
        let rank = rank_in_group[*group] as f64;
        rank_in_group[*group] += 1;
        let said = if is_path(entry) { 3.8 / (1.0 + 0.05 * rank.min(60.0)) } else { 6.0 };
        scores.push(said);
    }
    let (group_scores, entry_scores) = scores.split_at_mut(groups.len());
    spread(group_scores);
    spread(entry_scores);
    let pieces: Vec<Piece> = scores
        .iter()
        .enumerate()
        .map(|(at, &score)| match at.checked_sub(groups.len()) {
            None => Piece { score, bytes: groups[at].0.len() + 4 },
            Some(at) => Piece { score: score + allowance.wanted(entries[at]), bytes: split[at].1.len() + 2 },
        })
        .collect();
    fit(&pieces, allowance, |kept| {
        let mut names: Vec<Vec<&str>> = vec![Vec::new(); groups.len()];
        let mut shown = vec![false; groups.len()];
        for &piece in kept {
            match piece.checked_sub(groups.len()) {
                None => shown[piece] = true,
                Some(at) => {
                    shown[split[at].0] = true;
                    names[split[at].0].push(split[at].1);
                }
            }
        }
        let mut out = String::new();
        for (group, &(dir, count)) in groups.iter().enumerate().filter(|&(group, _)| shown[group]) {
            if !out.is_empty() {
                out.push('\n');
            }
            if !dir.is_empty() {
                out.push_str(dir);
                out.push_str(": ");
            }
            out.push_str(&names[group].join(", "));
            let hidden = count - names[group].len();
            if hidden > 0 {
                let sep = if names[group].is_empty() { "" } else { ", " };
                out.push_str(&format!("{sep}… {hidden} more"));
            }
        }
        let hidden: usize =
            groups.iter().zip(&shown).filter(|(_, shown)| !**shown).map(|((_, n), _)| n).sum();
        if hidden > 0 {
            let sep = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{sep}… {hidden} entries omitted"));
        }
        out
    })
}

/// Splits into the directory with its slash, and the last name.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    let end = path.trim_end_matches(['/', '\\']).rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    path.split_at(end)
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::Tokens;

    use super::*;

    #[test]
    fn names_stand_under_their_directory() {
        let lines = ["Found 4 files", "src/a.rs", "src/b.rs", "src/x/c.rs", "README.md"];
        assert!(is_listing(&lines));
        let count = |text: &str| Tokens(text.len() as u64);
        let shown = listing_within(&lines, &Allowance::new(Tokens(100), &count));
        assert_eq!(shown.as_deref(), Some("Found 4 files, README.md\nsrc/: a.rs, b.rs\nsrc/x/: c.rs"));
        let tight = listing_within(&lines, &Allowance::new(Tokens(40), &count)).expect("fits");
        assert!(tight.contains("more") || tight.contains("omitted"), "{tight}");
    }
}
