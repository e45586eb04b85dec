//! The curve of a long conversation: as lines of text, and as a picture for the docs.

use std::fmt::Write as _;

use super::{Plan, Soaked};

/// Size of the picture, and of the room around each of its panels.
const WIDTH: f64 = 720.0;
const PANEL: f64 = 180.0;
const MARGIN: f64 = 60.0;

const COLOURS: [&str; 4] = ["#1b6ca8", "#b5541c", "#3a7d44", "#7a4fa3"];

/// Returns a picture of conversations: what a turn takes, in the middle of turns and on average, and memory. Each runs from
/// its first turn to its last.
pub fn chart(runs: &[(Plan, Soaked)]) -> String {
    let height = 3.0 * (PANEL + MARGIN) + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let medians = |run: &Soaked| run.stretches.iter().map(|one| one.median.as_secs_f64() * 1e6).collect();
    let means = |run: &Soaked| run.stretches.iter().map(|one| one.mean.as_secs_f64() * 1e3).collect();
    let memory = |run: &Soaked| run.stretches.iter().map(|one| one.resident as f64 / 1e6).collect();
    let top = |nth: f64| 30.0 + nth * (PANEL + MARGIN);
    panel(&mut svg, top(0.0), "median of longhaul's own processor time a turn, µs", runs, medians);
    panel(&mut svg, top(1.0), "mean of the same, compactions included, ms", runs, means);
    panel(&mut svg, top(2.0), "memory of client and endpoint together, MB", runs, memory);
    svg.push_str("</svg>\n");
    svg
}

fn panel(
    svg: &mut String,
    top: f64,
    title: &str,
    runs: &[(Plan, Soaked)],
    values: impl Fn(&Soaked) -> Vec<f64>,
) {
    let lines: Vec<Vec<f64>> = runs.iter().map(|(_, run)| values(run)).collect();
    let most = lines.iter().flatten().copied().fold(1.0, f64::max) * 1.1;
    let bottom = top + PANEL;
    let (left, right) = (MARGIN, WIDTH - 150.0);
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">{title}</text>", top - 8.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#888\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{most:.0}</text><text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>",
        left - 6.0,
        top + 10.0,
        left - 6.0
    );
    for (nth, (line, (plan, _))) in lines.iter().zip(runs).enumerate() {
        let colour = COLOURS[nth % COLOURS.len()];
        let step = (right - left) / (line.len().max(2) - 1) as f64;
        let points: Vec<String> = line
            .iter()
            .enumerate()
            .map(|(at, value)| format!("{:.1},{:.1}", left + at as f64 * step, bottom - PANEL * value / most))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}k, {} turns</text>",
            points.join(" "),
            right + 8.0,
            top + 14.0 + 16.0 * nth as f64,
            plan.window.0 / 1000,
            plan.turns
        );
    }
}
