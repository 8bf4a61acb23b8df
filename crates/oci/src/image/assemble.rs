//! Layers and a configuration as an image, for each platform.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    Config, Format, Image, Layer, Single, Stored, config::Origin, layout::LONGEST_LAYERS,
    manifest::types,
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
    let singles: Vec<Single> =
        variants.iter().map(|it| single(recipe, it)).collect::<anyhow::Result<_>>()?;
    let index = (singles.len() > 1).then(|| index(recipe, &singles));
    Ok(Image { format: recipe.format, singles, index })
}

fn single(recipe: &Recipe<'_>, variant: &Variant) -> anyhow::Result<Single> {
    let types = types(recipe.format);
    let origin = Origin { created: recipe.created, created_by: recipe.created_by };
    let base = variant.base.as_ref();
    if let Some(other) = base.map(|it| &it.platform)
        && (&other.os, &other.architecture)
            != (&variant.platform.os, &variant.platform.architecture)
    {
        return Err(anyhow::format_err!(
            "the base image is for {other}, not for {}",
            variant.platform
        ))
        .hint("choose another base image, or another platform");
    }
    base.map_or(Ok(()), |it| it.require_layers(LONGEST_LAYERS))
        .context("cannot read the base image")
        .hint("choose another base image")?;
    let config = variant.config.json(&variant.platform, base, &variant.layers, &origin);
    let config = Blob::new(types.config, text(&config));
    let mut layers = Vec::new();
    for layer in base.iter().flat_map(|it| &it.layers) {
        let media_type = types.layer(layer.media_type()).ok_or_else(|| {
            anyhow::format_err!(
                "the base image has a layer of type `{}`, which this format does not have",
                layer.media_type()
            )
        });
        let media_type = media_type.hint("give `--format oci`, or another base image")?;
        layers.push(layer.blob()?.of_type(media_type));
    }
    layers.extend(variant.layers.iter().map(|it| it.blob.of_type(types.gzip)));
    let mut manifest = json!({
        "schemaVersion": 2,
        "mediaType": types.manifest,
        "config": descriptor(&config),
        "layers": layers.iter().map(descriptor).collect::<Vec<_>>(),
    });
    annotate(&mut manifest, recipe);
    let manifest = Blob::new(types.manifest, text(&manifest));
    Ok(Single { platform: variant.platform.clone(), manifest, config, layers })
}

fn index(recipe: &Recipe<'_>, singles: &[Single]) -> Blob {
    let types = types(recipe.format);
    let entry = |it: &Single| {
        let mut res = descriptor(&it.manifest);
        res["platform"] = platform(&it.platform);
        res
    };
    let mut index = json!({
        "schemaVersion": 2,
        "mediaType": types.index,
        "manifests": singles.iter().map(entry).collect::<Vec<_>>(),
    });
    annotate(&mut index, recipe);
    Blob::new(types.index, text(&index))
}

fn annotate(value: &mut Value, recipe: &Recipe<'_>) {
    if recipe.format == Format::Oci && !recipe.annotations.is_empty() {
        value["annotations"] = json!(recipe.annotations);
    }
}

pub fn platform(it: &Platform) -> Value {
    let mut res = json!({ "architecture": it.architecture, "os": it.os });
    if let Some(variant) = &it.variant {
        res["variant"] = json!(variant);
    }
    res
}

pub fn descriptor(blob: &Blob) -> Value {
    json!({ "mediaType": blob.media_type(), "digest": blob.digest(), "size": blob.size() })
}

/// JSON with sorted keys.
pub fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
