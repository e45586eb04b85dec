//! `cargo xtask bench speech [DIR] [--write FILE] [--show]`: fits the weights by which rules, facts, decisions, requests and talk are told
//! apart to the labelled sentences in DIR, and prints how those of each writer are taken by weights that were fitted to the others'.
//! `--write` writes the weights of all where the crate reads them from
//! (`crates/longhaul-extract/src/constraints/demand/speech/weights.txt`); `--show` prints what is taken for something else.

#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::collections::BTreeSet;

use anyhow::Result;
use longhaul_bench::{
    fitting::FitArgs,
    speech::{Labelled, Table, fit, labelled, taken_for},
};
use longhaul_extract::{SpeechAct, SpeechWeights};

fn main() -> Result<()> {
    let FitArgs { dir, write, shows } = FitArgs::read("speech")?;
    let all = labelled(&dir)?;
    if let Some(file) = write {
        let about = format!(
            "Fitted by `cargo xtask bench speech` to {} sentences: what each feature adds to a rule, a fact, a decision, a request and talk, in hundredths.",
            all.len()
        );
        return FitArgs::write(&file, &about, &fit(&all.iter().collect::<Vec<_>>()));
    }
    // Of 100 of each label, how many are taken for a rule, a fact, a decision, a request and talk.
    print!("{:26} {:>5}", "writer", "n");
    SpeechAct::ALL.iter().for_each(|act| print!("  {:24}", act.name()));
    println!();
    let writers: BTreeSet<&str> = all.iter().map(|one| &*one.writer).collect();
    let mut sum = Table::default();
    for writer in writers {
        let (own, others): (Vec<&Labelled>, Vec<&Labelled>) =
            all.iter().partition(|one| one.writer == writer);
        // What two wrote alike is not to be known from the other.
        let known: BTreeSet<String> = own.iter().map(|one| one.sentence.to_lowercase()).collect();
        let others: Vec<&Labelled> =
            others.into_iter().filter(|one| !known.contains(&one.sentence.to_lowercase())).collect();
        let text = fit(&others);
        let weights = SpeechWeights::parse(&text);
        let table = taken_for(&weights, &own);
        print_row(writer, &table);
        sum.iter_mut().flatten().zip(table.iter().flatten()).for_each(|(sum, n)| *sum += n);
        if shows {
            for one in own {
                let act = weights.act(&one.sentence);
                if act != one.act {
                    println!(
                        "    {:?} taken for {act:?}: {} {:?}",
                        one.act,
                        one.sentence,
                        weights.score(&one.sentence)
                    );
                }
            }
        }
    }
    print_row("all", &sum);
    Ok(())
}

fn print_row(writer: &str, table: &Table) {
    let n: usize = table.iter().flatten().sum();
    print!("{writer:26} {n:5}");
    for row in table {
        let of: usize = row.iter().sum();
        print!(" ");
        row.iter().for_each(|n| print!(" {:4}", 100 * n / of.max(1)));
    }
    println!();
}
