//! What of a claim can be looked up letter by letter.

use super::{
    evidence::Evidence,
    names::{
        is_choice, is_name, is_placeholder, knows_code, knows_name, trimmed, unknown_person, unknown_term,
    },
    numbers::{is_other_number, unknown_day, unknown_number},
    words::words,
};

/// What of a claim does not stand in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// A path, identifier, URL, flag or piece of code.
    Name,
    /// A number, version, date or amount.
    Number,
    /// Words between quotation marks.
    Quote,
}

/// Returns what kind of thing in `claim` does not stand in the source, where anything does not. `cited` are the messages that
/// the claim itself names as its source.
pub(super) fn unknown(claim: &str, cited: &[u64], evidence: &Evidence) -> Option<Unknown> {
    missing(claim, cited, evidence).map(|(kind, _)| kind)
}

/// Returns the same, and what it is, as far as it is one thing.
pub(super) fn missing(claim: &str, cited: &[u64], evidence: &Evidence) -> Option<(Unknown, String)> {
    let Spans { code, quoted, prose } = spans(claim);
    let is_known = |span: &str| {
        let (before, behind) = beside(claim, span);
        knows_code(span, evidence)
            || !is_place(before) && is_choice(span, 3..=MOST_CHOICES, evidence)
            // Of what was not run nothing can be shown.
            || UNDONE.iter().any(|words| behind.starts_with(words))
    };
    if let Some(span) = code.iter().find(|span| !is_known(span)) {
        return Some((Unknown::Name, (*span).to_owned()));
    }
    // Of one or two words are names and terms; three and more are somebody's words.
    let is_speech = |span: &&&str| words(span).count() >= 3;
    if let Some(span) = quoted.iter().filter(is_speech).find(|span| !knows_quotation(span, evidence)) {
        return Some((Unknown::Quote, format!("\"{span}\"")));
    }
    let names = quoted.iter().copied().filter(|span| !span.contains(' ')).chain(prose.split_whitespace());
    let mut before = "";
    for token in names {
        let token = trimmed(token);
        if is_name(token)
            && !knows_name(token, evidence)
            && !(token.contains('(') && knows_code(token, evidence))
            && (is_place(before) || !is_choice(token, 2..=MOST_CHOICES, evidence))
        {
            return Some((Unknown::Name, token.to_owned()));
        }
        before = token;
    }
    if let Some(name) = unknown_person(&prose, evidence).or_else(|| unknown_term(&prose, evidence)) {
        return Some((Unknown::Name, name.to_owned()));
    }
    let number = unknown_number(&prose, claim, cited, evidence)
        .or_else(|| unknown_day(&prose, evidence))
        .or_else(|| is_other_number(&prose, claim, evidence).then(String::new));
    number.map(|number| (Unknown::Number, number))
}

/// Returns the word before a span of `claim`, and what follows it.
fn beside<'c>(claim: &'c str, span: &str) -> (&'c str, &'c str) {
    let at = (span.as_ptr() as usize).saturating_sub(claim.as_ptr() as usize);
    let before = claim.get(..at).unwrap_or_default().trim_end_matches(['`', ' ', '(']);
    let behind = claim.get(at + span.len()..).unwrap_or_default().trim_start_matches('`');
    (before.rsplit(' ').next().unwrap_or_default(), behind)
}

fn is_place(word: &str) -> bool {
    PLACES.iter().any(|place| word.eq_ignore_ascii_case(place))
}

/// Words behind which words between slashes are a path.
const PLACES: [&str; 14] = [
    "in", "at", "under", "from", "into", "inside", "within", "to", "file", "directory", "folder", "path",
    "module", "dir",
];
const UNDONE: [&str; 4] = [" was not ", " were not ", " was never ", " has not been "];
/// More words between slashes are a path.
const MOST_CHOICES: usize = 6;

/// Returns whether somebody's words stand in the source: as a whole, or in the pieces that the claim took out of them
/// (`not found ... at line`, `Session states/Shadow branches:`, `batch n/m of the run`).
fn knows_quotation(span: &str, evidence: &Evidence) -> bool {
    const CUTS: [&str; 5] = ["[...]", "[…]", "...", "…", " | "];
    if evidence.quotes(span) {
        return true;
    }
    let spread = CUTS.iter().fold(span.to_owned(), |spread, cut| spread.replace(cut, " / "));
    let mut pieces: Vec<Vec<&str>> = vec![Vec::new()];
    for word in spread.split_whitespace() {
        if is_placeholder(word) {
            pieces.push(Vec::new());
            continue;
        }
        for (nth, side) in word.split('/').enumerate() {
            if nth > 0 {
                pieces.push(Vec::new());
            }
            pieces.last_mut().into_iter().for_each(|piece| piece.push(side));
        }
    }
    let pieces: Vec<String> = pieces.iter().map(|piece| piece.join(" ")).collect();
    pieces.len() > 1
        && pieces.iter().any(|piece| words(piece).count() >= 2)
        && pieces.iter().all(|piece| evidence.quotes(piece))
}

/// The pieces of a claim by how they are set.
pub(super) struct Spans<'a> {
    pub code: Vec<&'a str>,
    pub quoted: Vec<&'a str>,
    /// The rest.
    pub prose: String,
}

/// Splits a claim into its code spans, its quotations, and the rest.
pub(super) fn spans(claim: &str) -> Spans<'_> {
    let (mut code, mut quoted, mut prose) = (Vec::new(), Vec::new(), String::new());
    let mut rest = claim;
    while let Some(at) = rest.find(['`', '"', '“', '«']) {
        let opening = rest[at..].chars().next().unwrap_or('`');
        // A fence that is spoken of begins nothing; two marks enclose code that has one.
        let fence = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let paired = rest.get(at + fence..).filter(|_| fence == 2).and_then(|rest| rest.split_once("``"));
        if let Some((inside, behind)) = paired {
            prose.push_str(&rest[..at]);
            prose.push(' ');
            code.push(inside.trim());
            rest = behind;
            continue;
        }
        if fence >= 3 {
            prose.push_str(&rest[..at + fence]);
            rest = &rest[at + fence..];
            continue;
        }
        let closing = match opening {
            '“' => '”',
            '«' => '»',
            same => same,
        };
        let inside = &rest[at + opening.len_utf8()..];
        // A quotation inside a quotation has its marks escaped, and so has code inside code.
        let is_end = |(at, _): &(usize, &str)| !inside[..*at].ends_with('\\');
        let Some((length, _)) = inside.match_indices(closing).find(is_end) else { break };
        prose.push_str(&rest[..at]);
        prose.push(' ');
        match opening {
            '`' => code.push(&inside[..length]),
            _ => quoted.push(&inside[..length]),
        }
        rest = &inside[length + closing.len_utf8()..];
        // `fail`/score: the stroke belongs to neither.
        rest = rest.strip_prefix('/').unwrap_or(rest);
    }
    prose.push_str(rest);
    Spans { code, quoted, prose }
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_tokens::BytesPer4;
    use longhaul_transcript::{SessionId, Tokens};

    use super::*;
    use crate::SummaryRequest;

    const SAID: &str = r#"user: They have $1.6billion until July3, up from 50%. What of "the first report"?
assistant: I look at func (s *AutoStrategy) InitializeSession and type CleanupItem struct { Type, ID } first. !grep#c1 {"pattern":"listed"}
tool#c1: strategy/clean.go:415: func NewStore(stateDir string); TestOverlap_ModifiedFile; line 735 to line 815; Session states (%d): and Shadow branches (%d):
assistant: Six files, fmt then lint. The first of the reports was not found in the index at all.
"#;

    #[test]
    fn what_stands_in_the_source_is_known_in_other_spellings() {
        let said = longhaul_testkit::transcript(SAID);
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence =
            Evidence::new(&SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(1_000)));
        for truth in [
            "$1.6 billion until July 3 (m0), from 50 per cent",
            "`AutoStrategy.InitializeSession` and `CleanupItem{Type, ID}`",
            "`NewStore(stateDir)` is in `strategy/clean.go:415`, lines 735-815 (m2–m3)",
            "`ModifiedFile` is tested; 6 files; fmt/lint were run",
            "\"was not found ... at all\"",
            "\"Shadow branches/Session states (%d):\"",
            "the user asked \"What of \\\"the first report\\\"?\"",
            "a lone ``` line before `clean.go`",
        ] {
            assert_eq!(unknown(truth, &[], &evidence), None, "{truth}");
        }
        for lie in [
            "$1.7 billion until July 3",
            "`AutoStrategy.DropSession`",
            "`CleanupItem{Type, Reason}`",
            "`strategy/clean.go:416`",
            "lines 735-825",
            "`UnmodifiedFile` is tested",
            "\"was not found ... in the log\"",
            "see m99",
        ] {
            assert_ne!(unknown(lie, &[], &evidence), None, "{lie}");
        }
    }

    /// A page with tags and line numbers, names that are put together, a template.
    const VIEWED: &str = r##"user: Look at #950, opened for the form.
assistant: I read it. !read_file#c1 {"path":"web/src/Form.tsx"}
tool#c1:  11→<h2 className="head">
 12→  Check your{" "}
 13→  <b className="strong">agent context</b>
 14→</h2> in web/src/Form.tsx, import { useForm } from "../hooks/useForm"; created 2026-04-06T03:22:01Z
assistant: The issue. !fetch#c2 {"url":"https://example.org/950"}
tool#c2: 2. `docs/guides/evals/`: add `and-or.eval.yaml` there, not in docs/other/listed.yaml; thinkingOff, thinkingLow and thinkingHigh; DefaultStyle has color and label = `(batch ${one}/${two})`
assistant: errorResponse("no such form", 404) answers, in Loader(ui, spinnerFn, text).
"##;

    #[test]
    fn what_was_viewed_is_known_as_a_reader_tells_it() {
        let said = longhaul_testkit::transcript(VIEWED);
        let (session, index) = (SessionId::new("s").unwrap(), FactIndex::default());
        let evidence =
            Evidence::new(&SummaryRequest::new(&session, said.entries(), &index, &BytesPer4, Tokens(1_000)));
        for truth in [
            "the headline \"Check your agent context\"",
            "`docs/guides/evals/and-or.eval.yaml` is asked for in #950 of 2026-04-06",
            "`web/src/hooks/useForm` is TypeScript and was not read",
            "`thinkingOff/Low/High`, `DefaultStyle.color`, `(batch n/m)`",
            "`errorResponse(message, CODE)` and `Loader(ui, spinnerFn, message)`",
            "``label = `(batch` `` stands there; the 14 lines of it",
            "`make e2e` was not run; the arrow → of “the view”, `→` and `…`→",
        ] {
            assert_eq!(unknown(truth, &[], &evidence), None, "{truth}");
        }
        for lie in [
            "the headline \"Check your agent contents\"",
            "`docs/guides/evals/listed.yaml` is asked for",
            "`thinkingOff/Middle/High`",
            "`errorAnswer(message, CODE)`",
            "opened on 2026-04-07",
            "asked for in #951",
            "it lives in docs/form/evals",
            "`make e2e` was run",
        ] {
            assert_ne!(unknown(lie, &[], &evidence), None, "{lie}");
        }
    }
}
