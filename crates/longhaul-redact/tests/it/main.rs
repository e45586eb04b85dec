//! The public API, from outside.

mod answers;
mod arguments;
mod canaries;
mod generated;
mod innocents;
mod kinds;
mod labelled;
mod laid_out;
mod marked;
mod properties;
mod shapes;
mod spellings;
mod uses;
