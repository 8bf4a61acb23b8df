//! The documents of the OCI image specification, and of Docker's, as far as images are read: manifests, indexes and
//! configurations. Fields that the specification requires are required here.

use std::collections::BTreeMap;

use model::Platform;
use serde::Deserialize;

/// `image-manifest.md` of the specification.
#[derive(Deserialize)]
pub struct ImageManifest {
    #[serde(rename = "schemaVersion")]
    _schema_version: u32,
    pub config: ContentDescriptor,
    pub layers: Vec<ContentDescriptor>,
}

/// `image-index.md` of the specification.
#[derive(Deserialize)]
pub struct ImageIndex {
    #[serde(rename = "schemaVersion")]
    _schema_version: u32,
    pub manifests: Vec<ContentDescriptor>,
}

/// `descriptor.md` of the specification.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentDescriptor {
    pub media_type: String,
    pub digest: String,
    pub size: u64,
    pub urls: Option<Vec<String>>,
    pub platform: Option<Platform>,
}

/// `config.md` of the specification.
#[derive(Deserialize)]
pub struct ImageConfiguration {
    pub architecture: String,
    pub os: String,
    pub variant: Option<String>,
    config: Option<ContainerConfiguration>,
    pub rootfs: RootFilesystem,
}

#[derive(Deserialize)]
struct ContainerConfiguration {
    #[serde(rename = "Labels")]
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
pub struct RootFilesystem {
    /// The digest of each layer once it is decompressed, the lowest first.
    pub diff_ids: Vec<String>,
}

impl ImageConfiguration {
    /// Returns the labels; none if there is no configuration of containers.
    pub fn into_labels(self) -> BTreeMap<String, String> {
        self.config.and_then(|config| config.labels).unwrap_or_default()
    }
}

impl ContentDescriptor {
    /// Returns whether a registry need not have the content: it is of a type that is not distributed, or has URLs.
    pub fn is_elsewhere(&self) -> bool {
        let is_not_distributed =
            self.media_type.starts_with("application/vnd.oci.image.layer.nondistributable.");
        is_not_distributed || self.urls.as_ref().is_some_and(|urls| !urls.is_empty())
    }
}
