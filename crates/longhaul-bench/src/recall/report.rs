//! Tables with bootstrap intervals.

use std::fmt::Write;

use super::{
    run::{BUDGETS, OURS, Row, by_file},
    session::Group,
};

/// A mean with its 95 % bootstrap interval over files.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Mean {
    /// Returns the mean of `values` and its interval over 1,000 resamples; `None` of nothing.
    pub fn of(values: &[f64]) -> Option<Mean> {
        if values.is_empty() {
            return None;
        }
        let n = values.len();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            // xorshift64*: the same resamples every time.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
        };
        let mut means: Vec<f64> =
            (0..1000).map(|_| (0..n).map(|_| values[draw()]).sum::<f64>() / n as f64).collect();
        means.sort_by(f64::total_cmp);
        Some(Mean { mean: values.iter().sum::<f64>() / n as f64, low: means[25], high: means[974] })
    }
}

/// Returns the table of one group in Markdown: literal / anchored recall for each method and budget.
pub fn table(rows: &[Row], group: Group) -> String {
    let mut text = String::from("| method |");
    for budget in BUDGETS {
        let _ = write!(text, " {}k |", budget / 1000);
    }
    text.push_str(" old, 4k | used |\n|---|---|---|---|---|---|---|---|\n");
    for method in methods(rows, group) {
        let of = |budget: usize| {
            rows.iter().filter(move |row| row.group == group && row.method == method && row.budget == budget)
        };
        let _ = write!(text, "| {method} |");
        for budget in BUDGETS {
            let literal = Mean::of(&by_file(of(budget), |row| Some(row.literal)));
            let anchored = Mean::of(&by_file(of(budget), |row| Some(row.anchored)));
            match literal.zip(anchored) {
                Some((l, a)) => {
                    let _ = write!(text, " {:.3} [{:.2}, {:.2}] / {:.3} |", l.mean, l.low, l.high, a.mean);
                }
                None => text.push_str(" - |"),
            }
        }
        let old = Mean::of(&by_file(of(4000), |row| row.old));
        let all: Vec<f64> = rows
            .iter()
            .filter(|row| row.group == group && row.method == method)
            .map(|row| row.used as f64 / row.budget as f64)
            .collect();
        let used = all.iter().sum::<f64>() / all.len().max(1) as f64;
        let most = all.iter().copied().fold(0.0, f64::max);
        let _ = match old {
            Some(old) => writeln!(text, " {:.3} | {used:.3}, most {most:.3} |", old.mean),
            None => writeln!(text, " - | {used:.3}, most {most:.3} |"),
        };
    }
    text
}

/// Returns the recall of what calls write again (edit bodies), coding sessions, in Markdown.
pub fn body_table(rows: &[Row]) -> String {
    let mut text = String::from("| edit bodies |");
    for budget in BUDGETS {
        let _ = write!(text, " {}k |", budget / 1000);
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for method in methods(rows, Group::Coding) {
        let _ = write!(text, "| {method} |");
        for budget in BUDGETS {
            let of = rows
                .iter()
                .filter(|row| row.group == Group::Coding && row.method == method && row.budget == budget);
            let _ = match Mean::of(&by_file(of, |row| row.body)) {
                Some(body) => write!(text, " {:.3} |", body.mean),
                None => write!(text, " - |"),
            };
        }
        text.push('\n');
    }
    text
}

fn methods(rows: &[Row], group: Group) -> Vec<&'static str> {
    let mut methods: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.group == group) {
        if !methods.contains(&row.method) {
            methods.push(row.method);
        }
    }
    methods
}

/// Returns recall over budget for the methods of a group as an SVG image: one line a method, ours drawn thick.
pub fn plot(rows: &[Row], group: Group) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 360.0;
    let x = |at: usize| 60.0 + at as f64 * (WIDTH - 200.0) / (BUDGETS.len() - 1) as f64;
    let y = |recall: f64| HEIGHT - 40.0 - recall * (HEIGHT - 70.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for step in 0..=5 {
        let recall = f64::from(step) / 5.0;
        let _ = writeln!(
            svg,
            "<path d=\"M60 {0:.0}H{1:.0}\" stroke=\"#ddd\"/><text x=\"52\" y=\"{2:.0}\" text-anchor=\"end\">{recall:.1}</text>",
            y(recall),
            WIDTH - 140.0,
            y(recall) + 4.0,
        );
    }
    for (at, budget) in BUDGETS.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}k</text>",
            x(at),
            HEIGHT - 20.0,
            budget / 1000
        );
    }
    const COLOURS: [&str; 8] =
        ["#888", "#b58900", "#cb4b16", "#6c71c4", "#268bd2", "#2aa198", "#aaa", "#d33682"];
    for (n, method) in methods(rows, group).into_iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let mut points = Vec::new();
        let mut last = 0.0;
        for (at, budget) in BUDGETS.into_iter().enumerate() {
            let of =
                rows.iter().filter(|row| row.group == group && row.method == method && row.budget == budget);
            if let Some(mean) = Mean::of(&by_file(of, |row| Some(row.literal))) {
                points.push(format!("{:.1},{:.1}", x(at), y(mean.mean)));
                last = mean.mean;
            }
        }
        let width = if method == OURS { 3 } else { 1 };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" fill=\"{colour}\">{method} {last:.2}</text>",
            points.join(" "),
            WIDTH - 130.0,
            30.0 + n as f64 * 18.0,
        );
    }
    svg.push_str("</svg>\n");
    svg
}
