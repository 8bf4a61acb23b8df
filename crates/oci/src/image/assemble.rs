//! Layers and a configuration as an image, for each platform.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Config, Format, Image, Layer, PlatformImage, Stored, config::Origin, layout::LONGEST_LAYERS,
    manifest::media_types,
};
use diagnostics::Hint as _;
use model::{Blob, Platform};

/// The parts of an image that all platforms share.
pub struct Recipe<'a> {
    pub format: Format,
    /// A time in RFC 3339.
    pub created: &'a str,
    /// The command that builds the image, for its history.
    pub created_by: &'a str,
    /// The annotations of each manifest and of the index. Docker's media types have none.
    pub annotations: BTreeMap<String, String>,
}

/// The parts of an image that are specific to one platform.
pub struct Variant {
    pub platform: Platform,
    pub base: Option<Stored>,
    /// The layers on top of the base image.
    pub layers: Vec<Layer>,
    pub config: Config,
}

/// Builds an image; with an index if there are several platforms.
pub fn assemble(recipe: &Recipe<'_>, variants: Vec<Variant>) -> anyhow::Result<Image> {
    anyhow::ensure!(!variants.is_empty(), "an image needs at least one platform");
    let singles: Vec<PlatformImage> = variants
        .iter()
        .map(|variant| build_platform_image(recipe, variant))
        .collect::<anyhow::Result<_>>()?;
    let index = (singles.len() > 1).then(|| build_index(recipe, &singles));
    Ok(Image { format: recipe.format, singles, index })
}

fn build_platform_image(recipe: &Recipe<'_>, variant: &Variant) -> anyhow::Result<PlatformImage> {
    let types = media_types(recipe.format);
    let origin = Origin { created: recipe.created, created_by: recipe.created_by };
    let base = variant.base.as_ref();
    if let Some(other) = base.map(|base| &base.platform)
        && (&other.os, &other.architecture)
            != (&variant.platform.os, &variant.platform.architecture)
    {
        return Err(anyhow::format_err!(
            "the base image is for {other}, not for {}",
            variant.platform
        ))
        .hint("choose another base image, or another platform");
    }
    base.map_or(Ok(()), |base| base.ensure_layers_match(LONGEST_LAYERS))
        .context("cannot read the base image")
        .hint("choose another base image")?;
    let config = variant.config.to_json(&variant.platform, base, &variant.layers, &origin);
    let config = Blob::new(types.config, json_bytes(&config));
    let mut layers = Vec::new();
    for layer in base.iter().flat_map(|base| &base.layers) {
        let media_type = types.layer_type(layer.media_type()).ok_or_else(|| {
            anyhow::format_err!(
                "the base image has a layer of type `{}`, which this format does not have",
                layer.media_type()
            )
        });
        let media_type = media_type.hint("pass `--format oci`, or another base image")?;
        layers.push(layer.blob()?.of_type(media_type));
    }
    layers.extend(variant.layers.iter().map(|layer| layer.blob.of_type(types.gzip)));
    let mut manifest = json!({
        "schemaVersion": 2,
        "mediaType": types.manifest,
        "config": descriptor_json(&config),
        "layers": layers.iter().map(descriptor_json).collect::<Vec<_>>(),
    });
    add_annotations(&mut manifest, recipe);
    let manifest = Blob::new(types.manifest, json_bytes(&manifest));
    Ok(PlatformImage { platform: variant.platform.clone(), manifest, config, layers })
}

fn build_index(recipe: &Recipe<'_>, singles: &[PlatformImage]) -> Blob {
    let types = media_types(recipe.format);
    let entry = |image: &PlatformImage| {
        let mut entry = descriptor_json(&image.manifest);
        entry["platform"] = platform_json(&image.platform);
        entry
    };
    let mut index = json!({
        "schemaVersion": 2,
        "mediaType": types.index,
        "manifests": singles.iter().map(entry).collect::<Vec<_>>(),
    });
    add_annotations(&mut index, recipe);
    Blob::new(types.index, json_bytes(&index))
}

fn add_annotations(value: &mut Value, recipe: &Recipe<'_>) {
    if recipe.format == Format::Oci && !recipe.annotations.is_empty() {
        value["annotations"] = json!(recipe.annotations);
    }
}

pub fn platform_json(it: &Platform) -> Value {
    let mut json = json!({ "architecture": it.architecture, "os": it.os });
    if let Some(variant) = &it.variant {
        json["variant"] = json!(variant);
    }
    json
}

pub fn descriptor_json(blob: &Blob) -> Value {
    json!({ "mediaType": blob.media_type(), "digest": blob.digest(), "size": blob.size() })
}

/// JSON with sorted keys.
pub fn json_bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
