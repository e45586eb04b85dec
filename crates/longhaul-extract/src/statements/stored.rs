//! The pool as it is stored: with its words sorted, so that the same pool has the same bytes.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Statement, StatementSource, StatementWeights, Statements,
    words::{Word, Words},
};

#[derive(Serialize, Deserialize)]
struct Stored {
    most: usize,
    all: Vec<Statement>,
    sources: Vec<StatementSource>,
    words: Vec<(u32, Word)>,
    counted: u32,
    end: u32,
    answered: Option<u32>,
    asked: Option<Box<str>>,
    waiting: BTreeMap<Box<str>, u32>,
}

impl Serialize for Statements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = Stored {
            most: self.most,
            all: self.all.clone(),
            sources: self.sources.clone(),
            words: self.words.to_sorted(),
            counted: self.words.statements,
            end: self.end,
            answered: self.answered,
            asked: self.asked.clone(),
            waiting: self.waiting.iter().map(|(call, at)| (call.clone(), *at)).collect(),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Statements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Statements, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let count = stored.sources.len() as u32;
        let is_known = |at: &u32| *at < count;
        let mut all = stored.all;
        all.iter_mut().for_each(|statement| statement.source = statement.source.filter(is_known));
        Ok(Statements {
            most: stored.most.clamp(1, Statements::MOST),
            all,
            sources: stored.sources,
            words: Words::from_sorted(stored.words, stored.counted),
            end: stored.end,
            answered: stored.answered,
            asked: stored.asked,
            waiting: stored.waiting.into_iter().filter(|(_, at)| *at < count).collect(),
            weights: StatementWeights::builtin(),
            ranked: OnceLock::new(),
        })
    }
}
