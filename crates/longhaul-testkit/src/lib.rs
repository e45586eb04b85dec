//! What longhaul's own tests share: a text format for transcripts, proptest strategies over them, and samples of each
//! wire format.
//!
//! ```
//! let transcript = longhaul_testkit::transcript(r#"
//! user: Fix the failing test
//! assistant: Looking. !read_file#c1 {"path":"src/lib.rs"}
//! tool#c1: fn main() {}
//! "#);
//! assert_eq!(transcript.units().count(), 2);
//! ```
#![forbid(unsafe_code)]

mod demands;
mod fixture;
pub mod planted;
mod record;
mod recorded;
pub mod samples;
mod sourced;
mod strategies;
mod waiting;

pub use demands::demands;
pub use fixture::{parse, transcript};
pub use record::record;
pub use recorded::recorded;
pub use sourced::unsourced;
pub use strategies::{any_text, conversation};
pub use waiting::block_on;
