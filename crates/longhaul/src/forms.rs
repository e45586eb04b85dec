//! The forms in which the design documents write their summaries, each for its preset.
//!
//! A summarizer says what there is to say, as data and as text; under a preset whose document shows a form of its own,
//! the text is put into that form before it becomes a record. Elsewhere it stays as the summarizer wrote it. Nothing is
//! added that the draft or the conversation does not say, and the limit holds.

mod headings;
mod lines;
mod page;
mod sections;
mod session;

use longhaul_summarize::{Answer, Draft, SummaryRequest, rules::OMITTED};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{SummaryMode, Tokens};

#[cfg(feature = "wire")]
pub(crate) use lines::said::read_back;
pub(crate) use lines::{Holds, condense};

use crate::Preset;

/// Returns `draft` in the form that `preset`'s document gives its summaries, within the request's limit; what a running summary must
/// say may cost up to `most`. With `error_details` more than a line of an error is told, where the form has room for it.
pub(crate) fn shaped(
    preset: Option<Preset>,
    mut draft: Draft,
    request: &SummaryRequest<'_>,
    most: Tokens,
    error_details: bool,
) -> Draft {
    if matches!(draft.text.trim(), "" | OMITTED) {
        return draft;
    }
    let text = match preset {
        Some(Preset::ContextManager) if draft.mode != SummaryMode::Llm => headings::text(&draft, request),
        Some(Preset::Rolling) => lines::text(&draft, request, most, error_details),
        Some(Preset::Session) => session::text(&mut draft, request),
        Some(Preset::TwoTier) => sections::text(&draft, request),
        _ => None,
    };
    match text {
        Some(text) if request.counter.count_up_to(&text, most).is_some() && !text.trim().is_empty() => {
            let tokens = request.counter.count_text(&text);
            Draft { text, tokens, ..draft }
        }
        // The form does not fit so small a limit: what was said is worth more than how.
        _ => draft,
    }
}

/// Returns how much of a model's words, under a preset whose document shows them, does not stand in `text`, in words without any of
/// these; `None` where all of it stands there.
pub(crate) fn left_out(
    preset: Option<Preset>,
    draft: &Draft,
    text: &str,
    counter: &dyn TokenCounter,
) -> Option<String> {
    let said = match preset? {
        Preset::ContextManager | Preset::Rolling | Preset::Session => words(draft)?.to_owned(),
        Preset::TwoTier => sections::merged(words(draft)?),
        _ => return None,
    };
    let stands = |piece: &&str| text.contains(piece.trim());
    // A paragraph on one line loses sentences.
    let in_pieces = |line| {
        if stands(&line) { vec![line] } else { line.split_inclusive(['.', '!', '?', '。']).collect() }
    };
    let pieces: Vec<&str> = said.lines().flat_map(in_pieces).collect();
    let standing: Vec<&str> = pieces.iter().filter(|piece| stands(piece)).copied().collect();
    (standing.len() < pieces.len()).then(|| {
        let (left, all) = (counter.count_text(&standing.join("\n")), counter.count_text(&said));
        format!("left out of the model's words: all but {left} of {all} tokens, for want of room")
    })
}

/// Returns whether `preset`'s document shows a summarizer's words, and beside them what the person wants and demands and no other
/// fact.
pub(crate) fn shows_words_alone(preset: Option<Preset>) -> bool {
    matches!(preset, Some(Preset::Rolling | Preset::TwoTier))
}

/// Returns whether `preset`'s document shows a model's words, and `draft` has them in that form: facts by rule that stood beside them
/// do not stand there any more.
pub(crate) fn shows_words(preset: Option<Preset>, draft: &Draft) -> bool {
    let is_of_words = matches!(preset, Some(Preset::ContextManager | Preset::Session | Preset::TwoTier));
    let is_shaped = preset != Some(Preset::ContextManager) || draft.mode != SummaryMode::Llm;
    is_of_words && is_shaped && !draft.is_edited() && words(draft).is_some()
}

/// Returns how many things of a kind `preset`'s document lists at most, where it bounds its lists.
pub(crate) fn most_listed(preset: Option<Preset>) -> Option<usize> {
    (preset == Some(Preset::Chain)).then_some(Answer::MAX_ENTRIES)
}

/// Returns a model's own words; `None` where rules wrote the draft.
fn words(draft: &Draft) -> Option<&str> {
    let narrative = draft.summary.narrative.trim();
    (draft.mode != SummaryMode::Rules && !narrative.is_empty()).then_some(narrative)
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::CharsPer4;
    use longhaul_transcript::{Message, SessionId, Summary, Transcript};

    use super::*;

    // asserts 000-22, 003-09
    #[test]
    fn what_the_user_decided_and_a_model_does_not_tell_stands_behind_its_words_where_there_is_room() {
        let decided = [
            "Agreed with Tom that we'd do the switch on Tuesday 06:00 UTC.",
            "We keep the epoch a u32, that settles it.",
            "Strike the Tuesday thing, Wednesday 05:00 UTC.",
        ];
        let said: Transcript =
            decided.iter().flat_map(|one| [Message::user(*one), Message::assistant("Done.")]).collect();
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        for preset in [Preset::ContextManager, Preset::TwoTier, Preset::Session] {
            for (limit, n_told) in [(400, 2), (14, 0)] {
                let request =
                    SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(limit));
                let narrative = "The lanes were mended, and the tests pass.".to_owned();
                let summary = Summary { narrative: narrative.clone(), ..Summary::default() };
                let mode = SummaryMode::Hybrid;
                let draft = Draft { text: narrative.clone(), summary, mode, ..Draft::default() };
                let text = shaped(Some(preset), draft, &request, Tokens(limit), true).text;
                assert!(text.contains(&narrative), "{preset}: {text}");
                let told = decided.iter().filter(|one| text.contains(**one)).count();
                assert_eq!((told, text.contains(decided[0])), (n_told, false), "{preset} {limit}: {text}");
            }
        }
    }

    /// Twelve turns: what a person sets down, with a question behind it; what takes the place of two of these, and questions.
    fn set_down() -> (Transcript, Vec<String>) {
        let fact = |nth: usize| format!("Our port of lane {nth} is 80{nth}.");
        let ask = |nth: usize| format!("How is the lane {nth} tested at the moment?");
        let mut said = vec!["Get the shop ready for the launch.".to_owned()];
        said.extend((10..14).map(|nth| format!("{} {}", fact(nth), ask(nth))));
        said.extend(["Never use external crates. Is the cron runner safe?".to_owned(), ask(20)]);
        said.push("Our port of lane 11 is 9090 now.".to_owned());
        said.push("OK, external crates are allowed now.".to_owned());
        said.extend((30..33).map(ask));
        let all =
            said.iter().flat_map(|one| [Message::user(one.as_str()), Message::assistant("It is fine.")]);
        (all.collect(), said)
    }

    // asserts 000-22
    #[test]
    fn what_is_overruled_is_told_with_what_overruled_it_and_a_gap_is_told_elsewhere() {
        let (said, messages) = set_down();
        let session = SessionId::new("s").unwrap();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let presets = Preset::ALL.into_iter().map(Some).chain([None]);
        for (preset, narrative) in presets.flat_map(|preset| [(preset, ""), (preset, "The lanes were read.")])
        {
            for limit in (40..600).step_by(40) {
                let request =
                    SummaryRequest::new(&session, said.entries(), &index, &CharsPer4, Tokens(limit));
                let by_rule = |request: &SummaryRequest<'_>| {
                    longhaul_summarize::rules::summarize(request, &Default::default())
                };
                let draft = match narrative {
                    "" => by_rule(&request),
                    words => longhaul_summarize::with_facts_in_data(
                        Draft { text: words.to_owned(), mode: SummaryMode::Llm, ..Draft::default() },
                        by_rule(&request),
                    ),
                };
                let text = shaped(preset, draft, &request, Tokens(limit), true).text;
                let is_told = |words: &str| text.contains(words);
                let place = format!("{preset:?} {limit} {narrative:?}:\n{text}");
                for (old, new) in [
                    ("Our port of lane 11 is 8011.", "Our port of lane 11 is 9090 now."),
                    ("Never use external crates.", "external crates are allowed now."),
                ] {
                    let mut unmarked =
                        text.lines().filter(|line| line.contains(old) && !line.contains("later on this"));
                    assert!(unmarked.next().is_none() || is_told(new), "{old} in {place}");
                }
                for (nth, message) in messages.iter().enumerate() {
                    let handle = format!("m{} ", nth * 2);
                    let cut = text.lines().find(|line| line.starts_with(&handle) && line.contains("[…]"));
                    let sentences = longhaul_extract::sentences(message);
                    let mut gone = sentences.filter(|one| cut.is_some_and(|line| !line.contains(&**one)));
                    assert!(gone.all(|one| is_told(&one)), "a gap of {message} in {place}");
                }
            }
        }
    }
}
