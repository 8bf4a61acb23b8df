//! Shared by all commands about images: flags, credentials, reading, writing, pulling and pushing.

mod access;
pub mod bundles;
pub mod catalog_source;
mod data;
mod epoch;
pub mod folder;
mod output;
mod platforms;
mod pull;
mod push;
mod read;
mod shape;

pub use access::{RegistryAccess, RegistryFlags};
pub use data::of_data;
pub use epoch::SourceDateEpoch;
pub use output::{ImageOutput, put};
pub use platforms::platforms;
pub use pull::{here, overwritten, pull, resolve};
pub use push::{named, push};
pub use read::{pulled, read};
pub use shape::ImageFormat;
