//! Pulls an image, and finds out which digest a tag has.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::RegistryAccess;
use crate::terminal::{self, Step};
use diagnostics::Hint as _;
use model::{Digest, Image, Platform};
use oci::{
    image::{self, Content, Manifest, Reference, Stored},
    registry::{Registry, Right},
};

/// The size limit of all layers of an image, compressed.
const LONGEST: u64 = 2 << 30;
const LONGEST_CONFIG: u64 = 4 << 20;

/// This machine's platform, for the images that run here: Linux, whatever system this is.
pub fn here() -> Platform {
    let platform = terminal::go_platform();
    Platform::linux(platform.split_once('-').map_or("amd64", |pair| pair.1))
}

/// Returns the digest of an image's index, or of its manifest if it has no index. A digest in the name itself is
/// returned without a request.
pub fn resolve(image: &Image, access: &RegistryAccess) -> anyhow::Result<Digest> {
    if let Some(digest) = image.digest() {
        return digest.parse().map_err(|why| anyhow::format_err!("the digest of `{image}` {why}"));
    }
    let registry = access.registry(image, Right::Pull)?;
    let tag = image.tag().unwrap_or("latest");
    registry
        .resolve(tag, Manifest::MEDIA_TYPES)
        .with_context(|| format!("cannot resolve the digest of `{image}`"))
}

/// Returns the labels of the image that would be overwritten by a push; none if nothing has this name. What is no image
/// has no labels.
pub fn overwritten(
    image: &Image,
    access: &RegistryAccess,
) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let registry = access.registry(image, Right::Push)?;
    let tag = image.tag().unwrap_or("latest");
    labels_of(&registry, tag).with_context(|| format!("cannot look up `{image}`"))
}

fn labels_of(registry: &Registry, tag: &str) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let Some(top) = registry.find(tag, Manifest::MEDIA_TYPES)? else { return Ok(None) };
    let mut manifest = Manifest::parse(&top).ok();
    if let Some(Manifest::Index(entries)) = &manifest {
        manifest = match entries.first() {
            Some(it) => {
                let digest = it.descriptor.digest.as_str();
                Manifest::parse(&registry.manifest(digest, Manifest::MEDIA_TYPES)?).ok()
            }
            None => None,
        };
    }
    match manifest {
        Some(Manifest::Image { config, .. }) if config.size <= LONGEST_CONFIG => {
            Ok(Some(image::labels(&registry.blob(&config, &mut |_| {})?)))
        }
        _ => Ok(Some(BTreeMap::new())),
    }
}

/// Pulls the image for the first of these platforms that it has; also returns the digest that its name has.
pub fn pull(
    image: &Image,
    platforms: &[Platform],
    access: &RegistryAccess,
) -> anyhow::Result<(Digest, Stored)> {
    let step = Step::begin(&format!("pulling {image}"));
    let registry = access.registry(image, Right::Pull)?;
    pull_layers(&registry, image, platforms, &step)
        .with_context(|| format!("cannot pull `{image}`"))
}

fn pull_layers(
    registry: &Registry,
    image: &Image,
    platforms: &[Platform],
    step: &Step,
) -> anyhow::Result<(Digest, Stored)> {
    let reference = image.digest().or(image.tag()).unwrap_or("latest");
    let top = registry.manifest(reference, Manifest::MEDIA_TYPES)?;
    let mut manifest = Manifest::parse(&top)?;
    if let Manifest::Index(entries) = &manifest {
        let Some(entry) = Reference::choose(entries, platforms) else {
            anyhow::ensure!(!entries.is_empty(), "its index names no image");
            let (wanted, list) = (platforms.first(), Reference::list(entries));
            let wanted = wanted.map(ToString::to_string).unwrap_or_default();
            return Err(anyhow::format_err!("it has no image for {wanted}, {list}"))
                .hint("choose another platform, or another image");
        };
        let digest = entry.descriptor.digest.as_str();
        manifest = Manifest::parse(&registry.manifest(digest, Manifest::MEDIA_TYPES)?)?;
    }
    let Manifest::Image { config, layers } = manifest else {
        anyhow::bail!("its index names another index");
    };
    let all = layers.iter().try_fold(0_u64, |sum, layer| sum.checked_add(layer.size));
    let Some(all) = all.filter(|size| *size <= LONGEST) else {
        anyhow::bail!("its layers are larger than {} MiB", LONGEST >> 20);
    };
    anyhow::ensure!(config.size <= LONGEST_CONFIG, "its configuration is too large");
    let config = registry.blob(&config, &mut |_| {})?;
    let (mut blobs, mut done) = (Vec::new(), 0);
    for layer in &layers {
        let blob = registry.blob(layer, &mut |it| step.update_bytes(done + it, Some(all)))?;
        blobs.push(Content::Memory(blob));
        done += layer.size;
    }
    Ok((top.digest().clone(), Stored::new(&config, blobs)?))
}
