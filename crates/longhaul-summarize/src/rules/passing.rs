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
        let all = pool.all();
        let names = Names::of(all);
        let is_spoken = |one: &Statement| !matches!(one.kind, StatementKind::Result | StatementKind::Harness);
        let mut is_taken_up = vec![false; names.often.len()];
        let spoken = (0..all.len()).filter(|at| is_spoken(&all[*at]));
        spoken.flat_map(|at| names.at(at)).for_each(|name| is_taken_up[*name as usize] = true);
        let is_telling = |name: &u32| is_taken_up[*name as usize] && names.often[*name as usize] <= RARE;
        let is_unspoken = |at: usize| {
            let text = &*all[at].text;
            (text.is_ascii() || !text.chars().any(is_foreign)) && !names.at(at).iter().any(is_telling)
        };
        let mut passing = Passing { lines: HashSet::new(), samples: HashSet::new() };
        let mut at = 0;
        // What a call shows is looked at once, and not with each of its lines.
        for run in all.chunk_by(|one, next| is_of_one_call(pool.source(one), pool.source(next))) {
            let source = pool.source(&run[0]);
            let is_read = source.is_some_and(|source| source.family() == ToolFamily::Read);
            let is_sample = source.is_some_and(shows_samples);
            let shown = (at..at + run.len()).filter(|at| {
                (is_read || is_sample) && all[*at].kind == StatementKind::Result && is_unspoken(*at)
            });
            for line in shown {
                if is_read {
                    passing.lines.insert(line);
                }
                if is_sample {
                    passing.samples.insert(line);
                }
            }
            at += run.len();
        }
        passing
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

fn is_of_one_call(one: Option<&StatementSource>, other: Option<&StatementSource>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => one.is_none() && other.is_none(),
    }
}

/// The names in statements, each by a number of its own: text is read once.
struct Names {
    /// How often each stands there.
    often: Vec<u32>,
    /// Those of all statements, one statement's after another's.
    said: Vec<u32>,
    /// Where the names of each statement end.
    ends: Vec<usize>,
}

impl Names {
    fn of(all: &[Statement]) -> Names {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut names = Names { often: Vec::new(), said: Vec::new(), ends: Vec::with_capacity(all.len()) };
        for statement in all {
            each_name(&statement.text, |name| {
                let id = *known.entry(name).or_insert(names.often.len() as u32);
                match names.often.get_mut(id as usize) {
                    Some(often) => *often += 1,
                    None => names.often.push(1),
                }
                names.said.push(id);
            });
            names.ends.push(names.said.len());
        }
        names
    }

    /// Returns the names in the statement at `at`.
    fn at(&self, at: usize) -> &[u32] {
        let begins = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.said[begins..self.ends[at]]
    }
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

/// Calls `each` with the words and names in `text`, each part of `response.next_cursor` for itself: it is spoken of by one of them.
fn each_name<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut begun = 0;
    for end in (0..text.len()).filter(|at| !is_part(text.as_bytes()[*at])).chain([text.len()]) {
        let run = &text[begun..end];
        begun = end + 1;
        match run.is_ascii() {
            _ if run.len() < LEAST_NAME => {}
            true => each(run),
            false => run
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|name| name.len() >= LEAST_NAME)
                .for_each(&mut each),
        }
    }
}

/// Bytes of the shortest name.
const LEAST_NAME: usize = 3;

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
