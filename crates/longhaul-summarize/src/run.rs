//! The calls of one summary: counted, timed, retried, bounded.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use longhaul_transcript::{Clock, Cost, Jitter, Sleep, Tokens};

use crate::{
    Attempt, ClientError, Completion, CompletionRequest, LlmOptions, SummarizerModel, breaker::Breaker,
    spend::Spend,
};

/// The state of one summary's calls.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub options: &'a LlmOptions,
    pub clock: &'a dyn Clock,
    pub sleep: &'a dyn Sleep,
    pub jitter: &'a dyn Jitter,
    pub breaker: &'a Breaker,
    pub spend: &'a Spend,
    pub attempts: Vec<Attempt>,
    pub cost: Cost,
    pub started_ms: i64,
}

/// A call gave no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It was not made, or not made again: a bound is reached.
    Held,
    /// It failed; the attempt is noted.
    Failed(ClientError),
}

impl Run<'_> {
    /// Asks `model`, again after trouble on the way, and notes every attempt that gave no answer.
    pub(crate) async fn ask(
        &mut self,
        model: &SummarizerModel,
        request: &CompletionRequest,
        prompt_tokens: Tokens,
    ) -> Result<Completion, NoAnswer> {
        let mut failures = 0;
        // What this very request failed with is no reason not to repeat it as often as was asked for; a trial is not repeated.
        let is_trial = self.breaker.is_open(&model.name);
        loop {
            let now = self.clock.now_ms();
            let must_be_admitted = failures == 0 || is_trial;
            let held =
                self.bounded(now).or_else(|| must_be_admitted.then(|| self.left_alone(model, now)).flatten());
            if let Some(reason) = held {
                self.note(model, reason, String::new(), now);
                return Err(NoAnswer::Held);
            }
            let admitted = match self.spend.admit(prompt_tokens + request.max_tokens, now) {
                Ok(admitted) => admitted,
                Err(reason) => {
                    self.note(model, reason, String::new(), now);
                    return Err(NoAnswer::Held);
                }
            };
            self.cost.calls += 1;
            let limit = self.options.call_timeout.min(self.time_left(now));
            let answer = within(model.client.complete(request), self.sleep.sleep(limit)).await;
            let error = match answer.unwrap_or(Err(ClientError::Timeout { after: limit })) {
                Ok(completion) => {
                    self.breaker.succeeded(&model.name);
                    if let Some(usage) = completion.usage {
                        self.spend.settle(admitted, usage.prompt_total() + usage.output + usage.reasoning);
                        let sum = &mut self.cost.usage;
                        sum.input += usage.input;
                        sum.cache_read += usage.cache_read;
                        sum.cache_write += usage.cache_write;
                        sum.output += usage.output;
                        sum.reasoning += usage.reasoning;
                    }
                    return Ok(completion);
                }
                Err(error) => error,
            };
            self.note(model, error.to_string(), String::new(), now);
            if !error.is_retryable() {
                return Err(NoAnswer::Failed(error));
            }
            self.breaker.failed(&model.name, self.clock.now_ms());
            let wait = self.wait(failures, &error);
            match wait {
                Some(wait) if failures < self.options.retries => self.sleep.sleep(wait).await,
                _ => return Err(NoAnswer::Failed(error)),
            }
            failures += 1;
        }
    }

    /// Notes why a model's answer was not used.
    pub(crate) fn note(&mut self, model: &SummarizerModel, reason: String, excerpt: String, since_ms: i64) {
        let duration_ms = u64::try_from(self.clock.now_ms().saturating_sub(since_ms)).unwrap_or(0);
        self.attempts.push(Attempt { summarizer: model.name.clone(), reason, excerpt, duration_ms });
    }

    /// Returns which bound of this summary is reached, where one is.
    fn bounded(&self, now: i64) -> Option<String> {
        if self.cost.calls >= self.options.max_calls {
            return Some(format!("the limit of {} calls for one summary is reached", self.options.max_calls));
        }
        if self.time_left(now).is_zero() {
            return Some(format!("the deadline of {} ms has passed", self.options.deadline.as_millis()));
        }
        None
    }

    /// Returns why `model` may not be asked now, where that is so. Asked last: a yes may be the one trial that a model left
    /// alone gets.
    fn left_alone(&self, model: &SummarizerModel, now: i64) -> Option<String> {
        let left_alone = || "left alone for a while after repeated failures".to_owned();
        (!self.breaker.admits(&model.name, now)).then(left_alone)
    }

    fn time_left(&self, now: i64) -> Duration {
        let spent = u64::try_from(now.saturating_sub(self.started_ms)).unwrap_or(0);
        self.options.deadline.saturating_sub(Duration::from_millis(spent))
    }

    /// Returns how long to wait before asking again, or `None` where that would take too long.
    fn wait(&self, failures: u32, error: &ClientError) -> Option<Duration> {
        let backoff = self.options.backoff.saturating_mul(2u32.saturating_pow(failures));
        let backoff = {
            let chance = Some(self.jitter.next()).filter(|chance| (0.0..1.0).contains(chance)).unwrap_or(0.0);
            backoff.saturating_add(backoff.mul_f64(chance / 2.0))
        };
        let asked = error.retry_after().unwrap_or(Duration::ZERO);
        if asked > self.options.max_retry_after {
            return None;
        }
        Some(backoff.max(asked)).filter(|wait| *wait < self.time_left(self.clock.now_ms()))
    }
}

/// Returns what `future` gives, or `None` where `timer` is ready first.
pub async fn within<T>(future: impl Future<Output = T>, timer: impl Future<Output = ()>) -> Option<T> {
    let (mut future, mut timer) = (pin!(future), pin!(timer));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| None),
    })
    .await
}
