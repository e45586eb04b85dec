//! Finds secrets in text and replaces them by placeholders, with the rules as data.
//!
//! This layer is called before anything is stored or sent to a summarizer. It knows texts and messages; it does not
//! store, log or send, and it says which rule struck and where, never what it found.
//!
//! ```
//! use longhaul_redact::Redactor;
//!
//! let redactor = Redactor::builtin();
//! // The token is put together here, so that no scanner takes this page for a leak.
//! let text = format!("clone with ghp_{} please", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
//! let (clean, findings) = redactor.redact_text(&text);
//! assert_eq!(clean, "clone with [REDACTED:github-pat:1] please");
//! assert_eq!(&*findings[0].rule, "github-pat");
//!
//! // Hashes and ids are no secrets.
//! let commit = "commit 9fceb02d0ae598e95dc970b74767f19372d61af8";
//! assert_eq!(redactor.redact_text(commit).0, commit);
//! ```
//!
//! A [`Redactor`] searches a text for key words in one pass and runs a rule's expression only around the key words of
//! that rule. A [`Finding`] is where a secret is. A [`Vault`] numbers secrets and can turn placeholders back, inside
//! the process. The rules are gitleaks' (MIT, see `rules/`) and our own on top; [`Redactor::with_rules`] adds more.
#![forbid(unsafe_code)]

mod apart;
mod asked;
mod asking;
mod bare;
mod base64;
mod error;
mod generated;
mod hex;
mod hidden;
mod json;
mod keywords;
mod layout;
mod lines;
mod mark;
mod marks;
mod message;
mod named;
mod names;
mod objects;
mod percent;
mod pieces;
mod placeholder;
mod places;
mod raw;
mod redactor;
mod rules;
mod scan;
mod secret;
mod settle;
mod shell;
mod spelled;
mod struck;
mod tables;
mod together;
mod values;
mod vault;
mod windows;
mod words;

pub use asked::{Answers, Asked};
pub use error::RedactError;
pub use redactor::Redactor;
pub use struck::Finding;
pub use vault::{Vault, placeholders};
