//! Bars in SVG, as plain as a table.

use std::fmt::Write;

const COLORS: [&str; 7] = ["#1b6ca8", "#c9a227", "#8d8d8d", "#6a994e", "#b56576", "#7b5ea7", "#d97b29"];
const BAR: usize = 7;
const GAP: usize = 10;
const LEFT: usize = 200;
const WIDTH: usize = 640;

/// Draws a group of bars for each row, a bar for each of `names`.
pub fn bars(title: &str, unit: &str, names: &[&str], rows: &[(String, Vec<f64>)]) -> String {
    let most = rows
        .iter()
        .flat_map(|(_, values)| values)
        .copied()
        .filter(|value| value.is_finite())
        .fold(1.0, f64::max);
    let group = BAR * names.len() + GAP;
    let height = 56 + group * rows.len() + 16;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"18\" font-size=\"14\">{}</text>",
        LEFT + WIDTH + 60,
        escape(title),
    );
    for (nth, name) in names.iter().enumerate() {
        let x = 8 + nth * 120;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"28\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"37\">{}</text>",
            COLORS[nth % COLORS.len()],
            x + 14,
            escape(name),
        );
    }
    for (row, (label, values)) in rows.iter().enumerate() {
        let top = 50 + row * group;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 8,
            top + BAR * names.len() / 2 + 4,
            escape(label),
        );
        for (nth, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let (width, y) = ((value / most * WIDTH as f64).max(1.0), top + nth * BAR);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"{}\"/>",
                BAR - 1,
                COLORS[nth % COLORS.len()],
            );
            if nth == 0 {
                let x = LEFT as f64 + width + 4.0;
                let _ =
                    writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\">{value:.0} {}</text>", y + BAR, escape(unit));
            }
        }
    }
    svg + "</svg>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_value() {
        let svg = bars("A & B", "MB/s", &["one", "two"], &[("row".into(), vec![100.0, 50.0])]);
        assert!(
            svg.contains("A &amp; B") && svg.contains("width=\"640.0\"") && svg.contains("width=\"320.0\"")
        );
        assert!(svg.contains("100 MB/s") && svg.ends_with("</svg>\n"));
    }
}
