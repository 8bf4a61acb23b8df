//! CustomResourceDefinitions, and objects of them, as API servers see them.
//!
//! Given CRDs and objects as data ([`go_data::yaml::Value`]), it gives findings: what an API server refuses of a CRD
//! ([`definition`]), of an admission webhook ([`webhook`]) and of an object ([`samples`]), and what of a changed CRD breaks objects, clients or an upgrade
//! ([`compatibility`]). [`reference`] describes kinds for readers, and [`json_schema`] for validators. [`expression`] type-checks, prices and evaluates the CEL rules of CRDs. It reads no file and asks no
//! server; what it cannot decide, it names.

pub mod compatibility;
pub mod definition;
pub mod expression;
pub mod json_schema;
pub mod keyword;
pub mod reference;
pub mod samples;
// The source of the in-memory API server, where other projects can have it without this crate.
#[rustfmt::skip]
pub mod structural;
pub mod webhook;
