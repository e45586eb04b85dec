//! Short runs of lines, read together: to search a text costs something however short it is, and a text may have little but runs of two
//! lines.

use std::{iter, ops::Range};

use crate::{marks::Run, places::Places, struck::Struck};

/// Runs without their marks, one behind another.
#[derive(Debug, Default)]
pub(crate) struct Together<'a> {
    pub(crate) text: String,
    /// Each with where it is in the text.
    runs: Vec<(Run<'a>, Range<usize>)>,
}

/// Returns all `runs`, short ones together.
pub(crate) fn together<'a>(runs: impl Iterator<Item = Run<'a>>) -> impl Iterator<Item = Together<'a>> {
    let mut runs = runs.peekable();
    iter::from_fn(move || {
        let mut together = Together::default();
        let first = runs.next()?;
        let is_short = first.is_short();
        together.push(first);
        while is_short && together.text.len() < ENOUGH {
            let Some(run) = runs.next_if(Run::is_short) else { break };
            together.text.push_str(APART);
            together.push(run);
        }
        Some(together)
    })
}

impl<'a> Together<'a> {
    fn push(&mut self, run: Run<'a>) {
        let start = self.text.len();
        self.text.extend(run.unmarked().map(|(_, c)| c));
        self.runs.push((run, start..self.text.len()));
    }

    /// Returns what was `found` in the text, in order and apart, where it stands in the one that the runs are of. What reaches behind
    /// the end of a run ends with it.
    pub(crate) fn placed(&self, found: Vec<Struck>) -> impl Iterator<Item = Struck> {
        let mut found = found.into_iter().peekable();
        self.runs.iter().flat_map(move |(run, inside)| {
            while found.next_if(|struck| struck.start < inside.start).is_some() {}
            let mut places = Places::of(run.unmarked());
            let in_run = iter::from_fn(|| found.next_if(|struck| struck.start < inside.end));
            let placed = in_run.flat_map(|struck| {
                let end = struck.end().min(inside.end);
                let place = places.place(struck.start - inside.start..end - inside.start);
                struck.moved(run.place.start + place.start..run.place.start + place.end)
            });
            placed.collect::<Vec<_>>()
        })
    }
}

/// What stands between two runs: no mark, no lines of a difference, the end of a table and of a document, and nothing that stands between
/// a name and its value.
const APART: &str = "\n\n.\n---\n.\n";

/// So much text is read at once, in bytes.
const ENOUGH: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Redactor, marks};

    #[test]
    fn short_runs_are_read_together_and_have_their_places() {
        let text = "1→a\n2→é\n1→b\n2→c\nx\n3→d\n4→e\n";
        let all: Vec<_> = together(marks::marked(text)).collect();
        let [together] = &all[..] else { panic!("{all:?}") };
        assert_eq!(together.text, ["a\né\n", "b\nc\n", "d\ne\n"].join(APART));
        let strikes = together.text.match_indices(['é', 'b', 'e', '-']);
        let strikes = strikes.flat_map(|(at, said)| Struck::by(0).moved(at..at + said.len())).collect();
        let placed: Vec<_> = together.placed(strikes).map(|found| &text[found.start..found.end()]).collect();
        assert_eq!(placed, ["é", "b", "e"]);
    }

    #[test]
    fn what_reaches_into_the_next_run_ends_with_its_own() {
        let text = "1→a\n2→b\n1→c\n2→d\n";
        let together = together(marks::marked(text)).next().expect("runs");
        let strikes = Struck::by(0).moved(2..together.text.len()).collect();
        let placed: Vec<_> = together.placed(strikes).map(|found| &text[found.start..found.end()]).collect();
        assert_eq!(placed, ["b\n"]);
    }

    #[test]
    fn nothing_names_what_is_in_the_next_run() {
        for (name, value) in [
            ("password:\n", "h7Rk2m9QzL\n"),
            ("DB_PASSWORD =\n", "  \"h7Rk2m9QzL\"\n"),
            ("password: |\n", "  h7Rk2m9QzL\n"),
            ("user,password\n", "bob,h7Rk2m9QzL\n"),
            ("| user | password |\n|---|---|\n", "| bob | h7Rk2m9QzL |\n"),
            ("passwords:\n", "  - h7Rk2m9QzL\n"),
            ("kind: Secret\n", "data:\n  a: aDdSazJtOVF6TA==\n"),
            ("- name: DB_PASSWORD\n", "  value: h7Rk2m9QzL\n"),
            ("insert into users (name, password) values\n", "('bob', 'h7Rk2m9QzL');\n"),
            ("mysql -u root \\\n", "  -ph7Rk2m9QzL\n"),
        ] {
            let found = |between: &str| Redactor::builtin().find(&[name, value].join(between)).len();
            assert_eq!((found(""), found(APART)), (1, 0), "{name}");
        }
    }
}
