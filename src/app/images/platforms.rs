//! The platforms that an image is for, as its registry knows them: without its layers.

use anyhow::Context as _;

use super::RegistryAccess;
use go_data::yaml::{self, Value};
use model::{Image, Platform};
use oci::{image::Manifest, registry::Right};

/// The size limit of a configuration.
const LONGEST: u64 = 4 << 20;

/// Returns those of its index; of an image without one, the platform in its configuration.
pub fn platforms(image: &Image, access: &RegistryAccess) -> anyhow::Result<Vec<Platform>> {
    let registry = access.registry(image, Right::Pull)?;
    let reference = image.digest().or(image.tag()).unwrap_or("latest");
    let top = registry.manifest(reference, Manifest::MEDIA_TYPES)?;
    let config = match Manifest::parse(&top)? {
        Manifest::Index(entries) => {
            // Attestations of an image are in its index, for no platform.
            let platforms = entries.into_iter().filter_map(|entry| entry.platform);
            return Ok(platforms.filter(|platform| platform.os != "unknown").collect());
        }
        Manifest::Image { config, .. } => config,
    };
    anyhow::ensure!(config.size <= LONGEST, "its configuration is too large");
    let config = registry.blob(&config, &mut |_| {})?;
    let text = std::str::from_utf8(config.bytes()).context("cannot read its configuration")?;
    let config = yaml::from_json(text).context("cannot read its configuration")?;
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(vec![Platform { os: text("os"), architecture: text("architecture"), variant: None }])
}
