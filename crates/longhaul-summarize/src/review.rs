//! A person looks at a summary before it is used.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use longhaul_transcript::{Summary, Tokens};

use crate::{
    CallPlan, Draft, SummarizeError, Summarizer, SummaryRequest,
    ground::{Evidence, doubts},
};

/// Shows a summary to a person and returns what they make of it.
#[async_trait]
pub trait Reviewer: Debug + Send + Sync {
    /// Shows `shown`, which may be edited until it says what it should.
    async fn review(&self, shown: Shown<'_>) -> Review;
}

/// A summary as a person is shown it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Shown<'a> {
    /// What it says, without the header that stands over it in the history.
    pub text: &'a str,
    /// The most that it may cost.
    pub limit: Tokens,
    /// What is the matter with what the person made of it, in words for them. Empty the first time.
    pub doubts: &'a [Doubt],
}

/// Why a summary that a person edited is shown to them again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// It is too long.
    #[error("it costs {tokens} tokens, and there is room for {limit}")]
    TooLong {
        /// What it costs.
        tokens: Tokens,
        /// What it may cost.
        limit: Tokens,
    },
    /// It says nothing.
    #[error("it is empty")]
    Empty,
    /// A line of theirs is not what the conversation shows. It stands if they say so again.
    #[error("the conversation does not show {line:?}: {why}")]
    NotShown {
        /// The line.
        line: String,
        /// What about it.
        why: &'static str,
    },
}

/// What a person makes of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    /// It is used as it was shown.
    Use,
    /// It is to say this instead.
    Edited(String),
    /// It is not to be used: the conversation stays as it is.
    Refuse,
}

/// A summarizer whose summaries a person sees, and may edit, before they are used.
///
/// A line that they wrote and that the conversation does not show is pointed out to them once; what they leave standing
/// then is their word. What they edited is recorded as such: [`Draft::made_with`] ends with `+edited`.
#[derive(Clone, Debug)]
pub struct Reviewed {
    inner: Arc<dyn Summarizer>,
    reviewer: Arc<dyn Reviewer>,
}

/// What the record of a summary that a person edited says of how it was made.
const EDITED: &str = "+edited";

impl Reviewed {
    /// Returns `inner` with its summaries shown to `reviewer`.
    pub fn new(inner: Arc<dyn Summarizer>, reviewer: Arc<dyn Reviewer>) -> Reviewed {
        Reviewed { inner, reviewer }
    }
}

#[async_trait]
impl Summarizer for Reviewed {
    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        self.inner.plan(request)
    }

    fn worth(&self) -> Tokens {
        self.inner.worth()
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let draft = self.inner.summarize(request).await?;
        let mut text = draft.text.clone();
        let mut doubts = Vec::new();
        loop {
            let shown = Shown { text: &text, limit: request.limit, doubts: &doubts };
            let edited = match self.reviewer.review(shown).await {
                Review::Refuse => return Err(SummarizeError::Refused),
                Review::Edited(edited) => edited,
                Review::Use => text.clone(),
            };
            match draft.edited(&edited, edited == text, &request) {
                Ok(draft) => return Ok(draft),
                Err(found) => (doubts, text) = (found, edited),
            }
        }
    }
}

impl Draft {
    /// Returns the draft with `text`, a person's, in the place of its own. What of its data the person took out of the text
    /// goes out of the data too. Where they have seen the doubts and insist, what nothing shows stands as their word.
    ///
    /// # Errors
    /// What is the matter with `text`: it is empty or too long, or nobody insists and nothing shows a line of it.
    pub fn edited(
        &self,
        text: &str,
        do_they_insist: bool,
        request: &SummaryRequest<'_>,
    ) -> Result<Draft, Vec<Doubt>> {
        let text = text.trim_end();
        if text == self.text.trim_end() {
            return Ok(self.clone());
        }
        let mut doubts = doubted(&self.text, text, request);
        if do_they_insist {
            doubts.retain(|doubt| !doubt.is_for_them_to_say());
        }
        match doubts.is_empty() {
            true => Ok(replaced(self.clone(), text.to_owned(), request)),
            false => Err(doubts),
        }
    }
}

impl Doubt {
    /// Returns whether a person who leaves it as it is has answered it.
    pub fn is_for_them_to_say(&self) -> bool {
        matches!(self, Doubt::NotShown { .. })
    }
}

/// Returns what is the matter with `edited`, which was `text`.
fn doubted(text: &str, edited: &str, request: &SummaryRequest<'_>) -> Vec<Doubt> {
    let tokens = request.counter.count_text(edited);
    if edited.trim().is_empty() {
        return vec![Doubt::Empty];
    }
    if tokens > request.limit {
        return vec![Doubt::TooLong { tokens, limit: request.limit }];
    }
    let evidence = Evidence::new(request);
    let doubt = |line: &str| Some(Doubt::NotShown { line: line.to_owned(), why: doubts(line, &evidence)? });
    new_lines(text, edited).filter_map(doubt).collect()
}

/// Returns the lines of `edited` that `text` does not have.
fn new_lines<'a>(text: &'a str, edited: &'a str) -> impl Iterator<Item = &'a str> {
    let is_new = move |line: &&str| !line.is_empty() && text.lines().all(|known| known.trim() != *line);
    edited.lines().map(str::trim).filter(is_new)
}

fn replaced(draft: Draft, edited: String, request: &SummaryRequest<'_>) -> Draft {
    let added = new_lines(&draft.text, &edited).count();
    let gone = new_lines(&edited, &draft.text).count();
    let mut repairs = draft.repairs;
    repairs.push(format!("edited by a person: {added} lines added or changed, {gone} taken out or changed"));
    Draft {
        summary: without_what_went(draft.summary, &draft.text, &edited),
        tokens: request.counter.count_text(&edited),
        text: edited,
        made_with: format!("{}{EDITED}", draft.made_with),
        repairs,
        ..draft
    }
}

fn without_what_went(mut summary: Summary, text: &str, edited: &str) -> Summary {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, edited) = (flat(text), flat(edited));
    let stays = |said: &String| {
        let said = flat(said);
        said.is_empty() || !text.contains(&said) || edited.contains(&said)
    };
    for said in [
        &mut summary.key_points,
        &mut summary.decisions,
        &mut summary.unresolved,
        &mut summary.domain_entities,
        &mut summary.unconfirmed,
    ] {
        said.retain(stays);
    }
    for said in [&mut summary.narrative, &mut summary.goal, &mut summary.current_focus] {
        if !stays(said) {
            said.clear();
        }
    }
    summary.action_items.retain(|item| stays(&item.task));
    summary.constraints.retain(|rule| stays(&rule.text));
    summary.files.retain(|file| stays(&file.path));
    summary.commands.retain(|command| stays(&command.command));
    summary.errors.retain(|error| stays(&error.error));
    summary
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        sync::{Mutex, PoisonError},
        task::{Context, Poll, Waker},
    };

    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::SessionId;

    use super::*;
    use crate::rules::RulesSummarizer;

    const SAID: &str = "user: The export in src/export.rs hangs. Never touch the schema.\nassistant: It waits for a lock of ledger_2026; I decided to take the lock later.\nuser: Go on.";

    type Answer = fn(&str) -> Review;

    /// A person who makes of a summary what they were told to, and remembers what they were shown.
    #[derive(Debug, Default)]
    struct Person {
        answers: Mutex<VecDeque<Answer>>,
        shown: Mutex<Vec<(String, Vec<String>)>>,
    }

    #[async_trait]
    impl Reviewer for Person {
        async fn review(&self, shown: Shown<'_>) -> Review {
            let doubts = shown.doubts.iter().map(ToString::to_string).collect();
            let mut all = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((shown.text.to_owned(), doubts));
            let next = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            next.map_or(Review::Refuse, |answer| answer(shown.text))
        }
    }

    fn reviewed(answers: &[Answer]) -> (Result<Draft, SummarizeError>, Arc<Person>) {
        let person = Arc::new(Person::default());
        person.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
        let said = longhaul_testkit::transcript(SAID);
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let session = SessionId::new("s").unwrap();
        let request = SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(200));
        let summarizer = Reviewed::new(Arc::new(RulesSummarizer::default()), person.clone());
        let mut future = summarizer.summarize(request);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(draft) => (draft, person),
            Poll::Pending => panic!("nobody waits for anything here"),
        }
    }

    #[test]
    fn what_is_left_as_it_is_stays_the_rules_own() {
        let (draft, person) = reviewed(&[|_| Review::Use]);
        let draft = draft.unwrap();
        assert!(draft.text.contains("Never touch the schema") && !draft.made_with.contains(EDITED));
        assert_eq!(*person.shown.lock().unwrap(), [(draft.text, vec![])]);
        let (draft, _) = reviewed(&[|text| Review::Edited(format!("{text}\n"))]);
        assert!(!draft.unwrap().made_with.contains(EDITED), "an editor adds a line break");
    }

    #[test]
    fn what_a_person_takes_out_is_gone_from_the_data_too() {
        let without = |text: &str| {
            let stays = |line: &&str| !line.contains("ledger_2026");
            Review::Edited(text.lines().filter(stays).collect::<Vec<_>>().join("\n"))
        };
        let (draft, _) = reviewed(&[without]);
        let draft = draft.unwrap();
        assert!(draft.made_with.ends_with(EDITED), "{}", draft.made_with);
        assert!(draft.repairs.iter().any(|line| line.starts_with("edited by a person: 0 lines added")));
        let json = serde_json::to_string(&draft).unwrap();
        assert!(!json.contains("I decided to take the lock"), "{json}");
        assert_eq!(draft.tokens, longhaul_tokens::TokenCounter::count_text(&BytesPer4, &draft.text));
    }

    #[test]
    fn a_line_that_nothing_shows_is_pointed_out_once() {
        let with_a_claim =
            |text: &str| Review::Edited(format!("{text}\n- The lock is taken in src/import.rs."));
        let (draft, person) = reviewed(&[with_a_claim, |_| Review::Use]);
        assert!(draft.unwrap().text.ends_with("src/import.rs."));
        let shown = person.shown.lock().unwrap();
        assert_eq!(shown.len(), 2);
        assert!(shown[1].1[0].contains("src/import.rs") && shown[1].1[0].contains("a name"), "{shown:?}");
        // What the conversation shows is not doubted.
        let with_a_fact = |text: &str| Review::Edited(format!("{text}\n- The lock is one of ledger_2026."));
        let (draft, person) = reviewed(&[with_a_fact]);
        assert!(draft.unwrap().made_with.ends_with(EDITED));
        assert_eq!(person.shown.lock().unwrap().len(), 1);
    }

    #[test]
    fn what_is_too_long_or_empty_cannot_be_insisted_on() {
        let too_long = |_: &str| Review::Edited("word ".repeat(400));
        let (draft, person) = reviewed(&[too_long, |_| Review::Use, |_| Review::Edited(String::new())]);
        assert!(matches!(draft, Err(SummarizeError::Refused)));
        let shown = person.shown.lock().unwrap();
        let doubts: Vec<&str> = shown.iter().flat_map(|(_, doubts)| doubts).map(String::as_str).collect();
        let long = "it costs 500 tokens, and there is room for 200";
        assert_eq!(doubts, [long, long, "it is empty"]);
    }
}
