//! HTTP clients of model providers: they ask a model over the network on behalf of `longhaul-summarize`.
//!
//! [`OpenAi`] speaks Chat Completions, which OpenAI, llama.cpp, Ollama, vLLM, LM Studio and most gateways understand;
//! [`Anthropic`] speaks Messages. Each makes one attempt: when to ask again, whom to ask instead and what it may cost
//! is decided by [`longhaul_summarize::Ladder`]. Text goes to the host of the base URL and nowhere else: redirects are
//! not followed. Keys live in [`secrecy::SecretString`] and appear in no error, log or `Debug` output.
//!
//! ```no_run
//! use longhaul_client::{Endpoint, OpenAi};
//! use longhaul_summarize::{CompletionClient, CompletionRequest};
//! use longhaul_transcript::Tokens;
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let client = OpenAi::new(Endpoint::new("http://127.0.0.1:8080/v1")?)?;
//! let question = CompletionRequest::new("local", "Be brief.".into(), "Say hello.".into(), Tokens(16));
//! println!("{}", client.complete(&question).await?.text);
//! # Ok(())
//! # }
//! ```
//!
//! Both also go on with a [`Conversation`](longhaul_summarize::Conversation) that an agent sent to the same endpoint before,
//! byte for byte, so that the provider's prompt cache serves it; [`OpenAi`] then speaks Responses as well.
//!
//! [`Chat`] carries a whole conversation over the same two protocols, answer by answer as they are spoken, with tools.
//!
//! Building a client needs no runtime; asking needs tokio's, as `reqwest` does.
#![forbid(unsafe_code)]

mod anthropic;
mod chat;
mod classify;
mod conversation;
mod endpoint;
mod http;
mod models;
mod openai;
mod retry_after;

pub use anthropic::Anthropic;
pub use chat::{Chat, ChatRequest, Delta, Reply, ToolDefinition};
pub use endpoint::{Endpoint, SetupError};
pub use openai::OpenAi;
