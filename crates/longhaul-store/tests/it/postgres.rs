//! The store on PostgreSQL. `cargo xtask test` starts a server for these tests, or takes the one that
//! `LONGHAUL_TEST_POSTGRES_URL` names; without either they say so and do nothing.

use std::{
    env,
    sync::atomic::{AtomicUsize, Ordering},
};

use longhaul_store::{PostgresOptions, PostgresStore, conformance};

/// Returns the URL of the server; `None`, said aloud, where there is none.
pub(crate) fn server() -> Option<String> {
    let url = env::var("LONGHAUL_TEST_POSTGRES_URL").ok();
    if url.is_none() {
        eprintln!("skipped: LONGHAUL_TEST_POSTGRES_URL names no server; `cargo xtask test` starts one");
    }
    url
}

/// Returns options for a schema that nobody else uses, in a few connections.
pub(crate) fn fresh() -> PostgresOptions {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let mut options = PostgresOptions::default();
    options.schema = format!("test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    options.max_connections = 4;
    options
}

#[test]
fn postgres_conforms() {
    let Some(url) = server() else { return };
    conformance::block_on(conformance::all(async || PostgresStore::connect_with(&url, fresh()).unwrap()));
}
