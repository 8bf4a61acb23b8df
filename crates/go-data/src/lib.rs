//! Reads and writes data as programs in Go do.
//!
//! [`yaml`] parses a text into values, with the location of each node, as the Go program does that will use the text.
//! It writes values so that every such program reads them back as the same, and edits the YAML text of a user without
//! changes elsewhere. [`kubernetes`] decodes an object into Go's types: unknown fields are reported, and quantities,
//! zero values and names in any case are as in Go. This crate reads no file; a text that Go refuses is refused with the
//! location of the error.

pub mod kubernetes;
pub mod yaml;
