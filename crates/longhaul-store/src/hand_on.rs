//! A store that stands before another.

/// Implements [`SummaryStore`](crate::SummaryStore) for a type that stands before another store.
///
/// The methods that are named go to that store, which a method of the type's own returns; the others are written out. What is in
/// neither is the trait's default, so name each method that the other store does better. These cannot be named, since they are
/// made of the others: `summaries`, `search_some`, `search_some_in_line`, `undo`, `to_undo`, `take_back`, `withdraw`, `redo`, `restore`, `fork`,
/// `branch`, `verify`, `verify_log`, `export`, `import`, `named`, `comes_from`, `lines`, `resolve` and `require`.
///
/// ```
/// use longhaul_store::{MemoryStore, StoreError, SummaryStore, hand_on};
/// use longhaul_transcript::{ContentHash, Redacted};
///
/// /// Caches nothing.
/// #[derive(Debug, Default)]
/// struct WithoutCache(MemoryStore);
///
/// impl WithoutCache {
///     fn inner(&self) -> &MemoryStore {
///         &self.0
///     }
/// }
///
/// hand_on! {
///     impl SummaryStore for WithoutCache;
///     inner: [state transact events entries records snapshot contents find_words sessions set_alias alias];
///     async fn cached(&self, _: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
///         Ok(None)
///     }
///     async fn cache(&self, _: &ContentHash, _: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
///         Ok(())
///     }
/// }
/// ```
#[macro_export]
macro_rules! hand_on {
    (impl [$($generics:tt)*] SummaryStore for $type:ty; $inner:ident: [$($name:ident)*]; $($own:tt)*) => {
        $crate::hand_on! { @ [$($name)*] $inner { [$($generics)*] $type } { $($own)* } }
    };
    (impl SummaryStore for $type:ty; $inner:ident: [$($name:ident)*]; $($own:tt)*) => {
        $crate::hand_on! { @ [$($name)*] $inner { [] $type } { $($own)* } }
    };
    (@ [] $inner:ident { [$($generics:tt)*] $type:ty } { $($methods:tt)* }) => {
        #[$crate::on::async_trait]
        impl $($generics)* $crate::SummaryStore for $type {
            $($methods)*
        }
    };
    (@ $name:ident ($($arg:ident: $type:ty),*) -> $ok:ty;
        [$($rest:ident)*] $inner:ident $for:tt { $($methods:tt)* }) => {
        $crate::hand_on! { @ [$($rest)*] $inner $for { $($methods)*
            async fn $name(&self $(, $arg: $type)*) -> Result<$ok, $crate::StoreError> {
                self.$inner().$name($($arg),*).await
            }
        }}
    };
    (@ [state $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ state(session: &$crate::on::SessionId)
            -> Option<$crate::on::StoredSession>; [$($rest)*] $($to)* }
    };
    (@ [transact $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ transact(session: &$crate::on::SessionId, decide: $crate::on::Decide)
            -> $crate::on::StoredSession; [$($rest)*] $($to)* }
    };
    (@ [events $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ events(session: &$crate::on::SessionId, from: u64, limit: usize)
            -> Vec<$crate::on::Event>; [$($rest)*] $($to)* }
    };
    (@ [entries $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ entries(session: &$crate::on::SessionId, span: $crate::on::Span)
            -> Vec<$crate::on::JournalEntry>; [$($rest)*] $($to)* }
    };
    (@ [records $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ records(session: &$crate::on::SessionId)
            -> Vec<$crate::on::RecordEntry>; [$($rest)*] $($to)* }
    };
    (@ [snapshot $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ snapshot(session: &$crate::on::SessionId)
            -> Option<$crate::on::Snapshot>; [$($rest)*] $($to)* }
    };
    (@ [contents $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ contents(session: &$crate::on::SessionId, addresses: &[$crate::on::ContentHash])
            -> Vec<Option<Vec<u8>>>; [$($rest)*] $($to)* }
    };
    (@ [find_words $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ find_words(session: Option<&$crate::on::SessionId>, words: &[String], limit: usize)
            -> Vec<($crate::on::SessionId, u64)>; [$($rest)*] $($to)* }
    };
    (@ [sessions $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ sessions()
            -> Vec<$crate::on::SessionInfo>; [$($rest)*] $($to)* }
    };
    (@ [sessions_with $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ sessions_with(id: &$crate::on::SummaryId)
            -> Vec<$crate::on::SessionId>; [$($rest)*] $($to)* }
    };
    (@ [sessions_beginning_with $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ sessions_beginning_with(addresses: &[$crate::on::ContentHash])
            -> Vec<$crate::on::SessionId>; [$($rest)*] $($to)* }
    };
    (@ [forks_of $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ forks_of(session: &$crate::on::SessionId)
            -> Vec<$crate::on::SessionId>; [$($rest)*] $($to)* }
    };
    (@ [set_alias $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ set_alias(alias: &$crate::on::SessionId, session: &$crate::on::SessionId)
            -> (); [$($rest)*] $($to)* }
    };
    (@ [alias $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ alias(alias: &$crate::on::SessionId)
            -> Option<$crate::on::SessionId>; [$($rest)*] $($to)* }
    };
    (@ [cached $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ cached(key: &$crate::on::ContentHash)
            -> Option<Vec<u8>>; [$($rest)*] $($to)* }
    };
    (@ [all_cached $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ all_cached(keys: &[$crate::on::ContentHash])
            -> Vec<Option<Vec<u8>>>; [$($rest)*] $($to)* }
    };
    (@ [cache $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ cache(key: &$crate::on::ContentHash, value: &$crate::on::Redacted<Vec<u8>>)
            -> (); [$($rest)*] $($to)* }
    };
    (@ [journal $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ journal(session: &$crate::on::SessionId, start: u64, messages: &[$crate::on::Redacted<$crate::on::Message>], at_ms: i64)
            -> $crate::on::Journaled; [$($rest)*] $($to)* }
    };
    (@ [extend $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ extend(session: &$crate::on::SessionId, messages: &[$crate::on::Redacted<$crate::on::Message>], at_ms: i64)
            -> $crate::on::Span; [$($rest)*] $($to)* }
    };
    (@ [append $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ append(session: &$crate::on::SessionId, record: &$crate::on::Redacted<$crate::on::SummaryRecord>)
            -> $crate::on::StoredSession; [$($rest)*] $($to)* }
    };
    (@ [head $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ head(session: &$crate::on::SessionId)
            -> Option<$crate::on::SummaryRecord>; [$($rest)*] $($to)* }
    };
    (@ [chain $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ chain(session: &$crate::on::SessionId)
            -> Vec<$crate::on::SummaryRecord>; [$($rest)*] $($to)* }
    };
    (@ [record $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ record(session: &$crate::on::SessionId, id: &$crate::on::SummaryId)
            -> Option<$crate::on::SummaryRecord>; [$($rest)*] $($to)* }
    };
    (@ [originals $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ originals(session: &$crate::on::SessionId, span: $crate::on::Span)
            -> Vec<$crate::on::Original>; [$($rest)*] $($to)* }
    };
    (@ [originals_in_line $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ originals_in_line(session: &$crate::on::SessionId, span: $crate::on::Span)
            -> Vec<$crate::on::Original>; [$($rest)*] $($to)* }
    };
    (@ [as_journaled $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ as_journaled(session: &$crate::on::SessionId, span: $crate::on::Span)
            -> Vec<$crate::on::Original>; [$($rest)*] $($to)* }
    };
    (@ [strays $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ strays(session: &$crate::on::SessionId, ordinals: &[u64])
            -> Vec<u64>; [$($rest)*] $($to)* }
    };
    (@ [commit $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ commit(session: &$crate::on::SessionId, commit: &$crate::on::Commit)
            -> $crate::on::StoredSession; [$($rest)*] $($to)* }
    };
    (@ [search $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ search(session: Option<&$crate::on::SessionId>, query: &str, limit: usize)
            -> Vec<$crate::on::Hit>; [$($rest)*] $($to)* }
    };
    (@ [search_in_line $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ search_in_line(session: &$crate::on::SessionId, query: &str, limit: usize)
            -> Vec<$crate::on::Hit>; [$($rest)*] $($to)* }
    };
    (@ [forget $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ forget(session: &$crate::on::SessionId, selector: &$crate::on::Selector, at_ms: i64)
            -> $crate::on::Forgotten; [$($rest)*] $($to)* }
    };
    (@ [forget_in_line $($rest:ident)*] $($to:tt)*) => {
        $crate::hand_on! { @ forget_in_line(session: &$crate::on::SessionId, selector: &$crate::on::Selector, at_ms: i64)
            -> $crate::on::Forgotten; [$($rest)*] $($to)* }
    };
}
