//! A person looks at a summary before it is used.

use std::{cell::OnceCell, collections::HashSet, fmt::Debug, sync::Arc};

use async_trait::async_trait;
use longhaul_transcript::{Constraint, Summary, Tokens, one_line};

use crate::{
    CallPlan, Draft, SummarizeError, Summarizer, SummaryRequest,
    ground::{Evidence, doubts},
    says_nothing,
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
pub(crate) const EDITED: &str = "+edited";

impl Reviewed {
    /// Returns `inner` with its summaries shown to `reviewer`.
    pub fn new(inner: Arc<dyn Summarizer>, reviewer: Arc<dyn Reviewer>) -> Reviewed {
        Reviewed { inner, reviewer }
    }

    /// Returns who writes.
    pub fn writer(&self) -> &dyn Summarizer {
        &*self.inner
    }

    /// Shows `draft`, which was written for `request`, to the person, and returns what they make of it.
    ///
    /// # Errors
    /// [`SummarizeError::Refused`] where they do not want it.
    pub async fn review(&self, draft: Draft, request: &SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let mut text = draft.text.clone();
        let mut doubts = Vec::new();
        let mut doubter = Doubter::new(request);
        loop {
            let shown = Shown { text: &text, limit: request.limit, doubts: &doubts };
            let edited = match self.reviewer.review(shown).await {
                Review::Refuse => return Err(SummarizeError::Refused),
                Review::Edited(edited) => edited,
                Review::Use => text.clone(),
            };
            match doubter.accepted(&draft, &edited, edited == text) {
                Ok(draft) => return Ok(draft),
                Err(found) => (doubts, text) = (found, edited),
            }
        }
    }
}

#[async_trait]
impl Summarizer for Reviewed {
    fn writes_facts(&self) -> bool {
        self.inner.writes_facts()
    }

    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        self.inner.plan(request)
    }

    fn worth(&self) -> Tokens {
        self.inner.worth()
    }

    fn ends_by_itself(&self) -> bool {
        true
    }

    fn as_reviewed(&self) -> Option<&Reviewed> {
        Some(self)
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let draft = self.inner.summarize(request).await?;
        self.review(draft, &request).await
    }
}

impl Draft {
    /// Returns the draft with `text`, a person's, in the place of its own. What of its data the person took out of the text
    /// goes out of the data too, as far as the text told it in the same words; what the data alone holds, such as a command
    /// whose first line the text left out, stays. Where they have seen the doubts and insist, what nothing shows stands as
    /// their word.
    ///
    /// # Errors
    /// What is the matter with `text`: it is empty or too long, or nobody insists and nothing shows a line of it.
    pub fn edited(
        &self,
        text: &str,
        do_they_insist: bool,
        request: &SummaryRequest<'_>,
    ) -> Result<Draft, Vec<Doubt>> {
        Doubter::new(request).accepted(self, text, do_they_insist)
    }

    /// Returns whether a person edited it: nothing is put beside what they made of it.
    pub fn is_edited(&self) -> bool {
        is_edited(&self.made_with)
    }
}

/// Returns whether what was made with this was edited by a person.
pub fn is_edited(made_with: &str) -> bool {
    made_with.ends_with(EDITED)
}

/// Looks at what a person makes of a summary. The conversation is read once, and only where somebody doubts.
struct Doubter<'r> {
    request: &'r SummaryRequest<'r>,
    shown: OnceCell<(Evidence, Vec<Constraint>)>,
    /// The lines that were pointed out: what stands of them stands as the person's word.
    pointed_out: HashSet<String>,
}

impl<'r> Doubter<'r> {
    fn new(request: &'r SummaryRequest<'r>) -> Doubter<'r> {
        Doubter { request, shown: OnceCell::new(), pointed_out: HashSet::new() }
    }

    /// Returns `draft` with `text` in the place of its own, or what is the matter with it.
    fn accepted(&mut self, draft: &Draft, text: &str, do_they_insist: bool) -> Result<Draft, Vec<Doubt>> {
        let text = text.trim_end();
        if text == draft.text.trim_end() {
            return Ok(draft.clone());
        }
        let doubts = self.doubts(&draft.text, text, do_they_insist);
        match doubts.is_empty() {
            true => Ok(replaced(draft.clone(), text.to_owned(), self.request)),
            false => Err(doubts),
        }
    }

    /// Returns what is the matter with `edited`, which was `text`. Where they insist, only what they cannot insist on.
    fn doubts(&mut self, text: &str, edited: &str, do_they_insist: bool) -> Vec<Doubt> {
        let (tokens, limit) = (self.request.counter.count_text(edited), self.request.limit);
        if says_nothing(edited) {
            return vec![Doubt::Empty];
        }
        if tokens > limit {
            return vec![Doubt::TooLong { tokens, limit }];
        }
        if do_they_insist {
            return Vec::new();
        }
        let mut found = Vec::new();
        for line in new_lines(text, edited).filter(|line| !self.pointed_out.contains(*line)) {
            let (evidence, rules) = self.shown.get_or_init(|| {
                let evidence = Evidence::new(self.request);
                let rules = evidence.rules();
                (evidence, rules)
            });
            if let Some(why) = doubts(line, evidence, rules) {
                found.push(Doubt::NotShown { line: line.to_owned(), why });
            }
        }
        self.pointed_out.extend(found.iter().filter_map(|doubt| match doubt {
            Doubt::NotShown { line, .. } => Some(line.clone()),
            _ => None,
        }));
        found
    }
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
    let (text, edited) = (one_line(text), one_line(edited));
    let stays = |said: &String| {
        let said = one_line(said);
        said.is_empty() || !text.contains(&*said) || edited.contains(&*said)
    };
    for said in [
        &mut summary.key_points,
        &mut summary.participants,
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
    let notes = summary.files.iter_mut().map(|file| &mut file.note);
    let notes = notes.chain(summary.commands.iter_mut().map(|command| &mut command.note));
    let notes = notes.chain(summary.errors.iter_mut().map(|error| &mut error.resolution));
    let notes =
        notes.chain(summary.action_items.iter_mut().flat_map(|item| [&mut item.owner, &mut item.due]));
    for note in notes {
        if !stays(note) {
            note.clear();
        }
    }
    summary.tools_used.iter_mut().for_each(|tool| tool.notable_uses.retain(stays));
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
    fn of_two_doubted_lines_the_one_that_stays_is_not_doubted_again() {
        let with_two = |text: &str| {
            Review::Edited(format!("{text}\n- The lock is in src/import.rs.\n- It waits for ledger_1999."))
        };
        let mended = |text: &str| Review::Edited(text.replace("ledger_1999", "ledger_2026"));
        let (draft, person) = reviewed(&[with_two, mended]);
        assert!(draft.unwrap().text.contains("src/import.rs"));
        let shown = person.shown.lock().unwrap();
        assert_eq!(shown.iter().map(|(_, doubts)| doubts.len()).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn notes_and_names_that_were_taken_out_are_gone_from_the_data() {
        let summary = Summary {
            participants: vec!["Ada".into(), "Grace".into()],
            files: vec![longhaul_transcript::FileNote {
                path: "src/export.rs".into(),
                note: "holds key 4711".into(),
                ..Default::default()
            }],
            ..Summary::default()
        };
        let left =
            without_what_went(summary, "Ada, Grace\nsrc/export.rs: holds key 4711", "Ada\nsrc/export.rs");
        assert_eq!(left.participants, ["Ada"]);
        assert_eq!((left.files.len(), left.files[0].note.as_str()), (1, ""));
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
