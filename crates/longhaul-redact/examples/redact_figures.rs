//! Prints how fast a folder of text is searched, and which rules strike how often in it:
//! `cargo run --release -p longhaul-redact --example redact_figures -- ../shared/transcripts`.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::{collections::BTreeMap, env, fs, path::PathBuf, time::Instant};

use longhaul_redact::Redactor;

fn main() -> std::io::Result<()> {
    let mut folders: Vec<PathBuf> = env::args().skip(1).map(PathBuf::from).collect();
    let show = env::var_os("SHOW_CONTEXT").is_some();
    let (redactor, mut bytes, mut seconds, mut busy) = (Redactor::builtin(), 0, 0.0, 0.0);
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    let started = Instant::now();
    redactor.find("");
    println!("first use: {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            let mut inside: Vec<_> =
                fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
            inside.sort();
            folders.extend(inside);
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let (started, began) = (Instant::now(), processor_seconds());
        let is_json = path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl");
        let findings = if is_json { redactor.redact_json(&text).1 } else { redactor.find(&text) };
        seconds += started.elapsed().as_secs_f64();
        busy += processor_seconds() - began;
        bytes += text.len();
        for finding in findings {
            *rules.entry(finding.rule.to_string()).or_default() += 1;
            if show {
                let start = text.floor_char_boundary(finding.span.start.saturating_sub(40));
                println!("{}: {:?}", finding.rule, &text[start..finding.span.end.min(start + 120)]);
            }
        }
    }
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{bytes} bytes, {:.1} MB/s; {:.1} MB/s of processor time",
        megabytes / seconds,
        megabytes / busy
    );
    for (rule, count) in rules {
        println!("{count:6} {rule}");
    }
    Ok(())
}

/// Returns the processor time of this thread, in seconds: on a machine that others use too, the clock says little. Zero
/// where Linux does not tell.
fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
