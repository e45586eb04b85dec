//! The tables and plots, as they stand in `docs/benchmarks.md`.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result};
use longhaul_tokens::{Bpe, Encoding};

use super::{
    corpora::{self, Corpus},
    measure::{self, Speed},
    peers::{self, Peer},
    plot, start,
};

/// What is measured, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Passes of each peer over each corpus.
    pub rounds: usize,
    /// Processes of each peer whose start is timed.
    pub starts: usize,
    /// Most bytes of a corpus.
    pub corpus_bytes: usize,
    /// Bytes of the hostile texts.
    pub hostile_bytes: usize,
}

/// Tables in Markdown, and plots by the names of their files.
#[derive(Debug, Default)]
pub struct Report {
    /// The tables.
    pub markdown: String,
    /// Name and SVG text of each plot.
    pub plots: Vec<(String, String)>,
}

/// Measures everything and shows each table on stderr when it is done.
///
/// # Errors
/// When a peer cannot be loaded, or a child process fails.
pub fn run(options: Options) -> Result<Report> {
    let mut report = Report::default();
    let (texts, skipped) = corpora::all(options.corpus_bytes);
    for reason in &skipped {
        eprintln!("{reason}");
    }
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let peers: Vec<Peer> =
            peers::NAMES.iter().map(|name| peers::load(name, encoding)).collect::<Result<_>>()?;
        report.throughput(encoding, &peers, &texts, options.rounds);
        report.small(encoding, &peers, &texts, options.rounds);
        if encoding == Encoding::O200kBase {
            report.hostile(&peers, options.hostile_bytes);
            report.linear(encoding, options.hostile_bytes)?;
        }
    }
    report.start(options.starts)?;
    report.threads(&texts)?;
    for reason in skipped {
        let _ = writeln!(report.markdown, "{reason}");
    }
    Ok(report)
}

/// Replaces what stands between the two markers of `name` in `file` by `text`.
///
/// # Errors
/// When the file cannot be read or written, or has no such markers.
pub fn put_between_markers(file: &Path, name: &str, text: &str) -> Result<()> {
    let old = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) =
        old.split_once(&begin).with_context(|| format!("no {begin:?} in {}", file.display()))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("no {end:?} in {}", file.display()))?;
    fs::write(file, [before, &begin, "\n", text.trim(), "\n\n", &end, after].concat())?;
    Ok(())
}

impl Report {
    fn add(&mut self, text: &str) {
        eprintln!("{text}");
        self.markdown.push_str(text);
        self.markdown.push('\n');
    }

    fn throughput(&mut self, encoding: Encoding, peers: &[Peer], texts: &[Corpus], rounds: usize) {
        let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
        let mut table = format!(
            "### {encoding}: MB/s warm [first pass]\n\n| corpus | {} | ours / best peer |\n|---|{}---|\n",
            names.join(" | "),
            "---|".repeat(names.len()),
        );
        let mut rows = Vec::new();
        for corpus in texts {
            let speeds = measure::speeds(peers, &corpus.text, rounds);
            let _ = writeln!(
                table,
                "| {}, {:.1} MB | {} | {} |",
                corpus.name,
                corpus.text.len() as f64 / 1e6,
                cells(&speeds),
                ratios(&speeds),
            );
            eprintln!("{}: {}", corpus.name, ratios(&speeds));
            rows.push((corpus.name.clone(), speeds.iter().map(|speed| speed.warm).collect()));
        }
        self.add(&table);
        let title = format!("{encoding}: MB/s of processor time, warm, one thread");
        self.plots.push((format!("tokens-{encoding}.svg"), plot::bars(&title, "MB/s", &names, &rows)));
    }

    fn small(&mut self, encoding: Encoding, peers: &[Peer], texts: &[Corpus], rounds: usize) {
        let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
        let mut table = format!(
            "### {encoding}: messages of 20 to 400 bytes, ns each, warm\n\n| corpus | {} | best peer / ours |\n|---|{}---|\n",
            names.join(" | "),
            "---|".repeat(names.len()),
        );
        for corpus in texts {
            let times = measure::small(peers, corpus, rounds);
            let best = times[1..].iter().copied().fold(f64::MAX, f64::min);
            let cells: Vec<String> = times.iter().map(|time| format!("{time:.0}")).collect();
            let _ = writeln!(table, "| {} | {} | {:.1} |", corpus.name, cells.join(" | "), best / times[0]);
        }
        self.add(&table);
    }

    fn hostile(&mut self, peers: &[Peer], bytes: usize) {
        let peers: Vec<&Peer> = peers.iter().filter(|peer| !peer.is_fragile).collect();
        let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
        let mut table = format!(
            "### Hostile texts of {:.0} MB, o200k_base: MB/s of the first call\n\n| text | {} |\n|---|{}\n",
            bytes as f64 / 1e6,
            names.join(" | "),
            "---|".repeat(names.len()),
        );
        for corpus in corpora::hostile(bytes) {
            let speeds: Vec<Speed> =
                peers.iter().map(|peer| measure::first_pass(peer, &corpus.text)).collect();
            let cells = speeds.iter().map(|speed| {
                let differs = if speed.tokens == speeds[0].tokens { "" } else { " DIFFERS" };
                format!("{:.1}{differs}", speed.first)
            });
            let _ = writeln!(table, "| {} | {} |", corpus.name, cells.collect::<Vec<_>>().join(" | "));
        }
        self.add(&table);
    }

    fn linear(&mut self, encoding: Encoding, bytes: usize) -> Result<()> {
        let sizes = [1, 2, 4, 8];
        let mut table = String::from(
            "### Growth: MB/s of the first call of longhaul on hostile texts\n\n| text | x1 | x2 | x4 | x8 |\n|---|---|---|---|---|\n",
        );
        let grown: Vec<Vec<Corpus>> = sizes.iter().map(|times| corpora::hostile(bytes * times)).collect();
        for (nth, corpus) in grown[0].iter().enumerate() {
            let _ = write!(table, "| {} |", corpus.name);
            for texts in &grown {
                let peer = peers::load("longhaul", encoding)?;
                let _ = write!(table, " {:.1} |", measure::first_pass(&peer, &texts[nth].text).first);
            }
            table.push('\n');
        }
        self.add(&table);
        Ok(())
    }

    fn start(&mut self, runs: usize) -> Result<()> {
        let mut table = String::from(
            "### Start: a process that counts one small text, beside one that counts nothing (o200k_base)\n\n| counter | ms more, least | ms more, median | MB resident at most |\n|---|---|---|---|\n",
        );
        let none = start::of("none", runs)?;
        let _ = writeln!(table, "| none | 0 | 0 | {:.1} |", none.resident_mb);
        for name in peers::NAMES {
            let start = start::of(name, runs)?;
            let _ = writeln!(
                table,
                "| {name} | {:.1} | {:.1} | {:.1} |",
                start.extra_ms, start.median_ms, start.resident_mb
            );
        }
        self.add(&table);
        Ok(())
    }

    fn threads(&mut self, texts: &[Corpus]) -> Result<()> {
        let bpe = Bpe::new(Encoding::O200kBase).context("longhaul is built without o200k_base")?;
        let messages: Vec<&str> =
            texts.iter().flat_map(|corpus| corpora::messages(&corpus.text, 20_000)).collect();
        let bytes: usize = messages.iter().map(|message| message.len()).sum();
        let time = |count: &dyn Fn() -> usize| {
            let passes: Vec<f64> = (0..5)
                .map(|_| {
                    let start = std::time::Instant::now();
                    std::hint::black_box(count());
                    start.elapsed().as_secs_f64()
                })
                .collect();
            bytes as f64 / passes.iter().copied().fold(f64::MAX, f64::min) / 1e6
        };
        let one = time(&|| messages.iter().map(|message| bpe.count(message)).sum());
        let all = time(&|| bpe.count_all(&messages).into_iter().sum());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.add(&format!(
            "### Threads\n\n{} messages, {:.1} MB, by the clock and the best of five passes: {one:.0} MB/s on one thread, {all:.0} MB/s with `count_all` on {cores} cores (x{:.2}).\n",
            messages.len(),
            bytes as f64 / 1e6,
            all / one,
        ));
        Ok(())
    }
}

fn cells(speeds: &[Speed]) -> String {
    let cells = speeds.iter().map(|speed| {
        let differs = if speed.tokens == speeds[0].tokens { "" } else { " DIFFERS" };
        format!("{:.0} [{:.0}]{differs}", speed.warm, speed.first)
    });
    cells.collect::<Vec<_>>().join(" | ")
}

fn ratios(speeds: &[Speed]) -> String {
    let best = |of: fn(&Speed) -> f64| speeds[1..].iter().map(of).fold(f64::MIN, f64::max);
    let (warm, first) = (best(|speed| speed.warm), best(|speed| speed.first));
    format!("{:.2} [{:.2}]", speeds[0].warm / warm, speeds[0].first / first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_markers_is_replaced() {
        let folder = std::env::temp_dir().join(format!("longhaul-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("page.md");
        fs::write(&file, "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n").unwrap();
        put_between_markers(&file, "x", "new\n").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb\n");
        assert!(put_between_markers(&file, "y", "new").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_ratio_is_to_the_best_of_the_others() {
        let speed = |warm, first| Speed { warm, first, tokens: 1 };
        assert_eq!(ratios(&[speed(300.0, 100.0), speed(100.0, 50.0), speed(150.0, 40.0)]), "2.00 [2.00]");
        let other = Speed { tokens: 2, ..speed(1.0, 1.0) };
        assert!(cells(&[speed(1.0, 1.0), other]).ends_with("DIFFERS"));
    }
}
