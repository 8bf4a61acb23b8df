//! Files in, a container image out, and back: OCI and Docker images, layouts and archives, as values.
//!
//! What is built is the same to the byte for the same input: no clock, sorted names, no owners. What is read is not
//! trusted: every digest and size is compared, nothing leads out of the image, and sizes are limited. A layer in
//! a file is read as it is needed, and never held in memory. This module opens no files and talks to no registry.

mod archive;
mod assemble;
mod compression;
mod config;
mod content;
mod layer;
mod layout;
mod manifest;
mod spec;
mod stored;
mod tarball;
#[cfg(test)]
mod tests;
mod unpack;

pub use archive::{docker_archive, is_archive, oci_archive, read_archive};
pub use assemble::{Recipe, Variant, assemble};
pub use config::Config;
pub use content::{Content, Open};
pub use layer::{File, Layer};
pub use layout::{index_with, layout, read_layout};
pub use manifest::{Manifest, Reference};
pub use model::Files;
pub use stored::{Stored, labels};
pub use unpack::{Limits, Unpacked};

use model::{Blob, Digest, Platform};

/// The media types of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Oci,
    /// Docker's older ones, which are also those of a `docker save` archive.
    Docker,
}

/// An image for one platform or several, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub format: Format,
    pub singles: Vec<PlatformImage>,
    /// Names the image of each platform, if there are several.
    pub index: Option<Blob>,
}

/// The image of one platform.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformImage {
    pub platform: Platform,
    pub manifest: Blob,
    pub config: Blob,
    pub layers: Vec<Blob>,
}

impl Image {
    /// The blob that a tag refers to: the index, or the only manifest.
    pub fn top(&self) -> &Blob {
        self.index.as_ref().unwrap_or(&self.singles[0].manifest)
    }

    pub fn digest(&self) -> &Digest {
        self.top().digest()
    }

    /// Each layer and configuration once; the large ones first.
    pub fn blobs(&self) -> Vec<&Blob> {
        let layers = self.singles.iter().flat_map(|image| &image.layers);
        let configs = self.singles.iter().map(|image| &image.config);
        let mut blobs: Vec<&Blob> = Vec::new();
        for blob in layers.chain(configs) {
            if blobs.iter().all(|known| known.digest() != blob.digest()) {
                blobs.push(blob);
            }
        }
        blobs
    }

    /// The manifests that the index names.
    pub fn children(&self) -> Vec<&Blob> {
        match self.index {
            Some(_) => self.singles.iter().map(|image| &image.manifest).collect(),
            None => Vec::new(),
        }
    }
}
