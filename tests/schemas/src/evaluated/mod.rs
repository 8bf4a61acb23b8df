//! Defaults that are computed: every function here is run by rustc's own code and by ours.

pub mod numbers;
pub mod texts;
pub mod types;
