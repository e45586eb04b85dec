//! The facade as its users see it: one module for each design document, and the pages that are written from the code.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod absurd;
#[cfg(feature = "wire")]
mod answered;
#[cfg(feature = "wire")]
mod beneath;
mod bills;
mod cached;
#[cfg(feature = "wire")]
mod client_compacts;
mod configuration;
#[cfg(feature = "wire")]
mod deleted;
mod documents;
mod durability;
mod event_page;
mod examples;
mod failures;
#[cfg(feature = "wire")]
mod files;
#[cfg(feature = "wire")]
mod front_end;
#[cfg(feature = "wire")]
mod gateway;
#[cfg(feature = "wire")]
mod gateway_drawn;
#[cfg(feature = "wire")]
mod habits;
#[cfg(feature = "wire")]
mod led_items;
mod long_runs;
mod models;
mod pastes;
mod presets;
#[cfg(feature = "wire")]
mod providers;
mod ranges;
mod refused;
#[cfg(feature = "wire")]
mod resumed;
mod room;
#[cfg(feature = "wire")]
mod said_again;
#[cfg(feature = "wire")]
mod sealed;
mod seed_000;
mod seed_001;
mod seed_002;
mod seed_003;
mod seed_004;
mod seed_map;
#[cfg(feature = "wire")]
mod sent;
mod settings;
mod steps;
mod summarizers;
mod terse;
#[cfg(feature = "wire")]
mod thinking;
mod told;
#[cfg(feature = "sqlite")]
mod two_processes;
mod untold;
mod what_holds;
#[cfg(feature = "wire")]
mod windows;
mod work;
