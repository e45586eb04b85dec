//! Who talks, where messages begin with a name.

use hashbrown::HashMap;
use longhaul_extract::{Statement, StatementKind, Statements};

/// The names that messages of a talk begin with.
#[derive(Debug)]
pub(crate) struct Talkers {
    /// How many messages begin with each.
    openings: HashMap<String, usize>,
}

impl Talkers {
    pub(crate) fn new(pool: &Statements) -> Talkers {
        let mut openings = HashMap::new();
        let firsts = pool.all().iter().filter(|one| one.nth() == 0);
        for name in firsts.filter_map(opening) {
            *openings.entry(name.to_owned()).or_default() += 1;
        }
        Talkers { openings }
    }

    /// Returns the name of who says the message that `first` begins, where it begins with a name and not with a lead-in:
    /// somebody who talks again, or a full name.
    pub(crate) fn of<'a>(&self, first: &'a Statement) -> Option<&'a str> {
        let name = opening(first)?;
        let is_capital = |word: &str| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let is_full = name.contains(' ') && name.split_whitespace().all(is_capital);
        let recurs = self.openings.get(name).is_some_and(|count| *count > 1);
        (recurs || is_full).then_some(name)
    }
}

/// Returns what a person's message has before its first colon, where that may be a name.
fn opening(first: &Statement) -> Option<&str> {
    let (name, _) = first.text.split_once(':').filter(|_| first.kind == StatementKind::Person)?;
    let name = name.split('(').next().unwrap_or(name).trim();
    let is_name = name.split_whitespace().count() <= LONGEST_NAME && name.chars().next()?.is_uppercase();
    is_name.then_some(name)
}

/// Words of the longest name of a speaker.
const LONGEST_NAME: usize = 6;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn a_name_is_told_from_a_lead_in() {
        let said: Transcript = [
            Message::user("Here are the options: by train or by car. The train is slow."),
            Message::assistant("Options: two. Both are open."),
            Message::user("Mara: I take the car. It is faster."),
            Message::user("Dr Jonas Beck: I do not. I take the train."),
            Message::user("Mara: Then we meet there. I bring the tent."),
        ]
        .into_iter()
        .collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let talkers = Talkers::new(index.statements());
        let firsts = index.statements().all().iter().filter(|one| one.nth() == 0);
        let names: Vec<Option<&str>> = firsts.map(|first| talkers.of(first)).collect();
        assert_eq!(names, [None, None, Some("Mara"), Some("Dr Jonas Beck"), Some("Mara")]);
    }
}
