//! `recall [DIR [TAIL_SHARE [SVG]]]`: prints the tables of future-reference recall over the recordings in DIR, and
//! draws that of the coding sessions into the file SVG.

use std::path::PathBuf;

use anyhow::Result;
use longhaul_bench::recall::{
    report::{plot, table},
    run::{OURS, Settings, measure_all, sessions},
    session::Group,
    weigh::Weigher,
};
use longhaul_summarize::rules::RulesOptions;

#[allow(clippy::print_stdout, reason = "a program that prints tables")]
fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let root = PathBuf::from(args.next().unwrap_or_else(|| "../shared/transcripts".into()));
    let tail_share: f64 = args.next().map_or(Ok(0.2), |share| share.parse())?;
    let sessions = sessions(&root)?;
    let common = root.join("../recallbench/common.json.gz");
    let weigher = Weigher::new(common.exists().then_some(common.as_path()), &sessions)?;
    let baselines = std::env::var_os("OURS_ONLY").is_none();
    let settings = Settings { options: RulesOptions::default(), tail_share, baselines };
    let rows = measure_all(&sessions, &weigher, &settings);
    for group in [Group::Coding, Group::Service, Group::Talk] {
        println!("{group:?}\n{}", table(&rows, group));
    }
    let ours = || rows.iter().filter(|row| row.method == OURS);
    let (stated, invented) = ours().fold((0, 0), |sum, row| (sum.0 + row.stated, sum.1 + row.invented));
    println!("literals stated in {} contexts: {stated}; not in the source: {invented}", ours().count());
    if let Some(path) = args.next() {
        std::fs::write(path, plot(&rows, Group::Coding))?;
    }
    Ok(())
}
