//! Fitting what a person does by a sentence to sentences that people labelled.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};
use longhaul_extract::{SpeechAct, SpeechWeights, speech_features};

/// A sentence and what is done by it.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// Who wrote it: the name of the file.
    pub writer: String,
    /// The label.
    pub act: SpeechAct,
    /// The sentence.
    pub sentence: String,
}

/// Reads all `.tsv` files in `dir`: a label, a tab and a sentence a line.
///
/// # Errors
/// When a file cannot be read, or a line has no label that is known.
pub fn labelled(dir: &Path) -> Result<Vec<Labelled>> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .with_context(|| format!("no sentences in {}", dir.display()))?
        .map(|file| Ok(file?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tsv"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let writer = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file)?;
        for (nth, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let labelled = line.split_once('\t').and_then(|(label, sentence)| Some((act(label)?, sentence)));
            let Some((act, sentence)) = labelled else {
                bail!("{}:{}: wanted a label, a tab and a sentence", file.display(), nth + 1)
            };
            all.push(Labelled { writer: writer.clone(), act, sentence: sentence.trim().to_owned() });
        }
    }
    Ok(all)
}

fn act(label: &str) -> Option<SpeechAct> {
    SpeechAct::ALL.into_iter().find(|act| act.name() == label.trim())
}

/// How many acts are told apart.
const ACTS: usize = SpeechAct::ALL.len();

/// Returns the weights, as [`SpeechWeights::parse`] reads them, of a softmax regression with a ridge penalty.
///
/// Features of one sentence alone are left out, and weights too small to tell.
pub fn fit(sentences: &[&Labelled]) -> String {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for labelled in sentences {
        features_of(&labelled.sentence)
            .into_iter()
            .for_each(|feature| *count.entry(feature).or_default() += 1);
    }
    let names: Vec<String> = count.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name).collect();
    let place: HashMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let rows: Vec<(Vec<usize>, usize)> = sentences
        .iter()
        .map(|labelled| {
            let features = features_of(&labelled.sentence);
            let known = features.iter().filter_map(|feature| place.get(feature.as_str()).copied());
            (known.collect(), SpeechAct::ALL.iter().position(|act| *act == labelled.act).unwrap_or(0))
        })
        .collect();
    let weights = descend(&rows, names.len());
    let mut text = String::new();
    for (name, weights) in names.iter().zip(weights) {
        let whole = weights.map(|weight| (weight * 100.0).round() as i16);
        if whole.iter().any(|weight| weight.abs() >= LEAST_WEIGHT) {
            text.push_str(name);
            whole.iter().for_each(|weight| {
                let _ = write!(text, "\t{weight}");
            });
            text.push('\n');
        }
    }
    text
}

/// Hundredths; what weighs less decides nothing.
const LEAST_WEIGHT: i16 = 15;

fn features_of(sentence: &str) -> Vec<String> {
    let mut all = Vec::new();
    speech_features(sentence, |feature| all.push(feature.to_owned()));
    all.sort_unstable();
    all.dedup();
    all
}

/// Minimizes the loss of all rows and half of the squares of the weights, by steps that get smaller where the slope was large.
fn descend(rows: &[(Vec<usize>, usize)], n: usize) -> Vec<[f64; ACTS]> {
    let mut weights = vec![[0.0; ACTS]; n];
    let mut squares = vec![[1e-8; ACTS]; n];
    for _ in 0..STEPS {
        let mut slope: Vec<[f64; ACTS]> =
            weights.iter().map(|weights| weights.map(|weight| weight * PENALTY)).collect();
        for (features, label) in rows {
            let mut score = [0.0; ACTS];
            for at in features {
                score.iter_mut().zip(&weights[*at]).for_each(|(sum, weight)| *sum += weight);
            }
            let most = score.iter().copied().fold(f64::MIN, f64::max);
            let odds = score.map(|score| (score - most).exp());
            let all: f64 = odds.iter().sum();
            for at in features {
                for act in 0..ACTS {
                    slope[*at][act] += odds[act] / all - f64::from(u8::from(act == *label));
                }
            }
        }
        for at in 0..n {
            for act in 0..ACTS {
                let slope = slope[at][act];
                squares[at][act] += slope * slope;
                weights[at][act] -= RATE * slope / f64::sqrt(squares[at][act]);
            }
        }
    }
    weights
}

/// After so many steps the weights change no more in their hundredths.
const STEPS: usize = 200;

/// How far the first step goes.
const RATE: f64 = 0.2;

/// The strength of the penalty.
const PENALTY: f64 = 1.0;

/// How often each act is taken for each.
pub type Table = [[usize; ACTS]; ACTS];

/// Returns what `weights` take the sentences for: a row for each label.
pub fn taken_for(weights: &SpeechWeights<'_>, sentences: &[&Labelled]) -> Table {
    let mut table = Table::default();
    for labelled in sentences {
        table[labelled.act as usize][weights.act(&labelled.sentence) as usize] += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nothing_is_fitted_to_the_sentences_that_are_kept_apart() {
        let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let fold = |one: &Labelled| one.sentence.to_lowercase().trim_end_matches('.').to_owned();
        let fitted = labelled(&crates.join("longhaul-bench/data/speech")).unwrap();
        let fitted: BTreeSet<String> = fitted.iter().map(fold).collect();
        let text = fs::read_to_string(crates.join("longhaul-extract/tests/data/said.tsv")).unwrap();
        let apart = text.lines().filter_map(|line| line.split_once('\t')).map(|(_, said)| said.trim());
        let both: Vec<&str> =
            apart.filter(|said| fitted.contains(said.to_lowercase().trim_end_matches('.'))).collect();
        assert_eq!(both, [""; 0]);
    }
}
