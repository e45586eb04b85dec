//! The public interface, from outside.

mod fixtures;
mod ladder;
mod misbehaving;
