//! What was read in passing: lines of files that nobody came back to, and of those the sample data that tests and examples hold.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Statement, StatementKind, StatementSource, Statements, ToolFamily};
/// Lines that reading a file showed and of which no word that is rare in the conversation stands in what anybody said, ran or wrote.
#[derive(Debug)]
pub(super) struct Passing {
    /// Their places in the pool.
    lines: HashSet<usize>,
    /// The same of sample data, whether a tool for reading or a command showed it.
    samples: HashSet<usize>,
}

impl Passing {
    pub(super) fn new(pool: &Statements) -> Passing {
        let source = |at: &usize| pool.source(&pool.all()[*at]);
        let unspoken = unspoken(pool);
        let is_sample = |at: &&usize| source(at).is_some_and(shows_samples);
        let samples = unspoken.iter().filter(is_sample).copied().collect();
        let is_read = |at: &usize| source(at).is_some_and(|source| source.family() == ToolFamily::Read);
        Passing { lines: unspoken.into_iter().filter(is_read).collect(), samples }
    }

    /// Returns whether the statement at `at` is a piece of sample data that nobody spoke of.
    pub(super) fn is_sample(&self, at: usize) -> bool {
        self.samples.contains(&at)
    }

    /// Returns whether the statement at `at` is a line of a file that was read in passing.
    pub(super) fn is_line(&self, at: usize) -> bool {
        self.lines.contains(&at)
    }
}

fn unspoken(pool: &Statements) -> HashSet<usize> {
    let all = pool.all();
    let is_shown = |source: &StatementSource| source.family() == ToolFamily::Read || shows_samples(source);
    let is_read = |statement: &Statement| {
        statement.kind == StatementKind::Result && pool.source(statement).is_some_and(is_shown)
    };
    let mut often: HashMap<&str, u32> = HashMap::new();
    all.iter().flat_map(|one| names(&one.text)).for_each(|name| *often.entry(name).or_insert(0) += 1);
    let is_rare = |name: &&str| often.get(name).is_none_or(|count| *count <= RARE);
    let spoken =
        all.iter().filter(|one| one.kind != StatementKind::Result && one.kind != StatementKind::Harness);
    let taken_up: HashSet<&str> = spoken.flat_map(|one| names(&one.text)).filter(is_rare).collect();
    let is_passing = |statement: &Statement| {
        let text = &*statement.text;
        is_read(statement)
            && !text.chars().any(is_foreign)
            && !names(text).any(|name| taken_up.contains(name))
    };
    (0..all.len()).filter(|at| is_passing(&all[*at])).collect()
}

/// Whether a call shows a file of sample data: one that lies where tests keep what they read and expect, or data among examples.
fn shows_samples(source: &StatementSource) -> bool {
    let is_sample = |path: &str| {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_data = name.rsplit_once('.').is_some_and(|(_, extension)| DATA.contains(&extension));
        let lies_in = |among: &[&str]| folders.split('/').any(|folder| among.contains(&folder));
        name.ends_with(".snap") || lies_in(&SAMPLES) || is_data && lies_in(&EXAMPLES)
    };
    let mut words = source.label.split_whitespace().map(|word| word.trim_matches(['"', '\'', ':']));
    match source.family() {
        ToolFamily::Read => source.path.as_deref().is_some_and(is_sample),
        family if family.runs_commands() => {
            words.nth(1).is_some_and(|program| SHOWS.contains(&program)) && words.any(is_sample)
        }
        _ => false,
    }
}

/// Folders of what tests read and expect.
const SAMPLES: [&str; 11] = [
    "fixtures", "fixture", "__fixtures__", "testdata", "test-data", "test_data", "__snapshots__",
    "snapshots", "golden", "goldens", "samples",
];

/// Folders in which data is an example.
const EXAMPLES: [&str; 4] = ["examples", "example", "evals", "datasets"];

/// How the names of files of data end.
const DATA: [&str; 8] = ["yaml", "yml", "json", "jsonl", "csv", "tsv", "txt", "xml"];

/// Programs that show files.
const SHOWS: [&str; 7] = ["cat", "sed", "nl", "head", "tail", "less", "bat"];

/// Whether a letter may be of a script without blanks between words, of which no words can be told here.
fn is_foreign(c: char) -> bool {
    !c.is_ascii() && c.is_alphabetic()
}

/// Returns the words and names in `text`, each part of `response.next_cursor` for itself: it is spoken of by one of them.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| name.len() >= 3)
}

/// A word that stands in more places than these says little of any of them.
const RARE: u32 = 12;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn sample_data_that_nobody_spoke_of_is_known() {
        let said = transcript(
            r#"
user: Why does the grader fail on the Lisbon case?
assistant: !exec_command#c1 {"cmd":"nl -ba examples/composite/evals/dataset.eval.yaml | sed -n '1,20p'"}
tool#c1: Premium wireless headphones featuring active noise cancellation
What is the capital beside Lisbon
assistant: !read_file#c2 {"file_path":"/w/tests/fixtures/talk.md"}
tool#c2: The harbour opens at seven every morning
assistant: !exec_command#c3 {"cmd":"cat examples/composite/README.md"}
tool#c3: Combining multiple graders in a single test case
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let passing = Passing::new(pool);
        let samples = (0..pool.all().len()).filter(|at| passing.is_sample(*at));
        let texts: Vec<&str> = samples.map(|at| &*pool.all()[at].text).collect();
        assert_eq!(
            texts,
            [
                "Premium wireless headphones featuring active noise cancellation",
                "The harbour opens at seven every morning"
            ]
        );
    }

    #[test]
    fn lines_that_nobody_came_back_to_were_read_in_passing() {
        let said = transcript(
            r#"
user: Why does the importer stop at the first page?
assistant: !read_file#c1 {"file_path":"src/pages.rs"}
tool#c1: let cursor = response.next_cursor.clone();
let banner = Banner::with_colour(Colour::Teal);
assistant: !read_file#c2 {"file_path":"src/limits.rs"}
tool#c2: pub const MOST_RETRIES: u32 = 5;
assistant: next_cursor is read before the answer is complete. !edit_file#c3 {"file_path":"src/limits.rs","old_string":"5","new_string":"6"}
tool#c3: ok
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let passing = Passing::new(pool);
        let lines = (0..pool.all().len()).filter(|at| passing.is_line(*at));
        let texts: Vec<&str> = lines.map(|at| &*pool.all()[at].text).collect();
        // The cursor was spoken of, and the edit of the limits tells what changed there.
        assert!(texts.contains(&"let banner = Banner::with_colour(Colour::Teal);"), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("next_cursor")), "{texts:?}");
    }
}
