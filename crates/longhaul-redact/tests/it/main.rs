//! The public API, from outside.

mod canaries;
mod innocents;
mod kinds;
mod properties;
mod shapes;
