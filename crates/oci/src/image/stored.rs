//! The image of one platform as it was pulled or found in an archive: what it consists of is known to be whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Content, spec::ImageConfiguration};
use model::{Blob, Digest, Platform};

#[derive(Clone, Debug)]
pub struct Stored {
    pub platform: Platform,
    pub labels: BTreeMap<String, String>,
    /// Compressed or not, the lowest first.
    pub layers: Vec<Content>,
    /// The digest of each layer once it is decompressed.
    pub(super) diff_ids: Vec<Digest>,
    /// The configuration.
    pub(super) json: Map<String, Value>,
}

/// The labels in the configuration of an image; none if it cannot be read.
pub fn labels(config: &Blob) -> BTreeMap<String, String> {
    let parsed: Option<ImageConfiguration> = serde_json::from_slice(config.bytes()).ok();
    parsed.map(ImageConfiguration::into_labels).unwrap_or_default()
}

impl Stored {
    /// An image of a configuration and its layers, whose digests are those in its manifest.
    pub fn new(config: &Blob, layers: Vec<Content>) -> anyhow::Result<Self> {
        let invalid = |why: String| {
            anyhow::format_err!("the configuration {} is not valid: {why}", config.digest())
        };
        let parsed: ImageConfiguration =
            serde_json::from_slice(config.bytes()).map_err(|error| invalid(error.to_string()))?;
        let json =
            serde_json::from_slice(config.bytes()).map_err(|error| invalid(error.to_string()))?;
        let ids = parsed.rootfs.diff_ids.iter();
        let ids = ids.map(|id| id.parse().map_err(|why| invalid(format!("`{id}` {why}"))));
        let diff_ids: Vec<Digest> = ids.collect::<anyhow::Result<_>>()?;
        if diff_ids.len() != layers.len() {
            return Err(invalid(format!(
                "it names {} layers, and the manifest {}",
                diff_ids.len(),
                layers.len()
            )));
        }
        Ok(Self {
            platform: Platform {
                os: parsed.os.clone(),
                architecture: parsed.architecture.clone(),
                variant: parsed.variant.clone(),
            },
            labels: parsed.into_labels(),
            layers,
            diff_ids,
            json,
        })
    }
}
