//! The states of one record, a booking or an order: what was read of it before it was read again is old.

use std::collections::{HashMap, HashSet};

use longhaul_extract::{Statement, StatementKind, Statements};

/// Which statements show an old state of a record, and which its newest where there was another before.
#[derive(Debug, Default)]
pub(crate) struct Records {
    old: HashSet<usize>,
    renewed: HashSet<usize>,
}

impl Records {
    pub(crate) fn new(pool: &Statements) -> Records {
        let mut records = Records::default();
        let mut newest: HashMap<(&str, &str), (Vec<usize>, usize)> = HashMap::new();
        for places in results(pool) {
            let all = || places.iter().map(|at| &pool.all()[*at]);
            let Some(identity) = all().next().and_then(|first| identity(first, places.len())) else {
                continue;
            };
            let bytes = all().map(|one| one.text.len()).sum::<usize>();
            match newest.remove(&identity) {
                // A receipt that only names the record says nothing of its state.
                Some((known, before)) if bytes * 2 < before => {
                    newest.insert(identity, (known, before));
                    continue;
                }
                Some((before, _)) => {
                    records.old.extend(before);
                    records.renewed.extend(&places);
                }
                None => {}
            }
            newest.insert(identity, (places, bytes));
        }
        records.renewed.retain(|at| !records.old.contains(at));
        records
    }

    /// Returns whether the statement at `at` shows a state of a record that was read again since.
    pub(crate) fn is_old(&self, at: usize) -> bool {
        self.old.contains(&at)
    }

    /// Returns whether it shows the newest state of a record that was read before.
    pub(crate) fn is_renewed(&self, at: usize) -> bool {
        self.renewed.contains(&at)
    }
}

/// Returns the places of the statements of each tool's result.
fn results(pool: &Statements) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut before = None;
    for (at, one) in pool.all().iter().enumerate().filter(|(_, one)| one.kind == StatementKind::Result) {
        let this = Some((one.message, pool.source(one).map(std::ptr::from_ref)));
        match found.last_mut().filter(|_| before == this) {
            Some(places) => places.push(at),
            None => found.push(vec![at]),
        }
        before = this;
    }
    found
}

/// Returns the name and value that tell which record a result shows: its first field, where that is an id. A list of records
/// has none.
fn identity(first: &Statement, pieces: usize) -> Option<(&str, &str)> {
    let text = &*first.text;
    // Of an object that is longer than a statement the first piece has lost its bracket.
    if pieces > 1 && text.starts_with('{') || first.nth() > 0 && !text.starts_with('{') {
        return None;
    }
    let (name, rest) = text.trim_start_matches(['{', ' ', '\n']).strip_prefix('"')?.split_once('"')?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = value.split([',', '}', '\n']).next()?.trim().trim_matches('"');
    let is_id = name.to_ascii_lowercase().ends_with("id") && (1..=LONGEST_ID).contains(&value.len());
    (is_id && !value.contains(char::is_whitespace)).then_some((name, value))
}

/// Bytes of the longest id.
const LONGEST_ID: usize = 48;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn the_state_of_a_booking_that_was_changed_is_old() {
        let said = transcript(
            r#"
user: change my booking
assistant: !get_booking#c1 {"booking_id":"XK4"}
tool#c1: {"booking_id": "XK4", "cabin": "economy", "bags": 1}
assistant: !get_booking#c2 {"booking_id":"ZZ9"}
tool#c2: {"booking_id": "ZZ9", "cabin": "economy", "bags": 0}
assistant: !update_booking#c3 {"booking_id":"XK4","cabin":"business"}
tool#c3: {"booking_id": "XK4", "cabin": "business", "bags": 1}
assistant: !notify#c4 {"booking_id":"ZZ9"}
tool#c4: {"booking_id": "ZZ9"}
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let records = Records::new(pool);
        let of = |is: &dyn Fn(usize) -> bool| -> Vec<&str> {
            (0..pool.all().len()).filter(|at| is(*at)).map(|at| &*pool.all()[at].text).collect()
        };
        assert_eq!(of(&|at| records.is_old(at)), [r#"{"booking_id": "XK4", "cabin": "economy", "bags": 1}"#]);
        assert_eq!(
            of(&|at| records.is_renewed(at)),
            [r#"{"booking_id": "XK4", "cabin": "business", "bags": 1}"#]
        );
    }
}
