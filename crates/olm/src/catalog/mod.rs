//! File-based catalogs: blobs as `opm render` gives them, templates, and the verdicts of `opm validate`.
//!
//! What is read is read as operator-registry reads it. This room is given the bytes of files and returns data, texts
//! and problems; it reads no files, pulls no images and knows nothing of how bundles are generated.

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
pub use inline::{inline, pulled};
pub use load::{Catalog, Loader};
pub use migrate::migrate;
pub use reference::{Fields, reference};
pub use stream::{Format, stream, text};

use go_data::kubernetes::{go, version};
