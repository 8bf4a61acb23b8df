//! Container images without a daemon.
//!
//! Given files, a configuration and layers of a base, [`image`] gives an image as a value, an archive or an OCI layout, to the
//! byte the same each time, and reads them again. [`registry`] pushes and pulls them, with the credentials that docker would
//! use, and never sends these to another server. [`web`] downloads single files. All input from a server is bounded and
//! compared with its digest. Writing to the disk is the caller's.

pub mod image;
pub mod registry;
pub mod web;
