//! The states of one record, a booking or an order: what was read of it before it was read again is old.

use hashbrown::{HashMap, HashSet};
use longhaul_extract::{Statement, StatementKind, Statements};

/// Which statements show an old state of a record, and which its newest where there was another before.
#[derive(Debug, Default)]
pub(crate) struct Records {
    old: HashSet<usize>,
    renewed: HashSet<usize>,
    heads: HashSet<usize>,
}

impl Records {
    pub(crate) fn new(pool: &Statements) -> Records {
        let mut records = Records::default();
        let mut newest: HashMap<(&str, &str), State<'_>> = HashMap::new();
        for places in results(pool) {
            let texts = || places.iter().map(|at| &*pool.all()[*at].text);
            let Some(identity) = places.first().and_then(|first| identity(&pool.all()[*first], places.len()))
            else {
                continue;
            };
            let fields = texts().flat_map(fields).collect();
            let label = places
                .first()
                .and_then(|first| pool.source(&pool.all()[*first]))
                .map(|source| &*source.label);
            let state = State { bytes: texts().map(str::len).sum(), fields, places, label };
            match newest.remove(&identity) {
                // A receipt that only names the record says nothing of its state.
                Some(before) if state.bytes * 2 < before.bytes => {
                    newest.insert(identity, before);
                    continue;
                }
                Some(before) if state.is_of_the_record(&before) => {
                    records.old.extend(before.places);
                    records.renewed.extend(&state.places);
                }
                _ => {}
            }
            newest.insert(identity, state);
        }
        records.renewed.retain(|at| !records.old.contains(at));
        for state in newest.values() {
            let names_state = |at: &usize| STATES.iter().any(|name| pool.all()[*at].text.contains(name));
            records.heads.extend(state.places.first());
            records.heads.extend(state.places.iter().copied().filter(names_state));
        }
        records
    }

    /// Returns whether the statement at `at` shows a state of a record that was read again since.
    pub(crate) fn is_old(&self, at: usize) -> bool {
        self.old.contains(&at)
    }

    /// Returns whether it says which record this is, or in which state, as it was read last.
    pub(crate) fn heads(&self, at: usize) -> bool {
        self.heads.contains(&at)
    }

    /// Returns whether it shows the newest state of a record that was read before.
    pub(crate) fn is_renewed(&self, at: usize) -> bool {
        self.renewed.contains(&at)
    }
}

/// Fields that say in which state a record is.
const STATES: [&str; 3] = ["\"status\":", "\"state\":", "_status\":"];

/// What a result shows of a record.
#[derive(Debug)]
struct State<'p> {
    places: Vec<usize>,
    bytes: usize,
    /// The call that shows it.
    label: Option<&'p str>,
    /// The names of its fields and their values.
    fields: HashSet<(&'p str, &'p str)>,
}

impl State<'_> {
    /// Returns whether this is what `before` was: it has most of the fields, and beside the id some with the same value. The
    /// answers of a service that one id stands for, page by page, share no more than that. A record of an id and a state in
    /// one word has the same fields, told by the same call.
    fn is_of_the_record(&self, before: &State<'_>) -> bool {
        let names: HashSet<&str> = self.fields.iter().map(|(name, _)| *name).collect();
        let known = before.fields.iter().filter(|(name, _)| names.contains(name)).count();
        let same = before.fields.intersection(&self.fields).filter(|(_, value)| !value.is_empty()).count();
        let is_word = |(_, value): &(&str, &str)| !value.is_empty() && !value.contains(char::is_whitespace);
        let is_pair = |state: &State<'_>| state.fields.len() == 2 && state.fields.iter().all(is_word);
        let is_small =
            || is_pair(self) && is_pair(before) && known == 2 && same == 1 && self.label == before.label;
        known * 5 >= before.fields.len() * 3 && same > 1 || is_small()
    }
}

/// Returns the names and values of the fields in JSON, nested ones too; the value of what is nested is empty. Pieces of JSON are
/// read as far as they go.
fn fields(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('"') {
        let Some((name, after)) = after.split_once('"') else { break };
        rest = after;
        let Some(value) = after.trim_start().strip_prefix(':').map(str::trim_start) else { continue };
        let end = match value.strip_prefix('"') {
            Some(inside) => inside.find('"').map_or(value.len(), |end| end + 2),
            None => value.find(['{', '[', ',', '}', ']', '\n']).unwrap_or(value.len()),
        };
        found.push((name, value[..end].trim()));
        rest = &value[end..];
    }
    found
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
    let is_value = (1..=LONGEST_ID).contains(&value.len()) && !["true", "false", "null"].contains(&value);
    (names_id(name) && is_value && !value.contains(char::is_whitespace)).then_some((name, value))
}

/// Whether a field of this name holds an id: `id`, `order_id`, `orderId`, `uuid`, but not `paid` and `valid`.
fn names_id(name: &str) -> bool {
    let before = |ids: [&str; 3]| ids.into_iter().find_map(|id| name.strip_suffix(id));
    let is_apart = |before: &str| before.is_empty() || before.ends_with(['_', '-', '.', ' ']);
    if let Some(before) = before(["uuid", "guid", "id"]) {
        return is_apart(before);
    }
    if let Some(before) = before(["UUID", "GUID", "ID"]) {
        return is_apart(before) || before.ends_with(char::is_lowercase);
    }
    before(["Uuid", "Guid", "Id"]).is_some_and(|before| !before.ends_with(char::is_uppercase))
}

/// Bytes of the longest id.
const LONGEST_ID: usize = 48;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_shares_no_more_than_an_id_is_no_state_of_one_record() {
        let said = transcript(
            r#"
user: go on
assistant: !check#c1 {} !check#c2 {} !poll#c3 {} !poll#c4 {} !user#c5 {} !order#c6 {} !query#c7 {"sql":"select * from users where id = 1"} !query#c8 {"sql":"select * from products where id = 1"}
tool#c1: {"valid": false, "error": "the first field is too long by far"}
tool#c2: {"valid": false, "error": "the second field is not a number at all"}
tool#c3: {"session_id": "s7", "output": "four tests of the relay failed"}
tool#c4: {"session_id": "s7", "output": "the disk of the build host is full"}
tool#c5: {"id": 7, "name": "Mara Beck", "city": "Bern"}
tool#c6: {"id": 7, "items": "two lamps and a chair", "total": 149}
tool#c7: {"id": 1, "name": "Bob"}
tool#c8: {"id": 1, "name": "Lamp"}
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let records = Records::new(index.statements());
        assert!(records.old.is_empty() && records.renewed.is_empty(), "{records:?}");
        for (name, is_id) in [
            ("id", true),
            ("order_id", true),
            ("orderId", true),
            ("orderID", true),
            ("uuid", true),
            ("run_guid", true),
            ("fluid", false),
            ("paid", false),
            ("valid", false),
        ] {
            assert_eq!(names_id(name), is_id, "{name}");
        }
    }

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
assistant: !order#c5 {"order_id":"W1"}
tool#c5: {"order_id": "W1", "status": "pending"}
assistant: !order#c6 {"order_id":"W1"}
tool#c6: {"order_id": "W1", "status": "shipped"}
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let records = Records::new(pool);
        let of = |is: &dyn Fn(usize) -> bool| -> Vec<&str> {
            (0..pool.all().len()).filter(|at| is(*at)).map(|at| &*pool.all()[at].text).collect()
        };
        assert_eq!(
            of(&|at| records.is_old(at)),
            [
                r#"{"booking_id": "XK4", "cabin": "economy", "bags": 1}"#,
                r#"{"order_id": "W1", "status": "pending"}"#
            ]
        );
        assert_eq!(
            of(&|at| records.is_renewed(at)),
            [
                r#"{"booking_id": "XK4", "cabin": "business", "bags": 1}"#,
                r#"{"order_id": "W1", "status": "shipped"}"#
            ]
        );
    }
}
