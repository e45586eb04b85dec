//! `cargo xtask bench reader CASES [--budgets 2000,4000,8000] [--ours] [--left-out]
//! [--without FEATURES] [--missed] [--write DIR]`: prints how much of what
//! readers were asked stands in the compacted contexts of the cases in CASES.
//!
//! `--ours` leaves out the baselines; `--left-out` weighs the statements of each project by weights that were fitted to the
//! other projects, `--without` does so without some features (names with commas), `--weights FILE` weighs by those in FILE; `--missed` prints what our contexts do not hold; `--write` writes our contexts to
//! DIR, one file for each case and budget, to be read and graded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::{Context, Result};
use longhaul_bench::reader::{
    case::Case,
    context::Method,
    fit::{Examples, examples, fit},
    score::{Score, mean},
};
use longhaul_extract::{FEATURES, StatementWeights};
use longhaul_summarize::rules::RulesOptions;

/// Budgets of the tables, beside the system prompt.
const BUDGETS: [usize; 3] = [2000, 4000, 8000];

/// The budget at which kinds are told apart.
const KINDS_AT: usize = 4000;

#[allow(clippy::print_stdout, reason = "a program that prints tables")]
fn main() -> Result<()> {
    let mut root = PathBuf::from("../shared/reader/cases");
    let (mut write, mut missed, mut methods, mut budgets) =
        (None, false, Method::ALL.to_vec(), BUDGETS.to_vec());
    let (mut left_out, mut weights, mut without) = (false, None, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ours" => methods = vec![Method::Ours],
            "--left-out" => left_out = true,
            "--weights" => {
                let file = args.next().context("--weights wants a file")?;
                weights = Some(StatementWeights::parse(&fs::read_to_string(file)?)?);
            }
            "--without" => {
                left_out = true;
                let names = args.next().context("--without wants names of features")?;
                let known = |name: &str| place(name).with_context(|| format!("there is no feature {name:?}"));
                without = names.split(',').map(known).collect::<Result<_>>()?;
            }
            "--missed" => missed = true,
            "--write" => write = Some(PathBuf::from(args.next().context("--write wants a folder")?)),
            "--budgets" => {
                let list = args.next().context("--budgets wants numbers")?;
                budgets = list.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            dir => root = dir.into(),
        }
    }
    let cases = Case::all(&root)?;
    let fitted: BTreeMap<&str, StatementWeights> =
        if left_out { without_each(&cases, &without) } else { BTreeMap::new() };
    let options = |case: &Case| {
        let mut options = RulesOptions::default();
        options.weights = fitted.get(case.project()).or(weights.as_ref()).cloned();
        options
    };
    println!("| context | budget | cases | groups | whole |\n|---|---|---|---|---|");
    let mut details = String::new();
    for method in methods {
        for budget in &budgets {
            let mut scores: Vec<Score> = Vec::new();
            for case in cases.iter().filter(|case| case.counts_at(*budget)) {
                let context = method.context(case, *budget, &options(case));
                let score = Score::of(&context, &case.questions);
                if method == Method::Ours {
                    details += &format!(
                        "{budget:6} {:44} groups {:.2} whole {:.2}\n",
                        case.name,
                        mean(score.groups()),
                        mean(score.whole())
                    );
                    if missed {
                        details += &unmet(case, &score);
                    }
                    if let Some(dir) = &write {
                        fs::create_dir_all(dir)?;
                        fs::write(dir.join(format!("{}-{budget}.txt", case.name)), &context)?;
                    }
                }
                scores.push(score);
            }
            println!(
                "| {} | {budget} | {} | {:.3} | {:.3} |",
                method.name(),
                scores.len(),
                mean(scores.iter().flat_map(Score::groups)),
                mean(scores.iter().flat_map(Score::whole))
            );
            if *budget == KINDS_AT {
                details += &format!("{} at {budget}, groups by kind: {}\n", method.name(), kinds(&scores));
            }
        }
    }
    println!("\n{details}");
    Ok(())
}

/// Returns for each project weights that were fitted to the cases of all others.
fn without_each<'c>(cases: &'c [Case], features: &[usize]) -> BTreeMap<&'c str, StatementWeights> {
    let mut all: Vec<Examples> = cases.iter().map(examples).collect();
    let rows = all.iter_mut().flat_map(|case| &mut case.rows);
    rows.for_each(|(x, _)| features.iter().for_each(|at| x[*at] = 0));
    let projects: BTreeSet<&str> = cases.iter().map(Case::project).collect();
    let without = |project: &str| fit(all.iter().filter(|case| case.project != project));
    projects.into_iter().map(|project| (project, without(project))).collect()
}

/// Returns the place of a feature.
fn place(name: &str) -> Option<usize> {
    FEATURES.iter().position(|feature| *feature == name)
}

fn kinds(scores: &[Score]) -> String {
    let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for score in scores {
        for ((kind, _), groups) in score.met.iter().zip(score.groups()) {
            kinds.entry(kind).or_default().push(groups);
        }
    }
    let kinds = kinds.iter().map(|(kind, values)| format!("{kind} {:.2}", mean(values.iter().copied())));
    kinds.collect::<Vec<_>>().join(", ")
}

fn unmet(case: &Case, score: &Score) -> String {
    let mut lines = String::new();
    for (question, (_, met)) in case.questions.iter().zip(&score.met) {
        for (group, _) in question.needs.iter().zip(met).filter(|(_, met)| !**met) {
            lines += &format!("    {} | {} | {}\n", question.kind, question.question, group.join(" / "));
        }
    }
    lines
}
