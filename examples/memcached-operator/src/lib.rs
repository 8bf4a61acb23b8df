//! The operator as a library, so that `main` and the tests share one code path.

pub mod controller;
pub mod error;
pub mod runtime;

pub use error::{Error, Result};
