//! What was read of a sentence, kept for whoever asks for it again: the drafts of a summary, its updates and its forms read the same
//! sentences of the same conversation many times.
//!
//! What is kept is only what reading the same words gives again, so that nothing depends on what was read before but the time it takes.

use std::{cell::RefCell, sync::Arc, thread::LocalKey};

use hashbrown::HashMap;

/// What was read of the sentences that were asked for last.
#[derive(Debug)]
pub(crate) struct Memo<T> {
    newer: HashMap<Box<str>, Arc<T>>,
    /// Those before them: what is asked for again becomes one of the newer ones.
    older: HashMap<Box<str>, Arc<T>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo { newer: HashMap::new(), older: HashMap::new() }
    }
}

impl<T> Memo<T> {
    /// Returns what `read` makes of a sentence, from `memo` where it was read already.
    pub(crate) fn read(
        memo: &'static LocalKey<RefCell<Memo<T>>>,
        sentence: &str,
        read: impl FnOnce(&str) -> T,
    ) -> Arc<T> {
        let known = memo.with_borrow_mut(|memo| memo.known(sentence));
        // Not while the memo is borrowed: what reads a sentence may ask for a part of it.
        known.unwrap_or_else(|| {
            let new = Arc::new(read(sentence));
            memo.with_borrow_mut(|memo| memo.keep(sentence, &new));
            new
        })
    }

    fn known(&mut self, sentence: &str) -> Option<Arc<T>> {
        if let Some(known) = self.newer.get(sentence) {
            return Some(Arc::clone(known));
        }
        let known = self.older.remove(sentence)?;
        self.keep(sentence, &known);
        Some(known)
    }

    fn keep(&mut self, sentence: &str, read: &Arc<T>) {
        if self.newer.len() >= MOST {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(sentence.into(), Arc::clone(read));
    }
}

/// So many sentences are newer ones: with the older, about 4 MB a thread of what is claimed, which takes most.
const MOST: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static LENGTHS: RefCell<Memo<usize>> = RefCell::default();
    }

    #[test]
    fn a_sentence_is_read_once_as_long_as_it_is_asked_for() {
        let n_read = Cell::new(0);
        let length = |sentence: &str| {
            *Memo::read(&LENGTHS, sentence, |sentence| {
                n_read.set(n_read.get() + 1);
                sentence.len()
            })
        };
        for nth in 0..3 * MOST {
            assert_eq!(length("The port is 8080."), 17);
            assert_eq!(length(&nth.to_string()), nth.to_string().len());
        }
        assert_eq!(n_read.get(), 1 + 3 * MOST);
        let kept = LENGTHS.with_borrow(|memo| memo.newer.len() + memo.older.len());
        assert!(kept <= 2 * MOST, "{kept}");
    }
}
