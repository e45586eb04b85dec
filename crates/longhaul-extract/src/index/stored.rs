//! The index as it is stored, in a snapshot of a session: what finds the facts is made anew when it is read back.

use std::{collections::BTreeMap, hash::BuildHasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Fact, FactIndex, Recent, ToolUse};
use crate::statements::Statements;

#[derive(Serialize, Deserialize)]
struct Stored<F, S, R, T> {
    most_facts: usize,
    facts: F,
    bytes: u64,
    messages: u32,
    task: Option<u64>,
    tools: T,
    families: BTreeMap<Box<str>, ToolUse>,
    calls: u32,
    file_calls: u32,
    tool_messages: u32,
    code_atoms: u64,
    recent: R,
    statements: S,
}

impl Serialize for FactIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = Stored {
            most_facts: self.most_facts,
            facts: &self.facts,
            bytes: self.bytes,
            messages: self.messages,
            task: self.task,
            tools: &self.tools,
            families: self.families.iter().map(|(tool, family)| (tool.clone(), *family)).collect(),
            calls: self.calls,
            file_calls: self.file_calls,
            tool_messages: self.tool_messages,
            code_atoms: self.code_atoms,
            recent: &self.recent,
            statements: &self.statements,
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FactIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FactIndex, D::Error> {
        let stored: Stored<Vec<Fact>, Statements, Recent, BTreeMap<String, u32>> =
            Stored::deserialize(deserializer)?;
        let mut index = FactIndex {
            most_facts: stored.most_facts.min(FactIndex::MAX_FACTS),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            facts: stored.facts,
            bytes: stored.bytes,
            messages: stored.messages,
            task: stored.task,
            tools: stored.tools,
            families: stored.families.into_iter().collect(),
            calls: stored.calls,
            file_calls: stored.file_calls,
            tool_messages: stored.tool_messages,
            code_atoms: stored.code_atoms,
            recent: stored.recent,
            statements: stored.statements,
            speakers: None,
        };
        index.find_anew();
        Ok(index)
    }
}

impl FactIndex {
    /// Makes the table that finds the facts by their names.
    pub(super) fn find_anew(&mut self) {
        let FactIndex { ids, hasher, facts, .. } = self;
        let hash = |id: &u32| hasher.hash_one(&*facts[*id as usize].name);
        ids.clear();
        for id in 0..facts.len() as u32 {
            ids.insert_unique(hash(&id), id, hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn an_index_that_was_stored_goes_on_as_if_it_had_not_been() {
        let said = transcript(
            r#"
user: Fix parse_header in src/http.rs. Never touch the vendored files.
assistant: Looking. !read_file#c1 {"file_path":"src/http.rs","limit":2000}
tool#c1: fn parse_header() {} // see max_header_len
assistant: parse_header is short. !edit_file#c2 {"file_path":"src/http.rs","old_string":"{}","new_string":"{ max_header_len }"}
tool#c2: ok
"#,
        );
        let mut whole = FactIndex::new();
        said.entries().iter().for_each(|entry| whole.push(entry));
        for cut in 0..said.len() {
            let mut index = FactIndex::new();
            said.entries()[..cut].iter().for_each(|entry| index.push(entry));
            let text = serde_json::to_string(&index).unwrap();
            let mut index: FactIndex = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&index).unwrap(), text);
            said.entries()[cut..].iter().for_each(|entry| index.push(entry));
            assert_eq!(index.facts(), whole.facts());
            assert_eq!(index.get("src/http.rs"), whole.get("src/http.rs"));
            assert_eq!(serde_json::to_string(&index).unwrap(), serde_json::to_string(&whole).unwrap());
        }
    }
}
