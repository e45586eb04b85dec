//! The fact index: every literal a conversation has shown, with who touched it, how often and when.

use std::{collections::BTreeMap, hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::{
    rank::{DefaultRanker, RankContext, Ranker},
    speaker::Speakers,
    statements::Statements,
};

mod fact;
mod read;
mod recent;
mod stored;
mod visible;

pub use fact::{Domain, Fact, Place, ToolUse};
use recent::Recent;
pub use recent::Said;
pub use stored::FactPiece;
pub use visible::{Visible, for_each_text, shows, strip_line_numbers};

/// Every fact a conversation has shown so far, with who touched it, how often and when.
///
/// Each message is read once, when it is pushed; counts and provenance persist, so that a later compaction ranks from
/// the record and not from an earlier summary's prose. Reading is linear in the text. The memory is bounded
/// ([`FactIndex::MAX_FACTS`], or less by [`set_most_facts`](Self::set_most_facts)): beyond it, the facts that are least
/// likely to be needed again are forgotten.
#[derive(Clone, Debug)]
pub struct FactIndex {
    most_facts: usize,
    /// The places of the facts, found by their names, which only the facts hold.
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    facts: Vec<Fact>,
    bytes: u64,
    messages: u32,
    task: Option<u64>,
    tools: BTreeMap<String, u32>,
    families: HashMap<Box<str>, ToolUse>,
    calls: u32,
    file_calls: u32,
    tool_messages: u32,
    code_atoms: u64,
    recent: Recent,
    statements: Statements,
    /// Tells who speaks, where the built-in table does not.
    speakers: Option<Arc<Speakers>>,
    /// Room for the facts of one message, used again for the next.
    room: Vec<u32>,
}

impl FactIndex {
    /// The most facts that are held: about 120 MB of them.
    pub const MAX_FACTS: usize = 1 << 20;

    /// Returns an index that has read nothing.
    pub fn new() -> FactIndex {
        FactIndex {
            most_facts: Self::MAX_FACTS,
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            facts: Vec::new(),
            bytes: 0,
            messages: 0,
            task: None,
            tools: BTreeMap::new(),
            families: HashMap::new(),
            calls: 0,
            file_calls: 0,
            tool_messages: 0,
            code_atoms: 0,
            recent: Recent::default(),
            statements: Statements::new(),
            speakers: None,
            room: Vec::new(),
        }
    }

    /// Tells who speaks by `speakers` from now on, as for an agent whose marks the built-in table does not have. A stored index
    /// does not hold them: they are set again on one that is read back.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use longhaul_extract::{FactIndex, StatementKind, speaker::Speakers};
    /// use longhaul_transcript::{Message, Transcript};
    ///
    /// let json = r#"[{"agent": "ours", "form": "tag", "mark": "hint", "who": "harness", "what": "reminder"}]"#;
    /// let mut index = FactIndex::new();
    /// index.set_speakers(Arc::new(Speakers::builtin().with_marks(json)?));
    /// let said: Transcript = [Message::user("<hint>\nAlways use tabs here.\n</hint>\nFix the parser")].into_iter().collect();
    /// said.entries().iter().for_each(|entry| index.push(entry));
    /// let persons = index.statements().all().iter().filter(|one| one.kind == StatementKind::Person);
    /// assert_eq!(persons.map(|one| &*one.text).collect::<Vec<_>>(), ["Fix the parser"]);
    /// # Ok::<(), longhaul_extract::speaker::MarksError>(())
    /// ```
    pub fn set_speakers(&mut self, speakers: Arc<Speakers>) {
        self.speakers = Some(speakers);
    }

    /// Returns what tells who speaks.
    pub fn speakers(&self) -> &Speakers {
        self.speakers.as_deref().unwrap_or_else(|| Speakers::builtin())
    }

    /// Holds at most `most` facts from now on, which is at most [`MAX_FACTS`](Self::MAX_FACTS). What ranks all facts, as
    /// each summary does, takes time in proportion to their number, so whoever summarizes again and again sets a bound
    /// that fits the summaries.
    pub fn set_most_facts(&mut self, most: usize) {
        self.most_facts = most.min(Self::MAX_FACTS);
        if self.facts.len() > self.most_facts {
            self.forget();
        }
    }

    /// Returns all facts, in order of first appearance.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns the fact of this name, where there is one.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.position_of(name).map(|id| &self.facts[id])
    }

    /// Returns the place of `name` in [`facts`](Self::facts).
    pub(crate) fn position_of(&self, name: &str) -> Option<usize> {
        let is_it = |id: &u32| *self.facts[*id as usize].name == *name;
        self.ids.find(self.hasher.hash_one(name), is_it).map(|id| *id as usize)
    }

    /// Returns how far the conversation has come, in tokens (bytes / 4) of what was read, system prompt apart.
    pub fn tokens_read(&self) -> u32 {
        (self.bytes / 4).min(u64::from(u32::MAX)) as u32
    }

    /// Returns the number of messages read, system prompt apart.
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// Returns the words of what was said last: by the user in the last message, by the assistant in the last twelve.
    pub fn said(&self) -> Said {
        self.recent.said()
    }

    /// Returns the statements read so far, bounded.
    pub fn statements(&self) -> &Statements {
        &self.statements
    }

    /// Returns the tools called so far, with the number of calls.
    pub fn tools(&self) -> &BTreeMap<String, u32> {
        &self.tools
    }

    /// Returns about how many bytes the index holds: its facts, their names, the table that finds them, the words of what was
    /// said last, and its statements. Of what the facts themselves point to, and of files, calls and rules, nothing is counted.
    pub fn memory_bytes(&self) -> usize {
        let names: usize = self.facts.iter().map(|fact| fact.name.len()).sum();
        names
            + self.facts.capacity() * size_of::<Fact>()
            + self.ids.allocation_size()
            + self.recent.memory_bytes()
            + self.statements.memory_bytes()
    }

    /// Returns what kind of work this is, by the tools that were called.
    ///
    /// Files or commands in a third of the calls make it coding, other calls service; without any tool it is talk,
    /// unless paths and symbols fill it (a chat about code, or an agent that writes its calls as prose).
    pub fn domain(&self) -> Domain {
        if self.calls > 0 {
            return if self.file_calls * 3 >= self.calls { Domain::Coding } else { Domain::Service };
        }
        let dense = self.code_atoms * 200 > self.bytes;
        if self.tool_messages > 0 || dense { Domain::Coding } else { Domain::Talk }
    }

    /// Forgets the facts that are least likely to be needed again, down to half of the bound, so that it is rarely done: each is
    /// looked at. Of facts of one value the newest stay.
    fn forget(&mut self) {
        let most = self.most_facts / 2;
        // What is being talked of now passes, and what is forgotten is forgotten for good.
        let context = RankContext { said: Said::default(), ..RankContext::of(self) };
        let ranker = DefaultRanker::default();
        let worth = |fact: &Fact| if fact.standing { 1.0 } else { ranker.value(fact, &context) };
        let mut order: Vec<(f64, u32, usize)> =
            self.facts.iter().enumerate().map(|(at, fact)| (worth(fact), fact.last, at)).collect();
        let best_first = |one: &(f64, u32, usize), other: &(f64, u32, usize)| {
            other.0.total_cmp(&one.0).then_with(|| (other.1, other.2).cmp(&(one.1, one.2)))
        };
        if most < order.len() {
            order.select_nth_unstable_by(most, best_first);
        }
        let mut stays = vec![false; self.facts.len()];
        order.iter().take(most).for_each(|(.., at)| stays[*at] = true);
        let mut stays = stays.into_iter();
        self.facts.retain(|_| stays.next().unwrap_or(false));
        self.find_anew();
    }
}

impl Default for FactIndex {
    fn default() -> FactIndex {
        FactIndex::new()
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::{Entry, Message, Origin};

    use super::*;

    fn index(fixture: &str) -> FactIndex {
        let mut index = FactIndex::new();
        transcript(fixture).entries().iter().for_each(|entry| index.push(entry));
        index
    }

    #[test]
    fn what_is_read_instead_leaves_nothing_of_what_was_said() {
        let said = transcript(
            r#"
user: Look at src/http.rs and at src/open.rs.
assistant: src/secret.rs holds key_of_alice. Shall I delete it?
user: Yes.
assistant: Reading. !read_file#c1 {"file_path":"src/secret.rs"}
tool#c1: let key_of_alice = src_open();
assistant: It opens src/open.rs.
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let instead: Vec<Entry> = transcript(
            r#"
assistant: Reading. !read_file#c1 {"file_path":"src/masked.rs"}
tool#c1: The result was masked, as agreed.
"#,
        )
        .entries()
        .iter()
        .map(|entry| Entry {
            id: longhaul_transcript::MessageId { ordinal: entry.id.ordinal + 3, ..entry.id },
            ..entry.clone()
        })
        .collect();
        index.read_instead(|message| [1, 3, 4].contains(&message), &instead);
        let all = index.statements().all();
        let left = format!("{:?}{all:?}", index.facts());
        assert!(!left.contains("secret"), "{left}");
        assert!(index.get("key_of_alice").is_none() && index.get("src/open.rs").is_some());
        assert!(all.iter().all(|one| one.answers.is_none()) && all.iter().any(|one| &*one.text == "Yes."));
        let masked = all.iter().find(|one| one.text.contains("was masked")).unwrap();
        assert_eq!(&*index.statements().source(masked).unwrap().label, "read_file src/masked.rs");
        assert!(all.is_sorted_by_key(|one| one.message));
    }

    #[test]
    fn a_fact_knows_who_touched_it() {
        let index = index(
            r#"
user: Fix parse_header in src/http.rs
assistant: Looking. !read_file#c1 {"file_path":"src/http.rs","limit":2000}
tool#c1: fn parse_header() {} // see max_header_len
assistant: parse_header is short. !edit_file#c2 {"file_path":"src/http.rs","new_string":"fn parse_header(max_header_len: u32) {}"}
tool#c2: ok
"#,
        );
        let path = index.get("src/http.rs").unwrap();
        assert_eq!((path.user, path.key, path.read, path.edited, path.messages), (1, 2, 1, 1, 3));
        assert!(path.in_task);
        let name = index.get("parse_header").unwrap();
        assert_eq!((name.user, name.prose, name.body, name.output), (1, 1, 1, 1));
        assert!(index.get("file_path").unwrap().standing);
        assert!(index.get("2000").is_none());
        assert_eq!(index.domain(), Domain::Coding);
    }

    #[test]
    fn the_domain_is_read_off_the_tools() {
        let service = index(
            r#"
user: Cancel my order #W123
assistant: !get_order#c1 {"order_id":"W123456"}
tool#c1: {"status":"pending"}
"#,
        );
        assert_eq!(service.domain(), Domain::Service);
        let talk = index("user: Alice: the weather is lovely today\nuser: Bob: yes, it really is");
        assert_eq!(talk.domain(), Domain::Talk);
        assert!(talk.get("weather").is_some());
    }

    #[test]
    fn beyond_its_bound_it_forgets_what_is_least_likely_to_be_needed() {
        let mut index = FactIndex::new();
        index.set_most_facts(400);
        let mut said = longhaul_transcript::Transcript::new();
        let mut push = |text: &str| {
            said.push(Message::user(text));
            index.push(said.entries().last().unwrap());
            assert!(index.facts().len() <= 400, "{}", index.facts().len());
        };
        push("Fix parse_header in src/http/header.rs, ticket RLY-4812");
        for nth in 0..2_000 {
            push(&format!("and also table_{nth} with its column_{nth}"));
            if nth % 400 == 0 {
                push("parse_header in src/http/header.rs again");
            }
        }
        for kept in ["parse_header", "src/http/header.rs", "RLY-4812", "table_1999", "column_1999"] {
            assert!(index.get(kept).is_some(), "{kept}");
            assert_eq!(index.position_of(kept).map(|at| &*index.facts()[at].name), Some(kept));
        }
        assert!(index.get("column_7").is_none());
    }

    #[test]
    fn what_longhaul_wrote_is_not_counted_again() {
        let mut index = FactIndex::new();
        let message = Message::user("src/http.rs").with_origin(Origin::Longhaul);
        let transcript: longhaul_transcript::Transcript = [message].into_iter().collect();
        index.push(&transcript.entries()[0]);
        assert!(index.facts().is_empty());
    }
}
