//! What the rest of the work most likely needs, put back where neither the model nor the facts beside it show it.

use longhaul_extract::{DefaultRanker, FactClass, Subjects};
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
        let mut ranked: Vec<_> = subjects
            .all()
            .iter()
            .filter(|subject| !matches!(subject.fact.class(), FactClass::Word | FactClass::Name))
            // What the ranking gives nothing for, such as a tool's own parameter names, is not needed.
            .filter(|subject| subject.value > 0.0)
            .collect();
        ranked.sort_by(|a, b| b.value.total_cmp(&a.value));
        let names = ranked.iter().take(FIRST).map(|subject| subject.fact.name.to_string());
        let stays = |name: &String| {
            request.kept.iter().any(|entry| entry.message.texts().any(|text| text.contains(name.as_str())))
        };
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

/// Returns whether a reader of `text` sees `name`: as it is, or, for a path, its last part in a list under its folder.
fn shows(text: &str, name: &str) -> bool {
    if text.contains(name) {
        return true;
    }
    let Some((folder, file)) = name.trim_end_matches('/').rsplit_once('/') else { return false };
    let parent = folder.rsplit('/').next().unwrap_or(folder);
    let listed = || text.lines().any(|line| line.contains(&format!("{parent}/")) && line.contains(file));
    !file.is_empty() && !parent.is_empty() && listed()
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::SessionId;

    use super::*;
    use crate::testing::Bytes4;

    #[test]
    fn what_nobody_shows_is_put_back_within_its_share() {
        let said = longhaul_testkit::transcript(
            r#"user: Fix the flaky retry in src/queue/retry_policy.rs, see RLY-4812.
assistant: Looking. !read_file#c1 {"file_path":"src/queue/retry_policy.rs"}
tool#c1: pub fn backoff_millis(attempt: u32) -> u64 { 1 << attempt }"#,
        );
        let (session, mut index) = (SessionId::new("s").unwrap(), FactIndex::new());
        said.entries().iter().for_each(|entry| index.push(entry));
        let request = SummaryRequest {
            session: &session,
            entries: said.entries(),
            kept: &[],
            previous: None,
            index: &index,
            counter: &Bytes4,
            limit: Tokens(200),
            goal: None,
            depth: 0,
        };
        let needed = Needed::of(&request);
        let line = needed.missing_from("The retry is flaky.", &Bytes4, Tokens(200));
        assert!(line.starts_with("Also: ") && line.contains("src/queue/retry_policy.rs"), "{line}");
        assert!(line.contains("backoff_millis") && line.contains("RLY-4812"), "{line}");
        assert!(Bytes4.count_text(&line) <= Tokens(30));
        let shown = "src/queue/: retry_policy.rs\nbackoff_millis of RLY-4812, attempt u32, u64 file_path";
        assert_eq!(needed.missing_from(shown, &Bytes4, Tokens(200)), "");
        assert_eq!(needed.missing_from("", &Bytes4, Tokens(10)), "", "no room is no line");
        let kept = SummaryRequest { kept: said.entries(), ..request };
        assert!(!Needed::of(&kept).names.contains(&"RLY-4812".to_owned()), "what stays need not be said");
    }
}
