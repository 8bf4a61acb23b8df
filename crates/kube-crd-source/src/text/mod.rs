//! Text and places in it; Rust syntax, before any name in it has a meaning.

mod conflict;
mod macro_calls;
pub mod meta;
pub mod panics;
mod problem;
pub mod raw_tokens;
mod source_path;
pub mod sources;
pub mod stack;
pub mod syntax;
mod tokens;

pub use conflict::{find_conflict, find_conflict_in_malformed};
pub use macro_calls::{MacroCall, calls_outside, macro_calls};
pub use meta::derive_paths;
pub use problem::{FieldNames, FieldPlaces, FieldTypes, Place, Problem, UnreadValues, Unreadable};
pub use source_path::{NotASourcePath, SourcePath, below};
pub use tokens::{collect_identifiers, format_tokens, peel_parens, unraw_name};
