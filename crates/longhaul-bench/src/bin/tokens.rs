//! `cargo xtask bench tokens [FILE…]`: our counter beside its peers, on the same text in the same run.
//!
//! Without files the corpora are what the machine has: this repository's sources, and the recorded transcripts where
//! they are present. Candidates take turns; the first pass over a text is given apart, because counters that remember
//! pieces flatter themselves on the second. Trust the ratios of one line, not the figures of two runs.

use std::{collections::BTreeMap, fs, hint::black_box, path::Path, time::Instant};

use anyhow::{Context, Result};
use longhaul::tokens::{Bpe, Encoding};

type Candidate = (&'static str, Box<dyn Fn(&str) -> usize>);

/// A corpus is cut to this many bytes.
const CORPUS_BYTES: usize = 3_000_000;

/// How often each candidate counts each corpus.
const ROUNDS: usize = 6;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let corpora = match files.is_empty() {
        true => own_corpora()?,
        false => {
            files.iter().map(|file| Ok((file.clone(), text(Path::new(file))?))).collect::<Result<_>>()?
        }
    };
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        println!("\n{}, MB/s, median of warm passes [first pass]\n", encoding.name());
        let candidates = candidates(encoding)?;
        let names: Vec<&str> = candidates.iter().map(|(name, _)| *name).collect();
        println!("| corpus | {} | ours / best peer |", names.join(" | "));
        println!("|---|{}---|", "---|".repeat(names.len()));
        for (name, text) in &corpora {
            println!("| {name}, {:.1} MB | {} |", text.len() as f64 / 1e6, row(&candidates, text));
        }
    }
    Ok(())
}

fn candidates(encoding: Encoding) -> Result<Vec<Candidate>> {
    let ours = Bpe::new(encoding);
    let toktok = toktok::Tokenizer::builtin(encoding.name()).context("toktok has no such encoding")?;
    let tiktoken = tiktoken::get_encoding(encoding.name()).context("tiktoken has no such encoding")?;
    let (openai, reference) = match encoding {
        Encoding::O200kBase => (bpe_openai::o200k_base(), tiktoken_rs::o200k_base()?),
        _ => (bpe_openai::cl100k_base(), tiktoken_rs::cl100k_base()?),
    };
    Ok(vec![
        ("longhaul", Box::new(move |text| ours.count(text))),
        ("toktok-rs", Box::new(move |text| toktok.count(text.as_bytes()) as usize)),
        ("tiktoken", Box::new(move |text| tiktoken.count(text) as usize)),
        ("bpe-openai", Box::new(move |text| openai.count(text))),
        ("tiktoken-rs", Box::new(move |text| reference.encode_ordinary(text).len())),
    ])
}

fn row(candidates: &[Candidate], text: &str) -> String {
    let mut speeds: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
    let mut counts = vec![0; candidates.len()];
    for _ in 0..ROUNDS {
        for (nth, (_, count)) in candidates.iter().enumerate() {
            let start = Instant::now();
            counts[nth] = count(black_box(text));
            speeds[nth].push(text.len() as f64 / start.elapsed().as_secs_f64() / 1e6);
        }
    }
    let warm: Vec<f64> = speeds.iter().map(|speeds| median(&speeds[1..])).collect();
    let best = warm[1..].iter().copied().fold(f64::MIN, f64::max);
    let cells = speeds.iter().zip(&warm).zip(&counts).map(|((speeds, warm), count)| {
        let differs = if *count == counts[0] { "" } else { " DIFFERS" };
        format!("{warm:.0} [{:.0}]{differs}", speeds[0])
    });
    format!("{} | {:.1}", cells.collect::<Vec<_>>().join(" | "), warm[0] / best)
}

fn median(speeds: &[f64]) -> f64 {
    let mut sorted = speeds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns the repository's sources by kind, and the transcripts by format.
fn own_corpora() -> Result<BTreeMap<String, String>> {
    let mut corpora: BTreeMap<String, String> = BTreeMap::new();
    let mut folders =
        vec![Path::new("crates").to_path_buf(), Path::new("../shared/transcripts").to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some(name) = corpus_of(&path) else { continue };
            let corpus = corpora.entry(name).or_default();
            if corpus.len() < CORPUS_BYTES {
                corpus.push_str(&text(&path)?);
            }
        }
    }
    for corpus in corpora.values_mut() {
        let end = (0..=CORPUS_BYTES.min(corpus.len())).rev().find(|at| corpus.is_char_boundary(*at));
        corpus.truncate(end.unwrap_or_default());
    }
    corpora.retain(|_, corpus| corpus.len() > 50_000);
    Ok(corpora)
}

fn corpus_of(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?.to_string_lossy().into_owned();
    let is_transcript = path.starts_with("../shared/transcripts");
    match path.extension()?.to_str()? {
        _ if is_transcript => Some(format!("transcripts: {folder}")),
        "rs" => Some("Rust".into()),
        "md" => Some("Markdown".into()),
        _ => None,
    }
}

fn text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
