//! The longhaul command.
#![forbid(unsafe_code)]

fn main() {}
