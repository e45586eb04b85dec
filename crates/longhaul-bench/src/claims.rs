//! Fitting what takes the place of what to conversations in which people marked it.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use longhaul_extract::{Claim, Claims, Link, claim_features};

/// What one person says in a conversation, and what of it takes the place of what was said before.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// Who wrote it: the name of the file.
    pub writer: String,
    /// The sentences, in the order in which they are said.
    pub said: Vec<String>,
    /// The places of an earlier sentence and of one that takes its place.
    pub over: Vec<(usize, usize)>,
    /// It is made of pairs that have nothing to do with each other.
    pub is_of_pairs: bool,
}

/// Two claims that have something in common.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The earlier one.
    pub was: Arc<Claim>,
    /// The later one.
    pub now: Arc<Claim>,
    /// What they have in common.
    pub link: Link,
    /// The later takes the place of the earlier.
    pub is_over: bool,
}

/// Reads the conversations in `dir/talks` and the pairs in `dir/pairs`.
///
/// # Errors
/// When a file cannot be read, or a line is not as it is to be.
pub fn talks(dir: &Path) -> Result<Vec<Talk>> {
    let mut all = Vec::new();
    for file in files(&dir.join("talks"))? {
        let text = fs::read_to_string(&file)?;
        for talk in text.split("\n\n").filter(|talk| !talk.trim().is_empty()) {
            all.push(talk_of(talk, name(&file)).with_context(|| format!("in {}", file.display()))?);
        }
    }
    for file in files(&dir.join("pairs"))? {
        let text = fs::read_to_string(&file)?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for pairs in lines.chunks(PAIRS_A_TALK) {
            all.push(talk_of_pairs(pairs, name(&file)).with_context(|| format!("in {}", file.display()))?);
        }
    }
    Ok(all)
}

/// So many pairs are looked at as one conversation: what one of them says stands among other things.
const PAIRS_A_TALK: usize = 15;

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("no conversations in {}", dir.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tsv"));
    files.sort();
    Ok(files)
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads lines of a number, what the line takes the place of, and what is said. `4,17` names two lines, `12=3` one of which what came
/// before it holds again; `-` none.
fn talk_of(text: &str, writer: String) -> Result<Talk> {
    let mut talk = Talk { writer, ..Talk::default() };
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (at, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let [number, marks, said] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("wanted a number, a mark and a sentence: {line}")
        };
        let marks = marks.split(',').map(|mark| mark.split('=').next().unwrap_or_default().trim());
        for mark in marks.filter(|mark| *mark != "-") {
            let Some(was) = places.get(mark) else { bail!("no line {mark} before: {line}") };
            talk.over.push((*was, at));
        }
        places.insert(number.trim(), at);
        talk.said.push(said.trim().to_owned());
    }
    Ok(talk)
}

fn talk_of_pairs(lines: &[&str], writer: String) -> Result<Talk> {
    let mut talk = Talk { writer, is_of_pairs: true, ..Talk::default() };
    for line in lines {
        let [label, was, now] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("wanted a label and two sentences: {line}")
        };
        match label {
            "over" => talk.over.push((talk.said.len(), talk.said.len() + 1)),
            "both" => {}
            _ => bail!("wanted `over` or `both`: {line}"),
        }
        talk.said.extend([was, now].map(|said| said.trim().to_owned()));
    }
    Ok(talk)
}

impl Talk {
    /// Returns all pairs of claims that have something in common.
    pub fn linked(&self) -> Vec<Linked> {
        let claims = self.said.iter().enumerate();
        let (places, all): (Vec<usize>, Vec<Arc<Claim>>) =
            claims.filter_map(|(at, said)| Some((at, Claim::of(said)?))).unzip();
        let claims = Claims::new(all.clone());
        let mut linked = Vec::new();
        for (at, was) in all.iter().enumerate() {
            for (by, link) in claims.linked(was, at + 1) {
                let is_over = self.over.contains(&(places[at], places[by]));
                linked.push(Linked { was: Arc::clone(was), now: Arc::clone(&all[by]), link, is_over });
            }
        }
        linked
    }
}

/// Returns the weights, as [`longhaul_extract::ClaimWeights::parse`] reads them, of a logistic regression with a ridge penalty.
///
/// Features that are seen too seldom are left out, and weights too small to tell.
pub fn fit(talks: &[&Talk]) -> String {
    let rows: Vec<(Vec<String>, bool)> = talks.iter().flat_map(|talk| rows(talk)).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().flat_map(|(features, _)| features).for_each(|name| *count.entry(name).or_default() += 1);
    let names: Vec<&str> =
        count.into_iter().filter(|(_, n)| *n >= LEAST_SEEN).map(|(name, _)| name).collect();
    let place: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let known =
        |features: &[String]| features.iter().filter_map(|name| place.get(&**name).copied()).collect();
    let rows: Vec<Row> = rows
        .iter()
        .map(|(features, is_over)| Row {
            features: known(features),
            is_over: *is_over,
            weight: if features.first().is_some_and(|name| name == OF_PAIRS) { PAIRS_WEIGH } else { 1.0 },
        })
        .collect();
    let weights = descend(&rows, names.len());
    let mut text = String::new();
    for (name, weight) in names.iter().zip(weights).filter(|(name, _)| **name != OF_PAIRS) {
        let whole = (weight * 100.0).round() as i16;
        if whole.abs() >= LEAST_WEIGHT {
            let _ = writeln!(text, "{name}\t{whole}");
        }
    }
    text
}

fn rows(talk: &Talk) -> impl Iterator<Item = (Vec<String>, bool)> {
    let of_pairs = talk.is_of_pairs.then(|| OF_PAIRS.to_owned());
    talk.linked().into_iter().map(move |linked| {
        let mut features: Vec<String> = of_pairs.iter().cloned().collect();
        claim_features(&linked.was, &linked.now, linked.link, |parts| features.push(parts.join(" ")));
        (features, linked.is_over)
    })
}

/// In pairs that were written as such one of two is said otherwise, far more than in conversations: it is told apart from what they say.
const OF_PAIRS: &str = "of pairs";

/// A feature that fewer pairs of claims have is left out.
const LEAST_SEEN: usize = 5;

/// Hundredths; what weighs less decides nothing.
const LEAST_WEIGHT: i16 = 10;

/// Two claims as they are fitted to.
struct Row {
    features: Vec<usize>,
    is_over: bool,
    weight: f64,
}

/// How much more a pair weighs that was written as one: they are the harder ones, and fewer.
const PAIRS_WEIGH: f64 = 2.0;

/// Minimizes the loss of all rows and half of the squares of the weights, by steps that get smaller where the slope was large.
fn descend(rows: &[Row], n: usize) -> Vec<f64> {
    let (mut weights, mut squares) = (vec![0.0; n], vec![1e-8; n]);
    for _ in 0..STEPS {
        let mut slope: Vec<f64> = weights.iter().map(|weight| weight * PENALTY).collect();
        for Row { features, is_over, weight } in rows {
            let sum: f64 = features.iter().map(|at| weights[*at]).sum();
            let miss = (1.0 / (1.0 + (-sum).exp()) - f64::from(u8::from(*is_over))) * weight;
            features.iter().for_each(|at| slope[*at] += miss);
        }
        for at in 0..n {
            squares[at] += slope[at] * slope[at];
            weights[at] -= RATE * slope[at] / f64::sqrt(squares[at]);
        }
    }
    weights
}

/// After so many steps the weights change no more in their hundredths.
const STEPS: usize = 150;

/// How far the first step goes.
const RATE: f64 = 0.2;

/// The strength of the penalty.
const PENALTY: f64 = 1.5;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nothing_is_fitted_to_the_pairs_that_are_kept_apart() {
        let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let fold = |one: &str| one.to_lowercase().trim_end_matches('.').to_owned();
        let talks = talks(&crates.join("longhaul-bench/data/claims")).unwrap();
        let of_pairs = talks.iter().filter(|talk| talk.is_of_pairs);
        let pairs = of_pairs.flat_map(|talk| talk.said.as_chunks::<2>().0);
        let of_talks = talks
            .iter()
            .flat_map(|talk| talk.over.iter().map(|(was, now)| (&talk.said[*was], &talk.said[*now])));
        let fitted: BTreeSet<(String, String)> = pairs
            .map(|[was, now]| (was, now))
            .chain(of_talks)
            .map(|(was, now)| (fold(was), fold(now)))
            .collect();
        let text = fs::read_to_string(crates.join("longhaul-extract/tests/data/pairs.tsv")).unwrap();
        let apart = text.lines().filter_map(|line| line.split_once('\t')?.1.split_once('\t'));
        let both: Vec<_> = apart.filter(|(was, now)| fitted.contains(&(fold(was), fold(now)))).collect();
        assert!(both.is_empty(), "{both:?}");
    }

    #[test]
    fn a_talk_says_what_takes_the_place_of_what() {
        let talk =
            talk_of("1\t-\tUse A.\n2\t1\tUse B.\n3\t2=1\tA it stays.\n4\t1,3\tUse C.\n", String::new());
        assert_eq!(talk.unwrap().over, [(0, 1), (1, 2), (0, 3), (2, 3)]);
        assert!(talk_of("1\t7\tUse A.\n", String::new()).is_err());
    }
}
