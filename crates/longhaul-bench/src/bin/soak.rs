//! `cargo xtask bench soak [--svg FILE] [WINDOW:TURNS:TOKENS ...]`: long conversations over HTTP.

use anyhow::{Context as _, Result, bail};
use longhaul_bench::soak::{Plan, Soaked, Stretch, chart, soak};

/// What is run where nothing is named.
const USUAL: [&str; 4] = ["2000:100000:60", "16000:100000:200", "128000:10000:800", "1000000:500:4000"];

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it measured")]
fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (mut svg, mut plans) = (None, Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--svg" => svg = Some(args.next().context("--svg needs a file")?),
            plan => plans.push(Plan::parse(plan)?),
        }
    }
    if plans.is_empty() {
        plans = USUAL.iter().map(|plan| Plan::parse(plan)).collect::<Result<_>>()?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    for plan in plans {
        let tell = |one: &Stretch| eprintln!("window {}, turn {}: {}", plan.window, one.turn, figures(one));
        let done = runtime.block_on(soak(plan, tell))?;
        print!("{}", curve(&plan, &done));
        runs.push((plan, done));
    }
    println!("{HEADER}");
    for (plan, done) in &runs {
        println!("{}", row(plan, done));
    }
    if let Some(path) = svg {
        std::fs::write(&path, chart(&runs)).with_context(|| path.clone())?;
    }
    let bad = runs.iter().find(|(_, run)| {
        run.faults.invalid + run.faults.too_large + run.loops > 0
            || run.prefix_between.0 != run.prefix_between.1
    });
    match bad {
        Some((plan, run)) => bail!("at a window of {}: {:?}, {} loops", plan.window, run.faults, run.loops),
        None => Ok(()),
    }
}

/// Every fourth stretch in words.
fn curve(plan: &Plan, done: &Soaked) -> String {
    let mut text =
        format!("window {}, {} turns of about {} tokens\n", plan.window, plan.turns, plan.turn_tokens);
    text.push_str("| turn | median a turn | mean | memory |\n|---|---|---|---|\n");
    for one in done.stretches.iter().skip(3).step_by(4) {
        text.push_str(&format!("| {} | {} |\n", one.turn, figures(one)));
    }
    text.push('\n');
    text
}

fn figures(one: &Stretch) -> String {
    let megabytes = one.resident as f64 / 1e6;
    let (median, mean) = (one.median.as_secs_f64() * 1e6, one.mean.as_secs_f64() * 1e3);
    format!("{median:.0} µs | {mean:.2} ms | {megabytes:.1} MB")
}

const HEADER: &str = "\
| window | turns | requests | rewrites | most in one request | loops | invalid | over the window | largest prompt | prefix kept | between rewrites |
|---|---|---|---|---|---|---|---|---|---|---|";

fn row(plan: &Plan, done: &Soaked) -> String {
    let share = |(whole, same): (u64, u64)| 100.0 * same as f64 / whole.max(1) as f64;
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} % | {:.4} % |",
        plan.window,
        plan.turns,
        done.requests,
        done.rewrites,
        done.most_rewrites,
        done.loops,
        done.faults.invalid,
        done.faults.too_large,
        done.largest,
        share(done.prefix),
        share(done.prefix_between)
    )
}
