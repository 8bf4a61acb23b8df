//! Images of files alone: bundles and catalogs.

use std::collections::BTreeMap;

use super::SourceDateEpoch;
use model::Platform;
use oci::image::{self, Config, Files, Format, Image, Layer, Recipe, Variant};

/// Puts files into an image without a program, for each platform. `by` is the command that does it.
pub fn of_data(
    files: Files,
    labels: BTreeMap<String, String>,
    format: Format,
    platforms: &[Platform],
    by: &str,
) -> anyhow::Result<Image> {
    let epoch = SourceDateEpoch::of_environment()?;
    let layer = Layer::of_data(files, epoch.seconds)?;
    let config = Config { labels, working_dir: "/".to_owned(), ..Config::default() };
    let variant = |platform: &Platform| Variant {
        platform: platform.clone(),
        base: None,
        layers: vec![layer.clone()],
        config: config.clone(),
    };
    let recipe =
        Recipe { format, created: &epoch.text, created_by: by, annotations: BTreeMap::new() };
    image::assemble(&recipe, platforms.iter().map(variant).collect())
}
