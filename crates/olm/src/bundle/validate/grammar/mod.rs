//! Texts that Go's libraries parse: what they take, and nothing else.

pub mod versions;
