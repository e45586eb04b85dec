//! A model that says what a test tells it to.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::{ClientError, Completion, CompletionClient, CompletionRequest, Finish};

/// A [`CompletionClient`] that follows a script and remembers what it was asked. For tests, of ours and of yours.
///
/// ```
/// use longhaul_summarize::{ClientError, Scripted};
///
/// let model = Scripted::new(|nth, _request| match nth {
///     0 => Err(ClientError::RateLimited { retry_after: None, reason: "slow down".into() }),
///     _ => Ok(Scripted::says("all is well")),
/// });
/// assert_eq!(model.calls(), 0);
/// ```
pub struct Scripted {
    script: Box<Script>,
    asked: Mutex<Vec<CompletionRequest>>,
}

type Script = dyn Fn(usize, &CompletionRequest) -> Result<Completion, ClientError> + Send + Sync;

impl Scripted {
    /// Returns a model that answers its n-th question, counted from zero, with what `script` says.
    pub fn new(
        script: impl Fn(usize, &CompletionRequest) -> Result<Completion, ClientError> + Send + Sync + 'static,
    ) -> Scripted {
        Scripted { script: Box::new(script), asked: Mutex::new(Vec::new()) }
    }

    /// Returns a model that says `text` whatever it is asked.
    pub fn always(text: impl Into<String>) -> Scripted {
        let text = text.into();
        Scripted::new(move |_, _| Ok(Scripted::says(text.clone())))
    }

    /// Returns a model that gives these answers in order, and the last of them ever after.
    pub fn sequence(answers: Vec<Result<Completion, ClientError>>) -> Scripted {
        Scripted::new(move |nth, _| match answers.get(nth).or_else(|| answers.last()) {
            Some(answer) => answer.clone(),
            None => Err(ClientError::Transport { reason: "the script is empty".into() }),
        })
    }

    /// Returns a whole answer that says `text`.
    pub fn says(text: impl Into<String>) -> Completion {
        Completion { text: text.into(), finish: Finish::Stop, usage: None, model: "scripted".into() }
    }

    /// Returns an answer that says `text` and ended as `finish` tells.
    pub fn ends(text: impl Into<String>, finish: Finish) -> Completion {
        Completion { finish, ..Scripted::says(text) }
    }

    /// Returns how often it was asked.
    pub fn calls(&self) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns what it was asked, oldest first.
    pub fn requests(&self) -> Vec<CompletionRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl CompletionClient for Scripted {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        let nth = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(request.clone());
            asked.len() - 1
        };
        (self.script)(nth, request)
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("calls", &self.calls()).finish_non_exhaustive()
    }
}
