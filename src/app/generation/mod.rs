//! Files that are generated from the source.

pub mod agreement;
pub mod conversions;
pub mod derive;
pub mod generated_crds;
pub mod samples;
pub mod types_list;
pub mod unserved;
pub mod webhooks;
