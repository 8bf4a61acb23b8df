//! File-based catalogs: blobs as `opm render` gives them, templates, and the verdicts of `opm validate`.
//!
//! Files are interpreted as operator-registry interprets them. This module takes the bytes of files and returns
//! values, texts and diagnostics; it reads no files, pulls no images, and does not depend on the generation of
//! bundles.

pub mod blob;
pub mod bundle;
pub mod check;
mod decode;
mod document;
pub mod edit;
pub mod graph;
mod ignore;
mod inline;
pub mod load;
mod migrate;
mod properties;
mod reference;
mod stream;
pub mod template;

pub use bundle::Bundle;
pub use check::{check, is_image};
pub use ignore::{FILE as IGNORE_FILE, Ignore};
pub use inline::{catalog_with_image, catalog_with_manifests};
pub use load::{Catalog, Loader};
pub use migrate::migrate;
pub use reference::{ReferenceFields, expand_reference};
pub use stream::{Format, format_blob, format_blobs};

use go_data::kubernetes::{go, version};
