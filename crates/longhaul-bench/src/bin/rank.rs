//! `cargo xtask bench rank [DIR]`: fits the ranker's weights to the coding sessions in DIR, and says what each property
//! of a fact is worth on projects that the weights were not fitted on.

use std::path::PathBuf;

use anyhow::Result;
use longhaul_bench::recall::{
    run::sessions,
    session::Group,
    train::{COUNT, cuts, fit, left_out, recall_at},
    weigh::Weigher,
};
use longhaul_extract::{Domain, Weights};

/// How many of the best facts are looked at.
const MOST: [usize; 4] = [25, 50, 100, 200];

/// Properties that are tried with and without.
const TRIED: [&str; 4] = ["foreign", "wordy", "crowd_log", "recent"];

/// Properties that are too rare in the recordings to be fitted; their weights are set by hand.
const DROPPED: [&str; 2] = ["foreign", "wordy"];

#[allow(clippy::print_stdout, reason = "a program that prints tables")]
fn main() -> Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "../shared/transcripts".into()));
    let sessions = sessions(&root)?;
    let common = root.join("../recallbench/common.json.gz");
    let weigher = Weigher::new(common.exists().then_some(common.as_path()), &sessions)?;
    let cuts = cuts(&sessions, &weigher, Group::Coding);
    let facts: usize = cuts.iter().map(|cut| cut.examples.len()).sum();
    println!("{facts} facts at {} cuts\n", cuts.len());
    println!("| properties | best 25 | best 50 | best 100 | best 200 |\n|---|---|---|---|---|");
    let show = |name: &str, values: &[f64]| {
        let cells: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    let without =
        |names: &[&str]| -> [bool; COUNT] { std::array::from_fn(|at| !names.contains(&Weights::NAMES[at])) };
    let built_in = Weights::of(Domain::Coding).to_array();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    show("built-in weights (in sample)", &MOST.map(|most| mean(recall_at(cuts.iter(), &built_in, most))));
    show("none of the tried", &left_out(&cuts, &without(&TRIED), &MOST));
    for name in TRIED {
        let others: Vec<&str> = TRIED.into_iter().filter(|other| *other != name).collect();
        show(&format!("and {name}"), &left_out(&cuts, &without(&others), &MOST));
    }
    show("all", &left_out(&cuts, &[true; COUNT], &MOST));
    for name in TRIED {
        show(&format!("all but {name}"), &left_out(&cuts, &without(&[name]), &MOST));
    }
    show("the fitted ones", &left_out(&cuts, &without(&DROPPED), &MOST));
    let weights = fit(cuts.iter(), &[true; COUNT]);
    let kept = fit(cuts.iter(), &without(&DROPPED));
    println!("\n| property | all fitted | the fitted ones | built in |\n|---|---|---|---|");
    for (at, name) in Weights::NAMES.iter().enumerate() {
        println!("| {name} | {:.2} | {:.2} | {} |", weights[at], kept[at], built_in[at]);
    }
    Ok(())
}
