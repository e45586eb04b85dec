//! `cargo xtask bench estimates`: how far the script estimator is off, text by text, against the exact count of
//! `o200k_base`.
//!
//! For each corpus: the error of the total and the 95th percentile of the errors of chunks of 2,500 characters, with the
//! weights that ship, with weights fitted to all corpora of this machine, and with weights fitted to all others. The
//! last says what to expect of text that nobody fitted. With `--weights` the fitted weights are printed too, with `--worst`
//! the chunk of each corpus that they are most wrong of.
#![allow(clippy::print_stdout, reason = "a report")]

use anyhow::{Context, Result};
use longhaul_bench::tokens::corpora::{self, Corpus};
use longhaul_tokens::{Bpe, Encoding, Family, ScriptEstimator, TokenCounter};

/// A chunk: its text, how many of each kind it has, its exact tokens and the shipped estimate of them.
struct Chunk {
    text: String,
    kinds: Vec<f64>,
    exact: f64,
    shipped: f64,
}

/// Characters of a chunk: two to three kilobytes of ASCII.
const CHUNK_CHARS: usize = 2_500;
/// Chunks of a corpus, from all of it.
const CHUNKS: usize = 200;
/// How much the texts count against what the split pattern says of a kind: a tenth of what they say of a common one.
const HELD: f64 = 1.0;
/// Sweeps of the fit, which settles in about a hundred.
const SWEEPS: usize = 300;

fn main() -> Result<()> {
    let bpe = Bpe::new(Encoding::O200kBase).context("longhaul is built without o200k_base")?;
    let (mut texts, skipped) = corpora::all(3_000_000);
    skipped.iter().for_each(|reason| eprintln!("{reason}"));
    let blobs = corpora::hostile(100_000).into_iter();
    texts.extend(blobs.filter(|corpus| corpus.name == "base64"));
    let sets: Vec<(String, Vec<Chunk>)> =
        texts.iter().map(|corpus| (corpus.name.clone(), chunks(bpe, corpus))).collect();
    let all: Vec<usize> = (0..sets.len()).collect();
    let fitted = fit(&sets, &all);
    println!("Error of the total in % (95th percentile of chunks of {CHUNK_CHARS} characters):\n");
    println!("| corpus | shipped weights | fitted to all | fitted to all others |\n|---|---|---|---|");
    for (nth, (name, chunks)) in sets.iter().enumerate() {
        let others: Vec<usize> = all.iter().copied().filter(|other| *other != nth).collect();
        let left_out = fit(&sets, &others);
        println!(
            "| {name} | {} | {} | {} |",
            error(chunks, |chunk| chunk.shipped),
            error(chunks, |chunk| predict(&fitted, chunk)),
            error(chunks, |chunk| predict(&left_out, chunk)),
        );
    }
    if std::env::args().any(|arg| arg == "--weights") {
        let milli: Vec<i64> = fitted.iter().map(|weight| (weight * 1000.0).round() as i64).collect();
        println!("\nWeights fitted here, in thousandths: {milli:?}");
    }
    if std::env::args().any(|arg| arg == "--worst") {
        for (name, chunks) in &sets {
            let wrong = |chunk: &&Chunk| (predict(&fitted, chunk) / chunk.exact - 1.0).abs();
            if let Some(worst) = chunks.iter().max_by(|one, other| wrong(one).total_cmp(&wrong(other))) {
                let (fitted, Chunk { exact, kinds, text, .. }) = (predict(&fitted, worst), worst);
                println!("\n## {name}: {fitted:.0} for {exact} {kinds:?}\n{text}");
            }
        }
    }
    Ok(())
}

fn chunks(bpe: Bpe, corpus: &Corpus) -> Vec<Chunk> {
    let estimator = ScriptEstimator::new(Family::OpenAi);
    let chars: Vec<char> = corpus.text.chars().collect();
    let whole: Vec<&[char]> = chars.chunks_exact(CHUNK_CHARS).collect();
    let step = whole.len().div_ceil(CHUNKS).max(1);
    let chunk = |chars: &&[char]| {
        let text: String = chars.iter().collect();
        Chunk {
            kinds: ScriptEstimator::kinds_of(&text).into_iter().map(|count| count as f64).collect(),
            exact: bpe.count(&text) as f64,
            shipped: estimator.count_text(&text).0 as f64,
            text,
        }
    };
    whole.iter().step_by(step).map(chunk).collect()
}

/// Returns the weights that make the sum of squared relative errors least, each corpus weighing the same and no weight
/// below zero.
fn fit(sets: &[(String, Vec<Chunk>)], used: &[usize]) -> Vec<f64> {
    let kinds =
        sets.iter().flat_map(|(_, chunks)| chunks.first()).next().map_or(0, |chunk| chunk.kinds.len());
    let mut products = vec![vec![0.0; kinds]; kinds];
    let mut targets = vec![0.0; kinds];
    for (_, chunks) in used.iter().filter_map(|nth| sets.get(*nth)) {
        for chunk in chunks.iter().filter(|chunk| chunk.exact > 0.0) {
            let shares: Vec<f64> = chunk.kinds.iter().map(|count| count / chunk.exact).collect();
            for row in 0..kinds {
                targets[row] += shares[row] / chunks.len() as f64;
                for column in 0..kinds {
                    products[row][column] += shares[row] * shares[column] / chunks.len() as f64;
                }
            }
        }
    }
    // A pull towards seven tenths of a token holds what a set of texts says nothing of.
    for kind in 0..kinds {
        products[kind][kind] += 1e-4;
        targets[kind] += 0.7e-4;
    }
    for kind in ScriptEstimator::kinds_of_one_token() {
        products[kind][kind] += HELD;
        targets[kind] += HELD;
    }
    let mut weights = vec![0.7; kinds];
    for _ in 0..SWEEPS {
        for kind in 0..kinds {
            let explained: f64 =
                products[kind].iter().zip(&weights).map(|(product, weight)| product * weight).sum();
            weights[kind] = (weights[kind] + (targets[kind] - explained) / products[kind][kind]).max(0.0);
        }
    }
    weights
}

fn predict(weights: &[f64], chunk: &Chunk) -> f64 {
    weights.iter().zip(&chunk.kinds).map(|(weight, count)| weight * count).sum()
}

/// Returns the error of the total, and in brackets the 95th percentile of the chunks' errors, in percent.
fn error(chunks: &[Chunk], estimate: impl Fn(&Chunk) -> f64) -> String {
    let (estimated, exact) = chunks
        .iter()
        .fold((0.0, 0.0), |(estimated, exact), chunk| (estimated + estimate(chunk), exact + chunk.exact));
    let mut errors: Vec<f64> =
        chunks.iter().map(|chunk| (estimate(chunk) / chunk.exact - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let p95 = errors.get(errors.len() * 95 / 100).or(errors.last()).copied().unwrap_or(0.0);
    format!("{:+.1} ({:.1})", (estimated / exact - 1.0) * 100.0, p95 * 100.0)
}
