//! HTTP clients of model providers.
#![forbid(unsafe_code)]
