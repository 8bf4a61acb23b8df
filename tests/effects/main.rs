//! What a command does to what it was not asked about: files of other projects stay, and no flag is without an effect.

#![allow(clippy::disallowed_methods, reason = "a test looks at the disk from outside")]

#[path = "../support/mod.rs"]
mod support;

mod adopted_kinds;
mod catalogs;
mod flags;
mod missing_parts;
mod project;
mod shared_directories;
