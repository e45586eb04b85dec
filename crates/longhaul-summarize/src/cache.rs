//! The same span, model, prompt and settings are not summarized twice.

use std::{
    collections::VecDeque,
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use longhaul_transcript::ContentHash;

use crate::Draft;

/// Keeps drafts that a model wrote, by a hash of everything that went into them.
///
/// A cache may forget whatever it likes and may fail silently: a miss costs a call, nothing else. What it returns
/// for a key is what was stored under it. Implementors that write to disk must have secrets taken out first, as the
/// texts that the key was made of had.
#[async_trait]
pub trait SummaryCache: Debug + Send + Sync {
    /// Returns the draft under `key`, where there is one.
    async fn load(&self, key: &ContentHash) -> Option<Draft>;

    /// Keeps `draft` under `key`.
    async fn store(&self, key: &ContentHash, draft: &Draft);
}

/// A [`SummaryCache`] in memory that keeps the latest drafts.
#[derive(Debug)]
pub struct MemoryCache {
    capacity: usize,
    drafts: Mutex<VecDeque<(ContentHash, Draft)>>,
}

impl MemoryCache {
    /// Returns a cache of up to `capacity` drafts; the one not used for longest goes first.
    pub fn new(capacity: usize) -> MemoryCache {
        MemoryCache { capacity, drafts: Mutex::new(VecDeque::new()) }
    }
}

impl Default for MemoryCache {
    /// Returns a cache of up to 64 drafts.
    fn default() -> MemoryCache {
        MemoryCache::new(64)
    }
}

#[async_trait]
impl SummaryCache for MemoryCache {
    async fn load(&self, key: &ContentHash) -> Option<Draft> {
        let mut drafts = self.drafts.lock().unwrap_or_else(PoisonError::into_inner);
        let at = drafts.iter().position(|(stored, _)| stored == key)?;
        let used = drafts.remove(at)?;
        let draft = used.1.clone();
        drafts.push_back(used);
        Some(draft)
    }

    async fn store(&self, key: &ContentHash, draft: &Draft) {
        let mut drafts = self.drafts.lock().unwrap_or_else(PoisonError::into_inner);
        drafts.retain(|(stored, _)| stored != key);
        drafts.push_back((*key, draft.clone()));
        while drafts.len() > self.capacity {
            drafts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::block_on;

    use super::*;

    #[test]
    fn the_draft_not_used_for_longest_goes_first() {
        let cache = MemoryCache::new(2);
        let key = |n: u8| ContentHash::of(&[n]);
        let draft = |n: u8| Draft { text: n.to_string(), ..Draft::default() };
        block_on(async {
            cache.store(&key(1), &draft(1)).await;
            cache.store(&key(2), &draft(2)).await;
            assert_eq!(cache.load(&key(1)).await, Some(draft(1)));
            cache.store(&key(3), &draft(3)).await;
            assert_eq!(cache.load(&key(2)).await, None);
            assert_eq!(cache.load(&key(1)).await, Some(draft(1)));
            assert_eq!(cache.load(&key(3)).await, Some(draft(3)));
        });
    }
}
