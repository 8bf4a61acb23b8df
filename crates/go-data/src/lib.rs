//! Data as programs in Go read and write it.
//!
//! Given text, [`yaml`] gives values, with the place of each part, as the Go program reads them that will use the text;
//! it writes values so that every such program reads them back as the same, and edits YAML text of a person's without
//! touching anything else. Given an object, [`kubernetes`] gives what Go's types make of it: with unknown fields named, and
//! quantities, zero values and names in any case as Go has them. Nothing here reads a file; what Go refuses is refused with
//! its place.

pub mod kubernetes;
pub mod yaml;
