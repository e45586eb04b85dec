//! The suite that every [`SummaryStore`] passes (feature `conformance`).
//!
//! A backend's test calls [`all`] with a function that makes an empty store, on whatever runtime the backend needs.
//! Each check panics with what it expected, as a test does.
//!
//! ```
//! use longhaul_store::{MemoryStore, conformance};
//!
//! conformance::block_on(conformance::all(async || MemoryStore::new()));
//! ```
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests, for tests to call")]

mod chain;
mod deletion;
mod fixtures;
mod journal;
mod lines;
mod many;
mod transfer;
mod writer;

use crate::SummaryStore;

pub use fixtures::{record, said, session};
pub use longhaul_transcript::block_on;

/// Runs every check, each on a store of its own that `fresh` makes.
///
/// # Panics
/// When the store does not do what [`SummaryStore`] says.
pub async fn all<S: SummaryStore, F: AsyncFn() -> S>(fresh: F) {
    journal::adding_the_same_again_changes_nothing(&fresh().await).await;
    journal::another_history_is_refused(&fresh().await).await;
    journal::every_kind_of_message_comes_back(&fresh().await).await;
    journal::words_find_originals_and_nothing_else_has_a_meaning(&fresh().await).await;
    journal::the_best_hits_come_first(&fresh().await).await;
    journal::sessions_have_other_names(&fresh().await).await;
    journal::a_name_does_not_take_the_place_of_another_conversation(&fresh().await).await;
    journal::the_cache_gives_back_what_it_was_given(&fresh().await).await;
    chain::a_record_needs_the_head_as_its_parent(&fresh().await).await;
    chain::undo_and_redo_are_events(&fresh().await).await;
    chain::a_restored_range_is_noted_and_returned(&fresh().await).await;
    chain::a_fork_goes_its_own_way(&fresh().await).await;
    chain::sessions_are_found_by_their_beginning_and_their_origin(&fresh().await).await;
    chain::a_decision_that_fails_writes_nothing(&fresh().await).await;
    deletion::a_range_leaves_a_tombstone(&fresh().await).await;
    deletion::age_spares_the_records_in_force(&fresh().await).await;
    deletion::a_secret_goes_wherever_it_stands(&fresh().await).await;
    deletion::what_another_session_holds_stays_there(&fresh().await).await;
    deletion::a_whole_session_goes(&fresh().await).await;
    deletion::what_a_summary_replaces_goes_with_its_commit(&fresh().await).await;
    lines::a_name_stands_for_the_line_that_goes_on(&fresh().await).await;
    lines::a_conversation_is_forgotten_in_all_its_lines(&fresh).await;
    lines::an_export_shows_what_the_name_stood_for(&fresh().await, &fresh().await).await;
    transfer::an_export_comes_back_exactly(&fresh().await, &fresh().await).await;
    transfer::what_is_there_already_stays(&fresh().await, &fresh().await).await;
    transfer::a_damaged_export_is_refused(&fresh().await, &fresh().await).await;
    writer::a_spelling_comes_back_beside_its_message(&fresh().await).await;
    writer::an_export_holds_spellings(&fresh().await, &fresh().await).await;
    writer::a_commit_is_all_or_nothing(&fresh().await).await;
    writer::the_later_of_two_writers_is_told(&fresh().await).await;
    writer::what_changed_since_a_snapshot_stands_beside_it(&fresh().await).await;
    writer::a_writer_that_says_nothing_is_told_as_well(&fresh().await).await;
    many::many_writers_lose_and_double_nothing(&fresh().await).await;
    many::a_dropped_future_leaves_all_or_nothing(&fresh().await).await;
}
