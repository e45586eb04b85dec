//! What the rest of the work most likely needs, put back where neither the model nor the facts beside it show it.

use longhaul_extract::{DefaultRanker, Subjects, shows};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use crate::SummaryRequest;

/// The names that the ranking puts first: paths, numbers, identifiers, flags, addresses, symbols.
#[derive(Debug)]
pub(crate) struct Needed {
    /// The most valuable first.
    names: Vec<String>,
}

/// How many names are looked for.
const FIRST: usize = 20;

/// The share of the limit that putting names back may take: more of them than that is no oversight of the facts, but a
/// limit that is too small for all.
const SHARE: f64 = 0.15;

impl Needed {
    /// Returns what is needed of the request's conversation and stands in none of the messages that stay.
    pub(crate) fn of(request: &SummaryRequest<'_>) -> Needed {
        let subjects = Subjects::new(request.index, &DefaultRanker::default());
        let stays = |name: &String| {
            request.kept.iter().any(|entry| entry.message.texts().any(|text| text.contains(name.as_str())))
        };
        let names = subjects.first(FIRST).into_iter().map(str::to_owned);
        Needed { names: names.filter(|name| !stays(name)).collect() }
    }

    /// Returns a line with the names that a reader of `text` does not see, the most valuable first, as many as their
    /// share of `limit` holds; empty where all are seen.
    pub(crate) fn missing_from(&self, text: &str, counter: &dyn TokenCounter, limit: Tokens) -> String {
        let mut line = String::new();
        for name in self.names.iter().filter(|name| !shows(text, name)) {
            let next = match line.is_empty() {
                true => format!("Also: {name}"),
                false => format!("{line}, {name}"),
            };
            if counter.count_text(&next) <= limit.scaled(SHARE) {
                line = next;
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::SessionId;

    use super::*;

    #[test]
    fn what_nobody_shows_is_put_back_within_its_share() {
        let said = longhaul_testkit::transcript(
            r#"user: Fix the flaky retry in src/queue/retry_policy.rs, see RLY-4812.
assistant: Looking. !read_file#c1 {"file_path":"src/queue/retry_policy.rs"}
tool#c1: pub fn backoff_millis(attempt: u32) -> u64 { 1 << attempt }"#,
        );
        let (session, mut index) = (SessionId::new("s").unwrap(), FactIndex::new());
        said.entries().iter().for_each(|entry| index.push(entry));
        let request = SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(200));
        let needed = Needed::of(&request);
        let line = needed.missing_from("The retry is flaky.", &BytesPer4, Tokens(200));
        assert!(line.starts_with("Also: ") && line.contains("src/queue/retry_policy.rs"), "{line}");
        assert!(line.contains("backoff_millis") && line.contains("RLY-4812"), "{line}");
        assert!(BytesPer4.count_text(&line) <= Tokens(30));
        let shown = "src/queue/: retry_policy.rs\nbackoff_millis of RLY-4812, attempt u32, u64 file_path";
        assert_eq!(needed.missing_from(shown, &BytesPer4, Tokens(200)), "");
        assert_eq!(needed.missing_from("", &BytesPer4, Tokens(10)), "", "no room is no line");
        let kept = SummaryRequest { kept: said.entries(), ..request };
        assert!(!Needed::of(&kept).names.contains(&"RLY-4812".to_owned()), "what stays need not be said");
    }
}
