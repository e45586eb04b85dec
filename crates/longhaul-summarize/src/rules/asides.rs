//! What was shown and is not what the work is about: lists of names and ids of which one was needed, skills, texts that somebody wanted
//! to see.

use std::collections::HashSet;

use longhaul_extract::{Statement, StatementKind, Statements};

/// Returns the places in the pool of the pieces of long lists that give an id to each name, as JSON, where no call was made with any of
/// those ids.
pub(super) fn catalogues(pool: &Statements) -> HashSet<usize> {
    let ids_in = |one: &Statement| {
        let ids: Vec<String> = ids(&one.text).map(str::to_owned).collect();
        let is_list = one.kind == StatementKind::Result && ids.len() >= LEAST_PAIRS;
        (is_list && ids.len() + 1 >= one.text.matches("\":").count()).then_some(ids)
    };
    let lists: Vec<(usize, Vec<String>)> =
        pool.all().iter().enumerate().filter_map(|(at, one)| Some((at, ids_in(one)?))).collect();
    if lists.is_empty() {
        return HashSet::new();
    }
    let with: HashSet<&str> = pool.all().iter().flat_map(|one| called_with(pool, one)).collect();
    let is_idle = |ids: &[String]| !ids.iter().any(|id| with.contains(id.as_str()));
    lists.iter().filter(|(_, ids)| is_idle(ids)).map(|(at, _)| *at).collect()
}

/// Returns the values of fields of JSON that are ids: digits in quotation marks.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split("\": \"").skip(1).filter_map(|rest| {
        let id = rest.split('"').next()?;
        (id.len() >= LEAST_DIGITS && id.bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
    })
}

/// Returns the words of what a call is about, and of its arguments.
fn called_with<'p>(pool: &'p Statements, one: &'p Statement) -> impl Iterator<Item = &'p str> {
    let label = pool.source(one).map_or("", |source| &*source.label);
    let argument = if one.kind == StatementKind::Argument { &*one.text } else { "" };
    [label, argument].into_iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()))
}

/// Pairs of the shortest list.
const LEAST_PAIRS: usize = 6;

/// Digits of the shortest id.
const LEAST_DIGITS: usize = 6;

/// Returns the names of the folders that a `SKILL.md` was read in, each with the slash behind it.
pub(super) fn skills(pool: &Statements) -> HashSet<String> {
    let abouts = pool
        .all()
        .iter()
        .filter_map(|one| pool.source(one))
        .map(|source| source.path.as_deref().unwrap_or(&source.label));
    let folders = abouts.filter_map(|about| about.strip_suffix("/SKILL.md"));
    folders.filter_map(|folder| Some(format!("{}/", folder.rsplit(['/', ' ']).next()?))).collect()
}

/// Returns the messages in which the model, without a call, writes a text of a form that the person wanted to see: what stands in it is
/// about nothing.
pub(super) fn samples(pool: &Statements) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut asked: Option<&Statement> = None;
    for one in pool.all() {
        match one.kind {
            StatementKind::Person if asked.is_none_or(|before| before.message != one.message) => {
                asked = Some(one)
            }
            StatementKind::Person => {}
            StatementKind::Answer
                if asked.is_some_and(|asked| asked.closes() && wants_a_sample(&asked.text)) =>
            {
                found.insert(one.message);
            }
            StatementKind::Answer => {}
            _ => asked = None,
        }
    }
    found
}

/// Whether somebody wants to see a text of some form, whatever it says: "write some markdown", "give me a sample table".
fn wants_a_sample(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let Some(verb) = words.iter().take(FIRST_WORDS).position(|word| SHOWS.contains(&word.as_str())) else {
        return false;
    };
    let object = words[verb + 1..].iter().find(|word| !FILLS.contains(&word.as_str()));
    object.is_some_and(|word| SAMPLES.contains(&word.as_str()))
}

/// Words in which somebody comes to what is wanted.
const FIRST_WORDS: usize = 5;

const SHOWS: [&str; 8] = ["write", "print", "output", "show", "give", "render", "generate", "produce"];

/// What may stand before what is to be seen.
const FILLS: [&str; 8] = ["me", "us", "some", "a", "an", "random", "any", "more"];

/// What says nothing but its form.
const SAMPLES: [&str; 8] =
    ["markdown", "sample", "samples", "lorem", "dummy", "placeholder", "gibberish", "nonsense"];

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    fn read(fixture: &str) -> FactIndex {
        let mut index = FactIndex::new();
        transcript(fixture).entries().iter().for_each(|entry| index.push(entry));
        index
    }

    #[test]
    fn a_list_of_ids_of_which_none_was_needed_is_idle() {
        let names = |from: u64| -> String {
            (from..from + 8)
                .map(|nth| format!("\"Lamp {nth}\": \"48000{nth}\""))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let fixture = format!(
            "user: go\nassistant: !list#c1 {{}} !list#c2 {{}} !get#c3 {{\"product_id\":\"4800012\"}}\ntool#c1: {{{}}}\ntool#c2: {{{}}}\ntool#c3: It is a lamp of brass.",
            names(10),
            names(30)
        );
        let index = read(&fixture);
        let pool = index.statements();
        let idle: Vec<u32> = catalogues(pool).into_iter().map(|at| pool.all()[at].message).collect();
        assert_eq!(idle, [3], "{:?}", pool.all());
    }

    #[test]
    fn a_text_that_somebody_wanted_to_see_is_told_from_an_answer() {
        let index = read(
            "user: ok write markdown, including code and tables\nassistant: Here is a list of one and two.\nuser: Show me the markdown of the relay's page\nassistant: It is short and has no table.",
        );
        assert_eq!(samples(index.statements()), HashSet::from([1]));
    }
}
