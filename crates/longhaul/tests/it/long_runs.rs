//! Long conversations under each preset and the defaults: the short form of what `cargo xtask bench documents` runs.

#[path = "../long/conversation.rs"]
mod conversation;
#[path = "../long/run.rs"]
mod run;

use run::{HEADER, Plan, Row, plans};

/// As many as a test has the time for; the bench goes on.
const TURNS: usize = 60;

/// Runs the plans and returns what was out of bounds, with the table.
async fn faults(plans: Vec<Plan>) -> (Vec<String>, String) {
    let mut table = vec![HEADER.to_owned()];
    let mut faults = Vec::new();
    for plan in plans {
        let done = run::run(plan).await;
        table.push(Row(&plan, &done).to_string());
        faults.extend(done.faults.iter().map(|fault| format!("{plan:?}: {fault}")));
        faults.extend(done.lost.iter().map(|lost| format!("{plan:?}: lost {lost}")));
    }
    (faults, table.join("\n"))
}

// asserts 000-28, 001-32, 002-01, 002-26, 003-17, all-02
#[tokio::test]
async fn long_talk_stays_within_its_bounds() {
    let plans = plans(16_000, TURNS).into_iter().filter(|plan| !plan.tools).collect();
    let (faults, table) = faults(plans).await;
    assert!(faults.is_empty(), "{}\n{table}", faults.join("\n"));
}

// asserts 000-28, 001-32, 002-01, 002-26, 003-05, 003-17, all-02
#[tokio::test]
async fn long_work_with_tools_stays_within_its_bounds() {
    let plans = plans(16_000, TURNS).into_iter().filter(|plan| plan.tools).collect();
    let (faults, table) = faults(plans).await;
    assert!(faults.is_empty(), "{}\n{table}", faults.join("\n"));
}

// asserts 000-22, 002-35
#[tokio::test]
async fn what_was_settled_early_is_in_view_or_found_at_the_end() {
    // A summary for every forty messages, so that the first is one of many at the end.
    let preset = Some(longhaul::Preset::Session);
    let plan = Plan { preset, window: 16_000, turns: 130, tools: false, model: false };
    let (faults, table) = faults(vec![plan]).await;
    assert!(faults.is_empty(), "{}\n{table}", faults.join("\n"));
}
