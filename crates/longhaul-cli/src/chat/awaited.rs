//! A model that writes a summary while the user waits: it is said that it is asked, and Ctrl-C lets the rules write.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use longhaul::{
    summarize::{
        Attempt, CallPlan, Draft, Ladder, SummarizeError, Summarizer, SummaryRequest, rules::RulesSummarizer,
    },
    transcript::Tokens,
};

use super::interrupt::Interrupts;
use crate::paint;

/// The ladder of a conversation whose next request waits for a summary.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) ladder: Arc<Ladder>,
    pub(super) interrupts: Interrupts,
    /// Rules must not write in a model's place.
    pub(super) aborts: bool,
}

#[async_trait]
impl Summarizer for Awaited {
    fn writes_facts(&self) -> bool {
        self.ladder.writes_facts()
    }

    fn worth(&self) -> Tokens {
        self.ladder.worth()
    }

    fn ends_by_itself(&self) -> bool {
        self.ladder.ends_by_itself()
    }

    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        self.ladder.plan(request)
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let plan = self.ladder.plan(&request);
        let asked = plan.models.into_iter().filter(|model| model.passes > 0 && plan.max_calls > 0);
        // Which of them is at it is known to the ladder alone.
        let names = asked.map(|model| model.model).collect::<Vec<_>>().join(" or ");
        if names.is_empty() {
            return self.ladder.summarize(request).await;
        }
        let asking = asking(&names);
        let draft = tokio::select! {
            biased;
            () = self.interrupts.pressed() => None,
            draft = self.ladder.summarize(request) => Some(draft),
        };
        let duration_ms = asking.elapsed().as_millis() as u64;
        drop(asking);
        if let Some(draft) = draft {
            return draft;
        }
        let stopped = Attempt {
            summarizer: names,
            reason: "stopped by Ctrl-C".to_owned(),
            duration_ms,
            ..Attempt::default()
        };
        if self.aborts {
            return Err(SummarizeError::Exhausted { attempts: vec![stopped] });
        }
        let by_rule = RulesSummarizer::default().summarize(request).await?;
        Ok(Draft { attempts: vec![stopped], ..by_rule })
    }
}

/// Says on a terminal that a model is asked, until what this returns is dropped.
fn asking(model: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear);
    bar.set_style(ProgressStyle::with_template("{wide_msg}").unwrap_or(bar.style()));
    bar.set_message(format!("asking {} for a summary… Ctrl-C stops it", paint::name(model)));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
