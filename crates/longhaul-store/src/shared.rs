//! A store that is shared is a store.

use std::sync::Arc;

use crate::{SummaryStore, hand_on};

// Those that a backend may do better than the provided method are handed on too, or it would never be asked.
hand_on! {
    impl [<S: SummaryStore + ?Sized>] SummaryStore for Arc<S>;
    as_ref: [
        state transact events entries records snapshot contents find_words sessions sessions_with
        sessions_beginning_with forks_of set_alias alias cached all_cached cache journal extend append head chain record originals
        originals_in_line as_journaled strays commit search search_in_line forget forget_in_line
    ];
}
