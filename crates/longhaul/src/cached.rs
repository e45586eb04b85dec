//! What models wrote, kept in the store: the same span, model, prompt and settings are not asked for twice.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_store::SummaryStore;
use longhaul_summarize::{Draft, SummaryCache};
use longhaul_transcript::{ContentHash, Redacted};
use serde::{Deserialize, Serialize};

/// A [`SummaryCache`] in the store, so that a summary outlives the process that paid for it.
///
/// Drafts hold the text of the conversation, so they may be kept only where what was summarized had its secrets taken
/// out first. The facade and the command see to that; whoever builds a [`Ladder`](longhaul_summarize::Ladder) of their
/// own does so by handing it messages from [`longhaul_redact`]. What was tried on the way to a draft is not kept: its
/// excerpts are for the user's own log.
#[derive(Debug)]
pub struct StoreCache {
    store: Arc<dyn SummaryStore>,
}

/// What is stored.
#[derive(Serialize, Deserialize)]
struct Cached {
    version: u32,
    draft: Draft,
}

impl StoreCache {
    /// The version of what this code stores. Anything else is a miss.
    pub const VERSION: u32 = 1;

    /// Returns a cache in `store`.
    pub fn new(store: Arc<dyn SummaryStore>) -> StoreCache {
        StoreCache { store }
    }
}

#[async_trait]
impl SummaryCache for StoreCache {
    /// A store that cannot be read, and a draft that cannot, are a miss: that costs a call and nothing else.
    async fn load(&self, key: &ContentHash) -> Option<Draft> {
        let bytes = self.store.cached(key).await.ok().flatten()?;
        let cached: Cached = serde_json::from_slice(&bytes).ok()?;
        (cached.version == Self::VERSION).then_some(cached.draft)
    }

    async fn store(&self, key: &ContentHash, draft: &Draft) {
        let draft = Draft { attempts: Vec::new(), ..draft.clone() };
        let Ok(bytes) = serde_json::to_vec(&Cached { version: Self::VERSION, draft }) else { return };
        let _ = self.store.cache(key, &Redacted::assume(bytes)).await;
    }
}

#[cfg(test)]
mod tests {
    use longhaul_store::MemoryStore;
    use longhaul_summarize::Attempt;

    use super::*;

    fn draft() -> Draft {
        Draft { text: "The export is late.".into(), model: "m".into(), ..Draft::default() }
    }

    #[tokio::test]
    async fn a_draft_comes_back_without_what_was_tried_before_it() {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
        let (cache, key) = (StoreCache::new(Arc::clone(&store)), ContentHash::of(b"key"));
        assert_eq!(cache.load(&key).await, None);
        let attempts = vec![Attempt { excerpt: "an answer".into(), ..Attempt::default() }];
        cache.store(&key, &Draft { attempts, ..draft() }).await;
        assert_eq!(cache.load(&key).await, Some(draft()));
        assert_eq!(
            StoreCache::new(store).load(&key).await,
            Some(draft()),
            "the store keeps it, not the cache"
        );
        assert_eq!(cache.load(&ContentHash::of(b"other")).await, None);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_a_miss() {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
        let (cache, key) = (StoreCache::new(Arc::clone(&store)), ContentHash::of(b"key"));
        for bytes in [&b""[..], b"{}", br#"{"version": 2, "draft": {}}"#] {
            store.cache(&key, &Redacted::assume(bytes.to_vec())).await.unwrap();
            assert_eq!(cache.load(&key).await, None);
        }
    }
}
