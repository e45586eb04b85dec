//! Reads, writes, converts and checks the histories that LLM providers and agents keep, without losing a byte of them.
//!
//! How a history is spelled is known here, so that the layers above need not. It turns a file into a [`Document`]: the
//! [transcript](Document::transcript) that the layers above work on, and every byte around it. It does not count tokens
//! (see `longhaul-tokens`), does not decide what to keep (see `longhaul-trim` and the facade `longhaul`), and opens no
//! files and no connections.
//!
//! ```
//! use longhaul_transcript::Item;
//! use longhaul_wire::{Format, Profile, read, validate, write};
//!
//! let history = r#"[{"role":"user","content":"run the tests","x":1e2},
//!  {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},
//!  {"role":"tool","tool_call_id":"c1","content":"1 failed"},
//!  {"role":"user","content":"fix it"}]"#;
//! let doc = read(None, history.as_bytes())?;
//! assert_eq!(doc.format(), Format::OpenAi);
//!
//! // Drop the exchange; what stays comes back byte for byte, unknown fields and odd numbers included.
//! let entries = doc.transcript().entries();
//! let kept = [&entries[0], &entries[3]].map(|entry| Item::Message { id: entry.id, message: &entry.message });
//! let mut out = Vec::new();
//! write(&doc, kept, &mut out)?;
//! assert_eq!(out, br#"[{"role":"user","content":"run the tests","x":1e2},
//!  {"role":"user","content":"fix it"}]"#);
//!
//! assert!(validate(&out, Format::OpenAi, &Profile::default())?.is_empty());
//! # Ok::<(), longhaul_wire::WireError>(())
//! ```
//!
//! The nouns, and how they meet:
//!
//! - A [`Format`] is what a file is written in; [`detect`] tells it from the first bytes.
//! - [`read`] gives a [`Document`]. Damage that leaves the rest usable is listed in [`Document::problems`].
//! - [`write`](fn@write) takes the document and the items to keep. A message that did not change is copied; of one that
//!   did, only what changed is replaced inside its raw JSON; a summary is spelled afresh, the way the format marks one.
//! - [`append`] puts a compaction behind what a session file of an agent holds, as that agent does.
//! - [`convert`] goes from one format to another and lists what could not be carried; [`encode`] does so for a
//!   transcript that was never in a file; [`repair`] makes calls and results pair up again.
//! - [`messages_from_json`] reads what a provider answered and keeps how it was spelled beside each message; [`render`]
//!   spells messages as a request, each as it came in where nothing changed, and [`Document::with_messages`] puts them into
//!   the body that a client sent; [`usage_from_json`] reads what the answer cost.
//! - [`validate`] checks raw JSON against the rules of the provider. It shares the splitting into lines and values with the
//!   readers and no model, so that a mistake of theirs does not pass for sound; what no provider takes (`chat`, `longhaul`,
//!   imports) is valid where they can read it.
#![forbid(unsafe_code)]

mod cache;
mod convert;
mod detect;
mod dialect;
mod document;
mod edit;
mod emitted;
mod error;
mod formats;
mod ids;
mod import;
mod json;
mod lines;
mod media;
mod order;
mod raw;
mod reasoning;
mod render;
mod repair;
mod request;
mod respell;
mod session;
mod spelled;
mod validate;
mod whole;
mod write;

pub use cache::{CacheMark, Lifetime, with_cache_marks};
pub use convert::{Conversion, convert, encode};
pub use detect::detect;
pub use document::{Document, read};
pub use error::{Problem, WireError};
pub use formats::Format;
pub use raw::messages_from_json;
pub use render::{Rendition, render, render_grown, render_session};
pub use repair::{Repair, repair};
pub use request::usage_from_json;
pub use session::append::{Appended, append, session_id_from, timestamp, with_session_id};
pub use spelled::respell;
pub use validate::{IdPattern, Profile, Thinking, Violation, validate};
pub use write::{write, write_unchanged};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
