//! The program in folders that somebody else has filled: a clone that was made to do harm, flags that
//! a command might accept and ignore, and projects that were changed at random.
//!
//! Each command is run as a user runs it, with a time limit, and everything around the project is
//! compared before and after. `HOSTILE=all` runs every combination in place of a sample, `HOSTILE=1000`
//! a larger sample, `HOSTILE_ONLY=text` those whose title has this text;
//! `FUZZ_SECONDS` and `FUZZ_CASES` say how long the fuzzer runs, `FUZZ_SEED` repeats a case of it.
//! `HOSTILE_BINARY` names another build of the program.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "a suite that samples says how much it has run")]

#[path = "../support/mod.rs"]
mod support;

mod brought;
mod clone;
mod commands;
mod fuzz;
mod itself;
mod modes;
mod output;
mod plant;
mod random;
mod run;
mod snapshot;
mod source;
mod template;
mod tricks;
mod world;
