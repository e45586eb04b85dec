//! The fact index: every literal a conversation has shown, with who touched it, how often and when.

use std::{collections::BTreeMap, hash::BuildHasher, sync::Arc};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use longhaul_transcript::{Entry, Message, Origin, Part, Role, ToolCall};
use serde::{Deserialize, Serialize};

use crate::{
    CallView, ToolFamily,
    atoms::{AtomKind, FactClass, scan, scan_words},
    rank::{DefaultRanker, RankContext, Ranker},
    speaker::Speakers,
    statements::Statements,
};

mod fields;
mod recent;
mod stored;
mod visible;

pub use fields::{Field, FieldPlace, call_fields};
pub(crate) use fields::{fields_of, is_body_key, whole};
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

/// One fact: a literal and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The literal.
    pub name: Box<str>,
    /// What it looks like.
    pub kind: AtomKind,
    /// How often it was mentioned.
    pub mentions: u32,
    /// In how many messages.
    pub messages: u32,
    /// Mentions by the user.
    pub user: u16,
    /// Mentions in the assistant's prose.
    pub prose: u16,
    /// Mentions in key fields of calls: paths, commands, patterns, ids.
    pub key: u16,
    /// Mentions in text that a call writes: contents, edits, long scripts.
    pub body: u16,
    /// Mentions in tool results.
    pub output: u32,
    /// Mentions in key fields of calls that read a file.
    pub read: u16,
    /// Mentions in key fields of calls that write or edit a file.
    pub edited: u16,
    /// Mentions in key fields of calls that run a command.
    pub shell: u16,
    /// Whether the first user message holds it.
    pub in_task: bool,
    /// Whether it needs no keeping: the system prompt or a tool's definition shows it.
    pub standing: bool,
    /// Where it was first mentioned, in tokens (bytes / 4) from the start of the conversation.
    pub first: u32,
    /// Where it was last mentioned.
    pub last: u32,
    /// Where the assistant last mentioned it, in prose or in a call.
    pub last_assistant: Option<u32>,
    /// Ordinal of the message that first mentioned it.
    pub first_message: u32,
    /// Ordinal of the message that last mentioned it.
    pub last_message: u32,
    /// How many facts stand in the smallest message that mentions it.
    pub crowd: u32,
}

/// Where in the conversation a literal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The user's words.
    User,
    /// The assistant's words.
    Prose,
    /// A key field of a call.
    Key,
    /// Text that a call writes.
    Body,
    /// A tool result.
    Output,
    /// The system prompt, or a name out of a tool's definition.
    Standing,
}

/// What a tool is used for, as far as its name tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolUse {
    /// It reads or views a file.
    pub reads: bool,
    /// It writes, edits or creates.
    pub edits: bool,
    /// It runs a command.
    pub runs: bool,
}

/// What kind of work a conversation is. It decides which facts are likely to be needed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Domain {
    /// Work on files: what was touched comes back.
    #[default]
    Coding,
    /// Looking up and changing records: ids and amounts out of tool results come back.
    Service,
    /// People talking, without tools.
    Talk,
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

    /// Reads one message. Messages that longhaul itself wrote are not read: what they say was read before.
    pub fn push(&mut self, entry: &Entry) {
        let message = &*entry.message;
        if message.origin == Origin::Longhaul {
            return;
        }
        let ordinal = u32::try_from(entry.id.ordinal).unwrap_or(u32::MAX);
        let is_task = self.task.is_none() && message.is_user_text();
        if is_task {
            self.task = Some(entry.id.ordinal);
        }
        let standing = message.is_system();
        if !standing {
            // Counted before its facts are placed, so that a fact of the last message has the age zero.
            self.bytes += text_bytes(message) as u64;
            self.messages += 1;
        }
        let at = (self.bytes / 4).min(u64::from(u32::MAX)) as u32;
        // Read once, for its facts and for its statements.
        let calls: Vec<CallView<'_>> = message.calls().map(CallView::new).collect();
        let seen = std::mem::take(&mut self.room);
        let mut reader = Reader { at, ordinal, is_task, index: self, seen };
        reader.message(message, &calls, standing);
        let seen = std::mem::take(&mut reader.seen);
        self.crowd(seen);
        let speakers = self.speakers.as_deref().unwrap_or_else(|| Speakers::builtin());
        self.statements.push(ordinal, message, &calls, speakers);
        if self.facts.len() > self.most_facts {
            self.forget();
        }
    }

    /// Reads a summary that stands for messages up to `ordinal` of which some are gone, before the messages that are there: its names, and
    /// what it quotes of messages for which `is_gone` holds. It is nobody's word of its own.
    pub fn push_summary(&mut self, summary: &str, ordinal: u64, is_gone: impl Fn(u64) -> bool) {
        let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
        self.bytes += summary.len() as u64;
        let at = self.tokens_read();
        let seen = std::mem::take(&mut self.room);
        let mut reader = Reader { at, ordinal, is_task: false, index: self, seen };
        reader.text(summary, Place::Prose, ToolUse::default());
        let seen = std::mem::take(&mut reader.seen);
        self.crowd(seen);
        self.statements.push_told(summary, |message| is_gone(u64::from(message)));
        if self.facts.len() > self.most_facts {
            self.forget();
        }
    }

    /// Forgets what only messages said for which `is_gone` holds, and reads in their place what `instead`, oldest first, says.
    pub fn read_instead(&mut self, is_gone: impl Fn(u64) -> bool, instead: &[Entry]) {
        let is_gone = |message: u32| is_gone(u64::from(message));
        let mut shown = Visible::new(self.domain() == Domain::Talk);
        instead.iter().for_each(|entry| shown.read_message(&entry.message));
        let stays = |fact: &Fact| {
            !is_gone(fact.first_message) || !is_gone(fact.last_message) || shown.has(&fact.name)
        };
        let before = self.facts.len();
        self.facts.retain(stays);
        if self.facts.len() < before {
            self.find_anew();
        }
        let instead = Statements::of(instead.iter(), self.speakers());
        self.statements.put_in_place(is_gone, instead);
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

    /// Notes for the facts of one message how many they are.
    fn crowd(&mut self, mut seen: Vec<u32>) {
        seen.sort_unstable();
        seen.dedup();
        let crowd = seen.len() as u32;
        for id in seen.drain(..) {
            let fact = &mut self.facts[id as usize];
            fact.crowd = fact.crowd.min(crowd);
        }
        self.room = seen;
    }

    /// Forgets the facts that are least likely to be needed again, down to three quarters of the bound, so that it is
    /// rarely done. Of facts of one value the newest stay.
    fn forget(&mut self) {
        let most = self.most_facts / 4 * 3;
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

impl Fact {
    /// Returns the class of things the fact names.
    pub fn class(&self) -> FactClass {
        self.kind.class()
    }

    /// Returns whether only tool results have shown it.
    pub fn is_untouched(&self) -> bool {
        self.output > 0 && self.last_assistant.is_none() && self.user == 0
    }
}

impl ToolUse {
    /// Returns what a tool of this name does, by the family that its name tells.
    pub fn of(tool: &str) -> ToolUse {
        let family = crate::family(&ToolCall::function("", tool, "{}"));
        ToolUse {
            reads: family == ToolFamily::Read,
            edits: family.changes_files(),
            runs: family.runs_commands(),
        }
    }
}

struct Reader<'i> {
    index: &'i mut FactIndex,
    at: u32,
    ordinal: u32,
    is_task: bool,
    /// The facts of this message, as they come.
    seen: Vec<u32>,
}

impl Reader<'_> {
    /// Reads a message; `calls` are its calls, in order.
    fn message(&mut self, message: &Message, calls: &[CallView<'_>], standing: bool) {
        let mut calls = calls.iter();
        let place = match message.role {
            _ if standing => Place::Standing,
            Role::User => Place::User,
            Role::Tool => Place::Output,
            _ => Place::Prose,
        };
        match place {
            Place::Output => self.index.tool_messages += 1,
            Place::User if message.is_user_text() => self.index.recent.user_begins(),
            Place::Prose => self.index.recent.assistant_begins(),
            _ => {}
        }
        for part in &message.parts {
            match part {
                Part::Text(text) if place == Place::Output => self.output(text),
                Part::Text(text) => self.text(text, place, ToolUse::default()),
                Part::ToolCall(_) => calls.by_ref().take(1).for_each(|call| self.call(call)),
                Part::ToolResult(result) => {
                    self.index.tool_messages += 1;
                    for part in &result.content {
                        if let Part::Text(text) = part {
                            self.output(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn output(&mut self, text: &str) {
        self.text(&strip_line_numbers(text), Place::Output, ToolUse::default());
    }

    fn call(&mut self, call: &CallView<'_>) {
        let index = &mut *self.index;
        index.calls += 1;
        match index.tools.get_mut(call.name()) {
            Some(count) => *count += 1,
            None => drop(index.tools.insert(call.name().to_owned(), 1)),
        }
        let family = match index.families.get(call.name()) {
            Some(family) => *family,
            None => {
                let family = ToolUse::of(call.name());
                index.families.insert(call.name().into(), family);
                self.standing(call.name());
                family
            }
        };
        let mut on_files = false;
        for field in call.whole_fields() {
            self.standing(&field.key);
            let place = match field.place {
                FieldPlace::Key => Place::Key,
                FieldPlace::Body => Place::Body,
                FieldPlace::Tuning => continue,
            };
            on_files |= fields::is_file_key(&field.key) || field.key.is_empty();
            if place == Place::Body {
                for head in fields::patch_heads(&field.text) {
                    on_files = true;
                    self.text(head, Place::Key, family);
                }
            }
            self.text(&field.text, place, family);
        }
        self.index.file_calls += u32::from(on_files);
    }

    /// Names out of a tool's definition are no facts.
    fn standing(&mut self, name: &str) {
        let Reader { index, at, ordinal, .. } = self;
        if name.len() >= 3 {
            let id = index.intern(name, AtomKind::Snake, *at, *ordinal);
            index.facts[id].standing = true;
        }
    }

    fn text(&mut self, text: &str, place: Place, family: ToolUse) {
        let Reader { index, at, ordinal, is_task, seen } = self;
        let (at, ordinal, is_task) = (*at, *ordinal, *is_task && place == Place::User);
        match place {
            Place::User => index.recent.user_says(text),
            Place::Prose | Place::Key => index.recent.assistant_says(text),
            _ => {}
        }
        let words =
            index.calls == 0 && index.tool_messages == 0 && matches!(place, Place::User | Place::Prose);
        let mut touch = |atom: crate::Atom<'_>| {
            let class = atom.kind.class();
            index.code_atoms += u64::from(matches!(class, FactClass::Path | FactClass::Symbol));
            let id = index.intern(&atom.text, atom.kind, at, ordinal);
            index.facts[id].touch(place, family, is_task, at, ordinal);
            seen.push(id as u32);
        };
        scan(text, &mut touch);
        if words {
            scan_words(text, &mut touch);
        }
    }
}

impl FactIndex {
    fn intern(&mut self, name: &str, kind: AtomKind, at: u32, ordinal: u32) -> usize {
        let FactIndex { ids, hasher, facts, .. } = self;
        let hash = hasher.hash_one(name);
        if let Some(id) = ids.find(hash, |id| *facts[*id as usize].name == *name) {
            return *id as usize;
        }
        let id = facts.len();
        ids.insert_unique(hash, id as u32, |id| hasher.hash_one(&*facts[*id as usize].name));
        if id == facts.capacity() {
            // An eighth at a time: a doubled table would be half empty, and facts are most of what the index weighs.
            facts.reserve_exact(id / 8 + 16);
        }
        facts.push(Fact {
            name: name.into(),
            kind,
            mentions: 0,
            messages: 0,
            user: 0,
            prose: 0,
            key: 0,
            body: 0,
            output: 0,
            read: 0,
            edited: 0,
            shell: 0,
            in_task: false,
            standing: false,
            first: at,
            last: at,
            last_assistant: None,
            first_message: ordinal,
            last_message: ordinal,
            crowd: u32::MAX,
        });
        id
    }
}

impl Fact {
    fn touch(&mut self, place: Place, family: ToolUse, is_task: bool, at: u32, ordinal: u32) {
        if place == Place::Standing {
            self.standing = true;
            return;
        }
        if self.mentions == 0 {
            (self.first, self.first_message) = (at, ordinal);
        }
        if self.mentions == 0 || self.last_message != ordinal {
            self.messages += 1;
        }
        self.mentions = self.mentions.saturating_add(1);
        (self.last, self.last_message) = (at, ordinal);
        self.in_task |= is_task;
        match place {
            Place::User => more(&mut self.user),
            Place::Prose => more(&mut self.prose),
            Place::Key => more(&mut self.key),
            Place::Body => more(&mut self.body),
            Place::Output | Place::Standing => self.output = self.output.saturating_add(1),
        }
        if matches!(place, Place::Prose | Place::Key | Place::Body) {
            self.last_assistant = Some(at);
        }
        if place == Place::Key {
            let uses = [
                (&mut self.read, family.reads),
                (&mut self.edited, family.edits),
                (&mut self.shell, family.runs),
            ];
            uses.into_iter().filter(|(_, used)| *used).for_each(|(counter, _)| more(counter));
        }
    }
}

fn more(counter: &mut u16) {
    *counter = counter.saturating_add(1);
}

fn text_bytes(message: &Message) -> usize {
    let part_bytes = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.0.len(),
        Part::ToolResult(result) => {
            result.content.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum()
        }
        _ => 0,
    };
    message.parts.iter().map(part_bytes).sum()
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

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
