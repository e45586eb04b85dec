//! Names and words that were nearly typed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Returns the files beside `path` whose names are nearly the same, the nearest first.
pub(crate) fn near(path: &Path) -> Vec<PathBuf> {
    /// So many are named.
    const MOST: usize = 3;
    let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_lowercase) else {
        return Vec::new();
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let far = |entry: std::fs::DirEntry| {
        let other = entry.file_name().to_str()?.to_lowercase();
        let stem = other.rsplit_once('.').map_or(&*other, |(stem, _)| stem);
        let far = distance(&name, &other).min(distance(&name, stem));
        (3 * far <= name.chars().count()).then(|| (far, path.with_file_name(entry.file_name())))
    };
    let mut near: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(far).collect();
    near.sort();
    near.into_iter().take(MOST).map(|(_, path)| path).collect()
}

/// Returns the words of `texts` that are nearly those of `wanted` which stand in none of them, the nearest first.
pub(crate) fn near_words(wanted: &[String], texts: &[String]) -> Vec<String> {
    /// So many are named.
    const MOST: usize = 5;
    /// Nobody types a longer one, in bytes.
    const LONGEST: usize = 64;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    let missing =
        wanted.iter().filter(|word| word.len() <= LONGEST && !texts.iter().any(|text| text.contains(*word)));
    let missing: Vec<&String> = missing.collect();
    let mut near: BTreeSet<(usize, &str)> = BTreeSet::new();
    for said in texts.iter().flat_map(|text| text.split(|c| !is_part(c))).collect::<BTreeSet<_>>() {
        let letters = said.chars().count();
        for word in &missing {
            let wanted = word.chars().count();
            // One letter in four may be another one.
            if wanted.abs_diff(letters) <= wanted / 4 {
                let far = distance(word, said);
                near.extend((4 * far <= wanted).then_some((far, said)));
            }
        }
    }
    near.into_iter().take(MOST).map(|(_, said)| said.to_owned()).collect()
}

/// Returns how many letters have to be put in, taken out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_nearly_meant() {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let texts = own(&["A knapsack is exact, and slow.", "Knapsacks: parse_header() reads TRIM_SLACK"]);
        for (wanted, near) in [
            (&["knapsak"][..], &["knapsack"][..]),
            (&["exact", "parse_haeder", "trim_slak"], &["trim_slack", "parse_header"]),
            (&["knapsack"], &[]),
            (&["zebra", "a", "is"], &[]),
        ] {
            assert_eq!(near_words(&own(wanted), &texts), own(near), "{wanted:?}");
        }
    }
}
