//! The public API of longhaul-extract, from outside.

mod digest_cases;
mod digests;
mod pairs;
mod said;
