//! The facade as its users see it.

mod configuration;
