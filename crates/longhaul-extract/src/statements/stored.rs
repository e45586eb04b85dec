//! The pool as it is stored, with its words sorted, so that the same pool has the same bytes.

use std::{borrow::Cow, collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Serialize};

use super::{
    Statement, StatementSource, StatementWeights, Statements,
    words::{Word, Words},
};

/// What is stored of a pool beside its lists.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PoolHead<'p> {
    most: usize,
    counted: u32,
    end: u32,
    answered: Option<u32>,
    asked: Option<Cow<'p, str>>,
    waiting: BTreeMap<Cow<'p, str>, u32>,
}

/// The lists of a pool.
#[derive(Debug, Default)]
pub(crate) struct PoolLists {
    pub(crate) all: Vec<Statement>,
    pub(crate) sources: Vec<StatementSource>,
    pub(crate) words: Vec<(u32, Word)>,
}

impl Statements {
    pub(crate) fn head(&self) -> PoolHead<'_> {
        PoolHead {
            most: self.most,
            counted: self.words.statements,
            end: self.end,
            answered: self.answered,
            asked: self.asked.as_deref().map(Cow::Borrowed),
            waiting: self.waiting.iter().map(|(call, at)| (Cow::Borrowed(call.as_str()), *at)).collect(),
        }
    }

    pub(crate) fn sources(&self) -> &[StatementSource] {
        &self.sources
    }

    pub(crate) fn words(&self) -> &Words {
        &self.words
    }

    pub(crate) fn from_stored(head: PoolHead<'_>, lists: PoolLists) -> Statements {
        let PoolLists { mut all, sources, words } = lists;
        let count = sources.len() as u32;
        let is_known = |at: &u32| *at < count;
        all.iter_mut().for_each(|statement| statement.source = statement.source.filter(is_known));
        let waiting = head.waiting.into_iter().filter(|(_, at)| is_known(at));
        Statements {
            most: head.most.clamp(1, Statements::MOST),
            all,
            sources,
            words: Words::from_stored(words, head.counted),
            end: head.end,
            answered: head.answered,
            asked: head.asked.map(|asked| asked.into_owned().into()),
            waiting: waiting.map(|(call, at)| (call.into_owned().as_str().into(), at)).collect(),
            weights: StatementWeights::builtin(),
            ranked: OnceLock::new(),
            room: Vec::new(),
        }
    }
}
