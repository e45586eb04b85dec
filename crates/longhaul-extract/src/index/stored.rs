//! The index as it is stored: in pieces, each of which is written and read on its own. What finds the facts is made anew.

use std::{borrow::Cow, collections::BTreeMap, hash::BuildHasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::{Deserialize, Serialize};

use super::{Fact, FactIndex, Recent, ToolUse};
use crate::statements::{PoolHead, PoolLists, Statement, StatementSource, Statements, Word};

/// A piece of an index as it is stored: at most about a megabyte of JSON. See [`FactIndex::pieces`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FactPiece<'i> {
    /// What is no list, with the first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Head<'i>>,
    facts: Cow<'i, [Fact]>,
    statements: Cow<'i, [Statement]>,
    sources: Cow<'i, [StatementSource]>,
    words: Vec<(u32, Word)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head<'i> {
    /// How many facts, statements, sources and words there are in all pieces.
    lens: [usize; 4],
    most_facts: usize,
    bytes: u64,
    messages: u32,
    task: Option<u64>,
    tools: Cow<'i, BTreeMap<String, u32>>,
    families: BTreeMap<Cow<'i, str>, ToolUse>,
    calls: u32,
    file_calls: u32,
    tool_messages: u32,
    code_atoms: u64,
    recent: Cow<'i, Recent>,
    pool: PoolHead<'i>,
}

/// How much there is in a piece: so many words, or so many of anything else as weigh as much.
const WORDS_A_PIECE: usize = 20_000;

/// A fact or a statement is written in about as many bytes as so many words.
const WORDS_A_FACT: usize = 10;

impl FactIndex {
    /// Returns the index in pieces, in order, for whoever stores it: as one text, that of a long conversation takes as much
    /// memory as all else that is known of it. The same index has the same pieces. [`from_pieces`](Self::from_pieces) puts
    /// them together.
    pub fn pieces(&self) -> impl Iterator<Item = FactPiece<'_>> {
        let pool = &self.statements;
        let (mut facts, mut statements, mut sources) = (self.facts(), pool.all(), pool.sources());
        let words = pool.words().sorted();
        let lens = [facts.len(), statements.len(), sources.len(), words.len()];
        let mut head = Some(self.head(lens));
        let mut n_words = 0;
        std::iter::from_fn(move || {
            let mut room = WORDS_A_PIECE;
            let piece = FactPiece {
                head: head.take(),
                facts: Cow::Borrowed(next(&mut facts, &mut room)),
                statements: Cow::Borrowed(next(&mut statements, &mut room)),
                sources: Cow::Borrowed(next(&mut sources, &mut room)),
                words: words[n_words..]
                    .iter()
                    .take(room)
                    .map(|word| (*word, pool.words().get(*word)))
                    .collect(),
            };
            n_words += piece.words.len();
            (piece.head.is_some() || piece.lens() != [0; 4]).then_some(piece)
        })
    }

    /// Returns the index that these are the pieces of, in order; `None` where they are not all of them.
    pub fn from_pieces<'i>(pieces: impl IntoIterator<Item = FactPiece<'i>>) -> Option<FactIndex> {
        let mut head = None;
        let (mut facts, mut lists) = (Vec::new(), PoolLists::default());
        for piece in pieces {
            head = head.or(piece.head);
            facts.append(&mut piece.facts.into_owned());
            lists.all.append(&mut piece.statements.into_owned());
            lists.sources.append(&mut piece.sources.into_owned());
            lists.words.extend(piece.words);
        }
        let lens = [facts.len(), lists.all.len(), lists.sources.len(), lists.words.len()];
        let head = head.filter(|head| head.lens == lens)?;
        let mut index = FactIndex {
            most_facts: head.most_facts.min(FactIndex::MAX_FACTS),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            facts,
            bytes: head.bytes,
            messages: head.messages,
            task: head.task,
            tools: head.tools.into_owned(),
            families: head
                .families
                .into_iter()
                .map(|(tool, uses)| (tool.into_owned().into(), uses))
                .collect(),
            calls: head.calls,
            file_calls: head.file_calls,
            tool_messages: head.tool_messages,
            code_atoms: head.code_atoms,
            recent: head.recent.into_owned(),
            statements: Statements::from_stored(head.pool, lists),
            speakers: None,
            room: Vec::new(),
        };
        index.find_anew();
        Some(index)
    }

    fn head(&self, lens: [usize; 4]) -> Head<'_> {
        Head {
            lens,
            most_facts: self.most_facts,
            bytes: self.bytes,
            messages: self.messages,
            task: self.task,
            tools: Cow::Borrowed(&self.tools),
            families: self.families.iter().map(|(tool, uses)| (Cow::Borrowed(&**tool), *uses)).collect(),
            calls: self.calls,
            file_calls: self.file_calls,
            tool_messages: self.tool_messages,
            code_atoms: self.code_atoms,
            recent: Cow::Borrowed(&self.recent),
            pool: self.statements.head(),
        }
    }

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

impl FactPiece<'_> {
    fn lens(&self) -> [usize; 4] {
        [self.facts.len(), self.statements.len(), self.sources.len(), self.words.len()]
    }
}

/// Takes what there is room for off the front of `left`.
fn next<'i, T>(left: &mut &'i [T], room: &mut usize) -> &'i [T] {
    let (taken, rest) = left.split_at(left.len().min(*room / WORDS_A_FACT));
    *left = rest;
    *room -= taken.len() * WORDS_A_FACT;
    taken
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    fn stored(index: &FactIndex) -> Vec<String> {
        index.pieces().map(|piece| serde_json::to_string(&piece).unwrap()).collect()
    }

    fn read(stored: &[String]) -> Option<FactIndex> {
        FactIndex::from_pieces(stored.iter().map(|json| serde_json::from_str::<FactPiece<'_>>(json).unwrap()))
    }

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
            let pieces = stored(&index);
            assert_eq!(pieces.len(), 1, "a small one is one piece");
            let mut index = read(&pieces).unwrap();
            assert_eq!(stored(&index), pieces);
            said.entries()[cut..].iter().for_each(|entry| index.push(entry));
            assert_eq!(index.facts(), whole.facts());
            assert_eq!(index.get("src/http.rs"), whole.get("src/http.rs"));
            assert_eq!(index.statements().rank(None), whole.statements().rank(None));
            assert_eq!(stored(&index), stored(&whole));
        }
    }

    #[test]
    fn no_piece_is_large_and_none_may_be_missing() {
        let mut index = FactIndex::new();
        let mut said = Transcript::new();
        for nth in 0..2_000 {
            said.push(Message::user(format!(
                "Step {nth}: src/part_{nth}.rs holds value_{nth}, as OPS-{nth} says."
            )));
            index.push(said.entries().last().unwrap());
        }
        let pieces = stored(&index);
        assert!(pieces.len() > 3, "{}", pieces.len());
        let largest = pieces.iter().map(String::len).max();
        assert!(largest.is_some_and(|bytes| bytes < 1 << 20), "{largest:?}");
        assert_eq!(stored(&read(&pieces).unwrap()), pieces);
        for at in 0..pieces.len() {
            assert!(read(&[&pieces[..at], &pieces[at + 1..]].concat()).is_none(), "{at}");
        }
    }
}
