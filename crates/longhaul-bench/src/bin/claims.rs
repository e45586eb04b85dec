//! `cargo xtask bench claims [DIR] [--write FILE] [--show]`: fits the weights by which is told what takes the place of what a person said
//! before to the conversations in DIR, and prints how those of each writer are known by weights that were fitted to the others'.
//! `--write` writes the weights of all where the crate reads them from (`crates/longhaul-extract/src/claims/weights.txt`); `--show` prints
//! what is taken wrongly, and what is missed.

#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::collections::BTreeSet;

use anyhow::Result;
use longhaul_bench::{
    claims::{Talk, fit, talks},
    fitting::FitArgs,
};
use longhaul_extract::ClaimWeights;

/// How the claims of some conversations are known.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    over: usize,
    /// What nothing links with what takes its place.
    unlinked: usize,
    known: usize,
    both: usize,
    wrong: usize,
}

impl Known {
    fn add(&mut self, other: Known) {
        self.over += other.over;
        self.unlinked += other.unlinked;
        self.known += other.known;
        self.both += other.both;
        self.wrong += other.wrong;
    }

    fn print(self, writer: &str) {
        let Known { over, unlinked, known, both, wrong } = self;
        println!(
            "{writer:16} {over:5} {unlinked:9} {known:6} {:4} % {both:6} {wrong:6} {:5.1} %",
            100 * known / over.max(1),
            100.0 * wrong as f64 / both.max(1) as f64
        );
    }
}

fn main() -> Result<()> {
    let FitArgs { dir, write, shows } = FitArgs::read("claims")?;
    let all = talks(&dir)?;
    if let Some(file) = write {
        let said: usize = all.iter().map(|talk| talk.said.len()).sum();
        let about = format!(
            "Fitted by `cargo xtask bench claims` to {said} sentences: what each feature of two adds to that the later takes the place of the earlier, in hundredths."
        );
        return FitArgs::write(&file, &about, &fit(&all.iter().collect::<Vec<_>>()));
    }
    println!(
        "{:16} {:>5} {:>9} {:>6} {:>6} {:>6} {:>6} {:>7}",
        "writer", "over", "unlinked", "known", "", "both", "wrong", ""
    );
    for is_of_pairs in [false, true] {
        let writers: BTreeSet<&str> =
            all.iter().filter(|talk| talk.is_of_pairs == is_of_pairs).map(|talk| &*talk.writer).collect();
        let mut sum = Known::default();
        for writer in writers {
            let is_own = |talk: &&Talk| talk.writer == writer && talk.is_of_pairs == is_of_pairs;
            let (own, others): (Vec<&Talk>, Vec<&Talk>) = all.iter().partition(is_own);
            let weights = ClaimWeights::parse(&fit(&others));
            let known = known(&weights, &own, shows);
            known.print(writer);
            sum.add(known);
        }
        sum.print(if is_of_pairs { "all pairs" } else { "all talks" });
    }
    Ok(())
}

/// Returns how what takes the place of what is known by `weights`.
fn known(weights: &ClaimWeights, talks: &[&Talk], shows: bool) -> Known {
    let mut known = Known::default();
    for talk in talks {
        let linked = talk.linked();
        known.over += talk.over.len();
        known.unlinked += talk.over.len() - linked.iter().filter(|pair| pair.is_over).count();
        for pair in linked {
            let is_known = weights.is_overtaken(&pair.was, &pair.now, pair.link);
            known.known += usize::from(pair.is_over && is_known);
            known.both += usize::from(!pair.is_over);
            known.wrong += usize::from(!pair.is_over && is_known);
            if shows && pair.is_over != is_known {
                let what = if is_known { "wrong" } else { "missed" };
                println!("    {what}: {} | {}", pair.was.text(), pair.now.text());
            }
        }
    }
    known
}
