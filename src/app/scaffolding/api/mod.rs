//! The files and entries of one version of a kind, which `create api` adds and `delete api` removes.

pub mod context;
pub mod foreign;
pub mod needed;
pub mod place;
pub mod sample;
pub mod webhook;
