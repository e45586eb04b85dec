//! The public API, from outside. Most of it needs the features `sqlite` and `conformance`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

#[cfg(feature = "conformance")]
mod conformance;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod faults;
#[cfg(feature = "conformance")]
mod identity;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod migration;
#[cfg(all(feature = "conformance", any(feature = "sqlite", feature = "postgres")))]
mod missing;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod names;
#[cfg(all(feature = "conformance", feature = "postgres"))]
mod postgres;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod power;
#[cfg(all(feature = "conformance", any(feature = "sqlite", feature = "postgres")))]
mod process;
#[cfg(all(feature = "conformance", feature = "sqlite", unix))]
mod reading;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod sqlite;
#[cfg(all(feature = "conformance", feature = "sqlite"))]
mod tail;
