//! A list that is cheap to copy and to add to, however long it is.

use std::sync::Arc;

/// A list that shares what it has in common with its copies. Copying costs the same whatever its length, and so does
/// adding at its end, but for the pointers to full chunks that are copied once in a while.
#[derive(Clone, Debug)]
pub(crate) struct SharedVec<T> {
    full: Arc<Vec<Arc<Vec<T>>>>,
    last: Arc<Vec<T>>,
}

/// Elements in a chunk: few enough to be copied with a push, many enough that the pointers weigh nothing.
const CHUNK: usize = 64;

impl<T: Clone> SharedVec<T> {
    pub(crate) fn push(&mut self, element: T) {
        let last = Arc::make_mut(&mut self.last);
        last.push(element);
        if last.len() == CHUNK {
            let chunk = std::mem::take(&mut self.last);
            Arc::make_mut(&mut self.full).push(chunk);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.full.len() * CHUNK + self.last.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match self.full.get(at / CHUNK) {
            Some(chunk) => chunk.get(at % CHUNK),
            None => self.last.get(at - self.full.len() * CHUNK),
        }
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Returns the first index for which `is_before` is false. It must be true for all before it and for none after.
    pub(crate) fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).is_some_and(&is_before) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

impl<T> Default for SharedVec<T> {
    fn default() -> SharedVec<T> {
        SharedVec { full: Arc::default(), last: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_had_while_the_other_grows() {
        let mut list = SharedVec::default();
        (0..1_000).for_each(|n| list.push(n));
        let copy = list.clone();
        (1_000..1_100).for_each(|n| list.push(n));
        assert_eq!((copy.len(), list.len()), (1_000, 1_100));
        assert!(copy.iter().copied().eq(0..1_000) && list.iter().copied().eq(0..1_100));
        assert_eq!((copy.get(1_000), list.get(1_000), list.last()), (None, Some(&1_000), Some(&1_099)));
        assert_eq!(list.partition_point(|n| *n < 777), 777);
    }
}
