//! The public API of longhaul-extract, from outside.

mod digests;
