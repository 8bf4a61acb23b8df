//! Texts that Go's libraries parse: what they take, and nothing else.

pub mod mail;
pub mod url;
pub mod versions;
