//! The command as a user meets it: whole outputs, exit codes, and files that stay unharmed.

mod bad_input;
mod commands;
mod history;
mod run;
